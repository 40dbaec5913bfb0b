//! One CPU core as a station: one block at a time through the codec.

use super::stages;
use crate::block::{CodedBlock, DecodedBlock};
use crate::codec::Proof;
use crate::codec::bwt::forward::LastColumn;
use crate::codec::bwt::periodic::PeriodicOrigins;
use crate::codec::decoder::Decoder;
use crate::codec::encoder::Encoder;
use crate::codec::hbz::decode::{Block, HbzDecoder, Vectors, segment_mtf};
use crate::codec::hbz::encode::HbzEncoder;
use crate::codec::mismatch::Mismatch;
use crate::codec::mtf::decode::MtfDecoder;
use crate::error::DecodeError;
use crate::format::bzip2::Level;
use crate::format::hbz::BlockHeader;
use crate::lz4;
use crate::schedule::{Job, Station, StationError};
use crate::work::{
    BlockJob, DecodeBlock, DecodeLarge, EncodeBlock, EncodeLarge, RecodeLarge, Rows, VerifyBlock, VerifyLarge,
    WalkEntries,
};
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

    /// Whether a block that another station has coded is right.
    fn verify(&mut self, question: &VerifyBlock) -> Result<(), Mismatch> {
        let VerifyBlock { text, block } = question;
        match self.decoder.get_or_insert_default().verify(block, text)? {
            Proof::Whole => Ok(()),
            // Only bzip2's sort says which of several origins is bzip2's.
            Proof::ButOrigin if self.encode(&EncodeBlock::Text(text.clone())) == *block => Ok(()),
            Proof::ButOrigin => Err(Mismatch::Part("origin")),
        }
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
            BlockJob::Recode(job) => {
                // What this station's own codec holds may be what was wrong.
                let block = Encoder::new().encode(&job.question().0);
                job.answer(block);
            }
            BlockJob::Verify(job) => {
                let verdict = self.verify(job.question());
                let block = std::mem::take(&mut job.question_mut().block);
                job.answer((block, verdict));
            }
            BlockJob::RecodeLarge(job) => {
                let RecodeLarge { text, number, stream } = job.question();
                let coded = HbzEncoder::default().encode(text, *number, stream);
                job.answer(coded);
            }
            BlockJob::VerifyLarge(job) => self.large.verify(job),
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
            BlockJob::EncodeLz4(job) => {
                let coded = lz4::block::encode(&job.question().text, job.question().frame);
                job.answer(coded);
            }
            BlockJob::DecodeLz4(job) => {
                let decoded = job.question().blocks.decode(&job.question().history);
                job.answer(decoded);
            }
            BlockJob::DecodeLzw(job) => {
                let decoder = job.question_mut().0.take();
                job.answer(decoder.map(|mut decoder| {
                    let (text, decoded) = decoder.decode();
                    (decoder, text, decoded)
                }));
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
        let decoder = self.decoder();
        let DecodeLarge { payload, header, stream, stages } = job.question();
        let Some(submitter) = stages.clone() else {
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

    /// Decodes a block that another station has coded, on this core alone.
    fn verify(&mut self, job: &mut Job<VerifyLarge>) {
        let VerifyLarge { text, number, stream, coded: (header, payload) } = job.question_mut();
        let (text, number, stream, header) = (Arc::clone(text), *number, *stream, *header);
        let payload = std::mem::take(payload);
        let (payload, verdict) = self.decoder().verify(&text, number, stream, header, payload);
        job.answer(((header, payload), verdict));
    }

    /// The decoder. The encoder's memory is given back for it.
    fn decoder(&mut self) -> &mut HbzDecoder {
        self.encoder = None;
        let vectors = &self.vectors;
        self.decoder.get_or_insert_with(|| HbzDecoder::with_vectors(Arc::clone(vectors)))
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
