//! A process that has used the library is forked, as Python's multiprocessing does it. The child can use the library,
//! and nothing in it hangs, whatever the parent's threads were doing at that moment.
//!
//! The test has no harness, because a forked child of a test runner would continue as a second test runner.

use hybz::seek::SplitReader;
use hybz::{Level, Pool, ReadAt, Settings, read, write};
use hybz_testkit::fork::{self, in_child};
use hybz_testkit::shapes;
use std::io::{Read, Write};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

fn settings(pool: &Pool) -> Settings {
    Settings::new().level(Level::FASTEST).pool(pool)
}

/// Compresses and decompresses, with this pool.
fn round_trip(text: &[u8], expected: &[u8], pool: &Pool) {
    let coded = hybz::compress(text, &settings(pool)).unwrap();
    assert!(coded == expected);
    assert!(hybz::decompress(&coded, &settings(pool)).unwrap() == text);
}

/// A child uses the default pool and one of the caller; so does its own child, and then the parent again.
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

fn is_forked(error: &std::io::Error) -> bool {
    matches!(error.get_ref().and_then(|e| e.downcast_ref()), Some(hybz::Error::Forked))
}

/// Tells threads to end when it is dropped, also if the test fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Forks while other threads submit, answer, wait and drop, so that every lock is sometimes held during a fork.
fn forks_at_any_moment(text: &[u8], expected: &[u8]) {
    let pool = Pool::builder().memory(1 << 20).build();
    let (small, stop) = (&text[..20_000], AtomicBool::new(false));
    let file: Arc<dyn ReadAt> = Arc::new(expected.to_vec());
    let small_coded = hybz::compress(small, &settings(&pool)).unwrap();
    std::thread::scope(|scope| {
        let _stop = Stop(&stop);
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Relaxed) {
                    round_trip(small, &small_coded, &pool);
                    // This encoder is dropped in the middle of its work.
                    let mut encoder = read::BzEncoder::with_settings(text, &settings(&pool));
                    encoder.read_exact(&mut [0; 10]).unwrap();
                }
            });
        }
        let rounds = if std::env::var_os("HYBZ_LONG").is_some() { 5000 } else { 200 };
        for round in 0..rounds {
            let mut decoder = read::MultiBzDecoder::with_settings(expected, &settings(&pool));
            let mut split = SplitReader::new(file.clone(), 0..file.len(), false, &settings(&pool));
            decoder.read_exact(&mut [0; 10]).unwrap();
            split.read_exact(&mut [0; 10]).unwrap();
            let begun = std::cell::Cell::new(Some((decoder, split)));
            in_child(&format!("fork {round}"), || {
                drop(begun.take());
                round_trip(small, &small_coded, &pool);
                round_trip(small, &small_coded, Pool::global());
            });
        }
    });
}

/// A test, which gets a text and the stream to which the text was compressed.
type Test = fn(&[u8], &[u8]);

fn main() {
    let text = shapes::words(700_000);
    let expected =
        hybz::compress(&text, &Settings::new().level(Level::FASTEST).pool(&Pool::builder().build())).unwrap();
    let tests: [(&str, Test); 3] = [
        ("pools_work_in_children_and_grandchildren", pools_work_in_children_and_grandchildren),
        ("streams_of_the_parent_are_errors_in_the_child", streams_of_the_parent_are_errors_in_the_child),
        ("forks_at_any_moment", forks_at_any_moment),
    ];
    let (text, expected) = (&text, &expected);
    fork::run_tests(&tests.map(|(name, test)| (name, move || test(text, expected))))
}
