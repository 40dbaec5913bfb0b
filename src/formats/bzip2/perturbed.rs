//! Perturbed text in an ordinary `.bz2` stream (A. Deshpande, section 5.2.2 and Algorithm 4).
//!
//! Every program decodes such a file, to the text with the inserted bytes; hybz takes them out. It recognises the
//! stream by 42 empty streams of 14 bytes each before it, whose level digits spell the **mark**: 18 digits that are
//! always the same, and 24 that hold the interval with a check. docs/FORMAT.md has the layout. Random digits match the
//! first part with a probability of 9^-18 = 2^-57, the second with 2^32 / 9^24 = 2^-44; empty streams that all have
//! the same level match neither, and no program writes others.
//!
//! Nothing in a `.bz2` protects the digit of an empty stream. Therefore each part alone identifies a mark: if the
//! other part is wrong, the mark is damaged, which is an error. One wrong digit never makes hybz return the inserted
//! bytes without an error.
//!
//! The obvious alternative, a field in the stream, has no place: a bzip2 stream has no byte that readers skip.

use crate::bits::BitWriter;
use crate::block::Text;
use crate::codec::perturb::{Inserter, next_random, remove};
use crate::error::Error;
use crate::flaw::Flaw;
use crate::formats::bzip2::header::{self, Level};
use crate::read_at::{ReadAt, fill_at};
use crate::stream::cursor::TextCursor;
use crate::stream::piece::{Cut, Input, Step};
use crate::stream::text::count_lines;
use crate::summary::{BlockInfo, Mark};
use std::num::NonZeroU32;

/// The digits that all marks begin with.
const NAME: [u8; 18] = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3];
/// The number of digits that hold the interval and its check.
const FIELD: usize = 24;
/// The number of streams of a mark.
const STREAMS: usize = NAME.len() + FIELD;
/// The number of bytes of an empty stream.
const EMPTY: usize = 14;
/// The size of a read.
const ROOM: usize = 64 << 10;

/// The number that the last digits spell in base 9 (digit 1 means 0; the first digit is the most significant): 2^32
/// times the check, plus the interval.
fn field(interval: NonZeroU32) -> u128 {
    let checks = 9u128.pow(FIELD as u32) >> 32;
    let check = u128::from(next_random(&mut interval.get().into())) % checks;
    check << 32 | u128::from(interval.get())
}

/// The digits of a mark.
fn digits(interval: NonZeroU32) -> [u8; STREAMS] {
    let mut digits = [1; STREAMS];
    let (name, places) = digits.split_at_mut(NAME.len());
    name.copy_from_slice(&NAME);
    let mut number = field(interval);
    for digit in places.iter_mut().rev() {
        *digit += (number % 9) as u8;
        number /= 9;
    }
    digits
}

/// Writes the empty streams of a mark.
pub(super) fn write_mark(bits: &mut BitWriter, interval: NonZeroU32) -> (u64, u64) {
    for level in digits(interval).into_iter().filter_map(Level::try_new) {
        header::write_stream_header(bits, level);
        header::write_stream_end(bits, 0);
    }
    (STREAMS as u64, (STREAMS * EMPTY * 8) as u64)
}

/// The meaning of the last empty streams for the stream that follows them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Said {
    #[default]
    Nothing,
    Perturbed(NonZeroU32),
    /// Half of a mark.
    Damaged,
}

/// The meaning of these level digits.
fn read(digits: &[u8]) -> Said {
    let Some((name, places)) = digits.split_at_checked(NAME.len()) else { return Said::Nothing };
    let number = places.iter().fold(0, |number, digit| number * 9 + u128::from(digit - 1));
    let interval = NonZeroU32::new(number as u32).filter(|&interval| field(interval) == number);
    match (name == NAME, interval) {
        (true, Some(interval)) => Said::Perturbed(interval),
        (false, None) => Said::Nothing,
        _ => Said::Damaged,
    }
}

/// Finds marks among the streams of a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct MarkFinder {
    /// The levels of the last empty streams, at most as many as a mark has.
    digits: Vec<u8>,
    /// Whether the open stream has a block.
    has_block: bool,
    said: Said,
}

impl MarkFinder {
    /// Records that the open stream has a block.
    pub fn block(&mut self) {
        self.has_block = true;
    }

    /// Records that the open stream ends.
    pub fn stream(&mut self, level: Option<Level>) {
        let said = std::mem::take(&mut self.said);
        match level.filter(|_| !self.has_block && said == Said::Nothing) {
            Some(level) => {
                if self.digits.len() == STREAMS {
                    self.digits.remove(0);
                }
                self.digits.push(level.get());
                if self.digits.len() == STREAMS {
                    self.said = read(&self.digits);
                }
            }
            None => self.digits.clear(),
        }
        self.has_block = false;
    }

    /// Whether the open stream is perturbed, or could be.
    pub fn is_marked(&self) -> bool {
        self.said != Said::Nothing
    }

    /// What the text of the open stream needs, if anything.
    ///
    /// # Errors
    /// The mark before the stream is damaged.
    pub fn restorer(&self) -> Result<Option<Restorer>, Flaw> {
        match self.said {
            Said::Nothing => Ok(None),
            Said::Perturbed(interval) => Ok(Some(Restorer { interval, at: 0, rest: None })),
            Said::Damaged => Err(Flaw::PerturbationMark),
        }
    }
}

/// Refuses a file that begins with a mark, for code that reads blocks without what precedes them.
///
/// # Errors
/// [`Error::Perturbed`], [`Error::Read`].
pub(crate) fn refuse(file: &dyn ReadAt) -> Result<(), Error> {
    let mut head = [0; STREAMS * EMPTY];
    let len = fill_at(file, &mut head, 0).map_err(Error::Read)?;
    let mut finder = MarkFinder::default();
    for stream in head[..len].chunks_exact(EMPTY) {
        match header::parse_stream_header(stream) {
            header::Header::Stream(level) if stream[4..] == *b"\x17\x72\x45\x38\x50\x90\0\0\0\0" => {
                finder.stream(Some(level));
            }
            _ => return Ok(()),
        }
    }
    if finder.is_marked() { Err(Error::Perturbed) } else { Ok(()) }
}

/// Perturbs the text that a cutter gets.
pub(super) struct Perturbing<C> {
    cut: C,
    inserter: Inserter,
    room: Vec<u8>,
    perturbed: Vec<u8>,
}

impl<C> Perturbing<C> {
    pub fn new(cut: C, interval: NonZeroU32, seed: u64) -> Self {
        let inserter = Inserter::new(interval.get(), seed);
        Perturbing { cut, inserter, room: Vec::new(), perturbed: Vec::new() }
    }
}

impl<C: Cut> Input for Perturbing<C> {
    fn room(&mut self) -> &mut [u8] {
        self.room.resize(ROOM, 0);
        &mut self.room
    }

    fn filled(&mut self, n: usize) {
        self.perturbed.clear();
        self.inserter.insert(&self.room[..n], &mut self.perturbed);
        let mut rest = &self.perturbed[..];
        while !rest.is_empty() {
            rest = self.cut.fill(rest);
        }
    }

    fn finish(&mut self) {
        self.cut.finish();
    }

    fn flush(&mut self) {
        self.cut.flush();
    }
}

impl<C: Cut> Cut for Perturbing<C> {
    type Piece = C::Piece;

    fn next_piece(&mut self) -> Option<C::Piece> {
        self.cut.next_piece()
    }
}

/// Takes the inserted bytes out of the text of a perturbed stream.
pub(crate) struct Restorer {
    interval: NonZeroU32,
    /// The number of bytes of perturbed text so far.
    at: u64,
    /// The rest of a block's text, and the block with the counts so far.
    rest: Option<(TextCursor, BlockInfo)>,
}

impl Restorer {
    /// The first part of a block's text, without inserted bytes.
    pub fn first_part(&mut self, text: Text, block: BlockInfo) -> Step {
        let block = BlockInfo { text_len: 0, lines: block.lines.and(Some(0)), ..block };
        self.part(TextCursor::of(text), block)
    }

    /// The next part of a block's text; `None` after the last.
    pub fn next_part(&mut self) -> Option<Step> {
        let (output, block) = self.rest.take()?;
        Some(self.part(output, block))
    }

    fn part(&mut self, mut output: TextCursor, mut block: BlockInfo) -> Step {
        let mut part = output.take();
        let len = part.len() as u64;
        if len == 0 {
            return Step::Out(Text::Plain(part), Some(Mark::Block(block)));
        }
        remove(&mut part, self.interval.get() as usize, self.at);
        self.at += len;
        block.text_len += part.len() as u64;
        let text = Text::Plain(part);
        block.lines = block.lines.map(|lines| lines + count_lines(&text));
        self.rest = Some((output, block));
        Step::Out(text, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Encoding, Settings};
    use hybz_testkit::shapes::Rng;

    fn interval(of: u32) -> NonZeroU32 {
        NonZeroU32::new(of).unwrap()
    }

    /// What is said after empty streams of these levels.
    fn said(levels: &[u8]) -> Said {
        let mut finder = MarkFinder::default();
        levels.iter().for_each(|&level| finder.stream(Level::try_new(level)));
        finder.said
    }

    #[test]
    fn a_mark_is_read_wherever_it_is() {
        let mut rng = Rng(1);
        for of in [1, 2, 9, 1000, 900_000, 1_000_000_000, u32::MAX] {
            let mark = digits(interval(of));
            for before in [0, 1, 41, 42, 100] {
                let levels: Vec<u8> = (0..before).map(|_| 1 + rng.below(9) as u8).chain(mark).collect();
                assert_eq!(said(&levels), Said::Perturbed(interval(of)), "{of} {before}");
                assert_eq!(said(&levels[..levels.len() - 1]), Said::Nothing);
                // The perturbed stream may be empty, too.
                assert_eq!(said(&[&levels[..], &[9]].concat()), Said::Nothing);
            }
        }
    }

    #[test]
    fn a_wrong_digit_is_found() {
        let mark = digits(interval(1000));
        for at in 0..STREAMS {
            for digit in (1..=9).filter(|&digit| digit != mark[at]) {
                let mut wrong = mark;
                wrong[at] = digit;
                assert_eq!(said(&wrong), Said::Damaged, "{at} {digit}");
            }
        }
    }

    /// Concatenations of empty streams: of one level, of several, of parts of a mark.
    #[test]
    fn nothing_else_is_a_mark() {
        let mut rng = Rng(2);
        for level in 1..=9 {
            assert_eq!(said(&[level; 100]), Said::Nothing, "{level}");
        }
        for _ in 0..100_000 {
            let (most, len) = (2 + rng.below(8), 42 + rng.below(20));
            let levels: Vec<u8> = (0..len).map(|_| 1 + rng.below(most) as u8).collect();
            assert_eq!(said(&levels), Said::Nothing);
        }
        // The beginning of a mark, and other streams.
        assert_eq!(said(&[&digits(interval(1000))[..9], &[7; 33]].concat()), Said::Nothing);
    }

    /// The layout in docs/FORMAT.md, computed independently of this code.
    #[test]
    fn the_digits_of_a_mark() {
        let digits: String = digits(interval(1000)).iter().map(u8::to_string).collect();
        assert_eq!(digits, "314159265358979323197219291766367654297289");
    }

    /// Concatenations, texts that are mostly runs, and text that comes in parts.
    #[test]
    fn streams_before_and_after() {
        let long = [vec![b'r'; 7_000_000], b"the end".to_vec()].concat();
        for k in [3, 1000, 6_000_001] {
            let encoding = Encoding::Perturbed { level: Level::FASTEST, interval: interval(k), seed: 5 };
            let settings = Settings::new().encoding(encoding);
            let perturbed = crate::compress(&long, &settings).unwrap();
            let mut writer = crate::write::BzEncoder::with_settings(Vec::new(), &settings);
            long.chunks(99_991).for_each(|part| std::io::Write::write_all(&mut writer, part).unwrap());
            assert!(writer.finish().unwrap() == perturbed, "{k}");
            let plain = crate::compress(&long[6_999_000..], &Settings::new()).unwrap();
            let empty = crate::compress(b"", &settings).unwrap();
            let file = [&plain[..], &empty, &perturbed, &perturbed, &plain].concat();
            let expected = [&long[6_999_000..], &long, &long, &long[6_999_000..]].concat();
            assert!(crate::decompress(&file, &Settings::new()).unwrap() == expected, "{k}");
            let index = crate::index::Index::build(&file[..], &Settings::new());
            assert!(matches!(index, Err(Error::Perturbed)));
            let lines = std::sync::Arc::new(b"4736,0\n9000,5\n".to_vec());
            assert!(matches!(crate::index::Index::open(lines, &perturbed), Err(Error::Perturbed)));
        }
    }
}
