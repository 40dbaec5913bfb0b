//! The signals that end a process, for those who must clean up first.

use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ};
use signal_hook::low_level::{emulate_default_handler, register};
use std::fs;
use std::io;

const ENDING: [i32; 7] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGXCPU, SIGXFSZ];

/// Lets a signal do what it does by default, so that a shell's loop stops as it would have.
pub fn take_effect(signal: i32) {
    let _ = emulate_default_handler(signal);
}

/// Has `handle` called with the number of any signal that would end the process, in its place. Signals that were
/// ignored when the process was started (by `nohup`) stay ignored.
///
/// A handler and not a thread that waits: where no thread can be started, files still must not be left behind.
///
/// # Safety
/// `handle` is called inside a signal handler, on any thread: it may not allocate, wait, or take a lock that the
/// interrupted thread may hold.
#[allow(unsafe_code)]
pub unsafe fn on_ending_signal(handle: impl Fn(i32) + Clone + Send + Sync + 'static) -> io::Result<()> {
    let ignored = ignored_signals();
    for signal in ENDING.into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0) {
        let handle = handle.clone();
        // SAFETY: the caller promises that `handle` does only what a signal handler may do.
        unsafe { register(signal, move || handle(signal)) }?;
    }
    Ok(())
}

/// The signals that this process ignores, bit n - 1 for signal n; 0 if the system does not say.
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
