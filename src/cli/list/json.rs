//! One JSON object for each file, on a line of its own. docs/JSON.md says what its members mean; they never change
//! their meaning.

use super::{By, Format, Found, Row, Totals};
use crate::cli::list::table::state;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// The version of the members' meanings.
const SCHEMA: u32 = 1;

/// Appends the object of a file.
pub fn write(name: &OsStr, found: &Found, verbose: bool, text: &mut Vec<u8>) {
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| drop(object.insert(key.to_owned(), value));
    put("schema", json!(SCHEMA));
    put("name", json!(name.to_string_lossy()));
    if name.to_str().is_none() {
        put("name_base64", json!(STANDARD.encode(name.as_bytes())));
    }
    if let Some(totals) = &found.totals {
        let Totals { format, by, streams, blocks, block_size, coded_len, text_len } = *totals;
        put("format", json!(if format == Format::Bzip2 { "bz2" } else { "hbz" }));
        put("from", json!(if by == By::Index { "index" } else { "decoding" }));
        put("streams", json!(streams));
        put("blocks", json!(blocks));
        put("block_size", if block_size > 0 { json!(block_size) } else { Value::Null });
        put("compressed", json!(coded_len));
        put("uncompressed", json!(text_len));
    }
    if verbose {
        put("block_list", (1..).zip(&found.rows).map(|(number, row)| block(number, row)).collect());
    }
    match &found.verdict {
        Ok(()) => put("exit", json!(0)),
        Err(failure) => {
            put("exit", json!(failure.code));
            put("error", json!(String::from_utf8_lossy(&failure.text)));
        }
    }
    text.extend(Value::Object(object).to_string().bytes());
    text.push(b'\n');
}

fn block(number: u64, row: &Row) -> Value {
    let Row { stream, bit_offset, text_at, text_len, crc, .. } = *row;
    let crc = format!("{crc:08x}");
    json!({
        "number": number, "stream": stream, "bit_offset": bit_offset, "text_offset": text_at, "text_length": text_len,
        "crc": crc, "state": state(row),
    })
}
