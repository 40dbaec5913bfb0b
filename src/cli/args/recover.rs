//! What `--recover` makes, and which flags do not go with it.

use super::flags::{Flags, Recover};
use super::task::{Operand, Target};
use anyhow::bail;

/// What is made of damaged files, if that is asked for.
pub fn recover(flags: &Flags, target: &Target, operands: &[Operand]) -> anyhow::Result<Option<Recover>> {
    let Some(recover) = flags.recover else { return Ok(None) };
    let others = [
        (flags.compress, "-z"),
        (flags.test, "-t"),
        (flags.list, "-l"),
        (flags.rm, "--rm"),
        (flags.ranges.is_some(), "--ranges"),
        (flags.lines, "--lines"),
        (flags.at.is_some(), "--at"),
        (flags.streams.is_some(), "--streams"),
        (flags.offsets, "--offsets"),
        (flags.block_size.is_some(), "--block-size"),
        (flags.perturb.is_some(), "--perturb"),
        (flags.ignore_trailing_garbage.is_some(), "--ignore-trailing-garbage"),
        (flags.gpu_required, "--gpu-required"),
    ];
    if let Some((_, other)) = others.iter().find(|(given, _)| *given) {
        bail!("--recover and {other} cannot be used together.");
    }
    if flags.index_format.is_some() {
        bail!("--recover reads an index of any format: --index-format is about writing one.");
    }
    match target {
        Target::Beside => {
            if operands.contains(&Operand::Stdin) {
                bail!("What is recovered from stdin needs a name: use -o or -c.");
            }
        }
        _ if recover == Recover::Split => bail!("--recover=split makes several files: it takes neither -c nor -o."),
        Target::Stdout if flags.json => bail!("--json prints to standard output: use --recover with -o, not with -c."),
        Target::Stdout | Target::File(_) | Target::Below(_) => {}
    }
    Ok(Some(recover))
}
