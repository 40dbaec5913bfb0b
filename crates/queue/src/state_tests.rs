//! Tests which worker gets which order, a step at a time: jobs that avoid a core, classes that cores leave to
//! accelerators, stations that leave, pools that live long.

use super::class::{Accepts, Class};
use super::decide::Step;
use super::entry::{Attributes, Id};
use super::policy::Expected;
use super::state::{GroupPlan, State};
use super::worker_state::Order;
use std::time::Duration;

const CLASS: Class = Class::new("code", 50e6);
const BLOCK: f64 = 900e3;

fn task(bytes: f64, continuation: bool) -> Attributes {
    Attributes { class: (!continuation).then_some(CLASS), bytes: bytes as u64, avoid: None }
}

/// Starts everything that can start. Returns which worker was assigned what, and the steps that need a thread.
fn settle(state: &mut State<u32>, now: Duration) -> (Vec<(Id, Vec<u32>)>, Vec<Step>) {
    let (mut assigned, mut starts) = (Vec::new(), Vec::new());
    loop {
        match state.next(now, false) {
            Step::Assigned(id) => assigned.push((
                id,
                match state.take_order(now, id) {
                    Some(Order::Work { entries, .. }) => entries.iter().map(|entry| entry.job).collect(),
                    Some(Order::Retire) => Vec::new(),
                    None => panic!("{id} was assigned nothing"),
                },
            )),
            Step::Rest(_) => return (assigned, starts),
            step => starts.push(step),
        }
    }
}

/// Starts the cores that are needed, and everything that can start.
fn settle_all(state: &mut State<u32>, now: Duration) -> Vec<(Id, Vec<u32>)> {
    let (mut all, mut starts) = settle(state, now);
    while !starts.is_empty() {
        for step in std::mem::take(&mut starts) {
            if let Step::StartCore(id, _) = step {
                state.ready(id, 1, u64::MAX);
            }
        }
        let (assigned, more) = settle(state, now);
        all.extend(assigned);
        starts = more;
    }
    all
}

fn done(state: &mut State<u32>, now: Duration, id: Id) {
    state.finish(now, id, (1, 0), Vec::new(), false);
}

const NOW: Duration = Duration::ZERO;

/// A group that does 1 GB/s of a class, and takes these milliseconds to start.
fn group(classes: &'static [Class], members: usize, start: u64) -> GroupPlan {
    let expected = Expected { rate: 1e9, start: Duration::from_millis(start), end: Duration::ZERO };
    GroupPlan { accepts: Accepts::Only(classes), members, expected, full_task: 0, at_once: start == 0, started: false }
}

/// A continuation that avoids a core goes to another core, as long as there is one or one can be started.
#[test]
fn a_core_that_is_avoided() {
    let mut state = State::new(2, Accepts::Everything, 2);
    let avoiding = |avoid| Attributes { avoid: Some(avoid), ..task(BLOCK, true) };
    state.submit(NOW, 0, task(BLOCK, false), false);
    assert_eq!(settle_all(&mut state, NOW), [(0, vec![0])]);
    done(&mut state, NOW, 0);
    // A second core is started, although the first is free.
    state.submit(NOW, 1, avoiding(0), false);
    assert_eq!(settle_all(&mut state, NOW), [(1, vec![1])]);
    // The job waits for the second core, whatever else is waiting.
    state.submit(NOW, 2, avoiding(0), false);
    state.submit(NOW, 3, task(BLOCK, false), false);
    assert_eq!(settle_all(&mut state, NOW), [(0, vec![3])]);
    done(&mut state, NOW, 0);
    assert_eq!(settle_all(&mut state, NOW), []);
    done(&mut state, NOW, 1);
    assert_eq!(settle_all(&mut state, NOW), [(1, vec![2])]);
    // The second core leaves.
    state.submit(NOW, 4, avoiding(0), false);
    assert_eq!(settle_all(&mut state, NOW), []);
    state.finish(NOW, 1, (1, 0), Vec::new(), true);
    assert!(!state.depart(1, true));
    assert_eq!(settle_all(&mut state, NOW), [(0, vec![4])]);
}

/// The readers of a long input are counted among the threads that feed devices, all but the first.
#[test]
fn readers_feed_devices() {
    let mut state: State<u32> = State::new(2, Accepts::Everything, 2);
    state.submit(NOW, 0, task(BLOCK, false), false);
    assert_eq!(state.snapshot(NOW, 0, false).feeders, 0);
    state.more_readers = 3;
    assert_eq!(state.snapshot(NOW, 0, false).feeders, 3);
}

/// Three cores are blamed together: one leaves, and two start with fresh state.
#[test]
fn cores_that_were_wrong() {
    let mut state = State::new(3, Accepts::Everything, 3);
    (0..3).for_each(|job| state.submit(NOW, job, task(BLOCK, false), false));
    assert_eq!(settle_all(&mut state, NOW).len(), 3);
    (0..3).for_each(|id| state.blame(id));
    (0..3).for_each(|id| done(&mut state, NOW, id));
    assert_eq!(settle_all(&mut state, NOW), [(0, vec![])]);
    for job in 3..5 {
        state.submit(NOW, job, task(BLOCK, false), false);
        let Step::Assigned(id) = state.next(NOW, false) else { panic!("a core is free") };
        assert!(id > 0 && !state.is_distrusted(id));
        assert!(matches!(state.take_order(NOW, id), Some(Order::Work { fresh: true, .. })));
    }
}

/// A class that cores leave to accelerators.
const LANES: Class = Class::new("lanes", 1e9);

/// Two cores that leave the class to groups of one lane each. The groups accept these classes, and are started with the
/// first task or later.
fn left_to(groups: &[(&'static [Class], bool)]) -> (State<u32>, Attributes) {
    let mut state = State::new(2, Accepts::AllBut(&[LANES]), 2);
    for &(classes, at_once) in groups {
        state.add_group(group(classes, 1, if at_once { 0 } else { 10_000 }));
    }
    (state, Attributes { class: Some(LANES), ..task(BLOCK, false) })
}

/// When the last accelerator is gone, all cores do the tasks that were left to accelerators, and not just one station.
#[test]
fn a_class_without_accelerators() {
    let (mut state, of_lanes) = left_to(&[(&[LANES], true)]);
    assert!(state.has_accelerators_for(LANES));
    // Two cores, both free.
    (10..12).for_each(|job| state.submit(NOW, job, task(BLOCK, false), false));
    assert_eq!(settle_all(&mut state, NOW).len(), 2);
    (0..2).for_each(|id| done(&mut state, NOW, id));
    state.submit(NOW, 1, of_lanes, false);
    assert_eq!(settle(&mut state, NOW), (vec![], vec![Step::StartGroup(0, 2)]));
    state.submit(NOW, 2, of_lanes, false);
    assert_eq!(settle_all(&mut state, NOW), []);
    state.ready(2, 1, u64::MAX);
    assert_eq!(settle_all(&mut state, NOW), [(2, vec![1])]);
    state.finish(NOW, 2, (0, 0), Vec::new(), true);
    assert!(!state.depart(2, true) && !state.has_accelerators_for(LANES));
    assert_eq!(settle_all(&mut state, NOW), [(1, vec![2])]);
    state.submit(NOW, 3, of_lanes, false);
    assert_eq!(settle_all(&mut state, NOW), [(0, vec![3])]);
    // When the last cores leave too, one of them goes on.
    state.submit(NOW, 4, of_lanes, false);
    state.finish(NOW, 0, (1, 0), Vec::new(), true);
    assert!(!state.depart(0, true));
    state.finish(NOW, 1, (1, 0), Vec::new(), true);
    assert!(state.depart(1, true));
    assert_eq!(settle_all(&mut state, NOW), [(1, vec![4])]);
}

/// If no core has been started, some are started, and later jobs are for all of them.
#[test]
fn a_class_whose_accelerators_do_not_start() {
    let (mut state, of_lanes) = left_to(&[(&[LANES], true)]);
    state.submit(NOW, 1, of_lanes, false);
    assert_eq!(settle(&mut state, NOW), (vec![], vec![Step::StartGroup(0, 0)]));
    (2..4).for_each(|job| state.submit(NOW, job, of_lanes, false));
    assert_eq!(settle(&mut state, NOW), (vec![], vec![]));
    // The lane goes on as one of three cores.
    assert!(state.depart(0, true));
    let assigned = settle_all(&mut state, NOW);
    let workers: std::collections::BTreeSet<Id> = assigned.iter().map(|(id, _)| *id).collect();
    assert!(workers.len() == 3 && assigned.iter().all(|(_, jobs)| jobs.len() == 1), "{assigned:?}");
    done(&mut state, NOW, 2);
    state.submit(NOW, 4, of_lanes, false);
    assert_eq!(settle_all(&mut state, NOW), [(2, vec![4])]);
    assert!(!state.is_unserved());
}

/// Jobs do not wait for accelerators that only a further job would start.
#[test]
fn a_group_that_was_not_worth_its_start() {
    let (mut state, of_lanes) = left_to(&[(&[LANES, CLASS], true), (&[LANES, CLASS], false)]);
    state.submit(NOW, 1, task(BLOCK, false), false);
    let (assigned, starts) = settle(&mut state, NOW);
    assert_eq!((assigned, starts), (vec![], vec![Step::StartGroup(0, 0), Step::StartCore(1, 0)]));
    state.ready(1, 1, u64::MAX);
    // Both jobs are left to the lane.
    state.submit(NOW, 2, of_lanes, false);
    assert_eq!(settle(&mut state, NOW), (vec![], vec![]));
    assert!(!state.depart(0, true));
    assert_eq!(settle(&mut state, NOW), (vec![(1, vec![2])], vec![Step::StartCore(2, 1)]));
    // The next job starts the other group.
    state.submit(NOW, 3, of_lanes, false);
    assert_eq!(settle(&mut state, NOW), (vec![], vec![Step::StartGroup(1, 3)]));
}

/// Without cores and without an accelerator for a class, a caller does the work.
#[test]
fn a_caller_works() {
    let mut state = State::new(0, Accepts::Everything, 1);
    state.submit(NOW, 1, task(BLOCK, false), false);
    assert!(settle_all(&mut state, NOW).is_empty() && state.is_unserved());
    let id = state.add_caller(NOW);
    assert!(state.is_unserved());
    state.join(id);
    assert_eq!(settle_all(&mut state, NOW), [(id, vec![1])]);
    assert!(!state.is_unserved());
    done(&mut state, NOW, id);
    state.leave(id);
    state.submit(NOW, 2, task(BLOCK, true), false);
    assert!(settle_all(&mut state, NOW).is_empty() && state.is_unserved());
}

/// A pool's earlier work does not influence its later decisions.
#[test]
fn a_pool_that_lives_long() {
    let mut state = State::new(1, Accepts::Everything, 1);
    state.add_group(group(&[CLASS], 1, 600));
    let finish = |state: &mut State<u32>, seconds: u64| {
        state.finish(Duration::from_millis(seconds * 1000 + 140), 0, (7_000_000, 0), Vec::new(), false);
    };
    // For hours, blocks come one at a time; then two come together.
    for hour in 0..100 {
        let now = Duration::from_secs(hour * 3600);
        state.submit(now, 0, task(7e6, false), false);
        assert_eq!(settle_all(&mut state, now), [(0, vec![0])]);
        finish(&mut state, hour * 3600);
    }
    let later = Duration::from_secs(400_000);
    state.submit(later, 1, task(7e6, false), false);
    assert_eq!(settle(&mut state, later), (vec![(0, vec![1])], vec![]));
    state.submit(later, 2, task(7e6, false), false);
    assert_eq!(settle(&mut state, later), (vec![], vec![]));
    finish(&mut state, 400_000);
    assert_eq!(settle(&mut state, Duration::from_secs(400_001)).0, [(0, vec![2])]);
    finish(&mut state, 400_001);
    // A long input is announced.
    state.begin_reading(Some(4_000_000_000));
    let later = Duration::from_secs(400_002);
    state.submit(later, 3, task(7e6, false), false);
    assert_eq!(settle(&mut state, later), (vec![(0, vec![3])], vec![]));
    state.submit(later, 4, task(7e6, false), false);
    assert_eq!(settle(&mut state, later), (vec![], vec![Step::StartGroup(0, 1)]));
}

/// An accelerator is expected to do short tasks more slowly, so it is not started for a few.
#[test]
fn short_tasks_and_an_accelerator() {
    let short = task(7e3, false);
    for (full_task, starts) in [(0, true), (7000, true), (900_000, false)] {
        let mut state = State::new(1, Accepts::Everything, 1);
        let expected = Expected { rate: 2e9, start: Duration::from_millis(400), end: Duration::from_millis(200) };
        state.add_group(GroupPlan { expected, full_task, ..group(&[CLASS], 1, 400) });
        state.submit(NOW, 0, short, false);
        settle_all(&mut state, NOW);
        // The core does 16 MB/s, and needs 0.7 s for what is announced.
        let now = Duration::from_nanos(7000 * 1000 / 16);
        state.finish(now, 0, (7000, 0), Vec::new(), false);
        state.begin_reading(Some(11_200_000));
        state.submit(now, 1, short, false);
        assert_eq!(settle(&mut state, now), (vec![(0, vec![1])], vec![]));
        state.submit(now, 2, short, false);
        let (_, steps) = settle(&mut state, now);
        assert_eq!(steps, if starts { vec![Step::StartGroup(0, 1)] } else { vec![] }, "{full_task}");
    }
}

/// As many cores are started as tasks need one. If no thread is available for a core, no other core is started.
#[test]
fn cores_that_are_started() {
    let mut state = State::new(4, Accepts::Everything, 4);
    (0..2).for_each(|job| state.submit(NOW, job, task(BLOCK, false), false));
    assert_eq!(settle(&mut state, NOW), (vec![], vec![Step::StartCore(0, 0), Step::StartCore(1, 1)]));
    state.not_started(1);
    state.submit(NOW, 2, task(BLOCK, false), false);
    assert_eq!(settle(&mut state, NOW), (vec![], vec![]));
    state.ready(0, 1, u64::MAX);
    assert_eq!(settle_all(&mut state, NOW), [(0, vec![0])]);
    done(&mut state, NOW, 0);
    assert_eq!(settle_all(&mut state, NOW), [(0, vec![1])]);
}

/// A lane gives a wrong answer: the free lanes of its device leave too.
#[test]
fn lanes_of_a_device_that_was_wrong() {
    let mut state = State::new(1, Accepts::Everything, 1);
    state.add_group(group(&[CLASS], 3, 0));
    state.submit(NOW, 0, task(BLOCK, false), false);
    settle_all(&mut state, NOW);
    (0..3).for_each(|id| state.ready(id, 1, u64::MAX));
    assert_eq!(settle_all(&mut state, NOW), [(2, vec![0])]);
    state.blame(2);
    assert_eq!(settle_all(&mut state, NOW), [(0, vec![]), (1, vec![])]);
    done(&mut state, NOW, 2);
    assert_eq!(settle_all(&mut state, NOW), [(2, vec![])]);
}
