//! The progress of a call: counters that one thread writes and any thread reads, and the lines made from them. A signal
//! handler reads them too (SIGUSR1 asks for such a line at any time), so nothing here allocates or takes a lock.

use crate::cli::messages::progress::screen::CLEAR;
use hybz_files::process;
use std::fmt;
use std::io::{Cursor, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

pub struct Counts {
    program: Vec<u8>,
    started: Instant,
    /// The number of bytes read of all inputs so far.
    read: AtomicU64,
    /// Total length of the finished inputs, in bytes. Only its writer reads it.
    done: AtomicU64,
    written: AtomicU64,
    /// The number of bytes of all inputs together, if it is known.
    total: Option<u64>,
    files: AtomicU64,
    operands: Option<u64>,
    pub bar: AtomicBool,
}

impl Counts {
    pub fn new(program: &[u8], operands: Option<u64>, total: Option<u64>) -> Counts {
        Counts {
            program: program.to_vec(),
            started: Instant::now(),
            read: AtomicU64::new(0),
            done: AtomicU64::new(0),
            written: AtomicU64::new(0),
            total,
            files: AtomicU64::new(0),
            operands,
            bar: AtomicBool::new(false),
        }
    }

    /// Records that `bytes` of the current input are read. Returns the number of bytes read of all inputs.
    pub fn advance(&self, bytes: u64) -> u64 {
        let read = self.done.load(Relaxed) + bytes;
        self.read.store(read, Relaxed);
        read
    }

    pub fn wrote(&self, bytes: u64) {
        self.written.fetch_add(bytes, Relaxed);
    }

    /// Records that an input is done: all of its `bytes` are read, or, if it failed, those counted so far.
    pub fn input_done(&self, bytes: Option<u64>) {
        let read = match bytes {
            Some(bytes) => self.advance(bytes),
            None => self.read.load(Relaxed),
        };
        self.done.store(read, Relaxed);
        self.files.fetch_add(1, Relaxed);
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub fn words(&self) -> Line {
        let (read, written, time) = (self.read.load(Relaxed), self.written.load(Relaxed), self.elapsed());
        let mut line = line();
        if self.bar.load(Relaxed) && !process::is_in_background() {
            let _ = line.write_all(CLEAR); // the bar is drawn again below the line
        }
        // A line that is too long is cut; nothing else can go wrong.
        let _ = line.write_all(&self.program);
        let _ = write!(line, ": {}", Mega(read));
        // A file grew, or its size was wrong: the total is unknown from now on.
        let total = self.total.filter(|&total| total >= read);
        let _ = total.map_or(Ok(()), |total| write!(line, " of {}", Mega(total)));
        let _ = write!(line, " MB read, {} MB written, {}", Mega(written), self.files.load(Relaxed));
        let _ = self.operands.map_or(Ok(()), |operands| write!(line, " of {operands}"));
        let _ = write!(line, " files done, {}.{} s, ", time.as_secs(), time.subsec_millis() / 100);
        let _ = writeln!(line, "{} MB/s", Mega((u128::from(read) * 1000 / time.as_millis().max(1)) as u64));
        line
    }
}

struct Mega(u64);

impl fmt::Display for Mega {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0 / 1_000_000, self.0 / 100_000 % 10)
    }
}

/// A line that is built without allocating. It is cut if it gets too long.
pub type Line = Cursor<[u8; 1024]>;

pub fn line() -> Line {
    Cursor::new([0; 1024])
}

pub fn bytes(line: &Line) -> &[u8] {
    &line.get_ref()[..line.position() as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_bytes_than_the_total_and_long_lines() {
        let counts = Counts::new(b"hybz", Some(3), Some(20_000_000));
        counts.advance(5_000_000);
        let said = |counts: &Counts| String::from_utf8_lossy(bytes(&counts.words())).into_owned();
        assert!(said(&counts).starts_with("hybz: 5.0 of 20.0 MB read, 0.0 MB written, 0 of 3 files done, 0.0 s, "));
        counts.input_done(Some(30_000_000));
        assert!(said(&counts).starts_with("hybz: 30.0 MB read, 0.0 MB written, 1 of 3 files done, "));
        assert_eq!(bytes(&Counts::new(&[b'n'; 3000], None, None).words()), [b'n'; 1024]);
    }
}
