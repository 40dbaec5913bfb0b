//! A task as the scheduler sees it, and the number of a worker.

use super::class::Class;

/// A worker's number, in the order of their start.
pub(super) type Id = usize;

/// How a task is submitted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attributes {
    /// `None`: a continuation, which an earlier task or an accelerator has begun. Only cores take it, and before
    /// everything else.
    pub class: Option<Class>,
    pub bytes: u64,
    /// A core that does not take this continuation, as long as there is another.
    pub avoid: Option<Id>,
}

/// A task that waits.
pub(super) struct Entry<J> {
    pub job: J,
    pub attributes: Attributes,
    /// Counted over all tasks: the class with the oldest goes first.
    pub number: u64,
}
