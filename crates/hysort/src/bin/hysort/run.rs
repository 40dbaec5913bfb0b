//! One call of the command: sorting, merging or checking.

use crate::args::{Plan, What, names};
use crate::call::{Call, Outcome, failure};
use crate::failure::Failure;
use crate::input::{self, Input};
use crate::output::Output;
use crate::progress::Progress;
use crate::{check, gpus, limits, merge, spill};
use hysort::{Limits, Report, Sorter, StationReport, Summary};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::time::Instant;

/// Does what the plan says.
pub fn run(mut plan: Plan) -> Result<Outcome, Failure> {
    if let What::Sort | What::Merge = plan.what {
        gpus::hide(&plan);
    }
    if let Some(from) = plan.files0_from.take() {
        plan.files = names(&read_names(&from)?, &from)?;
    }
    if let What::Check { quiet } = plan.what {
        plan.settle_check(quiet)?;
        return check::check(&plan, quiet);
    }
    input::check_readable(&plan.files)?;
    let progress = Arc::new(Progress::new(&plan));
    let call = Call { plan: &plan, output: Output::prepare(&plan, &progress)?, progress };
    let opened = if plan.what == What::Merge { merge::open(&plan)? } else { Vec::new() };
    match plan.what {
        What::Merge if opened.len() == plan.files.len() => merge::merge(call, opened),
        _ => sort(call, opened),
    }?;
    Ok(Outcome::Done)
}

/// Reads the names that `--files0-from` gives.
fn read_names(from: &OsString) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    let failed = |_| Failure::sentence([b"cannot read file names from ", &crate::names::quoted(from)[..]].concat());
    input::open_plain(from)?.read_to_end(&mut text).map_err(failed)?;
    Ok(text)
}

/// Sorts all files; `opened` has the first of them.
fn sort(call: Call<'_>, opened: Vec<Input>) -> Result<(), Failure> {
    let (plan, progress, started) = (call.plan, Arc::clone(&call.progress), Instant::now());
    let (threads, memory) = (limits::threads(plan), limits::memory(plan));
    // The process ends with this call, and the kernel takes back what a pool holds faster than we could free it.
    let mut pool = hysort::pool().threads(threads).max_memory(memory);
    if let Some(lanes) = gpus::lanes(plan, memory)? {
        pool = pool.accelerators(&lanes);
    }
    let pool = ManuallyDrop::new(pool.build());
    let reading = limits::reading(threads, memory);
    let limits = Limits::new().memory(memory - reading.memory()).temporary(spill::maker(plan));
    let mut sorter = Sorter::new(plan.keyed(), limits, &pool);
    if let Some(whole) = input::whole(&plan.files).filter(|_| opened.is_empty()) {
        sorter.expect(whole.bytes, |at| whole.look(at));
    }
    let others = &plan.files[opened.len()..];
    for input in opened.into_iter().map(Ok).chain(others.iter().map(|name| input::open(name))) {
        let taken = reading.pieces(input?, |piece| {
            progress.read(piece.len());
            sorter.push_owned(piece)
        });
        taken.and_then(|()| sorter.end_of_file()).map_err(|e| failure(e, plan))?;
    }
    let report = call.write(|out| sorter.write_to(out))?;
    let stations = pool.summary();
    if let Some(trouble) = gpus::trouble(plan, &stations) {
        if plan.gpu_required {
            return Err(Failure::sentence(format!("a GPU is required: {trouble}")));
        }
        let _ = io::stderr().write_all(format!("hysort: {trouble}\n").as_bytes());
    }
    if plan.verbose {
        say(&report, &progress, started, &stations);
    }
    Ok(())
}

/// The output of `-v`: the work done, by station.
fn say(report: &Report, progress: &Progress, started: Instant, stations: &Summary) {
    let (read, written) = progress.counts();
    let seconds = started.elapsed().as_secs_f64();
    let mut text = format!(
        "hysort: {} lines, {read} bytes read, {written} written, {} in temporary files, {} ranges, {seconds:.2} s\n",
        report.lines, report.spilled, report.ranges
    );
    for station in &stations.stations {
        let StationReport { name, blocks, bytes_in, busy, fallbacks, wrong, .. } = station;
        let retired = station.retired.as_ref().map(|why| format!(", retired: {why}")).unwrap_or_default();
        // Writing into a String does not fail.
        let _ = writeln!(
            text,
            "  {name}: {blocks} jobs, {bytes_in} bytes, {:.2} s busy, {fallbacks} done again, {wrong} wrong{retired}",
            busy.as_secs_f64()
        );
    }
    let _ = io::stderr().write_all(text.as_bytes());
}
