//! What to do with the bytes of an operand, and how to read them.

use crate::cli::args::{Mode, Operand, Part, Plan};
use crate::cli::formats::COPY_HEAD_LEN;
use crate::cli::job::{Destination, Ready};
use crate::cli::part;
use crate::cli::ranges::Parts;
use crate::cli::reader::Reader;
use crate::cli::report::Failure;
use crate::cli::source::SourceFile;
use hybz::Pool;
use hybz::flow::{Source, Task};
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, Read};

/// All of it.
pub fn whole(plan: &Plan, ready: &Ready, file: File) -> (Task, Source) {
    let Ready { source, destination, .. } = ready;
    let mut reader = match source {
        Some(source) => Reader::of(file, &source.found),
        None => Reader::new(file),
    };
    let can_be_read_again = source.as_ref().is_some_and(|source| source.found.is_file());
    if plan.mode != Mode::Compress && !can_be_read_again {
        reader = reader.noting(&ready.seen);
    }
    match plan.mode {
        Mode::Compress => (compression(plan, source.as_ref()), reader.into_source()),
        Mode::Decompress if plan.force && matches!(destination, Destination::Stdout) => {
            let head = reader.head(COPY_HEAD_LEN);
            let task = if plan.formats.may_begin_with(&head) { decompress(plan) } else { Task::Copy };
            (task, Source::Stream(Box::new(io::Cursor::new(head).chain(reader))))
        }
        Mode::Decompress | Mode::Test => (decompress(plan), reader.into_source()),
    }
}

/// A frame states the length of a long file. (That of a short one is known once it is read, and some of those that the
/// kernel makes up have another length than they say.)
fn compression(plan: &Plan, source: Option<&SourceFile>) -> Task {
    const LONG: u64 = 1 << 20;
    let len = source.map(|source| &source.found).filter(|found| found.is_file()).map(Metadata::len);
    let long = len.filter(|&len| len >= LONG);
    Task::Compress(long.map_or(plan.encoding, |len| plan.encoding.text_len(len)))
}

fn decompress(plan: &Plan) -> Task {
    Task::Decompress { formats: plan.formats, trailing_garbage: plan.trailing_garbage }
}

/// A part of it.
pub fn part(
    (plan, pool): (&Plan, &Pool),
    part: &Part,
    operand: &Operand,
    name: &OsStr,
    file: File,
    ready: &Ready,
    remark: &mut Option<Vec<u8>>,
) -> Result<(Task, Source), Failure> {
    match part {
        Part::Ranges { ranges, lines } => {
            let parts = part::ranges(plan, pool, operand, file, remark)?;
            let parts = Parts::new(parts, ranges.clone(), *lines).noting(&ready.seen);
            Ok((Task::Copy, Source::Stream(Box::new(parts))))
        }
        Part::Streams { at, count } => {
            let file = if *at > 0 { part::at(plan, name, file, *at)? } else { file };
            let task = count.map_or_else(|| decompress(plan), |count| Task::DecompressStreams(plan.formats, count));
            Ok((task, Source::Stream(Box::new(Reader::new(file)))))
        }
    }
}
