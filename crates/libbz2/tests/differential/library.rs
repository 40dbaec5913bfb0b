//! The two libraries that are compared, and `bz_stream`.

#![allow(non_snake_case)]

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
