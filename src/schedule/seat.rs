//! What the scheduler knows of one station.

use super::job::{Accepts, Class};
use std::time::Duration;

/// One station.
#[derive(Debug)]
pub(super) struct Seat {
    pub accelerator: bool,
    pub accepts: Accepts,
    /// Its crew, whose figures stand for those it has not shown yet.
    pub crew: Option<usize>,
    pub phase: Phase,
    pub max_batch: usize,
    pub max_bytes: u64,
    pub rates: Vec<Rate>,
    pub holds: Option<Holding>,
    pub waits: Waits,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Phase {
    Starting(Duration),
    Ready,
    Gone,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    No,
    ForWake,
    /// Or for a time that it was told.
    ForTime,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Holding {
    pub class: Class,
    pub second_stage: bool,
    pub bytes: f64,
    pub since: Duration,
}

/// Bytes a second of the last seconds of work.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rate {
    bytes: f64,
    seconds: f64,
}

impl Rate {
    /// After so many seconds of work, what was measured before counts half.
    const HALF_LIFE: f64 = 2.0;

    pub fn add(&mut self, bytes: f64, seconds: f64) {
        let fade = (-seconds / Self::HALF_LIFE).exp2();
        self.bytes = self.bytes * fade + bytes;
        self.seconds = self.seconds * fade + seconds;
    }

    pub fn get(self) -> Option<f64> {
        (self.bytes > 0.0 && self.seconds > 0.0).then(|| self.bytes / self.seconds)
    }
}
