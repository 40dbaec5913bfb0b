//! A fake device for tests: it does the work on the CPU and fails as scripted.

use super::trust::{proof_of, sum_of_words};
use crate::bits::BitWriter;
use crate::block::Text;
use crate::codec::bwt::forward::ForwardBwt;
use crate::codec::bwt::merge::twin;
use crate::codec::bwt::suffixes;
use crate::codec::decoder::Decoder;
use crate::codec::header::Bz2BlockHeader;
use crate::codec::mtf::encode::MtfSymbols;
use crate::codec::run_length::decode::decode_text;
use crate::codec::selector::encode::HuffmanTables;
use crate::formats::hbz::codec::decode::{HbzDecoder, PayloadBlock, SegmentSpan, TableShares};
use crate::formats::hbz::codec::encode::Steps;
use crate::formats::hbz::codec::tally;
use crate::formats::hbz::codec::token::{CLASSES, TOKENS};
use hybz_gpu::{
    BlockForDevice, CodedBatch, CodedByDevice, CodedSegment, CodedSegments, DecodedBatch, DecodedByDevice,
    DecodedCodes, DeviceError, DeviceLane, LaneSize, LargeForDevice, MAX_ROWS, PricesForDevice, ROW_UNIT, Result,
    SharesForDevice, Sorted, SortedSuffixes, SortedThirds, TallyByDevice, Tokenized, TokensByDevice, input_room,
};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// How it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No memory left.
    Memory,
    /// The context is lost.
    Sticky,
    /// The kernel hangs: the call fails after the timeout.
    Hang,
    /// The call succeeds, and a byte in the middle is wrong; for coded blocks, a bit in the middle of each.
    Wrong,
    /// The call succeeds, and one bit of one block of the batch is wrong: not the block that is verified.
    OneBit,
    /// The call succeeds, and two different bytes in the middle of the columns are swapped.
    Swapped,
    /// It never has memory to grow.
    Fixed,
}

/// Changes what a lane has found.
pub type Spoil = fn(&mut FakeLane);

/// A fake lane.
#[derive(Default)]
pub struct FakeLane {
    size: LaneSize,
    texts: Vec<u8>,
    /// The bytes of the answer.
    pub columns: Vec<u8>,
    /// Bits of thirds, entry points of suffixes.
    pub keys: Vec<u32>,
    /// Origins of suffixes and columns, entry points of thirds.
    pub origins: Vec<u32>,
    pub coded: Vec<CodedByDevice>,
    pub decoded: Vec<DecodedByDevice>,
    pub odd: Vec<u32>,
    /// The blocks being coded, each with its last answer.
    steps: Vec<Steps>,
    about: Vec<TokensByDevice>,
    tallies: Vec<TallyByDevice>,
    segments: Vec<CodedSegment>,
    wrong: bool,
    /// Whether the last block was expanded.
    expands: bool,
    calls: usize,
    fault: Option<(usize, Fault)>,
    /// Called before each answer.
    pub spoil: Option<Spoil>,
    /// How often a lane was asked to grow.
    pub asked: usize,
}

impl FakeLane {
    /// A lane that fails at call number `fault.0`, from 0, and works before and after that.
    pub fn new(size: LaneSize, fault: Option<(usize, Fault)>) -> Self {
        // A lane for `.hbz` needs less than this, or a little more for tables.
        let texts = vec![0; (size.max_blocks * size.max_length).max(input_room_of(size))];
        FakeLane { size, texts, fault, ..FakeLane::default() }
    }

    /// The texts of a batch.
    fn blocks(&self, lengths: &[u32]) -> Vec<Vec<u8>> {
        let mut texts = &self.texts[..];
        lengths.iter().map(|&length| texts.split_off(..length as usize).unwrap().to_vec()).collect()
    }

    /// Fails if this call is to fail; returns whether the call's result is to be wrong.
    fn begin(&mut self, timeout: Duration) -> Result<bool> {
        let fault = self.fault.filter(|(call, _)| *call == self.calls).map(|(_, fault)| fault);
        self.calls += 1;
        (self.columns, self.keys, self.origins) = Default::default();
        (self.coded, self.decoded, self.odd) = Default::default();
        match fault {
            Some(Fault::Memory) => Err(DeviceError::Memory("fake: out of memory".to_owned())),
            Some(Fault::Sticky) => Err(DeviceError::Lost("fake: an illegal address".to_owned())),
            Some(Fault::Hang) => {
                std::thread::sleep(timeout.min(Duration::from_millis(10)));
                Err(DeviceError::Lost("fake: it hangs".to_owned()))
            }
            Some(Fault::Wrong | Fault::Swapped) => Ok(true),
            Some(Fault::Fixed | Fault::OneBit) | None => Ok(false),
        }
    }

    /// Makes the answer wrong, if it is to be.
    fn end(&mut self, wrong: bool) {
        let middle = self.columns.len() / 2;
        match self.fault {
            _ if !wrong => {}
            Some((_, Fault::Swapped)) => {
                let other = (middle + 1..).find(|&at| self.columns[at] != self.columns[middle]).unwrap();
                self.columns.swap(middle, other);
            }
            _ => self.columns[middle] ^= 1,
        }
        if let Some(spoil) = self.spoil {
            spoil(self);
        }
    }
}

impl DeviceLane for FakeLane {
    fn size(&self) -> LaneSize {
        self.size
    }

    fn input(&mut self) -> &mut [u8] {
        &mut self.texts
    }

    fn sort(&mut self, lengths: &[u32], timeout: Duration) -> Result<Sorted<'_>> {
        let wrong = self.begin(timeout)?;
        let mut bwt = ForwardBwt::new(Arc::default());
        for mut block in self.blocks(lengths) {
            let column = bwt.transform(&mut block);
            self.columns.extend_from_slice(column.bytes);
            self.origins.push(column.origin);
        }
        self.end(wrong);
        Ok(Sorted { columns: &self.columns, origins: &self.origins })
    }

    fn thirds(&mut self, lengths: &[u32], turns: &[u32], entry_log: u8, timeout: Duration) -> Result<SortedThirds<'_>> {
        let wrong = self.begin(timeout)?;
        let each = lengths.iter().max().map_or(0, |&longest| (longest as usize).div_ceil(1 << entry_log));
        for (block, &turn) in self.blocks(lengths).iter().zip(turns) {
            let (thirds, mut entries) = twin::thirds(block, turn as usize, entry_log);
            self.keys.extend_from_slice(&thirds.bits);
            self.columns.extend_from_slice(&thirds.bytes);
            entries.resize(each, u32::MAX);
            self.origins.extend(entries);
        }
        self.end(wrong);
        Ok(SortedThirds { bits: &self.keys, bytes: &self.columns, entries: &self.origins })
    }

    fn code(&mut self, lengths: &[u32], proofs: Range<usize>, timeout: Duration) -> Result<CodedBatch<'_>> {
        let wrong = self.begin(timeout)?;
        let one = matches!(self.fault, Some((call, Fault::OneBit)) if call + 1 == self.calls);
        // A block that is not proven, unless all are.
        let one = one.then_some(proofs.end % lengths.len());
        let (mut symbols, mut tables) = (MtfSymbols::default(), HuffmanTables::default());
        let mut bwt = ForwardBwt::new(Arc::default());
        let mut decoder = Decoder::new();
        for (number, text) in self.blocks(lengths).into_iter().enumerate() {
            let mut block = text.clone();
            let column = bwt.transform(&mut block);
            symbols.encode(column.bytes);
            tables.choose(&symbols);
            let (table_lengths, selectors, bits) = tables.parts();
            let mut coded = CodedByDevice {
                origin: column.origin,
                symbols: symbols.as_slice().len() as u32,
                tables: table_lengths.len() as u32,
                bits: bits as u32,
                at: self.columns.len() as u32,
                ..CodedByDevice::default()
            };
            coded.lengths[..table_lengths.len()].copy_from_slice(table_lengths);
            coded.lengths.iter_mut().for_each(|table| table[symbols.alphabet..].fill(0));
            for (byte, _) in symbols.used.iter().enumerate().filter(|(_, used)| **used) {
                coded.used[byte / 32] |= 1 << (byte % 32);
            }
            let mut codes = BitWriter::new();
            tables.write_codes(&symbols, &mut codes);
            let mut codes = codes.finish();
            if wrong || one == Some(number) {
                let middle = codes.len() / 2;
                codes[middle] ^= 1;
            }
            codes.resize(codes.len().next_multiple_of(4), 0);
            let header = Bz2BlockHeader {
                origin: coded.origin,
                used: (0..=255).filter(|&byte| symbols.used[usize::from(byte)]).collect(),
                lengths: coded.lengths,
                tables: table_lengths.len(),
                selectors: selectors.to_vec(),
                ..Bz2BlockHeader::default()
            };
            if proofs.contains(&number)
                && decoder.coded_text(header, &codes, 0, bits).is_some_and(|found| found == (text.clone(), bits))
            {
                let of_codes = proof_of(&coded, &[&codes[..], selectors].concat());
                coded.proof = sum_of_words(&text, 0).wrapping_add(of_codes);
            }
            self.columns.extend_from_slice(&codes);
            self.columns.extend_from_slice(selectors);
            self.columns.resize(self.columns.len().next_multiple_of(4), 0);
            self.coded.push(coded);
        }
        self.end(false);
        Ok(CodedBatch { blocks: &self.coded, bytes: &self.columns })
    }

    fn suffixes(&mut self, lengths: &[u32], entry_log: u8, timeout: Duration) -> Result<SortedSuffixes<'_>> {
        let wrong = self.begin(timeout)?;
        self.sort_suffixes(lengths, entry_log);
        self.end(wrong);
        Ok(SortedSuffixes { columns: &self.columns, origins: &self.origins, entries: &self.keys })
    }

    fn decode(&mut self, blocks: &[BlockForDevice], bytes: usize, timeout: Duration) -> Result<DecodedBatch<'_>> {
        let wrong = self.begin(timeout)?;
        let input = &self.texts[..bytes];
        let mut decoder = Decoder::new();
        for block in blocks {
            let selectors = &input[block.selectors_at as usize..][..block.selectors as usize];
            let header = Bz2BlockHeader {
                origin: block.origin,
                used: block.used[..block.symbols as usize - 2].to_vec(),
                lengths: block.lengths,
                tables: block.tables as usize,
                selectors: selectors.to_vec(),
                ..Bz2BlockHeader::default()
            };
            let codes = &input[block.at as usize..];
            let decoded = decoder.coded_text(header, codes, block.first_bit.into(), block.end_bit.into());
            self.decoded.push(match decoded {
                None => DecodedByDevice { odd: 1, ..DecodedByDevice::default() },
                Some((text, end_bit)) => {
                    let (rows, at) = (text.len() as u32, self.columns.len() as u32);
                    // A device does not expand every block.
                    self.expands = !self.expands;
                    let whole = decode_text(std::iter::once(&text[..]), text.len()).ok().filter(|_| self.expands);
                    let (output, expanded) = match whole {
                        Some((Text::Plain(whole), _)) => (whole, 1),
                        _ => (text, 0),
                    };
                    self.columns.extend_from_slice(&output);
                    let (end_bit, length) = (end_bit as u32, output.len() as u32);
                    DecodedByDevice { odd: 0, end_bit, rows, at, length, expanded }
                }
            });
        }
        self.end(wrong);
        Ok(DecodedBatch { blocks: &self.decoded, output: &self.columns })
    }

    fn tokens(
        &mut self,
        lengths: &[u32],
        entry_log: u8,
        weights: &[u32; TOKENS],
        timeout: Duration,
    ) -> Result<Tokenized<'_>> {
        assert_eq!(*weights, tally::weights());
        self.wrong = self.begin(timeout)?;
        self.sort_suffixes(lengths, entry_log);
        (self.steps, self.about, self.tallies) = Default::default();
        let mut from = 0;
        for (&length, &origin) in lengths.iter().zip(&self.origins) {
            let column = &self.columns[from..=from + length as usize];
            from += length as usize + 1;
            let mut steps = Steps::default();
            let column = [&column[..origin as usize], &column[origin as usize + 1..]].concat();
            self.tallies.push((&steps.begin(&column)).into());
            let mut used = [0; 8];
            (0..256).filter(|&code| steps.used()[code]).for_each(|code| used[code / 32] |= 1 << (code % 32));
            let (tokens, selectors, step) = (steps.tokens() as u32, steps.selectors() as u32, steps.step() as u32);
            self.about.push(TokensByDevice { used, tokens, selectors, step });
            self.steps.push(steps);
        }
        Ok(Tokenized { blocks: &self.about, tallies: &self.tallies, entries: &self.keys })
    }

    fn choose(&mut self, prices: &[PricesForDevice], all: bool, _timeout: Duration) -> Result<&[TallyByDevice]> {
        assert_eq!(prices.len(), self.steps.len());
        let each = self.steps.iter_mut().zip(prices);
        self.tallies = each.map(|(steps, prices)| (&steps.choose(&prices.into(), all)).into()).collect();
        Ok(&self.tallies)
    }

    fn segments(&mut self, shares: &[SharesForDevice], _timeout: Duration) -> Result<CodedSegments<'_>> {
        self.segments.clear();
        self.columns.clear();
        for (steps, shares) in self.steps.iter_mut().zip(shares) {
            let count = steps.selectors();
            let tokens: Vec<_> = shares.tokens[..count * CLASSES].iter().map(|shares| shares.to_vec()).collect();
            let selectors: Vec<_> = shares.selectors[..count].iter().map(|shares| shares[..count].to_vec()).collect();
            let (sizes, body) = steps.encode(&tokens, &selectors);
            self.segments.extend(sizes.iter().map(|&(bits, tokens)| CodedSegment { bits, tokens }));
            let from = self.columns.len();
            self.columns.extend(body);
            if self.wrong {
                let middle = (from + self.columns.len()) / 2;
                self.columns[middle] ^= 1;
            }
        }
        Ok(CodedSegments { segments: &self.segments, bytes: &self.columns })
    }

    fn codes(&mut self, blocks: &[LargeForDevice], bytes: usize, timeout: Duration) -> Result<DecodedCodes<'_>> {
        let wrong = self.begin(timeout)?;
        for block in blocks {
            assert!(block.base as usize >= self.columns.len() && block.base % ROW_UNIT as u32 == 0);
            self.columns.resize(block.base as usize, 0);
            let codes = HbzDecoder::new().codes(&read(block, &self.texts[..bytes]));
            self.odd.push(codes.is_err().into());
            self.columns.extend(codes.unwrap_or_else(|_| vec![0; block.rows as usize]));
        }
        assert!(self.columns.len() <= self.size.max_blocks * self.size.max_length);
        self.end(wrong);
        Ok(DecodedCodes { odd: &self.odd, codes: &self.columns })
    }

    fn reserve(&mut self, rows: usize) -> Result<bool> {
        let size = LaneSize { max_length: rows.div_ceil(self.size.max_blocks), ..self.size };
        self.asked += 1;
        let grows = !matches!(self.fault, Some((_, Fault::Fixed))) && size.max_blocks * size.max_length <= MAX_ROWS;
        if grows {
            self.size = size;
            self.texts = vec![0; input_room_of(size)];
        }
        Ok(grows)
    }
}

impl FakeLane {
    fn sort_suffixes(&mut self, lengths: &[u32], entry_log: u8) {
        let longest = lengths.iter().copied().max().unwrap_or(0) as usize;
        let each = longest.div_ceil(1 << entry_log);
        for text in self.blocks(lengths) {
            let (mut order, mut rows) = (vec![0; text.len()], vec![0; text.len()]);
            suffixes::sort(&text, &mut order);
            // The end mark's suffix comes first, and is not in the array.
            self.columns.extend(text.last());
            for (row, from) in (0..).zip(order) {
                self.columns.push(if from == 0 { 0 } else { text[from as usize - 1] });
                rows[from as usize] = row;
            }
            self.origins.push(rows[0] + 1);
            self.keys.extend((0..each).map(|entry| rows.get(entry << entry_log).copied().unwrap_or(0)));
        }
    }
}

/// The input room of a lane for blocks of `.hbz` streams.
fn input_room_of(size: LaneSize) -> usize {
    input_room(size.max_blocks, size.max_blocks * size.max_length)
}

/// Reads back the block that was written to the input, as far as the input has it.
fn read(block: &LargeForDevice, input: &[u8]) -> PayloadBlock {
    let words = |at: u32, count: usize| -> Vec<u32> {
        let bytes = &input[at as usize..][..4 * count];
        bytes.as_chunks().0.iter().map(|word| u32::from_ne_bytes(*word)).collect()
    };
    let of_segments = words(block.segments_at, 3 * (block.rows as usize).div_ceil(1 << 16));
    let segments = of_segments
        .as_chunks()
        .0
        .iter()
        .map(|&[at, bytes, tokens]| SegmentSpan { bytes: at as usize..(at + bytes) as usize, tokens: tokens as usize });
    let (selectors, token_shares) = (block.selectors as usize, block.selectors as usize * 6 * 26);
    let shares = &input[block.shares_at as usize..][..2 * (token_shares + selectors * selectors)];
    let shares: Vec<u16> = shares.as_chunks().0.iter().map(|share| u16::from_ne_bytes(*share)).collect();
    let (tokens, of_selectors) = shares.split_at(token_shares);
    let each = |shares: &[u16], symbols| shares.chunks(symbols).map(<[u16]>::to_vec).collect();
    let shares = TableShares { tokens: each(tokens, 26), selectors: each(of_selectors, selectors) };
    let entries = words(block.entries_at, (block.rows as usize).div_ceil(1 << block.entry_log));
    let entry_log = block.entry_log as u8;
    PayloadBlock::for_codes(input.to_vec(), entries, block.list, shares, segments.collect(), block.rows, entry_log)
}
