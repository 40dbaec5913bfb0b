//! The speeds as a picture: one panel for each direction, a line for each program with and without GPUs, from the
//! shortest to the longest round at each number of threads.

use super::Bench;
use super::cell::Cell;
use super::table::{shown_speed, speed, what};
use crate::cli::args::{BenchMode, Direction, Plan};
use std::fmt::{self, Write};

const PANEL_WIDTH: f64 = 400.0;
const PANEL_HEIGHT: f64 = 260.0;
const LEFT: f64 = 64.0;
/// The room for the numbers next to the last dots.
const RIGHT: f64 = 44.0;
const TOP: f64 = 72.0;
/// The room under a panel for the numbers of threads and their label.
const BELOW: f64 = 60.0;
const LEGEND_LINE: f64 = 20.0;
/// The distance between lines at one number of threads, so that their bars do not hide each other.
const APART: f64 = 7.0;
/// The height of a number next to a line.
const LABEL: f64 = 14.0;
/// Colours that can be distinguished without red and green (Okabe and Ito, 2008).
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#444444"];

/// One line of a panel.
struct Line<'a> {
    program: &'a str,
    gpus: bool,
    colour: &'static str,
}

impl Line<'_> {
    fn has(&self, cell: &Cell) -> bool {
        cell.program() == self.program && cell.gpus() == self.gpus
    }

    fn title(&self) -> String {
        format!("{}{}", self.program, if self.gpus { " with GPUs" } else { "" })
    }
}

/// The picture.
pub fn svg(plan: &Plan<BenchMode>, bench: &Bench) -> String {
    let mut lines: Vec<Line<'_>> = Vec::new();
    for cell in &bench.cells {
        if !lines.iter().any(|line| line.has(cell)) {
            let colour = COLOURS[lines.len() % COLOURS.len()];
            lines.push(Line { program: cell.program(), gpus: cell.gpus(), colour });
        }
    }
    let directions: Vec<Direction> = [Direction::Compress, Direction::Decompress]
        .into_iter()
        .filter(|direction| bench.cells.iter().any(|cell| cell.direction == *direction))
        .collect();
    let panel = LEFT + PANEL_WIDTH + RIGHT;
    let width = panel * directions.len() as f64;
    let height = TOP + PANEL_HEIGHT + BELOW + LEGEND_LINE * (lines.len() + 1) as f64 + 8.0;
    let mut picture = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"16\" y=\"24\" font-size=\"15\">{}</text>\n",
        Escaped(&cut(&what(plan, bench), if directions.len() > 1 { 110 } else { 56 })),
    );
    for (number, direction) in directions.iter().enumerate() {
        draw_panel(&mut picture, bench, &lines, *direction, panel * number as f64 + LEFT);
    }
    for (number, line) in lines.iter().enumerate() {
        let y = TOP + PANEL_HEIGHT + BELOW + LEGEND_LINE * number as f64;
        let (colour, title) = (line.colour, line.title());
        // Writing into a String does not fail.
        let _ = writeln!(
            picture,
            "<path d=\"M{LEFT} {y}h28\" stroke=\"{colour}\" stroke-width=\"2\"/>\
             <circle cx=\"{}\" cy=\"{y}\" r=\"3.5\" fill=\"{colour}\"/><text x=\"{}\" y=\"{}\">{}</text>",
            LEFT + 14.0,
            LEFT + 38.0,
            y + 4.5,
            Escaped(&title),
        );
    }
    let y = TOP + PANEL_HEIGHT + BELOW + LEGEND_LINE * lines.len() as f64;
    let _ = writeln!(
        picture,
        "<path d=\"M{} {}v12\" stroke=\"#444\" stroke-width=\"6\" stroke-opacity=\"0.3\"/>\
         <text x=\"{}\" y=\"{}\">from the slowest to the fastest round; the dots are medians</text>",
        LEFT + 14.0,
        y - 6.0,
        LEFT + 38.0,
        y + 4.5
    );
    picture.push_str("</svg>\n");
    picture
}

/// Draws one direction, with its left axis at `left`.
fn draw_panel(picture: &mut String, bench: &Bench, lines: &[Line<'_>], direction: Direction, left: f64) {
    let bytes = bench.input.text.0.len();
    let cells = || bench.cells.iter().filter(move |cell| cell.direction == direction);
    let speeds = |cell: &Cell| cell.figures().map(|times| times.map(|time| speed(bytes, time)));
    let max = cells().filter_map(speeds).map(|[_, max, _]| max).fold(0.0, f64::max);
    let step = step(max);
    let top = (max / step).ceil().max(1.0) * step;
    let y = |speed: f64| TOP + PANEL_HEIGHT * (1.0 - speed / top);
    let (bottom, right) = (TOP + PANEL_HEIGHT, left + PANEL_WIDTH);
    let place = |threads: usize| bench.threads.iter().position(|&number| number == threads).unwrap_or(0);
    let x = |threads: usize| left + PANEL_WIDTH * (place(threads) as f64 + 0.5) / bench.threads.len() as f64;

    let title = if direction == Direction::Compress { "Compress" } else { "Decompress" };
    let _ =
        writeln!(picture, "<text x=\"{left}\" y=\"{}\" font-weight=\"bold\">{title}, MB/s of text</text>", TOP - 16.0);
    for number in 0..=(top / step).round() as usize {
        let (speed, at) = (number as f64 * step, y(number as f64 * step));
        let _ = writeln!(
            picture,
            "<path d=\"M{left} {at:.1}H{right}\" stroke=\"{}\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            if number == 0 { "#444" } else { "#ddd" },
            left - 8.0,
            at + 4.5,
            tick(speed, step),
        );
    }
    for &threads in &bench.threads {
        let x = x(threads);
        let _ = writeln!(picture, "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{threads}</text>", bottom + 18.0);
    }
    let middle = (left + right) / 2.0;
    let _ = writeln!(picture, "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">threads</text>", bottom + 34.0);
    let mut labels = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let (colour, shift) = (line.colour, APART * (number as f64 - (lines.len() - 1) as f64 / 2.0));
        let mut path = String::new();
        let mut last = None;
        for cell in cells().filter(|cell| line.has(cell)) {
            let Some([median, max, min]) = speeds(cell) else { continue };
            let (x, at) = (x(cell.threads()) + shift, y(median));
            let _ = write!(path, "{}{x:.1} {at:.1}", if path.is_empty() { 'M' } else { 'L' });
            let _ = writeln!(
                picture,
                "<path d=\"M{x:.1} {:.1}V{:.1}\" stroke=\"{colour}\" stroke-width=\"6\" stroke-opacity=\"0.3\"/>\
                 <circle cx=\"{x:.1}\" cy=\"{at:.1}\" r=\"3.5\" fill=\"{colour}\"/>",
                y(min),
                y(max),
            );
            last = Some(Label { x: x - shift, y: at, text: shown_speed(median), colour });
        }
        let _ = writeln!(picture, "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>");
        labels.extend(last);
    }
    draw_labels(picture, apart(labels, bottom), APART * lines.len() as f64 / 2.0 + 8.0);
}

/// Writes labels to the right of their places.
fn draw_labels(picture: &mut String, labels: Vec<Label>, distance: f64) {
    for Label { x, y, text, colour } in labels {
        // The white outline keeps it readable over a line.
        for look in ["stroke=\"white\" stroke-width=\"4\"".to_owned(), format!("fill=\"{colour}\"")] {
            let _ = writeln!(picture, "<text x=\"{:.1}\" y=\"{:.1}\" {look}>{text}</text>", x + distance, y + 4.5);
        }
    }
}

/// A speed, next to its place.
#[derive(Clone, Debug, PartialEq)]
struct Label {
    x: f64,
    y: f64,
    text: String,
    colour: &'static str,
}

/// Moves labels that would cover each other up or down, but not below `bottom`.
fn apart(mut labels: Vec<Label>, bottom: f64) -> Vec<Label> {
    labels.sort_by(|a, b| b.y.total_cmp(&a.y));
    for number in 0..labels.len() {
        let (below, [label, ..]) = labels.split_at_mut(number) else { continue };
        let limit = below.iter().rev().find(|other| other.x == label.x).map_or(bottom - 4.0, |other| other.y - LABEL);
        label.y = label.y.min(limit);
    }
    labels
}

/// The distance between two lines of the grid: 1, 2 or 5 times a power of ten, so that there are 4 to 10 of them.
fn step(max: f64) -> f64 {
    let power = 10f64.powf(libm::log10(max.max(1e-6) / 4.0).floor());
    let fits = [5.0, 2.0].into_iter().find(|factor| max / (factor * power) >= 4.0);
    fits.unwrap_or(1.0) * power
}

/// A number next to a line of the grid.
fn tick(speed: f64, step: f64) -> String {
    let decimals = if step >= 1.0 { 0 } else { (-libm::log10(step)).ceil().max(0.0) as usize };
    format!("{speed:.decimals$}")
}

/// Cuts `text` to at most `max` characters.
fn cut(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let end: String = text.chars().skip(text.chars().count() + 1 - max).collect();
    format!("\u{2026}{end}")
}

/// Text in XML. Characters that XML does not allow are left out.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|char| match char {
            '<' => f.write_str("&lt;"),
            '&' => f.write_str("&amp;"),
            char if char.is_control() => Ok(()),
            char => f.write_char(char),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids() {
        for (max, expected) in [(100.0, 20.0), (2994.0, 500.0), (7.9, 1.0), (8.1, 2.0), (0.05, 0.01), (45.0, 10.0)] {
            let (step, lines) = (step(max), max / step(max));
            assert!((step / expected - 1.0).abs() < 1e-9, "{max}: {step}");
            assert!((4.0..10.1).contains(&lines), "{max}");
        }
        assert_eq!((tick(0.02, 0.01), tick(500.0, 500.0)), ("0.02".to_owned(), "500".to_owned()));
    }

    #[test]
    fn labels() {
        let label = |x, y| Label { x, y, text: String::new(), colour: "" };
        let moved = apart(vec![label(1.0, 90.0), label(1.0, 20.0), label(1.0, 92.0), label(2.0, 91.0)], 100.0);
        let places: Vec<(f64, f64)> = moved.iter().map(|label| (label.x, label.y)).collect();
        assert_eq!(places, [(1.0, 92.0), (2.0, 91.0), (1.0, 78.0), (1.0, 20.0)]);
    }

    /// Two programs and GPUs at five numbers of threads: pictures do not get larger than this.
    #[test]
    fn pictures() {
        use super::super::{cell::Who, input::BenchInput, peer::Peer, work::Shared};
        use crate::cli::args::{Mode, Request, parse};
        use std::ffi::{OsStr, OsString};
        use std::sync::Arc;
        use std::time::Duration;
        let words = ["--bench", "a<b"].map(OsString::from);
        let Ok(Request::Run(plan)) = parse(OsStr::new("hybz"), words.into_iter(), |_| None) else { panic!() };
        let Plan { common, mode: Mode::Bench(mode) } = *plan else { panic!() };
        let plan = Plan { common, mode };
        let shared = |len| Shared(Arc::new(vec![0; len]));
        let input = BenchInput { text: shared(100_000_000), coded: shared(16_000_000), remark: None };
        let peer = Arc::new(Peer::find("/bin/sh").expect("a program"));
        let threads = vec![1, 2, 4, 8, 16];
        let mut cells = Vec::new();
        for direction in [Direction::Compress, Direction::Decompress] {
            for &n in &threads {
                let whos = [
                    (Who::Hybz { threads: n, gpus: false }, 40),
                    (Who::Hybz { threads: n, gpus: true }, 400),
                    (Who::Peer { peer: Arc::clone(&peer), threads: n }, 20),
                ];
                for (who, rate) in whos {
                    let seconds = 100.0 / (rate as f64 + 38.0 * n as f64);
                    let times = [0.95, 1.0, 1.1].map(|factor| Duration::from_secs_f64(seconds * factor)).to_vec();
                    let mut cell = Cell::new(who, direction);
                    cell.times = times;
                    cells.push(cell);
                }
            }
        }
        let bench = Bench { input, threads, devices: Vec::new(), cells, absent: Vec::new() };
        let picture = svg(&plan, &bench);
        assert!(picture.contains("a&lt;b: 100.0 MB of text") && picture.ends_with("</svg>\n"));
        assert_eq!(picture.matches("<circle").count(), 30 + 3);
        assert!(picture.contains("hybz with GPUs") && !picture.contains("NaN") && !picture.contains("inf"));
    }

    #[test]
    fn texts() {
        assert_eq!(Escaped("a<b>&\u{1b}c").to_string(), "a&lt;b>&amp;c");
        assert_eq!((cut("abcdef", 6), cut("abcdef", 4)), ("abcdef".to_owned(), "\u{2026}def".to_owned()));
    }
}
