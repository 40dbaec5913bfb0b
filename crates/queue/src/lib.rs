//! A queue of tasks that CPU cores and accelerators drain together, and the rule by which they share the work.
//!
//! The queue knows nothing about the work. A [`Task`] defines how a core runs it; an accelerator reads the tasks of the
//! [`Class`]es that it accepts. A client of a [`Pool`] submits tasks and gets a [`Ticket`] for each output.
//!
//! ```text
//! client.task(t).class(ENCODE, bytes).submit() --> [ENCODE: t t t t] --> accelerator: a batch of one class, or a core
//! client.task(t).submit()                       --> [continuations  ] --> cores only, before everything else
//!    ^                                                                         |
//!    '------------------------- ticket <----------- output --------------------'  (declined: a continuation)
//! ```
//!
//! | file | |
//! |---|---|
//! | `task` | tasks, tickets, duties: where outputs go |
//! | `class` | classes of tasks, and which of them a station accepts |
//! | `job` | a task as a station sees it |
//! | `core` | what a core keeps from task to task |
//! | `station` | the trait [`Station`] |
//! | `produced_by` | who produced an output |
//! | `policy` | the rule, as pure functions of a snapshot |
//! | `state`, `entry`, `worker_state` | waiting tasks and workers: no lock, no clock |
//! | `decide`, `figures` | the decision: which free worker is assigned which work |
//! | `queue` | the lock around the state; waking and starting threads |
//! | `worker` | a worker's thread: its station is made, serves the queue, and retires |
//! | `submitter` | putting tasks on the queue |
//! | `checked` | tasks whose outputs another worker checks |
//! | `memory` | the budget that bounds the bytes alive |
//! | `huge_pages` | advice about large buffers |
//! | `pool` | pools, clients, groups |
//! | `process` | the process's number, to notice forks |
//! | `report` | counters of each station |

mod checked;
mod class;
mod core;
mod decide;
mod entry;
mod figures;
mod huge_pages;
mod inputs;
#[cfg(test)]
mod interleaving;
mod job;
mod memory;
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
mod task;
mod worker;
mod worker_state;

pub use self::core::Core;
pub use checked::{Check, Checked, Made, Miscomputed, Outcome, Retry};
pub use class::{Accepts, Class};
pub use huge_pages::advise as advise_huge_pages;
pub use job::{Job, TypedJob};
pub use memory::{
    MemoryBudget, Permit, of_machine as memory_of_machine, of_one_piece as memory_of_one_piece,
    of_process as memory_of_process,
};
pub use policy::Expected;
pub use pool::{Accelerators, Client, Pool, PoolBuilder, Reading, WorkerGroup};
pub use produced_by::ProducedBy;
pub use report::{StationReport, Summary};
pub use station::{Station, StationError};
pub use submitter::{Submission, Submitter};
pub use task::{Duty, Start, Task, TaskError, Ticket};

/// The README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
