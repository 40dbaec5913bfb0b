//! The functions of this package beside those of the system's libbz2, call by call.
//!
//! `HYBZ_LIBBZ2_CALLS` says how many calls of `BZ2_bzCompress` are compared; 20,000 without it.

#![allow(unsafe_code)]

use hybz_libbz2 as _;
use hybz_testkit::shapes::Rng;
use hybz_testkit::skip::{Need, skip};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::mem::transmute;
use std::ptr::null_mut;

#[repr(C)]
struct BzStream {
    next_in: *const u8,
    avail_in: c_uint,
    total_in: [c_uint; 2],
    next_out: *mut u8,
    avail_out: c_uint,
    total_out: [c_uint; 2],
    state: *mut c_void,
    alloc: *mut c_void,
    free: *mut c_void,
    opaque: *mut c_void,
}

impl BzStream {
    fn new() -> Self {
        BzStream {
            next_in: [].as_ptr(),
            avail_in: 0,
            total_in: [0; 2],
            next_out: null_mut(),
            avail_out: 0,
            total_out: [0; 2],
            state: null_mut(),
            alloc: null_mut(),
            free: null_mut(),
            opaque: null_mut(),
        }
    }
}

type Init = unsafe extern "C" fn(*mut BzStream, c_int, c_int, c_int) -> c_int;
type DecompressInit = unsafe extern "C" fn(*mut BzStream, c_int, c_int) -> c_int;
type Step = unsafe extern "C" fn(*mut BzStream, c_int) -> c_int;
type End = unsafe extern "C" fn(*mut BzStream) -> c_int;

unsafe extern "C" {
    fn BZ2_bzCompressInit(stream: *mut BzStream, level: c_int, verbosity: c_int, work: c_int) -> c_int;
    fn BZ2_bzCompress(stream: *mut BzStream, action: c_int) -> c_int;
    fn BZ2_bzCompressEnd(stream: *mut BzStream) -> c_int;
    fn BZ2_bzDecompressInit(stream: *mut BzStream, verbosity: c_int, small: c_int) -> c_int;
    fn BZ2_bzDecompress(stream: *mut BzStream) -> c_int;
    fn BZ2_bzDecompressEnd(stream: *mut BzStream) -> c_int;
}

struct Library {
    compress_init: Init,
    compress: Step,
    compress_end: End,
    decompress_init: DecompressInit,
    decompress: End,
    decompress_end: End,
}

fn ours() -> Library {
    Library {
        compress_init: BZ2_bzCompressInit,
        compress: BZ2_bzCompress,
        compress_end: BZ2_bzCompressEnd,
        decompress_init: BZ2_bzDecompressInit,
        decompress: BZ2_bzDecompress,
        decompress_end: BZ2_bzDecompressEnd,
    }
}

/// The system's library, which is not this one.
fn theirs() -> Option<Library> {
    // SAFETY: the library's constructors do nothing, and the functions have the types of bzlib.h.
    unsafe {
        let handle = libc::dlopen(c"libbz2.so.1.0".as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        if handle.is_null() {
            return None;
        }
        let symbol = |name: &CStr| {
            let address = libc::dlsym(handle, name.as_ptr() as *const c_char);
            assert!(!address.is_null(), "{name:?}");
            address
        };
        let library = Library {
            compress_init: transmute::<*mut c_void, Init>(symbol(c"BZ2_bzCompressInit")),
            compress: transmute::<*mut c_void, Step>(symbol(c"BZ2_bzCompress")),
            compress_end: transmute::<*mut c_void, End>(symbol(c"BZ2_bzCompressEnd")),
            decompress_init: transmute::<*mut c_void, DecompressInit>(symbol(c"BZ2_bzDecompressInit")),
            decompress: transmute::<*mut c_void, End>(symbol(c"BZ2_bzDecompress")),
            decompress_end: transmute::<*mut c_void, End>(symbol(c"BZ2_bzDecompressEnd")),
        };
        assert!(library.compress as usize != ours().compress as usize, "one library compared with itself");
        Some(library)
    }
}

/// An action, how much input is given, and how much room.
type Call = (c_int, usize, usize);

/// What each call returned and left, and the bytes.
type Log = (Vec<(c_int, u32, u32, u32, u32)>, Vec<u8>);

fn code(library: &Library, text: &[u8], level: c_int, calls: &[Call]) -> Log {
    let mut stream = BzStream::new();
    let mut log = Vec::new();
    let mut made = Vec::new();
    let mut taken = 0;
    // SAFETY: the pointers are of slices that live longer than the calls, and have the lengths said.
    unsafe {
        log.push(((library.compress_init)(&mut stream, level, 0, 30), 0, 0, 0, 0));
        for &(action, input, room) in calls {
            let input = input.min(text.len() - taken);
            let mut out = vec![0; room];
            (stream.next_in, stream.avail_in) = (text[taken..].as_ptr(), input as c_uint);
            (stream.next_out, stream.avail_out) = (out.as_mut_ptr(), room as c_uint);
            let code = (library.compress)(&mut stream, action);
            taken += input - stream.avail_in as usize;
            out.truncate(room - stream.avail_out as usize);
            made.extend(out);
            log.push((code, stream.avail_in, stream.avail_out, stream.total_in[0], stream.total_out[0]));
        }
        log.push(((library.compress_end)(&mut stream), 0, 0, 0, 0));
    }
    (log, made)
}

/// The text, the final code, and how much input was taken if all is well.
fn decode(library: &Library, coded: &[u8], small: c_int, piece: usize, room: usize) -> (Vec<u8>, c_int, usize) {
    let mut stream = BzStream::new();
    let mut text = Vec::new();
    let mut taken = 0;
    // SAFETY: as above.
    unsafe {
        assert_eq!((library.decompress_init)(&mut stream, 0, small), 0);
        let code = loop {
            let input = piece.min(coded.len() - taken);
            let mut out = vec![0; room];
            (stream.next_in, stream.avail_in) = (coded[taken..].as_ptr(), input as c_uint);
            (stream.next_out, stream.avail_out) = (out.as_mut_ptr(), room as c_uint);
            let code = (library.decompress)(&mut stream);
            taken += input - stream.avail_in as usize;
            out.truncate(room - stream.avail_out as usize);
            let idle = out.is_empty() && taken == coded.len();
            text.extend(out);
            if code != 0 || idle {
                break code;
            }
        };
        assert_eq!((library.decompress_end)(&mut stream), 0);
        (text, code, taken)
    }
}

fn text(rng: &mut Rng) -> Vec<u8> {
    let len = [0, 1, 5, 300, 3000, 30_000, 250_000][rng.below(7)];
    match rng.below(4) {
        0 => vec![rng.below(256) as u8; len],
        1 => (0..len).map(|_| rng.below(256) as u8).collect(),
        2 => (0..len).flat_map(|_| vec![rng.below(4) as u8; 1 + rng.below(6)]).take(len).collect(),
        _ => {
            let words: Vec<Vec<u8>> =
                (0..200).map(|_| (0..1 + rng.below(9)).map(|_| b'a' + rng.below(26) as u8).collect()).collect();
            let mut text = Vec::new();
            while text.len() < len {
                text.extend(&words[rng.below(200)]);
                text.push(b' ');
            }
            text
        }
    }
}

#[test]
fn coding_call_by_call() {
    let Some(theirs) = theirs() else { return skip(Need::Peers, "the system has no libbz2.so.1.0") };
    let ours = ours();
    let mut left: usize = std::env::var("HYBZ_LIBBZ2_CALLS").map_or(20_000, |calls| calls.parse().unwrap());
    let mut rng = Rng(27);
    while left > 0 {
        let text = text(&mut rng);
        let actions: &[c_int] = if text.len() < 10_000 { &[0, 0, 0, 0, 0, 0, 1, 2, 3] } else { &[0, 0, 0, 0, 0, 1] };
        let mut calls: Vec<Call> = (0..1 + rng.below(40))
            .map(|_| {
                let input = [0, 1, 50, 4000, 40_000, 120_000][rng.below(6)];
                (actions[rng.below(actions.len())], input, [0, 1, 20, 500, 60_000][rng.below(5)])
            })
            .collect();
        calls.extend([(2, 1 << 20, 300_000); 3]);
        let level = 1 + rng.below(9) as c_int;
        let (log, bytes) = code(&ours, &text, level, &calls);
        let (wanted, wanted_bytes) = code(&theirs, &text, level, &calls);
        if let Some(at) = (0..wanted.len()).find(|&at| log[at] != wanted[at]) {
            panic!(
                "level {level}, {} bytes, calls {calls:?}: call {at}: {:?}, not {:?}",
                text.len(),
                log[at],
                wanted[at]
            );
        }
        assert!(bytes == wanted_bytes, "level {level}, {} bytes, calls {calls:?}: bytes", text.len());
        left = left.saturating_sub(calls.len());
    }
}

#[test]
fn decoding_whole_cut_and_damaged() {
    let Some(theirs) = theirs() else { return skip(Need::Peers, "the system has no libbz2.so.1.0") };
    let ours = ours();
    let mut rng = Rng(28);
    for case in 0..600 {
        let text = text(&mut rng);
        let (_, mut coded) = code(&theirs, &text, 1 + rng.below(9) as c_int, &[(2, 1 << 20, 400_000)]);
        let whole = coded.len();
        let damage = rng.below(3);
        match damage {
            0 => coded.extend((0..rng.below(40)).map(|_| rng.below(256) as u8)),
            1 => coded.truncate(rng.below(whole + 1)),
            _ => coded[rng.below(whole)] ^= 1 << rng.below(8),
        }
        let piece = [1, 7, 4096, 1 << 20][if whole > 5000 { 2 + rng.below(2) } else { rng.below(4) }];
        let room = [1, 100, 70_000][if text.len() > 5000 { 1 + rng.below(2) } else { rng.below(3) }];
        let small = rng.below(2) as c_int;
        let made = decode(&ours, &coded, small, piece, room);
        let wanted = decode(&theirs, &coded, small, piece, room);
        let what =
            format!("case {case}: {} bytes, damage {damage}, pieces {piece}, room {room}, small {small}", text.len());
        assert_eq!(made.1, wanted.1, "{what}: code");
        if damage < 2 || wanted.1 == 4 {
            assert!(made.0 == wanted.0, "{what}: {} bytes of text, not {}", made.0.len(), wanted.0.len());
        }
        if wanted.1 == 4 {
            assert_eq!(made.2, wanted.2, "{what}: input taken");
        }
    }
}
