//! The manager's reading: alone at first, and a long file by several threads.

use super::driver::fill;
use super::input::{FromStart, Source};
use crate::formats::bzip2::header::Level;
use crate::formats::bzip2::stream::parallel_read::{self, Runs};
use crate::formats::bzip2::stream::readers::{Readers, STRETCH};
use crate::formats::bzip2::stream::split::{BlockOptions, CutBlock, IssuedBlock, Splitter};
use crate::read_at::{ReadAt, read_some};
use crate::stream::piece::{Cut, Feed, Link, Piece};
use hybz_queue::{Client, Pool};
use std::io;
use std::sync::Arc;

/// The shortest file for which several reading threads are started.
pub const LONG_FILE: u64 = 64 << 20;

/// Reads a file to be compressed to its end, or until no more is wanted: on this thread alone at first, and with
/// several threads once the pool has accelerators that are faster than one reader.
pub(super) fn read_file(
    file: &Arc<dyn ReadAt>,
    at: u64,
    level: Level,
    options: BlockOptions,
    client: &Client,
    link: &Link<IssuedBlock>,
) -> io::Result<()> {
    let mut submit = |block: CutBlock| {
        let block = CutBlock { options, ..block };
        let permit = client.permit(block.charge());
        link.issue(block, client, permit) && !client.submitter().is_cancelled()
    };
    let mut reader = FromStart { file: Arc::clone(file), at };
    let mut splitter = Splitter::new(level, options);
    let mut ended = false;
    let mut look = true;
    while !ended {
        if std::mem::take(&mut look)
            && let Some(open) = splitter.open_len()
            && let Some(readers) = several_readers(client.pool(), file, reader.at - open as u64)
        {
            return parallel_read::read_all(readers, level, &mut submit);
        }
        match read_some(&mut reader, splitter.room())? {
            0 => {
                splitter.finish();
                ended = true;
            }
            n => splitter.filled(n),
        }
        while let Some(block) = splitter.next_piece() {
            look = true;
            if !submit(block) {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The most stretches that each of several readers may be ahead. Their stretches are taken in turn, so a reader that
/// waits for a hardware thread makes all others wait. On two H100s with 32 cores, lanes got 7 blocks a batch with one
/// stretch ahead and 16 with 16, and 24 GB took 7.2 to 8.0 s and 6.3 to 7.2.
const MAX_AHEAD: u64 = 16;

/// Several readers for the rest of a file, if they pay and can be started. What they have read ahead takes at most an
/// eighth of the memory for blocks in flight, or a stretch each.
fn several_readers(pool: &Pool, file: &Arc<dyn ReadAt>, at: u64) -> Option<Readers<Runs>> {
    let readers = readers_for(pool, &**file, at);
    let room = pool.budget().limit() / 8 / (readers * STRETCH) as u64;
    let ahead = room.clamp(1, MAX_AHEAD) as usize;
    (readers > 1).then(|| Readers::start(file, at, readers, ahead).ok()).flatten()
}

/// The number of threads that should read the rest of a file.
fn readers_for(pool: &Pool, file: &dyn ReadAt, at: u64) -> usize {
    if file.len().saturating_sub(at) >= LONG_FILE { pool.readers() } else { 1 }
}

/// Reads an input to its end, or until no more is wanted: on this thread alone at first, and a file with several
/// threads as in [`read_file`].
pub(super) fn read_all(source: Source, feed: &mut dyn Feed, client: &Client) -> io::Result<()> {
    let file = match &source {
        Source::File(file, from) => Some((Arc::clone(file), *from)),
        Source::Stream(_) => None,
    };
    let mut reader = source.into_reader();
    let (mut read, mut shared, mut look, mut ended) = (0, false, false, false);
    while !ended {
        if std::mem::take(&mut look)
            && !shared
            && let Some((file, from)) = &file
        {
            let readers = readers_for(client.pool(), &**file, from + read);
            shared = readers > 1 && feed.share_reading(file, *from, readers);
        }
        ended = if shared {
            !feed.read_on()?
        } else {
            let n = fill(&mut *reader, feed)?;
            read += n as u64;
            n == 0
        };
        if ended {
            feed.finish();
        }
        while let Some(charge) = feed.next_charge() {
            look = true;
            let permit = client.permit(charge);
            if !feed.issue(client, permit) || client.submitter().is_cancelled() {
                return Ok(());
            }
        }
    }
    Ok(())
}
