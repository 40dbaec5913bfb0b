//! The manager's reading: alone at first, and a long file by several threads.

use super::input::Source;
use crate::stream::piece::{Feed, Unread};
use hybz_queue::Client;
use std::io;
use std::sync::Arc;

/// The shortest file for which several reading threads are started.
pub const LONG_FILE: u64 = 64 << 20;

/// Reads an input to its end, or until no more is wanted: on this thread alone at first, and a long file with several
/// threads once the pool has accelerators that are faster than one reader. The data that these threads read ahead take
/// at most an eighth of the memory for blocks in flight, or a stretch each.
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
            let (pool, from) = (client.pool(), *from);
            let readers = if file.len().saturating_sub(from + read) >= LONG_FILE { pool.readers() } else { 1 };
            let room = pool.budget().limit() / 8;
            shared = readers > 1 && feed.input().share_reading(&Unread { file, from, read, readers, room });
        }
        ended = if shared {
            !feed.input().read_on()?
        } else {
            let n = feed.read_from(&mut *reader)?;
            read += n as u64;
            n == 0
        };
        if ended {
            feed.input().finish();
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
