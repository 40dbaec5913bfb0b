//! Verifies a coded block of a `.hbz` stream: decodes it and compares the result with the original text.
//!
//! The header and the payload have CRCs of their own, which a reader checks as well. They reveal a wrong bit in either;
//! comparing the text reveals a payload that was wrong before its CRC was computed.

use super::decode::HbzDecoder;
use crate::block::Text;
use crate::codec::mismatch::Mismatch;
use crate::formats::hbz::header::{BlockHeader, StreamHeader};
use std::sync::Arc;

impl HbzDecoder {
    /// Checks that header and payload are the result of encoding `text` as block `number` of a stream.
    pub fn verify(
        &mut self,
        text: &[u8],
        number: u32,
        stream: StreamHeader,
        (header, payload): &mut (BlockHeader, Vec<u8>),
    ) -> Result<(), Mismatch> {
        // Parsed as a reader parses it.
        let header = BlockHeader::parse(&header.write(), &stream, number)?;
        if header.coded_len as usize != payload.len() {
            return Err(Mismatch::Part("length of the payload"));
        }
        let shared = Arc::new(std::mem::take(payload));
        let decoded = self.decode(stream, header, Arc::clone(&shared));
        // This is the only reference to the payload.
        *payload = Arc::try_unwrap(shared).unwrap_or_else(|shared| shared.to_vec());
        let same = match decoded? {
            Text::Compact(compact) => {
                let mut rest = text;
                compact.pieces().all(|piece| rest.split_off(..piece.len()).is_some_and(|same| *same == piece[..]))
                    && rest.is_empty()
            }
            decoded => decoded.plain(&mut Vec::new()) == Some(text),
        };
        if same { Ok(()) } else { Err(Mismatch::Text) }
    }
}
