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
    // The two bytes before a position.
    let before = |position: i32| (ring[position as usize], ring[position as usize + 1]);
    let mut found = None;
    let starts = starts(counts);

    let mut turned = 0;
    let mut turned_at = [0; 257];
    let mut heads = starts;
    let mut seeds = 0;
    for byte in 0..256 {
        turned_at[byte] = turned;
        let mut row = starts[byte] as usize;
        while row < heads[byte] as usize {
            if let Some(&ahead) = rows.get(row + AHEAD) {
                prefetch(ring, (ahead & !TURN) as usize);
            }
            let entry = rows[row];
            let position = entry & !TURN;
            if position == turn {
                found = Some(row as u32);
            }
            let (earlier, previous) = before(position);
            last[row] = previous;
            if entry < 0 {
                turns[turned] = position;
                turned += 1;
            } else {
                let head = &mut heads[previous as usize];
                rows[*head as usize] = position.wrapping_sub(1) | if earlier < previous { TURN } else { 0 };
                *head += 1;
            }
            row += 1;
        }
        for _ in 0..counts.lms[byte] {
            if let Some(&ahead) = lms.get(seeds + AHEAD) {
                prefetch(ring, ahead as usize);
            }
            // Position 0 is also the position after the last.
            let position = if lms[seeds] == 0 { last.len() as i32 } else { lms[seeds] };
            let (earlier, previous) = before(position);
            let head = &mut heads[previous as usize];
            rows[*head as usize] = position.wrapping_sub(1) | if earlier < previous { TURN } else { 0 };
            *head += 1;
            seeds += 1;
        }
    }
    turned_at[256] = turned;

    let mut heads = starts;
    for byte in (0..256).rev() {
        let mut row = starts[byte + 1] as usize;
        while row > heads[byte + 1] as usize {
            row -= 1;
            if let Some(&ahead) = rows.get(row.wrapping_sub(AHEAD)) {
                prefetch(ring, (ahead & !TURN) as usize);
            }
            let entry = rows[row];
            let position = entry & !TURN;
            if position == turn {
                found = Some(row as u32);
            }
            let (earlier, previous) = before(position);
            last[row] = previous;
            if entry >= 0 {
                let head = &mut heads[previous as usize + 1];
                *head -= 1;
                rows[*head as usize] = position.wrapping_sub(1) | if earlier > previous { TURN } else { 0 };
            }
        }
        for &position in turns[turned_at[byte]..turned_at[byte + 1]].iter().rev() {
            let (earlier, previous) = before(position);
            let head = &mut heads[previous as usize + 1];
            *head -= 1;
            rows[*head as usize] = position.wrapping_sub(1) | if earlier > previous { TURN } else { 0 };
        }
    }
    found
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
