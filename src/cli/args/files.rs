//! The modes that turn files into files: `-z`, `-d` and `-t`, and `--shard`.

use super::choices::Verified;
use super::coding::{Coding, HAS_OWN_INDEX};
use super::common::Common;
use super::index::{self, IndexPlan};
use super::ranges::{Amount, Range, Ranges, Split};
use super::rows::Kind;
use super::target::{ReportPlace, Target, report, target};
use anyhow::bail;
use hybz::shard::Shard;
use hybz::{Encoding, Level, Verify};

/// Compresses, decompresses or tests each input by itself.
#[derive(Clone, Debug)]
pub struct FilesMode {
    pub work: Work,
    pub target: Target,
    /// The index to write for each compressed file.
    pub index: Option<IndexPlan>,
    pub report: Option<ReportPlace>,
    /// Whether to remove a source once its result is safe.
    pub remove_sources: bool,
}

/// What to do with each input.
#[derive(Clone, Debug)]
pub enum Work {
    Compress {
        coding: Coding,
        verify: VerifyPlan,
    },
    /// Compresses one shard of the single input.
    Shard {
        level: Level,
        shard: Shard,
        /// The length of the file, as the plan states it.
        file_len: u64,
        verify: Verify,
    },
    Decompress {
        part: Option<Part>,
        sparse: bool,
    },
    Test,
}

impl FilesMode {
    /// The mode that the flags ask for. `coding` is what compressing would write.
    pub fn new(common: &Common, coding: Coding) -> anyhow::Result<FilesMode> {
        let target = target(common)?;
        check_names(common)?;
        let remove_sources = removes_sources(common, &target);
        let report = report(common, &target)?;
        let work = match common.kind {
            Kind::Decompress => Work::Decompress { part: part(common, &target)?, sparse: !common.no_sparse },
            Kind::Test => Work::Test,
            _ => Work::Compress { coding, verify: VerifyPlan::new(common, &target, remove_sources)? },
        };
        if matches!(work, Work::Compress { .. }) && common.index.is_some() {
            match coding.encoding {
                Encoding::Hbz(_) => bail!(HAS_OWN_INDEX),
                Encoding::Perturbed { .. } => bail!("--index and --perturb cannot be used together."),
                _ => {}
            }
        }
        let index = match &work {
            Work::Decompress { part: Some(_), .. } => None,
            _ => index::written(common, &target, remove_sources)?,
        };
        Ok(FilesMode { work, target, index, report, remove_sources })
    }

    pub fn action(&self) -> Action {
        match self.work {
            Work::Compress { .. } | Work::Shard { .. } => Action::Compress,
            Work::Decompress { .. } => Action::Decompress,
            Work::Test => Action::Test,
        }
    }

    /// The coding, if the mode compresses.
    pub fn coding(&self) -> Option<Coding> {
        match self.work {
            Work::Compress { coding, .. } => Some(coding),
            Work::Shard { level, .. } => Some(Coding::of_level(level)),
            Work::Decompress { .. } | Work::Test => None,
        }
    }

    pub fn verify(&self) -> VerifyPlan {
        match self.work {
            Work::Compress { verify, .. } => verify,
            Work::Shard { verify, .. } => VerifyPlan { blocks: verify, file: false },
            Work::Decompress { .. } | Work::Test => VerifyPlan::NOTHING,
        }
    }

    /// The wanted ranges of the text, if not all of it.
    pub fn ranges(&self) -> Option<&TextRanges> {
        match &self.work {
            Work::Decompress { part: Some(Part::Ranges(ranges)), .. } => Some(ranges),
            _ => None,
        }
    }

    /// The wanted blocks, by where they begin, if not all of them.
    pub fn split(&self) -> Option<SplitPlan> {
        match &self.work {
            Work::Decompress { part: Some(Part::Split(split)), .. } => Some(*split),
            _ => None,
        }
    }

    /// Whether zeros in results become holes.
    pub fn is_sparse(&self) -> bool {
        matches!(self.work, Work::Decompress { sparse: true, .. })
    }
}

/// A part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Ranges(TextRanges),
    Split(SplitPlan),
}

/// The blocks that begin in some bytes of the compressed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitPlan {
    pub split: Split,
    /// Whether to write whole lines.
    pub lines: bool,
}

/// Ranges of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextRanges {
    pub ranges: Vec<Range>,
    /// Whether to write the lines that begin in the ranges.
    pub lines: bool,
    /// The index to read, if one was named.
    pub index: Option<IndexPlan>,
}

/// The part that `-d` decompresses, if not the whole file.
pub fn part(common: &Common, target: &Target) -> anyhow::Result<Option<Part>> {
    if let Some(split) = common.split {
        return Ok(Some(Part::Split(SplitPlan { split, lines: common.lines })));
    }
    let Some(ranges) = &common.ranges else { return Ok(None) };
    if common.kind == Kind::Decompress && *target == Target::Beside {
        bail!("--ranges gives a part of the text: use it with -c or -o.");
    }
    Ok(Some(Part::Ranges(text_ranges(common, ranges)?)))
}

fn text_ranges(common: &Common, Ranges(ranges): &Ranges) -> anyhow::Result<TextRanges> {
    let lines = common.lines;
    let is_lines = |amount| matches!(amount, Amount::Lines(_));
    if lines && ranges.iter().any(|range| is_lines(range.size) || is_lines(range.offset)) {
        bail!("--lines and ranges of lines (L) cannot be used together.");
    }
    if common.reads_stdin() && common.operands.len() > 1 {
        bail!("--ranges reads stdin only if it is the one input file.");
    }
    let index = IndexPlan::new(common)?;
    if index.as_ref().is_some_and(|index| index.path.is_none()) && common.reads_stdin() {
        bail!("The index needs a name: use --index=FILE.");
    }
    Ok(TextRanges { ranges: ranges.clone(), lines, index })
}

/// Refuses names that are missing, or used twice.
fn check_names(common: &Common) -> anyhow::Result<()> {
    if common.filelist.as_ref().is_some_and(|file| file.is_empty()) {
        bail!("--filelist wants the name of a file, or -.");
    }
    if common.output_dir.as_ref().is_some_and(|directory| directory.is_empty()) {
        bail!("--output-dir wants the name of a directory.");
    }
    if common.filelist.as_ref().is_some_and(|file| file == "-") && common.reads_stdin() {
        bail!("--filelist - reads the list from stdin, which is also an input file.");
    }
    if common.typed == 0 && common.filelist.is_none() {
        if common.recursive {
            bail!("-r wants the name of a directory.");
        }
        if common.resume {
            bail!("--resume wants the names of files.");
        }
    }
    if common.output_dir.is_some() && common.reads_stdin() {
        bail!("--output-dir wants files: the result of stdin has no name.");
    }
    Ok(())
}

/// Whether compressed files stay, so that an index can belong to them.
pub fn keeps_compressed(common: &Common) -> bool {
    common.kind != Kind::Decompress || target(common).is_ok_and(|target| !removes_sources(common, &target))
}

fn removes_sources(common: &Common, target: &Target) -> bool {
    match target {
        Target::Beside => !common.keep,
        // A user who names the result does not expect hybz to remove the source.
        Target::File(_) | Target::Below(_) => common.rm && !common.is_cat(),
        Target::Stdout | Target::Nowhere => false,
    }
}

/// The work on files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Compress,
    Decompress,
    Test,
}

/// The checks before a source is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyPlan {
    /// Which blocks to decode before they are written.
    pub blocks: Verify,
    /// Whether to read source and result again from the disk and compare them.
    pub file: bool,
}

impl VerifyPlan {
    pub const NOTHING: VerifyPlan = VerifyPlan { blocks: Verify::Off, file: false };

    /// The verification that the flags ask for. Blocks made by a device are verified without a flag if the source is to
    /// be removed.
    pub fn new(common: &Common, target: &Target, remove_sources: bool) -> anyhow::Result<VerifyPlan> {
        let asked = common.verify;
        let Some(verified) = asked.filter(|&asked| asked != Verified::None) else {
            let by_itself = remove_sources && asked.is_none();
            return Ok(VerifyPlan { blocks: if by_itself { Verify::Devices } else { Verify::Off }, file: false });
        };
        let file = verified == Verified::File;
        if file && *target == Target::Stdout {
            bail!("--verify=file reads the result again from the disk: it cannot be used together with -c.");
        }
        if file && common.reads_stdin() {
            bail!("--verify=file reads the input file again from the disk: it cannot be used with stdin.");
        }
        if file && common.no_sync {
            bail!("--verify=file reads what is on the disk: it cannot be used together with --no-sync.");
        }
        Ok(VerifyPlan { blocks: Verify::All, file })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Mode;
    use super::super::tests::plan;
    use super::*;

    fn verified(words: &str) -> VerifyPlan {
        match plan(words).mode {
            Mode::Files(files) => FilesMode::verify(&files),
            mode => panic!("{words}: {mode:?}"),
        }
    }

    /// Without a flag, blocks made by a GPU are verified only if the source is to be removed.
    #[test]
    fn what_is_verified_by_itself() {
        for (words, blocks) in [
            ("a", Verify::Devices),
            ("--rm -o b a", Verify::Devices),
            ("--block-size 9M a", Verify::Devices),
            ("-k a", Verify::Off),
            ("-c a", Verify::Off),
            ("-o b a", Verify::Off),
            ("--verify=none a", Verify::Off),
            ("-d a.bz2", Verify::Off),
            ("-k --verify a", Verify::All),
            ("--verify --verify=none a", Verify::Off),
            ("--verify=none --verify=file a", Verify::All),
        ] {
            assert_eq!(verified(words).blocks, blocks, "{words}");
        }
        assert!(verified("--verify=file a").file && !verified("--verify a").file);
    }
}
