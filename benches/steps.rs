//! Measures each step of encoding and of decoding a block, and the whole coders, in bytes of text per second.
//!
//! Run `cargo bench --bench steps`; a word at the end selects steps, as in `cargo bench --bench steps -- mtf`. The
//! inputs are a full block of each shape, and of each real file that is present. Every input is checked first: the
//! encoder gives the same bytes as the `bzip2` crate, and both decoders, and the steps of one, give the text back.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use hybz::internals::bits::reader::BitReader;
use hybz::internals::bits::{BitSource, BitWriter, SliceBits, append_bits};
use hybz::internals::block::{DecodedBlock, Text};
use hybz::internals::codec::bwt::forward::ForwardBwt;
use hybz::internals::codec::bwt::inverse::Inverse as Bwt;
use hybz::internals::codec::bwt::rotation;
use hybz::internals::codec::header::Bz2BlockHeader;
use hybz::internals::codec::huffman::decode::{GroupDecoder, SYMBOL_BYTES};
use hybz::internals::codec::huffman::encode::code_lengths;
use hybz::internals::codec::mtf::decode::MtfDecoder;
use hybz::internals::codec::mtf::encode::{EncodeKernel, KERNELS, MtfSymbols};
use hybz::internals::codec::run_length::decode::{Expander, decode_text};
use hybz::internals::codec::selector::encode::HuffmanTables;
use hybz::internals::codec::{Decoder, Encoder, find_magic, run_length};
use hybz::internals::crc;
use hybz::internals::formats::bzip2::MAX_BLOCK as MAX_ROWS;
use hybz::internals::formats::hbz::encode::HbzEncoder;
use hybz::internals::formats::hbz::{ENTRY_LOG, StreamHeader};
use hybz_testkit::shapes;
use std::fmt;
use std::io::Read;
use std::sync::{Arc, OnceLock};

/// A text of this length does not fill a block at level 9, whatever run-length coding adds.
const LEN: usize = 719_000;

/// A text, and the result of each step of encoding and of decoding it.
struct Input {
    name: String,
    text: Vec<u8>,
    block: Vec<u8>,
    last: Vec<u8>,
    symbols: MtfSymbols,
    tables: HuffmanTables,
    /// A stream of one block.
    data: Vec<u8>,
    header: Bz2BlockHeader,
    /// The position of the first code.
    codes: u64,
    /// In pieces, as the Huffman decoder returns them.
    decoded: Vec<Vec<u8>>,
    runs: Vec<u32>,
    rows: usize,
}

impl fmt::Display for &Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Input {
    fn new(name: String, text: Vec<u8>) -> Self {
        let mut block = Vec::new();
        run_length::encode::encode(&text, &mut block);
        let last = ForwardBwt::new(Arc::default()).transform(&mut block).bytes.to_vec();
        let mut symbols = MtfSymbols::default();
        symbols.encode(&last);
        let mut tables = HuffmanTables::default();
        tables.choose(&symbols);

        let mut data = Vec::new();
        bzip2::read::BzEncoder::new(&text[..], bzip2::Compression::best()).read_to_end(&mut data).unwrap();
        let mut header = Bz2BlockHeader::default();
        let mut bits = SliceBits::new(&data, 32, u64::MAX);
        header.read(&mut bits, 900_000).unwrap();
        let codes = bits.position();
        let mut decoded = Vec::new();
        decode_codes(&mut GroupDecoder::default(), &header, &data, codes, |piece| decoded.push(piece.to_vec()));
        let mut mtf = MtfDecoder::new(MAX_ROWS);
        mtf.begin(&header.used, 900_000);
        decoded.iter().for_each(|piece| mtf.push(piece).unwrap());
        let (runs, rows) = mtf.finish();
        let mut bwt = Bwt::default();
        bwt.build(runs, rows);
        bwt.walk(header.origin);
        assert!(bwt.pieces().collect::<Vec<_>>().concat() == block, "{name}");
        let runs = runs.to_vec();
        Input { name, text, block, last, symbols, tables, data, header, codes, decoded, runs, rows }
    }

    /// Checks that the encoder returns the bytes of the `bzip2` crate, and both decoders the text.
    fn check(&self) {
        let coded = Encoder::new().encode(&Text::Plain(self.text.clone()));
        let mut out = BitWriter::new();
        out.write(0x425a_6839, 32);
        append_bits(&mut out, &coded.bytes, coded.bit_len);
        out.write(0x1772_4538_5090, 48);
        out.write(crc::combine(0, coded.crc).into(), 32);
        assert!(out.finish() == self.data, "{}", self.name);

        let (text, crc) = decode_text(std::iter::once(&self.block[..]), self.rows).unwrap();
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
            Expander::default().next(coded, &mut text);
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
        let shapes = shapes::SHAPES.iter().map(|shape| (shape.name.to_owned(), (shape.make)(LEN)));
        let all = shapes.chain(shapes::real_files(LEN as u64));
        let all: Vec<Input> = all.map(|(name, text)| Input::new(name, text)).collect();
        all.iter().for_each(Input::check);
        all
    });
    all.iter()
}

fn main() {
    divan::main();
}

#[divan::bench(args = inputs())]
fn run_length_encode(bencher: Bencher<'_, '_>, input: &Input) {
    let mut coded = Vec::new();
    bencher.counter(input.bytes()).bench_local(|| {
        coded.clear();
        run_length::encode::encode(black_box(&input.text), &mut coded);
    });
    assert!(coded == input.block);
}

#[divan::bench(args = inputs())]
fn rotation_period(bencher: Bencher<'_, '_>, input: &Input) {
    bencher.counter(input.bytes()).bench(|| rotation::period(black_box(&input.block)));
}

#[divan::bench(args = inputs())]
fn rotation_least(bencher: Bencher<'_, '_>, input: &Input) {
    let mut candidates = Vec::new();
    bencher.counter(input.bytes()).bench_local(|| rotation::least(black_box(&input.block), &mut candidates));
}

#[divan::bench(args = inputs())]
fn bwt_forward(bencher: Bencher<'_, '_>, input: &Input) {
    let mut bwt = ForwardBwt::new(Arc::default());
    let mut block = input.block.clone();
    assert!(bwt.transform(&mut block).bytes == input.last); // also computes the origin of a periodic block
    bencher.counter(input.bytes()).bench_local(|| bwt.transform(black_box(&mut block)).origin);
}

/// Each kernel that this CPU supports, on each input.
fn mtf_cases() -> impl Iterator<Item = MtfCase> {
    let able = KERNELS.iter().filter(|kernel| (kernel.is_supported)());
    able.flat_map(|kernel| inputs().map(move |input| MtfCase { kernel, input }))
}

#[derive(Clone, Copy)]
struct MtfCase {
    kernel: &'static EncodeKernel,
    input: &'static Input,
}

impl fmt::Display for MtfCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.kernel.name, self.input.name)
    }
}

#[divan::bench(args = mtf_cases())]
fn mtf_encode(bencher: Bencher<'_, '_>, case: MtfCase) {
    let MtfCase { kernel, input } = case;
    let mut symbols = MtfSymbols::default();
    bencher.counter(input.bytes()).bench_local(|| (kernel.encode)(&mut symbols, black_box(&input.last)));
    assert!(symbols.as_slice() == input.symbols.as_slice());
}

#[divan::bench(args = inputs())]
fn selector_choose(bencher: Bencher<'_, '_>, input: &Input) {
    let mut tables = HuffmanTables::default();
    bencher.counter(input.bytes()).bench_local(|| tables.choose(black_box(&input.symbols)));
    assert!(tables == input.tables);
}

/// One table; a block makes up to 24.
#[divan::bench(args = inputs())]
fn huffman_code_lengths(bencher: Bencher<'_, '_>, input: &Input) {
    let frequencies = &input.symbols.frequencies[..input.symbols.alphabet];
    let mut lengths = vec![0; frequencies.len()];
    bencher.counter(input.bytes()).bench_local(|| code_lengths(black_box(frequencies), &mut lengths));
}

#[divan::bench(args = inputs())]
fn selector_write(bencher: Bencher<'_, '_>, input: &Input) {
    bencher.counter(input.bytes()).bench_local(|| {
        let mut out = BitWriter::with_capacity(input.tables.bits_needed(input.symbols.alphabet));
        black_box(&input.tables).write_head(input.symbols.alphabet, &mut out);
        input.tables.write_codes(&input.symbols, &mut out);
        out
    });
}

/// The dictionary of a `.hbz` block, and the text in its codes.
#[divan::bench(args = inputs())]
fn hbz_prepare(bencher: Bencher<'_, '_>, input: &Input) {
    let stream = StreamHeader { block_size: LEN as u32, interval: 0, seed: 0, entry_log: ENTRY_LOG };
    let (mut encoder, mut codes) = (HbzEncoder::default(), Vec::new());
    bencher.counter(input.bytes()).bench_local(|| encoder.prepare(black_box(&input.text), 0, &stream, &mut codes));
}

#[divan::bench(args = inputs())]
fn append_bits_unaligned(bencher: Bencher<'_, '_>, input: &Input) {
    let mut out = BitWriter::new();
    bencher.counter(input.bytes()).bench_local(|| {
        out.forget_whole_bytes();
        append_bits(&mut out, black_box(&input.text), input.text.len() as u64 * 8 - 3);
    });
}

#[divan::bench(args = inputs())]
fn whole_encoder(bencher: Bencher<'_, '_>, input: &Input) {
    let mut encoder = Encoder::new();
    let text = Text::Plain(input.text.clone());
    encoder.encode(&text); // computes the origin of a periodic block
    bencher.counter(input.bytes()).bench_local(|| encoder.encode(black_box(&text)));
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
    let mut groups = GroupDecoder::default();
    bencher.counter(input.bytes()).bench_local(|| groups.start_block(black_box(&input.header)).unwrap());
}

/// Including the tables.
#[divan::bench(args = inputs())]
fn huffman_decode(bencher: Bencher<'_, '_>, input: &Input) {
    let mut groups = GroupDecoder::default();
    let mut symbols = 0;
    bencher.counter(input.bytes()).bench_local(|| {
        symbols = 0;
        decode_codes(&mut groups, &input.header, black_box(&input.data), input.codes, |piece| symbols += piece.len());
    });
    assert!(symbols == 0 || symbols == input.decoded.iter().map(Vec::len).sum());
}

#[divan::bench(args = inputs())]
fn mtf_decode(bencher: Bencher<'_, '_>, input: &Input) {
    let mut mtf = MtfDecoder::new(MAX_ROWS);
    bencher.counter(input.bytes()).bench_local(|| {
        mtf.begin(&input.header.used, 900_000);
        black_box(&input.decoded).iter().for_each(|piece| mtf.push(piece).unwrap());
        mtf.finish().1
    });
}

#[divan::bench(args = inputs())]
fn bwt_build(bencher: Bencher<'_, '_>, input: &Input) {
    let mut bwt = Bwt::default();
    bencher.counter(input.bytes()).bench_local(|| bwt.build(black_box(&input.runs), input.rows));
}

#[divan::bench(args = inputs())]
fn bwt_walk(bencher: Bencher<'_, '_>, input: &Input) {
    let mut bwt = Bwt::default();
    bwt.build(&input.runs, input.rows);
    bencher.counter(input.bytes()).bench_local(|| bwt.walk(black_box(input.header.origin)));
}

/// Including the CRC.
#[divan::bench(args = inputs())]
fn run_length_decode(bencher: Bencher<'_, '_>, input: &Input) {
    let pieces = || black_box(&input.block).chunks(900);
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
