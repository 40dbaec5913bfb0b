//! Signals at any time: the source is intact, and the result's name is absent or its file complete.

use crate::faults::shim;
use crate::place::{Place, Run, decompressed, text};
use rustix::process::{Pid, Signal, kill_process};
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

/// Ends hybz by a signal after `micros` microseconds; either the whole source or the whole result must remain.
fn end_by(signal: Signal, micros: u64, preload: Option<&std::path::Path>) -> (Run, Place) {
    let bytes = text(600_000);
    let place = Place::with(&[("a", &bytes)]);
    let mut command = place.called("hybz");
    if let Some(shim) = preload {
        command.env("LD_PRELOAD", shim).env("FAULT", "tmpfile");
    }
    let child = command.args(["-1", "a"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("hybz");
    sleep(Duration::from_micros(micros));
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a pid")).expect("a pid");
    kill_process(pid, signal).expect("kill: the process has not been waited for");
    let run = Run::from(child.wait_with_output().expect("hybz"));
    if place.has("a") {
        assert!(place.get("a") == bytes, "the source is intact");
    }
    if place.has("a.bz2") {
        assert!(decompressed(&place.get("a.bz2")) == bytes, "the result is complete");
    }
    assert!(place.has("a") || place.has("a.bz2"));
    (run, place)
}

#[test]
fn at_any_time() {
    let signals = [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT, Signal::KILL, Signal::XCPU, Signal::ALARM];
    for n in 0..42u64 {
        let signal = signals[n as usize % signals.len()];
        let (run, place) = end_by(signal, n * n * 37 % 60_000, None);
        assert!(run.code == 0 || run.code == 128 + signal.as_raw(), "the signal itself ends it: {run:?}");
        assert!(place.names().iter().all(|name| ["a", "a.bz2"].contains(&name.as_str())), "{:?}", place.names());
    }
}

/// The same with results that need hidden names: every signal that can be caught removes them.
#[test]
fn at_any_time_with_hidden_names() {
    let Some(shim) = shim() else { return };
    let signals = [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT, Signal::XCPU];
    for n in 0..30u64 {
        let signal = signals[n as usize % signals.len()];
        let (run, place) = end_by(signal, n * n * 71 % 60_000, Some(shim));
        assert!(run.code == 0 || run.code == 128 + signal.as_raw(), "{run:?}");
        assert!(place.names().iter().all(|name| ["a", "a.bz2"].contains(&name.as_str())), "{:?}", place.names());
    }
}

/// A signal that was ignored when hybz was started stays ignored.
#[test]
fn nohup() {
    let Some(shim) = shim() else { return };
    let place = Place::new();
    let shell = format!(
        "trap '' HUP; mkfifo a; LD_PRELOAD={} FAULT=tmpfile hybz -f a & exec 3> a; echo hel >&3; sleep 0.1; \
         kill -HUP $!; sleep 0.1; echo lo >&3; exec 3>&-; wait $!",
        shim.display()
    );
    place.shell(&shell).silent(0);
    assert_eq!(decompressed(&place.get("a.bz2")), b"hel\nlo\n");
}
