//! Joins the text of a `.Z` stream.

use super::chunks::IssuedChunk;
use super::relay::{self, ChunkPart, End};
use crate::block::Text;
use crate::error::Error;
use crate::stream::piece::{Join, Pieces, Step};
use crate::summary::{Mark, StreamFormat, StreamSummary};
use hybz_queue::Permit;
use std::sync::Arc;

/// Hands the texts on.
pub(super) struct Texts {
    relay: relay::Chunks,
    /// The permit of the chunk whose last text is being written.
    held: Option<Permit>,
    /// The error that follows the text handed on so far.
    failed: Option<Error>,
    summary: StreamSummary,
}

impl Texts {
    pub fn new(relay: &relay::Chunks) -> Texts {
        let (held, failed, summary) = Default::default();
        Texts { relay: Arc::clone(relay), held, failed, summary }
    }

    /// Ends the stream.
    fn end(&mut self) -> Step {
        self.summary.streams = 1;
        let end = self.summary.bytes_in;
        let info = self.summary.stream(StreamFormat::Lzw, end, end);
        Step::Out(Text::Plain(Vec::new()), Some(Mark::Stream(info)))
    }
}

impl Join for Texts {
    type Issued = IssuedChunk;

    fn step(&mut self, pieces: &mut Pieces<Self::Issued>, wait: bool) -> Result<Step, Error> {
        self.held = None;
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        loop {
            let Some(chunk) = pieces.held.front_mut() else {
                return Ok(match self.summary.streams {
                    _ if !pieces.ended => Step::Need,
                    0 => self.end(),
                    _ => Step::Done,
                });
            };
            let part = match chunk.piece.ticket.take(wait) {
                None => return Ok(Step::Pending),
                Some(Ok(part)) => part,
                Some(Err(error)) => return Err(Error::Internal { block: 1, reason: error.0 }),
            };
            let ChunkPart { text, end } = part;
            match end {
                End::Chunk => {
                    self.summary.bytes_in += chunk.piece.len;
                    self.held = pieces.held.pop_front().and_then(|chunk| chunk.permit);
                }
                End::More(decoder) => {
                    chunk.piece.ticket = relay::go_on(&self.relay, decoder, &chunk.piece.submitter);
                }
                End::Failed(error) if text.is_empty() => return Err(error),
                End::Failed(error) => self.failed = Some(error),
            }
            if !text.is_empty() {
                return Ok(Step::Out(Text::Plain(text), None));
            }
            self.held = None;
        }
    }

    fn summary(&self) -> StreamSummary {
        self.summary
    }
}
