//! Parses the sequences of a block.

/// Passes the sequences of an independent block to `each`: the literals, and the distance and the length of the match
/// after them. (The last sequence has no match: 0 and 0.) Returns the length of the text; `None` if a sequence is
/// invalid, or if the text would exceed `most`.
pub(super) fn sequences<'a>(
    coded: &'a [u8],
    most: usize,
    mut each: impl FnMut(&'a [u8], usize, usize),
) -> Option<usize> {
    let (mut rest, mut len) = (coded, 0);
    loop {
        let token = next(&mut rest)?;
        let literals = length(&mut rest, token >> 4)?;
        let literals = rest.split_off(..literals)?;
        len += literals.len();
        if len > most {
            return None;
        }
        if rest.is_empty() {
            each(literals, 0, 0);
            return Some(len);
        }
        let distance = usize::from(u16::from_le_bytes([next(&mut rest)?, next(&mut rest)?]));
        let match_len = length(&mut rest, token & 15)? + 4;
        // The last sequence must have literals only.
        if rest.is_empty() || distance == 0 || distance > len || match_len > most - len {
            return None;
        }
        each(literals, distance, match_len);
        len += match_len;
    }
}

fn next(rest: &mut &[u8]) -> Option<u8> {
    rest.split_off_first().copied()
}

/// Reads a length that starts with four bits of a token.
fn length(rest: &mut &[u8], bits: u8) -> Option<usize> {
    let mut len = usize::from(bits);
    let mut more = if bits == 15 { u8::MAX } else { 0 };
    while more == u8::MAX {
        more = next(rest)?;
        len += usize::from(more);
    }
    Some(len)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// Decodes a block byte by byte. Returns whether it is valid and its text fills `text`.
    pub fn decode(coded: &[u8], text: &mut [u8]) -> bool {
        let (mut to, room) = (0, text.len());
        let copy = |literals: &[u8], distance: usize, match_len: usize| {
            text[to..][..literals.len()].copy_from_slice(literals);
            to += literals.len();
            for _ in 0..match_len {
                text[to] = text[to - distance];
                to += 1;
            }
        };
        sequences(coded, room, copy) == Some(room)
    }

    /// The text of a block, if it is valid. `lz4_flex` gives the same text if it accepts the block.
    fn text(coded: &[u8], most: usize) -> Option<Vec<u8>> {
        let len = sequences(coded, most, |_, _, _| ())?;
        let mut text = vec![0xaa; len];
        assert!(decode(coded, &mut text));
        if let Ok(theirs) = lz4_flex::block::decompress(coded, most) {
            assert!(text == theirs);
        }
        Some(text)
    }

    /// Blocks made by hand: valid ones that no encoder writes, and every kind of error.
    #[test]
    fn blocks_by_hand() {
        let right: [(&[u8], &[u8]); 6] = [
            (&[0], b""),
            (&[0x20, b'a', b'b'], b"ab"),
            // Matches that overlap themselves, sequences without literals, and continued lengths.
            (&[0x13, b'a', 1, 0, 0x00], b"aaaaaaaa"),
            (&[0x23, b'a', b'!', 2, 0, 0x00], b"a!a!a!a!a"),
            (&[0x10, b'a', 1, 0, 0x00, 5, 0, 0x10, b'x'], b"aaaaaaaaax"),
            (&[0x1f, b'a', 1, 0, 0, 0x00], &[b'a'; 20]),
        ];
        for (coded, expected) in right {
            assert_eq!(text(coded, 100).as_deref(), Some(expected), "{coded:?}");
            assert_eq!(text(coded, expected.len()).as_deref(), Some(expected), "{coded:?}");
            assert!(expected.is_empty() || text(coded, expected.len() - 1).is_none(), "{coded:?}");
        }
        let wrong: [&[u8]; 13] = [
            &[],
            &[0x20, b'a'],
            // Matches that begin before the text.
            &[0x10, b'a', 2, 0, 0x00],
            &[0x10, b'a', 0, 0, 0x00],
            &[0x00, 1, 0, 0x00],
            // A match at the end of the block; truncated distances and lengths.
            &[0x10, b'a', 1, 0],
            &[0x10, b'a', 1],
            &[0x1f, b'a', 1, 0],
            &[0x1f, b'a', 1, 0, 255],
            &[0xf0],
            &[0xf0, 255, 255, 255],
            // Too much text.
            &[0x1f, b'a', 1, 0, 255, 0, 0],
            &[0xf0, 255, 0],
        ];
        for coded in wrong {
            assert_eq!(text(coded, 100), None, "{coded:?}");
        }
    }

    proptest! {
        #[test]
        fn anything(
            coded in vec(prop_oneof![4 => 0..6_u8, 2 => Just(0x11_u8), 1 => any::<u8>()], 0..400),
            most in 0..600_usize,
        ) {
            let _ = text(&coded, most);
        }
    }
}
