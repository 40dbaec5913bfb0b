//! Putting tasks on a pool's queue.

use super::class::Class;
use super::entry::Attributes;
use super::job::Job;
use super::produced_by::ProducedBy;
use super::queue::Shared;
use super::task::{Account, Node, Result, Task, Ticket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Puts tasks on a pool's queue. Clones are the same submitter.
#[derive(Clone)]
pub struct Submitter {
    shared: Arc<Shared>,
    cancelled: Arc<AtomicBool>,
}

impl std::fmt::Debug for Submitter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Submitter").field("cancelled", &self.cancelled).finish_non_exhaustive()
    }
}

impl Submitter {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Submitter { shared: Arc::clone(shared), cancelled: Arc::default() }
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Another submitter of the same pool and process, which is cancelled separately.
    pub(super) fn sibling(&self) -> Self {
        Submitter::new(&self.shared)
    }

    /// Prepares a task for submission. Without a [class](Submission::class) it is a continuation: only cores take it,
    /// before all tasks that have a class.
    pub fn task<T: Task>(&self, task: T) -> Submission<'_, T> {
        Submission { submitter: self, task, class: None, avoid: None, verification: false }
    }

    /// Counts an output that has been found wrong. Its producer gets no more work; if fewer than two cores would
    /// remain, a core starts with fresh state instead. If an accelerator did a part of the output, the accelerator is
    /// blamed.
    pub fn blame(&self, by: ProducedBy, reason: &str) {
        self.shared.blame(by, reason);
    }

    /// Gives fresh state to the core that produced an output, without blaming it: the core may have been wrong or not.
    pub fn renew(&self, by: ProducedBy) {
        self.shared.renew(by);
    }

    /// The name that reports use for the worker that produced an output.
    pub fn name(&self, by: ProducedBy) -> String {
        self.shared.name(by)
    }

    /// Records that the outputs are no longer wanted: jobs that no station has begun are dropped.
    pub fn cancel(&self) {
        self.cancelled.store(true, Relaxed);
    }

    /// Whether the outputs are no longer wanted.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Relaxed)
    }
}

/// A task and its options ([`Submitter::task`]).
#[derive(Debug)]
#[must_use = "it is on the queue only when it has been submitted"]
pub struct Submission<'a, T> {
    pub(super) submitter: &'a Submitter,
    task: T,
    class: Option<(Class, u64)>,
    avoid: Option<usize>,
    verification: bool,
}

impl<T: Task> Submission<'_, T> {
    /// Lets the stations that accept this class take the task. The amount of work is `bytes` of input.
    pub fn class(self, class: Class, bytes: u64) -> Self {
        Submission { class: Some((class, bytes)), ..self }
    }

    /// Keeps a continuation from the core that produced this output, if there is another core.
    pub fn avoiding(self, by: ProducedBy) -> Self {
        Submission { avoid: by.worker, ..self }
    }

    /// Marks the task as a check of another worker's output, so that it is counted as a check.
    pub fn verification(self) -> Self {
        Submission { verification: true, ..self }
    }

    /// Puts the task on the queue. Returns immediately, unless there is no station at all: the task is then done here.
    pub fn submit(self) -> Ticket<T::Output> {
        let Submission { submitter, task, class, avoid, verification } = self;
        let (node, ticket) = Node::with_ticket(task);
        submitter.send(node, class, avoid, verification);
        ticket
    }

    /// Puts the task on the queue. `then` is called on the station's thread with the task, the output and the producer;
    /// it must not block or panic.
    pub fn submit_then(self, then: impl FnOnce(T, Result<T::Output>, ProducedBy) + Send + 'static) {
        let Submission { submitter, task, class, avoid, verification } = self;
        submitter.send(Node::with_call(task, then), class, avoid, verification);
    }
}

impl Submitter {
    fn send<T: Task>(&self, node: Node<T>, class: Option<(Class, u64)>, avoid: Option<usize>, verification: bool) {
        let (class, bytes) = class.unzip();
        let bytes = bytes.unwrap_or(0);
        let account = Account { bytes, continuation: class.is_none(), verification, ..Account::default() };
        let job = Job::new(node, account, Arc::clone(&self.cancelled));
        self.shared.submit(job, Attributes { class, bytes, avoid });
    }
}
