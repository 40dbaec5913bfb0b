//! Code lengths exactly as bzip2 computes them, and the codes that follow.
//!
//! Huffman's algorithm does not say which of several lightest nodes to take. The lengths depend on that choice, and the
//! bytes of the file depend on the lengths. bzip2 keeps the nodes in a binary heap, so their positions in the heap
//! decide between equal weights. To get equal bytes, one needs this heap with its strict comparisons; other methods
//! (two queues, sorting) give other lengths. A weight is a frequency (at least 1) above 8 bits of depth, so of two
//! equally frequent trees the flatter one is lighter. If a code gets longer than 17 bits, all frequencies are halved
//! and the algorithm starts again.
//!
//! A heap entry here is weight and node in one word, which saves looking up a weight for each comparison. One pass from
//! the root down computes the depths, instead of one climb from each leaf. Measured (Zen 5): 10 us for a table of 258
//! symbols, 1 us for 30. A block makes up to 24 tables.

use crate::formats::bzip2::header::{MAX_SYMBOLS, MAX_WRITTEN_CODE};

/// Leaves, inner nodes, and node 0, which is not used.
const MAX_NODES: usize = 2 * MAX_SYMBOLS;

/// A binary heap whose root, at index 1, is the lightest entry. Index 0 holds 0, which stops an entry that moves up.
struct Heap {
    entries: [u64; MAX_SYMBOLS + 2],
    len: usize,
}

/// A heap entry: the weight above the node.
fn entry(weight: u32, node: usize) -> u64 {
    u64::from(weight) << 32 | node as u64
}

fn node(entry: u64) -> usize {
    entry as u32 as usize
}

fn weight(entry: u64) -> u32 {
    (entry >> 32) as u32
}

/// Compares weights only. An equal weight is not lighter, whatever the nodes are.
fn is_lighter(a: u64, b: u64) -> bool {
    weight(a) < weight(b)
}

impl Heap {
    fn push(&mut self, new: u64) {
        self.len += 1;
        let mut at = self.len;
        while is_lighter(new, self.entries[at >> 1]) {
            self.entries[at] = self.entries[at >> 1];
            at >>= 1;
        }
        self.entries[at] = new;
    }

    /// Removes the root and moves the last entry down from there.
    fn pop(&mut self) -> u64 {
        let root = self.entries[1];
        let moved = self.entries[self.len];
        // The entry after the last one is heavier than all others: it serves as the second child of a node that has
        // only one.
        self.entries[self.len] = u64::MAX;
        self.len -= 1;
        let mut at = 1;
        loop {
            let mut child = 2 * at;
            if child > self.len {
                break;
            }
            child += usize::from(is_lighter(self.entries[child + 1], self.entries[child]));
            if is_lighter(moved, self.entries[child]) {
                break;
            }
            self.entries[at] = self.entries[child];
            at = child;
        }
        self.entries[at] = moved;
        root
    }
}

/// Computes the code lengths for `frequencies` (2 to 258 symbols, with a sum below 2^23).
pub fn code_lengths(frequencies: &[u32], lengths: &mut [u8]) {
    let count = frequencies.len();
    let mut weights = [0u32; MAX_SYMBOLS];
    for (weight, &frequency) in weights.iter_mut().zip(frequencies) {
        *weight = frequency.max(1) << 8;
    }
    while !build(&weights[..count], lengths) {
        for weight in &mut weights[..count] {
            *weight = (1 + (*weight >> 8) / 2) << 8;
        }
    }
}

/// Builds one tree. Returns false if a code is too long.
fn build(weights: &[u32], lengths: &mut [u8]) -> bool {
    let count = weights.len();
    let mut heap = Heap { entries: [0; MAX_SYMBOLS + 2], len: 0 };
    for (leaf, &weight) in weights.iter().enumerate() {
        heap.push(entry(weight, leaf + 1));
    }
    let mut parents = [0u16; MAX_NODES];
    let mut nodes = count;
    while heap.len > 1 {
        let (first, second) = (heap.pop(), heap.pop());
        nodes += 1;
        parents[node(first)] = nodes as u16;
        parents[node(second)] = nodes as u16;
        let (a, b) = (weight(first), weight(second));
        let depth = 1 + (a & 0xff).max(b & 0xff);
        heap.push(entry(((a & !0xff) + (b & !0xff)) | depth, nodes));
    }
    // A parent has a higher number than its children. The root, which is the last node, has depth 0.
    let mut depths = [0u8; MAX_NODES];
    for node in (1..nodes).rev() {
        depths[node] = depths[usize::from(parents[node])] + 1;
    }
    lengths[..count].copy_from_slice(&depths[1..=count]);
    lengths[..count].iter().all(|&len| len <= MAX_WRITTEN_CODE)
}

/// The codes for `lengths`, shorter codes first and then by symbol, in the form that
/// [`BitWriter::write_codes`](crate::bits::BitWriter::write_codes) takes: the code above 8 bits of length.
pub fn assign_codes(lengths: &[u8]) -> [u32; 512] {
    let mut codes = [0; 512];
    let mut next = 0;
    for len in 1..=MAX_WRITTEN_CODE {
        for (code, _) in codes.iter_mut().zip(lengths).filter(|(_, l)| **l == len) {
            *code = next << 8 | u32::from(len);
            next += 1;
        }
        next <<= 1;
    }
    codes
}

#[cfg(test)]
mod tests {
    use super::*;
    use hybz_testkit::shapes::Rng;

    /// bzip2's own method: weights next to the heap, depths by climbing. Also returns the number of halvings.
    fn naive(frequencies: &[u32]) -> (Vec<u8>, u32) {
        let count = frequencies.len();
        let mut leaves: Vec<u32> = frequencies.iter().map(|f| f.max(&1) << 8).collect();
        for halvings in 0.. {
            let mut weights = vec![0];
            weights.extend(&leaves);
            let mut parents: Vec<Option<usize>> = vec![None; 2 * count];
            let mut heap: Vec<usize> = vec![0];
            fn add(heap: &mut Vec<usize>, weights: &[u32], node: usize) {
                let mut at = heap.len();
                heap.push(node);
                while weights[heap[at]] < weights[heap[at / 2]] {
                    heap.swap(at, at / 2);
                    at /= 2;
                }
            }
            fn take(heap: &mut Vec<usize>, weights: &[u32]) -> usize {
                let taken = heap.swap_remove(1);
                let mut at = 1;
                while 2 * at < heap.len() {
                    let mut child = 2 * at;
                    if child + 1 < heap.len() && weights[heap[child + 1]] < weights[heap[child]] {
                        child += 1;
                    }
                    if weights[heap[at]] < weights[heap[child]] {
                        break;
                    }
                    heap.swap(at, child);
                    at = child;
                }
                taken
            }
            (1..=count).for_each(|leaf| add(&mut heap, &weights, leaf));
            while heap.len() > 2 {
                let (a, b) = (take(&mut heap, &weights), take(&mut heap, &weights));
                let (wa, wb) = (weights[a], weights[b]);
                weights.push(((wa >> 8) + (wb >> 8)) << 8 | (1 + (wa & 255).max(wb & 255)));
                let new = weights.len() - 1;
                (parents[a], parents[b]) = (Some(new), Some(new));
                add(&mut heap, &weights, new);
            }
            let depth = |leaf: usize| std::iter::successors(parents[leaf], |&node| parents[node]).count() as u8;
            let lengths: Vec<u8> = (1..=count).map(depth).collect();
            if lengths.iter().all(|&len| len <= 17) {
                return (lengths, halvings);
            }
            for leaf in &mut leaves {
                *leaf = (1 + (*leaf >> 8) / 2) << 8;
            }
        }
        unreachable!()
    }

    fn check(frequencies: &[u32]) -> u32 {
        let (expected, halvings) = naive(frequencies);
        let mut lengths = vec![0; frequencies.len()];
        code_lengths(frequencies, &mut lengths);
        assert_eq!(lengths, expected, "{frequencies:?}");
        // The code is complete: Kraft's sum is 1.
        assert_eq!(lengths.iter().map(|&len| 1u64 << (20 - len)).sum::<u64>(), 1 << 20, "{frequencies:?}");
        halvings
    }

    #[test]
    fn at_random() {
        let mut rng = Rng(10);
        for _ in 0..3000 {
            let count = 2 + rng.below(257);
            let max = [2, 5, 100, 3000][rng.below(4)];
            let max = 1 + rng.below(max);
            check(&(0..count).map(|_| rng.below(max) as u32).collect::<Vec<_>>());
        }
    }

    #[test]
    fn all_small_ones() {
        for count in 2..=6u32 {
            for number in 0..4u32.pow(count) {
                check(&(0..count).map(|i| number / 4u32.pow(i) % 4).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn equal_frequencies() {
        for count in 2..=258 {
            check(&vec![0; count]);
            check(&vec![3000; count]);
        }
    }

    #[test]
    fn too_long_codes_are_shortened() {
        let mut halvings = 0;
        for count in 2..=28 {
            let mut fibonacci = vec![1, 1];
            while fibonacci.len() < count {
                fibonacci.push(fibonacci[fibonacci.len() - 1] + fibonacci[fibonacci.len() - 2]);
            }
            halvings += check(&fibonacci);
            fibonacci.reverse();
            halvings += check(&fibonacci);
            halvings += check(&(0..count).map(|i| 1 << i.min(19)).collect::<Vec<_>>());
        }
        assert!(halvings > 20, "{halvings}");
    }

    #[test]
    fn codes_are_canonical() {
        let codes = assign_codes(&[2, 3, 1, 3]);
        assert_eq!(codes[..4], [0b10 << 8 | 2, 0b110 << 8 | 3, 1, 0b111 << 8 | 3]);
    }
}
