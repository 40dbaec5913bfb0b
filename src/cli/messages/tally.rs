//! Counts of the outcomes of one call's files, for the line at its end.

use crate::cli::args::Kind;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Clone, Copy, Debug)]
pub enum Skipped {
    /// The file's name has, or lacks, the suffix of a compressed file.
    Suffix,
    Excluded,
    /// The file's result is there already, and right.
    Complete,
    Link,
    /// A FIFO, a socket or a device.
    Special,
    Elsewhere,
    /// A file that hybz itself writes: an unfinished result, the report.
    Own,
}

const REASONS: usize = 7;

#[derive(Debug, Default)]
pub struct Tally {
    done: AtomicU64,
    bytes_in: AtomicU64,
    bytes_out: AtomicU64,
    failed: AtomicU64,
    skipped: [AtomicU64; REASONS],
}

impl Tally {
    pub fn skip(&self, why: Skipped) {
        self.skipped[why as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub fn done(&self, bytes_in: u64, bytes_out: u64) {
        self.done.fetch_add(1, Ordering::Relaxed);
        self.bytes_in.fetch_add(bytes_in, Ordering::Relaxed);
        self.bytes_out.fetch_add(bytes_out, Ordering::Relaxed);
    }

    pub fn failed(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    pub fn skipped(&self) -> u64 {
        self.skipped.iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }

    /// The line: `3 files compressed, 300 bytes to 90; 2 skipped (1 already compressed, 1 link); 1 error`.
    pub fn line(&self, kind: Kind) -> String {
        let value = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let suffix = if kind == Kind::Compress { "already compressed" } else { "without a suffix of compressed files" };
        let work = kind.work();
        let other = ["directory on other file systems", "directories on other file systems"];
        let (links, special) = (["link", "links"], ["special file", "special files"]);
        // In the order of the variants of `Skipped`.
        let reasons =
            [[suffix; 2], ["excluded"; 2], ["complete before"; 2], links, special, other, ["of hybz's own"; 2]];
        let done = value(&self.done);
        let (bytes_in, bytes_out) = (value(&self.bytes_in), value(&self.bytes_out));
        let mut line = format!("{done} {} {work}ed, {bytes_in} bytes to {bytes_out}", plural(done, "file", "files"));
        if self.skipped() > 0 {
            let skipped = self.skipped();
            let counts = self.skipped.iter().map(value).zip(reasons).filter(|(count, _)| *count > 0);
            let reasons: Vec<String> =
                counts.map(|(count, [one, several])| format!("{count} {}", plural(count, one, several))).collect();
            line += &format!("; {skipped} skipped ({})", reasons.join(", "));
        }
        match value(&self.failed) {
            0 => line,
            failed => format!("{line}; {failed} {}", plural(failed, "error", "errors")),
        }
    }
}

fn plural<'a>(count: u64, one: &'a str, several: &'a str) -> &'a str {
    if count == 1 { one } else { several }
}
