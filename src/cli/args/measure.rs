//! Which flags do not go with `--measure`.

use super::flags::Flags;
use anyhow::bail;

/// Whether files are measured.
pub fn measure(flags: &Flags) -> anyhow::Result<bool> {
    if !flags.measure {
        return Ok(false);
    }
    let others = [
        (flags.compress, "-z"),
        (flags.test, "-t"),
        (flags.list, "-l"),
        (flags.recover.is_some(), "--recover"),
        (flags.bench.is_some(), "--bench"),
        (flags.stdout, "-c"),
        (flags.output.is_some(), "-o"),
        (flags.rm, "--rm"),
        (flags.index.is_some(), "--index"),
        (flags.ranges.is_some(), "--ranges"),
        (flags.at.is_some(), "--at"),
        (flags.streams.is_some(), "--streams"),
        (flags.suffix.is_some(), "-S"),
        (flags.verify.is_some(), "--verify"),
        (flags.no_verify, "--verify=none"),
        (flags.recursive, "-r"),
        (flags.filelist.is_some(), "--filelist"),
        (flags.output_dir.is_some(), "--output-dir"),
        (flags.resume, "--resume"),
        (flags.format.is_some(), "--format"),
        (flags.block_size.is_some(), "--block-size"),
        (flags.perturb.is_some(), "--perturb"),
        (flags.stream_size.is_some(), "--stream-size"),
        (flags.gpu_required, "--gpu-required"),
    ];
    if let Some((_, other)) = others.iter().find(|(given, _)| *given) {
        bail!("--measure and {other} cannot be used together.");
    }
    Ok(true)
}
