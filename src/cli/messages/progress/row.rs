//! The one row that shows progress on a terminal, laid out for the width of the terminal.

use hybz_files::terminal::{middle_out, width};
use std::time::Duration;

#[derive(Default)]
pub struct Row {
    pub name: String,
    /// The part that is done, from 0 to 1, if it is known.
    pub share: Option<f64>,
    /// The amount done, such as `1.5 of 20.0 MB`.
    pub amount: String,
    pub rate: String,
    pub left: Option<Duration>,
}

/// A longer name is shortened to this many columns before anything else is left out.
const NAME: usize = 12;
const MIN_BAR: usize = 12;
const MAX_BAR: usize = 32;
const GAP: usize = 2;

impl Row {
    /// The row, in at most `columns`. If there is room, a bar stands after the name. If there is too little, the
    /// amount is left out first (the percentage says the same), then the rate, then the time, then the percentage.
    pub fn fit(&self, columns: usize) -> String {
        let percent = self.share.map(|share| format!("{:>3.0}%", (share.clamp(0.0, 1.0) * 100.0).floor()));
        let left = self.left.map(|left| format!("{:>5} left", clock(left)));
        let mut parts = [percent.unwrap_or_default(), self.amount.clone(), self.rate.clone(), left.unwrap_or_default()];
        let order = if self.share.is_some() { [1, 2, 3, 0] } else { [2, 3, 0, 1] };
        let name_width = width(&self.name);
        for part in order {
            if name_width.min(NAME) + columns_of(&parts) <= columns {
                break;
            }
            parts[part].clear();
        }
        let free = columns.saturating_sub(columns_of(&parts));
        let mut row = middle_out(&self.name, free);
        let used = width(&row);
        if let Some(share) = self.share
            && free >= used + GAP + MIN_BAR
        {
            let len = (free - used - GAP).min(MAX_BAR);
            row += &format!("{:gap$}{}", "", bar(share, len), gap = free - used - len);
        } else {
            row += &" ".repeat(free - used);
        }
        for part in parts.iter().filter(|part| !part.is_empty()) {
            row += &format!("{:GAP$}{part}", "");
        }
        row
    }
}

fn columns_of(parts: &[String]) -> usize {
    parts.iter().filter(|part| !part.is_empty()).map(|part| GAP + width(part)).sum()
}

fn bar(share: f64, len: usize) -> String {
    let inside = len - 2;
    let done = ((share.clamp(0.0, 1.0) * inside as f64) as usize).min(inside);
    format!("[{}{}]", "#".repeat(done), "-".repeat(inside - done))
}

/// A time such as 0:05, 12:34 or 1:02:03.
pub fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{seconds:02}"),
        1..100 => format!("{hours}:{minutes:02}:{seconds:02}"),
        _ => format!("{} days", hours / 24),
    }
}

pub fn amount(bytes: u64, total: Option<u64>) -> String {
    let (unit, name) = if total.unwrap_or(bytes) < 100_000_000_000 { (1e6, "MB") } else { (1e9, "GB") };
    let shown = |bytes: u64| format!("{:.1}", bytes as f64 / unit);
    match total.map(shown) {
        Some(total) => format!("{:>len$} of {total} {name}", shown(bytes), len = total.len()),
        None => format!("{} {name}", shown(bytes)),
    }
}

pub fn rate(per_second: f64) -> String {
    format!("{:.1} MB/s", per_second / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(name: &str) -> Row {
        Row {
            name: name.to_owned(),
            share: Some(0.4512),
            amount: amount(203_100_000, Some(450_200_000)),
            rate: rate(48.12e6),
            left: Some(Duration::from_secs(5)),
        }
    }

    #[test]
    fn rows() {
        let long = "linux-6.17-with-a-long-name-that-goes-on-and-on-and-on.tar";
        let end = " 45%  203.1 of 450.2 MB  48.1 MB/s   0:05 left";
        for (name, columns, row) in [
            (long, 130, format!("{long}  [#########-----------]  {end}")),
            (long, 79, format!("linux-6.17-wit...-on-and-on.tar  {end}")),
            ("dump", 79, format!("dump  [##########-------------]  {end}")),
            ("dump", 60, format!("dump          {end}")),
            (long, 59, "linux-6.17-wit...on-and-on.tar   45%  48.1 MB/s   0:05 left".to_owned()),
            (long, 40, "linux-6.17...nd-on.tar   45%   0:05 left".to_owned()),
            (long, 20, "linux-...n.tar   45%".to_owned()),
            (long, 3, "...".to_owned()),
            (long, 0, String::new()),
        ] {
            assert_eq!(example(name).fit(columns), row);
        }
        let unknown = Row { share: None, left: None, amount: amount(203_100_000, None), ..example(long) };
        assert_eq!(unknown.fit(79), format!("{long}  203.1 MB  48.1 MB/s"));
        assert_eq!(unknown.fit(30), "linux-6.1...d-on.tar  203.1 MB");
    }

    #[test]
    fn numbers() {
        let times = [0, 5, 754, 3723, 359_999, 360_000].map(|seconds| clock(Duration::from_secs(seconds)));
        assert_eq!(times, ["0:00", "0:05", "12:34", "1:02:03", "99:59:59", "4 days"]);
        assert_eq!(amount(1_550_000, Some(20_000_000)), " 1.6 of 20.0 MB");
        assert_eq!(amount(250_000_000_000, None), "250.0 GB");
        assert_eq!(rate(48_120_000.0), "48.1 MB/s");
    }
}
