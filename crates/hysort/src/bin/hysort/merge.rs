//! `-m`: files that are sorted become one. They are all open at once, or as many as may be: then what some of them make
//! goes to a temporary file, which is merged with the others.

use crate::call::{Call, failure, write};
use crate::failure::Failure;
use crate::input::{self, Input};
use crate::limits;
use crate::output::Output;
use crate::progress::Progress;
use crate::rounds::{Part, Rounds, at_once, is_out_of_descriptors};
use crate::spill::Spill;
use hysort::{Error, Keys};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::mem::swap;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex, PoisonError};

/// The maximum and the minimum size of a read.
const MOST: u64 = 1 << 20;
const LEAST: u64 = 4 << 10;

/// An input of the merge.
enum Source {
    Named(OsString),
    /// The result of an earlier step.
    Made(Part),
}

type Text<'a> = BufReader<Named<'a>>;

pub fn merge(call: Call<'_>) -> Result<(), Failure> {
    let Call { plan, output, progress, spill, .. } = call;
    let memory = limits::memory(plan);
    let merging = Merging {
        keys: plan.keyed(),
        progress: &progress,
        own: output.regular_stdout().map(|found| (found.dev(), found.ino())),
        trouble: Mutex::default(),
        spill: &spill,
    };
    let mut rounds = Rounds::new(&spill);
    let mut most = at_once().min(plan.batch.unwrap_or(usize::MAX));
    let mut sources: VecDeque<Source> = plan.files.iter().cloned().map(Source::Named).collect();
    // What is made of some sources takes their place: lines with equal keys stay in the order of the files.
    let mut made = VecDeque::new();
    loop {
        let left = made.len() + sources.len();
        if left <= most || sources.len() < 2 {
            made.append(&mut sources);
            swap(&mut made, &mut sources);
        }
        // If they are too many: as many as are needed, so that the last step merges as many as it can.
        let some = if left <= most { left } else { (left - most + 1).min(most).min(sources.len()) };
        rounds.begin(sources.iter().take(some).filter_map(Source::made));
        let texts = merging.open(&mut sources, some, memory)?;
        if texts.len() == left {
            merging.last(texts, output)?;
            progress.end();
            return Ok(());
        }
        if texts.len() < some {
            most = texts.len(); // there are fewer descriptors than there were
        }
        made.push_back(Source::Made(merging.step(texts, &mut rounds)?));
    }
}

impl Source {
    fn made(&self) -> Option<&Part> {
        match self {
            Source::Made(part) => Some(part),
            Source::Named(_) => None,
        }
    }
}

struct Merging<'a> {
    keys: Keys,
    progress: &'a Progress,
    /// Device and inode of stdout, if it is a regular file: a file written there must not be read.
    own: Option<(u64, u64)>,
    /// The file that could not be read, and why.
    trouble: Trouble,
    spill: &'a Arc<Spill>,
}

type Trouble = Mutex<Option<(OsString, io::Error)>>;

impl Merging<'_> {
    /// Merges some of the sources into a temporary file.
    fn step(&self, texts: Vec<Text<'_>>, rounds: &mut Rounds<'_>) -> Result<Part, Failure> {
        let failed = |e| self.spill.failure(e);
        let write = |file: &File| {
            let mut out = BufWriter::with_capacity(MOST as usize, file);
            let merged = self.keys.merge(texts, &mut out);
            merged.map_err(|e| self.failure(e))?;
            out.flush().map_err(failed)
        };
        rounds.append(write, failed)
    }

    fn last(&self, texts: Vec<Text<'_>>, output: Output) -> Result<(), Failure> {
        write(output, self.progress, |out| self.keys.merge(texts, out), |e| self.failure(e))
    }

    /// Opens the first `most` sources and removes them from the queue; fewer, but at least two, if no descriptor is
    /// left. Open sources stay open: the first bytes of a pipe can be read only once.
    fn open(&self, sources: &mut VecDeque<Source>, most: usize, memory: u64) -> Result<Vec<Text<'_>>, Failure> {
        let room = (memory / 2 / most.max(1) as u64).clamp(LEAST, MOST) as usize;
        let named = |name, reader| Named { name, reader, trouble: &self.trouble };
        let mut texts = Vec::with_capacity(most);
        while texts.len() < most
            && let Some(source) = sources.pop_front()
        {
            let (name, reader): (_, Box<dyn Read + Send>) = match source {
                Source::Made(part) => (None, Box::new(part)),
                Source::Named(name) => match input::open(&name) {
                    Err(failure) if texts.len() >= 2 && is_out_of_descriptors(&failure) => {
                        sources.push_front(Source::Named(name));
                        break;
                    }
                    input => {
                        let reader = self.reader(input?).map_err(|e| input::failure(&name, e))?;
                        (Some((name, self.progress)), reader)
                    }
                },
            };
            texts.push(BufReader::with_capacity(room, named(name, reader)));
        }
        Ok(texts)
    }

    /// An input as a stream, which ends where it ended before we wrote to it.
    fn reader(&self, input: Input) -> io::Result<Box<dyn Read + Send>> {
        let own = match &input {
            Input::Regular { file, from, to } => {
                let found = file.metadata()?;
                (self.own == Some((found.dev(), found.ino()))).then_some(to - from)
            }
            Input::Stream(_) => None,
        };
        let reader = input.into_reader()?;
        Ok(match own {
            Some(len) => Box::new(reader.take(len)),
            None => reader,
        })
    }

    fn failure(&self, e: Error) -> Failure {
        match self.trouble.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some((name, e)) => input::failure(&name, e),
            None => match e {
                // Only temporary files are left.
                Error::Read(e) | Error::Write(e) => self.spill.failure(e),
                e => failure(e, self.spill),
            },
        }
    }
}

/// A source that says which file could not be read.
struct Named<'a> {
    /// Nothing: a temporary file.
    name: Option<(OsString, &'a Progress)>,
    reader: Box<dyn Read + Send>,
    trouble: &'a Trouble,
}

impl Read for Named<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buf);
        match (&self.name, read) {
            (Some((_, progress)), Ok(len)) => {
                progress.read(len);
                Ok(len)
            }
            (Some((name, _)), Err(e)) if e.kind() != io::ErrorKind::Interrupted => {
                let same = e
                    .raw_os_error()
                    .map_or_else(|| io::Error::new(e.kind(), e.to_string()), io::Error::from_raw_os_error);
                *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some((name.clone(), e));
                Err(same)
            }
            (_, read) => read,
        }
    }
}
