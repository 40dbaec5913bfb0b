//! The messages about a file when its stream has ended, with or without an error.

use crate::cli::args::{Kind, Plan};
use crate::cli::files::index;
use crate::cli::files::job::Destination;
use crate::cli::messages::formats::foreign;
use crate::cli::messages::verified;
use crate::cli::messages::{self, Failure, Messages, Note};
use hybz::Format;
use hybz::{Error, Formats, StreamSummary};
use hybz_files::quote::shown;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// The words for the outcome.
pub struct OutcomeText {
    plan: Arc<Plan>,
    messages: Arc<Messages>,
}

/// The messages about a stream that failed.
pub struct Verdict {
    pub notes: Vec<Note>,
    /// Whether `--recover` or bzip2recover may find good blocks.
    pub damage: bool,
}

impl OutcomeText {
    pub fn new(plan: &Arc<Plan>, messages: &Arc<Messages>) -> OutcomeText {
        OutcomeText { plan: Arc::clone(plan), messages: Arc::clone(messages) }
    }

    /// The beginning of a file's line under `-v`; under `-vv` it was printed before the first block.
    fn line_start(&self, name: &OsStr) -> Vec<u8> {
        if self.plan.verbose == 1 { self.messages.line_start(name) } else { Vec::new() }
    }

    /// The messages about a stream that succeeded.
    pub fn success(&self, name: &OsStr, stream: &StreamSummary) -> Vec<u8> {
        let (verbose, quiet, program) = (self.plan.verbose, self.plan.quiet, &self.plan.program);
        let kind = self.plan.kind;
        let mut message = self.line_start(name);
        if verbose >= 2 && stream.trailing_garbage.is_none() {
            message.extend(messages::end_line(stream, kind == Kind::Compress).bytes());
        }
        if stream.trailing_garbage.is_some() && quiet == 0 {
            let text = b"trailing garbage after EOF ignored\n";
            match kind {
                Kind::Test if verbose > 0 => message.extend_from_slice(text),
                Kind::Test => message.extend([program.as_bytes(), b": ", shown(name).as_bytes(), b": ", text].concat()),
                _ => message.extend([b"\n", program.as_bytes(), b": ", shown(name).as_bytes(), b": ", text].concat()),
            }
        }
        if verbose > 0 {
            let end = match kind {
                Kind::Compress => messages::ratio(stream.bytes_in, stream.bytes_out),
                Kind::Decompress => "done\n".to_owned(),
                _ => "ok\n".to_owned(),
            };
            message.extend(end.bytes());
        }
        message
    }

    /// The message about a failed stream, in a file that begins with `head`.
    pub fn failure(&self, name: &OsStr, destination: &Destination, error: &Error, head: &[u8]) -> Verdict {
        let result = match destination {
            Destination::Stdout => OsStr::new("(stdout)"),
            Destination::File(place) => place.name(),
            Destination::Nothing => OsStr::new("(none)"),
        };
        let mut damage = false;
        let failure = match error {
            Error::Read(e) => Failure::input("read", name, e),
            Error::ForeignIndex { .. } | Error::BadIndex(_) | Error::NewerIndex { .. } => {
                index::failure(self.plan.index_of(Path::new(name)).as_os_str(), error)
            }
            Error::Write(e) => Failure::output("write", result, e),
            &Error::TextLength { stated, found } => {
                let text = format!(" had {stated} bytes, and {found} when it was read: it changed meanwhile.");
                Failure::about(1, "Input file ", name, &text)
            }
            Error::Internal { .. } => Failure::internal(name, error),
            Error::Perturbed => Failure::perturbed(name),
            Error::Miscoded { .. } => verified::miscoded(name, error),
            Error::Memory { .. } => Failure::memory(name, error, self.plan.memory.is_some()),
            _ => {
                let not_bzip2 = matches!(error, Error::NotBzip2);
                // An empty file has nothing to recover, and garbage after a stream has damaged nothing.
                let nothing_lost = match error {
                    Error::TrailingGarbage { .. } | Error::Truncated { bit_offset: 0, .. } => true,
                    // Files in other programs' formats cannot be recovered.
                    Error::Data { damage, .. } => !messages::has_crcs(damage),
                    _ => false,
                };
                damage = !nothing_lost && (self.plan.kind == Kind::Test || !not_bzip2);
                // bzip2 gives its advice for all files.
                damage &= self.plan.formats == Formats::Bzip2
                    || foreign(head).is_none() && Format::of(head).is_none_or(|format| format == Format::Bzip2);
                if self.plan.kind == Kind::Test || not_bzip2 {
                    return Verdict { notes: vec![self.one_line(name, error, head)], damage };
                }
                messages::damage(name, result, error, self.plan.quiet)
            }
        };
        let mut notes = Vec::new();
        if self.plan.verbose > 0 {
            notes.push(Note::Line([self.line_start(name), b"\n".to_vec()].concat()));
        }
        notes.push(Note::Failure(failure));
        Verdict { notes, damage }
    }

    /// An error for which bzip2 prints one line. The line begins with the file's name as `-v` writes it, or with the
    /// program's name.
    fn one_line(&self, name: &OsStr, error: &Error, head: &[u8]) -> Note {
        let (test, verbose) = (self.plan.kind == Kind::Test, self.plan.verbose > 0);
        let between: &[u8] = if test { b": " } else { b" is " };
        let mut text = messages::verdict(error, test);
        if let (Error::NotBzip2, Formats::All, Some(other)) = (error, self.plan.formats, foreign(head)) {
            text = match test {
                true => format!("bad magic number: it is {} data; use {}", other.name, other.test),
                false => {
                    format!("{}: it is {} data; use {}.", text.trim_end_matches('.'), other.name, other.decompress)
                }
            };
        }
        let failure = Failure::new(2, [shown(name).as_bytes(), between, text.as_bytes()].concat());
        match verbose {
            true => Note::Verdict(failure, [&self.line_start(name), text.as_bytes(), b"\n"].concat()),
            false => Note::Failure(failure),
        }
    }
}

/// Converts an error in a part of a file to an error of the whole file.
pub fn placed(plan: &Plan, error: Error) -> Error {
    match error {
        // The text of ranges is copied, so its errors come as errors of reading.
        Error::Read(e) if plan.ranges.is_some() || plan.split.is_some() => e.downcast().unwrap_or_else(Error::Read),
        error => error,
    }
}
