//! One JSON object for each file, on a line of its own. docs/JSON.md says what its members mean; they never change
//! their meaning.

use super::table::Row;
use super::{Contents, Totals};
use crate::cli::messages::Failure;
use crate::cli::messages::json::{self, Object};
use serde_json::{Value, json};
use std::ffi::OsStr;

pub fn write(name: &OsStr, found: &Contents, failure: Option<&Failure>, verbose: bool, text: &mut Vec<u8>) {
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
