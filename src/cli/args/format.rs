//! What `--format` asks for, and which flags do not go with it.

use super::flags::{Flags, OutputFormat};
use super::streams::streams;
use super::task::Mode;
use anyhow::bail;
use hybz::lz4::Frame;
use hybz::{Encoding, LargeBlocks, Level};

/// The blocks of `--format=hbz`, unless `--block-size` gives their size.
const HBZ_SIZE: u64 = 9_000_000;
/// The flags that ask for large blocks, in messages.
pub const LARGE_FLAGS: &str = "--block-size, --perturb or --format=hbz";
/// Why no index is written of large blocks.
pub const HAS_OWN_INDEX: &str = "A .hbz file has an index of its own: --index is about .bz2.";

/// Whether flags ask for large blocks.
pub fn asks_for_large(flags: &Flags) -> bool {
    flags.block_size.is_some() || flags.perturb.is_some() || flags.format == Some(OutputFormat::Hbz)
}

/// The block size of perturbed streams, unless `--block-size` gives another.
const PERTURBED_SIZE: u64 = 900_000;

/// What is written.
pub fn encoding(flags: &Flags, mode: Mode, level: Level) -> anyhow::Result<Encoding> {
    check(flags, mode)?;
    let (large, streams) = (large_blocks(flags)?, streams(flags, mode)?);
    Ok(match large {
        // What lz4 takes for fast and for smaller; it has no level that is bzip2's 9 by default.
        _ if flags.format == Some(OutputFormat::Lz4) => Frame::new().level(flags.level.0.unwrap_or(1)).into(),
        Some(large) => large.into(),
        None => Encoding::Bzip2 { level, streams },
    })
}

/// Refuses what does not go with `--format`.
fn check(flags: &Flags, mode: Mode) -> anyhow::Result<()> {
    let Some(format) = flags.format else { return Ok(()) };
    let reads = match mode {
        _ if flags.recover.is_some() => "--recover",
        _ if flags.list => "-l",
        Mode::Decompress if flags.plan_ranges.is_some() => "--plan-ranges",
        Mode::Decompress => "-d",
        Mode::Test => "-t",
        Mode::Compress => "",
    };
    let perturb = flags.perturb.is_some_and(|interval| interval > 0);
    let (name, others): (_, &[_]) = match format {
        OutputFormat::Bz2 => ("bz2", &[(flags.block_size.is_some(), "--block-size"), (perturb, "--perturb")]),
        OutputFormat::Hbz => (
            "hbz",
            &[
                (flags.plan.is_some(), "--plan"),
                (flags.shard.is_some(), "--shard"),
                (flags.join.is_some(), "--join"),
                (flags.stream_size.is_some(), "--stream-size"),
            ],
        ),
        OutputFormat::Lz4 => (
            "lz4",
            &[
                (flags.block_size.is_some(), "--block-size"),
                (flags.perturb.is_some(), "--perturb"),
                (flags.stream_size.is_some(), "--stream-size"),
                (flags.index.is_some(), "--index"),
                (flags.verify.is_some(), "--verify"),
                (flags.plan.is_some(), "--plan"),
                (flags.shard.is_some(), "--shard"),
                (flags.join.is_some(), "--join"),
                (flags.bench.is_some(), "--bench"),
                (flags.gpu_required, "--gpu-required"),
                (flags.gpu_pipeline.is_some(), "--gpu-pipeline"),
            ],
        ),
    };
    if !reads.is_empty() {
        bail!("--format is about compressing: it cannot be used together with {reads}.");
    }
    if let Some((_, other)) = others.iter().find(|(given, _)| *given) {
        bail!("--format={name} and {other} cannot be used together.");
    }
    Ok(())
}

/// The blocks of a `.hbz` stream, if the flags ask for one.
fn large_blocks(flags: &Flags) -> anyhow::Result<Option<LargeBlocks>> {
    let perturb = flags.perturb.filter(|&interval| interval > 0);
    let hbz = flags.format == Some(OutputFormat::Hbz);
    if flags.block_size.is_none() && perturb.is_none() && !hbz {
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

#[cfg(test)]
mod tests {
    use super::super::{Plan, Request, parse};
    use super::*;
    use std::ffi::OsStr;

    fn plan(words: &str) -> Result<Plan, String> {
        match parse(OsStr::new("hybz"), words.split_whitespace().map(Into::into), |_| None) {
            Ok(Request::Run(plan)) => Ok(plan),
            Ok(_) => panic!("{words}"),
            Err(refusal) => Err(refusal.error.to_string()),
        }
    }

    #[test]
    fn formats() {
        let encoding = |words: &str| plan(words).unwrap().encoding;
        let large = |size| Encoding::from(LargeBlocks::try_new(size).unwrap());
        assert_eq!(encoding("x"), Level::BEST.into());
        assert_eq!(encoding("--format=bz2 x"), Level::BEST.into());
        assert_eq!(encoding("--format=lz4 x"), Frame::new().into());
        assert_eq!(encoding("--format=lz4 -9 x"), Frame::new().level(9).into());
        assert_eq!(encoding("--format=hbz x"), large(9_000_000));
        assert_eq!(encoding("--format=hbz --block-size=2M x"), large(2_000_000));
        for (words, about) in [
            ("--format=lz4 --block-size=1M x", "--block-size"),
            ("--format=bz2 --block-size=1M x", "--block-size"),
            ("--format=lz4 --perturb=9 x", "--perturb"),
            ("--format=lz4 --stream-size=1M x", "--stream-size"),
            ("--format=hbz --stream-size=1M x", "--stream-size"),
            ("--format=lz4 --index x", "--index"),
            ("--format=lz4 --verify x", "--verify"),
            ("--format=lz4 --plan=1M x", "--plan"),
            ("--format=lz4 --bench x", "--bench"),
            ("--format=lz4 -d x", "-d"),
            ("--format=lz4 -t x", "-t"),
            ("--format=lz4 -l x", "-l"),
            ("--format=lz4 --recover x", "--recover"),
        ] {
            let error = plan(words).unwrap_err();
            assert!(error.contains("--format") && error.contains(about), "{words}: {error}");
        }
    }
}
