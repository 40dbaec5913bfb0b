//! `-m`: files that are sorted become one. They are all open at once, or as many as may be: then what some of them make
//! goes to a temporary file, which is merged with the others.

use crate::args::Plan;
use crate::call::{Call, failure, order, write};
use crate::cli::os::process;
use crate::failure::Failure;
use crate::input::{Input, Opener};
use crate::limits;
use crate::output::Output;
use crate::progress::Progress;
use crate::spill::Spill;
use hybz::Error;
use hybz::sort;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex, PoisonError};

/// Descriptors that are for something else than inputs.
const OTHERS: u64 = 32;
/// How much is read of a file at once, at most and at least.
const MOST: u64 = 1 << 20;
const LEAST: u64 = 4 << 10;

/// What is to be merged.
enum Source {
    Named(OsString),
    /// What some of them made.
    Made(File),
}

type Text<'a> = BufReader<Named<'a>>;

pub fn merge(call: Call<'_>) -> Result<(), Failure> {
    let Call { plan, output, progress, spill, .. } = call;
    let threads = limits::threads(plan);
    let memory = limits::memory(plan);
    let merging = Merging {
        plan,
        opener: Opener::new(plan, threads, memory / 8),
        progress: &progress,
        own: output.regular_stdout().map(|found| (found.dev(), found.ino())),
        trouble: Mutex::default(),
        spill: &spill,
    };
    let at_once = at_once(plan);
    let mut sources: VecDeque<Source> = plan.files.iter().cloned().map(Source::Named).collect();
    while sources.len() > at_once {
        // As many as are needed, so that the last step merges as many as it can.
        let some = (sources.len() - at_once + 1).min(at_once);
        let made = merging.step(sources.drain(..some).collect(), memory)?;
        // Behind the others: so no line is in more of these steps than it must be.
        sources.push_back(Source::Made(made));
    }
    merging.last(sources.into(), memory, output)?;
    progress.end();
    Ok(())
}

/// How many files are read at once.
fn at_once(plan: &Plan) -> usize {
    let open = process::raise_max_descriptors().saturating_sub(OTHERS).max(2);
    plan.batch.unwrap_or(usize::MAX).min(usize::try_from(open).unwrap_or(usize::MAX))
}

struct Merging<'a> {
    plan: &'a Plan,
    opener: Opener<'a>,
    progress: &'a Progress,
    /// Device and inode of stdout, if it is a regular file: what is written there must not be read.
    own: Option<(u64, u64)>,
    /// The file that could not be read, and why.
    trouble: Trouble,
    spill: &'a Arc<Spill>,
}

type Trouble = Mutex<Option<(OsString, io::Error)>>;

impl Merging<'_> {
    /// Merges some of the sources into a temporary file.
    fn step(&self, sources: Vec<Source>, memory: u64) -> Result<File, Failure> {
        let texts = self.open(sources, memory)?;
        let file = self.spill.create().map_err(|e| self.spill.failure(e))?;
        let mut out = BufWriter::with_capacity(MOST as usize, &file);
        let merged = sort::merge(texts, &order(self.plan), &mut out);
        merged.map_err(|e| self.failure(e))?;
        out.flush().map_err(|e| self.spill.failure(e))?;
        drop(out);
        let mut file = file;
        file.rewind().map_err(|e| self.spill.failure(e))?;
        Ok(file)
    }

    fn last(&self, sources: Vec<Source>, memory: u64, output: Output) -> Result<(), Failure> {
        let texts = self.open(sources, memory)?;
        write(output, self.progress, |out| sort::merge(texts, &order(self.plan), out), |e| self.failure(e))
    }

    fn open(&self, sources: Vec<Source>, memory: u64) -> Result<Vec<Text<'_>>, Failure> {
        let room = (memory / 2 / sources.len().max(1) as u64).clamp(LEAST, MOST) as usize;
        let texts = sources.into_iter().map(|source| {
            let (name, reader): (_, Box<dyn Read + Send>) = match source {
                Source::Made(file) => (None, Box::new(file)),
                Source::Named(name) => {
                    let reader = self.reader(self.opener.open(&name)?).map_err(|e| Input::failure(&name, e))?;
                    (Some((name, self.progress)), reader)
                }
            };
            Ok(BufReader::with_capacity(room, Named { name, reader, trouble: &self.trouble }))
        });
        texts.collect()
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
            Some((name, e)) => Input::failure(&name, e),
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
