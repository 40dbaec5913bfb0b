//! Parses the sequences of a block.

use std::fmt;

/// The reason why a block cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unreadable {
    /// The block ends in the middle of a sequence.
    Cut,
    /// A match has the offset 0, or begins before the text.
    Offset,
    /// The text exceeds its max length.
    TooLong,
    /// The places of an index are not starts of groups.
    Samples,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unreadable::Cut => "the block ends in the middle of a sequence",
            Unreadable::Offset => "a match begins before the text",
            Unreadable::TooLong => "the block has too much text",
            Unreadable::Samples => "the index names places where no group begins",
        })
    }
}

/// Literals, and the match after them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sequence {
    /// The offset of the literals in the block's bytes, and their number.
    pub literals: usize,
    pub literals_len: usize,
    /// The distance back to the match's source. The last sequence has no distance, and a match of length 0.
    pub offset: usize,
    pub match_len: usize,
}

impl Sequence {
    /// The length of the sequence's text.
    pub fn text_len(&self) -> usize {
        self.literals_len + self.match_len
    }

    /// Whether the sequence is valid at offset `at` of a text that ends at `room`.
    pub fn check(&self, at: usize, room: usize) -> Result<(), Unreadable> {
        if self.literals_len > room - at {
            return Err(Unreadable::TooLong);
        }
        let place = at + self.literals_len;
        if self.match_len > 0 && (self.offset == 0 || self.offset > place) {
            return Err(Unreadable::Offset);
        }
        if self.match_len > room - place { Err(Unreadable::TooLong) } else { Ok(()) }
    }
}

/// Parses the sequence at `at` and moves `at` past it. If `at` is then the end of `coded`, it was the block's last.
pub(super) fn parse(coded: &[u8], at: &mut usize) -> Result<Sequence, Unreadable> {
    let token = *coded.get(*at).ok_or(Unreadable::Cut)?;
    *at += 1;
    let literals_len = length(coded, at, token >> 4)?;
    let literals = *at;
    if literals_len > coded.len() - literals {
        return Err(Unreadable::Cut);
    }
    *at += literals_len;
    if *at == coded.len() {
        return Ok(Sequence { literals, literals_len, offset: 0, match_len: 0 });
    }
    let &[low, high] = coded.get(*at..*at + 2).ok_or(Unreadable::Cut)? else { return Err(Unreadable::Cut) };
    *at += 2;
    let match_len = length(coded, at, token & 15)? + 4;
    // The last sequence must have literals only.
    if *at == coded.len() {
        return Err(Unreadable::Cut);
    }
    Ok(Sequence { literals, literals_len, offset: u16::from_le_bytes([low, high]).into(), match_len })
}

/// Reads a length that starts with four bits of a token.
fn length(coded: &[u8], at: &mut usize, bits: u8) -> Result<usize, Unreadable> {
    let mut len = usize::from(bits);
    if bits == 15 {
        loop {
            let more = *coded.get(*at).ok_or(Unreadable::Cut)?;
            *at += 1;
            len += usize::from(more);
            if more < 255 {
                break;
            }
        }
    }
    Ok(len)
}

/// The text length of a block according to its tokens; `None` if they are invalid or give more than `most`.
#[cfg(any(test, feature = "cuda", feature = "internals"))]
pub(crate) fn text_len(coded: &[u8], most: usize) -> Option<usize> {
    let (mut at, mut len) = (0, 0);
    loop {
        let sequence = parse(coded, &mut at).ok()?;
        sequence.check(len, most).ok()?;
        len += sequence.text_len();
        if at == coded.len() {
            return Some(len);
        }
    }
}
