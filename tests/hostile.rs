//! Thousands of hostile `.hbz` files: each gives the right text or an error, in little memory.
//!
//! `HYBZ_HOSTILE=5000 cargo test --release --test hostile` makes that many files of each kind; the default is a few
//! hundred. There is one test in this file, because it measures the peak memory of the whole process. `fuzz/run.sh
//! hostile` runs it with the address sanitizer, which uses memory itself, so there the peak is only printed.

mod crafted_hbz;
mod ours;

use crafted_hbz::{Block, Meaning, Payload, file, stream};
use hybz::internals::crc::{Crc, checksum};
use hybz::internals::formats::hbz::StreamHeader;
use hybz::{Error, Pool, Settings};
use hybz_testkit::memory::{forget_peak, peak};
use hybz_testkit::shapes::Rng;
use hybz_testkit::{program, shapes, skip};
use std::io::{self, Write};
use std::num::NonZeroUsize;

/// The number of files of each kind, unless `HYBZ_HOSTILE` gives another.
const FILES: usize = 300;
/// The maximum memory that the process may take, in MB.
const LIMIT: u64 = 64;

/// The text of a block: its length and its CRC.
type Known = (u32, u32);

fn known(block: &Block) -> Known {
    (block.header.text_len, block.header.crc)
}

const OTHER: &[u8] = b"the other format";

/// Checks that the output is the text of these blocks, and nothing else.
struct Expected {
    blocks: std::vec::IntoIter<Known>,
    /// How much of the first block's text has come out, and its CRC so far.
    at: u32,
    crc: Crc,
}

impl Expected {
    fn new(blocks: Vec<Known>) -> Expected {
        Expected { blocks: blocks.into_iter(), at: 0, crc: Crc::new() }
    }

    fn is_complete(&self) -> bool {
        self.blocks.len() == 0
    }

    /// Whether the output ends between two blocks, as it must: no byte comes out before its CRC is compared.
    fn is_between(&self) -> bool {
        self.at == 0
    }
}

impl Write for Expected {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let &(len, crc) = self.blocks.as_slice().first().expect("more text than there is");
        let n = buf.len().min((len - self.at) as usize);
        self.crc.update(&buf[..n]);
        self.at += n as u32;
        if self.at == len {
            assert_eq!(std::mem::replace(&mut self.crc, Crc::new()).finish(), crc, "a wrong text");
            self.at = 0;
            self.blocks.next();
        }
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What files of the first kind are made from.
struct Seeds {
    stream: StreamHeader,
    /// Blocks, and their texts.
    blocks: Vec<(Block, Vec<u8>)>,
}

impl Seeds {
    fn new(stream: StreamHeader) -> Seeds {
        let mut rng = Rng(1);
        let mut blocks = Vec::new();
        // Bytes that give no phrases, and a text with phrases.
        for (letters, len) in [(1, 300), (2, 5000), (7, 70_000), (200, 20_000), (1, 200_000)] {
            let text: Vec<u8> = (0..len).map(|_| 0x80 + rng.below(letters) as u8 / 2).collect();
            blocks.push((Block::of(&text, &stream), text));
        }
        let words = shapes::words(60_000);
        blocks.push((Block::of(&words, &stream), words));
        Seeds { stream, blocks }
    }

    fn good(&self, rng: &mut Rng) -> Block {
        self.blocks[rng.below(self.blocks.len())].0.clone()
    }

    /// A good block with a different dictionary, perhaps a bomb.
    fn with_phrases(&self, rng: &mut Rng) -> Block {
        let (mut block, text) = self.blocks[rng.below(self.blocks.len() - 1)].clone();
        let mut payload = Payload::parse(&block.payload, &block.header, &self.stream);
        let most = if rng.below(4) == 0 { 255 } else { 12 };
        let mut phrases: Vec<Vec<u8>> = vec![Vec::new(); 256];
        for (_, meaning) in &mut payload.codes {
            let Meaning::Byte(byte) = *meaning else { return block };
            let len = 2 + rng.below(most - 1);
            let string: Vec<u8> = (0..len).map(|_| rng.below(256) as u8).collect();
            *meaning = Meaning::Phrase(string.clone());
            phrases[usize::from(byte)] = string;
        }
        let phrases = text.iter().map(|&code| &phrases[usize::from(code)][..]);
        block.header.text_len = phrases.clone().map(<[u8]>::len).sum::<usize>() as u32;
        let mut crc = Crc::new();
        phrases.for_each(|phrase| crc.update(phrase));
        block.header.crc = crc.finish();
        block.payload = payload.write(block.header.rows);
        block
    }

    /// A block with something wrong in it.
    fn hostile(&self, rng: &mut Rng) -> (Block, Known) {
        let mut block = if rng.below(2) == 0 { self.with_phrases(rng) } else { self.good(rng) };
        let known = known(&block);
        let kind = rng.below(3);
        if kind != 0 {
            let mut payload = Payload::parse(&block.payload, &block.header, &self.stream);
            (0..1 + rng.below(2)).for_each(|_| spoil_payload(&mut payload, rng));
            block.payload = payload.write(block.header.rows);
        }
        if kind != 1 {
            spoil_header(&mut block, rng);
        }
        (block, known)
    }

    /// A file of good blocks and hostile ones, and what may come out of it.
    fn file(&self, rng: &mut Rng) -> (Vec<u8>, Vec<Known>) {
        let count = 1 + rng.below(4);
        let made = (0..count).map(|_| {
            let block = match rng.below(4) {
                0 => self.good(rng),
                1 => self.with_phrases(rng),
                _ => return self.hostile(rng),
            };
            let known = known(&block);
            (block, known)
        });
        let (blocks, mut texts): (Vec<Block>, Vec<Known>) = made.unzip();
        let mut stream = self.stream;
        match rng.below(12) {
            0 => stream.entry_log = 12 + rng.below(13) as u8,
            1 => stream.interval = 1 + rng.below(2000) as u32,
            2 => stream.block_size = 1 << (10 + rng.below(21)),
            _ => {}
        }
        let mut out = file(&stream, &blocks);
        // Perhaps adds a second stream, a `.bz2` after or before the stream, or garbage.
        let other = (OTHER.len() as u32, checksum(OTHER));
        match rng.below(8) {
            0 => {
                out.extend(file(&self.stream, [&self.blocks[0].0]));
                texts.push(known(&self.blocks[0].0));
            }
            1 => {
                out.extend(hybz::compress(OTHER, &Settings::new()).unwrap());
                texts.push(other);
            }
            2 => {
                out = [hybz::compress(OTHER, &Settings::new()).unwrap(), out].concat();
                texts.insert(0, other);
            }
            3 => out.extend((0..rng.below(40)).map(|_| rng.below(256) as u8)),
            _ => {}
        }
        (out, texts)
    }
}

/// Changes a field of a payload.
fn spoil_payload(payload: &mut Payload, rng: &mut Rng) {
    let pick = |rng: &mut Rng, len: usize| rng.below(len.max(1));
    match rng.below(9) {
        0 => {
            let at = pick(rng, payload.codes.len());
            payload.codes[at].0 ^= true;
        }
        1 => {
            let at = pick(rng, payload.codes.len());
            payload.codes[at].1 = match rng.below(3) {
                0 => Meaning::Byte(rng.below(256) as u8),
                1 => Meaning::Phrase(Vec::new()),
                _ => Meaning::Phrase(vec![7; 1 + rng.below(255)]),
            };
        }
        2 if payload.codes.len() < 256 => payload.codes.push((true, Meaning::Phrase(vec![9; 255]))),
        3 => drop(payload.codes.split_off(1 + rng.below(payload.codes.len()))),
        4 => {
            let at = pick(rng, payload.entries.len());
            payload.entries[at] = rng.below(1 << 20) as u32;
        }
        5 => {
            // Changes two shares and keeps their sum, or changes a single share.
            let at = pick(rng, payload.tokens.len());
            let table = &mut payload.tokens[at];
            let (from, to) = (rng.below(table.len()), rng.below(table.len()));
            let some = rng.below(table[from] as usize + 1) as u32;
            table[from] -= some;
            table[to] += if rng.below(4) == 0 { 0 } else { some };
        }
        6 => {
            let at = pick(rng, payload.directory.len());
            let (len, tokens) = &mut payload.directory[at];
            match rng.below(3) {
                0 => *len = rng.below(1 << 24) as u32,
                1 => *tokens = rng.below(1 << 17) as u32,
                _ => *tokens = tokens.wrapping_add(1),
            }
        }
        7 => {
            for _ in 0..1 + rng.below(20) {
                let at = pick(rng, payload.segments.len());
                if let Some(byte) = payload.segments.get_mut(at) {
                    *byte ^= 1 << rng.below(8);
                }
            }
        }
        _ => payload.segments.truncate(rng.below(payload.segments.len() + 1)),
    }
}

/// Changes a field of a block's header.
fn spoil_header(block: &mut Block, rng: &mut Rng) {
    let odd = |rng: &mut Rng, value: u32| match rng.below(5) {
        0 => value.wrapping_add(1),
        1 => value.wrapping_sub(1),
        2 => 1 << rng.below(31),
        3 => value / 2,
        _ => value.saturating_mul(200),
    };
    match rng.below(4) {
        0 => block.header.rows = odd(rng, block.header.rows),
        1 => block.header.text_len = odd(rng, block.header.text_len),
        2 => block.header.crc ^= 1 << rng.below(32),
        _ => (block.header.rows, block.header.text_len) = (1 << 20 << rng.below(10), 1 << 30),
    }
}

/// Decodes a file in one of three ways and says how it ended. No wrong byte may come out.
fn decode(file: &[u8], expected: &mut impl Write, pool: &Pool, way: usize) -> Result<(), Error> {
    let settings = Settings::new().pool(pool);
    let done = match way {
        0 => {
            let mut decoder = hybz::read::MultiBzDecoder::with_settings(file, &settings);
            io::copy(&mut decoder, expected).map(drop)
        }
        1 => {
            let mut decoder = hybz::write::MultiBzDecoder::with_settings(expected, &settings);
            file.chunks(1000).try_for_each(|piece| decoder.write_all(piece)).and_then(|()| decoder.try_finish())
        }
        _ => {
            let mut decoder = hybz::read::MultiBzDecoder::with_settings(ours::Sips(file, 33), &settings);
            io::copy(&mut decoder, expected).map(drop)
        }
    };
    done.map_err(|error| {
        let error = error.into_inner().expect("our error").downcast::<Error>().expect("our error");
        match *error {
            Error::Read(_) | Error::Write(_) | Error::Internal { .. } => panic!("{error}"),
            error => error,
        }
    })
}

/// Checks that the list of a file's blocks, the blocks themselves and the stream's decoder agree.
fn list(file: &[u8], good: bool, known: &[Known]) {
    let mut file = io::Cursor::new(file);
    let Ok(list) = hybz::hbz::List::read(&mut file) else { return };
    if list.text_len() > 1 << 20 || list.blocks().iter().any(|block| block.text_len > 1 << 20) {
        return;
    }
    if good && list.end() == file.get_ref().len() as u64 {
        let mut expected = Expected::new(known.to_vec());
        expected.write_all(&list.read_range(&mut file, 0..u64::MAX).expect("good blocks")).expect("the text");
        assert!(expected.is_complete() && list.is_complete());
    } else if list.blocks().len() < 20 {
        list.verify(&mut file).expect("nothing but damage");
    }
}

#[test]
fn hostile_files() {
    let files = std::env::var("HYBZ_HOSTILE").map_or(FILES, |files| files.parse().expect("a number"));
    let pool = Pool::builder().threads(NonZeroUsize::new(2).expect("two")).memory(20 << 20).build();
    let seeds = Seeds::new(stream(1 << 30));
    if peak().is_none() {
        skip::skip_part(skip::Need::System, "no /proc states the peak memory");
    }
    forget_peak();
    let mut rng = Rng(11);
    let (mut good, mut refused, mut damaged) = (0, 0, 0);
    for number in 0..files {
        let (file, known) = seeds.file(&mut rng);
        let mut expected = Expected::new(known.clone());
        let verdict = decode(&file, &mut expected, &pool, number % 3);
        assert!(expected.is_between(), "{number}: a part of a block, {verdict:?}");
        match verdict {
            Ok(()) => {
                assert!(expected.is_complete(), "{number}: text is missing");
                good += 1;
            }
            Err(Error::Memory { .. }) => refused += 1,
            Err(_) => damaged += 1,
        }
        list(&file, expected.is_complete(), &known);
    }
    eprintln!("crafted: {good} good, {damaged} damaged, {refused} too large; {:?} MB", peak());
    assert!(good > 0 && damaged > 0 && refused > 0);
    spliced(&seeds, files, &pool);
    eprintln!("with spliced ones: {:?} MB", peak());
    let sanitized = std::env::var_os("ASAN_OPTIONS").is_some();
    assert!(sanitized || peak().is_none_or(|peak| peak < LIMIT), "{:?} MB of memory", peak());
}

/// From files that are cut, or put together from pieces of others, only whole blocks come out.
fn spliced(seeds: &Seeds, files: usize, pool: &Pool) {
    let mut rng = Rng(13);
    let texts: Vec<Vec<u8>> = (0..12u8)
        .map(|tag| {
            let words = shapes::words(2000 + 700 * usize::from(tag));
            [&[tag][..], &words[usize::from(tag)..]].concat()
        })
        .collect();
    let blocks: Vec<Block> = texts.iter().map(|text| Block::of(text, &seeds.stream)).collect();
    let bzip2 = |text: &[u8]| hybz::compress(text, &Settings::new()).unwrap();
    let (mut good, mut bad) = (0, 0);
    for number in 0..files {
        let mut file: Vec<u8> = Vec::new();
        for _ in 0..1 + rng.below(3) {
            file.extend(match rng.below(3) {
                0 => bzip2(&texts[rng.below(12)]),
                _ => {
                    let from = rng.below(12);
                    crafted_hbz::file(&seeds.stream, &blocks[from..(from + rng.below(4)).min(12)])
                }
            });
        }
        let whole = file.clone();
        for _ in 0..rng.below(3) {
            let (from, to) = (rng.below(file.len() + 1), rng.below(whole.len() + 1));
            match rng.below(3) {
                0 => file.truncate(from),
                1 => {
                    file.truncate(from);
                    file.extend_from_slice(&whole[to..]);
                }
                _ => drop(file.drain(from..(from + rng.below(3000)).min(file.len()))),
            }
        }
        let mut out = Vec::new();
        match decode(&file, &mut out, pool, number % 3) {
            Ok(()) => good += 1,
            Err(_) => bad += 1,
        }
        let mut rest = &out[..];
        while let Some(&tag) = rest.first() {
            rest = rest.strip_prefix(&texts[usize::from(tag)][..]).expect("a whole text");
        }
        if let Ok(list) = hybz::hbz::List::read(&mut io::Cursor::new(&file)) {
            list.verify(&mut io::Cursor::new(&file)).expect("nothing but damage");
        }
    }
    eprintln!("spliced: {good} good, {bad} refused");
    assert!(good > 0 && bad > 0);
}
