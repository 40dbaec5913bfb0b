//! The command: what was typed becomes a [`Plan`](args::Plan), operands become inputs of the library's flow, and its
//! outputs become files, messages and an exit code.
//!
//! In reading order: `args` (what was typed, what the program needs), `run` (one call), `supply` (which files there
//! are: operands, `filelist`, `walk`), `place` (a file's name and where it is looked up), `files` (they become inputs),
//! `checks` (what must not be read or replaced), `job` (what is known of one then), `input` (what is done with it),
//! `names` (suffixes), `mirror` (`--output-dir`), `source` (the file of an operand), `underway` (operands that others
//! make), `resume` and `journal` (`--resume`), `reader` (how they are read), `part` and `ranges` (parts of them),
//! `results` (what becomes of them), `sink` (where bytes go), `verdicts` (what is printed of one), `output` (files that
//! appear complete or not at all), `holes` (what is not written of them), `index` (files of indexes), `commit` (sync,
//! name, remove the source), `reread` (`--verify=file`), `verified` (what `--verify` found), `report` (messages),
//! `tally` (the line at the end), `quote` (names on a terminal), `terminal` (its width), `json` (objects), `account`
//! (`--report`), `list` (`-l`), `recover` (`--recover`), `shards` (`--plan`, `--shard`, `--join`), `bzip2recover` (the
//! program of that name), `bench` (`--bench`), `measure` (`--measure`), `progress` and `counts` (how far it is),
//! `limits` (threads and memory), `temporary` (named temporary files and signals) and `os` (all calls of the operating
//! system that std does not make).

pub mod args;
pub mod bench;
pub mod bzip2recover;
pub mod commit;
pub mod counts;
pub mod filelist;
pub mod files;
mod formats;
pub mod holes;
pub mod index;
pub mod input;
pub mod job;
pub mod journal;
pub mod json;
pub mod limits;
pub mod list;
pub mod measure;
pub mod messages;
pub mod mirror;
pub mod names;
pub mod operand_iter;
pub mod os;
pub mod outcome_text;
pub mod output;
pub mod part;
pub mod pending;
pub mod place;
pub mod preconditions;
pub mod progress;
pub mod quote;
pub mod ranges;
pub mod reader;
pub mod recover;
pub mod report;
pub mod reread;
pub mod results;
pub mod resume;
pub mod run;
pub mod shards;
pub mod sink;
pub mod source;
pub mod tally;
pub mod temporary;
pub mod terminal;
pub mod verified;
pub mod walk;
