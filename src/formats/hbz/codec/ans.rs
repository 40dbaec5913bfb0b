//! Asymmetric numeral systems with tables, tANS (J. Duda, "Asymmetric numeral systems", arXiv:1311.2540): an entropy
//! coder as close to the entropy as arithmetic coding, and as fast to decode as Huffman codes: one look-up a symbol,
//! then some bits.
//!
//! A state is a number below 2^LOG. A table gives each symbol a share of the 2^LOG states in proportion to its
//! probability. The decoder looks up the state and finds the symbol, the number of bits to read, and the number to add
//! to them for the next state. The encoder goes through the symbols backwards. Huffman codes spend a whole number of
//! bits on each symbol; here that would cost 1.4 % more, because half of all tokens are run digits and ranks of 1,
//! whose probabilities are far from powers of two.
//!
//! Two states alternate, so that a look-up need not wait for the one before it. All tables of a block have the same
//! LOG, so that one state can pass from table to table.

use crate::bits::reader::BitReader;

/// Tables for decoding, one after the other. An entry for each state has the symbol's byte (bits 0..8), the number of
/// extra bits (8..12), the number of bits to read (12..16), the next state minus these bits (16..27), and the symbol's
/// class (27..).
#[derive(Clone, Debug)]
pub struct AnsDecoder<const STATES: usize>(Vec<[u32; STATES]>);

/// The normalised frequency of each symbol: its number of states, out of 2^LOG.
pub type Shares = Vec<u16>;

/// The symbol of each state. States are assigned with an odd stride, which visits each state once and keeps a symbol's
/// states far apart.
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

impl<const STATES: usize> AnsDecoder<STATES> {
    /// The tables for these shares; each table's shares must add up to `STATES`. `entry` tells what a symbol decodes
    /// to: its byte, the number of extra bits that follow it, and its class.
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
        AnsDecoder(tables.iter().map(table).collect())
    }

    /// Decodes one symbol with table number `table` and returns its entry, for [`byte`], [`extra`] and [`class`]. It
    /// reads at most log2(STATES) bits, which must be ready.
    #[inline(always)]
    pub fn decode(&self, table: usize, state: &mut usize, bits: &mut BitReader<'_>) -> u32 {
        let entry = self.0[table][*state & (STATES - 1)];
        *state = ((entry >> 16 & 0x7ff) + bits.read(entry >> 12 & 15)) as usize;
        entry
    }
}

/// The byte to which an entry's symbol decodes.
#[inline(always)]
pub fn byte(entry: u32) -> u8 {
    entry as u8
}

/// The number of extra bits that follow an entry's symbol.
#[inline(always)]
pub fn extra(entry: u32) -> u32 {
    entry >> 8 & 15
}

/// The class of an entry's symbol.
#[inline(always)]
pub fn class(entry: u32) -> usize {
    (entry >> 27) as usize
}

/// Tables for encoding, one after the other.
#[derive(Clone, Debug)]
pub struct AnsEncoder {
    /// By table and symbol: the number of bits to write is `(state + bits) >> 16`; the rest of the state plus `first`
    /// is the index into `states`.
    symbols: Vec<(u32, i32)>,
    /// By symbol and rest of the state: the previous state.
    states: Vec<u16>,
}

impl AnsEncoder {
    /// The tables for these shares; each table's shares must add up to `states`, a power of two.
    pub fn new(tables: &[Shares], states: usize) -> Self {
        let mut new = AnsEncoder { symbols: Vec::new(), states: vec![0; tables.len() * states] };
        for (table, shares) in tables.iter().enumerate() {
            let mut starts = Vec::with_capacity(shares.len());
            let mut sum = (table * states) as u32;
            for &share in shares {
                let share = u32::from(share);
                // A state in STATES..2 * STATES loses `max_bits` bits, or one fewer, to get into share..2 * share.
                let max_bits = states.ilog2() - share.max(1).ilog2();
                new.symbols.push(((max_bits << 16).wrapping_sub(share << max_bits), sum as i32 - share as i32));
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

    /// Encodes a symbol: steps from a state in STATES..2 * STATES back to another one, and returns the bits that the
    /// decoder will read at this step, and their number. `symbol` counts from the first symbol of the first table.
    #[inline(always)]
    pub fn encode(&self, symbol: usize, state: &mut u32) -> (u64, u32) {
        let (bits, first) = self.symbols[symbol];
        let count = state.wrapping_add(bits) >> 16;
        let value = *state & ((1 << count) - 1);
        *state = self.states[((*state >> count) as i32 + first) as usize].into();
        (value.into(), count)
    }
}

/// Divides `states` in proportion to the counts. Every symbol that occurs gets at least one state.
pub fn normalize(counts: &[u32], states: usize) -> Shares {
    let total: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    let mut shares = vec![0u16; counts.len()];
    if total == 0 {
        shares[0] = states as u16;
        return shares;
    }
    for (share, &count) in shares.iter_mut().zip(counts).filter(|(_, count)| **count > 0) {
        *share = ((u64::from(count) * states as u64 + total / 2) / total).max(1) as u16;
    }
    // Rounding leaves a few states too many or too few: correct where it costs least.
    let mut sum: usize = shares.iter().map(|&share| usize::from(share)).sum();
    while sum != states {
        let step = if sum < states { 1i16 } else { -1 };
        let change = |share: u16, count: u32| {
            f64::from(count) * libm::log2(f64::from(share) / (f64::from(share) + f64::from(step)))
        };
        let (at, _) = shares
            .iter()
            .zip(counts)
            .enumerate()
            .filter(|(_, (share, _))| **share > 1 || (step > 0 && **share > 0))
            .map(|(at, (&share, &count))| (at, change(share, count)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .expect("at least as many states as symbols");
        shares[at] = shares[at].wrapping_add_signed(step);
        sum = sum.wrapping_add_signed(step.into());
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::BitWriter;
    use hybz_testkit::shapes::Rng;

    /// Codes these symbols. Returns the number of coded bytes, and the number at the entropy.
    fn round_trip(symbols: &[u8], alphabet: usize) -> (f64, f64) {
        const STATES: usize = 2048;
        let mut counts = vec![0; alphabet];
        symbols.iter().for_each(|&symbol| counts[usize::from(symbol)] += 1);
        let shares = normalize(&counts, STATES);
        assert!(shares.iter().zip(&counts).all(|(&share, &count)| (share > 0) == (count > 0)));
        // Another table in front, so that symbols do not begin at 0.
        let encoder = AnsEncoder::new(&[normalize(&vec![1; alphabet], STATES), shares.clone()], STATES);
        let mut states = [STATES as u32; 2];
        let steps = symbols.iter().enumerate().rev();
        let parts: Vec<_> =
            steps.map(|(i, &symbol)| encoder.encode(alphabet + usize::from(symbol), &mut states[i & 1])).collect();
        let mut out = BitWriter::new();
        parts.iter().rev().for_each(|&(value, count)| out.write(value, count));
        let bytes = out.finish();
        let decoder = AnsDecoder::<STATES>::new(&[shares], |symbol| (symbol, 0, 0));
        let mut bits = BitReader::new(&bytes, 0);
        let mut now = states.map(|state| state as usize - STATES);
        for (i, &symbol) in symbols.iter().enumerate() {
            bits.refill();
            assert_eq!(byte(decoder.decode(0, &mut now[i & 1], &mut bits)), symbol);
        }
        assert_eq!(now, [0, 0]);
        let counts = counts.into_iter().filter(|count| *count > 0).map(f64::from);
        (bytes.len() as f64, counts.map(|count| count * (symbols.len() as f64 / count).log2() / 8.0).sum())
    }

    #[test]
    fn what_goes_in_comes_out_at_the_entropy() {
        let mut rng = Rng(21);
        for alphabet in [1, 2, 3, 26, 256] {
            for len in [1, 2, 3, 1000, 60_000] {
                // Skewed: the smallest of three.
                let symbol = |_| (0..3).map(|_| rng.below(alphabet)).min().unwrap() as u8;
                let (bytes, least) = round_trip(&(0..len).map(symbol).collect::<Vec<_>>(), alphabet);
                assert!(bytes <= least * 1.02 + 4.0, "{alphabet} {len}: {bytes} for {least}");
            }
        }
    }
}
