//! One large block, coded: the steps one after the other.
//!
//! The BWT is libsais's, of the text and a sentinel that is smaller than all bytes; it gives the entry points along
//! with the last column. Unlike bzip2's there is no origin to agree with, hence no rotations to sort and no periodic blocks.
//!
//! Measured (Zen 5, 54 MB of source code in blocks of 9 MB, quiet): 37 MB/s of text, where libsais alone on the
//! same blocks, without a dictionary, makes 51. Of the 27 ns a byte the sort takes 15, the dictionary 3.5, choosing tables 2.8,
//! writing 1.9, MTF 1.

use super::ans::{Encoding, Shares};
use super::choose::{SELECTOR_STATES, STATES, Tables};
use super::dictionary::{Dictionary, Meaning};
use super::token::{CLASSES, TOKENS, Tokens, first_symbol};
use super::{GROUP, SEGMENT_LOG, perturb};
use crate::codec::bits::BitWriter;
use crate::codec::crc;
use crate::codec::mtf::encode::Symbols;
use crate::format::hbz::{BlockHeader, StreamHeader};
use libsais::BwtConstruction;
use libsais::bwt::AuxIndicesSamplingRate;

/// More room for libsais than the suffixes need: with 6 kB and above it allocates nothing.
const EXTRA: usize = 2048;

/// A block before its sort: all but the codes, whose last column and entry points somebody else may find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    dictionary: Dictionary,
    number: u32,
    text_len: u32,
    crc: u32,
}

impl Prepared {
    /// Bytes of the block's text.
    pub fn text_len(&self) -> u64 {
        self.text_len.into()
    }
}

/// Codes large blocks, in memory of its own: about 8 bytes for each byte of the longest block so far.
#[derive(Debug, Default)]
pub struct Encoder {
    changed: Vec<u8>,
    column: Vec<u8>,
    suffixes: Vec<i32>,
    symbols: Symbols,
    tokens: Tokens,
    tables: Tables,
    parts: Vec<u32>,
}

impl Encoder {
    /// An encoder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Codes block `number` of a stream: its header and its payload.
    ///
    /// # Panics
    /// If the text is empty or longer than the stream's block size.
    pub fn encode(&mut self, text: &[u8], number: u32, stream: &StreamHeader) -> (BlockHeader, Vec<u8>) {
        let mut column = std::mem::take(&mut self.column);
        let prepared = self.prepare(text, number, stream, &mut column);
        let entries = self.transform(&mut column, stream.entry_log);
        let coded = self.finish(&prepared, &column, &entries);
        self.column = column;
        coded
    }

    /// What comes before the sort: the codes, no more of them than the stream's [`most_rows`](StreamHeader::most_rows), in `codes`.
    ///
    /// # Panics
    /// As [`encode`](Self::encode).
    pub fn prepare(&mut self, text: &[u8], number: u32, stream: &StreamHeader, codes: &mut Vec<u8>) -> Prepared {
        assert!((1..=stream.block_size as usize).contains(&text.len()), "a block of {} bytes", text.len());
        let mut text_to_code = text;
        if stream.interval > 0 {
            self.changed.clear();
            let seed = stream.seed.wrapping_add(u64::from(number).wrapping_mul(0xd134_2543_de82_ef95));
            perturb::put_in(text, stream.interval as usize, seed, &mut self.changed);
            text_to_code = &self.changed;
        }
        let mut dictionary = Dictionary::choose(text_to_code);
        dictionary.replace(text_to_code, 1 << stream.entry_log, codes);
        if codes.len() > text_to_code.len() {
            // It was chosen by a sample, which deceived: more escapes than phrases. No block may be longer than its text.
            dictionary = Dictionary::of_bytes(text_to_code);
            dictionary.replace(text_to_code, 1 << stream.entry_log, codes);
        }
        Prepared { dictionary, number, text_len: text.len() as u32, crc: crc::of(text) }
    }

    /// What comes after it: the block's header and its payload, from the last column of its codes and the rows of its entry points.
    pub fn finish(&mut self, prepared: &Prepared, column: &[u8], entries: &[u32]) -> (BlockHeader, Vec<u8>) {
        let rows = column.len();
        self.symbols.encode(column);
        self.tokens.set(self.symbols.as_slice(), rows);
        self.tables.choose(&self.tokens.joint, &self.tokens.ends);

        let payload = self.write(&prepared.dictionary, rows, entries);
        let header = BlockHeader {
            number: prepared.number,
            text_len: prepared.text_len,
            rows: rows as u32,
            coded_len: payload.len() as u32,
            crc: prepared.crc,
            coded_crc: crc::of(&payload),
        };
        (header, payload)
    }

    /// The last column in the place of the codes. Answers the rows of the positions that are multiples of 2^`entry_log`.
    fn transform(&mut self, column: &mut [u8], entry_log: u8) -> Vec<u32> {
        let rows = column.len();
        if self.suffixes.len() < rows + EXTRA {
            self.suffixes = vec![0; (rows + EXTRA).next_multiple_of(4096)];
        }
        let made = BwtConstruction::replace_text(column)
            .with_borrowed_temporary_array_buffer(&mut self.suffixes)
            .single_threaded()
            .with_aux_indices(AuxIndicesSamplingRate::from(1i32 << entry_log))
            .run()
            .expect("libsais fails only when there is no memory");
        // Its rows count the sentinel's, ours do not.
        made.aux_indices()[..rows.div_ceil(1 << entry_log)].iter().map(|&row| row as u32 - 1).collect()
    }

    fn write(&mut self, dictionary: &Dictionary, rows: usize, entries: &[u32]) -> Vec<u8> {
        let mut out = BitWriter::new();
        self.write_dictionary(dictionary, &mut out);
        let width = row_bits(rows as u32);
        entries.iter().for_each(|&row| out.write(row.into(), width));
        out.write(self.tables.selectors.len() as u64 - 1, 4);
        self.tables.tokens.iter().chain(&self.tables.selectors).for_each(|shares| write_shares(shares, &mut out));

        let mut body = BitWriter::with_capacity(self.tokens.tokens.len() as u64 * 4);
        self.write_segments(&mut out, &mut body);
        out.align();
        let mut payload = out.finish();
        payload.extend_from_slice(&body.finish());
        payload
    }

    /// Each code: a bit that says whether it is in the column, and what it stands for.
    fn write_dictionary(&self, dictionary: &Dictionary, out: &mut BitWriter) {
        out.write(dictionary.codes().len() as u64 - 1, 8);
        for (meaning, used) in dictionary.codes().iter().zip(self.symbols.used) {
            out.write(used.into(), 1);
            match meaning {
                Meaning::Byte(byte) => out.write(u64::from(*byte), 9),
                Meaning::Escape => out.write(1 << 8, 9),
                Meaning::Phrase(string) => {
                    out.write(1 << 8 | string.len() as u64, 9);
                    string.iter().for_each(|&byte| out.write(byte.into(), 8));
                }
            }
        }
    }

    /// Writes all segments to `body`, and to `out` how many bytes and tokens each has.
    fn write_segments(&mut self, out: &mut BitWriter, body: &mut BitWriter) {
        let encodings = |shares: &[Shares], states| -> Vec<Encoding> {
            shares.iter().map(|shares| Encoding::new(shares, states)).collect()
        };
        let tokens = encodings(&self.tables.tokens, STATES);
        let selectors = encodings(&self.tables.selectors, SELECTOR_STATES);
        let extra_bits: [u32; 256] = std::array::from_fn(|token| first_symbol(token.min(25) as u8).1);
        let (mut from, mut first_group) = (0, 0);
        for &end in &self.tokens.ends {
            let groups = (end - from).div_ceil(GROUP);
            let choice = &self.tables.choice[first_group..first_group + groups];
            let mut states = [STATES as u32; 2];
            let mut selector_state = SELECTOR_STATES as u32;
            self.parts.clear();
            for group in (0..groups).rev() {
                let begin = from + group * GROUP;
                let first = usize::from(choice[group]) * CLASSES;
                let last = end.min(begin + GROUP);
                let with_extras = self.tokens.joint[begin..last].iter().zip(&self.tokens.extras[begin..last]);
                for (at, (&joint, &extra)) in with_extras.enumerate().rev() {
                    let (class, token) = (usize::from(joint) / TOKENS, joint % TOKENS as u8);
                    let (value, count) = tokens[first + class].back(token, &mut states[at & 1]);
                    let bits = extra_bits[usize::from(token)];
                    self.parts.push((value << bits | u32::from(extra)) << 8 | (count + bits));
                }
                let before = if group == 0 { 0 } else { usize::from(choice[group - 1]) };
                let (value, count) = selectors[before].back(choice[group], &mut selector_state);
                self.parts.push(value << 8 | count);
            }
            let begin = body.bit_len();
            body.write(u64::from(states[0]) - STATES as u64, STATES.ilog2());
            body.write(u64::from(states[1]) - STATES as u64, STATES.ilog2());
            body.write(u64::from(selector_state) - SELECTOR_STATES as u64, SELECTOR_STATES.ilog2());
            for &part in self.parts.iter().rev() {
                body.write(u64::from(part >> 8), part & 0xff);
            }
            body.align();
            out.write((body.bit_len() - begin) / 8, 24);
            out.write((end - from) as u64, SEGMENT_LOG + 1);
            from = end;
            first_group += groups;
        }
    }
}

/// How many bits a row's number takes in a block of so many.
pub fn row_bits(rows: u32) -> u32 {
    32 - (rows - 1).max(1).leading_zeros()
}

/// Each share: 4 bits that say how many bits it has, then these without the topmost.
fn write_shares(shares: &[u16], out: &mut BitWriter) {
    for &share in shares {
        let bits = 16 - share.leading_zeros();
        out.write(bits.into(), 4);
        if bits > 1 {
            out.write(u64::from(share) & ((1 << (bits - 1)) - 1), bits - 1);
        }
    }
}
