//! The walk in lanes: splitters, the segments between them, and the scalar kernel.

use super::layout::{ENTRIES, IDLE, LADDERS, MAX_SPLITTERS, STEPS, TABLE};
use super::{Inverse, Segment};

#[cfg(target_arch = "x86_64")]
use super::walk_avx512;

/// The number of scalar lanes. The number of loads that a core can keep waiting decides it, not their latency. The walk
/// alone takes, on a Zen 5, 0.82 ns a byte with 24 lanes, 0.71 with 40, 0.69 with 48 and 0.65 with 56; all steps of
/// decoding are no faster with 56 than with 48. In WebAssembly 24 are best, and elsewhere nothing has been measured.
const LANES: usize = if cfg!(target_arch = "x86_64") { 48 } else { 24 };
/// The min number of rows for a splitter.
const ROWS_PER_SPLITTER: usize = 512;

/// How the lanes are moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WalkKernel {
    /// [`LANES`] lanes, with one load for each step of a lane.
    Scalar,
    /// 64 lanes, 16 of which are moved by one gather of AVX-512.
    #[cfg(target_arch = "x86_64")]
    Gather,
}

impl Default for WalkKernel {
    /// The one that is known to be the fastest on this CPU.
    fn default() -> WalkKernel {
        #[cfg(target_arch = "x86_64")]
        if walk_avx512::is_faster() {
            return WalkKernel::Gather;
        }
        WalkKernel::Scalar
    }
}

impl Inverse {
    /// Walks all segments from one splitter to the next. Returns false if the lanes' memory is too small, because one
    /// segment is far longer than it should be.
    pub(super) fn walk_segments(&mut self, origin: u32) -> bool {
        self.split(origin);
        let walked = match self.kernel {
            WalkKernel::Scalar => self.walk_lanes(),
            #[cfg(target_arch = "x86_64")]
            WalkKernel::Gather => {
                // Each of 48 lanes has more memory than each of 64.
                self.walk_in_vectors() || self.walk_lanes()
            }
        };
        for (i, segment) in self.segments.iter().enumerate() {
            self.table[segment.row as usize] = self.table[ENTRIES + i];
        }
        walked
    }

    /// Chooses the splitters, which include the origin, and turns their rows into jumps to their ladders.
    fn split(&mut self, origin: u32) {
        let count = (self.rows / ROWS_PER_SPLITTER).min(MAX_SPLITTERS);
        self.table[IDLE] = (IDLE << 8) as u32;
        // More ladders than before, if this block needs them: a short block touches little memory.
        let new = LADDERS + self.rungs..LADDERS + (count * STEPS).max(self.rungs);
        for (rung, entry) in new.clone().zip(&mut self.table[new.clone()]) {
            *entry = (rung as u32 + 1) << 8;
        }
        self.rungs = new.end - LADDERS;
        let stratum = self.rows / count;
        let first = (origin as usize / stratum).min(count - 1);
        self.segments.clear();
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        for i in 0..count {
            // One step of a linear congruential generator (Knuth's constants).
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let row = if i == first { origin as usize } else { i * stratum + (random >> 33) as usize % stratum };
            self.segments.push(Segment { row: row as u32, ..Segment::default() });
            self.table[ENTRIES + i] = self.table[row];
            self.table[row] = ((LADDERS + i * STEPS) as u32) << 8;
        }
        self.first = first as u32;
    }

    /// Walks all segments in scalar lanes. Returns false if their memory is too small.
    ///
    /// It must not be compiled for AVX-512: LLVM then makes gathers of its loads, which takes 1.5 times as long.
    fn walk_lanes(&mut self) -> bool {
        // Not a multiple of 4096, because the lanes would then compete for the same lines of the L1 cache.
        let stride = (self.lanes.len() / LANES - 320) / 1024 * 1024 + 320;
        let mut rows = [IDLE as u32; LANES];
        // For each lane: the segment that it walks, and the step at which the segment began.
        let mut current = [(0u32, 0usize); LANES];
        let mut waiting = 0..self.segments.len();
        let mut busy = 0;
        for (lane, row) in rows.iter_mut().enumerate() {
            if let Some(segment) = waiting.next() {
                *row = (ENTRIES + segment) as u32;
                current[lane] = (segment as u32, 0);
                busy += 1;
            }
        }
        let mut step = 0;
        while busy > 0 {
            if step + STEPS > stride {
                return false;
            }
            step_lanes(&self.table, &mut rows, &mut self.lanes[step..], stride);
            step += STEPS;
            let mut on_ladders = on_ladders(&rows);
            while on_ladders != 0 {
                let lane = on_ladders.trailing_zeros() as usize;
                on_ladders &= on_ladders - 1;
                let row = &mut rows[lane];
                let rung = *row as usize - LADDERS;
                let (segment, began) = current[lane];
                let segment = &mut self.segments[segment as usize];
                segment.at = (lane * stride + began) as u32;
                // The step onto the ladder produced a byte, and so did each step from rung to rung.
                segment.len = (step - 1 - rung % STEPS - began) as u32;
                segment.next = (rung / STEPS) as u32;
                match waiting.next() {
                    Some(segment) => {
                        *row = (ENTRIES + segment) as u32;
                        current[lane] = (segment as u32, step);
                    }
                    None => {
                        *row = IDLE as u32;
                        busy -= 1;
                    }
                }
            }
        }
        true
    }
}

/// Returns a bit for each lane that is on a ladder. Only rows on ladders have bit 20 set.
fn on_ladders(rows: &[u32; LANES]) -> u64 {
    const { assert!(LADDERS == 1 << 20 && IDLE < LADDERS && TABLE < 2 * LADDERS) }
    let (eights, _) = rows.as_chunks::<8>();
    let bits = |eight: &[u32; 8]| (0..8).fold(0, |bits, i| bits | ((eight[i] >> 20) as u8) << i);
    eights.iter().enumerate().fold(0, |all, (i, eight)| all | u64::from(bits(eight)) << (8 * i))
}

/// Walks each lane by [`STEPS`]. Lane i writes its bytes at `i * stride` of `memory`.
#[cfg(any(test, not(target_arch = "x86_64")))]
#[inline(never)]
fn step_lanes_plain(table: &[u32], rows: &mut [u32; LANES], memory: &mut [u8], stride: usize) {
    assert!(table.len() >= TABLE && memory.len() >= (LANES - 1) * stride + STEPS);
    let mut now = *rows;
    let mut out = memory.as_mut_ptr();
    #[allow(unsafe_code)]
    for _ in 0..STEPS {
        for (lane, row) in now.iter_mut().enumerate() {
            // SAFETY: rows, ladders and entry rows lead to rows, ladders and IDLE, all of them less than TABLE:
            // `build`, `split` and `walk_lanes` write no others. The STEPS bytes of each lane are in `memory` by the
            // assertion.
            unsafe {
                let entry = *table.get_unchecked(*row as usize);
                *out.add(lane * stride) = entry as u8;
                *row = entry >> 8;
            }
        }
        // SAFETY: as above; at most one past the end.
        out = unsafe { out.add(1) };
    }
    *rows = now;
}

#[cfg(not(target_arch = "x86_64"))]
use step_lanes_plain as step_lanes;

/// [`step_lanes_plain`] with fewer stores.
///
/// A lane's step is one load, one shift and one store, of the whole entry; the bytes are taken from the entries after
/// the last step. If each step also stored the byte, half as many steps would fit into the store queue, and half as
/// many loads could wait. On a Zen 5, ns a byte with 24 lanes and two stores / 48 lanes and one: dickens 0.79 / 0.69,
/// nci 0.81 / 0.70, ooffice 0.77 / 0.67, reymont 0.77 / 0.68, xml 0.77 / 0.67.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn step_lanes(table: &[u32], rows: &mut [u32; LANES], memory: &mut [u8], stride: usize) {
    assert!(table.len() >= TABLE);
    let mut entries = [[0u32; LANES]; STEPS + 1];
    entries[0] = rows.map(|row| row << 8);
    for step in 0..STEPS {
        let (before, after) = entries.split_at_mut(step + 1);
        for (entry, next) in before[step].iter().zip(&mut after[0]) {
            // SAFETY: rows, ladders and entry rows lead to rows, ladders and IDLE, all of them less than TABLE:
            // `build`, `split` and `walk_lanes` write no others.
            #[allow(unsafe_code)]
            let entry = unsafe { *table.get_unchecked((entry >> 8) as usize) };
            *next = entry;
        }
    }
    *rows = entries[STEPS].map(|entry| entry >> 8);
    write_bytes(entries.last_chunk().expect("one more"), memory, stride);
}

/// Writes the low bytes of each lane's entries from `lane * stride` of `memory` on, with SSE2.
///
/// Four entries of a lane become a word, and a transposition of 4 x 4 words makes one store of 16 bytes for each lane.
/// In plain Rust, the whole walk takes 1.2 times as long. In WebAssembly, decoding so took 1.03 to 1.08 times as long
/// as with [`step_lanes_plain`].
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
#[inline(always)]
fn write_bytes(entries: &[[u32; LANES]; STEPS], memory: &mut [u8], stride: usize) {
    use std::arch::x86_64::*;
    assert!(memory.len() >= (LANES - 1) * stride + STEPS);
    for lane in (0..LANES).step_by(4) {
        // SAFETY: every x86-64 CPU has SSE2. LANES is a multiple of 4, so each step has four entries from `lane` on.
        // The assertion says that `memory` has STEPS bytes for each lane.
        unsafe {
            let words: [__m128i; STEPS / 4] = std::array::from_fn(|i| {
                let entry = |step: usize| _mm_loadu_si128(entries[4 * i + step][lane..].as_ptr().cast());
                let byte = |step| _mm_and_si128(entry(step), _mm_set1_epi32(0xff));
                let low = _mm_or_si128(byte(0), _mm_slli_epi32::<8>(byte(1)));
                let high = _mm_or_si128(_mm_slli_epi32::<16>(byte(2)), _mm_slli_epi32::<24>(entry(3)));
                _mm_or_si128(low, high)
            });
            let (ab, ab_high) = (_mm_unpacklo_epi32(words[0], words[1]), _mm_unpackhi_epi32(words[0], words[1]));
            let (cd, cd_high) = (_mm_unpacklo_epi32(words[2], words[3]), _mm_unpackhi_epi32(words[2], words[3]));
            let text = [
                _mm_unpacklo_epi64(ab, cd),
                _mm_unpackhi_epi64(ab, cd),
                _mm_unpacklo_epi64(ab_high, cd_high),
                _mm_unpackhi_epi64(ab_high, cd_high),
            ];
            for (i, bytes) in text.into_iter().enumerate() {
                _mm_storeu_si128(memory.as_mut_ptr().add((lane + i) * stride).cast(), bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn steps_as_the_plain_ones() {
        let mut random = hybz_testkit::shapes::Rng(1);
        let mut below = |end: usize| random.below(end) as u32;
        let table: Vec<u32> = (0..TABLE).map(|_| below(TABLE) << 8 | below(256)).collect();
        let mut rows: [u32; LANES] = std::array::from_fn(|_| below(TABLE));
        let mut plain_rows = rows;
        let [mut bytes, mut plain_bytes] = [[0; LANES * 21]; 2];
        step_lanes(&table, &mut rows, &mut bytes, 21);
        step_lanes_plain(&table, &mut plain_rows, &mut plain_bytes, 21);
        assert_eq!((rows, bytes), (plain_rows, plain_bytes));
    }

    #[test]
    fn lanes_on_ladders() {
        let mut rows = [IDLE as u32; LANES];
        assert_eq!(on_ladders(&rows), 0);
        for lane in [0, 7, 8, LANES - 1] {
            rows[lane] = (ENTRIES - 1) as u32;
        }
        assert_eq!(on_ladders(&rows), 1 | 1 << 7 | 1 << 8 | 1 << (LANES - 1));
    }
}
