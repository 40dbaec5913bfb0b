//! What a lane does, by pipeline: each method calls one function of `hybz.h`.
#![allow(unsafe_code)]

use super::kept::{CudaText, out_of_bounds, text_of};
use super::lane::{At, CudaLane, entry_count, total};
use crate::abi as ffi;
use crate::lane::other_lane;
use crate::{
    BlockForDevice, Coded, CodedBatch, CodedSegments, DecodedBatch, DecodedCodes, DeviceError, DeviceLane,
    FactorByDevice, FactorsByDevice, KeptText, LaneSize, LargeForDevice, LineOrder, Lz4ForDevice, MAX_FETCHED,
    MAX_ROWS, MIN_DEVICE_BLOCK, Pipeline, PricesForDevice, RangeInParts, Result, SharesForDevice, Sorted, SortedLines,
    SortedSuffixes, SortedThirds, Steps, StripForDevice, StripFound, TallyByDevice, Tokenized,
};
use std::ffi::c_int;
use std::ops::Range;
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

impl DeviceLane for CudaLane {
    fn size(&self) -> LaneSize {
        self.size
    }

    fn input(&mut self) -> &mut [u8] {
        self.input_bytes()
    }

    fn steps(&self) -> Steps {
        self.steps
    }

    fn sort(&mut self, lengths: &[u32], timeout: Duration) -> Result<Sorted<'_>> {
        let At { lane, input, output, ms, .. } = self.begin(Pipeline::Bwt, lengths, true, timeout)?;
        let (count, each, origins) = (lengths.len() as u32, lengths.as_ptr(), self.results.numbers.as_mut_ptr());
        let mut report = ffi::hybz_report::default();
        // SAFETY: `lengths` has the stated number of entries; input and output have room for their sum, origins for
        // one each (checked above); `report` is declared as in C (tested).
        let code = unsafe { ffi::hybz_lane_bwt(lane, count, each, input, output, origins, ms, &mut report) };
        self.finish(code, "sorting a batch", &report.ms)?;
        let origins = &self.results.numbers[..lengths.len()];
        Ok(Sorted { columns: self.output_bytes(total(lengths)), origins })
    }

    fn thirds(&mut self, lengths: &[u32], turns: &[u32], entry_log: u8, timeout: Duration) -> Result<SortedThirds<'_>> {
        let sum = |count: fn(usize) -> usize| lengths.iter().map(|&length| count(length as usize)).sum::<usize>();
        let (bytes, words) = (sum(ffi::HYBZ_THIRDS_BYTES), sum(ffi::HYBZ_THIRDS_WORDS));
        let keys = words + entries(lengths, entry_log);
        let fits = turns.len() == lengths.len() && bytes <= self.output.len() && keys <= self.keys.len() / 4;
        let At { lane, input, output, keys: bits, ms } = self.begin(Pipeline::Hybrid, lengths, fits, timeout)?;
        let (count, each, turns, log) = (lengths.len() as u32, lengths.as_ptr(), turns.as_ptr(), entry_log.into());
        let mut report = ffi::hybz_report::default();
        // SAFETY: `lengths` and `turns` have the stated number of entries; input, output, and keys (for bits and
        // entry points) have the room that follows from the lengths (checked above); `report` is declared as in C
        // (tested).
        let code = unsafe {
            let rows = bits.add(words);
            ffi::hybz_lane_thirds(lane, count, each, turns, input, log, bits, output, rows, ms, &mut report)
        };
        self.finish(code, "sorting a batch", &report.ms)?;
        let (bits, entries) = self.key_words(keys).split_at(words);
        Ok(SortedThirds { bits, bytes: self.output_bytes(bytes), entries })
    }

    fn code(&mut self, lengths: &[u32], proofs: Range<usize>, timeout: Duration) -> Result<CodedBatch<'_>> {
        let fits = lengths.iter().all(|&length| length as usize <= self.size.max_length);
        let At { lane, input, output, ms, .. } = self.begin(Pipeline::Resident, lengths, fits, timeout)?;
        let (count, each, coded) = (lengths.len() as u32, lengths.as_ptr(), self.results.coded.as_mut_ptr());
        let (mut report, mut filled) = (ffi::hybz_report::default(), 0);
        let (first, proofs) = (proofs.start as u32, proofs.len() as u32);
        // SAFETY: `lengths` has the stated number of entries, and `coded` has room for as many; the input has room for
        // their sum, the output for the max number of bytes of codes of blocks up to these lengths (checked above; no
        // more is copied); `report` and `coded` are declared as in C (tested).
        let code = unsafe {
            ffi::hybz_lane_code(lane, count, each, input, first, proofs, coded, output, &mut filled, ms, &mut report)
        };
        self.finish(code, "coding a batch", &report.ms)?;
        Ok(CodedBatch { blocks: &self.results.coded[..lengths.len()], bytes: self.output_bytes(filled as usize) })
    }

    fn suffixes(&mut self, lengths: &[u32], entry_log: u8, timeout: Duration) -> Result<SortedSuffixes<'_>> {
        let (columns, entries) = (total(lengths) + lengths.len(), entries(lengths, entry_log));
        let fits = !lengths.contains(&0) && columns <= self.output.len() && entries <= self.keys.len() / 4;
        let At { lane, input, output, keys, ms } = self.begin(Pipeline::Suffixes, lengths, fits, timeout)?;
        let (count, each, log) = (lengths.len() as u32, lengths.as_ptr(), entry_log.into());
        let (mut report, origins) = (ffi::hybz_report::default(), self.results.numbers.as_mut_ptr());
        // SAFETY: `lengths` has the stated number of entries; input, output and keys have room for the bytes, rows and
        // entry points that follow, origins for one each (checked above); `report` is declared as in C (tested).
        let code =
            unsafe { ffi::hybz_lane_suffixes(lane, count, each, input, log, output, origins, keys, ms, &mut report) };
        self.finish(code, "sorting a batch", &report.ms)?;
        let origins = &self.results.numbers[..lengths.len()];
        Ok(SortedSuffixes { columns: self.output_bytes(columns), origins, entries: self.key_words(entries) })
    }

    fn decode(&mut self, blocks: &[BlockForDevice], bytes: usize, timeout: Duration) -> Result<DecodedBatch<'_>> {
        let fits = blocks.len() <= self.size.max_blocks && bytes <= self.input.len();
        let At { lane, input, output, ms, .. } = self.begin(Pipeline::Decode, &[], fits, timeout)?;
        let (count, heads, room) = (blocks.len() as u32, blocks.as_ptr(), self.output.len() as u64);
        let (mut report, mut filled, to) = (ffi::hybz_report::default(), 0, self.results.decoded.as_mut_ptr());
        let len = bytes as u64;
        // SAFETY: `blocks` has the stated number of entries, and `decoded` has room for as many; the input holds that
        // many bytes, and the output has the stated room (the callee checks it and the offsets in `blocks`); all
        // structures are declared as in C (tested).
        let code = unsafe {
            let (filled, report) = (&mut filled, &mut report);
            ffi::hybz_lane_decode(lane, count, heads, input, len, to, output, room, filled, ms, report)
        };
        self.finish(code, "decoding a batch", &report.ms)?;
        Ok(DecodedBatch { blocks: &self.results.decoded[..blocks.len()], output: self.output_bytes(filled as usize) })
    }

    fn tokens(
        &mut self,
        lengths: &[u32],
        entry_log: u8,
        weights: &[u32; ffi::HYBZ_TOKENS],
        timeout: Duration,
    ) -> Result<Tokenized<'_>> {
        let entries = entries(lengths, entry_log);
        let segments = lengths.iter().map(|&length| (length as usize).div_ceil(1 << ffi::HYBZ_SEGMENT_LOG)).sum();
        let room = self.results.segments.len();
        let fits = !lengths.contains(&0) && entries <= self.keys.len() / 4 && segments <= room;
        let At { lane, input, keys, ms, .. } = self.begin(Pipeline::CodeLarge, lengths, fits, timeout)?;
        let to = &mut self.results;
        (to.blocks, to.segment_count, to.report) = (0, segments, ffi::hybz_report::default());
        let (count, each, log, by) = (lengths.len() as u32, lengths.as_ptr(), entry_log.into(), ptr::from_ref(weights));
        let (about, tallies, report) = (to.about.as_mut_ptr(), to.tallies.as_mut_ptr(), &mut to.report);
        // SAFETY: `lengths` has the stated number of entries, and `about` and `tallies` have room for as many; input
        // and keys have room for the bytes and entry points that follow from the lengths (checked above); all
        // structures are declared as in C (tested).
        let code = unsafe {
            let (by, tallies) = (by.cast(), tallies.cast());
            ffi::hybz_lane_tokens(lane, count, each, input, log, by, about, tallies, keys, ms, report)
        };
        self.check(code, "sorting a batch")?;
        self.results.blocks = lengths.len();
        let (blocks, tallies) = (&self.results.about[..lengths.len()], &self.results.tallies[..lengths.len()]);
        Ok(Tokenized { blocks, tallies, entries: self.key_words(entries) })
    }

    fn choose(&mut self, prices: &[PricesForDevice], all: bool, timeout: Duration) -> Result<&[TallyByDevice]> {
        let blocks = self.results.blocks;
        let At { lane, ms, .. } =
            self.begin(Pipeline::CodeLarge, &[], blocks > 0 && prices.len() == blocks, timeout)?;
        let (prices, tallies) = (prices.as_ptr().cast(), self.results.tallies.as_mut_ptr().cast());
        // SAFETY: the lane has this many blocks in progress, `prices` has an entry for each, and there is room for
        // their tallies; all structures are declared as in C (tested).
        let code = unsafe { ffi::hybz_lane_choose(lane, prices, all.into(), tallies, ms, &mut self.results.report) };
        self.check(code, "choosing tables")?;
        Ok(&self.results.tallies[..blocks])
    }

    fn segments(&mut self, shares: &[SharesForDevice], timeout: Duration) -> Result<CodedSegments<'_>> {
        let blocks = self.results.blocks;
        let fits = blocks > 0 && shares.len() == blocks;
        let At { lane, output, ms, .. } = self.begin(Pipeline::CodeLarge, &[], fits, timeout)?;
        self.results.blocks = 0;
        let (mut filled, room, to) = (0, self.output.len() as u64, self.results.segments.as_mut_ptr());
        // SAFETY: the lane has this many blocks in progress, and `shares` has an entry for each; there is room for
        // their segments (checked when the batch began), and the output has the stated number of bytes; all structures
        // are declared as in C (tested).
        let code = unsafe {
            let (filled, report) = (&mut filled, &mut self.results.report);
            ffi::hybz_lane_segments(lane, shares.as_ptr(), to, output, room, filled, ms, report)
        };
        let times = self.results.report.ms;
        self.finish(code, "coding a batch", &times)?;
        let segments = &self.results.segments[..self.results.segment_count];
        Ok(CodedSegments { segments, bytes: self.output_bytes(filled as usize) })
    }

    fn codes(&mut self, blocks: &[LargeForDevice], bytes: usize, timeout: Duration) -> Result<DecodedCodes<'_>> {
        let rows = blocks.last().map_or(0, |block| block.base as usize + block.rows as usize);
        let fits = rows <= self.output.len() && blocks.len() <= self.results.numbers.len();
        let fits = fits && bytes <= self.input.len();
        let At { lane, input, output, ms, .. } = self.begin(Pipeline::DecodeLarge, &[], fits, timeout)?;
        let (count, heads, len) = (blocks.len() as u32, blocks.as_ptr(), bytes as u64);
        let (mut report, odd) = (ffi::hybz_report::default(), self.results.numbers.as_mut_ptr());
        // SAFETY: `blocks` has the stated number of entries, and `odd` has room for as many; the input holds that many
        // bytes, and the output has room for the rows (checked above; the callee checks the offsets and rows in
        // `blocks`); all structures are declared as in C (tested).
        let code = unsafe { ffi::hybz_lane_decode_large(lane, count, heads, input, len, odd, output, ms, &mut report) };
        self.finish(code, "decoding a batch", &report.ms)?;
        Ok(DecodedCodes { odd: &self.results.numbers[..blocks.len()], codes: self.output_bytes(rows) })
    }

    /// The length of `.hbz` blocks is unknown until the first block comes.
    fn reserve(&mut self, rows: usize) -> Result<bool> {
        let LaneSize { max_blocks, max_length } = self.size;
        match self.pipeline {
            Pipeline::DecodeLarge => {
                let max_length = rows.div_ceil(max_blocks);
                if max_blocks * max_length > MAX_ROWS { Ok(false) } else { self.reopen(max_length) }
            }
            Pipeline::Strips => {
                self.results.room = Some(CudaText::new(self.ordinal, (max_length + rows) as u64)?);
                Ok(true)
            }
            _ => Err(other_lane()),
        }
    }

    fn max_lines(&self) -> u64 {
        ffi::HYBZ_MAX_LINES(self.input.len()) as u64
    }

    fn sort_lines(&mut self, lengths: &[u32], order: LineOrder, timeout: Duration) -> Result<SortedLines<'_>> {
        let fits = !lengths.is_empty() && !lengths.contains(&0);
        let At { lane, input, output, ms, .. } = self.begin(Pipeline::Lines, lengths, fits, timeout)?;
        let (count, each, to) = (lengths.len() as u32, lengths.as_ptr(), self.results.numbers.as_mut_ptr());
        let (end, flags, mut report) = (order.end.into(), flags(order, false), ffi::hybz_lines_report::default());
        // SAFETY: `lengths` and the results have the stated number of entries, input and output have room for the sum
        // of the lengths (checked above), and the structure is declared as in C (tested).
        let code = unsafe { ffi::hybz_lane_lines(lane, count, each, input, end, flags, output, to, ms, &mut report) };
        self.finish_lines(code, &report, lengths)
    }

    fn keep(&mut self, bytes: u64) -> Result<Arc<dyn KeptText>> {
        Ok(Arc::new(CudaText::new(self.ordinal, bytes)?))
    }

    fn sort_and_keep(&mut self, length: u32, end: u8, kept: &dyn KeptText, at: u64, timeout: Duration) -> Result<()> {
        let text = text_of(kept, self.ordinal)?;
        let to = text.part(&(at..at.saturating_add(length.into()))).ok_or_else(out_of_bounds)?;
        let At { lane, input, ms, .. } = self.begin(Pipeline::Lines, &[length], length > 0, timeout)?;
        let mut report = ffi::hybz_lines_report::default();
        // SAFETY: the lane's input and the device's memory at `to` have that many bytes (checked above), and no other
        // batch uses these bytes of it, which the caller of `keep` ensures.
        let code = unsafe { ffi::hybz_lane_lines_keep(lane, length, input, end.into(), to, ms, &mut report) };
        self.results.numbers[0] = length;
        self.finish_lines(code, &report, &[length]).map(|_| ())
    }

    fn sort_parts(
        &mut self,
        ranges: &[RangeInParts],
        kept: &dyn KeptText,
        order: LineOrder,
        timeout: Duration,
    ) -> Result<SortedLines<'_>> {
        let text = text_of(kept, self.ordinal)?;
        let length = |range: &RangeInParts| u32::try_from(range.bytes()).map_err(|_| out_of_bounds());
        let lengths: Vec<u32> = ranges.iter().map(length).collect::<Result<_, _>>()?;
        let host: Vec<u32> = ranges.iter().map(|range| range.host).collect();
        let counts: Vec<u32> = ranges.iter().map(|range| range.kept.len() as u32).collect();
        let slice = |part: &Range<u64>| {
            let from = text.part(part).ok_or_else(out_of_bounds)?;
            Ok(ffi::hybz_slice { text: from, length: part.end - part.start })
        };
        let slices: Vec<ffi::hybz_slice> =
            ranges.iter().flat_map(|range| &range.kept).map(slice).collect::<Result<_>>()?;
        let fits = !lengths.is_empty() && !lengths.contains(&0);
        let At { lane, input, output, ms, .. } = self.begin(Pipeline::Lines, &lengths, fits, timeout)?;
        let (count, each, host) = (lengths.len() as u32, lengths.as_ptr(), host.as_ptr());
        let (counts, slices, to) = (counts.as_ptr(), slices.as_ptr(), self.results.numbers.as_mut_ptr());
        let (end, flags, mut report) = (order.end.into(), flags(order, false), ffi::hybz_lines_report::default());
        // SAFETY: all lists have as many entries as there are ranges, `slices` as many as `counts` add up to; the lane
        // has room for the bytes, and each slice is within the kept text (checked above).
        let code = unsafe {
            let report = &mut report;
            ffi::hybz_lane_lines_gather(
                lane, count, each, host, input, counts, slices, end, flags, output, to, ms, report,
            )
        };
        self.finish_lines(code, &report, &lengths)
    }

    unsafe fn sort_on_device(
        &mut self,
        text: u64,
        length: u32,
        order: LineOrder,
        unique: bool,
        sorted: u64,
        timeout: Duration,
    ) -> Result<u32> {
        let At { lane, ms, .. } = self.begin(Pipeline::Lines, &[length], length > 0, timeout)?;
        let (text, sorted, end, flags) = (text as *const u8, sorted as *mut u8, order.end.into(), flags(order, unique));
        let (mut to, mut report) = (0, ffi::hybz_lines_report::default());
        // SAFETY: the lane has room for the bytes (checked above); the caller guarantees the two addresses.
        let code =
            unsafe { ffi::hybz_lane_lines_on_device(lane, length, text, end, flags, sorted, &mut to, ms, &mut report) };
        self.check(code, "sorting lines on a device")?;
        Ok(to)
    }

    fn find(&mut self, text: &[u8], divisions: u32, runs: bool, timeout: Duration) -> Result<FactorsByDevice> {
        let fits = (MIN_DEVICE_BLOCK..=self.size.max_length).contains(&text.len());
        let At { lane, ms, .. } = self.begin(Pipeline::Factor, &[], fits, timeout)?;
        let (mut counts, mut report) = (ffi::hybz_factor_counts::default(), ffi::hybz_factor_report::default());
        let (length, text, runs) = (text.len() as u32, text.as_ptr(), runs.into());
        // SAFETY: the text has the stated number of bytes; `counts` and `report` are declared as in C (tested).
        let code = unsafe { ffi::hybz_lane_factor(lane, length, text, divisions, runs, &mut counts, ms, &mut report) };
        let mut ms = [0.0; ffi::HYBZ_STEPS];
        (ms[ffi::HYBZ_STEP_UPLOAD], ms[ffi::HYBZ_STEP_SORT]) = (report.upload_ms, report.sort_ms);
        self.finish(code, "finding factors", &ms)?;
        let times =
            [report.upload_ms, report.sort_ms, report.neighbours_ms, report.longest_ms, report.path_ms, report.runs_ms];
        Ok(FactorsByDevice { factors: counts.factors, runs: counts.runs, times })
    }

    fn fetch(&mut self, from: u32, count: usize, timeout: Duration) -> Result<&[FactorByDevice]> {
        let At { lane, output, ms, .. } = self.begin(Pipeline::Factor, &[], count <= MAX_FETCHED, timeout)?;
        // SAFETY: the output has room for MAX_FETCHED factors and is page-aligned; the callee knows how many the
        // device has.
        let code = unsafe { ffi::hybz_lane_factors(lane, from, count as u32, output.cast(), ms) };
        self.check(code, "fetching factors")?;
        let factor = |&[a, b, c, d, e, f, g, h]: &[u8; 8]| FactorByDevice {
            source: u32::from_ne_bytes([a, b, c, d]),
            length: u32::from_ne_bytes([e, f, g, h]),
        };
        let bytes = self.output_bytes(count * size_of::<FactorByDevice>());
        let fetched = bytes.as_chunks().0.iter().map(factor).collect();
        self.results.fetched = fetched;
        Ok(&self.results.fetched)
    }

    unsafe fn decode_lz4(
        &mut self,
        coded: Coded<'_>,
        blocks: &[Lz4ForDevice],
        text: (u64, u64),
        damaged: &mut [u32],
        timeout: Duration,
    ) -> Result<()> {
        let fits = blocks.len() <= self.size.max_blocks && damaged.len() == blocks.len();
        let At { lane, ms, .. } = self.begin(Pipeline::Lz4, &[], fits, timeout)?;
        let (first, count, status) = (blocks.as_ptr(), blocks.len() as u32, damaged.as_mut_ptr());
        let (host, at, len) = match coded {
            Coded::Device(at, len) => (ptr::null(), at, len),
            Coded::Host(bytes, staging) => (bytes.as_ptr(), staging, bytes.len() as u64),
        };
        let (at, to) = (at as *mut u8, text.0 as *mut u8);
        // SAFETY: `blocks` and `damaged` have `count` entries, declared as in C (tested); the library checks that all
        // blocks lie within the bytes, and the caller guarantees the addresses. With or without a copy from the host,
        // nothing is in flight when it returns, except after a timeout, which is `Lost`.
        let code = unsafe { ffi::hybz_lane_lz4(lane, host, at, len, first, count, to, text.1, status, ms) };
        self.check(code, "decoding LZ4")
    }

    fn differences(&mut self, pixel: u32, row: u32) -> Result<()> {
        let At { lane, .. } = self.begin(Pipeline::Strips, &[], true, Duration::ZERO)?;
        // SAFETY: the lane is valid, and the callee refuses numbers out of range.
        let code = unsafe { ffi::hybz_lane_differences(lane, pixel, row) };
        self.check(code, "rows of differences")
    }

    fn decode_strips(
        &mut self,
        coded: &[u8],
        strips: &[StripForDevice],
        text: &mut [u8],
        found: &mut [StripFound],
        timeout: Duration,
    ) -> Result<()> {
        let Some(room) = &self.results.room else {
            // Strips without text are valid whatever their codes.
            found.fill(StripFound::default());
            return if text.is_empty() { Ok(()) } else { Err(other_lane()) };
        };
        let coded_room = self.size.max_length as u64;
        let (at, to) = (room.part(&(0..coded.len() as u64)), coded_room..coded_room + text.len() as u64);
        let (at, to) = at.zip(room.part(&to)).ok_or_else(out_of_bounds)?;
        let hosts = (coded.as_ptr(), text.as_mut_ptr());
        // SAFETY: the memory has room for the codes and, behind them, for the text.
        unsafe { self.run_strips(hosts, (at, coded.len()), strips, (to, text.len()), found, timeout) }
    }

    unsafe fn decode_strips_on_device(
        &mut self,
        coded: (u64, usize),
        strips: &[StripForDevice],
        text: (u64, usize),
        found: &mut [StripFound],
        timeout: Duration,
    ) -> Result<()> {
        let (hosts, at, to) = ((ptr::null(), ptr::null_mut()), coded.0 as *mut u8, text.0 as *mut u8);
        // SAFETY: the caller guarantees the two addresses.
        unsafe { self.run_strips(hosts, (at, coded.1), strips, (to, text.1), found, timeout) }
    }
}

impl CudaLane {
    /// Decodes strips.
    ///
    /// # Safety
    /// Codes and text have the stated number of bytes of device memory, and of host memory unless that is null.
    unsafe fn run_strips(
        &mut self,
        hosts: (*const u8, *mut u8),
        coded: (*mut u8, usize),
        strips: &[StripForDevice],
        text: (*mut u8, usize),
        found: &mut [StripFound],
        timeout: Duration,
    ) -> Result<()> {
        let fits = strips.len() <= self.size.max_blocks && found.len() == strips.len();
        let At { lane, ms, .. } = self.begin(Pipeline::Strips, &[], fits, timeout)?;
        let (first, count, results) = (strips.as_ptr(), strips.len() as u32, found.as_mut_ptr());
        let ((from, back), (at, len), (to, room)) = (hosts, (coded.0, coded.1 as u64), (text.0, text.1 as u64));
        // SAFETY: `strips` and `found` have `count` entries, declared as in C (tested); the callee refuses strips that
        // exceed the memory, whose size the caller guarantees.
        let code = unsafe { ffi::hybz_lane_strips(lane, from, at, len, first, count, to, room, back, results, ms) };
        self.check(code, "decoding strips")
    }

    /// Ends a batch of lines of these lengths.
    fn finish_lines(
        &mut self,
        code: c_int,
        report: &ffi::hybz_lines_report,
        lengths: &[u32],
    ) -> Result<SortedLines<'_>> {
        let mut ms = [0.0; ffi::HYBZ_STEPS];
        ms[ffi::HYBZ_STEP_UPLOAD] = report.upload_ms;
        ms[ffi::HYBZ_STEP_KEYS] = report.find_ms + report.keys_ms;
        ms[ffi::HYBZ_STEP_SORT] = report.sort_ms;
        ms[ffi::HYBZ_STEP_SMALL_ROUNDS] = report.settle_ms;
        ms[ffi::HYBZ_STEP_LARGE_ROUNDS] = report.rounds_ms;
        ms[ffi::HYBZ_STEP_COLUMNS] = report.place_ms + report.copy_ms;
        ms[ffi::HYBZ_STEP_DOWNLOAD] = report.download_ms;
        self.finish(code, "sorting lines", &ms)?;
        if self.results.numbers[..lengths.len()] != *lengths {
            return Err(DeviceError::Wrong("the device dropped or made lines"));
        }
        Ok(SortedLines { text: self.output_bytes(total(lengths)) })
    }
}

/// The flags of a sort of lines.
fn flags(order: LineOrder, unique: bool) -> u32 {
    let flag = |set, flag| if set { flag as u32 } else { 0 };
    flag(order.reverse, ffi::HYBZ_LINES_REVERSE) | flag(unique, ffi::HYBZ_LINES_UNIQUE)
}

/// The entry points of a batch: each block has as many as the longest one.
fn entries(lengths: &[u32], entry_log: u8) -> usize {
    lengths.iter().max().map_or(0, |&longest| entry_count(longest as usize, entry_log)) * lengths.len()
}
