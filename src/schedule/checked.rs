//! Tasks whose answers are checked by another worker, and done again if they are wrong.
//!
//! ```text
//! ask -> (anybody) answer -> (another core) check --right--> whoever asked
//!                               |  wrong
//!                               '-> (a core) answer again -> (another core) check --right--> whoever asked
//!                                                                '--wrong--> Miscomputed
//! ```
//!
//! The second answer shows who was wrong. If it is the same as the first, the worker that called that wrong was, and a
//! third one checks it the second time. If not, the first one's maker was. So blame waits for the retry, and falls on
//! one worker once. A core that is alone and calls its own answer wrong begins anew before the retry: what it keeps
//! would spoil the retry as well.
//!
//! Each step is a job that the one before it puts on the queue, so nobody waits.

use super::job::{Job, JobError, Question};
use super::produced_by::ProducedBy;
use super::station::Work;
use super::submitter::Submitter;
use std::fmt;

/// A task whose answers are checked.
pub(crate) trait Checked: Send + 'static {
    type Answer: Send + 'static;
    type Wrong: fmt::Display + Send + 'static;
    type Ask: Question<Answer = Self::Answer>;
    /// The same for a core, with nothing that an earlier task has left.
    type Retry: Question<Answer = Self::Answer>;
    /// It gives the answer back.
    type Check: Question<Answer = (Self::Answer, Result<(), Self::Wrong>)>;
    /// What an answer is, how it was made and how checked: `["a block", "coded", "decoded"]`.
    const WORDS: [&'static str; 3];

    fn ask(&self) -> Self::Ask;
    fn retry(&self) -> Self::Retry;
    fn check(&self, answer: Self::Answer) -> Self::Check;

    /// Whether this first answer is to be checked. Second answers are.
    fn wants(&self, answer: &Self::Answer, by: ProducedBy) -> bool;

    /// Whether both are the same answer.
    fn is_same(a: &Self::Answer, b: &Self::Answer) -> bool;
}

/// An answer that may be used.
pub(crate) struct Made<A> {
    pub answer: A,
    /// Whether it has been checked.
    pub verified: bool,
    /// Whether the first answer was called wrong.
    pub retried: bool,
}

/// Both answers were wrong.
pub(crate) struct Miscomputed<E> {
    /// Who gave the second.
    pub station: String,
    pub reason: E,
}

/// What becomes of a task.
pub(crate) type Outcome<C> = Result<Result<Made<<C as Checked>::Answer>, Miscomputed<<C as Checked>::Wrong>>, JobError>;

/// Submits a task. `done` is called with an answer that was checked, if the task wants it; on a worker's thread, so it
/// must not wait.
pub(crate) fn submit<W, C>(submitter: &Submitter<W>, task: C, done: impl FnOnce(Outcome<C>) + Send + 'static)
where
    W: Work,
    C: Checked,
    Job<C::Ask>: Into<W::Job>,
    Job<C::Retry>: Into<W::Job>,
    Job<C::Check>: Into<W::Job>,
{
    let (question, submitter) = (task.ask(), submitter.clone());
    let way = InFlight { task, submitter: submitter.clone(), done, dispute: None };
    submitter.submit_avoiding(question, None, move |answer, maker| way.answered(answer, maker, maker));
}

/// A task on its way through the steps.
struct InFlight<W: Work, C: Checked, F> {
    task: C,
    submitter: Submitter<W>,
    done: F,
    /// If the first answer was called wrong.
    dispute: Option<Dispute<C::Wrong>>,
}

/// One worker gave an answer, and another one called it wrong: one of the two is.
struct Dispute<E> {
    maker: ProducedBy,
    by: ProducedBy,
    reason: E,
    /// Who gave the same answer again, if it was the same.
    agrees: Option<ProducedBy>,
}

impl<W, C, F> InFlight<W, C, F>
where
    W: Work,
    C: Checked,
    F: FnOnce(Outcome<C>) + Send + 'static,
    Job<C::Retry>: Into<W::Job>,
    Job<C::Check>: Into<W::Job>,
{
    /// There is an answer, which somebody else than `avoid` checks.
    fn answered(self, answer: Result<C::Answer, JobError>, maker: ProducedBy, avoid: ProducedBy) {
        match answer {
            Ok(answer) if self.dispute.is_some() || self.task.wants(&answer, maker) => self.check(answer, maker, avoid),
            Ok(answer) => self.end(answer, false),
            Err(error) => self.fail(error),
        }
    }

    fn check(self, answer: C::Answer, maker: ProducedBy, avoid: ProducedBy) {
        let (question, submitter) = (self.task.check(answer), self.submitter.clone());
        submitter.submit_avoiding(question, Some(&avoid), move |checked, by| match checked {
            Ok((answer, Ok(()))) => self.end(answer, true),
            Ok((answer, Err(reason))) => self.disputed(answer, reason, maker, by),
            Err(error) => self.fail(error),
        });
    }

    /// What `maker` gave is wrong, says `by`.
    fn disputed(mut self, answer: C::Answer, reason: C::Wrong, maker: ProducedBy, by: ProducedBy) {
        if let Some(first) = &self.dispute {
            self.blame_maker(first.maker, first.by, &first.reason);
            self.blame_maker(maker, by, &reason);
            let station = self.submitter.name(maker);
            return (self.done)(Ok(Err(Miscomputed { station, reason })));
        }
        if maker.is(&by) {
            self.submitter.renew(by);
        }
        let (question, submitter) = (self.task.retry(), self.submitter.clone());
        submitter.submit_avoiding(question, Some(&maker), move |again, second| {
            let agrees = again.as_ref().is_ok_and(|again| C::is_same(again, &answer)).then_some(second);
            self.dispute = Some(Dispute { maker, by, reason, agrees });
            self.answered(again, second, if agrees.is_some() { by } else { second });
        });
    }

    /// The answer is right, as far as anybody wants to know: now it is known who was wrong before.
    fn end(self, answer: C::Answer, verified: bool) {
        let [what, made, _] = C::WORDS;
        if let Some(Dispute { maker, by, reason, agrees }) = &self.dispute {
            match agrees {
                Some(second) => {
                    let [maker, second] = [*maker, *second].map(|by| self.submitter.name(by));
                    let who = format!("{maker} {made} it, {second} the same again");
                    let text = format!("{what} that it called wrong was right: {reason}, it said ({who})");
                    self.submitter.blame(*by, &text);
                }
                None => self.blame_maker(*maker, *by, reason),
            }
        }
        let retried = self.dispute.is_some();
        (self.done)(Ok(Ok(Made { answer, verified, retried })));
    }

    /// Nobody could do a step.
    fn fail(self, error: JobError) {
        if let Some(Dispute { maker, by, reason, agrees: None }) = &self.dispute {
            self.blame_maker(*maker, *by, reason);
        }
        (self.done)(Err(error));
    }

    fn blame_maker(&self, maker: ProducedBy, by: ProducedBy, reason: &C::Wrong) {
        let [what, made, checked] = C::WORDS;
        let by = self.submitter.name(by);
        self.submitter.blame(maker, &format!("{what} that it {made} was wrong: {reason} ({by} {checked} it)"));
    }
}
