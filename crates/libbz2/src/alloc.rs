//! Memory from the caller of the library.
//!
//! `bz_stream` may name functions that allocate and free. The codec's memory is in ordinary vectors, so the library's
//! global allocator decides: within [`Memory::window`], this thread's allocations come from the stream's `bzalloc`;
//! outside, from malloc. A header before each allocation says what frees it. Inside a window there are only fallible
//! reservations, so that a `bzalloc` that fails becomes `BZ_MEM_ERROR`. Some kilobytes of tables are allocated
//! outside, from malloc; if that fails the process ends, as does every Rust program.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr;

/// `bzalloc`.
pub type AllocFn = unsafe extern "C" fn(*mut c_void, c_int, c_int) -> *mut c_void;
/// `bzfree`.
pub type FreeFn = unsafe extern "C" fn(*mut c_void, *mut c_void);

/// There is no memory.
pub struct NoMemory;

/// Where the memory of a stream comes from.
#[derive(Clone, Copy)]
pub struct Memory {
    /// `None`: malloc.
    pub alloc: Option<AllocFn>,
    /// `None`: free.
    pub free: Option<FreeFn>,
    /// The first argument of both.
    pub opaque: *mut c_void,
}

thread_local! {
    static WINDOW: Cell<Option<Memory>> = const { Cell::new(None) };
}

// SAFETY: the callers of the functions vouch for them; threads are only given `Memory::MALLOC`.
unsafe impl Send for Memory {}

impl Memory {
    /// malloc and free.
    pub const MALLOC: Memory = Memory { alloc: None, free: None, opaque: ptr::null_mut() };

    /// Runs `reserve`, whose allocations all come from this memory.
    pub fn window<T>(self, reserve: impl FnOnce() -> T) -> T {
        if self.alloc.is_none() && self.free.is_none() {
            return reserve();
        }
        let before = WINDOW.replace(Some(self));
        let result = reserve();
        WINDOW.set(before);
        result
    }
}

/// What lies before each allocation.
#[derive(Clone, Copy)]
#[repr(C)]
struct Header {
    /// What the allocating function returned.
    base: *mut u8,
    free: Option<FreeFn>,
    opaque: *mut c_void,
}

const HEADER: usize = size_of::<Header>();
/// What malloc aligns to. `bzalloc` need not, but all known ones do.
const ALIGN: usize = 16;

struct Router;

#[global_allocator]
static ROUTER: Router = Router;

impl Router {
    /// Allocates `layout` with a header before it. `zeroed` memory comes from calloc, which need not touch it.
    fn get(&self, layout: Layout, zeroed: bool) -> *mut u8 {
        let Some(size) = layout.size().checked_add(HEADER + layout.align().max(ALIGN)) else { return ptr::null_mut() };
        let window = WINDOW.get();
        let custom = window.and_then(|memory| memory.alloc);
        let base: *mut u8 = match (custom, window, c_int::try_from(size)) {
            (Some(alloc), Some(memory), Ok(len)) => {
                // If that function is in Rust, its own allocations may come through here: they must not call it again.
                WINDOW.set(None);
                // SAFETY: the caller of the library vouches for its function.
                let base = unsafe { alloc(memory.opaque, len, 1).cast() };
                WINDOW.set(window);
                base
            }
            (Some(_), ..) => ptr::null_mut(),
            // SAFETY: calloc and malloc take any size.
            _ if zeroed => unsafe { libc::calloc(size, 1).cast() },
            // SAFETY: as above.
            _ => unsafe { libc::malloc(size).cast() },
        };
        if base.is_null() {
            return base;
        }
        let align = layout.align().max(ALIGN);
        let offset = (base.addr() + HEADER).next_multiple_of(align) - base.addr();
        let header = Header {
            base,
            free: window.and_then(|memory| memory.free),
            opaque: window.map_or(ptr::null_mut(), |memory| memory.opaque),
        };
        // SAFETY: `size` has room for the header and for aligning what follows it.
        unsafe {
            let user = base.add(offset);
            user.sub(HEADER).cast::<Header>().write_unaligned(header);
            if zeroed && custom.is_some() {
                user.write_bytes(0, layout.size());
            }
            user
        }
    }
}

// SAFETY: each allocation has its own memory of at least the layout's size, aligned as it asks.
unsafe impl GlobalAlloc for Router {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.get(layout, false)
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.get(layout, true)
    }

    unsafe fn dealloc(&self, user: *mut u8, _: Layout) {
        // SAFETY: `user` came from `get`, which wrote the header into the bytes just below it.
        unsafe {
            let Header { base, free, opaque } = user.sub(HEADER).cast::<Header>().read_unaligned();
            match free {
                Some(free) => free(opaque, base.cast()),
                None => libc::free(base.cast()),
            }
        }
    }
}

/// Moves `value` to memory of the stream.
pub fn place<T>(value: T, memory: Memory) -> Option<*mut T> {
    let mut one = Vec::new();
    memory.window(|| one.try_reserve_exact(1)).ok()?;
    one.push(value);
    Some(Box::into_raw(one.into_boxed_slice()).cast())
}

/// Drops and frees what [`place`] has placed.
///
/// # Safety
/// `placed` comes from `place`, and is not used again.
pub unsafe fn unplace<T>(placed: *mut T) {
    // SAFETY: by the contract.
    drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(placed, 1)) });
}
