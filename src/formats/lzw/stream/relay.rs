//! Has the chunks of a stream decoded, one after another: each job begins with the decoder state that the previous one
//! left.
//!
//! The job that finishes a chunk puts the next one on the queue, so no thread waits. A chunk may have more text than
//! may be in memory at one time. Its job then ends early, and another job continues when the joiner has taken the text
//! so far.

use super::tasks::{DECODE_LZW, DecodeLzw};
use crate::error::Error;
use crate::formats::lzw::{Chunk, ChunkDecoder};
use hybz_queue::{Duty, Submitter, TaskError, Ticket};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Some text of a chunk, and the kind of text that follows it.
pub(super) struct ChunkPart {
    pub text: Vec<u8>,
    pub end: End,
}

/// The kind of text after a part.
pub(super) enum End {
    /// The next chunk's text.
    Chunk,
    /// Perhaps more text of this chunk ([`Relay::go_on`]).
    More,
    /// Nothing.
    Failed(Error),
}

/// The state that the two ends of a stream share.
pub(super) struct Relay(Mutex<RelayState>);

struct RelayState {
    /// Present while no job has it.
    decoder: Option<Box<ChunkDecoder>>,
    /// Whether the decoder is in the middle of a chunk and waits for the joiner.
    paused: bool,
    /// The next chunks.
    waiting: VecDeque<(Chunk, Duty<ChunkPart>)>,
}

impl Relay {
    pub fn new() -> Arc<Relay> {
        let (decoder, waiting) = (Some(Box::default()), VecDeque::new());
        Arc::new(Relay(Mutex::new(RelayState { decoder, paused: false, waiting })))
    }

    fn state(&self) -> MutexGuard<'_, RelayState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has a chunk decoded once those before it are.
    pub fn add(self: &Arc<Self>, chunk: Chunk, submitter: &Submitter) -> Ticket<ChunkPart> {
        let (duty, ticket) = Ticket::with_duty();
        self.state().waiting.push_back((chunk, duty));
        self.next(submitter);
        ticket
    }

    /// Has more text decoded of the chunk of which a part was taken.
    pub fn go_on(self: &Arc<Self>, submitter: &Submitter) -> Ticket<ChunkPart> {
        let (duty, ticket) = Ticket::with_duty();
        let mut state = self.state();
        state.paused = false;
        let decoder = state.decoder.take();
        drop(state);
        if let Some(decoder) = decoder {
            self.submit(decoder, duty, submitter);
        }
        ticket
    }

    /// Starts the next chunk, if there is one and no job is running.
    fn next(self: &Arc<Self>, submitter: &Submitter) {
        let mut state = self.state();
        if state.paused || state.decoder.is_none() {
            return;
        }
        let Some((chunk, duty)) = state.waiting.pop_front() else { return };
        let Some(mut decoder) = state.decoder.take() else { return };
        drop(state);
        decoder.add(chunk);
        self.submit(decoder, duty, submitter);
    }

    /// Puts a job on the queue. (Not under the lock: without a station, the job is done here.)
    fn submit(self: &Arc<Self>, decoder: Box<ChunkDecoder>, duty: Duty<ChunkPart>, submitter: &Submitter) {
        let (relay, then) = (Arc::clone(self), submitter.clone());
        let bytes = decoder.left().len() as u64;
        let submission = submitter.task(DecodeLzw::new(decoder)).class(DECODE_LZW, bytes);
        submission.submit_then(move |_, decoded, _| match decoded {
            Ok(Some((decoder, text, Ok(())))) => relay.done(decoder, text, duty, &then),
            Ok(Some((_, text, Err(error)))) => duty.fulfil(Ok(ChunkPart { text, end: End::Failed(error) })),
            // The decoder's state is lost with the core that had it.
            Ok(None) => duty.fulfil(Err(TaskError("the decoder of a .Z stream failed".to_owned()))),
            Err(error) => duty.fulfil(Err(error)),
        });
    }

    /// A job has ended.
    fn done(self: &Arc<Self>, decoder: Box<ChunkDecoder>, text: Vec<u8>, duty: Duty<ChunkPart>, submitter: &Submitter) {
        let paused = decoder.is_paused(text.len());
        let complete = decoder.is_last() && !paused;
        let mut state = self.state();
        state.paused = paused;
        state.decoder = (!complete).then_some(decoder);
        drop(state);
        duty.fulfil(Ok(ChunkPart { text, end: if paused { End::More } else { End::Chunk } }));
        self.next(submitter);
    }
}
