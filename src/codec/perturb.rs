//! Perturbation (A. Deshpande, section 5.2.2): a byte inserted into the text after every k-th of its bytes.
//!
//! In a string sort that compares in fixed steps, the number of rounds grows with the length of the longest repeat. A
//! byte inserted at a fixed distance breaks repeats whose positions do not differ by a multiple of k, so the sort ends
//! soon. A suffix sorter does not need this. Perturbation costs size: no model can predict an inserted byte, which
//! also breaks the context of the bytes around it.
//!
//! The inserted bytes come from a seeded generator and occur in the text, so the alphabet does not grow. Readers drop
//! the inserted bytes unseen, so the generator is not part of the format.

/// Appends `text` to `out`, with one more byte after every `interval` bytes, from the generator at `seed`.
pub fn insert(text: &[u8], interval: usize, seed: u64, out: &mut Vec<u8>) {
    let mut letters = Letters::new(seed);
    letters.learn(text);
    out.reserve(text.len() + text.len() / interval);
    for part in text.chunks(interval) {
        out.extend_from_slice(part);
        if part.len() == interval {
            out.push(letters.pick());
        }
    }
}

/// The letters to be inserted, and the generator that picks one.
struct Letters {
    used: [bool; 256],
    /// Those in use, ascending.
    letters: Vec<u8>,
    state: u64,
}

impl Letters {
    fn new(seed: u64) -> Letters {
        Letters { used: [false; 256], letters: Vec::new(), state: seed }
    }

    /// Adds the letters of a text.
    fn learn(&mut self, text: &[u8]) {
        let mut new = false;
        text.iter().for_each(|&byte| new |= !std::mem::replace(&mut self.used[usize::from(byte)], true));
        if new {
            self.letters.clear();
            self.letters.extend((0..=255).filter(|&byte| self.used[usize::from(byte)]));
        }
    }

    fn pick(&mut self) -> u8 {
        self.letters[(next_random(&mut self.state) % self.letters.len() as u64) as usize]
    }
}

/// [`Inserter`] forgets the letters after this many bytes: the alphabets of later blocks should not grow by those of
/// earlier ones.
const FORGET: usize = 900_000;

/// Inserts bytes into a text that comes in parts. The result does not depend on where the parts end. The letters are
/// those of the text so far.
pub struct Inserter {
    interval: usize,
    /// The number of bytes before the next insertion.
    left: usize,
    /// The number of bytes since letters were forgotten.
    learned: usize,
    letters: Letters,
}

impl Inserter {
    pub fn new(interval: u32, seed: u64) -> Inserter {
        Inserter { interval: interval as usize, left: interval as usize, learned: 0, letters: Letters::new(seed) }
    }

    /// Appends the next part of the text to `out`.
    pub fn insert(&mut self, mut text: &[u8], out: &mut Vec<u8>) {
        while !text.is_empty() {
            let (part, rest) = text.split_at(self.left.min(text.len()));
            self.letters.learn(part);
            out.extend_from_slice(part);
            self.left -= part.len();
            self.learned += part.len();
            if self.left == 0 {
                out.push(self.letters.pick());
                self.left = self.interval;
                if self.learned >= FORGET {
                    self.learned = 0;
                    self.letters = Letters::new(self.letters.state);
                }
            }
            text = rest;
        }
    }
}

/// The number of bytes of the text itself in the first `perturbed` bytes of its perturbation.
pub fn text_len(perturbed: u64, interval: u32) -> u64 {
    perturbed - perturbed / (u64::from(interval) + 1)
}

/// splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
pub fn next_random(state: &mut u64) -> u64 {
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
