//! A suffix array by induced sorting (SA-IS; Nong, Zhang and Chan, DCC 2009), linear for any text, for builds without
//! libsais.
//!
//! A suffix is S if it is less than the next one, else L; the last suffix is L, as the end of the text is less than
//! everything. An S that follows an L is LMS. The order of the LMS suffixes gives that of all: in a scan from the
//! left, each suffix puts the L before it into its bucket, and in one from the right, the S before it. The same scans
//! sort the LMS substrings, each from one LMS position to the next. Their ranks are a text of at most half the length,
//! whose suffixes are sorted first, by the same function. Other memory: a bit for each position and two numbers for
//! each symbol.

/// The index of a symbol, which is a byte or a number that is not negative.
#[inline(always)]
fn index(symbol: impl Into<i64>) -> usize {
    symbol.into() as usize
}

/// No suffix yet.
const NONE: i32 = -1;

/// Sorts the suffixes of `text`, whose symbols are below `symbols`, and puts their positions into the beginning of
/// `suffixes`, which is at least as long as the text (less than 2^31).
pub fn sort<T: Copy + Ord + Into<i64>>(text: &[T], suffixes: &mut [i32], symbols: usize) {
    let suffixes = &mut suffixes[..text.len()];
    if text.len() < 2 {
        suffixes.fill(0);
        return;
    }
    let mut sorter = Sorter::new(text, symbols);
    suffixes.fill(NONE);
    sorter.set_places(true);
    for at in 1..text.len() {
        if sorter.is_lms(at) {
            sorter.put(suffixes, at, true);
        }
    }
    sorter.induce(suffixes);

    let (count, distinct) = sorter.name(suffixes);
    let (head, names) = suffixes.split_at_mut(text.len() - count);
    if distinct < count {
        sort(names, head, distinct);
    } else {
        for (number, &name) in names.iter().enumerate() {
            head[name as usize] = number as i32;
        }
    }
    let positions = (1..text.len()).filter(|&at| sorter.is_lms(at));
    names.iter_mut().zip(positions).for_each(|(name, at)| *name = at as i32);
    head[..count].iter_mut().for_each(|number| *number = names[*number as usize]);

    suffixes[count..].fill(NONE);
    sorter.set_places(true);
    for place in (0..count).rev() {
        // The bucket's end is not before `place`, because the suffixes in front of this one have places of their own.
        let at = std::mem::replace(&mut suffixes[place], NONE);
        sorter.put(suffixes, at as usize, true);
    }
    sorter.induce(suffixes);
}

struct Sorter<'a, T> {
    text: &'a [T],
    /// A bit for each position: whether its suffix is S.
    types: Vec<u64>,
    /// The number of each symbol.
    counts: Vec<u32>,
    /// The next place in the bucket of each symbol.
    places: Vec<u32>,
}

impl<'a, T: Copy + Ord + Into<i64>> Sorter<'a, T> {
    fn new(text: &'a [T], symbols: usize) -> Self {
        let mut types = vec![0; text.len().div_ceil(64)];
        let mut counts = vec![0; symbols];
        let (mut next, mut is_s) = (text[text.len() - 1], false);
        for (at, &symbol) in text.iter().enumerate().rev() {
            is_s = symbol < next || symbol == next && is_s;
            types[at / 64] |= u64::from(is_s) << (at % 64);
            counts[index(symbol)] += 1;
            next = symbol;
        }
        Sorter { text, types, counts, places: vec![0; symbols] }
    }

    #[inline(always)]
    fn is_s(&self, at: usize) -> bool {
        self.types[at / 64] >> (at % 64) & 1 != 0
    }

    /// Whether position `at`, which is not the first, is LMS.
    #[inline(always)]
    fn is_lms(&self, at: usize) -> bool {
        self.is_s(at) && !self.is_s(at - 1)
    }

    /// Makes `places` the starts of the buckets, or their ends.
    fn set_places(&mut self, ends: bool) {
        let mut sum = 0;
        for (place, count) in self.places.iter_mut().zip(&self.counts) {
            *place = if ends { sum + count } else { sum };
            sum += count;
        }
    }

    /// Puts a suffix into the last free place of its bucket, or into the first.
    #[inline(always)]
    fn put(&mut self, suffixes: &mut [i32], at: usize, last: bool) {
        let place = &mut self.places[index(self.text[at])];
        *place -= u32::from(last);
        suffixes[*place as usize] = at as i32;
        *place += u32::from(!last);
    }

    /// Sorts all suffixes; the LMS ones are at the ends of their buckets. The second scan overwrites these places, each
    /// one before the scan reads it.
    fn induce(&mut self, suffixes: &mut [i32]) {
        self.set_places(false);
        self.put(suffixes, self.text.len() - 1, false);
        for place in 0..suffixes.len() {
            let before = suffixes[place] - 1;
            if before >= 0 && !self.is_s(before as usize) {
                self.put(suffixes, before as usize, false);
            }
        }
        self.set_places(true);
        for place in (0..suffixes.len()).rev() {
            let before = suffixes[place] - 1;
            if before >= 0 && self.is_s(before as usize) {
                self.put(suffixes, before as usize, true);
            }
        }
    }

    /// Replaces the suffixes, sorted by their LMS substrings, with the ranks of these substrings, in the order of the
    /// text, at the end of the array. Returns the number of substrings, and the number of different ones.
    fn name(&self, suffixes: &mut [i32]) -> (usize, usize) {
        let mut count = 0;
        for place in 0..suffixes.len() {
            let at = suffixes[place];
            if at > 0 && self.is_lms(at as usize) {
                suffixes[count] = at;
                count += 1;
            }
        }
        suffixes[count..].fill(NONE);
        let mut distinct = 0;
        for number in 0..count {
            let at = suffixes[number] as usize;
            if number == 0 || !self.same_substring(suffixes[number - 1] as usize, at) {
                distinct += 1;
            }
            // LMS positions are not neighbours.
            suffixes[count + at / 2] = distinct as i32 - 1;
        }
        let mut to = suffixes.len();
        for from in (count..suffixes.len()).rev() {
            if suffixes[from] != NONE {
                to -= 1;
                suffixes[to] = suffixes[from];
            }
        }
        (count, distinct)
    }

    /// Whether the same LMS substring begins at two LMS positions. One that ends with the text equals no other.
    fn same_substring(&self, a: usize, b: usize) -> bool {
        let len = self.text.len() - a.max(b);
        for ahead in 0..len {
            let (a, b) = (a + ahead, b + ahead);
            if self.text[a] != self.text[b] || self.is_s(a) != self.is_s(b) {
                return false;
            }
            if ahead > 0 && self.is_lms(a) {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use hybz_testkit::shapes::Rng;

    /// By the definition.
    fn naive<T: Copy + Ord + Into<i64>>(text: &[T]) -> Vec<i32> {
        let mut order: Vec<i32> = (0..text.len() as i32).collect();
        order.sort_by_key(|&at| &text[at as usize..]);
        order
    }

    pub fn check<T: Copy + Ord + Into<i64>>(text: &[T], symbols: usize, what: &str) {
        let mut made = vec![7; text.len() + 3];
        sort(text, &mut made, symbols);
        assert!(made[..text.len()] == naive(text) && made[text.len()..] == [7; 3], "{what}, {} long", text.len());
    }

    /// Words of words, so that ranks of ranks are sorted too.
    #[test]
    fn deep_repeats() {
        let mut rng = Rng(3);
        for _ in 0..300 {
            let mut words: Vec<Vec<i32>> = vec![vec![0], vec![1], vec![2]];
            for _ in 0..12 {
                let [a, b] = [(); 2].map(|()| words[rng.below(words.len())].clone());
                words.push([a, b].concat());
            }
            let longest = words.into_iter().max_by_key(Vec::len).unwrap_or_default();
            check(&longest[..longest.len().min(3000)], 3, "words of words");
        }
    }
}
