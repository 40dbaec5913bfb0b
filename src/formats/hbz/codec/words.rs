//! Cuts a text into words and sequences of blanks. Phrases are made from these pieces, and each piece is looked up
//! among the phrases.
//!
//! A word is letters, digits and bytes from 128 on; blanks are spaces, tabs, line ends and zeros. Sixty-four bytes at a
//! time become two masks: one of the bytes that belong to a word, and one of those that are blank. Shifts and exclusive
//! ors of these give a bit for each end of a piece. No branch depends on a single byte, and pieces of one byte, which
//! cannot be phrases, are never looked up.

use std::hint::select_unpredictable;
use std::ops::Range;

/// The longest word and the longest sequence of blanks. Longer ones are cut into pieces of this length.
pub(super) const MAX_WORD: usize = 64;
pub(super) const MAX_BLANKS: usize = 8;

/// The number of bytes that are cut together.
pub(super) const BLOCK: usize = 64;

/// Cuts a text into pieces, part by part.
#[derive(Debug, Default)]
pub struct WordCutter {
    /// The start of the last piece if it has not ended, or if it is neither a word nor blanks.
    begin: usize,
    /// For the last byte: whether it belongs to a word, whether it is blank, and whether a piece begins or has ended
    /// there.
    word: bool,
    blank: bool,
    change: bool,
}

impl WordCutter {
    /// Calls `found` for all pieces of two bytes or more that are known to end in this part of `text`. The parts must
    /// follow one another, and all but the last one must have a multiple of 64 bytes.
    #[inline(always)]
    pub fn cut(&mut self, text: &[u8], part: Range<usize>, mut found: impl FnMut(Range<usize>)) {
        let end = part.end;
        for at in part.step_by(BLOCK) {
            self.cut_block(at, masks(&text[at..end.min(at + BLOCK)]), &mut found);
        }
        self.end_part(end, text.len(), &mut found);
    }

    /// Cuts the piece that is open at `end`, the end of a part of a text of `len` bytes.
    #[inline(always)]
    pub(super) fn end_part(&mut self, end: usize, len: usize, found: &mut impl FnMut(Range<usize>)) {
        if self.word || self.blank {
            let max = if self.word { MAX_WORD } else { MAX_BLANKS };
            self.begin = split(self.begin, end, max, found);
            self.change = self.begin + 1 == end;
            if end == len {
                push(self.begin..end, found);
                self.begin = end;
            }
        }
    }

    /// The start of the piece that has not ended at `end`, the end of the last part.
    pub fn open_piece(&self, end: usize) -> usize {
        if self.word || self.blank { self.begin } else { end }
    }

    /// Cuts the 64 bytes at `at`, given the masks of their kinds, without splitting pieces. Returns the masks of the
    /// second bytes of pieces, and of the bytes after the last ones. Pieces of one byte have no bits.
    #[inline(always)]
    pub(super) fn edges(&mut self, at: usize, [words, blanks]: [u64; 2]) -> [u64; 2] {
        let words_before = words << 1 | u64::from(self.word);
        let blanks_before = blanks << 1 | u64::from(self.blank);
        let changes = (words ^ words_before) | (blanks ^ blanks_before);
        let changes_before = changes << 1 | u64::from(self.change);
        if changes != 0 {
            self.begin = at + changes.ilog2() as usize;
        }
        (self.word, self.blank, self.change) = (words >> 63 == 1, blanks >> 63 == 1, changes >> 63 == 1);
        [!changes & changes_before & (words | blanks), changes & !changes_before & (words_before | blanks_before)]
    }

    /// Cuts the 64 bytes at `at`, given the masks of their kinds.
    #[inline(always)]
    pub(super) fn cut_block(&mut self, at: usize, kinds: [u64; 2], found: &mut impl FnMut(Range<usize>)) {
        let blanks_before = kinds[1] << 1 | u64::from(self.blank);
        // The first piece may have begun before these bytes.
        let mut from = self.begin;
        let [mut seconds, mut ends] = self.edges(at, kinds);
        if seconds.trailing_zeros() < ends.trailing_zeros() {
            from = at + seconds.trailing_zeros() as usize - 1;
            seconds &= seconds - 1;
        }
        while ends != 0 {
            let bit = ends.trailing_zeros();
            ends &= ends - 1;
            let to = at + bit as usize;
            let max = select_unpredictable(blanks_before >> bit & 1 == 0, MAX_WORD, MAX_BLANKS);
            if to - from > max {
                from = split(from, to, max, found);
            }
            push(from..to, found);
            from = (at + seconds.trailing_zeros() as usize).wrapping_sub(1);
            seconds &= seconds.wrapping_sub(1);
        }
    }
}

/// Cuts off pieces of `max` bytes while more than that is left, and returns the start of the rest.
#[cold]
pub(super) fn split(mut from: usize, to: usize, max: usize, found: &mut impl FnMut(Range<usize>)) -> usize {
    while to - from > max {
        found(from..from + max);
        from += max;
    }
    from
}

#[inline(always)]
fn push(piece: Range<usize>, found: &mut impl FnMut(Range<usize>)) {
    if piece.len() > 1 {
        found(piece);
    }
}

/// The masks of the bytes, at most 64, that belong to words, and of those that are blank.
#[inline(always)]
pub(super) fn masks(bytes: &[u8]) -> [u64; 2] {
    let block = bytes.first_chunk().copied().unwrap_or_else(|| {
        let mut block = [b'.'; BLOCK];
        block[..bytes.len()].copy_from_slice(bytes);
        block
    });
    [mask(&block.map(is_word)), mask(&block.map(is_blank))]
}

/// 1 for a byte that belongs to a word, otherwise 0.
#[inline(always)]
pub(super) fn is_word(byte: u8) -> u8 {
    let letter = (byte | 0x20).wrapping_sub(b'a') < 26;
    u8::from(letter | (byte.wrapping_sub(b'0') < 10) | (byte >= 0x80))
}

/// 1 for a blank, otherwise 0.
#[inline(always)]
pub(super) fn is_blank(byte: u8) -> u8 {
    u8::from((byte == b' ') | (byte == b'\n') | (byte == b'\t') | (byte == b'\r') | (byte == 0))
}

/// The lowest bits of bytes that are 0 or 1. A multiplication moves eight of them to the top of a word.
#[inline(always)]
fn mask(bits: &[u8; BLOCK]) -> u64 {
    let mut mask = 0;
    for (number, eight) in bits.as_chunks::<8>().0.iter().enumerate() {
        mask |= (u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * number);
    }
    mask
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// The length of the first piece of a text of at least one byte.
    pub fn first_piece_len(text: &[u8]) -> usize {
        let kind = |byte: u8| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | 0x80.. => MAX_WORD,
            b' ' | b'\t' | b'\n' | b'\r' | 0 => MAX_BLANKS,
            _ => 1,
        };
        text.iter().take(kind(text[0])).take_while(|byte| kind(**byte) == kind(text[0])).count()
    }

    /// Compares the pieces of a text with those cut one by one.
    pub fn check(text: &[u8], what: &str) {
        let (mut expected, mut from) = (Vec::new(), 0);
        while from < text.len() {
            let len = first_piece_len(&text[from..]);
            expected.extend((len > 1).then_some(from..from + len));
            from += len;
        }
        for part in [64, 128, 1024, 1 << 20] {
            let (mut cutter, mut found) = (WordCutter::default(), Vec::new());
            for from in (0..text.len()).step_by(part) {
                cutter.cut(text, from..text.len().min(from + part), |piece| found.push(piece));
            }
            assert!(found == expected, "{what}, parts of {part}");
        }
    }
}
