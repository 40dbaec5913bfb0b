//! LMS positions: the positions of type S that follow a position of type L. A position is of type S if its rotation is
//! smaller than the rotation at the next position.
//!
//! The word is a ring that begins at its least rotation, so position 0 is of type S, the last position of type L, and
//! position 0 therefore LMS.

/// The number of positions examined together.
const CHUNK: usize = 64;

/// The number of occurrences of each byte.
#[derive(Debug)]
pub(super) struct KeyCounts {
    /// In the word.
    pub(super) all: [u32; 256],
    /// At LMS positions.
    pub(super) lms: [u32; 256],
}

/// The length of the buffer that [`gather`] needs for a word of `len` bytes: at most every second position is LMS.
pub(super) fn room(len: usize) -> usize {
    len / 2 + CHUNK
}

/// Puts the LMS positions of `text[..len]` into the end of `room`, ascending, and `len` after them. `text[len]` is the
/// first byte again. Returns the index of the first LMS position (which is 0) in `room`.
#[inline(always)]
pub(super) fn gather(text: &[u8], len: usize, room: &mut [i32]) -> usize {
    assert!(len >= 2 && text.len() > len && text[len] == text[0] && room.len() >= self::room(len));
    // The text is read from its end, so the positions are written from the end of `room`. The last position of the
    // text is of type L, so `len` is the first LMS position found.
    let mut first = room.len();
    let mut next_is_small = 1;
    let mut end = len;
    while let Some(start) = end.checked_sub(CHUNK) {
        let (less, equal) = compare(text[start..=end].try_into().expect("a chunk and one byte more"));
        let small = types(less, equal, next_is_small << 63);
        // Bit i: position i is of type L and the next one of type S.
        let mut found = !small & (small >> 1 | next_is_small << 63);
        next_is_small = small & 1;
        let mut base = start as i32 + 64 - 7;
        for _ in 0..8 {
            let byte = (found >> 56) as usize;
            let to: &mut [i32; 8] = (&mut room[first - 8..first]).try_into().expect("eight numbers");
            // Not `map`, which would be compiled to eight scalar additions.
            for (to, &place) in to.iter_mut().zip(&PLACES[byte]) {
                *to = base + i32::from(place);
            }
            first -= byte.count_ones() as usize;
            found <<= 8;
            base -= 8;
        }
        end = start;
    }
    first = gather_plain(&text[..=end], next_is_small != 0, &mut room[..first]);
    // Position `len` is also position 0.
    first -= 1;
    room[first] = 0;
    first
}

/// The same for the start of a text, position by position. The last byte of `text` is that of the position that
/// follows, whose type is known.
fn gather_plain(text: &[u8], mut next_is_small: bool, room: &mut [i32]) -> usize {
    let mut first = room.len();
    for (at, pair) in text.windows(2).enumerate().rev() {
        let is_small = pair[0] < pair[1] || (pair[0] == pair[1] && next_is_small);
        if next_is_small && !is_small {
            first -= 1;
            room[first] = at as i32 + 1;
        }
        next_is_small = is_small;
    }
    first
}

/// For each value of a mask's byte: the numbers of the bits that are set, at the end, the highest last.
static PLACES: [[u8; 8]; 256] = {
    let mut all = [[0; 8]; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut bit, mut at) = (8, 8);
        while bit > 0 {
            bit -= 1;
            if mask >> bit & 1 != 0 {
                at -= 1;
                all[mask][at] = bit;
            }
        }
        mask += 1;
    }
    all
};

/// Which of a chunk's bytes are less than the next byte, and which are equal to it.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn compare(bytes: &[u8; CHUNK + 1]) -> (u64, u64) {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_min_epu8, _mm_movemask_epi8};
    let (mut less, mut equal) = (0, 0);
    for at in [0, 16, 32, 48] {
        // SAFETY: 16 of 65 bytes are read, from offsets 0 to 49. Every x86-64 has SSE2.
        #[allow(unsafe_code)]
        let (same, not_above) = unsafe {
            let these = _mm_loadu_si128(bytes[at..].as_ptr().cast());
            let next = _mm_loadu_si128(bytes[at + 1..].as_ptr().cast());
            let mask = |test| u64::from(_mm_movemask_epi8(test) as u32) << at;
            (mask(_mm_cmpeq_epi8(these, next)), mask(_mm_cmpeq_epi8(_mm_min_epu8(these, next), these)))
        };
        less |= not_above & !same;
        equal |= same;
    }
    (less, equal)
}

#[cfg(not(target_arch = "x86_64"))]
fn compare(bytes: &[u8; CHUNK + 1]) -> (u64, u64) {
    let mask =
        |test: fn(u8, u8) -> bool| (0..CHUNK).fold(0, |mask, i| mask | u64::from(test(bytes[i], bytes[i + 1])) << i);
    (mask(|byte, next| byte < next), mask(|byte, next| byte == next))
}

/// Which of a chunk's positions are of type S. A type passes from a position to the one before it where their bytes
/// are equal: seldom far, because runs in a block have at most four bytes, except runs of count bytes.
#[inline(always)]
fn types(less: u64, equal: u64, next_is_small: u64) -> u64 {
    let mut small = less;
    loop {
        let more = small | equal & (small >> 1 | next_is_small);
        if more == small {
            return small;
        }
        small = more;
    }
}

/// Counts the bytes of a word, and those at its LMS `positions`.
pub(super) fn count(word: &[u8], positions: &[i32]) -> KeyCounts {
    KeyCounts { all: tally(word, |&byte| byte), lms: tally(positions, |&at| word[at as usize]) }
}

/// Counts bytes in eight tables in turn, because equal neighbours would wait for each other's addition.
#[inline(always)]
fn tally<T>(items: &[T], byte: impl Fn(&T) -> u8) -> [u32; 256] {
    let mut tables = [[0; 256]; 8];
    let (eights, rest) = items.as_chunks::<8>();
    for eight in eights {
        for (table, item) in tables.iter_mut().zip(eight) {
            table[usize::from(byte(item))] += 1;
        }
    }
    rest.iter().for_each(|item| tables[0][usize::from(byte(item))] += 1);
    std::array::from_fn(|byte| tables.iter().map(|table| table[byte]).sum())
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::codec::bwt::rotation;

    /// By the definition.
    fn naive(word: &[u8]) -> Vec<i32> {
        let rotation = |start: usize| word[start..].iter().chain(&word[..start]);
        let small: Vec<bool> = (0..word.len()).map(|at| rotation(at).lt(rotation((at + 1) % word.len()))).collect();
        let before = |at: usize| (at + word.len() - 1) % word.len();
        (0..word.len()).filter(|&at| small[at] && !small[before(at)]).map(|at| at as i32).collect()
    }

    pub fn check(word: &[u8], what: &str) {
        // The definition takes quadratic time.
        if !(2..=5000).contains(&word.len()) || rotation::period(word) != word.len() {
            return;
        }
        let start = rotation::least(word, &mut Vec::new());
        let mut text = [&word[start..], &word[..start]].concat();
        let wanted = naive(&text);
        text.push(text[0]);
        let mut positions = vec![-1; room(word.len())];
        let first = gather(&text, word.len(), &mut positions);
        assert_eq!(positions.pop(), Some(word.len() as i32));
        assert_eq!(positions[first..], wanted, "{what}: {text:?}");
        let counts = count(&text[..word.len()], &positions[first..]);
        assert_eq!(counts.lms.iter().sum::<u32>() as usize, wanted.len());
        assert_eq!(counts.all.iter().sum::<u32>() as usize, word.len());
    }
}
