//! The list of the blocks of a file, and reading with its help.

use crate::block::Text;
use crate::crc::Crc;
use crate::error::Error;
use crate::flaw::Flaw;
use crate::format::{Format, Magic};
use crate::formats::bzip2::header::magic as bzip2_magic;
use crate::formats::bzip2::push::whole;
use crate::formats::hbz::codec::decode::HbzDecoder;
use crate::formats::hbz::header::{
    BlockHeader, ENTRY_LEN, HEADER_LEN, INDEX_HEAD, INDEX_TAIL, IndexEntry, MAGIC, StreamHeader, index_count,
    index_len, index_tail,
};
use crate::formats::hbz::walk::{StreamPart, Walker};
use hybz_queue::memory_of_one_piece;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;

/// One block of a file.
///
/// ```
/// use hybz::{LargeBlocks, Settings};
/// let settings = Settings::new().encoding(LargeBlocks::try_new(1024).unwrap());
/// let mut file = std::io::Cursor::new(hybz::compress(&[7; 1500], &settings)?);
/// let list = hybz::hbz::List::read(&mut file)?;
/// let [first, second] = list.blocks() else { panic!("two blocks") };
/// assert_eq!((first.text_at, first.text_len), (0, 1024));
/// assert_eq!((second.text_at, second.text_len), (1024, 476));
/// // The header of the stream, then of each block: 32 bytes.
/// assert_eq!((first.at, second.at), (32, 32 + 32 + u64::from(first.coded_len)));
/// # Ok::<(), hybz::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listed {
    /// The block's number in its stream, from 0.
    pub number: u32,
    /// The offset of its header in the file, in bytes.
    pub at: u64,
    /// The offset of its text in the text of the whole file, in bytes.
    pub text_at: u64,
    /// The number of bytes of its text.
    pub text_len: u32,
    /// The number of bytes of its payload, which follows 32 bytes of header.
    pub coded_len: u32,
    /// The CRC of its text.
    pub crc: u32,
    pub(crate) stream: StreamHeader,
}

/// The blocks of a file, of all its consecutive streams.
///
/// ```
/// use hybz::{LargeBlocks, Settings};
/// let settings = Settings::new().encoding(LargeBlocks::try_new(1024).unwrap());
/// let mut file = std::io::Cursor::new(hybz::compress(&[7; 5000], &settings)?);
/// let list = hybz::hbz::List::read(&mut file)?;
/// assert_eq!((list.streams(), list.blocks().len(), list.text_len()), (1, 5, 5000));
/// assert_eq!(list.read_range(&mut file, 4990..6000)?, [7; 10]);
/// # Ok::<(), hybz::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    blocks: Vec<Listed>,
    streams: u64,
    block_size: u32,
    complete: bool,
    end: u64,
    max_memory: u64,
}

impl List {
    /// Lists the blocks of `input`, from its beginning to its end, whatever its current position.
    ///
    /// Reads the indexes at the ends of the streams; if one of them is damaged, the blocks' own headers as far as they
    /// can be followed.
    ///
    /// ```
    /// use hybz::Error;
    /// let mut file = std::io::Cursor::new(b"something else");
    /// assert!(matches!(hybz::hbz::List::read(&mut file), Err(Error::NotFormat { .. })));
    /// ```
    ///
    /// # Errors
    /// [`Error::Read`]; [`Error::NotFormat`] if the file does not begin with the header of a `.hbz` stream.
    pub fn read(input: &mut (impl Read + Seek)) -> Result<List, Error> {
        match List::by_indexes(input)? {
            Some(list) => Ok(list),
            None => List::by_headers(input),
        }
    }

    /// All blocks, in order. ([`Listed`] has an example.)
    pub fn blocks(&self) -> &[Listed] {
        &self.blocks
    }

    /// The number of streams; in a damaged file, the number of streams that begin.
    pub fn streams(&self) -> u64 {
        self.streams
    }

    /// The block size of the first stream, in bytes.
    pub fn block_size(&self) -> u32 {
        self.block_size
    }

    /// Whether the list has all blocks. If not, the file is damaged or cut between two blocks, and more blocks may
    /// follow the last one listed; or a `.bz2` stream follows at [`end`](Self::end).
    ///
    /// ```
    /// use hybz::{LargeBlocks, Settings, hbz::List};
    /// let settings = Settings::new().encoding(LargeBlocks::try_new(1024).unwrap());
    /// let file = hybz::compress(&[7; 5000], &settings)?;
    /// assert!(List::read(&mut std::io::Cursor::new(&file))?.is_complete());
    /// // Cut in the index: all blocks are found, but this is not known.
    /// let list = List::read(&mut std::io::Cursor::new(&file[..file.len() - 9]))?;
    /// assert_eq!((list.blocks().len(), list.is_complete()), (5, false));
    /// # Ok::<(), hybz::Error>(())
    /// ```
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// The number of bytes of text in the listed blocks.
    pub fn text_len(&self) -> u64 {
        self.blocks.last().map_or(0, |block| block.text_at + u64::from(block.text_len))
    }

    /// The part of the text that lies in `range`, cut off where the text ends. Only blocks with text in the range are
    /// read, one after the other on this thread.
    ///
    /// A range that is empty, reversed or after the end of the text gives an empty text.
    ///
    /// ```
    /// use hybz::{LargeBlocks, Settings};
    /// let settings = Settings::new().encoding(LargeBlocks::try_new(1024).unwrap());
    /// let text: Vec<u8> = (0..5000u32).map(|i| (i / 50) as u8).collect();
    /// let mut file = std::io::Cursor::new(hybz::compress(&text, &settings)?);
    /// let list = hybz::hbz::List::read(&mut file)?;
    /// assert_eq!(list.read_range(&mut file, 1000..2100)?, text[1000..2100]);
    /// assert_eq!(list.read_range(&mut file, 4990..u64::MAX)?, text[4990..]);
    /// # #[expect(clippy::reversed_empty_ranges)]
    /// assert_eq!(list.read_range(&mut file, 2100..1000)?, []);
    /// # Ok::<(), hybz::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Read`], or what is wrong with one of those blocks.
    pub fn read_range(&self, input: &mut (impl Read + Seek), range: Range<u64>) -> Result<Vec<u8>, Error> {
        let mut text = Vec::new();
        if range.is_empty() {
            return Ok(text);
        }
        let mut decoder = HbzDecoder::new();
        for block in &self.blocks {
            let end = block.text_at + u64::from(block.text_len);
            if end <= range.start || block.text_at >= range.end {
                continue;
            }
            let mut at = block.text_at;
            block.read(input, &mut decoder, self.max_memory)?.for_each(|piece| {
                let (from, to) = (range.start.saturating_sub(at), range.end.saturating_sub(at));
                let len = piece.len() as u64;
                text.extend_from_slice(&piece[from.min(len) as usize..to.min(len) as usize]);
                at += len;
            });
        }
        Ok(text)
    }

    /// Decodes every block. Returns one result for each block, in order.
    ///
    /// ```
    /// use hybz::{LargeBlocks, Settings};
    /// let settings = Settings::new().encoding(LargeBlocks::try_new(1024).unwrap());
    /// let mut file = std::io::Cursor::new(hybz::compress(&[7; 3000], &settings)?);
    /// let list = hybz::hbz::List::read(&mut file)?;
    /// let payload = list.blocks()[1].at as usize + 32;
    /// file.get_mut()[payload] ^= 1;
    /// let good: Vec<bool> = list.verify(&mut file)?.iter().map(Result::is_ok).collect();
    /// assert_eq!(good, [true, false, true]);
    /// # Ok::<(), hybz::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Read`] only: damage is in the results.
    pub fn verify(&self, input: &mut (impl Read + Seek)) -> Result<Vec<Result<(), Error>>, Error> {
        let mut decoder = HbzDecoder::new();
        let verdict = |block: &Listed| match block.read(input, &mut decoder, self.max_memory) {
            Err(Error::Read(e)) => Err(Error::Read(e)),
            other => Ok(other.map(drop)),
        };
        self.blocks.iter().map(verdict).collect()
    }

    /// The end of the listed streams, in bytes: the length of the file, unless something follows them, such as garbage,
    /// a `.bz2` stream, or the rest of a damaged stream.
    ///
    /// ```
    /// use hybz::{LargeBlocks, Settings, hbz::List};
    /// let settings = Settings::new().encoding(LargeBlocks::try_new(1024).unwrap());
    /// let one = hybz::compress(&[7; 5000], &settings)?;
    /// let both = [&one[..], &hybz::compress(b"text", &Settings::new())?].concat();
    /// let list = List::read(&mut std::io::Cursor::new(both))?;
    /// assert_eq!((list.end(), list.is_complete()), (one.len() as u64, false));
    /// # Ok::<(), hybz::Error>(())
    /// ```
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Blocks that take more memory than this to decode are not decoded: [`read_range`](Self::read_range) and
    /// [`verify`](Self::verify) give [`Error::Memory`] for them. The default is 7/8 of the memory of the machine, or of
    /// the container.
    ///
    /// ```
    /// use hybz::{Error, LargeBlocks, Settings, hbz::List};
    /// let settings = Settings::new().encoding(LargeBlocks::try_new(1024).unwrap());
    /// let mut file = std::io::Cursor::new(hybz::compress(&[7; 1024], &settings)?);
    /// let list = List::read(&mut file)?.max_memory(1000);
    /// assert!(matches!(list.read_range(&mut file, 0..10), Err(Error::Memory { block: 1, allowed: 1000, .. })));
    /// # Ok::<(), hybz::Error>(())
    /// ```
    pub fn max_memory(mut self, bytes: u64) -> List {
        self.max_memory = bytes;
        self
    }

    /// A list without blocks yet, of streams that end here.
    fn new(end: u64) -> List {
        List { blocks: Vec::new(), streams: 0, block_size: 0, complete: false, end, max_memory: memory_of_one_piece() }
    }

    /// Reads the indexes from the last stream to the first; `None` if anything does not fit.
    fn by_indexes(input: &mut (impl Read + Seek)) -> Result<Option<List>, Error> {
        let len = input.seek(SeekFrom::End(0)).map_err(Error::Read)?;
        let mut list = List { complete: true, ..List::new(len) };
        // For each stream with blocks: its start, and its index.
        let mut streams = Vec::new();
        let mut end = len;
        while end > 0 {
            let Some(tail_at) = end.checked_sub(16) else { return Ok(None) };
            let tail: [u8; 16] = read_at(input, tail_at)?;
            let Some(index_at) = index_len(&tail).and_then(|len| end.checked_sub(len)) else { return Ok(None) };
            let Some(index) = read_index(input, index_at, end)? else { return Ok(None) };
            let coded: u64 = index.iter().map(|entry| HEADER_LEN as u64 + u64::from(entry.coded_len)).sum();
            let Some(begin) = index_at.checked_sub(coded + HEADER_LEN as u64) else { return Ok(None) };
            let Ok(stream) = StreamHeader::parse(&read_at(input, begin)?) else { return Ok(None) };
            if !index.is_empty() {
                streams.push((begin + HEADER_LEN as u64, stream, index));
            }
            list.streams += 1;
            list.block_size = stream.block_size;
            end = begin;
        }
        if list.streams == 0 {
            return Ok(None);
        }
        let mut text_at = 0;
        for (mut at, stream, index) in streams.into_iter().rev() {
            for (number, entry) in (0..).zip(index) {
                let IndexEntry { text_len, coded_len, crc } = entry;
                list.blocks.push(Listed { number, at, text_at, text_len, coded_len, crc, stream });
                at += HEADER_LEN as u64 + u64::from(coded_len);
                text_at += u64::from(text_len);
            }
        }
        Ok(Some(list))
    }

    /// Goes from header to header, as far as they are good.
    fn by_headers(input: &mut (impl Read + Seek)) -> Result<List, Error> {
        let end = input.seek(SeekFrom::End(0)).map_err(Error::Read)?;
        let mut list = List::new(end);
        let (mut walker, mut text_at, mut open) = (Walker::default(), 0, false);
        input.rewind().map_err(Error::Read)?;
        let mut input = BufReader::new(input);
        loop {
            let mut room = [0; HEADER_LEN];
            let len = input.fill_buf().and_then(|mut bytes| bytes.read(&mut room)).map_err(Error::Read)?;
            let mut bytes = &room[..len];
            let part = walker.next(&mut bytes);
            input.consume(len - bytes.len());
            match part {
                StreamPart::Stream(stream) => {
                    if list.streams == 0 {
                        list.block_size = stream.block_size;
                    }
                    list.streams += 1;
                    open = true;
                }
                StreamPart::Block(stream, header) => {
                    let at = walker.begin() - HEADER_LEN as u64;
                    let BlockHeader { number, text_len, coded_len, crc, .. } = header;
                    list.blocks.push(Listed { number, at, text_at, text_len, coded_len, crc, stream });
                    text_at += u64::from(text_len);
                    walker.skip_payload();
                    input.seek_relative(coded_len.into()).map_err(Error::Read)?;
                }
                StreamPart::Need if len > 0 => {}
                StreamPart::Payload(_) => {}
                StreamPart::End(_) => open = false,
                StreamPart::Need | StreamPart::Other(_) | StreamPart::Damaged(_) => break,
            }
        }
        if list.streams == 0 {
            return Err(Error::NotFormat { format: Format::Hbz });
        }
        // Bytes after a good index that are not a stream are garbage.
        list.end = walker.begin();
        let rest = end.saturating_sub(list.end).min(MAGIC.len() as u64) as usize;
        let mut bytes = vec![0; rest];
        input.seek(SeekFrom::Start(list.end)).map_err(Error::Read)?;
        input.read_exact(&mut bytes).map_err(Error::Read)?;
        let may_follow = [bzip2_magic(&bytes), Magic::of(&bytes, &MAGIC)].iter().any(|magic| *magic != Magic::No);
        list.complete = !open && (rest == 0 || !may_follow);
        Ok(list)
    }
}

impl Listed {
    /// Reads and checks the header of this block, which errors call `block`; decoding may take `allowed` bytes.
    pub(crate) fn header(&self, bytes: &[u8; HEADER_LEN], block: u64, allowed: u64) -> Result<BlockHeader, Error> {
        let damaged = |flaw| Error::damaged(block, self.at * 8, flaw);
        let header = BlockHeader::parse(bytes, &self.stream, self.number).map_err(damaged)?;
        if (header.text_len, header.coded_len, header.crc) != (self.text_len, self.coded_len, self.crc) {
            return Err(damaged(Flaw::Field("index")));
        }
        let needs = header.decoding_bytes(&self.stream);
        if needs > allowed { Err(Error::Memory { block, needs, allowed }) } else { Ok(header) }
    }

    /// The block's text, in pieces.
    fn read(
        &self,
        input: &mut (impl Read + Seek),
        decoder: &mut HbzDecoder,
        allowed: u64,
    ) -> Result<Box<dyn Iterator<Item = Vec<u8>>>, Error> {
        let block = u64::from(self.number) + 1;
        let header = self.header(&read_at(input, self.at)?, block, allowed)?;
        // The memory grows with the bytes present: the file may be shorter than the header says.
        let mut payload = Vec::new();
        input.take(header.coded_len.into()).read_to_end(&mut payload).map_err(Error::Read)?;
        if payload.len() < header.coded_len as usize {
            let bit_offset = (self.at + (HEADER_LEN + payload.len()) as u64) * 8;
            return Err(Error::Truncated { block, bit_offset });
        }
        let text = decoder.decode(self.stream, header, payload.into());
        match text.map_err(|flaw| Error::damaged(block, self.at * 8, flaw))? {
            Text::Compact(compact) => Ok(Box::new(compact.pieces())),
            text => Ok(Box::new(std::iter::once(whole(text)))),
        }
    }
}

/// Reads and checks the index that should lie between these offsets; `None` if anything is wrong with it. Memory grows
/// with the good entries that have been read: a sparse file can claim any number of them.
fn read_index(input: &mut (impl Read + Seek), at: u64, end: u64) -> Result<Option<Vec<IndexEntry>>, Error> {
    let Some(len) = (end - at).checked_sub((INDEX_HEAD + INDEX_TAIL) as u64) else { return Ok(None) };
    let head: [u8; INDEX_HEAD] = read_at(input, at)?;
    let Some(count) = index_count(&head).filter(|&count| len == u64::from(count) * ENTRY_LEN as u64) else {
        return Ok(None);
    };
    let (mut input, mut crc, mut entries, mut coded) = (BufReader::new(input), Crc::new(), Vec::new(), 0);
    crc.update(&head);
    for _ in 0..count {
        let mut bytes = [0; ENTRY_LEN];
        input.read_exact(&mut bytes).map_err(Error::Read)?;
        crc.update(&bytes);
        let entry = IndexEntry::parse(&bytes);
        coded += HEADER_LEN as u64 + u64::from(entry.coded_len);
        if entry.text_len == 0 || entry.coded_len == 0 || coded > at {
            return Ok(None);
        }
        entries.push(entry);
    }
    let mut tail = [0; INDEX_TAIL];
    input.read_exact(&mut tail).map_err(Error::Read)?;
    Ok((tail == index_tail(crc.finish(), INDEX_HEAD as u64 + len)).then_some(entries))
}

fn read_at<const N: usize>(input: &mut (impl Read + Seek), at: u64) -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    input.seek(SeekFrom::Start(at)).map_err(Error::Read)?;
    input.read_exact(&mut bytes).map_err(Error::Read)?;
    Ok(bytes)
}
