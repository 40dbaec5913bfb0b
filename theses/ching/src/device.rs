//! The GPU columns of Ching's tables: one text on the first device.

use hybz::internals::gpu::{DeviceLane, FACTOR_STEPS, LaneSize, MAX_FETCHED, Pipeline, abi, backend};
use hybz_factor::Factor;
use hybz_factor::neighbours::Pair;
use hybz_factor::parse::Parse;
use std::time::{Duration, Instant};

const TIMEOUT: Duration = Duration::from_secs(60);
/// The number of runs; the best run counts.
const RUNS: usize = 5;

/// A lane for one text.
pub struct Device<'a> {
    lane: Box<dyn DeviceLane>,
    text: &'a [u8],
}

/// A device's results and seconds.
pub struct Found {
    pub factors: usize,
    /// Device time by the names of [`FACTOR_STEPS`].
    steps: [f64; FACTOR_STEPS.len()],
    /// The caller's time, including the transfers of the text and of all factors.
    pub all: f64,
}

impl Found {
    pub fn step(&self, name: &str) -> f64 {
        FACTOR_STEPS.iter().zip(self.steps).find(|(step, _)| **step == name).map_or(0.0, |(_, seconds)| seconds)
    }

    /// Without transfers.
    pub fn device(&self) -> f64 {
        ["sort", "neighbours", "longest", "path"].iter().map(|step| self.step(step)).sum()
    }
}

impl<'a> Device<'a> {
    /// `None` without a device, or if the text is too long for it.
    pub fn open(text: &'a [u8]) -> Option<Device<'a>> {
        let (backend, devices) = backend().ok()?;
        let size = LaneSize { max_blocks: 1, max_length: text.len() };
        let lane = backend.open(&devices.into_iter().next()?, Pipeline::Factor, size);
        Some(Device { lane: lane.inspect_err(|error| eprintln!("no lane: {error}")).ok()?, text })
    }

    /// The best of several runs.
    pub fn find(&mut self, divisions: usize) -> Found {
        let all = (0..RUNS).map(|_| self.once(divisions));
        all.min_by(|a, b| a.all.total_cmp(&b.all)).expect("more than one run")
    }

    fn once(&mut self, divisions: usize) -> Found {
        let start = Instant::now();
        let found = self.lane.find(self.text, divisions as u32, false, TIMEOUT).expect("a device that works");
        self.fetch(found.factors, |_| ());
        let all = start.elapsed().as_secs_f64();
        Found { factors: found.factors as usize, steps: found.times.map(|ms| f64::from(ms) / 1e3), all }
    }

    fn fetch(&mut self, count: u32, mut take: impl FnMut(Factor)) {
        let mut from = 0;
        while from < count {
            let some = (count - from).min(MAX_FETCHED as u32);
            for factor in self.lane.fetch(from, some as usize, TIMEOUT).expect("factors") {
                take(match factor.length {
                    0 => Factor::Letter(factor.source as u8),
                    len => Factor::Copy { source: factor.source, len },
                });
            }
            from += some;
        }
    }

    /// Fails the bench unless every factor equals a core's.
    pub fn verify(&mut self, pairs: &[Pair]) {
        let text = self.text;
        let found = self.lane.find(text, 0, false, TIMEOUT).expect("a device that works");
        let mut parse = Parse::new(text.len());
        self.fetch(found.factors, |factor| assert!(parse.next(text, pairs) == Some(factor), "as a core finds them"));
        assert!(parse.position() == text.len(), "all of the text");
    }
}

/// The milliseconds of each step of the suffix sort of a text, in the fastest of several runs. `None` without a device.
pub fn sort_profile(text: &[u8]) -> Option<Vec<(&'static str, f64)>> {
    let (backend, devices) = backend().ok()?;
    let size = LaneSize { max_blocks: 1, max_length: text.len() };
    let mut lane = backend.open(&devices.into_iter().next()?, Pipeline::Suffixes, size).ok()?;
    let named: [(&str, usize); 7] = [
        ("upload", abi::HYBZ_STEP_UPLOAD),
        ("keys", abi::HYBZ_STEP_KEYS),
        ("radix sort", abi::HYBZ_STEP_SORT),
        ("groups", abi::HYBZ_STEP_GROUP),
        ("small groups", abi::HYBZ_STEP_SMALL_ROUNDS),
        ("large groups", abi::HYBZ_STEP_LARGE_ROUNDS),
        ("column", abi::HYBZ_STEP_COMMITS),
    ];
    let once = |_| {
        lane.input()[..text.len()].copy_from_slice(text);
        let before = lane.steps();
        lane.suffixes(&[text.len() as u32], 15, TIMEOUT).expect("a device that sorts");
        let after = lane.steps();
        named.iter().map(|(name, step)| (*name, after.ms[*step] - before.ms[*step])).collect::<Vec<_>>()
    };
    let total = |steps: &[(&str, f64)]| steps.iter().map(|(_, ms)| ms).sum::<f64>();
    (0..RUNS).map(once).min_by(|a, b| total(a).total_cmp(&total(b)))
}
