//! Room for the result in a file system that is memory, taken while the input is read, where a
//! [`MappedFile`](hybz_files::mapped::MappedFile) is not possible: on few cores, or if the file has a hidden name.
//!
//! Half of the time of a write into a tmpfs goes into allocating pages (0.45 s per GB, 0.23 if the pages exist), and
//! only one thread may write into a file. Another thread therefore makes the system allocate them before there is
//! anything to write. On other file systems nothing is reserved: on disks the system does better when it chooses places
//! late.

use hybz_files::file;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};

/// Bytes reserved at once: no thread can write meanwhile.
const SLICE: u64 = 16 << 20;

/// Starting a thread does not pay for less than this.
pub const LEAST: u64 = 256 << 20;

/// A thread that reserves room at the end of a file which has nothing in it yet.
pub struct Reserve {
    file: File,
    bytes: u64,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Reserve {
    /// Starts reserving, if the file is in memory. If that fails, the write itself will report the error.
    pub fn begin(file: &File, bytes: u64) -> Option<Reserve> {
        if bytes >= LEAST && file::is_in_memory(file) { Self::start(file, bytes) } else { None }
    }

    fn start(file: &File, bytes: u64) -> Option<Reserve> {
        let (file, stop) = (file.try_clone().ok()?, Arc::new(AtomicBool::new(false)));
        let (own, stopped) = (file.try_clone().ok()?, Arc::clone(&stop));
        let work = move || {
            let mut at = 0;
            while at < bytes && !stopped.load(Ordering::Relaxed) {
                let len = SLICE.min(bytes - at);
                if file::reserve(&own, at, len).is_err() {
                    return;
                }
                at += len;
            }
        };
        let thread = Builder::new().name("reserve".to_owned()).spawn(work).ok()?;
        Some(Reserve { file, bytes, stop, thread })
    }

    /// Ends. Space reserved past the file's end is released.
    pub fn end(self) -> io::Result<()> {
        let Reserve { file, bytes, stop, thread } = self;
        stop.store(true, Ordering::Relaxed);
        let _ = thread.join(); // it does not panic
        let written = file.metadata()?.len();
        if written < bytes {
            file::release(&file, written, bytes - written)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{MemfdFlags, memfd_create};
    use std::io::Write;
    use std::os::unix::fs::MetadataExt;
    use std::time::{Duration, Instant};

    /// An anonymous file, which the kernel keeps in a tmpfs of its own.
    fn in_memory() -> File {
        memfd_create("reserve", MemfdFlags::CLOEXEC).unwrap().into()
    }

    #[test]
    fn only_where_it_pays() {
        assert!(Reserve::begin(&in_memory(), LEAST - 1).is_none());
        let elsewhere = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        match file::is_in_memory(&elsewhere) {
            true => println!("skipped: the sources are in memory"),
            false => assert!(Reserve::begin(&elsewhere, LEAST).is_none()),
        }
        let reserve = Reserve::begin(&in_memory(), LEAST).unwrap();
        reserve.end().unwrap();
    }

    #[test]
    fn pages_are_there_and_given_back() {
        const ROOM: u64 = SLICE + (1 << 20);
        let mut file = in_memory();
        let reserve = Reserve::start(&file, ROOM).unwrap();
        let until = Instant::now() + Duration::from_secs(20);
        while file.metadata().unwrap().blocks() * 512 < ROOM && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!((file.metadata().unwrap().len(), file.metadata().unwrap().blocks() * 512), (0, ROOM));
        file.write_all(&[7; 10_000]).unwrap();
        reserve.end().unwrap();
        let found = file.metadata().unwrap();
        assert_eq!((found.len(), found.blocks() * 512), (10_000, 12_288));
    }
}
