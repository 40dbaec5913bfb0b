//! A file in memory (tmpfs) that several threads fill.
//!
//! `write` into a tmpfs allocates a page, copies into it and holds the file's lock all the while, so it is no faster on
//! many threads than on one: 2.1 to 3.2 GB/s on hosts with an H200, less than its lanes decode. Here several threads
//! copy into a shared mapping of the file, for which they need no lock. Others have the system make huge pages ahead of
//! them (`MADV_COLLAPSE`). What 8 GB reached on such a host with nothing else to do, in GB/s:
//!
//! | threads | 4 | 8 | 16 |
//! |---|---|---|---|
//! | `write` | 2.1, 2.6 | | |
//! | small pages, allocated by `fallocate` before they are touched | 4.0, 4.0 | 3.8, 4.1 | |
//! | huge pages, made by each thread | 11.3, 10.3 | 18.3, 19.4 | 21.5, 21.5 |
//!
//! To make them takes the lock of the process's mappings and waits for all processors: those that decode waited for
//! the lock until windows were made by threads of their own. 8 GB that 24 lanes decoded took 3.2 s with small pages,
//! 2.4 with huge pages made by those that copy, and with one, two, three and four threads that make them 2.9, 2.0, 1.9
//! and 1.9 (windows of 16 MiB; 1.4 into /dev/null). Where there are none, one thread allocates small pages
//! (`fallocate`, which takes the file's lock), and the system clears them and enters them into the mapping on those
//! that copy.
//!
//! **A full file system is no SIGBUS.** A page is only touched after `MADV_POPULATE_WRITE` or `MADV_COLLAPSE` has put
//! it there, which return an error where touching it would raise the signal. Whatever cannot be mapped is written by
//! `pwrite`, so that errors are those of `write`: full disk, quota, RLIMIT_FSIZE. Before Linux 5.14 there is no such
//! call, and no mapping either. A page that is there goes away only if the file is cut, so the file must be one that no
//! other process knows.
//!
//! **Holes.** A part of the text that is zeros is not written, and if its pages have been made they are given back.
//! That is slow, so a file with many holes gets small pages.
//!
//! **Memory.** At most four texts for each thread are on their way, and of long ones no more than three pieces for
//! each. Pages of the file count as the process's own while they are mapped: windows of 8 MiB, two at a time, or eight
//! of huge pages ([`SHORT`], [`LONG`]); with [`MappedFile::expecting`], all that are not written yet.

use crate::system::{self, Window};
use ahead::{Advance, Ahead};
use crossbeam_channel::{Sender, bounded};
use rustix::process::{Resource, getrlimit};
use std::convert::Infallible;
use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Builder, JoinHandle};
use std::time::{Duration, Instant};

mod ahead;

/// Bytes that one thread copies at once. They and the small pages that they go to stay in its cache.
const PIECE: u64 = 256 << 10;

/// The same with huge pages, which do not.
const LONG_PIECE: u64 = 1 << 20;

/// Bytes that are mapped at once, of small pages: a multiple of [`PIECE`].
const WINDOW: u64 = 8 << 20;

/// The length of a window of huge pages, in bytes, for programs that hold gigabytes.
pub const LONG: u64 = 16 << 20;

/// The length of a window of huge pages, in bytes, for other programs.
pub const SHORT: u64 = 2 << 20;

/// The number of threads that make them.
const MAKERS: usize = 3;

/// A text longer than this is in the file when [`MappedFile::give`] returns.
const LONG_TEXT: usize = 4 << 20;

/// The same for a file of which the length is known: a sort of 8 GB gives texts of 8 MB, and took 7.0 s instead of 6.5
/// when it waited for each of them.
const LONG_EXPECTED: usize = 16 << 20;

/// The number of holes in huge pages after which there are small pages.
const HOLES: usize = 1000;

/// How the work is divided.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// How many threads copy.
    pub threads: usize,
    /// The length of a window of huge pages: a multiple of [`LONG_PIECE`] and of theirs; 0 for none.
    pub huge: u64,
    /// Whether small pages are allocated before they are touched.
    pub reserve: bool,
    /// Which windows of huge pages are made ahead.
    pub advance: Advance,
    /// A text longer than this is in the file when it has been given.
    pub long_text: usize,
    /// How a piece is put into the file.
    pub put: fn(&Piece, &File) -> io::Result<()>,
}

impl Shape {
    pub(crate) fn of(threads: usize, huge: u64) -> Shape {
        let advance = Advance { makers: MAKERS, until: u64::MAX, waiting: 1 };
        Shape { threads, huge, reserve: true, advance, long_text: LONG_TEXT, put: Piece::put }
    }
}

/// A file in memory ([`is_in_memory`](crate::file::is_in_memory)) that is written by several threads.
///
/// Dropped before [`finish`](MappedFile::finish), it forgets what is not written yet; the file's length is then any.
pub struct MappedFile {
    file: Arc<File>,
    /// The offset at which the next byte is written, and the end of the last byte that is not one of skipped zeros.
    at: u64,
    data: u64,
    /// The window in which the last piece lies.
    window: Option<Arc<Window>>,
    /// Windows of huge pages that are made ahead.
    ahead: Option<Ahead>,
    /// Parts of the file that are zeros, for which huge pages may have been made.
    holes: Vec<Range<u64>>,
    /// Whether small pages can still be allocated ahead, and windows of them mapped.
    reserves: bool,
    maps: bool,
    /// The file is at least this long, unless windows are made ahead.
    end: u64,
    pieces: Option<Sender<Piece>>,
    long_text: usize,
    trouble: Arc<Trouble>,
    threads: Vec<JoinHandle<()>>,
}

/// How many threads should copy, or `None` if this machine has too few cores for it.
pub fn threads() -> Option<usize> {
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    (cores >= MIN_CORES).then(|| (cores / 4).clamp(2, 8))
}

/// On fewer cores, the threads that make text wait for those that copy it.
const MIN_CORES: usize = 4;

/// Whether `busy` threads that make text leave half of this machine to those that copy it. Where they do not, copying
/// takes the time of making: 8 GB that 16 cores decoded, all of them, took 6.0 s instead of 4.5.
pub fn leaves_room(busy: usize) -> bool {
    2 * busy <= thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Tells whether writing is what a program waits for.
#[derive(Debug, Default)]
pub struct Pace {
    since: Option<Instant>,
    writing: Duration,
    bytes: u64,
    is_slow: bool,
}

/// Bytes over which the time of writing is compared with all time.
const STRETCH: u64 = 32 << 20;

impl Pace {
    /// Some bytes have been written, from `started` until now.
    pub fn wrote(&mut self, bytes: u64, started: Instant) {
        self.measured(bytes, started, Instant::now());
    }

    fn measured(&mut self, bytes: u64, started: Instant, ended: Instant) {
        let since = *self.since.get_or_insert(started);
        self.writing += ended - started;
        self.bytes += bytes;
        if self.bytes >= STRETCH {
            let is_slow = self.writing * 2 >= ended - since;
            *self = Pace { is_slow, ..Pace::default() };
        }
    }

    /// Whether writing took more than half of the time, when that was last seen.
    pub fn is_slow(&self) -> bool {
        self.is_slow
    }
}

/// A text on its way.
struct Text {
    bytes: Vec<u8>,
    /// Dropped when all of it is written.
    _done: Option<Sender<Infallible>>,
}

impl MappedFile {
    /// Lets `threads` threads write `file`, from offset `at` on, where it ends. It must be open for reading, too, and
    /// unknown to other processes: one that made it shorter would end this one. Windows of `huge` bytes are made of
    /// huge pages (0: none are). Returns `None` if the system cannot do it.
    pub fn start(file: &File, at: u64, threads: usize, huge: u64) -> Option<MappedFile> {
        Self::with(file, at, Shape::of(threads, huge))
    }

    /// Like [`start`](Self::start), for an empty file that will have about `bytes` bytes, a while before the first of
    /// them come: one thread makes windows of [`LONG`] huge bytes for all of them from now on. They stay mapped until
    /// they are full, so the whole file may count as the process's memory.
    pub fn expecting(file: &File, bytes: u64, threads: usize) -> Option<MappedFile> {
        let windows = bytes.div_ceil(LONG);
        let advance = Advance { makers: 1, until: windows * LONG, waiting: windows as usize };
        Self::with(file, 0, Shape { advance, long_text: LONG_EXPECTED, ..Shape::of(threads, LONG) })
    }

    pub(crate) fn with(file: &File, at: u64, shape: Shape) -> Option<MappedFile> {
        if !system::can_populate() {
            return None;
        }
        let file = Arc::new(file.try_clone().ok()?);
        let trouble = Arc::<Trouble>::default();
        let (pieces, taken) = bounded(2 * shape.threads);
        let mut threads = Vec::new();
        for _ in 0..shape.threads {
            let (file, taken, trouble) = (Arc::clone(&file), taken.clone(), Arc::clone(&trouble));
            // After an error, what is on its way is only taken, so that its giver does not wait for room.
            let write = move |piece: Piece| {
                if !trouble.stop.load(Ordering::Relaxed) {
                    trouble.watch(|| (shape.put)(&piece, &file));
                }
            };
            threads.push(Builder::new().name("copy".into()).spawn(move || taken.iter().for_each(write)).ok()?);
        }
        Some(MappedFile {
            at,
            data: at,
            window: None,
            ahead: (shape.huge > 0).then(|| Ahead::start(&file, at, shape.huge, shape.advance)).flatten(),
            holes: Vec::new(),
            reserves: shape.reserve,
            maps: true,
            end: at,
            file,
            pieces: Some(pieces),
            long_text: shape.long_text,
            trouble,
            threads,
        })
    }

    /// The offset at which the next byte is written: the length of the file when it is finished.
    pub fn offset(&self) -> u64 {
        self.at
    }

    /// Writes the `parts` of a text, which are in order; between them there are zeros, which are not written. An error
    /// may concern any text before it.
    pub fn give(&mut self, text: Vec<u8>, parts: Vec<Range<usize>>) -> io::Result<()> {
        self.trouble.check()?;
        let (start, len) = (self.at, text.len());
        self.at += len as u64;
        let (done, wait) = if len > self.long_text { Some(bounded(0)).unzip() } else { (None, None) };
        let text = Arc::new(Text { bytes: text, _done: done });
        for part in parts {
            self.give_part(&text, start, part)?;
        }
        drop(text);
        if let Some(wait) = wait {
            let _: Result<Infallible, _> = wait.recv();
        }
        Ok(())
    }

    /// Hands out the pieces of a part of a text, which begins at the offset `start`.
    fn give_part(&mut self, text: &Arc<Text>, start: u64, part: Range<usize>) -> io::Result<()> {
        let (mut next, to) = (start + part.start as u64, start + part.end as u64);
        while next < to {
            let was_made = self.is_made();
            let window = self.window(next);
            if was_made || self.is_made() {
                self.give_back(next);
            }
            let is_made = window.as_ref().is_some_and(|window| window.is_made());
            let piece = if is_made { LONG_PIECE } else { PIECE };
            let end = to.min((next / piece + 1) * piece);
            if !is_made && window.is_some() {
                self.reserve(next..end);
            }
            let part = (next - start) as usize..(end - start) as usize;
            let piece = Piece { text: Arc::clone(text), part, at: next, window };
            if self.pieces.as_ref().is_none_or(|pieces| pieces.send(piece).is_err()) {
                return self.trouble.check().and(Err(ended()));
            }
            (next, self.data) = (end, end);
        }
        Ok(())
    }

    /// The window for a piece at this offset.
    fn window(&mut self, at: u64) -> Option<Arc<Window>> {
        if !self.window.as_ref().is_some_and(|window| window.part().contains(&at)) {
            self.window = None;
            self.window = self.made(at).or_else(|| self.map(at)).map(Arc::new);
        }
        self.window.clone()
    }

    /// The window of huge pages for a piece at this offset. After the first that cannot be had, or many holes, there
    /// are none.
    fn made(&mut self, at: u64) -> Option<Window> {
        let mut ahead = self.ahead.take()?;
        let made = (self.holes.len() < HOLES).then(|| ahead.find(|window| window.part().contains(&at))).flatten();
        if made.is_some() {
            self.ahead = Some(ahead);
            return made;
        }
        drop(ahead);
        // What has been made for nothing takes no room.
        let _ = self.file.set_len(at);
        self.end = at;
        None
    }

    /// Whether pages after the last data may have been made.
    fn is_made(&self) -> bool {
        self.ahead.is_some() || self.window.as_ref().is_some_and(|window| window.is_made())
    }

    /// Gives the pages back that were made for the zeros between the last data and this offset.
    fn give_back(&mut self, next: u64) {
        if next > self.data {
            self.holes.push(self.data..next);
            self.release(&(self.data..next));
        }
    }

    /// Where it fails, zeros take space.
    fn release(&self, part: &Range<u64>) {
        let _ = system::release(&self.file, part.start, part.end - part.start);
    }

    /// Maps a window of small pages for a piece at this offset.
    fn map(&mut self, at: u64) -> Option<Window> {
        let begin = at / WINDOW * WINDOW;
        self.maps = self.maps && may_be_as_long(begin + WINDOW);
        if self.maps && begin + WINDOW > self.end {
            self.end = begin + WINDOW;
            self.maps = self.file.set_len(self.end).is_ok();
        }
        let window = self.maps.then(|| Window::map(&self.file, begin, WINDOW as usize)).flatten();
        self.maps = window.is_some();
        window
    }

    /// Allocates small pages. What is not allocated here is when it is touched, and an error is found there.
    fn reserve(&mut self, part: Range<u64>) {
        if self.reserves {
            let done = system::reserve(&self.file, part.start, part.end - part.start);
            self.reserves = done.is_ok() || done.is_err_and(|e| e.kind() == io::ErrorKind::Interrupted);
        }
    }

    /// Writes a few bytes at once, as [`FileExt::write_at`] does.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.trouble.check()?;
        let written = self.file.write_at(bytes, self.at)?;
        self.at += written as u64;
        self.data = self.at;
        Ok(written)
    }

    /// Passes over zeros, which are not written.
    pub fn skip(&mut self, zeros: u64) {
        self.at += zeros;
    }

    /// Waits until everything is written. Returns the length of the file.
    pub fn finish(mut self) -> io::Result<u64> {
        let is_made = self.is_made();
        (self.pieces, self.ahead) = (None, None);
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                self.trouble.raise(ended());
            }
        }
        self.trouble.check()?;
        if is_made {
            self.give_back(self.at);
        }
        // The system may have been unable to divide a huge page while others used it.
        self.holes.iter().for_each(|hole| self.release(hole));
        self.file.set_len(self.at)?;
        Ok(self.at)
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        self.trouble.stop.store(true, Ordering::Relaxed);
        (self.pieces, self.ahead) = (None, None);
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

/// Whether the file may be made so long. Making it longer than the limit would raise SIGXFSZ, although its bytes may
/// end before that.
fn may_be_as_long(end: u64) -> bool {
    getrlimit(Resource::Fsize).current.is_none_or(|most| end <= most)
}

fn ended() -> io::Error {
    io::Error::other("a thread that writes the file has failed")
}

/// What went wrong on the threads.
#[derive(Default)]
struct Trouble {
    /// Whether no more needs to be written.
    stop: AtomicBool,
    error: Mutex<Option<io::Error>>,
}

impl Trouble {
    /// Returns the first error, once; afterwards another one.
    fn check(&self) -> io::Result<()> {
        if !self.stop.load(Ordering::Acquire) {
            return Ok(());
        }
        Err(self.error.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_else(ended))
    }

    /// Does some work, which may fail or panic.
    fn watch(&self, work: impl FnOnce() -> io::Result<()>) {
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(Ok(())) => {}
            Ok(Err(e)) => self.raise(e),
            Err(_) => self.raise(ended()), // the panic said why
        }
    }

    fn raise(&self, e: io::Error) {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(e);
        self.stop.store(true, Ordering::Release);
    }
}

/// Some bytes of a text, and where they go.
pub(crate) struct Piece {
    text: Arc<Text>,
    part: Range<usize>,
    at: u64,
    /// The part of the file in which they lie, if it is mapped.
    window: Option<Arc<Window>>,
}

impl Piece {
    fn bytes(&self) -> &[u8] {
        &self.text.bytes[self.part.clone()]
    }

    fn put(&self, file: &File) -> io::Result<()> {
        match &self.window {
            Some(window) if window.copy(self.at, self.bytes()) => Ok(()),
            _ => file.write_all_at(self.bytes(), self.at),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
