//! Reads the payload of a block up to its segments: the dictionary, the entry points, the tables and the directory.
//!
//! Every field is checked before it is used. In a damaged payload, values that pass the checks may still be nonsense,
//! but rows stay below the number of rows, and the CRC of the text decides in the end.

use super::ans::{AnsDecoder, Shares};
use super::dictionary::{Dictionary, Meaning};
use super::expand::CodeExpander;
use super::token::{self, CLASSES, TOKENS, first_symbol};
use crate::bits::{BitSource, SliceBits};
use crate::crc;
use crate::flaw::Flaw;
use crate::formats::hbz::header::{
    BlockHeader, SEGMENT_LOG, SELECTOR_STATES, StreamHeader, TOKEN_STATES, check, row_bits,
};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// The number of rows of a segment; the last one may have fewer.
pub(super) const SEGMENT: usize = 1 << SEGMENT_LOG;

/// A block whose payload has been read up to its segments: ready for [`runs`](PayloadBlock::runs).
#[derive(Debug)]
pub struct PayloadBlock {
    pub(crate) stream: StreamHeader,
    pub(crate) header: BlockHeader,
    pub(crate) payload: Arc<Vec<u8>>,
    pub(super) expander: Arc<CodeExpander>,
    /// The rows of the positions that are multiples of the entry interval.
    pub(crate) entries: Vec<u32>,
    /// The first move-to-front list: the codes in use, then zeros.
    pub(crate) list: [u8; 256],
    pub(crate) shares: TableShares,
    /// Made from the shares when the first segment is decoded here. A device makes its own.
    tables: OnceLock<Tables>,
    pub(crate) segments: Vec<SegmentSpan>,
}

/// The shares of the states of each table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableShares {
    /// By selector and class.
    pub tokens: Vec<Shares>,
    /// By selector.
    pub selectors: Vec<Shares>,
}

/// The tables for decoding.
#[derive(Debug)]
pub(super) struct Tables {
    /// By selector and class.
    pub tokens: AnsDecoder<TOKEN_STATES>,
    pub selectors: AnsDecoder<SELECTOR_STATES>,
}

/// The position of a segment in the payload, and its number of tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentSpan {
    /// Its bytes.
    pub bytes: Range<usize>,
    /// Its tokens.
    pub tokens: usize,
}

impl PayloadBlock {
    /// Reads and checks a payload up to its segments.
    pub fn parse(stream: StreamHeader, header: BlockHeader, payload: Arc<Vec<u8>>) -> Result<PayloadBlock, Flaw> {
        let computed = crc::checksum(&payload);
        if computed != header.coded_crc {
            return Err(Flaw::PartCrc { part: "payload", stored: header.coded_crc, computed });
        }
        let mut bits = SliceBits::new(&payload, 0, u64::MAX);
        let (dictionary, list) = read_dictionary(&mut bits)?;
        let entries = read_entries(&mut bits, header.rows, stream.entry_log)?;
        let shares = read_tables(&mut bits)?;
        let segments = read_directory(&mut bits, header.rows, payload.len())?;
        let (expander, tables) = (Arc::new(CodeExpander::new(dictionary)), OnceLock::new());
        Ok(PayloadBlock { stream, header, payload, expander, entries, list, shares, tables, segments })
    }

    /// Whether no segment has more tokens than rows: each token stands for at least one row.
    pub fn tokens_fit_rows(&self) -> bool {
        let last = self.header.rows as usize - (self.segments.len() - 1) * SEGMENT;
        self.segments.last().is_some_and(|segment| segment.tokens <= last)
    }

    /// A block from which only the codes are wanted.
    #[cfg(test)]
    pub fn for_codes(
        payload: Vec<u8>,
        entries: Vec<u32>,
        list: [u8; 256],
        shares: TableShares,
        segments: Vec<SegmentSpan>,
        rows: u32,
        entry_log: u8,
    ) -> PayloadBlock {
        let stream = StreamHeader { block_size: rows, interval: 0, seed: 0, entry_log };
        let coded_len = payload.len() as u32;
        let header = BlockHeader { number: 0, text_len: rows, rows, coded_len, crc: 0, coded_crc: 0 };
        let dictionary = Dictionary::new(vec![Meaning::Byte(0)]).expect("a code for one byte");
        let (payload, expander) = (Arc::new(payload), Arc::new(CodeExpander::new(dictionary)));
        PayloadBlock { stream, header, payload, expander, entries, list, shares, tables: OnceLock::new(), segments }
    }

    /// The tables.
    pub(super) fn tables(&self) -> &Tables {
        self.tables.get_or_init(|| {
            let token = |token| {
                let (first, extra) = first_symbol(token);
                (first, extra, token::class(token))
            };
            let tokens = AnsDecoder::new(&self.shares.tokens, token);
            Tables { tokens, selectors: AnsDecoder::new(&self.shares.selectors, |table| (table, 0, 0)) }
        })
    }

    /// The max length of the text, including perturbation bytes.
    pub fn max_perturbed_len(&self) -> u64 {
        self.stream.max_rows(self.header.text_len).into()
    }
}

fn read(bits: &mut SliceBits<'_>, count: u32, field: &'static str) -> Result<u32, Flaw> {
    bits.bits(count).ok_or(Flaw::Field(field))
}

/// Reads the dictionary, and the first move-to-front list: the codes that occur in the column.
fn read_dictionary(bits: &mut SliceBits<'_>) -> Result<(Dictionary, [u8; 256]), Flaw> {
    let field = "dictionary";
    let count = read(bits, 8, field)? as usize + 1;
    let (mut codes, mut list, mut used) = (Vec::with_capacity(count), [0; 256], 0);
    for code in (0..=255).take(count) {
        if read(bits, 1, field)? == 1 {
            list[used] = code;
            used += 1;
        }
        // A bit that is 0 for a byte; then the byte, or the length of the phrase, in which 0 stands for the escape.
        codes.push(match read(bits, 9, field)? {
            byte @ 0..256 => Meaning::Byte(byte as u8),
            256 => Meaning::Escape,
            long => {
                let string = (256..long).map(|_| read(bits, 8, field).map(|byte| byte as u8));
                Meaning::Phrase(string.collect::<Result<_, _>>()?)
            }
        });
    }
    check("codes in use", used > 0)?;
    Dictionary::new(codes).map(|dictionary| (dictionary, list)).ok_or(Flaw::Field(field))
}

/// Reads the rows of the entry points.
fn read_entries(bits: &mut SliceBits<'_>, rows: u32, entry_log: u8) -> Result<Vec<u32>, Flaw> {
    let count = (rows as usize).div_ceil(1 << entry_log);
    let width = row_bits(rows);
    let mut entries = Vec::with_capacity(count);
    for _ in 0..count {
        let row = read(bits, width, "entry points")?;
        check("entry point", row < rows)?;
        entries.push(row);
    }
    Ok(entries)
}

/// Reads the tables of tokens, by selector and class, and the tables of selectors.
fn read_tables(bits: &mut SliceBits<'_>) -> Result<TableShares, Flaw> {
    let tables = read(bits, 4, "number of tables")? as usize + 1;
    let tokens = read_shares(bits, tables * CLASSES, TOKEN_STATES, TOKENS)?;
    Ok(TableShares { tokens, selectors: read_shares(bits, tables, SELECTOR_STATES, tables)? })
}

/// Reads `tables` tables of `symbols` symbols; the shares of each table must add up to `states`.
fn read_shares(bits: &mut SliceBits<'_>, tables: usize, states: usize, symbols: usize) -> Result<Vec<Shares>, Flaw> {
    let mut read_table = || -> Result<Shares, Flaw> {
        let mut shares = Vec::with_capacity(symbols);
        for _ in 0..symbols {
            let width = read(bits, 4, "shares")?;
            check("share", width <= states.ilog2() + 1)?;
            shares.push(match width {
                0 => 0,
                1 => 1,
                _ => 1 << (width - 1) | read(bits, width - 1, "shares")? as u16,
            });
        }
        check("sum of shares", shares.iter().map(|&share| usize::from(share)).sum::<usize>() == states)?;
        Ok(shares)
    };
    (0..tables).map(|_| read_table()).collect()
}

/// Reads the directory, which must account for the payload to its last byte.
fn read_directory(bits: &mut SliceBits<'_>, rows: u32, payload_len: usize) -> Result<Vec<SegmentSpan>, Flaw> {
    let count = (rows as usize).div_ceil(SEGMENT);
    let mut segments = Vec::with_capacity(count);
    let mut at = 0;
    for _ in 0..count {
        let len = read(bits, 24, "segments")? as usize;
        let tokens = read(bits, SEGMENT_LOG + 1, "segments")? as usize;
        check("number of tokens", (1..=SEGMENT).contains(&tokens))?;
        segments.push(SegmentSpan { bytes: at..at + len, tokens });
        at += len;
    }
    let begin = bits.position().div_ceil(8) as usize;
    check("length of segments", begin + at == payload_len)?;
    for segment in &mut segments {
        segment.bytes = begin + segment.bytes.start..begin + segment.bytes.end;
    }
    Ok(segments)
}
