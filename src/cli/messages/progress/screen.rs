//! How indicatif draws on stderr: one row, with the cursor at its beginning.
//!
//! When a terminal becomes narrower, it breaks a row that no longer fits. The cursor stays at its character. Here that
//! is the first one of the row, so clearing to the end of the screen removes all of the broken row; if the cursor were
//! after the row, all but its last line would stay. Wrapping is off while the row is written.
//!
//! Nothing is drawn while another job has the foreground of the terminal. This is checked at each drawing, because a
//! shell can move jobs at any time.

use hybz_files::{process, terminal};
use indicatif::TermLike;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Removes the row, from a signal's handler too.
pub const CLEAR: &[u8] = b"\r\x1b[J";

#[derive(Debug, Default)]
pub struct Screen {
    row: Mutex<String>,
}

impl Screen {
    fn row(&self) -> MutexGuard<'_, String> {
        self.row.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The maximum width of a row. The last column stays free, because some terminals wrap when it is written.
pub fn row_columns() -> usize {
    terminal::columns(io::stderr()).saturating_sub(1)
}

impl TermLike for Screen {
    fn width(&self) -> u16 {
        terminal::columns(io::stderr()).try_into().unwrap_or(u16::MAX)
    }

    fn move_cursor_up(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_down(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_right(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_left(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.write_str(text)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.row().push_str(text);
        Ok(())
    }

    fn clear_line(&self) -> io::Result<()> {
        self.row().clear();
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        let row = std::mem::take(&mut *self.row());
        let row = row.trim();
        if process::is_in_background() {
            return Ok(());
        }
        if row.is_empty() {
            return io::stderr().write_all(CLEAR);
        }
        io::stderr().write_all(format!("\r\x1b[?7l{row}\x1b[J\x1b[?7h\r").as_bytes())
    }
}
