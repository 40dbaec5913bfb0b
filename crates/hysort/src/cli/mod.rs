//! Rooms that hysort shares with the command hybz, as they are there: the operating system, files that appear complete
//! or not at all, and names on a terminal.

#[allow(dead_code)] // each command uses its own part
#[path = "../../../../src/cli/os/mod.rs"]
pub mod os;
#[allow(dead_code)]
#[path = "../../../../src/cli/messages/quote.rs"]
pub mod quote;
