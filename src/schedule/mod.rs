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
//! | `produced_by` | who produced an answer |
//! | `station` | the traits [`Work`] and [`Station`] |
//! | `policy` | the rule, as pure functions of a snapshot |
//! | `state`, `worker` | what waits, who is there: no lock, no clock |
//! | `decide`, `figures` | what is decided: which free worker is assigned which work |
//! | `queue` | the lock around it, and who is woken |
//! | `life` | the life of a worker's thread |
//! | `submitter` | who puts jobs on the queue |
//! | `checked` | tasks whose answers another worker checks |
//! | `memory` | the budget that bounds the bytes alive |
//! | `pool` | pools, clients, crews |
//! | `process` | which process this is: forks |
//! | `report` | what each station has done |

pub(crate) mod checked;
mod decide;
mod figures;
mod inputs;
#[cfg(test)]
mod interleaving;
mod job;
mod life;
pub(crate) mod memory;
mod policy;
mod pool;
mod process;
mod produced_by;
mod queue;
mod report;
#[cfg(test)]
mod simulation;
mod state;
#[cfg(test)]
mod state_tests;
mod station;
mod submitter;
mod worker;

pub use job::{Accepts, AnyJob, Class, Deferred, ErasedJob, Job, JobError, Question, Ticket};
pub use memory::{MemoryBudget, Permit, of_machine as memory_of_machine, of_process as memory_of_process};
pub use policy::Expected;
pub use pool::{Client, Crew, Pool, PoolBuilder, Reading};
pub use produced_by::ProducedBy;
pub use report::{StationReport, Summary};
pub use station::{Station, StationError, Work};
pub use submitter::Submitter;
