//! Who does the codec's work: a CPU core (`cpu`), a lane of a GPU (`gpu`).

use crate::schedule::{Class, Pool, Station, Work};
use crate::work::{BlockJob, Codec, DECODE, ENCODE};
use cpu::CpuStation;
use once_cell::race::OnceBox;
use std::sync::Arc;

pub(crate) mod cpu;
pub mod gpu;
mod stages;

impl Work for Codec {
    type Job = BlockJob;
    const CLASSES: usize = 7;

    fn core(&self, number: usize) -> Box<dyn Station<BlockJob>> {
        Box::new(CpuStation::new(number, Arc::clone(&self.origins), Arc::clone(&self.vectors)))
    }

    /// Nothing is taken along: what the parent has learnt about periodic blocks is behind a lock.
    fn after_fork(&self) -> Self {
        Codec::default()
    }

    /// Rounded down from the slowest machine measured, where a block may be so long that nobody can wait for the first
    /// one to be measured. A block of a `.bz2` stream is done in 50 ms, whatever text it stands for (46 MB of zeros,
    /// say).
    fn core_rate(&self, class: Class) -> f64 {
        match class {
            ENCODE | DECODE => 1e9,
            _ => 20e6,
        }
    }

    /// Five blocks of text on their way and their results. More only fills memory; less lets a slow block hold the
    /// others up.
    fn memory_per_core(&self) -> u64 {
        11 << 20
    }
}

impl Pool<Codec> {
    /// Chooses what a pool is made of.
    pub fn builder() -> crate::PoolBuilder {
        Pool::with_work(Codec::default())
    }

    /// The pool of those who have none of their own: one CPU station for each core that the process may use. A child of
    /// a fork has one of its own.
    pub fn global() -> &'static Pool<Codec> {
        // Not a `OnceLock`: its own lock could be held when the process is forked.
        static GLOBAL: OnceBox<crate::Pool> = OnceBox::new();
        GLOBAL.get_or_init(|| Box::new(crate::Pool::builder().build()))
    }
}
