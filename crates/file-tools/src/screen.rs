//! One row that shows progress on the terminal of stderr, drawn again and again, with the cursor at its beginning.
//!
//! A terminal that becomes narrower breaks a row that no longer fits into several. The cursor stays at its character.
//! Here that is the start of the row, so clearing to the end of the screen removes all of the broken row; if the cursor
//! were after the row, all but its last line would stay. Wrapping is off while the row is written.
//!
//! Nothing is drawn while another job has the foreground of the terminal. That is asked at each drawing, because a
//! shell moves jobs at any time.

use crate::{process, terminal};
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Removes the row, from a signal's handler too.
pub const CLEAR: &[u8] = b"\r\x1b[J";

/// The time between two drawings of a row that does not change: the window may have changed.
const SPACING: Duration = Duration::from_millis(250);
/// The least time between two drawings of a row that changes.
const PAUSE: Duration = Duration::from_millis(100);

/// Makes a row that fits into this many columns.
type Layout = Box<dyn Fn(usize) -> String + Send>;

/// A row on the terminal. Dropping it removes the row.
pub struct Screen(Arc<Mutex<Row>>);

struct Row {
    layout: Layout,
    drawn: Instant,
    ended: bool,
}

impl Screen {
    /// Draws a row, which `layout` makes for the number of columns that there are.
    pub fn new(layout: impl Fn(usize) -> String + Send + 'static) -> Screen {
        let row = Arc::new(Mutex::new(Row { layout: Box::new(layout), drawn: Instant::now(), ended: false }));
        lock(&row).draw();
        let drawn = Arc::downgrade(&row);
        let redraw = move || {
            loop {
                thread::sleep(SPACING);
                let Some(row) = drawn.upgrade() else { return };
                lock(&row).draw();
            }
        };
        // Without the thread, the row does not fit a resized window until there is progress.
        let _ = thread::Builder::new().name("progress".to_owned()).spawn(redraw);
        Screen(row)
    }

    /// Changes the row.
    pub fn show(&self, layout: impl Fn(usize) -> String + Send + 'static) {
        let mut row = lock(&self.0);
        row.layout = Box::new(layout);
        if row.drawn.elapsed() >= PAUSE {
            row.draw();
        }
    }

    /// Lets `print` write to the terminal, with the row out of the way.
    pub fn suspend(&self, print: impl FnOnce()) {
        let mut row = lock(&self.0);
        write(CLEAR);
        print();
        row.draw();
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // The thread may be about to draw.
        lock(&self.0).ended = true;
        write(CLEAR);
    }
}

impl Row {
    /// Writes the row in one piece. The last column stays free, because some terminals wrap when it is written.
    fn draw(&mut self) {
        self.drawn = Instant::now();
        if !self.ended {
            let row = (self.layout)(terminal::columns(io::stderr()).saturating_sub(1));
            write(format!("\r\x1b[?7l{}\x1b[J\x1b[?7h\r", row.trim()).as_bytes());
        }
    }
}

/// Writes to the terminal, unless another job has it. If stderr fails, there is nowhere to report it.
fn write(text: &[u8]) {
    if !process::is_in_background() {
        let _ = io::stderr().write_all(text);
    }
}

fn lock(row: &Mutex<Row>) -> MutexGuard<'_, Row> {
    row.lock().unwrap_or_else(PoisonError::into_inner)
}
