//! Decodes `.Z` files piece by piece.
//!
//! The string of a code lies in the text: it begins where an older code's string begins and is
//! one byte longer. The decoder therefore keeps the text since the last clear while the table grows, and copies strings
//! from it once the table is full. That is 0.5 MB for most texts. But 65,280 codes can stand for 2 GB: if the text
//! outgrows [`MAX_KEPT`], the table is converted to the links that other decoders use from the start ([`Links`]), which
//! are bounded, and slower.

use super::copy::{SLACK, between, eight, string};
use super::links::{Links, unknown};
use crate::error::Error;
use crate::flaw::Flaw;
use crate::formats::lzw::header::{CLEAR, HEADER_LEN, Header, MIN_BITS};

/// The max length of the text kept. A string can be 64 KiB, so this must be several times as much.
const MAX_KEPT: usize = 2 << 20;
/// The number of codes in a group; the width can change only after a whole group.
const GROUP: usize = 8;
/// The memory for the longest string, and for the bytes that a fast copy writes after it.
const ROOM: usize = (1 << 16) + SLACK;

/// Decodes a `.Z` stream.
#[derive(Debug, Default)]
pub struct StreamDecoder {
    header: Option<Header>,
    /// A code has been decoded: a stream must not begin with a clear.
    begun: bool,
    /// The number of codes since the last clear, not counting those that add nothing to the full table.
    number: usize,
    /// For each of these codes, the position in `kept` at which its string begins.
    starts: Vec<u32>,
    /// The codes themselves.
    codes: Vec<u16>,
    /// The text since the last clear while the table grows, and unused memory after it.
    kept: Vec<u8>,
    kept_len: usize,
    /// The table in the form used when that text is too long.
    links: Option<Box<Links>>,
}

/// Codes number `from .. to` in `coded`.
struct Codes<'a> {
    coded: &'a [u8],
    width: u32,
    from: usize,
    to: usize,
}

impl Codes<'_> {
    #[inline(always)]
    fn get(&self, number: usize) -> u32 {
        let at = number * self.width as usize;
        (u64::from_le_bytes(eight(self.coded, at / 8)) >> (at % 8)) as u32 & ((1 << self.width) - 1)
    }
}

/// The result of decoding some codes.
struct Step {
    /// The number of the next code.
    done: usize,
    /// The last code clears the table.
    cleared: bool,
}

/// A bad code: its number, and why.
type Wrong = (usize, Flaw);

/// The text, and its length at which decoding may stop.
struct TextGoal<'a> {
    text: &'a mut Vec<u8>,
    max: usize,
}

impl TextGoal<'_> {
    /// Whether to decode another code after `done` codes: decoding stops at the end of a group, once there is enough
    /// text.
    fn more(&self, done: usize) -> bool {
        self.text.len() < self.max || !done.is_multiple_of(GROUP)
    }
}

impl StreamDecoder {
    /// A new decoder, at the beginning of a stream.
    pub fn new() -> StreamDecoder {
        StreamDecoder::default()
    }

    /// Decodes bytes of a stream from byte `begin` on, and appends its text to `text` until `text` has `max` bytes, or
    /// a few strings more. Returns how many bytes were consumed; the others must be passed again. `last` says that no
    /// more bytes follow.
    ///
    /// # Errors
    /// What is wrong with the stream. `text` then has the text before the error.
    pub fn decode(
        &mut self,
        coded: &[u8],
        begin: u64,
        last: bool,
        text: &mut Vec<u8>,
        max: usize,
    ) -> Result<usize, Error> {
        let mut at = 0;
        let header = match self.header {
            Some(header) => header,
            None if coded.len() < HEADER_LEN && !last => return Ok(0),
            None => {
                at = HEADER_LEN;
                *self.header.insert(Header::parse(coded)?)
            }
        };
        while text.len() < max {
            let (width, same) = self.width(header);
            let rest = &coded[at..];
            let there = if last { rest.len() * 8 / width as usize } else { rest.len() / width as usize * GROUP };
            let codes = Codes { coded: rest, width, from: 0, to: there.min(same) };
            if codes.to == 0 {
                return Ok(if last { coded.len() } else { at });
            }
            let done = self.run(header, codes, &mut TextGoal { text, max }).map_err(|(code, flaw)| {
                Error::damaged(1, (begin + at as u64) * 8 + (code * width as usize) as u64, flaw)
            })?;
            // The last group before a change of width is padded. The very last one may be cut.
            at = (at + done.div_ceil(GROUP) * width as usize).min(coded.len());
        }
        Ok(at)
    }

    /// The number of bytes of memory that the decoder holds.
    #[cfg(test)]
    pub fn memory(&self) -> usize {
        let links = self.links.as_ref().map_or(0, |links| links.memory());
        self.kept.capacity() + 4 * self.starts.capacity() + 2 * self.codes.capacity() + links
    }

    /// The width of the next code, and the number of codes of that width.
    fn width(&self, header: Header) -> (u32, usize) {
        let base = header.first() as usize - 1;
        let width = (usize::BITS - (base + self.number).leading_zeros()).clamp(MIN_BITS, header.max_bits);
        let same = if width == header.max_bits { usize::MAX } else { (1 << width) - base - self.number };
        (width, same)
    }

    /// Decodes codes of one width until a clear, or until there is enough text. Returns how many.
    fn run(&mut self, header: Header, mut codes: Codes<'_>, wanted: &mut TextGoal<'_>) -> Result<usize, Wrong> {
        while codes.from < codes.to && wanted.more(codes.from) {
            let step = match &mut self.links {
                _ if self.number > header.table_len() && header.max_bits == MIN_BITS => {
                    // gzip and ncompress would continue with 10 bits here, and ncompress with 9 when compressing.
                    return Err((codes.from, Flaw::LzwTable));
                }
                Some(links) => {
                    let step = links_step(links, header, &codes, wanted)?;
                    self.number = (self.number + step.done - codes.from).min(header.table_len() + 1);
                    step
                }
                None if self.number <= header.table_len() => self.grow(header, &codes, wanted)?,
                None => self.copy(header, &codes, wanted),
            };
            codes.from = step.done;
            if step.cleared {
                (self.number, self.kept_len, self.links) = (0, 0, None);
                break;
            }
        }
        Ok(codes.from)
    }

    /// Decodes codes while the table grows.
    fn grow(&mut self, header: Header, codes: &Codes<'_>, wanted: &mut TextGoal<'_>) -> Result<Step, Wrong> {
        // The codes that add to the table, and one more, which completes the last string.
        let to = codes.to.min(codes.from + header.table_len() + 1 - self.number);
        let count = self.number + to - codes.from;
        if self.starts.len() < count {
            self.starts.resize(count, 0);
            self.codes.resize(count, 0);
        }
        let from = self.kept_len;
        let enough = from + wanted.max.saturating_sub(wanted.text.len());
        let mut step = Step { done: codes.from, cleared: false };
        let mut outcome = Ok(());
        while step.done < to && (self.kept_len < enough || !step.done.is_multiple_of(GROUP)) {
            if self.kept.len() < self.kept_len + ROOM {
                if self.kept_len > MAX_KEPT {
                    break;
                }
                // Most files are small, so the buffer starts small and doubles.
                let len = (2 * self.kept.len()).clamp(self.kept_len + ROOM, MAX_KEPT + 2 * ROOM);
                self.kept.resize(len, 0);
            }
            let code = codes.get(step.done);
            if code == CLEAR && header.block_mode && self.begun {
                step = Step { done: step.done + 1, cleared: true };
                break;
            }
            if let Err(damage) = self.add(header.first(), code) {
                outcome = Err((step.done, damage));
                break;
            }
            step.done += 1;
        }
        wanted.text.extend_from_slice(&self.kept[from..self.kept_len]);
        if self.kept_len > MAX_KEPT && self.number <= header.table_len() && !step.cleared {
            self.links = Some(Box::new(self.link()));
        }
        outcome.map(|()| step)
    }

    /// Decodes a code, and adds an entry to the table.
    #[inline(always)]
    fn add(&mut self, first: u32, code: u32) -> Result<(), Flaw> {
        let (number, to) = (self.number, self.kept_len);
        self.starts[number] = to as u32;
        self.codes[number] = code as u16;
        if code < 256 {
            self.kept[to] = code as u8;
            self.kept_len += 1;
        } else {
            let entry = code.wrapping_sub(first) as usize;
            if entry >= number {
                return Err(unknown(code, first, number));
            }
            let (from, next) = (self.starts[entry] as usize, self.starts[entry + 1] as usize);
            let len = next - from + 1;
            string(&mut self.kept, from, to, len);
            self.kept_len += len;
        }
        self.begun = true;
        self.number += 1;
        Ok(())
    }

    /// Decodes codes once the table is full.
    fn copy(&self, header: Header, codes: &Codes<'_>, wanted: &mut TextGoal<'_>) -> Step {
        let mut step = Step { done: codes.from, cleared: false };
        let mut to = wanted.text.len();
        while step.done < codes.to && (to < wanted.max || !step.done.is_multiple_of(GROUP)) {
            if wanted.text.len() < to + ROOM {
                wanted.text.resize(to + 2 * ROOM, 0);
            }
            let code = codes.get(step.done);
            step.done += 1;
            if code < 256 {
                wanted.text[to] = code as u8;
                to += 1;
            } else if code == CLEAR && header.block_mode {
                step.cleared = true;
                break;
            } else {
                let entry = (code - header.first()) as usize;
                let (from, next) = (self.starts[entry] as usize, self.starts[entry + 1] as usize);
                let len = next - from + 1;
                between(&self.kept[from..], &mut wanted.text[to..], len);
                to += len;
            }
        }
        wanted.text.truncate(to);
        step
    }

    /// Converts the table to links.
    fn link(&self) -> Links {
        let last = self.number - 1;
        let starts = &self.starts[..=last];
        let strings = starts.windows(2).map(|pair| (pair[1] - pair[0] + 1, self.kept[pair[1] as usize]));
        Links::new(&self.codes[..=last], self.kept[starts[last] as usize], strings)
    }
}

/// Decodes codes with links.
fn links_step(links: &mut Links, header: Header, codes: &Codes<'_>, wanted: &mut TextGoal<'_>) -> Result<Step, Wrong> {
    let mut done = codes.from;
    while done < codes.to && wanted.more(done) {
        let code = codes.get(done);
        if code == CLEAR && header.block_mode {
            return Ok(Step { done: done + 1, cleared: true });
        }
        links.decode(header, code, wanted.text).map_err(|damage| (done, damage))?;
        done += 1;
    }
    Ok(Step { done, cleared: false })
}
