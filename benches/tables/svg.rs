//! A bar chart of one column of a recorded run: a bar for each line, named by the columns before its seconds, or else by the first two.

use crate::fail;

const BAR: usize = 18;
const LEFT: usize = 190;
const WIDTH: usize = 620;

/// Draws column `column` (its name) of the run in the file `run`, to stdout.
pub fn draw(run: &str, column: &str) {
    let text = std::fs::read_to_string(run).unwrap_or_else(|e| fail(&format!("{run}: {e}")));
    let (mut at, mut named_by) = (None, 2);
    let mut bars: Vec<(String, Option<f64>)> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let Some(set) = line.strip_prefix("# set ") {
            bars.push((set.to_owned(), None));
        } else if line.starts_with('#') || words.len() < 3 {
        } else if words.iter().all(|word| word.parse::<f64>().is_err()) {
            at = words.iter().position(|word| *word == column);
            named_by = words.iter().position(|word| *word == "seconds").unwrap_or(2);
        } else if let Some(value) = at.and_then(|at| words.get(at)).and_then(|word| word.parse().ok()) {
            bars.push((words[..named_by.min(words.len())].join(" "), Some(value)));
        }
    }
    let most = bars.iter().filter_map(|bar| bar.1).fold(0.0, f64::max);
    if most == 0.0 {
        fail("no such column");
    }
    let height = (bars.len() + 2) * BAR;
    println!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="12">"#
    );
    println!(r#"<text x="4" y="14" font-weight="bold">{}</text>"#, column.replace('_', " "));
    for (number, (name, value)) in bars.iter().enumerate() {
        let y = (number + 1) * BAR;
        let base = y + 13;
        let Some(value) = value else {
            println!(r#"<text x="4" y="{base}" font-style="italic">{name}</text>"#);
            continue;
        };
        let length = (value / most * (WIDTH - LEFT - 100) as f64) as usize;
        println!(r#"<text x="{}" y="{base}" text-anchor="end">{name}</text>"#, LEFT - 6);
        println!(r##"<rect x="{LEFT}" y="{}" width="{length}" height="{}" fill="#47a"/>"##, y + 2, BAR - 4);
        println!(r#"<text x="{}" y="{base}">{value}</text>"#, LEFT + length + 4);
    }
    println!("</svg>");
}
