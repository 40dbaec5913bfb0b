//! Files as the flow reads them.

use crate::cli::files::job::Seen;
use hybz::Format;
use hybz::flow::{self, Source};
use hybz_files::file::wait_readable;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::sync::Arc;

/// Reads a file that was opened without waiting, as if it had been opened with waiting.
pub struct Reader {
    file: File,
    /// A FIFO without a writer reads as empty: wait for its first writer.
    wait_first: bool,
    /// It is on a disk and so long that several threads may be worth starting to read it.
    is_long: bool,
    /// Where the first bytes are noted, until they are.
    seen: Option<Arc<Seen>>,
}

impl Reader {
    pub fn new(file: File) -> Self {
        match file.metadata() {
            Ok(found) => Reader::of(file, &found),
            Err(_) => Reader { file, wait_first: false, is_long: false, seen: None },
        }
    }

    /// Without waiting for a FIFO's first writer: a FIFO that nobody has open for writing is empty.
    pub fn at_once(file: File) -> Self {
        Reader { file, wait_first: false, is_long: false, seen: None }
    }

    /// Of a file of which is known what it is.
    pub fn of(file: File, found: &Metadata) -> Self {
        let wait_first = found.file_type().is_fifo();
        let is_long = found.is_file() && found.len() >= flow::LONG_FILE;
        Reader { file, wait_first, is_long, seen: None }
    }

    /// Notes the first bytes in `seen`.
    pub fn noting(self, seen: &Arc<Seen>) -> Self {
        Reader { seen: Some(Arc::clone(seen)), ..self }
    }

    /// The first `max` bytes, or fewer at the end. An error is left for the next read, which meets it again.
    pub fn head(&mut self, max: usize) -> Vec<u8> {
        let mut head = Vec::with_capacity(max);
        let _ = self.by_ref().take(max as u64).read_to_end(&mut head);
        head
    }

    /// What several threads can read, from the current position, if the file is long. (Other processes may share
    /// stdin's position: for them it is moved to the end, where bzip2 leaves it.)
    pub fn into_source(mut self) -> Source {
        if !self.is_long {
            return Source::Stream(Box::new(self));
        }
        match self.file.stream_position().and_then(|at| self.file.seek(SeekFrom::End(0)).map(|_| at)) {
            Ok(at) => {
                let mut head = [0; Format::HEAD_LEN];
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
