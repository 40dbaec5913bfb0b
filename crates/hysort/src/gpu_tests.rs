//! Lanes that sort lines: a fake device alongside cores, working and failing; and the real one, if there is one.

use super::gpu::{LineLanes, station};
use super::gpu_fake::{FakeLane, Fault};
use super::tasks::{SORT, STORE};
use super::{Limits, Order, Pool, Sorter, sorted};
use crate::shapes::Rng;
use crate::skip::{Need, skip};
use hybz_gpu::{DeviceLane, LaneSize};
use hybz_queue::{Accepts, Expected, StationReport, WorkerGroup};
use std::num::NonZeroUsize;
use std::time::Duration;

/// Words, some of them alike, and some long lines.
fn text(len: usize, end: u8) -> Vec<u8> {
    let mut rng = Rng(7);
    let mut text = Vec::new();
    while text.len() < len {
        let letters = if rng.below(500) == 0 { 3000 } else { 6 + rng.below(9) };
        text.extend((0..letters).map(|_| b"abc/\n\0"[rng.below(4)]));
        text.push(end);
    }
    text
}

fn twin(text: &[u8], end: u8, reverse: bool, unique: bool) -> Vec<u8> {
    let mut lines: Vec<&[u8]> = text[..text.len() - 1].split(|&byte| byte == end).collect();
    lines.sort_unstable();
    if unique {
        lines.dedup();
    }
    if reverse {
        lines.reverse();
    }
    lines.iter().flat_map(|line| [line, &[end][..]].concat()).collect()
}

/// A pool with a core and a lane with this fault.
fn pool(fault: Option<(usize, Fault)>, bytes: usize, budget: Option<u64>) -> Pool {
    let expected = Expected { rate: 1e12, start: Duration::ZERO, end: Duration::ZERO };
    let group = WorkerGroup::new(&[SORT, STORE], expected).at_once().member(move || {
        let mut fault = fault;
        let open = Box::new(move |bytes: usize| {
            let size = LaneSize { max_blocks: 4, max_length: bytes / 4 };
            Ok(Box::new(FakeLane::new(size, fault.take())) as Box<dyn DeviceLane>)
        });
        Ok(Box::new(station("fake".to_owned(), bytes, 1 << 20, open)?))
    });
    let pool = super::pool().threads(NonZeroUsize::MIN).cores_accept(Accepts::AllBut(&[STORE])).group(group);
    match budget {
        Some(bytes) => pool.memory(bytes).build(),
        None => pool.build(),
    }
}

/// Sorts a text after announcing a length, with `sample` as the sample, or one of the text itself.
fn sorted_as_it_comes(text: &[u8], announced: usize, sample: Option<&[u8]>, order: &Order, pool: &Pool) -> Vec<u8> {
    let limits = Limits::new().temporary(tempfile::tempfile);
    let mut sorter = Sorter::new(order, limits, pool);
    let look = |at: u64| Some(sample.unwrap_or(&text[at as usize..]).iter().copied().take(8192).collect());
    sorter.expect(announced as u64, look);
    text.chunks(1 << 20).for_each(|some| sorter.push_owned(some.to_vec()).expect("room in a file"));
    let mut out = Vec::new();
    let report = sorter.write_to(&mut out).expect("whatever a lane does");
    assert_eq!(report.bytes_written, out.len() as u64);
    out
}

/// The report of the lane, if it was started.
fn lane_of(pool: &Pool) -> Option<StationReport> {
    pool.summary().stations.into_iter().find(|station| station.name == "fake")
}

#[test]
fn whatever_the_lane_does() {
    let (end, long) = (b'\n', text(3 << 20, b'\n'));
    let faults = [Fault::Memory, Fault::Sticky, Fault::Hang, Fault::Wrong];
    for fault in [None].into_iter().chain(faults.map(Some)) {
        let took_part = (0..30).any(|_| {
            let pool = pool(fault.map(|fault| (0, fault)), 32 << 20, None);
            for (reverse, unique) in [(false, false), (true, false), (true, true)] {
                let order = Order::new().reverse(reverse).unique(unique);
                assert!(sorted(&long, &order, &pool).unwrap() == twin(&long, end, reverse, unique), "{fault:?}");
            }
            let Some(lane) = lane_of(&pool) else { return false };
            match fault {
                None => lane.blocks > 0 && lane.failure.is_none(),
                Some(Fault::Wrong) => lane.wrong > 0 && lane.retired.is_some(),
                Some(Fault::Sticky | Fault::Hang) => lane.fallbacks > 0 && lane.retired.is_some(),
                _ => lane.fallbacks > 0,
            }
        });
        assert!(took_part, "{fault:?}: the lane did nothing, or nobody noticed");
    }
}

/// A device keeps text and fails when it gets a part, or when it sorts ranges of it.
#[test]
fn text_on_a_device() {
    let (end, mut long) = (b'\n', text(17 << 20, b'\n'));
    // A frequent line, which has a range of its own; and a last line without its end.
    (0..300_000).for_each(|_| long.extend_from_slice(b"the same\n"));
    let whole = [&long[..], b"last\n"].concat();
    let twins = [false, true].map(|reverse| twin(&whole, end, reverse, false));
    let parts = whole.len() / (2 << 20);
    let run = |fault: Option<(usize, Fault)>, reverse: bool| {
        let (pool, order) = (pool(fault, 8 << 20, None), Order::new().reverse(reverse));
        let found = sorted_as_it_comes(&whole[..whole.len() - 1], whole.len() - 1, None, &order, &pool);
        assert!(found == twins[usize::from(reverse)], "{fault:?}");
        lane_of(&pool).expect("a lane")
    };
    for reverse in [false, true] {
        let lane = run(None, reverse);
        assert!(lane.blocks as usize > parts + 10 && lane.fallbacks == 0 && lane.wrong == 0, "{lane:?}");
    }
    for fault in [Fault::Memory, Fault::Sticky, Fault::Hang, Fault::Wrong] {
        for (call, reverse) in [(2, false), (parts + 1, true)] {
            let lane = run(Some((call, fault)), reverse);
            assert!(lane.fallbacks + lane.wrong > 0, "{fault:?} in call {call}: {lane:?}");
            // A lane that has retired is not counted as a core: all cores do its work.
            assert!(lane.accelerator && (fault == Fault::Memory || lane.retired.is_some()), "{lane:?}");
        }
    }
    // Equal lines are written once.
    let pool = pool(None, 8 << 20, None);
    let found = sorted_as_it_comes(&whole, whole.len(), None, &Order::new().unique(true), &pool);
    assert!(found == twin(&whole, end, false, true));
}

/// Little memory, with temporary files, and a lane that fails at some part: text that the device keeps, text that it
/// does not keep, and text in a file are combined.
#[test]
fn some_of_a_text_on_a_device() {
    let long = text(20 << 20, b'\n');
    let twin = twin(&long, b'\n', false, false);
    for (number, budget) in [4, 12, 30, 50, 400].into_iter().enumerate() {
        for (place, call) in [0, 3, 7].into_iter().enumerate() {
            // Every second pair: each amount of memory with one failure or two.
            if !hybz_testkit::long() && (number + place) % 2 == 1 {
                continue;
            }
            let pool = pool(Some((call, Fault::Memory)), 8 << 20, Some(budget << 20));
            let out = sorted_as_it_comes(&long, long.len(), None, &Order::new(), &pool);
            assert!(out == twin, "{budget} MB, a failure in call {call}");
        }
    }
}

/// Lines that are too short for a device, lanes that are too small for a part, a sample that makes ranges too long for
/// a lane, and more text than was announced.
#[test]
fn what_a_device_does_not_keep() {
    let (short, long, order) = (b"a\nb\n\n".repeat(3_400_000), text(20 << 20, b'\n'), Order::new());
    let twin_of_long = twin(&long, b'\n', false, false);
    let check = |pool: &Pool, text: &[u8], announced: usize, sample: Option<&[u8]>, twin: &[u8]| {
        assert!(sorted_as_it_comes(text, announced, sample, &order, pool) == twin);
        let lane = lane_of(pool);
        assert!(lane.as_ref().is_none_or(|lane| lane.failure.is_none() && lane.wrong == 0), "{lane:?}");
    };
    let (roomy, narrow) = (pool(None, 8 << 20, None), pool(None, 1 << 20, None));
    check(&roomy, &short, short.len(), None, &twin(&short, b'\n', false, false));
    check(&narrow, &long, long.len(), None, &twin_of_long);
    check(&roomy, &long, long.len(), Some(&long[..100]), &twin_of_long);
    check(&roomy, &long, 16 << 20, None, &twin_of_long);
    assert!(lane_of(&roomy).expect("a lane").blocks > 10);
}

/// Cores sort lines that are too short for a device, and ranges that do not fit in a lane.
#[test]
fn what_is_not_for_a_lane() {
    for (text, bytes) in [(b"a\nb\n\n".repeat(100_000), 32 << 20), (text(3 << 20, b'\n'), 1 << 20)] {
        let pool = pool(None, bytes, None);
        assert!(sorted(&text, &Order::new(), &pool).unwrap() == twin(&text, b'\n', false, false));
        assert!(lane_of(&pool).is_none_or(|lane| lane.failure.is_none()));
    }
}

#[test]
fn gpu_sorts_lines() {
    if let Err(reason) = hybz_gpu::devices() {
        return skip(Need::Gpu, &reason);
    }
    let lanes = LineLanes { bytes: 64 << 20, lanes: 2, at_once: true, ..LineLanes::default() };
    for end in [b'\n', b'\0'] {
        let text = text(40 << 20, end);
        for (reverse, unique) in [(false, false), (true, false), (true, true)] {
            let took_part = (0..5).any(|_| {
                let pool = super::pool().threads(NonZeroUsize::MIN).accelerators(&lanes).build();
                let order = Order::new().end(end).reverse(reverse).unique(unique);
                assert!(sorted(&text, &order, &pool).unwrap() == twin(&text, end, reverse, unique));
                let stations = pool.summary().stations;
                assert!(stations.iter().all(|station| station.wrong == 0 && station.failure.is_none()), "{stations:?}");
                stations.iter().any(|station| station.accelerator && station.blocks > 0)
            });
            assert!(took_part, "the device sorted nothing");
        }
    }
}
