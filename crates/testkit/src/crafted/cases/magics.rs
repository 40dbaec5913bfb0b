//! Magics where no block begins, and real ones that a scanner might overlook.
//!
//! A scanner that looks for the 48 bits of a block's magic finds only candidates. The blocks form a chain: the first
//! begins at bit 32 of a stream, and each further block begins exactly where the previous one ends.

use crate::crafted::bits::Bits;
use crate::crafted::block::{BLOCK_MAGIC, Block, Body, END_MAGIC, Table};
use crate::crafted::stream::Stream;
use crate::crafted::{Family, model, noise, words};

const MAGICS: [(&str, u64); 2] = [("block", BLOCK_MAGIC), ("end", END_MAGIC)];

/// A block whose coded data contain `payload`, beginning `offset` bits into a code. As the first block of a stream, its
/// codes begin at bit `grid` of the file's bytes.
///
/// With 254 used bytes there are 256 symbols. All codes are 8 bits long, so that each code is its symbol, and the data
/// can contain any byte except 0xFF, the end of the block. Returns `None` if the payload needs that byte.
pub fn carrier(payload: &Bits, grid: usize, offset: usize) -> Option<Block> {
    carrier_with(payload, grid, offset, 13)
}

/// The same for data with this many bytes after the payload: at most 13. Without such bytes, a payload that ends with
/// a whole code of eight ones shares this code, the end of the block, with its carrier.
pub fn carrier_with(payload: &Bits, grid: usize, offset: usize, after: usize) -> Option<Block> {
    let payload = match after {
        0 if (offset + payload.len()).is_multiple_of(8) => payload.slice(0, payload.len() - 8),
        _ => payload.clone(),
    };
    (0..20).find_map(|seed| {
        // Symbols between 2 and 254, which are neither run symbols nor the end.
        let filler: Vec<u8> = noise(seed, 24).iter().map(|&b| b.clamp(2, 254)).collect();
        let mut bits = Bits::of(&filler[..11]);
        bits.push(0x55 >> (8 - offset), offset as u32);
        bits.extend(&payload);
        while !bits.len().is_multiple_of(8) {
            bits.bit(bits.len().is_multiple_of(2));
        }
        bits.extend(&Bits::of(&filler[11..11 + after]));
        if bits.bytes().contains(&0xff) {
            return None;
        }
        let mut symbols: Vec<u16> = bits.bytes().iter().map(|&b| b.into()).collect();
        symbols.push(255);
        bits.push(0xff, 8);

        let map: Vec<u8> = (0..254).collect();
        let column = model::undo_symbols(&symbols, &map);
        model::text(&column, 0, false)?; // if it happens to end in four equal bytes, try other filler
        let mut block = Block::of_symbols(&map, symbols, 0);
        block.body = Body::Verbatim(bits);
        let at = (32 + block.header().len()) % 8;
        Some(block.spare_selectors((grid + 8 - at) % 8))
    })
}

/// The first carrier of one of `payloads` that can be made.
fn first(payloads: impl Iterator<Item = Bits>, grid: usize) -> Block {
    payloads
        .flat_map(|payload| (0..8).map(move |offset| (payload.clone(), offset)))
        .find_map(|(payload, offset)| carrier(&payload, grid, offset))
        .expect("some payload without the end-of-block byte")
}

pub fn add(family: &mut Family) {
    false_magics(family);
    nested(family);
    in_headers(family);
    real_magics(family);
}

fn false_magics(family: &mut Family) {
    for (which, magic) in MAGICS {
        for grid in 0..8 {
            for offset in 0..8 {
                let block = carrier(&Bits::number(magic, 48), grid, offset).expect("no magic has eight ones in a row");
                let name = format!("falsemagic-{which}-grid{grid}-offset{offset}");
                family.good_block(name, "a magic within a block's data is data, at any alignment", block);
            }
        }
        for (name, why, count, alignments, grid) in [
            ("200", "200 candidates in one block: none may cost much, or displace the true block", 200, 9, 3),
            ("flood", "50,000 in one block of 300 kB: the work must not grow with their square", 50_000, 3, 1),
        ] {
            let mut bits = Bits::new();
            for i in 0..count {
                bits.push(magic, 48);
                bits.push(0x155, i % alignments); // so that the magics occur at all alignments
            }
            family.right(format!("falsemagic-{which}-{name}"), why, &between(bits, grid));
        }
    }
    let mut bits = Bits::new();
    for i in 0..100 {
        bits.push(BLOCK_MAGIC, 48);
        bits.push(0x155, i % 7);
        bits.push(END_MAGIC, 48);
        bits.push(0x155, i % 5);
    }
    family.good_block("falsemagic-mixed", "both magics in turn", first([bits].into_iter(), 5));
}

fn nested(family: &mut Family) {
    let inner = |seed| Stream::single(Block::of_text(&words(seed, 60)));
    for grid in 0..8 {
        let block = first((0..).map(|seed| inner(seed).blocks[0].bits()), grid);
        let why = "a valid block with its CRC inside another block's data: it decodes, but it is data";
        family.good_block(format!("nested-valid-block-grid{grid}"), why, block);
    }
    for (name, why, count) in [
        ("40", "40 false blocks with valid CRCs in one true block, between true blocks", 40),
        ("flood", "2,000 of them: much is decoded in vain, and then the true block", 2000),
    ] {
        let many = repeated((0..).map(|seed| inner(seed).blocks[0].bits()), count);
        family.right(format!("nested-valid-block-{name}"), why, &between(many, 0));
    }
    let stream = first((0..).map(|seed| inner(seed).bits()), 0);
    family.good_block("nested-valid-stream", "a whole stream with valid CRCs inside a block's data", stream);
    let aligned = |mut payload: Bits, tail: &[u8]| {
        payload.extend(&Bits::of(tail));
        carrier(&payload, 0, 0).expect("no 0xFF in these")
    };
    let header = aligned(Bits::new(), b"BZh91AY&SY");
    family.good_block("falseheader-bytealigned", "the ten bytes at which pbzip2 splits a file", header);
    let mut trailer = Bits::number(END_MAGIC, 48);
    trailer.push(0, 32);
    let why = "the end of a stream and the beginning of another, byte-aligned, in a block's data";
    family.good_block("falsetrailer-header", why, aligned(trailer.clone(), b"BZh91AY&SY"));
    let empty = aligned(trailer, b"BZh9\x17\x72\x45\x38\x50\x90\0\0\0\0");
    family.good_block("falsetrailer-emptystream", "the end of a stream and a whole empty one after it", empty);
}

/// The data of the first carrier of one of `payloads`, this many times.
fn repeated(payloads: impl Iterator<Item = Bits>, count: usize) -> Bits {
    let Body::Verbatim(bits) = first(payloads, 0).body else { unreachable!("a carrier's body is verbatim") };
    let (without_end, mut all) = (bits.slice(0, bits.len() - 8), Bits::new());
    (0..count).for_each(|_| all.extend(&without_end));
    all
}

/// A carrier of this payload between other blocks.
fn between(payload: Bits, grid: usize) -> Stream {
    Stream::of(9, vec![Block::of_text(b"before"), first([payload].into_iter(), grid), Block::of_text(b"after")])
}

/// A valid stream of one block whose data contain `count` whole blocks, each of which would decode to 46 MB.
pub fn nested_bombs(count: usize) -> Stream {
    let all = repeated((0..=255).map(|byte| super::limits::constant(byte, 900_000).bits()), count);
    Stream::single(first([all].into_iter(), 0))
}

fn in_headers(family: &mut Family) {
    // The map's first 16 bits name groups. 0x3141 names five; of their rows, the first two are the magic's other words.
    for (which, magic, last) in [("block", BLOCK_MAGIC, 3), ("end", END_MAGIC, 6)] {
        let words = [(magic >> 32) as u16, (magic >> 16) as u16, magic as u16];
        let mut rows = vec![words[1], words[2]];
        rows.extend(vec![0x8001; words[0].count_ones() as usize - 2]);
        let mut map = Vec::new();
        for (row, group) in rows.iter().zip((0..16).filter(|g| words[0] & (0x8000 >> g) != 0)) {
            map.extend((0..16).filter(|b| row & (0x8000 >> b) != 0).map(|b| group * 16 + b));
        }
        let column: Vec<u8> = noise(last, 90).iter().map(|&b| map[usize::from(b) % map.len()]).collect();
        let block = Block::of_symbols(&map, model::symbols(&column, &map), 7);
        assert_eq!((block.groups, &block.rows), (words[0], &rows));
        let name = format!("falsemagic-{which}-in-symbolmap");
        family.good_block(name, "the symbol map spells a magic", block);

        // Both magics are strings of unary numbers up to 3.
        let mut selectors = vec![0; 2];
        let mut ones = 0;
        for i in (0..48).rev() {
            if magic >> i & 1 == 1 {
                ones += 1;
            } else {
                selectors.push(std::mem::take(&mut ones));
            }
        }
        selectors.push(ones);
        let text = noise(1, 70);
        let block = Block::of_text(&text);
        let tables = vec![block.tables[0].clone(); 4];
        let block = block.tables(tables).selecting(&selectors);
        let name = format!("falsemagic-{which}-in-selectors");
        family.good_block(name, "the selectors, needed and spare, spell a magic", block);

        // In the code lengths of a third table, which no selector names.
        let mut deltas = Bits::number(magic, 48);
        let symbols_of = |bits: &Bits| {
            let (mut i, mut symbols) = (0, 0);
            while i < bits.len() {
                symbols += usize::from(!bits.get(i));
                i += if bits.get(i) { 2 } else { 1 };
            }
            (symbols, i - bits.len())
        };
        let (_, cut) = symbols_of(&deltas);
        deltas.push(0, cut as u32);
        let block = Block::of_text(&text);
        let symbols = block.tables[0].lengths.len();
        while symbols_of(&deltas).0 < symbols {
            deltas.bit(false);
        }
        let spelled = Table { start: 10, deltas, lengths: vec![1; symbols] };
        let tables = vec![block.tables[0].clone(), block.tables[1].clone(), spelled];
        let name = format!("falsemagic-{which}-in-deltas");
        family.good_block(name, "the code lengths of a table spell a magic", block.tables(tables));
    }

    let mut block = Block::of_text(b"the CRC is not of these bytes");
    block.crc = (END_MAGIC >> 16) as u32;
    block.origin = (END_MAGIC as u32 & 0xffff) << 8;
    family.bad_block("falsemagic-end-in-crcfield", "CRC and origin spell an end, and the CRC does not match", block);
    family.right(
        "falsemagic-block-in-crc-origin-map",
        "CRC, origin and symbol map together spell a magic, and the CRC matches",
        &Stream::of(9, vec![crc_origin_map(), Block::of_text(b"after it")]),
    );
}

/// A block of 706,900 bytes that contains the magic: its first 10 bits at the end of the CRC, the 11th as the
/// randomised bit, the next 24 as the origin, and the last 13 at the beginning of the map.
fn crc_origin_map() -> Block {
    // One byte of each group that the map must name.
    let groups = (BLOCK_MAGIC as u16 & 0x1fff) << 3;
    let map: Vec<u8> = (0..16u8).filter(|g| groups & (0x8000 >> g) != 0).map(|g| g * 16).collect();
    let origin = (BLOCK_MAGIC >> 13) as u32 & 0xff_ffff;
    // Found by search: the first number whose digits, as symbols before a long run, give such a CRC.
    let mut symbols: Vec<u16> = std::iter::successors(Some(CRC_ORIGIN_MAP), |n| Some(n / 6))
        .take_while(|&n| n > 0)
        .map(|n| (n % 6) as u16 + 2)
        .collect();
    symbols.extend(model::zero_run(706_900));
    symbols.push(map.len() as u16 + 1);
    let block = Block::of_symbols(&map, symbols, origin);
    assert_eq!(u64::from(block.crc & 0x3ff), BLOCK_MAGIC >> 38, "the CRC must end in the magic's first bits");
    assert_eq!(block.groups, groups);
    block
}

const CRC_ORIGIN_MAP: u32 = 670;

fn real_magics(family: &mut Family) {
    let small = Block::of_text(b"the second block");
    for spare in 0..8 {
        let first = Block::of_text(b"the first block").spare_selectors(spare);
        let at = (32 + first.bits().len()) % 8;
        let stream = Stream::of(9, vec![first, small.clone()]);
        family.right(format!("realmagic-offset{at}"), "a block begins at any bit", &stream);
    }

    // A block shifted so that the data after it begin at bit `at` of the file.
    let moved = |block: &Block, before: usize, at: usize| {
        let end = before + block.bits().len();
        block.clone().spare_selectors(at - end)
    };
    let about_4k = Block::of_column(&noise(4, 3900), 0);
    for around in -50isize..=4 {
        let at = (4096 * 8 + around) as usize;
        let first = moved(&about_4k, 32, at);
        let (alone, name) = (Stream::of(9, vec![first.clone()]), format!("realmagic-4096bytes{around:+}"));
        let two = Stream::of(9, vec![first, small.clone()]);
        family.right(name, "a magic across the edge of a 4096-byte chunk", &two);
        let why = "the end of a stream across the edge of a 4096-byte chunk";
        family.right(format!("realend-4096bytes{around:+}"), why, &alone);
    }
    for around in -16isize..=4 {
        let end = (4096 + around) as usize;
        let one = Stream::of(9, vec![moved(&about_4k, 32, end * 8 - 80)]);
        let two = Stream::of(3, vec![small.clone()]);
        let (file, text) = ([one.bytes(), two.bytes()].concat(), [one.text(), two.text()].concat());
        let why = "the header of the next stream across the edge of a 4096-byte chunk";
        family.accepted(format!("realheader-4096bytes{around:+}"), why, file, text);
    }

    let large = Block::of_column(&noise(5, 900_000), 0);
    let rest = Block::of_column(&noise(6, 144_000), 0);
    for around in [-48isize, -47, -24, -1, 0, 1] {
        let at = ((1 << 23) + around) as usize;
        let rest = moved(&rest, 32 + large.bits().len(), at);
        let stream = Stream::of(9, vec![large.clone(), rest, small.clone()]);
        family.right(format!("realmagic-1MiB{around:+}"), "a magic across the edge of a chunk of 1 MiB", &stream);
    }
}
