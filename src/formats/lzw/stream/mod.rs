//! The flow of a `.Z` stream, which is only read: `chunks` cuts it anywhere, `relay` makes stations decode the chunks
//! one after the other, `join` hands their text on.
//!
//! A code means nothing without those before it, so one stream keeps one core busy at a time; many files keep all of
//! them busy. Only the end of the input ends a stream: data that follow it, even another `.Z`, would be taken for
//! codes, as gzip and ncompress do.

use crate::stream::piece::{Decoding, Ends, connect};
use crate::stream::relay::Relay;

mod chunks;
mod join;
mod relay;
pub(crate) mod tasks;

pub(crate) fn decode(_: &Decoding) -> Ends {
    let relay = Relay::new(Box::default());
    connect(chunks::Chunks::new(&relay), join::Texts::new(&relay))
}
