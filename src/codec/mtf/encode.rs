//! Last column to symbols.
//!
//! Instead of a list that is searched and shifted, each symbol's place in it is kept (its rank): coding a byte reads
//! one rank and raises all smaller ones by one, a comparison and a subtraction over at most 256 bytes, which the
//! compiler turns into a few vector instructions on any target. There is no search, hence no branch to mispredict and
//! no penalty for high ranks (bzip2 walks the list byte by byte). With AVX-512 there is a better way: see `avx512`.
//!
//! Most of a last column are repeats (three of four bytes in source code), whose rank is zero: they are skipped 64 at a
//! time, and only the heads of runs are looked at.
//!
//! Measured (Zen 5, MB/s of block, this way / AVX-512): English 275 / 640, made-up words 370 / 970, XML 1050 /
//! 2100, machine code 185 / 370, random bytes 105 / 225. Compiling this way for AVX2 gained nothing on text and 15 % on
//! random bytes, so it is not done: what takes the time is the wait of one rank for the one before.

#[cfg(target_arch = "x86_64")]
#[path = "encode_avx512.rs"]
mod avx512;

/// A way to encode that some CPUs know.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// What it is called.
    pub name: &'static str,
    /// Whether this CPU knows it.
    pub is_able: fn() -> bool,
    /// Fills the symbols from a last column of at least one byte. Panics if this CPU does not know the way.
    pub encode: fn(&mut Symbols, &[u8]),
}

/// All ways, best first. Every CPU knows the last.
pub const WAYS: &[Way] = &[
    #[cfg(target_arch = "x86_64")]
    Way { name: "avx512", is_able: avx512::is_able, encode: avx512::encode },
    Way { name: "portable", is_able: || true, encode: Symbols::encode_portably },
];

/// Low bits of a number as four symbols, RUNA or RUNB each.
use crate::format::bzip2::MAX_SYMBOLS;
const RUN_SYMBOLS: [[u16; 4]; 16] = {
    let mut table = [[0; 4]; 16];
    let mut i = 0;
    while i < 16 {
        table[i] = [i as u16 & 1, i as u16 >> 1 & 1, i as u16 >> 2 & 1, i as u16 >> 3];
        i += 1;
    }
    table
};

/// A block's symbols, in memory that is used again for the next block.
#[derive(Clone, Debug)]
pub struct Symbols {
    /// The symbols, then room.
    buffer: Vec<u16>,
    len: usize,
    /// How often each symbol occurs.
    pub frequencies: [u32; MAX_SYMBOLS],
    /// Which bytes occur in the block.
    pub used: [bool; 256],
    /// How many symbols there are to choose from: the bytes used and two.
    pub alphabet: usize,
}

impl Default for Symbols {
    fn default() -> Self {
        Symbols { buffer: Vec::new(), len: 0, frequencies: [0; MAX_SYMBOLS], used: [false; 256], alphabet: 0 }
    }
}

impl Symbols {
    /// The symbols, EOB last.
    pub fn as_slice(&self) -> &[u16] {
        &self.buffer[..self.len]
    }

    /// Becomes the symbols of this last column of at least one byte.
    pub fn encode(&mut self, last: &[u8]) {
        let best = WAYS.iter().find(|way| (way.is_able)()).expect("every CPU knows the last");
        (best.encode)(self, last);
    }

    /// By ranks.
    fn encode_portably(&mut self, last: &[u8]) {
        let (order, count) = self.start(last);
        match count {
            0..=16 => self.by_rank::<16>(last, &order, count),
            17..=32 => self.by_rank::<32>(last, &order, count),
            33..=64 => self.by_rank::<64>(last, &order, count),
            65..=96 => self.by_rank::<96>(last, &order, count),
            97..=128 => self.by_rank::<128>(last, &order, count),
            129..=192 => self.by_rank::<192>(last, &order, count),
            _ => self.by_rank::<256>(last, &order, count),
        }
    }

    /// Finds the bytes used and makes room. Answers each used byte's place in the first list, and how many there are.
    fn start(&mut self, last: &[u8]) -> ([u8; 256], usize) {
        // A symbol or less for each byte, EOB, and what a run may write too far.
        if self.buffer.len() < last.len() + 8 {
            self.buffer = vec![0; (last.len() + 8).next_multiple_of(4096)];
        }
        self.used = [false; 256];
        for &byte in last {
            self.used[usize::from(byte)] = true;
        }
        let mut order = [0; 256];
        let mut count = 0;
        for (byte, _) in self.used.iter().enumerate().filter(|(_, used)| **used) {
            order[byte] = count as u8;
            count += 1;
        }
        (order, count)
    }

    /// Closes the block: EOB, and the frequencies of what was counted elsewhere.
    fn finish(&mut self, out: Output<'_>, ranks: &[[u32; 256]; 2], count: usize) {
        let Output { len, run_digits, run_ones, .. } = out;
        self.frequencies = [0; MAX_SYMBOLS];
        self.frequencies[0] = run_digits - run_ones;
        self.frequencies[1] = run_ones;
        for (rank, frequency) in (1..count).zip(&mut self.frequencies[2..]) {
            *frequency = ranks[0][rank] + ranks[1][rank];
        }
        self.frequencies[count + 1] = 1;
        self.buffer[len] = count as u16 + 1;
        self.len = len + 1;
        self.alphabet = count + 2;
    }

    /// The ranks of at most `N` bytes used.
    fn by_rank<const N: usize>(&mut self, last: &[u8], order: &[u8; 256], count: usize) {
        // Padding has rank 255 and stays there: no rank is greater.
        let mut ranks = [255u8; N];
        for (place, rank) in ranks.iter_mut().enumerate().take(count) {
            *rank = place as u8;
        }
        let mut seen = [[0; 256]; 2];
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut out = Output::new(&mut buffer);
        // The first list begins with the least byte used: so it is as if that one had come before.
        let mut before =
            order.iter().zip(0u8..=255).find(|(_, byte)| self.used[usize::from(*byte)]).map_or(0, |(_, byte)| byte);
        let mut zeros_from = 0;
        for (number, stretch) in last.chunks(64).enumerate() {
            let mut heads = heads(stretch, before);
            while heads != 0 {
                let at = heads.trailing_zeros() as usize;
                heads &= heads - 1;
                let position = number * 64 + at;
                out.zeros(position - zeros_from);
                zeros_from = position + 1;

                let symbol = usize::from(order[usize::from(stretch[at])]);
                let rank = ranks[symbol];
                for other in &mut ranks {
                    *other += u8::from(*other < rank);
                }
                ranks[symbol] = 0;
                seen[position & 1][usize::from(rank)] += 1;
                out.place(rank.into());
            }
            before = stretch[stretch.len() - 1];
        }
        out.zeros(last.len() - zeros_from);
        let Output { len, run_digits, run_ones, .. } = out;
        let out = Output { symbols: &mut [], len, run_digits, run_ones };
        self.buffer = buffer;
        self.finish(out, &seen, count);
    }
}

/// A bit for each of at most 64 bytes that differs from the one before it.
fn heads(stretch: &[u8], before: u8) -> u64 {
    let mut mask = 0;
    let mut before = before;
    for (word_number, word) in stretch.chunks(8).enumerate() {
        let mut bytes = [before; 8];
        if word.len() == 8 {
            bytes.copy_from_slice(word);
        } else {
            // What is missing repeats the last byte, so it has no heads.
            bytes = [word[word.len() - 1]; 8];
            bytes[..word.len()].copy_from_slice(word);
        }
        let these = u64::from_le_bytes(bytes);
        let differ = these ^ (these << 8 | u64::from(before));
        // The top bit of each byte that is not zero; then the eight of them together.
        const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
        let tops = (((differ & LOW) + LOW) | differ) & !LOW;
        mask |= ((tops >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * word_number);
        before = bytes[7];
    }
    mask
}

/// Where symbols go.
struct Output<'a> {
    symbols: &'a mut [u16],
    len: usize,
    /// How many RUNA and RUNB, and how many RUNB, there are.
    run_digits: u32,
    run_ones: u32,
}

impl<'a> Output<'a> {
    fn new(symbols: &'a mut [u16]) -> Self {
        Output { symbols, len: 0, run_digits: 0, run_ones: 0 }
    }

    /// A run of zeros, or none.
    #[inline(always)]
    fn zeros(&mut self, count: usize) {
        let mut digits = count as u64 + 1;
        let mut left = digits.ilog2();
        self.run_digits += left;
        self.run_ones += digits.count_ones() - 1;
        // Four at a time whether so many are wanted or not: short runs are all alike then.
        loop {
            self.symbols[self.len..self.len + 4].copy_from_slice(&RUN_SYMBOLS[digits as usize & 15]);
            if left <= 4 {
                self.len += left as usize;
                return;
            }
            self.len += 4;
            left -= 4;
            digits >>= 4;
        }
    }

    /// A place of at least 1.
    #[inline(always)]
    fn place(&mut self, place: u16) {
        self.symbols[self.len] = place + 1;
        self.len += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::{EDGES, Rng, SHAPES};

    /// The definition: a list, searched from the front.
    fn naive(last: &[u8]) -> Vec<u16> {
        let mut list: Vec<u8> = (0..=255).filter(|byte| last.contains(byte)).collect();
        let end = list.len() as u16 + 1;
        let mut symbols = Vec::new();
        let mut zeros = 0;
        let flush = |zeros: &mut usize, symbols: &mut Vec<u16>| {
            let mut rest = *zeros;
            while rest > 0 {
                symbols.push(if rest % 2 == 1 { 0 } else { 1 });
                rest = (rest - 1) / 2;
            }
            *zeros = 0;
        };
        for &byte in last {
            let place = list.iter().position(|&b| b == byte).unwrap();
            list.remove(place);
            list.insert(0, byte);
            if place == 0 {
                zeros += 1;
            } else {
                flush(&mut zeros, &mut symbols);
                symbols.push(place as u16 + 1);
            }
        }
        flush(&mut zeros, &mut symbols);
        symbols.push(end);
        symbols
    }

    fn check_one(made: &Symbols, last: &[u8], expected: &[u16], what: &str) {
        assert!(made.as_slice() == expected, "{what}, {} bytes", last.len());
        let mut frequencies = [0; MAX_SYMBOLS];
        for &symbol in expected {
            frequencies[usize::from(symbol)] += 1;
        }
        assert!(made.frequencies == frequencies, "{what}, {} bytes: frequencies", last.len());
        assert_eq!(made.alphabet, usize::from(*expected.last().unwrap()) + 1);
        assert!((0..=255).all(|byte| made.used[usize::from(byte)] == last.contains(&byte)));
    }

    fn check(made: &mut Symbols, last: &[u8], what: &str) {
        let expected = naive(last);
        for way in WAYS.iter().filter(|way| (way.is_able)()) {
            (way.encode)(made, last);
            check_one(made, last, &expected, &format!("{what}, {}", way.name));
        }
    }

    #[test]
    fn shapes_and_edges() {
        let mut made = Symbols::default();
        for edge in EDGES.iter().filter(|edge| edge.name != "empty") {
            check(&mut made, &(edge.make)(), edge.name);
        }
        for shape in SHAPES {
            for len in (1..140).chain([1000, 200_003]) {
                check(&mut made, &(shape.make)(len), shape.name);
            }
        }
    }

    #[test]
    fn every_alphabet() {
        let mut made = Symbols::default();
        let mut rng = Rng(8);
        for letters in 1..=256 {
            let first = rng.below(257 - letters);
            let last: Vec<u8> = (0..3000).map(|_| (first + rng.below(letters)) as u8).collect();
            check(&mut made, &last, "letters");
        }
    }

    #[test]
    fn every_short_zero_run() {
        let mut made = Symbols::default();
        for zeros in (0..300).chain([1000, 4095, 65_535, 65_536, 70_000]) {
            check(&mut made, &[vec![1, 2], vec![2; zeros], vec![1]].concat(), "zeros");
            check(&mut made, &vec![7; zeros + 1], "zeros only");
        }
    }

    #[test]
    fn more_heads_than_a_16_bit_clock_counts() {
        let mut made = Symbols::default();
        let mut rng = Rng(9);
        for letters in [2, 40, 256] {
            let last: Vec<u8> = (0..300_000).map(|_| rng.below(letters) as u8).collect();
            check(&mut made, &last, "many heads");
        }
    }
}
