//! Building T from the runs of the last column.
//!
//! T's rows for one first byte hold the positions of that byte in the last column, in ascending order. A run of the
//! last column is therefore written as one piece, counting up, and a table of 256 entries tells where the next piece
//! of each byte goes. (bzip2 does it byte by byte, in two passes, with a dependent increment each.)
//!
//! Measured on a Zen 5 core: 0.70 ns per byte of a block of the kernel tarball; 0.90 if runs of up to 8 bytes, not 16,
//! are written at once. A run of text takes about 10 cycles, bound by the number of instructions: one bounds check and
//! one shift fewer made it 1.09 times as fast on a Zen 4 core. There, prefetching the line of the byte's next piece
//! made it 1.07 times slower, and a second store only for runs of 9 to 16 entries gained nothing.

/// A run of at most this length (97 of 100 in text) is written as if it had exactly this length: no loop, no
/// misprediction.
const PIECE: usize = 16;

/// Where the rows of a byte are written.
#[derive(Clone, Copy, Default)]
struct Place {
    /// The row of the byte's next piece.
    next: u32,
    /// The last row at which a whole piece fits into the byte's rows, negative if there is none.
    last: i32,
}

/// Writes T into `table`. `runs` has a word for each run: its start, shifted left by 8, and its byte. The last word
/// only gives the end of the last run, which is `table`'s length.
pub(super) fn build(runs: &[u32], table: &mut [u32]) {
    // Four tables: with two, equal bytes soon after each other wait for each other's addition (1.13 times as long).
    let mut counts = [[0u32; 256]; 4];
    let mut rest = runs;
    while let Some(five) = rest.first_chunk::<5>() {
        for (i, counts) in counts.iter_mut().enumerate() {
            counts[usize::from(five[i] as u8)] += (five[i + 1] >> 8) - (five[i] >> 8);
        }
        rest = &rest[4..];
    }
    for pair in rest.windows(2) {
        counts[0][usize::from(pair[0] as u8)] += (pair[1] >> 8) - (pair[0] >> 8);
    }
    let mut places = [Place::default(); 256];
    let mut sum = 0;
    for (byte, place) in places.iter_mut().enumerate() {
        let count = counts.iter().map(|counts| counts[byte]).sum::<u32>();
        place.next = sum;
        sum += count;
        place.last = sum as i32 - PIECE as i32;
    }
    assert!(sum as usize == table.len(), "the runs are the whole column");
    scatter_best(runs, &mut places, table);
}

/// [`scatter`], with the widest vectors that the CPU has. On a Zen 5, 256 bits take 0.82 to 0.92 of the time that 128
/// bits take, and 512 bits take no less. On a Sapphire Rapids, a build that stopped at 256, which had other changes
/// too, decoded five files in 1.02 to 1.04 times the time of the build before it.
fn scatter_best(runs: &[u32], places: &mut [Place; 256], table: &mut [u32]) {
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code)]
    {
        #[target_feature(enable = "avx512f")]
        fn scatter_avx512(runs: &[u32], places: &mut [Place; 256], table: &mut [u32]) {
            scatter(runs, places, table);
        }
        #[target_feature(enable = "avx2,bmi2")]
        fn scatter_avx2(runs: &[u32], places: &mut [Place; 256], table: &mut [u32]) {
            scatter(runs, places, table);
        }
        if crate::cpu::has!(Avx512: "avx512f") {
            // SAFETY: the CPU has AVX-512F.
            return unsafe { scatter_avx512(runs, places, table) };
        }
        if crate::cpu::has!(Avx2: "avx2", "bmi2") {
            // SAFETY: the CPU has AVX2 and BMI2.
            return unsafe { scatter_avx2(runs, places, table) };
        }
    }
    scatter(runs, places, table);
}

/// Writes each run's piece of T.
#[inline(always)]
fn scatter(runs: &[u32], places: &mut [Place; 256], table: &mut [u32]) {
    assert!(places.iter().all(|place| place.last + PIECE as i32 <= table.len() as i32));
    let mut steps: [u32; PIECE] = std::array::from_fn(|i| (i as u32) << 8);
    if cfg!(target_arch = "wasm32") {
        // V8 would rebuild a constant vector, in four instructions, for each run.
        steps = std::hint::black_box(steps);
    }
    let mut run = runs[0];
    for &next in &runs[1..] {
        let len = ((next >> 8) - (run >> 8)) as usize;
        let place = &mut places[usize::from(run as u8)];
        let row = place.next as usize;
        place.next += len as u32;
        if (len <= PIECE) & (row as i32 <= place.last) {
            // The byte's next piece overwrites the excess after the run.
            // SAFETY: `row` is at most `last`, and the assertion says that a piece from there on is in the table.
            #[allow(unsafe_code)]
            let piece = unsafe { table.get_unchecked_mut(row..row + PIECE) };
            for (entry, step) in piece.iter_mut().zip(steps) {
                *entry = run.wrapping_add(step);
            }
        } else {
            for (entry, i) in table[row..row + len].iter_mut().zip(0u32..) {
                *entry = run + (i << 8);
            }
        }
        run = next;
    }
}
