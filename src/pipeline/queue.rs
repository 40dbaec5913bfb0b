//! The one queue of blocks, and the tickets on which their results come back.
//!
//! [`Queue::submit`] puts a job on the queue and returns its [`Ticket`], the receiving end of that one result. Whoever keeps
//! the tickets in input order has the results in input order: nothing is ever re-sorted.
//!
//! Bytes alive are bounded by the [`Window`], not by the length of the queue: a job's [`Permit`] is given back when its
//! result has been written.

use crate::station::{Done, Work};
use crossbeam_channel::{Receiver, Select, Sender, bounded, never, unbounded};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// A block's result, or why there is none although its data may be good: the codec itself panicked at it.
pub(crate) type Reply = Result<Done, String>;

/// One block's work and where its result goes.
pub(crate) struct Job {
    pub work: Work,
    pub reply: Sender<Reply>,
    /// Set by the stream that no longer wants the result.
    pub cancelled: Arc<AtomicBool>,
}

/// The receiving end of one result.
pub(crate) struct Ticket(Receiver<Reply>);

impl Ticket {
    /// Waits for the result.
    pub fn wait(&self) -> Reply {
        self.0.recv().unwrap_or_else(|_| Err("a station dropped the block".to_owned()))
    }

    /// The result, if it is there.
    pub fn poll(&self) -> Option<Reply> {
        match self.0.try_recv() {
            Ok(reply) => Some(reply),
            Err(crossbeam_channel::TryRecvError::Empty) => None,
            Err(crossbeam_channel::TryRecvError::Disconnected) => Some(Err("a station dropped the block".to_owned())),
        }
    }
}

/// Which directions of work a station takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Directions {
    /// Takes blocks to compress, of `.bz2` and of `.hbz` streams: those that are not for it it leaves ([`Done::Left`]).
    pub compress: bool,
    /// Takes blocks to decompress.
    pub decompress: bool,
    /// Takes what other stations pass on: blocks that they have sorted, and those they leave as they came. Also what there is to do
    /// when decompressing `.hbz` streams, which CPU cores do.
    pub passed: bool,
}

/// How often a station that rests looks whether it still has to.
const REST: Duration = Duration::from_millis(20);

/// How many directions there are.
pub(crate) const DIRECTIONS: usize = 3;

impl Directions {
    /// Both, and what is passed on: a CPU core.
    pub const BOTH: Directions = Directions { compress: true, decompress: true, passed: true };
    /// Begins blocks, and passes them on: a GPU.
    pub const COMPRESS: Directions = Directions { compress: true, decompress: false, passed: false };
    /// Decompresses, and finishes what others have begun: a CPU core that leaves the rest to the GPUs.
    pub const ALL_BUT_COMPRESS: Directions = Directions { compress: false, decompress: true, passed: true };

    /// Calls `f` with 0 for compressing, 1 for decompressing and 2 for what is passed on, as far as these are taken.
    pub(crate) fn each(self, mut f: impl FnMut(usize)) {
        for (direction, taken) in [self.compress, self.decompress, self.passed].into_iter().enumerate() {
            if taken {
                f(direction);
            }
        }
    }

    /// Whether such a station only begins blocks: a fast one, for which some are kept back.
    pub(crate) fn only_begins(self) -> bool {
        self.compress && !self.passed
    }

    /// Whether any of these, numbered as in [`each`](Self::each), is taken.
    pub(crate) fn any(self, wanted: [bool; DIRECTIONS]) -> bool {
        let mut any = false;
        self.each(|direction| any |= wanted[direction]);
        any
    }
}

/// The sending side of the queue. A lane for each direction, because some stations know one direction only.
///
/// And one lane more: where fast stations (GPUs) begin blocks, a core that begins one as well is of use only if the fast ones
/// have so much before them that the core is done sooner. So up to `reserve` blocks are kept for them, and cores
/// see only what goes beyond that. The stations say how large the reserve is, from their measured rates. Long blocks are kept for
/// them while they are being made, too: no core is to be busy with one for longer than they take for all.
pub(crate) struct Queue {
    compress: Sender<Job>,
    decompress: Sender<Job>,
    keep: Sender<Job>,
    source: Source,
}

impl Queue {
    pub fn new() -> Queue {
        let (compress, take_compress) = unbounded();
        let (decompress, take_decompress) = unbounded();
        let (pass_on, passed) = unbounded();
        let (keep, kept) = unbounded();
        let source = Source {
            compress: take_compress,
            decompress: take_decompress,
            passed,
            kept,
            fast: Arc::default(),
            pass_on,
            idle: Arc::default(),
            directions: Directions::BOTH,
        };
        Queue { compress, decompress, keep, source }
    }

    /// Puts `work` on the queue; never waits.
    pub fn submit(&self, work: Work, cancelled: Arc<AtomicBool>) -> Ticket {
        let (reply, ticket) = bounded(1);
        let lane = match work.direction() {
            0 if self.source.kept.len() < self.source.fast.room(&work) => &self.keep,
            0 => &self.compress,
            1 => &self.decompress,
            _ => &self.source.pass_on,
        };
        // The queue holds a receiver itself, so this cannot fail.
        let _ = lane.send(Job { work, reply, cancelled });
        Ticket(ticket)
    }

    /// Keeps nothing for fast stations that are not there any more. To be called after [`submit`](Self::submit) and whenever a
    /// station has been started: a block may have been kept for one that was just leaving, and when that looked, there was perhaps
    /// nobody to leave it to.
    pub fn settle(&self) {
        if self.source.fast.stations.load(SeqCst) == 0 {
            self.source.fast.reserve.store(0, SeqCst);
            // Not passed on: where there are no CPU cores nobody takes that, while somebody always compresses.
            while let Ok(job) = self.source.kept.try_recv() {
                let _ = self.compress.send(job);
            }
        }
    }

    /// The taking side, for one more station.
    pub fn source(&self, directions: Directions) -> Source {
        Source {
            compress: if directions.compress { self.source.compress.clone() } else { never() },
            decompress: if directions.decompress { self.source.decompress.clone() } else { never() },
            passed: if directions.passed { self.source.passed.clone() } else { never() },
            kept: if directions.only_begins() { self.source.kept.clone() } else { never() },
            fast: Arc::clone(&self.source.fast),
            pass_on: self.source.pass_on.clone(),
            idle: Arc::clone(&self.source.idle),
            directions,
        }
    }

    /// Of which directions more jobs wait than stations for them.
    pub fn backlog(&self) -> [bool; DIRECTIONS] {
        let lanes = [&self.source.compress, &self.source.decompress, &self.source.passed];
        std::array::from_fn(|direction| lanes[direction].len() > self.source.idle[direction].load(Relaxed))
    }
}

/// How many jobs wait that a station could take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waits {
    /// That others could take as well.
    pub open: usize,
    /// That are kept for stations like it.
    pub kept: usize,
}

/// What is to be known of stations that only begin blocks. They set it, `submit` reads it.
#[derive(Default)]
struct Fast {
    /// How many there are, those that are being made included.
    stations: AtomicUsize,
    /// How many blocks may be kept for them, and how many if they are long ones; of these any number until they have said so.
    reserve: AtomicUsize,
    long: OnceLock<AtomicUsize>,
}

impl Fast {
    /// How many blocks may be kept if this one is to be kept.
    fn room(&self, work: &Work) -> usize {
        match self.long.get() {
            _ if !work.is_long() || self.stations.load(SeqCst) == 0 => self.reserve.load(SeqCst),
            None => usize::MAX,
            Some(long) => long.load(SeqCst),
        }
    }
}

/// The taking side of the queue, as one station sees it.
pub(crate) struct Source {
    compress: Receiver<Job>,
    decompress: Receiver<Job>,
    passed: Receiver<Job>,
    kept: Receiver<Job>,
    fast: Arc<Fast>,
    /// Where this station puts what it passes on. All stations hold it, so this lane never closes.
    pass_on: Sender<Job>,
    /// How many stations wait for work of each direction. Each station counts itself; `backlog` reads it.
    idle: Arc<[AtomicUsize; DIRECTIONS]>,
    directions: Directions,
}

impl Source {
    /// Waits for work and takes up to `share(what waits)` jobs of one direction; nothing when the queue has closed.
    ///
    /// What was passed on comes first: it is older than what was not begun yet, and what follows it waits for it. As long as
    /// `rests` says so, nothing is taken that is to be compressed from the beginning.
    pub fn take(&self, share: impl Fn(Waits) -> usize, rests: &dyn Fn() -> bool) -> Option<Vec<Job>> {
        if let Ok(job) = self.passed.try_recv() {
            return Some(vec![job]);
        }
        self.directions.each(|direction| {
            self.idle[direction].fetch_add(1, Relaxed);
        });
        let nothing = never();
        let taken = loop {
            let resting = rests();
            let compress = if resting { &nothing } else { &self.compress };
            let lanes = [compress, &self.decompress, &self.passed, &self.kept];
            let mut select = Select::new();
            for lane in lanes {
                select.recv(lane);
            }
            let ready = match resting {
                false => select.ready(),
                true => match select.ready_timeout(REST) {
                    Ok(ready) => ready,
                    Err(_) => continue,
                },
            };
            let lane = lanes[ready];
            match lane.try_recv() {
                Ok(job) => break Some((lane, job)),
                Err(crossbeam_channel::TryRecvError::Empty) => {}
                // The senders of the first two lanes live in the one `Queue`: when one is closed and empty, drain the
                // others, then stop.
                Err(crossbeam_channel::TryRecvError::Disconnected) => {
                    let lanes = [&self.compress, &self.decompress, &self.passed, &self.kept];
                    break lanes.into_iter().find_map(|lane| Some((lane, lane.try_recv().ok()?)));
                }
            }
        };
        self.directions.each(|direction| {
            self.idle[direction].fetch_sub(1, Relaxed);
        });
        let (lane, job) = taken?;
        let mut jobs = vec![job];
        // The kept ones are the younger ones.
        let lanes = if self.directions.only_begins() { [&self.compress, &self.kept] } else { [lane, &self.kept] };
        let most = share(Waits { open: lanes[0].len() + 1, kept: lanes[1].len() });
        for lane in lanes {
            while jobs.len() < most
                && let Ok(job) = lane.try_recv()
            {
                jobs.push(job);
            }
        }
        Some(jobs)
    }

    /// Passes a job on to the stations that take such, unless this is one of them: then it gets the job back. Never waits.
    pub fn pass_on(&self, job: Job) -> Result<(), Job> {
        if self.directions.passed { Err(job) } else { self.pass_on.send(job).map_err(|unsent| unsent.0) }
    }

    /// Says that this station is going to be there.
    pub fn arrive(&self) {
        self.fast.stations.fetch_add(usize::from(self.directions.only_begins()), SeqCst);
    }

    /// Says that this station is not there any more, and answers whether it was the last fast one.
    pub fn leave(&self) -> bool {
        self.directions.only_begins() && self.fast.stations.fetch_sub(1, SeqCst) == 1
    }

    /// Says how many blocks are to be kept for the fast stations, and how many if they are long ones.
    pub fn keep(&self, [reserve, long]: [usize; 2]) {
        self.fast.reserve.store(reserve, SeqCst);
        self.fast.long.get_or_init(Default::default).store(long, SeqCst);
    }

    /// Keeps nothing any more, because there are no fast stations left: what was kept goes to the others.
    ///
    /// A block that is being submitted is not forgotten: either it is in the lane by now, or [`settle`](Queue::settle) sees it.
    pub fn release(&self) {
        self.fast.reserve.store(0, SeqCst);
        while let Ok(job) = self.kept.try_recv() {
            let _ = self.pass_on.send(job);
        }
    }

    /// Takes a job if one waits.
    pub fn try_take(&self) -> Option<Job> {
        [&self.passed, &self.compress, &self.decompress, &self.kept].into_iter().find_map(|lane| lane.try_recv().ok())
    }
}

/// Bounds the bytes that are alive between the cutting of the input and the writing of the output.
pub(crate) struct Window {
    limit: AtomicU64,
    /// How many pieces of any size should fit, and how far the limit may grow for that; nothing if it is fixed.
    growth: Option<(u64, fn() -> u64)>,
    used: Mutex<u64>,
    freed: Condvar,
    /// How many wait for a permit. Changed by those who wait, read by stations.
    waiters: AtomicUsize,
    /// How many inputs are being read.
    reading: AtomicUsize,
}

/// An input is being read.
pub(crate) struct Reading(Arc<Window>);

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.reading.fetch_sub(1, Relaxed);
    }
}

impl Window {
    pub fn new(limit: u64) -> Arc<Window> {
        Self::with_growth(limit, None)
    }

    /// A window that [`raise`](Self::raise) enlarges until `pieces` of them fit, but not beyond `most`.
    pub fn growing(limit: u64, pieces: u64, most: fn() -> u64) -> Arc<Window> {
        Self::with_growth(limit, Some((pieces, most)))
    }

    fn with_growth(limit: u64, growth: Option<(u64, fn() -> u64)>) -> Arc<Window> {
        let (used, freed, waiters, reading) = Default::default();
        Arc::new(Window { limit: AtomicU64::new(limit), growth, used, freed, waiters, reading })
    }

    pub fn limit(&self) -> u64 {
        self.limit.load(Relaxed)
    }

    /// Makes room for pieces of so many bytes, unless the limit is fixed.
    pub fn raise(&self, piece: u64) {
        if let Some((pieces, most)) = self.growth {
            let wanted = piece.saturating_mul(pieces);
            if wanted > self.limit() {
                self.limit.fetch_max(wanted.min(most()), Relaxed);
                self.freed.notify_all();
            }
        }
    }

    /// Whether a piece of so many bytes is more than a fixed limit allows.
    pub fn forbids(&self, piece: u64) -> bool {
        self.growth.is_none() && piece > self.limit()
    }

    fn used(&self) -> MutexGuard<'_, u64> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A permit for `bytes`, if they fit or if the stream has nothing alive: so every stream always moves, whatever the
    /// others hold and however small the window is.
    pub fn try_permit(self: &Arc<Self>, bytes: u64, stream: &Arc<AtomicUsize>) -> Option<Permit> {
        self.grant(&mut self.used(), bytes, stream)
    }

    /// Waits until [`try_permit`](Self::try_permit) succeeds.
    pub fn permit(self: &Arc<Self>, bytes: u64, stream: &Arc<AtomicUsize>) -> Permit {
        let mut used = self.used();
        loop {
            if let Some(permit) = self.grant(&mut used, bytes, stream) {
                return permit;
            }
            self.waiters.fetch_add(1, Relaxed);
            used = self.freed.wait(used).unwrap_or_else(PoisonError::into_inner);
            self.waiters.fetch_sub(1, Relaxed);
        }
    }

    /// Whether it is certain that more comes: somebody waits for room, or has not read an input to its end.
    pub fn more_comes(&self) -> bool {
        self.waiters.load(Relaxed) > 0 || self.reading.load(Relaxed) > 0
    }

    /// Says that an input is being read, until the answer is dropped.
    pub fn reading(self: &Arc<Self>) -> Reading {
        self.reading.fetch_add(1, Relaxed);
        Reading(Arc::clone(self))
    }

    fn grant(self: &Arc<Self>, used: &mut u64, bytes: u64, stream: &Arc<AtomicUsize>) -> Option<Permit> {
        if *used + bytes > self.limit() && stream.load(Relaxed) > 0 {
            return None;
        }
        *used += bytes;
        stream.fetch_add(1, Relaxed);
        Some(Permit { window: Arc::clone(self), bytes, stream: Arc::clone(stream) })
    }
}

/// Some bytes of the [`Window`]; dropping it gives them back.
pub(crate) struct Permit {
    window: Arc<Window>,
    bytes: u64,
    /// How many permits the stream holds; changed only under the window's lock.
    stream: Arc<AtomicUsize>,
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut used = self.window.used();
        *used -= self.bytes;
        self.stream.fetch_sub(1, Relaxed);
        drop(used);
        self.window.freed.notify_all();
    }
}
