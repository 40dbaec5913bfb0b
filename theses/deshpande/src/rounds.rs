//! Algorithm 3, the thesis's string sort, on a CPU: how many sort steps it takes.
//!
//! A key of 8 bytes is the number of the string's segment, and then its next characters, with the null that ends it.
//! After each sort, strings with unique keys leave; so do those whose null is in their key. The number of a segment
//! takes as few bytes as the number of segments allows, at least one, and none before the first sort.

use crate::lines::Strings;

/// The bytes of a segment's number.
#[derive(Clone, Copy, PartialEq)]
pub enum Numbers {
    Adaptive,
    Fixed,
}

/// Sorts, and returns the numbers of the strings in their order, and the number of sort steps.
pub fn sort(strings: &Strings<'_>, numbers: Numbers) -> (Vec<u32>, u32) {
    let mut order: Vec<u32> = (0..strings.len() as u32).collect();
    let mut rows: Vec<u32> = order.clone();
    let mut list: Vec<(u64, u32)> = order.iter().map(|&string| (0, string)).collect();
    let (mut segments, mut offset, mut steps) = (0_usize, 0, 0);
    while !list.is_empty() {
        let number_bytes = match numbers {
            Numbers::Fixed => 4,
            Numbers::Adaptive if segments == 0 => 0,
            Numbers::Adaptive => (64 - (segments as u64 - 1).leading_zeros()).div_ceil(8).max(1),
        };
        for (key, string) in &mut list {
            let number = key.checked_shl(64 - 8 * number_bytes).unwrap_or_default();
            *key = number | strings.eight(*string, offset) >> (8 * number_bytes);
        }
        list.sort_unstable();
        steps += 1;
        offset += 8 - number_bytes as usize;
        segments = 0;
        let (mut at, mut kept) = (0, 0);
        while at < list.len() {
            let key = list[at].0;
            let size = list[at..].iter().take_while(|(other, _)| *other == key).count();
            if size == 1 || key & 255 == 0 {
                (at..at + size).for_each(|at| order[rows[at] as usize] = list[at].1);
            } else {
                for at in at..at + size {
                    (list[kept], rows[kept]) = ((segments as u64, list[at].1), rows[at]);
                    kept += 1;
                }
                segments += 1;
            }
            at += size;
        }
        list.truncate(kept);
    }
    (order, steps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use theses_common::made;

    /// The numbers that table 4.4 prints for these sets. (For artificial-5 it has 26 and 17: his ended strings stay.)
    #[test]
    fn as_many_steps_as_the_thesis_prints() {
        for (set, fixed, adaptive) in [("artificial-2", 26, 15), ("genome", 3, 2), ("artificial-5", 26, 15)] {
            let text = made::text(set, 2_000_000).expect("a set");
            let strings = Strings::new(&text);
            let mut expected = made::split(&text);
            expected.sort_unstable();
            for (numbers, steps) in [(Numbers::Fixed, fixed), (Numbers::Adaptive, adaptive)] {
                let (order, taken) = sort(&strings, numbers);
                assert_eq!(taken, steps, "{set}");
                assert!(order.iter().map(|&string| strings.get(string)).eq(expected.iter().copied()), "{set}");
            }
        }
    }
}
