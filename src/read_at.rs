//! Input that can be read at any offset.

use std::fs::File;
use std::io;
use std::sync::Arc;

/// An input that several threads can read at the same time, at any offset: a file on a disk, memory, a server that
/// serves ranges.
///
/// ```
/// use hybz::ReadAt;
/// let mut buf = [0; 3];
/// assert_eq!(b"to be or not".to_vec().read_at(&mut buf, 9)?, 3);
/// assert_eq!(&buf, b"not");
/// # std::io::Result::Ok(())
/// ```
pub trait ReadAt: Send + Sync {
    /// Reads some bytes at `offset`, which counts from the first byte; none at the end.
    ///
    /// # Errors
    /// Any error of reading a file.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize>;
    /// The current number of bytes.
    fn len(&self) -> u64;
    /// Whether there are no bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl ReadAt for Vec<u8> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|at| self.get(at..)).unwrap_or_default();
        let n = rest.len().min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        Ok(n)
    }

    fn len(&self) -> u64 {
        self.as_slice().len() as u64
    }
}

#[cfg(any(unix, windows))]
impl ReadAt for File {
    #[cfg(unix)]
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, buf, offset)
    }

    /// On Windows this also moves the file's own position.
    #[cfg(windows)]
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(self, buf, offset)
    }

    fn len(&self) -> u64 {
        self.metadata().map_or(0, |found| found.len())
    }
}

impl ReadAt for Arc<dyn ReadAt> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        (**self).read_at(buf, offset)
    }

    fn len(&self) -> u64 {
        (**self).len()
    }
}

/// Fills `buf` from `offset` on, as far as the input goes. Returns the number of bytes.
pub(crate) fn fill_at(source: &(impl ReadAt + ?Sized), buf: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buf.len() {
        match source.read_at(&mut buf[filled..], offset + filled as u64) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(filled)
}

/// One read, repeated if a signal interrupts it.
pub(crate) fn read_some(reader: &mut dyn io::Read, room: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(room) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Reads an input of its own sequentially, from the position `at` on.
pub struct Sequential<R> {
    /// The input.
    pub source: R,
    /// The position, in bytes.
    pub at: u64,
}

impl<R: ReadAt> io::Read for Sequential<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.source.read_at(buf, self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}

/// Reads a [`ReadAt`] sequentially, from its beginning or from the position that is set.
pub(crate) struct Positioned<'a, R: ?Sized> {
    pub source: &'a R,
    pub at: u64,
}

impl<R: ReadAt + ?Sized> io::Read for Positioned<'_, R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.source.read_at(buf, self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}

impl<R: ReadAt + ?Sized> io::Seek for Positioned<'_, R> {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.at = sought(to, self.at, self.source.len())?;
        Ok(self.at)
    }
}

/// The position to which a seek leads, from `at` in `len` bytes.
pub(crate) fn sought(to: io::SeekFrom, at: u64, len: u64) -> io::Result<u64> {
    let to = match to {
        io::SeekFrom::Start(to) => Some(to),
        io::SeekFrom::Current(by) => at.checked_add_signed(by),
        io::SeekFrom::End(by) => len.checked_add_signed(by),
    };
    to.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "a position before the first byte"))
}
