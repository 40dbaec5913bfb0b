//! Decoding a large block, in three stages that each can be shared out among stations.
//!
//! 1. [`Block::runs`]: segments of the last column become runs, of list places instead of bytes.
//! 2. [`Block::places`], quick: each segment's first list follows from those before it; from the counts of bytes follows where
//!    each segment's bytes go in the vector. [`Block::fill`]: segments fill the vector.
//! 3. [`Block::walk`]: from each entry point on, its part of the text.
//!
//! [`Decoder`] does all of them on one core, which is the way to decode where there are as many blocks as stations.
//!
//! The walk is what takes longest: each byte waits for a load from a random place of the vector. `LANES` entry points
//! are walked at once, so that as many loads are under way. Since the entry points are known, each lane writes to its
//! place in the text; there is nothing to be searched for, marked or put together as in the decoder of bzip2's blocks.
//!
//! The vector holds a row's next row and, in blocks of up to 2^24 rows, its byte. In larger ones the byte is found from
//! the row: the first column is sorted, so a small table tells near where in it a row lies.
//!
//! The vector's words are atomic because several stations write it at once, each its own; without order (`Relaxed`)
//! that costs nothing, and needs no unsafe code. What a damaged payload makes of all this is nonsense, but rows stay
//! below the number of rows, and the CRC of the text decides.

use super::ans::{self, Decoding, Shares, byte, extra};
use super::choose::{SELECTOR_STATES, STATES};
use super::dictionary::{Dictionary, Expansion, Meaning};
use super::encode::row_bits;
use super::perturb;
use super::token::{self, CLASSES, TOKENS, first_symbol};
use crate::bits::reader::BitReader;
use crate::bits::{BitSource, SliceBits};
use crate::codec::huge_pages;
use crate::codec::mtf::decode::MtfDecoder;
use crate::crc::{self, Crc};
use crate::error::Damage;
use crate::format::hbz::{BlockHeader, StreamHeader, check};
use crate::format::hbz::{GROUP, SEGMENT_LOG};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Chains walked at once.
const LANES: usize = 16;
/// Rows of a segment.
const SEGMENT: usize = 1 << SEGMENT_LOG;
/// Up to so many rows the vector has room for the bytes.
const PACKED_ROWS: u32 = 1 << 24;
/// From this symbol on, `mtf` wants two bytes.
const ESCAPE: u32 = 255;
/// Groups decoded before their symbols go to `mtf`: few enough to stay in the L1 cache.
const GROUPS_AT_ONCE: usize = 48;

/// A payload, read as far as its tables: ready for [`runs`](Block::runs).
#[derive(Debug)]
pub struct Block {
    stream: StreamHeader,
    header: BlockHeader,
    payload: Arc<Vec<u8>>,
    expansion: Expansion,
    /// The rows of the positions that are multiples of the entry interval.
    entries: Vec<u32>,
    /// The first move-to-front list.
    list: [u8; 256],
    /// By selector and class.
    tokens: Decoding<STATES>,
    selectors: Decoding<SELECTOR_STATES>,
    segments: Vec<Segment>,
}

/// Where a segment is in the payload.
#[derive(Clone, Copy, Debug)]
struct Segment {
    at: usize,
    end: usize,
    tokens: usize,
}

/// What [`Block::runs`] makes of a segment.
#[derive(Debug)]
pub struct Runs {
    /// Where each run begins, shifted up by 8, and the place in the segment's first list of its byte; the last one says
    /// where the one before it ends.
    runs: Vec<u32>,
    /// How many rows the bytes at each place of the first list have.
    counts: [u32; 256],
    /// Which place of the first list each place of the list has in the end.
    list: [u8; 256],
}

/// Where the bytes of a segment go.
#[derive(Debug)]
pub struct Places {
    /// The move-to-front list that it begins with.
    list: [u8; 256],
    /// By byte: the first entry of the vector that the segment fills.
    next: [u32; 256],
}

impl Block {
    /// Reads a payload up to its segments, and checks it as far as that goes.
    pub fn parse(stream: StreamHeader, header: BlockHeader, payload: Arc<Vec<u8>>) -> Result<Block, Damage> {
        let computed = crc::checksum(&payload);
        if computed != header.coded_crc {
            return Err(Damage::PartCrc { part: "payload", stored: header.coded_crc, computed });
        }
        let mut bits = SliceBits::new(&payload, 0, u64::MAX);
        let (dictionary, list) = read_dictionary(&mut bits)?;

        let count = (header.rows as usize).div_ceil(1 << stream.entry_log);
        let width = row_bits(header.rows);
        let mut entries = Vec::with_capacity(count);
        for _ in 0..count {
            let row = take(&mut bits, width, "entry points")?;
            check("entry point", row < header.rows)?;
            entries.push(row);
        }
        let tables = take(&mut bits, 4, "number of tables")? as usize + 1;
        let tokens = read_shares(&mut bits, tables * CLASSES, STATES, TOKENS)?;
        let tokens = Decoding::new(&tokens, |token| {
            let (first, extra) = first_symbol(token);
            (first, extra, token::class(token))
        });
        let selectors = read_shares(&mut bits, tables, SELECTOR_STATES, tables)?;
        let selectors = Decoding::new(&selectors, |table| (table, 0, 0));

        let count = (header.rows as usize).div_ceil(SEGMENT);
        let mut lens = Vec::with_capacity(count);
        for _ in 0..count {
            let len = take(&mut bits, 24, "segments")? as usize;
            let tokens = take(&mut bits, SEGMENT_LOG + 1, "segments")? as usize;
            check("number of tokens", (1..=SEGMENT).contains(&tokens))?;
            lens.push((len, tokens));
        }
        let mut at = bits.position().div_ceil(8) as usize;
        let segments: Vec<Segment> = lens
            .into_iter()
            .map(|(len, tokens)| {
                at += len;
                Segment { at: at - len, end: at, tokens }
            })
            .collect();
        check("length of segments", at == payload.len())?;
        let expansion = Expansion::new(dictionary);
        Ok(Block { stream, header, payload, expansion, entries, list, tokens, selectors, segments })
    }

    /// How many segments there are.
    pub fn segments(&self) -> usize {
        self.segments.len()
    }

    /// How many entry points there are.
    pub fn entries(&self) -> usize {
        self.entries.len()
    }

    /// How many rows there are.
    pub fn rows(&self) -> u32 {
        self.header.rows
    }

    /// How many entry points so many rows have.
    pub fn entries_in(&self, rows: usize) -> usize {
        (rows >> self.stream.entry_log).max(1)
    }

    /// How many bytes of the payload some segments have.
    pub fn coded_bytes(&self, segments: Range<usize>) -> u64 {
        self.segments[segments].iter().map(|segment| (segment.end - segment.at) as u64).sum()
    }

    /// The most bytes that the text has before perturbation's are dropped.
    pub fn most_text(&self) -> u64 {
        self.stream.max_rows(self.header.text_len).into()
    }

    /// Stage 1: one segment's runs.
    pub fn runs(&self, number: usize, mtf: &mut MtfDecoder) -> Result<Runs, Damage> {
        let Segment { at, end, tokens } = self.segments[number];
        let data = &self.payload[at..end];
        let rows = SEGMENT.min(self.header.rows as usize - number * SEGMENT);
        mtf.begin(&std::array::from_fn::<u8, 256, _>(|place| place as u8), rows as u32);
        let mut bits = BitReader::new(data, 0);
        let mut states = [bits.read(STATES.ilog2()) as usize, bits.read(STATES.ilog2()) as usize];
        let mut selector_state = bits.read(SELECTOR_STATES.ilog2()) as usize;
        let (mut table, mut class) = (0, 0);
        let mut left = tokens;
        let mut symbols = [0u8; GROUPS_AT_ONCE * GROUP * 2];
        while left > 0 {
            let mut len = 0;
            for _ in 0..GROUPS_AT_ONCE.min(left.div_ceil(GROUP)) {
                bits.refill();
                table = byte(self.selectors.next(table, &mut selector_state, &mut bits)).into();
                let first = table * CLASSES;
                let group = left.min(GROUP);
                left -= group;
                let [mut one, mut two] = states;
                let mut done = 0;
                while done < group {
                    bits.refill();
                    let entry = self.tokens.next(first + class, &mut one, &mut bits);
                    class = ans::class(entry);
                    len += symbol(entry, &mut bits, &mut symbols[len..]);
                    if done + 1 < group {
                        let entry = self.tokens.next(first + class, &mut two, &mut bits);
                        class = ans::class(entry);
                        len += symbol(entry, &mut bits, &mut symbols[len..]);
                    }
                    done += 2;
                }
                states = [one, two];
            }
            if bits.position() > data.len() as u64 * 8 {
                return Err(Damage::Code);
            }
            mtf.push(&symbols[..len]).map_err(|_| Damage::BlockTooLong)?;
        }
        let (runs, len) = mtf.finish();
        check("rows of a segment", len == rows)?;
        check("end of a segment", states == [0, 0] && selector_state == 0)?;
        let mut counts = [0; 256];
        for pair in runs.windows(2) {
            counts[usize::from(pair[0] as u8)] += (pair[1] >> 8) - (pair[0] >> 8);
        }
        Ok(Runs { runs: runs.to_vec(), counts, list: *mtf.list() })
    }

    /// Between the stages 1 and 2: what each segment begins with. Also where each byte's rows begin.
    pub fn places(&self, segments: &[Runs]) -> (Vec<Places>, FirstColumn) {
        let mut list = self.list;
        let mut counts = [0u32; 256];
        let mut places = Vec::with_capacity(segments.len());
        for segment in segments {
            places.push(Places { list, next: counts });
            for (&byte, rows) in list.iter().zip(segment.counts) {
                counts[usize::from(byte)] += rows;
            }
            list = segment.list.map(|place| list[usize::from(place)]);
        }
        let mut starts = [0u32; 257];
        for byte in 0..256 {
            starts[byte + 1] = starts[byte] + counts[byte];
        }
        for places in &mut places {
            places.next.iter_mut().zip(&starts).for_each(|(next, start)| *next += start);
        }
        (places, FirstColumn::new(starts))
    }

    /// Stage 2: one segment's part of the vector, which must have as many words as the block has rows.
    pub fn fill(&self, number: usize, runs: &Runs, places: &Places, vector: &[AtomicU32]) {
        if self.header.rows <= PACKED_ROWS {
            self.fill_as::<8>(number, runs, places, vector);
        } else {
            self.fill_as::<0>(number, runs, places, vector);
        }
    }

    /// Fills with words whose low `BYTE` bits (8 or 0) are the byte.
    fn fill_as<const BYTE: u32>(&self, number: usize, runs: &Runs, places: &Places, vector: &[AtomicU32]) {
        let mut next = places.next;
        let base = (number * SEGMENT) as u32;
        let origin = self.entries[0];
        for pair in runs.runs.windows(2) {
            let (first, end) = (base + (pair[0] >> 8), base + (pair[1] >> 8));
            let byte = places.list[usize::from(pair[0] as u8)];
            let at = &mut next[usize::from(byte)];
            let piece = &vector[*at as usize..(*at + (end - first)) as usize];
            *at += end - first;
            // The column has no sentinel in it. It would stand behind row `origin`, and rows up to there are counted
            // with the sentinel's, which is the first: so they are one less.
            for (row, word) in (first..end).zip(piece) {
                let row = row.saturating_sub(u32::from(row <= origin));
                word.store(row << BYTE | if BYTE > 0 { byte.into() } else { 0 }, Relaxed);
            }
        }
    }

    /// Stage 3: the text from some entry points on.
    pub fn walk(
        &self,
        entries: Range<usize>,
        vector: &[AtomicU32],
        first_column: &FirstColumn,
    ) -> Result<Vec<u8>, Damage> {
        let interval = 1usize << self.stream.entry_log;
        let rows = self.header.rows as usize;
        let from = entries.start * interval;
        let len = (entries.end * interval).min(rows) - from;
        let mut text = vec![0; len.next_multiple_of(interval)];
        let vector = &vector[..rows];
        let mut chains = text.chunks_mut(interval);
        for starts in self.entries[entries].chunks(LANES) {
            if self.header.rows <= PACKED_ROWS {
                walk_lanes(starts, &mut chains, |row| {
                    let word = vector[row as usize].load(Relaxed);
                    (word >> 8, word as u8)
                });
            } else {
                walk_lanes(starts, &mut chains, |row| (vector[row as usize].load(Relaxed), first_column.byte(row)));
            }
        }
        text.truncate(len);
        let most = self.stream.max_rows(self.header.text_len) as usize;
        self.expansion.expand(&text, interval, most).ok_or(Damage::BlockTooLong)
    }

    /// The next part of the text as [`walk`](Block::walk) gave it: drops what perturbation put in, and counts.
    pub fn take(&self, ending: &mut Ending, part: &mut Vec<u8>) {
        let before = ending.changed;
        ending.changed += part.len() as u64;
        if self.stream.interval > 0 {
            perturb::drop_out(part, self.stream.interval as usize, before);
        }
        ending.len += part.len() as u64;
        ending.crc.update(part);
    }

    /// After the last part: compares with the header.
    pub fn end(&self, ending: &Ending) -> Result<(), Damage> {
        check("length of the text", ending.len == u64::from(self.header.text_len))?;
        let (stored, computed) = (self.header.crc, ending.crc.finish());
        if stored == computed { Ok(()) } else { Err(Damage::BlockCrc { stored, computed }) }
    }
}

/// What has been seen of a block's text.
#[derive(Debug, Default)]
pub struct Ending {
    /// Bytes, perturbation's among them.
    changed: u64,
    /// Bytes of text.
    len: u64,
    crc: Crc,
}

impl Ending {
    /// Bytes so far, perturbation's among them.
    pub fn changed(&self) -> u64 {
        self.changed
    }
}

/// Writes the symbol of an entry as `mtf` takes it; says how many bytes that are. Takes at most 6 bits.
#[inline(always)]
fn symbol(entry: u32, bits: &mut BitReader<'_>, out: &mut [u8]) -> usize {
    let count = extra(entry);
    if count == 0 {
        out[0] = byte(entry);
        return 1;
    }
    let symbol = u32::from(byte(entry)) + bits.read(count);
    out[0] = symbol.min(ESCAPE) as u8;
    // Symbol 257 does not exist; its rank is taken for 255, and the CRC tells.
    out[1] = symbol.saturating_sub(ESCAPE).min(1) as u8;
    if symbol < ESCAPE { 1 } else { 2 }
}

/// Walks up to [`LANES`] chains, each into its own part of the text.
#[inline(always)]
fn walk_lanes<'a>(starts: &[u32], chains: &mut impl Iterator<Item = &'a mut [u8]>, step: impl Fn(u32) -> (u32, u8)) {
    if let Ok(starts) = <[u32; LANES]>::try_from(starts) {
        let mut rows = starts;
        let mut parts: [&mut [u8]; LANES] = std::array::from_fn(|_| chains.next().unwrap_or_default());
        let len = parts[0].len();
        let mut parts = parts.each_mut().map(|part| &mut part[..len]);
        for at in 0..len {
            for (row, part) in rows.iter_mut().zip(&mut parts) {
                let (next, byte) = step(*row);
                part[at] = byte;
                *row = next;
            }
        }
    } else {
        let mut lanes: Vec<(u32, &mut [u8])> = starts.iter().copied().zip(chains).collect();
        let len = lanes.first().map_or(0, |(_, part)| part.len());
        for at in 0..len {
            for (row, part) in &mut lanes {
                let (next, byte) = step(*row);
                part[at] = byte;
                *row = next;
            }
        }
    }
}

/// The first column of the sorted suffixes: all bytes, ascending.
#[derive(Debug)]
pub struct FirstColumn {
    /// Where each byte's rows begin; at last the number of rows.
    starts: [u32; 257],
    /// By the upper bits of a row: the byte of the first row that has them.
    bytes: Vec<u8>,
    shift: u32,
}

impl FirstColumn {
    fn new(starts: [u32; 257]) -> Self {
        let rows = starts[256];
        let shift = (32 - rows.leading_zeros()).saturating_sub(13);
        let byte_of = |row: u32| (0..=255u8).find(|&byte| row < starts[usize::from(byte) + 1]).unwrap_or(255);
        let bytes = (0..=rows.saturating_sub(1) >> shift).map(|part| byte_of(part << shift)).collect();
        FirstColumn { starts, bytes, shift }
    }

    /// The byte of a row.
    #[inline(always)]
    fn byte(&self, row: u32) -> u8 {
        let mut byte = self.bytes[(row >> self.shift) as usize];
        while row >= self.starts[usize::from(byte) + 1] {
            byte += 1;
        }
        byte
    }
}

fn take(bits: &mut SliceBits<'_>, count: u32, field: &'static str) -> Result<u32, Damage> {
    bits.bits(count).ok_or(Damage::Field(field))
}

/// The dictionary, and the first move-to-front list: the codes that are in the column.
fn read_dictionary(bits: &mut SliceBits<'_>) -> Result<(Dictionary, [u8; 256]), Damage> {
    let field = "dictionary";
    let count = take(bits, 8, field)? as usize + 1;
    let (mut codes, mut list, mut used) = (Vec::with_capacity(count), [0; 256], 0);
    for code in (0..=255).take(count) {
        if take(bits, 1, field)? == 1 {
            list[used] = code;
            used += 1;
        }
        codes.push(match take(bits, 9, field)? {
            byte @ 0..256 => Meaning::Byte(byte as u8),
            256 => Meaning::Escape,
            long => {
                let string = (256..long).map(|_| take(bits, 8, field).map(|byte| byte as u8));
                Meaning::Phrase(string.collect::<Result<_, _>>()?)
            }
        });
    }
    check("codes in use", used > 0)?;
    Dictionary::new(codes).map(|dictionary| (dictionary, list)).ok_or(Damage::Field(field))
}

/// So many tables of so many symbols, the shares of each of which add up to `states`.
fn read_shares(bits: &mut SliceBits<'_>, tables: usize, states: usize, symbols: usize) -> Result<Vec<Shares>, Damage> {
    let mut read = || -> Result<Shares, Damage> {
        let mut shares = Vec::with_capacity(symbols);
        for _ in 0..symbols {
            let width = take(bits, 4, "shares")?;
            check("share", width <= states.ilog2() + 1)?;
            shares.push(match width {
                0 => 0,
                1 => 1,
                _ => 1 << (width - 1) | take(bits, width - 1, "shares")? as u16,
            });
        }
        check("sum of shares", shares.iter().map(|&share| usize::from(share)).sum::<usize>() == states)?;
        Ok(shares)
    };
    (0..tables).map(|_| read()).collect()
}

/// Decodes blocks on one core, one after the other, in memory of its own: 4 bytes for each row of the longest so far.
#[derive(Debug)]
pub struct Decoder {
    mtf: MtfDecoder,
    vector: Vec<AtomicU32>,
}

impl Decoder {
    /// A decoder.
    pub fn new() -> Self {
        Decoder { mtf: segment_mtf(), vector: Vec::new() }
    }

    /// The text of a block.
    pub fn decode(
        &mut self,
        stream: StreamHeader,
        header: BlockHeader,
        payload: Arc<Vec<u8>>,
    ) -> Result<Vec<u8>, Damage> {
        let block = Block::parse(stream, header, payload)?;
        let runs = (0..block.segments()).map(|n| block.runs(n, &mut self.mtf)).collect::<Result<Vec<_>, _>>()?;
        let (places, first_column) = block.places(&runs);
        // Only now: the rows are all there, so the header did not ask for more than the block has.
        let rows = header.rows as usize;
        if self.vector.len() < rows {
            self.vector = new_vector(rows);
        }
        for (number, (runs, places)) in runs.iter().zip(&places).enumerate() {
            block.fill(number, runs, places, &self.vector[..rows]);
        }
        drop(runs);
        let mut text = block.walk(0..block.entries(), &self.vector, &first_column)?;
        let mut ending = Ending::default();
        block.take(&mut ending, &mut text);
        block.end(&ending)?;
        Ok(text)
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

/// Memory for [`Block::runs`].
pub fn segment_mtf() -> MtfDecoder {
    MtfDecoder::new(SEGMENT)
}

/// A vector of so many rows.
pub fn new_vector(rows: usize) -> Vec<AtomicU32> {
    // Zeros from the system, which this leaves in place: pages are first touched by whoever fills them.
    let words = vec![0; rows];
    huge_pages::advise(&words);
    words.into_iter().map(AtomicU32::new).collect()
}
