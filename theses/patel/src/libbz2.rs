//! bzip2's own time by stage: libbz2 1.0.8 of C, timed inside by wrapping the functions that its parts call each other
//! by (`-Wl,--wrap`), as Patel modified bzip2's source.
//!
//! `BZ2_compressBlock` calls `BZ2_blockSort`; what is left of it is move-to-front and Huffman coding, and what is left
//! of the whole is run lengths and CRC. `BZ2_decompress` is Huffman decoding, reverse move-to-front, and the map of the
//! reverse transform, which libbz2 builds there; what is left of the whole is the walk along that map, the runs and the
//! CRC.
#![allow(unsafe_code)]

use bzip2_sys as bz;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::time::Instant;

/// Seconds of a direction.
#[derive(Clone, Copy, Default)]
pub struct Stages {
    pub all: f64,
    /// The sort, or the walk along the map with runs and CRC.
    pub bwt: f64,
    /// Move-to-front and Huffman coding (decoding: with the building of the map).
    pub mtf_and_huffman: f64,
}

thread_local! {
    static SORT: Cell<f64> = const { Cell::new(0.0) };
    static BLOCK: Cell<f64> = const { Cell::new(0.0) };
    static DECODE: Cell<f64> = const { Cell::new(0.0) };
}

unsafe extern "C" {
    fn __real_BZ2_blockSort(state: *mut c_void);
    fn __real_BZ2_compressBlock(state: *mut c_void, last: u8);
    fn __real_BZ2_decompress(state: *mut c_void) -> c_int;
}

fn timed<T>(sum: &'static std::thread::LocalKey<Cell<f64>>, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    sum.set(sum.get() + start.elapsed().as_secs_f64());
    result
}

#[unsafe(no_mangle)]
extern "C" fn __wrap_BZ2_blockSort(state: *mut c_void) {
    // SAFETY: the arguments are those that libbz2 would call its own function with.
    timed(&SORT, || unsafe { __real_BZ2_blockSort(state) });
}

#[unsafe(no_mangle)]
extern "C" fn __wrap_BZ2_compressBlock(state: *mut c_void, last: u8) {
    // SAFETY: the arguments are those that libbz2 would call its own function with.
    timed(&BLOCK, || unsafe { __real_BZ2_compressBlock(state, last) });
}

#[unsafe(no_mangle)]
extern "C" fn __wrap_BZ2_decompress(state: *mut c_void) -> c_int {
    // SAFETY: the arguments are those that libbz2 would call its own function with.
    timed(&DECODE, || unsafe { __real_BZ2_decompress(state) })
}

fn clear() {
    SORT.set(0.0);
    BLOCK.set(0.0);
    DECODE.set(0.0);
}

fn stream(input: &[u8], output: &mut [u8]) -> bz::bz_stream {
    bz::bz_stream {
        next_in: input.as_ptr().cast_mut().cast(),
        avail_in: u32::try_from(input.len()).expect("less than 4 GB"),
        total_in_lo32: 0,
        total_in_hi32: 0,
        next_out: output.as_mut_ptr().cast(),
        avail_out: u32::try_from(output.len()).expect("less than 4 GB"),
        total_out_lo32: 0,
        total_out_hi32: 0,
        state: null_mut(),
        bzalloc: None,
        bzfree: None,
        opaque: null_mut(),
    }
}

/// Compresses a text at level 9. Returns the times and the stream.
pub fn compress(text: &[u8]) -> (Stages, Vec<u8>) {
    let mut out = vec![0; text.len() + text.len() / 50 + 1000];
    let mut stream = stream(text, &mut out);
    clear();
    let start = Instant::now();
    // SAFETY: the stream has been initialised, and its buffers outlive the calls.
    unsafe {
        assert_eq!(bz::BZ2_bzCompressInit(&raw mut stream, 9, 0, 0), bz::BZ_OK);
        assert_eq!(bz::BZ2_bzCompress(&raw mut stream, bz::BZ_FINISH), bz::BZ_STREAM_END);
        bz::BZ2_bzCompressEnd(&raw mut stream);
    }
    let all = start.elapsed().as_secs_f64();
    out.truncate(stream.total_out_lo32 as usize);
    (Stages { all, bwt: SORT.get(), mtf_and_huffman: BLOCK.get() - SORT.get() }, out)
}

/// Decompresses a stream, which must give `text`.
pub fn decompress(coded: &[u8], text: &[u8]) -> Stages {
    let mut out = vec![0; text.len()];
    let mut stream = stream(coded, &mut out);
    clear();
    let start = Instant::now();
    // SAFETY: as above.
    unsafe {
        assert_eq!(bz::BZ2_bzDecompressInit(&raw mut stream, 0, 0), bz::BZ_OK);
        assert_eq!(bz::BZ2_bzDecompress(&raw mut stream), bz::BZ_STREAM_END);
        bz::BZ2_bzDecompressEnd(&raw mut stream);
    }
    let all = start.elapsed().as_secs_f64();
    assert!(out == text, "libbz2 gives the text back");
    Stages { all, bwt: all - DECODE.get(), mtf_and_huffman: DECODE.get() }
}

#[test]
fn the_stages_are_measured() {
    let text: Vec<u8> = (0..200_000u64).map(|i| (i * i / 7 % 97) as u8).collect();
    let (coding, coded) = compress(&text);
    let decoding = decompress(&coded, &text);
    for stages in [coding, decoding] {
        assert!(stages.bwt > 0.0 && stages.mtf_and_huffman > 0.0);
        assert!(stages.bwt + stages.mtf_and_huffman <= stages.all);
    }
}
