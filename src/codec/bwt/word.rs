//! The rotations of the word that a periodic block repeats, in order: what both of bzip2's sorts are derived from.

/// A word and its rotations, sorted.
#[derive(Debug)]
pub struct SortedWord<'a> {
    /// A word that is no repetition of a shorter one.
    pub word: &'a [u8],
    /// Where the rotation of each row begins in it.
    pub starts: Vec<u32>,
    /// The row of each rotation: the inverse of `starts`.
    pub rows: Vec<u32>,
}

impl<'a> SortedWord<'a> {
    /// Of this word, whose sorted rotations begin here.
    pub fn new(word: &'a [u8], starts: Vec<u32>) -> Self {
        let mut rows = vec![0; starts.len()];
        for (row, &start) in starts.iter().enumerate() {
            rows[start as usize] = row as u32;
        }
        SortedWord { word, starts, rows }
    }

    /// By doubling: what is sorted by so many bytes is sorted by twice as many, when pairs of ranks are.
    #[cfg(test)]
    pub fn sort(word: &'a [u8]) -> Self {
        let len = word.len();
        let mut starts: Vec<u32> = (0..len as u32).collect();
        let mut ranks: Vec<u64> = word.iter().map(|&byte| byte.into()).collect();
        let mut bytes = 1;
        loop {
            let pair = |start: u32| ranks[start as usize] << 32 | ranks[(start as usize + bytes) % len];
            starts.sort_by_cached_key(|&start| pair(start));
            let mut next = vec![0; len];
            let mut rank = 0;
            for two in starts.windows(2) {
                rank += u64::from(pair(two[0]) != pair(two[1]));
                next[two[1] as usize] = rank;
            }
            if bytes >= len || rank == len as u64 - 1 {
                return Self::new(word, starts);
            }
            ranks = next;
            bytes *= 2;
        }
    }

    /// How many bytes each rotation has in common with that of the row before; 0 for the first row (Kasai et al., CPM 2001).
    pub fn common(&self) -> Vec<u32> {
        let SortedWord { word, starts, rows } = self;
        let len = word.len();
        let byte = |at: usize| word[if at < len { at } else { at - len }];
        let mut common = vec![0; len];
        let mut same = 0_usize;
        for (start, &row) in rows.iter().enumerate() {
            if row == 0 {
                same = 0;
                continue;
            }
            let before = starts[row as usize - 1] as usize;
            // Ends: in a word that repeats nothing no two rotations are equal.
            while byte(start + same) == byte(before + same) {
                same += 1;
            }
            common[row as usize] = same as u32;
            // Without their first byte both are rows again, in the same order, perhaps with others between them.
            same = same.saturating_sub(1);
        }
        common
    }
}
