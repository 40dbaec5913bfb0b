//! Files: finding operands, their names, reading them, and naming results.

pub mod commit;
mod filelist;
pub mod index;
mod job;
mod mirror;
mod names;
mod operand_iter;
mod output;
mod pending;
mod place;
mod preconditions;
mod reader;
pub mod reread;
mod sink;
pub mod source_file;
mod walk;

pub use commit::{Committer, Finished, Item};
pub use index::IndexJob;
pub use job::{Destination, Job, Ready, Seen, State};
pub use names::{appended, ending, original_name};
pub use operand_iter::{Found, OperandIter};
pub use output::OutputFile;
pub use pending::{PathLocks, Pending};
pub use place::Place;
pub use preconditions::Preconditions;
pub use reader::Reader;
pub use sink::Sink;
pub use source_file::{SourceFile, check_file, id, is_still, list_of, stdin};
