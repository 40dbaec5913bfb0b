//! The command: what was typed becomes a [`Plan`](args::Plan), operands become inputs of the library's flow, and its
//! outputs become files, messages and an exit code.
//!
//! In reading order: `args` (what was typed, what the program needs), `run` (one call), `files` (operands and names),
//! `source` (the file of an operand), `underway` (operands that others make), `reader` (how they are read), `part` and
//! `ranges` (parts of them), `results` (what becomes of them), `output` (files that appear complete or not at all),
//! `index` (files of indexes), `commit` (sync, name, remove the source), `reread`
//! (`--verify=file`), `verified` (what `--verify` found), `report` (messages), `quote` (names on a
//! terminal), `list` (`-l`), `recover` (`--recover`), `bzip2recover` (the program of that name), `progress`, `limits`
//! (threads and memory), `temporary` (named temporary files and signals) and `os` (all calls of the operating system
//! that std does not make).

pub mod args;
pub mod bzip2recover;
pub mod commit;
pub mod files;
pub mod index;
pub mod limits;
pub mod list;
pub mod os;
pub mod output;
pub mod part;
pub mod progress;
pub mod quote;
pub mod ranges;
pub mod reader;
pub mod recover;
pub mod report;
pub mod reread;
pub mod results;
pub mod run;
pub mod source;
pub mod temporary;
pub mod underway;
pub mod verified;
