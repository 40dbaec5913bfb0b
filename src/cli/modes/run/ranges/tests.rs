//! Random parts of random texts, read in every way, and compared with slices of the text.

use super::{Coded, Cursor, Parts};
use crate::cli::args::{Amount, Range};
use hybz::index::Index;
use hybz::seek::Reader;
use hybz::{LargeBlocks, Pool, Settings};
use hybz_testkit::rounds;
use std::io::Read;
use std::num::NonZeroUsize;
use std::sync::Arc;

struct Rng(u64);

impl Rng {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

struct Text {
    plain: Vec<u8>,
    bz2: Coded,
    hbz: Coded,
    /// The indexes of the `.bz2`: a `.bzi` with line ends, a `.bzi` without them, and lines of offsets.
    indexes: [Arc<Vec<u8>>; 3],
}

impl Text {
    /// The `.bz2` has a stream for each piece.
    fn new(pieces: &[&[u8]], settings: &Settings) -> Text {
        let plain = pieces.concat();
        let streams: Vec<u8> = pieces.iter().flat_map(|piece| hybz::compress(piece, settings).unwrap()).collect();
        let large = settings.clone().encoding(LargeBlocks::try_new(1024).unwrap());
        let hbz = hybz::compress(&plain, &large).unwrap();
        let index = Index::build(&streams[..], settings).unwrap();
        let (mut counted, mut offsets, mut uncounted) = (Vec::new(), Vec::new(), Vec::new());
        index.write(&mut counted).unwrap();
        index.write_offsets(&mut offsets).unwrap();
        Index::open(Arc::new(offsets.clone()), &streams).unwrap().write(&mut uncounted).unwrap();
        let indexes = [counted, uncounted, offsets].map(Arc::new);
        Text { plain, bz2: Arc::new(streams), hbz: Arc::new(hbz), indexes }
    }

    fn cursor(&self, way: usize, settings: &Settings, rng: &mut Rng) -> Cursor {
        let open = |coded: &Coded| Reader::open(coded.clone(), settings).unwrap();
        let reader = match way {
            0 => return Cursor::forward(self.bz2.clone(), settings.clone()),
            1 => return Cursor::forward(self.hbz.clone(), settings.clone()),
            2..=4 => {
                let index = Index::open(self.indexes[way - 2].clone(), &*self.bz2).unwrap();
                Reader::with_index(self.bz2.clone(), index, settings)
            }
            5 => open(&self.bz2),
            _ => open(&self.hbz),
        };
        Cursor::indexed(reader.cache(rng.one_of(&[0, 3000, 1 << 20])))
    }
}

/// Lines shorter than `longest`, with and without CR, cut into streams anywhere.
fn text(rng: &mut Rng, len: u64, longest: u64, settings: &Settings) -> Text {
    let mut plain = Vec::new();
    while (plain.len() as u64) < len {
        (0..rng.below(longest)).for_each(|_| plain.push(b'a' + rng.below(26) as u8));
        plain.extend_from_slice(rng.one_of(&["\n", "\n", "\r\n", "\n\n"]).as_bytes());
    }
    plain.truncate(len as usize);
    let mut pieces = Vec::new();
    let mut rest = &plain[..];
    while !rest.is_empty() {
        let piece = rng.one_of(&[0, 1, 100, 3000]) + rng.below(3000);
        let (piece, after) = rest.split_at((piece as usize).min(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    Text::new(&pieces, settings)
}

fn texts(rng: &mut Rng, settings: &Settings) -> Vec<Text> {
    let short: [&[&[u8]]; 5] = [
        &[b"hello world\nsecond line here\nthird one"],
        &[b"abc"],
        &[b""],
        &[b"\n\n\n\n\n"],
        &[b"a\n", b"", b"\nb", b"\n"],
    ];
    let long = [(10_007, 30), (20_011, 4000), (3001, 2), (9013, 80), (200_009, 90)];
    let short: Vec<Text> = short.iter().map(|pieces| Text::new(pieces, settings)).collect();
    short.into_iter().chain(long.map(|(len, longest)| text(rng, len, longest, settings))).collect()
}

/// A position: often in the text, sometimes past its end, and sometimes far past it.
fn number(rng: &mut Rng, all: u64) -> u64 {
    match rng.below(12) {
        0 => 0,
        1 => all + rng.below(3),
        2 => rng.one_of(&[1 << 62, (1 << 62) - 1, 1 << 40, u64::MAX]),
        3..=6 => rng.below(all + 2),
        _ => rng.below(60),
    }
}

fn ranges(rng: &mut Rng, plain: &[u8], lines: bool) -> Vec<Range> {
    let bytes = plain.len() as u64;
    let ends: Vec<u64> = (0..bytes).filter(|at| plain[*at as usize] == b'\n').collect();
    let amount = |rng: &mut Rng| match rng.below(if lines { 5 } else { 9 }) {
        0 if !ends.is_empty() => Amount::Bytes(rng.one_of(&ends) + rng.below(3)),
        0..=4 => Amount::Bytes(number(rng, bytes)),
        _ => Amount::Lines(number(rng, ends.len() as u64)),
    };
    let mut all: Vec<Range> = Vec::new();
    for _ in 0..1 + rng.below(3) * rng.below(8) {
        let size = if rng.below(20) == 0 { Amount::All } else { amount(rng) };
        let offset = match (rng.below(4), all.last().copied()) {
            (0, Some(last)) => last.offset,
            // The end of the last range, if both its numbers count bytes or both count lines.
            (1, Some(Range { size: Amount::Bytes(len), offset: Amount::Bytes(at) })) => {
                Amount::Bytes(at.saturating_add(len))
            }
            (1, Some(Range { size: Amount::Lines(count), offset: Amount::Lines(at) })) => {
                Amount::Lines(at.saturating_add(count))
            }
            _ => amount(rng),
        };
        all.push(Range { size, offset });
    }
    all
}

fn skip_lines(plain: &[u8], from: usize, count: u64) -> usize {
    let lines = plain[from..].split_inclusive(|byte| *byte == b'\n');
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    // A last line without a line end ends where the text ends.
    from + lines.take(count).map(<[u8]>::len).sum::<usize>()
}

/// The text of a range, as the help defines it.
fn slice(plain: &[u8], range: &Range, lines: bool) -> Vec<u8> {
    let at = |byte: u64| usize::try_from(byte).unwrap_or(usize::MAX).min(plain.len());
    let begin = match range.offset {
        Amount::Bytes(byte) => at(byte),
        Amount::Lines(line) => skip_lines(plain, 0, line),
        Amount::All => unreachable!("refused as an offset"),
    };
    let end = match range.size {
        Amount::Bytes(len) => at((begin as u64).saturating_add(len)),
        Amount::Lines(count) => skip_lines(plain, begin, count),
        Amount::All => plain.len(),
    };
    if !lines {
        return plain[begin..end].to_vec();
    }
    let line_from = |from: usize| {
        let begins = |at: &usize| *at == 0 || plain[at - 1] == b'\n';
        (from..plain.len()).find(begins).unwrap_or(plain.len())
    };
    // The lines that begin in the range.
    plain[line_from(begin)..line_from(end).max(line_from(begin))].to_vec()
}

fn read(mut parts: Parts, rng: &mut Rng) -> Vec<u8> {
    let (mut all, mut buf) = (Vec::new(), vec![0; 1 + rng.one_of(&[0, 7, 100, 5000, 300_000])]);
    loop {
        match parts.read(&mut buf).unwrap() {
            0 => return all,
            n => all.extend_from_slice(&buf[..n]),
        }
    }
}

#[test]
fn random_parts_are_slices_of_the_text() {
    let pool = Pool::builder().threads(NonZeroUsize::MIN).build();
    let (settings, mut rng) = (Settings::new().pool(&pool), Rng(24));
    let texts = texts(&mut rng, &settings);
    for case in 0..rounds(300, 1000) {
        let text = &texts[case % texts.len()];
        let lines = rng.below(4) == 0;
        let ranges = ranges(&mut rng, &text.plain, lines);
        let expected: Vec<u8> = ranges.iter().flat_map(|range| slice(&text.plain, range, lines)).collect();
        // Each way gets at least 300 of 1,000 cases.
        for way in [rng.below(2), 2 + rng.below(3), 5 + rng.below(2)] {
            let cursor = text.cursor(way as usize, &settings, &mut rng);
            let found = read(Parts::new(cursor, ranges.clone(), lines, &Arc::default()), &mut rng);
            let (len, right) = (found.len(), expected.len());
            let text = String::from_utf8_lossy(&text.plain[..text.plain.len().min(60)]);
            assert!(found == expected, "{case}, {way}, --lines {lines}: {ranges:?} of {text:?}: {len} for {right}");
        }
    }
}
