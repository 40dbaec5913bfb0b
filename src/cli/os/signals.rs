//! The signals that end a process, for those who must clean up first.

use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::{fs, io, thread};

const ENDING: [i32; 7] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGALRM, SIGXCPU, SIGXFSZ];

/// A signal that was received and has not taken effect yet.
pub struct EndingSignal(i32);

impl EndingSignal {
    /// Lets the signal do what it does by default, so that a shell's loop stops as it would have.
    pub fn take_effect(self) {
        let _ = emulate_default_handler(self.0);
    }
}

/// Starts a thread that waits for a signal that ends the process and hands it to `handle`, which should let it take
/// effect. Signals that were ignored when the process was started (by `nohup`) stay ignored.
pub fn on_ending_signal(handle: impl FnOnce(EndingSignal) + Send + 'static) -> io::Result<()> {
    let ignored = ignored_signals();
    let mut signals = Signals::new(ENDING.into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0))?;
    thread::Builder::new().name("signals".into()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            handle(EndingSignal(signal));
        }
    })?;
    Ok(())
}

/// The signals that this process ignores, bit n - 1 for signal n; 0 if the system does not say.
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
