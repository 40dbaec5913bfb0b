//! A process that has used the library is forked, as Python's multiprocessing does it. The child can use the library,
//! and nothing in it hangs, whatever the parent's threads were doing at that moment.
//!
//! Without a harness: a child of a test runner would go on as a second test runner.
#![allow(unsafe_code)]

use hybz::{Level, Pool, Settings, read, write};
use hybz_testkit::shapes;
use std::io::{Read, Write};
use std::num::NonZeroUsize;
use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// A child that takes longer hangs.
const SECONDS: u32 = 120;

/// Forks. The child does `work` and ends; the parent waits, and says in what way the child failed.
fn in_child(what: &str, work: impl FnOnce()) {
    std::io::stdout().flush().unwrap();
    // SAFETY: fork has no preconditions. The child calls what the library promises to work there, and `_exit`.
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

fn settings(pool: &Pool) -> Settings {
    Settings::new().level(Level::FASTEST).pool(pool)
}

/// Compresses and decompresses, with this pool.
fn round_trip(text: &[u8], expected: &[u8], pool: &Pool) {
    let coded = hybz::compress(text, &settings(pool)).unwrap();
    assert!(coded == expected);
    assert!(hybz::decompress(&coded, &settings(pool)).unwrap() == text);
}

/// A child uses the pool of everybody and one of the caller's; its own child does, too; then the parent again.
fn pools_work_in_children_and_grandchildren(text: &[u8], expected: &[u8]) {
    let own = Pool::builder().threads(NonZeroUsize::new(3).unwrap()).build();
    for used_before in [false, true] {
        if used_before {
            round_trip(text, expected, Pool::global());
            round_trip(text, expected, &own);
        }
        in_child("a child", || {
            round_trip(text, expected, Pool::global());
            round_trip(text, expected, &own);
            // Its stations, not the parent's.
            assert!(own.summary().stations.len() <= 3 && own.summary().stations.iter().any(|s| s.blocks > 0));
            in_child("a grandchild", || {
                round_trip(text, expected, Pool::global());
                round_trip(text, expected, &own);
            });
            round_trip(text, expected, &own);
        });
    }
    in_child("a child of a child that did nothing", || {
        in_child("its child", || round_trip(text, expected, Pool::global()));
    });
    round_trip(text, expected, &own);
}

/// A stream that was begun before the fork gives an error in the child, again and again, and can be dropped there. The
/// parent goes on with it.
fn streams_of_the_parent_are_errors_in_the_child(text: &[u8], expected: &[u8]) {
    let pool = Pool::builder().build();
    let mut decoder = read::MultiBzDecoder::with_settings(expected, &settings(&pool));
    let mut encoder = write::BzEncoder::with_settings(Vec::new(), &settings(&pool));
    let mut first = vec![0; 1000];
    decoder.read_exact(&mut first).unwrap();
    encoder.write_all(&text[..text.len() / 2]).unwrap();

    let (decoder, encoder) = (std::cell::Cell::new(Some(decoder)), std::cell::Cell::new(Some(encoder)));
    in_child("streams of the parent", || {
        let (mut decoder, mut encoder) = (decoder.take().unwrap(), encoder.take().unwrap());
        for _ in 0..2 {
            let error = std::io::copy(&mut decoder, &mut std::io::sink()).unwrap_err();
            assert!(is_forked(&error), "{error}");
            let error = encoder.write_all(text).unwrap_err();
            assert!(is_forked(&error), "{error}");
        }
        assert!(is_forked(&encoder.try_finish().unwrap_err()));
        drop((decoder, encoder));
        round_trip(text, expected, &pool);
        drop(pool.clone());
    });
    let (mut decoder, mut encoder) = (decoder.take().unwrap(), encoder.take().unwrap());
    decoder.read_to_end(&mut first).unwrap();
    assert!(first == text);
    encoder.write_all(&text[text.len() / 2..]).unwrap();
    assert!(encoder.finish().unwrap() == expected);
}

/// A sorter that was begun before the fork is an error in the child, and can be dropped there; its pool works.
fn sorters_of_the_parent_are_errors_in_the_child(text: &[u8], _: &[u8]) {
    use hybz::sort::{Limits, Order, Pool, Sorter, sorted};
    let (order, pool) = (Order::new().end(b' '), Pool::builder().build());
    let expected = sorted(text, &order, &pool).unwrap();
    for memory in [u64::MAX, 1 << 20] {
        let limits = Limits::new().memory(memory).temporary(tempfile::tempfile);
        let mut sorter = Sorter::new(&order, limits, &pool);
        sorter.push(text).unwrap();
        let sorter = std::cell::Cell::new(Some(sorter));
        in_child("a sorter of the parent", || {
            let mut sorter = sorter.take().unwrap();
            let pushed = (0..).take(64).try_for_each(|_| sorter.push(text));
            assert!(matches!(pushed, Err(hybz::Error::Forked)), "{pushed:?}");
            assert!(matches!(sorter.write_to(&mut std::io::sink()), Err(hybz::Error::Forked)));
            assert!(sorted(text, &order, &pool).unwrap() == expected);
        });
        let mut out = Vec::new();
        sorter.take().unwrap().write_to(&mut out).unwrap();
        assert!(out == expected);
    }
}

fn is_forked(error: &std::io::Error) -> bool {
    matches!(error.get_ref().and_then(|e| e.downcast_ref()), Some(hybz::Error::Forked))
}

/// Forks while other threads submit, answer, wait and drop, so that every lock is held sometimes.
fn forks_at_any_moment(text: &[u8], expected: &[u8]) {
    let pool = Pool::builder().memory(1 << 20).build();
    let (small, stop) = (&text[..20_000], AtomicBool::new(false));
    let small_coded = hybz::compress(small, &settings(&pool)).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Relaxed) {
                    round_trip(small, &small_coded, &pool);
                    // Dropped in the middle of its work.
                    let mut encoder = read::BzEncoder::with_settings(text, &settings(&pool));
                    encoder.read_exact(&mut [0; 10]).unwrap();
                }
            });
        }
        let rounds = if std::env::var_os("HYBZ_LONG").is_some() { 5000 } else { 200 };
        for round in 0..rounds {
            let begun = std::cell::Cell::new(Some(read::MultiBzDecoder::with_settings(expected, &settings(&pool))));
            let mut decoder = begun.take().unwrap();
            decoder.read_exact(&mut [0; 10]).unwrap();
            begun.set(Some(decoder));
            in_child(&format!("fork {round}"), || {
                drop(begun.take());
                round_trip(small, &small_coded, &pool);
                round_trip(small, &small_coded, Pool::global());
            });
        }
        stop.store(true, Relaxed);
    });
}

/// Gets a text, and its stream.
type Test = fn(&[u8], &[u8]);

fn main() {
    let text = (shapes::shape("words").make)(700_000);
    let expected =
        hybz::compress(&text, &Settings::new().level(Level::FASTEST).pool(&Pool::builder().build())).unwrap();
    let tests: [(&str, Test); 4] = [
        ("pools_work_in_children_and_grandchildren", pools_work_in_children_and_grandchildren),
        ("streams_of_the_parent_are_errors_in_the_child", streams_of_the_parent_are_errors_in_the_child),
        ("sorters_of_the_parent_are_errors_in_the_child", sorters_of_the_parent_are_errors_in_the_child),
        ("forks_at_any_moment", forks_at_any_moment),
    ];
    println!("\nrunning {} tests", tests.len());
    let mut failed = 0;
    for (name, test) in tests {
        let passed = std::panic::catch_unwind(|| test(&text, &expected)).is_ok();
        println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
        failed += usize::from(!passed);
    }
    let (word, passed) = (if failed == 0 { "ok" } else { "FAILED" }, tests.len() - failed);
    println!("\ntest result: {word}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out\n");
    exit(i32::from(failed > 0));
}
