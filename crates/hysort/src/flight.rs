//! Tasks of sorting in flight: in order, checked ([`Checked`](hybz_queue::Checked)), within the memory
//! budget.

use super::parts::Wrong;
use super::tasks::LineTask;
use crate::error::Error;
use crossbeam_channel::{Receiver, bounded};
use hybz_queue::{Client, Made, Miscomputed, Permit, Pool, TaskError};
use std::collections::VecDeque;

/// The output of a checked task.
fn used<O>(outcome: Result<Result<Made<O>, Miscomputed<Wrong>>, TaskError>) -> Result<O, Error> {
    match outcome {
        Ok(Ok(made)) => Ok(made.output),
        Ok(Err(Miscomputed { station, reason })) => Err(Error::Missorted { station, reason: reason.to_string() }),
        Err(TaskError(reason)) => Err(Error::Internal { reason }),
    }
}

/// Tasks of one type in flight, in order, within the memory budget. They share a client, which always gets a permit
/// while it holds none, so there is always progress.
pub(super) struct Flight<T: LineTask, N> {
    client: Client,
    /// How many tasks and bytes may be in flight.
    most: usize,
    most_bytes: u64,
    bytes: u64,
    queue: VecDeque<Flying<T, N>>,
}

struct Flying<T: LineTask, N> {
    note: N,
    bytes: u64,
    output: Receiver<Result<T::Output, Error>>,
    _permit: Permit,
}

impl<T: LineTask, N> Flight<T, N> {
    pub fn new(pool: &Pool, most_bytes: u64) -> Self {
        let most = 4 * pool.cores().max(1) + 4;
        Flight { client: pool.client(), most, most_bytes, bytes: 0, queue: VecDeque::new() }
    }

    /// Allows `more` tasks in flight: for accelerators, which take many at once.
    pub fn with_more(self, more: usize) -> Self {
        Flight { most: self.most + more, ..self }
    }

    pub fn pool(&self) -> &Pool {
        self.client.pool()
    }

    /// Whether no task is in flight.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Submits a task that takes `bytes`, its output included, when there is [`room`](Self::room).
    pub fn submit(
        &mut self,
        task: T,
        note: N,
        bytes: u64,
        done: &mut impl FnMut(N, T::Output) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let permit = self.room(bytes, done)?;
        self.submit_with(task, note, bytes, permit);
        Ok(())
    }

    /// Submits a task with a permit from [`room`](Self::room).
    pub fn submit_with(&mut self, task: T, note: N, bytes: u64, permit: Permit) {
        let (reply, output) = bounded(1);
        let (class, work) = (task.class(), task.bytes());
        self.client.task(task).class(class, work).submit_checked(
            |output, _| T::is_to_be_checked(output),
            // An error means that the flight was dropped.
            move |outcome| drop(reply.send(used(outcome))),
        );
        self.bytes += bytes;
        self.queue.push_back(Flying { note, bytes, output, _permit: permit });
    }

    /// Hands over the oldest outputs until a task that takes `bytes` may be submitted. Never waits for a permit while
    /// it holds one, because other clients may be waiting for that permit.
    pub fn room(
        &mut self,
        bytes: u64,
        done: &mut impl FnMut(N, T::Output) -> Result<(), Error>,
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

    /// Makes the budget grow, and takes a permit. `None` if each core has a job: clients with other text are waiting,
    /// too. (A fixed budget does not grow. Then there are fewer jobs.)
    fn grown(&self, bytes: u64) -> Option<Permit> {
        if self.queue.len() > self.client.pool().cores() {
            return None;
        }
        self.client.pool().budget().fit_station(bytes);
        self.client.try_permit(bytes)
    }

    /// Waits for the oldest output.
    fn oldest(&mut self, done: &mut impl FnMut(N, T::Output) -> Result<(), Error>) -> Result<(), Error> {
        if self.client.is_foreign() {
            return Err(Error::Forked);
        }
        let Some(Flying { note, bytes, output, _permit }) = self.queue.pop_front() else { return Ok(()) };
        let dropped = || Error::Internal { reason: "a station dropped the task".to_owned() };
        let output = output.recv().unwrap_or_else(|_| Err(dropped()))?;
        self.bytes -= bytes;
        done(note, output)
    }

    /// Waits for all outputs.
    pub fn finish(&mut self, done: &mut impl FnMut(N, T::Output) -> Result<(), Error>) -> Result<(), Error> {
        while !self.queue.is_empty() {
            self.oldest(done)?;
        }
        Ok(())
    }
}
