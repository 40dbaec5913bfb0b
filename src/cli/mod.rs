//! The command: what was typed becomes a [`Plan`](args::Plan), operands become inputs of the library's flow, and what comes
//! out of it becomes files, messages and an exit code.
//!
//! In reading order: `args` (what was typed, what the program needs), `run` (the flow of one call), `files` (operands and
//! names), `output` (files that appear complete or not at all), `commit` (sync, name, remove the source), `report`
//! (messages), `list` (what `-l` says), `progress`, `limits` (threads and memory), `signals` and `inherited` (what the process was born with).

pub mod args;
pub mod commit;
pub mod files;
pub mod inherited;
pub mod limits;
pub mod list;
pub mod output;
pub mod progress;
pub mod report;
pub mod run;
pub mod signals;
