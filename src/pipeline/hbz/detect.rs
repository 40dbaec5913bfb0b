//! Tells a `.hbz` stream from bzip2's by its first byte, on both sides of the stations.

use super::{chain, scan};
use crate::error::Error;
use crate::format::hbz::MAGIC;
use crate::pipeline::piece::{Cut, Extent, Issued, Join, Piece, Step};
use crate::pipeline::pool::Pool;
use crate::pipeline::queue::Window;
use crate::pipeline::{chain::Chain, scan::Scanner};
use crate::summary::StreamSummary;
use std::sync::Arc;

/// Cuts either kind of stream.
pub(crate) struct EitherCut {
    /// The cutter for bzip2's streams until the first byte shows what it is.
    cut: Box<dyn Cut + Send>,
    window: Arc<Window>,
    open: bool,
}

impl EitherCut {
    pub fn new(pool: &Pool, chunk: usize) -> Self {
        EitherCut { cut: Box::new(Scanner::with_chunk(chunk)), window: Arc::clone(pool.window()), open: true }
    }
}

impl Cut for EitherCut {
    fn room(&mut self) -> &mut [u8] {
        self.cut.room()
    }

    fn filled(&mut self, n: usize) {
        if self.open && n > 0 {
            self.open = false;
            let first = &self.cut.room()[..n];
            if first[0] == MAGIC[0] {
                let mut cut = scan::Scanner::new(Arc::clone(&self.window));
                let mut rest = first;
                while !rest.is_empty() {
                    let room = cut.room();
                    let (some, more) = rest.split_at(rest.len().min(room.len()));
                    room[..some.len()].copy_from_slice(some);
                    cut.filled(some.len());
                    rest = more;
                }
                self.cut = Box::new(cut);
                return;
            }
        }
        self.cut.filled(n);
    }

    fn finish(&mut self) {
        self.cut.finish();
    }

    fn flush(&mut self) {
        self.cut.flush();
    }

    fn next_piece(&mut self) -> Option<Piece> {
        self.cut.next_piece()
    }
}

/// Joins either kind of stream: the first piece shows which. bzip2's pieces have spans, the others have not.
pub(crate) struct EitherJoin {
    bzip2: Chain,
    hbz: Option<chain::Chain>,
    pool: Pool,
    extent: Extent,
}

impl EitherJoin {
    pub fn new(pool: &Pool, extent: Extent) -> Self {
        EitherJoin { bzip2: Chain::new(extent), hbz: None, pool: pool.clone(), extent }
    }

    fn join(&mut self) -> &mut dyn Join {
        match &mut self.hbz {
            Some(hbz) => hbz,
            None => &mut self.bzip2,
        }
    }
}

impl Join for EitherJoin {
    fn add(&mut self, piece: Issued) {
        if piece.span.is_none() && self.hbz.is_none() {
            self.hbz = Some(chain::Chain::new(&self.pool, self.extent));
        }
        self.join().add(piece);
    }

    fn finish(&mut self) {
        self.join().finish();
    }

    fn step(&mut self, wait: bool) -> Result<Step, Error> {
        self.join().step(wait)
    }

    fn summary(&self) -> StreamSummary {
        match &self.hbz {
            Some(hbz) => hbz.summary(),
            None => self.bzip2.summary(),
        }
    }
}
