//! How the row of progress is drawn on stderr: with the cursor at its beginning.
//!
//! A terminal that becomes narrower breaks a row that no longer fits into several. The cursor stays at its character.
//! Here that is the start of the row, so clearing to the end of the screen removes all of the broken row; if the cursor
//! were after the row, all but its last line would stay. Wrapping is off while the row is written.
//!
//! Nothing is drawn while another job has the foreground of the terminal. That is asked at each drawing, because a
//! shell moves jobs at any time.

use super::row::Row;
use hybz_files::{process, terminal};
use std::io::{self, Write};

/// Removes the row, from a signal's handler too.
pub const CLEAR: &[u8] = b"\r\x1b[J";

/// Writes the row in one piece. It is laid out now, because the window may have changed.
pub fn draw(row: &Row) {
    // The last column stays free, because some terminals wrap when it is written.
    let row = row.fit(terminal::columns(io::stderr()).saturating_sub(1));
    write(format!("\r\x1b[?7l{}\x1b[J\x1b[?7h\r", row.trim()).as_bytes());
}

pub fn clear() {
    write(CLEAR);
}

fn write(bytes: &[u8]) {
    if !process::is_in_background() {
        let _ = io::stderr().write_all(bytes); // if stderr fails, there is nowhere to report it
    }
}
