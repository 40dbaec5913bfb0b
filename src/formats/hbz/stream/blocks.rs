//! Cuts text into large blocks. Each has a fixed number of bytes; nothing else ends a block.

use super::ENCODE_BYTES;
use super::tasks::{ENCODE_LARGE, EncodeLarge};
use crate::formats::hbz::header::{BlockHeader, StreamHeader};
use crate::stream::coded::{CodedTicket, Verify, encode};
use crate::stream::piece::{Cut, Input, Piece};
use hybz_queue::{Client, Pool};
use std::sync::Arc;

/// The minimum size of one read.
const MIN_ROOM: usize = 64 << 10;

/// Cuts text.
pub(crate) struct Blocks {
    stream: StreamHeader,
    text: Vec<u8>,
    len: usize,
    /// A complete block. There is never more than one, because the buffer ends where the block ends.
    ready: Option<Vec<u8>>,
    /// The texts of whole blocks, to be used again when nothing else uses them. There are as many as were ever in
    /// flight at once: a twelfth of the memory that was charged for them.
    given: Vec<Arc<Vec<u8>>>,
    number: u32,
    /// Whether the last block is full, so that the next one probably will be.
    goes_on: bool,
    verify: Verify,
}

impl Blocks {
    pub fn new(stream: StreamHeader, pool: &Pool, verify: Verify) -> Self {
        pool.budget().fit_pieces(u64::from(stream.block_size) * ENCODE_BYTES);
        let (text, given) = (Vec::new(), Vec::new());
        Blocks { stream, text, len: 0, ready: None, given, number: 0, goes_on: false, verify }
    }

    /// The text of an earlier block that is done. Its pages are there: to get new ones for 64 MB, and to clear them,
    /// takes longer than to read the text.
    fn take_back(&mut self) -> Option<Vec<u8>> {
        let done = self.given.iter_mut().position(|text| Arc::get_mut(text).is_some())?;
        Arc::try_unwrap(self.given.swap_remove(done)).ok()
    }
}

impl Input for Blocks {
    fn room(&mut self) -> &mut [u8] {
        let size = self.stream.block_size as usize;
        if self.text.is_empty() && self.goes_on {
            // A new buffer of this size gets its zeros from the system, unless malloc has kept such a piece.
            self.text = self.take_back().unwrap_or_else(|| vec![0; size]);
        }
        if self.len == self.text.len() {
            // The buffer grows with the text so far, so small inputs do not pay for a large block.
            self.text.resize((self.len * 2).max(MIN_ROOM).min(size), 0);
        }
        &mut self.text[self.len..]
    }

    fn filled(&mut self, n: usize) {
        self.len += n;
        if self.len == self.stream.block_size as usize {
            self.flush();
            self.goes_on = true;
        }
    }

    fn finish(&mut self) {
        self.flush();
    }

    fn flush(&mut self) {
        if self.len > 0 {
            self.text.truncate(self.len);
            if self.text.capacity() / 8 > self.len {
                self.text.shrink_to_fit();
            }
            self.goes_on = false;
            self.ready = Some(std::mem::take(&mut self.text));
            self.len = 0;
        }
    }
}

impl Cut for Blocks {
    type Piece = HbzBlock;

    fn next_piece(&mut self) -> Option<HbzBlock> {
        let text = Arc::new(self.ready.take()?);
        if text.len() == self.stream.block_size as usize {
            self.given.push(Arc::clone(&text));
        }
        let task = EncodeLarge { text, number: self.number, stream: self.stream };
        self.number += 1;
        Some(HbzBlock { task, verify: self.verify })
    }
}

/// A block.
pub(crate) struct HbzBlock {
    task: EncodeLarge,
    verify: Verify,
}

impl Piece for HbzBlock {
    type Issued = CodedTicket<(BlockHeader, Vec<u8>)>;

    fn charge(&self) -> u64 {
        self.task.bytes() * ENCODE_BYTES
    }

    fn issue(self, client: &Client) -> Self::Issued {
        let bytes = self.task.bytes();
        encode(client, self.task, ENCODE_LARGE, bytes, self.verify)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::hbz::header::LargeBlocks;

    /// Blocks are cut every `SIZE` bytes and at flushes, and none keeps much more memory than it is charged for.
    #[test]
    fn blocks_and_their_memory() {
        const SIZE: usize = 1_000_000;
        let stream = LargeBlocks::try_new(SIZE as u32).unwrap().stream();
        let mut blocks = Blocks::new(stream, &Pool::builder().build(), Verify::Off);
        let (mut texts, mut all) = (Vec::new(), Vec::new());
        for len in [2 * SIZE + 5, 10, SIZE, 70_000, 1, 3 * SIZE] {
            let text: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
            let mut rest = &text[..];
            while !rest.is_empty() {
                rest = blocks.fill(rest);
                texts.extend(blocks.next_piece());
            }
            blocks.flush();
            texts.extend(blocks.next_piece());
            all.extend(text);
        }
        let lens: Vec<usize> = texts.iter().map(|block| block.task.text.len()).collect();
        assert_eq!(lens, [SIZE, SIZE, 5, 10, SIZE, 70_000, 1, SIZE, SIZE, SIZE]);
        assert!(texts.iter().all(|block| block.task.text.capacity() as u64 <= block.charge()));
        assert!(texts.iter().flat_map(|block| block.task.text.iter()).eq(&all));
        // A text that nothing else uses any more is used again.
        texts.clear();
        blocks.goes_on = true;
        let given = blocks.given.len();
        assert!(blocks.room().len() == SIZE && blocks.given.len() == given - 1);
    }
}
