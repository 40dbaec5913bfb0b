//! Everything in a file that looks like the beginning of a block or the end of a stream.

use crate::codec::find_magic::{find, find_end};
use crate::error::Error;
use crate::read_at::{ReadAt, fill_at};

/// The two kinds of magics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MagicKind {
    /// The beginning of a block.
    Block,
    /// The end of a stream.
    End,
}

/// A magic. It proves nothing, because the same bits may occur inside a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Its position in the file, in bits.
    pub bit: u64,
    /// Its kind.
    pub kind: MagicKind,
}

/// The number of bytes searched in the first step: a magic is usually near.
const FIRST: usize = 16 << 10;
/// The maximum number of bytes searched in one step.
const WINDOW: usize = 1 << 20;
/// A magic that begins in the last bit of a window ends in the sixth byte after the window.
const LOOK_AHEAD: usize = 6;

/// All magics of a file in order, at any bit. The file is read once, in pieces of 16 KiB to 1 MiB.
///
/// ```
/// use hybz::internals::recover::{Mark, MagicKind, Marks};
/// let file = hybz::compress(b"to be or not to be\n", &hybz::Settings::new())?;
/// let marks: Result<Vec<_>, _> = Marks::new(&file, 0).collect();
/// assert_eq!(marks?, [Mark { bit: 32, kind: MagicKind::Block }, Mark { bit: 343, kind: MagicKind::End }]);
/// # Ok::<(), hybz::Error>(())
/// ```
pub struct Marks<'a> {
    file: &'a dyn ReadAt,
    window: Vec<u8>,
    /// The number of bytes of the window that are searched.
    size: usize,
    /// The position of the window in the file, in bytes.
    at: u64,
    /// The length of the window in bytes.
    len: usize,
    /// The bit of the window at which the search continues.
    from: u64,
    /// The next block and end in the window; `None` until it is searched for.
    block: Option<Option<u64>>,
    end: Option<Option<u64>>,
}

impl<'a> Marks<'a> {
    /// The magics at or after bit `from` of the file.
    pub fn new(file: &'a dyn ReadAt, from: u64) -> Self {
        Marks { file, window: Vec::new(), size: FIRST, at: from / 8, len: 0, from: from % 8, block: None, end: None }
    }

    fn read(&mut self) -> Result<(), Error> {
        self.window.resize(self.size + LOOK_AHEAD, 0);
        self.len = fill_at(self.file, &mut self.window, self.at).map_err(Error::Read)?;
        (self.block, self.end) = (None, None);
        Ok(())
    }
}

impl Iterator for Marks<'_> {
    type Item = Result<Mark, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.len == 0
                && let Err(error) = self.read()
            {
                return Some(Err(error));
            }
            let data = &self.window[..self.len];
            let here = |bit: &u64| *bit < self.size as u64 * 8;
            let block = *self.block.get_or_insert_with(|| find(data, self.from).filter(here));
            let end = *self.end.get_or_insert_with(|| find_end(data, self.from).filter(here));
            let bit = block.into_iter().chain(end).min();
            if let Some(bit) = bit {
                let kind = if block == Some(bit) { MagicKind::Block } else { MagicKind::End };
                match kind {
                    MagicKind::Block => self.block = None,
                    MagicKind::End => self.end = None,
                }
                self.from = bit + 1;
                return Some(Ok(Mark { bit: self.at * 8 + bit, kind }));
            }
            if self.len <= self.size {
                return None;
            }
            self.at += self.size as u64;
            (self.from, self.len, self.size) = (0, 0, WINDOW.min(4 * self.size));
        }
    }
}

/// The bit of an end's magic, and the bit of the magic after it, if there is one.
#[derive(Clone, Copy)]
pub(super) struct End {
    pub bit: u64,
    pub next: Option<u64>,
}

/// Finds ends, and keeps the last one: a file may have many streams before an end.
#[derive(Default)]
pub(super) struct Ends {
    /// A bit, and the first end from there on.
    last: Option<(u64, Option<End>)>,
}

impl Ends {
    /// The first magic of an end from this bit of the file on.
    pub fn after(&mut self, file: &dyn ReadAt, from: u64) -> Result<Option<End>, Error> {
        if let Some((since, found)) = self.last
            && since <= from
            && found.is_none_or(|end| from <= end.bit)
        {
            return Ok(found);
        }
        let mut marks = Marks::new(file, from);
        let mut found = None;
        while let (None, Some(mark)) = (found, marks.next().transpose()?) {
            if mark.kind == MagicKind::End {
                found = Some(End { bit: mark.bit, next: marks.next().transpose()?.map(|mark| mark.bit) });
            }
        }
        self.last = Some((from, found));
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::BitWriter;
    use crate::formats::bzip2::header::{BLOCK_MAGIC, END_MAGIC};

    /// Magics that lie across two windows are found, too.
    #[test]
    fn at_every_bit_of_a_window_s_end() {
        for shift in 0..64 {
            let mut bits = BitWriter::new();
            let mut expected = Vec::new();
            (0..FIRST - 4).for_each(|_| bits.write(0x55, 8));
            bits.write(0, shift % 50);
            for (magic, kind) in
                [(BLOCK_MAGIC, MagicKind::Block), (END_MAGIC, MagicKind::End), (END_MAGIC, MagicKind::End)]
            {
                expected.push(Mark { bit: bits.bit_len(), kind });
                bits.write(magic, 48);
                bits.write(0, shift % 7);
            }
            let file = bits.finish();
            let found: Vec<_> = Marks::new(&file, 0).map(Result::unwrap).collect();
            assert_eq!(found, expected, "{shift}");
            let found: Vec<_> = Marks::new(&file, expected[0].bit + 1).map(Result::unwrap).collect();
            assert_eq!(found, expected[1..], "{shift}");
        }
    }
}
