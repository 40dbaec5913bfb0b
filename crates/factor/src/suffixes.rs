//! The suffix array of a text, by libsais, and memory for large arrays.

use super::{Error, MAX_TEXT};
use hybz_queue::advise_huge_pages;
use libsais::SuffixArrayConstruction;
use std::hint::black_box;

/// The free space that libsais gets after the suffixes: with 6 kB or more it allocates nothing.
pub(super) const ROOM: usize = 2048;

/// The positions of all suffixes of the text, sorted.
pub fn sort(text: &[u8]) -> Result<Vec<i32>, Error> {
    let len = text.len();
    if len > MAX_TEXT {
        return Err(Error::TooLong { len: len as u64, max: MAX_TEXT as u64 });
    }
    // libsais takes arrays of up to i32::MAX elements.
    let mut suffixes = zeros(0i32, (len + ROOM).min(MAX_TEXT))?;
    if len > 0 {
        SuffixArrayConstruction::for_text(text)
            .in_borrowed_buffer(&mut suffixes)
            .single_threaded()
            .run()
            .map_err(|_| Error::NoMemory { needs: super::memory_needed(len as u64) })?;
    }
    suffixes.truncate(len);
    Ok(suffixes)
}

/// `len` elements that are all `zero`, in huge pages where these help.
///
/// The kernel provides the zeros: filling the neighbours of 50 MB by hand took 5 ns of 25 a byte. std aborts if there
/// is not enough memory for zeroed pages, so a fallible allocation is tried first.
pub(super) fn zeros<T: Clone>(zero: T, len: usize) -> Result<Vec<T>, Error> {
    let mut tried = Vec::<T>::new();
    let needs = len as u64 * size_of::<T>() as u64;
    tried.try_reserve_exact(len).map_err(|_| Error::NoMemory { needs })?;
    // Without `black_box` the compiler removes the allocation, since it is freed immediately.
    drop(black_box(tried));
    let all = vec![zero; len];
    advise_huge_pages(&all);
    Ok(all)
}

/// The number of runs of equal letters in the Burrows-Wheeler transform of the text and an end mark that is smaller
/// than all bytes; the mark counts as a letter. 0 for an empty text.
pub fn runs(text: &[u8], suffixes: &[i32]) -> u64 {
    const MARK: u16 = 256;
    // The first row is the end mark's: the last byte of the text precedes the mark.
    let Some(&first) = text.last() else { return 0 };
    let (mut last, mut runs) = (u16::from(first), 1);
    for &suffix in suffixes {
        // The mark precedes the whole text.
        let letter = (suffix as usize).checked_sub(1).map_or(MARK, |before| u16::from(text[before]));
        runs += u64::from(letter != last);
        last = letter;
    }
    runs
}
