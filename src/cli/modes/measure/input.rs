//! The text to measure: the bytes of an operand or, with `-d`, its decompressed bytes.

use crate::cli::args::{Operand, Plan};
use crate::cli::files::reader::Reader;
use crate::cli::files::source;
use crate::cli::messages::Failure;
use crate::cli::modes::{read_all, undecoded};
use hybz::read::MultiBzDecoder;
use hybz::{Error, Pool, Settings};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};

/// Opens an operand as `-l` does: without waiting for the writer of a FIFO, and only files, unless forced. The second
/// value is its length, if it is known.
pub fn open(plan: &Plan, operand: &Operand) -> Result<(File, Option<u64>), Failure> {
    let name = operand.name();
    let (_, file) = source::open(plan, operand, "read data from", plan.force)?;
    let found = file.metadata().map_err(|e| Failure::input("read", name, &e))?;
    if found.is_dir() {
        return Err(Failure::about(1, "Input file ", name, " is a directory."));
    }
    // Stdin may be in the middle of a file, and files of /proc say that they are empty.
    let whole = matches!(operand, Operand::File(_)) && found.is_file() && found.len() > 0;
    Ok((file, whole.then_some(found.len())))
}

/// Reads a file that had `len` bytes when it was opened, and no more than that if it grows.
pub fn plain(name: &OsStr, file: File, len: u64) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    let room = text.try_reserve_exact(len as usize).map_err(|_| io::ErrorKind::OutOfMemory.into());
    let read = room.and_then(|()| Reader::new(file).take(len).read_to_end(&mut text));
    read.map(|_| text).map_err(|e| Failure::input("read", name, &e))
}

/// All bytes of a file, if it has at most `max` bytes.
pub fn to_the_end(name: &OsStr, file: File, max: u64) -> Result<Option<Vec<u8>>, Failure> {
    read_all(Reader::new(file), max).map_err(|e| Failure::input("read", name, &e))
}

/// The decompressed text of a file, if it has at most `max` bytes.
pub fn decoded(plan: &Plan, name: &OsStr, file: File, pool: &Pool, max: u64) -> Result<Option<Vec<u8>>, Failure> {
    let settings = Settings::new().pool(pool).trailing_garbage(plan.trailing_garbage);
    let decoder = MultiBzDecoder::with_settings(Reader::new(file), &settings);
    read_all(decoder, max).map_err(|e| undecoded(plan, name, &e.downcast().unwrap_or_else(Error::Read)))
}
