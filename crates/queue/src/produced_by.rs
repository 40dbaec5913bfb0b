//! Who produced an output, so that another worker can verify it.

use super::entry::Id;

/// The worker that produced an output, by its number in its pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProducedBy {
    /// `None`: the output of a job of no pool.
    pub(super) worker: Option<Id>,
    /// The accelerator that produced it, or did a part of it and forwarded the rest.
    pub(super) accelerator: Option<Id>,
}

impl ProducedBy {
    /// Whether both outputs are the same worker's. (An accelerator that forwarded a task does not count.)
    pub fn is(&self, other: &ProducedBy) -> bool {
        self.worker == other.worker
    }

    /// Whether an accelerator produced the answer, or a part of it.
    pub fn is_accelerated(&self) -> bool {
        self.accelerator.is_some()
    }

    /// Who is blamed if the answer is wrong. If an accelerator did a part of it and a core the rest, it is the
    /// accelerator: what it passes on is hardly checked, and many cores finish it, which would be blamed one after the
    /// other.
    pub(super) fn blamed(&self) -> Option<Id> {
        self.accelerator.or(self.worker)
    }
}
