//! A CPU core, and the state that its thread keeps from task to task.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

type Values<V> = Vec<(TypeId, V)>;
type SharedValue = Arc<dyn Any + Send + Sync>;

/// Values that the cores of one pool share: one of each type.
#[derive(Default)]
pub(super) struct SharedValues(Mutex<Values<SharedValue>>);

impl SharedValues {
    pub fn get<S: Default + Send + Sync + 'static>(&self) -> Arc<S> {
        let mut values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = TypeId::of::<S>();
        let found = values.iter().find(|(of, _)| *of == id).map(|(_, value)| Arc::clone(value));
        if let Some(Ok(value)) = found.map(Arc::downcast) {
            return value;
        }
        let value = Arc::new(S::default());
        values.push((id, Arc::clone(&value) as SharedValue));
        value
    }
}

/// A CPU core's state: codecs, tables and buffers, one value of each type, made when a task first asks for it and kept
/// for the thread's life. Each task's module defines its own types, so no central structure names them.
pub struct Core {
    number: usize,
    states: Values<Box<dyn Any + Send>>,
    shared: Arc<SharedValues>,
}

impl Core {
    /// A core that belongs to no pool, to run tasks in place.
    pub fn new(number: usize) -> Core {
        Core::of_pool(number, Arc::default())
    }

    pub(super) fn of_pool(number: usize, shared: Arc<SharedValues>) -> Core {
        Core { number, states: Vec::new(), shared }
    }

    /// The core's number among the cores of its pool, from 0.
    pub fn number(&self) -> usize {
        self.number
    }

    /// This thread's `S`.
    pub fn state<S: Default + Send + 'static>(&mut self) -> &mut S {
        self.state_with(|_| S::default())
    }

    /// Like [`state`](Core::state), but made by `make`, which may ask for values that the pool shares
    /// ([`Core::shared`]).
    pub fn state_with<S: Send + 'static>(&mut self, make: impl FnOnce(&Core) -> S) -> &mut S {
        let id = TypeId::of::<S>();
        let at = self.states.iter().position(|(of, _)| *of == id).unwrap_or_else(|| {
            let state = Box::new(make(self));
            self.states.push((id, state));
            self.states.len() - 1
        });
        self.states[at].1.downcast_mut().expect("a state is kept under its own type")
    }

    /// Frees the memory of a state.
    pub fn release<S: 'static>(&mut self) {
        self.states.retain(|(of, _)| *of != TypeId::of::<S>());
    }

    /// The pool's only `S`. The call takes a lock: call it when a state is made, not for each task.
    pub fn shared<S: Default + Send + Sync + 'static>(&self) -> Arc<S> {
        self.shared.get()
    }

    /// A core on this thread without any state, kept or shared: this core's state may be what was wrong.
    pub fn fresh(&self) -> Core {
        Core::new(self.number)
    }
}

impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Core").field("number", &self.number).finish_non_exhaustive()
    }
}
