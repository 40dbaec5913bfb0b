//! The report about a file: in words on stderr, as JSON on stdout (docs/JSON.md).

use super::Story;
use crate::cli::messages::Failure;
use crate::cli::messages::json::Object;
use hybz::recover::{Hole, What};
use hybz_files::quote::shown;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;

/// A line on stderr, without the program's name.
pub enum Line {
    Hole(Vec<u8>),
    Remark(Vec<u8>),
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A line for each hole and each remark, in the order of the file.
pub fn words(name: &OsStr, story: &Story) -> Vec<Line> {
    let about = |text: String| [shown(name).as_bytes(), b": ", text.as_bytes()].concat();
    let at = |bits: &Range<u64>| format!("bits {} to {}", bits.start, bits.end);
    let holes = story.holes.iter().map(|hole| (hole.bits.start, Line::Hole(about(hole_line(hole)))));
    let remarks = story.remarks.iter().map(|remark| {
        let line = about(format!("{}: {}", at(&remark.bits), remark.what));
        (remark.bits.start, Line::Remark(line))
    });
    let doubtful = story.doubtful.iter().map(|bits| {
        let line = about(format!("{}: doubtful: a good block, but nothing precedes or follows it", at(bits)));
        (bits.start, Line::Remark(line))
    });
    let mut lines: Vec<_> = holes.chain(remarks).chain(doubtful).collect();
    lines.sort_by_key(|(bit, _)| *bit);
    lines.into_iter().map(|(_, line)| line).collect()
}

fn hole_line(hole: &Hole) -> String {
    let Hole { bits, blocks, text_offset, text_len, cause, .. } = hole;
    let blocks = match blocks {
        0 => "an unknown number of blocks".to_owned(),
        blocks => format!("at least {}", counted(*blocks, "block")),
    };
    let text = match (text_offset, text_len) {
        (Some(offset), Some(len)) => format!("{len} bytes of text from byte {offset} on"),
        (Some(offset), None) => format!("text from byte {offset} on"),
        (None, Some(len)) => format!("{len} bytes of text"),
        (None, None) => "text at an unknown place".to_owned(),
    };
    format!("bits {} to {} are lost: {blocks}, {text}: {cause}", bits.start, bits.end)
}

pub fn summary(name: &OsStr, story: &Story) -> Vec<u8> {
    let (blocks, holes) = (counted(story.found.blocks, "block"), counted(story.found.holes, "hole"));
    let mut text = format!(": {blocks} recovered, {} of text, {holes}", counted(story.found.text_len, "byte"));
    if story.guessed {
        text.push_str("; the lengths of the holes were guessed, because there is no index");
    }
    [shown(name).as_bytes(), text.as_bytes()].concat()
}

pub fn json(name: &OsStr, story: &Story, failure: Option<&Failure>, code: u8) -> Vec<u8> {
    let mut object = Object::of_file("recover", name);
    object.put_names("results", &story.results);
    object.put("blocks", story.found.blocks);
    object.put("uncompressed", story.found.text_len);
    object.put("holes", story.holes.iter().map(hole).collect::<Value>());
    let remark = |bits: &Range<u64>, what: &str| json!({"bit_offset": bits.start, "bit_end": bits.end, "what": what});
    let remarks = story.remarks.iter().map(|found| remark(&found.bits, key(found.what)));
    let doubtful = story.doubtful.iter().map(|bits| remark(bits, "doubtful"));
    object.put("remarks", remarks.chain(doubtful).collect::<Value>());
    object.put_exit(code, failure.map(|failure| &failure.text[..]));
    object.line()
}

fn hole(hole: &Hole) -> Value {
    let Hole { bits, blocks, text_offset, text_len, cause, .. } = hole;
    json!({
        "bit_offset": bits.start, "bit_end": bits.end, "blocks": blocks, "text_offset": text_offset,
        "text_length": text_len, "cause": cause.to_string(),
    })
}

fn key(what: What) -> &'static str {
    match what {
        What::Header => "header",
        What::Magic => "magic",
        What::BlockCrc => "block_crc",
        What::End => "end",
        What::StreamCrc => "stream_crc",
        What::Garbage => "garbage",
        What::Nested => "nested",
        _ => "other",
    }
}
