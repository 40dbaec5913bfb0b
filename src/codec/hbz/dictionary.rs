//! The dictionary of a block: what its codes, the bytes of its last column, stand for. Most stand for a byte of the
//! text, the others for strings that it uses often, phrases.
//!
//! Phrases take the place of bzip2's run-length step 1, which the suffix sorter does not need and whose gain in size is
//! nothing. They shorten what must be sorted and, what is more, walked when decoding, the slowest step there. Which
//! strings: words, cut at `_`, and stretches of blanks and zeros, by occurrences times bytes saved. Pairs of bytes
//! replaced again and again (byte-pair encoding) would shorten twice as much (linux: to 59 % instead of 76), but cut
//! words at odd places: 0.2 % larger, where words make it 0.4 % smaller, since a word's first letters are no longer
//! coded one by one. Thousands of words in codes of two bytes gain no more than their list costs.
//!
//! A large block has all 256 byte values, though some only a few times. Those have no code: they stand behind an
//! **escape**, as their place among the bytes without a code, and their codes are free for phrases.
//!
//! The codes' order decides which contexts are neighbours in the last column. So a phrase stands behind its first
//! letter, and letters in an order that puts like to like (B. Chapin and S. Tate, "Higher compression from the
//! Burrows-Wheeler transform by modified sorting", DCC 1998): measured, 0.3 and 0.15 % smaller, at no cost for readers.

use super::replace;
use super::words::Cutter;
use std::collections::HashMap;

/// The longest phrase.
pub const MAX_PHRASE: usize = 255;
/// Fewer occurrences than this do not pay for the phrase's description.
const MIN_BATCH: u32 = 16;
/// How much of a block is looked at: so many pieces of so many bytes.
const SAMPLES: usize = 32;
const SAMPLE: usize = 16 << 10;
/// A byte behind an escape costs as much as so many bytes saved by a phrase.
const ESCAPE_COST: u64 = 8;

/// What a code stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A byte.
    Byte(u8),
    /// A string of 2 to [`MAX_PHRASE`] bytes.
    Phrase(Vec<u8>),
    /// With the code behind it, a byte that has no code.
    Escape,
}

/// What each code stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dictionary {
    codes: Vec<Meaning>,
}

/// The order of the codes by their first bytes.
const PLACES: [u8; 256] = {
    const FIRST: &[u8] = b"\n\t 0123456789_AOEIUBCDGFHRLSMNPQJKTWVXYZaoeiubcdgfhrlsmnpqjktwvxyz";
    // Bytes that are not named: those below 128 between blanks and digits, the others at last.
    let mut places = [0; 256];
    let (mut place, mut byte) = (3, 0);
    let mut named = 0;
    while named < FIRST.len() {
        if named == 3 {
            while byte < 128 {
                let mut at = 0;
                while at < FIRST.len() && FIRST[at] != byte as u8 {
                    at += 1;
                }
                if at == FIRST.len() {
                    places[byte] = place;
                    place += 1;
                }
                byte += 1;
            }
        }
        places[FIRST[named] as usize] = if named < 3 { named as u8 } else { place };
        place += (named >= 3) as u8;
        named += 1;
    }
    while byte < 256 {
        places[byte] = byte as u8;
        byte += 1;
    }
    places
};

impl Dictionary {
    /// From what a reader found. Refuses a byte with two codes, a second escape, and phrases of no such length.
    pub fn new(codes: Vec<Meaning>) -> Option<Self> {
        let mut seen = [false; 256];
        let mut escapes = 0;
        let good = codes.iter().all(|code| match code {
            Meaning::Byte(byte) => !std::mem::replace(&mut seen[usize::from(*byte)], true),
            Meaning::Phrase(string) => (2..=MAX_PHRASE).contains(&string.len()),
            Meaning::Escape => {
                escapes += 1;
                escapes == 1
            }
        });
        (good && (1..=256).contains(&codes.len())).then_some(Dictionary { codes })
    }

    /// The codes' meanings, from code 0 on.
    pub fn codes(&self) -> &[Meaning] {
        &self.codes
    }

    /// A good one for this text of at least one byte.
    pub fn choose(text: &[u8]) -> Self {
        let counts = count(text);
        let mut bytes: Vec<u8> = (0..=255).filter(|&byte| counts[usize::from(byte)] > 0).collect();
        bytes.sort_by_key(|&byte| counts[usize::from(byte)]);
        let free = 256 - bytes.len();
        let phrases = candidates(text);

        // With `n` bytes escaped, n - 1 phrases more: as long as they save more than the escapes cost.
        let (mut escaped, mut balance, mut best) = (0, 0i64, 0);
        for (n, &byte) in (1..bytes.len()).zip(&bytes) {
            balance -= (ESCAPE_COST * counts[usize::from(byte)]) as i64;
            if n > 1 {
                let Some((saved, _)) = phrases.get(free + n - 2) else { break };
                balance += *saved as i64;
            }
            if balance > best {
                (escaped, best) = (n, balance);
            }
        }
        let room = free + escaped - usize::from(escaped > 0);
        let mut codes: Vec<Meaning> = bytes.drain(escaped..).map(Meaning::Byte).collect();
        codes.extend(phrases.into_iter().take(room).map(|(_, string)| Meaning::Phrase(string.to_vec())));
        codes.extend((escaped > 0).then_some(Meaning::Escape));
        Dictionary::in_order(codes)
    }

    /// One code for each byte of this text.
    pub fn of_bytes(text: &[u8]) -> Self {
        let mut used = [false; 256];
        text.iter().for_each(|&byte| used[usize::from(byte)] = true);
        Dictionary::in_order((0..=255).filter(|&byte| used[usize::from(byte)]).map(Meaning::Byte).collect())
    }

    fn in_order(mut codes: Vec<Meaning>) -> Self {
        codes.sort_by_cached_key(|code| match code {
            Meaning::Byte(byte) => (PLACES[usize::from(*byte)], Vec::new()),
            Meaning::Phrase(string) => (PLACES[usize::from(string[0])], string.clone()),
            Meaning::Escape => (255, vec![255]),
        });
        Dictionary { codes }
    }

    /// Which bytes have no code, ascending.
    pub(super) fn escaped(&self) -> Vec<u8> {
        (0..=255).filter(|byte| !self.codes.contains(&Meaning::Byte(*byte))).collect()
    }

    /// Whether a code stands for this string.
    pub(super) fn stands_for(&self, code: u8, string: &[u8]) -> bool {
        matches!(&self.codes[usize::from(code)], Meaning::Phrase(own) if own == string)
    }

    /// `out` becomes the text in codes; entry points will be `interval` codes apart.
    ///
    /// # Panics
    /// If a byte of the text has no code, and the dictionary no escape.
    pub fn replace(&self, text: &[u8], interval: usize, out: &mut Vec<u8>) {
        replace::replace(self, text, interval, out);
    }
}

/// How often each byte occurs. Counted in four tables by turns: so a byte like the one before it need not wait for its
/// count.
fn count(text: &[u8]) -> [u64; 256] {
    let mut counts = [[0u32; 256]; 4];
    let (fours, rest) = text.as_chunks::<4>();
    for four in fours {
        for (counts, &byte) in counts.iter_mut().zip(four) {
            counts[usize::from(byte)] += 1;
        }
    }
    rest.iter().for_each(|&byte| counts[0][usize::from(byte)] += 1);
    std::array::from_fn(|byte| counts.iter().map(|counts| u64::from(counts[byte])).sum())
}

/// Strings of which phrases could be made, and how many bytes each would save in this text, best first.
fn candidates(text: &[u8]) -> Vec<(u64, &[u8])> {
    let mut counts: HashMap<&[u8], u32> = HashMap::new();
    let stride = (text.len() / SAMPLES).max(SAMPLE);
    let (mut seen, mut pieces) = (0, Vec::new());
    for piece in text.chunks(stride) {
        let sample = &piece[..piece.len().min(SAMPLE)];
        seen += sample.len() as u64;
        pieces.clear();
        Cutter::default().cut(sample, 0..sample.len(), &mut pieces);
        pieces.iter().for_each(|&(from, to)| *counts.entry(&sample[from..to]).or_default() += 1);
    }
    let saved = |times: u32, len: usize| u64::from(times) * (len as u64 - 1) * text.len() as u64 / seen;
    let mut best: Vec<(u64, &[u8])> = counts
        .into_iter()
        .filter(|(_, times)| *times >= MIN_BATCH)
        .map(|(string, times)| (saved(times, string.len()), string))
        .collect();
    best.sort_unstable_by(|a, b| b.cmp(a));
    best.truncate(256);
    best
}

/// Puts the text back in the place of its codes.
#[derive(Clone, Debug)]
pub struct Expansion {
    /// By code: the first eight bytes of what it stands for, and how many it has.
    heads: Box<[([u8; 8], u8); 256]>,
    dictionary: Dictionary,
    /// The escape, if there is one, and the bytes that have no code.
    escape: Option<u8>,
    escaped: Vec<u8>,
}

impl Expansion {
    /// Of this dictionary.
    pub fn new(dictionary: Dictionary) -> Self {
        let mut heads: Box<[([u8; 8], u8); 256]> = Box::new([([0; 8], 0); 256]);
        let mut escape = None;
        for (code, meaning) in (0u8..=255).zip(&dictionary.codes) {
            let (head, len) = &mut heads[usize::from(code)];
            match meaning {
                Meaning::Byte(byte) => (head[0], *len) = (*byte, 1),
                Meaning::Phrase(string) => {
                    let first = string.len().min(8);
                    head[..first].copy_from_slice(&string[..first]);
                    *len = string.len() as u8;
                }
                Meaning::Escape => escape = Some(code),
            }
        }
        let escaped = if escape.is_some() { dictionary.escaped() } else { Vec::new() };
        Expansion { heads, dictionary, escape, escaped }
    }

    /// Expands `coded`, which begins at an entry point and ends at one or at the end of the block; entry points are
    /// `interval` codes apart. Refuses to make more than `most` bytes of it, and escapes of no byte.
    pub fn expand(&self, coded: &[u8], interval: usize, most: usize) -> Option<Vec<u8>> {
        let len: usize = match self.escape {
            None => coded.iter().map(|&code| usize::from(self.heads[usize::from(code)].1)).sum(),
            Some(escape) => {
                coded.chunks(interval).map(|part| self.len_with_escapes(part, escape)).sum::<Option<_>>()?
            }
        };
        if len > most {
            return None;
        }
        let mut text = vec![0; len + 8];
        let mut at = 0;
        for part in coded.chunks(interval) {
            let mut codes = part.iter();
            while let Some(&code) = codes.next() {
                let (head, len) = &self.heads[usize::from(code)];
                text[at..at + 8].copy_from_slice(head);
                at += usize::from(*len);
                if (1..=8).contains(len) {
                    continue;
                }
                match &self.dictionary.codes.get(usize::from(code)) {
                    Some(Meaning::Phrase(string)) => text[at - string.len()..at].copy_from_slice(string),
                    Some(Meaning::Escape) => {
                        if let Some(&place) = codes.next() {
                            text[at] = *self.escaped.get(usize::from(place))?;
                            at += 1;
                        }
                    }
                    _ => {}
                }
            }
        }
        text.truncate(len);
        Some(text)
    }

    /// How long a part between entry points becomes. An escape at its very end stands for nothing.
    fn len_with_escapes(&self, part: &[u8], escape: u8) -> Option<usize> {
        let mut len = 0;
        let mut codes = part.iter();
        while let Some(&code) = codes.next() {
            if code != escape {
                len += usize::from(self.heads[usize::from(code)].1);
            } else if let Some(&place) = codes.next() {
                self.escaped.get(usize::from(place))?;
                len += 1;
            }
        }
        Some(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::{EDGES, SHAPES, shape};

    const INTERVAL: usize = 4096;

    fn check_with(dictionary: Dictionary, text: &[u8], what: &str) -> usize {
        let mut coded = Vec::new();
        dictionary.replace(text, INTERVAL, &mut coded);
        let expansion = Expansion::new(dictionary);
        assert!(expansion.expand(&coded, INTERVAL, text.len()).as_deref() == Some(text), "{what}");
        assert!(text.is_empty() || expansion.expand(&coded, INTERVAL, text.len() - 1).is_none());
        coded.len()
    }

    fn check(text: &[u8], what: &str) -> usize {
        let dictionary = Dictionary::choose(text);
        assert_eq!(Dictionary::new(dictionary.codes.clone()).as_ref(), Some(&dictionary), "{what}");
        check_with(dictionary, text, what)
    }

    #[test]
    fn what_is_replaced_comes_back() {
        for edge in EDGES {
            let text = (edge.make)();
            if !text.is_empty() {
                check(&text, edge.name);
            }
        }
        for shape in SHAPES {
            check(&(shape.make)(50_000), shape.name);
        }
    }

    #[test]
    fn words_become_bytes() {
        let text = b"static unsigned long jiffies_to_msecs\t\t\t(struct device *dev);\n".repeat(1000);
        assert!(check(&text, "words") < text.len() / 2);
    }

    #[test]
    fn places_are_an_order() {
        let mut places = PLACES;
        places.sort_unstable();
        assert!(places.iter().zip(0..=255).all(|(place, n)| *place == n));
    }

    /// All byte values, some of them rarely: phrases all the same.
    #[test]
    fn rare_bytes_are_escaped() {
        let mut text = (shape("words").make)(400_000);
        for (byte, at) in (0..=255).zip((1000..).step_by(1500)) {
            text.splice(at..at, [byte, byte, 255 - byte]);
        }
        let dictionary = Dictionary::choose(&text);
        assert!(dictionary.codes.contains(&Meaning::Escape));
        assert!(check(&text, "all bytes") < text.len() * 9 / 10);
    }

    /// Escapes wherever a part may end.
    #[test]
    fn no_escape_is_torn_apart() {
        let codes = vec![Meaning::Byte(b'a'), Meaning::Escape, Meaning::Phrase(b"bcd".to_vec())];
        for before in INTERVAL - 3..=INTERVAL {
            for text in [vec![0; 9], b"a\0bcd\0".to_vec(), vec![0; 3 * INTERVAL], vec![1]] {
                let text = [vec![b'a'; before], text].concat();
                check_with(Dictionary::new(codes.clone()).unwrap(), &text, "escapes");
            }
        }
        let expansion = Expansion::new(Dictionary::new(codes).unwrap());
        assert_eq!(expansion.expand(&[1, 0, 0, 1], INTERVAL, 9).as_deref(), Some(&b"\0a"[..]));
        assert_eq!(expansion.expand(&[1, 255], INTERVAL, 9), None, "255 bytes have no code");
    }

    #[test]
    fn dictionaries_that_mean_nothing() {
        for codes in [
            vec![],
            vec![Meaning::Byte(1), Meaning::Byte(1)],
            vec![Meaning::Escape, Meaning::Escape],
            vec![Meaning::Phrase(vec![1])],
        ] {
            assert_eq!(Dictionary::new(codes), None);
        }
    }
}
