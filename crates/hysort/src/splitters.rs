//! Determines the range of keys that a line belongs to.
//!
//! Splitters are lines of a sample. Range i has the lines from splitter i-1 (included) to splitter i (excluded). If a
//! line is so frequent that it was chosen as several splitters, lines that equal it have a bucket of their own: they
//! need no sorting.
//!
//! ```text
//! range 0 | lines equal to splitter 0 | range 1 | lines equal to splitter 1 | range 2
//! ```
//!
//! Finding the bucket of a line is a walk down a tree of nodes. All splitters of a node begin with the same bytes,
//! which are compared at once; the next 8 bytes are looked up among the keys of the node; a node below distinguishes
//! splitters with equal keys. So a line that shares 80 bytes with all splitters around costs one comparison of 80 bytes
//! and one binary search, not one comparison for each step of the search.

use super::text::{common, key, line_sum};
use std::cmp::Ordering;
use std::hint::select_unpredictable;

/// How many lines are looked up at once.
const SIDE_BY_SIDE: usize = 8;

/// The splitters, as a search tree.
#[derive(Debug)]
pub(crate) struct Splitters {
    splitters: Vec<Splitter>,
    /// The root of the tree is the last node; with no splitters there is none.
    nodes: Vec<Node>,
}

#[derive(Debug)]
struct Splitter {
    line: Vec<u8>,
    /// Lines that equal it have a bucket of their own.
    heavy: bool,
    sum: u64,
}

/// Splitters `first..` that have all bytes before `depth` in common.
#[derive(Debug)]
struct Node {
    /// The first and the last splitter of the node.
    first: usize,
    last: usize,
    /// The start of the bytes that are compared here: those before are known to be equal.
    start: usize,
    /// The position of the keys.
    depth: usize,
    /// Distinct keys, in order.
    keys: Vec<u64>,
    /// The splitters with each of these keys.
    ties: Vec<Tie>,
}

/// The splitters that have one key.
#[derive(Debug)]
struct Tie {
    /// The first splitter.
    first: usize,
    /// How many of them end within the key.
    ended: usize,
    /// The node of the others.
    below: Option<usize>,
    /// The splitter after the last of them.
    next: usize,
}

impl Splitters {
    /// Takes lines in order, each with a flag that tells whether it is heavy.
    pub fn new(lines: Vec<(Vec<u8>, bool)>) -> Splitters {
        let splitters: Vec<Splitter> = lines
            .into_iter()
            .map(|(line, heavy)| Splitter { sum: if heavy { line_sum(&line) } else { 0 }, line, heavy })
            .collect();
        debug_assert!(splitters.is_sorted_by(|a, b| a.line < b.line));
        let mut made = Splitters { splitters, nodes: Vec::new() };
        if !made.splitters.is_empty() {
            made.node(0, made.splitters.len(), 0);
        }
        made
    }

    /// Makes the node of some splitters, and those below it. A node has fewer splitters than its parent, because the
    /// parent's first and last have different keys, or its first one ends there.
    fn node(&mut self, first: usize, end: usize, start: usize) -> usize {
        let (low, high) = (&self.splitters[first].line, &self.splitters[end - 1].line);
        let depth = start + common(&low[start..], &high[start..]);
        let key_of = |splitter: &Splitter| key(&splitter.line, depth, splitter.line.len() - depth);
        let (mut keys, mut ties) = (Vec::new(), Vec::new());
        let mut at = first;
        for group in self.splitters[first..end].chunk_by(|a, b| key_of(a) == key_of(b)) {
            let ended = group.iter().take_while(|splitter| splitter.line.len() <= depth + 8).count();
            keys.push(key_of(&group[0]));
            ties.push(Tie { first: at, ended, below: None, next: at + group.len() });
            at += group.len();
        }
        for tie in &mut ties {
            if tie.first + tie.ended < tie.next {
                tie.below = Some(self.node(tie.first + tie.ended, tie.next, depth + 8));
            }
        }
        self.nodes.push(Node { first, last: end - 1, start, depth, keys, ties });
        self.nodes.len() - 1
    }

    /// The number of buckets: ranges have even numbers, and equal lines odd ones.
    pub fn buckets(&self) -> usize {
        2 * self.splitters.len() + 1
    }

    /// The buckets of some lines, each given by its start in `text` and its length.
    ///
    /// The searches of eight lines are interleaved: in a single search each step waits for the one before it, and a
    /// mispredicted end of a search delays the next line's. (Half a GB of words, one core: sorting took 4.6 s of
    /// processor time, now 3.9.)
    pub fn buckets_of(&self, text: &[u8], lines: &[(u32, u32)], mut take: impl FnMut(usize)) {
        let (eights, rest) = lines.as_chunks::<SIDE_BY_SIDE>();
        let root = self.nodes.last();
        for eight in eights {
            let found = root.and_then(|root| self.side_by_side(root, text, eight));
            for (i, &(at, len)) in eight.iter().enumerate() {
                let (at, len) = (at as usize, len as usize);
                take(match &found {
                    Some(found) => self.numbered(self.place_with(found[i], text, at, len)),
                    None => self.bucket(text, at, len),
                });
            }
        }
        rest.iter().for_each(|&(at, len)| take(self.bucket(text, at as usize, len as usize)));
    }

    /// The bucket of a line, given by its start in `text` and its length.
    pub fn bucket(&self, text: &[u8], at: usize, len: usize) -> usize {
        self.numbered(self.place(text, at, len))
    }

    fn numbered(&self, (splitter, equal): (usize, bool)) -> usize {
        match equal {
            false => 2 * splitter,
            true if self.splitters[splitter].heavy => 2 * splitter + 1,
            true => 2 * splitter + 2,
        }
    }

    /// How many splitters are smaller than the line, and whether the next one equals it.
    fn place(&self, text: &[u8], at: usize, len: usize) -> (usize, bool) {
        match self.nodes.last() {
            Some(root) => self.place_below(root, text, at, len),
            None => (0, false),
        }
    }

    fn place_below<'a>(&'a self, mut node: &'a Node, text: &[u8], at: usize, len: usize) -> (usize, bool) {
        loop {
            match self.compare_prefix(node, &text[at..at + len]) {
                Ordering::Less => return (node.first, false),
                Ordering::Greater => return (node.last + 1, false),
                Ordering::Equal => {}
            }
            let key = key(text, at + node.depth, len - node.depth);
            let [found] = lower_bounds(&node.keys, &[key]);
            match self.decide(node, found, key, len) {
                Ok(place) => return place,
                Err(below) => node = below,
            }
        }
    }

    /// Like [`place`](Self::place), after the search in the root.
    fn place_with(&self, (found, key): (usize, u64), text: &[u8], at: usize, len: usize) -> (usize, bool) {
        let Some(root) = self.nodes.last() else { return (0, false) };
        match self.decide(root, found, key, len) {
            Ok(place) => place,
            Err(below) => self.place_below(below, text, at, len),
        }
    }

    /// Compares a line with the common prefix of a node's splitters.
    fn compare_prefix(&self, node: &Node, line: &[u8]) -> Ordering {
        if node.depth == node.start {
            return Ordering::Equal;
        }
        let prefix = &self.splitters[node.first].line[node.start..node.depth];
        line[node.start..node.depth.min(line.len())].cmp(prefix)
    }

    /// The result for a line whose key was looked up in a node: its place, or the node in which to continue.
    fn decide<'a>(&'a self, node: &Node, found: usize, key: u64, len: usize) -> Result<(usize, bool), &'a Node> {
        let Some(tie) = node.ties.get(found) else { return Ok((node.last + 1, false)) };
        if node.keys[found] != key {
            return Ok((tie.first, false));
        }
        if len - node.depth <= 8 {
            let ended = &self.splitters[tie.first..tie.first + tie.ended];
            let smaller = ended.iter().take_while(|splitter| splitter.line.len() < len).count();
            let equal = ended.get(smaller).is_some_and(|splitter| splitter.line.len() == len);
            return Ok((tie.first + smaller, equal));
        }
        match tie.below {
            Some(below) => Err(&self.nodes[below]),
            None => Ok((tie.next, false)),
        }
    }

    /// The positions of eight lines' keys in a node, and the keys; `None` if not all lines begin with the splitters'
    /// common prefix.
    fn side_by_side(
        &self,
        node: &Node,
        text: &[u8],
        lines: &[(u32, u32); SIDE_BY_SIDE],
    ) -> Option<[(usize, u64); SIDE_BY_SIDE]> {
        let mut keys = [0; SIDE_BY_SIDE];
        for (own, &(at, len)) in keys.iter_mut().zip(lines) {
            let (at, len) = (at as usize, len as usize);
            if self.compare_prefix(node, &text[at..at + len]) != Ordering::Equal {
                return None;
            }
            *own = key(text, at + node.depth, len - node.depth);
        }
        let found = lower_bounds(&node.keys, &keys);
        Some(std::array::from_fn(|i| (found[i], keys[i])))
    }

    /// The line that all lines of an odd bucket equal, and its sum.
    pub fn heavy(&self, bucket: usize) -> Option<(&[u8], u64)> {
        let splitter = self.splitters.get(bucket / 2).filter(|_| bucket % 2 == 1)?;
        Some((&splitter.line, splitter.sum))
    }

    /// The number of bytes that all lines of a range certainly have in common.
    pub fn common_prefix(&self, bucket: usize) -> usize {
        let range = bucket / 2;
        match (range.checked_sub(1).and_then(|below| self.splitters.get(below)), self.splitters.get(range)) {
            (Some(low), Some(high)) => common(&low.line, &high.line),
            _ => 0,
        }
    }
}

/// For each of some numbers, how many of the keys are smaller. It has no branches that depend on them, because those
/// would be unpredictable.
fn lower_bounds<const COUNT: usize>(keys: &[u64], of: &[u64; COUNT]) -> [usize; COUNT] {
    let (mut base, mut len) = ([0; COUNT], keys.len());
    while len > 1 {
        let half = len / 2;
        for (base, &key) in base.iter_mut().zip(of) {
            *base = select_unpredictable(keys[*base + half - 1] < key, *base + half, *base);
        }
        len -= half;
    }
    std::array::from_fn(|i| base[i] + usize::from(len == 1 && keys[base[i]] < of[i]))
}

/// Chooses splitters from a sample. `whole` says that a line of the sample was not cut.
///
/// A line that is chosen twice is heavy: its share of all lines is larger than one range's.
pub(crate) fn choose(mut sample: Vec<(Vec<u8>, bool)>, ranges: usize) -> Splitters {
    sample.sort_unstable();
    let mut chosen: Vec<(Vec<u8>, bool)> = Vec::with_capacity(ranges);
    for number in 1..ranges {
        let Some((line, whole)) = sample.get(number * sample.len() / ranges) else { break };
        match chosen.last_mut() {
            Some((last, heavy)) if last == line => *heavy |= *whole,
            _ => chosen.push((line.clone(), false)),
        }
    }
    Splitters::new(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::Rng;

    /// Lines over few letters, NUL among them, that are prefixes of each other and have long common prefixes.
    fn some_lines(rng: &mut Rng, count: usize) -> Vec<Vec<u8>> {
        let line = |rng: &mut Rng| {
            let mut line = match rng.below(3) {
                0 => Vec::new(),
                1 => b"a rather long prefix/".to_vec(),
                _ => b"a rather long prefix/and a second one/".to_vec(),
            };
            let len = rng.below(14);
            line.extend((0..len).map(|_| [0, b'a', b'b', 0xff][rng.below(4)]));
            line
        };
        (0..count).map(|_| line(rng)).collect()
    }

    fn alone(splitters: &Splitters, line: &[u8]) -> usize {
        splitters.bucket(line, 0, line.len())
    }

    fn at_once(splitters: &Splitters, lines: &[Vec<u8>]) -> Vec<usize> {
        let text = lines.concat();
        let mut at = 0;
        let places = lines.iter().map(|line| {
            at += line.len() as u32;
            (at - line.len() as u32, line.len() as u32)
        });
        let mut buckets = Vec::new();
        splitters.buckets_of(&text, &places.collect::<Vec<_>>(), |bucket| buckets.push(bucket));
        buckets
    }

    #[test]
    fn the_bucket_is_the_one_that_a_plain_search_finds() {
        let mut rng = Rng(3);
        for count in [0, 1, 2, 3, 10, 100, 1000] {
            let mut chosen = some_lines(&mut rng, count);
            chosen.sort();
            chosen.dedup();
            let heavy: Vec<bool> = chosen.iter().map(|_| rng.below(2) == 0).collect();
            let splitters = Splitters::new(chosen.iter().cloned().zip(heavy.iter().copied()).collect());
            assert_eq!(splitters.buckets(), 2 * chosen.len() + 1);
            let lines: Vec<Vec<u8>> = some_lines(&mut rng, 2000).into_iter().chain(chosen.iter().cloned()).collect();
            assert_eq!(
                at_once(&splitters, &lines),
                lines.iter().map(|line| alone(&splitters, line)).collect::<Vec<_>>()
            );
            for line in &lines {
                let place = chosen.partition_point(|splitter| splitter < line);
                let plain = match chosen.get(place) {
                    Some(splitter) if splitter == line => 2 * place + if heavy[place] { 1 } else { 2 },
                    _ => 2 * place,
                };
                let text = [b"xx", &line[..], b"yyyyyyyyyy"].concat();
                let bucket = splitters.bucket(&text, 2, line.len());
                assert_eq!(bucket, plain, "{line:?}");
                match splitters.heavy(bucket) {
                    Some((heavy, sum)) => assert!(heavy == line && sum == line_sum(line)),
                    None => {
                        let prefix = splitters.common_prefix(bucket);
                        let other = (bucket / 2).checked_sub(1).map_or(&line[..], |low| &chosen[low]);
                        assert!(common(line, other) >= prefix, "{line:?} shares {prefix} bytes with its range");
                    }
                }
            }
        }
    }

    #[test]
    fn a_frequent_line_gets_a_bucket() {
        let sample = |count: usize| (0..count).map(|i| (vec![if i % 2 == 0 { 7 } else { i as u8 }], true)).collect();
        let splitters = choose(sample(256), 16);
        let bucket = splitters.bucket(&[7], 0, 1);
        assert_eq!(splitters.heavy(bucket).map(|(line, _)| line), Some(&[7][..]));
        // If lines of the sample were cut, other lines may begin with the same bytes.
        let cut = choose((0..256).map(|_| (vec![7], false)).collect(), 16);
        assert_eq!(cut.heavy(cut.bucket(&[7], 0, 1)), None);
        assert_eq!(choose(Vec::new(), 16).buckets(), 1);
    }
}
