//! A task, and the destination of its output. The task's type fixes the output's type, so a station cannot answer a
//! task with the output of another kind of task.

use super::core::Core;
use super::produced_by::ProducedBy;
use super::report::Counters;
use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// A piece of work. Any type may be one; there is no central list of them.
///
/// A task knows how a core runs it. Accelerators read tasks of the classes that they accept
/// ([`Job::of`](super::Job::of)). Workers only read a task, so a worker that fails has lost nothing: a core runs the
/// same task again.
pub trait Task: Send + Sized + 'static {
    /// The output.
    type Output: Send + 'static;

    /// Does the whole task on a core.
    fn run(&self, core: &mut Core) -> Self::Output;

    /// Begins the task on a core. A task that many cores should share returns [`Start::Later`]: it submits other tasks,
    /// and the last of these fulfils the duty.
    fn start(&self, core: &mut Core) -> Start<Self::Output> {
        Start::Done(self.run(core))
    }

    /// The number of bytes of the output, for reports.
    fn bytes_out(output: &Self::Output) -> u64 {
        let _ = output;
        0
    }
}

/// The outcome of beginning a task on a core.
pub enum Start<O> {
    /// The task is done.
    Done(O),
    /// Other tasks continue it: this function is called with the duty to give the output.
    Later(Box<dyn FnOnce(Duty<O>) + Send>),
}

impl<O> fmt::Debug for Start<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if matches!(self, Start::Done(_)) { "Done" } else { "Later" })
    }
}

/// The final error of a task that could not be done, not even by a core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskError(pub String);

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TaskError {}

pub(super) type Result<O> = std::result::Result<O, TaskError>;

/// A callback, which gets the task back, to check its output or to do the task again.
type Then<T> = Box<dyn FnOnce(T, Result<<T as Task>::Output>, ProducedBy) + Send>;

/// The destination of an output.
pub(super) enum Reply<T: Task> {
    Ticket(Sender<Result<T::Output>>),
    Call(Then<T>),
}

impl<T: Task> Reply<T> {
    fn send(self, task: T, output: Result<T::Output>, by: ProducedBy) {
        match self {
            // An error means that the ticket was dropped.
            Reply::Ticket(sender) => drop(sender.send(output)),
            Reply::Call(then) => then(task, output, by),
        }
    }
}

/// The counts of a job, and the worker to which they belong.
#[derive(Debug, Default)]
pub(super) struct Account {
    /// The counters of the worker that has the job.
    pub counters: Option<Arc<Counters>>,
    /// The number of bytes of input.
    pub bytes: u64,
    /// Set if an accelerator did a part of the job, or if it was submitted for a core to finish.
    pub continuation: bool,
    /// Set if the job checks another worker's output.
    pub verification: bool,
    /// The accelerator that did a part of the job.
    pub accelerator: Option<usize>,
    /// Set if the worker has proven its own output right.
    pub proven: bool,
}

impl Account {
    /// The workers that did a part of the task or will do the rest of it.
    pub fn produced_by(&self) -> ProducedBy {
        let own = self.counters.as_ref();
        let accelerator = own.filter(|counters| counters.report().accelerator).map(|counters| counters.station);
        let (worker, accelerator) = (own.map(|counters| counters.station), self.accelerator.or(accelerator));
        ProducedBy { worker, accelerator, proven: self.proven }
    }

    fn count(&self, bytes_out: u64) {
        let Some(counters) = &self.counters else { return };
        if self.verification || self.proven {
            counters.report().verified += 1;
        }
        if !self.verification {
            // The worker that forwarded a task has counted its bytes.
            counters.count_output(!self.continuation, self.bytes, bytes_out);
        }
    }

    /// Counts an accelerator's part of a task, before it forwards the task.
    pub fn count_forwarded(&mut self) {
        if let Some(counters) = &self.counters {
            counters.count_output(true, self.bytes, 0);
            if counters.report().accelerator {
                self.accelerator = Some(counters.station);
            }
        }
        self.continuation = true;
    }
}

/// A task and its reply; `None` once it has been replied to.
pub(super) struct Node<T: Task>(Option<(T, Reply<T>)>);

impl<T: Task> Node<T> {
    /// A task whose output arrives on the ticket.
    pub fn with_ticket(task: T) -> (Self, Ticket<T::Output>) {
        let (sender, receiver) = bounded(1);
        (Node(Some((task, Reply::Ticket(sender)))), Ticket(receiver))
    }

    /// A task whose output goes to `then`, called on the thread of the worker that gives it.
    pub fn with_call(task: T, then: impl FnOnce(T, Result<T::Output>, ProducedBy) + Send + 'static) -> Self {
        Node(Some((task, Reply::Call(Box::new(then)))))
    }

    pub fn task(&self) -> Option<&T> {
        self.0.as_ref().map(|(task, _)| task)
    }

    pub fn complete(&mut self, output: T::Output, account: &Account) {
        if let Some((task, reply)) = self.0.take() {
            account.count(T::bytes_out(&output));
            reply.send(task, Ok(output), account.produced_by());
        }
    }

    /// The same duty with less left to do. A callback still gets the original task back.
    pub fn forward<R: Task<Output = T::Output>>(&mut self, rest: R) -> Option<Node<R>> {
        let (task, reply) = self.0.take()?;
        let reply = match reply {
            Reply::Ticket(sender) => Reply::Ticket(sender),
            Reply::Call(then) => Reply::Call(Box::new(move |_rest, output, by| then(task, output, by))),
        };
        Some(Node(Some((rest, reply))))
    }
}

/// A task of any type.
pub(super) trait AnyTask: Any + Send {
    /// A core does the task and gives its output, or leaves that to other tasks.
    fn start(&mut self, core: &mut Core, account: &Account);
    /// Records that the task cannot be done.
    fn fail(&mut self, reason: String, account: &Account);
}

impl<T: Task> AnyTask for Node<T> {
    fn start(&mut self, core: &mut Core, account: &Account) {
        let Some(task) = self.task() else { return };
        match task.start(core) {
            Start::Done(output) => self.complete(output, account),
            Start::Later(go_on) => {
                let Some((task, reply)) = self.0.take() else { return };
                if let Some(counters) = &account.counters {
                    counters.count_output(true, account.bytes, 0);
                    counters.deferred.fetch_add(account.bytes, Relaxed);
                }
                let by = account.produced_by();
                go_on(Duty(Some(Box::new(move |output| reply.send(task, output, by)))));
            }
        }
    }

    fn fail(&mut self, reason: String, account: &Account) {
        if let Some((task, reply)) = self.0.take() {
            reply.send(task, Err(TaskError(reason)), account.produced_by());
        }
    }
}

/// The duty to give a task's output. If it is dropped unfulfilled, the output is an error.
pub struct Duty<O>(Option<Box<dyn FnOnce(Result<O>) + Send>>);

impl<O> Duty<O> {
    /// Gives the output.
    pub fn fulfil(mut self, output: Result<O>) {
        if let Some(send) = self.0.take() {
            send(output);
        }
    }
}

impl<O> Drop for Duty<O> {
    fn drop(&mut self) {
        if let Some(send) = self.0.take() {
            send(Err(TaskError("the task was given up".to_owned())));
        }
    }
}

impl<O> fmt::Debug for Duty<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Duty")
    }
}

/// The receiving end of one output. Tickets kept in the order of the input give the outputs in that order.
#[derive(Debug)]
pub struct Ticket<O>(Receiver<Result<O>>);

impl<O: Send + 'static> Ticket<O> {
    /// A ticket for an output that several tasks give together, and the duty to give that output.
    pub fn with_duty() -> (Duty<O>, Ticket<O>) {
        let (sender, receiver) = bounded(1);
        // An error means that the ticket was dropped.
        (Duty(Some(Box::new(move |output| drop(sender.send(output))))), Ticket(receiver))
    }
}

impl<O> Ticket<O> {
    /// Waits for the output.
    ///
    /// # Errors
    /// Neither a worker nor a fresh core could do the task.
    pub fn wait(&self) -> Result<O> {
        self.0.recv().unwrap_or_else(|_| Err(Self::dropped()))
    }

    /// The output, if it has arrived.
    pub fn poll(&self) -> Option<Result<O>> {
        match self.0.try_recv() {
            Ok(output) => Some(output),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err(Self::dropped())),
        }
    }

    /// The output. Waits for the output if `wait`; otherwise `None` says that it has not arrived yet.
    pub fn take(&self, wait: bool) -> Option<Result<O>> {
        if wait { Some(self.wait()) } else { self.poll() }
    }

    fn dropped() -> TaskError {
        TaskError("a station dropped the task".to_owned())
    }
}
