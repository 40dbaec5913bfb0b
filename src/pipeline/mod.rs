//! The flow of blocks, in reading order: a [`Cut`](piece::Cut) cuts the input into pieces (`split` when compressing, or `stretches`,
//! `scan` when decompressing), the manager (in `flow`) puts them on the `queue`, stations take them from it, and a
//! [`Join`](piece::Join) puts the results together in order (`assemble` when compressing, `chain` when decompressing).
//!
//! Nothing here knows who the stations are.

pub(crate) mod assemble;
pub(crate) mod chain;
pub mod flow;
pub(crate) mod hbz;
pub(crate) mod piece;
pub(crate) mod pool;
pub(crate) mod pump;
pub(crate) mod queue;
pub(crate) mod scan;
pub(crate) mod split;
pub(crate) mod stretches;
mod walk;
