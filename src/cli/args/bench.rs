//! The plan of `--bench`.

use super::coding::{Coding, LARGE_FLAGS};
use super::kind::Given;
use super::table;
use anyhow::bail;
use std::time::Duration;

/// The speed of compressing and decompressing files is measured.
#[derive(Clone, Debug)]
pub struct BenchMode {
    /// How long to measure each speed.
    pub time: Duration,
    /// The only direction to measure, if one was typed.
    pub only: Option<Direction>,
    /// The format to write and read again.
    pub coding: Coding,
    /// Other programs to measure too.
    pub against: Vec<String>,
    pub json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Compress,
    Decompress,
}

impl BenchMode {
    pub fn new(given: &Given<'_>, seconds: f64, coding: Coding) -> anyhow::Result<BenchMode> {
        let flags = given.flags;
        if given.reads_stdin() {
            bail!("--bench reads files, not standard input.");
        }
        let only = match () {
            () if flags.decompress => Some(Direction::Decompress),
            () if flags.compress => Some(Direction::Compress),
            () => None,
        };
        if only == Some(Direction::Decompress) {
            if flags.block_size.is_some() || flags.perturb.is_some() {
                bail!("--block-size and --perturb are about compressing: they cannot be used together with -d.");
            }
            table::check_formats_of_decompressing(given)?;
        }
        let against = flags.against.iter().flat_map(|list| list.split(',')).map(str::to_owned).collect::<Vec<_>>();
        if against.iter().any(String::is_empty) {
            bail!("--against wants programs such as lbzip2,pbzip2.");
        }
        if !against.is_empty() && (coding.large_blocks().is_some() || flags.perturb.is_some()) {
            bail!("--against works only with .bz2 output: it cannot be used together with {LARGE_FLAGS}.");
        }
        let time = Duration::from_secs_f64(seconds);
        Ok(BenchMode { time, only, coding, against, json: flags.json.is_some() })
    }
}
