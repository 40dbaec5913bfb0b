//! The screen of a terminal while hybz works: one row at any width, of which nothing remains when the window shrinks
//! or hybz ends.

use crate::place::{Place, noise};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::File;
use std::io::Read;
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Moves to the beginning of the row, and clears everything from there on.
const CLEAR: &str = "\r\x1b[J";
/// The control codes before and after a row: it is written without wrapping, then the cursor goes back to its start.
/// So if the terminal becomes narrower and wraps the row, the next row overwrites it, and the rest is cleared.
const ROW: [&str; 2] = ["\r\x1b[?7l", "\x1b[J\x1b[?7h\r"];

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
            // Reading fails with EIO when the other end is closed.
            while reader.read(&mut byte).is_ok_and(|n| n > 0) && sender.send(byte[0]).is_ok() {}
        });
        (Watched { ours, bytes, child }, quick)
    }

    /// The fourth row from now on: the first ones may have the old width.
    fn row(&mut self) -> String {
        let mut drawn = Vec::new();
        for _ in 0..4 {
            drawn.clear();
            while !drawn.ends_with(ROW[1].as_bytes()) {
                drawn.push(self.bytes.recv_timeout(Duration::from_secs(30)).expect("a drawing"));
            }
        }
        let drawn = String::from_utf8(drawn).expect("text");
        let row = drawn.strip_suffix(ROW[1]).and_then(|drawn| drawn.split_once(ROW[0]));
        let (before, row) = row.unwrap_or_else(|| panic!("{drawn:?}"));
        assert!(before.replace(CLEAR, "").is_empty() && !row.contains(char::is_control), "{drawn:?}");
        row.to_owned()
    }
}

fn set_columns(terminal: &OwnedFd, columns: usize) {
    let size = Winsize { ws_row: 24, ws_col: columns as u16, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(terminal, size).expect("a new size");
}

/// The rows of `-d`, `-t` and `-l` say that they count compressed bytes.
#[test]
fn rows_name_what_is_compressed() {
    // Noise, because a text of runs would be read at once, and no row of a slow reader would be seen.
    let place = Place::with(&[("a", &noise(4_000_000))]);
    place.hybz(&["-1k", "a"]).silent(0);
    for columns in [60, 80] {
        let (mut watched, quick) = Watched::start(&place, &["-dc", "a.bz2"], columns);
        let row = watched.row();
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
        set_columns(&watched.ours, columns);
        let row = watched.row();
        assert!(row.len() < columns && row.len() > columns - 10, "{columns}: {row:?}");
        assert!(row.contains("%  ") && row.contains("...") && row.ends_with(" left"), "{columns}: {row:?}");
    }
    quick.send(()).expect("it reads");
    assert!(watched.child.wait().expect("hybz").success());
    let rest: Vec<u8> = watched.bytes.iter().collect();
    assert!(rest.ends_with(CLEAR.as_bytes()), "nothing is left");
}
