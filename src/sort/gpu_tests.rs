//! Lanes that sort lines: a fake device beside cores, in order and failing; and the real one, where there is one.

use super::gpu::{LineLanes, LineStation};
use super::work::SORT;
use super::{Order, Pool, sorted};
use crate::gpu::fake::{FakeLane, Fault};
use crate::gpu::{LaneSize, SortLines};
use crate::schedule::{Crew, Expected};
use crate::shapes::Rng;
use crate::skip::{Need, skip};
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

/// A pool with a core and a lane that fails as it is told.
fn pool(fault: Option<(usize, Fault)>, bytes: usize) -> Pool {
    let expected = Expected { rate: 1e12, start: Duration::ZERO, end: Duration::ZERO };
    let crew = Crew::new(&[SORT], expected).at_once().member(move || {
        let mut fault = fault;
        let open = Box::new(move |bytes: usize| {
            let size = LaneSize { max_blocks: 4, max_length: bytes / 4 };
            Ok(Box::new(FakeLane::new(size, fault.take())) as Box<dyn SortLines>)
        });
        Ok(Box::new(LineStation::new("fake".to_owned(), bytes, open)?))
    });
    Pool::builder().threads(NonZeroUsize::MIN).crew(crew).build()
}

#[test]
fn whatever_the_lane_does() {
    let (end, long) = (b'\n', text(3 << 20, b'\n'));
    let faults = [Fault::Memory, Fault::Sticky, Fault::Hang, Fault::Wrong, Fault::Swapped, Fault::OneBit];
    for fault in [None].into_iter().chain(faults.map(Some)) {
        let took_part = (0..30).any(|_| {
            let pool = pool(fault.map(|fault| (0, fault)), 32 << 20);
            for (reverse, unique) in [(false, false), (true, false), (true, true)] {
                let order = Order::new().reverse(reverse).unique(unique);
                assert!(sorted(&long, &order, &pool).unwrap() == twin(&long, end, reverse, unique), "{fault:?}");
            }
            let lane = pool.summary().stations.into_iter().find(|station| station.name == "fake");
            let Some(lane) = lane else { return false };
            match fault {
                None | Some(Fault::OneBit) => lane.blocks > 0 && lane.failure.is_none(),
                Some(Fault::Wrong | Fault::Swapped) => lane.wrong > 0 && lane.retired.is_some(),
                Some(Fault::Sticky | Fault::Hang) => lane.fallbacks > 0 && lane.retired.is_some(),
                _ => lane.fallbacks > 0,
            }
        });
        assert!(took_part, "{fault:?}: the lane did nothing, or nobody noticed");
    }
}

/// Lines that are too short for a device, and ranges that have no room in a lane, are left to the cores.
#[test]
fn what_is_not_for_a_lane() {
    for (text, bytes) in [(b"a\nb\n\n".repeat(100_000), 32 << 20), (text(3 << 20, b'\n'), 1 << 20)] {
        let pool = pool(None, bytes);
        assert!(sorted(&text, &Order::new(), &pool).unwrap() == twin(&text, b'\n', false, false));
        let lane = pool.summary().stations.into_iter().find(|station| station.name == "fake");
        assert!(lane.is_none_or(|lane| lane.failure.is_none()));
    }
}

#[test]
fn gpu_sorts_lines() {
    if let Err(reason) = crate::gpu::devices() {
        return skip(Need::Gpu, &reason);
    }
    let lanes = LineLanes { bytes: 64 << 20, lanes: 2, at_once: true, ..LineLanes::default() };
    for end in [b'\n', b'\0'] {
        let text = text(40 << 20, end);
        for (reverse, unique) in [(false, false), (true, false), (true, true)] {
            let took_part = (0..5).any(|_| {
                let pool = Pool::builder().threads(NonZeroUsize::MIN).gpus(&lanes).build();
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
