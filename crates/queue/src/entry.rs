//! A task as the scheduler sees it, and the number of a worker.

use super::class::Class;

/// A worker's number; workers are numbered in the order in which they start.
pub(super) type Id = usize;

/// The options with which a task is submitted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attributes {
    /// `None` stands for a continuation, begun by an earlier task or an accelerator. Only cores take it, before
    /// everything else.
    pub class: Option<Class>,
    pub bytes: u64,
    /// The core that must not take this continuation as long as there is another one.
    pub avoid: Option<Id>,
}

/// A waiting task.
pub(super) struct Entry<J> {
    pub job: J,
    pub attributes: Attributes,
    /// The task's number among all tasks: the class with the oldest task goes first.
    pub number: u64,
}
