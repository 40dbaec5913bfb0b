//! Codes batches of strips on all cores: a kind of work of its own on the scheduler's queue.

use super::{StripDecoder, StripEncoder};
use crate::error::{Damage, Error};
use crate::schedule::{AnyJob, Class, Client, ErasedJob, Job, Permit, Pool, Question, Station, StationError};
use crate::schedule::{Ticket, Work};
use std::collections::VecDeque;
use std::iter::Fuse;

/// A pool whose stations code strips: `StripPool::with_work(StripWork).build()` has one for each core.
pub type StripPool = Pool<StripWork>;

/// Strips as a kind of work.
#[derive(Clone, Copy, Debug, Default)]
pub struct StripWork;

/// A strip to code.
#[derive(Debug)]
pub enum StripJob {
    /// A text to encode.
    #[doc(hidden)]
    Encode(Job<Encode>),
    /// Codes to decode.
    #[doc(hidden)]
    Decode(Job<Decode>),
}

/// A strip's text.
#[doc(hidden)]
#[derive(Debug)]
pub struct Encode(Vec<u8>);

/// A strip's codes, and the length of its text.
#[doc(hidden)]
#[derive(Debug)]
pub struct Decode(Vec<u8>, usize);

impl Question for Encode {
    type Answer = Vec<u8>;
    const CLASS: Class = Class(0);

    fn bytes(&self) -> u64 {
        self.0.len() as u64
    }

    fn bytes_out(coded: &Vec<u8>) -> u64 {
        coded.len() as u64
    }
}

impl Question for Decode {
    type Answer = Result<Vec<u8>, Damage>;
    const CLASS: Class = Class(1);

    fn bytes(&self) -> u64 {
        self.0.len() as u64
    }

    fn bytes_out(text: &Self::Answer) -> u64 {
        text.as_ref().map_or(0, |text| text.len() as u64)
    }
}

impl AnyJob for StripJob {
    fn erased(&mut self) -> &mut dyn ErasedJob {
        match self {
            StripJob::Encode(job) => job,
            StripJob::Decode(job) => job,
        }
    }
}

impl From<Job<Encode>> for StripJob {
    fn from(job: Job<Encode>) -> StripJob {
        StripJob::Encode(job)
    }
}

impl From<Job<Decode>> for StripJob {
    fn from(job: Job<Decode>) -> StripJob {
        StripJob::Decode(job)
    }
}

impl Work for StripWork {
    type Job = StripJob;
    const CLASSES: usize = 2;

    fn core(&self, number: usize) -> Box<dyn Station<StripJob>> {
        Box::new(Core { number, encoder: StripEncoder::new(), decoder: StripDecoder::new() })
    }

    fn after_fork(&self) -> StripWork {
        StripWork
    }
}

struct Core {
    number: usize,
    encoder: StripEncoder,
    decoder: StripDecoder,
}

impl Station<StripJob> for Core {
    fn name(&self) -> String {
        format!("cpu {}", self.number)
    }

    fn work(&mut self, batch: &mut [StripJob]) -> Result<(), StationError> {
        for job in batch {
            match job {
                StripJob::Encode(job) => {
                    let mut coded = Vec::new();
                    self.encoder.encode(&job.question().0, &mut coded);
                    job.answer(coded);
                }
                StripJob::Decode(job) => {
                    let Decode(coded, len) = job.question();
                    let mut text = vec![0; *len];
                    let decoded = self.decoder.decode(coded, &mut text).map(|()| text);
                    job.answer(decoded);
                }
            }
        }
        Ok(())
    }
}

/// Encodes strips, each from its text, and returns them in order. The pool's budget bounds the memory.
///
/// ```
/// use hybz::lzw::{StripPool, StripWork, decode_strips, encode_strips};
/// let pool = StripPool::with_work(StripWork).build();
/// let rows = [[1; 3000], [2; 3000]].map(Vec::from);
/// let coded = encode_strips(&pool, rows.clone()).collect::<Result<Vec<_>, _>>()?;
/// let text = decode_strips(&pool, coded.into_iter().map(|coded| (coded, 3000)));
/// assert_eq!(text.collect::<Result<Vec<_>, _>>()?, rows);
/// # Ok::<(), hybz::Error>(())
/// ```
///
/// # Errors
/// [`Error::Internal`] if a core failed, which is a bug in hybz. Its block is the strip's number, from 1.
pub fn encode_strips<T: IntoIterator<Item = Vec<u8>>>(
    pool: &StripPool,
    texts: T,
) -> impl Iterator<Item = Result<Vec<u8>, Error>> + use<T> {
    let questions = texts.into_iter().map(Encode);
    // A code has 12 bits at most and stands for at least one byte.
    let charge = |text: &Encode| 3 * text.0.len() as u64;
    Ordered::new(pool, questions, charge).map(|(_, coded)| coded)
}

/// Decodes strips, each from its codes and the length of its text, and returns them in order. The pool's budget bounds
/// the memory.
///
/// # Errors
/// [`Error::Data`] for a damaged strip: its block is the strip's number, from 1, and its offset is within the strip.
/// The strips after it are still decoded. [`Error::Internal`] as for [`encode_strips`].
pub fn decode_strips<S: IntoIterator<Item = (Vec<u8>, usize)>>(
    pool: &StripPool,
    strips: S,
) -> impl Iterator<Item = Result<Vec<u8>, Error>> + use<S> {
    let questions = strips.into_iter().map(|(coded, len)| Decode(coded, len));
    let charge = |Decode(coded, len): &Decode| (coded.len() + len) as u64;
    Ordered::new(pool, questions, charge).map(|(block, decoded)| {
        decoded.and_then(|decoded| decoded.map_err(|damage| Error::Data { block, bit_offset: 0, damage }))
    })
}

/// Returns results in the order of submission.
struct Ordered<I: Iterator<Item: Question>, C> {
    client: Client<StripWork>,
    questions: Fuse<I>,
    /// The next job, if there was no room for it.
    next: Option<I::Item>,
    /// The memory for a job and its result.
    charge: C,
    underway: VecDeque<(Ticket<<I::Item as Question>::Answer>, Permit)>,
    /// The number of the oldest job in flight, from 1.
    number: u64,
}

impl<I: Iterator<Item: Question>, C: Fn(&I::Item) -> u64> Ordered<I, C>
where
    Job<I::Item>: Into<StripJob>,
{
    fn new(pool: &StripPool, questions: I, charge: C) -> Self {
        let (next, underway) = Default::default();
        Ordered { client: pool.client(), questions: questions.fuse(), next, charge, underway, number: 0 }
    }

    /// Submits jobs while there is room, and at least one if there is one.
    fn submit(&mut self) {
        while let Some(question) = self.next.take().or_else(|| self.questions.next()) {
            let charge = (self.charge)(&question) + PLACE;
            let permit = match self.client.try_permit(charge) {
                Some(permit) => permit,
                None if self.underway.is_empty() => self.client.permit(charge),
                None => {
                    self.next = Some(question);
                    return;
                }
            };
            self.underway.push_back((self.client.submit(question), permit));
        }
    }
}

/// The charge for a strip in addition to its bytes: its entries in the queues.
const PLACE: u64 = 512;

impl<I: Iterator<Item: Question>, C: Fn(&I::Item) -> u64> Iterator for Ordered<I, C>
where
    Job<I::Item>: Into<StripJob>,
{
    type Item = (u64, Result<<I::Item as Question>::Answer, Error>);

    fn next(&mut self) -> Option<Self::Item> {
        self.submit();
        let (ticket, _permit) = self.underway.pop_front()?;
        self.number += 1;
        let block = self.number;
        Some((block, ticket.wait().map_err(|error| Error::Internal { block, reason: error.0 })))
    }
}
