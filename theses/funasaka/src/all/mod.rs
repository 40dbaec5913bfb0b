//! ALL, Shunji Funasaka's format for decoding on GPUs (2018, section 5.1), for his tables alone: no other program reads
//! or writes it.
//!
//! A strip is 65,536 bytes of text, coded alone. Its words have one byte, or two: 12 bits `t` and 4 bits `l`. A code is
//! one or two words (table 5.1):
//!
//! ```text
//! SC   single character   c         one byte
//! SRL  short run-length   4095 l    the previous character, l + 2 times (2 to 16)
//! SI   short interval     t l       l + 2 bytes of the dictionary from t on
//! LRL  long run-length    4095 15 c as SRL and SI, with c + 18 (18 to 64) or, from c = 47 on, 16 c - 672 bytes
//! LI   long interval      t 15 c    (80 to 3,408)
//! ```
//!
//! A segment is 32 words (the last one of a strip may have fewer), with a dictionary of its own: the 4,096 bytes of
//! text before the segment, with zeros before the strip, and a magic string in place of the first of them. So a code
//! needs nothing of the other codes of its segment except, for a run, the previous character.
//!
//! The thesis gives every field; its figures 5.2 and 5.3, with the order of the fields, are missing in the text that we
//! have. The following is our choice, each time the simplest. Numbers are little-endian, bits begin with the lowest,
//! and each row begins at a byte:
//!
//! ```text
//! file    u32 strips - 1 | for each u16: bytes of its block - 1, or 65535: a raw strip | the blocks
//! block   u16 words - 1 | u16 bytes of the words - 1 | u16: 11 bits number of magic strings, 1 bit predictor, 4 bits 0
//!         1 bit for each word: whether it has two bytes
//!         1 bit for each segment: whether it has a magic string
//!         12 bits for each magic string: its length - 1
//!         the words: a byte c, or a u16 with t above l
//!         the magic strings
//! ```
//!
//! Also open in the text, and chosen so: a code's words are in one segment, so the last word of a segment begins no
//! code of two words. The previous character of a strip's first code is 0. A raw strip at the end takes what is left
//! of the file, so it may be short; an empty text is one raw strip without bytes. The length of a coded strip is that
//! of its codes; all but the last must have 65,536.
//!
//! `encode.rs` says how codes are chosen (5.1.6). `theses/funasaka/cuda/all.cu` has the kernels.

mod decode;
mod encode;
mod magic;
#[cfg(test)]
mod tests;

pub use decode::decode;
pub use encode::{Options, encode};

/// The number of bytes of text in a strip.
pub const STRIP: usize = 1 << 16;
/// The number of words in a segment.
const WORDS: usize = 32;
const DICTIONARY: usize = 4096;
/// The `t` of run-length codes, and the `l` of codes with two words.
const RUN: usize = 4095;
const TWO_WORDS: usize = 15;
/// The strip bytes of a raw strip.
const RAW: u16 = u16::MAX;
/// The bytes of a block's first row.
const HEAD: usize = 6;
/// The longest text of a code with one word, and of any.
const MAX_SHORT: usize = 16;
const MAX_LONG: usize = 3408;

/// The kinds of codes, in the order of table 5.5.
pub const KINDS: [&str; 5] = ["SC", "SI", "LI", "SRL", "LRL"];

/// What became of a text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// The number of codes of each kind, and the number of bytes of text that they stand for.
    pub codes: [u64; 5],
    pub bytes: [u64; 5],
    pub strips: u64,
    /// Of these: stored raw, and coded after the predictor.
    pub raw: u64,
    pub predicted: u64,
    /// Magic strings and their bytes.
    pub magic: u64,
    pub magic_bytes: u64,
}

impl Counts {
    fn add(&mut self, code: Code) {
        let long = usize::from(code.len() > MAX_SHORT);
        let kind = match code {
            Code::Single(_) => 0,
            Code::Interval(..) => 1 + long,
            Code::Run(_) => 3 + long,
        };
        self.codes[kind] += 1;
        self.bytes[kind] += code.len() as u64;
    }

    fn add_all(&mut self, other: &Counts) {
        for kind in 0..KINDS.len() {
            self.codes[kind] += other.codes[kind];
            self.bytes[kind] += other.bytes[kind];
        }
        self.strips += other.strips;
        self.raw += other.raw;
        self.predicted += other.predicted;
        self.magic += other.magic;
        self.magic_bytes += other.magic_bytes;
    }
}

/// A code of table 5.1.
#[derive(Clone, Copy, Debug)]
enum Code {
    Single(u8),
    /// The length of the text.
    Run(usize),
    /// The place in the dictionary, and the length.
    Interval(usize, usize),
}

impl Code {
    fn len(self) -> usize {
        match self {
            Code::Single(_) => 1,
            Code::Run(len) | Code::Interval(_, len) => len,
        }
    }

    fn words(self) -> usize {
        1 + usize::from(self.len() > MAX_SHORT)
    }
}

/// The length that the second word `c` of a code gives it.
fn long_length(c: u8) -> usize {
    let c = usize::from(c);
    if c <= 46 { c + 18 } else { 16 * c - 672 }
}

/// The greatest length of a code of at most `words` words that is not above `len`.
fn codable(len: usize, words: usize) -> usize {
    match len {
        0..=MAX_SHORT => len,
        17 => MAX_SHORT,
        _ if words < 2 => MAX_SHORT,
        18..=64 => len,
        65..80 => 64,
        _ => len.min(MAX_LONG) & !15,
    }
}

/// The block of each strip of a file, and whether it is raw. `None` if the header does not fit the file.
pub fn blocks(file: &[u8]) -> Option<Vec<(&[u8], bool)>> {
    let (count, rest) = file.split_first_chunk()?;
    let count = u32::from_le_bytes(*count) as usize + 1;
    let (sizes, mut rest) = rest.split_at_checked(count.checked_mul(2)?)?;
    let mut blocks = Vec::with_capacity(count);
    for (number, size) in sizes.chunks_exact(2).enumerate() {
        let size = u16::from_le_bytes([size[0], size[1]]);
        let bytes = usize::from(size) + 1;
        let bytes = if size == RAW && number + 1 == count { bytes.min(rest.len()) } else { bytes };
        let (block, after) = rest.split_at_checked(bytes)?;
        blocks.push((block, size == RAW));
        rest = after;
    }
    rest.is_empty().then_some(blocks)
}

/// Calls `f` for all items on all cores, and returns the results in order.
pub fn on_cores<T: Send, R: Send>(items: Vec<T>, f: impl Fn(T) -> R + Sync) -> Vec<R> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let queue = std::sync::Mutex::new(items.into_iter().enumerate());
    let work = || {
        let next = || queue.lock().expect("no panic while locked").next();
        std::iter::from_fn(next).map(|(number, item)| (number, f(item))).collect::<Vec<_>>()
    };
    let mut all: Vec<(usize, R)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a thread that does not panic")).collect()
    });
    all.sort_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, result)| result).collect()
}
