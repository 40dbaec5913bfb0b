//! Sorts the lines of one range on one core.
//!
//! Lines are entries of 16 bytes: a key (the next 8 bytes of the line as a number), the line's start, and its length.
//! Entries are sorted by key. Among equal keys, ended lines come first, the shorter before the longer. The others are
//! a group: their common prefix is skipped, the next 8 bytes are their keys, and so on. A small group is sorted by
//! comparing lines. So each byte of a line is read about once, and text is not moved before its place is known.
//!
//! Multikey quicksort (Bentley and Sedgewick 1997) with cached keys of 8 bytes (Ng and Kakehi 2007); keys are sorted by
//! the standard library. The text has been partitioned into up to 1,024 ranges before, so the entries of a range fit
//! into a core's cache. Cost: O(bytes that tell the lines apart + n log n).

use super::text::{common, key};

/// One line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    pub key: u64,
    /// The line's position in the text.
    pub at: u32,
    /// Its bytes, without its end.
    pub len: u32,
}

impl Entry {
    fn rest<'a>(&self, text: &'a [u8], depth: usize) -> &'a [u8] {
        &text[self.at as usize + depth..self.at as usize + self.len as usize]
    }
}

/// Groups up to this size are sorted by insertion.
const SMALL: usize = 10;

/// Entries that are in order as far as `depth` bytes of their lines.
#[derive(Debug)]
struct Group {
    start: usize,
    end: usize,
    depth: usize,
}

/// Working memory of sorting, apart from the entries. It is kept from range to range.
#[derive(Debug, Default)]
pub(crate) struct LocalSort {
    groups: Vec<Group>,
}

impl LocalSort {
    /// Sorts lines that have their first `depth` bytes in common. Their keys need not be set.
    pub fn sort(&mut self, text: &[u8], entries: &mut [Entry], depth: usize) {
        self.groups.clear();
        self.groups.push(Group { start: 0, end: entries.len(), depth });
        while let Some(Group { start, end, depth }) = self.groups.pop() {
            let group = &mut entries[start..end];
            for entry in &mut *group {
                let left = (entry.len as usize).saturating_sub(depth);
                entry.key = key(text, entry.at as usize + depth.min(entry.len as usize), left);
            }
            group.sort_unstable_by_key(|entry| entry.key);
            let mut first = 0;
            while first < group.len() {
                let same = group[first].key;
                let mut last = first + 1;
                while last < group.len() && group[last].key == same {
                    last += 1;
                }
                if last - first > 1
                    && let Some((skip, depth)) = settle(text, &mut group[first..last], depth + 8)
                {
                    self.groups.push(Group { start: start + first + skip, end: start + last, depth });
                }
                first = last;
            }
        }
    }
}

/// Puts in order lines that agree in all bytes before `depth`. Returns how many of them are in their final place, and
/// the depth at which to continue with the others, if there are any.
fn settle(text: &[u8], group: &mut [Entry], depth: usize) -> Option<(usize, usize)> {
    let mut ended = 0;
    for i in 0..group.len() {
        if group[i].len as usize <= depth {
            group.swap(i, ended);
            ended += 1;
        }
    }
    if ended > 1 {
        group[..ended].sort_unstable_by_key(|entry| entry.len);
    }
    let rest = &mut group[ended..];
    if rest.len() <= SMALL {
        insertion(text, rest, depth);
        return None;
    }
    // All are compared with the shortest: for lines that are prefixes of each other, no more bytes are compared than
    // exist.
    let shortest = rest.iter().min_by_key(|entry| entry.len).map_or(&[][..], |entry| entry.rest(text, depth));
    let mut same = shortest.len();
    for entry in &*rest {
        if same == 0 {
            break;
        }
        same = common(&shortest[..same], entry.rest(text, depth));
    }
    Some((ended, depth + same))
}

/// Insertion sort by the bytes of the lines from `depth` on.
fn insertion(text: &[u8], group: &mut [Entry], depth: usize) {
    for i in 1..group.len() {
        let entry = group[i];
        let line = entry.rest(text, depth);
        let mut to = i;
        while to > 0 {
            let other = group[to - 1];
            if other.rest(text, depth) <= line {
                break;
            }
            group[to] = other;
            to -= 1;
        }
        group[to] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each line is one byte longer than the one before: as many nested groups as lines.
    #[test]
    fn groups_within_groups_need_no_stack() {
        let text = vec![b'a'; 40_000];
        let entries: Vec<Entry> = (0..40_000).map(|len| Entry { key: 0, at: 0, len: 39_999 - len }).collect();
        let mut ours = entries.clone();
        LocalSort::default().sort(&text, &mut ours, 0);
        assert!(ours.iter().map(|entry| entry.len).eq(0..40_000));
    }
}
