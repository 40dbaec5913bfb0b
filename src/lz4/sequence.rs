//! The sequences of a block, as they are parsed.

use std::fmt;

/// Why the bytes of a block cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unreadable {
    /// They end in the middle of a sequence.
    Cut,
    /// A match has the offset 0, or begins before the text.
    Offset,
    /// There is more text than a block may have.
    TooLong,
    /// The places that an index names are not where groups begin.
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

/// Literals, and a match behind them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sequence {
    /// Where the literals are in the block's bytes, and how many.
    pub literals: usize,
    pub literals_len: usize,
    /// How far back the match begins; the last sequence has none, and a match of no bytes.
    pub offset: usize,
    pub match_len: usize,
}

impl Sequence {
    /// How much text it is.
    pub fn text_len(&self) -> usize {
        self.literals_len + self.match_len
    }

    /// Whether it can stand at this place of a text of which `room` is the end.
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

/// The sequence at `at`, which moves behind it. It is the block's last if `at` is the end of `coded` then.
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
    // A match that nothing follows: the last sequence must have literals only.
    if *at == coded.len() {
        return Err(Unreadable::Cut);
    }
    Ok(Sequence { literals, literals_len, offset: u16::from_le_bytes([low, high]).into(), match_len })
}

/// A length of which a token has four bits.
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

/// How much text the bytes of a block are, as far as their tokens say; `None` if they make no sense, or it is more than
/// `most`.
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
