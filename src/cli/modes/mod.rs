//! What hybz does: a room for each mode, and how much of the machine they take.

pub mod bench;
pub mod bzip2recover;
pub mod limits;
pub mod list;
pub mod measure;
pub mod recover;
pub mod run;
pub mod shards;
