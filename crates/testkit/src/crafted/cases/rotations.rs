//! The last column, the origin, and the randomised blocks of bzip2 0.9.0.

use crate::crafted::block::Block;
use crate::crafted::stream::Stream;
use crate::crafted::{Family, model, noise, words};
use crate::program::Refusal;

pub fn add(family: &mut Family) {
    origins(family);
    origins_cut(family);
    cycles(family);
    randomised(family);
}

fn origins(family: &mut Family) {
    let text = b"a banana is not an ananas";
    let right = Block::of_text(text);
    for origin in 0..text.len() as u32 {
        let (name, block) = (format!("origin-{origin}-of-{}", text.len()), Block::of_column(&right.column, origin));
        family.good_block(name, "any row may be the origin: it only decides where the text begins", block);
    }
    let why = "outside the block (bzip2 checks twice: by the level before the data, by the block after)";
    for level in [1, 5, 9] {
        let limit = 100_000 * u32::from(level);
        for origin in [text.len() as u32, limit - 1, limit + 10, limit + 11, 0xff_ffff] {
            let file = Stream::of(level, vec![Block { origin, ..right.clone() }]).bytes();
            family.damaged(format!("origin-{origin}-level{level}"), why, file, Vec::new());
        }
    }
}

fn origins_cut(family: &mut Family) {
    let mut block = Block::of_text(b"a banana is not an ananas");
    let why = "the first of the two checks allows ten more, and the file ends before the second";
    for level in [1, 9] {
        let limit = 100_000 * u32::from(level);
        for (origin, reason) in [(limit + 10, Refusal::Ends), (limit + 11, Refusal::Data)] {
            block.origin = origin;
            // The file ends 32 bits after the origin.
            let file = Stream::of(level, vec![block.clone()]).bytes()[..4 + 6 + 4 + 3 + 4].to_vec();
            family.refused(format!("origin-{origin}-level{level}-cut"), why, file, reason, Vec::new());
        }
    }
}

fn cycles(family: &mut Family) {
    let why = "from the origin, decoding goes round one of several cycles, for as many steps as the block is long";
    let ascending: Vec<u8> = (0..=255).collect();
    for origin in [0, 1, 4, 255] {
        let block = Block::of_column(&ascending, origin);
        family.good_block(format!("cycles-256-origin{origin}"), why, block);
    }
    family.good_block("cycles-two", why, Block::of_column(b"abab", 1));
    for period in [1, 2, 3, 7, 50] {
        let block = Block::of_text(&words(period, period as usize).repeat(600 / period as usize));
        let why = "an encoder's block of periodic text: many cycles of equal content";
        family.good_block(format!("cycles-periodic-{period}"), why, block);
    }
    for len in [2, 3, 5, 10, 100, 255, 256, 257, 1000, 1999, 2001, 40_000] {
        for alphabet in [2, 5, 200] {
            let column: Vec<u8> = noise(len as u64, len).iter().map(|b| b % alphabet).collect();
            let origin = len as u32 / 2;
            let name = format!("cycles-noise-{len}-of-{alphabet}");
            if model::text(&column, origin, false).is_some() {
                family.good_block(name, why, Block::of_column(&column, origin));
            } else {
                family.bad_block(name, "happens to end in four equal bytes", Block::of_column(&column, origin));
            }
        }
    }
}

fn randomised(family: &mut Family) {
    let why = "bit 0 of bytes 617, 1337, 1464, ... was flipped before sorting";
    for len in [1, 616, 617, 618, 619, 620, 1336, 1337, 1338, 1339, 1464, 1465, 3000] {
        let text = words(len as u64, len);
        family.good_block(format!("rand-{len}"), why, Block::randomised_of_text(&text));
    }
    let same = Block::of_text(&words(1, 617)).randomise();
    family.good_block("rand-bit-only-617", "a block of at most 617 bytes is the same with and without the bit", same);
    let long = Block::of_column(&noise(8, 300_000), 17).randomise();
    family.good_block("rand-300000", "all 512 steps, and then the first again", long);
    let zeros = Block::randomised_of_text(&[0; 5000]);
    family.good_block("rand-zeros", "a run with flipped bytes in it is no longer a run", zeros);
    // The byte at 617 is flipped; restored, it completes a run of four, and the next byte is its count.
    let coded = |end: &[u8]| Block::of_run_length_coded(&[&words(2, 614), end].concat()).randomise();
    let block = coded(b"qqqp\x05end");
    assert!(block.text.ends_with(b"qqqqqqqqqend"));
    family.good_block("rand-makes-run", "runs are counted after the bytes are restored", block);
    let why = "a restored byte completes a run of four at the block's end";
    family.bad_block("rand-makes-run-without-count", why, coded(b"qqqp"));
    let plain = |seed| Block::of_text(&words(seed, 2000));
    let random = |seed| Block::randomised_of_text(&words(seed, 2000));
    let mixed = Stream::of(9, vec![plain(1), random(2), random(3), plain(4), random(5)]);
    family.right("rand-mixed", "each block has its own randomised bit, and begins with the first step", &mixed);
    let mut lied = random(6);
    lied.randomised = false;
    family.bad_block("rand-bit-cleared", "without its bit, a randomised block has another CRC", lied);
}
