//! A format for tests only. It shows what a new format needs: this file, its name among the modules of `formats`,
//! a variant of [`Format`], a row of the table, and a variant of [`Encoding`](crate::Encoding). It keeps a whole stream
//! in memory, which a real format must not do: `stream::copy` hands text on as it comes.
//!
//! ```text
//! stream   0xf7 "TOY" | length of the text 4, little-endian | the text with all bits inverted
//! ```

use crate::block::Text;
use crate::error::Error;
use crate::format::{Format, Magic};
use crate::stream::copy::Chunks;
use crate::stream::piece::{Decoding, Ends, Extent, Join, Pieces, Step, StreamEndDetector, connect};
use crate::summary::{Mark, StreamInfo, StreamSummary};

pub(crate) const MAGIC: [u8; 4] = *b"\xf7TOY";
const HEADER_LEN: usize = 8;

/// The detector of a stream's end.
pub(crate) fn end() -> Option<Box<dyn StreamEndDetector>> {
    Some(Box::new(End::default()))
}

pub(crate) fn encode() -> Ends {
    connect(Chunks::default(), Encoder::default())
}

pub(crate) fn decode(decoding: &Decoding) -> Ends {
    let (bytes, summary) = Default::default();
    connect(Chunks::default(), Decoder { extent: decoding.extent, bytes, done: false, summary })
}

fn inverted(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| !byte).collect()
}

/// The length of the text after this header.
fn text_len(header: &[u8]) -> usize {
    u32::from_le_bytes(std::array::from_fn(|i| header[4 + i])) as usize
}

/// Collects the text until all of it has come.
#[derive(Default)]
struct Encoder {
    text: Vec<u8>,
    done: bool,
}

impl Join for Encoder {
    type Issued = Vec<u8>;

    fn step(&mut self, pieces: &mut Pieces<Vec<u8>>, _wait: bool) -> Result<Step, Error> {
        self.text.extend(pieces.held.drain(..).flat_map(|piece| piece.piece));
        Ok(match (pieces.ended, self.done) {
            (false, _) => Step::Need,
            (true, true) => Step::Done,
            (true, false) => {
                self.done = true;
                let len = (self.text.len() as u32).to_le_bytes();
                Step::Out(Text::Plain([&MAGIC[..], &len, &inverted(&self.text)].concat()), None)
            }
        })
    }

    fn summary(&self) -> StreamSummary {
        StreamSummary { bytes_in: self.text.len() as u64, streams: 1, ..StreamSummary::default() }
    }
}

/// Collects a stream until all of it has come.
struct Decoder {
    extent: Extent,
    bytes: Vec<u8>,
    done: bool,
    summary: StreamSummary,
}

impl Join for Decoder {
    type Issued = Vec<u8>;

    fn step(&mut self, pieces: &mut Pieces<Vec<u8>>, _wait: bool) -> Result<Step, Error> {
        self.bytes.extend(pieces.held.drain(..).flat_map(|piece| piece.piece));
        if self.done || self.extent.is_reached(self.summary.streams) || pieces.ended && self.bytes.is_empty() {
            self.done = true;
            return Ok(Step::Done);
        }
        match Magic::of(&self.bytes, &MAGIC) {
            Magic::No if self.summary.streams > 0 => return Ok(Step::Other),
            Magic::No => return Err(Error::NotBzip2),
            _ => {}
        }
        let len = self.bytes.get(..HEADER_LEN).map(|header| HEADER_LEN + text_len(header));
        let Some(stream) = len.and_then(|len| self.bytes.get(..len)) else {
            let end = self.summary.bytes_in + self.bytes.len() as u64;
            return if pieces.ended { Err(Error::Truncated { block: 1, bit_offset: end * 8 }) } else { Ok(Step::Need) };
        };
        let text = inverted(&stream[HEADER_LEN..]);
        self.summary.streams += 1;
        self.summary.bytes_in += stream.len() as u64;
        let len = stream.len();
        self.bytes.drain(..len);
        let (number, end) = (self.summary.streams, self.summary.bytes_in);
        let info = StreamInfo { number, format: Format::Toy, level: None, bit_offset: end * 8, end, combined_crc: 0 };
        Ok(Step::Out(Text::Plain(text), Some(Mark::Stream(info))))
    }

    fn rest(&mut self, _: &mut Pieces<Vec<u8>>) -> Option<Vec<u8>> {
        Some(std::mem::take(&mut self.bytes)).filter(|bytes| !bytes.is_empty())
    }

    fn summary(&self) -> StreamSummary {
        self.summary
    }
}

/// Counts the bytes of a stream.
#[derive(Default)]
struct End {
    header: Vec<u8>,
    left: usize,
}

impl StreamEndDetector for End {
    fn take(&mut self, bytes: &[u8]) -> Option<usize> {
        let n = bytes.len().min(HEADER_LEN - self.header.len());
        if n > 0 {
            self.header.extend(&bytes[..n]);
            if self.header.len() < HEADER_LEN {
                return None;
            }
            self.left = text_len(&self.header);
        }
        let rest = self.left.min(bytes.len() - n);
        self.left -= rest;
        (self.left == 0).then_some(n + rest)
    }
}

#[cfg(test)]
mod tests {
    use crate::flow::{self, Input, Inputs, Outputs, Source, Task};
    use crate::format::Format;
    use crate::index::Index;
    use crate::{Encoding, Error, Formats, LargeBlocks, Level, Pool, Settings, StreamInfo, StreamSummary, Verify};
    use std::io::Read;
    use std::ops::ControlFlow;

    fn toy(text: &[u8]) -> Vec<u8> {
        crate::compress(text, &Settings::new().encoding(Encoding::Toy)).unwrap()
    }

    /// The decoder is chosen by the first byte (`table::first`).
    #[test]
    fn first_bytes_differ() {
        for byte in 0..=u8::MAX {
            let formats: Vec<Format> = Format::all_read().filter(|format| format.fits(&[byte])).collect();
            assert!(formats.len() <= 1, "{byte:#x}: {formats:?}");
        }
    }

    fn read(coded: &[u8]) -> Result<Vec<u8>, Error> {
        crate::decompress(coded, &Settings::new())
    }

    #[test]
    fn there_and_back() {
        for text in [&b""[..], b"some text", &b"Raw text, as it is. ".repeat(10_000)] {
            let coded = toy(text);
            assert_eq!((coded.len(), Format::of(&coded)), (text.len() + 8, Some(Format::Toy)));
            assert!(read(&coded).unwrap() == text);
            assert!(matches!(read(&coded[..coded.len() - 1]), Err(Error::Truncated { .. })));
        }
        let strict = Settings::new().formats(Formats::Bzip2);
        assert!(matches!(crate::decompress(&toy(b"x"), &strict), Err(Error::NotBzip2)));
        assert!(matches!(read(b"\xf7 no toy"), Err(Error::NotBzip2)));
    }

    #[test]
    fn between_streams_of_other_formats() {
        let large = LargeBlocks::try_new(50_000).unwrap();
        for settings in [Settings::new(), Settings::new().encoding(large)] {
            let other = crate::compress(b"other ", &settings).unwrap();
            let all = [&other[..], &toy(b"toy "), &toy(b"toys "), &other].concat();
            assert_eq!(read(&all).unwrap(), b"other toy toys other ");
            assert_eq!(read(&all[all.len() - other.len() - 13..]).unwrap(), b"toys other ");
            // Two bytes of the magic count as a stream that was cut, one byte as garbage.
            assert_eq!(read(&[&other[..], b"\xf7"].concat()).unwrap(), b"other ");
            assert!(matches!(read(&[&other[..], b"\xf7T"].concat()), Err(Error::Truncated { .. })));
        }
    }

    #[test]
    fn a_decoder_stops_at_its_end() {
        let coded = toy(b"some text");
        let mut input = std::io::Cursor::new([&coded[..], b"rest"].concat());
        let mut text = String::new();
        crate::bufread::BzDecoder::new(&mut input).read_to_string(&mut text).unwrap();
        assert_eq!((&text[..], input.position()), ("some text", coded.len() as u64));
    }

    #[test]
    fn what_the_table_says_of_it() {
        assert!(Format::all_read().any(|format| format == Format::Toy));
        assert_eq!((Format::Toy.name(), Format::Toy.suffixes()), ("toy", &[(".toy", "")][..]));
        assert!(Formats::All.may_begin_with(b"\xf7") && !Formats::Bzip2.may_begin_with(b"\xf7"));
        let error = Index::build(&toy(b"text")[..], &Settings::new()).unwrap_err();
        assert!(matches!(error, Error::NoIndex { format: Format::Toy, why: "a toy has no blocks" }));
    }

    #[test]
    fn through_the_flow() {
        let mut tasks = Both(vec![], vec![]);
        let pool = Pool::builder().build();
        let bz2 = crate::compress(b"two", &Settings::new().level(Level::FASTEST)).unwrap();
        let coded = [&bz2[..], &toy(b"three")].concat();
        let decompress = Task::Decompress { formats: Formats::All, trailing_garbage: false };
        let inputs = [(Task::Compress(Encoding::Toy), b"one".to_vec()), (decompress, coded)];
        flow::run(&pool, Each(inputs.into_iter()), &mut tasks);
        assert_eq!(tasks.0, [toy(b"one"), b"twothree".to_vec()]);
        assert_eq!(tasks.1, [Format::Bzip2, Format::Toy]);
    }

    struct Each<I>(I);

    impl<I: Iterator<Item = (Task, Vec<u8>)> + Send + 'static> Inputs for Each<I> {
        type Meta = ();

        fn next_input(&mut self) -> Option<Input<()>> {
            let (task, bytes) = self.0.next()?;
            let source = Source::Stream(Box::new(std::io::Cursor::new(bytes)));
            Some(Input { meta: (), task, count_lines: false, verify: Verify::Off, source })
        }
    }

    /// The outputs, and the formats of the streams.
    struct Both(Vec<Vec<u8>>, Vec<Format>);

    impl Outputs for Both {
        type Meta = ();
        type Out = Vec<u8>;

        fn begin(&mut self, (): &mut ()) -> Option<Vec<u8>> {
            Some(Vec::new())
        }

        fn stream(&mut self, (): &mut (), stream: &StreamInfo) {
            self.1.push(stream.format);
        }

        fn end(&mut self, (): (), out: Vec<u8>, outcome: Result<StreamSummary, Error>) -> ControlFlow<()> {
            outcome.unwrap();
            self.0.push(out);
            ControlFlow::Continue(())
        }
    }
}
