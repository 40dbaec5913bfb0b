//! A station that codes some blocks wrong: one bit of what it answers is not what it should be.

#![allow(dead_code)] // each test binary uses its own part

use hybz::codec::mismatch::Mismatch;
use hybz::schedule::{Accepts, Job, Question, Station, StationError, Work};
use hybz::work::{BlockJob, Codec};
use hybz::{CodedBlock, PoolBuilder};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// Which answers are wrong.
#[derive(Clone, Copy, Debug)]
pub struct Flips {
    /// The number of the block, counted from 0 over all stations of a [`Team`], in the order in which they are coded.
    pub block: usize,
    /// The bit of it, counted from its first one, or if negative from its last one.
    pub bit: i64,
    /// Whether the block is also wrong when it is coded again.
    pub again: bool,
}

/// What the stations of a pool have in common.
#[derive(Debug, Default)]
pub struct Team {
    pub coded: AtomicUsize,
    /// Who coded the block with this CRC last.
    makers: Mutex<HashMap<u32, usize>>,
    /// How many blocks were verified by their makers.
    pub by_their_makers: AtomicUsize,
    pub verified: AtomicUsize,
}

struct Flipper {
    number: usize,
    flips: Option<Flips>,
    /// Calls wrong what others coded.
    slanders: bool,
    team: Arc<Team>,
    core: Box<dyn Station<BlockJob>>,
}

impl Flipper {
    /// What a core answers.
    fn right<Q: Question + Clone>(&mut self, job: &Job<Q>) -> Q::Answer
    where
        Job<Q>: Into<BlockJob>,
    {
        let (inner, ticket) = Job::detached(job.question().clone());
        self.core.work(&mut [inner.into()]).expect("a core does not fail");
        ticket.wait().expect("a core answers")
    }

    fn made(&self, crc: u32) {
        self.team.makers.lock().unwrap_or_else(PoisonError::into_inner).insert(crc, self.number);
    }

    fn verifies(&self, crc: u32) {
        let makers = self.team.makers.lock().unwrap_or_else(PoisonError::into_inner);
        self.team.verified.fetch_add(1, Relaxed);
        if makers.get(&crc) == Some(&self.number) {
            self.team.by_their_makers.fetch_add(1, Relaxed);
        }
    }

    /// Whether the next block is to be wrong, and at which bit.
    fn next_flip(&self) -> Option<i64> {
        let number = self.team.coded.fetch_add(1, Relaxed);
        self.flips.filter(|flips| flips.block == number).map(|flips| flips.bit)
    }

    fn flip_again(&self) -> Option<i64> {
        self.flips.filter(|flips| flips.again).map(|flips| flips.bit)
    }
}

/// Flips a bit of some that are `len`.
fn flip(bytes: &mut [u8], len: u64, bit: i64) {
    let bit = if bit < 0 { len.saturating_sub(bit.unsigned_abs()) } else { bit as u64 % len };
    bytes[bit as usize / 8] ^= 0x80 >> (bit % 8);
}

fn flip_block(block: &mut CodedBlock, bit: Option<i64>) {
    if let Some(bit) = bit {
        flip(&mut block.bytes, block.bit_len, bit);
    }
}

fn flip_payload(payload: &mut [u8], bit: Option<i64>) {
    if let Some(bit) = bit {
        let len = payload.len() as u64 * 8;
        flip(payload, len, bit);
    }
}

impl Station<BlockJob> for Flipper {
    fn name(&self) -> String {
        format!("flipper {}", self.number)
    }

    fn work(&mut self, batch: &mut [BlockJob]) -> Result<(), StationError> {
        for job in batch {
            match job {
                BlockJob::Encode(job) => {
                    let mut block = self.right(job);
                    self.made(block.crc);
                    flip_block(&mut block, self.next_flip());
                    job.answer(block);
                }
                BlockJob::Recode(job) => {
                    let mut block = self.right(job);
                    self.made(block.crc);
                    flip_block(&mut block, self.flip_again());
                    job.answer(block);
                }
                BlockJob::EncodeLarge(job) => {
                    let (header, mut payload) = self.right(job);
                    self.made(header.crc);
                    flip_payload(&mut payload, self.next_flip());
                    job.answer((header, payload));
                }
                BlockJob::RecodeLarge(job) => {
                    let (header, mut payload) = self.right(job);
                    self.made(header.crc);
                    flip_payload(&mut payload, self.flip_again());
                    job.answer((header, payload));
                }
                job => {
                    match &*job {
                        BlockJob::Verify(job) => self.verifies(job.question().block.crc),
                        BlockJob::VerifyLarge(job) => self.verifies(job.question().coded.0.crc),
                        _ => {}
                    }
                    match job {
                        BlockJob::Verify(job) if self.slanders => {
                            let block = job.question().block.clone();
                            job.answer((block, Err(Mismatch::Text)));
                        }
                        BlockJob::VerifyLarge(job) if self.slanders => {
                            let coded = job.question().coded.clone();
                            job.answer((coded, Err(Mismatch::Text)));
                        }
                        job => self.core.work(std::slice::from_mut(job))?,
                    }
                }
            }
        }
        Ok(())
    }
}

/// What makes one.
pub fn flipper(
    flips: Option<Flips>,
    team: &Arc<Team>,
) -> impl FnOnce() -> Result<Box<dyn Station<BlockJob>>, String> + use<> {
    let (team, number) = (Arc::clone(team), Arc::strong_count(team));
    move || Ok(Box::new(Flipper { number, flips, slanders: false, team, core: Codec::default().core(number) }))
}

/// What makes one that codes right and calls wrong all that it verifies.
pub fn slanderer(team: &Arc<Team>) -> impl FnOnce() -> Result<Box<dyn Station<BlockJob>>, String> + use<> {
    let (team, number) = (Arc::clone(team), Arc::strong_count(team));
    move || Ok(Box::new(Flipper { number, flips: None, slanders: true, team, core: Codec::default().core(number) }))
}

/// Adds one to a pool.
pub fn with_flipper(builder: PoolBuilder, accepts: Accepts, flips: Option<Flips>, team: &Arc<Team>) -> PoolBuilder {
    builder.station(accepts, flipper(flips, team))
}
