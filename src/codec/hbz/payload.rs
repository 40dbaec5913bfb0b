//! Reads the payload of a block up to its segments: the dictionary, the entry points, the tables and the directory.
//!
//! Every field is checked before it is used. What the checks allow may still be nonsense in a damaged payload, but rows
//! stay below the number of rows, and the CRC of the text decides in the end.

use super::ans::{AnsDecoder, Shares};
use super::dictionary::{Dictionary, Meaning};
use super::expand::CodeExpander;
use super::token::{self, CLASSES, TOKENS, first_symbol};
use crate::bits::{BitSource, SliceBits};
use crate::crc;
use crate::error::Damage;
use crate::format::hbz::{BlockHeader, SEGMENT_LOG, SELECTOR_STATES, StreamHeader, TOKEN_STATES, check, row_bits};
use std::ops::Range;
use std::sync::Arc;

/// The number of rows of a segment; the last one may have fewer.
pub(super) const SEGMENT: usize = 1 << SEGMENT_LOG;

/// A block whose payload has been read up to its segments: ready for [`runs`](Block::runs).
#[derive(Debug)]
pub struct Block {
    pub(super) stream: StreamHeader,
    pub(super) header: BlockHeader,
    pub(super) payload: Arc<Vec<u8>>,
    pub(super) expander: Arc<CodeExpander>,
    /// The rows of the positions that are multiples of the entry interval.
    pub(super) entries: Vec<u32>,
    /// The first move-to-front list.
    pub(super) list: [u8; 256],
    /// By selector and class.
    pub(super) tokens: AnsDecoder<TOKEN_STATES>,
    pub(super) selectors: AnsDecoder<SELECTOR_STATES>,
    pub(super) segments: Vec<SegmentSpan>,
}

/// Where a segment is in the payload, and how many tokens it has.
#[derive(Clone, Debug)]
pub(super) struct SegmentSpan {
    pub bytes: Range<usize>,
    pub tokens: usize,
}

impl Block {
    /// Reads and checks a payload up to its segments.
    pub fn parse(stream: StreamHeader, header: BlockHeader, payload: Arc<Vec<u8>>) -> Result<Block, Damage> {
        let computed = crc::checksum(&payload);
        if computed != header.coded_crc {
            return Err(Damage::PartCrc { part: "payload", stored: header.coded_crc, computed });
        }
        let mut bits = SliceBits::new(&payload, 0, u64::MAX);
        let (dictionary, list) = read_dictionary(&mut bits)?;
        let entries = read_entries(&mut bits, header.rows, stream.entry_log)?;
        let (tokens, selectors) = read_tables(&mut bits)?;
        let segments = read_directory(&mut bits, header.rows, payload.len())?;
        let expander = Arc::new(CodeExpander::new(dictionary));
        Ok(Block { stream, header, payload, expander, entries, list, tokens, selectors, segments })
    }

    /// The number of segments.
    pub fn segments(&self) -> usize {
        self.segments.len()
    }

    /// The number of entry points.
    pub fn entries(&self) -> usize {
        self.entries.len()
    }

    /// The number of rows.
    pub fn rows(&self) -> u32 {
        self.header.rows
    }

    /// Whether the text is so much longer than the rows that it is kept as codes until it is written.
    pub fn is_compact(&self) -> bool {
        self.header.is_compact()
    }

    /// The number of entry points of `rows` rows; at least 1.
    pub fn entries_in(&self, rows: usize) -> usize {
        (rows >> self.stream.entry_log).max(1)
    }

    /// The number of bytes of the payload that these segments have.
    pub fn coded_bytes(&self, segments: Range<usize>) -> u64 {
        self.segments[segments].iter().map(|segment| segment.bytes.len() as u64).sum()
    }

    /// The most bytes that the text can have before perturbation's bytes are dropped.
    pub fn max_perturbed_len(&self) -> u64 {
        self.stream.max_rows(self.header.text_len).into()
    }
}

fn read(bits: &mut SliceBits<'_>, count: u32, field: &'static str) -> Result<u32, Damage> {
    bits.bits(count).ok_or(Damage::Field(field))
}

/// Reads the dictionary, and the first move-to-front list, which is the codes that occur in the column.
fn read_dictionary(bits: &mut SliceBits<'_>) -> Result<(Dictionary, [u8; 256]), Damage> {
    let field = "dictionary";
    let count = read(bits, 8, field)? as usize + 1;
    let (mut codes, mut list, mut used) = (Vec::with_capacity(count), [0; 256], 0);
    for code in (0..=255).take(count) {
        if read(bits, 1, field)? == 1 {
            list[used] = code;
            used += 1;
        }
        // A bit that is 0 for a byte, then the byte or the length of the phrase; the length 0 is the escape.
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
    Dictionary::new(codes).map(|dictionary| (dictionary, list)).ok_or(Damage::Field(field))
}

/// Reads the rows of the entry points.
fn read_entries(bits: &mut SliceBits<'_>, rows: u32, entry_log: u8) -> Result<Vec<u32>, Damage> {
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
fn read_tables(bits: &mut SliceBits<'_>) -> Result<(AnsDecoder<TOKEN_STATES>, AnsDecoder<SELECTOR_STATES>), Damage> {
    let tables = read(bits, 4, "number of tables")? as usize + 1;
    let tokens = read_shares(bits, tables * CLASSES, TOKEN_STATES, TOKENS)?;
    let tokens = AnsDecoder::new(&tokens, |token| {
        let (first, extra) = first_symbol(token);
        (first, extra, token::class(token))
    });
    let selectors = read_shares(bits, tables, SELECTOR_STATES, tables)?;
    Ok((tokens, AnsDecoder::new(&selectors, |table| (table, 0, 0))))
}

/// Reads `tables` tables of `symbols` symbols; the shares of each table must add up to `states`.
fn read_shares(bits: &mut SliceBits<'_>, tables: usize, states: usize, symbols: usize) -> Result<Vec<Shares>, Damage> {
    let mut read_table = || -> Result<Shares, Damage> {
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
fn read_directory(bits: &mut SliceBits<'_>, rows: u32, payload_len: usize) -> Result<Vec<SegmentSpan>, Damage> {
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
