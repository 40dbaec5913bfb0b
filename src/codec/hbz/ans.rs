//! Asymmetric numeral systems, the tabled kind (J. Duda, "Asymmetric numeral systems", arXiv:1311.2540): an entropy
//! coder as near to the entropy as arithmetic coding and as quick to decode as Huffman codes: one look-up a symbol,
//! then some bits.
//!
//! A state is a number below 2^LOG. A table gives each symbol as many of the 2^LOG states as its probability asks for;
//! decoding looks up the state: the symbol, how many bits to read, and what to add them to for the next state. The
//! encoder goes through the symbols backwards. Huffman codes spend a whole number of bits on each symbol: here 1.4 %
//! more, since half of all tokens are run digits and ranks of 1, with probabilities far from powers of two.
//!
//! Two states take turns, so that one look-up need not wait for the other; all tables of a block have the same LOG, so
//! that the states pass from table to table.

use crate::bits::reader::BitReader;

/// Tables for decoding, one behind the other. By state: symbol (bits 0..8), extra bits (8..12), bits to read (12..16),
/// next state less those bits (16..27), the symbol's class (27..).
#[derive(Clone, Debug)]
pub struct Decoding<const STATES: usize>(Vec<[u32; STATES]>);

/// How often each symbol occurs, normalised: together 2^LOG.
pub type Shares = Vec<u16>;

/// In which order the states are handed out: a stride that is odd, so that it meets each state once, and that spreads
/// neighbours far apart.
fn spread(shares: &[u16], states: usize) -> Vec<u8> {
    let stride = (states >> 1) + (states >> 3) + 3;
    let mut symbols = vec![0u8; states];
    let mut at = 0;
    for (symbol, &share) in shares.iter().enumerate() {
        for _ in 0..share {
            symbols[at] = symbol as u8;
            at = (at + stride) & (states - 1);
        }
    }
    symbols
}

impl<const STATES: usize> Decoding<STATES> {
    /// The tables for these shares, the sum of each of which must be `STATES`. `entry` says what a symbol decodes to:
    /// its byte, the number of extra bits that follow it, and its class.
    pub fn new(tables: &[Shares], entry: impl Fn(u8) -> (u8, u32, usize)) -> Self {
        let table = |shares: &Shares| {
            assert!(shares.iter().map(|&share| usize::from(share)).sum::<usize>() == STATES, "shares of all states");
            let mut next: Vec<u32> = shares.iter().map(|&share| share.into()).collect();
            let mut table = [0; STATES];
            for (slot, symbol) in table.iter_mut().zip(spread(shares, STATES)) {
                let state = &mut next[usize::from(symbol)];
                let bits = STATES.ilog2() - state.ilog2();
                let (byte, extra, class) = entry(symbol);
                let base = (*state << bits) - STATES as u32;
                *slot = u32::from(byte) | extra << 8 | bits << 12 | base << 16 | (class as u32) << 27;
                *state += 1;
            }
            table
        };
        Decoding(tables.iter().map(table).collect())
    }

    /// Decodes one symbol with the table of this number: its entry, for [`byte`], [`extra`] and [`class`]. Takes at
    /// most log2(STATES) bits, which must be ready.
    #[inline(always)]
    pub fn next(&self, table: usize, state: &mut usize, bits: &mut BitReader<'_>) -> u32 {
        let entry = self.0[table][*state & (STATES - 1)];
        *state = ((entry >> 16 & 0x7ff) + bits.read(entry >> 12 & 15)) as usize;
        entry
    }
}

/// What the symbol of an entry decodes to.
#[inline(always)]
pub fn byte(entry: u32) -> u8 {
    entry as u8
}

/// How many extra bits follow the symbol of an entry.
#[inline(always)]
pub fn extra(entry: u32) -> u32 {
    entry >> 8 & 15
}

/// The class of the symbol of an entry.
#[inline(always)]
pub fn class(entry: u32) -> usize {
    (entry >> 27) as usize
}

/// Tables for encoding, one behind the other.
#[derive(Clone, Debug)]
pub struct Encoding {
    /// By table and symbol: the bits to write are `(state + bits) >> 16`; then `first` more gives the place in
    /// `states`.
    symbols: Vec<(u32, i32)>,
    /// By symbol and the state's remaining bits: the state before.
    states: Vec<u16>,
}

impl Encoding {
    /// The tables for these shares, the sum of each of which must be `states`, a power of two.
    pub fn new(tables: &[Shares], states: usize) -> Self {
        let mut new = Encoding { symbols: Vec::new(), states: vec![0; tables.len() * states] };
        for (table, shares) in tables.iter().enumerate() {
            let mut starts = Vec::with_capacity(shares.len());
            let mut sum = (table * states) as u32;
            for &share in shares {
                let share = u32::from(share);
                // A state in STATES..2 * STATES loses so many bits, or one fewer, until it lies in share..2 * share.
                let most = states.ilog2() - share.max(1).ilog2();
                new.symbols.push(((most << 16).wrapping_sub(share << most), sum as i32 - share as i32));
                starts.push(sum);
                sum += share;
            }
            for (state, symbol) in spread(shares, states).into_iter().enumerate() {
                let at = &mut starts[usize::from(symbol)];
                new.states[*at as usize] = (states + state) as u16;
                *at += 1;
            }
        }
        new
    }

    /// Steps back over a symbol, from a state in STATES..2 * STATES to such a state; answers the bits that decoding
    /// will read there, and how many. `symbol` is counted from the first one of the first table.
    #[inline(always)]
    pub fn back(&self, symbol: usize, state: &mut u32) -> (u64, u32) {
        let (bits, first) = self.symbols[symbol];
        let count = state.wrapping_add(bits) >> 16;
        let value = *state & ((1 << count) - 1);
        *state = self.states[((*state >> count) as i32 + first) as usize].into();
        (value.into(), count)
    }
}

/// Shares of `states` in proportion to these counts; every symbol that occurs gets at least one.
pub fn shares(counts: &[u32], states: usize) -> Shares {
    let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    let mut shares = vec![0u16; counts.len()];
    if total == 0 {
        shares[0] = states as u16;
        return shares;
    }
    for (share, &count) in shares.iter_mut().zip(counts).filter(|(_, count)| **count > 0) {
        *share = ((u64::from(count) * states as u64 + total / 2) / total).max(1) as u16;
    }
    // Rounding leaves a little too much or too little: taken where it costs least.
    let mut sum: usize = shares.iter().map(|&share| usize::from(share)).sum();
    while sum != states {
        let grow = sum < states;
        let change = |share: u16, count: u32| {
            let (share, count) = (f64::from(share), f64::from(count));
            let after = if grow { share + 1.0 } else { share - 1.0 };
            count * libm::log2(share / after)
        };
        let (at, _) = shares
            .iter()
            .zip(counts)
            .enumerate()
            .filter(|(_, (share, _))| **share > 1 || (grow && **share > 0))
            .map(|(at, (&share, &count))| (at, change(share, count)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .expect("no more symbols than states");
        if grow {
            shares[at] += 1;
            sum += 1;
        } else {
            shares[at] -= 1;
            sum -= 1;
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::BitWriter;
    use crate::shapes::Rng;

    fn round_trip(symbols: &[u8], alphabet: usize) -> usize {
        const STATES: usize = 2048;
        let mut counts = vec![0; alphabet];
        symbols.iter().for_each(|&symbol| counts[usize::from(symbol)] += 1);
        let shares = shares(&counts, STATES);
        assert!(shares.iter().zip(&counts).all(|(&share, &count)| (share > 0) == (count > 0)));
        // A table of another kind before it, for the places.
        let other = self::shares(&vec![1; alphabet], STATES);
        let encoding = Encoding::new(&[other, shares.clone()], STATES);
        let mut states = [STATES as u32; 2];
        let mut parts: Vec<(u64, u32)> = Vec::new();
        for (i, &symbol) in symbols.iter().enumerate().rev() {
            parts.push(encoding.back(alphabet + usize::from(symbol), &mut states[i & 1]));
        }
        let mut out = BitWriter::new();
        parts.iter().rev().for_each(|&(value, count)| out.write(value, count));
        let bytes = out.finish();
        let decoding = Decoding::<STATES>::new(&[shares], |symbol| (symbol, 0, 0));
        let mut bits = BitReader::new(&bytes, 0);
        let mut now = states.map(|state| state as usize - STATES);
        for (i, &symbol) in symbols.iter().enumerate() {
            bits.refill();
            assert_eq!(byte(decoding.next(0, &mut now[i & 1], &mut bits)), symbol);
        }
        assert_eq!(now, [0, 0]);
        bytes.len()
    }

    #[test]
    fn what_goes_in_comes_out_at_the_entropy() {
        let mut rng = Rng(21);
        for alphabet in [1, 2, 3, 26, 256] {
            for len in [1, 2, 3, 1000, 60_000] {
                // Skewed: the smaller of three.
                let symbols: Vec<u8> =
                    (0..len).map(|_| (0..3).map(|_| rng.below(alphabet)).min().unwrap() as u8).collect();
                let bytes = round_trip(&symbols, alphabet) as f64;
                let mut counts = vec![0f64; alphabet];
                symbols.iter().for_each(|&symbol| counts[usize::from(symbol)] += 1.0);
                let bits: f64 = counts.iter().filter(|c| **c > 0.0).map(|c| -c * (c / len as f64).log2()).sum();
                assert!(bytes <= bits / 8.0 * 1.02 + 4.0, "{alphabet} {len}: {bytes} for {bits}");
            }
        }
    }

    #[test]
    fn shares_are_complete_whatever_the_counts() {
        let mut rng = Rng(22);
        for _ in 0..500 {
            let counts: Vec<u32> =
                (0..1 + rng.below(250)).map(|_| rng.below(3) as u32 * rng.below(1 << 20) as u32).collect();
            let shares = shares(&counts, 256);
            assert_eq!(shares.iter().map(|&share| u32::from(share)).sum::<u32>(), 256);
        }
    }
}
