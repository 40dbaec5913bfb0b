//! Readers and writers whose inner reader or writer fails: the returned errors are right, no bytes are lost, and
//! damage is never taken for an end.

use crate::shapes;
use hybz::{Error, LargeBlocks, Level, Pool, Settings};
use std::cell::RefCell;
use std::io::{self, BufRead, ErrorKind, Read, Write};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

/// The kinds of errors that are tried.
const KINDS: [ErrorKind; 6] = [
    ErrorKind::WouldBlock,
    ErrorKind::TimedOut,
    ErrorKind::Interrupted,
    ErrorKind::ConnectionReset,
    ErrorKind::WriteZero,
    ErrorKind::UnexpectedEof, // this is no end, either, if the inner reader says so and then has more
];

/// Every `every`-th call (0: none) fails with `kind`; all other calls move at most `most` bytes.
#[derive(Clone, Copy, Debug)]
pub struct Faults {
    pub every: usize,
    pub kind: ErrorKind,
    pub most: usize,
    pub calls: usize,
}

impl Faults {
    fn each(mut test: impl FnMut(Faults)) {
        for kind in KINDS {
            for (every, most) in [(2, 1 << 20), (2, 5000), (3, 70_000), (7, 997), (50, 100)] {
                test(Faults { every, kind, most, calls: 0 });
            }
        }
    }

    fn call(&mut self, wanted: usize) -> io::Result<usize> {
        self.calls += 1;
        if self.calls.is_multiple_of(self.every) {
            return Err(io::Error::new(self.kind, "not now"));
        }
        Ok(self.most.min(wanted))
    }
}

/// A reader of these bytes, with faults.
#[derive(Clone)]
pub struct FaultyReader<'a>(pub &'a [u8], pub Faults);

impl BufRead for FaultyReader<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let n = self.1.call(self.0.len())?;
        Ok(&self.0[..n])
    }
    fn consume(&mut self, n: usize) {
        self.0 = &self.0[n..];
    }
}

impl Read for FaultyReader<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.1.call(buf.len())?;
        self.0.read(&mut buf[..n])
    }
}

/// A writer with faults, also when flushing. With `WriteZero`, a failing write takes nothing and returns 0.
struct FaultyWriter(Vec<u8>, Faults);

impl Write for FaultyWriter {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let n = match self.1.call(buf.len()) {
            Err(_) if self.1.kind == ErrorKind::WriteZero => 0,
            n => n?,
        };
        self.0.extend_from_slice(&buf[..n]);
        Ok(n)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.1.call(0).map(drop)
    }
}

/// Reads to the end, and tries again after every error of this kind. Returns the number of errors.
fn read_on(mut reader: impl Read, piece: usize, kind: ErrorKind) -> (Vec<u8>, usize) {
    let (mut all, mut errors) = (Vec::new(), 0);
    let mut buf = vec![0; piece];
    loop {
        match reader.read(&mut buf) {
            Ok(0) => {
                assert_eq!(reader.read(&mut buf).unwrap(), 0, "an end is an end");
                return (all, errors);
            }
            Ok(n) => all.extend_from_slice(&buf[..n]),
            Err(e) => {
                assert_eq!((e.kind(), e.to_string().as_str()), (kind, "not now"));
                errors += 1;
            }
        }
    }
}

/// Repeats a call until it returns no error of this kind. Adds the number of errors to `errors`.
fn insist<T>(errors: &mut usize, kind: ErrorKind, mut call: impl FnMut() -> io::Result<T>) -> T {
    loop {
        match call() {
            Ok(result) => return result,
            Err(e) => assert!(e.kind() == kind && (kind == ErrorKind::WriteZero || e.to_string() == "not now"), "{e}"),
        }
        *errors += 1;
    }
}

/// Texts with several blocks at level 1, one of them nearly all runs; and settings for `.bz2` and `.hbz`.
fn samples() -> Vec<(Vec<u8>, Settings)> {
    let pool = Pool::builder().threads(NonZeroUsize::new(2).unwrap()).build();
    let bz2 = Settings::new().pool(&pool).level(Level::FASTEST);
    let hbz = bz2.clone().encoding(LargeBlocks::try_new(40_000).unwrap());
    let words = shapes::words(250_000);
    let zeros = [shapes::zeros(3_000_000), words[..1000].to_vec()].concat();
    vec![(words.clone(), bz2.clone()), (zeros, bz2.clone()), (Vec::new(), bz2), (words, hbz)]
}

#[test]
fn readers_go_on_after_errors_of_the_inner_reader() {
    for (text, settings) in samples() {
        let coded = hybz::compress(&text, &settings).unwrap();
        Faults::each(|faults| {
            let text_reader = || FaultyReader(&text, faults);
            let reader = || FaultyReader(&coded, faults);
            let check = |(out, errors): (Vec<u8>, usize), expected: &[u8], what: &str| {
                assert!(out == expected, "{what}, {faults:?}: {} bytes, not {}", out.len(), expected.len());
                assert!(faults.kind != ErrorKind::Interrupted || errors == 0, "{what}, {faults:?}");
                let sure = faults.every == 2 && !text.is_empty() && faults.kind != ErrorKind::Interrupted;
                assert!(!sure || errors > 0, "{what}, {faults:?}");
            };
            let (piece, kind) = (faults.most.min(100_000), faults.kind);
            let encoder = hybz::read::BzEncoder::with_settings(text_reader(), &settings);
            check(read_on(encoder, piece, kind), &coded, "read encoder");
            let encoder = hybz::bufread::BzEncoder::with_settings(text_reader(), &settings);
            check(read_on(encoder, piece, kind), &coded, "bufread encoder");
            let decoder = hybz::read::BzDecoder::with_settings(reader(), &settings);
            let (out, _) = read_on(decoder, piece, kind); // reads so much at once that there may be no error
            assert!(out == text, "read decoder, {faults:?}");
            let decoder = hybz::read::MultiBzDecoder::with_settings(reader(), &settings);
            check(read_on(decoder, piece, kind), &text, "read multi decoder");
            let decoder = hybz::bufread::BzDecoder::with_settings(reader(), &settings);
            let (out, _) = read_on(decoder, piece, kind);
            assert!(out == text, "bufread decoder, {faults:?}");
            let decoder = hybz::bufread::MultiBzDecoder::with_settings(reader(), &settings);
            check(read_on(decoder, piece, kind), &text, "bufread multi decoder");
        });
    }
}

/// All that was read before an error comes out before the error.
#[test]
fn an_error_comes_after_what_was_read_before_it() {
    let (text, settings) = samples().swap_remove(0);
    let coded = hybz::compress(&text, &settings).unwrap();
    struct ThenError<'a>(&'a [u8], ErrorKind);
    impl Read for ThenError<'_> {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            match self.0.read(buf)? {
                0 => Err(self.1.into()),
                n => Ok(n),
            }
        }
    }
    for kind in [ErrorKind::WouldBlock, ErrorKind::ConnectionReset] {
        // The stream lacks its end, so the scanner may keep the last block.
        let mut decoder = hybz::read::MultiBzDecoder::with_settings(ThenError(&coded, kind), &settings);
        let mut out = Vec::new();
        assert_eq!(decoder.read_to_end(&mut out).unwrap_err().kind(), kind);
        assert!(out == text);
        // Blocks have 100,000 bytes, so two blocks are whole.
        let mut encoder = hybz::read::BzEncoder::with_settings(ThenError(&text, kind), &settings);
        let mut out = Vec::new();
        assert_eq!(encoder.read_to_end(&mut out).unwrap_err().kind(), kind);
        assert!(coded.starts_with(&out) && out.len() > coded.len() / 2, "{} of {}", out.len(), coded.len());
    }
}

#[test]
fn damage_is_returned_again_and_again() {
    for (text, settings) in samples() {
        let coded = hybz::compress(&text, &settings).unwrap();
        for (cut, flip) in [(0, false), (coded.len() / 2, false), (coded.len() - 1, false), (0, true), (10, true)] {
            let mut bad = if cut > 0 || !flip { coded[..cut].to_vec() } else { coded.clone() };
            if flip {
                bad = coded.clone();
                let at = if cut == 0 { coded.len() * 2 / 3 } else { cut };
                bad[at] ^= 16;
            }
            let mut decoder = hybz::write::MultiBzDecoder::with_settings(Vec::new(), &settings);
            let written = decoder.write_all(&bad).and_then(|()| decoder.try_finish()).unwrap_err();
            let mut first = hybz::write::BzDecoder::with_settings(Vec::new(), &settings);
            let written_first = first.write_all(&bad).and_then(|()| first.try_finish()).unwrap_err();
            for _ in 0..3 {
                for e in [decoder.try_finish(), decoder.flush(), decoder.write(b"x").map(drop), first.try_finish()] {
                    same(&e.unwrap_err(), &written);
                }
                same(&first.write(b"x").unwrap_err(), &written_first);
            }
            assert!(text.starts_with(decoder.get_ref()));
            let readers: [Box<dyn Read + '_>; 4] = [
                Box::new(hybz::read::BzDecoder::with_settings(&bad[..], &settings)),
                Box::new(hybz::read::MultiBzDecoder::with_settings(&bad[..], &settings)),
                Box::new(hybz::bufread::BzDecoder::with_settings(&bad[..], &settings)),
                Box::new(hybz::bufread::MultiBzDecoder::with_settings(&bad[..], &settings)),
            ];
            for mut reader in readers {
                let mut out = Vec::new();
                same(&reader.read_to_end(&mut out).unwrap_err(), &written);
                assert!(out == *decoder.get_ref());
                for _ in 0..3 {
                    same(&reader.read(&mut [0; 10]).unwrap_err(), &written);
                }
            }
        }
    }
}

/// Checks that both errors have the same kind and text, and hybz's own error inside.
fn same(one: &io::Error, other: &io::Error) {
    assert_eq!((one.kind(), one.to_string()), (other.kind(), other.to_string()));
    assert!(matches!(one.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof), "{one}");
    assert!(one.get_ref().is_some_and(|e| e.is::<Error>()));
}

#[test]
fn writers_go_on_after_errors_of_the_inner_writer() {
    for (text, settings) in samples() {
        let coded = hybz::compress(&text, &settings).unwrap();
        Faults::each(|faults| {
            // Passing millions of zeros 100 bytes at a time would prove nothing more.
            if faults.most < 5000 && text.len() > 1_000_000 {
                return;
            }
            let kind = faults.kind;
            let mut errors = 0;
            let new = || FaultyWriter(Vec::new(), faults);
            macro_rules! check {
                ($writer:expr, $input:expr, $expected:expr) => {
                    let mut writer = $writer;
                    for part in $input.chunks(9999) {
                        let mut rest = part;
                        while !rest.is_empty() {
                            let n = insist(&mut errors, kind, || writer.write(rest));
                            assert!(n > 0);
                            rest = &rest[n..];
                        }
                    }
                    insist(&mut errors, kind, || writer.try_finish());
                    insist(&mut errors, kind, || writer.try_finish());
                    assert_eq!(writer.total_in(), $input.len() as u64);
                    assert_eq!(writer.total_out(), $expected.len() as u64);
                    insist(&mut errors, kind, || writer.flush());
                    assert!(writer.get_ref().0 == $expected, "{faults:?}");
                    let writer = writer.finish().unwrap();
                    assert!(writer.0 == $expected, "{faults:?}");
                };
            }
            check!(hybz::write::BzEncoder::with_settings(new(), &settings), text, coded);
            check!(hybz::write::BzDecoder::with_settings(new(), &settings), coded, text);
            check!(hybz::write::MultiBzDecoder::with_settings(new(), &settings), coded, text);
            let none = kind == ErrorKind::Interrupted;
            assert!(if none { errors == 0 } else { errors > 0 || faults.every > 2 }, "{faults:?}");
        });
    }
}

/// `flush`, too, continues where an error interrupted it.
#[test]
fn flushes_go_on() {
    let (text, settings) = samples().swap_remove(0);
    let mut expected = hybz::write::BzEncoder::with_settings(Vec::new(), &settings);
    for part in text.chunks(60_000) {
        expected.write_all(part).unwrap();
        expected.flush().unwrap();
    }
    let expected = expected.finish().unwrap();
    Faults::each(|faults| {
        let mut errors = 0;
        let mut encoder = hybz::write::BzEncoder::with_settings(FaultyWriter(Vec::new(), faults), &settings);
        for mut part in text.chunks(60_000) {
            while !part.is_empty() {
                let n = insist(&mut errors, faults.kind, || encoder.write(part));
                part = &part[n..];
            }
            insist(&mut errors, faults.kind, || encoder.flush());
        }
        insist(&mut errors, faults.kind, || encoder.try_finish());
        assert!(encoder.get_ref().0 == expected, "{faults:?}");
    });
}

#[test]
fn nothing_is_taken_after_the_end() {
    let (text, settings) = samples().swap_remove(0);
    let coded = hybz::compress(&text, &settings).unwrap();
    let mut encoder = hybz::write::BzEncoder::with_settings(Vec::new(), &settings);
    encoder.write_all(&text).unwrap();
    encoder.try_finish().unwrap();
    for _ in 0..2 {
        assert_eq!(encoder.write(b"more").unwrap_err().kind(), ErrorKind::Other);
        assert_eq!(encoder.write(b"").unwrap(), 0);
        encoder.flush().unwrap();
        encoder.try_finish().unwrap();
    }
    assert!(encoder.finish().unwrap() == coded);

    // Garbage is accepted until then.
    let mut decoder = hybz::write::MultiBzDecoder::with_settings(Vec::new(), &settings);
    decoder.write_all(&coded).unwrap();
    (0..1000).for_each(|_| decoder.write_all(b"garbage").unwrap());
    decoder.try_finish().unwrap();
    assert_eq!(decoder.write(b"more").unwrap_err().kind(), ErrorKind::Other);
    assert_eq!(decoder.summary().trailing_garbage, Some(coded.len() as u64));
    assert!(decoder.finish().unwrap() == text);

    let mut decoder = hybz::write::BzDecoder::with_settings(Vec::new(), &settings);
    decoder.write_all(&coded).unwrap();
    assert_eq!(decoder.write_all(&coded).unwrap_err().kind(), ErrorKind::WriteZero);
    assert_eq!(decoder.total_in(), coded.len() as u64);
    assert!(decoder.finish().unwrap() == text);

    // The same if the inner writer has not taken the whole stream yet.
    let faults = Faults { every: 2, kind: ErrorKind::WouldBlock, most: 10, calls: 0 };
    let mut encoder = hybz::write::BzEncoder::with_settings(FaultyWriter(Vec::new(), faults), &settings);
    encoder.write_all(b"text").unwrap();
    assert_eq!(encoder.try_finish().unwrap_err().kind(), ErrorKind::WouldBlock);
    loop {
        match encoder.write(b"more").unwrap_err().kind() {
            ErrorKind::WouldBlock => {}
            kind => break assert_eq!(kind, ErrorKind::Other),
        }
    }
    encoder.try_finish().unwrap();
    assert_eq!(hybz::decompress(&encoder.get_ref().0, &settings).unwrap(), b"text");
}

/// A dropped encoder completes its stream, but not during a panic, nor with a writer that panicked.
#[test]
fn drops() {
    let (text, settings) = samples().swap_remove(0);
    let coded = hybz::compress(&text, &settings).unwrap();
    let mut out = Vec::new();
    hybz::write::BzEncoder::with_settings(&mut out, &settings).write_all(&text).unwrap();
    assert!(out == coded);
    let mut out = Vec::new();
    hybz::write::BzDecoder::with_settings(&mut out, &settings).write_all(&coded).unwrap();
    assert!(out == text);

    let mut out = Vec::new();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let mut encoder = hybz::write::BzEncoder::with_settings(&mut out, &settings);
        encoder.write_all(&text).unwrap();
        panic!("in the caller");
    }));
    assert!(panicked.is_err());
    assert!(coded.starts_with(&out) && out.len() < coded.len() - 10);

    struct Panics(Rc<RefCell<usize>>);
    impl Write for Panics {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            *self.0.borrow_mut() += 1;
            panic!("in the writer");
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let calls = Rc::default();
    let mut encoder = hybz::write::BzEncoder::with_settings(Panics(Rc::clone(&calls)), &settings);
    assert!(catch_unwind(AssertUnwindSafe(|| encoder.write_all(&text).and_then(|()| encoder.try_finish()))).is_err());
    drop(encoder);
    assert_eq!(*calls.borrow(), 1);
}

/// A cancelled writer writes nothing more, and no station works for it any longer.
#[test]
fn cancelled() {
    let pool = hybz::Pool::builder().threads(NonZeroUsize::MIN).build();
    let settings = Settings::new().level(Level::FASTEST).pool(&pool);
    let text = (shapes::shape("random").make)(6_000_000);
    let done = || pool.summary().stations.iter().map(|station| station.blocks).sum::<u64>();
    let mut encoder = hybz::write::BzEncoder::with_settings(Vec::new(), &settings);
    encoder.write_all(&text).unwrap();
    let out = encoder.cancel();
    // The single core has had no time for all blocks; completing the stream would have waited for them.
    assert!(done() < 60, "{} blocks", done());
    let coded = hybz::compress(&text, &settings).unwrap();
    assert!(coded.starts_with(&out) && out.len() < coded.len());

    let mut decoder = hybz::write::MultiBzDecoder::with_settings(Vec::new(), &settings);
    decoder.write_all(&coded[..coded.len() / 2]).unwrap();
    assert!(text.starts_with(&decoder.cancel()));
}

/// All adapters implement `Debug`, in any state.
#[test]
fn everything_can_be_debugged() {
    let coded = hybz::compress(b"text", &Settings::new()).unwrap();
    let mut decoder = hybz::read::BzDecoder::new(&coded[..]);
    let shown = format!("{decoder:?}");
    assert!(shown.starts_with("BzDecoder { inner: [66, ") && shown.contains("Open"), "{shown}");
    io::copy(&mut decoder, &mut io::sink()).unwrap();
    assert!(format!("{decoder:?}").contains("Complete"));
    let mut decoder = hybz::write::MultiBzDecoder::new(Vec::new());
    decoder.write_all(b"rubbish").unwrap();
    decoder.try_finish().unwrap_err();
    assert!(format!("{decoder:?} {:?}", Settings::new()).contains("Failed(NotBzip2)"));
}
