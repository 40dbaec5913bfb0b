//! The plain decoder.

use super::{Code, DICTIONARY, HEAD, RUN, STRIP, TWO_WORDS, WORDS, blocks, long_length, on_cores};

/// The number of a strip, its block, whether it is raw, and the place for its text.
type Strip<'a> = (usize, ((&'a [u8], bool), &'a mut [u8]));

/// Decodes a file on `cores`: one, or all. `None` if it is damaged.
pub fn decode(file: &[u8], all_cores: bool) -> Option<Vec<u8>> {
    let blocks = blocks(file)?;
    let last = blocks.len() - 1;
    let mut text = vec![0; blocks.len() * STRIP];
    let strips: Vec<Strip<'_>> = blocks.into_iter().zip(text.chunks_mut(STRIP)).enumerate().collect();
    let one = |(number, ((block, raw), text)): Strip<'_>| {
        let len = decode_strip(block, raw, text)?;
        (len == STRIP || number == last).then_some(len)
    };
    let lens: Vec<Option<usize>> =
        if all_cores { on_cores(strips, one) } else { strips.into_iter().map(one).collect() };
    let lens = lens.into_iter().collect::<Option<Vec<_>>>()?;
    text.truncate(lens.into_iter().sum());
    Some(text)
}

/// Decodes a block. Returns the length of its text.
fn decode_strip(block: &[u8], raw: bool, text: &mut [u8]) -> Option<usize> {
    if raw {
        text[..block.len()].copy_from_slice(block);
        return Some(block.len());
    }
    let block = Block::parse(block)?;
    let (mut at, mut words, mut word, mut magic, mut number) = (0, block.words, 0, block.magic, 0);
    for segment in 0..block.segments() {
        let own;
        let is_magic = bit(block.magic_identifiers, segment);
        (own, magic) = magic.split_at_checked(if is_magic { block.magic_length(number)? } else { 0 })?;
        number += usize::from(is_magic);
        let (start, end) = (at, block.count.min(word + WORDS));
        while word < end {
            let code = block.code(&mut word, end, &mut words)?;
            if code.len() > text.len() - at {
                return None;
            }
            match code {
                Code::Single(byte) => text[at] = byte,
                Code::Run(len) => {
                    let byte = if at > 0 { text[at - 1] } else { 0 };
                    text[at..at + len].fill(byte);
                }
                Code::Interval(t, len) if t >= own.len() && start + t >= DICTIONARY && t + len <= DICTIONARY => {
                    let from = start + t - DICTIONARY;
                    text.copy_within(from..from + len, at);
                }
                Code::Interval(t, len) if t + len <= DICTIONARY => {
                    for k in 0..len {
                        let before = |t: usize| (start + t).checked_sub(DICTIONARY).map_or(0, |from| text[from]);
                        text[at + k] = own.get(t + k).copied().unwrap_or_else(|| before(t + k));
                    }
                }
                Code::Interval(..) => return None,
            }
            at += code.len();
        }
    }
    if !words.is_empty() || !magic.is_empty() || number != block.strings {
        return None;
    }
    if block.predictor {
        text[..at].iter_mut().fold(0, |sum: u8, byte| {
            *byte = byte.wrapping_add(sum);
            *byte
        });
    }
    Some(at)
}

fn bit(bits: &[u8], number: usize) -> bool {
    bits[number / 8] >> (number % 8) & 1 == 1
}

/// The rows of a block.
struct Block<'a> {
    count: usize,
    strings: usize,
    predictor: bool,
    identifiers: &'a [u8],
    magic_identifiers: &'a [u8],
    magic_lengths: &'a [u8],
    words: &'a [u8],
    magic: &'a [u8],
}

impl<'a> Block<'a> {
    fn parse(block: &'a [u8]) -> Option<Block<'a>> {
        let (head, rest) = block.split_first_chunk::<HEAD>()?;
        let field = |at: usize| usize::from(u16::from_le_bytes([head[at], head[at + 1]]));
        let (count, bytes, last) = (field(0) + 1, field(2) + 1, field(4));
        let strings = last & 0x7ff;
        let (identifiers, rest) = rest.split_at_checked(count.div_ceil(8))?;
        let (magic_identifiers, rest) = rest.split_at_checked(count.div_ceil(WORDS).div_ceil(8))?;
        let (magic_lengths, rest) = rest.split_at_checked((strings * 12).div_ceil(8))?;
        let (words, magic) = rest.split_at_checked(bytes)?;
        let predictor = last >> 11 & 1 == 1;
        Some(Block { count, strings, predictor, identifiers, magic_identifiers, magic_lengths, words, magic })
    }

    fn segments(&self) -> usize {
        self.count.div_ceil(WORDS)
    }

    /// The length of magic string `number`.
    fn magic_length(&self, number: usize) -> Option<usize> {
        let at = number * 12 / 8;
        let pair = self.magic_lengths.get(at..at + 2).filter(|_| number < self.strings)?;
        let both = usize::from(pair[0]) | usize::from(pair[1]) << 8;
        Some((both >> (number % 2 * 4) & 0xfff) + 1)
    }

    /// The code at `word` of a segment that ends before the word `end`.
    fn code(&self, word: &mut usize, end: usize, words: &mut &[u8]) -> Option<Code> {
        let two_bytes = bit(self.identifiers, *word);
        *word += 1;
        let (first, rest) = words.split_first()?;
        *words = rest;
        if !two_bytes {
            return Some(Code::Single(*first));
        }
        let (second, rest) = words.split_first()?;
        *words = rest;
        let value = usize::from(*first) | usize::from(*second) << 8;
        let (t, l) = (value >> 4, value & 15);
        let mut len = l + 2;
        if l == TWO_WORDS {
            let (third, rest) = words.split_first().filter(|_| *word < end && !bit(self.identifiers, *word))?;
            *word += 1;
            *words = rest;
            len = long_length(*third);
        }
        Some(if t == RUN { Code::Run(len) } else { Code::Interval(t, len) })
    }
}
