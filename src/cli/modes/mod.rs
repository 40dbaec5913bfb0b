//! The modes, each in its own module, and the limits on their use of the machine.

pub mod bench;
pub mod bzip2recover;
pub mod limits;
pub mod list;
pub mod measure;
pub mod recover;
pub mod run;
pub mod shards;
mod single;
