//! Who is told what, a step at a time: jobs that avoid a core, classes that cores leave to accelerators, stations that
//! leave, pools that live long.

use super::job::{Accepts, Class};
use super::policy::Expected;
use super::state::{CrewPlan, State, Taken, Wish};
use std::time::Duration;

const CLASS: Class = Class(0);
const BLOCK: f64 = 900e3;

fn wish(bytes: f64, second_stage: bool) -> Wish {
    Wish { class: CLASS, bytes: bytes as u64, second_stage, avoid: None }
}

/// A second stage that avoids a core is for another one, as long as there is one.
#[test]
fn a_core_that_is_avoided() {
    let mut state = State::new(vec![50e6], 2, Accepts::Everything, 2);
    let now = Duration::ZERO;
    let [(a, _), (b, _)] = [state.add_core(now), state.add_core(now)];
    state.ready(a, 1, u64::MAX);
    state.ready(b, 1, u64::MAX);
    let avoiding = |avoid| Wish { avoid: Some(avoid), ..wish(BLOCK, true) };
    let got = |taken: Taken<u32>| match taken {
        Taken::Jobs(jobs) => jobs.first().map(|entry| entry.job),
        _ => None,
    };
    // Both sleep: the other one is woken, and one more is started for the next.
    assert!(got(state.take(now, a, false)).is_none() && got(state.take(now, b, false)).is_none());
    assert_eq!(state.submit(now, 1, avoiding(b), false).wake, Some(a));
    assert!(state.submit(now, 2, avoiding(a), false).wake == Some(b));
    assert_eq!(got(state.take(now, a, false)), Some(1));
    assert_eq!(got(state.take(now, b, false)), Some(2));
    // It waits for the other one, whatever else there is.
    state.submit(now, 3, avoiding(a), false);
    state.submit(now, 4, wish(BLOCK, false), false);
    assert_eq!(got(state.take(now, a, false)), Some(4));
    assert_eq!(got(state.take(now, a, false)), None);
    assert_eq!(got(state.take(now, b, false)), Some(3));
    // The other one leaves.
    state.submit(now, 5, avoiding(a), false);
    assert_eq!(got(state.take(now, a, false)), None);
    state.depart(b);
    assert_eq!(got(state.take(now, a, false)), Some(5));
    // Alone from the start, and asleep.
    state.no_more_cores();
    assert_eq!(got(state.take(now, a, false)), None);
    assert_eq!(state.submit(now, 6, avoiding(a), false).wake, Some(a));
    assert_eq!(got(state.take(now, a, false)), Some(6));
}

/// A class that cores leave to accelerators.
const LANES: Class = Class(1);

/// Two cores that leave it to crews of one lane each, which accept these classes and are started at once, or not.
fn left_to(crews: &[(&'static [Class], bool)]) -> (State<u32>, Wish) {
    let mut state = State::new(vec![50e6, 1e9], 2, Accepts::AllBut(&[LANES]), 2);
    for &(classes, at_once) in crews {
        let start = if at_once { Duration::ZERO } else { Duration::from_secs(10) };
        let expected = Expected { rate: 1e9, start, end: Duration::ZERO };
        state.add_crew(CrewPlan { accepts: Accepts::Only(classes), members: 1, expected, at_once, started: false });
    }
    (state, Wish { class: LANES, ..wish(BLOCK, false) })
}

/// What a station takes.
fn got(taken: Taken<u32>) -> Option<u32> {
    match taken {
        Taken::Jobs(jobs) => jobs.first().map(|entry| entry.job),
        _ => None,
    }
}

/// What cores leave to accelerators is theirs when the last accelerator is gone, and not one station's alone.
#[test]
fn a_class_without_accelerators() {
    let (mut state, job) = left_to(&[(&[LANES], true)]);
    let now = Duration::ZERO;
    let [(a, _), (b, _)] = [state.add_core(now), state.add_core(now)];
    state.ready(a, 1, u64::MAX);
    state.ready(b, 1, u64::MAX);
    assert!(state.has_accelerators_for(LANES) && !state.is_short());
    assert_eq!(state.submit(now, 1, job, false).start_crews, [0]);
    let (lane, _) = state.add_member(now, 0);
    state.submit(now, 2, job, false);
    assert_eq!(got(state.take(now, a, false)), None);
    state.ready(lane, 1, u64::MAX);
    assert_eq!(got(state.take(now, lane, false)), Some(1));
    state.depart(lane);
    assert!(!state.has_accelerators_for(LANES) && !state.is_short());
    assert_eq!(got(state.take(now, a, false)), Some(2));
    assert!(state.submit(now, 3, job, false).start_crews.is_empty());
    assert_eq!(got(state.take(now, b, false)), Some(3));
    // The last cores leave, too: then one goes on.
    state.submit(now, 4, job, false);
    state.no_more_cores();
    state.depart(a);
    state.depart(b);
    assert!(state.is_short());
}

/// The same if no core has been started: some are, and each job that follows is for all of them.
#[test]
fn a_class_whose_accelerators_do_not_start() {
    let (mut state, job) = left_to(&[(&[LANES], true)]);
    let now = Duration::ZERO;
    assert_eq!(state.submit(now, 1, job, false).start_crews, [0]);
    let (lane, _) = state.add_member(now, 0);
    state.submit(now, 2, job, false);
    state.submit(now, 3, job, false);
    assert_eq!(state.depart(lane), 3);
    assert!(state.is_short());
    state.go_on_as_core(lane);
    assert_eq!(state.cores_for(2), 2);
    let [(a, _), (b, _)] = [state.add_core(now), state.add_core(now)];
    state.ready(a, 1, u64::MAX);
    state.ready(b, 1, u64::MAX);
    for (core, job) in [(lane, 1), (a, 2), (b, 3)] {
        assert_eq!(got(state.take(now, core, false)), Some(job));
    }
    assert_eq!(got(state.take(now, b, false)), None);
    let actions = state.submit(now, 4, job, false);
    assert!(actions.wake.is_some() && !actions.unserved, "{actions:?}");
    assert_eq!(got(state.take(now, b, false)), Some(4));
    assert_eq!(state.cores_for(5), 0);
}

/// Jobs do not wait for accelerators that only another job would start.
#[test]
fn a_crew_that_was_not_worth_its_start() {
    let (mut state, job) = left_to(&[(&[LANES, CLASS], true), (&[LANES, CLASS], false)]);
    let now = Duration::ZERO;
    assert_eq!(state.submit(now, 1, wish(BLOCK, false), false).start_crews, [0]);
    let (lane, _) = state.add_member(now, 0);
    let (core, _) = state.add_core(now);
    state.ready(core, 1, u64::MAX);
    assert!(state.submit(now, 2, job, false).start_crews.is_empty());
    assert_eq!(state.depart(lane), 1);
    assert!(!state.is_short());
    assert_eq!(got(state.take(now, core, false)), Some(2));
    // The next one starts it.
    assert_eq!(state.submit(now, 3, job, false).start_crews, [1]);
}

/// What a pool did before says nothing of what it is to do now.
#[test]
fn a_pool_that_lives_long() {
    let mut state = State::new(vec![50e6], 1, Accepts::Everything, 1);
    let expected = Expected { rate: 1e9, start: Duration::from_millis(600), end: Duration::ZERO };
    let crew = CrewPlan { accepts: Accepts::Only(&[CLASS]), members: 1, expected, at_once: false, started: false };
    state.add_crew(crew);
    let now = Duration::ZERO;
    let (core, _) = state.add_core(now);
    state.ready(core, 1, u64::MAX);
    let done = |state: &mut State<u32>, seconds: u64| {
        assert!(got(state.take(Duration::from_secs(seconds), core, false)).is_some());
        state.done(Duration::from_millis(seconds * 1000 + 140), core, 7_000_000, 0);
    };
    // Hours of blocks that come one at a time, then two at once.
    for hour in 0..100 {
        assert!(state.submit(Duration::from_secs(hour * 3600), 0, wish(7e6, false), false).start_crews.is_empty());
        done(&mut state, hour * 3600);
    }
    let later = Duration::from_secs(400_000);
    assert!(state.submit(later, 1, wish(7e6, false), false).start_crews.is_empty());
    assert!(state.submit(later, 2, wish(7e6, false), false).start_crews.is_empty());
    done(&mut state, 400_001);
    done(&mut state, 400_003);
    // Something long that was announced.
    state.begin_reading(Some(4_000_000_000));
    assert_eq!(state.submit(later, 3, wish(7e6, false), false).start_crews, [0]);
}
