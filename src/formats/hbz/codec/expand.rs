//! Replaces the codes of a dictionary by their text.

use super::dictionary::{Dictionary, Meaning};

/// The number of bytes that a code may write past the end of the text.
const ROOM: usize = 8;
/// The number of bytes of text that [`CodeExpander::expand_some`] makes at once.
const PIECE: usize = 64 << 10;

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
        match self.escape {
            None => Some(coded.iter().map(|&code| usize::from(self.heads[usize::from(code)].len)).sum()),
            Some(escape) => coded.chunks(interval).map(|part| self.part_len(part, escape)).sum(),
        }
    }

    /// The text of `coded`, if it has at most `most` bytes and each escape stands for a byte. `coded` begins at an
    /// entry point and ends at an entry point or at the end of the block; entry points are `interval` codes apart.
    pub fn expand(&self, coded: &[u8], interval: usize, most: usize) -> Option<Vec<u8>> {
        let mut text = vec![0; most + ROOM];
        let mut at = 0;
        for part in coded.chunks(interval) {
            let mut codes = part.iter();
            while let Some(&code) = codes.next() {
                let Head { bytes, len } = self.heads[usize::from(code)];
                text.get_mut(at..at + 8)?.copy_from_slice(&bytes);
                at += usize::from(len);
                if (1..=8).contains(&len) {
                    continue;
                }
                match self.dictionary.codes().get(usize::from(code)) {
                    Some(Meaning::Phrase(string)) => text.get_mut(at - string.len()..at)?.copy_from_slice(string),
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
        text.truncate(at);
        (at <= most).then_some(text)
    }

    /// Appends to `text` the text of a prefix of `coded`, until `text` has [`PIECE`] bytes, and at most a phrase more.
    /// `coded` ends at an entry point or at the end of the block. Returns the number of codes, or `None` if an escape
    /// stands for no byte.
    pub fn expand_some(&self, coded: &[u8], text: &mut Vec<u8>) -> Option<usize> {
        let mut codes = coded.iter();
        while text.len() < PIECE
            && let Some(&code) = codes.next()
        {
            match self.dictionary.codes().get(usize::from(code)) {
                Some(Meaning::Byte(byte)) => text.push(*byte),
                Some(Meaning::Phrase(string)) => text.extend_from_slice(string),
                Some(Meaning::Escape) => {
                    if let Some(&place) = codes.next() {
                        text.push(*self.escaped.get(usize::from(place))?);
                    }
                }
                None => {}
            }
        }
        Some(coded.len() - codes.len())
    }

    /// The length of the text of a part between entry points. An escape at the very end of it stands for nothing.
    fn part_len(&self, part: &[u8], escape: u8) -> Option<usize> {
        let mut len = 0;
        let mut codes = part.iter();
        while let Some(&code) = codes.next() {
            if code != escape {
                len += usize::from(self.heads[usize::from(code)].len);
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
    use crate::formats::hbz::codec::replace::replace;
    use hybz_testkit::shapes::shape;

    const INTERVAL: usize = 4096;

    fn check_with(dictionary: Dictionary, text: &[u8], what: &str) -> usize {
        let mut coded = Vec::new();
        replace(&dictionary, text, INTERVAL, &mut coded);
        let expander = CodeExpander::new(dictionary);
        assert_eq!(expander.text_len(&coded, INTERVAL), Some(text.len()), "{what}");
        assert!(expander.expand(&coded, INTERVAL, text.len()).unwrap() == text, "{what}");
        assert!(expander.expand(&coded, INTERVAL, text.len() + 1000).unwrap() == text, "{what}");
        assert_eq!(expander.expand(&coded, INTERVAL, text.len() - 1), None, "{what}");
        let mut pieces = Vec::new();
        for part in coded.chunks(INTERVAL) {
            let mut at = 0;
            while at < part.len() {
                let mut piece = Vec::new();
                at += expander.expand_some(&part[at..], &mut piece).unwrap();
                assert!(piece.len() < PIECE + 255);
                pieces.extend(piece);
            }
        }
        assert!(pieces == text, "{what}, in pieces");
        coded.len()
    }

    fn check(text: &[u8], what: &str) -> usize {
        let dictionary = Dictionary::choose(text);
        assert_eq!(Dictionary::new(dictionary.codes().to_vec()).as_ref(), Some(&dictionary), "{what}");
        check_with(dictionary, text, what)
    }

    #[test]
    fn words_become_bytes() {
        let text = b"static unsigned long jiffies_to_msecs\t\t\t(struct device *dev);\n".repeat(1000);
        assert!(check(&text, "words") < text.len() / 2);
    }

    /// A text with all byte values, some of them rare, still gets phrases.
    #[test]
    fn rare_bytes_are_escaped() {
        let mut text = (shape("words").make)(400_000);
        for (byte, at) in (0..=255).zip((1000..).step_by(1500)) {
            text.splice(at..at, [byte, byte, 255 - byte]);
        }
        let dictionary = Dictionary::choose(&text);
        assert!(dictionary.codes().contains(&Meaning::Escape));
        assert!(check(&text, "all bytes") < text.len() * 9 / 10);
    }

    /// Escapes at every place at which a part may end.
    #[test]
    fn no_escape_is_torn_apart() {
        let codes = vec![Meaning::Byte(b'a'), Meaning::Escape, Meaning::Phrase(b"bcd".to_vec())];
        for before in INTERVAL - 3..=INTERVAL {
            for text in [vec![0; 9], b"a\0bcd\0".to_vec(), vec![0; 3 * INTERVAL], vec![1]] {
                let text = [vec![b'a'; before], text].concat();
                check_with(Dictionary::new(codes.clone()).unwrap(), &text, "escapes");
            }
        }
        let expander = CodeExpander::new(Dictionary::new(codes).unwrap());
        assert_eq!(expander.expand(&[1, 0, 0, 1], INTERVAL, 2).unwrap(), b"\0a");
        assert_eq!(expander.text_len(&[1, 255], INTERVAL), None, "255 bytes have no code");
        assert_eq!(expander.expand(&[1, 255], INTERVAL, 9), None);
    }
}
