//! Tasks whose outputs are checked by another worker, and done again if they are wrong.
//!
//! ```text
//! task -> (any worker) output -> (another core) check --right--> client
//!                                   |  wrong
//!                                   '-> (a core, fresh) output -> (another core) check --right--> client
//!                                                                      '--wrong--> Miscomputed
//! ```
//!
//! The second output shows which worker was wrong. If both outputs are equal, the checker was wrong, and a third worker
//! checks the second output. If they differ, the maker of the first was wrong. Blame therefore waits for the retry and
//! falls on one worker, once. A core that is alone checks its own output. If it calls that output wrong, it starts with
//! fresh state before the retry, because its old state would spoil the retry as well.
//!
//! An output that an accelerator has proven right itself ([`TypedJob::complete_proven`](super::TypedJob)) counts as
//! checked.
//!
//! Each step is a task that the step before it submits, so no thread waits.

use super::core::Core;
use super::produced_by::ProducedBy;
use super::submitter::{Submission, Submitter};
use super::task::{Result as TaskResult, Task, TaskError};
use std::cell::RefCell;
use std::fmt;

/// A task whose outputs another worker can check.
pub trait Checked: Task {
    /// Describes what is wrong with an output.
    type Wrong: fmt::Display + Send + 'static;

    /// Names the output, its making and its checking in messages: `["a block", "coded", "decoded"]`.
    const WORDS: [&'static str; 3];

    /// Checks an output. The check may record in the output what it learns.
    ///
    /// # Errors
    /// What is wrong with it.
    fn check(&self, output: &mut Self::Output, core: &mut Core) -> Result<(), Self::Wrong>;

    /// Whether two outputs are equal.
    fn is_same(a: &Self::Output, b: &Self::Output) -> bool;
}

/// The task of checking an output. Afterwards the task still has the output.
pub struct Check<T: Checked> {
    /// The task that gave the output.
    pub task: T,
    output: RefCell<T::Output>,
}

impl<T: Checked> Check<T> {
    /// Calls `look` with the output.
    pub fn with_output<R>(&self, look: impl FnOnce(&T::Output) -> R) -> R {
        look(&self.output.borrow())
    }
}

impl<T: Checked> fmt::Debug for Check<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Check").finish_non_exhaustive()
    }
}

impl<T: Checked> Task for Check<T> {
    type Output = Result<(), T::Wrong>;

    fn run(&self, core: &mut Core) -> Self::Output {
        self.task.check(&mut self.output.borrow_mut(), core)
    }
}

/// The same task on a core with fresh state: the state that a core keeps from earlier tasks may have caused the error.
#[derive(Debug)]
pub struct Retry<T>(pub T);

impl<T: Task> Task for Retry<T> {
    type Output = T::Output;

    fn run(&self, core: &mut Core) -> T::Output {
        self.0.run(&mut core.fresh())
    }

    fn bytes_out(output: &T::Output) -> u64 {
        T::bytes_out(output)
    }
}

/// An output that may be used.
#[derive(Debug)]
pub struct Made<O> {
    /// The output.
    pub output: O,
    /// Whether it has been checked.
    pub verified: bool,
    /// Whether the first output was called wrong.
    pub retried: bool,
}

/// Both the first output and the retry were wrong.
#[derive(Debug)]
pub struct Miscomputed<E> {
    /// The station that gave the second output.
    pub station: String,
    /// What is wrong with it.
    pub reason: E,
}

/// The result of a checked task.
pub type Outcome<T> = TaskResult<Result<Made<<T as Task>::Output>, Miscomputed<<T as Checked>::Wrong>>>;

impl<T: Checked> Submission<'_, T> {
    /// Puts the task on the queue. `wants` decides whether its first output is checked; a second output always is.
    /// `done` is called on a worker's thread, so it must not wait.
    pub fn submit_checked(
        self,
        wants: impl FnOnce(&T::Output, ProducedBy) -> bool + Send + 'static,
        done: impl FnOnce(Outcome<T>) + Send + 'static,
    ) {
        let flight = InFlight { submitter: self.submitter.clone(), done: Box::new(done), dispute: None };
        self.submit_then(move |task: T, output, maker| match output {
            Ok(output) if !wants(&output, maker) => flight.end(output, false),
            Ok(output) if maker.proven => flight.end(output, true),
            Ok(output) => flight.check(task, output, maker, maker),
            Err(error) => flight.fail(error),
        });
    }
}

/// A task on its way through the steps.
struct InFlight<T: Checked> {
    submitter: Submitter,
    done: Box<dyn FnOnce(Outcome<T>) + Send>,
    /// Set if the first output was called wrong.
    dispute: Option<Dispute<T::Wrong>>,
}

/// One worker gave an output and another called it wrong: one of the two made an error.
struct Dispute<E> {
    maker: ProducedBy,
    by: ProducedBy,
    reason: E,
    /// The worker that gave an equal second output, if one did.
    agrees: Option<ProducedBy>,
}

impl<T: Checked> InFlight<T> {
    /// Submits the check of an output by a worker other than `avoid`.
    fn check(self, task: T, output: T::Output, maker: ProducedBy, avoid: ProducedBy) {
        let submitter = self.submitter.clone();
        let check = submitter.task(Check { task, output: RefCell::new(output) }).verification().avoiding(avoid);
        check.submit_then(move |Check { task, output }, checked, by| match checked {
            Ok(Ok(())) => self.end(output.into_inner(), true),
            Ok(Err(reason)) => self.disputed(task, output.into_inner(), reason, maker, by),
            Err(error) => self.fail(error),
        });
    }

    /// Handles the verdict of the worker `by` that the output of `maker` is wrong.
    fn disputed(mut self, task: T, output: T::Output, reason: T::Wrong, maker: ProducedBy, by: ProducedBy) {
        if let Some(first) = &self.dispute {
            self.blame_maker(first.maker, first.by, &first.reason);
            self.blame_maker(maker, by, &reason);
            let station = self.submitter.name(maker);
            return (self.done)(Ok(Err(Miscomputed { station, reason })));
        }
        if maker.is(&by) {
            self.submitter.renew(by);
        }
        let submitter = self.submitter.clone();
        submitter.task(Retry(task)).avoiding(maker).submit_then(move |Retry(task), retried, second| {
            let agrees = retried.as_ref().is_ok_and(|retried| T::is_same(retried, &output)).then_some(second);
            self.dispute = Some(Dispute { maker, by, reason, agrees });
            match retried {
                Ok(output) => self.check(task, output, second, if agrees.is_some() { by } else { second }),
                Err(error) => self.fail(error),
            }
        });
    }

    /// The output is right, or the client did not want it checked. This settles which worker was wrong before.
    fn end(self, output: T::Output, verified: bool) {
        let [what, made, _] = T::WORDS;
        if let Some(Dispute { maker, by, reason, agrees }) = &self.dispute {
            match agrees {
                Some(second) => {
                    let [maker, second] = [*maker, *second].map(|by| self.submitter.name(by));
                    let who = format!("{maker} {made} it, and {second} {made} the same again");
                    let text = format!("{what} that it called wrong was right: {reason} ({who})");
                    self.submitter.blame(*by, &text);
                }
                None => self.blame_maker(*maker, *by, reason),
            }
        }
        let retried = self.dispute.is_some();
        (self.done)(Ok(Ok(Made { output, verified, retried })));
    }

    /// Handles the failure of a step.
    fn fail(self, error: TaskError) {
        if let Some(Dispute { maker, by, reason, agrees: None }) = &self.dispute {
            self.blame_maker(*maker, *by, reason);
        }
        (self.done)(Err(error));
    }

    fn blame_maker(&self, maker: ProducedBy, by: ProducedBy, reason: &T::Wrong) {
        let [what, made, checked] = T::WORDS;
        let by = self.submitter.name(by);
        self.submitter.blame(maker, &format!("{what} that it {made} was wrong: {reason} ({by} {checked} it)"));
    }
}
