//! A bar chart of one column of a table: one bar for each line, named by the columns in [`NAMES`].

use crate::fail;

const BAR: usize = 18;
const LEFT: usize = 190;
const WIDTH: usize = 620;
const FONT: &str = r#"font-family="sans-serif" font-size="12""#;

/// Columns that name a line; all others are measurements.
const NAMES: [&str; 6] = ["block", "perturbed", "format", "cpu", "gpu", "step"];

/// Draws the column named `column` of the CSV file `csv` to stdout.
pub fn draw(csv: &str, column: &str) {
    let text = std::fs::read_to_string(csv).unwrap_or_else(|e| fail(&format!("{csv}: {e}")));
    let (mut header, mut last_set) = (Vec::new(), "");
    let mut bars: Vec<(String, Option<f64>)> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let cells: Vec<&str> = line.split(',').collect();
        if cells[0] == "set" {
            header = cells;
            continue;
        }
        let at = header.iter().position(|name| *name == column).unwrap_or_else(|| fail("no such column"));
        let Some(value) = cells.get(at).and_then(|cell| cell.parse().ok()) else { continue };
        if cells[0] != last_set {
            last_set = cells[0];
            bars.push((last_set.to_owned(), None));
        }
        let names = header.iter().zip(&cells).filter(|(name, _)| NAMES.contains(name));
        bars.push((names.map(|(_, cell)| *cell).collect::<Vec<_>>().join(" "), Some(value)));
    }
    let max = bars.iter().filter_map(|bar| bar.1).fold(0.0, f64::max);
    if max == 0.0 {
        fail("no figures in this column");
    }
    let height = (bars.len() + 2) * BAR;
    println!(r#"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" {FONT}>"#);
    println!(r#"<text x="4" y="14" font-weight="bold">{}</text>"#, column.replace('_', " "));
    for (number, (name, value)) in bars.iter().enumerate() {
        let y = (number + 1) * BAR;
        let base = y + 13;
        let Some(value) = value else {
            println!(r#"<text x="4" y="{base}" font-style="italic">{name}</text>"#);
            continue;
        };
        let length = (value / max * (WIDTH - LEFT - 100) as f64) as usize;
        println!(r#"<text x="{}" y="{base}" text-anchor="end">{name}</text>"#, LEFT - 6);
        println!(r##"<rect x="{LEFT}" y="{}" width="{length}" height="{}" fill="#47a"/>"##, y + 2, BAR - 4);
        println!(r#"<text x="{}" y="{base}">{value}</text>"#, LEFT + length + 4);
    }
    println!("</svg>");
}
