//! The task for an operand, and the reader of its bytes.

use crate::cli::args::{Coding, Kind, Plan};
use crate::cli::files::job::{Destination, Ready};
use crate::cli::files::reader::Reader;
use crate::cli::files::source::SourceFile;
use crate::cli::messages::formats::COPY_HEAD_LEN;
use crate::cli::modes::decompress;
use hybz::flow::{Source, Task};
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
    let coding = plan.coding;
    if coding.is_none() && !can_be_read_again {
        reader = reader.noting(&ready.seen);
    }
    match (coding, plan.kind) {
        (Some(coding), _) => (compression(&coding, source.as_ref()), reader.into_source()),
        (None, Kind::Decompress) if plan.force && matches!(destination, Destination::Stdout) => {
            let head = reader.head(COPY_HEAD_LEN);
            let may_be_compressed = plan.formats.may_begin_with(&head);
            let task = if may_be_compressed { decompress(plan) } else { Task::Copy };
            (task, Source::Stream(Box::new(io::Cursor::new(head).chain(reader))))
        }
        (None, _) => (decompress(plan), reader.into_source()),
    }
}

/// A frame states the length of a long file. (A short file's length is known once the file is read, and some files that
/// the kernel makes up have another length than they state.)
fn compression(coding: &Coding, source: Option<&SourceFile>) -> Task {
    const LONG: u64 = 1 << 20;
    let len = source.map(|source| &source.found).filter(|found| found.is_file()).map(Metadata::len);
    let (encoding, long) = (coding.encoding, len.filter(|&len| len >= LONG));
    Task::Compress(long.map_or(encoding, |len| encoding.text_len(len)))
}
