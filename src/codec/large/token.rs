//! Symbols to tokens: near ranks as they are, far ranks in classes with extra bits.
//!
//! Of bzip2's 258 symbols a block of text uses a hundred, most of them hardly ever: in tables of 2,048 states each would take
//! at least one state, and each of 16 tables would have to describe it. So ranks from 17 on share 8 tokens, and the place
//! within the class is written as it is. On source code that costs nothing (measured: 0.01 %), and a table takes 30 bytes.

use super::SEGMENT_LOG;

/// RUNA, RUNB, ranks 1 to 16, and two classes for each of the octaves from 17 on.
pub const TOKENS: usize = 26;
/// The first token that is a class.
pub const FIRST_CLASS: u8 = 18;

/// What a token decodes to: its first symbol (RUNA 0, RUNB 1, rank r: r + 1), and how many extra bits say which one.
pub fn first_symbol(token: u8) -> (u8, u32) {
    if token < FIRST_CLASS {
        return (token, 0);
    }
    let class = u32::from(token - FIRST_CLASS);
    let bits = 3 + class / 2;
    (((2 + class % 2) << bits) as u8 + 2, bits)
}

/// The token of a symbol, its extra bits, and how many these are.
#[inline(always)]
fn token_of(symbol: u16) -> (u8, u8, u32) {
    if symbol < u16::from(FIRST_CLASS) {
        return (symbol as u8, 0, 0);
    }
    let place = u32::from(symbol) - 2;
    let octave = place.ilog2();
    let bits = octave - 1;
    let token = u32::from(FIRST_CLASS) + 2 * (octave - 4) + (place >> bits & 1);
    (token as u8, (place & ((1 << bits) - 1)) as u8, bits)
}

/// The tokens of a block, segment by segment.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    /// All tokens.
    pub tokens: Vec<u8>,
    /// The extra bits of each, if it has any.
    pub extras: Vec<u8>,
    /// Where each segment's tokens end.
    pub ends: Vec<usize>,
}

impl Tokens {
    /// Becomes the tokens of these symbols (from `mtf`, the last one the end of the block), which stand for `rows` rows. A
    /// zero run is cut where a segment ends.
    pub fn set(&mut self, symbols: &[u16], rows: usize) {
        self.tokens.clear();
        self.extras.clear();
        self.ends.clear();
        let symbols = &symbols[..symbols.len() - 1];
        let segment = 1usize << SEGMENT_LOG;
        let (mut row, mut end) = (0, segment.min(rows));
        let mut at = 0;
        while at < symbols.len() {
            if symbols[at] >= 2 {
                let (token, extra, _) = token_of(symbols[at]);
                self.tokens.push(token);
                self.extras.push(extra);
                at += 1;
                row += 1;
            } else {
                let mut run = 0;
                let mut weight = 1;
                let begin = at;
                while let Some(&digit @ (0 | 1)) = symbols.get(at) {
                    run += weight << digit;
                    weight <<= 1;
                    at += 1;
                }
                if row + run <= end {
                    self.tokens.extend(symbols[begin..at].iter().map(|&digit| digit as u8));
                    row += run;
                } else {
                    while run > 0 {
                        let part = run.min(end - row);
                        self.digits(part);
                        row += part;
                        run -= part;
                        if row == end && run > 0 {
                            self.close(&mut end, rows);
                        }
                    }
                }
                self.extras.resize(self.tokens.len(), 0);
            }
            if row == end {
                self.close(&mut end, rows);
            }
        }
    }

    fn close(&mut self, end: &mut usize, rows: usize) {
        self.ends.push(self.tokens.len());
        *end = (*end + (1 << SEGMENT_LOG)).min(rows);
    }

    /// A run's digits in bijective base 2, lowest first.
    fn digits(&mut self, run: usize) {
        let digits = run + 1;
        self.tokens.extend((0..digits.ilog2()).map(|i| (digits >> i & 1) as u8));
    }
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
            tokens.set(&symbols, rows);
            assert_eq!(tokens.ends.len(), rows.div_ceil(segment));
            let mut from = 0;
            for (number, &end) in tokens.ends.iter().enumerate() {
                let (mut sum, mut weight) = (0, 1);
                for &token in &tokens.tokens[from..end] {
                    if token < 2 {
                        sum += weight << token;
                        weight <<= 1;
                    } else {
                        sum += 1;
                        weight = 1;
                    }
                }
                assert_eq!(sum, segment.min(rows - number * segment));
                from = end;
            }
            assert_eq!(from, tokens.tokens.len());
        }
    }
}
