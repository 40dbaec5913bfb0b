//! The functions for files, and those from buffer to buffer: the same results, counters and files.

use crate::library::{Library, ours, theirs};
use crate::{rng, text};
use hybz_libbz2::stream::Stream;
use hybz_testkit::crafted::{block::Block, stream::Stream as Coded};
use hybz_testkit::shapes::Rng;
use hybz_testkit::skip::{Need, skip};
use std::ffi::{CStr, CString, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};
use std::ptr::null_mut;

/// A folder that is removed when the test ends.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("hybz-libbz2-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn c_path(path: &Path) -> CString {
    CString::new(path.to_str().unwrap()).unwrap()
}

/// Runs the same script with each library, which gets its own seed to draw from, and compares what it logs.
fn compare(what: &str, mut script: impl FnMut(&Library, &Path, &mut Vec<String>)) {
    let Some(theirs) = theirs() else { return skip(Need::Peers, "the system has no libbz2.so.1.0") };
    let folder = Folder::new(what);
    let (mut made, mut wanted) = (Vec::new(), Vec::new());
    script(&ours(), &folder.path("a.bz2"), &mut made);
    script(&theirs, &folder.path("a.bz2"), &mut wanted);
    assert!(!wanted.is_empty());
    for (at, wanted) in wanted.iter().enumerate() {
        assert_eq!(made.get(at), Some(wanted), "{what}: step {at}, after {:?}", &wanted[..at.min(3)]);
    }
    assert_eq!(made.len(), wanted.len(), "{what}");
}

/// `BZ2_bzerror` of a file.
fn error(library: &Library, file: *mut c_void) -> String {
    let mut number = 99;
    // SAFETY: `file` is open.
    let name = unsafe { CStr::from_ptr((library.BZ2_bzerror)(file, &mut number)) };
    format!("{name:?} {number}")
}

/// A digest that identifies bytes in the log without printing them.
fn digest(bytes: &[u8]) -> String {
    format!("{} bytes, {:08x}", bytes.len(), hybz_testkit::crafted::model::crc(bytes))
}

/// Writes a file by the long functions, in random pieces, with forbidden calls in between.
fn write(library: &Library, path: &Path, text: &[u8], rng: &mut Rng, log: &mut Vec<String>) {
    // SAFETY: the pointers are valid or null, which the interface allows.
    unsafe {
        let handle = libc::fopen(c_path(path).as_ptr(), c"wb".as_ptr());
        let mut code = 99;
        let file = (library.BZ2_bzWriteOpen)(&mut code, handle, 1 + rng.below(9) as c_int, 0, rng.below(251) as c_int);
        log.push(format!("open {code} {}", error(library, file)));
        let mut at = 0;
        while at < text.len() {
            let len = [0, 1, 10, 5000, 5001, 200_000, 3_000_000][rng.below(7)].min(text.len() - at);
            let piece = text[at..].as_ptr().cast_mut().cast();
            if rng.below(20) == 0 {
                let (pointer, len) = [(null_mut(), 5), (piece, -1)][rng.below(2)];
                (library.BZ2_bzWrite)(&mut code, file, pointer, len);
                log.push(format!("bad write {code} {}", error(library, file)));
            }
            if rng.below(20) == 0 {
                let mut byte = 0u8;
                let count = (library.BZ2_bzRead)(&mut code, file, (&raw mut byte).cast(), 1);
                log.push(format!("read {count} {code} {}", error(library, file)));
                (library.BZ2_bzReadClose)(&mut code, file);
                log.push(format!("read close {code} {}", error(library, file)));
                (library.BZ2_bzReadGetUnused)(&mut code, file, null_mut(), null_mut());
                log.push(format!("unused {code} {}", error(library, file)));
            }
            (library.BZ2_bzWrite)(&mut code, file, piece, len as c_int);
            log.push(format!("write {code} {}", error(library, file)));
            at += len;
        }
        let mut counts: [c_uint; 4] = [9; 4];
        let abandon = c_int::from(rng.below(6) == 0);
        let [a, b, c, d] = &mut counts;
        match rng.below(3) {
            0 => (library.BZ2_bzWriteClose64)(&mut code, file, abandon, a, b, c, d),
            1 => (library.BZ2_bzWriteClose)(&mut code, file, abandon, a, null_mut()),
            _ => (library.BZ2_bzWriteClose64)(&mut code, file, abandon, null_mut(), null_mut(), c, null_mut()),
        }
        log.push(format!("close {abandon} {code} {counts:?}"));
        libc::fclose(handle);
    }
    log.push(digest(&std::fs::read(path).unwrap()));
}

/// Reads all streams of a file, as `bzip2` does: what is left over begins the next one.
fn read(library: &Library, path: &Path, rng: &mut Rng, log: &mut Vec<String>) {
    let mut text = vec![0u8; 3_000_000];
    let mut unused = Vec::new();
    // SAFETY: the pointers are valid or null, which the interface allows.
    unsafe {
        let handle = libc::fopen(c_path(path).as_ptr(), c"rb".as_ptr());
        for _ in 0..6 {
            let (mut code, small, mut calls) = (99, c_int::from(rng.below(4) == 0), 0);
            let spare = unused.as_mut_ptr();
            let len = unused.len() as c_int;
            let file = (library.BZ2_bzReadOpen)(&mut code, handle, 0, small, spare as *mut c_void, len);
            log.push(format!("open {code}"));
            while code == 0 && calls < 5000 {
                calls += 1;
                if rng.below(40) == 0 {
                    (library.BZ2_bzWrite)(&mut code, file, text.as_mut_ptr().cast(), 1);
                    log.push(format!("write {code} {}", error(library, file)));
                    (library.BZ2_bzWriteClose)(&mut code, file, 0, null_mut(), null_mut());
                    log.push(format!("write close {code}"));
                    let count = (library.BZ2_bzRead)(&mut code, file, null_mut(), 5);
                    log.push(format!("bad read {count} {code} {}", error(library, file)));
                }
                let room = [0, 1, 100, 5000, 300_000, 3_000_000][rng.below(6)];
                let count = (library.BZ2_bzRead)(&mut code, file, text.as_mut_ptr().cast(), room);
                log.push(format!("read {count} {code} {}", error(library, file)));
                log.push(digest(&text[..count as usize]));
            }
            let (mut spare, mut len) = (null_mut(), 77);
            (library.BZ2_bzReadGetUnused)(&mut code, file, &mut spare, &mut len);
            log.push(format!("unused {code} {len} {}", error(library, file)));
            unused =
                if code == 0 { std::slice::from_raw_parts(spare as *const u8, len as usize).to_vec() } else { vec![] };
            log.push(digest(&unused));
            (library.BZ2_bzReadClose)(&mut code, file);
            log.push(format!("close {code}, at {}", libc::ftell(handle)));
        }
        libc::fclose(handle);
    }
}

#[test]
fn long_functions() {
    for case in 0..12 {
        compare("files", |library, path, log| {
            let mut rng = rng(100 + case);
            let mut whole = Vec::new();
            for _ in 0..1 + rng.below(3) {
                let text = text(&mut rng);
                write(library, path, &text, &mut rng, log);
                whole.extend(std::fs::read(path).unwrap());
            }
            match rng.below(4) {
                _ if whole.is_empty() => {}
                0 => whole.truncate(rng.below(whole.len())),
                1 => {
                    let at = rng.below(whole.len());
                    whole[at] ^= 4;
                }
                2 => whole.extend(b"something else"),
                _ => {}
            }
            std::fs::write(path, &whole).unwrap();
            read(library, path, &mut rng, log);
        });
    }
}

/// libosmium and others decide by `feof` whether another stream follows: also at the end of a file whose length is a
/// multiple of the buffer's.
#[test]
fn end_of_file_flag() {
    let text = hybz_testkit::shapes::random(24_000);
    for (len, room) in [(14_000, 1000), (14_000, 14_000), (24_000, 1), (24_000, 1 << 12), (400, 100), (400, 400)] {
        compare("feof", |library, path, log| {
            let mut whole = hybz::compress(&text[..len], &hybz::Settings::new()).unwrap();
            // Zeros after the stream make no difference to its reader.
            whole.resize(whole.len().next_multiple_of(5000), 0);
            std::fs::write(path, whole).unwrap();
            let mut read = vec![0u8; room];
            // SAFETY: the pointers are valid or null, which the interface allows.
            unsafe {
                let handle = libc::fopen(c_path(path).as_ptr(), c"rb".as_ptr());
                let mut code = 0;
                let file = (library.BZ2_bzReadOpen)(&mut code, handle, 0, 0, null_mut(), 0);
                while code == 0 {
                    (library.BZ2_bzRead)(&mut code, file, read.as_mut_ptr().cast(), room as c_int);
                }
                log.push(format!("{code}, at the end: {}", libc::feof(handle) != 0));
                (library.BZ2_bzReadClose)(&mut code, file);
                libc::fclose(handle);
            }
        });
    }
}

#[test]
fn modes() {
    let modes = [
        c"r", c"w", c"w9", c"w0", c"w1s", c"rs", c"", c"wr", c"rw3", c"9", c"s", c"wb5", c"x", c"w19", c"rb", c"we7",
        c"wf", c"r\xff", c"w\xb2",
    ];
    for mode in modes {
        compare("modes", |library, path, log| {
            let _ = std::fs::remove_file(path);
            let text: Vec<u8> = (0..250_000u32).map(|i| (i.wrapping_mul(i) >> 9) as u8).collect();
            let writes = mode.to_bytes().iter().rfind(|letter| b"rw".contains(letter)) == Some(&b'w');
            // SAFETY: the strings and buffers outlive the calls.
            unsafe {
                let missing = (library.BZ2_bzopen)(c_path(path).as_ptr(), mode.as_ptr());
                log.push(format!("{mode:?}: {}", missing.is_null()));
                if !missing.is_null() {
                    log.push(format!("{}", (library.BZ2_bzwrite)(missing, text.as_ptr() as _, 250_000)));
                    log.push(format!("{} {}", (library.BZ2_bzflush)(missing), error(library, missing)));
                    let read = (library.BZ2_bzread)(missing, vec![0u8; 9].as_mut_ptr().cast(), 9);
                    log.push(format!("{read} {}", error(library, missing)));
                    log.push(format!("{}", (library.BZ2_bzwrite)(missing, null_mut(), -3)));
                    // The last error decides whether the end of the stream is written.
                    log.push(format!("{}", (library.BZ2_bzwrite)(missing, text.as_ptr() as _, 0)));
                    (library.BZ2_bzclose)(missing);
                    log.push(digest(&std::fs::read(path).unwrap()));
                }
                if !writes {
                    std::fs::write(path, Coded::single(Block::of_text(&text[..3000])).bytes()).unwrap();
                }
                for descriptor in [false, true] {
                    let file = if descriptor {
                        let flags = if writes { libc::O_WRONLY } else { libc::O_RDONLY };
                        (library.BZ2_bzdopen)(libc::open(c_path(path).as_ptr(), flags), mode.as_ptr())
                    } else {
                        (library.BZ2_bzopen)(c_path(path).as_ptr(), mode.as_ptr())
                    };
                    log.push(format!("opened: {}", !file.is_null()));
                    let mut room = vec![0u8; 5000];
                    for _ in 0..4 {
                        let read = (library.BZ2_bzread)(file, room.as_mut_ptr().cast(), 2000);
                        log.push(format!("{read} {}", error(library, file)));
                    }
                    let written = (library.BZ2_bzwrite)(file, text.as_ptr() as _, 5);
                    log.push(format!("{written} {}", error(library, file)));
                    (library.BZ2_bzclose)(file);
                    log.push(digest(&std::fs::read(path).unwrap()) + &digest(&room));
                }
            }
        });
    }
}

#[test]
fn what_may_not_be() {
    compare("refused", |library, path, log| {
        let path = c_path(path);
        let text = vec![7u8; 70_000];
        // SAFETY: the pointers are valid or null, which the interface allows.
        unsafe {
            let mut code = 99;
            log.push(format!("{:?}", CStr::from_ptr((library.BZ2_bzlibVersion)())));
            log.push(format!("{}", (library.BZ2_bzopen)(path.as_ptr(), null_mut()).is_null()));
            log.push(format!("{}", (library.BZ2_bzopen)(c"/".as_ptr(), c"w".as_ptr()).is_null()));
            log.push(format!("{}", (library.BZ2_bzdopen)(-1, c"r".as_ptr()).is_null()));
            (library.BZ2_bzclose)(null_mut());
            let handle = libc::fopen(path.as_ptr(), c"w+b".as_ptr());
            for (level, verbosity, work) in [(0, 0, 0), (10, 0, 0), (9, 5, 0), (9, -1, 0), (9, 0, -1), (9, 0, 251)] {
                let file = (library.BZ2_bzWriteOpen)(&mut code, handle, level, verbosity, work);
                log.push(format!("{file:?} {code}"));
            }
            for (verbosity, small, unused, len) in [
                (5, 0, null_mut(), 0),
                (0, 2, null_mut(), 0),
                (0, 0, null_mut(), 1),
                (0, 0, text.as_ptr() as *mut c_void, -1),
                (0, 0, text.as_ptr() as *mut c_void, 5001),
            ] {
                let file = (library.BZ2_bzReadOpen)(&mut code, handle, verbosity, small, unused, len);
                log.push(format!("{file:?} {code}"));
            }
            let no_file = null_mut();
            let file = (library.BZ2_bzReadOpen)(&mut code, null_mut(), 0, 0, null_mut(), 0);
            log.push(format!("{file:?} {code}"));
            log.push(format!("{:?} {code}", (library.BZ2_bzWrite)(&mut code, no_file, text.as_ptr() as _, 5)));
            log.push(format!("{} {code}", (library.BZ2_bzRead)(&mut code, no_file, text.as_ptr() as _, 5)));
            log.push(format!("{:?} {code}", (library.BZ2_bzReadGetUnused)(&mut code, no_file, null_mut(), null_mut())));
            log.push(format!("{:?} {code}", (library.BZ2_bzWriteClose)(&mut code, no_file, 0, null_mut(), null_mut())));
            log.push(format!("{:?} {code}", (library.BZ2_bzReadClose)(&mut code, no_file)));
            libc::fclose(handle);

            // A device that is full, and a folder that is read.
            let full = libc::fopen(c"/dev/full".as_ptr(), c"wb".as_ptr());
            let file = (library.BZ2_bzWriteOpen)(&mut code, full, 1, 0, 0);
            let noise: Vec<u8> = (0..400_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
            for _ in 0..3 {
                (library.BZ2_bzWrite)(&mut code, file, noise.as_ptr() as _, 400_000);
                log.push(format!("full: {code} {}", error(library, file)));
            }
            log.push(format!("{:?}", (library.BZ2_bzWriteOpen)(&mut code, full, 1, 0, 0)));
            log.push(format!("{:?} {code}", (library.BZ2_bzWriteClose)(&mut code, file, 0, null_mut(), null_mut())));
            let folder = libc::fopen(c"/".as_ptr(), c"rb".as_ptr());
            let file = (library.BZ2_bzReadOpen)(&mut code, folder, 0, 0, null_mut(), 0);
            for _ in 0..2 {
                let read = (library.BZ2_bzRead)(&mut code, file, text.as_ptr() as _, 10);
                log.push(format!("folder: {read} {code} {}", error(library, file)));
            }
            (library.BZ2_bzReadClose)(&mut code, file);
            libc::fclose(folder);
        }
    });
}

#[test]
fn buffer_to_buffer() {
    for case in 0..40 {
        compare("buffers", |library, _, log| {
            let mut rng = rng(200 + case);
            let text = text(&mut rng);
            let mut coded = vec![0u8; text.len() + text.len() / 50 + 600];
            let room = coded.len();
            let mut call = |dest: &mut [u8], room, source: &[u8], level, verbosity, work, codes: bool| {
                let mut len = room as c_uint;
                let (to, from, count) = (dest.as_mut_ptr().cast(), source.as_ptr() as _, source.len() as c_uint);
                // SAFETY: each buffer has the length that is passed with it.
                let code = unsafe {
                    if codes {
                        (library.BZ2_bzBuffToBuffCompress)(to, &mut len, from, count, level, verbosity, work)
                    } else {
                        (library.BZ2_bzBuffToBuffDecompress)(to, &mut len, from, count, level, verbosity)
                    }
                };
                log.push(format!("{code} {len} {}", digest(if code == 0 { &dest[..len as usize] } else { &[] })));
                len as usize
            };
            let level = 1 + rng.below(9) as c_int;
            for (level, verbosity, work) in [(0, 0, 0), (10, 0, 0), (level, 5, 0), (level, 0, 251), (level, -1, 3)] {
                call(&mut coded, room, &text, level, verbosity, work, true);
            }
            let len = call(&mut coded, room, &text, level, 0, 0, true);
            let mut again = vec![0u8; room];
            for room in [len, len - 1, 0, 13] {
                call(&mut again, room, &text, level, 0, 30, true);
            }
            let mut back = vec![0u8; text.len() + 100];
            for small in [0, 1, 2] {
                for room in [text.len() + 100, text.len(), text.len().saturating_sub(1), 0] {
                    call(&mut back, room, &coded[..len], small, 0, 0, false);
                    call(&mut back, room, &coded[..len - 1], small, 0, 0, false);
                }
                call(&mut back, text.len() + 100, &[], small, 0, 0, false);
                let at = rng.below(len);
                coded[at] ^= 32;
                call(&mut back, text.len() + 100, &coded[..len], small, 0, 0, false);
                coded[at] ^= 32;
            }
        });
    }
}

#[test]
fn null_arguments() {
    compare("null", |library, _, log| {
        let (mut byte, mut len) = (0u8, 1);
        let (some, length): (*mut _, *mut _) = ((&raw mut byte).cast(), &mut len);
        // SAFETY: the functions check for null and for foreign streams, which is what is tested.
        unsafe {
            for (dest, length, source) in
                [(null_mut(), length, some), (some, null_mut(), some), (some, length, null_mut())]
            {
                log.push(format!("{}", (library.BZ2_bzBuffToBuffCompress)(dest, length, source, 1, 9, 0, 0)));
                log.push(format!("{}", (library.BZ2_bzBuffToBuffDecompress)(dest, length, source, 1, 0, 0)));
            }
            log.push(format!("{}", (library.BZ2_bzCompressInit)(null_mut(), 9, 0, 0)));
            log.push(format!("{}", (library.BZ2_bzCompress)(null_mut(), 0)));
            log.push(format!("{}", (library.BZ2_bzCompressEnd)(null_mut())));
            log.push(format!("{}", (library.BZ2_bzDecompressInit)(null_mut(), 0, 0)));
            log.push(format!("{}", (library.BZ2_bzDecompress)(null_mut())));
            log.push(format!("{}", (library.BZ2_bzDecompressEnd)(null_mut())));
            let mut stream = Stream::new();
            log.push(format!("{}", (library.BZ2_bzCompress)(&mut stream, 0)));
            log.push(format!("{}", (library.BZ2_bzCompressEnd)(&mut stream)));
            log.push(format!("{}", (library.BZ2_bzDecompress)(&mut stream)));
            log.push(format!("{}", (library.BZ2_bzDecompressEnd)(&mut stream)));
            log.push(format!("{}", (library.BZ2_bzDecompressInit)(&mut stream, 5, 0)));
            log.push(format!("{}", (library.BZ2_bzDecompressInit)(&mut stream, 0, 2)));
            // A copy of a stream is not that stream.
            log.push(format!("{}", (library.BZ2_bzDecompressInit)(&mut stream, 0, 0)));
            let mut copy: Stream = std::ptr::read(&stream);
            log.push(format!("{}", (library.BZ2_bzDecompress)(&mut copy)));
            log.push(format!("{}", (library.BZ2_bzDecompressEnd)(&mut copy)));
            log.push(format!("{}", (library.BZ2_bzDecompressEnd)(&mut stream)));
            log.push(format!("{}", (library.BZ2_bzDecompressEnd)(&mut stream)));
        }
    });
}
