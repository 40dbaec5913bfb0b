//! hybz: bzip2 on every core of a machine.

mod block;
pub mod codec;
mod error;
mod settings;
#[cfg(test)]
#[path = "../tests/shapes/mod.rs"]
mod shapes;
pub mod station;

pub use block::{CodedBlock, DecodedBlock, Text};
pub use error::{Damage, Error, Fault};
pub use settings::{Level, Settings};
