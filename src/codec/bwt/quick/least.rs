//! The least of any numbers side by side (range minimum queries; Bender and Farach-Colton, LATIN 2000).

/// With more numbers than that, the least is kept of whole parts only.
const MANY: usize = 1 << 15;

/// So many are a part.
const PART: usize = 16;

/// The numbers, and the least of each 1, 2, 4 and so on of them.
#[derive(Debug, Default)]
pub struct Least {
    pub single: Vec<u32>,
    /// From each on, or from each part on, up to where all are 0.
    levels: Vec<u32>,
    /// The length of one level.
    width: usize,
    highest: usize,
    /// In its part, the least up to each and from it on; empty without parts.
    before: Vec<u32>,
    after: Vec<u32>,
}

impl Least {
    /// None.
    pub fn clear(&mut self) {
        for list in [&mut self.single, &mut self.levels, &mut self.before, &mut self.after] {
            list.clear();
        }
    }

    /// To be called when all are there.
    pub fn prepare(&mut self) {
        if self.single.len() <= MANY {
            self.levels.extend_from_slice(&self.single);
        } else {
            let least = |least: &mut u32, &number: &u32| {
                *least = number.min(*least);
                Some(*least)
            };
            for part in self.single.chunks(PART) {
                self.before.extend(part.iter().scan(u32::MAX, least));
                let from = self.after.len();
                self.after.extend(part.iter().rev().scan(u32::MAX, least));
                self.after[from..].reverse();
            }
            self.levels.extend(self.after.iter().step_by(PART));
        }
        self.width = self.levels.len();
        self.highest = 0;
        let (mut last, mut step) = (0, 1);
        while 2 * step <= self.width && self.levels[last..][..=self.width - step].iter().any(|&number| number > 0) {
            self.levels.extend_from_within(last..);
            let (numbers, next) = self.levels[last..].split_at_mut(self.width);
            for (next, &number) in next.iter_mut().zip(&numbers[step..]) {
                *next = number.min(*next);
            }
            last += self.width;
            self.highest += 1;
            step *= 2;
        }
    }

    /// The least from this one to that one, both included.
    pub fn of(&self, from: usize, to: usize) -> u32 {
        if self.before.is_empty() {
            return self.of_levels(from, to);
        }
        let (first, last) = (from / PART, to / PART);
        if first == last {
            return self.single[from..=to].iter().fold(u32::MAX, |least, &number| least.min(number));
        }
        let ends = self.after[from].min(self.before[to]);
        if first + 1 == last { ends } else { ends.min(self.of_levels(first + 1, last - 1)) }
    }

    fn of_levels(&self, from: usize, to: usize) -> u32 {
        let level = ((to + 1 - from).ilog2() as usize).min(self.highest);
        let numbers = &self.levels[level * self.width..][..self.width];
        numbers[from].min(numbers[to + 1 - (1 << level)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::Rng;

    #[test]
    fn as_looked_for() {
        let mut rng = Rng(42);
        let mut least = Least::default();
        for len in [1, 2, 3, 4, 5, 15, 16, 17, 100, 1000, MANY, MANY + 1, MANY + PART, 3 * MANY + 5] {
            for zeros in [0, 1, 3, 1000] {
                least.clear();
                let number = |rng: &mut Rng| if rng.below(1000) < zeros { 0 } else { 1 + rng.below(5000) as u32 };
                least.single.extend((0..len).map(|_| number(&mut rng)));
                least.prepare();
                for _ in 0..100 {
                    let (from, to) = (rng.below(len), rng.below(len));
                    let longest = [1, 10, 100, len][rng.below(4)];
                    let (from, to) = (from.min(to), from.max(to).min(from.min(to) + longest - 1));
                    assert_eq!(least.of(from, to), *least.single[from..=to].iter().min().unwrap());
                }
            }
        }
    }
}
