//! Codes, tables and selectors: used ones must be valid, while some unused ones need not be.

use crate::crafted::bits::Bits;
use crate::crafted::block::{Block, Body, Table};
use crate::crafted::{Family, noise};
use crate::program::Refusal;

pub fn add(family: &mut Family) {
    incomplete(family);
    over_subscribed(family);
    lengths(family);
    tables(family);
    selectors(family);
    ends(family);
    maps(family);
}

/// A block of `a` and `b`: symbols RUNA, RUNB, second in the list, end.
fn two_letters() -> Block {
    Block::of_text(b"abbaabab")
}

fn same(table: Table) -> Vec<Table> {
    vec![table; 2]
}

fn incomplete(family: &mut Family) {
    let why = "unassigned codes are allowed, as long as none occurs";
    for lengths in [[2, 2, 3, 3], [3, 3, 3, 3], [1, 5, 5, 5], [20, 20, 20, 20], [1, 2, 20, 19], [7, 1, 9, 20]] {
        let block = two_letters().tables(same(Table::of(&lengths)));
        family.good_block(format!("huff-incomplete-{lengths:?}").replace(", ", "."), why, block);
    }
    let text = noise(3, 4000);
    let all_20 = Block::of_text(&text).tables(same(Table::of(&[20; 258])));
    family.good_block("huff-incomplete-258x20", "all 258 codes of the greatest length", all_20);
    let ladder: Vec<u32> = (0..258).map(|s| (s % 12) + 9).collect();
    let ladder = Block::of_text(&text).tables(same(Table::of(&ladder)));
    family.good_block("huff-incomplete-ladder", "lengths from 9 to 20: longer than any one lookup table", ladder);

    let unassigned = |ones: usize, width: u32| {
        let mut block = two_letters().tables(same(Table::of(&[3, 3, 3, 3])));
        let mut bits = Bits::number(0b000_001, 6);
        (0..ones).for_each(|_| bits.push(1, 1));
        bits.push(0, width);
        block.body = Body::Verbatim(bits);
        block
    };
    family.bad_block("huff-unassigned-met", "an unassigned code", unassigned(21, 64));
    // bzip2 complains only after it has read 21 bits that are not a code. If the file ends earlier, bzip2 reports the
    // file's end instead.
    let whole = unassigned(21, 0).bits();
    for (missing, reason) in [(2, Refusal::Ends), (0, Refusal::Data)] {
        let mut file = Bits::of(b"BZh9");
        file.extend(&whole);
        file.align(true);
        let bytes = file.bytes();
        let (name, file) = (format!("huff-unassigned-{missing}bytes-missing"), bytes[..bytes.len() - missing].to_vec());
        family.refused(name, "an unassigned code at the end of the file", file, reason, Vec::new());
    }
}

fn over_subscribed(family: &mut Family) {
    let why = "over-subscribed: it matters only if a symbol is needed that no bits reach";
    // RUNB = 0, end = 1; RUNA would be 100, which cannot be written.
    let usable = Block::of_symbols(b"a", vec![1, 1, 2], 0).tables(same(Table::of(&[2, 1, 1])));
    family.good_block("huff-over-2.1.1", why, usable);
    // Five codes of two bits, of which four can be written. The end is in a group with another table.
    let text: Vec<u8> = noise(1, 61).iter().map(|b| b % 3).collect();
    let block = Block::of_text(&text);
    let good = block.tables[0].clone();
    let groups = block.symbols().len().div_ceil(50);
    assert!(groups == 2 && !block.symbols()[..50].contains(&4));
    let over = Block::tables(block, vec![Table::of(&[2; 5]), good]).selecting(&[0, 1]);
    family.good_block("huff-over-2x5-end-elsewhere", why, over);
    for lengths in [&[1, 1, 1][..], &[1, 1, 2], &[2, 1, 1]] {
        // A run of 200 RUNA and RUNB: no end is reached before the groups or the file end.
        let mut block = Block::of_symbols(b"a", vec![1, 1, 2], 0).tables(same(Table::of(lengths)));
        block.body = Body::Verbatim(Bits::number(0, 64));
        let name = format!("huff-over-unreached-{lengths:?}").replace(", ", ".");
        family.bad_block(name, "the end of the block cannot be reached", block);
    }

    let why = "an invalid code does no harm in a table that no selector names";
    for count in 3..=6 {
        for (kind, bad) in [("over", vec![1; 4]), ("over20", vec![1, 1, 1, 20]), ("incomplete", vec![20; 4])] {
            let block = two_letters();
            let mut tables = vec![block.tables[0].clone(); count - 1];
            tables.push(Table::of(&bad));
            family.good_block(format!("tables-{count}-last-unused-{kind}"), why, block.tables(tables));
        }
    }
}

fn lengths(family: &mut Family) {
    // In the second table, which no selector names: its lengths are checked nevertheless.
    let with = |start: u32, drawn: &str| {
        let block = two_letters();
        let deltas = Bits::drawn(drawn);
        let bad = Table { start, deltas, lengths: vec![1; 4] };
        let good = block.tables[0].clone();
        block.tables(vec![good, bad])
    };
    let (up, down) = ("10", "11");
    let twice = |s: &str, n: usize| s.repeat(n);
    let why = "a length outside 1..=20, even in passing, even in an unused table";
    for (name, start, drawn) in [
        ("len-start0", 0, "0 0 0 0".to_string()),
        ("len-start0-up", 0, "10 0 0 0 0".to_string()),
        ("len-start21", 21, "0 0 0 0".to_string()),
        ("len-start21-down", 21, "11 0 0 0 0".to_string()),
        ("len-start31", 31, "0 0 0 0".to_string()),
        ("len-start31-down", 31, twice(down, 20) + "0000"),
        ("len-to0", 1, "11 0 0 0 0".to_string()),
        ("len-start1-down-up", 1, "11 10 0 0 0 0".to_string()),
        ("len-to21", 20, "10 0 0 0 0".to_string()),
        ("len-start20-up-down", 20, "10 11 0 0 0 0".to_string()),
        ("len-to0-last", 1, "0 0 0 11 0".to_string()),
        ("len-down-and-down", 1, twice(down, 40) + &twice(up, 40) + "0000"),
        ("len-up-and-up", 20, twice(up, 40) + &twice(down, 40) + "0000"),
    ] {
        family.bad_block(name, why, with(start, &drawn));
    }
    let why = "a length may go up and down for ever: the size of a table has no limit";
    for (name, start, drawn) in [
        ("len-1-to-20-to-1", 1, twice(up, 19) + "0" + &twice(down, 19) + "000"),
        ("len-20-to-1", 20, twice(down, 19) + "0000"),
        ("len-wander-1000", 10, twice("1011", 1000) + "0000"),
        ("len-wander-100000", 10, twice("1011", 100_000) + "0000"),
        ("len-wander-1500000", 10, twice("1110", 1_500_000) + "0000"),
        ("len-wander-wide", 1, twice(&(twice(up, 19) + &twice(down, 19)), 3000) + "0000"),
    ] {
        family.good_block(name, why, with(start, &drawn));
    }
    let block = two_letters();
    let deltas = Bits::drawn(&(twice("1011", 50_000) + "0000"));
    let wandering = Table { deltas, ..block.tables[0].clone() };
    family.good_block("len-wander-used", "also in a table that is used", block.tables(same(wandering)));
}

fn tables(family: &mut Family) {
    let block = two_letters();
    let good = block.tables[0].clone();
    for count in 0..=7 {
        let name = format!("tables-{count}");
        let mut block = block.clone();
        if count == 0 {
            block.body = Body::Verbatim(Bits::number(0, 64));
        }
        let block = block.tables(vec![good.clone(); count]);
        if (2..=6).contains(&count) {
            family.good_block(name, "2 to 6 tables are valid", block);
        } else {
            family.bad_block(name, "2 to 6 tables are valid", block);
        }
    }
    let mut said_6 = block.clone();
    said_6.table_count = 7;
    family.bad_block("tables-7-of-2", "the count alone is wrong", said_6);
}

fn selectors(family: &mut Family) {
    let text = noise(5, 1200);
    let block = Block::of_text(&text);
    let needed = block.selectors.len();
    assert!(needed > 12);
    let good = block.tables[0].clone();
    let six = block.clone().tables(vec![good; 6]);
    let cycling: Vec<u32> = (0..needed as u32).map(|i| i % 6).collect();
    family.good_block("sel-all-positions", "all six positions in the list of tables", six.clone().selecting(&cycling));
    for tables in 2..=6u32 {
        let mut selectors = vec![0; needed];
        selectors[3] = tables;
        let block = six.clone().selecting(&selectors).tables(six.tables[..tables as usize].to_vec());
        family.bad_block(format!("sel-mtf{tables}-of-{tables}"), "a position beyond the last table", block);
    }
    let mut endless = vec![0; needed];
    endless[0] = 1000;
    family.bad_block("sel-mtf1000", "a thousand ones", six.clone().selecting(&endless));

    let mut none = block.clone();
    none.selector_count = 0;
    none.selectors.clear();
    family.bad_block("sel-0", "no selector at all", none);
    for missing in 1..=2 {
        let block = block.clone().selecting(&vec![0; needed - missing]);
        family.bad_block(format!("sel-{missing}-too-few"), "a group without a selector", block);
    }
    for count in [needed + 1, 17_999, 18_000, 18_001, 18_002, 18_003, 18_004, 20_000, 32_766, 32_767] {
        let why = "spare selectors do no harm; those beyond 18,002 are read and dropped (lbzip2 writes some)";
        family.good_block(format!("sel-{count}"), why, block.clone().spare_selectors(count - needed));
    }
    let mut cycling: Vec<u32> = (0..32_767).map(|i| i % 6).collect();
    family.good_block("sel-32767-cycling", "the largest possible number of selectors", six.clone().selecting(&cycling));
    cycling[32_766] = 6;
    family.bad_block("sel-32767-last-bad", "dropped selectors must name a table, too", six.clone().selecting(&cycling));
    for count in [18_002, 18_003] {
        let mut selectors = vec![0; count];
        selectors[count - 1] = 2;
        let block = block.clone().selecting(&selectors);
        family.bad_block(format!("sel-{count}-last-bad"), "spare selectors must name a table, too", block);
    }
    different_tables(family);
}

/// The tables differ, so a decoder that loses track of the list decodes another text.
fn different_tables(family: &mut Family) {
    let text = noise(6, 3000);
    let block = Block::of_text(&text);
    let mut lengths = block.tables[0].lengths.clone();
    lengths.reverse();
    let tables = vec![block.tables[0].clone(), Table::of(&lengths), Table::of(&[9; 258])];
    let selectors: Vec<u32> = noise(7, block.selectors.len()).iter().map(|b| u32::from(b % 3)).collect();
    let why = "selectors are positions in a move-to-front list, not numbers of tables";
    family.good_block("sel-three-different-tables", why, block.tables(tables).selecting(&selectors));
}

fn symbols_of(block: &mut Block) -> &mut Vec<u16> {
    let Body::Symbols(symbols) = &mut block.body else { unreachable!("made of symbols") };
    symbols
}

fn ends(family: &mut Family) {
    // Literals only, so that symbols and bytes count alike: two bytes in turn are position 1 each time.
    let of = |symbols: usize| {
        let column: Vec<u8> = (0..symbols).map(|i| b'b' - (i % 2) as u8).collect();
        let block = Block::of_column(&column, 0);
        assert_eq!(block.symbols().len(), symbols + 1);
        block
    };
    let why = "the end may be the first or the last of a group of 50";
    for symbols in [1, 48, 49, 50, 51, 98, 99, 100, 101] {
        family.good_block(format!("eob-after-{symbols}"), why, of(symbols));
    }
    let mut missing_group = of(50);
    missing_group.selectors.pop();
    missing_group.selector_count -= 1;
    let why = "the end would be the first of a group without a selector";
    family.bad_block("sel-eob-in-missing-group", why, missing_group);
    let mut exactly = of(99);
    symbols_of(&mut exactly)[99] = 0;
    family.bad_block("eob-missing-group-full", "two full groups without an end", exactly);
    for spare in [0, 50] {
        let mut block = of(70).spare_selectors(spare);
        symbols_of(&mut block).pop();
        let name = format!("eob-missing-spare{spare}");
        family.bad_block(name, "without an end, the trailer is read as codes", block);
    }
    let mut early = of(70);
    symbols_of(&mut early).insert(20, 3);
    family.bad_block("eob-early", "the block ends early, and its CRC does not match", early);
}

fn maps(family: &mut Family) {
    let mut empty = two_letters();
    empty.groups = 0;
    empty.rows.clear();
    family.bad_block("map-empty", "no group of symbols", empty);
    let mut empty = two_letters();
    empty.rows = vec![0];
    family.bad_block("map-empty-row", "a group without symbols", empty);
    let mut all_empty = two_letters();
    (all_empty.groups, all_empty.rows) = (0xffff, vec![0; 16]);
    family.bad_block("map-16-empty-rows", "all groups, none with symbols", all_empty);

    let mut with_empty = two_letters();
    let row = with_empty.rows[0];
    with_empty.groups = 0xffff;
    with_empty.rows = vec![0; 16];
    with_empty.rows[6] = row;
    family.good_block("map-empty-groups", "groups may be empty if one is not", with_empty);

    let everything: Vec<u8> = (0..=255).collect();
    for (name, map) in [("map-256-declared-8-used", &everything[..]), ("map-100-declared", &everything[20..120])] {
        let column: Vec<u8> = noise(2, 500).iter().map(|b| 60 + b % 8).collect();
        let symbols = crate::crafted::model::symbols(&column, map);
        family.good_block(name, "symbols that do not occur", Block::of_symbols(map, symbols, 3));
    }
    let one = Block::of_symbols(&everything, vec![0, 257], 0);
    family.good_block("map-256-declared-1-used", "a block of one byte with all symbols declared", one);
    for (name, map) in [("block-empty", &b"a"[..]), ("block-empty-256", &everything[..])] {
        let block = Block::of_symbols(map, vec![map.len() as u16 + 1], 0);
        family.bad_block(name, "a block of no bytes has no row for its origin", block);
    }
    let full = Block::of_text(&[&everything[..], &everything[..100]].concat());
    family.good_block("map-256-used", "258 symbols, the largest alphabet", full);
}
