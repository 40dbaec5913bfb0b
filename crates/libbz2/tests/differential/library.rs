//! The two libraries that are compared, `bz_stream`, and how a stream is decoded call by call.

#![allow(non_snake_case)]

use hybz_testkit::shapes::Rng;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;

/// `bzalloc`.
pub type AllocFn = unsafe extern "C" fn(*mut c_void, c_int, c_int) -> *mut c_void;
/// `bzfree`.
pub type FreeFn = unsafe extern "C" fn(*mut c_void, *mut c_void);

/// `bz_stream`.
#[repr(C)]
pub struct BzStream {
    pub next_in: *const u8,
    pub avail_in: c_uint,
    pub total_in: [c_uint; 2],
    pub next_out: *mut u8,
    pub avail_out: c_uint,
    pub total_out: [c_uint; 2],
    pub state: *mut c_void,
    pub alloc: Option<AllocFn>,
    pub free: Option<FreeFn>,
    pub opaque: *mut c_void,
}

impl BzStream {
    pub fn new() -> Self {
        BzStream {
            next_in: [].as_ptr(),
            avail_in: 0,
            total_in: [0; 2],
            next_out: null_mut(),
            avail_out: 0,
            total_out: [0; 2],
            state: null_mut(),
            alloc: None,
            free: None,
            opaque: null_mut(),
        }
    }

    pub fn total_in(&self) -> u64 {
        u64::from(self.total_in[1]) << 32 | u64::from(self.total_in[0])
    }

    pub fn total_out(&self) -> u64 {
        u64::from(self.total_out[1]) << 32 | u64::from(self.total_out[0])
    }
}

type Handle = *mut c_void;
type Bytes = *mut c_char;
type Int = *mut c_int;
type Uint = *mut c_uint;

/// Declares the functions once: linked with this test, and looked up in the system's library.
macro_rules! interface {
    ($($name:ident: fn($($argument:ty),*) -> $result:ty;)*) => {
        /// The functions of a library.
        pub struct Library {
            $(pub $name: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        mod linked {
            use super::*;
            unsafe extern "C" {
                $(pub fn $name($(_: $argument),*) -> $result;)*
            }
        }

        /// This package's.
        pub fn ours() -> Library {
            Library { $($name: linked::$name,)* }
        }

        /// # Safety
        /// `symbol` returns the functions of a libbz2.
        unsafe fn looked_up(symbol: impl Fn(&CStr) -> *mut c_void) -> Library {
            Library {
                // SAFETY: by the contract: functions of libbz2 have the types of bzlib.h.
                $($name: unsafe {
                    let name = concat!(stringify!($name), "\0");
                    std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) -> $result>(
                        symbol(CStr::from_ptr(name.as_ptr().cast()))
                    )
                },)*
            }
        }
    };
}

interface! {
    BZ2_bzlibVersion: fn() -> *const c_char;
    BZ2_bzCompressInit: fn(*mut BzStream, c_int, c_int, c_int) -> c_int;
    BZ2_bzCompress: fn(*mut BzStream, c_int) -> c_int;
    BZ2_bzCompressEnd: fn(*mut BzStream) -> c_int;
    BZ2_bzDecompressInit: fn(*mut BzStream, c_int, c_int) -> c_int;
    BZ2_bzDecompress: fn(*mut BzStream) -> c_int;
    BZ2_bzDecompressEnd: fn(*mut BzStream) -> c_int;
    BZ2_bzBuffToBuffCompress: fn(Bytes, Uint, Bytes, c_uint, c_int, c_int, c_int) -> c_int;
    BZ2_bzBuffToBuffDecompress: fn(Bytes, Uint, Bytes, c_uint, c_int, c_int) -> c_int;
    BZ2_bzReadOpen: fn(Int, *mut libc::FILE, c_int, c_int, *mut c_void, c_int) -> Handle;
    BZ2_bzReadClose: fn(Int, Handle) -> ();
    BZ2_bzReadGetUnused: fn(Int, Handle, *mut *mut c_void, Int) -> ();
    BZ2_bzRead: fn(Int, Handle, *mut c_void, c_int) -> c_int;
    BZ2_bzWriteOpen: fn(Int, *mut libc::FILE, c_int, c_int, c_int) -> Handle;
    BZ2_bzWrite: fn(Int, Handle, *mut c_void, c_int) -> ();
    BZ2_bzWriteClose: fn(Int, Handle, c_int, Uint, Uint) -> ();
    BZ2_bzWriteClose64: fn(Int, Handle, c_int, Uint, Uint, Uint, Uint) -> ();
    BZ2_bzopen: fn(*const c_char, *const c_char) -> Handle;
    BZ2_bzdopen: fn(c_int, *const c_char) -> Handle;
    BZ2_bzread: fn(Handle, *mut c_void, c_int) -> c_int;
    BZ2_bzwrite: fn(Handle, *mut c_void, c_int) -> c_int;
    BZ2_bzflush: fn(Handle) -> c_int;
    BZ2_bzclose: fn(Handle) -> ();
    BZ2_bzerror: fn(Handle, Int) -> *const c_char;
}

/// The system's library, which is not this one.
pub fn theirs() -> Option<Library> {
    // SAFETY: the library's constructors do nothing, and it is a libbz2.
    let library = unsafe {
        let handle = libc::dlopen(c"libbz2.so.1.0".as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        if handle.is_null() {
            return None;
        }
        looked_up(|name| {
            let address = libc::dlsym(handle, name.as_ptr());
            assert!(!address.is_null(), "{name:?}");
            address
        })
    };
    assert!(library.BZ2_bzCompress as usize != ours().BZ2_bzCompress as usize, "one library compared with itself");
    // LD_LIBRARY_PATH may lead to another build of this one, whose symbols would be a judge of themselves.
    // SAFETY: the address is of a function.
    let path = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        assert!(libc::dladdr(library.BZ2_bzCompress as *const c_void, &mut info) != 0);
        CStr::from_ptr(info.dli_fname).to_string_lossy().into_owned()
    };
    assert!(std::fs::read(&path).is_ok_and(|bytes| !bytes.windows(4).any(|word| word == b"hybz")), "{path} is hybz");
    Some(library)
}

/// What became of a stream.
pub struct Decoded {
    pub text: Vec<u8>,
    pub code: c_int,
    pub taken: usize,
    pub calls: usize,
}

/// The sizes of the pieces and rooms that a stream is decoded with.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub pieces: &'static [usize],
    pub rooms: &'static [usize],
    pub seed: u64,
}

/// Decodes in pieces with rooms.
pub fn decode(library: &Library, coded: &[u8], small: c_int, sizes: Sizes) -> Decoded {
    let Sizes { pieces, rooms, seed } = sizes;
    let (mut inputs, mut outputs) = (Rng(seed), Rng(seed + 1));
    let mut stream = BzStream::new();
    let mut decoded = Decoded { text: Vec::new(), code: 0, taken: 0, calls: 0 };
    let mut out = vec![0; *rooms.iter().max().unwrap()];
    // SAFETY: the pointers are of slices that live longer than the calls, and have the lengths said.
    unsafe {
        assert_eq!((library.BZ2_bzDecompressInit)(&mut stream, 0, small), 0);
        let mut idle = 0;
        while decoded.code == 0 && idle < 3 {
            let left = &coded[decoded.taken..];
            let input = pieces[inputs.below(pieces.len())].min(left.len());
            let room = rooms[outputs.below(rooms.len())];
            // A copy that goes at once: the library may not look at it later.
            let copy = left[..input].to_vec();
            (stream.next_in, stream.avail_in) = (copy.as_ptr(), input as c_uint);
            (stream.next_out, stream.avail_out) = (out.as_mut_ptr(), room as c_uint);
            decoded.code = (library.BZ2_bzDecompress)(&mut stream);
            decoded.calls += 1;
            assert!(stream.avail_in as usize <= input, "{} of {input} bytes given back", stream.avail_in);
            assert!(stream.avail_out as usize <= room);
            let (taken, made) = (input - stream.avail_in as usize, room - stream.avail_out as usize);
            assert_eq!(stream.next_in, copy[taken..].as_ptr());
            assert_eq!(stream.next_out, out[made..].as_mut_ptr());
            decoded.taken += taken;
            decoded.text.extend_from_slice(&out[..made]);
            assert_eq!((stream.total_in(), stream.total_out()), (decoded.taken as u64, decoded.text.len() as u64));
            // All input is taken, and there was room, so nothing more can come.
            idle = if decoded.taken == coded.len() && made == 0 && room > 0 { idle + 1 } else { 0 };
        }
        assert_eq!((library.BZ2_bzDecompressEnd)(&mut stream), 0);
    }
    decoded
}
