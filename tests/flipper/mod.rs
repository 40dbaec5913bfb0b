//! A station that codes some blocks wrong: one bit of its answer is flipped.

#![allow(dead_code)] // each test binary uses its own part

use hybz::internals::block::CodedBlock;
use hybz::internals::codec::mismatch::Mismatch;
use hybz::internals::tasks::{CodedLarge, EncodeBlock, EncodeLarge};
use hybz::schedule::{Accepts, Check, Core, Job, PoolBuilder, Retry, Station, StationError, Task};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// Which answers are wrong.
#[derive(Clone, Copy, Debug)]
pub struct Flips {
    /// The number of the block, counted from 0 over all stations of a [`Team`], in the order in which they are coded.
    pub block: usize,
    /// The bit of the answer, counted from the first or, if negative, from the last.
    pub bit: i64,
    /// Whether the block is wrong again when it is coded again.
    pub again: bool,
}

/// The state that the stations of a pool share.
#[derive(Debug, Default)]
pub struct Team {
    pub coded: AtomicUsize,
    /// The station that last coded the block with this CRC.
    makers: Mutex<HashMap<u32, usize>>,
    /// The number of blocks verified by the station that coded them.
    pub by_their_makers: AtomicUsize,
    pub verified: AtomicUsize,
}

struct Flipper {
    number: usize,
    flips: Option<Flips>,
    /// Whether it reports the blocks of other stations as wrong.
    slanders: bool,
    team: Arc<Team>,
    core: Core,
}

impl Flipper {
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

    /// The bit to flip in the next block, if any.
    fn next_flip(&self) -> Option<i64> {
        let number = self.team.coded.fetch_add(1, Relaxed);
        self.flips.filter(|flips| flips.block == number).map(|flips| flips.bit)
    }

    fn flip_again(&self) -> Option<i64> {
        self.flips.filter(|flips| flips.again).map(|flips| flips.bit)
    }
}

/// Flips `bit`, if there is one, among `len` bits.
fn flip(bytes: &mut [u8], len: u64, bit: Option<i64>) {
    if let Some(bit) = bit {
        let bit = if bit < 0 { len.saturating_sub(bit.unsigned_abs()) } else { bit as u64 % len };
        bytes[bit as usize / 8] ^= 0x80 >> (bit % 8);
    }
}

impl Flipper {
    fn block(&self, mut block: CodedBlock, bit: Option<i64>) -> CodedBlock {
        self.made(block.crc);
        flip(&mut block.bytes, block.bit_len, bit);
        block
    }

    fn large(&self, (header, mut payload): CodedLarge, bit: Option<i64>) -> CodedLarge {
        self.made(header.crc);
        let len = payload.len() as u64 * 8;
        flip(&mut payload, len, bit);
        (header, payload)
    }

    fn one(&mut self, job: &mut Job) {
        if let Some(job) = job.of::<EncodeBlock>() {
            let block = job.task().run(&mut self.core);
            job.complete(self.block(block, self.next_flip()));
        } else if let Some(job) = job.of::<Retry<EncodeBlock>>() {
            let block = job.task().run(&mut self.core);
            job.complete(self.block(block, self.flip_again()));
        } else if let Some(job) = job.of::<EncodeLarge>() {
            let coded = job.task().run(&mut self.core);
            job.complete(self.large(coded, self.next_flip()));
        } else if let Some(job) = job.of::<Retry<EncodeLarge>>() {
            let coded = job.task().run(&mut self.core);
            job.complete(self.large(coded, self.flip_again()));
        } else if let Some(job) = job.of::<Check<EncodeBlock>>() {
            self.verifies(job.task().with_output(|block| block.crc));
            let verdict = job.task().run(&mut self.core);
            job.complete(if self.slanders { Err(Mismatch::Text) } else { verdict });
        } else if let Some(job) = job.of::<Check<EncodeLarge>>() {
            self.verifies(job.task().with_output(|(header, _)| header.crc));
            let verdict = job.task().run(&mut self.core);
            job.complete(if self.slanders { Err(Mismatch::Text) } else { verdict });
        } else {
            job.run(&mut self.core);
        }
    }
}

impl Station for Flipper {
    fn name(&self) -> String {
        format!("flipper {}", self.number)
    }

    fn work(&mut self, batch: &mut [Job]) -> Result<(), StationError> {
        batch.iter_mut().for_each(|job| self.one(job));
        Ok(())
    }
}

/// A function that makes a flipper.
pub fn flipper(flips: Option<Flips>, team: &Arc<Team>) -> impl FnOnce() -> Result<Box<dyn Station>, String> + use<> {
    let (team, number) = (Arc::clone(team), Arc::strong_count(team));
    move || Ok(Box::new(Flipper { number, flips, slanders: false, team, core: Core::new(number) }))
}

/// A function that makes a station that codes correctly and reports every block it verifies as wrong.
pub fn slanderer(team: &Arc<Team>) -> impl FnOnce() -> Result<Box<dyn Station>, String> + use<> {
    let (team, number) = (Arc::clone(team), Arc::strong_count(team));
    move || Ok(Box::new(Flipper { number, flips: None, slanders: true, team, core: Core::new(number) }))
}

/// Adds a flipper to a pool.
pub fn with_flipper(builder: PoolBuilder, accepts: Accepts, flips: Option<Flips>, team: &Arc<Team>) -> PoolBuilder {
    builder.station(accepts, flipper(flips, team))
}
