//! Questions on their way: asked, answered and checked as [`schedule::checked`](crate::schedule::checked) does it, in
//! order, within the memory budget.

use super::stored::SortStored;
use super::work::{
    Check, LineJob, Lines, Parted, PartedStrings, PartitionChunk, PartitionStrings, RankRange, SortRange, Sorted, Wrong,
};
use crate::error::Error;
use crate::schedule::checked::{self, Checked, Made, Miscomputed};
use crate::schedule::{Client, Job, JobError, Permit, Pool, ProducedBy, Question};
use crossbeam_channel::{Receiver, bounded};
use std::collections::VecDeque;

/// A question whose answers are checked.
pub(super) trait Repeatable: Question<Answer: Default> + Clone {
    /// Whether this answer is to be checked.
    fn is_to_be_checked(answer: &Self::Answer) -> bool {
        let _ = answer;
        true
    }

    /// Whether both are the same answer.
    fn is_same(a: &Self::Answer, b: &Self::Answer) -> bool;

    /// The same question for a core, after a wrong answer.
    fn again(self) -> Self;
}

impl<Q: Repeatable> Checked for Q {
    type Answer = <Q as Question>::Answer;
    type Wrong = Wrong;
    type Ask = Q;
    type Retry = Q;
    type Check = Check<Q>;
    const WORDS: [&'static str; 3] = ["a part", "sorted", "checked"];

    fn ask(&self) -> Q {
        self.clone()
    }

    fn retry(&self) -> Q {
        self.clone().again()
    }

    fn check(&self, answer: Q::Answer) -> Check<Q> {
        Check { question: self.clone(), answer }
    }

    fn wants(&self, answer: &Q::Answer, _: ProducedBy) -> bool {
        Q::is_to_be_checked(answer)
    }

    fn is_same(a: &Q::Answer, b: &Q::Answer) -> bool {
        Q::is_same(a, b)
    }
}

impl Repeatable for PartitionChunk {
    /// To check a partition takes as long as to make it, and the sums of what a core made are checked when its lines
    /// have been sorted.
    fn is_to_be_checked(parted: &Parted) -> bool {
        !parted.own
    }

    fn is_same(a: &Parted, b: &Parted) -> bool {
        a.text == b.text && a.buckets == b.buckets
    }

    fn again(self) -> Self {
        PartitionChunk { again: true, ..self }
    }
}

impl Repeatable for PartitionStrings {
    fn is_to_be_checked(parted: &PartedStrings) -> bool {
        !parted.own
    }

    fn is_same(a: &PartedStrings, b: &PartedStrings) -> bool {
        a.indices == b.indices && a.ends == b.ends
    }

    fn again(self) -> Self {
        PartitionStrings { again: true, ..self }
    }
}

impl Repeatable for SortRange {
    fn is_same(a: &Sorted, b: &Sorted) -> bool {
        a.text == b.text
    }

    fn again(self) -> Self {
        SortRange { again: true, ..self }
    }
}

impl Repeatable for SortStored {
    fn is_same(a: &Sorted, b: &Sorted) -> bool {
        a.text == b.text
    }

    fn again(self) -> Self {
        SortStored { again: true, ..self }
    }
}

impl Repeatable for RankRange {
    fn is_same(a: &Vec<u64>, b: &Vec<u64>) -> bool {
        a == b
    }

    fn again(self) -> Self {
        RankRange { again: true, ..self }
    }
}

/// What an outcome is to who asked.
fn used<A>(outcome: Result<Result<Made<A>, Miscomputed<Wrong>>, JobError>) -> Result<A, Error> {
    match outcome {
        Ok(Ok(made)) => Ok(made.answer),
        Ok(Err(Miscomputed { station, reason })) => Err(Error::Missorted { station, reason: reason.to_string() }),
        Err(JobError(reason)) => Err(Error::Internal { block: 0, reason }),
    }
}

/// Questions on their way, in order, within the memory budget. Those of one kind have a client of their own, which
/// always gets a permit when nothing of it is on its way: so it always moves.
pub(super) struct Flight<Q: Repeatable, T> {
    client: Client<Lines>,
    /// How many may be on their way, and how many bytes.
    most: usize,
    most_bytes: u64,
    bytes: u64,
    queue: VecDeque<Flying<Q, T>>,
}

struct Flying<Q: Repeatable, T> {
    note: T,
    bytes: u64,
    answer: Receiver<Result<Q::Answer, Error>>,
    _permit: Permit,
}

impl<Q: Repeatable, T> Flight<Q, T>
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
        checked::submit(self.client.submitter(), question, move |outcome| {
            // Perhaps nobody waits for it any more.
            let _ = reply.send(used(outcome));
        });
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
