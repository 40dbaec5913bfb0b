//! 64 lanes in four vectors of AVX-512.
//!
//! A step of 16 lanes is one gather from T. Its bytes go to the top of a word for each lane, which moves down; after 16
//! steps each lane has four words, and a transposition of 4 x 4 words makes one store of 16 bytes for each lane, in
//! place of 16 stores of one.
//!
//! Measured on one core of a Zen 4 machine whose caches other programs used meanwhile, best of 15, in ns per byte of
//! the block, the scalar kernel / this one: dickens 1.10 / 0.95, nci 1.07 / 0.90, ooffice 1.11 / 0.94, reymont 1.09 /
//! 0.94, xml 1.06 / 0.91, linux 1.10 / 0.91. Half of that would be lost if all 64 lanes walked to the end, when most of
//! them are idle. Scalar lanes next to gathered ones, and 48 lanes, are no faster.
//!
//! On an Emerald Rapids the whole decoder takes 1.04 (dickens) to 1.15 (nci) times as long with the scalar kernel, 1.07
//! on the average. Intel's CPUs up to Ice Lake have slow gathers since the microcode against Downfall (CVE-2022-40982);
//! they do not take this kernel.

use super::Inverse;
use super::layout::{ENTRIES, IDLE, LADDERS, STEPS, TABLE};
use crate::cpu;
use std::arch::x86_64::{
    __m512i, _mm_storeu_si128, _mm512_castsi512_si128, _mm512_cmpge_epu32_mask, _mm512_extracti32x4_epi32,
    _mm512_i32gather_epi32, _mm512_loadu_si512, _mm512_or_si512, _mm512_set1_epi32, _mm512_setzero_si512,
    _mm512_slli_epi32, _mm512_srli_epi32, _mm512_storeu_si512, _mm512_unpackhi_epi32, _mm512_unpackhi_epi64,
    _mm512_unpacklo_epi32, _mm512_unpacklo_epi64,
};
use std::array::from_fn;

const VECTORS: usize = 4;
/// The lanes of a vector.
const WIDTH: usize = 16;
const LANES: usize = VECTORS * WIDTH;
/// The bytes of a page of memory.
const PAGE: usize = 4096;

/// Whether this CPU has what the kernel needs.
pub(super) fn is_supported() -> bool {
    cpu::has!(Avx512: "avx512f")
}

/// Whether this kernel is known to be faster on this CPU than the scalar one. AMD's alone have SSE4a; of Intel's, those
/// whose gathers are fast have FP16 (Sapphire Rapids and later).
pub(super) fn is_faster() -> bool {
    is_supported() && (cpu::found!("sse4a") || cpu::found!("avx512fp16"))
}

impl Inverse {
    /// Walks all segments in 64 lanes, or in 16 while the memory is cold, each of which writes to its own part of the
    /// memory. Returns false if the parts are too short.
    ///
    /// The number of lanes is halved as soon as half of them are idle: at the end of a block they run out of segments
    /// one by one. A cold memory gets fewer lanes, close to each other: each lane touches a page or two of its own.
    pub(super) fn walk_in_vectors(&mut self) -> bool {
        let (count, memory) = match self.is_cold() {
            true => (WIDTH, self.lanes.len().min(2 * self.rows + WIDTH * PAGE)),
            false => (LANES, self.lanes.len()),
        };
        // Not a multiple of 4096, because the lanes would then compete for the same lines of the L1 cache.
        let stride = (memory / count - 320) / 1024 * 1024 + 320;
        let mut lanes = Lanes::new(count, stride);
        let mut waiting = 0..self.segments.len();
        let mut busy = 0;
        for lane in 0..count {
            if let Some(segment) = waiting.next() {
                lanes.begin(lane, segment, 0);
                busy += 1;
            }
        }
        let mut step = 0;
        while busy > 0 {
            if step + STEPS > stride {
                return false;
            }
            let mut on_ladders = step_lanes(&self.table, &mut lanes, &mut self.lanes[step..]);
            step += STEPS;
            while on_ladders != 0 {
                let lane = on_ladders.trailing_zeros() as usize;
                on_ladders &= on_ladders - 1;
                let rung = lanes.rows[lane] as usize - LADDERS;
                let (segment, began) = lanes.segments[lane];
                let segment = &mut self.segments[segment as usize];
                segment.at = lanes.parts[lane] + began;
                // The step onto the ladder produced a byte, and so did each step from rung to rung.
                segment.len = (step - 1 - rung % STEPS) as u32 - began;
                segment.next = (rung / STEPS) as u32;
                match waiting.next() {
                    Some(segment) => lanes.begin(lane, segment, step),
                    None => {
                        lanes.rows[lane] = IDLE as u32;
                        busy -= 1;
                    }
                }
            }
            if busy > 0 && busy <= lanes.count / 2 {
                lanes.leave_out_idle();
            }
        }
        true
    }
}

/// The lanes between two calls of a kernel.
struct Lanes {
    /// The row at which each lane is.
    rows: [u32; LANES],
    /// Where each lane's part of the memory begins.
    parts: [u32; LANES],
    /// The segment that each lane walks, and the step at which the segment began.
    segments: [(u32, u32); LANES],
    /// The number of lanes that may walk: `LANES`, or `WIDTH` in a cold memory, halved some times. All after them are
    /// idle.
    count: usize,
    /// Where the last part begins that a lane ever had.
    last: usize,
}

impl Lanes {
    fn new(count: usize, stride: usize) -> Self {
        let parts = from_fn(|lane| (lane * stride) as u32);
        let (rows, segments, last) = ([IDLE as u32; LANES], [(0, 0); LANES], (count - 1) * stride);
        Lanes { rows, parts, segments, count, last }
    }

    fn begin(&mut self, lane: usize, segment: usize, step: usize) {
        self.rows[lane] = (ENTRIES + segment) as u32;
        self.segments[lane] = (segment as u32, step as u32);
    }

    /// Halves the number of lanes, at least half of which must be idle. The others come first.
    #[inline(never)]
    fn leave_out_idle(&mut self) {
        let mut busy = 0;
        for lane in 0..self.count {
            if self.rows[lane] != IDLE as u32 {
                self.rows.swap(busy, lane);
                self.parts.swap(busy, lane);
                self.segments.swap(busy, lane);
                busy += 1;
            }
        }
        self.count /= 2;
    }
}

/// Walks each lane by [`STEPS`], and writes its bytes from the beginning of its part of `memory` on. Returns a bit for
/// each lane that is on a ladder. Panics if this CPU does not have AVX-512F.
fn step_lanes(table: &[u32], lanes: &mut Lanes, memory: &mut [u8]) -> u64 {
    assert!(is_supported() && table.len() >= TABLE && memory.len() >= lanes.last + STEPS);
    // SAFETY: the CPU has AVX-512F. The table has all entries to which rows can lead. The lanes of the vectors that are
    // moved are among the first `count` of `Lanes::new`, whose parts begin at `last` or before, and the memory has
    // STEPS bytes from there on.
    #[allow(unsafe_code)]
    unsafe {
        match lanes.count.div_ceil(WIDTH) {
            VECTORS => gather::<VECTORS>(table, lanes, memory),
            2.. => gather::<2>(table, lanes, memory),
            _ => gather::<1>(table, lanes, memory),
        }
    }
}

/// Moves the first `VECTORS` vectors of lanes.
///
/// # Safety
/// As for `walk::step_lanes`, rows, ladders and entry rows must lead to others that are less than `table`'s length.
/// From the beginning of the part of each lane in these vectors on, there must be `STEPS` bytes in `memory`.
#[allow(unsafe_code)]
#[target_feature(enable = "avx512f")]
#[inline(never)]
unsafe fn gather<const VECTORS: usize>(table: &[u32], lanes: &mut Lanes, memory: &mut [u8]) -> u64 {
    let (rows, _) = lanes.rows.as_chunks_mut::<WIDTH>();
    // SAFETY: the rows of a vector have 64 bytes.
    let mut now: [__m512i; VECTORS] = from_fn(|i| unsafe { _mm512_loadu_si512(rows[i].as_ptr().cast()) });
    let mut words = [[_mm512_setzero_si512(); VECTORS]; 4];
    for word in &mut words {
        for _ in 0..4 {
            for (row, word) in now.iter_mut().zip(&mut *word) {
                // SAFETY: the rows are less than the length of `table`, as the caller promises.
                let entry = unsafe { _mm512_i32gather_epi32::<4>(*row, table.as_ptr().cast()) };
                *word = _mm512_or_si512(_mm512_srli_epi32::<8>(*word), _mm512_slli_epi32::<24>(entry));
                *row = _mm512_srli_epi32::<8>(entry);
            }
        }
    }
    let memory = memory.as_mut_ptr();
    let mut on_ladders = 0;
    for (i, row) in now.into_iter().enumerate() {
        // SAFETY: the rows of a vector have 64 bytes.
        unsafe { _mm512_storeu_si512(rows[i].as_mut_ptr().cast(), row) };
        on_ladders |= u64::from(_mm512_cmpge_epu32_mask(row, _mm512_set1_epi32(LADDERS as i32))) << (WIDTH * i);
        let [a, b, c, d] = words.map(|word| word[i]);
        let (ab, ab_high) = (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
        let (cd, cd_high) = (_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
        let text = [
            _mm512_unpacklo_epi64(ab, cd),
            _mm512_unpackhi_epi64(ab, cd),
            _mm512_unpacklo_epi64(ab_high, cd_high),
            _mm512_unpackhi_epi64(ab_high, cd_high),
        ];
        let outs: &[u32; WIDTH] = lanes.parts[WIDTH * i..].first_chunk().expect("a vector of lanes");
        for (j, lane) in text.into_iter().enumerate() {
            // SAFETY: each lane has STEPS bytes in `memory`, as the caller promises.
            unsafe {
                let out = |k: usize| memory.add(outs[4 * k + j] as usize).cast();
                _mm_storeu_si128(out(0), _mm512_castsi512_si128(lane));
                _mm_storeu_si128(out(1), _mm512_extracti32x4_epi32::<1>(lane));
                _mm_storeu_si128(out(2), _mm512_extracti32x4_epi32::<2>(lane));
                _mm_storeu_si128(out(3), _mm512_extracti32x4_epi32::<3>(lane));
            }
        }
    }
    on_ladders
}
