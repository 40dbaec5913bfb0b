//! The command: what was typed becomes a [`Plan`](args::Plan), operands become inputs of the library's flow, and its
//! outputs become files, messages and an exit code.
//!
//! Each module uses those after it: `modes` (the work), `files` (operands, names and results), `messages` (what is
//! printed about it), `args` (what was typed, and what the program needs to know). System calls that std does not
//! offer are in the package `hybz-files`.

pub mod args;
pub mod files;
pub mod messages;
pub mod modes;
