//! The path of a stream, as far as all formats share it: cut, issued to the stations, joined, written.
//!
//! | file | |
//! |---|---|
//! | `piece` | the roles: [`Cut`](piece::Cut), [`Join`](piece::Join), and the two ends made of them |
//! | `copy` | an input that is only copied |
//! | `relay` | jobs that run one after another |
//! | `coded` | blocks to be coded, put on the queue; decoded again before they are written, if that is wanted |
//! | `text` | the text of a block, written |
//! | `cursor` | the text of a block, handed out piece by piece |

pub(crate) mod coded;
pub(crate) mod copy;
pub(crate) mod cursor;
pub(crate) mod piece;
pub(crate) mod relay;
pub(crate) mod text;
