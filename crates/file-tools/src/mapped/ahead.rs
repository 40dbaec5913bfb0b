//! Windows of huge pages, made ahead by a few threads.

use super::may_be_as_long;
use crate::system::Window;
use crossbeam_channel::{Receiver, bounded};
use std::fs::File;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

/// The windows. Once this is dropped, no thread makes the file longer.
pub(super) struct Ahead {
    /// One for each thread, which take turns.
    windows: Vec<Receiver<Window>>,
    next: usize,
    threads: Vec<JoinHandle<()>>,
}

/// A file that several threads make longer.
struct Growing {
    file: Arc<File>,
    len: Mutex<u64>,
}

impl Ahead {
    /// Starts `threads` threads that make windows of `len` bytes, from the one that contains `at` on. Each thread makes
    /// its next window while its last one waits to be used.
    pub fn start(file: &Arc<File>, at: u64, len: u64, threads: usize) -> Option<Ahead> {
        let mut ahead = Ahead { windows: Vec::new(), next: 0, threads: Vec::new() };
        let growing = Arc::new(Growing { file: Arc::clone(file), len: Mutex::new(at) });
        for number in 0..threads as u64 {
            let (sender, windows) = bounded(1);
            let growing = Arc::clone(&growing);
            let work = move || {
                let offsets = (at / len * len + number * len..).step_by(len as usize * threads);
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
        // A thread that waits for its window to be taken ends now.
        self.windows.clear();
        // What is not made is not missed.
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}
