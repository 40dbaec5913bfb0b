//! The two libraries that are compared, and calls on streams of them, one by one.

#![allow(non_snake_case)]

use hybz_libbz2::stream::Stream;
use hybz_testkit::shapes::Rng;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

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
    BZ2_bzCompressInit: fn(*mut Stream, c_int, c_int, c_int) -> c_int;
    BZ2_bzCompress: fn(*mut Stream, c_int) -> c_int;
    BZ2_bzCompressEnd: fn(*mut Stream) -> c_int;
    BZ2_bzDecompressInit: fn(*mut Stream, c_int, c_int) -> c_int;
    BZ2_bzDecompress: fn(*mut Stream) -> c_int;
    BZ2_bzDecompressEnd: fn(*mut Stream) -> c_int;
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
    // LD_LIBRARY_PATH may lead to another build of this one, which would then be compared with itself.
    // SAFETY: the address is of a function.
    let path = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        assert!(libc::dladdr(library.BZ2_bzCompress as *const c_void, &mut info) != 0);
        CStr::from_ptr(info.dli_fname).to_string_lossy().into_owned()
    };
    assert!(std::fs::read(&path).is_ok_and(|bytes| !bytes.windows(4).any(|word| word == b"hybz")), "{path} is hybz");
    Some(library)
}

/// A stream of a library. It is ended when it is dropped.
pub struct Session<'a> {
    library: &'a Library,
    pub stream: Box<Stream>,
    codes: bool,
    room: Vec<u8>,
    /// All output so far.
    pub out: Vec<u8>,
    pub calls: usize,
}

impl<'a> Session<'a> {
    /// Begins to code at a level, or to decode (`small` or not). The stream has its memory functions.
    pub fn begin(library: &'a Library, stream: Stream, level: Result<c_int, c_int>) -> Result<Self, c_int> {
        let mut stream = Box::new(stream);
        // SAFETY: the stream is new, and its address does not change.
        let code = unsafe {
            match level {
                Ok(level) => (library.BZ2_bzCompressInit)(&mut *stream, level, 0, 0),
                Err(small) => (library.BZ2_bzDecompressInit)(&mut *stream, 0, small),
            }
        };
        let (room, out, codes) = (Vec::new(), Vec::new(), level.is_ok());
        if code == 0 { Ok(Session { library, stream, codes, room, out, calls: 0 }) } else { Err(code) }
    }

    pub fn coder(library: &'a Library, level: c_int) -> Self {
        Session::begin(library, Stream::new(), Ok(level)).expect("a level")
    }

    pub fn decoder(library: &'a Library, small: c_int) -> Self {
        Session::begin(library, Stream::new(), Err(small)).expect("0 or 1")
    }

    /// One call, with this input and an output buffer of `room` bytes. Returns its code, and how much of the input it
    /// has taken. The library may not use either buffer later.
    pub fn call(&mut self, action: c_int, input: &[u8], room: usize) -> (c_int, usize) {
        self.calls += 1;
        self.room.clear();
        self.room.resize(room, 0x5a);
        let (before_in, before_out) = totals(&self.stream);
        let stream = &mut *self.stream;
        (stream.next_in, stream.avail_in) = (input.as_ptr().cast_mut().cast(), input.len() as c_uint);
        (stream.next_out, stream.avail_out) = (self.room.as_mut_ptr().cast(), room as c_uint);
        // SAFETY: both buffers have the lengths that are passed with them.
        let code = unsafe {
            match self.codes {
                true => (self.library.BZ2_bzCompress)(stream, action),
                false => (self.library.BZ2_bzDecompress)(stream),
            }
        };
        assert!(stream.avail_in as usize <= input.len() && stream.avail_out as usize <= room);
        let (taken, made) = (input.len() - stream.avail_in as usize, room - stream.avail_out as usize);
        assert_eq!(stream.next_in.cast_const().cast(), input[taken..].as_ptr());
        assert_eq!(stream.next_out.cast_const().cast(), self.room[made..].as_ptr());
        assert_eq!(totals(stream), (before_in + taken as u64, before_out + made as u64));
        self.out.extend_from_slice(&self.room[..made]);
        (code, taken)
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        let end = if self.codes { self.library.BZ2_bzCompressEnd } else { self.library.BZ2_bzDecompressEnd };
        // SAFETY: the stream was begun.
        assert_eq!(unsafe { end(&mut *self.stream) }, 0);
    }
}

/// The bytes that a stream has taken and made.
pub fn totals(stream: &Stream) -> (u64, u64) {
    let joined = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
    (joined(stream.total_in_hi32, stream.total_in_lo32), joined(stream.total_out_hi32, stream.total_out_lo32))
}

/// The result of decoding a stream.
pub struct Decoded {
    pub text: Vec<u8>,
    pub code: c_int,
    pub taken: usize,
    pub calls: usize,
}

/// The sizes of the input pieces and output buffers with which a stream is decoded.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub pieces: &'static [usize],
    pub rooms: &'static [usize],
    pub seed: u64,
}

/// Decodes in pieces of such sizes.
pub fn decode(library: &Library, coded: &[u8], small: c_int, sizes: Sizes) -> Decoded {
    let Sizes { pieces, rooms, seed } = sizes;
    let (mut inputs, mut outputs) = (Rng(seed), Rng(seed + 1));
    let mut session = Session::decoder(library, small);
    let (mut code, mut at, mut idle) = (0, 0, 0);
    while code == 0 && idle < 3 {
        let left = &coded[at..];
        // A copy that is freed after the call: the library may not look at it later.
        let input = left[..pieces[inputs.below(pieces.len())].min(left.len())].to_vec();
        let (room, before) = (rooms[outputs.below(rooms.len())], session.out.len());
        let (next, taken) = session.call(0, &input, room);
        (code, at) = (next, at + taken);
        // All input is taken, and the output buffer was not full, so nothing more can come.
        idle = if at == coded.len() && session.out.len() == before && room > 0 { idle + 1 } else { 0 };
    }
    Decoded { text: std::mem::take(&mut session.out), code, taken: at, calls: session.calls }
}
