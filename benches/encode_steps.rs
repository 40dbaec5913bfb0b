//! Measures each step of encoding a block, and the whole encoder, in bytes of text per second.
//!
//! Run `cargo bench --bench encode_steps`; a word at the end selects steps, as in `cargo bench --bench encode_steps --
//! mtf`. The inputs are a full block of some shapes, and of each real file that is present. Every input is checked
//! first: the encoder gives the same bytes as the `bzip2` crate.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use hybz::internals::bits::{BitWriter, append_bits};
use hybz::internals::block::Text;
use hybz::internals::codec::bwt::forward::ForwardBwt;
use hybz::internals::codec::bwt::rotation;
use hybz::internals::codec::huffman::encode::code_lengths;
use hybz::internals::codec::mtf::encode::{EncodeKernel, KERNELS, MtfSymbols};
use hybz::internals::codec::selector::encode::HuffmanTables;
use hybz::internals::codec::{Encoder, run_length};
use hybz::internals::crc;
use hybz::internals::formats::hbz::encode::HbzEncoder;
use hybz::internals::formats::hbz::{ENTRY_LOG, StreamHeader};
use hybz_testkit::shapes;
use std::fmt;
use std::io::Write;
use std::sync::{Arc, OnceLock};

/// A text of this length does not fill a block at level 9, whatever run-length coding adds.
const LEN: usize = 719_000;

const SHAPES: [&str; 12] = [
    "words",
    "records",
    "image",
    "random",
    "five_letters",
    "short_runs",
    "zeros",
    "fibonacci",
    "de_bruijn",
    "ab_n_c",
    "doubled_but_one",
    "near_copies",
];

/// A text, and the result of each step on it.
struct Input {
    name: String,
    text: Vec<u8>,
    block: Vec<u8>,
    last: Vec<u8>,
    symbols: MtfSymbols,
    tables: HuffmanTables,
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
        Input { name, text, block, last, symbols, tables }
    }

    /// Checks that the whole encoder returns the bytes of the `bzip2` crate.
    fn check(&self) {
        let coded = Encoder::new().encode(&Text::Plain(self.text.clone()));
        let mut out = BitWriter::new();
        out.write(0x425a_6839, 32);
        append_bits(&mut out, &coded.bytes, coded.bit_len);
        out.write(0x1772_4538_5090, 48);
        out.write(crc::combine(0, coded.crc).into(), 32);
        let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
        bzip2.write_all(&self.text).unwrap();
        assert!(out.finish() == bzip2.finish().unwrap(), "{}", self.name);
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

#[divan::bench(args = inputs())]
fn crc_of_text(bencher: Bencher<'_, '_>, input: &Input) {
    bencher.counter(BytesCount::of_slice(&input.text)).bench(|| crc::checksum(black_box(&input.text)));
}

#[divan::bench(args = inputs())]
fn run_length_encode(bencher: Bencher<'_, '_>, input: &Input) {
    let mut coded = Vec::new();
    bencher.counter(BytesCount::of_slice(&input.text)).bench_local(|| {
        coded.clear();
        run_length::encode::encode(black_box(&input.text), &mut coded);
    });
    assert!(coded == input.block);
}

#[divan::bench(args = inputs())]
fn rotation_period(bencher: Bencher<'_, '_>, input: &Input) {
    bencher.counter(BytesCount::of_slice(&input.text)).bench(|| rotation::period(black_box(&input.block)));
}

#[divan::bench(args = inputs())]
fn rotation_least(bencher: Bencher<'_, '_>, input: &Input) {
    let mut candidates = Vec::new();
    bencher
        .counter(BytesCount::of_slice(&input.text))
        .bench_local(|| rotation::least(black_box(&input.block), &mut candidates));
}

#[divan::bench(args = inputs())]
fn bwt_forward(bencher: Bencher<'_, '_>, input: &Input) {
    let mut bwt = ForwardBwt::new(Arc::default());
    let mut block = input.block.clone();
    assert!(bwt.transform(&mut block).bytes == input.last); // also computes the origin of a periodic block
    bencher.counter(BytesCount::of_slice(&input.text)).bench_local(|| bwt.transform(black_box(&mut block)).origin);
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
    bencher
        .counter(BytesCount::of_slice(&input.text))
        .bench_local(|| (kernel.encode)(&mut symbols, black_box(&input.last)));
    assert!(symbols.as_slice() == input.symbols.as_slice());
}

#[divan::bench(args = inputs())]
fn selector_choose(bencher: Bencher<'_, '_>, input: &Input) {
    let mut tables = HuffmanTables::default();
    bencher.counter(BytesCount::of_slice(&input.text)).bench_local(|| tables.choose(black_box(&input.symbols)));
    assert!(tables == input.tables);
}

/// One table; a block makes up to 24.
#[divan::bench(args = inputs())]
fn huffman_code_lengths(bencher: Bencher<'_, '_>, input: &Input) {
    let frequencies = &input.symbols.frequencies[..input.symbols.alphabet];
    let mut lengths = vec![0; frequencies.len()];
    bencher
        .counter(BytesCount::of_slice(&input.text))
        .bench_local(|| code_lengths(black_box(frequencies), &mut lengths));
}

#[divan::bench(args = inputs())]
fn selector_write(bencher: Bencher<'_, '_>, input: &Input) {
    bencher.counter(BytesCount::of_slice(&input.text)).bench_local(|| {
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
    let (mut encoder, mut codes) = (HbzEncoder::new(), Vec::new());
    bencher
        .counter(BytesCount::of_slice(&input.text))
        .bench_local(|| encoder.prepare(black_box(&input.text), 0, &stream, &mut codes));
}

#[divan::bench(args = inputs())]
fn append_bits_unaligned(bencher: Bencher<'_, '_>, input: &Input) {
    let mut out = BitWriter::new();
    bencher.counter(BytesCount::of_slice(&input.text)).bench_local(|| {
        out.forget_whole_bytes();
        append_bits(&mut out, black_box(&input.text), input.text.len() as u64 * 8 - 3);
    });
}

#[divan::bench(args = inputs())]
fn whole_encoder(bencher: Bencher<'_, '_>, input: &Input) {
    let mut encoder = Encoder::new();
    let text = Text::Plain(input.text.clone());
    encoder.encode(&text); // computes the origin of a periodic block
    bencher.counter(BytesCount::of_slice(&input.text)).bench_local(|| encoder.encode(black_box(&text)));
}
