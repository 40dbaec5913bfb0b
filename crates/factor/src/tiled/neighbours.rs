//! Computes all nearest smaller values with tiles and a tree (Berkman, Schieber and Vishkin 1993; tiles are their
//! blocks).
//!
//! A tile's threads build a binary tree of minima in shared memory, and each thread searches the tree for its
//! neighbours: up until a sibling on the wanted side has a smaller value, then down to the nearest such value. Of 2,048
//! suffixes in random order, eight find no smaller value before them in their tile, because they are smaller than all
//! before them; likewise, eight find none after them. Such searches continue in the tree over all tiles, whose leaves
//! are minima of strips, and end in a strip of the suffix array.

use super::Sizes;
use crate::neighbours::{NONE, Pair};

/// Pads the last tile: larger than all positions.
const FILL: i32 = i32::MAX;

/// The two neighbours of each suffix, by rank.
pub fn by_rank(suffixes: &[i32], sizes: &Sizes) -> Vec<Pair> {
    let tree = Tree::new(suffixes, sizes);
    let mut pairs = vec![[NONE; 2]; suffixes.len()];
    for (number, (values, pairs)) in suffixes.chunks(sizes.tile).zip(pairs.chunks_mut(sizes.tile)).enumerate() {
        let tile = Tile::new(values, sizes.tile);
        for (at, pair) in pairs.iter_mut().enumerate() {
            let value = values[at];
            let before = tile.before(at, value).or_else(|| tree.before(number, value));
            let after = tile.after(at, value).or_else(|| tree.after(number, value));
            *pair = [before.unwrap_or(NONE), after.unwrap_or(NONE)];
        }
    }
    pairs
}

/// The minima of a tile. Node 1 is the root, the children of node k are 2k and 2k + 1, and the leaves are the values.
struct Tile(Vec<i32>);

impl Tile {
    fn new(values: &[i32], size: usize) -> Tile {
        let mut nodes = vec![FILL; 2 * size];
        nodes[size..size + values.len()].copy_from_slice(values);
        for node in (1..size).rev() {
            nodes[node] = nodes[2 * node].min(nodes[2 * node + 1]);
        }
        Tile(nodes)
    }

    /// The nearest value before number `at` that is smaller than `value`.
    fn before(&self, at: usize, value: i32) -> Option<i32> {
        let mut node = self.0.len() / 2 + at;
        while node > 1 {
            if node % 2 == 1 && self.0[node - 1] < value {
                return Some(self.down(node - 1, value, 1));
            }
            node /= 2;
        }
        None
    }

    /// The nearest value after number `at` that is smaller than `value`.
    fn after(&self, at: usize, value: i32) -> Option<i32> {
        let mut node = self.0.len() / 2 + at;
        while node > 1 {
            if node.is_multiple_of(2) && self.0[node + 1] < value {
                return Some(self.down(node + 1, value, 0));
            }
            node /= 2;
        }
        None
    }

    /// The smaller value under `node` that is nearest to the node's right end (1) or left end (0).
    fn down(&self, mut node: usize, value: i32, end: usize) -> i32 {
        while node < self.0.len() / 2 {
            let near = 2 * node + end;
            node = if self.0[near] < value { near } else { near ^ 1 };
        }
        self.0[node]
    }
}

/// The minima of all strips, then of groups of `fan` strips, and so on up to a level that has at most one node's
/// children.
struct Tree<'a> {
    values: &'a [i32],
    levels: Vec<Vec<i32>>,
    strip: usize,
    fan: usize,
    /// The number of strips in a tile.
    strips: usize,
}

impl<'a> Tree<'a> {
    fn new(values: &'a [i32], sizes: &Sizes) -> Tree<'a> {
        let minima = |values: &[i32], size: usize| -> Vec<i32> {
            values.chunks(size).map(|part| part.iter().copied().min().unwrap_or(FILL)).collect()
        };
        let mut levels = vec![minima(values, sizes.strip)];
        while let Some(last) = levels.last().filter(|last| last.len() > sizes.fan) {
            levels.push(minima(last, sizes.fan));
        }
        Tree { values, levels, strip: sizes.strip, fan: sizes.fan, strips: sizes.tile / sizes.strip }
    }

    /// The nearest smaller value before a tile.
    fn before(&self, tile: usize, value: i32) -> Option<i32> {
        let mut from = tile * self.strips;
        for (level, nodes) in self.levels.iter().enumerate() {
            let first = from / self.fan * self.fan;
            if let Some(found) = nodes[first..from].iter().rposition(|&minimum| minimum < value) {
                return Some(self.last_below(level, first + found, value));
            }
            from /= self.fan;
        }
        None
    }

    /// The nearest smaller value after a tile.
    fn after(&self, tile: usize, value: i32) -> Option<i32> {
        // The first node that is not searched yet. On each level a whole number of nodes has been skipped.
        let mut from = (tile + 1) * self.strips;
        for (level, nodes) in self.levels.iter().enumerate() {
            let end = from.next_multiple_of(self.fan).min(nodes.len());
            if let Some(found) = nodes.get(from..end).and_then(|part| part.iter().position(|&m| m < value)) {
                return Some(self.first_below(level, from + found, value));
            }
            from = from.div_ceil(self.fan);
        }
        None
    }

    fn last_below(&self, level: usize, mut node: usize, value: i32) -> i32 {
        for nodes in self.levels[..level].iter().rev() {
            let children = self.children(node, self.fan, nodes);
            node =
                node * self.fan + children.iter().rposition(|&minimum| minimum < value).expect("as its minimum says");
        }
        let strip = self.children(node, self.strip, self.values);
        *strip.iter().rfind(|&&found| found < value).expect("as its minimum says")
    }

    fn first_below(&self, level: usize, mut node: usize, value: i32) -> i32 {
        for nodes in self.levels[..level].iter().rev() {
            let children = self.children(node, self.fan, nodes);
            node = node * self.fan + children.iter().position(|&minimum| minimum < value).expect("as its minimum says");
        }
        let strip = self.children(node, self.strip, self.values);
        *strip.iter().find(|&&found| found < value).expect("as its minimum says")
    }

    fn children<'b>(&self, node: usize, size: usize, of: &'b [i32]) -> &'b [i32] {
        &of[node * size..((node + 1) * size).min(of.len())]
    }
}
