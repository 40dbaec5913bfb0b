//! What the targets share: a pool, bounded decoding, and texts.

use hybz::{Pool, Settings, write};
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::sync::OnceLock;

/// At most this much text is decoded. Decoders must not need more memory for more text.
pub const MAX_TEXT: usize = 4 << 20;

/// A pool of two threads, with the memory of the first call.
pub fn pool(memory: u64) -> &'static Pool {
    static POOL: OnceLock<Pool> = OnceLock::new();
    POOL.get_or_init(|| Pool::builder().threads(NonZeroUsize::new(2).unwrap()).memory(memory).build())
}

/// Settings with that pool.
pub fn settings(memory: u64) -> Settings {
    Settings::new().pool(pool(memory))
}

/// A writer that fails after `MAX_TEXT` bytes.
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let room = MAX_TEXT - self.0.len();
        self.0.extend_from_slice(&buf[..buf.len().min(room)]);
        if buf.len() > room { Err(io::ErrorKind::StorageFull.into()) } else { Ok(buf.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The text of a file that comes in pieces of this length, up to `MAX_TEXT` or to an error.
pub fn decoded(file: &[u8], piece: usize, settings: &Settings) -> (Vec<u8>, io::Result<()>) {
    let mut decoder = write::MultiBzDecoder::with_settings(Bounded(Vec::new()), settings);
    let outcome = file.chunks(piece).try_for_each(|piece| decoder.write_all(piece)).and_then(|()| decoder.try_finish());
    (std::mem::take(&mut decoder.get_mut().0), outcome)
}

/// The length of the longest text of a recipe.
const MAX_LEN: usize = 110_000;

/// The level and the text of a short recipe, so that a fuzzer's few hundred bytes reach the limits of blocks, long runs
/// and periods. Its first byte chooses the level. After that, each byte below 0xF0 stands for itself. The others are
/// commands, followed by numbers: 0xF0 to 0xF3 repeat the last byte, 0xF4 to 0xF7 repeat the last few bytes as a word,
/// 0xF8 copies from further back, 0xF9 fills up to about a block's limit, 0xFA escapes any byte.
pub fn cooked(recipe: &[u8]) -> (u8, Vec<u8>) {
    let mut bytes = recipe.iter().copied();
    // Mostly level 1, whose blocks are small.
    let first = bytes.next().unwrap_or(0);
    let level = if first < 224 { 1 } else { first % 9 + 1 };
    let mut text: Vec<u8> = Vec::new();
    while let Some(byte) = bytes.next() {
        let mut number = || usize::from(bytes.next().unwrap_or(0));
        match byte {
            0xf0..=0xf3 => {
                let last = text.last().copied().unwrap_or(0);
                let times = number() << (2 * (byte - 0xf0));
                text.resize((text.len() + times).min(MAX_LEN), last);
            }
            0xf4..=0xf7 => {
                let word = text[text.len().saturating_sub(number())..].to_vec();
                let times = number() << (2 * (byte - 0xf4));
                for _ in 0..times {
                    if text.len() + word.len() > MAX_LEN {
                        break;
                    }
                    text.extend_from_slice(&word);
                }
            }
            0xf8 => {
                let back = number() << 8 | number();
                let start = text.len().saturating_sub(back);
                let end = (start + number()).min(text.len());
                text.extend_from_within(start..end);
            }
            0xf9 => {
                let upto = 99_981 - 128 + number();
                let alphabet = number() as u8 | 1;
                let mut x = text.len() as u32 | 1;
                while text.len() < upto {
                    x ^= x << 13;
                    x ^= x >> 17;
                    x ^= x << 5;
                    text.push((x >> 8) as u8 % alphabet);
                }
            }
            0xfa => text.push(number() as u8),
            literal => text.push(literal),
        }
        text.truncate(MAX_LEN);
    }
    (level, text)
}
