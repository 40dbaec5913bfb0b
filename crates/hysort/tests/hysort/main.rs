//! The command hysort, beside GNU sort with LC_ALL=C where that is installed.

mod ends;
mod inputs;
mod merging;
mod messages;
mod outputs;
mod peaks;
mod place;
mod protected;
mod real;
mod shapes;

use hybz_testkit::skip;
