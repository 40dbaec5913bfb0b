//! The blocks of a `.hbz` file, from its index, and the tasks that decode them.

use super::blocks::{BlockMap, Wanted};
use super::cache::Cache;
use super::text::Decoded;
use crate::error::Error;
use crate::flaw::Flaw;
use crate::formats::hbz::archive::List;
use crate::formats::hbz::codec::decode::{VectorCharge, Vectors};
use crate::formats::hbz::header::HEADER_LEN;
use crate::formats::hbz::stream::tasks::{DECODE_LARGE, DecodeLarge};
use crate::read_at::{Positioned, ReadAt};
use hybz_queue::{Client, TaskError};
use std::sync::Arc;

/// Blocks of `.hbz` files with more rows than this are decoded in stages by all stations: a block that is read alone
/// would otherwise keep only one station busy.
const STAGED_ROWS: u32 = 1 << 20;

/// Opens a file by the index at its end.
pub(crate) fn open(source: &dyn ReadAt) -> Result<Box<dyn BlockMap>, Error> {
    let list = List::read(&mut Positioned { source, at: 0 })?;
    if !list.is_complete() {
        // The file is cut or damaged, or a stream of another format follows: the length of the text is unknown.
        return Err(Error::damaged(list.blocks().len() as u64 + 1, list.end() * 8, Flaw::Magic));
    }
    Ok(Box::new(list))
}

impl BlockMap for List {
    fn text_len(&self) -> u64 {
        self.text_len()
    }

    fn find(&self, offset: u64) -> Result<Option<Wanted>, Error> {
        let after = self.blocks().partition_point(|block| block.text_at <= offset);
        Ok(of_list(self, after as u64).filter(|block| offset < block.text_end()))
    }

    fn next(&self, block: &Wanted) -> Result<Option<Wanted>, Error> {
        Ok(of_list(self, block.number + 1))
    }

    fn submit(&self, wanted: &Wanted, bytes: &[u8], client: &Client, cache: &Arc<Cache>) -> Result<(), Error> {
        let (number, key, cache) = (wanted.number, wanted.key, Arc::clone(cache));
        let (task, charge) = large(self, number, bytes, client)?;
        let Wanted { text_len, bytes, .. } = wanted.clone();
        let work = task.bytes();
        client.task(task).class(DECODE_LARGE, work).submit_then(move |_, decoded, _| {
            let text = match decoded {
                Ok(Ok(text)) if text.len() == text_len => Ok(Decoded::new(text)),
                Ok(Ok(_)) => Err(Error::damaged(number, bytes.start * 8, Flaw::Field("index"))),
                Ok(Err(damage)) => Err(Error::damaged(number, bytes.start * 8, damage)),
                Err(TaskError(reason)) => Err(Error::Internal { block: number, reason }),
            };
            drop(charge);
            cache.put(key, text);
        });
        Ok(())
    }
}

/// The block with this number, from 1.
fn of_list(list: &List, number: u64) -> Option<Wanted> {
    let block = list.blocks().get(usize::try_from(number.checked_sub(1)?).ok()?)?;
    let bytes = block.at..block.at + HEADER_LEN as u64 + u64::from(block.coded_len);
    Some(Wanted {
        number,
        key: number,
        text_offset: block.text_at,
        text_len: block.text_len.into(),
        bytes,
        block: None,
    })
}

/// The task for a block of a `.hbz` file, and the charge for its memory.
fn large(list: &List, number: u64, bytes: &[u8], client: &Client) -> Result<(DecodeLarge, VectorCharge), Error> {
    let missing = || Error::Internal { block: number, reason: "the list has no such block".to_owned() };
    let listed = number.checked_sub(1).and_then(|at| list.blocks().get(at as usize)).ok_or_else(missing)?;
    let (header, payload) = bytes.split_first_chunk::<HEADER_LEN>().ok_or_else(missing)?;
    let header = listed.header(header, number, client.pool().budget().most())?;
    let stages = (header.rows > STAGED_ROWS).then(|| client.submitter().clone());
    let charge = client.pool().shared_value::<Vectors>().charge(header.rows);
    Ok((DecodeLarge { payload: Arc::new(payload.to_vec()), header, stream: listed.stream, stages }, charge))
}
