//! The CRC of a block, and the combined CRC that also guards the order of blocks.

use crate::crafted::Family;
use crate::crafted::block::Block;
use crate::crafted::stream::{Stream, combined};

pub fn add(family: &mut Family) {
    let texts: [&[u8]; 3] = [b"the first block\n", b"the second block\n", b"the third block\n"];
    let blocks = texts.map(Block::of_text);
    let [one, two, three] = &blocks;
    let right = combined(&blocks);
    let of = |blocks: &[&Block], combined: Option<u32>| {
        let mut stream = Stream::of(9, blocks.iter().map(|&b| b.clone()).collect());
        stream.combined = combined.unwrap_or(stream.combined);
        stream
    };

    family.right("crc-three-blocks", "the valid file, for comparison", &of(&[one, two, three], None));
    family.right("crc-swapped-combined-right", "another order is another file", &of(&[two, one, three], None));
    family.right("crc-equal-blocks", "equal blocks are not duplicates", &of(&[one, one, one], None));
    for (name, why, order) in [
        ("crc-swapped", "each block is valid, their order is not", &[two, one, three][..]),
        ("crc-missing-first", "a block is missing", &[two, three]),
        ("crc-missing-middle", "a block is missing", &[one, three]),
        ("crc-missing-last", "a block is missing", &[one, two]),
        ("crc-doubled", "a block is there twice", &[one, two, two, three]),
        ("crc-no-block", "the combined CRC of a stream without blocks is 0", &[]),
    ] {
        let stream = of(order, Some(right));
        family.damaged(name, why, stream.bytes(), stream.text());
    }
    for bit in [0, 13, 31] {
        let stream = of(&[one, two, three], Some(right ^ 1 << bit));
        let name = format!("crc-combined-wrong-bit{bit}");
        family.damaged(name, "all text is valid, and it is still an error", stream.bytes(), stream.text());
    }
    for (at, good) in [(0, &[][..]), (1, &[one][..]), (2, &[one, two][..])] {
        let mut wrong = blocks.clone();
        wrong[at].crc ^= 1 << 7;
        let good = of(good, None).text();
        let mut stream = Stream::of(9, wrong.to_vec());
        let (name, why) = (format!("crc-block{}-wrong-combined-agrees", at + 1), "a block's CRC is that of its bytes");
        family.damaged(name, why, stream.bytes(), good.clone());
        stream.combined = right;
        let name = format!("crc-block{}-wrong", at + 1);
        family.damaged(name, "one bit of a block's CRC", stream.bytes(), good);
    }

    over_streams(family, &of(&[one, two], None), &of(&[three], None), right);
}

/// `first` and `second` are streams whose blocks have the combined CRC `right`.
fn over_streams(family: &mut Family, first: &Stream, second: &Stream, right: u32) {
    let mut wrong = first.clone();
    wrong.combined ^= 1;
    let file = [wrong.bytes(), second.bytes()].concat();
    family.damaged("crc-combined-wrong-then-stream", "no stream is read after a damaged one", file, wrong.text());
    let mut continued = second.clone();
    continued.combined = right;
    let (file, text) = ([first.bytes(), continued.bytes()].concat(), [first.text(), second.text()].concat());
    family.damaged("crc-combined-over-streams", "the combined CRC starts afresh with each stream", file, text);
}
