//! Ranges: the lines between two splitters, from all parts of the text.

use super::order::Order;
use super::parts::Piece;
use super::stored::StoredRange;

/// The lines of a range: less than 4 GiB.
pub struct RangeText {
    /// The parts of the text that contain them.
    pub pieces: Vec<Piece>,
    /// Their order. (Equal lines are all kept: the check of the output drops them.)
    pub order: Order,
    /// The length of a prefix that all of them have in common; they may have more in common.
    pub common_prefix: usize,
    /// The sum of the lines, if it is known.
    pub(crate) sum: Option<u64>,
    /// More lines, on a device: then the sum is known.
    pub(crate) stored: Option<StoredRange>,
}

impl RangeText {
    /// A range of lines whose prefix and sum are unknown.
    pub(crate) fn new(pieces: Vec<Piece>, order: Order) -> RangeText {
        RangeText { pieces, order, common_prefix: 0, sum: None, stored: None }
    }

    /// Bytes of text.
    pub fn len(&self) -> usize {
        let stored = self.stored.as_ref().map_or(0, |stored| stored.bytes as usize);
        self.pieces.iter().map(|piece| piece.range.len()).sum::<usize>() + stored
    }
}
