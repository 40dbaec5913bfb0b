//! Any bytes as lines: sorted in one piece, in pieces, through files, by their numbers and by merging, they equal the
//! result of the standard library's sort.
//!
//! The first byte says the order and how the text comes, the second byte how it is cut, the third byte how often it is
//! repeated.
#![no_main]

use hybz_fuzz::pool;
use hysort::{Limits, Order, Sorter};
use libfuzzer_sys::fuzz_target;

/// The lines of a text without their ends.
fn split(text: &[u8], end: u8) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = text.split(|&byte| byte == end).collect();
    lines.pop_if(|last| last.is_empty());
    lines
}

/// The result for this order, by the standard library.
fn plain(text: &[u8], end: u8, reverse: bool, unique: bool) -> Vec<u8> {
    let mut lines = split(text, end);
    lines.sort();
    if unique {
        lines.dedup();
    }
    if reverse {
        lines.reverse();
    }
    lines.iter().flat_map(|line| [line, &[end][..]].concat()).collect()
}

fuzz_target!(|input: &[u8]| {
    let pool = pool(64 << 20);
    let [flags, piece, times, rest @ ..] = input else { return };
    let (reverse, unique, end) = (flags & 1 > 0, flags & 2 > 0, if flags & 4 > 0 { 0 } else { b'\n' });
    let order = Order::new().reverse(reverse).unique(unique).end(end);
    let text = rest.repeat(1 + usize::from(*times));
    let expected = plain(&text, end, reverse, unique);
    assert!(hysort::sorted(&text, &order, pool).expect("it is sorted") == expected);

    let limits = match flags >> 4 {
        0 => Limits::new(),
        small => Limits::new().memory(1 << (9 + small)).temporary(tempfile::tempfile),
    };
    let mut sorter = Sorter::new(&order, limits, pool);
    for piece in text.chunks(1 + usize::from(*piece) * 5) {
        match flags & 8 {
            0 => sorter.push(piece).expect("it takes all"),
            _ => sorter.push_owned(piece.to_vec()).expect("it takes all"),
        }
    }
    let mut out = Vec::new();
    sorter.write_to(&mut out).expect("it is sorted");
    assert!(out == expected);
    assert!(hysort::check(&out[..], &order).expect("it is read").is_none());

    // Equal lines stay in their order, also backwards; with unique lines, the first of equal lines is kept.
    let lines = split(&text, end);
    let mut numbers: Vec<usize> = (0..lines.len()).collect();
    numbers.sort_by(|&a, &b| if reverse { lines[b].cmp(lines[a]) } else { lines[a].cmp(lines[b]) });
    if unique {
        numbers.dedup_by_key(|number| lines[*number]);
    }
    let ranks = hysort::lines(&text, &order, pool).expect("they are sorted");
    assert!(ranks.iter().map(|&number| number as usize).eq(numbers));

    let half = text[..text.len() / 2].iter().rposition(|&byte| byte == end).map_or(0, |at| at + 1);
    let halves = [plain(&text[..half], end, reverse, unique), plain(&text[half..], end, reverse, unique)];
    let mut merged = Vec::new();
    hysort::merge(halves.iter().map(|half| &half[..]).collect(), &order, &mut merged).expect("it is merged");
    assert!(merged == expected);
});
