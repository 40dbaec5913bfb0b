//! The lines of the table, and the objects (docs/JSON.md).

use super::Times;
use crate::cli::messages::Failure;
use crate::cli::messages::json::{self, Object};
use crate::cli::modes::{ratio, table_line};
use hybz_factor::Measures;
use std::ffi::OsStr;

pub fn head() -> Vec<u8> {
    columns(["bytes", "alphabet", "entropy", "runs", "n/r", "factors", "n/z", "longest"], OsStr::new("name"))
}

/// The line of a file, or the `sums` of several. (Each file is a separate text, with its own alphabet and entropy.)
pub fn line(measures: &Measures, sums: bool, name: &OsStr) -> Vec<u8> {
    let Measures { bytes, alphabet, entropy, runs, factors, longest, .. } = measures;
    let [bytes, runs, factors, longest] = [bytes, runs, factors, longest].map(u64::to_string);
    let alone = [alphabet.to_string(), format!("{entropy:.4}")];
    let [alphabet, entropy] = if sums { ["-", "-"] } else { [&*alone[0], &alone[1]] };
    let (per_run, per_factor) = (ratio(measures.mean_run(), 2), ratio(measures.mean(), 2));
    columns([&bytes, alphabet, entropy, &runs, &per_run, &factors, &per_factor, &longest], name)
}

fn columns(numbers: [&str; 8], name: &OsStr) -> Vec<u8> {
    table_line([13, 8, 7, 11, 8, 11, 8, 10], numbers, name)
}

pub fn add(sum: &mut Measures, one: &Measures) {
    sum.bytes += one.bytes;
    sum.runs += one.runs;
    sum.factors += one.factors;
    sum.longest = sum.longest.max(one.longest);
}

pub fn times(measures: &Measures, Times { steps, all, .. }: &Times) -> Vec<u8> {
    format!("{steps}: {:.1} MB/s\n", measures.bytes as f64 / 1e6 / all.as_secs_f64().max(1e-9)).into_bytes()
}

pub fn object(decoded: bool, name: &OsStr, found: &Result<Measures, Failure>, times: &Times) -> Vec<u8> {
    let mut object = Object::of_file("measure", name);
    object.put("decoded", decoded);
    if let Ok(measures) = found {
        object.put("bytes", measures.bytes);
        object.put("alphabet", measures.alphabet);
        object.put("entropy", measures.entropy);
        object.put("runs", measures.runs);
        object.put("mean_run", measures.mean_run());
        object.put("factors", measures.factors);
        object.put("mean_factor", measures.mean());
        object.put("longest", measures.longest);
        object.put("gpu", times.by_gpu);
    }
    object.put("seconds", json::seconds(times.all));
    let failure = found.as_ref().err();
    object.put_exit(failure.map_or(0, |failure| failure.code), failure.map(|failure| &failure.text[..]));
    object.line()
}
