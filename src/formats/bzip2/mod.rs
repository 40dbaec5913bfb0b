//! `.bz2`: what is on disk, and the flow of its streams. The steps of its block coding, some of which `.hbz` uses too,
//! are in [`codec`](crate::codec).

pub(crate) mod header;
pub(crate) mod stream;
