//! Submits the chunks of a stream one after another: each job begins with the decoder that the previous job left.
//!
//! A chunk may have more text than may be in memory at one time. Its job then ends early, and the joiner gets the
//! decoder with the text so far. When it has taken that text, another job continues.

use super::tasks::{DECODE_LZW, DecodeLzw};
use crate::error::Error;
use crate::formats::lzw::{Chunk, ChunkDecoder};
use crate::stream::relay::Relay;
use hybz_queue::{Duty, Submitter, TaskError, Ticket};
use std::sync::Arc;

/// The jobs of one stream.
pub(super) type Chunks = Arc<Relay<Box<ChunkDecoder>>>;

/// Some text of a chunk, and the kind of text that follows it.
pub(super) struct ChunkPart {
    pub text: Vec<u8>,
    pub end: End,
}

/// The kind of text after a part.
pub(super) enum End {
    /// The next chunk's text.
    Chunk,
    /// Perhaps more text of this chunk ([`go_on`]).
    More(Box<ChunkDecoder>),
    /// Nothing.
    Failed(Error),
}

/// Makes a station decode a chunk once the chunks before it are decoded.
pub(super) fn add(chunks: &Chunks, chunk: Chunk, submitter: &Submitter) -> Ticket<ChunkPart> {
    let (duty, ticket) = Ticket::with_duty();
    let submitter = submitter.clone();
    chunks.add(move |chunks, mut decoder| {
        decoder.add(chunk);
        submit(chunks, decoder, duty, &submitter);
    });
    ticket
}

/// Makes a station decode more text of a chunk, after a part of it was taken.
pub(super) fn go_on(chunks: &Chunks, decoder: Box<ChunkDecoder>, submitter: &Submitter) -> Ticket<ChunkPart> {
    let (duty, ticket) = Ticket::with_duty();
    submit(Arc::clone(chunks), decoder, duty, submitter);
    ticket
}

/// Puts a job on the queue.
fn submit(chunks: Chunks, decoder: Box<ChunkDecoder>, duty: Duty<ChunkPart>, submitter: &Submitter) {
    let bytes = decoder.left().len() as u64;
    let submission = submitter.task(DecodeLzw::new(decoder)).class(DECODE_LZW, bytes);
    submission.submit_then(move |_, decoded, _| match decoded {
        Ok(Some((decoder, text, Ok(())))) if decoder.is_paused(text.len()) => {
            duty.fulfil(Ok(ChunkPart { text, end: End::More(decoder) }));
        }
        Ok(Some((decoder, text, Ok(())))) => {
            duty.fulfil(Ok(ChunkPart { text, end: End::Chunk }));
            if !decoder.is_last() {
                chunks.pass(decoder);
            }
        }
        Ok(Some((_, text, Err(error)))) => duty.fulfil(Ok(ChunkPart { text, end: End::Failed(error) })),
        // The decoder's state is lost with the core that had it.
        Ok(None) => duty.fulfil(Err(TaskError("the decoder of a .Z stream failed".to_owned()))),
        Err(error) => duty.fulfil(Err(error)),
    });
}
