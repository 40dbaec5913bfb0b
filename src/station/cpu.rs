//! One CPU core as a station: one block at a time through the codec.

use super::stages;
use crate::block::{CodedBlock, DecodedBlock};
use crate::codec::bwt::forward::LastColumn;
use crate::codec::bwt::periodic::PeriodicOrigins;
use crate::codec::decoder::Decoder;
use crate::codec::encoder::Encoder;
use crate::codec::hbz::decode::{Block, HbzDecoder, Vectors, segment_mtf};
use crate::codec::hbz::encode::HbzEncoder;
use crate::codec::mtf::decode::MtfDecoder;
use crate::error::DecodeError;
use crate::format::bzip2::Level;
use crate::format::hbz::BlockHeader;
use crate::schedule::{Job, Station, StationError};
use crate::work::{BlockJob, DecodeBlock, DecodeLarge, EncodeBlock, EncodeLarge, Rows, WalkEntries};
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

/// The codecs for large blocks. The encoder's memory is that of the largest block so far; it is given back when a job
/// of another kind comes.
struct LargeCodecs {
    encoder: Option<HbzEncoder>,
    decoder: Option<HbzDecoder>,
    mtf: Option<MtfDecoder>,
    vectors: Arc<Vectors>,
}

impl CpuStation {
    /// The station `cpu <number>`. Stations of one pool share what they learn about periodic blocks, and their vectors.
    pub fn new(number: usize, origins: Arc<PeriodicOrigins>, vectors: Arc<Vectors>) -> Self {
        let large = LargeCodecs { encoder: None, decoder: None, mtf: None, vectors };
        CpuStation { number, origins, encoder: None, decoder: None, large, column: Vec::new() }
    }

    /// Codes one block.
    pub fn encode(&mut self, block: &EncodeBlock) -> CodedBlock {
        let encoder = self.encoder.get_or_insert_with(|| Box::new(Encoder::with_memo(Arc::clone(&self.origins))));
        match block {
            EncodeBlock::Text(text) => encoder.encode(text),
            EncodeBlock::Sorted(sorted) => {
                let last = match &sorted.rows {
                    Rows::Column(column) => LastColumn { bytes: column, origin: sorted.origin },
                    Rows::Thirds(thirds) => {
                        let origin = thirds.merge(sorted.origin, &mut self.column);
                        LastColumn { bytes: &self.column, origin }
                    }
                };
                encoder.finish(last, sorted.crc, sorted.text_len)
            }
        }
    }

    /// Decodes one block.
    pub fn decode(&mut self, block: &DecodeBlock) -> Result<DecodedBlock, DecodeError> {
        // The level is not known yet; the joiner checks the block against it.
        let limit = Level::BEST.block_limit();
        self.decoder.get_or_insert_default().decode(&block.data, block.start, block.end, limit)
    }

    fn one(&mut self, job: &mut BlockJob) {
        match job {
            BlockJob::Encode(job) => {
                let block = self.encode(job.question());
                job.answer(block);
            }
            BlockJob::Decode(job) => {
                let block = self.decode(job.question());
                job.answer(block);
            }
            BlockJob::EncodeLarge(job) => {
                let block = self.large.encode(job.question());
                job.answer(block);
            }
            BlockJob::DecodeLarge(job) => self.large.decode(job),
            BlockJob::Runs(job) => {
                let mtf = self.large.for_segments();
                let question = job.question();
                let runs = question.segments.clone().map(|number| question.block.runs(number, mtf)).collect();
                job.answer(runs);
            }
            BlockJob::Fill(job) => {
                let question = job.question();
                for (number, part) in (question.first..).zip(&question.parts) {
                    question.block.fill(number, &part.0, &part.1, &question.vector);
                }
                job.answer(());
            }
            BlockJob::Walk(job) => {
                let WalkEntries { block, entries, vector, first_column, number, lens } = job.question();
                let text = block.walk(entries.clone(), vector, first_column, lens.of(*number));
                job.answer(text);
            }
        }
    }
}

impl LargeCodecs {
    /// Codes a block.
    pub fn encode(&mut self, block: &EncodeLarge) -> (BlockHeader, Vec<u8>) {
        let encoder = self.encoder.get_or_insert_default();
        match block {
            EncodeLarge::Text { text, number, stream } => encoder.encode(text, *number, stream),
            EncodeLarge::Sorted(sorted) => encoder.finish(&sorted.prepared, &sorted.column, &sorted.entries),
        }
    }

    /// Decodes a block, or puts the jobs of its first stage on the queue.
    fn decode(&mut self, job: &mut Job<DecodeLarge>) {
        self.encoder = None;
        let DecodeLarge { payload, header, stream, stages } = job.question();
        let Some(submitter) = stages.clone() else {
            let vectors = &self.vectors;
            let decoder = self.decoder.get_or_insert_with(|| HbzDecoder::with_vectors(Arc::clone(vectors)));
            return job.answer(decoder.decode(*stream, *header, Arc::clone(payload)));
        };
        match Block::parse(*stream, *header, Arc::clone(payload)) {
            Ok(block) => {
                if let Some(reply) = job.defer() {
                    stages::start(block, submitter, Arc::clone(&self.vectors), reply);
                }
            }
            Err(damage) => job.answer(Err(damage)),
        }
    }

    /// What stage 1 needs.
    fn for_segments(&mut self) -> &mut MtfDecoder {
        self.encoder = None;
        self.mtf.get_or_insert_with(segment_mtf)
    }
}

impl Station<BlockJob> for CpuStation {
    fn name(&self) -> String {
        format!("cpu {}", self.number)
    }

    fn work(&mut self, batch: &mut [BlockJob]) -> Result<(), StationError> {
        batch.iter_mut().for_each(|job| self.one(job));
        Ok(())
    }
}
