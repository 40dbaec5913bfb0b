//! The tables and figures of chapters 4 and 5 of Deshpande's thesis (2014), the steps of Patel's (2012), chapter 4 of
//! Ching's (2014), and chapters 4 and 5 of Funasaka's (2018), on any data set and device. `hybz-tables` stands for
//! `cargo run --release -p hybz-tables --`.
//!
//! ```text
//! hybz-tables datasets                            list the data sets and where they are
//! hybz-tables fetch NAME                          fetch and verify one data set
//! hybz-tables table-5.1 [SET..]                   time and size by block size and perturbation
//! hybz-tables table-5.2 [SET..]                   speed by number of CPU cores, without GPUs
//! hybz-tables table-5.3 [SET..]                   the same, without and with GPUs
//! hybz-tables figure-5.2 [SET..]                  sorting depth: the depth of comparisons
//! hybz-tables figure-5.5 [SET..]                  rounds of a sort in fixed steps, and by doubling
//! hybz-tables figure-5.7 [SET..]                  decompression speed by block size
//! hybz-tables patel-compress [SET..]              BWT, MTF and Huffman coding on one core and on a GPU
//! hybz-tables patel-decompress [SET..]            the same, decoding (Patel's tables 4.1 to 4.3)
//! hybz-tables ching-4.1 [SET..]                   suffix arrays; a SET may also be identical, random or dna
//! hybz-tables ching-4.2 [SET..]                   exact LZ77 factors, and cut ones
//! hybz-tables ching-4.3 [SET..]                   the share of each step, and factors by number of
//!                                                 divisions; also as ching-4.4 and ching-4.5
//! hybz-tables deshpande-4.2 [SET..]               sorting lines: SETs are words, url, genome, sentences,
//!                                                 pc-filelist and random; with ratios, which are figure 4.6
//! hybz-tables deshpande-4.3 [SET..]               single lines leave, or stay
//! hybz-tables deshpande-4.4 [SET..]               numbers of groups of as many bits as needed, or 32
//! hybz-tables deshpande-4.5 [SET..]               another device
//! hybz-tables deshpande-4.7 [BYTES]               by the bytes that all lines have in common, up to BYTES
//! hybz-tables divisions N [SET..]                 factors that are cut at the ends of N divisions
//! hybz-tables funasaka-4.3 [SET..]                LZW: compression; also as funasaka-4.4 and funasaka-4.5
//! hybz-tables funasaka-4.8 [SET..]                LZW: decompression; funasaka-4.9: loading
//! hybz-tables funasaka-5.3 [SET..]                ALL, a format for GPUs: sizes, with LZ4; funasaka-5.4:
//!                                                 decompression; -5.5: its words; -5.6: loading
//! hybz-tables all-cases FILE [SET..]              strips of ALL for `bench all` of cuda/bench
//! hybz-tables speed SET SIZE [K [EVERY]]          one block size, and libsais alone: perturbed after
//!                                                 every K bytes (0: not), every EVERY-th block
//! hybz-tables svg CSV COLUMN > x.svg              draw a column of a table as a bar chart
//! ```
//!
//! The default is all sets of `datasets.toml` that are on this machine. `benches/run.sh thesis-tables` makes all tables
//! and keeps their output: CSV, with a header for each set, and comments that begin with `#`. The tables of chapter 4
//! make their sets of `words` and `paths` (lists, a line each) and `dickens` in `$HYBZ_DATA`, and get the figures of a
//! device from `HYBZ_CUDA_BENCH` and `HYBZ_THRUST` (strings.rs describes these programs). `HYBZ_MAX=BYTES` takes only
//! the beginning of each set; `HYBZ_DATASETS=FILE` names another list of sets. Machines are noisy: compare figures only
//! within a run.

mod all;
#[cfg(test)]
mod all_tests;
mod ching;
mod datasets;
mod depth;
mod device;
mod factor_device;
mod funasaka;
mod peers;
mod speed;
mod stations;
mod steps;
mod strings;
mod svg;

use std::process::exit;

/// The block sizes of the tables.
const SIZES: [usize; 3] = [900_000, 4_500_000, 9_000_000];
/// The intervals of perturbation in bytes, and the thesis's name for each.
const INTERVALS: [(u32, &str); 4] = [(0, "0"), (10_000, "0.01%"), (1000, "0.1%"), (100, "1%")];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match &words[..] {
        ["datasets"] => datasets::show(),
        ["fetch", name] => datasets::fetch(name),
        ["table-5.1", sets @ ..] => datasets::each(sets, speed::by_size_and_perturbation),
        ["table-5.2" | "table-5.3", sets @ ..] => datasets::each(sets, stations::by_number),
        ["figure-5.2", sets @ ..] => datasets::each(sets, depth::depths),
        ["figure-5.5", sets @ ..] => datasets::each(sets, depth::rounds),
        ["figure-5.7", sets @ ..] => datasets::each(sets, speed::decompression),
        ["patel-compress", sets @ ..] => datasets::each(sets, steps::compression),
        ["patel-decompress", sets @ ..] => datasets::each(sets, steps::decompression),
        ["ching-4.1", sets @ ..] => ching::suffix_arrays(sets),
        ["ching-4.2", sets @ ..] => ching::factorization(sets),
        ["ching-4.3" | "ching-4.4" | "ching-4.5", sets @ ..] => ching::figures(sets),
        ["funasaka-4.3" | "funasaka-4.4" | "funasaka-4.5", sets @ ..] => funasaka::lzw_compression(sets),
        ["funasaka-4.8", sets @ ..] => funasaka::lzw_decompression(sets),
        ["funasaka-4.9", sets @ ..] => funasaka::lzw_loading(sets),
        ["funasaka-5.3", sets @ ..] => funasaka::all_sizes(sets),
        ["funasaka-5.4", sets @ ..] => funasaka::all_decompression(sets),
        ["funasaka-5.5", sets @ ..] => funasaka::all_words(sets),
        ["funasaka-5.6", sets @ ..] => funasaka::all_loading(sets),
        ["all-cases", file, sets @ ..] => funasaka::cases(file, sets),
        ["deshpande-4.2" | "deshpande-4.6", sets @ ..] => strings::sets(sets),
        ["deshpande-4.3", sets @ ..] => strings::singles(sets),
        ["deshpande-4.4", sets @ ..] => strings::numbers(sets),
        ["deshpande-4.5", sets @ ..] => strings::device(sets),
        ["deshpande-4.7"] => strings::ties(2048),
        ["deshpande-4.7", most] => {
            strings::ties(most.parse().unwrap_or_else(|_| fail(&format!("`{most}' is not a number"))));
        }
        ["divisions", number, sets @ ..] => {
            let number = number.parse().unwrap_or_else(|_| fail(&format!("`{number}' is not a number")));
            ching::divisions(number, sets);
        }
        ["speed", set, size, rest @ ..] => {
            let number = |text: &str| text.parse().unwrap_or_else(|_| fail(&format!("`{text}' is not a number")));
            let interval = rest.first().map_or(0, |k| number(k));
            let every = rest.get(1).map_or(1, |n| number(n)).max(1);
            datasets::each(&[*set], |set, text| {
                speed::beside_libsais(set, text, number(size), interval as u32, every);
            });
        }
        ["svg", run, column] => svg::draw(run, column),
        [] => println!("tables: no table named (see the comment in crates/tables/src/main.rs)"),
        _ => fail("no such table or wrong arguments (see the comment in crates/tables/src/main.rs)"),
    }
}

fn fail(what: &str) -> ! {
    eprintln!("tables: {what}");
    exit(1)
}
