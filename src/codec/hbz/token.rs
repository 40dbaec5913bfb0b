//! Symbols to tokens: near ranks as they are, far ranks in classes with extra bits.
//!
//! Of bzip2's 258 symbols a block of text uses a hundred, most of them hardly ever: in tables of 2,048 states each
//! would take at least one state, and each of 16 tables would have to describe it. So ranks from 17 on share 8 tokens,
//! and the place within the class is written as it is. On source code that costs nothing (measured: 0.01 %), and a
//! table takes 30 bytes.

use crate::format::hbz::SEGMENT_LOG;

/// RUNA, RUNB, ranks 1 to 16, and two classes for each of the octaves from 17 on.
pub const TOKENS: usize = 26;
/// The first token that is a class.
pub const FIRST_CLASS: u8 = 18;

/// Classes of tokens. The class of the token before says, with the group's selector, which table a token is coded with.
/// Measured on 203 MB of source code in blocks of 9 MB: 3 classes 0.3 % smaller than none, these 0.45 %; the classes of
/// two tokens before, three each, would make it 0.6 %, with half as many tables again.
pub const CLASSES: usize = 6;

/// The class of a token: each run digit, rank 1, ranks 2 and 3, ranks to 8, all others.
pub const fn class(token: u8) -> usize {
    match token {
        0..3 => token as usize,
        3..5 => 3,
        5..10 => 4,
        _ => 5,
    }
}

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
    /// Each token with the class of the one before it in its segment (0 if there is none): class x [`TOKENS`] + token.
    pub joint: Vec<u8>,
    /// Where each segment's tokens end.
    pub ends: Vec<usize>,
}

/// Joint tokens, and classes, that there are.
pub const JOINT: usize = CLASSES * TOKENS;

impl Tokens {
    /// Becomes the tokens of these symbols (from `mtf`, the last one the end of the block), which stand for `rows`
    /// rows. A zero run is cut where a segment ends.
    pub fn set(&mut self, symbols: &[u16], rows: usize) {
        let table: [(u8, u8); 257] = std::array::from_fn(|symbol| {
            let (token, extra, _) = token_of(symbol as u16);
            (token, extra)
        });
        let symbols = &symbols[..symbols.len() - 1];
        let segment = 1usize << SEGMENT_LOG;
        // A run that is cut becomes a few more tokens in each segment.
        let room = symbols.len() + rows.div_ceil(segment) * 2 * (SEGMENT_LOG as usize + 1);
        self.tokens.resize(room, 0);
        self.extras.resize(room, 0);
        self.ends.clear();
        let (mut row, mut end) = (0, segment.min(rows));
        let (mut len, mut at, mut weight) = (0, 0, 1);
        while let Some(&symbol) = symbols.get(at) {
            (self.tokens[len], self.extras[len]) = table[usize::from(symbol)];
            len += 1;
            at += 1;
            let digit = symbol < 2;
            row += if digit { weight << symbol } else { 1 };
            weight = if digit { weight << 1 } else { 1 };
            if row < end {
                continue;
            }
            // The end of a segment, and if this is a run, perhaps not the run's end.
            while digit && let Some(&symbol @ (0 | 1)) = symbols.get(at) {
                (self.tokens[len], self.extras[len]) = (symbol as u8, 0);
                len += 1;
                at += 1;
                row += weight << symbol;
                weight <<= 1;
            }
            if row > end {
                let digits = symbols[..at].iter().rev().take_while(|&&symbol| symbol < 2).count();
                let run: usize = symbols[at - digits..at].iter().enumerate().map(|(i, &digit)| (1 << digit) << i).sum();
                len -= digits;
                row -= run;
                let stop = row + run;
                while row < stop {
                    let part = (stop - row).min(end - row);
                    len = self.digits(part, len);
                    row += part;
                    if row == end && row < stop {
                        self.close(len, &mut end, rows);
                    }
                }
            }
            weight = 1;
            if row == end {
                self.close(len, &mut end, rows);
            }
        }
        self.tokens.truncate(len);
        self.extras.truncate(len);
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

    fn close(&mut self, len: usize, end: &mut usize, rows: usize) {
        self.ends.push(len);
        *end = (*end + (1 << SEGMENT_LOG)).min(rows);
    }

    /// Writes a run's digits in bijective base 2, lowest first, behind `len` tokens. Answers how many there are then.
    fn digits(&mut self, run: usize, len: usize) -> usize {
        let (digits, count) = (run + 1, (run + 1).ilog2() as usize);
        for i in 0..count {
            (self.tokens[len + i], self.extras[len + i]) = ((digits >> i & 1) as u8, 0);
        }
        len + count
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

    #[test]
    fn joint_tokens_have_the_class_before() {
        let (segment, mut tokens) = (1 << SEGMENT_LOG, Tokens::default());
        let ranks: Vec<u16> = (0..segment + 500).map(|i| 2 + i % 200).map(|symbol| symbol as u16).collect();
        tokens.set(&[&ranks[..], &[257]].concat(), ranks.len());
        for (at, (&joint, &token)) in tokens.joint.iter().zip(&tokens.tokens).enumerate() {
            let before = if at == 0 || at == tokens.ends[0] { 0 } else { class(tokens.tokens[at - 1]) };
            assert_eq!((usize::from(joint) / TOKENS, joint % TOKENS as u8), (before, token));
        }
    }
}
