//! Phrases: bytes that the text does not use stand for strings that it uses often.
//!
//! This takes the place of bzip2's run-length step 1, which the suffix sorter does not need and whose gain in size is nothing.
//! Phrases shorten what must be sorted and, what is more, walked when decoding, the slowest step there. Which strings: whole
//! words and stretches of blanks and zeros, by occurrences times bytes saved. Pairs of bytes replaced again and
//! again (byte-pair encoding) would shorten twice as much (linux: to 59 % instead of 76), but cut words at odd places: 0.2 %
//! larger, where words make it 0.4 % smaller, since a word's first letters are no longer coded one by one.

use std::collections::HashMap;

/// The longest phrase.
pub const LONGEST: usize = 255;
/// Longest that is chosen here.
const LONGEST_CHOSEN: usize = 64;
/// The shortest phrase chosen.
const SHORTEST_CHOSEN: usize = 3;
/// The longest stretch of blanks chosen.
const BLANKS: usize = 8;
/// Fewer occurrences than this do not pay for the phrase's description.
const FEWEST: u32 = 16;
/// How much of a block is looked at: so many pieces of so many bytes.
const SAMPLES: usize = 32;
const SAMPLE: usize = 16 << 10;

/// What each byte stands for.
#[derive(Clone, Debug)]
pub struct Phrases {
    /// By byte: the string it stands for; bytes that stand for themselves have none.
    strings: Vec<(u8, Vec<u8>)>,
}

/// What a byte is to the cutter of tokens.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Blank,
    Other,
}

const KINDS: [Kind; 256] = {
    let mut kinds = [Kind::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        if b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80 {
            kinds[byte] = Kind::Word;
        } else if b == b' ' || b == b'\t' || b == b'\n' || b == b'\r' || b == 0 {
            kinds[byte] = Kind::Blank;
        }
        byte += 1;
    }
    kinds
};

/// The first word, stretch of blanks or other byte of a text of at least one byte: how long it is.
#[inline]
fn word(text: &[u8]) -> usize {
    let kind = KINDS[usize::from(text[0])];
    let most = match kind {
        Kind::Word => LONGEST_CHOSEN,
        Kind::Blank => BLANKS,
        Kind::Other => return 1,
    };
    let most = most.min(text.len());
    text[1..most].iter().position(|&byte| KINDS[usize::from(byte)] != kind).map_or(most, |at| at + 1)
}

impl Phrases {
    /// None: every byte stands for itself.
    pub fn none() -> Self {
        Phrases { strings: Vec::new() }
    }

    /// From what a reader found: bytes, each once, and strings of 2 to [`LONGEST`] bytes.
    pub fn new(strings: Vec<(u8, Vec<u8>)>) -> Self {
        Phrases { strings }
    }

    /// The bytes that stand for strings, and these.
    pub fn strings(&self) -> &[(u8, Vec<u8>)] {
        &self.strings
    }

    /// Good ones for this text.
    pub fn choose(text: &[u8]) -> Self {
        let mut used = [false; 256];
        text.iter().for_each(|&byte| used[usize::from(byte)] = true);
        let free: Vec<u8> = (0..=255).filter(|&byte| !used[usize::from(byte)]).collect();
        if free.is_empty() {
            return Phrases::none();
        }
        let mut counts: HashMap<&[u8], u32> = HashMap::new();
        let stride = (text.len() / SAMPLES).max(SAMPLE);
        for piece in text.chunks(stride) {
            let mut rest = &piece[..piece.len().min(SAMPLE)];
            while !rest.is_empty() {
                let len = word(rest);
                if len >= SHORTEST_CHOSEN {
                    *counts.entry(&rest[..len]).or_default() += 1;
                }
                rest = &rest[len..];
            }
        }
        let mut best: Vec<(u64, &[u8])> = counts
            .into_iter()
            .filter(|(_, times)| *times >= FEWEST)
            .map(|(string, times)| (u64::from(times) * (string.len() as u64 - 1), string))
            .collect();
        best.sort_unstable_by(|a, b| b.cmp(a));
        Phrases { strings: free.into_iter().zip(best).map(|(byte, (_, string))| (byte, string.to_vec())).collect() }
    }

    /// The text with words replaced by the bytes that stand for them. Appends to `out`.
    pub fn replace(&self, text: &[u8], out: &mut Vec<u8>) {
        if self.strings.is_empty() {
            out.extend_from_slice(text);
            return;
        }
        // Open addressing by a hash of first bytes and length: nearly all words are none of these.
        const SLOTS: usize = 2048;
        let mut slots = [u16::MAX; SLOTS];
        let hash = |word: &[u8]| {
            let head = word[0] as usize | (word[1] as usize) << 8 | (word[word.len() - 1] as usize) << 16;
            (head.wrapping_mul(0x9e37_79b1) >> 12).wrapping_add(word.len() * 97) % SLOTS
        };
        for (number, (_, string)) in self.strings.iter().enumerate() {
            let mut slot = hash(string);
            while slots[slot] != u16::MAX {
                slot = (slot + 1) % SLOTS;
            }
            slots[slot] = number as u16;
        }
        // Bytes are written as they are looked at; where a word turns out to be a phrase, its byte goes over them.
        let begin = out.len();
        out.resize(begin + text.len(), 0);
        let coded = &mut out[begin..];
        let (mut at, mut from) = (0, 0);
        while from < text.len() {
            let first = text[from];
            coded[at] = first;
            let kind = KINDS[usize::from(first)];
            if kind == Kind::Other {
                at += 1;
                from += 1;
                continue;
            }
            let most = text.len().min(from + if kind == Kind::Word { LONGEST_CHOSEN } else { BLANKS });
            let mut len = 1;
            for (to, &byte) in coded[at + 1..].iter_mut().zip(&text[from + 1..most]) {
                if KINDS[usize::from(byte)] != kind {
                    break;
                }
                *to = byte;
                len += 1;
            }
            let now = &text[from..from + len];
            from += len;
            at += len;
            if len < SHORTEST_CHOSEN {
                continue;
            }
            let mut slot = hash(now);
            while let Some((byte, string)) = self.strings.get(usize::from(slots[slot])) {
                if string == now {
                    at -= len;
                    coded[at] = *byte;
                    at += 1;
                    break;
                }
                slot = (slot + 1) % SLOTS;
            }
        }
        out.truncate(begin + at);
    }
}

/// Puts strings back in the place of the bytes that stand for them.
#[derive(Clone, Debug)]
pub struct Expansion {
    /// By byte: the first eight bytes of what it stands for, and how many it has.
    heads: Box<[([u8; 8], u8); 256]>,
    phrases: Phrases,
}

impl Expansion {
    /// Of these phrases.
    pub fn new(phrases: Phrases) -> Self {
        let mut heads: Box<[([u8; 8], u8); 256]> = Box::new(std::array::from_fn(|byte| {
            let mut head = [0; 8];
            head[0] = byte as u8;
            (head, 1)
        }));
        for (byte, string) in &phrases.strings {
            let (head, len) = &mut heads[usize::from(*byte)];
            let first = string.len().min(8);
            head[..first].copy_from_slice(&string[..first]);
            *len = string.len() as u8;
        }
        Expansion { heads, phrases }
    }

    /// Expands `coded`. Refuses to make more than `most` bytes of it.
    pub fn expand(&self, coded: Vec<u8>, most: usize) -> Option<Vec<u8>> {
        if self.phrases.strings.is_empty() {
            return (coded.len() <= most).then_some(coded);
        }
        let mut counts = [0usize; 256];
        coded.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
        let len: usize = counts.iter().zip(self.heads.iter()).map(|(count, (_, len))| count * usize::from(*len)).sum();
        if len > most {
            return None;
        }
        let mut text = vec![0; len + 8];
        let mut at = 0;
        for &byte in &coded {
            let (head, len) = &self.heads[usize::from(byte)];
            text[at..at + 8].copy_from_slice(head);
            if *len > 8 {
                let string = self.phrases.strings.iter().find(|(own, _)| *own == byte);
                let (_, string) = string.expect("a byte with a string");
                text[at..at + string.len()].copy_from_slice(string);
            }
            at += usize::from(*len);
        }
        text.truncate(len);
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::{EDGES, SHAPES};

    fn check(text: &[u8], what: &str) -> usize {
        let phrases = Phrases::choose(text);
        let mut coded = Vec::new();
        phrases.replace(text, &mut coded);
        let len = coded.len();
        let expansion = Expansion::new(phrases);
        assert!(expansion.expand(coded.clone(), text.len()).as_deref() == Some(text), "{what}");
        assert!(text.is_empty() || expansion.expand(coded, text.len() - 1).is_none());
        len
    }

    #[test]
    fn what_is_replaced_comes_back() {
        for edge in EDGES {
            check(&(edge.make)(), edge.name);
        }
        for shape in SHAPES {
            check(&(shape.make)(50_000), shape.name);
        }
    }

    #[test]
    fn words_become_bytes() {
        let text = b"static unsigned long jiffies_to_msecs\t\t\t(struct device *dev);\n".repeat(1000);
        assert!(check(&text, "words") < text.len() / 3);
    }
}
