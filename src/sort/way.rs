//! The way of a question: asked, answered, checked, and asked again if the answer was wrong.
//!
//! ```text
//! question -> (anybody) answer it -> (another core) check --right--> whoever asked
//!                                         |  wrong: counted as the maker's, who gets no more work
//!                                         '-> (a core) answer it again -> (another core) check --right--> ...
//!                                                                               '--wrong--> Error::Missorted
//! ```
//!
//! Each step is a job that the one before it puts on the queue, so nobody waits but who asked.

use super::stored::SortStored;
use super::work::{
    Check, LineJob, Lines, Parted, PartedStrings, PartitionChunk, PartitionStrings, RankRange, SortRange,
};
use crate::error::Error;
use crate::schedule::{Client, Job, JobError, Permit, Pool, ProducedBy, Question, Submitter};
use crossbeam_channel::{Receiver, Sender, bounded};
use std::collections::VecDeque;

/// A question whose answers are checked.
pub(super) trait Checked: Question<Answer: Default> + Clone {
    /// Whether this answer is to be checked.
    fn is_to_be_checked(answer: &Self::Answer) -> bool {
        let _ = answer;
        true
    }

    /// The same question for a core, after a wrong answer.
    fn again(self) -> Self;
}

impl Checked for PartitionChunk {
    /// To check a partition takes as long as to make it, and the sums of what a core made are checked when its lines
    /// have been sorted.
    fn is_to_be_checked(parted: &Parted) -> bool {
        !parted.own
    }

    fn again(self) -> Self {
        PartitionChunk { again: true, ..self }
    }
}

impl Checked for PartitionStrings {
    fn is_to_be_checked(parted: &PartedStrings) -> bool {
        !parted.own
    }

    fn again(self) -> Self {
        PartitionStrings { again: true, ..self }
    }
}

impl Checked for SortRange {
    fn again(self) -> Self {
        SortRange { again: true, ..self }
    }
}

impl Checked for SortStored {
    fn again(self) -> Self {
        SortStored { again: true, ..self }
    }
}

impl Checked for RankRange {
    fn again(self) -> Self {
        RankRange { again: true, ..self }
    }
}

/// A question on its way.
struct Way<Q: Checked> {
    question: Q,
    submitter: Submitter<Lines>,
    reply: Sender<Result<Q::Answer, Error>>,
    again: bool,
}

fn failed(JobError(reason): JobError) -> Error {
    Error::Internal { block: 0, reason }
}

impl<Q: Checked> Way<Q>
where
    Job<Q>: Into<LineJob>,
    Job<Check<Q>>: Into<LineJob>,
{
    fn ask(self, avoid: Option<&ProducedBy>) {
        let (question, submitter) = (self.question.clone(), self.submitter.clone());
        submitter.submit_avoiding(question, avoid, move |answer, maker| match answer {
            Ok(answer) if Q::is_to_be_checked(&answer) => self.check(answer, maker),
            answer => self.end(answer.map_err(failed)),
        });
    }

    fn check(self, answer: Q::Answer, maker: ProducedBy) {
        let (question, submitter) = (Check { question: self.question.clone(), answer }, self.submitter.clone());
        submitter.submit_avoiding(question, Some(&maker), move |checked, by| match checked {
            Ok((answer, Ok(()))) => self.end(Ok(answer)),
            Ok((_, Err(wrong))) => {
                let checker = self.submitter.name(by);
                self.submitter.blame(maker, &format!("what it sorted was wrong: {wrong} ({checker} checked it)"));
                if self.again {
                    let (station, reason) = (self.submitter.name(maker), wrong.to_string());
                    return self.end(Err(Error::Missorted { station, reason }));
                }
                let question = self.question.again();
                Way { question, again: true, ..self }.ask(Some(&maker));
            }
            Err(error) => self.end(Err(failed(error))),
        });
    }

    fn end(self, answer: Result<Q::Answer, Error>) {
        // Perhaps nobody waits for it any more.
        let _ = self.reply.send(answer);
    }
}

/// Questions on their way, in order, within the memory budget. Those of one kind have a client of their own, which
/// always gets a permit when nothing of it is on its way: so it always moves.
pub(super) struct Flight<Q: Checked, T> {
    client: Client<Lines>,
    /// How many may be on their way, and how many bytes.
    most: usize,
    most_bytes: u64,
    bytes: u64,
    queue: VecDeque<Flying<Q, T>>,
}

struct Flying<Q: Checked, T> {
    note: T,
    bytes: u64,
    answer: Receiver<Result<Q::Answer, Error>>,
    _permit: Permit,
}

impl<Q: Checked, T> Flight<Q, T>
where
    Job<Q>: Into<LineJob>,
    Job<Check<Q>>: Into<LineJob>,
{
    pub fn new(pool: &Pool<Lines>, most_bytes: u64) -> Self {
        let most = 4 * pool.cores().max(1) + 4;
        Flight { client: pool.client(), most, most_bytes, bytes: 0, queue: VecDeque::new() }
    }

    /// So many more may be on their way: for accelerators, which take many at once.
    pub fn with_more(self, more: usize) -> Self {
        Flight { most: self.most + more, ..self }
    }

    pub fn pool(&self) -> &Pool<Lines> {
        self.client.pool()
    }

    /// Whether nothing is on its way.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Asks a question that takes so many bytes, its answer too, when there is [`room`](Self::room).
    pub fn ask(
        &mut self,
        question: Q,
        note: T,
        bytes: u64,
        done: &mut impl FnMut(T, Q::Answer) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let permit = self.room(bytes, done)?;
        self.ask_with(question, note, bytes, permit);
        Ok(())
    }

    /// Asks a question for which there is room.
    pub fn ask_with(&mut self, question: Q, note: T, bytes: u64, permit: Permit) {
        let (reply, answer) = bounded(1);
        Way { question, submitter: self.client.submitter().clone(), reply, again: false }.ask(None);
        self.bytes += bytes;
        self.queue.push_back(Flying { note, bytes, answer, _permit: permit });
    }

    /// Hands over the oldest answers until a question may be asked that takes so many bytes. Never waits for a permit
    /// while it holds one: others may wait for that one.
    pub fn room(
        &mut self,
        bytes: u64,
        done: &mut impl FnMut(T, Q::Answer) -> Result<(), Error>,
    ) -> Result<Permit, Error> {
        if self.client.is_foreign() {
            return Err(Error::Forked);
        }
        self.client.pool().budget().fit_pieces(bytes);
        loop {
            if self.queue.is_empty() {
                return Ok(self.client.permit(bytes));
            }
            if self.queue.len() < self.most && self.bytes + bytes <= self.most_bytes {
                let permit = self.client.try_permit(bytes).or_else(|| self.grown(bytes));
                if let Some(permit) = permit {
                    return Ok(permit);
                }
            }
            self.oldest(done)?;
        }
    }

    /// A permit after the budget has grown, if there is not yet a job for each core: other text waits, too. (A budget
    /// that is fixed does not grow. Then there are fewer jobs.)
    fn grown(&self, bytes: u64) -> Option<Permit> {
        if self.queue.len() > self.client.pool().cores() {
            return None;
        }
        self.client.pool().budget().fit_station(bytes);
        self.client.try_permit(bytes)
    }

    /// Waits for the oldest answer.
    fn oldest(&mut self, done: &mut impl FnMut(T, Q::Answer) -> Result<(), Error>) -> Result<(), Error> {
        if self.client.is_foreign() {
            return Err(Error::Forked);
        }
        let Some(Flying { note, bytes, answer, _permit }) = self.queue.pop_front() else { return Ok(()) };
        let dropped = || Error::Internal { block: 0, reason: "a station dropped the job".to_owned() };
        let answer = answer.recv().unwrap_or_else(|_| Err(dropped()))?;
        self.bytes -= bytes;
        done(note, answer)
    }

    /// Waits for all answers.
    pub fn finish(&mut self, done: &mut impl FnMut(T, Q::Answer) -> Result<(), Error>) -> Result<(), Error> {
        while !self.queue.is_empty() {
            self.oldest(done)?;
        }
        Ok(())
    }
}
