//! `--bench`: how fast this machine compresses and decompresses a user's own files, by number of threads, with and
//! without GPUs, and compared with other programs.
//!
//! All files are one input in memory ([`input`]). A cell is one speed: of a program, in a direction, with a number of
//! threads ([`work`] runs hybz, [`peer`] other programs). Cells with the same number of threads take turns, round
//! after round, so other work on the machine slows down all of them alike. Their rows are printed when they are done.
//! Every output is compared: with the text, or with the bytes of hybz's first run, which were themselves decoded and
//! compared with the text.

mod input;
mod peer;
mod work;

use crate::cli::args::{Gpus, Kind, Operand, Plan};
use crate::cli::messages::{Failure, Messages, Note, print_stdout};
use crate::cli::modes::limits;
use anyhow::bail;
use hybz::internals::gpu::{Device, devices as all_devices, select};
use hybz_files::quote::{for_terminal, shown};
use hybz_files::stdout;
use hybz_files::terminal::{USUAL_COLUMNS, middle_out, width};
use input::BenchInput;
use peer::Peer;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::time::Duration;
use work::{decompressed, timed};

const PROGRAM: usize = 9;

pub fn bench(plan: Plan) -> anyhow::Result<u8> {
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
            return Ok(messages.code());
        }
    };
    if let Some(remark) = &input.remark {
        messages.print(&Note::Remark(remark.clone().into_bytes()));
    }
    let max = limits::threads(&plan).get();
    let mut peers = Vec::new();
    for name in plan.against.iter().flat_map(|names| names.split(',')) {
        match Peer::find(name) {
            Some(peer) => peers.push(peer),
            None => messages.print(&Note::about(OsStr::new(name), " is not installed: left out")),
        }
    }
    print_stdout(&head(&plan, &input, &devices, max))?;
    for threads in numbers_of_threads(max) {
        let mut rows = rows(&plan, threads, !devices.is_empty(), &peers);
        while rows.iter_mut().map(|row| row.run(&plan, &input)).sum::<usize>() > 0 {}
        let mut text = String::new();
        for row in &rows {
            for (direction, why) in row.cells.iter().filter_map(|cell| Some((cell.direction, cell.failure.as_ref()?))) {
                let (program, gpus) = (row.program(), if row.gpus { " and GPUs" } else { "" });
                let text = format!("{program} with {}{gpus}, {}: {why}.", in_words(threads), direction.work());
                messages.print(&Note::Failure(Failure::new(if row.peer.is_none() { 3 } else { 1 }, text.into())));
            }
            text += &row.line(input.text.len());
        }
        print_stdout(text.as_bytes())?;
    }
    Ok(messages.code())
}

fn directions(plan: &Plan) -> impl Iterator<Item = Kind> {
    let (compress, decompress) = (!plan.decompress, !plan.compress);
    [(Kind::Compress, compress), (Kind::Decompress, decompress)].into_iter().filter_map(|(kind, is)| is.then_some(kind))
}

fn devices(plan: &Plan) -> anyhow::Result<Vec<Device>> {
    let found = all_devices().and_then(|devices| match &plan.gpus {
        Gpus::None => Ok(Vec::new()),
        Gpus::Visible => Ok(devices),
        Gpus::These(list) => select(list, &devices),
    });
    match found {
        Ok(devices) if plan.gpu_required && devices.is_empty() => bail!("A GPU is required: there is none."),
        Ok(devices) => Ok(devices),
        Err(why) if plan.gpu_required || matches!(plan.gpus, Gpus::These(_)) => bail!("A GPU is required: {why}."),
        Err(_) => Ok(Vec::new()),
    }
}

fn numbers_of_threads(max: usize) -> impl Iterator<Item = usize> {
    (0..).map(|power| 1 << power).take_while(move |&number| number < max).chain([max])
}

fn in_words(threads: usize) -> String {
    format!("{threads} thread{}", if threads == 1 { "" } else { "s" })
}

/// A row of the table: hybz or another program, and its speed in each direction.
struct Row<'a> {
    peer: Option<&'a Peer>,
    threads: usize,
    gpus: bool,
    cells: Vec<Cell>,
}

struct Cell {
    direction: Kind,
    times: Vec<Duration>,
    failure: Option<String>,
}

/// The rows with this many threads. A program without a flag for threads has only a row for one.
fn rows<'a>(plan: &Plan, threads: usize, with_gpus: bool, peers: &'a [Peer]) -> Vec<Row<'a>> {
    let ours = [(None, false), (None, true)].into_iter().filter(|(_, gpus)| with_gpus || !gpus);
    let peers =
        peers.iter().filter(|peer| threads == 1 || peer.threads_flag().is_some()).map(|peer| (Some(peer), false));
    let cell = |direction| Cell { direction, times: Vec::new(), failure: None };
    let row = |(peer, gpus)| Row { peer, threads, gpus, cells: directions(plan).map(cell).collect() };
    ours.chain(peers).map(row).collect()
}

impl Row<'_> {
    fn program(&self) -> String {
        self.peer.map_or("hybz".to_owned(), |peer| shown(OsStr::new(&peer.name)).display().to_string())
    }

    /// Runs each cell that has time left once. Returns the number of these cells.
    fn run(&mut self, plan: &Plan, input: &BenchInput) -> usize {
        let (peer, threads, gpus, mut ran) = (self.peer, self.threads, self.gpus, 0);
        let time = Duration::from_secs_f64(plan.bench.unwrap_or_default());
        for cell in self.cells.iter_mut().filter(|cell| cell.goes_on(time)) {
            let done = match peer {
                None => timed(plan, cell.direction, threads, gpus, input.of(cell.direction)),
                Some(peer) => run_peer(peer, plan, cell.direction, threads, input),
            };
            match done {
                Ok(time) => cell.times.push(time),
                Err(why) => cell.failure = Some(why),
            }
            ran += 1;
        }
        ran
    }

    fn line(&self, bytes: usize) -> String {
        let (program, gpus) = (middle_out(&self.program(), PROGRAM), if self.gpus { "yes" } else { "-" });
        let mut line = format!("{program:<PROGRAM$} {:>7} {gpus:>4}", self.threads);
        for cell in &self.cells {
            let mut times = cell.times.clone();
            times.sort_unstable();
            let speed = |time: Option<&Duration>| {
                let speed = bytes as f64 / time.map_or(0.0, Duration::as_secs_f64).max(1e-9) / 1e6;
                format!("{speed:.*}", if speed < 9.995 { 2 } else { usize::from(speed < 99.95) })
            };
            let [median, min, max] = [times.get(times.len() / 2), times.last(), times.first()].map(speed);
            line += &match cell.failure {
                None => format!(" {median:>10} {min:>5} {max:>5} {:>4}", times.len()),
                Some(_) => format!(" {:>10} {:>5} {:>5} {:>4}", "failed", "-", "-", "-"),
            };
        }
        line + "\n"
    }
}

impl Cell {
    /// Whether the cell runs again, if each cell has this much time.
    fn goes_on(&self, time: Duration) -> bool {
        let spent = self.times.iter().sum::<Duration>();
        let next = spent.checked_div(self.times.len() as u32);
        self.failure.is_none() && next.is_none_or(|next| spent + next <= time)
    }
}

fn run_peer(peer: &Peer, plan: &Plan, direction: Kind, threads: usize, input: &BenchInput) -> Result<Duration, String> {
    let level = plan.coding.map(|coding| coding.level).unwrap_or_default();
    let (time, result) = peer.run(level, direction, threads, input.of(direction).0)?;
    if direction == Kind::Decompress {
        return if result == **input.text { Ok(time) } else { Err("its output is not the text".to_owned()) };
    }
    match decompressed(plan, &result, false, input.text.len() as u64) {
        Ok(text) if text.as_ref() == Some(&input.text) => Ok(time),
        Ok(_) => Err("its output is not that of the text".to_owned()),
        Err(error) => Err(format!("its output cannot be decompressed: {error}")),
    }
}

fn shown_size(bytes: usize) -> String {
    let (unit, name) = if bytes < 1_000_000 { (1e3, "kB") } else { (1e6, "MB") };
    format!("{:.1} {name}", bytes as f64 / unit)
}

/// The heading: a description of the input, and the names of the columns. Lines have at most 80 columns, except for a
/// name that goes to a file.
fn head(plan: &Plan, input: &BenchInput, devices: &[Device], threads: usize) -> Vec<u8> {
    let format = plan.coding.filter(|_| !plan.decompress).map(|coding| match coding.large_blocks() {
        Some(large) => format!(" in blocks of {}", shown_size(large.size() as usize)),
        None => format!(" at level {}", coding.level.get()),
    });
    let (text, coded) = (shown_size(input.text.len()), shown_size(input.coded.len()));
    let sizes = format!(": {text} of text, {coded} compressed{}", format.unwrap_or_default());
    let terminal = stdout::is_terminal();
    let name: OsString = match &plan.operands[..] {
        [Operand::File(path)] => for_terminal(path.as_os_str(), terminal).into_owned(),
        operands => format!("{} files", operands.len()).into(),
    };
    let name = match name.to_str() {
        Some(name) if terminal => middle_out(name, USUAL_COLUMNS.saturating_sub(width(&sizes))).into(),
        _ => name,
    };
    let gpus = match devices {
        [] => "no GPU".to_owned(),
        [one] => format!("a GPU ({})", one.name),
        [first, ..] => format!("{} GPUs ({})", devices.len(), first.name),
    };
    let seconds = plan.bench.unwrap_or_default();
    let columns: String = directions(plan)
        .map(|direction| format!(" {:>10} {:>5} {:>5} {:>4}", direction.work(), "min", "max", "runs"))
        .collect();
    let text = format!(
        "{sizes}\n{}, {gpus}; every output verified\nMB/s of text, medians of rounds within {seconds} s\n\n\
         {:<PROGRAM$} {:>7} {:>4}{columns}\n",
        in_words(threads),
        "program",
        "threads",
        "GPUs"
    );
    [name.as_bytes(), text.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_and_rows() {
        let threads = |max| numbers_of_threads(max).collect::<Vec<_>>();
        assert_eq!([threads(1), threads(2), threads(6)], [vec![1], vec![1, 2], vec![1, 2, 4, 6]]);
        let times = [30, 10, 20_000].map(Duration::from_millis).to_vec();
        let cells = vec![Cell { direction: Kind::Compress, times, failure: None }];
        assert!(!cells[0].goes_on(Duration::from_secs(26)) && cells[0].goes_on(Duration::from_secs(27)));
        let row = Row { peer: None, threads: 2, gpus: true, cells };
        assert_eq!(row.line(3_000_000), "hybz            2  yes        100  0.15   300    3\n");
    }
}
