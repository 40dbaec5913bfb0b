//! Long lines, which are sorted in place: in memory, or in a temporary file if memory is short.
//!
//! For a line in a file, only its position, its length, its sum and 8 of its bytes are in memory. So memory depends
//! neither on the length of lines nor on how many of them are equal: a line is written once, and read once for the
//! output. Lines with equal keys are read as far as is needed to distinguish them.
//!
//! Lines with equal keys are compared with one of them, all in parallel, block by block. The position of each line's
//! first difference, and whether the line is smaller or larger there, puts most of them in order; those that differ at
//! the same position, on the same side, are sorted by the 8 bytes there, and compared again if these are equal. This is
//! quicksort on the lengths of common prefixes: each line takes part in O(log n) comparisons, each of which begins
//! where the one before ended.
//!
//! Long lines are not partitioned with the others. [`Weave`](super::weave::Weave) inserts them between the other lines
//! when those are written.

use super::spill::Spill;
use super::text::{LineSum, common, key};
use crate::error::Error;
use std::fs::File;
use std::mem::take;
use std::ops::Range;

/// A line, without its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct LongLine {
    /// Its position in the file, or its number in memory.
    at: u64,
    pub len: u64,
    pub sum: u64,
    /// The bytes after the prefix that its group has in common.
    key: u64,
    /// How it compares with the pivot, the line with which its group was compared.
    side: i64,
    /// Whether it equals the line before it.
    pub repeats: bool,
}

/// Where the lines are kept.
#[derive(Debug)]
enum Store {
    Memory(Vec<Vec<u8>>),
    File(Spill),
}

/// Lines of any length; the last one may still grow.
#[derive(Debug)]
pub(super) struct LongLines {
    pub end: u8,
    store: Store,
    lines: Vec<LongLine>,
    /// The maximum number of bytes to read at once.
    block: usize,
    /// Bytes in memory.
    held: u64,
    /// The growing line: its first bytes, its length, its sum, and in memory its text.
    head: Vec<u8>,
    len: u64,
    sum: LineSum,
    text: Vec<u8>,
}

/// The first block that is read of a line; each further one is twice as long, up to the maximum.
const FIRST_BLOCK: usize = 1 << 12;

impl LongLines {
    /// Reads at most `block` bytes at once.
    pub fn new(end: u8, block: usize) -> LongLines {
        let (head, text, sum) = (Vec::new(), Vec::new(), LineSum::default());
        LongLines { end, store: Store::Memory(Vec::new()), lines: Vec::new(), block, held: 0, head, len: 0, sum, text }
    }

    pub fn count(&self) -> usize {
        self.lines.len()
    }

    /// Bytes in memory.
    pub fn held(&self) -> u64 {
        self.held
    }

    /// Bytes that were written to a file.
    pub fn spilled(&self) -> u64 {
        if let Store::File(spill) = &self.store { spill.len() } else { 0 }
    }

    /// Appends bytes to the growing line.
    pub fn append(&mut self, text: &[u8]) -> Result<(), Error> {
        let missing = 8_usize.saturating_sub(self.head.len()).min(text.len());
        self.head.extend_from_slice(&text[..missing]);
        self.len += text.len() as u64;
        self.sum.add(text);
        match &mut self.store {
            Store::File(spill) => spill.append_bytes(text)?,
            Store::Memory(_) => {
                self.text.extend_from_slice(text);
                self.held += text.len() as u64;
            }
        }
        Ok(())
    }

    /// The growing line is complete.
    pub fn end_line(&mut self) {
        let head = take(&mut self.head);
        let at = match &mut self.store {
            Store::File(spill) => spill.len() - self.len,
            Store::Memory(lines) => {
                let mut text = take(&mut self.text);
                text.shrink_to_fit();
                lines.push(text);
                lines.len() as u64 - 1
            }
        };
        let (key, sum) = (key(&head, 0, head.len()), take(&mut self.sum).finish());
        self.lines.push(LongLine { at, len: take(&mut self.len), sum, key, side: 0, repeats: false });
    }

    /// Moves all lines to a file, and future ones too.
    pub fn go_to(&mut self, file: File) -> Result<(), Error> {
        let Store::Memory(texts) = &mut self.store else { return Ok(()) };
        let mut spill = Spill::new(file);
        for (line, text) in self.lines.iter_mut().zip(take(texts)) {
            line.at = spill.len();
            spill.append_bytes(&text)?;
        }
        spill.append_bytes(&take(&mut self.text))?;
        self.held = 0;
        self.store = Store::File(spill);
        Ok(())
    }

    /// The lines in their current order.
    pub fn lines(&self) -> &[LongLine] {
        &self.lines
    }

    /// Reads at most `most` bytes of a line, from an offset on.
    pub fn read<'a>(
        &'a self,
        line: &LongLine,
        from: u64,
        most: usize,
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], Error> {
        let len = (line.len - from).min(most as u64) as usize;
        match &self.store {
            Store::Memory(texts) => Ok(&texts[line.at as usize][from as usize..][..len]),
            Store::File(spill) => {
                buffer.resize(len.max(buffer.len()), 0);
                spill.read_bytes(line.at + from, &mut buffer[..len])?;
                Ok(&buffer[..len])
            }
        }
    }

    /// How many bytes of a line to read at once.
    pub fn block(&self) -> usize {
        self.block
    }

    /// Sorts the lines, and finds equal ones.
    pub fn sort(&mut self) -> Result<(), Error> {
        let mut lines = take(&mut self.lines);
        lines.sort_unstable_by_key(|line| line.key);
        let mut buffers = Buffers::default();
        let mut groups = vec![(0..lines.len(), 0)];
        while let Some((range, depth)) = groups.pop() {
            let mut from = range.start;
            while from < range.end {
                let key = lines[from].key;
                let count = lines[from..range.end].iter().take_while(|line| line.key == key).count();
                let ended = settle_ended(&mut lines[from..from + count], depth + 8);
                let rest = from + ended..from + count;
                if rest.len() > 1 {
                    self.compare(&mut lines[rest.clone()], depth + 8, &mut buffers)?;
                    split(&mut lines, rest, &mut groups);
                }
                from += count;
            }
        }
        self.lines = lines;
        Ok(())
    }

    /// Takes lines longer than `depth` that agree in their first `depth` bytes. Compares them with one of them, and
    /// sorts them as far as this determines their order.
    fn compare(&self, group: &mut [LongLine], depth: u64, buffers: &mut Buffers) -> Result<(), Error> {
        // Any of them will do; the middle one is a good choice if the lines come in order.
        let pivot = group[group.len() / 2];
        group.iter_mut().for_each(|line| line.side = 0);
        let (mut from, mut block) = (depth, FIRST_BLOCK.min(self.block));
        // The lines that have not differed yet come first.
        let mut tied = group.len();
        while tied > 1 {
            let theirs = self.read(&pivot, from, block, &mut buffers.pivot)?;
            let mut at = 0;
            while at < tied {
                let line = &mut group[at];
                let own = if line.at == pivot.at { theirs } else { self.read(line, from, block, &mut buffers.own)? };
                let same = common(theirs, own);
                if same == theirs.len() && same == own.len() {
                    at += 1;
                    continue;
                }
                let (differs, depth) = (own.get(same).cmp(&theirs.get(same)), from + same as u64);
                let left = (line.len - depth).min(8) as usize;
                let bytes = match own[same..].len() < left {
                    true => self.read(line, depth, 8, &mut buffers.key)?,
                    false => &own[same..],
                };
                line.key = key(bytes, 0, left);
                // A line that differs earlier is farther from the pivot.
                line.side = if differs.is_lt() { i64::MIN + depth as i64 } else { i64::MAX - depth as i64 };
                tied -= 1;
                group.swap(at, tied);
            }
            if theirs.len() < block {
                break; // all remaining lines have ended
            }
            from += block as u64;
            block = (2 * block).min(self.block);
        }
        group.sort_unstable_by_key(|line| (line.side, line.key));
        Ok(())
    }

    #[cfg(test)]
    pub fn held_lines(&self) -> Vec<Vec<u8>> {
        let mut buffer = Vec::new();
        let whole = |line: &LongLine| self.read(line, 0, usize::MAX, &mut buffer).expect("it is there").to_vec();
        self.lines.iter().map(whole).collect()
    }
}

/// Buffers for the blocks of lines that are compared.
#[derive(Debug, Default)]
struct Buffers {
    pivot: Vec<u8>,
    own: Vec<u8>,
    key: Vec<u8>,
}

/// For lines that agree in `depth` bytes, or in all that they have: moves those that have ended to the front, the
/// shorter before the longer. Returns how many have ended.
fn settle_ended(group: &mut [LongLine], depth: u64) -> usize {
    let mut ended = 0;
    for at in 0..group.len() {
        if group[at].len <= depth {
            group.swap(at, ended);
            ended += 1;
        }
    }
    let group = &mut group[..ended];
    group.sort_unstable_by_key(|line| line.len);
    for at in 1..group.len() {
        group[at].repeats = group[at].len == group[at - 1].len;
    }
    ended
}

/// Finds the groups among lines that have been compared: those that differed at the same position, on the same side.
fn split(lines: &mut [LongLine], range: Range<usize>, groups: &mut Vec<(Range<usize>, u64)>) {
    let mut from = range.start;
    while from < range.end {
        let side = lines[from].side;
        let count = lines[from..range.end].iter().take_while(|line| line.side == side).count();
        let group = from..from + count;
        match side {
            0 => lines[group].iter_mut().skip(1).for_each(|line| line.repeats = true),
            _ if count == 1 => {}
            _ if side < 0 => groups.push((group, side.wrapping_sub(i64::MIN) as u64)),
            _ => groups.push((group, (i64::MAX - side) as u64)),
        }
        from += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shapes::Rng;

    fn made(lines: &[Vec<u8>], block: usize, in_file: Option<usize>, rng: &mut Rng) -> LongLines {
        let mut long = LongLines::new(b'\n', block);
        for (number, line) in lines.iter().enumerate() {
            let (first, second) = line.split_at(rng.below(line.len() + 1));
            long.append(first).unwrap();
            if in_file == Some(number) {
                long.go_to(tempfile::tempfile().unwrap()).unwrap();
            }
            long.append(second).unwrap();
            long.end_line();
        }
        long
    }

    fn check(what: &str, lines: &[Vec<u8>], rng: &mut Rng) {
        let mut expected = lines.to_vec();
        expected.sort();
        for block in [if rng.below(50) == 0 { 1 } else { 16 }, 100, 1 << 20] {
            let in_file = (rng.below(3) > 0).then(|| rng.below(lines.len().max(1)));
            let mut long = made(lines, block, in_file, rng);
            long.sort().unwrap();
            assert!(long.held_lines() == expected, "{what}, blocks of {block}");
            for (at, line) in long.lines().iter().enumerate() {
                assert_eq!(line.repeats, at > 0 && expected[at] == expected[at - 1], "{what}, line {at}");
                assert_eq!(line.sum, crate::text::line_sum(&expected[at]));
            }
            assert_eq!(long.spilled() > 0, in_file.is_some() && !lines.concat().is_empty());
        }
    }

    #[test]
    fn special_lines() {
        let mut rng = Rng(13);
        let stairs: Vec<Vec<u8>> = (0..300).map(|n| [vec![b'a'; 16 * (n * 7 % 300)], b"b".to_vec()].concat()).collect();
        check("stairs", &stairs, &mut rng);
        check("prefixes", &(0..500).map(|n| vec![0; n * 13 % 500]).collect::<Vec<_>>(), &mut rng);
        check("equal", &vec![vec![7; 10_000]; 50], &mut rng);
        check("none", &[], &mut rng);
        check("empty", &[vec![], vec![], vec![]], &mut rng);
    }

    /// However many lines share long prefixes, these are not read again and again in full.
    #[test]
    fn stairs_take_few_comparisons() {
        let mut rng = Rng(14);
        let lines: Vec<Vec<u8>> = (0..20_000).map(|n: usize| vec![0; n * 7919 % 20_000]).collect();
        let mut long = made(&lines, 1 << 20, None, &mut rng);
        long.sort().unwrap();
        assert!(long.lines().iter().map(|line| line.len).eq(0..20_000));
    }
}
