//! Jobs of a stream that run one after another, because each begins with the state that the job before it left.
//!
//! The job that ends starts the next one, so no thread waits.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The state that goes from job to job, while no job has it, and the jobs that wait for it.
pub(crate) struct Relay<S>(Mutex<(Option<S>, VecDeque<Leg<S>>)>);

/// Starts a job. The relay is an argument: if jobs held the relay that holds them, it would never be freed.
type Leg<S> = Box<dyn FnOnce(Arc<Relay<S>>, S) + Send>;

impl<S> Relay<S> {
    pub fn new(state: S) -> Arc<Relay<S>> {
        Arc::new(Relay(Mutex::new((Some(state), VecDeque::new()))))
    }

    fn lock(&self) -> MutexGuard<'_, (Option<S>, VecDeque<Leg<S>>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts this job once those before it have ended. No more jobs start unless it [passes](Self::pass) the state on.
    pub fn add(self: &Arc<Self>, start: impl FnOnce(Arc<Relay<S>>, S) + Send + 'static) {
        self.lock().1.push_back(Box::new(start));
        self.next();
    }

    /// Passes on the state that a job leaves when it ends.
    pub fn pass(self: &Arc<Self>, state: S) {
        self.lock().0 = Some(state);
        self.next();
    }

    /// Starts the next job, if there is one and none is running.
    fn next(self: &Arc<Self>) {
        let mut relay = self.lock();
        let Some(start) = relay.0.is_some().then(|| relay.1.pop_front()).flatten() else { return };
        let Some(state) = relay.0.take() else { return };
        // Not under the lock: without a station, the job is done here.
        drop(relay);
        start(Arc::clone(self), state);
    }
}
