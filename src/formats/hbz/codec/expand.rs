//! Replaces the codes of a dictionary by their text.

use super::dictionary::{Dictionary, Meaning};
use crate::formats::hbz::header::MAX_PHRASE;

/// The number of bytes that a code may write past the end of the text.
const ROOM: usize = 8;
/// The number of bytes of text that [`CodeExpander::expand_some`] makes at once.
pub(super) const PIECE: usize = 64 << 10;

/// Replaces codes by their text.
#[derive(Clone, Debug)]
pub struct CodeExpander {
    /// By code: the first eight bytes of its text, and the length.
    heads: Box<[Head; 256]>,
    dictionary: Dictionary,
    /// The escape, if there is one, and the bytes that have no code.
    escape: Option<u8>,
    escaped: Vec<u8>,
}

/// The first eight bytes of a code's text, and the length; 0 for the escape and for invalid codes.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(16))]
struct Head {
    bytes: [u8; 8],
    len: u8,
}

impl CodeExpander {
    /// An expander for this dictionary.
    pub fn new(dictionary: Dictionary) -> Self {
        let mut heads = Box::new([Head::default(); 256]);
        let mut escape = None;
        for (code, meaning) in (0u8..=255).zip(dictionary.codes()) {
            let head = &mut heads[usize::from(code)];
            match meaning {
                Meaning::Byte(byte) => (head.bytes[0], head.len) = (*byte, 1),
                Meaning::Phrase(string) => {
                    let first = string.len().min(8);
                    head.bytes[..first].copy_from_slice(&string[..first]);
                    head.len = string.len() as u8;
                }
                Meaning::Escape => escape = Some(code),
            }
        }
        let escaped = if escape.is_some() { dictionary.escaped() } else { Vec::new() };
        CodeExpander { heads, dictionary, escape, escaped }
    }

    /// The length of the text of `coded`, which begins at an entry point and ends at an entry point or at the end of
    /// the block; entry points are `interval` codes apart. Returns `None` if an escape stands for no byte.
    pub fn text_len(&self, coded: &[u8], interval: usize) -> Option<usize> {
        let part_len = |part: &[u8]| {
            let (mut len, mut codes) = (0, part.iter());
            while let Some(&code) = codes.next() {
                len += usize::from(self.heads[usize::from(code)].len);
                // An escape at the very end of a part stands for nothing.
                if Some(code) == self.escape
                    && let Some(&place) = codes.next()
                {
                    self.escaped.get(usize::from(place))?;
                    len += 1;
                }
            }
            Some(len)
        };
        coded.chunks(interval).map(part_len).sum()
    }

    /// The text of `coded`, if it has at most `most` bytes and each escape stands for a byte. `coded` begins at an
    /// entry point and ends at an entry point or at the end of the block; entry points are `interval` codes apart.
    pub fn expand(&self, coded: &[u8], interval: usize, most: usize) -> Option<Vec<u8>> {
        let (mut text, mut at) = (vec![0; most + ROOM], 0);
        for part in coded.chunks(interval) {
            self.write::<true>(part, &mut text, &mut at)?;
        }
        text.truncate(at);
        (at <= most).then_some(text)
    }

    /// The text of a prefix of `coded`, of at least [`PIECE`] bytes unless it is all, and at most a phrase more, and
    /// the number of its codes. `coded` ends at an entry point or at the end of the block. Returns `None` if an escape
    /// stands for no byte.
    pub fn expand_some(&self, coded: &[u8]) -> Option<(Vec<u8>, usize)> {
        let (mut text, mut at) = (vec![0; PIECE.min(coded.len() * MAX_PHRASE) + MAX_PHRASE + ROOM], 0);
        let codes = self.write::<false>(coded, &mut text, &mut at)?;
        text.truncate(at);
        Some((text, codes))
    }

    /// Writes the text of `coded` from `*at` on, `ALL` of it or until `*at` is [`PIECE`]. Returns the number of codes;
    /// `None` if `text` is too short, or if an escape stands for no byte.
    #[inline(always)]
    fn write<const ALL: bool>(&self, coded: &[u8], text: &mut [u8], at: &mut usize) -> Option<usize> {
        let mut codes = coded.iter();
        while (ALL || *at < PIECE)
            && let Some(&code) = codes.next()
        {
            let Head { bytes, len } = self.heads[usize::from(code)];
            text.get_mut(*at..*at + 8)?.copy_from_slice(&bytes);
            *at += usize::from(len);
            if (1..=8).contains(&len) {
                continue;
            }
            match self.dictionary.codes().get(usize::from(code)) {
                Some(Meaning::Phrase(string)) => text.get_mut(*at - string.len()..*at)?.copy_from_slice(string),
                Some(Meaning::Escape) => {
                    if let Some(&place) = codes.next() {
                        text[*at] = *self.escaped.get(usize::from(place))?;
                        *at += 1;
                    }
                }
                _ => {}
            }
        }
        Some(coded.len() - codes.len())
    }
}
