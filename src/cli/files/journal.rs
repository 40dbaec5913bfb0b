//! The journal of `--resume`: the results that need not be compared with their sources again.
//!
//! The file has a header of 16 bytes, then eight bytes for each completed result: a CRC-64 over name, inode, size,
//! mtime and ctime of the source as it was opened, and of the result after it got its name. If neither has changed
//! since, the CRC is the same. No record can be half right: a truncated record or garbage matches no file. Results
//! without a record are compared again, and nothing is ever removed because of the journal.
//!
//! A record is written only when its result is on the disk and named, so no record survives a power cut that destroys
//! its result. A source that changed just before it was opened gets no record: it could change again without a change
//! of its times, whose resolution is 10 ms on some systems and 2 s on others.
//!
//! A tree may belong to an attacker, and a journal decides which results are not compared. It is trusted only if no
//! other user can have written it, and only up to the number of records that a tree can need, which bounds the memory
//! for reading it.

use crate::cli::files::source::SourceFile;
use crate::cli::messages::errno_text;
use crc_fast::{CrcAlgorithm, checksum};
use hybz_files::directory::{Directory, Stat, distrusted};
use hybz_files::file;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The journal's name in the walked directory, or in the directory that `--output-dir` names.
pub const NAME: &str = ".hybz-journal";

const HEADER: &[u8; 16] = b"hybz journal 1\n\0";

/// This many records are read from any journal (128 MiB); more on a file system with more files.
const MIN_MAX_RECORDS: u64 = 16 << 20;

/// The number of bytes per read.
const PIECE: usize = 64 << 10;

/// An open journal.
#[derive(Debug)]
pub struct Journal {
    file: File,
    /// Its records, sorted.
    known: Vec<u64>,
}

/// A source as it was opened, for the record of its result.
pub struct Completion {
    journal: Arc<Journal>,
    /// A CRC over its name and attributes.
    source: u64,
}

impl Journal {
    /// Opens the journal in a directory, or creates it. The error says why there is none: it cannot be created, or the
    /// file of that name is not a journal.
    pub fn open(directory: &Directory) -> Result<Arc<Journal>, String> {
        let failed = |e: io::Error| errno_text(&e);
        let mut file = directory.open_to_append(OsStr::new(NAME)).map_err(failed)?;
        if let Some(why) = distrusted(&file).map_err(failed)? {
            return Err(why.to_owned());
        }
        let len = file.metadata().map_err(failed)?.len();
        if len == 0 {
            file.write_all(HEADER).map_err(failed)?;
            return Ok(Arc::new(Journal { file, known: Vec::new() }));
        }
        let mut header = [0; HEADER.len()];
        match file.read_exact(&mut header) {
            Ok(()) if header == *HEADER => {}
            Err(e) if e.kind() != io::ErrorKind::UnexpectedEof => return Err(failed(e)),
            _ => return Err("it is not a journal".to_owned()),
        }
        let records = len.saturating_sub(HEADER.len() as u64);
        // Twice as many: a tree can span several file systems, and a result that is made again gets another record.
        if records / 8 > MIN_MAX_RECORDS.max(2 * file::files_beside(&file)) {
            return Err("it is longer than this tree can need, and can be removed".to_owned());
        }
        // A truncated record must not shift the records after it.
        let torn = records % 8;
        if torn > 0 {
            file.set_len(len - torn).map_err(failed)?;
        }
        let mut known = read_records(&file, records / 8).map_err(failed)?;
        known.sort_unstable();
        known.dedup();
        Ok(Arc::new(Journal { file, known }))
    }

    /// Writes records, with one write.
    fn append(&self, records: &[u64]) {
        let bytes: Vec<u8> = records.iter().flat_map(|record| record.to_le_bytes()).collect();
        // Results missing from the journal are only compared again.
        let _ = (&self.file).write_all(&bytes);
    }
}

/// Reads at most `count` records.
fn read_records(file: &File, count: u64) -> io::Result<Vec<u64>> {
    let mut known = Vec::new();
    let mut reader = BufReader::with_capacity(PIECE, file.take(8 * count));
    let mut record = [0; 8];
    for _ in 0..count {
        match reader.read_exact(&mut record) {
            Ok(()) => known.push(u64::from_le_bytes(record)),
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => break,
            Err(e) => return Err(e),
        }
    }
    Ok(known)
}

impl Completion {
    /// The entry for a source that has just been opened.
    pub fn new(journal: &Arc<Journal>, source: &SourceFile) -> Completion {
        let found = &source.found;
        let numbers = [
            found.ino(),
            found.len(),
            found.mtime() as u64,
            found.mtime_nsec() as u64,
            found.ctime() as u64,
            found.ctime_nsec() as u64,
        ];
        let name = source.place.path().file_name().unwrap_or_default();
        Completion { journal: Arc::clone(journal), source: crc(name, &numbers) }
    }

    fn record(&self, name: &OsStr, result: &Stat) -> u64 {
        let numbers = [
            self.source,
            result.st_ino,
            result.st_size as u64,
            result.st_mtime as u64,
            result.st_mtime_nsec as u64,
            result.st_ctime as u64,
            result.st_ctime_nsec as u64,
        ];
        crc(name, &numbers)
    }

    /// Whether the journal says that this result of the source is complete.
    pub fn is_known(&self, name: &OsStr, result: &Stat) -> bool {
        self.journal.known.binary_search(&self.record(name, result)).is_ok()
    }
}

fn crc(name: &OsStr, numbers: &[u64]) -> u64 {
    let numbers = numbers.iter().flat_map(|number| number.to_le_bytes());
    let bytes: Vec<u8> = name.as_bytes().iter().copied().chain(numbers).collect();
    checksum(CrcAlgorithm::Crc64Nvme, &bytes)
}

/// Whether a source has been unchanged long enough that any further change shows in its times.
pub fn is_settled(source: &SourceFile, now: SystemTime) -> bool {
    let found = &source.found;
    let changed = |seconds: i64, nanoseconds: i64| {
        let step = if nanoseconds == 0 { Duration::from_secs(2) } else { Duration::from_millis(100) };
        let (seconds, nanoseconds) = (u64::try_from(seconds).unwrap_or(0), u32::try_from(nanoseconds).unwrap_or(0));
        SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds) + step
    };
    now > changed(found.ctime(), found.ctime_nsec()) && now > changed(found.mtime(), found.mtime_nsec())
}

/// Completed results, on the disk and named, to be recorded in their journals.
#[derive(Default)]
pub struct Records(Vec<(Arc<Journal>, u64)>);

impl Records {
    pub fn push(&mut self, entry: Completion, name: &OsStr, result: &Stat) {
        let record = entry.record(name, result);
        self.0.push((entry.journal, record));
    }
}

impl Drop for Records {
    fn drop(&mut self) {
        for records in self.0.chunk_by(|(a, _), (b, _)| Arc::ptr_eq(a, b)) {
            let numbers: Vec<u64> = records.iter().map(|(_, record)| *record).collect();
            records[0].0.append(&numbers);
        }
    }
}
