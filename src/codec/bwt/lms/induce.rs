//! The last column from the sorted LMS positions: the last step of induced sorting (G. Nong, S. Zhang, W. H. Chan: Two
//! efficient algorithms for linear time suffix array construction, IEEE Transactions on Computers, 2011).
//!
//! Rows with the same first byte are neighbours, those of type L first. A pass upwards goes from row to row: for each
//! row, the rotation that begins one byte earlier, if it is of type L, goes into the next free row for its first byte.
//! A pass downwards does the same for type S. The byte before a rotation is its row's byte of the last column.
//!
//! An entry is a position (upper 24 bits) and the byte before it (lowest 8). So where the next entry goes, and whether
//! the next position is of the other type, is known before the text is read. There is no branch: entries whose
//! predecessor is of the other type go into an extra bucket. Two rows are visited at a time, because neighbouring rows
//! often have the same byte before them, and the second row would then wait for the store of the first row's head:
//! both heads are loaded, and the second is one further if the bytes are equal.

use super::gather::KeyCounts;
use super::{BEFORE, prefetch};
use crate::codec::bwt::suffixes::{ROWS, find};
use std::hint::select_unpredictable;

/// The number of rows between reading a row and fetching its text.
const AHEAD: usize = 24;

/// The bucket of entries whose predecessor is of the other type.
const TURNED: usize = 256;

/// On the way down, the head of [`TURNED`]: its entries are not needed, and go to the start of the buffer.
const SINK: u32 = 2;

/// The length of the buffer that [`last_column`] needs for a word of `len` bytes and its LMS positions.
pub(in crate::codec::bwt) fn room(len: usize) -> usize {
    len + len / 2 + 3 * AHEAD
}

/// Fills the last column of the word in `ring`, which has [`BEFORE`] bytes before it. `lms` are the LMS positions in
/// the order of their rotations. Returns the row of the rotation that begins at `turn`.
pub(super) fn last_column(
    ring: &[u8],
    turn: i32,
    counts: &KeyCounts,
    lms: &[i32],
    room: &mut [i32],
    last: &mut [u8],
) -> Option<u32> {
    const { assert!(BEFORE == 2) };
    let len = last.len();
    let room = &mut room[..self::room(len)];
    let starts = starts(counts);
    let ring = &ring[..len + BEFORE];
    let turned_at = forward(ring, room, &starts, counts, lms);
    backward(ring, room, &starts, &turned_at);
    let rows = &room[AHEAD..AHEAD + len];
    let mut row = None;
    for ((first, part), last) in (0..).step_by(ROWS).zip(rows.chunks(ROWS)).zip(last.chunks_mut(ROWS)) {
        for (last, entry) in last.iter_mut().zip(part) {
            *last = *entry as u8;
        }
        row = row.or_else(|| find(part, |entry| entry as u32 >> 8 == turn as u32).map(|at| first + at as u32));
    }
    row
}

/// Where the next entry of each bucket goes: on the way up after its entries, on the way down before them.
type Heads = [u32; 257];

/// Visits the entries from `at` to `end`, which may move away meanwhile. `visit` returns a new entry and its bucket.
/// (Parameters, not a struct, so that the compiler knows that rows and heads do not alias.)
#[inline(always)]
fn pass<const UP: bool>(
    room: &mut [i32],
    heads: &mut Heads,
    mut at: u32,
    end: impl Fn(&Heads) -> u32,
    visit: impl Fn(&[i32], usize) -> (usize, i32),
) {
    let left = |heads: &Heads, at: u32| if UP { end(heads) - at } else { at - end(heads) };
    loop {
        while left(heads, at) >= 2 {
            let (first, second) = if UP { (at, at + 1) } else { (at - 1, at - 2) };
            let ((a, x), (b, y)) = (visit(room, first as usize), visit(room, second as usize));
            at = if UP { at + 2 } else { at - 2 };
            let same = u32::from(a == b);
            let to = if UP { [heads[a], heads[b] + same] } else { [heads[a] - 1, heads[b] - 1 - same] };
            room[to[0] as usize] = x;
            room[to[1] as usize] = y;
            [heads[a], heads[b]] = if UP { to.map(|to| to + 1) } else { to };
            if !UP {
                heads[TURNED] = SINK;
            }
        }
        if left(heads, at) == 0 {
            return;
        }
        at = if UP { at } else { at - 1 };
        let (a, x) = visit(room, at as usize);
        let to = if UP { heads[a] } else { heads[a] - 1 };
        room[to as usize] = x;
        heads[a] = if UP { to + 1 } else { to };
        at = if UP { at + 1 } else { at };
        if !UP {
            heads[TURNED] = SINK;
        }
    }
}

/// Returns the byte before the position of the entry at `at`, that entry, and the entry of the position before. Fetches
/// the text for the entry at `ahead`.
#[inline(always)]
fn step(ring: &[u8], room: &[i32], at: usize, ahead: usize) -> (usize, i32, i32) {
    prefetch(ring, (room[ahead] as u32 >> 8) as usize);
    let entry = room[at] as u32;
    let position = entry >> 8;
    let earlier = u32::from(ring[position as usize]);
    (entry as usize & 255, entry as i32, (position << 8 | earlier).wrapping_sub(1 << 8) as i32)
}

/// Upwards: LMS positions induce positions of type L. Returns where each byte's entries begin in [`TURNED`].
#[inline(never)]
fn forward(ring: &[u8], room: &mut [i32], starts: &Heads, counts: &KeyCounts, mut lms: &[i32]) -> Heads {
    let len = starts[256];
    let mut heads = starts.map(|start| start + AHEAD as u32);
    heads[TURNED] += AHEAD as u32;
    let mut turned_at = [0; 257];
    for byte in 0..256 {
        turned_at[byte] = heads[TURNED];
        let first = starts[byte] + AHEAD as u32;
        let visit_row = |room: &[i32], at: usize| {
            let (previous, entry, next) = step(ring, room, at, at + AHEAD);
            let turned = previous < byte;
            (select_unpredictable(turned, TURNED, previous), select_unpredictable(turned, entry, next))
        };
        pass::<true>(room, &mut heads, first, |heads| heads[byte], visit_row);
        let count = counts.lms[byte];
        let visit_seed = |_: &[i32], at: usize| {
            prefetch(ring, lms.get(at + AHEAD).map_or(0, |&position| position as usize));
            // Position 0 is also the position after the last.
            let position = if lms[at] == 0 { len } else { lms[at] as u32 };
            let (earlier, previous) = (ring[position as usize], ring[position as usize + 1]);
            (usize::from(previous), ((position - 1) << 8 | u32::from(earlier)) as i32)
        };
        pass::<true>(room, &mut heads, 0, |_| count, visit_seed);
        lms = &lms[count as usize..];
    }
    turned_at[256] = heads[TURNED];
    turned_at
}

/// Downwards: the positions in [`TURNED`] induce those of type S.
#[inline(never)]
fn backward(ring: &[u8], room: &mut [i32], starts: &Heads, turned_at: &Heads) {
    let mut heads = std::array::from_fn(|byte| starts[(byte + 1).min(256)] + AHEAD as u32);
    heads[TURNED] = SINK;
    for byte in (0..256).rev() {
        let last = starts[byte + 1] + AHEAD as u32;
        let visit_row = |room: &[i32], at: usize| {
            let (previous, _, next) = step(ring, room, at, at - AHEAD);
            (select_unpredictable(previous > byte, TURNED, previous), next)
        };
        pass::<false>(room, &mut heads, last, |heads| heads[byte], visit_row);
        let visit_turned = |room: &[i32], at: usize| {
            let (previous, _, next) = step(ring, room, at, at - AHEAD);
            (previous, next)
        };
        pass::<false>(room, &mut heads, turned_at[byte + 1], |_| turned_at[byte], visit_turned);
    }
}

/// The first row that begins with each byte, and the number of rows.
fn starts(counts: &KeyCounts) -> Heads {
    let mut sum = 0;
    std::array::from_fn(|byte| {
        let start = sum;
        sum += counts.all.get(byte).copied().unwrap_or(0);
        start
    })
}
