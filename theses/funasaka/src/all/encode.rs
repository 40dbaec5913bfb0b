//! Compression as in section 5.1.6.
//!
//! A segment's codes are chosen greedily: the longest interval of the dictionary or the longest run, whichever is
//! longer (an interval, if both are equal: table 5.5 has all of Black in LI). From the codes, a magic string is made: a
//! superstring of the texts of two or more consecutive codes of a length below 3, and of the texts that the present
//! magic string serves. The segment is coded again with it, and again, as long as the ratio of the strip so far (bytes
//! of words and magic strings to bytes of text) becomes better.
//!
//! Each strip is coded plain and after the predictor, and the smaller block is kept, or the text if it is not longer.

use super::magic::superstring;
use super::{Code, Counts, DICTIONARY, MAX_LONG, RAW, RUN, STRIP, TWO_WORDS, WORDS, codable, on_cores};

/// The adaptive parts that an encoder may use.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub magic: bool,
    pub predictor: bool,
}

impl Options {
    pub const ALL: Options = Options { magic: true, predictor: true };
    pub const NONE: Options = Options { magic: false, predictor: false };
}

/// Encodes a text as a file, on all cores.
pub fn encode(text: &[u8], options: Options) -> (Vec<u8>, Counts) {
    let strips: Vec<&[u8]> = if text.is_empty() { vec![text] } else { text.chunks(STRIP).collect() };
    let mut file = (strips.len() as u32 - 1).to_le_bytes().to_vec();
    let (mut body, mut counts) = (Vec::new(), Counts::default());
    for (size, block, of_strip) in on_cores(strips, |strip| encode_strip(strip, options)) {
        file.extend(size.to_le_bytes());
        body.extend(block);
        counts.add_all(&of_strip);
    }
    file.extend(body);
    (file, counts)
}

/// The strip bytes, the block, and what is in it.
fn encode_strip(text: &[u8], options: Options) -> (u16, Vec<u8>, Counts) {
    let raw = Counts { strips: 1, raw: 1, ..Counts::default() };
    let mut best = (RAW, text.to_vec(), raw);
    for predictor in [false, true] {
        if text.is_empty() || (predictor && !options.predictor) {
            continue;
        }
        let (block, counts) = encode_block(text, predictor, options.magic);
        if block.len() < best.1.len() {
            best = (block.len() as u16 - 1, block, counts);
        }
    }
    best
}

/// The differences of neighbours.
fn differences(text: &[u8]) -> Vec<u8> {
    let before = std::iter::once(0).chain(text.iter().copied());
    text.iter().zip(before).map(|(byte, before)| byte.wrapping_sub(before)).collect()
}

fn encode_block(text: &[u8], predictor: bool, magic: bool) -> (Vec<u8>, Counts) {
    let mut padded = vec![0; DICTIONARY];
    padded.extend(if predictor { differences(text) } else { text.to_vec() });
    let mut coder = Coder::new(&padded);
    let mut counts = Counts { strips: 1, predicted: u64::from(predictor), ..Counts::default() };
    let mut parts = Parts::default();
    let (mut at, mut bytes) = (DICTIONARY, 0);
    while at < padded.len() {
        let segment = coder.best_segment(at, bytes, magic);
        at += segment.len;
        bytes += segment.size();
        segment.codes.iter().for_each(|code| counts.add(*code));
        counts.magic += u64::from(!segment.magic.is_empty());
        counts.magic_bytes += segment.magic.len() as u64;
        parts.add(&segment);
    }
    (parts.block(predictor), counts)
}

/// Sets bit `number`, the last one so far.
fn push_bit(bits: &mut Vec<u8>, number: usize, bit: bool) {
    bits.resize(number / 8 + 1, 0);
    bits[number / 8] |= u8::from(bit) << (number % 8);
}

/// The rows of a block.
#[derive(Default)]
struct Parts {
    identifiers: Vec<u8>,
    words: usize,
    magic_identifiers: Vec<u8>,
    segments: usize,
    magic_lengths: Vec<usize>,
    text: Vec<u8>,
    magic: Vec<u8>,
}

impl Parts {
    fn add(&mut self, segment: &Segment) {
        for &code in &segment.codes {
            let (t, len) = match code {
                Code::Single(byte) => {
                    self.word(&[byte]);
                    continue;
                }
                Code::Run(len) => (RUN, len),
                Code::Interval(t, len) => (t, len),
            };
            let l = if code.words() == 2 { TWO_WORDS } else { len - 2 };
            self.word(&((t << 4 | l) as u16).to_le_bytes());
            if code.words() == 2 {
                self.word(&[if len <= 64 { len - 18 } else { (len + 672) / 16 } as u8]);
            }
        }
        push_bit(&mut self.magic_identifiers, self.segments, !segment.magic.is_empty());
        self.segments += 1;
        if !segment.magic.is_empty() {
            self.magic_lengths.push(segment.magic.len());
            self.magic.extend_from_slice(&segment.magic);
        }
    }

    fn word(&mut self, word: &[u8]) {
        push_bit(&mut self.identifiers, self.words, word.len() == 2);
        self.words += 1;
        self.text.extend_from_slice(word);
    }

    /// The block. One that is too long for a block's fields is made nonetheless: it is longer than the text.
    fn block(&self, predictor: bool) -> Vec<u8> {
        let mut block = Vec::new();
        let last = self.magic_lengths.len() | usize::from(predictor) << 11;
        for field in [self.words - 1, self.text.len() - 1, last] {
            block.extend((field as u16).to_le_bytes());
        }
        block.extend_from_slice(&self.identifiers);
        block.extend_from_slice(&self.magic_identifiers);
        for pair in self.magic_lengths.chunks(2) {
            let both = (pair[0] - 1) | pair.get(1).map_or(0, |len| (len - 1) << 12);
            block.extend_from_slice(&both.to_le_bytes()[..1 + pair.len()]);
        }
        block.extend_from_slice(&self.text);
        block.extend_from_slice(&self.magic);
        block
    }
}

/// The codes of a segment.
struct Segment {
    codes: Vec<Code>,
    /// The bytes of text, and those of the words.
    len: usize,
    bytes: usize,
    magic: Vec<u8>,
}

impl Segment {
    fn size(&self) -> usize {
        self.bytes + self.magic.len()
    }

    /// Whether it gives a strip a better ratio than `other` does. The text before it has `len` bytes in `bytes`.
    fn is_better(&self, other: &Segment, len: usize, bytes: usize) -> bool {
        (bytes + self.size()) * (len + other.len) < (bytes + other.size()) * (len + self.len)
    }
}

/// Finds the codes of a strip.
struct Coder<'a> {
    /// The text of a strip, after 4,096 zeros.
    text: &'a [u8],
    /// The number of equal bytes from each position on.
    runs: Vec<u32>,
    /// The last place of each pair of bytes, from 1.
    pairs: Vec<u32>,
    /// The last place of each triple, by its hash, and for each place the one before it.
    triples: Vec<u32>,
    before: Vec<u32>,
    /// Positions before this one have been added.
    end: usize,
}

impl<'a> Coder<'a> {
    fn new(text: &'a [u8]) -> Self {
        let mut runs = vec![1; text.len()];
        for at in (1..text.len()).rev() {
            if text[at - 1] == text[at] {
                runs[at - 1] = runs[at] + 1;
            }
        }
        Coder { text, runs, pairs: vec![0; 1 << 16], triples: vec![0; 1 << 15], before: vec![0; text.len()], end: 0 }
    }

    fn pair(&self, at: usize) -> usize {
        usize::from(self.text[at]) << 8 | usize::from(self.text[at + 1])
    }

    fn triple(&self, at: usize) -> usize {
        let key = (self.pair(at) << 8 | usize::from(self.text[at + 2])) as u32;
        (key.wrapping_mul(0x9e37_79b1) >> 17) as usize
    }

    /// Adds the strings of the dictionary of the segment that begins at `start`.
    fn extend(&mut self, start: usize) {
        for at in self.end..start - 2 {
            let (pair, triple) = (self.pair(at), self.triple(at));
            self.pairs[pair] = at as u32 + 1;
            self.before[at] = std::mem::replace(&mut self.triples[triple], at as u32 + 1);
        }
        self.end = self.end.max(start - 2);
        let last = self.pair(start - 2);
        self.pairs[last] = start as u32 - 1;
    }

    /// The codes of the segment at `start`. The strip's text before it has `bytes` bytes of words and magic strings.
    fn best_segment(&mut self, start: usize, bytes: usize, magic: bool) -> Segment {
        self.extend(start);
        let mut best = self.segment(start, Vec::new());
        loop {
            let string = if magic { self.magic(start, &best) } else { None };
            let next = string.map(|string| self.segment(start, string));
            match next.filter(|next| next.is_better(&best, start - DICTIONARY, bytes)) {
                Some(next) => best = next,
                None => return best,
            }
        }
    }

    /// A magic string for a segment. `None` if no codes can be replaced.
    fn magic(&self, start: usize, segment: &Segment) -> Option<Vec<u8>> {
        let (mut strings, mut found) = (Vec::new(), false);
        let (mut at, mut from, mut codes) = (start, start, 0);
        for code in segment.codes.iter().copied().chain([Code::Run(usize::MAX)]) {
            if code.len() < 3 {
                codes += 1;
                at += code.len();
                continue;
            }
            if codes > 1 {
                strings.push(&self.text[from..at]);
                found = true;
            }
            if let Code::Interval(t, len) = code
                && t < segment.magic.len()
            {
                strings.push(&self.text[at..at + len]);
            }
            at = at.saturating_add(code.len());
            (from, codes) = (at, 0);
        }
        let string = found.then(|| superstring(strings))?;
        (string.len() <= DICTIONARY).then_some(string)
    }

    fn segment(&self, start: usize, magic: Vec<u8>) -> Segment {
        let mut dictionary = magic.clone();
        dictionary.extend_from_slice(&self.text[start - DICTIONARY + magic.len()..start]);
        let mut segment = Segment { codes: Vec::with_capacity(WORDS), len: 0, bytes: 0, magic };
        let mut words = WORDS;
        while words > 0 && start + segment.len < self.text.len() {
            let at = start + segment.len;
            let run = if self.text[at] == self.text[at - 1] { self.runs[at] as usize } else { 0 };
            let (t, interval) = self.longest(start, at, &dictionary, segment.magic.len());
            let (run, interval) = (codable(run, words), codable(interval, words));
            let code = match () {
                () if interval >= 2 && interval >= run => Code::Interval(t, interval),
                () if run >= 2 => Code::Run(run),
                () => Code::Single(self.text[at]),
            };
            words -= code.words();
            segment.bytes += if code.len() == 1 { 1 } else { 1 + code.words() };
            segment.len += code.len();
            segment.codes.push(code);
        }
        segment
    }

    /// The longest interval of the dictionary with which the text at `at` begins: its place and length. Its first
    /// `magic` bytes are a magic string; of equal intervals, one outside it is preferred.
    fn longest(&self, start: usize, at: usize, dictionary: &[u8], magic: usize) -> (usize, usize) {
        let rest = &self.text[at..self.text.len().min(at + MAX_LONG)];
        let (mut best, mut best_len) = (0, 0);
        if rest.len() < 2 {
            return (0, 0);
        }
        let base = start - DICTIONARY;
        let oldest = (base + magic) as u32;
        let pair = self.pairs[self.pair(at)];
        if pair > oldest {
            (best, best_len) = (pair as usize - 1 - base, 2);
        }
        let run = self.runs[at] as usize;
        let mut place = if rest.len() > 2 { self.triples[self.triple(at)] } else { 0 };
        while place > oldest && best_len < rest.len() {
            let t = place as usize - 1 - base;
            if dictionary.get(t + best_len) == Some(&rest[best_len]) && dictionary[t] == rest[0] {
                // Two runs of the same byte differ where the shorter one ends.
                let other = (self.runs[place as usize - 1] as usize).min(DICTIONARY - t);
                let shorter = run.min(other).min(rest.len());
                let len =
                    if run == other { shorter + common(&dictionary[t + shorter..], &rest[shorter..]) } else { shorter };
                if len > best_len {
                    (best, best_len) = (t, len);
                }
            }
            place = self.before[place as usize - 1];
        }
        for t in 0..magic {
            if best_len < rest.len() && dictionary.get(t + best_len) == Some(&rest[best_len]) {
                let len = common(&dictionary[t..], rest);
                if len > best_len {
                    (best, best_len) = (t, len);
                }
            }
        }
        (best, best_len)
    }
}

/// The number of equal bytes at the beginning of both.
fn common(left: &[u8], right: &[u8]) -> usize {
    let (mut lefts, mut rights) = (left.chunks_exact(8), right.chunks_exact(8));
    let mut equal = 0;
    for (left, right) in lefts.by_ref().zip(rights.by_ref()) {
        if left != right {
            break;
        }
        equal += 8;
    }
    equal + left[equal..].iter().zip(&right[equal..]).take_while(|(left, right)| left == right).count()
}
