//! The format and block size that compressing writes.

use super::choices::OutputFormat;
use super::flags::Flags;
use anyhow::bail;
use hybz::lz4::Frame;
use hybz::{Encoding, LargeBlocks, Level, Streams};
use std::num::NonZeroU32;

/// The block size of `--format=hbz`, unless `--block-size` gives another.
const HBZ_SIZE: u64 = 9_000_000;

/// The block size of perturbed streams, unless `--block-size` gives another.
const PERTURBED_SIZE: u64 = 900_000;

pub const LARGE_FLAGS: &str = "--block-size, --perturb or --format=hbz";

#[derive(Clone, Copy, Debug)]
pub struct Coding {
    pub encoding: Encoding,
    /// The bzip2 level that was asked for, whatever the encoding.
    pub level: Level,
}

impl Coding {
    pub fn new(flags: &Flags) -> anyhow::Result<Coding> {
        let level = level(flags);
        let streams = flags.stream_size.and_then(Streams::try_new);
        let encoding = match large_blocks(flags)? {
            // lz4's own default is its fastest level, bzip2's the one that compresses best.
            _ if flags.format == Some(OutputFormat::Lz4) => Frame::new().level(flags.level.0.unwrap_or(1)).into(),
            Some(blocks) => blocks.into(),
            None => match perturbs(flags) {
                Some(interval) => Encoding::Perturbed { level, interval, seed: flags.perturb_seed.unwrap_or(0) },
                None => {
                    let streams = streams.map(|streams| streams.split_lines(flags.lines));
                    Encoding::Bzip2 { level, streams }
                }
            },
        };
        Ok(Coding { encoding, level })
    }

    pub fn of_level(level: Level) -> Coding {
        Coding { encoding: level.into(), level }
    }

    pub fn remark(&self) -> Option<String> {
        let Encoding::Perturbed { interval, .. } = self.encoding else { return None };
        Some(format!(
            "--perturb: other programs decode this .bz2 to a text with one more byte after every {interval}; hybz \
             takes these bytes out."
        ))
    }

    pub fn large_blocks(&self) -> Option<LargeBlocks> {
        self.encoding.large_blocks()
    }
}

fn level(flags: &Flags) -> Level {
    let level = flags.level.0.and_then(Level::try_new).unwrap_or_default();
    if flags.small { level.min(Level::try_new(2).unwrap_or_default()) } else { level }
}

fn perturbs(flags: &Flags) -> Option<NonZeroU32> {
    flags.perturb.and_then(NonZeroU32::new)
}

fn large_blocks(flags: &Flags) -> anyhow::Result<Option<LargeBlocks>> {
    let perturb = perturbs(flags).map(NonZeroU32::get);
    let hbz = flags.format == Some(OutputFormat::Hbz);
    let bz2 = flags.format == Some(OutputFormat::Bz2);
    if flags.block_size.is_none() && (perturb.is_none() || bz2) && !hbz {
        return Ok(None);
    }
    let usual = if perturb.is_some() { PERTURBED_SIZE } else { HBZ_SIZE };
    let size = flags.block_size.unwrap_or(usual);
    let large = u32::try_from(size).ok().filter(|&size| size >= 1_000_000 || u64::from(size) == PERTURBED_SIZE);
    let Some(large) = large.and_then(LargeBlocks::try_new) else {
        bail!("--block-size must be 1M to 1G, or 900k with --perturb.");
    };
    if size == PERTURBED_SIZE && perturb.is_none() {
        bail!("--block-size 900k is bzip2's own: it makes sense with --perturb only.");
    }
    Ok(Some(large.perturbation(perturb.unwrap_or(0), flags.perturb_seed.unwrap_or(0))))
}
