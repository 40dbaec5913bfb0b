//! ALL, Funasaka's format for decoding on GPUs (2018, chapter 5), for his tables alone: no other program reads or
//! writes it.
//!
//! A strip of 64 KiB is a row of segments of 32 words (the last segment may have fewer); a warp decodes the words of a
//! segment together. No word refers to its own segment: the dictionary is the 4,096 bytes before the segment. The
//! layout of identifiers and fields is our choice, because the notes on the thesis do not give it. Magic strings, the
//! thesis's last refinement, are left out.
//!
//! ```text
//! segment   u32: bit i: word i has more than one byte | u32: bit i: it has three | the words, little endian
//! word      byte                                SC    single character
//!           4 bits f > 0, 12 bits d             SI    f + 1 bytes, 2 to 16, d + 1 before the segment
//!           4 bits 0, 4 bits n, 8 bits c        SRL   n + 3 times c
//!           12 bits f < 3,392, 12 bits d        LI    f + 17 bytes, to 3,408, d + 1 before the segment
//!           12 bits f >= 3,392, 4 bits n, c     LRL   (f - 3,392) * 16 + n + 19 times c
//! ```
//!
//! `cuda/bench/all.cu` has the kernel.

/// The number of bytes of text in a strip.
pub const STRIP: usize = 1 << 16;
const WORDS: usize = 32;
const DICTIONARY: usize = 4096;
const LONG_RUNS: usize = 3392;
/// The min and max length of each kind.
const MIN_RUN: usize = 3;
const MAX_SHORT_RUN: usize = 18;
const MAX_SHORT: usize = 16;
const MAX_LONG: usize = 3408;
const MAX_RUN: usize = 11_282;

/// The kinds of words, as Funasaka counts them in table 5.5.
pub const KINDS: [&str; 5] = ["SC", "SRL", "SI", "LRL", "LI"];

/// The number of words of each kind, and the number of bytes of text that they stand for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    pub words: [u64; 5],
    pub bytes: [u64; 5],
}

impl Counts {
    fn add(&mut self, word: Word) {
        let kind = match word {
            Word::Byte(_) => 0,
            Word::Run(_, len) => 1 + 2 * usize::from(len > MAX_SHORT_RUN),
            Word::Copy(_, len) => 2 + 2 * usize::from(len > MAX_SHORT),
        };
        self.words[kind] += 1;
        self.bytes[kind] += word.len() as u64;
    }

    /// Adds the counts of another text.
    pub fn add_all(&mut self, other: &Counts) {
        for kind in 0..KINDS.len() {
            self.words[kind] += other.words[kind];
            self.bytes[kind] += other.bytes[kind];
        }
    }
}

/// The meaning of a word.
#[derive(Clone, Copy, Debug)]
enum Word {
    Byte(u8),
    Run(u8, usize),
    /// The distance before the segment, and the number of bytes.
    Copy(usize, usize),
}

impl Word {
    fn len(self) -> usize {
        match self {
            Word::Byte(_) => 1,
            Word::Run(_, len) | Word::Copy(_, len) => len,
        }
    }

    /// Its bytes, and their number.
    fn code(self) -> ([u8; 3], usize) {
        let (value, bytes) = match self {
            Word::Byte(byte) => (usize::from(byte), 1),
            Word::Run(byte, len) if len <= MAX_SHORT_RUN => ((len - MIN_RUN) << 8 | usize::from(byte), 2),
            Word::Run(byte, len) => {
                let rest = len - MAX_SHORT_RUN - 1;
                ((LONG_RUNS + (rest >> 4)) << 12 | (rest & 15) << 8 | usize::from(byte), 3)
            }
            Word::Copy(back, len) if len <= MAX_SHORT => ((len - 1) << 12 | (back - 1), 2),
            Word::Copy(back, len) => ((len - MAX_SHORT - 1) << 12 | (back - 1), 3),
        };
        ([value as u8, (value >> 8) as u8, (value >> 16) as u8], bytes)
    }

    /// The word of these one to three bytes.
    fn parse(code: &[u8]) -> Word {
        let value = code.iter().rev().fold(0, |value, byte| value << 8 | usize::from(*byte));
        let (length, rest) = (value >> 12, value & 0xfff);
        match code.len() {
            1 => Word::Byte(code[0]),
            2 if length == 0 => Word::Run(rest as u8, (rest >> 8) + MIN_RUN),
            2 => Word::Copy(rest + 1, length + 1),
            _ if length < LONG_RUNS => Word::Copy(rest + 1, length + MAX_SHORT + 1),
            _ => Word::Run(rest as u8, ((length - LONG_RUNS) << 4 | rest >> 8) + MAX_SHORT_RUN + 1),
        }
    }
}

/// The positions of pairs and triples of bytes in the dictionary part of a strip.
struct Dictionary<'a> {
    text: &'a [u8],
    /// The last place of each pair, from 1.
    pairs: Vec<u32>,
    /// The last position of each triple, by its hash, and for each position the one before it.
    triples: Vec<u32>,
    before: Vec<u32>,
    /// Positions before this one have been added.
    end: usize,
}

impl<'a> Dictionary<'a> {
    fn new(text: &'a [u8]) -> Self {
        Dictionary { text, pairs: vec![0; 1 << 16], triples: vec![0; 1 << 15], before: vec![0; text.len()], end: 0 }
    }

    fn pair(text: &[u8], at: usize) -> usize {
        usize::from(text[at]) << 8 | usize::from(text[at + 1])
    }

    fn triple(text: &[u8], at: usize) -> usize {
        let key = (Self::pair(text, at) << 8 | usize::from(text[at + 2])) as u32;
        (key.wrapping_mul(0x9e37_79b1) >> 17) as usize
    }

    /// The dictionary of the segment that begins at `start`.
    fn extend(&mut self, start: usize) {
        while self.end + 2 < start {
            let (at, slot) = (self.end, Self::triple(self.text, self.end));
            self.pairs[Self::pair(self.text, at)] = at as u32 + 1;
            self.before[at] = std::mem::replace(&mut self.triples[slot], at as u32 + 1);
            self.end += 1;
        }
        if start >= 2 {
            self.pairs[Self::pair(self.text, start - 2)] = start as u32 - 1;
        }
    }

    /// The longest string at `at` that also occurs in the dictionary of the segment at `start`: its distance back from
    /// `start`, and its length; 0 if there is none of at least two bytes.
    fn longest(&self, start: usize, at: usize) -> (usize, usize) {
        let rest = &self.text[at..];
        if rest.len() < 2 {
            return (0, 0);
        }
        let oldest = start.saturating_sub(DICTIONARY) as u32;
        let (mut best, mut best_len) = (0, 0);
        if rest.len() >= 3 {
            let mut place = self.triples[Self::triple(self.text, at)];
            while place > oldest {
                let from = place as usize - 1;
                let equal = self.text[from..start].iter().zip(rest).take_while(|(a, b)| a == b).count();
                if equal > best_len {
                    (best, best_len) = (start - from, equal);
                }
                place = self.before[from];
            }
        }
        let pair = self.pairs[Self::pair(self.text, at)];
        if best_len < 2 && pair > oldest {
            return (start - (pair as usize - 1), 2);
        }
        if best_len < 2 { (0, 0) } else { (best, best_len.min(MAX_LONG)) }
    }
}

/// Encodes a strip.
pub fn encode(text: &[u8], counts: &mut Counts) -> Vec<u8> {
    let mut coded = Vec::new();
    let mut dictionary = Dictionary::new(text);
    let mut at = 0;
    while at < text.len() {
        let start = at;
        dictionary.extend(start);
        let head = coded.len();
        coded.extend_from_slice(&[0; 8]);
        let (mut more, mut long) = (0u32, 0u32);
        for number in 0..WORDS.min(text.len() - start) {
            let Some(&byte) = text.get(at) else { break };
            let run = text[at..].iter().take(MAX_RUN).take_while(|other| **other == byte).count();
            let (back, len) = if run < MAX_LONG { dictionary.longest(start, at) } else { (0, 0) };
            let word = match () {
                () if run >= MIN_RUN && run >= len => Word::Run(byte, run),
                () if len >= 2 => Word::Copy(back, len),
                () => Word::Byte(byte),
            };
            let (bytes, size) = word.code();
            coded.extend_from_slice(&bytes[..size]);
            more |= u32::from(size > 1) << number;
            long |= u32::from(size > 2) << number;
            counts.add(word);
            at += word.len();
        }
        coded[head..head + 4].copy_from_slice(&more.to_le_bytes());
        coded[head + 4..head + 8].copy_from_slice(&long.to_le_bytes());
    }
    coded
}

/// Decodes a strip. `None` if it is damaged.
pub fn decode(coded: &[u8], text: &mut [u8]) -> Option<()> {
    let (mut rest, mut at) = (coded, 0);
    while at < text.len() {
        let start = at;
        let (more, after) = rest.split_first_chunk()?;
        let (long, after) = after.split_first_chunk()?;
        let (more, long) = (u32::from_le_bytes(*more), u32::from_le_bytes(*long));
        rest = after;
        for number in 0..WORDS {
            if at == text.len() {
                break;
            }
            let size = 1 + (more >> number & 1) + (long >> number & 1);
            let (code, after) = rest.split_at_checked(size as usize)?;
            rest = after;
            let word = Word::parse(code);
            let len = word.len();
            if len > text.len() - at {
                return None;
            }
            match word {
                Word::Byte(byte) => text[at] = byte,
                Word::Run(byte, len) => text[at..at + len].fill(byte),
                Word::Copy(back, len) if back <= start && len <= back => {
                    text.copy_within(start - back..start - back + len, at);
                }
                Word::Copy(..) => return None,
            }
            at += len;
        }
    }
    rest.is_empty().then_some(())
}
