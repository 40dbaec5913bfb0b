//! The producer of an output, so that another worker can verify it.

use super::entry::Id;

/// The worker that produced an output, by its number in its pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProducedBy {
    /// `None` if the job belonged to no pool.
    pub(super) worker: Option<Id>,
    /// The accelerator that produced the output, or did a part of the task and forwarded the rest.
    pub(super) accelerator: Option<Id>,
    /// Whether the worker has proven that the output is right.
    pub(super) proven: bool,
}

impl ProducedBy {
    /// Whether the same worker produced both outputs. (An accelerator that forwarded a task does not count.)
    pub fn is(&self, other: &ProducedBy) -> bool {
        self.worker == other.worker
    }

    /// Whether an accelerator produced the answer, or a part of it.
    pub fn is_accelerated(&self) -> bool {
        self.accelerator.is_some()
    }

    /// The worker to blame if the answer is wrong. If an accelerator did a part and a core the rest, the accelerator is
    /// to blame: its part is hardly checked, and many cores finish its tasks, so otherwise the cores would be blamed
    /// one after another.
    pub(super) fn blamed(&self) -> Option<Id> {
        self.accelerator.or(self.worker)
    }
}
