//! Has the blocks of a linked frame decoded, one job after another, because a match may begin in the text of the
//! previous job.
//!
//! A finished job puts the next one on the queue, so no thread waits.

use super::tasks::{DECODE_LZ4, DecodeLz4};
use crate::formats::lz4::block::{Blocks, DecodedBlocks, window};
use hybz_queue::{Duty, Submitter, Ticket};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The jobs of one frame.
pub(super) struct Relay(Mutex<RelayState>);

struct RelayState {
    /// The end of the text so far, while no job is running.
    history: Option<Arc<Vec<u8>>>,
    /// The next blocks.
    waiting: VecDeque<(Blocks, Duty<DecodedBlocks>)>,
}

impl Relay {
    pub fn new() -> Arc<Relay> {
        Arc::new(Relay(Mutex::new(RelayState { history: Some(Arc::default()), waiting: VecDeque::new() })))
    }

    fn state(&self) -> MutexGuard<'_, RelayState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has blocks decoded once those before them are.
    pub fn add(self: &Arc<Self>, blocks: Blocks, submitter: &Submitter) -> Ticket<DecodedBlocks> {
        let (duty, ticket) = Ticket::with_duty();
        self.state().waiting.push_back((blocks, duty));
        self.next(submitter);
        ticket
    }

    /// Starts the next blocks, if there are any and no job is running.
    fn next(self: &Arc<Self>, submitter: &Submitter) {
        let mut state = self.state();
        if state.waiting.is_empty() {
            return;
        }
        let Some(history) = state.history.take() else { return };
        let Some((blocks, duty)) = state.waiting.pop_front() else { return };
        // Not under the lock: without a station, the job is done here.
        drop(state);
        let (relay, then) = (Arc::clone(self), submitter.clone());
        let task = DecodeLz4 { blocks, history };
        let bytes = task.bytes();
        submitter.task(task).class(DECODE_LZ4, bytes).submit_then(move |DecodeLz4 { history, .. }, decoded, _| {
            // After damage no block is decoded: the joiner ends there.
            let good = decoded.as_ref().ok().filter(|decoded| decoded.wrong.is_none());
            relay.state().history = good.map(|decoded| Arc::new(window(&history, &decoded.text)));
            duty.fulfil(decoded);
            relay.next(&then);
        });
    }
}
