//! Symbols to tokens: near ranks as they are, far ranks as ranges with extra bits.
//!
//! A block of text uses a hundred of bzip2's 258 symbols, most of them hardly ever. In tables of 2,048 states each of
//! these would take at least one state, and each of 16 tables would have to describe it. Ranks from 17 on therefore
//! share 8 tokens, and the offset within the token's range is written in plain bits. On source code that costs nothing
//! (measured: 0.01 %), and a table takes 30 bytes.

use crate::formats::hbz::header::SEGMENT_LOG;

const SEGMENT: usize = 1 << SEGMENT_LOG;

/// The number of tokens: RUNA, RUNB, ranks 1 to 16, and two ranges for each octave from rank 17 on.
pub const TOKENS: usize = 26;
/// The first token that stands for a range of ranks.
pub const FIRST_RANGE: u8 = 18;

/// The number of token classes. The class of the previous token, together with the group's selector, determines the
/// table for a token. Measured on 203 MB of source code in blocks of 9 MB: with 3 classes the result is 0.3 % smaller
/// than without classes, with these classes 0.45 %. The classes of two previous tokens, three each, would make it 0.6 %
/// smaller, with 1.5 times as many tables.
pub const CLASSES: usize = 6;

/// The class of a token: one for each run digit and for rank 1, then ranks 2 and 3, ranks 4 to 8, all others.
pub const fn class(token: u8) -> usize {
    match token {
        0..3 => token as usize,
        3..5 => 3,
        5..10 => 4,
        _ => 5,
    }
}

/// The meaning of a token: its first symbol (RUNA 0, RUNB 1, rank r: r + 1), and the number of extra bits that tell
/// which symbol it is.
pub fn first_symbol(token: u8) -> (u8, u32) {
    if token < FIRST_RANGE {
        return (token, 0);
    }
    let range = u32::from(token - FIRST_RANGE);
    let bits = 3 + range / 2;
    (((2 + range % 2) << bits) as u8 + 2, bits)
}

/// The token of a symbol, its extra bits, and their number.
#[inline(always)]
fn token_of(symbol: u16) -> (u8, u8, u32) {
    if symbol < u16::from(FIRST_RANGE) {
        return (symbol as u8, 0, 0);
    }
    let place = u32::from(symbol) - 2;
    let octave = place.ilog2();
    let bits = octave - 1;
    let token = u32::from(FIRST_RANGE) + 2 * (octave - 4) + (place >> bits & 1);
    (token as u8, (place & ((1 << bits) - 1)) as u8, bits)
}

/// The tokens of a block, segment by segment.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    /// All tokens.
    pub tokens: Vec<u8>,
    /// The extra bits of each token; 0 for a token without any.
    pub extras: Vec<u8>,
    /// Each token with the class of the one before it in its segment (0 for the first): class x [`TOKENS`] + token.
    pub joint: Vec<u8>,
    /// The end of each segment's tokens.
    pub ends: Vec<usize>,
}

/// The number of joint tokens.
pub const JOINT: usize = CLASSES * TOKENS;

impl Tokens {
    /// Sets the tokens of these symbols (from `mtf`, EOB last), which stand for `rows` rows. A zero run is cut at the
    /// end of a segment.
    pub fn build(&mut self, symbols: &[u16], rows: usize) {
        let symbols = &symbols[..symbols.len() - 1];
        // A run that is cut becomes a few more tokens in each segment.
        let room = symbols.len() + rows.div_ceil(SEGMENT) * 2 * (SEGMENT_LOG as usize + 1);
        self.tokens.resize(room, 0);
        self.extras.resize(room, 0);
        self.ends.clear();
        let len = self.write_tokens(symbols, rows);
        self.tokens.truncate(len);
        self.extras.truncate(len);
        self.join_classes();
    }

    /// Writes the tokens of all symbols and returns their number.
    fn write_tokens(&mut self, symbols: &[u16], rows: usize) -> usize {
        let table = std::array::from_fn(|symbol| {
            let (token, extra, _) = token_of(symbol as u16);
            (token, extra)
        });
        let mut at = Progress { symbol: 0, token: 0, row: 0, end: SEGMENT.min(rows) };
        while at.symbol < symbols.len() {
            let weight = self.write_segment(symbols, &mut at, &table);
            self.finish_segment(symbols, &mut at, weight, rows);
        }
        at.token
    }

    /// Writes tokens until a symbol reaches the end of the segment. Returns the weight of the run digit after that
    /// symbol.
    #[inline(always)]
    fn write_segment(&mut self, symbols: &[u16], at: &mut Progress, table: &[(u8, u8); 257]) -> usize {
        let (tokens, extras) = (&mut self.tokens[at.token..], &mut self.extras[at.token..]);
        let (mut row, mut weight, mut written) = (at.row, 1, 0);
        for ((&symbol, token), extra) in symbols[at.symbol..].iter().zip(tokens).zip(extras) {
            (*token, *extra) = table[usize::from(symbol)];
            written += 1;
            let digit = symbol < 2;
            row += if digit { weight << symbol } else { 1 };
            weight = if digit { weight << 1 } else { 1 };
            if row >= at.end {
                break;
            }
        }
        at.row = row;
        at.symbol += written;
        at.token += written;
        weight
    }

    /// Ends the segment, or several, whose end the last symbol has reached. If that symbol is a run digit, the rest of
    /// the run is written too; `weight` is the weight of the next digit.
    fn finish_segment(&mut self, symbols: &[u16], at: &mut Progress, mut weight: usize, rows: usize) {
        if symbols[at.symbol - 1] < 2 {
            while let Some(&digit @ (0 | 1)) = symbols.get(at.symbol) {
                (self.tokens[at.token], self.extras[at.token]) = (digit as u8, 0);
                at.token += 1;
                at.symbol += 1;
                at.row += weight << digit;
                weight <<= 1;
            }
        }
        if at.row > at.end {
            self.cut_run(symbols, at, rows);
        }
        if at.row == at.end {
            self.end_segment(at, rows);
        }
    }

    /// Writes the last run again, in parts cut at the ends of segments.
    fn cut_run(&mut self, symbols: &[u16], at: &mut Progress, rows: usize) {
        let digits = symbols[..at.symbol].iter().rev().take_while(|&&symbol| symbol < 2).count();
        let run = &symbols[at.symbol - digits..at.symbol];
        let run: usize = run.iter().enumerate().map(|(i, &digit)| (1 << digit) << i).sum();
        at.token -= digits;
        let stop = at.row;
        at.row -= run;
        while at.row < stop {
            let part = (stop - at.row).min(at.end - at.row);
            at.token = self.write_run(part, at.token);
            at.row += part;
            if at.row == at.end && at.row < stop {
                self.end_segment(at, rows);
            }
        }
    }

    fn end_segment(&mut self, at: &mut Progress, rows: usize) {
        self.ends.push(at.token);
        at.end = (at.end + SEGMENT).min(rows);
    }

    /// Writes a run's digits in bijective base 2, lowest first, after `len` tokens. Returns the number of tokens then.
    fn write_run(&mut self, run: usize, len: usize) -> usize {
        let (digits, count) = (run + 1, (run + 1).ilog2() as usize);
        for i in 0..count {
            (self.tokens[len + i], self.extras[len + i]) = ((digits >> i & 1) as u8, 0);
        }
        len + count
    }

    /// Sets the joint tokens.
    fn join_classes(&mut self) {
        let classes: [u8; TOKENS] = std::array::from_fn(|token| (class(token as u8) * TOKENS) as u8);
        self.joint.clear();
        let mut from = 0;
        for &end in &self.ends {
            let mut before = 0;
            self.joint.extend(self.tokens[from..end].iter().map(|&token| {
                let joint = before + token;
                before = classes[usize::from(token)];
                joint
            }));
            from = end;
        }
    }
}

/// The progress of converting symbols to tokens.
struct Progress {
    /// The next symbol.
    symbol: usize,
    /// The number of tokens.
    token: usize,
    /// The number of rows.
    row: usize,
    /// The row at which the segment ends.
    end: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_symbol_has_one_token() {
        let mut seen = 0;
        for token in 0..TOKENS as u8 {
            let (first, bits) = first_symbol(token);
            for place in 0..1u16 << bits {
                let symbol = u16::from(first) + place;
                assert_eq!(symbol, seen);
                assert_eq!(token_of(symbol), (token, place as u8, bits));
                seen += 1;
            }
        }
        assert!(seen >= 257, "rank 255 is symbol 256: {seen}");
    }

    #[test]
    fn runs_are_cut_where_segments_end() {
        let segment = 1 << SEGMENT_LOG;
        for (before, run, after) in [(5, segment, 3), (0, 5 * segment, 0), (segment - 1, 1, 1), (segment, 7, segment)] {
            let mut symbols = vec![2u16; before];
            let digits = run + 1usize;
            symbols.extend((0..digits.ilog2()).map(|i| (digits >> i & 1) as u16));
            symbols.extend(vec![300 - 60u16; after]);
            symbols.push(257);
            let rows = before + run + after;
            let mut tokens = Tokens::default();
            tokens.build(&symbols, rows);
            assert_eq!(tokens.ends.len(), rows.div_ceil(segment));
            let mut from = 0;
            for (number, &end) in tokens.ends.iter().enumerate() {
                let (mut sum, mut weight) = (0, 1);
                for &token in &tokens.tokens[from..end] {
                    let digit = token < 2;
                    sum += if digit { weight << token } else { 1 };
                    weight = if digit { weight << 1 } else { 1 };
                }
                assert_eq!(sum, segment.min(rows - number * segment));
                from = end;
            }
            assert_eq!(from, tokens.tokens.len());
        }
    }

    #[test]
    fn joint_tokens_have_the_class_before() {
        let (segment, mut tokens) = (1 << SEGMENT_LOG, Tokens::default());
        let ranks: Vec<u16> = (0..segment + 500).map(|i| 2 + i % 200).map(|symbol| symbol as u16).collect();
        tokens.build(&[&ranks[..], &[257]].concat(), ranks.len());
        for (at, (&joint, &token)) in tokens.joint.iter().zip(&tokens.tokens).enumerate() {
            let before = if at == 0 || at == tokens.ends[0] { 0 } else { class(tokens.tokens[at - 1]) };
            assert_eq!((usize::from(joint) / TOKENS, joint % TOKENS as u8), (before, token));
        }
    }
}
