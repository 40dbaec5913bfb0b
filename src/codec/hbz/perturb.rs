//! Perturbation (A. Deshpande, section 5.2.2): a byte dropped into the text after every k-th of its bytes.
//!
//! A string sort by fixed steps takes as many rounds as the longest repeat is long; a byte put in at a fixed distance
//! breaks repeats whose places differ by no multiple of k, and the sort ends soon. A suffix sorter needs none of this.
//! It costs size: each byte dropped in is one that nobody can predict, and breaks the context of those around it.
//!
//! The bytes come from a seeded generator, out of those that the text has: so it brings no new letter into the
//! alphabet. Readers drop them unseen, so the generator is no part of the format.

/// The bytes of `text` with one more after every `interval`th, from the generator at `seed`. Appends to `out`.
pub fn put_in(text: &[u8], interval: usize, seed: u64, out: &mut Vec<u8>) {
    let mut used = [false; 256];
    text.iter().for_each(|&byte| used[usize::from(byte)] = true);
    let letters: Vec<u8> = (0..=255).filter(|&byte| used[usize::from(byte)]).collect();
    let mut state = seed;
    out.reserve(text.len() + text.len() / interval);
    for part in text.chunks(interval) {
        out.extend_from_slice(part);
        if part.len() == interval {
            out.push(letters[(next(&mut state) % letters.len() as u64) as usize]);
        }
    }
}

/// splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Drops the bytes that [`put_in`] put in, of a part of its result that so many bytes come before.
pub fn drop_out(part: &mut Vec<u8>, interval: usize, before: u64) {
    let mut piece = interval - (before % (interval as u64 + 1)) as usize;
    let (mut to, mut from) = (0, 0);
    while from < part.len() {
        let len = piece.min(part.len() - from);
        part.copy_within(from..from + len, to);
        to += len;
        from += len + 1;
        piece = interval;
    }
    part.truncate(to);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_is_dropped_again() {
        for len in [0usize, 1, 9, 10, 11, 20, 21, 1000] {
            for interval in [1, 2, 10, 999, 1000, 1001] {
                let text: Vec<u8> = (0..len).map(|i| (i * 7 % 251) as u8).collect();
                let mut changed = Vec::new();
                put_in(&text, interval, 5, &mut changed);
                assert_eq!(changed.len(), len + len / interval);
                for at in [0, 1, changed.len() / 3, changed.len() / 2 + 1, changed.len()] {
                    let (one, two) = changed.split_at(at.min(changed.len()));
                    let (mut one, mut two) = (one.to_vec(), two.to_vec());
                    let before = one.len() as u64;
                    drop_out(&mut one, interval, 0);
                    drop_out(&mut two, interval, before);
                    assert_eq!([one, two].concat(), text, "{len} {interval} {at}");
                }
            }
        }
    }
}
