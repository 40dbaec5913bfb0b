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

use crate::cli::args::{Gpus, Kind, Plan};
use crate::cli::messages::{Failure, Messages, Note, Outcome, print_stdout};
use crate::cli::modes::limits;
use anyhow::bail;
use cell::{Cell, Worker};
use hybz::internals::gpu::Device;
use hybz_files::quote::shown;
use input::BenchInput;
use peer::Peer;
use std::ffi::OsStr;
use std::sync::Arc;
use std::time::Duration;

/// A row of the table: a program, and its speed in each direction.
type Row<'a> = (Worker<'a>, Vec<Cell>);

pub fn bench(plan: Plan) -> anyhow::Result<Outcome> {
    let plan = Arc::new(plan);
    let messages = Messages::new(&plan);
    if !plan.decompress {
        limits::check_block_size(&plan)?;
    }
    limits::choose_memory(&plan, false);
    let devices = devices(&plan)?;
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
    let threads = numbers_of_threads(limits::threads(&plan, plan.coding).get());
    let found = |name| {
        let remark = || Note::Remark(format!("{} is not installed: left out", printable(name)).into_bytes());
        Peer::find(name).or_else(|| {
            messages.print(&remark());
            None
        })
    };
    let against = plan.against.iter().flat_map(|names| names.split(','));
    let peers: Vec<Peer> = against.filter_map(found).collect();
    if let Some(end) = print_stdout(&table::head(&plan, &input, &devices, &threads))? {
        return Ok(end);
    }
    for threads in threads {
        let rows = measured(rows(&plan, threads, !devices.is_empty(), &peers), &plan, &input);
        for (worker, cells) in &rows {
            for cell in cells {
                let Some(failure) = &cell.failure else { continue };
                let text = format!("{}: {failure}.", worker.title(cell.direction)).into_bytes();
                messages.print(&Note::Failure(Failure::new(if worker.peer.is_none() { 3 } else { 1 }, text)));
            }
        }
        if let Some(end) = print_stdout(&table::rows(&rows, input.text.len()))? {
            return Ok(end);
        }
    }
    Ok(Outcome::Exit(messages.code()))
}

fn time(plan: &Plan) -> Duration {
    Duration::from_secs_f64(plan.bench.unwrap_or_default())
}

/// The directions to measure.
fn directions(plan: &Plan) -> impl Iterator<Item = Kind> {
    let (compress, decompress) = (!plan.decompress, !plan.compress);
    [(Kind::Compress, compress), (Kind::Decompress, decompress)].into_iter().filter_map(|(kind, is)| is.then_some(kind))
}

/// The GPUs that are measured, if any.
fn devices(plan: &Plan) -> anyhow::Result<Vec<Device>> {
    let found = hybz::internals::gpu::devices().and_then(|devices| match &plan.gpus {
        Gpus::None => Ok(Vec::new()),
        Gpus::Visible => Ok(devices),
        Gpus::These(list) => hybz::internals::gpu::select(list, &devices),
    });
    match found {
        Ok(devices) if plan.gpu_required && devices.is_empty() => bail!("A GPU is required: there is none."),
        Ok(devices) => Ok(devices),
        Err(why) if plan.gpu_required || matches!(plan.gpus, Gpus::These(_)) => bail!("A GPU is required: {why}."),
        Err(_) => Ok(Vec::new()),
    }
}

/// 1, 2, 4 and so on, and `max`.
fn numbers_of_threads(max: usize) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..).map(|power| 1 << power).take_while(|&number| number < max).collect();
    numbers.push(max);
    numbers
}

/// The rows with this many threads. A program that cannot be told how many has a row with one.
fn rows<'a>(plan: &Plan, threads: usize, with_gpus: bool, peers: &'a [Peer]) -> Vec<Row<'a>> {
    let ours = [false, true].into_iter().filter(|&gpus| with_gpus || !gpus);
    let ours = ours.map(|gpus| Worker { peer: None, threads, gpus });
    let peers = peers.iter().filter(|peer| threads == 1 || peer.takes_threads());
    let peers = peers.map(|peer| Worker { peer: Some(peer), threads, gpus: false });
    let cells = || directions(plan).map(Cell::new).collect();
    ours.chain(peers).map(|worker| (worker, cells())).collect()
}

/// Measures these rows in turn, round after round.
fn measured<'a>(mut rows: Vec<Row<'a>>, plan: &Plan, input: &BenchInput) -> Vec<Row<'a>> {
    loop {
        let mut done = true;
        for (worker, cells) in &mut rows {
            for cell in cells.iter_mut().filter(|cell| cell.goes_on(time(plan))) {
                cell.run(worker, plan, input);
                done = false;
            }
        }
        if done {
            return rows;
        }
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
