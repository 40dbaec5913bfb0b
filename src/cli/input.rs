//! What to do with the bytes of an operand, and how to read them.

use crate::cli::args::{Mode, Operand, Part, Plan};
use crate::cli::job::{Destination, Ready};
use crate::cli::part;
use crate::cli::ranges::Parts;
use crate::cli::reader::Reader;
use crate::cli::report::Failure;
use crate::cli::source::SourceFile;
use hybz::flow::{Source, Task};
use hybz::{Formats, Pool};
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
    match plan.mode {
        Mode::Compress => (compression(plan, source.as_ref()), reader.into_source()),
        Mode::Decompress if plan.force && matches!(destination, Destination::Stdout) => {
            let head = reader.head(HEADER.len());
            let task = if may_be_compressed(&head, plan.formats) { decompress(plan) } else { Task::Copy };
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
    match (plan.compression(), len) {
        (Task::CompressLz4(frame), Some(len)) if len >= LONG => Task::CompressLz4(frame.text_len(len)),
        (task, _) => task,
    }
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
    remark: &mut Option<Vec<u8>>,
) -> Result<(Task, Source), Failure> {
    match part {
        Part::Ranges { ranges, lines } => {
            let parts = part::ranges(plan, pool, operand, file, remark)?;
            let parts = Parts::new(parts, ranges.clone(), *lines);
            Ok((Task::Copy, Source::Stream(Box::new(parts))))
        }
        Part::Streams { at, count } => {
            let file = if *at > 0 { part::at(plan, name, file, *at)? } else { file };
            let task = count.map_or_else(|| decompress(plan), |count| Task::DecompressStreams(plan.formats, count));
            Ok((task, Source::Stream(Box::new(Reader::new(file)))))
        }
    }
}

/// The header of a `.bz2` stream; the digit may be any from 1 to 9.
const HEADER: &[u8] = b"BZh9";

/// Whether data that begin with `head` are LZ4 frames, skippable ones included.
pub fn is_lz4(head: &[u8]) -> bool {
    head.starts_with(&hybz::lz4::MAGIC)
        || head.starts_with(&hybz::lz4::LEGACY_MAGIC)
        || matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// Whether data that begin with `head`, which may be cut short, can be of one of these formats. What cannot is copied
/// by `-dcf`, by bzip2's rule. (That takes whatever begins as one of its files does, even a file of a single `B`. Of a
/// `.Z`, which has no digit to look at, and of an LZ4 frame, the whole magic must be there.)
fn may_be_compressed(head: &[u8], formats: Formats) -> bool {
    if formats == Formats::All {
        if head.first() == hybz::hbz::MAGIC.first() {
            return head.iter().zip(&hybz::hbz::MAGIC).all(|(a, b)| a == b);
        }
        if head.starts_with(&hybz::lzw::MAGIC) || is_lz4(head) {
            return true;
        }
    }
    let magic = head.iter().zip(&HEADER[..3]).all(|(a, b)| a == b);
    magic && head.get(3).is_none_or(|digit| (b'1'..=b'9').contains(digit))
}
