//! `hybz::seek::SplitReader`: the parts of a file, each read by itself and without an index, make up its text,
//! whatever lies in the data of its blocks.

use crate::crafted::bits::Bits;
use crate::crafted::block::{BLOCK_MAGIC, Block, END_MAGIC, Table};
use crate::crafted::cases::{self, magics};
use crate::crafted::stream::Stream;
use crate::crafted::{Expect, words};
use crate::shapes::{Rng, shape};
use hybz::seek::SplitReader;
use hybz::{Encoding, Error, LargeBlocks, Level, ReadAt, Settings};
use hybz_testkit::long;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

fn part(file: &Arc<dyn ReadAt>, bytes: Range<u64>, lines: bool) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    SplitReader::new(file.clone(), bytes, lines, &Settings::new()).read_to_end(&mut text)?;
    Ok(text)
}

/// All parts of a file.
fn parts(file: &Arc<dyn ReadAt>, count: u64, lines: bool) -> Vec<io::Result<Vec<u8>>> {
    (0..count).map(|number| part(file, SplitReader::bytes_of_part(number, count, file.len()), lines)).collect()
}

/// Checks that the parts make up the text, and with `lines` that each part has whole lines.
fn check(name: &str, file: &Arc<dyn ReadAt>, text: &[u8], count: u64) {
    for lines in [false, true] {
        let parts: Vec<_> = parts(file, count, lines)
            .into_iter()
            .map(|part| part.unwrap_or_else(|error| panic!("{name}, {count} parts: {error}")))
            .collect();
        assert!(parts.concat() == text, "{name}, {count} parts, lines {lines}");
        let whole = |part: &Vec<u8>| part.is_empty() || part.ends_with(b"\n");
        let mut before_last = parts.iter().rev().skip_while(|part| part.is_empty()).skip(1);
        assert!(!lines || before_last.all(whole), "{name}, {count} parts");
    }
}

/// A small block that ends with eight ones, with which its carrier may end, too.
fn block_ending_in_ones(rng: &mut Rng) -> Block {
    // Seven byte values and no runs, whose counts would be an eighth value.
    let mut text = b"abcdef\n".to_vec();
    (0..20 + rng.below(60)).for_each(|_| {
        let last = text.last().and_then(|last| b"abcdef\n".iter().position(|byte| byte == last)).unwrap_or(0);
        text.push(b"abcdef\n"[(last + 1 + rng.below(6)) % 7]);
    });
    let block = Block::of_text(&text);
    let table = Table::of(&[1, 2, 3, 4, 5, 6, 7, 8, 8]);
    block.tables(vec![table.clone(), table])
}

/// A part of a stream, to be put into the data of a block.
fn payload(rng: &mut Rng) -> Bits {
    let block = |rng: &mut Rng| Block::of_text(&words(rng.below(1000) as u64, 5 + rng.below(60)));
    let mut bits = Bits::new();
    match rng.below(7) {
        0 => (0..1 + rng.below(20)).for_each(|i| {
            bits.push(if rng.below(2) == 0 { BLOCK_MAGIC } else { END_MAGIC }, 48);
            bits.push(0x155, i as u32 % 9);
        }),
        1 => bits.extend(&block(rng).bits()),
        2 => (0..1 + rng.below(4)).for_each(|_| bits.extend(&block_ending_in_ones(rng).bits())),
        3 => bits.extend(&Stream::single(block(rng)).bits()),
        4 => {
            // The end of a stream, and the next stream.
            bits.push(END_MAGIC, 48);
            bits.push(rng.below(1 << 30) as u64, 32);
            bits.align(false);
            bits.extend(&Stream::of(9, vec![block(rng), block(rng)]).bits());
        }
        5 => {
            bits.extend(&Bits::of(b"BZh9"));
            bits.extend(&block(rng).bits());
            bits.push(END_MAGIC, 48);
        }
        // A carrier with a payload of its own, to be carried by another block.
        _ => bits.extend(&carrier(rng, 0).map_or_else(|| block(rng).bits(), |carrier| carrier.bits())),
    }
    bits
}

/// A block whose data contain something that looks like blocks or streams.
fn carrier(rng: &mut Rng, grid: usize) -> Option<Block> {
    let payload = payload(rng);
    let ending = (8 - payload.len() % 8) % 8;
    let end = payload.slice(payload.len() - payload.len().min(8), payload.len());
    if end == Bits::number(0xff, 8) && rng.below(2) == 0 {
        return magics::carrier_with(&payload, grid, ending, 0);
    }
    magics::carrier_with(&payload, grid, rng.below(8), rng.below(14))
}

fn some_block(rng: &mut Rng, grid: usize, is_hostile: bool) -> Block {
    let text = |rng: &mut Rng| words(rng.below(1000) as u64, 1 + rng.below(300));
    match rng.below(if is_hostile { 6 } else { 3 }) {
        0 => Block::of_text(&text(rng)),
        1 => Block::of_text(&vec![b"\n0"[rng.below(2)]; 1 + rng.below(5000)]),
        2 => Block::randomised_of_text(&text(rng)),
        _ => carrier(rng, grid).unwrap_or_else(|| Block::of_text(&text(rng))),
    }
}

/// A file and its text.
fn some_file(rng: &mut Rng, is_hostile: bool) -> (Vec<u8>, Vec<u8>) {
    let (mut file, mut text) = (Vec::new(), Vec::new());
    let streams = [1, 1, 2, 5, 40][rng.below(5)];
    for _ in 0..streams {
        if rng.below(20) == 0 {
            let of_stream =
                (shape(["words", "random", "zeros", "five_letters"][rng.below(4)]).make)(rng.below(250_000));
            let settings = Settings::new().level(Level::FASTEST);
            file.extend(hybz::compress(&of_stream, &settings).unwrap());
            text.extend(of_stream);
            continue;
        }
        let blocks = [0, 1, 2, 8, 30][rng.below(5)] / if streams == 40 { 4 } else { 1 };
        let blocks = (0..blocks).map(|_| {
            let grid = rng.below(8);
            some_block(rng, grid, is_hostile)
        });
        let stream = Stream::of(9, blocks.collect());
        file.extend(stream.bytes());
        text.extend(stream.text());
    }
    if rng.below(10) == 0 {
        file.extend(b"garbage that looks like nothing else");
    }
    (file, text)
}

/// The number of random files: 10,000 in a campaign (`HYBZ_LONG`).
fn cases() -> u64 {
    if long() { 10_000 } else { 250 }
}

#[test]
fn parts_of_hostile_files_are_their_text() {
    for case in 0..cases() {
        let mut rng = Rng(case + 1);
        let (file, text) = some_file(&mut rng, true);
        assert!(hybz::decompress(&file, &Settings::new()).unwrap() == text, "case {case}");
        let count = if case % 10 == 0 { 1 + rng.below(100) } else { 1 + rng.below(12) };
        let file: Arc<dyn ReadAt> = Arc::new(file);
        check(&format!("case {case}"), &file, &text, count as u64);
    }
}

/// A file with one wrong bit: each part is unchanged, or an error, and at least one part is an error if the file is
/// bad.
///
/// If the true block across a cut is damaged and has good blocks in its data, the next part takes these for the
/// file's. For hostile files, only the second statement is therefore checked.
#[test]
fn damage_is_an_error_of_a_part() {
    let mut own = 0;
    for case in 0..cases() / 2 {
        let mut rng = Rng(case + 1_000_000);
        let is_hostile = case % 2 == 0;
        let (mut file, text) = some_file(&mut rng, is_hostile);
        let count = 1 + rng.below(12) as u64;
        let good = parts(&(Arc::new(file.clone()) as Arc<dyn ReadAt>), count, false);
        let bit = rng.below(file.len().max(1) * 8);
        if let Some(byte) = file.get_mut(bit / 8) {
            *byte ^= 0x80 >> (bit % 8);
        }
        let whole = hybz::decompress(&file, &Settings::new());
        let file: Arc<dyn ReadAt> = Arc::new(file);
        let bad = parts(&file, count, false);
        let failed: Vec<usize> = (0..bad.len()).filter(|&at| bad[at].is_err()).collect();
        let all: Vec<u8> = bad.iter().flatten().flatten().copied().collect();
        let name = format!("case {case}, bit {bit} of {}, {count} parts, {failed:?}", file.len() * 8);
        match whole {
            Ok(whole) => assert!(!failed.is_empty() || all == whole, "{name}"),
            // No part has the whole stream, so none can check its CRC.
            Err(Error::Data { damage, .. }) if matches!(damage.flaw(), hybz::internals::Flaw::StreamCrc { .. }) => {
                assert!(!failed.is_empty() || all == text, "{name}");
            }
            Err(error) => {
                assert!(!failed.is_empty(), "{name}: {error}");
                let Error::Data { bit_offset, .. } = error else { continue };
                let begin = |at: u64| SplitReader::bytes_of_part(at, count, file.len()).start * 8;
                let at = (0..count).rev().find(|&at| begin(at) <= bit_offset).unwrap();
                own += u64::from(failed.contains(&(at as usize)));
                if !is_hostile {
                    assert!(failed == [at as usize], "{name}: {error}");
                    let differ = good.iter().zip(&bad).any(|pair| matches!(pair, (Ok(a), Ok(b)) if a != b));
                    assert!(!differ, "{name}: {error}");
                }
            }
        }
    }
    assert!(own > cases() / 10, "{own}");
}

/// Every trap: parts of a good file make up its text, and a part of a bad file fails. (A wrong CRC or level of a
/// stream is found only by a part that has both the stream's beginning and its end.)
#[test]
fn traps() {
    let mut refused = 0;
    for case in cases::all() {
        let file: Arc<dyn ReadAt> = Arc::new(case.file);
        let is_long = matches!(&case.expect, Expect::Accepted(text) if text.len() > 1 << 20);
        let counts: &[u64] = match (is_long, long()) {
            (true, _) => &[3],
            (false, true) => &[1, 3, 20],
            // Reading a good file as one part shows nothing new.
            (false, false) if matches!(case.expect, Expect::Accepted(_)) => &[7],
            (false, false) => &[1, 7],
        };
        for &count in counts {
            match &case.expect {
                // The garbage contains a block, which other parts could take for a block of the file.
                Expect::Accepted(_) if count > 1 && in_garbage(&file, count) => refused += 1,
                Expect::Accepted(text) => check(&case.name, &file, text, count),
                Expect::Refused { .. } if count == 1 => {
                    assert!(parts(&file, 1, false)[0].is_err(), "{}", case.name);
                }
                Expect::Refused { .. } => drop(parts(&file, count, false)),
            }
        }
    }
    assert!((1..100).contains(&refused), "{refused}");
}

/// Whether a part refuses a file because of the data after its last stream.
fn in_garbage(file: &Arc<dyn ReadAt>, count: u64) -> bool {
    let is_garbage = |error: io::Error| matches!(error.downcast(), Ok(Error::TrailingGarbage { .. }));
    parts(file, count, false).into_iter().any(|part| part.is_err_and(is_garbage))
}

/// Small files cut into parts at every byte, as schedulers may cut.
#[test]
fn every_cut() {
    let two = |text: &[u8]| [Stream::single(Block::of_text(text)).bytes(), Stream::of(9, vec![]).bytes()].concat();
    let blocks = (0..4).map(|i| Block::of_text(&words(i, 40))).collect();
    let file = [two(b"a\nb"), Stream::of(3, blocks).bytes(), two(b"\n"), two(b"end")].concat();
    let text = hybz::decompress(&file, &Settings::new()).unwrap();
    let file: Arc<dyn ReadAt> = Arc::new(file);
    for lines in [false, true] {
        for cut in 0..=file.len() {
            let (a, b) = (part(&file, 0..cut, lines).unwrap(), part(&file, cut..u64::MAX, lines).unwrap());
            assert!([a, b].concat() == text, "{cut} {lines}");
        }
        let singles = (0..file.len()).map(|at| part(&file, at..at + 1, lines).unwrap());
        assert!(singles.collect::<Vec<_>>().concat() == text);
    }
    assert_eq!(part(&file, file.len()..file.len() + 9, true).unwrap(), b"");
}

#[test]
fn files_that_cannot_be_split() {
    let good = hybz::compress(b"text\n", &Settings::new()).unwrap();
    let of = |file: Vec<u8>| -> Arc<dyn ReadAt> { Arc::new(file) };
    let kinds = |file: Vec<u8>| -> Vec<Option<io::ErrorKind>> {
        parts(&of(file), 2, false).into_iter().map(|part| part.err().map(|error| error.kind())).collect()
    };
    use io::ErrorKind::{InvalidData, UnexpectedEof};
    assert_eq!(kinds(b"no bzip2 file".to_vec()), [Some(InvalidData), Some(InvalidData)]);
    assert_eq!(kinds(Vec::new()), [Some(UnexpectedEof), Some(UnexpectedEof)]);
    assert_eq!(kinds(good[..good.len() - 20].to_vec()), [Some(UnexpectedEof), None]);
    // A stream after garbage, which bzip2 ignores.
    assert_eq!(kinds([&good[..], b"garbage", &good, &good, &good].concat())[0], Some(InvalidData));
    // Another format, which `hybz -d` reads.
    let large = LargeBlocks::try_new(1 << 20).expect("a size of blocks");
    let hbz = hybz::compress(b"text\n", &Settings::new().encoding(Encoding::Hbz(large)));
    assert_eq!(kinds([&good[..], &hbz.unwrap()].concat())[0], Some(InvalidData));
}
