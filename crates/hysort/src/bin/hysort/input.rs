//! The input files: all are checked before any work, each is opened when its turn comes, and compressed ones are
//! recognised by their first bytes.

use crate::args::Plan;
use crate::failure::{Failure, STDIN};
use hybz::read::MultiBzDecoder;
use hybz::{Pool, Settings};
use hybz_files::{file, process};
use rustix::fs::{Access, AtFlags, CWD, accessat};
use std::cell::OnceCell;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

/// The number of bytes that identify a file: those of `BZh9` and the magic of a block or of the end.
const HEAD: usize = 10;
const BLOCK: &[u8] = b"\x31\x41\x59\x26\x53\x59";
const END: &[u8] = b"\x17\x72\x45\x38\x50\x90";

/// Whether a file that begins so is a `.bz2` or `.hbz`. A text may begin with `BZh9`, but what follows it is no text.
fn is_compressed(head: &[u8]) -> bool {
    match head {
        [b'B', b'Z', b'h', b'1'..=b'9', magic @ ..] => magic.starts_with(BLOCK) || magic.starts_with(END),
        _ => head.starts_with(&hybz::internals::formats::hbz::MAGIC),
    }
}

/// Whether more bytes are needed to know.
fn may_be_compressed(head: &[u8]) -> bool {
    head.len() < HEAD
        && (head.is_empty()
            || b"BZh".starts_with(&head[..head.len().min(3)])
            || head[0] == hybz::internals::formats::hbz::MAGIC[0])
}

/// Checks that all files can be read. (Those that come later in the work may have gone by then.)
pub fn check_readable(files: &[OsString]) -> Result<(), Failure> {
    for name in files.iter().filter(|name| *name != STDIN) {
        accessat(CWD, &**name, Access::READ_OK, AtFlags::EACCESS)
            .map_err(|e| Failure::system("cannot read", name, e.into()))?;
    }
    Ok(())
}

/// Opens the files of a plan.
pub struct Opener<'a> {
    plan: &'a Plan,
    /// The stations that decompress, made when they are needed.
    pool: OnceCell<Pool>,
    threads: std::num::NonZeroUsize,
    memory: u64,
}

/// The contents of an open file.
pub enum Input {
    /// The bytes of a regular file, from this offset up to its current end.
    Regular { file: File, from: u64, to: u64 },
    /// A stream, after the bytes that were already read.
    Stream(Box<dyn Read + Send>),
}

impl<'a> Opener<'a> {
    /// Decompressing takes up to `memory`.
    pub fn new(plan: &'a Plan, threads: std::num::NonZeroUsize, memory: u64) -> Opener<'a> {
        Opener { plan, pool: OnceCell::new(), threads, memory }
    }

    /// Opens a file.
    pub fn open(&self, name: &OsStr) -> Result<Input, Failure> {
        let file = open_plain(name)?;
        self.look_at(name, file).map_err(|e| Failure::system("read failed", name, e))
    }

    fn look_at(&self, name: &OsStr, file: File) -> io::Result<Input> {
        let found = file.metadata()?;
        // Files in /proc have no length.
        if found.is_file() && found.len() > 0 {
            let from = (&file).stream_position()?;
            let mut head = [0; HEAD];
            let len = file.read_at(&mut head, from)?;
            if self.decompresses(&head[..len]) {
                return Ok(self.decoded(name, Waiting(file)));
            }
            return Ok(Input::Regular { file, from, to: found.len() });
        }
        let mut file = Waiting(file);
        let mut head = Vec::with_capacity(HEAD);
        let mut room = [0; HEAD];
        while may_be_compressed(&head) && !self.plan.no_decompress {
            match file.read(&mut room[head.len()..])? {
                0 => break,
                len => head.extend_from_slice(&room[head.len()..head.len() + len]),
            }
        }
        let compressed = self.decompresses(&head);
        let all = io::Cursor::new(head).chain(file);
        Ok(if compressed { self.decoded(name, all) } else { Input::Stream(Box::new(all)) })
    }

    fn decompresses(&self, head: &[u8]) -> bool {
        !self.plan.no_decompress && is_compressed(head)
    }

    fn decoded(&self, name: &OsStr, coded: impl Read + Send + 'static) -> Input {
        let make = || hysort::pool().threads(self.threads).max_memory(self.memory).build();
        // Bytes after the last stream cause a warning, not a failure.
        let settings = Settings::new().pool(self.pool.get_or_init(make)).trailing_garbage(false);
        let decoder = MultiBzDecoder::with_settings(coded, &settings);
        Input::Stream(Box::new(Decoded { decoder, name: name.to_owned(), ended: false }))
    }
}

/// Regular files that are sorted as they are, seen as one text.
pub struct Whole {
    /// Each with where its text begins in it, and in all of them.
    files: Vec<(File, u64, u64)>,
    /// The bytes of all.
    pub bytes: u64,
    began: Instant,
}

/// The maximum number of files to sample: each has to be open.
const MOST_FILES: usize = 100;

impl Whole {
    /// The text at a place, if all samples so far have been quick: those from a disk are not, and then sampling does
    /// not pay. (The limit is a hundredth of the time that a fast disk takes for all of the text, plus 50 ms.)
    pub fn look(&self, at: u64) -> Option<Vec<u8>> {
        let most = Duration::from_millis(50) + Duration::from_nanos(self.bytes / 50);
        let (file, from, start) =
            &self.files[self.files.partition_point(|(_, _, start)| *start <= at).checked_sub(1)?];
        let mut bytes = vec![0; 8192];
        let len = file.read_at(&mut bytes, from + (at - start)).ok().filter(|_| self.began.elapsed() < most)?;
        bytes.truncate(len);
        Some(bytes)
    }
}

impl Opener<'_> {
    /// All files of the plan as one text, if all are regular and none is to be decompressed. It reports no errors:
    /// reading the files will meet them.
    pub fn whole(&self) -> Option<Whole> {
        let began = Instant::now();
        let (mut files, mut bytes) = (Vec::new(), 0);
        for name in Some(&self.plan.files).filter(|names| names.len() <= MOST_FILES)? {
            // Only regular files may be opened here: the first bytes of others would be lost.
            let found = match name == STDIN {
                true => open_plain(name).ok()?.metadata(),
                false => std::fs::metadata(name),
            };
            found.ok().filter(|found| found.is_file() && found.len() > 0)?;
            let Ok(Input::Regular { file, from, to }) = self.open(name) else { return None };
            if to > from {
                files.push((file, from, bytes));
                bytes += to - from;
            }
        }
        Some(Whole { files, bytes, began })
    }
}

/// Opens a file, or stdin.
pub fn open_plain(name: &OsStr) -> Result<File, Failure> {
    if name == STDIN {
        let stdin = process::check_stdin().and_then(|()| io::stdin().as_fd().try_clone_to_owned());
        return stdin.map(File::from).map_err(|e| Failure::system("read failed", STDIN, e));
    }
    File::open(name).map_err(|e| Failure::system("open failed", name, e))
}

/// A reader that waits even if the file was opened as non-blocking.
struct Waiting(File);

impl Read for Waiting {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(buf) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => file::wait_readable(&self.0)?,
                done => return done,
            }
        }
    }
}

/// A compressed file, read as its text.
struct Decoded<R> {
    decoder: MultiBzDecoder<R>,
    name: OsString,
    ended: bool,
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.ended {
            return Ok(0);
        }
        match self.decoder.read(buf) {
            Err(e) if is_garbage(&e) => {
                self.ended = true;
                let name = crate::names::quoted_if_needed(&self.name);
                let text = [b"hysort: ", &name[..], b": trailing garbage after the compressed data ignored\n"].concat();
                let _ = io::stderr().write_all(&text);
                Ok(0)
            }
            done => done,
        }
    }
}

fn is_garbage(e: &io::Error) -> bool {
    let inner = e.get_ref().and_then(|inner| inner.downcast_ref::<hybz::Error>());
    matches!(inner, Some(hybz::Error::TrailingGarbage { .. }))
}

impl Input {
    /// The error of reading it.
    pub fn failure(name: &OsStr, e: io::Error) -> Failure {
        let is_data = e.get_ref().is_some_and(|inner| inner.is::<hybz::Error>());
        let failure = Failure::system("read failed", name, e);
        match is_data {
            true => {
                Failure::sentence([&failure.text()[..], b" (--no-decompress sorts its bytes as they are)"].concat())
            }
            false => failure,
        }
    }

    /// Reads it as a stream, in one thread.
    pub fn into_reader(self) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Input::Stream(stream) => stream,
            Input::Regular { mut file, from, .. } => {
                file.seek(SeekFrom::Start(from))?;
                Box::new(Waiting(file))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compressed() {
        let settings = Settings::new();
        for text in [&b""[..], b"text"] {
            assert!(is_compressed(&hybz::compress(text, &settings).unwrap()[..HEAD]));
        }
        assert!(is_compressed(&hybz::internals::formats::hbz::MAGIC) && is_compressed(b"\x89HBZ\r\n\x1a\n12"));
        for text in
            [&b"BZh9"[..], b"BZh9 is what a .bz2 begins with", b"BZh0\x31\x41\x59\x26\x53\x59", b"", b"\x89HBZ\n"]
        {
            assert!(!is_compressed(text), "{text:?}");
        }
        for (head, more) in
            [(&b""[..], true), (b"B", true), (b"BZh9\x31", true), (b"b", false), (b"BY", false), (b"BZh91AY&SY", false)]
        {
            assert_eq!(may_be_compressed(head), more, "{head:?}");
        }
    }

    /// Two files as one text, the second of which has been read up to its third byte.
    #[test]
    fn what_stands_where() {
        let file = |text: &[u8]| {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(text).unwrap();
            file
        };
        let text = b"0123456789".repeat(1000);
        let files = vec![(file(&text), 0, 0), (file(b"abcdefgh"), 3, 10_000)];
        let whole = Whole { files, bytes: 10_005, began: Instant::now() };
        let from = |at: u64| whole.look(at).unwrap();
        assert!(from(0) == text[..8192] && from(4321) == text[4321..] && from(9_999) == b"9");
        assert_eq!((&from(10_000)[..], &from(10_003)[..]), (&b"defgh"[..], &b"gh"[..]));
    }
}
