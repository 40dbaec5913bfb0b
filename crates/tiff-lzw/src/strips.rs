//! Codes batches of strips on all cores.

use super::{StripDecoder, StripEncoder};
use hybz::Error;
use hybz::internals::{Flaw, damaged};
use hybz_queue::{Class, Client, Core, Permit, Pool, Task, Ticket};
use std::collections::VecDeque;
use std::iter::Fuse;

const STRIPS: Class = Class::new("LZW strips", 50e6);

/// A strip's text.
struct Encode(Vec<u8>);

/// A strip's codes, and the length of its text.
struct Decode(Vec<u8>, usize);

impl Task for Encode {
    type Output = Vec<u8>;

    fn run(&self, core: &mut Core) -> Vec<u8> {
        let mut coded = Vec::new();
        core.state::<StripEncoder>().encode(&self.0, &mut coded);
        coded
    }

    fn bytes_out(coded: &Vec<u8>) -> u64 {
        coded.len() as u64
    }
}

impl Task for Decode {
    type Output = Result<Vec<u8>, Flaw>;

    fn run(&self, core: &mut Core) -> Self::Output {
        let Decode(coded, len) = self;
        let mut text = vec![0; *len];
        core.state::<StripDecoder>().decode_strip(coded, &mut text).map(|()| text)
    }

    fn bytes_out(text: &Self::Output) -> u64 {
        text.as_ref().map_or(0, |text| text.len() as u64)
    }
}

/// Encodes strips, each from its text, in order. The pool's budget bounds the memory.
///
/// ```
/// use hybz::Pool;
/// use hybz_tiff_lzw::{decode_strips, encode_strips};
/// let pool = Pool::builder().build();
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
    pool: &Pool,
    texts: T,
) -> impl Iterator<Item = Result<Vec<u8>, Error>> + use<T> {
    let tasks = texts.into_iter().map(|text| (text.len() as u64, Encode(text)));
    // A code of 12 bits stands for one byte at least.
    let charge = |text: &Encode| 3 * text.0.len() as u64;
    Ordered::new(pool, tasks, charge).map(|(_, coded)| coded)
}

/// Decodes strips, each from its codes and the length of its text, and returns them in order. The pool's budget bounds
/// the memory.
///
/// # Errors
/// [`Error::Data`] for a damaged strip: its block is the strip's number, from 1, and its bit offset is 0, the strip's
/// beginning. Later strips are still decoded. [`Error::Internal`] as in [`encode_strips`].
pub fn decode_strips<S: IntoIterator<Item = (Vec<u8>, usize)>>(
    pool: &Pool,
    strips: S,
) -> impl Iterator<Item = Result<Vec<u8>, Error>> + use<S> {
    let tasks = strips.into_iter().map(|(coded, len)| (coded.len() as u64, Decode(coded, len)));
    let charge = |Decode(coded, len): &Decode| (coded.len() + len) as u64;
    Ordered::new(pool, tasks, charge)
        .map(|(block, decoded)| decoded.and_then(|decoded| decoded.map_err(|flaw| damaged(block, 0, flaw))))
}

/// Outputs in the order of their tasks.
struct Ordered<T: Task, I: Iterator<Item = (u64, T)>, C> {
    client: Client,
    /// Tasks, and their bytes of input.
    tasks: Fuse<I>,
    /// The next task, if the budget had no memory for it.
    next: Option<(u64, T)>,
    /// The charge for a task and its output.
    charge: C,
    pending: VecDeque<(Ticket<T::Output>, Permit)>,
    /// The number of the oldest pending task, from 1.
    number: u64,
}

/// The memory that a strip takes in addition to its bytes: its entries in the queues.
const PLACE: u64 = 512;

impl<T: Task, I: Iterator<Item = (u64, T)>, C: Fn(&T) -> u64> Ordered<T, I, C> {
    fn new(pool: &Pool, tasks: I, charge: C) -> Self {
        let (next, pending) = Default::default();
        Ordered { client: pool.client(), tasks: tasks.fuse(), next, charge, pending, number: 0 }
    }

    /// Submits tasks as long as the budget allows, but at least one, if there is any.
    fn submit(&mut self) {
        while let Some((bytes, task)) = self.next.take().or_else(|| self.tasks.next()) {
            let charge = (self.charge)(&task) + PLACE;
            let permit = match self.client.try_permit(charge) {
                Some(permit) => permit,
                None if self.pending.is_empty() => self.client.permit(charge),
                None => {
                    self.next = Some((bytes, task));
                    return;
                }
            };
            self.pending.push_back((self.client.task(task).class(STRIPS, bytes).submit(), permit));
        }
    }
}

impl<T: Task, I: Iterator<Item = (u64, T)>, C: Fn(&T) -> u64> Iterator for Ordered<T, I, C> {
    type Item = (u64, Result<T::Output, Error>);

    fn next(&mut self) -> Option<Self::Item> {
        self.submit();
        let (ticket, _permit) = self.pending.pop_front()?;
        self.number += 1;
        let block = self.number;
        Some((block, ticket.wait().map_err(|error| Error::Internal { block, reason: error.0 })))
    }
}
