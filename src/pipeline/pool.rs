//! The stations of a process, and the queue they share.
//!
//! Threads are started when the queue first outgrows those that are there, so a small file on a large machine costs one
//! thread. A station that is slow to start (a GPU) can ask to be started only once the pool has been given enough work; a long
//! block starts all those that only begin blocks, and is kept for them.

use super::queue::{DIRECTIONS, Queue, Source, Ticket, Waits, Window};
use crate::codec::bwt::periodic::PeriodicOrigins;
use crate::station::cpu::CpuStation;
use crate::station::{Directions, Station, Work, panic_text, serve, work_off};
use crate::summary::{Counters, StationReport, Summary};
use std::cell::Cell;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

/// What the default window takes for each CPU station: five blocks of text on their way and their results. More only fills
/// memory; less lets a slow block hold the others up.
const WINDOW_PER_STATION: u64 = 11 << 20;

/// Makes a station on its own thread, or says why it cannot be had.
type Make = Box<dyn FnOnce() -> Result<Box<dyn Station>, String> + Send>;

/// The stations of a process and the queue they share. Clones are the same pool.
///
/// One pool serves any number of streams at once: a process needs only one, and [`Pool::global`] is there for those who do not
/// care. Its threads end when the last clone is dropped.
#[derive(Clone)]
pub struct Pool(Arc<Inner>);

struct Inner {
    queue: Queue,
    window: Arc<Window>,
    readers: usize,
    roster: Arc<Roster>,
    /// Stations not started yet.
    waiting: Mutex<Vec<Waiting>>,
    /// How many are waiting; spares `submit` the lock.
    waiting_count: AtomicUsize,
    /// Bytes of work given to the pool so far.
    submitted: AtomicU64,
    origins: Arc<PeriodicOrigins>,
    /// Works in the caller's thread if not one thread could be started.
    inline: Mutex<Option<Inline>>,
}

/// A station that is not started yet.
struct Waiting {
    /// It is started once the pool has been given this many bytes.
    after: u64,
    directions: Directions,
    /// It begins no blocks while far faster stations do.
    rests: bool,
    make: Make,
}

struct Inline {
    station: CpuStation,
    source: Source,
    counters: Counters,
}

/// Every station that was ever started.
#[derive(Default)]
struct Roster {
    entries: Mutex<Vec<Arc<Entry>>>,
    /// Station threads that still serve the queue, for each direction.
    alive: [AtomicUsize; DIRECTIONS],
    /// Of those, stations that only begin blocks and are ready.
    fast: AtomicUsize,
}

#[derive(Default)]
struct Entry {
    name: OnceLock<String>,
    only_begins: bool,
    counters: Counters,
    /// For a station that only begins blocks, how many it takes at once. 0 for others, and when it has retired.
    fast: AtomicUsize,
    retired: Mutex<Option<String>>,
}

impl Roster {
    fn entries(&self) -> MutexGuard<'_, Vec<Arc<Entry>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A station is no more. What was kept for it and its like is there for all if it was the last; where there are no cores, it goes
    /// on as one, and keeps it.
    fn depart(&self, source: &Source) {
        if source.leave() && self.alive[2].load(SeqCst) > 0 {
            source.release();
        }
    }

    /// How many jobs a station may take so that the queue drains evenly: of those that any station can do its part of the
    /// measured speed of all (guided self-scheduling), of those kept for the fast stations its part of them.
    ///
    /// As long as more comes there is no end in sight, and a large batch is worth more than an even one: with even ones two H200s
    /// sorted 8 blocks at a time instead of 28, and took 7 % longer.
    fn share(&self, own: &Entry, most: usize, waiting: Waits, window: &Window) -> usize {
        if most <= 1 || window.more_comes() {
            return most;
        }
        let own_rate = own.counters.rate();
        let all: f64 = self.entries().iter().map(|entry| entry.counters.rate()).sum();
        let part = if own_rate > 0.0 { own_rate / all } else { 1.0 };
        let kept = waiting.kept.div_ceil(self.fast.load(Relaxed).max(1));
        ((waiting.open as f64 * part).ceil() as usize + kept).clamp(1, most)
    }

    /// Whether the fast stations are so fast that a few cores more or less do not count: 3 times as fast as all others together.
    fn outpaced(&self) -> bool {
        let (mut fast, mut slow) = (0.0, 0.0);
        for entry in self.entries().iter() {
            *(if entry.fast.load(Relaxed) > 0 { &mut fast } else { &mut slow }) += entry.counters.rate();
        }
        fast > 3.0 * slow
    }

    /// How many blocks the fast stations begin while a core does one: with fewer than that before them, they are done
    /// sooner than the core would be. First, no more than they take at once; then, if blocks are long, at least twice that.
    fn reserve(&self) -> [usize; 2] {
        let (mut fast, mut most, mut slow, mut cores) = (0.0, 0, 0.0, 0.0);
        for entry in self.entries().iter() {
            let rate = entry.counters.rate();
            let entry_most = entry.fast.load(Relaxed);
            if entry_most > 0 {
                fast += rate;
                most += entry_most;
            } else if rate > 0.0 {
                slow += rate;
                cores += 1.0;
            }
        }
        let meanwhile = if cores == 0.0 { most } else { (fast * cores / slow) as usize };
        [meanwhile.min(most), meanwhile.max(2 * most)]
    }
}

/// Chooses what a [`Pool`] is made of.
pub struct PoolBuilder {
    threads: Option<usize>,
    memory: Option<u64>,
    cpu: Directions,
    /// What the stations added can hold at once, in bytes.
    held: u64,
    /// The most that the default window may be.
    memory_most: u64,
    readers: usize,
    resting: usize,
    stations: Vec<Waiting>,
}

impl PoolBuilder {
    /// How many CPU stations; by default one for each core that this process may use.
    pub fn threads(mut self, threads: NonZeroUsize) -> Self {
        self.threads = Some(threads.get());
        self
    }

    /// No CPU stations: only those added with [`station`](Self::station) work. What they cannot do, the CPU codec still does
    /// on their threads.
    pub fn without_cpu(mut self) -> Self {
        self.threads = Some(0);
        self
    }

    /// The CPU stations begin no blocks: those that compress are the ones added with [`station`](Self::station), and the
    /// CPU finishes what they pass on. (For measuring.)
    pub fn cpu_finishes_only(mut self) -> Self {
        self.cpu = Directions::ALL_BUT_COMPRESS;
        self
    }

    /// The most bytes that blocks on their way may take, in all streams together.
    ///
    /// Each station needs up to 12 MB besides, and a lane of a GPU two to three times the text of a batch, pinned. A stream that has nothing on its way may always send one block, so a small
    /// number slows down but never stops; only a block of a `.hbz` stream that alone needs more to be decoded is refused.
    ///
    /// Without this it is some blocks for each station, of whatever size, and no more than half of the machine's memory.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// The default window grows by so many bytes, for stations that have many blocks in work at once.
    pub fn more_memory(mut self, bytes: u64) -> Self {
        self.held += bytes;
        self
    }

    /// The default window is no larger than this, whatever the stations could hold.
    pub fn memory_most(mut self, bytes: u64) -> Self {
        self.memory_most = bytes;
        self
    }

    /// How many threads read and cut one long file to be compressed, where it can be read from many places
    /// ([`Source::File`](crate::flow::Source)): one keeps up with 2 GB/s and more.
    pub fn readers(mut self, readers: usize) -> Self {
        self.readers = readers;
        self
    }

    /// So many of the CPU stations, but no more than half of them, begin no blocks while stations that take several at once are ready and
    /// far faster: they finish what these pass on, and otherwise leave their cores to the threads that feed them.
    pub fn resting(mut self, stations: usize) -> Self {
        self.resting = stations;
        self
    }

    /// Adds a station. `make` runs on the station's own thread, once the pool has been given `after` bytes of work.
    pub fn station(
        mut self,
        after: u64,
        directions: Directions,
        make: impl FnOnce() -> Result<Box<dyn Station>, String> + Send + 'static,
    ) -> Self {
        self.stations.push(Waiting { after, directions, rests: false, make: Box::new(make) });
        self
    }

    /// Makes the pool. No thread is started before there is work.
    pub fn build(self) -> Pool {
        let threads = self.threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZeroUsize::get));
        let origins = Arc::new(PeriodicOrigins::default());
        let mut waiting = Vec::with_capacity(threads + self.stations.len());
        for number in 0..threads {
            let origins = Arc::clone(&origins);
            let make: Make = Box::new(move || Ok(Box::new(CpuStation::new(number, origins)) as Box<dyn Station>));
            let rests = number >= threads - self.resting.min(threads / 2);
            waiting.push(Waiting { after: 0, directions: self.cpu, rests, make });
        }
        waiting.extend(self.stations);
        let stations = threads.max(1) as u64;
        let own = WINDOW_PER_STATION * stations;
        // What the threads need was settled with their number.
        let limit = (own + self.held).min(self.memory_most.max(own));
        let window = match self.memory {
            Some(memory) => Window::new(memory),
            None => Window::growing(limit, stations + 1, memory_to_use),
        };
        Pool(Arc::new(Inner {
            queue: Queue::new(),
            window,
            readers: self.readers,
            roster: Arc::default(),
            waiting_count: AtomicUsize::new(waiting.len()),
            waiting: Mutex::new(waiting),
            submitted: AtomicU64::new(0),
            origins,
            inline: Mutex::new(None),
        }))
    }
}

impl Pool {
    /// Chooses what a pool is made of.
    pub fn builder() -> PoolBuilder {
        PoolBuilder {
            threads: None,
            memory: None,
            cpu: Directions::BOTH,
            held: 0,
            memory_most: u64::MAX,
            readers: 1,
            resting: 0,
            stations: Vec::new(),
        }
    }

    /// The pool of those who have none of their own: one CPU station for each core that the process may use.
    pub fn global() -> &'static Pool {
        static GLOBAL: OnceLock<Pool> = OnceLock::new();
        GLOBAL.get_or_init(|| Pool::builder().build())
    }

    /// What each station has done so far.
    pub fn summary(&self) -> Summary {
        let mut stations: Vec<_> = self
            .0
            .roster
            .entries()
            .iter()
            .map(|entry| {
                let retired = entry.retired.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let name = entry.name.get().map_or("starting", String::as_str);
                StationReport { only_begins: entry.only_begins, ..entry.counters.report(name, retired) }
            })
            .collect();
        if let Some(inline) = &*self.0.inline.lock().unwrap_or_else(PoisonError::into_inner) {
            stations.push(inline.counters.report("cpu (no thread to be had)", None));
        }
        Summary { stations, window: self.0.window.limit() }
    }

    pub(crate) fn readers(&self) -> usize {
        self.0.readers
    }

    pub(crate) fn window(&self) -> &Arc<Window> {
        &self.0.window
    }

    /// Gives a block to the stations. Waits only if there is not one station thread: then the block is done here.
    pub(crate) fn submit(&self, work: Work, cancelled: &Arc<AtomicBool>) -> Ticket {
        let inner = &*self.0;
        inner.submitted.fetch_add(work.bytes_in(), Relaxed);
        let direction = work.direction();
        let alive = &inner.roster.alive[direction];
        let long = work.is_long();
        if long && inner.waiting_count.load(Relaxed) > 0 {
            while inner.start_one(|station| station.directions.only_begins()) {}
        }
        let ticket = inner.queue.submit(work, Arc::clone(cancelled));
        if inner.waiting_count.load(Relaxed) > 0 {
            let mut wanted = inner.queue.backlog();
            wanted[direction] |= alive.load(Relaxed) == 0;
            wanted[2] |= inner.roster.alive[2].load(Relaxed) == 0;
            // Somebody will have to finish it, and by then perhaps nothing more is submitted.
            inner.start_one(|station| long || station.directions.any(wanted));
        }
        inner.queue.settle();
        if alive.load(Relaxed) == 0 {
            inner.work_inline();
        }
        ticket
    }
}

/// Half of the machine's memory.
fn memory_to_use() -> u64 {
    let info = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = info.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse().ok());
    total.map_or(4 << 30, |kilobytes: u64| kilobytes * 512)
}

impl Inner {
    /// Starts the next station of those wanted that may start. Says whether there was one, and a thread for it.
    fn start_one(&self, wanted: impl Fn(&Waiting) -> bool) -> bool {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let submitted = self.submitted.load(Relaxed);
        let Some(index) = waiting.iter().position(|s| s.after <= submitted && wanted(s)) else {
            return false;
        };
        let station = waiting.remove(index);
        let directions = station.directions;
        self.waiting_count.store(waiting.len(), Relaxed);
        drop(waiting);
        let entry = Arc::new(Entry { only_begins: directions.only_begins(), ..Entry::default() });
        let source = self.queue.source(directions);
        let roster = Arc::clone(&self.roster);
        let window = Arc::clone(&self.window);
        let origins = Arc::clone(&self.origins);
        directions.each(|direction| {
            self.roster.alive[direction].fetch_add(1, SeqCst);
        });
        source.arrive();
        let own = Arc::clone(&entry);
        let started = thread::Builder::new().name("hybz station".to_owned()).spawn(move || {
            station_thread(station, &source, &own, &roster, &window, origins);
        });
        match started {
            Ok(_) => self.roster.entries().push(entry),
            // No more threads to be had: those that are there do the work, or the caller does.
            Err(_) => {
                directions.each(|direction| {
                    self.roster.alive[direction].fetch_sub(1, SeqCst);
                });
                self.roster.depart(&self.queue.source(directions));
                return false;
            }
        }
        true
    }

    /// Does what is on the queue in the caller's thread.
    fn work_inline(&self) {
        let mut inline = self.inline.lock().unwrap_or_else(PoisonError::into_inner);
        let Inline { station, source, counters } = inline.get_or_insert_with(|| Inline {
            station: CpuStation::new(0, Arc::clone(&self.origins)),
            source: self.queue.source(Directions::BOTH),
            counters: Counters::default(),
        });
        while let Some(job) = source.try_take() {
            // A CPU station fails by panicking only, and then the fallback has replied.
            let _ = work_off(station, vec![job], counters, &Err);
        }
    }
}

/// From now on this thread runs when others do not want to: a core that does blocks on its own beside fast stations is worth less than
/// the threads that feed those. (16 cores and one H200, 8 GB: 3.67 instead of 4.16 s where the fast ones do all of a block, 3.73
/// instead of 4.15 where cores finish.)
fn give_way() {
    // Elsewhere than on Linux this would be the whole process.
    #[cfg(all(target_os = "linux", feature = "cuda"))]
    let _ = rustix::process::setpriority_process(None, 10);
}

/// A station's whole life: it is made, serves the queue, and retires.
fn station_thread(
    Waiting { directions, rests, make, .. }: Waiting,
    source: &Source,
    entry: &Entry,
    roster: &Roster,
    window: &Window,
    origins: Arc<PeriodicOrigins>,
) {
    // A panic in the station's own code, be it its drop, retires it like any other failure: the count below must be right, or
    // the queue could be left without a station.
    let retired = catch_unwind(AssertUnwindSafe(|| match make() {
        Ok(mut station) => {
            let _ = entry.name.set(station.name());
            let most = station.most().max(1);
            if directions.only_begins() {
                entry.fast.store(most, Relaxed);
                roster.fast.fetch_add(1, SeqCst);
            }
            let gives_way = Cell::new(false);
            let share = |waiting: Waits| {
                if directions.only_begins() {
                    source.keep(roster.reserve());
                } else if roster.fast.load(Relaxed) > 0 && !gives_way.replace(true) {
                    give_way();
                }
                roster.share(entry, most, waiting, window)
            };
            // Whoever takes what is passed on does its own failures itself: or a block that no codec can do would go round for ever.
            let anybody_else = || !directions.passed && roster.alive[2].load(Relaxed) > 0;
            let rests = || rests && roster.fast.load(Relaxed) > 0 && roster.outpaced();
            serve(&mut *station, source, &entry.counters, &share, &rests, &anybody_else)
        }
        Err(reason) => Some(reason),
    }));
    let retired = retired.unwrap_or_else(|panic| Some(panic_text(&*panic)));
    if entry.fast.swap(0, Relaxed) > 0 {
        roster.fast.fetch_sub(1, SeqCst);
    }
    roster.depart(source);
    let Some(reason) = retired else { return };
    *entry.retired.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
    // The queue must never be without a station: the last one of a direction that retires goes on as a CPU core.
    let mut last = false;
    directions.each(|direction| last |= roster.alive[direction].fetch_sub(1, SeqCst) == 1);
    if last {
        directions.each(|direction| {
            roster.alive[direction].fetch_add(1, SeqCst);
        });
        serve(&mut CpuStation::new(0, origins), source, &entry.counters, &|_| 1, &|| false, &|| false);
    }
}
