//! `--bench`: how fast this machine compresses and decompresses a user's own files, by number of threads, with and
//! without GPUs, and compared with other programs.
//!
//! All files are one input in memory ([`input`]). A cell is one speed: a program, a direction, a number of threads
//! ([`cell`]; [`work`] is how hybz does it, [`peer`] other programs). Cells with the same number of threads take turns,
//! round after round, so other work on the machine slows down all of them alike. Their rows are printed when they are
//! done. Every output is compared while it is written: with the text, or with the bytes of hybz's first run, which were
//! themselves decoded and compared with the text. The medians become a table ([`table`]).

mod cell;
mod input;
mod peer;
mod table;
mod work;

use crate::cli::args::{BenchMode, Common, Direction, Gpus, Plan};
use crate::cli::messages::progress::Progress;
use crate::cli::messages::{Failure, Messages, Note, Outcome, print_stdout};
use crate::cli::modes::limits;
use anyhow::bail;
use cell::{Cell, Who};
use hybz::internals::gpu::Device;
use hybz_files::quote::shown;
use hybz_files::stdout;
use input::BenchInput;
use peer::Peer;
use std::ffi::OsStr;
use std::sync::Arc;

/// The input of the bench, and its measurements.
struct Bench {
    input: BenchInput,
    threads: Vec<usize>,
    devices: Vec<Device>,
    cells: Vec<Cell>,
}

/// Measures the plan's files.
pub fn bench(plan: Plan<BenchMode>) -> anyhow::Result<Outcome> {
    let messages = Messages::new(&plan.common, Progress::new(&plan.common));
    let wanted = &plan.mode;
    if wanted.only != Some(Direction::Decompress) {
        limits::check_block_size(&wanted.coding, plan.common.expected_bytes())?;
    }
    limits::choose_memory(&plan.common, false);
    let devices = devices(&plan.common)?;
    let input = match BenchInput::read(&plan) {
        Ok(input) => input,
        Err(failure) => {
            messages.print(&Note::Failure(failure));
            return Ok(Outcome::Exit(messages.code()));
        }
    };
    if let Some(remark) = &input.remark {
        messages.print(&Note::Remark(remark.clone().into_bytes()));
    }
    let mut bench = prepare(&plan, input, devices, &messages);
    bench.measure(&plan, &messages)
}

/// The GPUs that are measured, if any.
fn devices(common: &Common) -> anyhow::Result<Vec<Device>> {
    let found = hybz::internals::gpu::devices().and_then(|devices| match &common.gpus {
        Gpus::None => Ok(Vec::new()),
        Gpus::Visible => Ok(devices),
        Gpus::These(list) => hybz::internals::gpu::select(list, &devices),
    });
    match found {
        Ok(devices) if common.gpu_required && devices.is_empty() => bail!("A GPU is required: there is none."),
        Ok(devices) => Ok(devices),
        Err(why) if common.gpu_required || matches!(common.gpus, Gpus::These(_)) => bail!("A GPU is required: {why}."),
        Err(_) => Ok(Vec::new()),
    }
}

/// 1, 2, 4 and so on, and `max`.
fn numbers_of_threads(max: usize) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..).map(|power| 1 << power).take_while(|&number| number < max).collect();
    numbers.push(max);
    numbers
}

fn prepare(plan: &Plan<BenchMode>, input: BenchInput, devices: Vec<Device>, messages: &Messages) -> Bench {
    let threads = numbers_of_threads(limits::threads(&plan.common, Some(plan.mode.coding)).get());
    let mut peers = Vec::new();
    for name in &plan.mode.against {
        match Peer::find(name) {
            Some(peer) => peers.push(Arc::new(peer)),
            None => {
                messages.print(&Note::Remark(format!("{} is not installed: left out", printable(name)).into_bytes()));
            }
        }
    }
    let with_gpus: &[bool] = if devices.is_empty() { &[false] } else { &[false, true] };
    let mut cells = Vec::new();
    for direction in [Direction::Compress, Direction::Decompress] {
        if plan.mode.only.is_some_and(|only| only != direction) {
            continue;
        }
        for &gpus in with_gpus {
            cells.extend(threads.iter().map(|&threads| Cell::new(Who::Hybz { threads, gpus }, direction)));
        }
        for peer in &peers {
            let numbers = if peer.takes_threads() { &threads[..] } else { &[1] };
            let cell = |&threads: &usize| Cell::new(Who::Peer { peer: Arc::clone(peer), threads }, direction);
            cells.extend(numbers.iter().map(cell));
        }
    }
    Bench { input, threads, devices, cells }
}

impl Bench {
    /// Measures everything, and prints the results as they become known.
    fn measure(&mut self, plan: &Plan<BenchMode>, messages: &Messages) -> anyhow::Result<Outcome> {
        if let Some(end) = print_stdout(&table::head(plan, self, stdout::is_terminal()))? {
            return Ok(end);
        }
        let mut numbers: Vec<usize> = self.cells.iter().map(Cell::threads).collect();
        numbers.sort_unstable();
        numbers.dedup();
        for threads in numbers {
            let group: Vec<usize> = (0..self.cells.len()).filter(|&at| self.cells[at].threads() == threads).collect();
            loop {
                let goes_on = |at: &usize| self.cells[*at].goes_on(plan.mode.time);
                let next: Vec<usize> = group.iter().copied().filter(goes_on).collect();
                if next.is_empty() {
                    break;
                }
                next.iter().for_each(|&at| self.cells[at].run(plan, &self.input));
            }
            for cell in group.iter().map(|&at| &self.cells[at]) {
                if let Some(failure) = &cell.failure {
                    let text = format!("{}: {failure}.", cell.title());
                    messages.print(&Note::Failure(Failure::new(if cell.is_ours() { 3 } else { 1 }, text.into_bytes())));
                }
            }
            if let Some(end) = print_stdout(&table::rows(self, threads))? {
                return Ok(end);
            }
        }
        Ok(Outcome::Exit(messages.code()))
    }
}

/// The typed name of a program, as messages show it.
fn printable(name: &str) -> String {
    shown(OsStr::new(name)).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::numbers_of_threads;

    #[test]
    fn threads() {
        assert_eq!(numbers_of_threads(1), [1]);
        assert_eq!(numbers_of_threads(2), [1, 2]);
        assert_eq!(numbers_of_threads(6), [1, 2, 4, 6]);
        assert_eq!(numbers_of_threads(16), [1, 2, 4, 8, 16]);
    }
}
