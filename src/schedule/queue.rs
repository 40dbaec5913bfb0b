//! The one queue, the threads that serve it, and the life of a station: made, serving, retired.
//!
//! One lock guards the [`State`]; it is held for microseconds, to submit a job or to take some. Each station that finds
//! nothing waits at a bell of its own.

use super::job::{AnyJob, Class, Job, JobError, Progress, Question, Ticket};
use super::maker::Maker;
use super::memory::MemoryBudget;
use super::process;
use super::report::{Counters, StationReport};
use super::state::{Actions, Entry, Id, State, Taken, Wish};
use super::station::{Station, StationError, Work};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// Makes a station on its own thread, or says why it cannot be had.
pub(super) type Make<J> = Box<dyn FnOnce() -> Result<Box<dyn Station<J>>, String> + Send>;

/// What the members of a crew are made by, and what each holds.
pub(super) struct CrewMakes<J> {
    pub makes: Vec<Make<J>>,
    pub held_bytes: u64,
}

/// What all threads of a pool share.
pub(crate) struct Shared<W: Work> {
    pub work: W,
    pub budget: Arc<MemoryBudget>,
    desk: Mutex<Desk<W::Job>>,
    /// By crew, until it is started.
    crews: Mutex<Vec<CrewMakes<W::Job>>>,
    /// Works in the caller's thread if not one thread could be started.
    inline: Mutex<Option<Inline<W::Job>>>,
    /// The thread that does.
    inline_thread: Mutex<Option<ThreadId>>,
    began: Instant,
    /// The process that made it.
    process: u64,
}

/// What the lock guards.
struct Desk<J> {
    state: State<J>,
    /// By station.
    seats: Vec<Seat>,
}

struct Seat {
    bell: Arc<Condvar>,
    counters: Arc<Counters>,
}

struct Inline<J> {
    id: Id,
    station: Box<dyn Station<J>>,
    counters: Arc<Counters>,
}

impl<W: Work> Shared<W> {
    pub fn new(
        work: W,
        budget: Arc<MemoryBudget>,
        state: State<W::Job>,
        crews: Vec<CrewMakes<W::Job>>,
    ) -> Arc<Shared<W>> {
        let desk = Mutex::new(Desk { state, seats: Vec::new() });
        let (crews, inline, inline_thread) = (Mutex::new(crews), Mutex::new(None), Mutex::new(None));
        let (began, process) = (Instant::now(), process::number());
        Arc::new(Shared { work, budget, desk, crews, inline, inline_thread, began, process })
    }

    /// Whether this process was forked from the one that has the stations. Then no lock may be taken: another thread
    /// may have held it at the fork, and nobody would give it back.
    pub fn is_foreign(&self) -> bool {
        self.process != process::number()
    }

    fn desk(&self) -> MutexGuard<'_, Desk<W::Job>> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// Puts a job on the queue. Waits only if there is not one station: then the job is done here.
    fn submit(self: &Arc<Self>, job: W::Job, wish: Wish) {
        let more = self.budget.is_waited_for();
        let Actions { start_core, start_crews, mut unserved, .. } = {
            let mut desk = self.desk();
            let actions = desk.state.submit(self.now(), job, wish, more);
            desk.ring(&actions);
            actions
        };
        for crew in start_crews {
            self.start_crew(crew);
        }
        if start_core {
            unserved |= !self.start_core();
        }
        let is_done_by_others = || {
            let state = &self.desk().state;
            if wish.second_stage { state.has_finisher() } else { state.is_served(wish.class) }
        };
        if unserved && !is_done_by_others() {
            self.work_inline();
        }
    }

    /// An input is being read.
    pub fn begin_reading(&self, bytes: Option<u64>) {
        self.desk().state.begin_reading(bytes);
    }

    /// It is being read no longer.
    pub fn end_reading(&self, bytes: Option<u64>) {
        self.desk().state.end_reading(bytes);
    }

    /// Nobody submits any more: stations end when they have done what waits.
    pub fn close(&self) {
        let mut desk = self.desk();
        desk.state.close();
        desk.ring_all();
    }

    /// Whether accelerators have been started, or there are none to start.
    pub fn is_accelerated(&self) -> bool {
        self.desk().state.is_accelerated()
    }

    /// Whether there are accelerators for jobs of this class, started or not.
    pub fn has_accelerators_for(&self, class: Class) -> bool {
        self.desk().state.has_accelerators_for(class)
    }

    pub fn reports(&self) -> Vec<StationReport> {
        self.desk().seats.iter().map(|seat| seat.counters.report()).collect()
    }

    /// Starts one more core. Returns whether there was a thread for it.
    fn start_core(self: &Arc<Self>) -> bool {
        let (id, number, counters) = {
            let mut desk = self.desk();
            let (id, number) = desk.state.add_core(self.now());
            (id, number, desk.seat(id, false, &Arc::default()))
        };
        let shared = Arc::clone(self);
        let make: Make<W::Job> = Box::new(move || Ok(shared.work.core(number)));
        let started = self.spawn(id, make, counters);
        if !started {
            let mut desk = self.desk();
            desk.state.no_more_cores();
            desk.ring_all(); // what was left to that core is theirs
        }
        started
    }

    fn start_crew(self: &Arc<Self>, number: usize) {
        let CrewMakes { makes, held_bytes } = {
            let mut crews = self.crews.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut crews[number], CrewMakes { makes: Vec::new(), held_bytes: 0 })
        };
        let distrusted = Arc::default();
        for make in makes {
            let (id, counters) = {
                let mut desk = self.desk();
                let (id, accelerator) = desk.state.add_member(self.now(), number);
                (id, desk.seat(id, accelerator, &distrusted))
            };
            if self.spawn(id, make, counters) {
                self.budget.fit_station(held_bytes);
            }
        }
    }

    /// Starts a station's thread, if one can be had. If not, those that are there do the work, or the caller does.
    fn spawn(self: &Arc<Self>, id: Id, make: Make<W::Job>, counters: Arc<Counters>) -> bool {
        let shared = Arc::clone(self);
        let own = Arc::clone(&counters);
        let life = move || shared.station_life(id, make, &own);
        let started = thread::Builder::new().name("hybz station".to_owned()).spawn(life).is_ok();
        if !started {
            counters.set_retired("no thread to be had".to_owned());
            let mut desk = self.desk();
            desk.state.depart(id);
            desk.ring_all();
        }
        started
    }

    /// A station's whole life: it is made, serves the queue, and retires.
    fn station_life(self: &Arc<Self>, id: Id, make: Make<W::Job>, counters: &Arc<Counters>) {
        // A panic in the station's own code, be it its drop, retires it like any other failure: the queue must know who
        // is there, or a job could be left without a station.
        let life = catch_unwind(AssertUnwindSafe(|| match make() {
            Ok(mut station) => {
                counters.set_name(station.name());
                let (max_batch, max_bytes) = (station.max_batch(), station.max_bytes());
                self.desk().state.ready(id, max_batch, max_bytes);
                let retired = self.serve(id, &mut *station, true, counters);
                // A core is not the thread's, so a fresh codec may do better. It is better than nobody who verifies.
                let is_core = !counters.accelerator.load(Relaxed);
                if counters.distrust().is_some() && is_core && !self.departs_with_two_left(id) {
                    self.serve(id, &mut *self.work.core(id), false, counters)
                } else {
                    retired
                }
            }
            Err(reason) => Some(reason),
        }));
        let retired = life.unwrap_or_else(|panic| Some(panic_text(&*panic)));
        let (goes_on, cores) = {
            let mut desk = self.desk();
            let left = desk.state.depart(id);
            desk.ring_all();
            // No work may be without a station: the last one for it goes on as a core.
            let goes_on = retired.is_some() && desk.state.is_short();
            if goes_on {
                desk.state.go_on_as_core(id);
                desk.seats[id].counters.accelerator.store(false, Relaxed);
            }
            // (After that: who goes on is one of many cores only as long as there are some to be started.)
            (goes_on, desk.state.cores_for(left.saturating_sub(usize::from(goes_on))))
        };
        // If there is no thread for one, there is none for the next, and those that are there do the work.
        let all_started = (0..cores).all(|_| self.start_core());
        if !all_started && !goes_on && !self.desk().state.has_finisher() {
            self.work_inline();
        }
        if let Some(reason) = retired {
            counters.set_retired(reason);
        }
        if goes_on {
            self.serve(id, &mut *self.work.core(id), false, counters);
            let mut desk = self.desk();
            desk.state.depart(id);
            desk.ring_all();
        }
    }

    /// A core leaves if there are two others. (Under one lock: of three that are distrusted at once only one leaves.)
    fn departs_with_two_left(&self, id: Id) -> bool {
        let mut desk = self.desk();
        let leaves = desk.state.two_other_cores(id);
        if leaves {
            desk.state.depart(id);
            desk.ring_all();
        }
        leaves
    }

    /// Takes and does batches until the queue closes or the station retires. Returns why it retired. One that has coded
    /// a block wrong retires, if it `may`.
    fn serve(
        self: &Arc<Self>,
        id: Id,
        station: &mut dyn Station<W::Job>,
        may: bool,
        counters: &Arc<Counters>,
    ) -> Option<String> {
        let distrust = || if may { counters.distrust() } else { None };
        loop {
            let waiting = Instant::now();
            let Some(jobs) = self.take(id, || distrust().is_some()) else { return distrust() };
            let waited = waiting.elapsed();
            let outcome = self.work_off(id, station, jobs, counters, waited);
            if let Some(details) = station.details() {
                counters.set_details(details);
            }
            if let Err(StationError { reason, retire }) = outcome {
                counters.set_failure(&reason);
                if retire {
                    if station.ends_crew() {
                        counters.distrust_crew();
                        self.desk().ring_all();
                    }
                    return Some(reason);
                }
            }
        }
    }

    /// Waits for work; nothing when the queue has closed, or when the station is `done`.
    fn take(&self, id: Id, done: impl Fn() -> bool) -> Option<Vec<Entry<W::Job>>> {
        let mut desk = self.desk();
        let bell = Arc::clone(&desk.seats[id].bell);
        loop {
            if done() {
                return None;
            }
            let more = self.budget.is_waited_for();
            match desk.state.take(self.now(), id, more) {
                Taken::Jobs(jobs) => return Some(jobs),
                Taken::Closed => return None,
                Taken::Nothing => desk = bell.wait(desk).unwrap_or_else(PoisonError::into_inner),
                Taken::LeftToOthers(time, other) => {
                    if let Some(other) = other {
                        desk.seats[other].bell.notify_one();
                    }
                    desk = bell.wait_timeout(desk, time).unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
    }

    /// Has a station do some jobs, and sees to it that each of them is answered or on its way to somebody else.
    fn work_off(
        self: &Arc<Self>,
        id: Id,
        station: &mut dyn Station<W::Job>,
        entries: Vec<Entry<W::Job>>,
        counters: &Arc<Counters>,
        waited: Duration,
    ) -> Result<(), StationError> {
        let working = Instant::now();
        let (mut jobs, mut places) = (Vec::with_capacity(entries.len()), Vec::with_capacity(entries.len()));
        for Entry { mut job, class, bytes, .. } in entries {
            if job.erased().begin(counters) {
                jobs.push(job);
                places.push((class, bytes));
            }
        }
        let before = counters.bytes_in.load(Relaxed);
        let deferred_before = counters.deferred.load(Relaxed);
        let outcome = catch_unwind(AssertUnwindSafe(|| if jobs.is_empty() { Ok(()) } else { station.work(&mut jobs) }));
        let outcome = outcome.unwrap_or_else(|panic| Err(StationError { reason: panic_text(&*panic), retire: false }));
        counters.count_time(waited, working.elapsed());
        let deferred = counters.deferred.load(Relaxed) - deferred_before;
        self.desk().state.done(self.now(), id, counters.bytes_in.load(Relaxed) - before, deferred);
        for (mut job, (class, bytes)) in jobs.into_iter().zip(places) {
            match job.erased().progress() {
                Progress::Answered => continue,
                Progress::PassedOn | Progress::Declined => {}
                Progress::Open => {
                    counters.fallbacks.fetch_add(1, Relaxed);
                }
            }
            if let Err(job) = self.hand_over(id, job, class, bytes) {
                self.do_here(job, counters);
            }
        }
        outcome
    }

    /// Leaves a job to the cores, if there are any besides this station. Never waits.
    fn hand_over(self: &Arc<Self>, id: Id, job: W::Job, class: Class, bytes: u64) -> Result<(), W::Job> {
        let actions = {
            let mut desk = self.desk();
            // Whoever takes second stages does its own failures itself: a job that no station can do would go round for
            // ever.
            if !desk.seats[id].counters.accelerator.load(Relaxed) || !desk.state.has_finisher() {
                return Err(job);
            }
            let actions =
                desk.state.submit(self.now(), job, Wish { class, bytes, second_stage: true, avoid: None }, true);
            desk.ring(&actions);
            actions
        };
        if actions.start_core && !self.start_core() && !self.desk().state.has_finisher() {
            self.work_inline();
        }
        Ok(())
    }

    /// The last resort: a core does the job, on this thread.
    fn do_here(&self, job: W::Job, counters: &Arc<Counters>) {
        let mut job = [job];
        job[0].erased().begin(counters);
        // A fresh one: the station's own codec may be in any state.
        let done = catch_unwind(AssertUnwindSafe(|| self.work.core(0).work(&mut job)));
        let reason = match done {
            Ok(Ok(())) => "a core gave no answer".to_owned(),
            Ok(Err(error)) => error.reason,
            Err(panic) => panic_text(&*panic),
        };
        job[0].erased().fail(reason); // does nothing if it was answered
    }

    /// Does what is on the queue in the caller's thread.
    fn work_inline(self: &Arc<Self>) {
        let own = thread::current().id();
        let by = |thread| *self.inline_thread.lock().unwrap_or_else(PoisonError::into_inner) = thread;
        if *self.inline_thread.lock().unwrap_or_else(PoisonError::into_inner) == Some(own) {
            // A job that is being done here has submitted another: it is next in the loop below.
            return;
        }
        let mut inline = self.inline.lock().unwrap_or_else(PoisonError::into_inner);
        let Inline { id, station, counters } = inline.get_or_insert_with(|| {
            let mut desk = self.desk();
            let id = desk.state.add_inline_core(self.now());
            let counters = desk.seat(id, false, &Arc::default());
            counters.set_name("cpu (no thread to be had)".to_owned());
            Inline { id, station: self.work.core(0), counters }
        });
        by(Some(own));
        loop {
            let taken = { self.desk().state.take(self.now(), *id, false) };
            let Taken::Jobs(jobs) = taken else { break };
            // A core fails by panicking only, and then a fresh one has answered.
            let _ = self.work_off(*id, &mut **station, jobs, counters, Duration::ZERO);
        }
        by(None);
    }
}

impl<J> Desk<J> {
    /// The bell and the counters of a new station.
    fn seat(&mut self, id: Id, accelerator: bool, distrusted: &Arc<AtomicBool>) -> Arc<Counters> {
        let counters = Arc::new(Counters::new(id, accelerator, Arc::clone(distrusted)));
        debug_assert_eq!(id, self.seats.len());
        self.seats.push(Seat { bell: Arc::default(), counters: Arc::clone(&counters) });
        counters
    }

    fn ring(&self, actions: &Actions) {
        if let Some(id) = actions.wake {
            self.seats[id].bell.notify_one();
        }
    }

    fn ring_all(&self) {
        self.seats.iter().for_each(|seat| seat.bell.notify_one());
    }
}

/// What a panic said.
fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("panic").to_owned()
}

/// Puts jobs on a pool's queue. Clones are the same submitter.
pub struct Submitter<W: Work> {
    shared: Arc<Shared<W>>,
    cancelled: Arc<AtomicBool>,
}

impl<W: Work> Clone for Submitter<W> {
    fn clone(&self) -> Self {
        Submitter { shared: Arc::clone(&self.shared), cancelled: Arc::clone(&self.cancelled) }
    }
}

impl<W: Work> std::fmt::Debug for Submitter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Submitter").field("cancelled", &self.cancelled).finish_non_exhaustive()
    }
}

impl<W: Work> Submitter<W> {
    pub(super) fn new(shared: &Arc<Shared<W>>) -> Self {
        Submitter { shared: Arc::clone(shared), cancelled: Arc::default() }
    }

    pub(super) fn shared(&self) -> &Arc<Shared<W>> {
        &self.shared
    }

    /// Another one of the same pool and process, which is cancelled by itself.
    pub(super) fn sibling(&self) -> Self {
        Submitter::new(&self.shared)
    }

    /// Asks `question` of the stations. Returns at once, unless there is not one station: then the answer is found
    /// here.
    pub fn submit<Q: Question>(&self, question: Q) -> Ticket<Q::Answer>
    where
        Job<Q>: Into<W::Job>,
    {
        let (job, ticket) = Job::with_ticket(question, Arc::clone(&self.cancelled));
        self.send(job, None);
        ticket
    }

    /// Asks `question`, and has `then` called with the answer on the station's thread. It must not block, nor panic.
    pub fn submit_then<Q: Question>(&self, question: Q, then: impl FnOnce(Result<Q::Answer, JobError>) + Send + 'static)
    where
        Job<Q>: Into<W::Job>,
    {
        self.submit_avoiding(question, None, |answer, _| then(answer));
    }

    /// The same, and `then` is told who answered. A second stage is not done by the core `avoid`, if there is another.
    pub fn submit_avoiding<Q: Question>(
        &self,
        question: Q,
        avoid: Option<&Maker>,
        then: impl FnOnce(Result<Q::Answer, JobError>, Maker) + Send + 'static,
    ) where
        Job<Q>: Into<W::Job>,
    {
        let avoid = avoid.and_then(Maker::station);
        self.send(Job::with_call(question, Arc::clone(&self.cancelled), then), avoid);
    }

    fn send<Q: Question>(&self, job: Job<Q>, avoid: Option<Id>)
    where
        Job<Q>: Into<W::Job>,
    {
        let (bytes, second_stage) = (job.question().bytes(), job.question().is_second_stage());
        self.shared.submit(job.into(), Wish { class: Q::CLASS, bytes, second_stage, avoid });
    }

    /// Says that nobody wants the answers any more: jobs that no station has begun are dropped.
    pub fn cancel(&self) {
        self.cancelled.store(true, Relaxed);
    }

    /// Whether nobody wants the answers any more.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Relaxed)
    }
}
