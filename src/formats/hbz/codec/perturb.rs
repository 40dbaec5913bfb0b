//! Perturbation (A. Deshpande, section 5.2.2): a byte inserted into the text after every k-th of its bytes.
//!
//! A string sort that compares in fixed steps needs as many rounds as the longest repeat is long. A byte inserted at a
//! fixed distance breaks repeats whose positions do not differ by a multiple of k, so the sort ends soon. A suffix
//! sorter does not need it. Perturbation costs size: no model can predict an inserted byte, and it breaks the context
//! of the bytes around it.
//!
//! The bytes come from a seeded generator and are bytes that occur in the text, so the alphabet does not grow. Readers
//! drop them without looking, so the generator is not part of the format.

/// Appends `text` to `out`, with one more byte after every `interval` bytes, from the generator at `seed`.
pub fn insert(text: &[u8], interval: usize, seed: u64, out: &mut Vec<u8>) {
    let mut used = [false; 256];
    text.iter().for_each(|&byte| used[usize::from(byte)] = true);
    let letters: Vec<u8> = (0..=255).filter(|&byte| used[usize::from(byte)]).collect();
    let mut state = seed;
    out.reserve(text.len() + text.len() / interval);
    for part in text.chunks(interval) {
        out.extend_from_slice(part);
        if part.len() == interval {
            out.push(letters[(next_random(&mut state) % letters.len() as u64) as usize]);
        }
    }
}

/// splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Drops the bytes that [`insert`] inserted, from a part of its result that begins after `before` bytes.
pub fn remove(part: &mut Vec<u8>, interval: usize, before: u64) {
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
                let mut perturbed = Vec::new();
                insert(&text, interval, 5, &mut perturbed);
                assert_eq!(perturbed.len(), len + len / interval);
                for at in [0, 1, perturbed.len() / 3, perturbed.len() / 2 + 1, perturbed.len()] {
                    let (one, two) = perturbed.split_at(at.min(perturbed.len()));
                    let (mut one, mut two) = (one.to_vec(), two.to_vec());
                    let before = one.len() as u64;
                    remove(&mut one, interval, 0);
                    remove(&mut two, interval, before);
                    assert_eq!([one, two].concat(), text, "{len} {interval} {at}");
                }
            }
        }
    }
}
