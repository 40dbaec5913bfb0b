//! The tables and figures of Deshpande's thesis (chapter 5), on whatever data and devices there are.
//!
//! ```text
//! cargo bench --bench tables -- datasets                    which sets there are, and where
//! cargo bench --bench tables -- fetch NAME                  fetches and verifies one
//! cargo bench --bench tables -- table-5.1 [SET..]           block size x perturbation: times and size
//! cargo bench --bench tables -- table-5.2 [SET..]           number of CPU stations, without (5.2) and with (5.3) GPUs
//! cargo bench --bench tables -- figure-5.2 [SET..]          sorting depth: how far suffixes must be compared
//! cargo bench --bench tables -- figure-5.5 [SET..]          rounds of a sort by fixed steps, and by doubling
//! cargo bench --bench tables -- figure-5.7 [SET..]          decompression, by block size
//! cargo bench --bench tables -- speed SET SIZE [K [EVERY]]  one block size, each n-th block, beside libsais alone
//! cargo bench --bench tables -- svg RUN COLUMN > x.svg      a picture of a recorded run
//! ```
//!
//! What they print is what is recorded in `benches/runs`: lines of columns, and lines that begin with `#` around them. `HYBZ_MAX=BYTES` takes
//! only the beginning of each set; `HYBZ_DATASETS=FILE` is another list of sets. Machines are noisy: compare within a run.

mod datasets;
mod depth;
mod device;
mod speed;
mod stations;
mod svg;

use std::process::exit;

/// The block sizes of the tables.
const SIZES: [usize; 3] = [900_000, 4_500_000, 9_000_000];
/// The intervals of perturbation, and what the thesis calls them.
const INTERVALS: [(u32, &str); 4] = [(0, "0"), (10_000, "0.01%"), (1000, "0.1%"), (100, "1%")];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match &words[..] {
        ["datasets"] => datasets::show(),
        ["fetch", name] => datasets::fetch(name),
        ["table-5.1", sets @ ..] => datasets::each(sets, speed::by_size_and_perturbation),
        ["table-5.2" | "table-5.3", sets @ ..] => datasets::each(sets, stations::by_number),
        ["figure-5.2", sets @ ..] => datasets::each(sets, depth::depths),
        ["figure-5.5", sets @ ..] => datasets::each(sets, depth::rounds),
        ["figure-5.7", sets @ ..] => datasets::each(sets, speed::decompression),
        ["speed", set, size, rest @ ..] => {
            let number = |text: &str| text.parse().unwrap_or_else(|_| fail(&format!("`{text}' is no number")));
            let interval = rest.first().map_or(0, |k| number(k));
            let every = rest.get(1).map_or(1, |n| number(n)).max(1);
            datasets::each(&[*set], |text| speed::beside_libsais(text, number(size), interval as u32, every));
        }
        ["svg", run, column] => svg::draw(run, column),
        [] => println!("tables: nothing asked for (see the comment in benches/tables/main.rs)"),
        _ => fail("see the comment in benches/tables/main.rs"),
    }
}

fn fail(what: &str) -> ! {
    eprintln!("tables: {what}");
    exit(1)
}
