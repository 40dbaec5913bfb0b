//! Memory: allocations that fail, where each comes from and goes to, and how much there is.

use crate::coding::code;
use crate::library::{Library, Session, ours, theirs, totals};
use hybz_libbz2::stream::Stream;
use hybz_testkit::crafted::block::Block;
use hybz_testkit::crafted::stream::Stream as File;
use hybz_testkit::shapes::shape;
use hybz_testkit::skip::{Need, skip};
use std::collections::HashMap;
use std::ffi::{c_int, c_uint, c_void};
use std::mem::take;
use std::process::Command;

/// An allocator that counts, and fails when it is told to.
#[derive(Default)]
struct Heap {
    live: HashMap<usize, usize>,
    calls: usize,
    /// The calls that fail.
    fails: Option<std::ops::Range<usize>>,
    failed: usize,
}

unsafe extern "C" fn heap_alloc(heap: *mut c_void, items: c_int, size: c_int) -> *mut c_void {
    // SAFETY: `opaque` is a heap, and nobody else uses it now.
    let heap = unsafe { &mut *heap.cast::<Heap>() };
    heap.calls += 1;
    if heap.fails.as_ref().is_some_and(|fails| fails.contains(&heap.calls)) {
        heap.failed += 1;
        return std::ptr::null_mut();
    }
    let len = items as usize * size as usize;
    // SAFETY: malloc takes any size.
    let memory = unsafe { libc::malloc(len) };
    heap.live.insert(memory.addr(), len);
    memory
}

unsafe extern "C" fn heap_free(heap: *mut c_void, memory: *mut c_void) {
    // SAFETY: as above.
    let heap = unsafe { &mut *heap.cast::<Heap>() };
    assert!(heap.live.remove(&memory.addr()).is_some(), "freed what was not allocated");
    // SAFETY: it was allocated by malloc.
    unsafe { libc::free(memory) };
}

fn stream_of(heap: &mut Heap) -> Stream {
    Stream { bzalloc: Some(heap_alloc), bzfree: Some(heap_free), opaque: (&raw mut *heap).cast(), ..Stream::new() }
}

/// More than any text here.
const ROOM: usize = 1_000_000;

/// Codes; goes on after `BZ_MEM_ERROR` if `again`. Returns the bytes, or the code of an error.
fn code_with(heap: &mut Heap, text: &[u8], again: bool) -> Result<Vec<u8>, c_int> {
    let library = ours();
    let mut session = Session::begin(&library, stream_of(heap), Ok(1))?;
    let third = text.len() / 3;
    for (action, end, mut piece) in
        [(0, 4, &text[..third]), (1, 1, &text[third..2 * third]), (2, 4, &text[2 * third..])]
    {
        while action > 0 || !piece.is_empty() {
            let (code, taken) = session.call(action, piece, ROOM);
            piece = &piece[taken..];
            match code {
                -3 if again => {}
                _ if code < 0 => return Err(code),
                _ if action > 0 && code == end => break,
                _ => {}
            }
        }
    }
    Ok(take(&mut session.out))
}

/// Decodes, in pieces. Returns the text, or the code of an error.
fn decode_with(heap: &mut Heap, coded: &[u8], small: c_int) -> Result<Vec<u8>, c_int> {
    let library = ours();
    let mut session = Session::begin(&library, stream_of(heap), Err(small))?;
    let mut code = 0;
    for piece in coded.chunks(9000) {
        code = session.call(0, piece, ROOM).0;
        if code != 0 {
            break;
        }
    }
    if code == 4 { Ok(take(&mut session.out)) } else { Err(code) }
}

/// Lets the first allocation fail, then the second, and so on: alone, and with all that follow.
fn fail_everywhere(what: &str, wanted: &[u8], goes_on: bool, run: impl Fn(&mut Heap, bool) -> Result<Vec<u8>, c_int>) {
    let mut places = 0;
    for place in 1.. {
        for fails in [place..place + 1, place..usize::MAX] {
            let again = goes_on && fails.end == place + 1;
            let mut heap = Heap { fails: Some(fails), ..Heap::default() };
            let result = run(&mut heap, again);
            assert!(heap.live.is_empty(), "{what}, place {place}: {} allocations are left", heap.live.len());
            match result {
                Ok(made) => {
                    assert!(made == wanted, "{what}, place {place}: bytes");
                    assert!(heap.failed == 0 || again, "{what}, place {place}: a failure that nobody noticed");
                }
                Err(code) => {
                    assert_eq!(code, -3, "{what}, place {place}");
                    assert!(heap.failed > 0, "{what}, place {place}: no failure");
                }
            }
            if heap.failed == 0 {
                assert!(places > 1, "{what}: {places} places");
                return;
            }
        }
        places = place;
    }
}

#[test]
fn failing_allocations() {
    // A long run first: the first block takes more text than its size, and the second one begins in the middle.
    let mut text = vec![7; 1000];
    text.extend((shape("words").make)(110_000));
    let coded = code_with(&mut Heap::default(), &text, false).unwrap();
    fail_everywhere("coding", &coded, true, |heap, again| code_with(heap, &text, again));
    fail_everywhere("coding nothing", &code_with(&mut Heap::default(), &[], false).unwrap(), true, |heap, again| {
        code_with(heap, &[], again)
    });
    for small in [0, 1] {
        fail_everywhere("decoding", &text, false, |heap, _| decode_with(heap, &coded, small));
    }
    let randomised = File::single(Block::randomised_of_text(&text[..50_000])).bytes();
    let zeros = vec![0; 900_000];
    let runs = File::single(Block::of_text(&zeros)).bytes();
    for small in [0, 1] {
        fail_everywhere("a randomised block", &text[..50_000], false, |heap, _| decode_with(heap, &randomised, small));
        fail_everywhere("a long run", &zeros, false, |heap, _| decode_with(heap, &runs, small));
    }
}

/// The work of a process whose peak memory is measured: how many streams it has, the length of their text, and `small`
/// if it decodes.
type Use = (usize, usize, Option<c_int>);

const USES: &[(&str, Use)] = &[
    ("code1", (1, 3_000_000, None)),
    ("decode1", (1, 3_000_000, Some(0))),
    ("small1", (1, 3_000_000, Some(1))),
    ("code1000", (1000, 1000, None)),
    ("decode1000", (1000, 1000, Some(0))),
    ("small1000", (1000, 1000, Some(1))),
    ("code8full", (8, 1_000_000, None)),
    ("decode8full", (8, 1_000_000, Some(0))),
];

/// Runs streams that all are open at once. Returns their peak memory in kilobytes.
fn run(library: &Library, (count, len, small): Use) -> u64 {
    let status = |field: &str| -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    };
    let text = (shape("words").make)(len);
    let coded = code(library, &text, 9, &[(2, 4 << 20, 4 << 20)]).1;
    let mut streams: Vec<Box<Stream>> = (0..count).map(|_| Box::new(Stream::new())).collect();
    let mut room = vec![1u8; len + 1000];
    let half = coded.len() / 2;
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = status("VmRSS:");
    // SAFETY: each buffer has the length that is passed with it.
    unsafe {
        for stream in &mut streams {
            (stream.next_out, stream.avail_out) = (room.as_mut_ptr().cast(), room.len() as c_uint);
            match small {
                None => {
                    (library.BZ2_bzCompressInit)(&mut **stream, 9, 0, 0);
                    (stream.next_in, stream.avail_in) = (text.as_ptr().cast_mut().cast(), len as c_uint);
                    (library.BZ2_bzCompress)(&mut **stream, 0);
                }
                Some(small) => {
                    (library.BZ2_bzDecompressInit)(&mut **stream, 0, small);
                    (stream.next_in, stream.avail_in) = (coded.as_ptr().cast_mut().cast(), half as c_uint);
                    (library.BZ2_bzDecompress)(&mut **stream);
                }
            }
        }
        for stream in &mut streams {
            match small {
                None => {
                    assert_eq!((library.BZ2_bzCompress)(&mut **stream, 2), 4);
                    assert_eq!(room[..totals(stream).1 as usize], coded);
                    // (All streams write to the same buffer, one after the other.)
                }
                Some(_) => {
                    let rest = &coded[totals(stream).0 as usize..];
                    (stream.next_in, stream.avail_in) = (rest.as_ptr().cast_mut().cast(), rest.len() as c_uint);
                    assert_eq!((library.BZ2_bzDecompress)(&mut **stream), 4);
                    assert_eq!(totals(stream).1, len as u64);
                }
            }
        }
        let peak = status("VmHWM:") - before;
        for stream in &mut streams {
            let end = if small.is_none() { library.BZ2_bzCompressEnd } else { library.BZ2_bzDecompressEnd };
            assert_eq!(end(&mut **stream), 0);
        }
        peak
    }
}

const VARIABLE: &str = "HYBZ_LIBBZ2_PEAK";

/// Peaks, each measured in its own process, with one stream and with many: at most three times C's library's.
#[test]
fn peaks() {
    if theirs().is_none() {
        return skip(Need::Peers, "the system has no libbz2.so.1.0");
    }
    if !std::path::Path::new("/proc/self/clear_refs").exists() {
        return skip(Need::System, "no /proc");
    }
    for (name, _) in USES {
        let measure = |library: &str| -> u64 {
            let mut child = Command::new(std::env::current_exe().unwrap());
            child.args(["--exact", "memory::peak_of_a_process", "--nocapture", "--test-threads=1"]);
            let output = child.env(VARIABLE, format!("{library} {name}")).env_remove("HYBZ_THREADS").output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let peak = text.split("peak of ").nth(1).and_then(|rest| rest.split(" kB").next());
            peak.unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr))).parse().unwrap()
        };
        let (ours, theirs) = (measure("ours"), measure("theirs"));
        eprintln!("{name}: {ours} kB, C's library {theirs} kB: {:.2}", ours as f64 / theirs as f64);
        assert!(ours <= 3 * theirs + 512, "{name}: {ours} kB, C's library {theirs} kB");
    }
}

/// The process that `peaks` begins.
#[test]
fn peak_of_a_process() {
    let Ok(which) = std::env::var(VARIABLE) else { return };
    let (library, name) = which.split_once(' ').unwrap();
    let library = if library == "ours" { ours() } else { theirs().unwrap() };
    let (_, what) = USES.iter().find(|(known, _)| *known == name).unwrap();
    println!("peak of {} kB", run(&library, *what));
}
