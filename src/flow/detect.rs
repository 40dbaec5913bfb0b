//! A stream whose first byte selects a format. `mixed` handles the data after the streams of that format.

use super::mixed::Mixed;
use crate::error::Error;
use crate::format::Formats;
use crate::stream::piece::{Collect, Decoding, Ends, Feed, Input, Rest, Step};
use crate::summary::{Mark, StreamSummary};
use crate::table::{self, MarkFinder, Restorer};
use crossbeam_channel::{Receiver, Sender, unbounded};
use hybz_queue::Client;
use hybz_queue::Permit;
use std::io;

/// The size of the first read.
const FIRST_ROOM: usize = 4 << 10;

/// The two ends of a stream of any of the formats.
pub(crate) fn decode(decoding: Decoding) -> Ends {
    // Not `bounded`: the content of a bounded channel outlives its receiver, and with it the permits of all pieces
    // that are no longer wanted. (The test of all traps in one queue deadlocked for lack of memory.)
    let (sender, receiver) = unbounded();
    let feed = Detecting { decoding: decoding.clone(), room: Vec::new(), feed: None, collect: sender };
    let marks = MarkFinder::default();
    (Box::new(feed), Box::new(Detected { decoding, receiver, collect: None, mixed: None, marks, restorer: None }))
}

struct Detecting {
    decoding: Decoding,
    room: Vec<u8>,
    /// Set once the first byte has come, or the end.
    feed: Option<Box<dyn Feed>>,
    /// Sends the other end of the stream.
    collect: Sender<Box<dyn Collect>>,
}

impl Detecting {
    /// The input end for this first byte; `None` if the input is empty.
    fn open(&mut self, first: Option<u8>) -> &mut dyn Feed {
        let (decoding, sender) = (&self.decoding, &self.collect);
        &mut **self.feed.get_or_insert_with(|| {
            let (feed, collect) = (table::first(decoding.formats, first).decode)(decoding);
            // Without a receiver, the text is no longer wanted.
            let _ = sender.send(collect);
            feed
        })
    }
}

/// Before a format is chosen.
impl Input for Detecting {
    fn room(&mut self) -> &mut [u8] {
        self.room.resize(FIRST_ROOM, 0);
        &mut self.room
    }

    fn filled(&mut self, n: usize) {
        let bytes = std::mem::take(&mut self.room);
        let mut rest = &bytes[..n];
        let input = self.open(rest.first().copied()).input();
        while !rest.is_empty() {
            rest = input.fill(rest);
        }
    }

    fn finish(&mut self) {
        self.open(None).input().finish();
    }
}

impl Feed for Detecting {
    fn input(&mut self) -> &mut dyn Input {
        match self.feed {
            Some(ref mut feed) => feed.input(),
            None => self,
        }
    }

    fn next_charge(&mut self) -> Option<u64> {
        self.feed.as_mut()?.next_charge()
    }

    fn issue(&mut self, client: &Client, permit: Permit) -> bool {
        self.feed.as_mut().is_none_or(|feed| feed.issue(client, permit))
    }

    fn end(&mut self, end: io::Result<()>) -> bool {
        self.open(None).end(end)
    }
}

struct Detected {
    decoding: Decoding,
    receiver: Receiver<Box<dyn Collect>>,
    collect: Option<Box<dyn Collect>>,
    /// Set once other data follow the streams of the first format.
    mixed: Option<Mixed>,
    marks: MarkFinder,
    /// Set while the open stream is perturbed.
    restorer: Option<Restorer>,
}

impl Detected {
    /// A step of the streams as they are stored.
    fn stored(&mut self, wait: bool) -> Result<Step, Error> {
        let Some(collect) = &mut self.collect else { return Ok(Step::Need) };
        if self.mixed.is_none() {
            let step = collect.step(wait)?;
            if !matches!(step, Step::Other) {
                return Ok(step);
            }
        }
        let decoding = &self.decoding;
        let mixed = self.mixed.get_or_insert_with(|| Mixed::new(decoding.clone(), collect.summary()));
        mixed.step(&mut **collect, wait)
    }
}

impl Collect for Detected {
    fn receive(&mut self, wait: bool) -> Result<bool, Error> {
        if let Some(collect) = &mut self.collect {
            return collect.receive(wait);
        }
        self.collect = if wait { self.receiver.recv().ok() } else { self.receiver.try_recv().ok() };
        match self.collect {
            None if wait => Err(Error::Internal { block: 1, reason: "the manager stopped".into() }),
            _ => Ok(self.collect.is_some()),
        }
    }

    fn step(&mut self, wait: bool) -> Result<Step, Error> {
        if let Some(part) = self.restorer.as_mut().and_then(Restorer::next_part) {
            return Ok(part);
        }
        let step = self.stored(wait)?;
        // bzip2 knows no perturbation.
        let (Step::Out(_, Some(mark)), Formats::All) = (&step, self.decoding.formats) else { return Ok(step) };
        match mark {
            Mark::Block(_) => self.marks.block(),
            Mark::Stream(stream) => {
                self.marks.stream(stream.level);
                let damaged = |flaw| Error::damaged(self.summary().blocks + 1, stream.bit_offset, flaw);
                self.restorer = self.marks.restorer().map_err(damaged)?;
            }
        }
        match (step, &mut self.restorer) {
            (Step::Out(text, Some(Mark::Block(block))), Some(restorer)) if block.level.is_some() => {
                Ok(restorer.first_part(text, block))
            }
            (step, _) => Ok(step),
        }
    }

    fn rest(&mut self) -> Rest {
        Rest::Need // `step` never reports any
    }

    fn summary(&self) -> StreamSummary {
        match (&self.mixed, &self.collect) {
            (Some(mixed), _) => mixed.summary(),
            (None, Some(collect)) => collect.summary(),
            (None, None) => StreamSummary::default(),
        }
    }
}
