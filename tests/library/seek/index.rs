//! Indexes are the same, however they are made; and damaged or foreign ones are detected.

use super::files::{File, files};
use crate::ours::{Counted, level, pool};
use crate::shapes::{EDGES, SHAPES, words};
use crate::texts::example;
use crate::through::{self, Collected, stream};
use hybz::flow::Task;
use hybz::index::{Index, Recorder};
use hybz::seek::Reader;
use hybz::{Error, Formats, LargeBlocks, Pool, ReadAt, Settings, Verify};
use hybz_testkit::long;
use std::io;
use std::sync::Arc;

/// Runs one input through the flow. Returns the output and the recorded index.
pub fn recorded(pool: &Pool, task: Task, bytes: &[u8], here: bool) -> (Vec<u8>, Result<Index, Error>) {
    let mut made = Collected { recorder: Some(Recorder::new()), ..Collected::default() };
    made.collect(pool, vec![(task, Verify::Off, stream(bytes))], here);
    let (out, outcome) = made.out.remove(0);
    outcome.unwrap();
    (out, made.recorder.expect("a recorder").finish())
}

pub fn bytes(index: &Index) -> Vec<u8> {
    let mut bytes = Vec::new();
    index.write(&mut bytes).unwrap();
    bytes
}

pub fn offsets(index: &Index) -> Vec<u8> {
    let mut lines = Vec::new();
    index.write_offsets(&mut lines).unwrap();
    lines
}

fn built(coded: &[u8]) -> Index {
    Index::build(coded, &Settings::new()).unwrap()
}

#[test]
fn compressing_and_decoding_make_the_same_index() {
    let pool = pool(2);
    let check = |name: &str, text: &[u8], level_: u8| {
        for here in [false, true] {
            let (coded, made) = recorded(&pool, Task::Compress(level(level_).into()), text, here);
            assert_eq!(bytes(&made.unwrap()), bytes(&built(&coded)), "{name}, level {level_}");
        }
    };
    SHAPES.iter().for_each(|shape| check(shape.name, &(shape.make)(300_000), 1));
    EDGES.iter().for_each(|edge| check(edge.name, &(edge.make)(), 9));
    check("words", &words(2_000_000), 9);
    check("zeros", &vec![0; 60_000_000], 9);
}

#[test]
fn the_index_says_where_everything_is() {
    for File { name, coded, text } in files() {
        let index = built(coded);
        assert_eq!(index.text_len(), text.len() as u64, "{name}");
        let ends = text.iter().filter(|byte| **byte == b'\n').count() as u64;
        assert_eq!(index.lines().unwrap(), Some(ends), "{name}");
        let all: Vec<_> = index.iter().collect::<Result<_, _>>().unwrap();
        assert_eq!(all.len() as u64, index.blocks(), "{name}");
        let mut at = 0;
        for (number, block) in (1..).zip(&all) {
            assert_eq!((block.number, block.text_offset), (number, at), "{name}");
            let part = &text[at as usize..(at + block.text_len) as usize];
            assert_eq!(block.crc, hybz::internals::crc::checksum(part), "{name}, block {number}");
            let before = text[..at as usize].iter().filter(|byte| **byte == b'\n').count() as u64;
            assert_eq!(block.lines_before, Some(before), "{name}, block {number}");
            for offset in [at, at + block.text_len - 1] {
                assert_eq!(index.find(offset).unwrap(), Some(*block), "{name}, {offset}");
            }
            at += block.text_len;
        }
        assert_eq!(index.find(at).unwrap(), None);
        assert_eq!(index.find(u64::MAX).unwrap(), None);
    }
}

#[test]
fn the_block_of_a_line_end() {
    for File { name, coded, text } in files().iter().filter(|file| file.text.len() < 10_000_000) {
        let index = built(coded);
        let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at as u64);
        let mut last = 0;
        for (number, at) in (1..).zip(ends) {
            let block = index.find_line_end(number).unwrap().unwrap();
            let range = block.text_offset..block.text_offset + block.text_len;
            assert!(range.contains(&at), "{name}, line end {number}");
            last = number;
        }
        assert_eq!(index.find_line_end(last + 1).unwrap(), None, "{name}");
        assert_eq!(index.find_line_end(0).unwrap(), None, "{name}");
    }
}

/// A lookup reads only the parts of an index file that it needs.
#[test]
fn a_long_index_is_searched_in_its_file() {
    let small = words(300);
    let one = super::files::stream(1, small).0;
    let coded = one.repeat(20_000);
    let index = built(&coded);
    let written = bytes(&index);
    assert!(written.len() > 1_500_000);
    let counted = Arc::new(Counted(written.clone(), Default::default()));
    let read = || counted.1.load(std::sync::atomic::Ordering::Relaxed);
    let opened = Index::open(counted.clone(), &coded).unwrap();
    assert!(read() < 70_000, "{} bytes to open", read());
    for (i, offset) in [0, 299, 300, 5_999_999, 3_000_000, 1].into_iter().enumerate() {
        assert_eq!(opened.find(offset).unwrap(), index.find(offset).unwrap());
        assert!(read() < 70_000 + (i as u64 + 1) * 5 * 5120, "{} bytes", read());
    }
    assert_eq!(bytes(&opened), written);
    assert_eq!(offsets(&opened), offsets(&index));
}

#[test]
fn lines_of_offsets_make_the_same_index() {
    for File { name, coded, .. } in files() {
        let (pool, task) = (pool(1), Task::Decompress { formats: Formats::All, trailing_garbage: true });
        let whole = recorded(&pool, task, coded, true).1.unwrap();
        let imported = Index::open(Arc::new(offsets(&whole)), coded).unwrap();
        assert_eq!(offsets(&imported), offsets(&whole), "{name}");
        let blocks = |index: &Index| -> Vec<_> {
            let all = index.iter().map(Result::unwrap);
            all.map(|b| (b.number, b.stream, b.level, b.bit_offset, b.end_bit, b.text_offset, b.text_len, b.crc))
                .collect()
        };
        assert_eq!(blocks(&imported), blocks(&whole), "{name}");
        assert_eq!((imported.streams(), imported.coded_len()), (whole.streams(), whole.coded_len()), "{name}");
        assert_eq!(imported.lines().unwrap().is_some(), whole.blocks() == 0);
    }
}

/// The quirks of other programs' lines: blanks, CRLF, no line end; the serial reader's lines, which have no end of
/// data.
#[test]
fn lines_of_offsets_in_all_spellings() {
    let File { coded, .. } = files().iter().find(|file| file.name == "streams without blocks").unwrap();
    let text = String::from_utf8(offsets(&built(coded))).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let spellings = [
        text.trim_end().to_owned(),
        lines.join("\r\n"),
        format!("\n{}\n\n", lines.join(" \n").replace(',', ", ")),
        lines[..lines.len() - 1].join("\n"),
    ];
    for spelling in spellings {
        let index = Index::open(Arc::new(spelling.clone().into_bytes()), coded).unwrap();
        assert_eq!(offsets(&index), text.as_bytes(), "{spelling:?}");
    }
    for (bad, why) in [
        ("", "nothing"),
        ("{\"32\": 0}", "JSON"),
        ("32,0\n31,5\n", "backwards"),
        ("32;0\n", "no comma"),
        ("32,0\n99999999999999999999999,1\n", "too large a number"),
        ("32,0\n64,100\n", "not a block's end"),
        ("33,0\n", "not a stream's beginning"),
        ("616:10:Anarchism\n", "Wikimedia's, which has no offsets of text"),
    ] {
        assert!(Index::open(Arc::new(bad.as_bytes().to_vec()), coded).is_err(), "{why}");
    }
}

fn file(name: &str) -> &'static File {
    files().iter().find(|file| file.name == name).unwrap()
}

/// One field is wrong in one record, or in a record and all after it, and the checks are right: the result is an error
/// or the right text, and memory is bounded by the file's size.
#[test]
fn an_index_that_lies_is_found() {
    let coded = [&file("blocks of level 1").coded[..], &file("noise").coded].concat();
    let text = [&file("blocks of level 1").text[..], &file("noise").text].concat();
    let good = bytes(&built(&coded));
    let records = (good.len() - 64) / 40;
    // Bit offset, text offset, stream, level, line ends: their offsets and lengths in a record.
    let fields = [(0, 8), (8, 8), (20, 4), (24, 1), (28, 8)];
    let lie = |bad: &mut [u8], record: usize, (field, len): (usize, usize), change: i64| {
        let at = 64 + record * 40;
        let mut number = [0; 8];
        number[..len].copy_from_slice(&bad[at + field..at + field + len]);
        let number = u64::from_le_bytes(number).wrapping_add_signed(change);
        bad[at + field..at + field + len].copy_from_slice(&number.to_le_bytes()[..len]);
        let mut check = hybz::internals::crc::Crc::new();
        check.update(&(record as u64).to_le_bytes());
        check.update(&bad[at..at + 36]);
        bad[at + 36..at + 40].copy_from_slice(&check.finish().to_le_bytes());
    };
    let (mut wrong, mut tried) = (0, 0);
    // The first record, the last, and some between.
    let step = if long() { 1 } else { 4 };
    for record in (0..records).filter(|record| record % step == 0 || record + 1 == records) {
        for field in fields {
            let here = [-1i64, 1, 100, -100, 1 << 20, 1 << 40].map(|change| (change, record + 1));
            let from_here_on = [-1, 1, 100].map(|change| (change, records));
            for (change, end) in here.into_iter().chain(from_here_on) {
                let mut bad = good.clone();
                (record..end).for_each(|record| lie(&mut bad, record, field, change));
                tried += 1;
                wrong += u32::from(!is_right_or_refused(bad, &coded, &text));
            }
        }
    }
    assert!(wrong == 0 && tried > 100, "{wrong} of {tried} lies were believed");
}

/// Checks that every read with this index gives the right text or an error.
fn is_right_or_refused(index: Vec<u8>, coded: &[u8], text: &[u8]) -> bool {
    let coded = coded.to_vec();
    let Ok(index) = Index::open(Arc::new(index), &coded) else { return true };
    for line in 1..20 {
        if let Ok(Some(block)) = index.find_line_end(line * 50) {
            let before = block.lines_before.unwrap();
            assert!(before < line * 50, "a block after the line end");
        }
    }
    refused_reads(coded, index, text, &Settings::new()).is_some()
}

/// Reads with an index. Returns the number of reads that were refused, or `None` if one gave a wrong text.
pub fn refused_reads(coded: Vec<u8>, index: Index, text: &[u8], settings: &Settings) -> Option<usize> {
    let blocks: Vec<_> = index.iter().take(1000).flatten().map(|block| block.text_offset).collect();
    let reader = Reader::with_index(coded, index, settings);
    let (mut buf, mut refused) = ([0; 300], 0);
    for offset in (0..text.len() as u64).step_by(text.len() / 80 + 1).chain(blocks) {
        match reader.read_at(&mut buf, offset) {
            Ok(n) => {
                let rest = text.get(offset as usize..).unwrap_or_default();
                let is_end = rest.is_empty() || offset >= reader.text_len();
                (rest.starts_with(&buf[..n]) && (n > 0 || is_end)).then_some(())?;
            }
            Err(_) => refused += 1,
        }
    }
    Some(refused)
}

/// A reader that comes after a panic of the source gets an error or the text, but never waits.
#[test]
fn a_source_that_panics() {
    struct Panics(Vec<u8>, std::sync::atomic::AtomicBool);
    impl ReadAt for Panics {
        fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
            assert!(!self.1.swap(false, std::sync::atomic::Ordering::Relaxed), "as it was told");
            self.0.read_at(buf, offset)
        }
        fn len(&self) -> u64 {
            self.0.len() as u64
        }
    }
    let File { coded, text, .. } = file("blocks of level 1");
    let source = Panics(coded.clone(), true.into());
    let reader = Reader::with_index(source, built(coded), &Settings::new());
    let mut buf = [0; 100];
    let read = std::panic::AssertUnwindSafe(|| reader.read_at(&mut [0; 100], 0));
    assert!(std::panic::catch_unwind(read).is_err());
    assert!(reader.read_at(&mut buf, 0).is_err(), "the waiting reader gets the error");
    assert_eq!(reader.read_at(&mut buf, 0).unwrap(), 100);
    assert_eq!(buf, text[..100]);
}

#[test]
fn an_index_that_does_not_fit_is_found() {
    let (coded, text) = (&file("blocks of level 1").coded, &file("blocks of level 1").text);
    let index = |coded: &[u8]| -> Arc<dyn ReadAt> { Arc::new(bytes(&built(coded))) };
    let fits = |found: Result<Index, Error>| match found {
        Ok(_) => true,
        Err(Error::ForeignIndex { .. }) => false,
        Err(other) => panic!("{other}"),
    };
    assert!(fits(Index::open(index(coded), coded)));
    // A different file; files that have grown by a stream, were cut, or are empty.
    assert!(!fits(Index::open(index(&file("noise").coded), coded)));
    assert!(!fits(Index::open(index(coded), &[&coded[..], coded].concat())));
    assert!(fits(Index::open(index(coded), &[&coded[..], b"garbage"].concat())));
    assert!(!fits(Index::open(index(coded), &coded[..coded.len() - 1].to_vec())));
    assert!(!fits(Index::open(index(coded), &Vec::new())));
    // A block has changed, but neither the length nor the end: detected when that block is read, and only then.
    let mut changed = coded.clone();
    let second = built(coded).iter().nth(1).unwrap().unwrap();
    changed[(second.bit_offset / 8 + 8) as usize] ^= 0x55;
    let reader = Reader::with_index(changed.clone(), Index::open(index(coded), &changed).unwrap(), &Settings::new());
    let mut buf = vec![0; 1000];
    assert_eq!(reader.read_at(&mut buf, 5).unwrap(), 1000);
    assert_eq!(buf, text[5..1005]);
    let error = reader.read_at(&mut buf, second.text_offset).unwrap_err();
    let inner = error.get_ref().and_then(|error| error.downcast_ref::<Error>());
    assert!(matches!(inner, Some(Error::ForeignIndex { bit_offset }) if *bit_offset == second.bit_offset), "{error}");
    // A read that ends before the changed block gives the text.
    assert_eq!(reader.read_at(&mut buf, second.text_offset - 10).unwrap(), 10);
}

/// Any bit of the index file may be wrong: the result is an error or the right text.
#[test]
fn a_damaged_index_is_found() {
    let File { coded, text, .. } = file("blocks of level 1");
    // A short index is read at once, so all damage shows.
    let lines = Index::open(Arc::new(offsets(&built(coded))), coded).unwrap();
    for good in [bytes(&built(coded)), bytes(&lines)] {
        let refused = |bad: Vec<u8>| Index::open(Arc::new(bad), coded).is_err();
        for bit in 0..good.len() * 8 {
            let mut bad = good.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(refused(bad), "bit {bit}");
        }
        for at in (0..good.len()).step_by(7) {
            assert!(refused(good[..at].to_vec()) && refused([&good[..at], &[0], &good[at..]].concat()), "{at}");
        }
        // Two records are swapped.
        let len = usize::from(good[10]);
        let mut bad = good.clone();
        bad[64..64 + 2 * len].rotate_left(len);
        assert!(refused(bad));
    }
    // A long index shows the error where it is used.
    let coded = [&super::files::stream(1, text[..500].to_vec()).0[..]; 3000].concat();
    let good = bytes(&built(&coded));
    let at = good.len() / 2;
    let mut bad = good;
    bad[at] ^= 1;
    let index = Index::open(Arc::new(bad), &coded).unwrap();
    let reader = Reader::with_index(coded, index, &Settings::new());
    let mut wrong = 0;
    for offset in (0..reader.text_len()).step_by(250) {
        let mut buf = [0; 100];
        match reader.read_at(&mut buf, offset) {
            Ok(n) => assert!(text[offset as usize % 500..].starts_with(&buf[..n.min(100)])),
            Err(_) => wrong += 1,
        }
    }
    assert!((1..=6).contains(&wrong), "{wrong} reads failed");
}

/// The offsets of blocks and streams are reported in the same way for `.hbz`, and for files of both formats.
#[test]
fn places_of_all_streams() {
    let large = Settings::new().encoding(LargeBlocks::try_new(20_000).unwrap());
    let (one, two) = (words(150_000), words(50_000));
    let (bz2, hbz) =
        (hybz::compress(&one, &Settings::new().level(level(1))).unwrap(), hybz::compress(&two, &large).unwrap());
    let seen = |parts: &[&[u8]]| {
        let task = Task::Decompress { formats: Formats::All, trailing_garbage: false };
        let seen = through::files(&pool(2), vec![(task, Verify::Off, stream(&parts.concat()))], false);
        assert!(seen.out[0].1.is_ok());
        let blocks: Vec<_> = seen.blocks.iter().map(|block| (block.stream, block.bit_offset)).collect();
        let streams = seen.streams.iter().map(|stream| (stream.number, stream.bit_offset, stream.end));
        (blocks, streams.collect::<Vec<_>>())
    };
    let (alone, large) = (seen(&[&bz2]), seen(&[&hbz]));
    assert_eq!((alone.0.len(), large.0.len()), (2, 3));
    assert_eq!(large.0[0], (1, 32 * 8));
    assert_eq!((alone.1[0].2, large.1[0].2), (bz2.len() as u64, hbz.len() as u64));
    for parts in [[&bz2, &hbz, &bz2], [&hbz, &bz2, &hbz]] {
        let all = seen(&[parts[0], parts[1], parts[2]]);
        let (mut blocks, mut streams, mut at) = (Vec::new(), Vec::new(), 0);
        for (stream, part) in (1..).zip(parts) {
            let part_seen = if part == &bz2 { &alone } else { &large };
            blocks.extend(part_seen.0.iter().map(|(_, bit)| (stream, bit + at * 8)));
            streams.extend(part_seen.1.iter().map(|(_, bit, end)| (stream, bit + at * 8, end + at)));
            at += part.len() as u64;
        }
        assert_eq!((all.0, all.1), (blocks, streams));
    }
}

/// The worked example of docs/INDEX.md, byte for byte, and its lines of offsets.
#[test]
fn the_example_in_the_specification() {
    let spec = include_str!("../../../docs/INDEX.md");
    let (coded, index) = recorded(&pool(1), Task::Compress(level(9).into()), b"to be or not to be\n", true);
    let index = index.unwrap();
    assert_eq!((coded.len(), bytes(&index)), (53, example(spec)));
    let (_, lines) = spec.split_once("```text\n32,0\n").expect("lines of offsets");
    assert_eq!(offsets(&index), format!("32,0\n{}", lines.split_once("```").expect("an end").0).as_bytes());
}
