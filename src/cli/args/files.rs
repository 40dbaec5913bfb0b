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
use hybz::{Encoding, Verify};

/// Compresses, decompresses or tests each input by itself.
#[derive(Clone, Debug)]
pub struct FilesMode {
    pub action: Action,
    /// What to write, if the mode compresses.
    pub coding: Option<Coding>,
    pub verify: VerifyPlan,
    /// The shard to compress of the single input, and the length of that file, as the plan states it.
    pub shard: Option<(Shard, u64)>,
    /// The ranges of the text to decompress, if not all of it.
    pub ranges: Option<TextRanges>,
    /// The blocks to decompress, by where they begin, if not all of them.
    pub split: Option<SplitPlan>,
    pub target: Target,
    /// The index to write for each compressed file.
    pub index: Option<IndexPlan>,
    pub report: Option<ReportPlace>,
    /// Whether to remove a source once its result is safe.
    pub remove_sources: bool,
}

/// The work on files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Compress,
    Decompress,
    Test,
}

impl FilesMode {
    /// The mode that the flags ask for. `coding` is what compressing would write.
    pub fn new(common: &Common, coding: Coding) -> anyhow::Result<FilesMode> {
        let target = target(common)?;
        check_names(common)?;
        let remove_sources = removes_sources(common, &target);
        let report = report(common, &target)?;
        let action = match common.kind {
            Kind::Decompress => Action::Decompress,
            Kind::Test => Action::Test,
            _ => Action::Compress,
        };
        let coding = (action == Action::Compress).then_some(coding);
        let verify = match coding {
            Some(_) => VerifyPlan::new(common, &target, remove_sources)?,
            None => VerifyPlan::NOTHING,
        };
        match coding.filter(|_| common.index.is_some()).map(|coding| coding.encoding) {
            Some(Encoding::Hbz(_)) => bail!(HAS_OWN_INDEX),
            Some(Encoding::Perturbed { .. }) => bail!("--index and --perturb cannot be used together."),
            _ => {}
        }
        let split = common.split.map(|split| SplitPlan { split, lines: common.lines });
        let ranges = match &common.ranges {
            Some(_) if target == Target::Beside => {
                bail!("--ranges gives a part of the text: use it with -c or -o.")
            }
            ranges => ranges.as_ref().map(|ranges| text_ranges(common, ranges)).transpose()?,
        };
        let index = match &ranges {
            Some(_) => None,
            None => index::written(common, &target, remove_sources)?,
        };
        let shard = None;
        Ok(FilesMode { action, coding, verify, shard, ranges, split, target, index, report, remove_sources })
    }
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
        bail!("--filelist expects the name of a file, or -.");
    }
    if common.output_dir.as_ref().is_some_and(|directory| directory.is_empty()) {
        bail!("--output-dir expects the name of a directory.");
    }
    if common.filelist.as_ref().is_some_and(|file| file == "-") && common.reads_stdin() {
        bail!("--filelist - reads the list from stdin, which is also an input file.");
    }
    if common.typed == 0 && common.filelist.is_none() {
        if common.recursive {
            bail!("-r expects the name of a directory.");
        }
        if common.resume {
            bail!("--resume expects the names of files.");
        }
    }
    if common.output_dir.is_some() && common.reads_stdin() {
        bail!("--output-dir expects files: the result of stdin has no name.");
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
            Mode::Files(files) => files.verify,
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
