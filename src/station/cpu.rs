//! One CPU core as a station: one block at a time through the codec.

use super::large::LargeCodecs;
use super::{Begun, Done, Rows, Station, StationError, Work};
use crate::codec::bwt::forward::LastColumn;
use crate::codec::bwt::periodic::PeriodicOrigins;
use crate::codec::decoder::Decoder;
use crate::codec::encoder::Encoder;
use crate::format::bzip2::Level;
use std::sync::Arc;

/// A CPU core. Its codecs are made when they are first needed, and kept.
pub(crate) struct CpuStation {
    number: usize,
    origins: Arc<PeriodicOrigins>,
    encoder: Option<Box<Encoder>>,
    decoder: Option<Box<Decoder>>,
    large: LargeCodecs,
    /// A merged column.
    column: Vec<u8>,
}

impl CpuStation {
    /// The station `cpu <number>`; stations of one pool share what they learn about periodic blocks.
    pub fn new(number: usize, origins: Arc<PeriodicOrigins>) -> Self {
        let large = LargeCodecs::default();
        CpuStation { number, origins, encoder: None, decoder: None, large, column: Vec::new() }
    }

    /// Does one block.
    pub fn one(&mut self, work: &Work) -> Done {
        match work {
            Work::Compress(text) => {
                let encoder =
                    self.encoder.get_or_insert_with(|| Box::new(Encoder::with_memo(Arc::clone(&self.origins))));
                Done::Coded(encoder.encode(text))
            }
            Work::Finish(Begun::Block(sorted)) => {
                let encoder =
                    self.encoder.get_or_insert_with(|| Box::new(Encoder::with_memo(Arc::clone(&self.origins))));
                let last = match &sorted.rows {
                    Rows::Column(column) => LastColumn { bytes: column, origin: sorted.origin },
                    Rows::Thirds(thirds) => {
                        let origin = thirds.merge(sorted.origin, &mut self.column);
                        LastColumn { bytes: &self.column, origin }
                    }
                };
                Done::Coded(encoder.finish(last, sorted.crc, sorted.text_len))
            }
            Work::Decompress { data, start, end } => {
                // The level is not known yet; `chain` checks the block against it.
                let limit = Level::BEST.block_limit();
                Done::Decoded(self.decoder.get_or_insert_default().decode(data, *start, *end, limit))
            }
            Work::Finish(Begun::Large(sorted)) => Done::Large(self.large.finish(sorted)),
            Work::Large(work) => Done::Large(self.large.one(work)),
        }
    }
}

impl Station for CpuStation {
    fn name(&self) -> String {
        format!("cpu {}", self.number)
    }

    fn work(&mut self, batch: &[Work], reply: &mut dyn FnMut(usize, Done)) -> Result<(), StationError> {
        for (index, work) in batch.iter().enumerate() {
            let done = self.one(work);
            reply(index, done);
        }
        Ok(())
    }
}
