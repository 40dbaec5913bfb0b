//! The command hysort, compared with GNU sort (with LC_ALL=C) if that is installed.

mod ends;
mod keys;
mod merging;
mod messages;
mod outputs;
mod peaks;
mod place;
mod protected;
mod shapes;
mod tables;
#[path = "../sorting/texts.rs"]
mod texts;

use hybz_testkit::skip;
