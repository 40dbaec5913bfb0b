//! Times of reading and writing files on a disk.

use crate::fail;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// The seconds to read these bytes from a file that is not in the page cache, at best.
pub fn cold(name: &Path, bytes: &[u8]) -> f64 {
    std::fs::write(name, bytes).unwrap_or_else(|error| fail(&format!("{}: {error}", name.display())));
    let once = || {
        // With no blocks to copy, dd only drops the file from the cache.
        let mut drop = Command::new("dd");
        drop.arg(format!("of={}", name.display())).args(["oflag=nocache", "conv=notrunc,fdatasync", "count=0"]);
        let done = drop.stdin(Stdio::null()).stderr(Stdio::null()).status();
        assert!(done.is_ok_and(|done| done.success()), "dd drops a file from the cache");
        let start = Instant::now();
        let found = std::fs::read(name).unwrap_or_default();
        let seconds = start.elapsed().as_secs_f64();
        assert!(found == bytes, "the file");
        seconds
    };
    (0..3).map(|_| once()).fold(f64::INFINITY, f64::min)
}

/// Writes a file, as far as the disk.
pub fn synced(path: &Path, bytes: &[u8]) {
    let write = |mut file: File| {
        file.write_all(bytes)?;
        file.sync_data()
    };
    File::create(path).and_then(write).expect("room for a temporary file");
}
