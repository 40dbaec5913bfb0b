//! The process: the state in which it was started, and the way it ends.
//!
//! Before `main`, Rust's runtime ignores SIGPIPE and opens `/dev/null` in place of closed standard descriptors. bzip2
//! dies by SIGPIPE when its reader goes away, and fails when its stdin or stdout is closed. hybz must do the same, so a
//! function that the loader calls records the state, and then changes it as the runtime would, for programs that do
//! without the runtime. Without a `/dev/null`, as in a small chroot, Rust's runtime would abort, so the function opens
//! substitutes. It also has SIGUSR1 ignored: this signal asks for the progress, and would end a process that has no
//! handler yet.

use super::system;
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getpgrp, getrlimit, setrlimit};
use rustix::stdio;
use rustix::termios::tcgetpgrp;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU8, Ordering};
use std::{env, io, mem, panic, ptr, thread};

/// Bits 0 to 2: the descriptor of that number was closed; bits 3 and 4: SIGPIPE and SIGUSR1 were ignored. Written once,
/// before `main`.
static AT_START: AtomicU8 = AtomicU8::new(0);

const STDIN_CLOSED: u8 = 1;
const STDOUT_CLOSED: u8 = 2;
const SIGPIPE_IGNORED: u8 = 8;
const SIGUSR1_IGNORED: u8 = 16;

fn started_with(bit: u8) -> bool {
    AT_START.load(Ordering::Relaxed) & bit != 0
}

/// The error that reading stdin should give, if the process was started without one.
pub fn check_stdin() -> io::Result<()> {
    if started_with(STDIN_CLOSED) { Err(Errno::BADF.into()) } else { Ok(()) }
}

/// Whether stdout was closed when the process was started. [`stdout`](super::stdout) refuses to write then.
pub fn started_without_stdout() -> bool {
    started_with(STDOUT_CLOSED)
}

/// Whether a line on stderr can be redrawn: it is a terminal with a cursor. Editors and build servers that show a
/// terminal's text as it comes set `TERM=dumb`, or no TERM.
pub fn draws_rows() -> bool {
    let is_named = env::var_os("TERM").is_some_and(|term| !term.is_empty() && term != "dumb");
    is_named && io::stderr().is_terminal()
}

/// Whether stderr is the terminal of another job, which has the foreground. Writing to it would draw over what is typed
/// there, and after `stty tostop` it would stop this process. Signal handlers may ask, too.
pub fn is_in_background() -> bool {
    tcgetpgrp(stdio::stderr()).is_ok_and(|foreground| foreground != getpgrp())
}

/// Whether the parent process wants SIGUSR1 to be ignored.
pub fn questions_are_ignored() -> bool {
    started_with(SIGUSR1_IGNORED)
}

/// Whether the process ignores this signal.
#[allow(unsafe_code)]
pub fn is_ignored(signal: i32) -> bool {
    // SAFETY: a zeroed `sigaction` is a valid destination for the old action, and no new action is given.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        libc::sigaction(signal, ptr::null(), &mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

/// Ends the process like a program that does not handle SIGPIPE: killed by that signal, without a message. If the
/// parent process ignored the signal, the exit code is 1, also without a message.
pub fn end_by_broken_pipe() -> u8 {
    if !broken_pipes_are_ignored() {
        // This returns only if the signal cannot be raised.
        let _ = signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGPIPE);
    }
    1
}

/// The exit code, as shells see it, of a process that this signal ended.
pub fn broken_pipe_code() -> u8 {
    if broken_pipes_are_ignored() { 1 } else { 128 + libc::SIGPIPE as u8 }
}

/// Whether the parent process wants SIGPIPE to be ignored.
pub fn broken_pipes_are_ignored() -> bool {
    started_with(SIGPIPE_IGNORED)
}

/// Ends the process without calling its exit handlers: those of the CUDA runtime would wait for a GPU that is still
/// starting or hangs. All buffers must have been flushed.
#[allow(unsafe_code)]
pub fn exit_now(code: u8) -> ! {
    // SAFETY: the call takes a number and does not return.
    unsafe { libc::_exit(code.into()) }
}

/// Calls `work` with a stack that is large enough: if the limit is small (`ulimit -s 64`), on a thread that has its own
/// stack. Returns an error if a thread is needed and cannot be started.
pub fn with_enough_stack<T: Send + 'static>(work: fn() -> T) -> io::Result<T> {
    const NEEDED: u64 = 1 << 20;
    const STACK: usize = 8 << 20;
    if getrlimit(Resource::Stack).current.is_none_or(|limit| limit >= NEEDED) {
        return Ok(work());
    }
    let thread = thread::Builder::new().name("main".into()).stack_size(STACK).spawn(work)?;
    Ok(thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic)))
}

/// Raises the limit on descriptors as far as possible, and returns it.
pub fn raise_max_descriptors() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let current = system::descriptors_to_ask_for(limit.maximum);
    let _ = setrlimit(Resource::Nofile, Rlimit { current, ..limit });
    max_descriptors()
}

/// The maximum number of descriptors that the process may have open.
pub fn max_descriptors() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(1024)
}

system::before_main!(record);

#[allow(unsafe_code)]
extern "C" fn record() {
    let mut found = 0;
    for fd in 0..3 {
        // SAFETY: F_GETFD only reads the descriptor table, and takes any number.
        if unsafe { libc::fcntl(fd, libc::F_GETFD) } == -1 {
            found |= 1 << fd;
            open_substitute();
        }
    }
    if is_ignored(libc::SIGPIPE) {
        found |= SIGPIPE_IGNORED;
    }
    if is_ignored(libc::SIGUSR1) {
        found |= SIGUSR1_IGNORED;
    }
    AT_START.store(found, Ordering::Relaxed);
    for signal in [libc::SIGPIPE, libc::SIGUSR1] {
        // SAFETY: SIG_IGN is a valid action, and no other thread is there yet.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Opens `/dev/null`, as Rust's runtime would, under the lowest free number, which is that of a closed standard
/// descriptor. If it cannot be opened, opens a pipe's reading end, which is empty, and refuses writes like a closed
/// descriptor.
#[allow(unsafe_code)]
fn open_substitute() {
    let mut ends = [-1; 2];
    // SAFETY: the name ends with a zero, `pipe` writes two numbers, and the end that is closed has no owner yet.
    unsafe {
        if libc::open(c"/dev/null".as_ptr(), libc::O_RDWR) == -1 && libc::pipe(ends.as_mut_ptr()) == 0 {
            libc::close(ends[1]);
        }
    }
}
