//! Run-length coding, the first step of an encoder: four equal bytes and a count.

use crate::crafted::Family;
use crate::crafted::block::Block;
use crate::crafted::stream::Stream;

pub fn add(family: &mut Family) {
    for count in 250..=255u8 {
        let block =
            |before: &[u8], after: &[u8]| Block::of_run_length_coded(&[before, b"aaaa", &[count], after].concat());
        let why = "bzip2 writes counts up to 251; 252 to 255 are valid, too: runs of 256 to 259";
        family.good_block(format!("rle-count{count}"), why, block(b"", b""));
        family.good_block(format!("rle-count{count}-inside"), why, block(b"xyz", b"abc"));
    }
    for (name, why, block) in [
        ("rle-count0", "a run of exactly four", &b"aaaa\0"[..]),
        ("rle-count-like-run", "a count equal to its run's byte (97) does not begin a run", b"aaaaaaaab"),
        ("rle-two-runs", "a run after a run of the same byte: counting starts afresh", b"aaaa\x03aaaa\x02"),
        ("rle-count-then-three", "three equal bytes after a count are no run", b"aaaa\x03aaa"),
        ("rle-counts-of-counts", "counts that equal the bytes of their runs", &[4; 10]),
        ("rle-three", "three equal bytes are no run", b"aaa"),
        ("rle-one", "a single byte", b"a"),
    ] {
        family.good_block(name, why, Block::of_run_length_coded(block));
    }
    for (name, block) in [
        ("rle-only-4", &b"aaaa"[..]),
        ("rle-end-4-nocount", b"xyzaaaa"),
        ("rle-end-4-after-run", b"aaaa\x03aaaa"),
        ("rle-end-4-after-other-run", b"aaaa\x03bbbb"),
        ("rle-zeros-4", &[0; 4]),
        ("rle-zeros-9", &[0; 9]),
    ] {
        let mut block = Block::of_run_length_coded(block);
        block.crc = 0;
        family.bad_block(name, "four equal bytes at the end of a block have no count: bzip2 1.0.8 refuses it", block);
    }
    let mut block = Block::of_run_length_coded(b"xyzaaaa");
    block.crc = crate::crafted::model::crc(b"xyzaaaa");
    family.bad_block("rle-end-4-nocount-right-crc", "refused although the CRC matches", block.clone());
    let first = Block::of_text(b"a whole block before it");
    let good = first.text.clone();
    let file = Stream::of(9, vec![first, block, Block::of_run_length_coded(b"\x02bc")]).bytes();
    family.damaged("rle-straddle-4nocount", "a count does not come from the next block", file, good);
    for (name, parts) in [
        ("rle-straddle-2+2", [&b"xxaa"[..], &b"aaxx"[..]]),
        ("rle-straddle-3+1", [b"xaaa", b"axxx"]),
        ("rle-straddle-1+3", [b"xxxa", b"aaax"]),
        ("rle-straddle-3+run", [b"xaaa", b"aaaa\x09"]),
        ("rle-straddle-run+3", [b"aaaa\x09", b"aaax"]),
        ("rle-straddle-count+count", [b"aaaa\x02", b"\x02\x02\x02\x02\x02"]),
    ] {
        let blocks = parts.map(Block::of_run_length_coded).to_vec();
        family.right(name, "runs do not continue from block to block", &Stream::of(9, blocks));
    }
}
