//! The command line, in two steps: `words` reads what was typed, [`Plan`] holds what the program needs.

mod keys;
mod plan;
mod size;
mod table;
mod words;

#[cfg(test)]
pub use table::command;

pub use plan::{Gpus, Plan, Request, What, names, parse};
