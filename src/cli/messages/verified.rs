//! Messages of `--verify`.

use hybz::Summary;

/// A remark for each core that coded a block wrong. (`messages::gpu_trouble` has the remark about GPUs.)
pub fn remarks(summary: &Summary) -> Vec<Vec<u8>> {
    let cores = summary.stations.iter().filter(|station| station.wrong > 0 && !station.accelerator);
    let remark = |station: &hybz::StationReport| {
        let hybz::StationReport { name, wrong, .. } = station;
        let blocks = if *wrong == 1 { "a block" } else { "blocks" };
        let last = station.failure.as_deref().unwrap_or_default();
        let end = if station.retired.is_some() { "; it got no more work" } else { "" };
        let text =
            format!("{name} coded {blocks} wrong ({wrong} in all), which another core found; the last: {last}{end}");
        text.into_bytes()
    };
    cores.map(remark).collect()
}

/// The line of `-vv`, if anything was verified.
pub fn line(summary: &Summary) -> Vec<u8> {
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
