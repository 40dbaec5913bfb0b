//! The lengths of ties in sorted order (table 4.1).

use crate::lines::Strings;
use crate::msd;

/// The after-sort tie lengths: of each string, the mean of the bytes it has in common with its neighbours in order.
#[derive(Debug, PartialEq)]
pub struct Ties {
    pub longest: usize,
    pub mean: f64,
    /// The standard deviation.
    pub deviation: f64,
}

impl Ties {
    pub fn of(strings: &Strings<'_>) -> Ties {
        let order = msd::order(strings);
        let common = |pair: &[u32]| {
            let (a, b) = (strings.get(pair[0]), strings.get(pair[1]));
            assert!(a <= b, "the strings are sorted");
            a.iter().zip(b).take_while(|(a, b)| a == b).count()
        };
        let common: Vec<usize> = order.windows(2).map(common).collect();
        let tie = |at: usize| {
            let before = at.checked_sub(1).map(|at| common[at]);
            let both: Vec<usize> = before.into_iter().chain(common.get(at).copied()).collect();
            both.iter().sum::<usize>() as f64 / both.len().max(1) as f64
        };
        let (mut sum, mut squares) = (0.0, 0.0);
        for tie in (0..order.len()).map(tie) {
            sum += tie;
            squares += tie * tie;
        }
        let count = order.len().max(1) as f64;
        let mean = sum / count;
        let deviation = (squares / count - mean * mean).max(0.0).sqrt();
        Ties { longest: common.iter().copied().max().unwrap_or_default(), mean, deviation }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_of_the_thesis_strings() {
        // compact computer graph parallel particle partition radar radix: 4, 0, 0, 3, 5, 0, 3 bytes in common.
        let strings = Strings::new(b"radix\ncomputer\nradar\nparallel\npartition\nparticle\ngraph\ncompact\n");
        assert_eq!(Ties::of(&strings).longest, 5);
        assert_eq!(Ties::of(&strings).mean, (4.0 + 2.0 + 0.0 + 1.5 + 4.0 + 2.5 + 1.5 + 3.0) / 8.0);
        assert_eq!(Ties::of(&Strings::new(b"AA\nAA\nAA\n")), Ties { longest: 2, mean: 2.0, deviation: 0.0 });
    }
}
