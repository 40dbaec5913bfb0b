//! The names of one directory, sorted by their bytes. They take only a few bytes more memory than the bare names.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Names, taken one after another.
#[derive(Default)]
pub struct Names {
    bytes: Vec<u8>,
    /// The offset of each name times 65536, plus its length, which has 16 bits in the system's records.
    places: Vec<u64>,
    next: usize,
}

impl Names {
    pub fn push(&mut self, name: &OsStr) {
        self.places.push((self.bytes.len() as u64) << 16 | name.len() as u64);
        self.bytes.extend_from_slice(name.as_bytes());
    }

    pub fn sort(&mut self) {
        let bytes = &self.bytes;
        self.places.sort_unstable_by_key(|&place| at(bytes, place));
    }

    /// Whether all names have been taken.
    pub fn is_at_end(&self) -> bool {
        self.next == self.places.len()
    }

    /// The next name. Taking the last name frees the memory.
    pub fn next(&mut self) -> Option<&OsStr> {
        let Some(&place) = self.places.get(self.next) else {
            *self = Names::default();
            return None;
        };
        self.next += 1;
        Some(OsStr::from_bytes(at(&self.bytes, place)))
    }
}

fn at(bytes: &[u8], place: u64) -> &[u8] {
    &bytes[(place >> 16) as usize..][..(place & 0xffff) as usize]
}
