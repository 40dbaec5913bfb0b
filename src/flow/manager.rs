//! All inputs through the pool: the manager's thread reads them while the caller's thread writes (`writing`).

use super::here::run_here;
use super::input::{Input, Inputs, Outputs, open};
use super::reading::read_all;
use super::writing::{Begun, write_all};
use crate::stream::piece::BlockOptions;
use crossbeam_channel::{Sender, bounded};
use hybz_queue::Pool;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The maximum number of inputs between the manager and the writer: it bounds the number of small files in flight.
/// (Blocks are bounded by the memory budget.) The channel allocates all of its slots at the start, so it holds boxes,
/// which saves 1.3 MB.
const MAX_INPUTS: usize = 4096;

/// The maximum number for each core, if there are no accelerators, which take hundreds of blocks at once. Without this
/// bound, a call for 2,000 files of 10 kB took 1.02 times as long on two cores: it touched 8 MB more.
const INPUTS_PER_CORE: usize = 256;

/// Runs all inputs through the pool. Returns when every output has been taken; after the first `Break` returns
/// immediately, without waiting for a manager that may still be reading.
pub fn run<I: Inputs, O: Outputs<Meta = I::Meta>>(pool: &Pool, inputs: I, outputs: &mut O) {
    let most = if pool.has_accelerators() { MAX_INPUTS } else { INPUTS_PER_CORE * pool.cores().max(1) };
    let (begun, taken) = bounded(most.min(MAX_INPUTS));
    // The thread takes the inputs out of this cell; if it cannot be started they are still in it.
    let inputs = Arc::new(Mutex::new(Some(inputs)));
    let manager = {
        let (pool, inputs) = (pool.clone(), Arc::clone(&inputs));
        thread::Builder::new().name("hybz manager".to_owned()).spawn(move || {
            let inputs = inputs.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(inputs) = inputs {
                manage(&pool, inputs, &begun);
            }
        })
    };
    match manager {
        Ok(_) => {
            let _ = write_all(&taken, outputs);
        }
        Err(_) => {
            if let Some(inputs) = inputs.lock().unwrap_or_else(PoisonError::into_inner).take() {
                run_here(pool, inputs, outputs);
            }
        }
    }
}

/// The manager's thread.
fn manage<I: Inputs>(pool: &Pool, mut inputs: I, begun: &Sender<Box<Begun<I::Meta>>>) {
    let all = pool.client();
    let _reading = pool.reading(inputs.expected_bytes());
    while let Some(Input { meta, task, count_lines, verify, source }) = inputs.next_input() {
        let client = all.sibling();
        let begin = |collect| {
            let submitter = client.submitter().clone();
            begun.send(Box::new(Begun { meta, collect, submitter })).is_ok()
        };
        let is_wanted = match open(pool, task, BlockOptions { count_lines, verify }) {
            Some((mut feed, collect)) => {
                begin(Some(collect)) && {
                    let end = read_all(source, &mut *feed, &client);
                    feed.end(end);
                    true
                }
            }
            None => begin(None),
        };
        if !is_wanted {
            return;
        }
        // The writer cancels the input's jobs when it is done with the input.
        client.detach();
    }
}
