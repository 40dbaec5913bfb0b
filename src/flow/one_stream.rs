//! One stream through the pool without a thread of its own: the caller's thread cuts, submits, waits and writes.
//!
//! The library's encoders and decoders are built on this. Their inner readers and writers need be neither `Send` nor
//! `'static`, and dropping one leaves only jobs whose results are not awaited.

use crate::block::Text;
use crate::error::Error;
use crate::stream::copy;
use crate::stream::piece::{Collect, Ends, Feed, Step};
use crate::summary::{Mark, StreamSummary};
use hybz_queue::{Client, Pool};
use std::io::Read;

/// One stream in the pool. Dropping it cancels its jobs.
pub(crate) struct Driver {
    client: Client,
    feed: Box<dyn Feed>,
    collect: Box<dyn Collect>,
    input: InputState,
}

/// The state of the input.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InputState {
    Open,
    /// The input has ended, but the last pieces are not all issued.
    Ended,
    /// The joiner has been told of the end as well.
    Told,
}

impl Driver {
    pub fn new(pool: &Pool, (feed, collect): Ends) -> Driver {
        Driver { client: pool.client(), feed, collect, input: InputState::Open }
    }

    /// Submits complete pieces. Returns whether all are submitted (otherwise the budget is used up).
    pub fn issue(&mut self) -> Result<bool, Error> {
        if self.client.is_foreign() {
            return Err(Error::Forked);
        }
        let mut all = true;
        while let Some(charge) = self.feed.next_charge() {
            let Some(permit) = self.client.try_permit(charge) else {
                all = false;
                break;
            };
            self.feed.issue(&self.client, permit);
        }
        if all && self.input == InputState::Ended {
            self.input = InputState::Told;
            self.feed.end(Ok(()));
        }
        while self.collect.receive(false)? {}
        Ok(all)
    }

    /// The next output of a stream whose input is read from `reader`; `None` when the output is complete.
    pub fn pull(&mut self, reader: &mut dyn Read) -> Result<Option<(Text, Option<Mark>)>, Error> {
        loop {
            match self.advance()? {
                Advance::Out(text, mark) => return Ok(Some((text, mark))),
                Advance::Done => return Ok(None),
                Advance::Read { .. } => self.read_from(reader)?,
            }
        }
    }

    /// Advances as far as possible without reading.
    pub fn advance(&mut self) -> Result<Advance, Error> {
        let waits = |driver: &mut Self| driver.input == InputState::Told || driver.feed.input().rests();
        Ok(match self.step_if(waits)? {
            Step::Out(text, mark) => Advance::Out(text, mark),
            Step::Done => Advance::Done,
            Step::Pending | Step::Need | Step::Other => Advance::Read { rests: self.feed.input().rests() },
        })
    }

    /// Reads some input.
    pub fn read_from(&mut self, reader: &mut dyn Read) -> Result<(), Error> {
        match self.feed.read_from(reader) {
            Ok(0) => self.end_input(),
            Ok(_) => {}
            Err(error) => {
                self.pause();
                return Err(Error::Read(error));
            }
        }
        Ok(())
    }

    /// Takes some of `bytes` as the next input. Returns the number taken.
    pub fn push(&mut self, bytes: &[u8]) -> usize {
        bytes.len() - self.feed.input().fill(bytes).len()
    }

    /// Records that there is no more input.
    pub fn end_input(&mut self) {
        if self.input == InputState::Open {
            self.feed.input().finish();
            self.input = InputState::Ended;
        }
    }

    /// Records that more input may not come for a long time. (An inner reader that would block says so with an error.)
    pub fn pause(&mut self) {
        self.feed.input().pause();
    }

    /// Ends the current block although the input goes on; when decompressing, lets [`step`](Self::step) see all of
    /// the input so far.
    pub fn flush(&mut self) {
        self.feed.input().flush();
    }

    /// The next step of the joiner of a stream whose input is pushed. Without `all`, it waits only if the budget is
    /// used up; with `all`, for everything that has been pushed. When the joiner needs another piece, all available
    /// pieces have been issued.
    pub fn step(&mut self, all: bool) -> Result<Step, Error> {
        self.step_if(|_| all)
    }

    fn step_if(&mut self, waits: impl Fn(&mut Self) -> bool) -> Result<Step, Error> {
        loop {
            let all_issued = self.issue()?;
            let wait = !all_issued || waits(self);
            match self.collect.step(wait)? {
                Step::Need if !all_issued => {} // `Need` gave permits back, so there is room now
                step => {
                    if matches!(step, Step::Done) {
                        // Input that was read ahead is not wanted.
                        self.client.submitter().cancel();
                    }
                    return Ok(step);
                }
            }
        }
    }

    pub fn summary(&self) -> StreamSummary {
        self.collect.summary()
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // In the child of a fork, the stream's tickets and permits must not be dropped ([`Client::is_foreign`]).
        if self.client.is_foreign() {
            let (feed, collect) = copy::ends();
            std::mem::forget((std::mem::replace(&mut self.feed, feed), std::mem::replace(&mut self.collect, collect)));
        }
    }
}

/// The result of [`Driver::advance`].
pub(crate) enum Advance {
    /// Bytes to write, and the block or the stream that ends with them.
    Out(Text, Option<Mark>),
    /// More input is wanted. With `rests`, all output that does not need this input has been handed out.
    Read { rests: bool },
    /// The output is complete.
    Done,
}
