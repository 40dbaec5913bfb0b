//! Blocks whose text is much longer than their rows: a phrase has up to 255 bytes, so 46 kB can stand for 6.4 GB. Such
//! a block is kept as codes, one byte for each row, and its text is made piece by piece: once to check it, and once to
//! write it.

use super::expand::CodeExpander;
use super::payload::PayloadBlock;
use super::text_check::TextCheck;
use crate::block::{Compact, Expand, Text};
use crate::codec::perturb;
use crate::flaw::Flaw;
use std::sync::Arc;

/// A text in the form of codes.
#[derive(Debug)]
struct Codes {
    expander: Arc<CodeExpander>,
    /// The parts in order. Each begins at an entry point.
    parts: Vec<Vec<u8>>,
    /// Codes between entry points.
    interval: usize,
    /// The number of bytes of text between perturbation bytes; 0 if there are none.
    perturbation: usize,
    text_len: u64,
}

/// The text of a compact block, from its codes in order, as [`walk`](PayloadBlock::walk) returned them. Verified here.
pub fn compact(block: &PayloadBlock, parts: Vec<Vec<u8>>) -> Result<Text, Flaw> {
    let codes = Arc::new(Codes {
        expander: Arc::clone(&block.expander),
        parts,
        interval: 1 << block.stream.entry_log,
        perturbation: block.stream.interval as usize,
        text_len: block.header.text_len.into(),
    });
    let mut check = TextCheck::default();
    let mut pieces = Pieces::new(Arc::clone(&codes));
    while let Some(mut piece) = pieces.next_perturbed()? {
        check.add(block, &mut piece);
        if check.perturbed_len() > block.max_perturbed_len() {
            return Err(Flaw::BlockTooLong);
        }
    }
    check.finish(block)?;
    Ok(Text::Compact(Compact(codes)))
}

impl Expand for Codes {
    fn text_len(&self) -> u64 {
        self.text_len
    }

    fn pieces(self: Arc<Self>) -> Box<dyn Iterator<Item = Vec<u8>> + Send + Sync> {
        Box::new(Pieces::new(self))
    }
}

/// The pieces of a text.
struct Pieces {
    codes: Arc<Codes>,
    part: usize,
    /// The next code in the part.
    at: usize,
    /// The number of bytes so far, including perturbation bytes.
    before: u64,
}

impl Pieces {
    fn new(codes: Arc<Codes>) -> Pieces {
        Pieces { codes, part: 0, at: 0, before: 0 }
    }

    /// The next piece, still with perturbation bytes. It may be empty.
    fn next_perturbed(&mut self) -> Result<Option<Vec<u8>>, Flaw> {
        let Codes { expander, parts, interval, .. } = &*self.codes;
        let Some(part) = parts.get(self.part) else { return Ok(None) };
        let end = (self.at / interval + 1).saturating_mul(*interval).min(part.len());
        let (piece, codes) = expander.expand_some(&part[self.at..end]).ok_or(Flaw::BlockTooLong)?;
        self.at += codes;
        if self.at == part.len() {
            (self.part, self.at) = (self.part + 1, 0);
        }
        Ok(Some(piece))
    }
}

impl Iterator for Pieces {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            // All escapes were valid when the text was verified.
            let mut piece = self.next_perturbed().ok()??;
            let len = piece.len() as u64;
            if self.codes.perturbation > 0 {
                perturb::remove(&mut piece, self.codes.perturbation, self.before);
            }
            self.before += len;
            if !piece.is_empty() {
                return Some(piece);
            }
        }
    }
}
