//! Who made an answer, so that somebody else can verify it.

use super::report::Counters;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The station that made an answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Maker {
    /// `None`: a job of no pool.
    counters: Option<Arc<Counters>>,
    /// Of the accelerator that did a part of it and passed it on.
    passer: Option<Arc<Counters>>,
}

impl Maker {
    pub(super) fn new(counters: Option<Arc<Counters>>, passer: Option<Arc<Counters>>) -> Maker {
        Maker { counters, passer }
    }

    /// The station's number.
    pub(super) fn station(&self) -> Option<usize> {
        self.counters.as_ref().map(|counters| counters.station)
    }

    /// Whether both are the same station.
    pub fn is(&self, other: &Maker) -> bool {
        self.station() == other.station()
    }

    /// Its name in reports.
    pub fn name(&self) -> String {
        self.counters.as_ref().map_or_else(|| "a station".to_owned(), |counters| counters.name())
    }

    /// Whether an accelerator made the answer, or a part of it.
    pub fn is_accelerated(&self) -> bool {
        let is_accelerator = |counters: &Arc<Counters>| counters.accelerator.load(Relaxed);
        self.passer.is_some() || self.counters.as_ref().is_some_and(is_accelerator)
    }

    /// Counts an answer that another station has found wrong. Its station gets no more work. If an accelerator did a
    /// part of it and a core the rest, the accelerator is blamed: what it passes on is hardly checked, and many cores
    /// finish it, which would be blamed one after the other.
    pub fn count_wrong(&self, reason: &str) {
        if let Some(counters) = self.passer.as_ref().or(self.counters.as_ref()) {
            counters.count_wrong(reason);
        }
    }
}
