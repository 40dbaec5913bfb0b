//! Tests that fork, without a harness: a child of a test runner would go on as a second test runner.
#![allow(unsafe_code)]

use std::io::Write;
use std::process::exit;

/// A child that takes longer counts as hung.
const SECONDS: u32 = 120;

/// Forks. The child does `work` and ends; the parent waits, and reports how the child failed.
pub fn in_child(what: &str, work: impl FnOnce()) {
    std::io::stdout().flush().unwrap();
    // SAFETY: fork has no preconditions. The child calls only functions that work in a child, and `_exit`.
    match unsafe { libc::fork() } {
        -1 => panic!("{what}: no process to be had"),
        0 => {
            // SAFETY: alarm has no preconditions. Its signal ends a child that hangs.
            unsafe { libc::alarm(SECONDS) };
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            // SAFETY: _exit has no preconditions; the parent's atexit handlers are not for the child.
            unsafe { libc::_exit(i32::from(outcome.is_err())) }
        }
        child => {
            let mut status = 0;
            // SAFETY: `child` is our child, and `status` outlives the call.
            assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child, "{what}");
            assert!(!libc::WIFSIGNALED(status), "{what}: ended by signal {}", libc::WTERMSIG(status));
            assert_eq!(libc::WEXITSTATUS(status), 0, "{what}");
        }
    }
}

/// Runs tests one after the other, reports as libtest does, and exits.
pub fn run_tests(tests: &[(&str, impl Fn())]) -> ! {
    println!("\nrunning {} tests", tests.len());
    let mut failed = 0;
    for (name, test) in tests {
        let passed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(test)).is_ok();
        println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
        failed += usize::from(!passed);
    }
    let (word, passed) = (if failed == 0 { "ok" } else { "FAILED" }, tests.len() - failed);
    println!("\ntest result: {word}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out\n");
    exit(i32::from(failed > 0));
}
