//! Threads that code and decode blocks, if `HYBZ_THREADS` asks for them: without it there are none.
//!
//! A library in somebody else's process must not surprise it: threads are made when blocks wait, have all signals
//! blocked, and end after a second without work. If none can be made the caller does the work: a waiter does a job that
//! no thread has begun.
//!
//! **Forks.** A child has none of its parent's threads, and a thread may have held the lock. So the child makes a crew
//! of its own, and repeats all jobs that its parent made, from their input, which is kept.

use crate::fast::Fast;
use hybz::internals::codec::Encoder;
use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// A thread without work ends after this time.
const IDLE: Duration = Duration::from_secs(1);
/// The most threads that a process gets.
const MAX_THREADS: usize = 256;

/// How many threads may work: 1 means only the caller's. `HYBZ_THREADS` sets the number, 0 for all cores; it is
/// ignored in programs that run with more rights than the user who started them.
pub fn threads() -> usize {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
    match THREADS.load(Relaxed) {
        0 => {
            let threads = asked_for().clamp(1, MAX_THREADS);
            THREADS.store(threads, Relaxed);
            threads
        }
        threads => threads,
    }
}

fn asked_for() -> usize {
    // SAFETY: both functions take any value, and the environment's strings end with a zero.
    let value = unsafe {
        if libc::getauxval(libc::AT_SECURE) != 0 {
            return 1;
        }
        let value = libc::getenv(c"HYBZ_THREADS".as_ptr());
        if value.is_null() {
            return 1;
        }
        CStr::from_ptr(value)
    };
    match value.to_str().ok().and_then(|value| value.parse().ok()) {
        Some(0) => std::thread::available_parallelism().map_or(1, usize::from),
        Some(threads) => threads,
        None => 1,
    }
}

/// What a thread keeps from job to job.
#[derive(Default)]
pub struct Tools {
    /// For coding blocks, which needs a buffer of twice their length.
    pub encoder: Option<Encoder>,
    /// That buffer.
    pub block: Vec<u8>,
    /// For decoding blocks.
    pub fast: Option<Fast>,
}

/// Work that may be done more than once, because it does not change its input.
pub trait Work: Send + Sync + 'static {
    /// Its output.
    type Output: Send + 'static;
    /// Does it.
    fn run(&self, tools: &mut Tools) -> Self::Output;
}

/// It has not begun.
const WAITING: u32 = 0;
/// A thread or its waiter is doing it.
const BEGUN: u32 = 1;
/// Its output is there, or has been taken.
const DONE: u32 = 2;

/// Some work, and its output.
pub struct Job<W: Work> {
    work: W,
    state: AtomicU32,
    /// The number of forks before it was made.
    forks: u32,
    output: UnsafeCell<Option<W::Output>>,
}

// SAFETY: `output` is touched only by the thread that has set `state` to BEGUN, until it is DONE; then only by the
// waiter. In the child of a fork no thread reads it: `wait` compares `forks`.
unsafe impl<W: Work> Sync for Job<W> {}
// SAFETY: the work and its output may be sent.
unsafe impl<W: Work> Send for Job<W> {}

impl<W: Work> Job<W> {
    /// A job that is not submitted yet.
    pub fn new(work: W) -> Arc<Self> {
        let (state, output) = (AtomicU32::new(WAITING), UnsafeCell::new(None));
        Arc::new(Job { work, state, forks: FORKS.load(Relaxed), output })
    }

    /// Its work.
    pub fn work(&self) -> &W {
        &self.work
    }

    /// Whether waiting for it returns at once.
    pub fn is_done(&self) -> bool {
        self.state.load(Acquire) == DONE
    }

    fn begin(&self) -> bool {
        self.state.compare_exchange(WAITING, BEGUN, Relaxed, Relaxed).is_ok()
    }

    /// Cancels it, unless it has begun.
    pub fn cancel(&self) {
        self.begin();
    }
}

impl<W: Work> Job<W> {
    /// Its output, made by a thread or else here. A second call does the work again, as does the child of a fork.
    pub fn wait(self: &Arc<Self>, tools: &mut Tools) -> W::Output {
        if self.forks != FORKS.load(Relaxed) {
            // A thread of the parent may have written a part of the output, whatever the state says.
            return self.work.run(tools);
        }
        if self.begin() {
            crew().forget(Arc::as_ptr(self).cast());
            self.state.store(DONE, Release);
        }
        if !self.is_done() {
            let crew = crew();
            let mut shared = crew.lock();
            while !self.is_done() {
                shared = crew.done.wait(shared).unwrap_or_else(|poisoned| poisoned.into_inner());
            }
        }
        // SAFETY: it is done, and has one waiter.
        let output = unsafe { (*self.output.get()).take() };
        output.unwrap_or_else(|| self.work.run(tools))
    }
}

/// A job of any kind.
trait Task: Send + Sync {
    fn perform(&self, tools: &mut Tools);
}

impl<W: Work> Task for Job<W> {
    fn perform(&self, tools: &mut Tools) {
        if self.begin() {
            let output = self.work.run(tools);
            // SAFETY: `begin` returns true only once, so no other thread writes.
            unsafe { *self.output.get() = Some(output) };
            self.state.store(DONE, Release);
        }
    }
}

/// The threads, and their queue of jobs.
struct Crew {
    forks: u32,
    shared: Mutex<Shared>,
    work: Condvar,
    done: Condvar,
}

#[derive(Default)]
struct Shared {
    queue: VecDeque<Arc<dyn Task>>,
    threads: usize,
    idle: usize,
}

/// How often this process's ancestors have forked, counted from the first use of a crew.
static FORKS: AtomicU32 = AtomicU32::new(0);
static CREW: AtomicPtr<Crew> = AtomicPtr::new(ptr::null_mut());

extern "C" fn count_fork() {
    FORKS.fetch_add(1, Relaxed);
}

/// The crew of this process, made when it is first needed.
fn crew() -> &'static Crew {
    let forks = FORKS.load(Relaxed);
    let current = CREW.load(Acquire);
    // SAFETY: a published crew is never freed: in the child of a fork a thread may have held its lock.
    if let Some(crew) = unsafe { current.as_ref() }
        && crew.forks == forks
    {
        return crew;
    }
    if current.is_null() {
        // SAFETY: the function exists as long as the process: the library is linked with `-z nodelete`. If there is no
        // memory to register it, no thread can be made either.
        unsafe { libc::pthread_atfork(None, None, Some(count_fork)) };
    }
    let crew = Crew { forks, shared: Mutex::default(), work: Condvar::new(), done: Condvar::new() };
    let crew = Box::into_raw(Box::new(crew));
    match CREW.compare_exchange(current, crew, Release, Acquire) {
        // SAFETY: it is never freed.
        Ok(_) => unsafe { &*crew },
        Err(other) => {
            // SAFETY: this crew was not published, and the other one is never freed.
            unsafe {
                drop(Box::from_raw(crew));
                &*other
            }
        }
    }
}

impl Crew {
    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Removes the job from the queue.
    fn forget(&self, job: *const ()) {
        self.lock().queue.retain(|task| Arc::as_ptr(task).cast() != job);
    }

    /// The main loop of a thread.
    fn live(&self) {
        let mut tools = Tools::default();
        let mut shared = self.lock();
        loop {
            if let Some(task) = shared.queue.pop_front() {
                drop(shared);
                task.perform(&mut tools);
                drop(task);
                shared = self.lock();
                self.done.notify_all();
                continue;
            }
            shared.idle += 1;
            let (guard, waited) = self.work.wait_timeout(shared, IDLE).unwrap_or_else(|poisoned| poisoned.into_inner());
            shared = guard;
            shared.idle -= 1;
            if waited.timed_out() && shared.queue.is_empty() {
                shared.threads -= 1;
                return;
            }
        }
    }
}

/// Gives a job to the threads; makes another thread if all are busy.
pub fn submit<W: Work>(job: &Arc<Job<W>>) {
    let crew = crew();
    let mut shared = crew.lock();
    shared.queue.push_back(Arc::clone(job) as Arc<dyn Task>);
    let more = shared.queue.len() > shared.idle && shared.threads < threads();
    shared.threads += usize::from(more);
    drop(shared);
    if more && !spawn(crew) {
        crew.lock().threads -= 1;
    }
    crew.work.notify_one();
}

/// Makes a thread that gets no signals. Returns false if it cannot be made.
fn spawn(crew: &'static Crew) -> bool {
    let mut all = MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the first call initialises `all`, the second `before`; they cannot fail.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
    }
    let spawned = std::thread::Builder::new().name("hybz-libbz2".to_owned()).spawn(|| crew.live()).is_ok();
    // SAFETY: as above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
    spawned
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Five;

    impl Work for Five {
        type Output = u32;
        fn run(&self, _: &mut Tools) -> u32 {
            5
        }
    }

    /// The child of a fork does not read what a thread of the parent has written, completely or in part.
    #[test]
    fn outputs_of_a_parents_threads() {
        for state in [BEGUN, DONE] {
            let (state, output) = (AtomicU32::new(state), UnsafeCell::new(Some(7)));
            let job = Arc::new(Job { work: Five, state, forks: FORKS.load(Relaxed).wrapping_sub(1), output });
            assert_eq!([0; 2].map(|_| job.wait(&mut Tools::default())), [5, 5]);
        }
    }
}
