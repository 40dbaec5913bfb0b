//! A set of places, one bit for each.

/// Which of the places are marked.
#[derive(Debug)]
pub struct Marks {
    words: Vec<u64>,
}

impl Marks {
    /// None of `places`.
    pub fn new(places: usize) -> Self {
        Marks { words: vec![0; places / 64 + 2] }
    }

    /// None of the places of a ring. The first 64 are there again behind the last one.
    pub fn ring(len: usize) -> Self {
        Self::new(len + 64)
    }

    /// Marks all of these in a ring of this length.
    pub fn set_all(&mut self, places: &[u32], len: usize) {
        for &at in places {
            self.set(at as usize);
            if at < 64 {
                self.set(at as usize + len);
            }
        }
    }

    /// Marks this one.
    pub fn set(&mut self, at: usize) {
        self.words[at / 64] |= 1 << (at % 64);
    }

    /// The 64 places from this one on, the lowest bit first.
    pub fn window(&self, at: usize) -> u64 {
        let pair = u128::from(self.words[at / 64]) | u128::from(self.words[at / 64 + 1]) << 64;
        (pair >> (at % 64)) as u64
    }

    /// The first mark at this place or after it.
    pub fn next(&self, at: usize) -> Option<usize> {
        let (first, rest) = self.words.get(at / 64..)?.split_first()?;
        let here = first >> (at % 64);
        if here != 0 {
            return Some(at + here.trailing_zeros() as usize);
        }
        let further = rest.iter().position(|&word| word != 0)?;
        Some((at / 64 + 1 + further) * 64 + rest[further].trailing_zeros() as usize)
    }

    /// The last mark at this place or before it.
    pub fn last(&self, at: usize) -> Option<usize> {
        let (here, before) = self.words.get(..=at / 64)?.split_last()?;
        let here = here << (63 - at % 64);
        if here != 0 {
            return Some(at - here.leading_zeros() as usize);
        }
        let back = before.iter().rposition(|&word| word != 0)?;
        Some(back * 64 + 63 - before[back].leading_zeros() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::Rng;

    #[test]
    fn as_a_list() {
        let mut rng = Rng(41);
        for places in [1, 63, 64, 65, 200, 1000] {
            let mut list = Vec::new();
            let mut marks = Marks::new(places);
            for _ in 0..12 {
                for at in 0..places {
                    assert_eq!(marks.next(at), list.iter().copied().filter(|&m| m >= at).min());
                    assert_eq!(marks.last(at), list.iter().copied().filter(|&m| m <= at).max());
                    let window = (0..64).filter(|i| list.contains(&(at + i))).fold(0, |bits, i| bits | 1 << i);
                    assert_eq!(marks.window(at), window);
                }
                let at = rng.below(places);
                list.push(at);
                marks.set(at);
            }
        }
    }
}
