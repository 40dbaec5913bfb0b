//! What compressing writes.

use super::choices::OutputFormat;
use super::flags::Flags;
use anyhow::bail;
use hybz::flow::Task;
use hybz::lz4::Frame;
use hybz::{LargeBlocks, Level, Streams};

/// The blocks of `--format=hbz`, unless `--block-size` gives their size.
const HBZ_SIZE: u64 = 9_000_000;

/// The block size of perturbed streams, unless `--block-size` gives another.
const PERTURBED_SIZE: u64 = 900_000;

/// What compressing writes.
#[derive(Clone, Copy, Debug)]
pub struct Coding {
    /// bzip2's level.
    pub level: Level,
    pub format: Written,
}

/// The format, with what it has to be told.
#[derive(Clone, Copy, Debug)]
pub enum Written {
    Bzip2,
    /// Several `.bz2` streams.
    Streams(Streams),
    Hbz(LargeBlocks),
    Lz4(Frame),
}

impl Coding {
    /// What the flags ask for.
    pub fn new(flags: &Flags) -> anyhow::Result<Coding> {
        let streams = flags.stream_size.and_then(Streams::try_new);
        let format = match (flags.format, large_blocks(flags)?, streams) {
            // lz4's own default is its fastest level, bzip2's the one that compresses best.
            (Some(OutputFormat::Lz4), ..) => Written::Lz4(Frame::new().level(flags.level.0.unwrap_or(1))),
            (_, Some(blocks), _) => Written::Hbz(blocks),
            (.., Some(streams)) => Written::Streams(streams.split_lines(flags.split_lines)),
            (..) => Written::Bzip2,
        };
        let level = flags.level.0.and_then(Level::try_new).unwrap_or_default();
        let level = if flags.small { level.min(Level::try_new(2).unwrap_or_default()) } else { level };
        Ok(Coding { level, format })
    }

    /// `.bz2` of this level.
    pub fn of_level(level: Level) -> Coding {
        Coding { level, format: Written::Bzip2 }
    }

    /// What is done with an input.
    pub fn task(&self) -> Task {
        match self.format {
            Written::Bzip2 => Task::Compress(self.level),
            Written::Streams(streams) => Task::CompressStreams(self.level, streams),
            Written::Hbz(blocks) => Task::CompressLarge(blocks),
            Written::Lz4(frame) => Task::CompressLz4(frame),
        }
    }

    /// What is appended to the names of files.
    pub fn suffix(&self) -> &'static str {
        match self.format {
            Written::Bzip2 | Written::Streams(_) => ".bz2",
            Written::Hbz(_) => ".hbz",
            Written::Lz4(_) => ".lz4",
        }
    }

    /// The blocks of a `.hbz`, if that is written.
    pub fn large_blocks(&self) -> Option<LargeBlocks> {
        match self.format {
            Written::Hbz(blocks) => Some(blocks),
            _ => None,
        }
    }

    pub fn is_lz4(&self) -> bool {
        matches!(self.format, Written::Lz4(_))
    }
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
    use super::super::tests::plan;
    use super::super::{FilesMode, Mode, Work};
    use super::*;

    fn written(words: &str) -> Written {
        match plan(words).mode {
            Mode::Files(FilesMode { work: Work::Compress { coding, .. }, .. }) => coding.format,
            mode => panic!("{words}: {mode:?}"),
        }
    }

    #[test]
    fn formats() {
        assert!(matches!(written("x"), Written::Bzip2) && matches!(written("--format=bz2 x"), Written::Bzip2));
        for (words, frame) in [("--format=lz4 x", Frame::new()), ("--format=lz4 -9 x", Frame::new().level(9))] {
            assert!(matches!(written(words), Written::Lz4(found) if found == frame), "{words}");
        }
        for (words, size) in [("--format=hbz x", 9_000_000), ("--format=hbz --block-size=2M x", 2_000_000)] {
            assert!(matches!(written(words), Written::Hbz(blocks) if blocks.size() == size), "{words}");
        }
    }
}
