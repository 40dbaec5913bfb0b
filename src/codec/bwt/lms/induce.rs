//! The last column from the sorted LMS positions: the last step of induced sorting (G. Nong, S. Zhang, W. H. Chan: Two
//! efficient algorithms for linear time suffix array construction, IEEE Transactions on Computers, 2011).
//!
//! Rows of the same first byte are neighbours, those of type L first. A pass downwards goes from row to row: for each
//! row, the rotation that begins one byte earlier, if it is of type L, goes into the next free row for its first byte.
//! A pass upwards does the same for type S. The byte before a rotation is its row's byte of the last column.

use super::gather::KeyCounts;
use super::{BEFORE, prefetch};

/// The number of rows between reading a row and fetching its text.
const AHEAD: usize = 32;

/// The number of rows that are searched together.
const PART: usize = 1024;

/// Marks a row whose predecessor is of the other type.
const TURN: i32 = i32::MIN;

/// Fills the last column of the word in `ring`, which has [`BEFORE`] bytes before it. `lms` are the LMS positions in
/// the order of their rotations; `turns` has room for as many. Returns the row of the rotation that begins at `turn`.
pub(super) fn last_column(
    ring: &[u8],
    turn: i32,
    counts: &KeyCounts,
    lms: &[i32],
    rows: &mut [i32],
    turns: &mut [i32],
    last: &mut [u8],
) -> Option<u32> {
    const { assert!(BEFORE == 2) };
    let ring = &ring[..last.len() + BEFORE];
    let rows = &mut rows[..last.len()];
    let mut induction = Induction { ring, starts: starts(counts), rows, turns, last };
    let turned_at = induction.forward(counts, lms);
    induction.backward(&turned_at);
    find(induction.rows, turn)
}

/// The row of a position. A comparison in each step of the passes took 1.0 to 1.2 cycles a byte more than this search.
fn find(rows: &[i32], position: i32) -> Option<u32> {
    // First test whether it is in this part, without an early exit, so that the test becomes vector code.
    let is_it = |entry: &i32| entry & !TURN == position;
    let number = rows.chunks(PART).position(|part| part.iter().fold(false, |any, entry| any | is_it(entry)))?;
    let first = number * PART;
    rows[first..].iter().position(is_it).map(|at| (first + at) as u32)
}

/// The rows of the word, and the column that is made of them.
struct Induction<'a> {
    ring: &'a [u8],
    starts: [u32; 257],
    rows: &'a mut [i32],
    turns: &'a mut [i32],
    last: &'a mut [u8],
}

impl Induction<'_> {
    /// The two bytes before a position.
    #[inline(always)]
    fn before(&self, position: i32) -> (u8, u8) {
        (self.ring[position as usize], self.ring[position as usize + 1])
    }

    /// Writes the byte before the position in `row`. Returns the row's entry, its position and the bytes before it.
    #[inline(always)]
    fn visit(&mut self, row: usize, ahead: usize) -> (i32, i32, (u8, u8)) {
        if let Some(&ahead) = self.rows.get(ahead) {
            prefetch(self.ring, (ahead & !TURN) as usize);
        }
        let entry = self.rows[row];
        let position = entry & !TURN;
        let before = self.before(position);
        self.last[row] = before.1;
        (entry, position, before)
    }

    /// Upwards: LMS positions give the positions of type L. Returns where the positions of each byte begin in `turns`.
    fn forward(&mut self, counts: &KeyCounts, lms: &[i32]) -> [usize; 257] {
        let mut turned = 0;
        let mut turned_at = [0; 257];
        let mut heads = self.starts;
        let mut seeds = 0;
        for byte in 0..256 {
            turned_at[byte] = turned;
            let mut row = self.starts[byte] as usize;
            while row < heads[byte] as usize {
                let (entry, position, (earlier, previous)) = self.visit(row, row + AHEAD);
                if entry < 0 {
                    self.turns[turned] = position;
                    turned += 1;
                } else {
                    let head = &mut heads[previous as usize];
                    self.rows[*head as usize] = position.wrapping_sub(1) | if earlier < previous { TURN } else { 0 };
                    *head += 1;
                }
                row += 1;
            }
            for _ in 0..counts.lms[byte] {
                if let Some(&ahead) = lms.get(seeds + AHEAD) {
                    prefetch(self.ring, ahead as usize);
                }
                // Position 0 is also the position after the last.
                let position = if lms[seeds] == 0 { self.last.len() as i32 } else { lms[seeds] };
                let (earlier, previous) = self.before(position);
                let head = &mut heads[previous as usize];
                self.rows[*head as usize] = position.wrapping_sub(1) | if earlier < previous { TURN } else { 0 };
                *head += 1;
                seeds += 1;
            }
        }
        turned_at[256] = turned;
        turned_at
    }

    /// Downwards: the positions in `turns` give those of type S.
    fn backward(&mut self, turned_at: &[usize; 257]) {
        let mut heads = self.starts;
        for byte in (0..256).rev() {
            let mut row = self.starts[byte + 1] as usize;
            while row > heads[byte + 1] as usize {
                row -= 1;
                let (entry, position, (earlier, previous)) = self.visit(row, row.wrapping_sub(AHEAD));
                if entry >= 0 {
                    let head = &mut heads[previous as usize + 1];
                    *head -= 1;
                    self.rows[*head as usize] = position.wrapping_sub(1) | if earlier > previous { TURN } else { 0 };
                }
            }
            for at in (turned_at[byte]..turned_at[byte + 1]).rev() {
                let position = self.turns[at];
                let (earlier, previous) = self.before(position);
                let head = &mut heads[previous as usize + 1];
                *head -= 1;
                self.rows[*head as usize] = position.wrapping_sub(1) | if earlier > previous { TURN } else { 0 };
            }
        }
    }
}

/// The first row of each byte, and the number of rows.
fn starts(counts: &KeyCounts) -> [u32; 257] {
    let mut sum = 0;
    std::array::from_fn(|byte| {
        let start = sum;
        sum += counts.all.get(byte).copied().unwrap_or(0);
        start
    })
}
