//! What `--format` asks for, and which flags do not go with it.

use super::flags::{Flags, OutputFormat};
use super::task::Mode;
use anyhow::bail;
use hybz::lz4::Frame;

/// The blocks of `--format=hbz`, unless `--block-size` gives their size.
pub const HBZ_SIZE: u64 = 9_000_000;

/// The frame that is written, if one is.
pub fn lz4(flags: &Flags, mode: Mode) -> anyhow::Result<Option<Frame>> {
    let Some(format) = flags.format else { return Ok(None) };
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
    // What lz4 takes for fast and for smaller; it has no level that is bzip2's 9 by default.
    Ok((format == OutputFormat::Lz4).then(|| Frame::new().level(flags.level.0.unwrap_or(1))))
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
        let lz4 = |words: &str| plan(words).unwrap().lz4;
        assert_eq!(lz4("x"), None);
        assert_eq!(lz4("--format=bz2 x"), None);
        assert_eq!(lz4("--format=lz4 x"), Some(Frame::new()));
        assert_eq!(lz4("--format=lz4 -9 x"), Some(Frame::new().level(9)));
        assert_eq!(plan("--format=hbz x").unwrap().large_blocks.unwrap().size(), 9_000_000);
        assert_eq!(plan("--format=hbz --block-size=2M x").unwrap().large_blocks.unwrap().size(), 2_000_000);
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
