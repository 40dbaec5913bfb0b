//! What the scheduler knows about one worker, a core or an accelerator.

use super::class::Accepts;
use super::entry::Entry;
use std::time::Duration;

/// One worker.
pub(super) struct WorkerState<J> {
    pub accelerator: bool,
    pub accepts: Accepts,
    /// The group to which it belongs, whose expected figures are used until it has been measured.
    pub group: Option<usize>,
    pub life: Life,
    pub max_batch: usize,
    pub max_bytes: u64,
    pub rates: Vec<Rate>,
    /// Its next order, which its thread fetches.
    pub order: Option<Order<J>>,
    /// Set if it or its device gave a wrong answer.
    pub distrusted: bool,
    /// Set if the next order is done with fresh state, because the old state may have been wrong.
    pub fresh: bool,
    /// Set if its thread is running, or about to look for an order without being woken.
    pub awake: bool,
    /// Set if its thread is being woken and counts among the waking threads
    /// ([`State::take_order`](super::state::State::take_order)).
    pub waking: bool,
}

/// The stage of a worker's life.
#[derive(Clone, Copy, Debug)]
pub(super) enum Life {
    /// Its thread has been making the station since then.
    Starting(Duration),
    Free,
    Busy(Holding),
    /// It has been ordered to leave, or has announced that it will. Others may still count on its thread to go on as a
    /// core.
    Leaving,
    Gone,
}

/// The work that a worker holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holding {
    /// `None`: a continuation.
    pub class: Option<usize>,
    pub bytes: f64,
    pub since: Duration,
}

/// An order to a worker.
pub(super) enum Order<J> {
    /// Do these tasks; if `fresh`, with fresh state.
    Work { entries: Vec<Entry<J>>, fresh: bool },
    /// Leave.
    Retire,
}

impl<J> WorkerState<J> {
    /// Whether work can be left to it, because it takes some now or will later.
    pub fn is_there(&self) -> bool {
        !matches!(self.life, Life::Leaving | Life::Gone)
    }

    pub fn is_gone(&self) -> bool {
        matches!(self.life, Life::Gone)
    }

    /// The tasks of a class that it holds.
    pub fn holds_of(&self, class: usize) -> Option<Holding> {
        match self.life {
            Life::Busy(held) if held.class == Some(class) => Some(held),
            _ => None,
        }
    }

    /// Whether it holds tasks of any class, and not just continuations.
    pub fn holds_a_class(&self) -> bool {
        matches!(self.life, Life::Busy(Holding { class: Some(_), .. }))
    }
}

/// A rate in bytes a second, measured over the last seconds of work.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rate {
    bytes: f64,
    seconds: f64,
}

impl Rate {
    /// After this many seconds of work, earlier measurements count half.
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
