//! One block decoded by all stations: the three stages of `codec::hbz::decode`, each cut into jobs of the one queue.
//!
//! The joiner drives this when the block is the next to be written: it puts all jobs of a stage on the queue, collects their
//! results in order, and goes on to the next stage. It waits only for jobs that are on the queue, and stations wait for
//! nothing but the queue, so this cannot lock up either.

use crate::block::{Part, Text};
use crate::codec::hbz::decode::{Block, FirstColumn, Runs, TextCheck, new_vector};
use crate::error::Damage;
use crate::format::hbz::SEGMENT_LOG;
use crate::pipeline::pool::Pool;
use crate::pipeline::queue::Ticket;
use crate::station::large::{LargeDone, LargeWork};
use crate::station::{Done, Work};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// Rows of a job: as many as one set of lanes walks at once. A stage ends when its last job does, so jobs are short.
const JOB_ROWS: usize = 1 << 19;

/// What stops a block.
pub(super) enum Stop {
    Damaged(Damage),
    Internal(String),
}

/// A block on its way through the stages.
pub(super) struct Staged {
    pool: Pool,
    block: Arc<Block>,
    tickets: VecDeque<Ticket>,
    /// Set when the block is given up: jobs not begun need not be done.
    cancelled: Arc<AtomicBool>,
    stage: Stage,
}

enum Stage {
    Runs(Vec<Runs>),
    Fill(Arc<Vec<AtomicU32>>, Arc<FirstColumn>),
    Walk(Vec<Part>, Box<TextCheck>),
}

impl Staged {
    pub fn new(pool: &Pool, block: Block) -> Staged {
        let stage = Stage::Runs(Vec::with_capacity(block.segments()));
        let (tickets, cancelled) = Default::default();
        let mut staged = Staged { pool: pool.clone(), block: Arc::new(block), tickets, cancelled, stage };
        for segments in ranges(staged.block.segments(), JOB_ROWS >> SEGMENT_LOG) {
            let block = Arc::clone(&staged.block);
            staged.submit(LargeWork::Runs { block, segments });
        }
        staged
    }

    fn submit(&mut self, work: LargeWork) {
        self.tickets.push_back(self.pool.submit(Work::Large(work), &self.cancelled));
    }

    /// The text, once all is done; nothing if that is not yet so and `wait` forbids waiting.
    pub fn step(&mut self, wait: bool) -> Result<Option<Text>, Stop> {
        loop {
            while let Some(ticket) = self.tickets.front() {
                let reply = match if wait { Some(ticket.wait()) } else { ticket.poll() } {
                    None => return Ok(None),
                    Some(reply) => reply.map_err(Stop::Internal)?,
                };
                self.tickets.pop_front();
                match (reply, &mut self.stage) {
                    (Done::Large(LargeDone::Runs(runs)), Stage::Runs(all)) => all.extend(runs.map_err(Stop::Damaged)?),
                    (Done::Large(LargeDone::Filled), Stage::Fill(..)) => {}
                    (Done::Large(LargeDone::Walked(part)), Stage::Walk(parts, ending)) => {
                        // Here, and not at the end: while stations walk the next parts.
                        let mut part = part.map_err(Stop::Damaged)?;
                        ending.add(&self.block, &mut part);
                        if ending.perturbed_len() > self.block.max_perturbed_len() {
                            return Err(Stop::Damaged(Damage::BlockTooLong));
                        }
                        parts.push(Part { range: 0..part.len(), bytes: Arc::new(part) });
                    }
                    _ => return Err(Stop::Internal("a station did something else".into())),
                }
            }
            match std::mem::replace(&mut self.stage, Stage::Walk(Vec::new(), Box::default())) {
                Stage::Runs(runs) => self.begin_fill(runs),
                Stage::Fill(vector, first_column) => {
                    self.begin_walk(&vector, &first_column);
                }
                Stage::Walk(parts, ending) => {
                    return ending.finish(&self.block).map(|()| Some(Text::Parts(parts))).map_err(Stop::Damaged);
                }
            }
        }
    }

    fn begin_fill(&mut self, runs: Vec<Runs>) {
        let (places, first_column) = self.block.segment_starts(&runs);
        let vector = Arc::new(new_vector(self.block.rows() as usize));
        let parts: Vec<_> = runs.into_iter().zip(places).map(Arc::new).collect();
        self.stage = Stage::Fill(Arc::clone(&vector), Arc::new(first_column));
        for segments in ranges(parts.len(), JOB_ROWS >> SEGMENT_LOG) {
            let (block, vector, first) = (Arc::clone(&self.block), Arc::clone(&vector), segments.start);
            self.submit(LargeWork::Fill { block, parts: parts[segments].to_vec(), first, vector });
        }
    }

    fn begin_walk(&mut self, vector: &Arc<Vec<AtomicU32>>, first_column: &Arc<FirstColumn>) {
        for entries in ranges(self.block.entries(), self.block.entries_in(JOB_ROWS)) {
            let (block, vector) = (Arc::clone(&self.block), Arc::clone(vector));
            self.submit(LargeWork::Walk { block, entries, vector, first_column: Arc::clone(first_column) });
        }
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        self.cancelled.store(true, Relaxed);
    }
}

/// `0..count` in parts of `step`.
fn ranges(count: usize, step: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count).step_by(step).map(move |from| from..count.min(from + step))
}
