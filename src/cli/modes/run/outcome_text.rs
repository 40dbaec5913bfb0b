//! The messages about a file when its stream has ended, with or without an error.

use crate::cli::args::{Kind, Plan};
use crate::cli::files::{Destination, index};
use crate::cli::messages::formats::foreign;
use crate::cli::messages::{self as words, Failure, Messages, Note};
use hybz::{Error, Format, Formats, StreamSummary};
use hybz_files::quote::shown;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

pub struct Verdict {
    pub notes: Vec<Note>,
    /// Whether `--recover` or bzip2recover may find good blocks.
    pub damage: bool,
}

/// The beginning of a file's line under `-v`; under `-vv` it was printed before the first block.
fn line_start(messages: &Messages, name: &OsStr) -> Vec<u8> {
    if messages.plan.verbose == 1 { messages.line_start(name) } else { Vec::new() }
}

pub fn success(messages: &Messages, name: &OsStr, stream: &StreamSummary) -> Vec<u8> {
    let Plan { kind, program, .. } = &*messages.plan;
    let (verbose, quiet) = (messages.plan.verbose, messages.plan.quiet);
    let mut message = line_start(messages, name);
    if verbose >= 2 && stream.trailing_garbage.is_none() {
        message.extend(words::end_line(stream, *kind == Kind::Compress).bytes());
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
            Kind::Compress => words::ratio(stream.bytes_in, stream.bytes_out),
            Kind::Decompress => "done\n".to_owned(),
            _ => "ok\n".to_owned(),
        };
        message.extend(end.bytes());
    }
    message
}

/// The message about a failed stream, in a file that begins with `head`.
pub fn failure(messages: &Messages, name: &OsStr, destination: &Destination, error: &Error, head: &[u8]) -> Verdict {
    let (plan, result) = (&messages.plan, destination.name());
    let by_itself = Failure::of(plan, name, error).or_else(|| match error {
        Error::ForeignIndex { .. } | Error::BadIndex(_) | Error::NewerIndex { .. } => {
            Some(index::failure(plan.index_of(Path::new(name)).as_os_str(), error))
        }
        Error::Write(e) => Some(Failure::output("write", result, e)),
        &Error::TextLength { stated, found } => {
            let text = format!(" had {stated} bytes, and {found} when it was read: it changed meanwhile.");
            Some(Failure::about(1, "Input file ", name, &text))
        }
        _ => None,
    });
    let (failure, damage) = match by_itself {
        Some(failure) => (failure, false),
        None => {
            let not_bzip2 = matches!(error, Error::NotBzip2);
            // An empty file has nothing to recover, and garbage after a stream has damaged nothing.
            let nothing_lost = match error {
                Error::TrailingGarbage { .. } | Error::Truncated { bit_offset: 0, .. } => true,
                // Files in other programs' formats cannot be recovered.
                Error::Data { damage, .. } => !words::has_crcs(damage),
                _ => false,
            };
            let lost = !nothing_lost && (plan.kind == Kind::Test || !not_bzip2);
            // bzip2 gives its advice for all files.
            let is_bzip2 = plan.formats == Formats::Bzip2
                || foreign(head).is_none() && Format::of(head).is_none_or(|format| format == Format::Bzip2);
            if plan.kind == Kind::Test || not_bzip2 {
                return Verdict { notes: vec![one_line(messages, name, error, head)], damage: lost && is_bzip2 };
            }
            (words::damage(name, result, error, plan.quiet), lost && is_bzip2)
        }
    };
    let line = || Note::Line([line_start(messages, name), b"\n".to_vec()].concat());
    let line = (plan.verbose > 0).then(line);
    Verdict { notes: line.into_iter().chain([Note::Failure(failure)]).collect(), damage }
}

/// An error for which bzip2 prints one line. The line begins with the file's name as `-v` writes it, or with the
/// program's name.
fn one_line(messages: &Messages, name: &OsStr, error: &Error, head: &[u8]) -> Note {
    let plan = &messages.plan;
    let (test, verbose) = (plan.kind == Kind::Test, plan.verbose > 0);
    let between: &[u8] = if test { b": " } else { b" is " };
    let mut text = words::verdict(error, test);
    if let (Error::NotBzip2, Formats::All, Some(other)) = (error, plan.formats, foreign(head)) {
        text = match test {
            true => format!("bad magic number: it is {} data; use {}", other.name, other.test),
            false => {
                format!("{}: it is {} data; use {}.", text.trim_end_matches('.'), other.name, other.decompress)
            }
        };
    }
    let failure = Failure::new(2, [shown(name).as_bytes(), between, text.as_bytes()].concat());
    match verbose {
        true => Note::Verdict(failure, [&line_start(messages, name), text.as_bytes(), b"\n"].concat()),
        false => Note::Failure(failure),
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
