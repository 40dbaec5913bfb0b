//! `BZ2_bzCompress`: the same return codes, counters and bytes, call by call.

use crate::library::{Library, Session, ours, theirs, totals};
use crate::{calls, rng, text};
use hybz_testkit::skip::{Need, skip};
use std::ffi::c_int;

/// An action, the length of the input, and that of the output buffer.
type Call = (c_int, usize, usize);

/// What each call returned and left, and the bytes.
type Log = (Vec<(c_int, u32, u32, u64, u64)>, Vec<u8>);

pub fn code(library: &Library, text: &[u8], level: c_int, calls: &[Call]) -> Log {
    let (mut session, mut log, mut at) = (Session::coder(library, level), Vec::new(), 0);
    for &(action, input, room) in calls {
        let (code, taken) = session.call(action, &text[at..][..input.min(text.len() - at)], room);
        at += taken;
        let (all_in, all_out) = totals(&session.stream);
        log.push((code, session.stream.avail_in, session.stream.avail_out, all_in, all_out));
    }
    (log, std::mem::take(&mut session.out))
}

#[test]
fn coding_call_by_call() {
    let Some(theirs) = theirs() else { return skip(Need::Peers, "the system has no libbz2.so.1.0") };
    let ours = ours();
    let mut left = calls();
    let mut rng = rng(27);
    while left > 0 {
        let text = text(&mut rng);
        let actions: &[c_int] = if text.len() < 10_000 { &[0, 0, 0, 0, 0, 0, 1, 2, 3] } else { &[0, 0, 0, 0, 0, 1] };
        // Many calls for each text: what takes time is coding, not calling.
        let most = if rng.below(4) == 0 { 2000 } else { 60 };
        let count = 1 + rng.below(most);
        let inputs: &[usize] =
            if count > 60 { &[0, 1, 2, 50, 300] } else { &[0, 1, 50, 4000, 40_000, 120_000, 900_000] };
        let mut calls: Vec<Call> = (0..count)
            .map(|_| {
                let input = inputs[rng.below(inputs.len())];
                (actions[rng.below(actions.len())], input, [0, 1, 20, 500, 60_000][rng.below(5)])
            })
            .collect();
        calls.extend([(2, 4 << 20, 3_300_000); 3]);
        let level = 1 + rng.below(9) as c_int;
        let (log, bytes) = code(&ours, &text, level, &calls);
        let (wanted, wanted_bytes) = code(&theirs, &text, level, &calls);
        if let Some(at) = (0..wanted.len()).find(|&at| log[at] != wanted[at]) {
            let (made, wanted) = (log[at], wanted[at]);
            panic!("level {level}, {} bytes, calls {calls:?}: call {at}: {made:?}, not {wanted:?}", text.len());
        }
        assert!(bytes == wanted_bytes, "level {level}, {} bytes, calls {calls:?}: bytes", text.len());
        left = left.saturating_sub(calls.len());
    }
}
