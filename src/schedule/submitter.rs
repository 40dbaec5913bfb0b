//! Who puts jobs on a pool's queue.

use super::job::{Job, JobError, Question, Ticket};
use super::produced_by::ProducedBy;
use super::queue::Shared;
use super::state::{Attributes, Id};
use super::station::Work;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Puts jobs on a pool's queue. Clones are the same submitter.
pub struct Submitter<W: Work> {
    shared: Arc<Shared<W>>,
    cancelled: Arc<AtomicBool>,
}

impl<W: Work> Clone for Submitter<W> {
    fn clone(&self) -> Self {
        Submitter { shared: Arc::clone(&self.shared), cancelled: Arc::clone(&self.cancelled) }
    }
}

impl<W: Work> std::fmt::Debug for Submitter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Submitter").field("cancelled", &self.cancelled).finish_non_exhaustive()
    }
}

impl<W: Work> Submitter<W> {
    pub(super) fn new(shared: &Arc<Shared<W>>) -> Self {
        Submitter { shared: Arc::clone(shared), cancelled: Arc::default() }
    }

    pub(super) fn shared(&self) -> &Arc<Shared<W>> {
        &self.shared
    }

    /// Another one of the same pool and process, which is cancelled by itself.
    pub(super) fn sibling(&self) -> Self {
        Submitter::new(&self.shared)
    }

    /// Asks `question` of the stations. Returns at once, unless there is not one station: then the answer is found
    /// here.
    pub fn submit<Q: Question>(&self, question: Q) -> Ticket<Q::Answer>
    where
        Job<Q>: Into<W::Job>,
    {
        let (job, ticket) = Job::with_ticket(question, Arc::clone(&self.cancelled));
        self.send(job, None);
        ticket
    }

    /// Asks `question`, and has `then` called with the answer on the station's thread. It must not block, nor panic.
    pub fn submit_then<Q: Question>(&self, question: Q, then: impl FnOnce(Result<Q::Answer, JobError>) + Send + 'static)
    where
        Job<Q>: Into<W::Job>,
    {
        self.submit_avoiding(question, None, |answer, _| then(answer));
    }

    /// The same, and `then` is told who answered. A second stage is not done by the core `avoid`, if there is another.
    pub fn submit_avoiding<Q: Question>(
        &self,
        question: Q,
        avoid: Option<&ProducedBy>,
        then: impl FnOnce(Result<Q::Answer, JobError>, ProducedBy) + Send + 'static,
    ) where
        Job<Q>: Into<W::Job>,
    {
        let avoid = avoid.and_then(|by| by.worker);
        self.send(Job::with_call(question, Arc::clone(&self.cancelled), then), avoid);
    }

    fn send<Q: Question>(&self, job: Job<Q>, avoid: Option<Id>)
    where
        Job<Q>: Into<W::Job>,
    {
        let (bytes, continuation) = (job.question().bytes(), job.question().is_second_stage());
        self.shared.submit(job.into(), Attributes { class: Q::CLASS, bytes, continuation, avoid });
    }

    /// Counts an answer that has been found wrong. Whoever produced it gets no more work; a core without which there
    /// would be less than two begins anew instead. If an accelerator did a part of it, the accelerator is blamed.
    pub fn blame(&self, by: ProducedBy, reason: &str) {
        self.shared.blame(by, reason);
    }

    /// Lets the core that gave an answer begin anew, without blaming it: it may have been wrong, or not.
    pub fn renew(&self, by: ProducedBy) {
        self.shared.renew(by);
    }

    /// The name of the worker that produced an answer, as reports have it.
    pub fn name(&self, by: ProducedBy) -> String {
        self.shared.name(by)
    }

    /// Says that nobody wants the answers any more: jobs that no station has begun are dropped.
    pub fn cancel(&self) {
        self.cancelled.store(true, Relaxed);
    }

    /// Whether nobody wants the answers any more.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Relaxed)
    }
}
