//! The walk in lanes: splitters, the segments between them, and the scalar kernel.

use super::layout::{ENTRIES, IDLE, LADDERS, MAX_SPLITTERS, STEPS, TABLE};
use super::{Inverse, Segment};

#[cfg(target_arch = "x86_64")]
use super::walk_avx512;

/// The number of scalar lanes.
const LANES: usize = 24;
/// The min number of rows for a splitter.
const ROWS_PER_SPLITTER: usize = 512;

/// How the lanes are moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WalkKernel {
    /// 24 lanes, a load for each step of each.
    Scalar,
    /// 64 lanes, 16 of which are moved by one gather of AVX-512.
    #[cfg(target_arch = "x86_64")]
    Gather,
}

impl WalkKernel {
    /// The one that is known to be the fastest on this CPU.
    pub(super) fn best() -> WalkKernel {
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
                // The parts of 24 lanes are longer than those of 64.
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
    /// It must not be compiled for AVX-512: LLVM then makes gathers of its loads, which takes 1.5 times as long. Nor
    /// does it share its loop with `walk_in_vectors`: with the lanes in a struct and a mask of those that are on
    /// ladders, it took 1.12 to 1.2 times as long.
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
            for (lane, row) in rows.iter_mut().enumerate() {
                if (*row as usize) < LADDERS {
                    continue;
                }
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

/// Walks each lane by [`STEPS`]. Lane i writes its bytes at `i * stride` of `memory`.
#[inline(always)]
fn step_lanes(table: &[u32], rows: &mut [u32; LANES], memory: &mut [u8], stride: usize) {
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
