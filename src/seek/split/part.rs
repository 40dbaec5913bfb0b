//! Follows the blocks of a part of a `.bz2` file: the chain of `formats::bzip2::stream`, with a start and a stop.

use super::Source;
use super::around::{Answer, REACH, ask};
use crate::block::Text;
use crate::error::Error;
use crate::format::Format;
use crate::formats::bzip2::stream::ahead::Ahead;
use crate::formats::bzip2::stream::chain::{Chain, Place, Spans};
use crate::formats::bzip2::stream::items::is_plausible;
use crate::read_at::fill_at;
use crate::recover::marks::{MagicKind, Marks};
use crate::settings::Settings;
use crate::stream::piece::{Extent, Join, Step};
use crate::summary::{BlockInfo, Mark};
use std::sync::Arc;

/// The items of a file from a bit on.
pub(super) struct Part {
    file: Source,
    chain: Chain,
    spans: Spans,
    ahead: Ahead,
    /// Items that begin at this bit or later are left to other parts.
    stop: u64,
    garbage_allowed: bool,
    /// Whether other parts follow, which must not take garbage for blocks.
    has_successors: bool,
}

impl Part {
    /// The items from `start` on that begin before bit `stop`.
    pub fn new(file: &Source, start: Place, stop: u64, settings: &Settings) -> Part {
        Part {
            file: Arc::clone(file),
            chain: Chain::new(start, stop, Extent::AllStreams, false),
            spans: Spans::new(),
            ahead: Ahead::new(start.bit / 8, settings),
            stop,
            garbage_allowed: settings.allows_garbage(),
            has_successors: stop < u64::MAX,
        }
    }

    /// The start of the next item, in bits.
    pub fn position(&self) -> u64 {
        self.chain.next().bit
    }

    /// Continues up to bit `stop`.
    pub fn go_on(&mut self, stop: u64) {
        (self.stop, self.has_successors) = (stop, stop < u64::MAX);
        self.chain.go_on(stop);
    }

    /// Continues with one more item, which belongs to another part. Returns whether there is one. Garbage is checked by
    /// that part.
    pub fn go_on_by_one(&mut self) -> bool {
        let has_ended = self.position() < self.stop;
        self.go_on(self.position().saturating_add(1));
        self.has_successors = false;
        !has_ended
    }

    /// The text of the next block; `None` if no further block begins before the stop.
    pub fn next(&mut self) -> Result<Option<Text>, Error> {
        loop {
            while let Some(span) = self.ahead.next(&self.file, self.stop)? {
                self.spans.held.push_back(span);
            }
            match self.chain.step(&mut self.spans, true)? {
                Step::Out(text, Some(Mark::Block(block))) => {
                    self.check_reach(&block)?;
                    return Ok(Some(text));
                }
                Step::Out(..) | Step::Pending => {}
                // The item goes on after the stop, or the file has ended.
                Step::Need => match self.ahead.next(&self.file, u64::MAX)? {
                    Some(span) => self.spans.held.push_back(span),
                    None => self.spans.ended = true,
                },
                Step::Other => {
                    self.garbage(self.position() / 8)?;
                    return Ok(None);
                }
                Step::Done => return Ok(None),
            }
        }
    }

    /// Handles the data after the last stream, which bzip2 ignores. Later parts of the file cannot know that they are
    /// in garbage, so nothing in it may look like a block.
    fn garbage(&mut self, byte: u64) -> Result<(), Error> {
        let mut head = [0; Format::HEAD_LEN];
        let len = fill_at(&self.file, &mut head, byte).map_err(Error::Read)?;
        if let Some(format) = Format::of(&head[..len]).filter(|format| format.row().native.is_some()) {
            return Err(Error::NoIndex { format, why: format.no_index() });
        }
        if !self.garbage_allowed || self.has_successors && self.has_candidates(byte * 8)? {
            return Err(Error::TrailingGarbage { offset: byte });
        }
        self.has_successors = false;
        Ok(())
    }

    /// Whether something looks like a block, from this bit on.
    fn has_candidates(&self, from: u64) -> Result<bool, Error> {
        for mark in Marks::new(&self.file, from) {
            let mark = mark?;
            if mark.kind == MagicKind::Block && is_plausible(&self.file, mark.bit)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Checks that a reader of the data from the stop on finds the end of a block that is longer than any encoder's.
    fn check_reach(&self, block: &BlockInfo) -> Result<(), Error> {
        let (start, end) = (block.bit_offset, self.position());
        let is_longer = end >= self.stop && self.stop - start > REACH * 8;
        let is_found = || match ask(&self.file, self.stop / 8)? {
            Answer::One(place) => Ok(place.bit == end),
            Answer::Several => Ok(true),
            Answer::Nothing => Ok(false),
        };
        if is_longer && !is_found()? {
            return Err(Error::BlockTooLarge { block: block.number, bit_offset: start });
        }
        Ok(())
    }
}

impl Drop for Part {
    /// In the child of a fork tickets must not be dropped: a worker of the parent may have been about to answer.
    fn drop(&mut self) {
        if self.ahead.is_foreign() {
            std::mem::forget(std::mem::replace(&mut self.spans, Spans::new()));
        }
    }
}
