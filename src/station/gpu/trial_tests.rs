//! What the tests of lanes share: fake stations, and a comparison with a core.

use super::fake::{FakeLane, Fault, Spoil};
use super::{Lanes, Offload, Shared, kind};
use crate::formats::bzip2::header::MAX_ENCODER_BLOCK;
use hybz_gpu::{LaneSize, Open};
use hybz_queue::{Accepts, Core, Job, Station, StationError, Task, Ticket};

/// The number of rows that a fake lane for `.hbz` has for each of its blocks: some blocks are longer than the lane.
pub(super) const FAKE_ROWS: usize = 4000;

pub(super) const OFFLOADS: [Offload; 3] = [Offload::Bwt, Offload::Hybrid, Offload::Resident];
/// The same for blocks of `.hbz` streams.
pub(super) const LARGE: [Offload; 3] = [Offload::CodeLarge, Offload::Suffixes, Offload::HybridLarge];

/// A station whose lane fails once; its replacement works.
pub(super) fn fake(offload: Offload, blocks: usize, fault: Option<(usize, Fault)>) -> Box<dyn Station> {
    fake_with(offload, blocks, fault, |_| {}, &Shared::default())
}

/// A station of a device on which lanes share `shared`, and whose first lane changes its answers.
pub(super) fn fake_with(
    offload: Offload,
    blocks: usize,
    mut fault: Option<(usize, Fault)>,
    spoil: Spoil,
    shared: &Shared,
) -> Box<dyn Station> {
    let max_length = if offload == Offload::DecodeLarge { FAKE_ROWS } else { MAX_ENCODER_BLOCK };
    let open: Open = Box::new(move |max_blocks| {
        let mut lane = FakeLane::new(LaneSize { max_blocks, max_length }, fault.take());
        lane.spoil = Some(spoil);
        Ok(Box::new(lane))
    });
    let lanes = Lanes { blocks, growth: Some(u64::MAX), offload, ..Lanes::default() };
    lanes.station("fake".to_owned(), open, shared).unwrap()
}

pub(super) fn accepts(offload: Offload) -> Accepts {
    Accepts::Only(kind(offload).accepts)
}

/// Does the tasks, and compares every answer with a core's own. Returns the numbers of tasks done or forwarded,
/// declined and left undone.
pub(super) fn outcome<T>(station: &mut dyn Station, tasks: &[T]) -> ([usize; 3], Result<(), StationError>)
where
    T: Task<Output: PartialEq> + Clone,
{
    outcome_of(station, tasks.iter().cloned().map(Job::detached), |number, core| tasks[number].run(core))
}

/// Like [`outcome`], for jobs whose answers `expected` gives.
pub(super) fn outcome_of<O: PartialEq>(
    station: &mut dyn Station,
    jobs: impl Iterator<Item = (Job, Ticket<O>)>,
    expected: impl Fn(usize, &mut Core) -> O,
) -> ([usize; 3], Result<(), StationError>) {
    let (mut jobs, tickets): (Vec<_>, Vec<_>) = jobs.unzip();
    let result = station.work(&mut jobs);
    let (mut core, mut counts) = (Core::new(0), [0; 3]);
    for (number, (mut job, ticket)) in jobs.into_iter().zip(tickets).enumerate() {
        let kind = if job.is_declined() { 1 } else { 2 * usize::from(job.is_open()) };
        counts[kind] += 1;
        if kind == 0 {
            // A core finishes what was forwarded.
            job.run(&mut core);
            assert!(ticket.poll() == Some(Ok(expected(number, &mut core))), "task {number}");
        }
    }
    (counts, result)
}
