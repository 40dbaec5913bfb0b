//! Programs that call bzip2, and get hybz.

use crate::place::Place;

#[test]
fn shell_loops_stop_at_control_c() {
    let place = Place::with(&[]);
    // Bash stops a script if its child was killed by SIGINT, and goes on if the child exited with a code. Here the
    // child waits for input, from a writer that ignores the signal as all background commands do.
    let run = place.terminal_shell(
        "mkfifo p; for n in 1 2 3; do (sleep 0.2; kill -INT 0) & sleep 2 > p 2> /dev/null & hybz -c < p > /dev/null; \
         done; echo not stopped",
    );
    assert!(!run.out().contains("not stopped"), "{run:?}");
}
