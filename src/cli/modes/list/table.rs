//! The table of files, and under each with `-v` that of its blocks.

use super::rows::Row;
use super::{Contents, Totals};
use hybz::{Format, Level};
use hybz_files::quote::for_terminal;
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;

/// The names of the columns.
pub fn head() -> Vec<u8> {
    line(&["streams", "blocks", "level", "compressed", "uncompressed", "ratio"], OsStr::new("name"))
}

/// Appends the lines of a file. For a damaged file only the name is known; it is shown if blocks follow.
pub fn write(name: &OsStr, found: &Contents, verbose: bool, terminal: bool, text: &mut Vec<u8>) {
    // A format that only counts its blocks, or has none, has no rows.
    let has_rows = verbose && !found.rows.is_empty();
    let name = for_terminal(name, terminal);
    if let Some(totals) = &found.totals {
        let Totals { streams, blocks, coded_len, text_len, .. } = totals;
        let ratio = ratio(*text_len, *coded_len);
        let numbers = [streams, blocks, coded_len, text_len].map(u64::to_string);
        let [streams, blocks, coded_len, text_len] = &numbers;
        text.extend(line(&[streams, blocks, &level(totals), coded_len, text_len, &ratio], &name));
    } else if has_rows {
        text.extend(line(&["-"; 6], &name));
    }
    if has_rows {
        rows(&found.rows, text);
    }
}

/// A line of the table of files. A blank precedes every number, however wide.
fn line(columns: &[&str; 6], name: &OsStr) -> Vec<u8> {
    let [streams, blocks, level, coded, text, ratio] = columns;
    let columns = format!("{streams:>7} {blocks:>7} {level:>5} {coded:>12} {text:>12} {ratio:>8}  ");
    [columns.as_bytes(), name.as_bytes(), b"\n"].concat()
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

/// A ratio in eight characters, or in as many as its whole part needs.
fn ratio(text_len: u64, coded_len: u64) -> String {
    let ratio = if coded_len > 0 { text_len as f64 / coded_len as f64 } else { 0.0 };
    let decimals = if ratio < 9999.9995 { 3 } else { 0 };
    format!("{ratio:.decimals$}")
}

fn rows(rows: &[Row], text: &mut Vec<u8>) {
    // Writing into memory does not fail.
    let _ = writeln!(
        text,
        "  {:>6} {:>6} {:>12} {:>10} {:>12} {:>9} {:<10} state",
        "block", "stream", "offset", "compressed", "text offset", "text", "CRC"
    );
    for row in rows {
        let [number, stream, text_at, text_len] = [row.number, row.stream, row.text_at, row.text_len].map(or_dash);
        let crc = row.crc.map_or("-".to_owned(), |crc| format!("0x{crc:08x}"));
        let Row { bit_offset, coded_len, state, is_good, .. } = row;
        let offset = bit_offset / 8;
        // Errors get their own line, to keep the table within 80 columns.
        let (mark, words) = match &**state {
            short @ ("ok" | "cut") => (short, ""),
            words => (if *is_good { "ok" } else { "bad" }, words),
        };
        let _ = writeln!(
            text,
            "  {number:>6} {stream:>6} {offset:>12} {coded_len:>10} {text_at:>12} {text_len:>9} {crc:<10} {mark}",
        );
        if !words.is_empty() {
            let _ = writeln!(text, "  {:>6} {words}", "");
        }
    }
}

fn or_dash(number: Option<u64>) -> String {
    number.map_or("-".to_owned(), |number| number.to_string())
}
