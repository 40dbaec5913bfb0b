//! A job: a task on the queue, as a station sees it.

use super::core::Core;
use super::report::Counters;
use super::task::{Account, AnyTask, Node, Task, Ticket};
use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The progress of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Open,
    Completed,
    Declined,
    Forwarded,
}

/// A task that waits for a station, or that a station holds.
pub struct Job {
    task: Box<dyn AnyTask>,
    account: Account,
    progress: Progress,
    /// Set by the client that no longer wants the output.
    cancelled: Arc<AtomicBool>,
}

impl Job {
    pub(super) fn new<T: Task>(task: Node<T>, account: Account, cancelled: Arc<AtomicBool>) -> Job {
        Job { task: Box::new(task), account, progress: Progress::Open, cancelled }
    }

    /// A job that belongs to no pool, for testing a station.
    pub fn detached<T: Task>(task: T) -> (Job, Ticket<T::Output>) {
        let (node, ticket) = Node::with_ticket(task);
        (Job::new(node, Account::default(), Arc::default()), ticket)
    }

    /// Whether the job has not been completed, forwarded or declined.
    pub fn is_open(&self) -> bool {
        self.progress == Progress::Open
    }

    /// Whether the station has declined the job.
    pub fn is_declined(&self) -> bool {
        self.progress == Progress::Declined
    }

    /// The task, if it is a `T` and not yet completed.
    pub fn task<T: Task>(&self) -> Option<&T> {
        (&*self.task as &dyn Any).downcast_ref::<Node<T>>()?.task()
    }

    /// The job, if it is open and its task is a `T`.
    pub fn of<T: Task>(&mut self) -> Option<TypedJob<'_, T>> {
        let fits = self.is_open() && self.task::<T>().is_some();
        fits.then_some(TypedJob { job: self, of: PhantomData })
    }

    /// Does the task on a core, or the part of it that an accelerator has left.
    pub fn run(&mut self, core: &mut Core) {
        if self.progress != Progress::Completed {
            self.task.start(core, &self.account);
            self.progress = Progress::Completed;
        }
    }

    /// Leaves the job unchanged to a CPU core, because it does not suit this station. This is not a failure.
    pub fn decline(&mut self) {
        if self.is_open() {
            self.progress = Progress::Declined;
        }
    }

    /// Records that a station holds the job now. Returns whether the job's client still wants the output.
    pub(super) fn begin(&mut self, counters: &Arc<Counters>) -> bool {
        self.progress = Progress::Open;
        self.account.counters = Some(Arc::clone(counters));
        !self.cancelled.load(Relaxed)
    }

    pub(super) fn progress(&self) -> Progress {
        self.progress
    }

    /// Records that no worker could do the job. Does nothing if the job was completed.
    pub(super) fn fail(&mut self, reason: String) {
        self.task.fail(reason, &self.account);
    }

    fn node<T: Task>(&mut self) -> Option<&mut Node<T>> {
        (&mut *self.task as &mut dyn Any).downcast_mut()
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").field("progress", &self.progress).finish_non_exhaustive()
    }
}

/// An open job whose task is a `T` ([`Job::of`]).
pub struct TypedJob<'a, T> {
    job: &'a mut Job,
    of: PhantomData<fn(T)>,
}

impl<T: Task> TypedJob<'_, T> {
    /// The task.
    pub fn task(&self) -> &T {
        self.job.task().expect("the job is open and its task a T")
    }

    /// Gives the output.
    pub fn complete(self, output: T::Output) {
        let account = std::mem::take(&mut self.job.account);
        if let Some(node) = self.job.node::<T>() {
            node.complete(output, &account);
        }
        self.job.account = account;
        self.job.progress = Progress::Completed;
    }

    /// Gives an output that the station has proven right: no other worker [checks](super::Checked) it.
    pub fn complete_proven(self, output: T::Output) {
        self.job.account.proven = true;
        self.complete(output);
    }

    /// Leaves the job unchanged to a CPU core, because it does not suit this station. This is not a failure.
    pub fn decline(self) {
        self.job.decline();
    }

    /// Hands `rest` to a CPU core: a task with the same output and less left to do.
    pub fn forward<R: Task<Output = T::Output>>(self, rest: R) {
        if let Some(rest) = self.job.node::<T>().and_then(|node| node.forward(rest)) {
            self.job.task = Box::new(rest);
            self.job.account.count_forwarded();
            self.job.progress = Progress::Forwarded;
        }
    }
}

impl<T> fmt::Debug for TypedJob<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.job, f)
    }
}
