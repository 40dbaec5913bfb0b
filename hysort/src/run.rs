//! One call of the command: sorting, merging or checking.

use crate::args::{Plan, What, names};
use crate::failure::{Failure, STDOUT};
use crate::input::{self, Input, Opener};
use crate::output::Output;
use crate::pieces::Stop;
use crate::progress::Progress;
use crate::spill::Spill;
use crate::{check, gpus, limits, merge};
use hybz::sort::{Limits, Order, Pool, Report, Sorter};
use hybz::{Error, StationReport, Summary};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, BufWriter, Read, Write};
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::time::Instant;

/// How a call ended that did what was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// Lines are out of order.
    Disorder,
}

/// How much is handed to the system at once.
const WRITE: usize = 256 << 10;

/// Does what the plan says.
pub fn run(mut plan: Plan) -> Result<Outcome, Failure> {
    if let Some(from) = plan.files0_from.take() {
        plan.files = names(&read_names(&from)?, &from)?;
    }
    if let What::Check { quiet } = plan.what {
        plan.settle_check(quiet)?;
        return check::check(&plan, quiet);
    }
    input::check_readable(&plan.files)?;
    let call = Call {
        output: Output::prepare(&plan)?,
        progress: Progress::new(&plan),
        spill: Arc::new(Spill::new(&plan)),
        started: Instant::now(),
        plan: &plan,
    };
    match plan.what {
        What::Merge => merge::merge(call),
        _ => sort(call),
    }?;
    Ok(Outcome::Done)
}

/// What a call has beside its plan.
pub struct Call<'a> {
    pub plan: &'a Plan,
    pub output: Output,
    pub progress: Progress,
    pub spill: Arc<Spill>,
    started: Instant,
}

/// What `--files0-from` names.
fn read_names(from: &OsString) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    let failed = |_| Failure::sentence([b"cannot read file names from ", &crate::names::quoted(from)[..]].concat());
    input::open_plain(from)?.read_to_end(&mut text).map_err(failed)?;
    Ok(text)
}

/// How the plan orders lines.
pub fn order(plan: &Plan) -> Order {
    Order::new().end(plan.end()).reverse(plan.reverse).unique(plan.unique)
}

fn sort(call: Call<'_>) -> Result<(), Failure> {
    let plan = call.plan;
    let (threads, memory) = (limits::threads(plan), limits::memory(plan));
    // The process ends with this call, and the kernel takes back what a pool holds faster than we could free it.
    let mut pool = Pool::builder().threads(threads).max_memory(memory);
    if let Some(lanes) = gpus::lanes(plan, memory)? {
        pool = pool.gpus(&lanes);
    }
    let pool = ManuallyDrop::new(pool.build());
    let spill = Arc::clone(&call.spill);
    let reading = limits::reading(threads, memory);
    let limits = Limits::new().memory(memory - reading.memory()).temporary(move || spill.create());
    let mut sorter = Sorter::new(&order(plan), limits, &pool);
    let opener = Opener::new(plan, threads, memory / 8);
    for name in &plan.files {
        let taken = reading.pieces(opener.open(name)?, |piece| {
            call.progress.read(piece.len());
            sorter.push_owned(piece)
        });
        taken.map_err(|stop| match stop {
            Stop::Read(e) => Input::failure(name, e),
            Stop::Taken(e) => call.failure(e),
        })?;
        sorter.end_of_file().map_err(|e| call.failure(e))?;
    }
    drop(opener);
    let Call { output, progress, spill, started, .. } = call;
    let report = write(output, &progress, |out| sorter.write_to(out), |e| failure(e, &spill))?;
    progress.end();
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

/// Has `work` write the result.
pub fn write<T>(
    output: Output,
    progress: &Progress,
    work: impl FnOnce(&mut BufWriter<Counted<'_>>) -> Result<T, Error>,
    other: impl FnOnce(Error) -> Failure,
) -> Result<T, Failure> {
    output.begin();
    let mut out = BufWriter::with_capacity(WRITE, Counted { output, progress, failed: false });
    let worked = work(&mut out);
    let flushed = if worked.is_ok() { out.flush() } else { Ok(()) };
    let (Counted { output, failed, .. }, _unwritten) = out.into_parts();
    let result = match (worked, flushed) {
        (Ok(result), Ok(())) => result,
        (Err(Error::Write(e)), _) | (_, Err(e)) if failed => return Err(output.failure(e)),
        (Err(e), _) => return Err(other(e)),
        (Ok(_), Err(e)) => return Err(output.failure(e)),
    };
    output.finish()?;
    Ok(result)
}

/// The output, with what is written to it counted.
pub struct Counted<'a> {
    output: Output,
    progress: &'a Progress,
    failed: bool,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.output.write(bytes) {
            Ok(len) => {
                self.progress.wrote(len);
                Ok(len)
            }
            Err(e) => {
                self.failed = true;
                Err(e)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

impl Call<'_> {
    fn failure(&self, e: Error) -> Failure {
        failure(e, &self.spill)
    }
}

/// What is said of an error of sorting that is not one of the output.
pub fn failure(e: Error, spill: &Spill) -> Failure {
    match e {
        Error::Temporary(e) => spill.failure(e),
        Error::Write(e) => Failure::system("write failed", STDOUT, e),
        e => Failure::sentence(e.to_string()),
    }
}

/// What `-v` prints: what was done, and by which station.
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
