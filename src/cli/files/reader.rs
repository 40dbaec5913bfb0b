//! Files as the flow reads them.

use crate::cli::files::Seen;
use crate::cli::messages::formats::HEAD_LEN;
use hybz::flow::Source;
use hybz::internals::flow::LONG_FILE;
use hybz_files::file::wait_readable;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::sync::Arc;

/// Reads a file that was opened without blocking, as if it had been opened with blocking.
pub struct Reader {
    file: File,
    /// A FIFO without a writer reads as empty: wait for its first writer.
    wait_first: bool,
    /// The file is on a disk, and so long that reading it with several threads may pay.
    is_long: bool,
    seen: Option<Arc<Seen>>,
}

impl Reader {
    pub fn new(file: File) -> Self {
        match file.metadata() {
            Ok(found) => Reader::of(file, &found),
            Err(_) => Reader::at_once(file),
        }
    }

    /// Does not wait for a FIFO's first writer: a FIFO without a writer is empty.
    pub fn at_once(file: File) -> Self {
        Reader { file, wait_first: false, is_long: false, seen: None }
    }

    pub fn of(file: File, found: &Metadata) -> Self {
        let wait_first = found.file_type().is_fifo();
        let is_long = found.is_file() && found.len() >= LONG_FILE;
        Reader { file, wait_first, is_long, seen: None }
    }

    pub fn noting(self, seen: &Arc<Seen>) -> Self {
        Reader { seen: Some(Arc::clone(seen)), ..self }
    }

    /// The first `max` bytes, or fewer at the end. An error is left for the next read, which will meet it again.
    pub fn head(&mut self, max: usize) -> Vec<u8> {
        let mut head = Vec::with_capacity(max);
        let _ = self.by_ref().take(max as u64).read_to_end(&mut head);
        head
    }

    /// A source that several threads can read from the current position, if the file is long. (Other processes may
    /// share stdin's position, so it is moved to the end, where bzip2 leaves it.)
    pub fn into_source(mut self) -> Source {
        if !self.is_long {
            return Source::Stream(Box::new(self));
        }
        match self.file.stream_position().and_then(|at| self.file.seek(SeekFrom::End(0)).map(|_| at)) {
            Ok(at) => {
                let mut head = [0; HEAD_LEN];
                if let Some(seen) = &self.seen
                    && let Ok(n) = self.file.read_at(&mut head, at)
                {
                    seen.note(&head[..n]);
                }
                Source::File(Arc::new(self.file), at)
            }
            Err(_) => Source::Stream(Box::new(self)),
        }
    }
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.wait_first {
            wait_readable(&self.file)?;
            self.wait_first = false;
        }
        loop {
            match self.file.read(buffer) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => wait_readable(&self.file)?,
                done => {
                    if let (Some(seen), Ok(n)) = (&self.seen, &done)
                        && !seen.note(&buffer[..*n])
                    {
                        self.seen = None;
                    }
                    return done;
                }
            }
        }
    }
}
