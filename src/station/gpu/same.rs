//! What both sides of the door to devices define: limits of formats are the same, and structures of codecs have the
//! same fields.

use crate::block::MAX_PLAIN_TEXT;
use crate::formats::bzip2::header;
use crate::formats::hbz::codec::tally::{Prices, Tally};
use crate::formats::hbz::header as hbz;
use hybz_gpu::abi::*;

const _: () = {
    assert!(HYBZ_MAX_LENGTH >= header::MAX_BLOCK, "a lane takes every block that bzip2 can make");
    assert!(HYBZ_MAX_ROWS == header::MAX_BLOCK && HYBZ_GROUP == header::GROUP);
    assert!(HYBZ_MAX_GROUPS == header::MAX_SELECTORS && HYBZ_MAX_CODE == header::MAX_WRITTEN_CODE as usize);
    assert!(HYBZ_MAX_SYMBOLS == header::MAX_SYMBOLS && HYBZ_MAX_TABLES == header::MAX_TABLES);
    assert!(HYBZ_LONGEST_TEXT == MAX_PLAIN_TEXT);
    assert!(HYBZ_MAX_WIDE_LENGTH == hbz::MAX_BLOCK as usize && HYBZ_SEGMENT_LOG == hbz::SEGMENT_LOG as usize);
};

impl From<&hybz_tally> for Tally {
    fn from(found: &hybz_tally) -> Tally {
        Tally { tokens: found.tokens, moves: found.moves }
    }
}

impl From<&Tally> for hybz_tally {
    fn from(found: &Tally) -> hybz_tally {
        hybz_tally { tokens: found.tokens, moves: found.moves }
    }
}

impl From<&Prices> for hybz_prices {
    fn from(prices: &Prices) -> hybz_prices {
        hybz_prices { tokens: prices.tokens, selectors: prices.selectors }
    }
}

impl From<&hybz_prices> for Prices {
    fn from(prices: &hybz_prices) -> Prices {
        Prices { tokens: prices.tokens, selectors: prices.selectors }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::bwt::merge::{byte_count, word_count};

    #[test]
    fn lists_of_thirds_have_the_same_lengths() {
        for len in (0..300).chain([899_999, 900_000, 1 << 30]) {
            assert_eq!(HYBZ_THIRDS_WORDS(len), word_count(len));
            assert_eq!(HYBZ_THIRDS_BYTES(len), byte_count(len));
        }
    }
}
