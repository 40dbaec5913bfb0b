//! Compares the readers and writers with those of the `bzip2` crate, whose names and contracts they have: same bytes,
//! same position of the inner reader, same kinds of errors.

use crate::readers::{Faults, FaultyReader};
use crate::{crafted, ours, shapes};
use crafted::{Case, Expect, cases};
use hybz::{LargeBlocks, Pool, Settings};
use hybz_testkit::{long, rounds};
use shapes::{EDGES, Rng, SHAPES, words};
use std::io::{self, ErrorKind, Read, Write};
use std::sync::OnceLock;

fn settings() -> Settings {
    static POOL: OnceLock<Pool> = OnceLock::new();
    Settings::new().pool(POOL.get_or_init(|| ours::pool(2)))
}

/// Settings whose memory suffices for one block at a time.
fn little_memory() -> Settings {
    static POOL: OnceLock<Pool> = OnceLock::new();
    Settings::new().pool(POOL.get_or_init(|| Pool::builder().memory(1).build()))
}

fn level(level: u8) -> (Settings, bzip2::Compression) {
    (settings().level(ours::level(level)), bzip2::Compression::new(level.into()))
}

/// A reader that shows at most `most` bytes at once, and fails at every `fail`-th call (0: never).
fn pieces(rest: &[u8], most: usize, fail: usize) -> FaultyReader<'_> {
    FaultyReader(rest, Faults { every: fail, kind: ErrorKind::WouldBlock, most, calls: 0 })
}

/// All bytes of a reader, read in pieces of `piece` bytes; a read that would block is repeated.
fn read_all(reader: &mut impl Read, piece: usize) -> (Result<(), ErrorKind>, Vec<u8>) {
    let mut buf = vec![0; piece];
    let mut all = Vec::new();
    loop {
        match reader.read(&mut buf) {
            Ok(0) => return (Ok(()), all),
            Ok(n) => all.extend_from_slice(&buf[..n]),
            Err(e) if e.kind() == ErrorKind::WouldBlock => {}
            Err(e) => return (Err(e.kind()), all),
        }
    }
}

/// Writes `bytes` in pieces, until the writer takes no more. Returns the number of bytes that it took.
fn write_some(writer: &mut impl Write, bytes: &[u8], piece: usize) -> io::Result<usize> {
    let mut at = 0;
    while at < bytes.len() {
        match writer.write(&bytes[at..bytes.len().min(at.saturating_add(piece))])? {
            0 => break,
            n => at += n,
        }
    }
    Ok(at)
}

/// Where the crate returns `InvalidInput`, hybz returns `InvalidData`.
fn as_ours(kind: ErrorKind) -> ErrorKind {
    if kind == ErrorKind::InvalidInput { ErrorKind::InvalidData } else { kind }
}

/// Whether one text of damaged data is a prefix of the other. The crate hands out text whose CRC has not been compared
/// yet, but not the text that it decoded in the call that meets the damage.
fn agree(one: &[u8], other: &[u8]) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

/// Compares decoders of the first stream, the crate's and hybz's, on `file`; the inner reader shows `most` bytes.
fn first_stream(file: &[u8], most: usize, fail: usize, what: &str) {
    let what = format!("{what}, {} bytes, {most} at once", file.len());
    let settings = || if file.len().is_multiple_of(3) { little_memory() } else { settings() };
    let input = pieces(file, most, fail);
    // The file is given in one piece, because libbz2-rs 0.2.6 refuses valid streams if the input is cut in a code
    // length that goes up and down (`len-wander-100000` by 4096).
    let mut theirs = bzip2::bufread::BzDecoder::new(pieces(file, usize::MAX, 0));
    let expected = read_all(&mut theirs, 4096);
    let mut decoder = hybz::bufread::BzDecoder::with_settings(input.clone(), &settings());
    let (verdict, text) = read_all(&mut decoder, 4096);
    assert_eq!(verdict, expected.0.map_err(as_ours), "{what}");
    if verdict.is_ok() {
        assert!(text == expected.1, "{what}");
        assert_eq!((decoder.total_in(), decoder.total_out()), (theirs.total_in(), theirs.total_out()), "{what}");
        assert_eq!(decoder.into_inner().0, theirs.into_inner().0, "{what}");
    } else {
        assert!(agree(&text, &expected.1), "{what}");
        assert_eq!(read_all(&mut decoder, 10).0, verdict, "{what}, asked again");
    }

    // Through `Read` and `Write`.
    let mut decoder = hybz::read::BzDecoder::with_settings(input, &settings());
    let read = read_all(&mut decoder, 333);
    assert!(read == (verdict, text.clone()), "{what}: {:?}", read.0);
    let mut decoder = hybz::write::BzDecoder::with_settings(Vec::new(), &settings());
    let written = write_some(&mut decoder, file, most);
    let finished = written.as_ref().map_err(io::Error::kind).and_then(|_| decoder.try_finish().map_err(|e| e.kind()));
    assert_eq!(finished, verdict, "{what}, written");
    assert!(*decoder.get_ref() == text, "{what}, written");
    if verdict.is_ok() {
        let mut theirs = bzip2::write::BzDecoder::new(Vec::new());
        assert_eq!(write_some(&mut theirs, file, usize::MAX).unwrap(), written.unwrap(), "{what}");
        assert_eq!((decoder.total_in(), decoder.total_out()), (theirs.total_in(), theirs.total_out()), "{what}");
        assert_eq!(decoder.write(b"more").unwrap(), 0, "{what}");
    }
}

/// Like [`first_stream`], for decoders of all streams. Garbage is an error, as it is for the crate.
fn all_streams(file: &[u8], most: usize, what: &str) {
    let what = format!("{what}, {} bytes, {most} at once", file.len());
    let strict = settings().trailing_garbage(false);
    let expected = read_all(&mut bzip2::bufread::MultiBzDecoder::new(file), 4096);
    let mut by_buf = hybz::bufread::MultiBzDecoder::with_settings(pieces(file, most, 0), &strict);
    let mut by_read = hybz::read::MultiBzDecoder::with_settings(pieces(file, most, 0), &strict);
    for (verdict, text) in [read_all(&mut by_buf, 4096), read_all(&mut by_read, 77)] {
        assert_eq!(verdict, expected.0.map_err(as_ours), "{what}");
        assert!(if verdict.is_ok() { text == expected.1 } else { agree(&text, &expected.1) }, "{what}");
    }
    let mut decoder = hybz::write::MultiBzDecoder::with_settings(Vec::new(), &strict);
    let verdict = write_some(&mut decoder, file, most).and_then(|n| {
        assert_eq!(n, file.len());
        decoder.try_finish()
    });
    assert_eq!(verdict.map_err(|e| e.kind()), expected.0.map_err(as_ours), "{what}");
    assert!(expected.0.is_err() || *decoder.get_ref() == expected.1, "{what}");
}

fn inputs() -> Vec<(&'static str, Vec<u8>)> {
    let shapes = SHAPES.iter().map(|shape| (shape.name, (shape.make)(230_000)));
    EDGES.iter().map(|edge| (edge.name, (edge.make)())).chain(shapes).collect()
}

#[test]
fn encoders() {
    for (round, (name, text)) in inputs().into_iter().enumerate() {
        let (settings, compression) = level([1, 1, 2, 9][round % 4]);
        let piece = [1000, 65_536, 77_777][round % 3];
        let mut expected = Vec::new();
        let mut theirs = bzip2::bufread::BzEncoder::new(&text[..], compression);
        theirs.read_to_end(&mut expected).unwrap();
        let mut encoder = hybz::bufread::BzEncoder::with_settings(pieces(&text, piece, 0), &settings);
        assert!(read_all(&mut encoder, piece) == (Ok(()), expected.clone()), "{name}");
        assert_eq!((encoder.total_in(), encoder.total_out()), (theirs.total_in(), theirs.total_out()), "{name}");
        let mut encoder = hybz::read::BzEncoder::with_settings(pieces(&text, piece, 0), &settings);
        assert!(read_all(&mut encoder, piece) == (Ok(()), expected.clone()), "{name}");
        assert_eq!((encoder.total_in(), encoder.total_out()), (theirs.total_in(), theirs.total_out()), "{name}");
        let mut encoder = hybz::write::BzEncoder::with_settings(Vec::new(), &settings);
        let mut theirs = bzip2::write::BzEncoder::new(Vec::new(), compression);
        for (part, bytes) in text.chunks(piece).enumerate() {
            encoder.write_all(bytes).unwrap();
            theirs.write_all(bytes).unwrap();
            if part % 5 == 3 {
                encoder.flush().unwrap();
                theirs.flush().unwrap();
                // All whole bytes have been written. (libbz2 keeps up to 4.)
                assert_eq!(encoder.total_in(), theirs.total_in(), "{name}");
                let more = encoder.get_ref().strip_prefix(&theirs.get_ref()[..]);
                assert!(more.is_some_and(|more| more.len() <= 4), "{name}");
            }
        }
        encoder.try_finish().unwrap();
        theirs.try_finish().unwrap();
        assert_eq!((encoder.total_in(), encoder.total_out()), (theirs.total_in(), theirs.total_out()), "{name}");
        assert!(encoder.finish().unwrap() == theirs.finish().unwrap(), "{name}");
    }
}

#[test]
fn decoders_of_good_streams() {
    for (round, (name, text)) in inputs().into_iter().enumerate() {
        let one = ours::compress(&text, &level([1, 2, 9][round % 3]).0);
        let two = ours::compress(&text[..text.len() / 3], &level(1).0);
        let tails = [("nothing", &b""[..]), ("a stream", &two), ("garbage", b"gar"), ("zeros", &[0; 5000])];
        for (number, (tail, more)) in tails.into_iter().enumerate() {
            let file = [&one[..], more].concat();
            let what = format!("{name}, then {tail}");
            for (way, most) in [1 << 20, 8192, 11, 1].into_iter().enumerate() {
                // Small pieces are slow. Each text and tail has two of the four sizes, the next text the other two.
                let chosen = long() || way % 2 == (round + number) % 2;
                if chosen && (most > 100 || file.len() < 20_000) {
                    first_stream(&file, most, 0, &what);
                    all_streams(&file, most, &what);
                }
            }
        }
    }
}

/// Decodes stream by stream: each decoder leaves the reader at the next stream.
#[test]
fn one_after_the_other() {
    let large = settings().encoding(LargeBlocks::try_new(20_000).unwrap());
    let small = level(1).0;
    let text = words(300_000);
    let parts = [&text[..250_000], b"", &text[250_000..], b"x", b"", &text[..70_000]];
    let streams: Vec<Vec<u8>> =
        (0..).zip(parts).map(|(i, part)| ours::compress(part, if i % 3 == 2 { &large } else { &small })).collect();
    let file = [streams.concat(), b"the end".to_vec()].concat();
    for (most, fail) in [(usize::MAX, 0), (8192, 3), (100, 2), (1, 0), (7, 5)] {
        let mut input = pieces(&file, most, fail);
        let mut at = 0;
        for (part, stream) in parts.iter().zip(&streams) {
            let mut decoder = hybz::bufread::BzDecoder::with_settings(&mut input, &settings());
            assert!(read_all(&mut decoder, 5000) == (Ok(()), part.to_vec()), "{most}");
            assert_eq!(decoder.total_in(), stream.len() as u64);
            assert_eq!(decoder.summary().bytes_in, stream.len() as u64);
            assert_eq!(decoder.summary().streams, 1);
            at += stream.len();
            assert!(input.0 == &file[at..], "{most}");
        }
        assert_eq!(input.0, b"the end");
        // The same decoders, written to.
        let mut rest = &file[..];
        for (part, stream) in parts.iter().zip(&streams) {
            let mut decoder = hybz::write::BzDecoder::with_settings(Vec::new(), &settings());
            let taken = write_some(&mut decoder, rest, most.min(1 << 20)).unwrap();
            assert_eq!(taken, stream.len());
            assert!(decoder.finish().unwrap() == *part);
            rest = &rest[taken..];
        }
    }
}

/// Magics inside data, streams in blocks, and every kind of error: the position is exact wherever the crate's is.
#[test]
fn every_trap() {
    let table = cases::all();
    for (number, Case { name, file, expect, .. }) in table.iter().enumerate() {
        let accepted = matches!(expect, Expect::Accepted(_));
        let large = file.len() > 100_000 || matches!(expect, Expect::Accepted(text) if text.len() > 1_000_000);
        // Large cases are slow: each is decoded either as a first stream or as all streams.
        if accepted && (long() || !large || number % 2 == 1) {
            all_streams(file, 4096, name);
        }
        let ways = [(&b""[..], 1 << 20), (b"tail", 4096), (b"BZh9", 1), (b"\x17\x72\x45\x38\x50\x90", 13)];
        for (way, (tail, most)) in ways.into_iter().enumerate() {
            // Small pieces are slow. Each case is tested in two of the four ways, one of them with large pieces.
            let chosen = long() || [number % 2, 2 + number / 2 % 2].contains(&way);
            let first = most == 4096 && (long() || !accepted || number % 2 == 0);
            if if large { first } else { chosen && (most > 100 || file.len() < 3000) } {
                first_stream(&[file, tail].concat(), most, if most == 13 { 3 } else { 0 }, name);
            }
        }
    }
}

#[test]
fn damage_and_cuts() {
    let text = words(210_000);
    let good = ours::compress(&text, &level(1).0);
    let mut rng = Rng(6);
    for round in 0..rounds(50, 1000) {
        let mut bad = good.clone();
        let bit = rng.below(if round % 5 == 0 { 300 } else { bad.len() * 8 });
        match round % 2 {
            0 => bad[bit / 8] ^= 0x80 >> (bit % 8),
            _ => bad.truncate(bit / 8),
        }
        first_stream(&bad, [1 << 20, 5000, 999][round % 3], [0, 4][round % 2], "damaged");
        all_streams(&bad, 3000, "damaged");
    }
}

/// Empty inputs and empty buffers have the effect that they have in the crate.
#[test]
fn empty_input_and_empty_buffers() {
    for most in [1, 100] {
        first_stream(b"", most, 0, "no input");
        all_streams(b"", most, "no input");
    }
    let coded = ours::compress(b"text", &settings());
    let mut decoder = hybz::bufread::BzDecoder::new(&coded[..]);
    assert_eq!(decoder.read(&mut []).unwrap(), 0);
    assert_eq!(io::read_to_string(decoder).unwrap(), "text");
    let mut decoder = hybz::write::BzDecoder::new(Vec::new());
    assert_eq!(decoder.write(b"").unwrap(), 0);
    decoder.write_all(&coded).unwrap();
    assert_eq!(decoder.finish().unwrap(), b"text");
}

/// Nothing is read after the end, even if the inner reader would block there.
#[test]
fn the_end_needs_no_more_input() {
    struct Waits<'a>(&'a [u8]);
    impl Read for Waits<'_> {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            assert!(!self.0.is_empty(), "this would wait for ever");
            self.0.read(buf)
        }
    }
    for text in [&b""[..], b"text", &words(300_000)] {
        for settings in [level(1).0, settings().encoding(LargeBlocks::try_new(100_000).unwrap())] {
            let coded = ours::compress(text, &settings);
            let mut decoder = hybz::read::BzDecoder::with_settings(Waits(&coded), &settings);
            assert!(read_all(&mut decoder, 1000) == (Ok(()), text.to_vec()));
            assert_eq!(decoder.read(&mut [0; 10]).unwrap(), 0);
        }
    }
}

/// Readers and writers are `Send` if the inner value is.
#[test]
fn all_are_send() {
    fn send<T: Send>() {}
    send::<hybz::read::BzEncoder<&[u8]>>();
    send::<hybz::read::BzDecoder<&[u8]>>();
    send::<hybz::read::MultiBzDecoder<&[u8]>>();
    send::<hybz::bufread::BzDecoder<&[u8]>>();
    send::<hybz::write::BzEncoder<Vec<u8>>>();
    send::<hybz::write::BzDecoder<Vec<u8>>>();
    send::<hybz::write::MultiBzDecoder<Vec<u8>>>();
}

/// Levels, with the crate's numbers.
#[test]
fn levels() {
    for number in 0..=20u8 {
        let theirs = bzip2::Compression::try_new(number.into()).map(|compression| compression.level());
        match hybz::Level::try_from(number) {
            Ok(level) => assert_eq!(Some(u32::from(level.get())), theirs),
            Err(error) => {
                assert_eq!((error.get(), theirs), (number, None));
                assert_eq!(error.to_string(), format!("{number} is not a compression level from 1 to 9"));
            }
        }
    }
    assert_eq!(u32::from(hybz::Level::FASTEST.get()), bzip2::Compression::fast().level());
    assert_eq!(u32::from(hybz::Level::BEST.get()), bzip2::Compression::best().level());
}
