//! Many inputs through one pool, in order: the engine of the command.
//!
//! A manager thread opens and reads the inputs one after the other, cuts them and puts the blocks on the queue; the
//! caller's thread takes the tickets in the same order and writes. Blocks of all inputs feed the same stations, so a
//! thousand small files keep every core as busy as one large file does, and the outputs are complete and in the order
//! of the inputs.
//!
//! ```text
//! Inputs -> manager thread: read, cut -> queue -> stations
//!                 | begun inputs, their pieces      | answers
//!                 '--------> caller's thread: join, write -> Outputs
//! ```
//!
//! | file | |
//! |---|---|
//! | `input` | inputs, what to do with them, and who takes their outputs |
//! | `manager`, `reading` | the manager's thread; how it reads an input, a long file by several threads |
//! | `writing` | the caller's thread, which takes the answers and writes |
//! | `here` | the work of both by the caller's thread alone |
//! | `open`, `detect`, `mixed` | one stream as the settings say; its format found; streams of several formats |
//! | `one_stream` | one stream on the caller's own thread, for `read`, `write`, `here`, `mixed` |
//!
//! With accelerators, several more threads read a long file and find its runs, or bits that look like a block, and the
//! manager only finds where blocks end, or copies them (`cutter`, `parallel_scan` in `formats::bzip2::stream`).
//!
//! The manager waits only for these readers, for memory in the budget and for a slot in the channel of begun inputs;
//! the caller's thread frees these and waits only for the oldest piece, which is done, being worked on or next in the
//! queue. There is therefore no deadlock.

mod detect;
pub(crate) mod here;
mod input;
mod manager;
mod mixed;
pub(crate) mod one_stream;
mod open;
pub(crate) mod reading;
mod writing;

pub use input::{Input, Inputs, Outputs, Source, Task};
pub use manager::run;
