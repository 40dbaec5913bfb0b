//! The queue, the stations and the rule by which they share the work, for any kind of work.
//!
//! Nothing here knows what the work is. A kind of work ([`Work`]) says what lies on the queue ([`Question`]s, as
//! [`Job`]s) and how a CPU core does it; whoever has work makes a [`Pool`] and becomes its [`Client`].
//!
//! ```text
//! client -- submit(question) --> queue -- take(batch) --> station: core, or accelerator
//!    ^                                                       |
//!    '------------------ ticket <------ answer --------------'   (or: passed on, declined --> a core)
//! ```
//!
//! | file | |
//! |---|---|
//! | `job` | questions, jobs and tickets: the question's type fixes the answer's |
//! | `maker` | who made an answer |
//! | `station` | the traits [`Work`] and [`Station`] |
//! | `policy` | the rule, as pure functions of a snapshot |
//! | `state` | what waits, who is there, what is decided: no lock, no clock |
//! | `queue` | the lock around it, and the life of a station's thread |
//! | `memory` | the budget that bounds the bytes alive |
//! | `pool` | pools, clients, crews |
//! | `process` | which process this is: forks |
//! | `report` | what each station has done |

mod inputs;
mod job;
mod maker;
pub(crate) mod memory;
mod policy;
mod pool;
mod process;
mod queue;
mod report;
mod seat;
#[cfg(test)]
mod simulation;
mod state;
#[cfg(test)]
mod state_tests;
mod station;

pub use job::{Accepts, AnyJob, Class, Deferred, ErasedJob, Job, JobError, Question, Ticket};
pub use maker::Maker;
pub use memory::{MemoryBudget, Permit, of_machine as memory_of_machine, of_process as memory_of_process};
pub use policy::Expected;
pub use pool::{Client, Crew, Pool, PoolBuilder, Reading};
pub use queue::Submitter;
pub use report::{StationReport, Summary};
pub use station::{Station, StationError, Work};
