//! One stream through the pool without a thread of its own: the caller's thread cuts, submits, waits and writes.
//!
//! This is what the library's encoders and decoders stand on. Their inner readers and writers need be neither `Send` nor
//! `'static`, and dropping one leaves nothing behind but jobs that nobody waits for.

use super::assemble::Assembler;
use super::hbz;
use super::hbz::detect::{EitherCut, EitherJoin};
use super::piece::{Cut, Issued, Join, Piece, Step};
use super::pool::Pool;
use super::queue::Permit;
use super::split::Splitter;
use crate::block::Text;
use crate::codec::run_length::decode::Expander;
use crate::error::Error;
use crate::settings::Settings;
use crate::summary::{BlockInfo, StreamSummary};
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// One stream on its way through the pool.
pub(crate) struct Pump {
    pool: Pool,
    cut: Box<dyn Cut + Send>,
    join: Box<dyn Join + Send>,
    /// How many permits of the window this stream holds.
    permits: Arc<AtomicUsize>,
    cancelled: Arc<AtomicBool>,
    /// A piece that the window had no room for yet.
    held: Option<Piece>,
    /// The input has ended: 1 the cutter knows, 2 the joiner knows too.
    ended: u8,
}

impl Pump {
    pub fn compress(settings: &Settings) -> Pump {
        let pool = settings.get_pool();
        match settings.large_blocks {
            None => Pump::new(pool, Box::new(Splitter::new(settings.level)), Box::new(Assembler::new(settings.level))),
            Some(large) => {
                let stream = large.stream();
                Pump::new(
                    pool,
                    Box::new(hbz::blocks::Blocks::new(stream, pool)),
                    Box::new(hbz::assemble::Assembler::new(stream)),
                )
            }
        }
    }

    pub fn decompress(settings: &Settings) -> Pump {
        let pool = settings.get_pool();
        let cut = EitherCut::new(pool, settings.scan_chunk);
        Pump::new(pool, Box::new(cut), Box::new(EitherJoin::new(pool, settings.extent())))
    }

    pub fn new(pool: &Pool, cut: Box<dyn Cut + Send>, join: Box<dyn Join + Send>) -> Pump {
        Pump { pool: pool.clone(), cut, join, permits: Arc::default(), cancelled: Arc::default(), held: None, ended: 0 }
    }

    /// Submits complete pieces; says whether all are on their way (or else the window is full).
    pub fn issue(&mut self) -> bool {
        while let Some(piece) = self.held.take().or_else(|| self.cut.next_piece()) {
            let Some(permit) = self.pool.window().try_permit(piece.charge, &self.permits) else {
                self.held = Some(piece);
                return false;
            };
            self.join.add(send(&self.pool, piece, permit, &self.cancelled));
        }
        if self.ended == 1 {
            self.ended = 2;
            self.join.finish();
        }
        true
    }

    /// The next output of a stream whose input is read from `reader`; nothing when the output is complete.
    pub fn pull(&mut self, reader: &mut dyn Read) -> Result<Option<(Text, Option<BlockInfo>)>, Error> {
        loop {
            let all_issued = self.issue();
            match self.join.step(!all_issued || self.ended == 2)? {
                Step::Out(text, info) => return Ok(Some((text, info))),
                Step::Done => {
                    // What was read ahead is of no interest.
                    self.cancelled.store(true, Relaxed);
                    return Ok(None);
                }
                Step::Need if !all_issued => {} // `Need` gave permits back, so there is room now
                Step::Pending | Step::Need => match read_some(reader, self.cut.room()).map_err(Error::Read)? {
                    0 => self.end_input(),
                    n => self.cut.filled(n),
                },
            }
        }
    }

    /// Takes some of `bytes` as the next input; says how many.
    pub fn push(&mut self, bytes: &[u8]) -> usize {
        let room = self.cut.room();
        let n = bytes.len().min(room.len());
        room[..n].copy_from_slice(&bytes[..n]);
        self.cut.filled(n);
        n
    }

    /// Says that there is no more input.
    pub fn end_input(&mut self) {
        if self.ended == 0 {
            self.cut.finish();
            self.ended = 1;
        }
    }

    /// Ends the current block although the input goes on; when decompressing, lets [`drain`](Self::drain) see all of the input
    /// so far.
    pub fn flush(&mut self) {
        self.cut.flush();
    }

    /// The next output of a stream whose input is pushed. Without `all` only what is finished or must be waited for because
    /// the window is full; with `all` everything that has been pushed.
    pub fn drain(&mut self, all: bool) -> Result<Drained, Error> {
        loop {
            let all_issued = self.issue();
            match self.join.step(all || !all_issued)? {
                Step::Out(text, _) => return Ok(Drained::Out(text)),
                Step::Done => {
                    self.cancelled.store(true, Relaxed);
                    return Ok(Drained::Done);
                }
                Step::Need if !all_issued => {}
                Step::Pending | Step::Need => return Ok(Drained::Nothing),
            }
        }
    }

    pub fn summary(&self) -> StreamSummary {
        self.join.summary()
    }
}

impl Drop for Pump {
    fn drop(&mut self) {
        self.cancelled.store(true, Relaxed);
    }
}

/// What [`Pump::drain`] gives.
pub(crate) enum Drained {
    /// Bytes to write.
    Out(Text),
    /// Nothing for now.
    Nothing,
    /// The output is complete.
    Done,
}

/// Puts a piece on the queue, if it is work for a station.
pub(crate) fn send(pool: &Pool, piece: Piece, permit: Permit, cancelled: &Arc<AtomicBool>) -> Issued {
    let ticket = piece.work.map(|work| pool.submit(work, cancelled));
    Issued { ticket, span: piece.span, raw: piece.raw, permit: Some(permit) }
}

/// One read, however often it takes to get past signals.
pub(crate) fn read_some(reader: &mut dyn Read, room: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(room) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Writes a text, expanding it in small pieces if it is run-length-coded; says how many bytes that were.
pub(crate) fn write_text(out: &mut dyn Write, text: &Text) -> io::Result<u64> {
    match text {
        Text::Plain(bytes) => {
            out.write_all(bytes)?;
            Ok(bytes.len() as u64)
        }
        Text::Parts(parts) => {
            parts.iter().try_for_each(|part| out.write_all(part.as_slice()))?;
            Ok(text.len())
        }
        Text::RunLength { coded, len, .. } => {
            let mut expander = Expander::new();
            let mut buf = vec![0; 128 << 10];
            loop {
                match expander.next(coded, &mut buf) {
                    0 => return Ok(*len),
                    n => out.write_all(&buf[..n])?,
                }
            }
        }
    }
}
