//! Threads that read one file, stretch by stretch, and search the bytes that they have read.

use crate::read_at::ReadAt;
use crossbeam_channel::{Receiver, Sender, bounded};
use std::io;
use std::sync::Arc;
use std::thread;

/// The length of a stretch. A block that lies in two stretches must be assembled.
pub(crate) const STRETCH: usize = 4 << 20;
/// The number of bytes of one read: as many as fit in an L2 cache.
const READ: usize = 256 << 10;

/// A search in a stretch.
pub(crate) trait Look: Send + 'static {
    /// The number of bytes after the stretch that the search sees as well, if the file has them.
    const LOOK_AHEAD: usize;

    /// A search in a stretch of `stretch` bytes.
    fn new(stretch: usize) -> Self;

    /// Looks at the bytes read so far, while they are still in the cache. With `whole` no more come: the stretch and
    /// the bytes after it have been read, or the file ends.
    fn look(&mut self, bytes: &[u8], whole: bool);
}

/// Some bytes of the file, and what was found in them.
pub(crate) struct Stretch<L> {
    pub bytes: Arc<Vec<u8>>,
    pub found: L,
}

/// Threads that read a file: thread i of n reads stretches i, i + n, i + 2n, ... They end when this is dropped.
pub(crate) struct Readers<L> {
    stretches: Vec<Receiver<io::Result<Stretch<L>>>>,
    next: usize,
    /// The length of a stretch, unless the file ends in it.
    stretch: usize,
    ended: bool,
}

impl<L: Look> Readers<L> {
    /// Starts `count` threads that read stretches of `stretch` bytes from byte `from` on, each of them up to `ahead`
    /// stretches ahead. Fails if they cannot all be started.
    pub fn start(file: &Arc<dyn ReadAt>, from: u64, count: usize, ahead: usize, stretch: usize) -> io::Result<Self> {
        let start_one = |number: usize| {
            // These stretches wait while the next one is read.
            let (sender, receiver) = bounded(ahead);
            let file = Arc::clone(file);
            let from = from + (number * stretch) as u64;
            let step = (count * stretch) as u64;
            thread::Builder::new()
                .name("hybz reader".to_owned())
                .spawn(move || read_stretches(&*file, from, step, stretch, &sender))?;
            Ok(receiver)
        };
        let stretches = (0..count).map(start_one).collect::<io::Result<_>>()?;
        Ok(Readers { stretches, next: 0, stretch, ended: false })
    }

    /// The next stretch, in the order of the file.
    pub fn next(&mut self) -> Option<io::Result<Stretch<L>>> {
        if self.ended {
            return None;
        }
        let stretch = self.stretches[self.next].recv();
        self.next = (self.next + 1) % self.stretches.len();
        let stretch = stretch.unwrap_or_else(|_| Err(io::Error::other("a reader stopped")));
        // A stretch that is not full ends the file, even if the file grows at that moment.
        self.ended = stretch.as_ref().map_or(true, |stretch| stretch.bytes.len() < self.stretch);
        Some(stretch)
    }
}

/// A reader's thread.
fn read_stretches<L: Look>(
    file: &dyn ReadAt,
    mut at: u64,
    step: u64,
    stretch: usize,
    out: &Sender<io::Result<Stretch<L>>>,
) {
    let all = stretch + L::LOOK_AHEAD;
    loop {
        // Zeroed piece by piece, in the cache. Zeros for all of it at once would be written to memory, and the command
        // has no huge pages for zeroed memory: decoding 8 GB took 127,000 page faults, now 43,000.
        let mut bytes = Vec::with_capacity(all);
        let mut found = L::new(stretch);
        let mut len = 0;
        let result = loop {
            bytes.resize(all.min(len + READ), 0);
            match file.read_at(&mut bytes[len..], at + len as u64) {
                Ok(0) => break Ok(()),
                Ok(n) => len += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                // The next stretch will meet the error.
                Err(_) if len >= stretch => break Ok(()),
                Err(e) => break Err(e),
            }
            found.look(&bytes[..len], false);
            if len == all {
                break Ok(());
            }
        };
        let ended = len < stretch;
        let done = result.map(|()| {
            found.look(&bytes[..len], true);
            bytes.truncate(len.min(stretch));
            Stretch { bytes: Arc::new(bytes), found }
        });
        if out.send(done).is_err() || ended {
            return;
        }
        at += step;
    }
}
