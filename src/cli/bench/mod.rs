//! `--bench`: how fast this machine does a user's own files, with how many threads, with and without GPUs, and beside
//! other programs.
//!
//! All files are one input in memory ([`input`]). A cell is one speed: a program, a direction, a number of threads
//! ([`cell`]; [`work`] is how hybz does it, [`peer`] other programs). Cells take turns, round after round, so a machine
//! that is busy for a while slows down all of them. Every output is compared while it is written, with the text or with
//! the bytes of hybz's first run, which were decoded and compared with the text. The medians become a table or an
//! object ([`table`]), and a picture ([`plot`]).

mod cell;
mod input;
mod peer;
mod plot;
mod table;
mod work;

use crate::cli::args::{BenchPlan, Gpus, Mode, Operand, Plan};
use crate::cli::limits;
use crate::cli::os::directory::Directory;
use crate::cli::output::OutputFile;
use crate::cli::progress::Progress;
use crate::cli::report::{Failure, Note, Outcome, Report, errno_text, print_stdout};
use crate::cli::source::same_file;
use crate::cli::temporary::TemporaryFiles;
use anyhow::{anyhow, bail};
use cell::{Cell, Who};
use hybz::gpu::Device;
use input::Input;
use peer::Peer;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// What is measured, and what was.
struct Bench {
    input: Input,
    threads: Vec<usize>,
    devices: Vec<Device>,
    cells: Vec<Cell>,
    /// Programs that are not installed.
    absent: Vec<String>,
}

/// Measures the plan's files.
pub fn bench(plan: Plan) -> anyhow::Result<Outcome> {
    let report = Report::new(&plan, Progress::new(&plan));
    for remark in &plan.ignored_words {
        report.print(&Note::Remark(remark.clone().into_bytes()));
    }
    let Some(wanted) = &plan.bench else { bail!("There is nothing to measure.") };
    limits::check_block_size(&plan)?;
    limits::choose_memory(&plan, false);
    let plot = match &wanted.plot {
        Some(path) => Some((path, plot_file(path, &plan)?)),
        None => None,
    };
    let devices = devices(&plan)?;
    let input = match Input::read(&plan, wanted) {
        Ok(input) => input,
        Err(failure) => {
            report.print(&Note::Failure(failure));
            return Ok(Outcome::Exit(report.code()));
        }
    };
    if let Some(remark) = &input.remark {
        report.print(&Note::Remark(remark.clone().into_bytes()));
    }
    let mut bench = prepare(&plan, wanted, input, devices, &report);
    bench.measure(&plan, wanted, &report);

    for cell in &bench.cells {
        if let Some(failure) = &cell.failure {
            let text = format!("{}: {failure}.", cell.title());
            report.print(&Note::Failure(Failure::new(if cell.is_ours() { 3 } else { 1 }, text.into_bytes())));
        }
    }
    let text = if wanted.json { table::json(&plan, wanted, &bench) } else { table::words(&plan, wanted, &bench) };
    if let Some((path, file)) = plot {
        draw(&plan, &bench, file).map_err(|e| anyhow!("Can't write plot {}: {}.", path.display(), errno_text(&e)))?;
    }
    Ok(print_stdout(&text)?.unwrap_or(Outcome::Exit(report.code())))
}

/// The GPUs that are measured, if any.
fn devices(plan: &Plan) -> anyhow::Result<Vec<Device>> {
    let found = hybz::gpu::devices().and_then(|devices| match &plan.gpus {
        Gpus::None => Ok(Vec::new()),
        Gpus::Visible => Ok(devices),
        Gpus::These(list) => hybz::gpu::select(list, &devices),
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

fn prepare(plan: &Plan, wanted: &BenchPlan, input: Input, devices: Vec<Device>, report: &Report) -> Bench {
    let threads = numbers_of_threads(limits::threads(plan).get());
    let mut absent = Vec::new();
    let mut peers = Vec::new();
    for name in &wanted.against {
        match Peer::find(name) {
            Some(peer) => peers.push(Arc::new(peer)),
            None => {
                report.print(&Note::Remark(format!("{name} is not installed: left out").into_bytes()));
                absent.push(name.clone());
            }
        }
    }
    let with_gpus: &[bool] = if devices.is_empty() { &[false] } else { &[false, true] };
    let mut cells = Vec::new();
    for direction in [Mode::Compress, Mode::Decompress] {
        if wanted.only.is_some_and(|only| only != direction) {
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
    Bench { input, threads, devices, cells, absent }
}

impl Bench {
    /// Lets the cells take turns until each has had its time.
    fn measure(&mut self, plan: &Plan, wanted: &BenchPlan, report: &Report) {
        let mut read = 0;
        loop {
            let mut ran = false;
            for cell in self.cells.iter_mut().filter(|cell| cell.goes_on(wanted.time)) {
                read += cell.run(plan, &self.input);
                report.progress.counts.advance(read);
                ran = true;
            }
            if !ran {
                return;
            }
        }
    }
}

/// A file for the picture, without a name so far.
fn plot_file(path: &Path, plan: &Plan) -> anyhow::Result<OutputFile> {
    let (name, force) = (path.display(), plan.force);
    if !force && fs::symlink_metadata(path).is_ok() {
        bail!("Output file {name} already exists.");
    }
    let is_it = |operand: &Operand| match operand {
        Operand::File(file) => {
            fs::metadata(file).ok().zip(fs::metadata(path).ok()).is_some_and(|(a, b)| same_file(&a, &b))
        }
        Operand::Stdin => false,
    };
    if plan.operands.iter().any(is_it) {
        bail!("Output file {name} is the input file.");
    }
    Directory::of(path, None)
        .and_then(|directory| OutputFile::create(path, directory, false, force, &TemporaryFiles::default()))
        .map_err(|e| anyhow!("Can't create output file {name}: {}.", errno_text(&e)))
}

fn draw(plan: &Plan, bench: &Bench, mut file: OutputFile) -> io::Result<()> {
    file.write_all(plot::svg(plan, bench).as_bytes())?;
    file.publish(plan.force)
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
