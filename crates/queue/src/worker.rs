//! A worker's thread: its station is made, serves the queue, and retires.

use super::entry::{Entry, Id};
use super::job::{Job, Progress};
use super::queue::{CallerCore, Make, Shared};
use super::report::Counters;
use super::station::{Station, StationError};
use super::worker_state::Order;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// The outcome of a worker's order.
struct Done {
    /// The number of bytes that the worker did, and the number of these that other tasks continue.
    did: (u64, u64),
    /// When it finished.
    at: Duration,
    /// Tasks that cores must do in the worker's place.
    handed: Vec<Entry<Job>>,
    outcome: Result<(), StationError>,
}

impl Shared {
    /// A worker's whole life.
    pub(super) fn worker_life(self: &Arc<Self>, id: Id, make: Make, counters: &Arc<Counters>) {
        // A panic in the station's own code, even in its drop, retires it like any other failure: the queue must know
        // which workers exist, or a job could be left without a station.
        let life = catch_unwind(AssertUnwindSafe(|| {
            let station = make()?;
            counters.report().name = station.name();
            let (max_batch, max_bytes) = (station.max_batch(), station.max_bytes());
            counters.report().ready = self.now();
            self.change(|state, _| state.ready(id, max_batch, max_bytes));
            Ok(self.serve(id, station, counters))
        }));
        let mut retired = match life {
            Ok(Ok(retired)) => retired,
            Ok(Err(reason)) => Some(reason),
            Err(panic) => Some(panic_text(&*panic)),
        };
        counters.report().retired.clone_from(&retired);
        while self.depart(id, retired.is_some(), counters) {
            let core = AssertUnwindSafe(|| self.serve(id, Box::new(self.core(id)), counters));
            retired = catch_unwind(core).unwrap_or(None);
        }
    }

    /// Returns whether the worker must go on as a core.
    fn depart(self: &Arc<Self>, id: Id, failed: bool, counters: &Counters) -> bool {
        let mut inner = self.lock();
        let goes_on = inner.state.depart(id, failed);
        if goes_on {
            counters.report().accelerator = false;
        }
        self.settle(&mut inner, Some(id));
        self.unlock(inner);
        goes_on
    }

    /// Carries out orders until the queue closes or the station retires. Returns the reason for retiring.
    fn serve(self: &Arc<Self>, id: Id, mut station: Box<dyn Station>, counters: &Arc<Counters>) -> Option<String> {
        // The station is dropped at the end, because the drop may panic.
        let mut replaced = Vec::new();
        let mut inner = self.lock();
        loop {
            let waiting = Instant::now();
            let (guard, order) = self.wait(inner, id);
            let distrusted = guard.state.is_distrusted(id);
            self.unlock(guard);
            let Order::Work { entries, fresh } = order else {
                return distrusted.then(|| counters.why_distrusted());
            };
            if fresh {
                // The core's state was wrong, not the thread: a new codec may do better.
                replaced.push(std::mem::replace(&mut station, Box::new(self.core(id))));
            }
            let done = self.work_off(&mut *station, entries, counters, waiting.elapsed());
            if let Some(details) = station.details() {
                counters.report().details = Some(details);
            }
            let failure = done.outcome.err();
            let retires = failure.as_ref().is_some_and(|error| error.retire);
            inner = self.lock();
            if let Some(StationError { reason, .. }) = &failure {
                counters.report().failure = Some(reason.clone());
                if retires && station.ends_group() {
                    inner.state.blame(id);
                }
            }
            inner.state.finish(done.at, id, done.did, done.handed, retires);
            self.settle(&mut inner, Some(id));
            if retires {
                self.unlock(inner);
                return failure.map(|error| error.reason);
            }
        }
    }

    /// Lets a station do some jobs. Afterwards each job is answered, or due to be handed to the cores.
    fn work_off(
        &self,
        station: &mut dyn Station,
        entries: Vec<Entry<Job>>,
        counters: &Arc<Counters>,
        waited: Duration,
    ) -> Done {
        let working = Instant::now();
        let (mut jobs, mut places) = (Vec::with_capacity(entries.len()), Vec::with_capacity(entries.len()));
        for Entry { mut job, attributes, number } in entries {
            if job.begin(counters) {
                jobs.push(job);
                places.push((attributes, number));
            }
        }
        let bytes = || (counters.report().bytes_in, counters.deferred.load(Relaxed));
        let before = bytes();
        let outcome = catch_unwind(AssertUnwindSafe(|| if jobs.is_empty() { Ok(()) } else { station.work(&mut jobs) }));
        let outcome = outcome.unwrap_or_else(|panic| Err(StationError { reason: panic_text(&*panic), retire: false }));
        let (did, at) = ((bytes().0 - before.0, bytes().1 - before.1), self.now());
        let is_accelerator = {
            let mut report = counters.report();
            report.ended = at;
            report.waited += waited;
            report.busy += working.elapsed();
            report.accelerator
        };
        // A core redoes its own failures: if they were handed on, a job that no worker can do would go round for ever.
        let may_hand = is_accelerator && self.lock().state.has_finisher();
        let mut handed = Vec::new();
        for (job, (attributes, number)) in jobs.into_iter().zip(places) {
            match job.progress() {
                Progress::Completed => continue,
                Progress::Forwarded | Progress::Declined => {}
                Progress::Open => counters.report().fallbacks += 1,
            }
            if may_hand {
                handed.push(Entry { job, attributes, number });
            } else {
                self.do_here(job, counters);
            }
        }
        Done { did, at, handed, outcome }
    }

    /// As the last resort, a core with fresh state does the job on this thread.
    fn do_here(&self, mut job: Job, counters: &Arc<Counters>) {
        job.begin(counters);
        // A fresh core, because the station's own codec may be in any state.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| job.run(&mut self.core(0)))) {
            job.fail(panic_text(&*panic));
        }
    }

    /// Does the waiting tasks on the caller's thread as long as no worker would do them.
    pub(super) fn work_here(self: &Arc<Self>) {
        // (Taken before the state's lock: while another caller works, the state has a worker for everything.)
        let mut caller = self.caller.lock().unwrap_or_else(PoisonError::into_inner);
        let mut inner = self.lock();
        if !inner.state.is_unserved() {
            return;
        }
        let CallerCore { id, core, counters } = caller.get_or_insert_with(|| {
            let id = inner.state.add_caller(self.now());
            let counters = inner.add_handle(id);
            counters.report().name = "cpu (caller)".to_owned();
            CallerCore { id, core: self.core(0), counters }
        });
        inner.state.join(*id);
        self.settle(&mut inner, Some(*id));
        while let Some(Order::Work { entries, fresh }) = inner.state.take_order(self.now(), *id) {
            self.unlock(inner);
            if fresh {
                *core = self.core(0);
            }
            let Done { did, at, .. } = self.work_off(core, entries, counters, Duration::ZERO);
            inner = self.lock();
            // This core can fail only by panicking, and then hands nothing over: a fresh core has answered.
            inner.state.finish(at, *id, did, Vec::new(), false);
            self.settle(&mut inner, Some(*id));
        }
        inner.state.leave(*id);
        self.unlock(inner);
    }
}

/// The message of a panic.
fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("panic").to_owned()
}
