//! Finds the blocks of frames.

use super::relay::{self, History};
use super::tasks::{DECODE_LZ4, DecodeLz4};
use crate::flaw::Flaw;
use crate::formats::lz4::block::{Blocks, DecodedBlocks, ToDecode};
use crate::formats::lz4::header::{Header, WINDOW};
use crate::formats::lz4::walk::{Ending, FramePart, Walker};
use crate::stream::piece::{Cut, Extent, Input, Piece};
use crate::stream::relay::Relay;
use hybz_queue::{Client, Ticket};
use std::collections::VecDeque;
use std::sync::Arc;

/// The size of one read: half a megabyte of text in most files, which is one job.
const CHUNK: usize = 256 << 10;
/// The maximum text of a job with more than one block, and the maximum number of blocks.
const MAX_TEXT: usize = 2 << 20;
const MAX_BLOCKS: usize = 1024;

/// The items that the scanner found, in order.
pub(super) enum ScannedItem {
    /// Blocks, and for linked blocks the relay to their decoder. The flag says that the checksum of the text is
    /// wanted.
    Blocks(Blocks, Option<Arc<Relay<History>>>, bool),
    Other(Rest),
}

/// The other things that the scanner found.
pub(super) enum Rest {
    /// A frame ends.
    End(FrameEnd),
    /// The data that begin at this byte are damaged.
    Wrong(u64, Flaw),
    /// The input ends in the middle of a frame, at this byte.
    Cut(u64),
    /// Data that are not a frame begin at this byte.
    Garbage(u64),
    /// A skippable frame ends here.
    Skipped(u64),
}

/// The data that follow the blocks of a frame.
pub(super) struct FrameEnd {
    pub header: Header,
    pub checksum: Option<u32>,
    /// Their start.
    pub at: u64,
    /// The end of the frame.
    pub end: u64,
}

/// An item that has been issued.
pub(super) enum IssuedFound {
    Blocks { ticket: Ticket<DecodedBlocks>, count: u64, hashed: bool },
    Other(Rest),
}

impl Piece for ScannedItem {
    type Issued = IssuedFound;

    /// The memory for the bytes, the text, and the part of the text that linked blocks keep.
    fn charge(&self) -> u64 {
        let ScannedItem::Blocks(blocks, relay, _) = self else { return 0 };
        let text: usize = blocks.blocks.iter().map(|b| blocks.max_text(b.range.len(), b.stored)).sum();
        (blocks.bytes.capacity() + text + if relay.is_some() { 2 * WINDOW } else { 0 }) as u64
    }

    fn issue(self, client: &Client) -> IssuedFound {
        match self {
            ScannedItem::Blocks(blocks, relay, hashed) => {
                let count = blocks.blocks.len() as u64;
                let ticket = match relay {
                    Some(relay) => relay::add(&relay, blocks, client.submitter()),
                    None => {
                        let task = DecodeLz4 { blocks, history: Arc::default() };
                        let bytes = task.bytes();
                        client.task(task).class(DECODE_LZ4, bytes).submit()
                    }
                };
                IssuedFound::Blocks { ticket, count, hashed }
            }
            ScannedItem::Other(rest) => IssuedFound::Other(rest),
        }
    }
}

/// Finds blocks.
#[derive(Default)]
pub(super) struct Scanner {
    walker: Walker,
    chunk: usize,
    room: Vec<u8>,
    extent: Extent,
    header: Header,
    relay: Option<Arc<Relay<History>>>,
    /// The blocks that are gathered for one job.
    blocks: Blocks,
    /// The maximum length of their text.
    text: usize,
    /// For an incomplete block: its start in the input and in `blocks`, and whether it is stored.
    open: Option<(u64, usize, bool)>,
    /// The maximum length of its text.
    open_text: usize,
    /// The end of the last frame.
    frame_end: u64,
    frames: u64,
    done: bool,
    ready: VecDeque<ScannedItem>,
}

impl Scanner {
    pub fn new(chunk: Option<usize>, extent: Extent) -> Scanner {
        Scanner { chunk: chunk.unwrap_or(CHUNK).max(1), extent, ..Scanner::default() }
    }

    /// Hands on the complete blocks.
    fn push(&mut self) {
        if self.blocks.blocks.is_empty() {
            return;
        }
        // The bytes of an incomplete block stay.
        let start = self.open.map_or(self.blocks.bytes.len(), |(_, from, _)| from);
        let rest = self.blocks.bytes.split_off(start);
        if let Some((_, from, _)) = &mut self.open {
            *from = 0;
        }
        let next = Blocks { bytes: rest, ..self.empty() };
        let mut blocks = std::mem::replace(&mut self.blocks, next);
        blocks.bytes.shrink_to(2 * blocks.bytes.len());
        self.text = if self.open.is_some() { self.open_text } else { 0 };
        self.ready.push_back(ScannedItem::Blocks(blocks, self.relay.clone(), self.header.text_checksum));
    }

    fn empty(&self) -> Blocks {
        let block_size = self.header.block_size as usize;
        Blocks { bytes: Vec::new(), blocks: Vec::new(), block_size, linked: self.header.linked }
    }

    fn other(&mut self, rest: Rest) {
        self.push();
        self.done = matches!(rest, Rest::Wrong(..) | Rest::Cut(_) | Rest::Garbage(_));
        self.ready.push_back(ScannedItem::Other(rest));
    }

    fn part(&mut self, part: FramePart<'_>) {
        let at = self.walker.at();
        match part {
            FramePart::Need => {}
            FramePart::Frame(header) => {
                self.header = header;
                self.relay = header.linked.then(|| Relay::new(History::default()));
                self.blocks = self.empty();
            }
            FramePart::Block { len, stored } => {
                let text = self.blocks.max_text(len as usize, stored);
                if self.text + text > MAX_TEXT || self.blocks.blocks.len() == MAX_BLOCKS {
                    self.push();
                }
                self.text += text;
                self.open_text = text;
                self.open = Some((at - 4, self.blocks.bytes.len(), stored));
            }
            FramePart::Data(bytes) => self.blocks.bytes.extend_from_slice(bytes),
            FramePart::BlockEnd(checksum) => {
                if let Some((at, from, stored)) = self.open.take() {
                    let range = from..self.blocks.bytes.len();
                    self.blocks.blocks.push(ToDecode { range, stored, checksum, at });
                }
            }
            FramePart::End(checksum) => {
                let end = if self.walker.is_in_magic() { at - 4 } else { at };
                let len = match checksum {
                    Some(_) => 8,
                    None if self.header.legacy => 0,
                    None => 4,
                };
                self.frames += 1;
                self.frame_end = end;
                self.other(Rest::End(FrameEnd { header: self.header, checksum, at: end - len, end }));
                self.done = self.extent.is_reached(self.frames);
            }
            FramePart::Skipped => {
                self.frame_end = at;
                self.other(Rest::Skipped(at));
            }
            FramePart::Other(head) => self.other(Rest::Garbage(at - head.len() as u64)),
            FramePart::Wrong(flaw) => self.other(Rest::Wrong(self.frame_end, flaw)),
            FramePart::TooLong(len) => {
                let max = self.header.max_block_len();
                self.other(Rest::Wrong(at - 4, Flaw::Lz4Length { len, max }));
            }
        }
    }
}

impl Input for Scanner {
    fn room(&mut self) -> &mut [u8] {
        self.room.resize(self.chunk, 0);
        &mut self.room
    }

    fn filled(&mut self, n: usize) {
        let room = std::mem::take(&mut self.room);
        let mut bytes = &room[..n];
        while !self.done {
            match self.walker.next(&mut bytes) {
                FramePart::Need => break,
                part => self.part(part),
            }
        }
        self.room = room;
        self.push();
    }

    /// Complete blocks are handed on with the read that completes them.
    fn rests(&self) -> bool {
        self.open.is_none()
    }

    fn finish(&mut self) {
        if self.done {
            return;
        }
        let at = self.walker.at();
        match self.walker.ending() {
            Ending::Clean => {}
            Ending::Legacy => {
                self.other(Rest::End(FrameEnd { header: self.header, checksum: None, at, end: at }));
            }
            // No data of another format begin like this.
            Ending::Magic(len, true) if at == len as u64 => self.other(Rest::Cut(at)),
            Ending::Magic(len, _) => self.other(Rest::Garbage(at - len as u64)),
            Ending::Cut => self.other(Rest::Cut(at)),
        }
    }
}

impl Cut for Scanner {
    type Piece = ScannedItem;

    fn next_piece(&mut self) -> Option<ScannedItem> {
        self.ready.pop_front()
    }
}
