//! What the packages of the four theses share: data sets, other commands, charts, depths of sorts, and the list of what
//! can be made.

pub mod datasets;
pub mod disk;
pub mod made;
pub mod peers;
pub mod svg;
pub mod ties;

use std::process::exit;

/// A table, a figure, or another run of a thesis.
pub struct Item {
    /// The number of a table (`5.1`), `figure-` and the number of a figure, or another name.
    pub name: &'static str,
    /// Its contents, in a few words.
    pub what: &'static str,
    /// Makes it and prints it as CSV. The arguments are names of sets, or what `what` says.
    pub make: fn(&[&str]),
}

/// The number in an argument.
pub fn number<N: std::str::FromStr>(text: &str) -> N {
    text.parse().unwrap_or_else(|_| fail(&format!("`{text}' is not a number")))
}

/// Prints why a table cannot be made, and ends the process.
pub fn fail(what: &str) -> ! {
    eprintln!("theses: {what}");
    exit(1)
}
