//! The suffix array of a text, by libsais, and memory for it and its like.

use super::MAX_TEXT;
use crate::Error;
use crate::codec::huge_pages;
use libsais::SuffixArrayConstruction;
use std::hint::black_box;

/// The room that libsais gets beyond the suffixes: with 6 kB and more it allocates nothing.
pub(super) const ROOM: usize = 2048;

/// Where all suffixes of the text begin, in their order.
pub fn sort(text: &[u8]) -> Result<Vec<i32>, Error> {
    let len = text.len();
    if len > MAX_TEXT {
        return Err(Error::TooLong { len: len as u64, max: MAX_TEXT as u64 });
    }
    // libsais takes arrays of as many elements as i32 counts.
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

/// So many elements that are all `zero`, in huge pages where these help.
///
/// The zeros are the kernel's: to fill the neighbours of 50 MB oneself took 5 ns of 25 a byte. std can take such memory
/// only if it is there, so that is tried first.
pub(super) fn zeros<T: Clone>(zero: T, len: usize) -> Result<Vec<T>, Error> {
    let mut tried = Vec::<T>::new();
    let needs = len as u64 * size_of::<T>() as u64;
    tried.try_reserve_exact(len).map_err(|_| Error::NoMemory { needs })?;
    // Else the compiler leaves out what is given back at once.
    drop(black_box(tried));
    let all = vec![zero; len];
    huge_pages::advise(&all);
    Ok(all)
}

/// The runs of equal letters in the Burrows-Wheeler transform of the text and an end mark that is smaller than all
/// bytes; the mark is a letter like any other. 0 for an empty text.
pub fn runs(text: &[u8], suffixes: &[i32]) -> u64 {
    const MARK: u16 = 256;
    // The first row is that of the end mark alone.
    let Some(&first) = text.last() else { return 0 };
    let (mut last, mut runs) = (u16::from(first), 1);
    for &suffix in suffixes {
        // Before the whole text is the mark.
        let letter = (suffix as usize).checked_sub(1).map_or(MARK, |before| u16::from(text[before]));
        runs += u64::from(letter != last);
        last = letter;
    }
    runs
}
