//! The table of traps, in families.

mod checksums;
mod huffman;
mod limits;
pub mod magics;
mod rotations;
mod runs;
mod streams;

use super::{Case, Family};

pub use limits::bomb;
pub use magics::nested_bombs;

/// Every case. The names are unique, because a failing test gives the name.
pub fn all() -> Vec<Case> {
    let mut family = Family::default();
    magics::add(&mut family);
    checksums::add(&mut family);
    rotations::add(&mut family);
    runs::add(&mut family);
    huffman::add(&mut family);
    limits::add(&mut family);
    streams::add(&mut family);
    family.cases
}
