//! Work on the blocks of `.hbz` streams, and how a CPU core does it.
//!
//! A block is one job, in either direction, as long as there are as many blocks as stations. A block of more than
//! 2^24 rows is decoded in stages, each of several jobs, so that all stations work on it.

use crate::codec::hbz::decode::{self, Block, FirstColumn, Runs, SegmentStart};
use crate::codec::hbz::encode::{HbzEncoder, Prepared};
use crate::codec::mtf::decode::MtfDecoder;
use crate::error::Damage;
use crate::format::hbz::{BlockHeader, StreamHeader};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// A job of a `.hbz` stream.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum LargeWork {
    /// Code a text as block `number` of a stream.
    Encode {
        /// The text.
        text: Vec<u8>,
        /// Its number, from 0.
        number: u32,
        /// The stream's header.
        stream: StreamHeader,
    },
    /// Decode a block.
    Decode {
        /// Its payload.
        payload: Arc<Vec<u8>>,
        /// Its header.
        header: BlockHeader,
        /// The stream's header.
        stream: StreamHeader,
    },
    /// Stage 1 of decoding: the runs of some segments.
    Runs {
        /// The block.
        block: Arc<Block>,
        /// Which segments.
        segments: Range<usize>,
    },
    /// Stage 2: some segments into the vector.
    Fill {
        /// The block.
        block: Arc<Block>,
        /// Some consecutive segments' runs and places.
        parts: Vec<Arc<(Runs, SegmentStart)>>,
        /// The first one's number.
        first: usize,
        /// The vector, a word for each row.
        vector: Arc<Vec<AtomicU32>>,
    },
    /// Stage 3: the text from some entry points on.
    Walk {
        /// The block.
        block: Arc<Block>,
        /// Which entry points.
        entries: Range<usize>,
        /// The vector, complete.
        vector: Arc<Vec<AtomicU32>>,
        /// Where each byte's rows are.
        first_column: Arc<FirstColumn>,
    },
}

impl LargeWork {
    /// How many bytes go in.
    pub fn bytes_in(&self) -> u64 {
        match self {
            LargeWork::Encode { text, .. } => text.len() as u64,
            LargeWork::Decode { payload, .. } => payload.len() as u64,
            LargeWork::Runs { block, segments } => block.coded_bytes(segments.clone()),
            LargeWork::Fill { .. } | LargeWork::Walk { .. } => 0,
        }
    }
}

/// A block of a `.hbz` stream whose codes are sorted, on its way from the station that sorted them to the one that codes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortedLarge {
    pub(crate) prepared: Prepared,
    /// The last column, and the rows of the entry points.
    pub(crate) column: Vec<u8>,
    pub(crate) entries: Vec<u32>,
}

/// What came of a [`LargeWork`].
#[derive(Debug)]
#[non_exhaustive]
pub enum LargeDone {
    /// A block, coded: its header and its payload.
    Encoded(BlockHeader, Vec<u8>),
    /// A block's text, its CRC right.
    Text(Result<Vec<u8>, Damage>),
    /// The runs of the segments asked for.
    Runs(Result<Vec<Runs>, Damage>),
    /// The segments are in the vector.
    Filled,
    /// The text of the entry points asked for, perturbation still in it, its CRC not yet compared.
    Walked(Result<Vec<u8>, Damage>),
}

impl LargeDone {
    /// How many bytes came out.
    pub fn bytes_out(&self) -> u64 {
        match self {
            LargeDone::Encoded(_, bytes) | LargeDone::Text(Ok(bytes)) | LargeDone::Walked(Ok(bytes)) => {
                bytes.len() as u64
            }
            _ => 0,
        }
    }
}

/// A CPU core's codecs for large blocks, each made when it is first needed. Their memory is that of the largest block so far;
/// it is given back when a job of another kind comes.
#[derive(Debug, Default)]
pub(crate) struct LargeCodecs {
    encoder: Option<HbzEncoder>,
    decoder: Option<decode::HbzDecoder>,
    mtf: Option<MtfDecoder>,
}

impl LargeCodecs {
    /// Codes a block that another station has sorted.
    pub fn finish(&mut self, sorted: &SortedLarge) -> LargeDone {
        self.decoder = None;
        let encoder = self.encoder.get_or_insert_default();
        let (header, payload) = encoder.finish(&sorted.prepared, &sorted.column, &sorted.entries);
        LargeDone::Encoded(header, payload)
    }

    /// Does one job.
    pub fn one(&mut self, work: &LargeWork) -> LargeDone {
        match work {
            LargeWork::Encode { text, number, stream } => {
                self.decoder = None;
                let (header, payload) = self.encoder.get_or_insert_default().encode(text, *number, stream);
                LargeDone::Encoded(header, payload)
            }
            LargeWork::Decode { payload, header, stream } => {
                self.encoder = None;
                let decoder = self.decoder.get_or_insert_default();
                LargeDone::Text(decoder.decode(*stream, *header, Arc::clone(payload)))
            }
            LargeWork::Runs { block, segments } => {
                self.encoder = None;
                self.decoder = None;
                let mtf = self.mtf.get_or_insert_with(decode::segment_mtf);
                LargeDone::Runs(segments.clone().map(|number| block.runs(number, mtf)).collect())
            }
            LargeWork::Fill { block, parts, first, vector } => {
                for (number, part) in (*first..).zip(parts) {
                    block.fill(number, &part.0, &part.1, vector);
                }
                LargeDone::Filled
            }
            LargeWork::Walk { block, entries, vector, first_column } => {
                LargeDone::Walked(block.walk(entries.clone(), vector, first_column))
            }
        }
    }
}
