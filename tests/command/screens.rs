//! The screen of a terminal while hybz works: one row at any width, no remains of it when the window shrinks, and none
//! at the end.

use crate::place::{Place, noise};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::File;
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// A terminal like VTE and kitty: it breaks the rows again when the window becomes narrower.
struct Terminal {
    columns: usize,
    rows: Vec<String>,
    row: usize,
    column: usize,
    wraps: bool,
    /// Whether a row was written, after which the cursor goes back to its beginning.
    is_drawn: bool,
    /// The escape sequence that has begun.
    escape: String,
}

impl Terminal {
    fn new(columns: usize) -> Terminal {
        let (rows, escape) = (vec![String::new()], String::new());
        Terminal { columns, rows, row: 0, column: 0, wraps: true, is_drawn: false, escape }
    }

    fn take(&mut self, byte: u8) {
        let char = char::from(byte);
        if !self.escape.is_empty() {
            self.escape.push(char);
            if char.is_ascii_alphabetic() {
                match &*std::mem::take(&mut self.escape) {
                    "\x1b[J" => {
                        self.rows.truncate(self.row + 1);
                        self.rows[self.row].truncate(self.column);
                    }
                    "\x1b[?7l" => self.wraps = false,
                    "\x1b[?7h" => (self.wraps, self.is_drawn) = (true, true),
                    other => panic!("{other:?} is not known here"),
                }
            }
            return;
        }
        match char {
            '\x1b' => self.escape.push(char),
            '\r' => self.column = 0,
            '\n' => self.down(),
            _ => self.put(char),
        }
    }

    fn down(&mut self) {
        self.row += 1;
        if self.row == self.rows.len() {
            self.rows.push(String::new());
        }
    }

    fn put(&mut self, char: char) {
        if self.column == self.columns && self.wraps {
            self.column = 0;
            self.down();
        }
        self.column = self.column.min(self.columns - 1);
        let row = &mut self.rows[self.row];
        let end = (self.column + 1).min(row.len());
        row.replace_range(self.column..end, char.encode_utf8(&mut [0; 4]));
        self.column += 1;
    }

    /// Changes the width. The cursor stays at its character.
    fn resize(&mut self, columns: usize) {
        let mut rows = Vec::new();
        for (number, row) in self.rows.iter().enumerate() {
            if number == self.row {
                (self.row, self.column) = (rows.len() + self.column / columns, self.column % columns);
            }
            rows.extend(pieces(row, columns));
        }
        rows.resize(rows.len().max(self.row + 1), String::new());
        (self.columns, self.rows) = (columns, rows);
    }

    /// The rows with anything in them.
    fn shown(&self) -> Vec<&str> {
        self.rows.iter().map(|row| row.trim_end()).filter(|row| !row.is_empty()).collect()
    }
}

fn pieces(row: &str, columns: usize) -> Vec<String> {
    let pieces: Vec<String> = row.as_bytes().chunks(columns).map(|one| String::from_utf8_lossy(one).into()).collect();
    if pieces.is_empty() { vec![String::new()] } else { pieces }
}

/// The two ends of a new terminal.
#[allow(unsafe_code)]
fn open_terminal() -> (OwnedFd, OwnedFd) {
    let (mut ours, mut theirs) = (-1, -1);
    let (name, state, size) = (std::ptr::null_mut(), std::ptr::null(), std::ptr::null());
    // SAFETY: the call writes the two numbers, and the other pointers may be null.
    let done = unsafe { libc::openpty(&mut ours, &mut theirs, name, state, size) };
    assert_eq!(done, 0, "a terminal: {}", std::io::Error::last_os_error());
    // SAFETY: these descriptors are new and have no other owner.
    unsafe { (OwnedFd::from_raw_fd(ours), OwnedFd::from_raw_fd(theirs)) }
}

/// hybz with a terminal as its stderr, and a stdout that is read slowly until `quick` is sent.
struct Watched {
    ours: OwnedFd,
    bytes: Receiver<u8>,
    terminal: Terminal,
    child: Child,
}

impl Watched {
    fn start(place: &Place, args: &[&str], columns: usize) -> (Watched, std::sync::mpsc::Sender<()>) {
        let (ours, theirs) = open_terminal();
        set_columns(&ours, columns);
        let mut command = place.called("hybz");
        command.args(args).env("TERM", "xterm").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(theirs);
        let mut child = command.spawn().expect("hybz");
        drop(command); // has the other end
        let (mut stdout, (quick, is_quick)) = (child.stdout.take().expect("its stdout"), channel());
        thread::spawn(move || {
            let (mut buf, mut waits) = ([0; 4096], true);
            while stdout.read(&mut buf).is_ok_and(|n| n > 0) {
                waits = waits && is_quick.recv_timeout(Duration::from_millis(10)) == Err(RecvTimeoutError::Timeout);
            }
        });
        let (sender, bytes) = channel();
        let mut reader = File::from(ours.try_clone().expect("a descriptor"));
        thread::spawn(move || {
            let mut byte = [0];
            // EIO when the other end is closed.
            while reader.read(&mut byte).is_ok_and(|n| n > 0) && sender.send(byte[0]).is_ok() {}
        });
        (Watched { ours, bytes, terminal: Terminal::new(columns), child }, quick)
    }

    fn resize(&mut self, columns: usize) {
        set_columns(&self.ours, columns);
        self.terminal.resize(columns);
    }

    /// Examines `frames` drawings. None of them takes more than one row, whatever was there before.
    fn watch(&mut self, frames: usize) -> String {
        let (mut last, end) = (String::new(), Instant::now() + Duration::from_secs(30));
        for frame in 0..frames {
            self.terminal.is_drawn = false;
            while !self.terminal.is_drawn {
                let byte = self.bytes.recv_timeout(end - Instant::now()).expect("a drawing");
                self.terminal.take(byte);
            }
            // Up to the pause after it, where the window may change.
            while let Ok(byte) = self.bytes.recv_timeout(Duration::from_millis(50)) {
                self.terminal.take(byte);
            }
            let shown = self.terminal.shown();
            assert_eq!(shown.len(), 1, "drawing {frame} of {} columns: {shown:#?}", self.terminal.columns);
            last = shown[0].to_owned();
        }
        last
    }
}

fn set_columns(terminal: &OwnedFd, columns: usize) {
    let size = Winsize { ws_row: 24, ws_col: columns as u16, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(terminal, size).expect("a new size");
}

/// The rows of `-d`, `-t` and `-l` say that what is counted is compressed.
#[test]
fn rows_name_what_is_compressed() {
    // Runs take no time to be read: the row is that of a slow reader.
    let place = Place::with(&[("a", &noise(4_000_000))]);
    place.hybz(&["-1k", "a"]).silent(0);
    for columns in [60, 80] {
        let (mut watched, quick) = Watched::start(&place, &["-dc", "a.bz2"], columns);
        let row = watched.watch(2);
        assert!(row.len() < columns && row.contains("MB/s compressed  "), "{columns}: {row:?}");
        quick.send(()).expect("it reads");
        assert!(watched.child.wait().expect("hybz").success());
    }
}

#[test]
fn progress_is_one_row() {
    let name = "a-name-that-is-longer-than-a-narrow-window-and-goes-on-and-on-until-nobody-reads-it-any-more.tar";
    let place = Place::with(&[(name, &noise(4_000_000))]);
    let (mut watched, quick) = Watched::start(&place, &["-1c", name], 120);
    for columns in [120, 80, 60, 120, 40, 80] {
        if columns != watched.terminal.columns {
            watched.resize(columns);
            // The first may have been laid out for the old width.
            watched.watch(2);
        }
        let row = watched.watch(2);
        assert!(row.len() < columns && row.len() > columns - 10, "{columns}: {row:?}");
        assert!(row.contains("%  ") && row.contains("...") && row.ends_with(" left"), "{columns}: {row:?}");
    }
    quick.send(()).expect("it reads");
    assert!(watched.child.wait().expect("hybz").success());
    let Watched { ours, bytes, mut terminal, .. } = watched;
    while let Ok(byte) = bytes.recv_timeout(Duration::from_secs(1)) {
        terminal.take(byte);
    }
    drop(ours);
    assert_eq!(terminal.shown(), [""; 0], "nothing is left");
}
