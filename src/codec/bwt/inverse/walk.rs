//! The walk in lanes: splitters, and the segments between them.

use super::{Inverse, MIN_ROWS_IN_LANES, Segment};
use std::array::from_fn;

/// The number of lanes. What decides it is how many loads a core can keep in flight, not their latency. The walk alone
/// takes, on a Zen 5, 0.82 ns a byte with 24 lanes, 0.71 with 40, 0.69 with 48 and 0.65 with 56; decoding as a whole
/// is no faster with 56 than with 48. In WebAssembly 24 are best, and elsewhere nothing has been measured.
const LANES: usize = if cfg!(target_arch = "x86_64") { 48 } else { 24 };
/// The min number of rows per splitter.
const ROWS_PER_SPLITTER: usize = 512;
/// The bytes of a page of memory.
const PAGE: usize = 4096;

/// The number of steps between two checks of the lanes, and of rungs of a ladder.
const STEPS: usize = 16;
/// The max number of splitters.
pub(super) const MAX_SPLITTERS: usize = 1024;
/// An entry that leads to itself, for lanes without a segment.
const IDLE: usize = (1 << 20) - 1;
/// The first rung of the first ladder.
const LADDERS: usize = 1 << 20;
/// The entries at which lanes begin segments: those that the jumps in the splitters' rows replace.
const ENTRIES: usize = LADDERS + MAX_SPLITTERS * STEPS;
/// The number of entries of T.
pub(super) const TABLE: usize = ENTRIES + MAX_SPLITTERS;

/// Where a lane's part of the memory begins, the segment that it walks, and the step at which that segment began.
type Lane = (usize, usize, usize);

impl Inverse {
    /// Walks all segments from one splitter to the next. Returns false if the lanes' memory is too small, because one
    /// segment is far longer than it should be.
    pub(super) fn walk_segments(&mut self, origin: u32) -> bool {
        self.split(origin);
        let walked = self.walk_lanes();
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

    /// Walks all segments in [`LANES`] lanes, each of which writes to its own part of the memory. Returns false if the
    /// parts are too short.
    ///
    /// When half of the lanes are idle, only the others walk: at the end of a block, lanes run out of segments one by
    /// one. A short block gets half of the lanes, close to each other: each lane touches a page or two of its own.
    ///
    /// Not to be compiled for AVX-512: LLVM then turns the loads into gathers, which takes 1.5 times as long.
    fn walk_lanes(&mut self) -> bool {
        let (mut count, memory) = match self.rows < MIN_ROWS_IN_LANES {
            true => (LANES / 2, self.lanes.len().min(2 * self.rows + LANES / 2 * PAGE)),
            false => (LANES, self.lanes.len()),
        };
        // Not a multiple of 4096, because the lanes would then compete for the same lines of the L1 cache.
        let stride = (memory / count - 320) / 1024 * 1024 + 320;
        let mut rows = [IDLE as u32; LANES];
        let mut lanes: [Lane; LANES] = from_fn(|lane| (lane * stride, 0, 0));
        let mut waiting = 0..self.segments.len();
        let mut busy = 0;
        for lane in 0..count.min(waiting.len()) {
            rows[lane] = (ENTRIES + lane) as u32;
            lanes[lane].1 = lane;
            busy += 1;
        }
        waiting.start = busy;
        let mut step = 0;
        while busy > 0 {
            if step + STEPS > stride {
                return false;
            }
            let memory = &mut self.lanes[step..];
            let mut on_ladders = match count {
                LANES => step_lanes::<LANES>(&self.table, &mut rows, memory, &lanes),
                _ => step_lanes::<{ LANES / 2 }>(&self.table, &mut rows, memory, &lanes),
            };
            step += STEPS;
            while on_ladders != 0 {
                let lane = on_ladders.trailing_zeros() as usize;
                on_ladders &= on_ladders - 1;
                let rung = rows[lane] as usize - LADDERS;
                let (part, number, began) = lanes[lane];
                let segment = &mut self.segments[number];
                segment.at = (part + began) as u32;
                // The step onto the ladder produced a byte, and so did each step from rung to rung.
                segment.len = (step - 1 - rung % STEPS - began) as u32;
                segment.next = (rung / STEPS) as u32;
                rows[lane] = match waiting.next() {
                    Some(segment) => {
                        (lanes[lane].1, lanes[lane].2) = (segment, step);
                        (ENTRIES + segment) as u32
                    }
                    None => {
                        busy -= 1;
                        IDLE as u32
                    }
                };
            }
            if count == LANES && busy <= LANES / 2 {
                count = leave_out_idle(&mut rows, &mut lanes);
            }
        }
        true
    }
}

/// Moves the busy lanes, at most half of all, to the front. Returns the number of lanes that walk from then on.
#[cold]
fn leave_out_idle(rows: &mut [u32; LANES], lanes: &mut [Lane; LANES]) -> usize {
    let mut busy = 0;
    for lane in 0..LANES {
        if rows[lane] != IDLE as u32 {
            rows.swap(busy, lane);
            lanes.swap(busy, lane);
            busy += 1;
        }
    }
    LANES / 2
}

/// Returns a bit for each of the first `N` lanes that is on a ladder. Only rows on ladders have bit 20 set.
#[inline(always)]
fn on_ladders<const N: usize>(rows: &[u32; N]) -> u64 {
    const { assert!(LADDERS == 1 << 20 && IDLE < LADDERS && TABLE < 2 * LADDERS) }
    let (fours, _) = rows.as_chunks::<4>();
    let bits = |four: &[u32; 4]| (0..4).fold(0, |bits, i| bits | (four[i] >> 20) << i);
    fours.iter().rev().fold(0, |all, four| all << 4 | u64::from(bits(four)))
}

/// Moves the first `N` lanes by [`STEPS`], writes their bytes from the beginning of their parts of `memory` on, and
/// returns a bit for each lane that is on a ladder.
///
/// A lane's step is one load, one shift and one store, of the whole entry; the bytes are taken from the entries after
/// the last step. If each step also stored the byte, half as many steps would fit into the store queue, and half as
/// many loads could wait. On a Zen 5, ns a byte with 24 lanes and two stores / 48 lanes and one: dickens 0.79 / 0.69,
/// nci 0.81 / 0.70, ooffice 0.77 / 0.67, reymont 0.77 / 0.68, xml 0.77 / 0.67.
#[inline(never)]
fn step_lanes<const N: usize>(table: &[u32], rows: &mut [u32; LANES], memory: &mut [u8], lanes: &[Lane; LANES]) -> u64 {
    assert!(table.len() >= TABLE);
    let rows: &mut [u32; N] = rows.first_chunk_mut().expect("N lanes");
    let mut entries = [[0u32; N]; STEPS + 1];
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
    write_bytes::<N>(entries.last_chunk().expect("one more"), memory, lanes);
    on_ladders(rows)
}

/// Writes the low bytes of each lane's entries to the beginning of its part of `memory`.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn write_bytes_plain<const N: usize>(entries: &[[u32; N]; STEPS], memory: &mut [u8], lanes: &[Lane; LANES]) {
    for (lane, (part, ..)) in lanes[..N].iter().enumerate() {
        for (step, byte) in memory[*part..*part + STEPS].iter_mut().enumerate() {
            *byte = entries[step][lane] as u8;
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
use write_bytes_plain as write_bytes;

/// [`write_bytes_plain`] with SSE2.
///
/// Four entries of a lane become a word, and a transposition of 4 x 4 words makes one store of 16 bytes for each lane.
/// In plain Rust, the whole walk takes 1.2 times as long.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
#[inline(always)]
fn write_bytes<const N: usize>(entries: &[[u32; N]; STEPS], memory: &mut [u8], lanes: &[Lane; LANES]) {
    use std::arch::x86_64::*;
    for (at, lanes) in (0..N).step_by(4).zip(lanes.as_chunks::<4>().0) {
        // SAFETY: every x86-64 CPU has SSE2. `N` is a multiple of 4, so each step has four entries from `at` on.
        let text: [__m128i; 4] = unsafe {
            let words: [__m128i; STEPS / 4] = from_fn(|i| {
                let entry = |step: usize| _mm_loadu_si128(entries[4 * i + step][at..].as_ptr().cast());
                let byte = |step| _mm_and_si128(entry(step), _mm_set1_epi32(0xff));
                let low = _mm_or_si128(byte(0), _mm_slli_epi32::<8>(byte(1)));
                let high = _mm_or_si128(_mm_slli_epi32::<16>(byte(2)), _mm_slli_epi32::<24>(entry(3)));
                _mm_or_si128(low, high)
            });
            let (ab, ab_high) = (_mm_unpacklo_epi32(words[0], words[1]), _mm_unpackhi_epi32(words[0], words[1]));
            let (cd, cd_high) = (_mm_unpacklo_epi32(words[2], words[3]), _mm_unpackhi_epi32(words[2], words[3]));
            [
                _mm_unpacklo_epi64(ab, cd),
                _mm_unpackhi_epi64(ab, cd),
                _mm_unpacklo_epi64(ab_high, cd_high),
                _mm_unpackhi_epi64(ab_high, cd_high),
            ]
        };
        for (&(part, ..), bytes) in lanes.iter().zip(text) {
            let to = &mut memory[part..part + STEPS];
            // SAFETY: 16 bytes are written to 16.
            unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), bytes) };
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn bytes_as_the_plain_ones() {
        let mut random = hybz_testkit::shapes::Rng(1);
        let entries = from_fn(|_| from_fn(|_| random.below(1 << 28) as u32));
        let lanes = from_fn(|lane| ((lane * 5 + 3) % LANES * 21, 0, 0));
        let [mut bytes, mut plain_bytes] = [[0; LANES * 21]; 2];
        write_bytes::<LANES>(&entries, &mut bytes, &lanes);
        write_bytes_plain::<LANES>(&entries, &mut plain_bytes, &lanes);
        assert_eq!(bytes, plain_bytes);
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
