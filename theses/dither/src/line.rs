//! A line of errors with room at both ends, so that the lanes need no check for the ends of the picture.

use std::ops::Range;

/// Room at each end. Lanes read up to 50 columns after the end of the picture and write up to 30 before its start.
const ROOM: usize = 64;

/// The errors of a row, or of several: each column has the error of the last row that was done in it.
#[derive(Debug)]
pub struct Line {
    errors: Vec<i16>,
    /// The column of the first error.
    base: i64,
}

impl Line {
    /// Zeros, for these columns.
    pub fn new(columns: Range<usize>) -> Line {
        Line { errors: vec![0; columns.len() + 2 * ROOM], base: columns.start as i64 - ROOM as i64 }
    }

    /// The index of a column's error, if there is room for it.
    fn index(&self, x: i64) -> Option<usize> {
        usize::try_from(x - self.base).ok().filter(|&at| at < self.errors.len())
    }

    /// The error of a column.
    #[inline]
    pub fn get(&self, x: i64) -> i8 {
        self.index(x).map_or(0, |at| self.errors[at] as i8)
    }

    /// Sets it. A column without room is outside the picture, and its error is 0.
    #[inline]
    pub fn set(&mut self, x: i64, error: i8) {
        if let Some(at) = self.index(x) {
            self.errors[at] = error.into();
        }
    }

    /// The errors of `COUNT` columns.
    ///
    /// # Panics
    /// If there is no room for them.
    #[inline]
    pub fn part<const COUNT: usize>(&self, x: i64) -> &[i16; COUNT] {
        let at = (x - self.base) as usize;
        self.errors[at..][..COUNT].try_into().expect("so many were taken")
    }

    /// The errors of `COUNT` columns, to be written.
    ///
    /// # Panics
    /// If there is no room for them.
    #[inline]
    pub fn part_mut<const COUNT: usize>(&mut self, x: i64) -> &mut [i16; COUNT] {
        let at = (x - self.base) as usize;
        (&mut self.errors[at..][..COUNT]).try_into().expect("so many were taken")
    }
}
