//! Errors of factorizing and expanding.

use std::{error, fmt};

/// Why a text cannot be factorized, or factors cannot be expanded.
#[derive(Debug)]
pub enum Error {
    /// The text is too long.
    TooLong {
        /// Its length in bytes, as far as known.
        len: u64,
        /// The maximum length.
        max: u64,
    },
    /// There is not enough memory.
    NoMemory {
        /// The number of bytes that could not be allocated.
        needs: u64,
    },
    /// A factor copies nothing, or its source does not begin before it.
    BadFactor {
        /// The number of the factor, counted from 1.
        number: u64,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::TooLong { len, max } => write!(f, "a text of {len} bytes cannot be factorized, only {max}"),
            Error::NoMemory { needs } => write!(f, "{} MB of memory are not available", needs.div_ceil(1 << 20)),
            Error::BadFactor { number } => write!(f, "factor {number} copies nothing, or from a place without text"),
        }
    }
}

impl error::Error for Error {}
