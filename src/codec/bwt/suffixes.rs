//! The order of the suffixes of a text: by libsais, and in a build without the feature `libsais` by [`sais`].
//!
//! The order is unique, so both give the same bytes.

#[cfg(any(test, not(feature = "libsais")))]
use super::sais;
#[cfg(feature = "libsais")]
use libsais::{BwtConstruction, SuffixArrayConstruction, bwt::AuxIndicesSamplingRate};

/// The number of rows processed together.
pub(super) const ROWS: usize = 1024;

/// The only error of a call of libsais: its arguments are checked by their types.
#[cfg(feature = "libsais")]
const NO_MEMORY: &str = "libsais fails only when there is no memory";

/// Puts the positions of the suffixes of `text` into the beginning of `suffixes`, in their order.
pub fn sort(text: &[u8], suffixes: &mut [i32]) {
    #[cfg(feature = "libsais")]
    SuffixArrayConstruction::for_text(text).in_borrowed_buffer(suffixes).single_threaded().run().expect(NO_MEMORY);
    #[cfg(not(feature = "libsais"))]
    sais::sort(text, suffixes, 256);
}

/// The same for a text of numbers below `distinct`. The rest of `suffixes` is scratch memory, and `numbers` may be
/// overwritten.
pub fn sort_numbers(numbers: &mut [i32], distinct: usize, suffixes: &mut [i32]) {
    #[cfg(feature = "libsais")]
    {
        let _ = distinct;
        SuffixArrayConstruction::for_text_mut(numbers)
            .in_borrowed_buffer(suffixes)
            .single_threaded()
            .run()
            .expect(NO_MEMORY);
    }
    #[cfg(not(feature = "libsais"))]
    sais::sort(numbers, suffixes, distinct);
}

/// The index of the row that `is_it`. A first test, without an early exit, becomes vector code.
pub(super) fn find(part: &[i32], is_it: impl Fn(i32) -> bool) -> Option<usize> {
    let is_there = part.iter().fold(false, |any, &row| any | is_it(row));
    if is_there { part.iter().position(|&row| is_it(row)) } else { None }
}

/// Replaces `text` with its BWT, under an end mark that is less than all bytes; the row of the whole text, whose entry
/// is the mark, is left out. Returns the rows of the suffixes whose positions are multiples of 2^`log`, not counting
/// the mark's suffix. `suffixes` is scratch memory: as long as the text, plus [`EXTRA`].
pub fn last_column(text: &mut [u8], log: u8, suffixes: &mut [i32]) -> Vec<u32> {
    #[cfg(feature = "libsais")]
    {
        let len = text.len();
        let made = BwtConstruction::replace_text(text)
            .with_borrowed_temporary_array_buffer(suffixes)
            .single_threaded()
            .with_aux_indices(AuxIndicesSamplingRate::from(1i32 << log))
            .run()
            .expect(NO_MEMORY);
        // libsais counts the suffix of the mark.
        made.aux_indices()[..len.div_ceil(1 << log)].iter().map(|&row| row as u32 - 1).collect()
    }
    #[cfg(not(feature = "libsais"))]
    by_sais(text, log, suffixes)
}

#[cfg(any(test, not(feature = "libsais")))]
fn by_sais(text: &mut [u8], log: u8, suffixes: &mut [i32]) -> Vec<u32> {
    let len = text.len();
    sais::sort(text, suffixes, 256);
    let mut places = vec![0; len.div_ceil(1 << log)];
    let mut column = Vec::with_capacity(len);
    column.extend(text.last());
    for (place, &suffix) in suffixes[..len].iter().enumerate() {
        let suffix = suffix as usize;
        if suffix.is_multiple_of(1 << log) {
            places[suffix >> log] = place as u32;
        }
        if suffix > 0 {
            column.push(text[suffix - 1]);
        }
    }
    text.copy_from_slice(&column);
    places
}

/// The number of entries that libsais gets after the suffixes: with 6 kB and more it allocates nothing.
pub const EXTRA: usize = 2048;

#[cfg(all(test, feature = "libsais"))]
mod tests {
    use super::*;
    use hybz_testkit::shapes::SHAPES;

    #[test]
    fn sais_makes_the_columns_of_libsais() {
        for shape in SHAPES {
            for (len, log) in [(1, 1), (2, 1), (3, 2), (4096, 12), (4097, 12), (30_000, 3)] {
                let (mut text, mut room) = ((shape.make)(len), vec![0; len + EXTRA]);
                let mut other = text.clone();
                let places = last_column(&mut text, log, &mut room);
                assert_eq!(by_sais(&mut other, log, &mut room), places, "{}, {len} bytes", shape.name);
                assert!(text == other, "{}, {len} bytes", shape.name);
            }
        }
    }
}
