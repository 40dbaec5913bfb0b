//! The modes, each in its own module, and the limits on their use of the machine.

pub mod bench;
pub mod bzip2recover;
pub mod limits;
pub mod list;
pub mod measure;
mod plan_file;
pub mod recover;
pub mod run;
mod shard;
pub mod shards;
mod single;

use crate::cli::args::Plan;
use crate::cli::messages::{self, Failure, Messages};
use hybz::Error;
use hybz::flow::{Input, Inputs, Task};
use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;

/// Prints on stdout, with the bar out of the way if both are a terminal.
fn print(messages: &Messages, text: &[u8]) -> anyhow::Result<()> {
    let mut printed = Ok(());
    messages.progress.suspend(|| printed = messages::print_stdout(text));
    printed
}

/// All bytes, if there are at most `max`.
fn read_all(mut reader: impl Read, max: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    reader.by_ref().take(max).read_to_end(&mut bytes)?;
    bytes.shrink_to_fit();
    Ok((reader.read(&mut [0])? == 0).then_some(bytes))
}

/// The reason why a file was not decoded, in the words of `-t`.
fn undecoded(plan: &Plan, name: &OsStr, error: &Error) -> Failure {
    let verdict = || Failure::about(2, "", name, &format!(": {}", messages::verdict(error, true)));
    Failure::of(plan, name, error).unwrap_or_else(verdict)
}

fn decompress(plan: &Plan) -> Task {
    Task::Decompress { formats: plan.formats, trailing_garbage: plan.trailing_garbage }
}

/// A single input, and the number of its bytes, if that is known.
struct One(Option<Input<()>>, Option<u64>);

impl Inputs for One {
    type Meta = ();

    fn next_input(&mut self) -> Option<Input<()>> {
        self.0.take()
    }

    fn expected_bytes(&self) -> Option<u64> {
        self.1
    }
}

/// A line of a table: numbers in columns, and a name. A blank precedes every number, however wide.
fn table_line<const N: usize>(widths: [usize; N], numbers: [&str; N], name: &OsStr) -> Vec<u8> {
    let columns = widths.into_iter().zip(numbers).map(|(width, number)| format!("{number:>width$} "));
    [columns.collect::<String>().as_bytes(), b" ", name.as_bytes(), b"\n"].concat()
}

/// A ratio in a column: with this number of decimals, unless that would take more than four digits before them.
fn ratio(ratio: f64, decimals: usize) -> String {
    let shown = format!("{ratio:.decimals$}");
    if shown.len() <= "9999.".len() + decimals { shown } else { format!("{ratio:.0}") }
}
