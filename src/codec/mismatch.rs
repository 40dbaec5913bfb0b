//! The ways in which verification finds a coded block to be wrong.

use crate::error::DecodeError;
use crate::flaw::Flaw;
use std::fmt;

/// Why a coded block is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// It cannot be decoded.
    Undecodable(DecodeError),
    /// It encodes another text.
    Text,
    /// A part of the block has a value that no encoder writes, or that does not belong to this text.
    Part(&'static str),
}

impl From<DecodeError> for Mismatch {
    fn from(error: DecodeError) -> Self {
        Mismatch::Undecodable(error)
    }
}

impl From<Flaw> for Mismatch {
    fn from(damage: Flaw) -> Self {
        Mismatch::Undecodable(damage.into())
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mismatch::Undecodable(DecodeError::OutOfData) => f.write_str("the coded block is too short"),
            Mismatch::Undecodable(DecodeError::Damaged(damage)) => damage.fmt(f),
            Mismatch::Text => f.write_str("the coded block holds another text"),
            Mismatch::Part(part) => write!(f, "wrong {part}"),
        }
    }
}
