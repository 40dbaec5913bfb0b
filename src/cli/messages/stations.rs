//! What stations did, as `-vv` and remarks report it.

use hybz::{StationReport, Summary};
use hybz_files::terminal::{USUAL_COLUMNS, wrap};
use std::fmt::Write;

/// The failure of a GPU, if any: that of the first lane that reports one.
pub fn gpu_trouble(summary: &Summary) -> Option<String> {
    let lanes = summary.stations.iter().filter(|station| station.accelerator);
    let trouble = |lane: &&StationReport| lane.retired.is_some() || lane.failure.is_some();
    // A device may lack the memory for some of its lanes. A missing lane only costs time; it is a failure only if no
    // lane works.
    let some_work = lanes.clone().any(|lane| lane.blocks > 0 && !trouble(&lane));
    let mut troubled = lanes.filter(|lane| trouble(lane) && !(some_work && lane.name == STARTING));
    let lane = troubled.next()?;
    let why = lane.retired.as_ref().or(lane.failure.as_ref())?;
    Some(match &*lane.name {
        STARTING => format!("a GPU could not be used: {why}"),
        name => format!("{name} failed, and the CPU did its work: {why}"),
    })
}

/// Whether accelerators were started, but the cores had done all of the work before any of these could begin.
pub fn gpus_came_late(summary: &Summary) -> bool {
    let mut lanes = summary.stations.iter().filter(|station| station.accelerator).peekable();
    lanes.peek().is_some() && lanes.all(|lane| lane.blocks == 0)
}

/// The name of a station while its thread still creates it.
const STARTING: &str = "starting";

/// The table of stations at the end of `-vv`: how many blocks each did, how fast, how busy it was, and how often
/// another station had to do its work again.
///
/// If no station did anything, because there was nothing to do, there is no table.
pub fn table(summary: &Summary) -> Vec<u8> {
    if summary.stations.is_empty() {
        return Vec::new();
    }
    let mut text = format!(
        "  {:<13} {:>6} {:>8} {:>8} {:>8} {:>6} {:>6} {:>6}{:>10}\n",
        "station", "blocks", "finished", "MB in", "MB out", "MB/s", "busy s", "waits", "fallbacks"
    );
    for station in &summary.stations {
        let StationReport { name, blocks, finished, bytes_in, bytes_out, fallbacks, .. } = station;
        let (busy, waits) = (station.busy.as_secs_f64(), station.waited.as_secs_f64());
        let (read, written) = (*bytes_in as f64 / 1e6, *bytes_out as f64 / 1e6);
        let rate = if busy > 0.0 { read / busy } else { 0.0 };
        // Writing into a String does not fail.
        let _ = writeln!(
            text,
            "  {name:<13} {blocks:>6} {finished:>8} {read:>8.1} {written:>8.1} {rate:>6.1} {busy:>6.2} \
             {waits:>6.2}{fallbacks:>10}"
        );
        let retired = station.retired.as_ref().map(|why| format!("retired: {why}"));
        let (ready, ended) = (station.ready.as_secs_f64(), station.ended.as_secs_f64());
        let times =
            station.accelerator.then(|| format!("ready after {ready:.3} s, last batch ended after {ended:.3} s"));
        for remark in retired.iter().chain(&times).chain(&station.details) {
            wrap(remark, 0, 6, USUAL_COLUMNS, &mut text);
        }
    }
    let _ = writeln!(text, "  blocks in flight: at most {:.1} MiB", summary.memory as f64 / 1048576.0);
    text.into_bytes()
}

pub fn remarks(summary: &Summary) -> Vec<Vec<u8>> {
    let cores = summary.stations.iter().filter(|station| station.wrong > 0 && !station.accelerator);
    let remark = |station: &StationReport| {
        let StationReport { name, wrong, .. } = station;
        let blocks = if *wrong == 1 { "a block" } else { "blocks" };
        let last = station.failure.as_deref().unwrap_or_default();
        let end = if station.retired.is_some() { "; it got no more work" } else { "" };
        let text =
            format!("{name} coded {blocks} wrong ({wrong} in all), which another core found; the last: {last}{end}");
        text.into_bytes()
    };
    cores.map(remark).collect()
}

pub fn verified(summary: &Summary) -> Vec<u8> {
    let (mut verified, mut wrong, mut by) = (0, 0, Vec::new());
    for station in &summary.stations {
        verified += station.verified;
        wrong += station.wrong;
        if station.verified > 0 {
            by.push(format!("{} {}", station.name, station.verified));
        }
    }
    match verified {
        0 => Vec::new(),
        _ => format!("  verified: {verified} blocks ({}), of which {wrong} were wrong\n", by.join(", ")).into_bytes(),
    }
}
