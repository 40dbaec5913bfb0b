//! Windows of huge pages, made ahead by a few threads.

use super::may_be_as_long;
use crate::system::Window;
use crossbeam_channel::{Receiver, bounded};
use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

/// The windows. Once this is dropped, no thread makes the file longer.
pub(super) struct Ahead {
    /// One for each thread, which take turns.
    windows: Vec<Receiver<Window>>,
    next: usize,
    threads: Vec<JoinHandle<()>>,
    stop: Arc<AtomicBool>,
}

/// Which windows are made ahead.
#[derive(Clone, Copy)]
pub(crate) struct Advance {
    /// How many threads make them.
    pub makers: usize,
    /// Windows from this offset of the file on are not made.
    pub until: u64,
    /// How many windows of each thread wait to be used, in addition to the one that it offers.
    pub waiting: usize,
}

/// A file that several threads make longer.
struct Growing {
    file: Arc<File>,
    len: Mutex<u64>,
}

impl Ahead {
    /// Starts threads that make windows of `len` bytes, from the one that contains `at` on.
    pub fn start(file: &Arc<File>, at: u64, len: u64, advance: Advance) -> Option<Ahead> {
        let Advance { makers, until, waiting } = advance;
        let mut ahead = Ahead { windows: Vec::new(), next: 0, threads: Vec::new(), stop: Arc::default() };
        let growing = Arc::new(Growing { file: Arc::clone(file), len: Mutex::new(at) });
        for number in 0..makers as u64 {
            let (sender, windows) = bounded(waiting);
            let (growing, stop) = (Arc::clone(&growing), Arc::clone(&ahead.stop));
            let work = move || {
                let offsets = (at / len * len + number * len..until).step_by(len as usize * makers);
                let offsets = offsets.take_while(|_| !stop.load(Ordering::Relaxed));
                let mut all = offsets.map_while(|begin| growing.window(begin, len));
                let _ = all.try_for_each(|window| sender.send(window));
            };
            ahead.threads.push(Builder::new().name("huge pages".into()).spawn(work).ok()?);
            ahead.windows.push(windows);
        }
        Some(ahead)
    }

    /// The next window that is wanted, after the ones that are not. `None` if one of these could not be made.
    pub fn find(&mut self, wanted: impl Fn(&Window) -> bool) -> Option<Window> {
        loop {
            let window = self.windows.get(self.next)?.recv().ok()?;
            self.next = (self.next + 1) % self.windows.len();
            if wanted(&window) {
                return Some(window);
            }
        }
    }
}

impl Growing {
    fn window(&self, begin: u64, len: u64) -> Option<Window> {
        let mut now = self.len.lock().unwrap_or_else(PoisonError::into_inner);
        if begin + len > *now {
            if !may_be_as_long(begin + len) || self.file.set_len(begin + len).is_err() {
                return None;
            }
            *now = begin + len;
        }
        drop(now);
        let mut window = Window::map(&self.file, begin, len as usize)?;
        window.make_huge().then_some(window)
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        // A thread that waits for its window to be taken ends now, one that makes a window after that.
        self.stop.store(true, Ordering::Relaxed);
        self.windows.clear();
        // What is not made is not missed.
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}
