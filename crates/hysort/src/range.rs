//! Ranges: the lines, or strings, between two splitters, from all parts of the text.

use super::order::Order;
use super::parts::{PartedStrings, Piece, Strings};
use super::stored::StoredRange;
use std::ops::Range;
use std::sync::Arc;

/// The lines of a range: less than 4 GiB.
#[derive(Debug)]
pub struct RangeText {
    /// The parts of the text that contain them.
    pub pieces: Vec<Piece>,
    /// Their order. (Equal lines are all kept: the check of the output drops them.)
    pub order: Order,
    /// The length of a prefix that all of them have in common; it may be longer.
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

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Some of the strings of a range.
#[derive(Clone, Debug)]
pub struct RankPart {
    /// The chunk that contains them.
    pub strings: Arc<Strings>,
    /// Its indices by range.
    pub parted: Arc<PartedStrings>,
    /// The range of their indices in `parted`.
    pub range: Range<usize>,
}

impl RankPart {
    /// The numbers of the strings, and the strings.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let indices = self.parted.indices[self.range.clone()].iter();
        indices.map(|&index| (self.strings.first + u64::from(index), self.strings.get(index as usize)))
    }
}

/// The strings of a range: less than 4 GiB, counting 4 more bytes for each.
#[derive(Debug)]
pub struct RankText {
    /// The strings, in the order of their numbers.
    pub parts: Vec<RankPart>,
    /// Their order.
    pub order: Order,
    /// The length of a prefix that all of them have in common; it may be longer.
    pub common_prefix: usize,
    /// The number of bytes.
    pub(crate) bytes: u64,
}
