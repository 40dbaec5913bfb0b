//! Parses LZ4 frames incrementally, as their bytes come.

use crate::flaw::Flaw;
use crate::formats::lz4::header::{Header, LEGACY_BOUND, LEGACY_MAGIC, MAGIC, MAX_HEADER_LEN, SKIPPABLE_TAIL, STORED};
use crate::stream::piece::StreamEndDetector;

/// The next part of the input.
#[derive(Debug, PartialEq, Eq)]
pub enum FramePart<'a> {
    /// All bytes are consumed; more are needed.
    Need,
    /// A frame begins.
    Frame(Header),
    /// A block begins.
    Block {
        /// The number of its bytes.
        len: u32,
        /// Whether these bytes are the text itself, not coded.
        stored: bool,
    },
    /// Bytes of the block, at least one.
    Data(&'a [u8]),
    /// The block ends, with its checksum if the frame has them.
    BlockEnd(Option<u32>),
    /// The frame ends, with the checksum of its text if it has one.
    End(Option<u32>),
    /// A skippable frame ends.
    Skipped,
    /// There is no frame; these bytes were consumed.
    Other(Vec<u8>),
    /// A frame's header is invalid.
    Wrong(Flaw),
    /// A block has more bytes than the frame allows.
    TooLong(u32),
}

/// The state in which the input ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Between frames.
    Clean,
    /// A possible end of a legacy frame.
    Legacy,
    /// In a possible magic, after this many bytes of it. The flag says that they can only be the magic of a frame.
    Magic(usize, bool),
    /// In the middle of a frame.
    Cut,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum WalkState {
    /// Before or in a magic.
    #[default]
    Magic,
    Header,
    /// Before or in a block's length.
    Length,
    /// This many bytes of the block are left.
    Data(u32),
    BlockChecksum,
    TextChecksum,
    SkippableLength,
    Skip(u32),
    /// Nothing more can be parsed.
    Lost,
}

/// The parser.
#[derive(Debug, Default)]
pub struct Walker {
    state: WalkState,
    /// The bytes of an incomplete field.
    head: [u8; MAX_HEADER_LEN],
    head_len: usize,
    frame: Header,
    /// The number of bytes consumed.
    at: u64,
}

impl Walker {
    /// The number of bytes of the input consumed.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Consumes bytes up to the next part.
    pub fn next<'a>(&mut self, bytes: &mut &'a [u8]) -> FramePart<'a> {
        loop {
            let part = match self.state {
                WalkState::Magic => self.magic(bytes),
                WalkState::Header => self.header(bytes),
                WalkState::Length => self.length(bytes),
                WalkState::Data(left) => return self.data(left, bytes),
                state @ (WalkState::BlockChecksum | WalkState::TextChecksum | WalkState::SkippableLength) => {
                    if !self.fill(4, bytes) {
                        return FramePart::Need;
                    }
                    let number = self.number();
                    let (next, part) = match state {
                        WalkState::BlockChecksum => (WalkState::Length, Some(FramePart::BlockEnd(Some(number)))),
                        WalkState::TextChecksum => (WalkState::Magic, Some(FramePart::End(Some(number)))),
                        _ => (WalkState::Skip(number), None),
                    };
                    self.state = next;
                    part
                }
                WalkState::Skip(0) => {
                    self.state = WalkState::Magic;
                    Some(FramePart::Skipped)
                }
                WalkState::Skip(left) => {
                    let taken = self.take(left, bytes).len() as u32;
                    if taken == 0 {
                        return FramePart::Need;
                    }
                    self.state = WalkState::Skip(left - taken);
                    None
                }
                WalkState::Lost => {
                    let _ = self.take(u32::MAX, bytes);
                    return FramePart::Need;
                }
            };
            if let Some(part) = part {
                return part;
            }
        }
    }

    /// Whether some bytes of a possible magic are consumed.
    pub fn is_in_magic(&self) -> bool {
        self.state == WalkState::Magic && self.head_len > 0
    }

    /// The state in which the input ends, if it ends here.
    pub fn ending(&self) -> Ending {
        match self.state {
            WalkState::Magic if self.head_len == 0 => Ending::Clean,
            WalkState::Magic => {
                let head = &self.head[..self.head_len];
                Ending::Magic(self.head_len, MAGIC.starts_with(head) || LEGACY_MAGIC.starts_with(head))
            }
            WalkState::Length if self.head_len == 0 && self.frame.legacy => Ending::Legacy,
            WalkState::Lost => Ending::Clean,
            _ => Ending::Cut,
        }
    }

    /// Reads more of a field of `n` bytes. Returns whether the field is complete.
    fn fill(&mut self, n: usize, bytes: &mut &[u8]) -> bool {
        let some = self.take((n - self.head_len) as u32, bytes);
        self.head[self.head_len..self.head_len + some.len()].copy_from_slice(some);
        self.head_len += some.len();
        self.head_len == n
    }

    /// The complete field of four bytes, as a number.
    fn number(&mut self) -> u32 {
        self.head_len = 0;
        let [a, b, c, d, ..] = self.head;
        u32::from_le_bytes([a, b, c, d])
    }

    fn take<'a>(&mut self, n: u32, bytes: &mut &'a [u8]) -> &'a [u8] {
        let (some, rest) = bytes.split_at(bytes.len().min(n as usize));
        *bytes = rest;
        self.at += some.len() as u64;
        some
    }

    fn magic<'a>(&mut self, bytes: &mut &[u8]) -> Option<FramePart<'a>> {
        if !self.fill(4, bytes) {
            return Some(FramePart::Need);
        }
        let magic = &self.head[..4];
        if magic == MAGIC {
            self.state = WalkState::Header;
        } else if magic == LEGACY_MAGIC {
            self.head_len = 0;
            self.frame = Header::LEGACY;
            self.state = WalkState::Length;
            return Some(FramePart::Frame(self.frame));
        } else if magic[0] & 0xf0 == 0x50 && magic[1..] == SKIPPABLE_TAIL {
            self.head_len = 0;
            self.state = WalkState::SkippableLength;
        } else {
            self.state = WalkState::Lost;
            return Some(FramePart::Other(magic.to_vec()));
        }
        None
    }

    fn header<'a>(&mut self, bytes: &mut &[u8]) -> Option<FramePart<'a>> {
        if self.head_len < 5 && !self.fill(5, bytes) || !self.fill(Header::len(self.head[4]), bytes) {
            return Some(FramePart::Need);
        }
        let header = Header::parse(&self.head[..self.head_len]);
        self.head_len = 0;
        Some(match header {
            Ok(header) => {
                self.frame = header;
                self.state = WalkState::Length;
                FramePart::Frame(header)
            }
            Err(flaw) => {
                self.state = WalkState::Lost;
                FramePart::Wrong(flaw)
            }
        })
    }

    fn length<'a>(&mut self, bytes: &mut &[u8]) -> Option<FramePart<'a>> {
        if !self.fill(4, bytes) {
            return Some(FramePart::Need);
        }
        let word = self.number();
        if self.frame.legacy {
            if word > LEGACY_BOUND {
                // These bytes may be a magic.
                self.head_len = 4;
                self.state = WalkState::Magic;
                return Some(FramePart::End(None));
            }
            self.state = WalkState::Data(word);
            return Some(FramePart::Block { len: word, stored: false });
        }
        if word == 0 {
            if self.frame.text_checksum {
                self.state = WalkState::TextChecksum;
                return None;
            }
            self.state = WalkState::Magic;
            return Some(FramePart::End(None));
        }
        let (len, stored) = (word & !STORED, word & STORED != 0);
        if len > self.frame.max_block_len() {
            self.state = WalkState::Lost;
            return Some(FramePart::TooLong(len));
        }
        self.state = WalkState::Data(len);
        Some(FramePart::Block { len, stored })
    }

    fn data<'a>(&mut self, left: u32, bytes: &mut &'a [u8]) -> FramePart<'a> {
        if left > 0 {
            let some = self.take(left, bytes);
            self.state = WalkState::Data(left - some.len() as u32);
            return if some.is_empty() { FramePart::Need } else { FramePart::Data(some) };
        }
        if self.frame.block_checksums {
            self.state = WalkState::BlockChecksum;
            return self.next(bytes);
        }
        self.state = WalkState::Length;
        FramePart::BlockEnd(None)
    }
}

/// A frame states the length of each of its blocks, and ends after the last one; a frame found damaged ends too, since
/// the joiner then returns the error. A legacy frame does not tell which block is the last, so all bytes are taken.
impl StreamEndDetector for Walker {
    fn take(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut rest = bytes;
        loop {
            match self.next(&mut rest) {
                FramePart::Need => return None,
                // The bytes that end a legacy frame belong to the data after it.
                FramePart::End(None) if self.is_in_magic() => {}
                FramePart::End(_) | FramePart::Other(_) | FramePart::Wrong(_) | FramePart::TooLong(_) => {
                    return Some(bytes.len() - rest.len());
                }
                _ => {}
            }
        }
    }
}
