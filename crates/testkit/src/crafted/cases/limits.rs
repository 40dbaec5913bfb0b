//! The lengths of blocks, and how much text a small file may hold.

use crate::crafted::bits::Bits;
use crate::crafted::block::{Block, END_MAGIC};
use crate::crafted::stream::Stream;
use crate::crafted::{Family, model, noise};
use crate::program::Refusal;

/// A block of `len` equal bytes after run-length coding.
pub fn constant(byte: u8, len: u64) -> Block {
    let mut symbols = model::zero_run(len);
    symbols.push(2);
    Block::of_symbols(&[byte], symbols, 0)
}

/// A file of `blocks` blocks of about 45 bytes, each of which decodes to 46,620,000 bytes, the most that a block can.
pub fn bomb(blocks: usize) -> Vec<u8> {
    let block = constant(0xff, 900_000);
    let bits = block.bits();
    let mut file = Bits::of(b"BZh9");
    let mut combined = 0u32;
    for _ in 0..blocks {
        file.extend(&bits);
        combined = combined.rotate_left(1) ^ block.crc;
    }
    file.push(END_MAGIC, 48);
    file.push(combined.into(), 32);
    file.align(false);
    file.bytes().to_vec()
}

pub fn add(family: &mut Family) {
    lengths(family);
    run_overflow(family);

    let text = vec![0xff; 900_000 / 5 * 259];
    assert_eq!(text.len(), 46_620_000);
    family.accepted("bomb-1block-46MB", "the longest text of one block", bomb(1), text);
}

fn lengths(family: &mut Family) {
    for level in 1..=9u8 {
        let limit = 100_000 * u64::from(level);
        let exactly = "decoders accept blocks up to the level's limit, 19 bytes more than encoders write";
        let longer = "one byte more than the level allows";
        for (len, run) in [(limit - 19, 'a'), (limit, 'a'), (limit + 1, 'a'), (limit, 'r'), (limit + 1, 'r')] {
            // The last byte comes from a run symbol, or from a symbol of its own.
            let block = if run == 'r' {
                let mut column = vec![1; len as usize];
                column[len as usize - 1] = 2;
                Block::of_column(&column, 1)
            } else {
                constant(1, len)
            };
            let name = format!("blocklen-level{level}-{len}-{}", if run == 'r' { "literal" } else { "run" });
            let stream = Stream::of(level, vec![block.clone()]);
            if len > limit {
                family.damaged(name, longer, stream.bytes(), Vec::new());
            } else if model::text(&block.column, block.origin, false).is_some() {
                family.right(name, exactly, &stream);
            } else {
                family.damaged(name, "ends in four equal bytes", stream.bytes(), Vec::new());
            }
        }
    }
    for len in [4, 9, 99_999] {
        let (name, file) = (format!("blocklen-level1-{len}"), Stream::of(1, vec![constant(7, len)]).bytes());
        family.damaged(name, "equal bytes, of which the last four have no count", file, Vec::new());
    }
    let cut = Stream::of(1, vec![Block::of_column(&noise(9, 150_000), 0)]).bytes();
    let why = "the file ends after the block's length exceeds the limit, before the block's end";
    family.damaged("blocklen-level1-150000-cut", why, cut[..140_000].to_vec(), Vec::new());
    let (why, file) = ("the file ends before the block's length exceeds the limit", cut[..90_000].to_vec());
    family.refused("blocklen-level1-150000-cut-early", why, file, Refusal::Ends, Vec::new());
    let file = Stream::of(1, vec![constant(1, 900_000)]).bytes();
    family.damaged("blocklen-level1-900000", "a block of level 9 in a stream of level 1", file, Vec::new());
    digits(family);
}

fn digits(family: &mut Family) {
    for digit in 1..=9 {
        let block = Block::of_column(&noise(9, 250_000), 5);
        let name = format!("blocklen-250000-digit{digit}");
        let stream = Stream::of(digit, vec![block]);
        if digit >= 3 {
            family.right(name, "the digit sets the limit and nothing else", &stream);
        } else {
            family.damaged(name, "the digit sets the limit", stream.bytes(), Vec::new());
        }
    }
}

fn run_overflow(family: &mut Family) {
    let of = |symbol: u16, times: usize| {
        let mut block = constant(b'a', 1);
        let mut symbols = vec![symbol; times];
        symbols.push(2);
        block.selectors = vec![0; symbols.len().div_ceil(50)];
        block.selector_count = block.selectors.len() as u32;
        block.body = crate::crafted::block::Body::Symbols(symbols);
        block
    };
    // 2^19 - 1 bytes of RUNA, 2^19 - 2 of RUNB: the longest that a block can hold.
    let a19 = Block::of_symbols(b"a", [vec![0; 19], vec![2]].concat(), 0);
    let b18 = Block::of_symbols(b"a", [vec![1; 18], vec![2]].concat(), 0);
    assert_eq!((a19.column.len(), b18.column.len()), (524_287, 524_286));
    family.good_block("runoverflow-a19-right", "19 times RUNA is still a legal run", a19.clone());
    family.good_block("runoverflow-b18-right", "18 times RUNB is still a legal run", b18);
    let mut wrong = a19;
    wrong.crc ^= 1;
    family.bad_block("runoverflow-a19-crc", "bzip2 writes 10,590,000 bytes before it notices; hybz writes none", wrong);
    let why = "the weight of a run symbol doubles each time: it must not overflow (CVE-2010-0405)";
    for times in [20, 21, 22, 23, 31, 32, 33, 63, 64, 65, 200] {
        for (name, symbol) in [("a", 0), ("b", 1)] {
            family.bad_block(format!("runoverflow-{name}{times}"), why, of(symbol, times));
        }
    }
    family.bad_block("runoverflow-b19", "a run longer than any block", of(1, 19));
}
