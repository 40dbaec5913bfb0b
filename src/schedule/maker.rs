//! Who made an answer, so that somebody else can verify it.

use super::report::Counters;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The station that made an answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Maker {
    /// `None`: a job of no pool.
    counters: Option<Arc<Counters>>,
    /// Whether an accelerator did a part of it.
    accelerated: bool,
}

impl Maker {
    pub(super) fn new(counters: Option<Arc<Counters>>, accelerated: bool) -> Maker {
        let by_accelerator = counters.as_ref().is_some_and(|counters| counters.accelerator.load(Relaxed));
        Maker { counters, accelerated: accelerated || by_accelerator }
    }

    /// The station's number.
    pub(super) fn station(&self) -> Option<usize> {
        self.counters.as_ref().map(|counters| counters.station)
    }

    /// Its name in reports.
    pub fn name(&self) -> String {
        self.counters.as_ref().map_or_else(|| "a station".to_owned(), |counters| counters.name())
    }

    /// Whether an accelerator made the answer, or a part of it.
    pub fn is_accelerated(&self) -> bool {
        self.accelerated
    }

    /// Counts an answer that another station has found wrong. Its station gets no more work.
    pub fn count_wrong(&self, reason: &str) {
        if let Some(counters) = &self.counters {
            counters.count_wrong(reason);
        }
    }
}
