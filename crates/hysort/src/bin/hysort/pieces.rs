//! Reading a file in large pieces: a long regular file by several threads, everything else as it comes.

use crate::input::Input;
use hybz_files::memory::ask_for_huge_pages;
use hysort::Error;
use rustix::buffer::spare_capacity;
use rustix::io::{Errno, pread};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{self, Builder, Scope};

/// How a file is read.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// The bytes of a piece.
    pub piece: usize,
    /// The number of threads that read a long file.
    pub readers: usize,
}

/// Starting threads pays for this many pieces or more.
const LONG: u64 = 4;

impl Reading {
    /// The bytes of all pieces in memory at once: one here, and two per reader, one being read and one waiting.
    pub fn memory(&self) -> u64 {
        (self.piece * (2 * self.readers + 1)) as u64
    }

    /// Hands all bytes of `input` to `take`, piece by piece, in order.
    pub fn pieces(&self, mut input: Input, mut take: impl FnMut(Vec<u8>) -> Result<(), Error>) -> Result<(), Error> {
        if let Some(Range { start, end }) = input.extent.clone() {
            let mut at = start;
            if self.readers > 0 && end.saturating_sub(start) >= LONG * self.piece as u64 {
                at = self.parallel(&input, start..end, &mut take)?;
            }
            // Next come the rest and bytes appended meanwhile. The next process that reads stdin begins after them.
            input.file.seek(SeekFrom::Start(at)).map_err(|e| Error::Read(input.failed(e)))?;
        }
        loop {
            let mut piece = Vec::with_capacity(self.piece);
            input.by_ref().take(self.piece as u64).read_to_end(&mut piece).map_err(Error::Read)?;
            if piece.is_empty() {
                return Ok(());
            }
            take(piece)?;
        }
    }

    /// Passes on the bytes of an extent, in pieces that several threads read, and returns the offset it reached.
    fn parallel(
        &self,
        input: &Input,
        extent: Range<u64>,
        take: &mut impl FnMut(Vec<u8>) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        thread::scope(|scope| {
            let started = (0..self.readers).map(|reader| self.reader(scope, &input.file, extent.clone(), reader));
            let mut at = extent.start;
            let Ok(readers) = started.collect::<io::Result<Vec<_>>>() else { return Ok(at) };
            for reader in (0..readers.len()).cycle() {
                // The readers have the pieces in turn: the first one that sends nothing is past the end of the file.
                let Ok(piece) = readers[reader].recv() else { break };
                let piece = piece.map_err(|e| Error::Read(input.failed(e)))?;
                let (len, expected) = (piece.len() as u64, (extent.end - at).min(self.piece as u64));
                at += len;
                if len > 0 {
                    take(piece)?;
                }
                if len < expected {
                    break; // it was cut while we read it
                }
            }
            drop(readers);
            Ok(at)
        })
    }

    /// Starts a thread that reads piece `number` and every `readers`-th piece after it, up to two pieces ahead.
    fn reader<'scope>(
        &self,
        scope: &'scope Scope<'scope, '_>,
        file: &'scope File,
        extent: Range<u64>,
        number: usize,
    ) -> io::Result<Receiver<io::Result<Vec<u8>>>> {
        let Reading { piece, readers } = *self;
        let (sender, receiver) = sync_channel(1);
        let work = move || {
            let starts = extent.clone().step_by(piece).skip(number).step_by(readers);
            for start in starts {
                let len = (extent.end - start).min(piece as u64) as usize;
                let read = read_piece(file, start, len);
                let short = !matches!(&read, Ok(bytes) if bytes.len() == len);
                if sender.send(read).is_err() || short {
                    return;
                }
            }
        };
        Builder::new().name(format!("reader {number}")).spawn_scoped(scope, work)?;
        Ok(receiver)
    }
}

/// Reads `len` bytes from `start`, or fewer at the end of the file.
fn read_piece(file: &File, start: u64, len: usize) -> io::Result<Vec<u8>> {
    let mut bytes: Vec<u8> = Vec::with_capacity(len);
    // The system allocates and frees 8 GB faster as a few thousand huge pages than as two million small ones.
    ask_for_huge_pages(bytes.spare_capacity_mut());
    while bytes.len() < len {
        let at = start + bytes.len() as u64;
        match pread(file, spare_capacity(&mut bytes), at) {
            Ok(0) => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
    }
    bytes.truncate(len); // the buffer may be longer
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    fn read(bytes: &[u8], from: u64, to: u64, reading: Reading) -> Vec<u8> {
        let mut all = Vec::new();
        let taken = reading.pieces(Input::of(file(bytes), from..to), |piece| {
            assert!(!piece.is_empty() && piece.len() <= reading.piece);
            all.extend(piece);
            Ok(())
        });
        assert!(taken.is_ok());
        all
    }

    #[test]
    fn all_bytes_in_order() {
        let bytes: Vec<u8> = (0..100_003u32).flat_map(|i| i.to_le_bytes()).collect();
        let len = bytes.len() as u64;
        for readers in 0..5 {
            for piece in [1000, 1024, 65_536, 1 << 20] {
                let reading = Reading { piece, readers };
                assert!(read(&bytes, 0, len, reading) == bytes, "{reading:?}");
                assert!(read(&bytes, 77, len, reading) == bytes[77..], "{reading:?}");
                // The file has grown, or was cut, since its length was asked for.
                assert!(read(&bytes, 0, len / 2, reading) == bytes, "{reading:?}");
                assert!(read(&bytes, 0, len * 2, reading) == bytes, "{reading:?}");
            }
        }
    }

    #[test]
    fn who_takes_the_pieces_may_stop() {
        let input = Input::of(file(&[7; 10_000]), 0..10_000);
        let mut left = 3;
        let stopped = Reading { piece: 100, readers: 3 }.pieces(input, |_| {
            left -= 1;
            if left == 0 { Err(Error::LineTooLong) } else { Ok(()) }
        });
        assert!(matches!(stopped, Err(Error::LineTooLong)));
    }
}
