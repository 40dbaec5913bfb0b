//! What `--stream-size` asks for, and which flags do not go with it.

use super::flags::Flags;
use super::task::Mode;
use anyhow::bail;
use hybz::Streams;

/// The streams that a text becomes, if it becomes several.
pub fn streams(flags: &Flags, mode: Mode) -> anyhow::Result<Option<Streams>> {
    let Some(streams) = flags.stream_size.and_then(Streams::try_new) else {
        return if flags.split_lines { bail!("--split-lines is about --stream-size.") } else { Ok(None) };
    };
    let others = [
        (flags.plan_ranges.is_some(), "--plan-ranges"),
        (flags.recover.is_some(), "--recover"),
        (flags.list, "-l"),
        (mode == Mode::Test, "-t"),
        (mode == Mode::Decompress, "-d"),
        (flags.plan.is_some(), "--plan"),
        (flags.shard.is_some(), "--shard"),
        (flags.join.is_some(), "--join"),
        (flags.block_size.is_some(), "--block-size"),
        (flags.perturb.is_some(), "--perturb"),
    ];
    if let Some((_, other)) = others.iter().find(|(given, _)| *given) {
        bail!("--stream-size and {other} cannot be used together.");
    }
    Ok(Some(streams.split_lines(flags.split_lines)))
}
