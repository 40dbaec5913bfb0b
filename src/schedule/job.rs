//! A job: a question, and the place where its answer goes. The type of the question fixes the type of the answer, so a
//! station cannot answer another question than the one it was asked.

use super::produced_by::ProducedBy;
use super::report::Counters;
use super::state::Id;
use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// What a station is asked to do: the input of one job.
///
/// Stations only read it: a station that fails has lost nothing, and a CPU core answers in its place.
pub trait Question: Send + 'static {
    /// What the station returns.
    type Answer: Send + 'static;

    /// Which class of its kind of work it belongs to. Jobs of one class have a queue and measured rates of their own.
    const CLASS: Class = Class(0);

    /// How much work it is, in bytes of input. Rates are measured in them.
    fn bytes(&self) -> u64;

    /// Whether an accelerator has done its part and passed the job on ([`Job::pass_on`]): only cores take it then.
    fn is_second_stage(&self) -> bool {
        false
    }

    /// Whether it verifies what another station has made. Such jobs are counted by themselves.
    fn is_verification(&self) -> bool {
        false
    }

    /// How many bytes came out, for reports.
    fn bytes_out(answer: &Self::Answer) -> u64 {
        let _ = answer;
        0
    }
}

/// A class of jobs: its number among those of its kind of work, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Class(pub u8);

impl Class {
    /// The number as an index.
    pub(super) fn index(self) -> usize {
        self.0.into()
    }
}

/// Which classes of jobs a station accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepts {
    /// All, and what other stations pass on: a CPU core.
    Everything,
    /// These, from the beginning: an accelerator.
    Only(&'static [Class]),
    /// All but these, and what other stations pass on: a core that leaves some to the accelerators.
    AllBut(&'static [Class]),
}

impl Accepts {
    /// Whether jobs of this class are accepted that nobody has begun yet.
    pub fn first_stage(self, class: Class) -> bool {
        match self {
            Accepts::Everything => true,
            Accepts::Only(classes) => classes.contains(&class),
            Accepts::AllBut(classes) => !classes.contains(&class),
        }
    }

    /// Whether jobs are accepted that other stations have passed on or declined.
    pub fn second_stage(self) -> bool {
        !matches!(self, Accepts::Only(_))
    }
}

/// Where a job has got to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Open,
    Answered,
    Declined,
    PassedOn,
}

/// The last word on a job that nobody could do: the plain way of a core failed, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobError(pub String);

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for JobError {}

type Result<A> = std::result::Result<A, JobError>;

/// Where an answer goes.
enum Reply<A> {
    Ticket(Sender<Result<A>>),
    Call(Box<dyn FnOnce(Result<A>, ProducedBy) + Send>),
}

/// One job, as a station sees it.
pub struct Job<Q: Question> {
    question: Q,
    /// `None` once it has been answered.
    reply: Option<Reply<Q::Answer>>,
    progress: Progress,
    /// [`Question::bytes`] when the job was submitted: a station may take the question apart.
    bytes: u64,
    /// Set by the client that no longer wants the answer.
    cancelled: Arc<AtomicBool>,
    /// Of the station that has it.
    counters: Option<Arc<Counters>>,
    /// The accelerator that did a part of it.
    passer: Option<Id>,
}

impl<Q: Question> Job<Q> {
    /// A job whose answer arrives on the ticket.
    pub(super) fn with_ticket(question: Q, cancelled: Arc<AtomicBool>) -> (Self, Ticket<Q::Answer>) {
        let (sender, receiver) = bounded(1);
        (Self::new(question, cancelled, Reply::Ticket(sender)), Ticket(receiver))
    }

    /// A job whose answer is handed to `then`, on the thread of the station that gives it.
    pub(super) fn with_call(
        question: Q,
        cancelled: Arc<AtomicBool>,
        then: impl FnOnce(Result<Q::Answer>, ProducedBy) + Send + 'static,
    ) -> Self {
        Self::new(question, cancelled, Reply::Call(Box::new(then)))
    }

    fn new(question: Q, cancelled: Arc<AtomicBool>, reply: Reply<Q::Answer>) -> Self {
        let bytes = question.bytes();
        Job { question, reply: Some(reply), progress: Progress::Open, bytes, cancelled, counters: None, passer: None }
    }

    /// A job of no pool, for testing a station.
    pub fn detached(question: Q) -> (Self, Ticket<Q::Answer>) {
        Self::with_ticket(question, Arc::default())
    }

    /// Whether nothing has been done about it: not answered, passed on or declined.
    pub fn is_open(&self) -> bool {
        self.progress == Progress::Open
    }

    /// Whether the station has declined it.
    pub fn is_declined(&self) -> bool {
        self.progress == Progress::Declined
    }

    /// What is asked.
    pub fn question(&self) -> &Q {
        &self.question
    }

    /// What is asked, for a station that takes memory out of it. The station must then answer: a core that does the job
    /// in its place would miss what is gone.
    pub fn question_mut(&mut self) -> &mut Q {
        &mut self.question
    }

    /// Answers. A second answer is ignored.
    pub fn answer(&mut self, answer: Q::Answer) {
        let Some(reply) = self.reply.take() else { return };
        self.progress = Progress::Answered;
        if let Some(counters) = &self.counters {
            match self.question.is_verification() {
                true => counters.count_verified(),
                // Whoever passed a job on has counted its bytes.
                false => counters.count_answer(!self.question.is_second_stage(), self.bytes, Q::bytes_out(&answer)),
            }
        }
        reply.send(Ok(answer), self.produced_by());
    }

    /// Who has the job now, and has done or will do the rest of it.
    fn produced_by(&self) -> ProducedBy {
        let own = self.counters.as_ref();
        let accelerator = own.filter(|counters| counters.accelerator.load(Relaxed)).map(|counters| counters.station);
        ProducedBy { worker: own.map(|counters| counters.station), accelerator: self.passer.or(accelerator) }
    }

    /// Hands the job to a CPU core as it is: it is not one for this station. This is no failure.
    pub fn decline(&mut self) {
        if self.progress == Progress::Open {
            self.progress = Progress::Declined;
        }
    }

    /// Hands the job to a CPU core with a part of it done: `rest` asks for the same answer, and less of it is left to
    /// do.
    pub fn pass_on(&mut self, rest: Q) {
        if self.progress == Progress::Open {
            self.question = rest;
            self.progress = Progress::PassedOn;
            if let Some(counters) = &self.counters {
                counters.count_answer(true, self.bytes, 0);
                if counters.accelerator.load(Relaxed) {
                    self.passer = Some(counters.station);
                }
            }
        }
    }

    /// Takes the duty to answer out of the job: the caller sees to it that `send` is called sometime.
    ///
    /// For a job that puts other jobs on the queue, the last of which answers. The job counts as done.
    pub fn defer(&mut self) -> Option<Deferred<Q::Answer>> {
        let reply = self.reply.take()?;
        self.progress = Progress::Answered;
        if let Some(counters) = &self.counters {
            counters.count_answer(true, self.bytes, 0);
            counters.count_deferred(self.bytes);
        }
        Some(Deferred(Some((reply, self.produced_by()))))
    }
}

impl<Q: Question + fmt::Debug> fmt::Debug for Job<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("question", &self.question)
            .field("progress", &self.progress)
            .finish_non_exhaustive()
    }
}

/// The duty to answer a job ([`Job::defer`]). Dropped unanswered, it answers with an error.
pub struct Deferred<A>(Option<(Reply<A>, ProducedBy)>);

impl<A> Deferred<A> {
    /// Answers.
    pub fn send(mut self, answer: Result<A>) {
        if let Some((reply, by)) = self.0.take() {
            reply.send(answer, by);
        }
    }
}

impl<A> Drop for Deferred<A> {
    fn drop(&mut self) {
        if let Some((reply, by)) = self.0.take() {
            reply.send(Err(JobError("the job was given up".to_owned())), by);
        }
    }
}

impl<A> fmt::Debug for Deferred<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Deferred")
    }
}

impl<A> Reply<A> {
    fn send(self, answer: Result<A>, by: ProducedBy) {
        match self {
            // Perhaps nobody waits for it any more.
            Reply::Ticket(sender) => drop(sender.send(answer)),
            Reply::Call(then) => then(answer, by),
        }
    }
}

/// What lies on a queue: one [`Job`], or an enum with one variant for each kind of [`Question`].
pub trait AnyJob: Send + 'static {
    /// The job itself, its question's type erased. An enum calls this on whichever job it holds.
    fn erased(&mut self) -> &mut dyn ErasedJob;
}

/// What the scheduler needs of a job. Only [`Job`] implements it.
#[allow(private_interfaces)]
pub trait ErasedJob: sealed::Sealed {
    #[doc(hidden)]
    fn begin(&mut self, counters: &Arc<Counters>) -> bool;
    #[doc(hidden)]
    fn progress(&self) -> Progress;
    #[doc(hidden)]
    fn fail(&mut self, reason: String);
}

mod sealed {
    pub trait Sealed {}
    impl<Q: super::Question> Sealed for super::Job<Q> {}
}

#[allow(private_interfaces)]
impl<Q: Question> ErasedJob for Job<Q> {
    /// A station has it now. Returns whether anybody still wants the answer.
    fn begin(&mut self, counters: &Arc<Counters>) -> bool {
        self.progress = Progress::Open;
        self.counters = Some(Arc::clone(counters));
        !self.cancelled.load(Relaxed)
    }

    fn progress(&self) -> Progress {
        self.progress
    }

    /// Nobody could do it.
    fn fail(&mut self, reason: String) {
        if let Some(reply) = self.reply.take() {
            let by = self.produced_by();
            reply.send(Err(JobError(reason)), by);
        }
    }
}

impl<Q: Question> AnyJob for Job<Q> {
    fn erased(&mut self) -> &mut dyn ErasedJob {
        self
    }
}

/// The receiving end of one answer. Whoever keeps tickets in the order of the input has the answers in that order.
#[derive(Debug)]
pub struct Ticket<A>(Receiver<Result<A>>);

impl<A> Ticket<A> {
    /// A ticket for an answer that several jobs together give, and the duty to answer.
    pub(crate) fn with_duty() -> (Deferred<A>, Ticket<A>) {
        let (sender, receiver) = bounded(1);
        (Deferred(Some((Reply::Ticket(sender), ProducedBy::default()))), Ticket(receiver))
    }

    /// Waits for the answer.
    pub fn wait(&self) -> Result<A> {
        self.0.recv().unwrap_or_else(|_| Err(Self::dropped()))
    }

    /// The answer, if it is there.
    pub fn poll(&self) -> Option<Result<A>> {
        match self.0.try_recv() {
            Ok(answer) => Some(answer),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err(Self::dropped())),
        }
    }

    /// The answer: with `wait` it waits, otherwise `None` says that it is not there yet.
    pub fn take(&self, wait: bool) -> Option<Result<A>> {
        if wait { Some(self.wait()) } else { self.poll() }
    }

    fn dropped() -> JobError {
        JobError("a station dropped the job".to_owned())
    }
}
