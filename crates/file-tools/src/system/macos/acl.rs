//! macOS's access control lists (`ls -le`), by the functions of acl(3).

use rustix::io::Errno;
use std::ffi::{c_int, c_void};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;
use std::sync::Arc;

/// `ACL_TYPE_EXTENDED` of <sys/acl.h>: the only kind of list that there is.
const EXTENDED: c_int = 0x100;

#[allow(unsafe_code)]
// SAFETY: declared as in <sys/acl.h>, where `acl_t` is a pointer.
unsafe extern "C" {
    fn acl_get_fd_np(fd: c_int, kind: c_int) -> *mut c_void;
    fn acl_set_fd_np(fd: c_int, list: *mut c_void, kind: c_int) -> c_int;
    fn acl_init(entries: c_int) -> *mut c_void;
    fn acl_free(list: *mut c_void) -> c_int;
}

/// A list that acl(3) has allocated.
#[derive(Debug)]
struct List(NonNull<c_void>);

#[allow(unsafe_code)]
// SAFETY: a list is plain memory of malloc's, and nothing changes it before it is freed.
unsafe impl Send for List {}
#[allow(unsafe_code)]
// SAFETY: as above.
unsafe impl Sync for List {}

impl Drop for List {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: acl(3) has allocated the list, and it is freed once.
        unsafe { acl_free(self.0.as_ptr()) };
    }
}

impl List {
    #[allow(unsafe_code)]
    fn set(&self, file: &File) -> io::Result<()> {
        // SAFETY: the descriptor is open, and the list is there, as long as both are borrowed.
        match unsafe { acl_set_fd_np(file.as_raw_fd(), self.0.as_ptr(), EXTENDED) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// The list of a file. `None`: a list that could not be read.
#[derive(Clone, Debug)]
pub struct Acl(Option<Arc<List>>);

impl Acl {
    /// The list of a file, if it has one.
    #[allow(unsafe_code)]
    pub fn of(file: &File) -> io::Result<Option<Acl>> {
        // SAFETY: the descriptor is open as long as `file` lives.
        match NonNull::new(unsafe { acl_get_fd_np(file.as_raw_fd(), EXTENDED) }) {
            Some(list) => Ok(Some(Acl(Some(Arc::new(List(list)))))),
            None => match io::Error::last_os_error() {
                e if is_without_list(&e) => Ok(None),
                e => Err(e),
            },
        }
    }

    /// A list of which nothing is known: only the owner gets rights.
    pub fn unknown() -> Acl {
        Acl(None)
    }

    /// Gives a file this list.
    pub fn set(&self, file: &File) -> io::Result<()> {
        self.0.as_ref().map_or(Ok(()), |list| list.set(file))
    }

    /// Removes the list that a file inherited from its directory. Does nothing if there is none.
    #[allow(unsafe_code)]
    pub fn remove(file: &File) -> io::Result<()> {
        // SAFETY: `acl_init` takes only a number of entries.
        let empty = NonNull::new(unsafe { acl_init(0) }).map(List).ok_or(io::ErrorKind::OutOfMemory)?;
        match empty.set(file) {
            Err(e) if is_without_list(&e) => Ok(()),
            done => done,
        }
    }

    /// The mode for a file that cannot have this list: the owner's rights, because the list may deny any right to
    /// anybody else.
    pub fn narrowed(&self, mode: u32) -> u32 {
        mode & 0o700
    }
}

/// Whether the file has no list, or its file system has none.
fn is_without_list(e: &io::Error) -> bool {
    let errno = e.raw_os_error().map(Errno::from_raw_os_error);
    errno.is_some_and(|errno| errno == Errno::NOENT || super::is_lacking(errno))
}
