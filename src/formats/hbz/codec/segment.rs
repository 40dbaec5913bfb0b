//! Stage 1 of decoding: the segments of the last column become runs.

use super::ans::{byte, class, extra};
use super::payload::{PayloadBlock, SEGMENT, SegmentSpan, Tables};
use super::token::CLASSES;
use crate::bits::reader::BitReader;
use crate::codec::mtf::decode::MtfDecoder;
use crate::flaw::Flaw;
use crate::formats::hbz::header::{GROUP, SELECTOR_STATES, TOKEN_STATES, check};

/// The first symbol that takes two bytes in the form that `mtf` reads.
const ESCAPE: u32 = 255;
/// The number of groups decoded before their symbols go to `mtf`: few enough to stay in the L1 cache.
const GROUPS_AT_ONCE: usize = 48;
/// The max number of bytes of the symbols of these groups.
const SYMBOL_BYTES: usize = GROUPS_AT_ONCE * GROUP * 2;

/// The runs of one segment. Their bytes are given as positions in the segment's first move-to-front list, which is not
/// known yet.
#[derive(Debug)]
pub struct Runs {
    /// The start of each run, shifted left by 8, and its position in the list. The last word only gives the end of the
    /// last run.
    pub(super) runs: Vec<u32>,
    /// The number of rows by position in the first list.
    pub(super) counts: [u32; 256],
    /// The list at the end of the segment, as positions in the first list.
    pub(super) list: [u8; 256],
}

/// A decoder with the memory that [`PayloadBlock::runs`] needs.
pub fn segment_mtf() -> MtfDecoder {
    MtfDecoder::new(SEGMENT)
}

impl PayloadBlock {
    /// Stage 1: decodes segment `number` into its runs.
    pub fn runs(&self, number: usize, mtf: &mut MtfDecoder) -> Result<Runs, Flaw> {
        let span = &self.segments[number];
        let rows = SEGMENT.min(self.header.rows as usize - number * SEGMENT);
        mtf.begin(&std::array::from_fn::<u8, 256, _>(|place| place as u8), rows as u32);
        let mut tokens = TokenDecoder::new(self, span);
        let mut symbols = [0; SYMBOL_BYTES];
        while tokens.left > 0 {
            let len = tokens.decode_groups(&mut symbols);
            if tokens.bits.position() > span.bytes.len() as u64 * 8 {
                return Err(Flaw::Code);
            }
            mtf.push(&symbols[..len]).map_err(|_| Flaw::BlockTooLong)?;
        }
        let (runs, len) = mtf.finish();
        check("rows of a segment", len == rows)?;
        check("end of a segment", tokens.is_at_end())?;
        let mut counts = [0; 256];
        for pair in runs.windows(2) {
            counts[usize::from(pair[0] as u8)] += (pair[1] >> 8) - (pair[0] >> 8);
        }
        Ok(Runs { runs: runs.to_vec(), counts, list: *mtf.list() })
    }
}

/// Decodes the tokens of a segment into symbols.
struct TokenDecoder<'a> {
    tables: &'a Tables,
    bits: BitReader<'a>,
    /// The states for tokens at even and at odd positions of a group.
    states: [usize; 2],
    selector_state: usize,
    /// The last selector.
    selector: usize,
    /// The class of the last token.
    class: usize,
    /// The number of tokens not decoded yet.
    left: usize,
}

impl<'a> TokenDecoder<'a> {
    fn new(block: &'a PayloadBlock, span: &SegmentSpan) -> Self {
        let mut bits = BitReader::new(&block.payload[span.bytes.clone()], 0);
        let states = [bits.read(TOKEN_STATES.ilog2()) as usize, bits.read(TOKEN_STATES.ilog2()) as usize];
        let selector_state = bits.read(SELECTOR_STATES.ilog2()) as usize;
        let (tables, left) = (block.tables(), span.tokens);
        TokenDecoder { tables, bits, states, selector_state, selector: 0, class: 0, left }
    }

    /// Whether the states are those at which a segment must end.
    fn is_at_end(&self) -> bool {
        self.states == [0, 0] && self.selector_state == 0
    }

    /// Decodes the next groups, and returns the number of bytes of their symbols.
    #[inline(always)]
    fn decode_groups(&mut self, symbols: &mut [u8; SYMBOL_BYTES]) -> usize {
        let mut len = 0;
        for _ in 0..GROUPS_AT_ONCE.min(self.left.div_ceil(GROUP)) {
            self.decode_group(symbols, &mut len);
        }
        len
    }

    /// Decodes the next group and writes its symbols from `symbols[*len]` on.
    #[inline(always)]
    fn decode_group(&mut self, symbols: &mut [u8; SYMBOL_BYTES], len: &mut usize) {
        let Tables { tokens, selectors } = self.tables;
        let bits = &mut self.bits;
        bits.refill();
        self.selector = byte(selectors.decode(self.selector, &mut self.selector_state, bits)).into();
        let first_table = self.selector * CLASSES;
        let group = self.left.min(GROUP);
        self.left -= group;
        let [mut even, mut odd] = self.states;
        let mut last_class = self.class;
        let mut decode = |state: &mut usize, bits: &mut BitReader<'_>| {
            let entry = tokens.decode(first_table + last_class, state, bits);
            last_class = class(entry);
            *len += write_symbol(entry, bits, &mut symbols[*len..]);
        };
        let mut done = 0;
        while done < group {
            bits.refill();
            decode(&mut even, bits);
            if done + 1 < group {
                decode(&mut odd, bits);
            }
            done += 2;
        }
        (self.states, self.class) = ([even, odd], last_class);
    }
}

/// Writes the symbol of an entry in the form that `mtf` reads, and returns its number of bytes. Reads at most 6 bits.
#[inline(always)]
fn write_symbol(entry: u32, bits: &mut BitReader<'_>, out: &mut [u8]) -> usize {
    let count = extra(entry);
    if count == 0 {
        out[0] = byte(entry);
        return 1;
    }
    let symbol = u32::from(byte(entry)) + bits.read(count);
    out[0] = symbol.min(ESCAPE) as u8;
    // Symbol 257 does not exist. It is taken for rank 255, and the check is left to the block's CRC.
    out[1] = symbol.saturating_sub(ESCAPE).min(1) as u8;
    if symbol < ESCAPE { 1 } else { 2 }
}
