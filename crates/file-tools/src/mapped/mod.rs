//! A file in memory (tmpfs) that several threads fill.
//!
//! `write` into a tmpfs allocates a page, copies into it and holds the file's lock all the while, so it is no faster on
//! many threads than on one: 2.3 to 3.2 GB/s on a host with an H200, less than its lanes decode. Here a text goes
//! through two stages. One thread, which takes the lock that only one can have, lets the system allocate the pages
//! (`fallocate`). Several copy into a shared mapping of the file, for which they need no lock: the system clears pages
//! and enters them into the mapping on these threads. Processor time per byte on a virtual machine of 2 cores, in ns:
//!
//! | | with the file's lock | in parallel |
//! |---|---|---|
//! | `write` | 0.39 | |
//! | mapping, pages allocated as they are touched | | 0.68 (0.58 pages, 0.03 copy, 0.07 unmap) |
//! | `fallocate`, then mapping | 0.21 | 0.38 (0.27 pages, 0.03 copy, 0.08 unmap) |
//!
//! With texts that other threads have made, it takes 1.8 times the processor time of `write` (0.82 ns and 0.46, by
//! `examples/into_memory.rs`), and pays only where one thread that writes is what the others wait for.
//!
//! **A full file system is no SIGBUS.** A page is only touched after `MADV_POPULATE_WRITE` has put it there, which
//! returns an error where touching it would raise the signal. Whatever cannot be mapped is written by `pwrite`, so that
//! errors are those of `write`: full disk, quota, RLIMIT_FSIZE. Before Linux 5.14 there is no such call, and no mapping
//! either. A page that is there goes away only if the file is cut, so the file must be one that no other process knows.
//!
//! **Memory.** At most two texts and 512 KiB for each thread are on their way. Pages of the file count as the
//! process's own while they are mapped: they are in windows of 8 MiB, of which two are mapped at a time.

use crate::system::{self, Window};
use crossbeam_channel::{Receiver, Sender, bounded};
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

/// Bytes that one thread copies at once. They and the page that they go to stay in its cache.
const PIECE: u64 = 256 << 10;

/// Bytes for which pages are allocated at once.
const SLICE: u64 = 1 << 20;

/// A text longer than this is in the file when [`MappedFile::give`] returns.
const LONG: usize = 4 << 20;

/// How the work is divided.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// How many threads copy.
    pub threads: usize,
    /// Bytes that are mapped at once: a multiple of [`PIECE`].
    pub window: u64,
    /// Whether pages are allocated before they are touched.
    pub reserve: bool,
    /// How a piece is put into the file.
    pub put: fn(&Piece, &File) -> io::Result<()>,
}

impl Shape {
    pub(crate) fn of(threads: usize) -> Shape {
        Shape { threads, window: 8 << 20, reserve: true, put: Piece::put }
    }
}

/// A file in memory ([`is_in_memory`](crate::file::is_in_memory)) that is written by several threads.
///
/// Dropped before [`finish`](MappedFile::finish), it forgets what is not written yet; the file's length is then any.
pub struct MappedFile {
    file: Arc<File>,
    /// The offset at which the next byte is written.
    at: u64,
    texts: Option<Sender<Given>>,
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
struct Given {
    text: Arc<Text>,
    /// What of it is written, in order.
    parts: Vec<Range<usize>>,
    /// The offset of the text in the file.
    at: u64,
}

struct Text {
    bytes: Vec<u8>,
    /// Dropped when all of it is written.
    _done: Option<Sender<Infallible>>,
}

impl MappedFile {
    /// Lets `threads` threads write `file`, from offset `at` on, where it ends. It must be open for reading, too, and
    /// unknown to other processes: one that made it shorter would end this one. Returns `None` if the system cannot do
    /// it.
    pub fn start(file: &File, at: u64, threads: usize) -> Option<MappedFile> {
        Self::with(file, at, Shape::of(threads))
    }

    pub(crate) fn with(file: &File, at: u64, shape: Shape) -> Option<MappedFile> {
        if !system::can_populate() {
            return None;
        }
        let file = Arc::new(file.try_clone().ok()?);
        let trouble = Arc::<Trouble>::default();
        let (texts, given) = bounded(1);
        let (pieces, taken) = bounded(2 * shape.threads);
        let mut made = MappedFile {
            file: Arc::clone(&file),
            at,
            texts: Some(texts),
            trouble: Arc::clone(&trouble),
            threads: Vec::new(),
        };
        let stage =
            Stage { file: Arc::clone(&file), shape, window: None, reserves: shape.reserve, maps: true, end: at };
        let its_trouble = Arc::clone(&trouble);
        made.spawn("reserve", move || {
            its_trouble.watch(|| {
                stage.run(&given, &pieces);
                Ok(())
            });
            drop(pieces);
            // A text that no thread takes would wait for ever, and so would its giver.
            given.iter().for_each(drop);
        })?;
        for _ in 0..shape.threads {
            let (file, taken, trouble) = (Arc::clone(&file), taken.clone(), Arc::clone(&trouble));
            // After an error, what is on its way is only taken, so that no thread waits for room.
            let write = move |piece: Piece| {
                if !trouble.stop.load(Ordering::Relaxed) {
                    trouble.watch(|| (shape.put)(&piece, &file));
                }
            };
            made.spawn("copy", move || taken.iter().for_each(write))?;
        }
        Some(made)
    }

    fn spawn(&mut self, name: &str, work: impl FnOnce() + Send + 'static) -> Option<()> {
        self.threads.push(Builder::new().name(name.to_owned()).spawn(work).ok()?);
        Some(())
    }

    /// The offset at which the next byte is written: the length of the file when it is finished.
    pub fn offset(&self) -> u64 {
        self.at
    }

    /// Writes the `parts` of a text, which are in order; between them there are zeros, which are not written. An error
    /// may concern any text before it.
    pub fn give(&mut self, text: Vec<u8>, parts: Vec<Range<usize>>) -> io::Result<()> {
        self.trouble.check()?;
        let (at, len) = (self.at, text.len());
        self.at += len as u64;
        let (done, wait) = if len > LONG { Some(bounded(0)).unzip() } else { (None, None) };
        let text = Arc::new(Text { bytes: text, _done: done });
        let sent = self.texts.as_ref().map(|texts| texts.send(Given { text, parts, at }));
        if !matches!(sent, Some(Ok(()))) {
            return self.trouble.check().and(Err(ended()));
        }
        if let Some(wait) = wait {
            let _: Result<Infallible, _> = wait.recv();
        }
        Ok(())
    }

    /// Writes a few bytes at once, as [`FileExt::write_at`] does.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.trouble.check()?;
        let written = self.file.write_at(bytes, self.at)?;
        self.at += written as u64;
        Ok(written)
    }

    /// Passes over zeros, which are not written.
    pub fn skip(&mut self, zeros: u64) {
        self.at += zeros;
    }

    /// Waits until everything is written. Returns the length of the file.
    pub fn finish(mut self) -> io::Result<u64> {
        self.texts = None;
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                self.trouble.raise(ended());
            }
        }
        self.trouble.check()?;
        self.file.set_len(self.at)?;
        Ok(self.at)
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        self.trouble.stop.store(true, Ordering::Relaxed);
        self.texts = None;
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
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

/// The thread that allocates pages and hands out pieces.
struct Stage {
    file: Arc<File>,
    shape: Shape,
    window: Option<(u64, Arc<Window>)>,
    reserves: bool,
    maps: bool,
    /// The file is at least this long.
    end: u64,
}

impl Stage {
    fn run(mut self, given: &Receiver<Given>, pieces: &Sender<Piece>) {
        for Given { text, parts, at } in given {
            for part in parts {
                let (mut next, to) = (at + part.start as u64, at + part.end as u64);
                let mut allocated = next;
                while next < to {
                    let end = to.min((next / PIECE + 1) * PIECE);
                    if end > allocated && self.reserves && self.maps {
                        allocated = to.min(allocated + SLICE);
                        self.allocate(next..allocated);
                    }
                    let part = (next - at) as usize..(end - at) as usize;
                    let piece = Piece { text: Arc::clone(&text), part, at: next, window: self.window(next) };
                    if pieces.send(piece).is_err() {
                        return; // the threads have ended
                    }
                    next = end;
                }
            }
        }
    }

    /// Allocates pages ahead. What is not allocated here is when it is touched, and an error is found there.
    fn allocate(&mut self, part: Range<u64>) {
        let done = system::reserve(&self.file, part.start, part.end - part.start);
        self.reserves = done.is_ok() || done.is_err_and(|e| e.kind() == io::ErrorKind::Interrupted);
    }

    /// The window for a piece at this offset.
    fn window(&mut self, at: u64) -> Option<Arc<Window>> {
        let begin = at / self.shape.window * self.shape.window;
        if let Some((at, window)) = &self.window
            && *at == begin
        {
            return Some(Arc::clone(window));
        }
        self.window = None;
        self.window = self.maps.then(|| self.map(begin)).flatten().map(|window| (begin, Arc::new(window)));
        self.maps = self.window.is_some();
        self.window.as_ref().map(|(_, window)| Arc::clone(window))
    }

    fn map(&mut self, begin: u64) -> Option<Window> {
        let end = begin + self.shape.window;
        // Making the file longer than the limit would raise SIGXFSZ; its bytes may end before that.
        if end > self.end {
            if getrlimit(Resource::Fsize).current.is_some_and(|most| most < end) {
                return None;
            }
            self.file.set_len(end).ok()?;
            self.end = end;
        }
        Window::map(&self.file, begin, self.shape.window as usize)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
