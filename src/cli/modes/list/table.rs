//! The table of files, and with `-v` a table of blocks under each file; or an object for each file.

use super::{Contents, Totals};
use crate::cli::messages::Failure;
use crate::cli::messages::json::{self, Object};
use crate::cli::modes::{ratio, table_line};
use hybz::hbz::List;
use hybz::{BlockInfo, Error, Format, Level};
use hybz_files::quote::for_terminal;
use hybz_files::stdout;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::io::Write;

pub fn head() -> Vec<u8> {
    line(["streams", "blocks", "level", "compressed", "uncompressed", "ratio"], OsStr::new("name"))
}

/// Appends the lines of a file. For a damaged file only the name is known; it is shown if blocks follow.
pub fn write(name: &OsStr, found: &Contents, verbose: bool, text: &mut Vec<u8>) {
    // A format that only counts its blocks, or has none, has no rows.
    let has_rows = verbose && !found.rows.is_empty();
    let name = for_terminal(name, stdout::is_terminal());
    if let Some(totals) = &found.totals {
        let Totals { streams, blocks, coded_len, text_len, .. } = totals;
        let ratio = ratio(if *coded_len > 0 { *text_len as f64 / *coded_len as f64 } else { 0.0 }, 3);
        let numbers = [streams, blocks, coded_len, text_len].map(u64::to_string);
        let [streams, blocks, coded_len, text_len] = &numbers;
        text.extend(line([streams, blocks, &level(totals), coded_len, text_len, &ratio], &name));
    } else if has_rows {
        text.extend(line(["-"; 6], &name));
    }
    if has_rows {
        rows(&found.rows, text);
    }
}

/// Appends the object of a file (docs/JSON.md).
pub fn object(name: &OsStr, found: &Contents, failure: Option<&Failure>, verbose: bool, text: &mut Vec<u8>) {
    let mut object = Object::of_file("list", name);
    if let Some(totals) = &found.totals {
        let Totals { format, from, streams, blocks, block_size, coded_len, text_len, lines, trailing_garbage } =
            *totals;
        object.put("format", format.name());
        object.put("from", from);
        object.put("streams", streams);
        object.put("blocks", blocks);
        object.put("block_size", (block_size > 0).then_some(block_size));
        object.put("compressed", coded_len);
        object.put("uncompressed", text_len);
        if let Some(lines) = lines {
            object.put("lines", lines);
        }
        object.put("trailing_garbage", trailing_garbage);
    }
    if verbose {
        object.put("block_list", found.rows.iter().map(block).collect::<Value>());
    }
    object.put_exit(failure.map_or(0, |failure| failure.code), failure.map(|failure| &failure.text[..]));
    text.extend(object.line());
}

fn block(row: &Row) -> Value {
    let Row { number, stream, bit_offset, text_at, text_len, crc, ref state, .. } = *row;
    json!({
        "number": number, "stream": stream, "bit_offset": bit_offset, "text_offset": text_at, "text_length": text_len,
        "crc": json::crc(crc), "state": state,
    })
}

fn line(columns: [&str; 6], name: &OsStr) -> Vec<u8> {
    table_line([7, 7, 5, 12, 12, 8], columns, name)
}

/// The level of a `.bz2`, or else the block size as `--block-size` takes it.
fn level(totals: &Totals) -> String {
    const UNITS: [(u32, &str); 6] =
        [(1_000_000_000, "G"), (1 << 30, "Gi"), (1_000_000, "M"), (1 << 20, "Mi"), (1000, "k"), (1 << 10, "Ki")];
    let block_size = totals.block_size;
    match block_size / Level::FASTEST.block_limit() {
        _ if block_size == 0 => "-".to_owned(),
        level @ 0..=9 if totals.format == Format::Bzip2 => level.to_string(),
        _ => {
            let unit = UNITS.iter().find(|(unit, _)| block_size.is_multiple_of(*unit));
            unit.map_or(block_size.to_string(), |(unit, letter)| format!("{}{letter}", block_size / unit))
        }
    }
}

fn rows(rows: &[Row], text: &mut Vec<u8>) {
    // Writing into memory does not fail.
    let _ = writeln!(
        text,
        "  {:>6} {:>6} {:>12} {:>10} {:>12} {:>9} {:<10} state",
        "block", "stream", "offset", "compressed", "text offset", "text", "CRC"
    );
    for row in rows {
        let Row { number, stream, bit_offset, coded_len, text_at, text_len, crc, state } = row;
        let offset = bit_offset / 8;
        // Errors get their own line, to keep the table within 80 columns.
        let (mark, words) = match &**state {
            short @ ("ok" | "cut") => (short, ""),
            words => ("bad", words),
        };
        let _ = writeln!(
            text,
            "  {number:>6} {stream:>6} {offset:>12} {coded_len:>10} {text_at:>12} {text_len:>9} 0x{crc:08x} {mark}",
        );
        if !words.is_empty() {
            let _ = writeln!(text, "  {:>6} {words}", "");
        }
    }
}

pub struct Row {
    /// Counted from 1 over the whole file.
    pub number: u64,
    pub stream: u64,
    /// The row's start in the compressed file, in bits.
    pub bit_offset: u64,
    /// The number of bytes of the compressed file that this row completes.
    pub coded_len: u64,
    pub text_at: u64,
    pub text_len: u64,
    pub crc: u32,
    /// "ok", or the error.
    pub state: Cow<'static, str>,
}

pub fn of_decoded(blocks: &[BlockInfo]) -> Vec<Row> {
    let (mut at, mut text_at) = (0, 0);
    let rows = blocks.iter().map(|block| {
        let &BlockInfo { number, stream, bytes_in, bit_offset, text_len, crc, .. } = block;
        let coded_len = bytes_in - at;
        let row = Row { number, stream, bit_offset, coded_len, text_at, text_len, crc, state: "ok".into() };
        (at, text_at) = (bytes_in, text_at + text_len);
        row
    });
    rows.collect()
}

pub fn of_list(list: &List, verdicts: Vec<Result<(), Error>>) -> Vec<Row> {
    let mut stream = 0;
    let rows = (1..).zip(list.blocks()).zip(verdicts).map(|((number, block), verdict)| {
        stream += u64::from(block.number == 0);
        Row {
            number,
            stream,
            bit_offset: block.at * 8,
            coded_len: block.coded_len.into(),
            text_at: block.text_at,
            text_len: block.text_len.into(),
            crc: block.crc,
            state: state(verdict),
        }
    });
    rows.collect()
}

fn state(verdict: Result<(), Error>) -> Cow<'static, str> {
    match verdict {
        Ok(()) => "ok".into(),
        Err(Error::Data { damage, .. }) => damage.to_string().into(),
        Err(Error::Truncated { .. }) => "cut".into(),
        Err(error) => error.to_string().into(),
    }
}
