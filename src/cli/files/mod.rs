//! Files: finding operands, their names, reading them, and naming results.

pub mod commit;
pub mod filelist;
pub mod index;
pub mod job;
pub mod mirror;
pub mod names;
pub mod operand_iter;
pub mod output;
pub mod pending;
pub mod place;
pub mod preconditions;
pub mod reader;
pub mod reread;
pub mod sink;
pub mod source;
pub mod walk;
