//! Verifies a coded block of a `.bz2` stream: decodes it and compares the result with the original text.
//!
//! The text is compared byte by byte, because the caller still has it, to code it again if need be. Comparing length
//! and CRC alone would miss one wrong block in four billion, and take as long. The decoded block is compared before its
//! run lengths are decoded (`run_length::form`); of text that is passed on run-length-coded, the CRC that was computed
//! when it was read is compared, too. The decoder shares no code with the encoder. Verification does not tell whether
//! bzip2 would have chosen the same tables: only coding again would.
//!
//! The decoded text does not depend on all bits of a block, so some are checked separately. The runs must be cut where
//! bzip2 cuts them (300 zeros are 255 and 45; their rotation, 45 and 255, is the same text). A block that is so short
//! that randomising would not change it must not claim to be randomised. Each table must be complete, as Huffman's
//! are: the text does not confirm the length of a code that is not used, but each bit of a table changes its Kraft
//! sum, or the position of everything after it. The codes must end with the block. What remains is the origin of a
//! periodic block, whose rotations tie: any of several rows gives the text, and one is bzip2's. [`Proof::ButOrigin`]
//! marks this case, in which only coding again can tell.
//!
//! Unlike decoding, verification writes no text for a consumer, and reuses its memory. By samples of a whole process
//! (one core, dickens), verification took 0.22 of the time of coding, 3/4 of it for the inverse BWT and the codes;
//! coding then took longer by 0.02 to 0.03 of its time, because its caches had been overwritten. Comparing blocks
//! before run lengths are decoded made the whole 1.06 times as fast (linux 1.02).

use super::decoder::Decoder;
use super::header::Bz2BlockHeader;
use super::mismatch::Mismatch;
use super::run_length::decode::decode_text;
use super::run_length::form::is_form_of;
use crate::bits::{BitSource, SliceBits};
use crate::block::{CodedBlock, SharedBytes, Text};
use crate::crc;
use crate::formats::bzip2::header::{MAX_BLOCK, MAX_CODE, MAX_WRITTEN_CODE};

/// How much of a block was verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// All of it.
    Whole,
    /// Everything but the origin, because the block is periodic.
    ButOrigin,
}

/// Properties of a decoded block.
struct DecodedParts {
    /// The bit at which the block's codes end.
    end_bit: u64,
    /// Its length before run-length decoding.
    block_len: u32,
    crc: u32,
    proof: Proof,
}

/// Checks what the text does not confirm.
fn check_parts(
    header: &Bz2BlockHeader,
    block: &CodedBlock,
    text_len: u64,
    found: &DecodedParts,
) -> Result<(), Mismatch> {
    let part = |name, right: bool| if right { Ok(()) } else { Err(Mismatch::Part(name)) };
    part("CRC", found.crc == header.crc && found.crc == block.crc)?;
    part("length", found.end_bit == block.bit_len && block.text_len == text_len)?;
    part("length before run-length decoding", found.block_len == block.block_len)?;
    part("mark of randomised blocks", !header.randomised)?;
    let symbols = header.alphabet();
    let complete = header.lengths[..header.tables].iter().all(|table| is_complete(&table[..symbols]));
    part("table of code lengths", complete)
}

/// Checks all of a block but its codes, whose meaning a device has proven: they must stand for the run-length-coded
/// form, of `len` bytes, of a text with this CRC and length. Reads the header, and returns the first bit of the codes.
///
/// # Errors
/// The mismatch.
pub fn verify_head(
    header: &mut Bz2BlockHeader,
    block: &CodedBlock,
    crc: u32,
    text_len: u64,
    len: usize,
) -> Result<u64, Mismatch> {
    let mut bits = SliceBits::new(&block.bytes, 0, block.bit_len);
    header.read(&mut bits, MAX_BLOCK as u32)?;
    let (end_bit, block_len) = (block.bit_len, len as u32);
    check_parts(header, block, text_len, &DecodedParts { end_bit, block_len, crc, proof: Proof::Whole })?;
    Ok(bits.position())
}

impl Decoder {
    /// Verifies that `block` is the result of encoding `text`.
    ///
    /// # Errors
    /// The mismatch.
    pub fn verify(&mut self, block: &CodedBlock, text: &Text) -> Result<Proof, Mismatch> {
        let limit = MAX_BLOCK as u32;
        let found = match self.open(&block.bytes, 0, block.bit_len, limit) {
            Ok((rows, end_bit)) => {
                let (crc, only) = self.compare(text, rows)?;
                let proof = if only && self.bwt.is_one_cycle() { Proof::Whole } else { Proof::ButOrigin };
                DecodedParts { end_bit, block_len: rows as u32, crc, proof }
            }
            // The reference decoder has the last word here too.
            Err(_) => {
                let mut bits = SliceBits::new(&block.bytes, 0, block.bit_len);
                let decoded = self.decode_reference(&mut bits, limit)?;
                right(is_same(&decoded.text, text))?;
                self.header.read(&mut SliceBits::new(&block.bytes, 0, block.bit_len), limit)?;
                let (end_bit, block_len, crc) = (decoded.end_bit, decoded.block_len, decoded.crc);
                DecodedParts { end_bit, block_len, crc, proof: Proof::ButOrigin }
            }
        };
        check_parts(&self.header, block, text.len(), &found)?;
        Ok(found.proof)
    }

    /// Compares the opened block with its text. Returns the text's CRC, and whether runs are cut as bzip2 cuts them.
    fn compare(&mut self, text: &Text, rows: usize) -> Result<(u32, bool), Mismatch> {
        if let Text::RunLength { .. } = text {
            let (decoded, crc) = decode_text(self.bwt.pieces(), rows)?;
            right(is_same(&decoded, text))?;
            return Ok((crc, matches!(decoded, Text::RunLength { .. })));
        }
        self.coded.clear();
        self.bwt.pieces().for_each(|piece| self.coded.extend_from_slice(piece));
        let plain = text.plain(&mut self.room).ok_or(Mismatch::Text)?;
        // Several ways to cut runs give the same text, but only one is bzip2's.
        right(is_form_of(&self.coded, plain))?;
        Ok((crc::checksum(plain), true))
    }
}

fn right(right: bool) -> Result<(), Mismatch> {
    if right { Ok(()) } else { Err(Mismatch::Text) }
}

/// Whether these bytes are the text.
fn is_text(text: &Text, bytes: &[u8]) -> bool {
    match text {
        Text::Plain(plain) => plain == bytes,
        Text::Parts(parts) => {
            let mut rest = bytes;
            let begins = |part: &SharedBytes| rest.split_off(..part.range.len()).is_some_and(|same| *same == **part);
            parts.iter().all(begins) && rest.is_empty()
        }
        &Text::RunLength { len, crc, .. } => bytes.len() as u64 == len && crc::checksum(bytes) == crc,
        Text::Compact(_) => false, // no block is coded from a compact text
    }
}

/// Whether a decoded text, in whatever form, is the text.
fn is_same(decoded: &Text, text: &Text) -> bool {
    match (decoded, text) {
        (Text::Plain(bytes), text) => is_text(text, bytes),
        (Text::RunLength { coded, len, crc }, Text::RunLength { coded: right, len: right_len, crc: right_crc }) => {
            coded == right && len == right_len && crc == right_crc
        }
        (Text::RunLength { coded, .. }, text) => is_form_of(coded, text.plain(&mut Vec::new()).unwrap_or_default()),
        (Text::Parts(_) | Text::Compact(_), _) => false, // no decoder of blocks returns a compact text
    }
}

/// Whether an encoder could have written a table: Kraft's sum is 1, and no code is longer than 17 bits.
fn is_complete(lengths: &[u8]) -> bool {
    let sum = lengths.iter().map(|&length| 1u64 << (MAX_CODE - length)).sum::<u64>();
    sum == 1 << MAX_CODE && lengths.iter().all(|&length| length <= MAX_WRITTEN_CODE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::encoder::Encoder;
    use hybz_testkit::shapes::{EDGES, SHAPES};
    use std::sync::Arc;

    /// A text in every form that stations pass to each other.
    fn forms(text: &[u8]) -> Vec<Text> {
        let bytes = Arc::new(text.to_vec());
        let part = |range| SharedBytes { bytes: Arc::clone(&bytes), range };
        let half = text.len() / 2;
        let mut coded = Vec::new();
        crate::codec::run_length::encode(text, &mut coded);
        vec![
            Text::Plain(text.to_vec()),
            Text::Parts(vec![part(0..half), part(half..text.len())]),
            Text::RunLength { coded, len: text.len() as u64, crc: crc::checksum(text) },
        ]
    }

    fn texts() -> impl Iterator<Item = Vec<u8>> {
        let edges = EDGES.iter().map(|edge| (edge.make)()).filter(|text| !text.is_empty() && text.len() < 600_000);
        edges.chain(SHAPES.iter().flat_map(|shape| [40, 700, 30_000].map(|len| (shape.make)(len))))
    }

    #[test]
    fn what_encoders_make_is_right() {
        let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new());
        let mut whole = 0;
        for text in texts() {
            for text in forms(&text) {
                let block = encoder.encode(&text);
                let proof = decoder.verify(&block, &text);
                assert!(proof.is_ok(), "{proof:?}: {} bytes", text.len());
                whole += usize::from(proof == Ok(Proof::Whole));
            }
        }
        assert!(whole > 100, "{whole}");
        assert_eq!(decoder.fallbacks(), 0);
    }

    /// 46 MB of zeros, and a plain text slightly longer than those that decoders return.
    #[test]
    fn long_texts() {
        let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new());
        let zeros = forms(&vec![0; 255 * 100_000]).pop().unwrap();
        let block = encoder.encode(&zeros);
        assert_eq!(decoder.verify(&block, &zeros), Ok(Proof::ButOrigin));
        let Text::RunLength { coded, len, crc } = zeros else { unreachable!() };
        for (len, crc) in [(len - 1, crc), (len, crc ^ 1)] {
            let other = Text::RunLength { coded: coded.clone(), len, crc };
            assert!(decoder.verify(&block, &other).is_err());
        }
        let mut long = vec![7; crate::block::MAX_PLAIN_TEXT + 300];
        long.extend(b"and an end");
        let block = encoder.encode(&Text::Plain(long.clone()));
        assert!(decoder.verify(&block, &Text::Plain(long.clone())).is_ok());
        for at in [0, long.len() / 2, long.len() - 1] {
            let mut other = long.clone();
            other[at] ^= 1;
            assert_eq!(decoder.verify(&block, &Text::Plain(other)), Err(Mismatch::Text));
        }
        long.pop();
        assert!(decoder.verify(&block, &Text::Plain(long)).is_err());
    }

    /// Each bit of small blocks, and of the head, the end and a part of the codes of larger ones.
    #[test]
    fn each_flipped_bit_is_found() {
        let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new());
        for shape in SHAPES {
            for len in [7, 300, 20_000] {
                let text = Text::Plain((shape.make)(len));
                let block = encoder.encode(&text);
                let whole = decoder.verify(&block, &text) == Ok(Proof::Whole);
                let step = if len < 1000 { 1 } else { 97 };
                let bits = (0..block.bit_len).filter(|bit| bit % step == 0 || *bit < 600 || *bit > block.bit_len - 50);
                for bit in bits {
                    let mut flipped = block.clone();
                    flipped.bytes[bit as usize / 8] ^= 0x80 >> (bit % 8);
                    let proof = decoder.verify(&flipped, &text);
                    let found = proof.is_err() || (!whole && proof == Ok(Proof::ButOrigin));
                    assert!(found, "{}, {len} bytes: bit {bit} of {}", shape.name, block.bit_len);
                }
            }
        }
    }

    /// The fields of a block that are not part of its bits.
    #[test]
    fn other_facts_are_found() {
        let (text, mut decoder) = (Text::Plain(b"to be or not to be".to_vec()), Decoder::new());
        let block = Encoder::new().encode(&text);
        assert_eq!(decoder.verify(&block, &text), Ok(Proof::Whole));
        for (change, part) in [
            (Box::new(|block: &mut CodedBlock| block.crc ^= 1) as Box<dyn Fn(&mut CodedBlock)>, "CRC"),
            (Box::new(|block| block.text_len += 1), "length"),
            (Box::new(|block| block.block_len -= 1), "length before run-length decoding"),
        ] {
            let mut other = block.clone();
            change(&mut other);
            assert_eq!(decoder.verify(&other, &text), Err(Mismatch::Part(part)));
        }
        for bits in [1, 8, 100] {
            let mut shorter = block.clone();
            shorter.bit_len -= bits;
            assert!(decoder.verify(&shorter, &text).is_err());
            let mut longer = block.clone();
            longer.bytes.extend([0; 16]);
            longer.bit_len += bits;
            assert_eq!(decoder.verify(&longer, &text), Err(Mismatch::Part("length")));
        }
    }
}
