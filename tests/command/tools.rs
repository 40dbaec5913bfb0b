//! The programs that call bzip2, and find hybz.

use crate::place::{Place, installed_for_part, text};

#[test]
fn shell_loops_stop_at_control_c() {
    let place = Place::with(&[]);
    // Bash stops a script when its child died by SIGINT, and goes on when it exited with a code. Here the child waits
    // for input, from a writer that ignores the signal as all background commands do.
    let run = place.terminal_shell(
        "mkfifo p; for n in 1 2 3; do (sleep 0.2; kill -INT 0) & sleep 2 > p 2> /dev/null & hybz -c < p > /dev/null; \
         done; echo not stopped",
    );
    assert!(!run.out().contains("not stopped"), "{run:?}");
}

/// Other programs read the bytes.
#[test]
fn others_read_it() {
    let place = Place::with(&[("a", &text(500_000))]);
    place.hybz(&["-k1", "a"]).silent(0);
    for tool in ["bzip2 -dc", "lbzip2 -dc", "pbzip2 -dc", "7z x -so", "busybox bunzip2 -c"] {
        if installed_for_part(tool.split(' ').next().expect("a word")) {
            place.shell(&format!("{tool} a.bz2 | cmp - a")).silent(0);
        }
    }
}
