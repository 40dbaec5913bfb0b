//! An MSD radix sort of strings on one core, the peer of figure 4.6: from the first byte on, counting sorts into 256
//! buckets (J. Kärkkäinen and T. Rantala, SPIRE 2008, describe the family). Places of strings move, and with them the
//! next eight bytes of each, so that most steps read no string.

use crate::lines::Strings;

/// Buckets of at most this many strings are sorted by insertion.
const SMALL: usize = 24;

#[derive(Clone, Copy, Default)]
struct Item {
    /// Eight bytes, with zeros after the string's end.
    bytes: u64,
    string: u32,
}

/// The numbers of the strings in their order.
pub fn order(strings: &Strings<'_>) -> Vec<u32> {
    let count = strings.len() as u32;
    let mut items: Vec<Item> = (0..count).map(|string| Item { bytes: strings.eight(string, 0), string }).collect();
    let mut sorted = vec![Item::default(); items.len()];
    // Buckets, and the number of bytes that their strings have in common.
    let mut buckets = vec![(0..items.len(), 0)];
    while let Some((bucket, mut depth)) = buckets.pop() {
        let items = &mut items[bucket.clone()];
        if items.len() <= SMALL {
            insertion_sort(items, depth / 8 * 8, strings);
            continue;
        }
        let counts = loop {
            let counts = count_bytes(items, depth % 8);
            if !counts.contains(&items.len()) || counts[0] == items.len() {
                break counts;
            }
            // A single bucket.
            depth += 1;
            load(items, depth, strings);
        };
        let mut ends = [0; 256];
        let mut at = 0;
        for (byte, count) in counts.into_iter().enumerate() {
            ends[byte] = at;
            at += count;
        }
        let sorted = &mut sorted[..items.len()];
        for item in &*items {
            let end = &mut ends[byte(item, depth % 8)];
            sorted[*end] = *item;
            *end += 1;
        }
        items.copy_from_slice(sorted);
        // Strings of bucket 0 have ended, and are equal.
        for byte in (1..256).filter(|&byte| counts[byte] > 1) {
            let here = ends[byte] - counts[byte]..ends[byte];
            load(&mut items[here.clone()], depth + 1, strings);
            buckets.push((bucket.start + here.start..bucket.start + here.end, depth + 1));
        }
    }
    items.into_iter().map(|item| item.string).collect()
}

fn byte(item: &Item, at: usize) -> usize {
    (item.bytes >> (56 - 8 * at)) as usize & 255
}

fn count_bytes(items: &[Item], at: usize) -> [usize; 256] {
    let mut counts = [0; 256];
    items.iter().for_each(|item| counts[byte(item, at)] += 1);
    counts
}

/// Replaces the bytes of strings that have all eight in common.
fn load(items: &mut [Item], depth: usize, strings: &Strings<'_>) {
    if depth.is_multiple_of(8) {
        items.iter_mut().for_each(|item| item.bytes = strings.eight(item.string, depth));
    }
}

fn insertion_sort(items: &mut [Item], loaded: usize, strings: &Strings<'_>) {
    let rest = |item: &Item| strings.get(item.string).get(loaded + 8..).unwrap_or_default();
    for from in 1..items.len() {
        let item = items[from];
        let mut at = from;
        while at > 0 {
            let before = &items[at - 1];
            if (before.bytes, rest(before)) <= (item.bytes, rest(&item)) {
                break;
            }
            items[at] = *before;
            at -= 1;
        }
        items[at] = item;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use theses_common::made;

    #[test]
    fn as_the_standard_library_sorts() {
        for set in ["artificial-2", "artificial-4", "artificial-5", "dictcalls", "random-strings", "url", "pc-filelist"]
        {
            let text = made::text(set, 200_000).expect("a set");
            let strings = Strings::new(&text);
            let mut expected = made::split(&text);
            expected.sort_unstable();
            let sorted: Vec<&[u8]> = order(&strings).into_iter().map(|string| strings.get(string)).collect();
            assert!(sorted == expected, "{set}");
        }
    }
}
