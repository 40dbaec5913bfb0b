//! `.bz2`: the layout on disk, and the flow of its streams. The steps of its block coding are in
//! [`codec`](crate::codec), because other formats use some of them.

pub(crate) mod header;
pub(crate) mod perturbed;
pub mod push;
pub(crate) mod stream;
