//! The flow of one stream: cut, issued to the stations, joined, written. The parts for each format are in `formats/`.
//!
//! | file | |
//! |---|---|
//! | `piece` | the roles: [`Cut`](piece::Cut), [`Join`](piece::Join), and the two ends made of them |
//! | `copy` | an input that is only copied |
//! | `detect` | detection of an input's format |
//! | `mixed` | streams of different formats one after the other |
//! | `open` | one stream as the settings say |
//! | `driver` | one stream on the caller's own thread: the basis of `read` and `write` |
//! | `verify` | coded blocks that are decoded again before they are written |
//! | `flow` | many inputs through one pool, with a manager's thread: the engine of the command |

pub(crate) mod copy;
mod detect;
pub(crate) mod driver;
pub mod flow;
mod mixed;
mod open;
pub(crate) mod piece;
pub(crate) mod verify;

pub(crate) use piece::Extent;
