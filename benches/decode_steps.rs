//! Measures each step of decoding a block, and the whole decoder, in bytes of text per second.
//!
//! Run `cargo bench --bench decode_steps`; a word at the end selects steps, as in `cargo bench --bench decode_steps --
//! bwt`. The inputs are a full block of some shapes, and of each real file that is present, coded by the `bzip2` crate.
//! Every input is checked first: the whole decoder and the steps one by one both give the text back.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use hybz::internals::bits::reader::BitReader;
use hybz::internals::bits::{BitSource, SliceBits};
use hybz::internals::block::{DecodedBlock, Text};
use hybz::internals::codec::bwt::inverse::Inverse as Bwt;
use hybz::internals::codec::header::Bz2BlockHeader;
use hybz::internals::codec::huffman::decode::{GroupDecoder, SYMBOL_BYTES};
use hybz::internals::codec::mtf::decode::MtfDecoder;
use hybz::internals::codec::run_length::decode::{Expander, decode_text};
use hybz::internals::codec::{Decoder, find_magic};
use hybz::internals::crc;
use hybz::internals::formats::bzip2::MAX_BLOCK as MAX_ROWS;
use hybz_testkit::shapes;
use std::fmt;
use std::io::Read;
use std::sync::OnceLock;

/// A text of this length does not fill a block at level 9, whatever run-length coding adds.
const LEN: usize = 719_000;

const SHAPES: [&str; 14] = [
    "words",
    "records",
    "image",
    "random",
    "random_64",
    "five_letters",
    "two_letters",
    "short_runs",
    "runs_of_4",
    "zeros",
    "fibonacci",
    "de_bruijn",
    "ab_n_c",
    "near_copies",
];

/// A text, and the result of each step of decoding it.
struct Input {
    name: String,
    text: Vec<u8>,
    /// A stream of one block.
    data: Vec<u8>,
    header: Bz2BlockHeader,
    /// The position of the first code.
    codes: u64,
    /// In pieces, as the Huffman decoder returns them.
    symbols: Vec<Vec<u8>>,
    runs: Vec<u32>,
    rows: usize,
    coded: Vec<u8>,
}

impl fmt::Display for &Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Input {
    fn new(name: String, text: Vec<u8>) -> Self {
        let mut data = Vec::new();
        bzip2::read::BzEncoder::new(&text[..], bzip2::Compression::best()).read_to_end(&mut data).unwrap();
        let mut header = Bz2BlockHeader::default();
        let mut bits = SliceBits::new(&data, 32, u64::MAX);
        header.read(&mut bits, 900_000).unwrap();
        let codes = bits.position();

        let mut symbols = Vec::new();
        decode_codes(&mut GroupDecoder::new(), &header, &data, codes, |piece| symbols.push(piece.to_vec()));
        let mut mtf = MtfDecoder::new(MAX_ROWS);
        mtf.begin(&header.used, 900_000);
        symbols.iter().for_each(|piece| mtf.push(piece).unwrap());
        let (runs, rows) = mtf.finish();
        let mut bwt = Bwt::new();
        bwt.build(runs, rows);
        bwt.walk(header.origin);
        let coded = bwt.pieces().collect::<Vec<_>>().concat();
        let runs = runs.to_vec();
        Input { name, text, data, header, codes, symbols, runs, rows, coded }
    }

    /// Checks that both decoders, and the steps one by one, return the text.
    fn check(&self) {
        let (text, crc) = decode_text(std::iter::once(&self.coded[..]), self.rows).unwrap();
        assert!(plain(&text) == self.text && crc == self.header.crc, "{}", self.name);
        let mut decoder = Decoder::new();
        assert!(plain(&self.decode(&mut decoder).text) == self.text, "{}", self.name);
        assert_eq!(decoder.fallbacks(), 0, "{}", self.name);
        let block = decoder.decode_reference(&mut SliceBits::new(&self.data, 32, u64::MAX), 900_000).unwrap();
        assert!(plain(&block.text) == self.text, "{}", self.name);
    }

    fn decode(&self, decoder: &mut Decoder) -> DecodedBlock {
        decoder.decode(&self.data, 32, u64::MAX, 900_000).unwrap()
    }

    fn bytes(&self) -> BytesCount {
        BytesCount::of_slice(&self.text)
    }
}

fn plain(text: &Text) -> Vec<u8> {
    match text {
        Text::Plain(text) => text.clone(),
        Text::Parts(parts) => parts.iter().flat_map(|part| part.iter()).copied().collect(),
        Text::Compact(compact) => compact.pieces().flatten().collect(),
        Text::RunLength { coded, len, .. } => {
            let mut text = vec![0; *len as usize];
            Expander::new().next(coded, &mut text);
            text
        }
    }
}

fn decode_codes(
    groups: &mut GroupDecoder,
    header: &Bz2BlockHeader,
    data: &[u8],
    codes: u64,
    mut each: impl FnMut(&[u8]),
) {
    let mut out = [0; SYMBOL_BYTES];
    groups.start_block(header).unwrap();
    let mut reader = BitReader::new(data, codes);
    loop {
        let (len, last) = groups.decode_groups(&header.selectors, &mut reader, &mut out).unwrap();
        each(&out[..len]);
        if last {
            return;
        }
    }
}

fn inputs() -> impl Iterator<Item = &'static Input> {
    static INPUTS: OnceLock<Vec<Input>> = OnceLock::new();
    let all = INPUTS.get_or_init(|| {
        let mut all: Vec<Input> =
            SHAPES.iter().map(|name| Input::new(name.to_string(), (shapes::shape(name).make)(LEN))).collect();
        all.extend(shapes::real_files(LEN as u64).into_iter().map(|(name, text)| Input::new(name, text)));
        all.iter().for_each(Input::check);
        all
    });
    all.iter()
}

fn main() {
    divan::main();
}

/// The scan of a file for blocks, in compressed bytes per second.
#[divan::bench]
fn magic_find(bencher: Bencher<'_, '_>) {
    let data = (shapes::shape("random").make)(LEN);
    assert_eq!(find_magic::find(&data, 0), None);
    bencher.counter(BytesCount::of_slice(&data)).bench(|| find_magic::find(black_box(&data), 0));
}

#[divan::bench(args = inputs())]
fn header_read(bencher: Bencher<'_, '_>, input: &Input) {
    let mut header = Bz2BlockHeader::default();
    bencher.counter(input.bytes()).bench_local(|| {
        let mut bits = SliceBits::new(black_box(&input.data), 32, u64::MAX);
        header.read(&mut bits, 900_000).unwrap();
        bits.position()
    });
    assert_eq!(header.selectors, input.header.selectors);
}

#[divan::bench(args = inputs())]
fn huffman_tables(bencher: Bencher<'_, '_>, input: &Input) {
    let mut groups = GroupDecoder::new();
    bencher.counter(input.bytes()).bench_local(|| groups.start_block(black_box(&input.header)).unwrap());
}

/// Including the tables.
#[divan::bench(args = inputs())]
fn huffman_decode(bencher: Bencher<'_, '_>, input: &Input) {
    let mut groups = GroupDecoder::new();
    let mut symbols = 0;
    bencher.counter(input.bytes()).bench_local(|| {
        symbols = 0;
        decode_codes(&mut groups, &input.header, black_box(&input.data), input.codes, |piece| symbols += piece.len());
    });
    assert!(symbols == 0 || symbols == input.symbols.iter().map(Vec::len).sum());
}

#[divan::bench(args = inputs())]
fn mtf_decode(bencher: Bencher<'_, '_>, input: &Input) {
    let mut mtf = MtfDecoder::new(MAX_ROWS);
    bencher.counter(input.bytes()).bench_local(|| {
        mtf.begin(&input.header.used, 900_000);
        black_box(&input.symbols).iter().for_each(|piece| mtf.push(piece).unwrap());
        mtf.finish().1
    });
}

#[divan::bench(args = inputs())]
fn bwt_build(bencher: Bencher<'_, '_>, input: &Input) {
    let mut bwt = Bwt::new();
    bencher.counter(input.bytes()).bench_local(|| bwt.build(black_box(&input.runs), input.rows));
}

#[divan::bench(args = inputs())]
fn bwt_walk(bencher: Bencher<'_, '_>, input: &Input) {
    let mut bwt = Bwt::new();
    bwt.build(&input.runs, input.rows);
    bencher.counter(input.bytes()).bench_local(|| bwt.walk(black_box(input.header.origin)));
}

/// Including the CRC.
#[divan::bench(args = inputs())]
fn run_length_decode(bencher: Bencher<'_, '_>, input: &Input) {
    let pieces = || black_box(&input.coded).chunks(900);
    bencher.counter(input.bytes()).bench_local(|| decode_text(pieces(), input.rows).unwrap());
}

#[divan::bench(args = inputs())]
fn crc_of_text(bencher: Bencher<'_, '_>, input: &Input) {
    bencher.counter(input.bytes()).bench(|| crc::checksum(black_box(&input.text)));
}

#[divan::bench(args = inputs())]
fn whole_decoder(bencher: Bencher<'_, '_>, input: &Input) {
    let mut decoder = Decoder::new();
    bencher.counter(input.bytes()).bench_local(|| black_box(input).decode(&mut decoder));
}

#[divan::bench(args = inputs())]
fn reference_decoder(bencher: Bencher<'_, '_>, input: &Input) {
    let mut decoder = Decoder::new();
    bencher.counter(input.bytes()).bench_local(|| {
        decoder.decode_reference(&mut SliceBits::new(black_box(&input.data), 32, u64::MAX), 900_000).unwrap()
    });
}
