//! `-m` of more files than may be open, so that they are sorted instead. (The transcript has the other cases.)

use crate::place::Place;
use crate::skip::{Need, skip};

/// The limit falls while the files are being opened: those that are open are sorted first.
#[test]
fn descriptors_that_become_fewer() {
    let place = Place::with(&[]);
    if place.shell("prlimit --version").code != 0 {
        return skip(Need::System, "prlimit is not installed");
    }
    place.shell("for i in $(seq 100); do seq $i 100 50000 | $SORT >$i; done; $SORT * >all").silent(0);
    // hysort waits for the writer of `p`, having seen the higher limit.
    let script = "ulimit -n 200; mkfifo p; $SORT -m p [1-9] [1-9][0-9] >out & sleep 1; \
                  prlimit --pid $! --nofile=20:200; cat 100 >p; wait $! && cmp out all";
    place.shell(script).silent(0);
}
