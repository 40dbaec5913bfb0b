//! The tables and figures of four theses, on any data set and device. README.md has a row for each of them.
//!
//! ```text
//! cargo run --release -p theses                              lists all tables and figures
//! cargo run --release -p theses -- deshpande 5.1 [SET..]     makes one, as CSV with comments that begin with `#`
//! cargo run --release -p theses -- datasets                  lists the data sets and where they are
//! cargo run --release -p theses -- fetch NAME                fetches or makes one (`all`: each), and verifies it
//! cargo run --release -p theses -- svg CSV COLUMN            draws a column of a table as a bar chart
//! ```
//!
//! The default is all sets of `datasets.toml` that are on this machine. `HYBZ_MAX=BYTES` takes only the beginning of
//! each set; `HYBZ_DATASETS=FILE` names another list of sets. The tables of Deshpande's chapter 4 get the figures of a
//! device from `HYBZ_STRINGS`, `HYBZ_CUDA_BENCH` and `HYBZ_THRUST` (deshpande/src/strings.rs describes these programs).
//! Machines are noisy: compare figures only within a run.

use theses_common::{Item, datasets, fail, svg};

const THESES: [(&str, &[Item]); 4] = [
    ("deshpande", theses_deshpande::ITEMS),
    ("patel", theses_patel::ITEMS),
    ("ching", theses_ching::ITEMS),
    ("funasaka", theses_funasaka::ITEMS),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match &words[..] {
        [] => list(),
        ["datasets"] => datasets::show(),
        ["fetch", name] => datasets::fetch(name),
        ["svg", run, column] => svg::draw(run, column),
        [thesis, name, rest @ ..] => {
            let items = THESES.iter().find(|(known, _)| known == thesis).map(|(_, items)| items.iter());
            match items.and_then(|mut items| items.find(|item| item.name == *name)) {
                Some(item) => (item.make)(rest),
                None => fail(&format!("there is no `{thesis} {name}' (without arguments, all are listed)")),
            }
        }
        _ => fail("wrong arguments (without any, all tables are listed)"),
    }
}

fn list() {
    for (thesis, items) in THESES {
        for item in items {
            println!("{thesis} {}: {}", item.name, item.what);
        }
    }
}
