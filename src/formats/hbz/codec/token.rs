//! Symbols to tokens: near ranks as they are, far ranks as ranges with extra bits.
//!
//! A block of text uses a hundred of bzip2's 258 symbols, most of them hardly ever. In tables of 2,048 states each of
//! these would take at least one state, and each of 16 tables would have to describe it. Ranks from 17 on therefore
//! share 8 tokens, and the offset within the token's range is written in plain bits. On source code that costs nothing
//! (measured: 0.01 %), and a table takes 30 bytes.

/// The number of tokens: RUNA, RUNB, ranks 1 to 16, and two ranges for each octave from rank 17 on.
pub const TOKENS: usize = 26;
/// The first token that stands for a range of ranks.
pub const FIRST_RANGE: u8 = 18;

/// The number of token classes. The class of the previous token, together with the group's selector, determines the
/// table for a token. Measured on 203 MB of source code in blocks of 9 MB: with 3 classes the result is 0.3 % smaller
/// than without classes, with these classes 0.45 %. With three classes for each of the two previous tokens it would be
/// 0.6 % smaller, but need 1.5 times as many tables.
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
    /// Each token with the class of the one before it in its segment (0 for the first): class x [`TOKENS`] + token.
    pub joint: Vec<u8>,
    /// The extra bits of each token; 0 for a token without any.
    pub extras: Vec<u8>,
}

/// The number of joint tokens.
pub const JOINT: usize = CLASSES * TOKENS;

impl Tokens {
    /// Makes the tokens of these symbols; `ends` has the end of each segment in them.
    pub fn build(&mut self, symbols: &[u16], ends: &[usize]) {
        let table: [_; 257] = std::array::from_fn(|symbol| {
            let (token, extra, _) = token_of(symbol as u16);
            (token, extra, (class(token) * TOKENS) as u8)
        });
        let len = ends.last().copied().unwrap_or_default();
        self.joint.resize(len, 0);
        self.extras.resize(len, 0);
        let mut from = 0;
        for &end in ends {
            let mut before = 0;
            let written = self.joint[from..end].iter_mut().zip(&mut self.extras[from..end]);
            for (&symbol, (joint, extra)) in symbols[from..end].iter().zip(written) {
                let (token, bits, class) = table[usize::from(symbol)];
                (*joint, *extra) = (before + token, bits);
                before = class;
            }
            from = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::mtf::encode::MtfSymbols;
    use crate::formats::hbz::header::SEGMENT_LOG;

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
    fn tokens_have_the_class_before_and_segments_their_rows() {
        let segment = 1 << SEGMENT_LOG;
        let (mut symbols, mut tokens) = (MtfSymbols::default(), Tokens::default());
        for (before, run, after) in [(5, segment, 3), (0, 5 * segment, 0), (segment - 1, 1, 1), (segment, 7, segment)] {
            let far = |len: usize| (0..len).map(|i| 60 + (i * 7 % 190) as u8);
            let column: Vec<u8> = far(before).chain(std::iter::repeat_n(9, run)).chain(far(after)).collect();
            symbols.encode_segments(&column, segment);
            tokens.build(symbols.as_slice(), &symbols.ends);
            assert_eq!(symbols.ends.len(), column.len().div_ceil(segment));
            let mut from = 0;
            for (rows, &end) in column.chunks(segment).map(<[u8]>::len).zip(&symbols.ends) {
                let (mut sum, mut weight, mut last) = (0, 1, 0);
                for (&joint, &extra) in tokens.joint[from..end].iter().zip(&tokens.extras[from..end]) {
                    let token = joint % TOKENS as u8;
                    assert_eq!((usize::from(joint) / TOKENS, u32::from(extra) >> first_symbol(token).1), (last, 0));
                    let digit = token < 2;
                    sum += if digit { weight << token } else { 1 };
                    weight = if digit { weight << 1 } else { 1 };
                    last = class(token);
                }
                assert_eq!(sum, rows);
                from = end;
            }
            assert_eq!(from, tokens.joint.len());
        }
    }
}
