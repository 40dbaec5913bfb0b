//! The text to measure: the bytes of an operand or, with `-d`, its decompressed bytes.

use crate::cli::args::{Common, Operand};
use crate::cli::files::reader::Reader;
use crate::cli::files::source;
use crate::cli::messages::{self, Failure};
use hybz::read::MultiBzDecoder;
use hybz::{Error, Pool, Settings};
use hybz_files::quote::shown;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;

/// An operand that is open.
pub struct MeasuredInput {
    pub file: File,
    /// The operand's length, if it is known.
    pub len: Option<u64>,
}

impl MeasuredInput {
    /// Opens an operand as `-l` does: without waiting for the writer of a FIFO, and only files, unless forced.
    pub fn open(common: &Common, operand: &Operand) -> Result<MeasuredInput, Failure> {
        let name = operand.name();
        let read_error = |e: io::Error| Failure::input("read", name, &e);
        let (_, file) = source::open(common, operand, "read data from", common.force)?;
        let found = file.metadata().map_err(read_error)?;
        if found.is_dir() {
            return Err(Failure::about(1, "Input file ", name, " is a directory."));
        }
        // Stdin may be in the middle of a file, and files of /proc say that they are empty.
        let whole = matches!(operand, Operand::File(_)) && found.is_file() && found.len() > 0;
        Ok(MeasuredInput { file, len: whole.then_some(found.len()) })
    }
}

/// Reads a file that had `len` bytes when it was opened, and no more than that if it grows.
pub fn plain(name: &OsStr, file: File, len: u64) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    let room = text.try_reserve_exact(len as usize).map_err(|_| io::ErrorKind::OutOfMemory.into());
    let read = room.and_then(|()| read(&mut Reader::new(file), len, &mut text));
    read.map(|()| text).map_err(|e| Failure::input("read", name, &e))
}

/// All bytes of a file, if it has at most `max` bytes.
pub fn to_the_end(name: &OsStr, file: File, max: u64) -> Result<Option<Vec<u8>>, Failure> {
    all(&mut Reader::new(file), max).map_err(|e| Failure::input("read", name, &e))
}

/// The decompressed text of a file, if it has at most `max` bytes.
pub fn decoded(common: &Common, name: &OsStr, file: File, pool: &Pool, max: u64) -> Result<Option<Vec<u8>>, Failure> {
    let settings = Settings::new().pool(pool).trailing_garbage(common.trailing_garbage);
    let mut decoder = MultiBzDecoder::with_settings(Reader::new(file), &settings);
    all(&mut decoder, max).map_err(|e| failure(common, name, &e))
}

/// Appends at most `max` bytes.
fn read(reader: &mut impl Read, max: u64, text: &mut Vec<u8>) -> io::Result<()> {
    reader.take(max).read_to_end(text).map(|_| ())
}

fn all(reader: &mut impl Read, max: u64) -> io::Result<Option<Vec<u8>>> {
    let mut text = Vec::new();
    read(reader, max, &mut text)?;
    text.shrink_to_fit();
    Ok((reader.read(&mut [0])? == 0).then_some(text))
}

/// The reason why a file was not decompressed, in the words of `-t`.
fn failure(common: &Common, name: &OsStr, e: &io::Error) -> Failure {
    match e.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        None | Some(Error::Read(_)) => Failure::input("read", name, e),
        Some(error @ Error::Internal { .. }) => Failure::internal(name, error),
        Some(error @ Error::Memory { .. }) => Failure::memory(name, error, common.memory.is_some()),
        Some(error) => {
            Failure::new(2, [shown(name).as_bytes(), b": ", messages::verdict(error, true).as_bytes()].concat())
        }
    }
}
