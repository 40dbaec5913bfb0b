//! The modes that turn files into files: `-z`, `-d` and `-t`, and `--shard`.

use super::batch::Batch;
use super::coding::{Coding, HAS_OWN_INDEX};
use super::index::{self, IndexPlan};
use super::kind::{Given, Kind};
use super::part::{Part, SplitPlan, TextRanges, part};
use super::report::{ReportPlace, report};
use super::task::{Action, Target, target};
use super::verify::VerifyPlan;
use anyhow::bail;
use hybz::shard::Shard;
use hybz::{Encoding, Level, Verify};

/// Compresses, decompresses or tests each input by itself.
#[derive(Clone, Debug)]
pub struct FilesMode {
    pub work: Work,
    pub target: Target,
    /// Trees and lists of files.
    pub batch: Batch,
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
    pub fn new(given: &Given<'_>, coding: Coding) -> anyhow::Result<FilesMode> {
        let target = target(given)?;
        let batch = Batch::new(given)?;
        let remove_sources = removes_sources(given, &target);
        let report = report(given, &target)?;
        let work = match given.kind {
            Kind::Decompress => Work::Decompress { part: part(given, &target)?, sparse: !given.flags.no_sparse },
            Kind::Test => Work::Test,
            _ => Work::Compress { coding, verify: VerifyPlan::new(given, &target, remove_sources)? },
        };
        if matches!(work, Work::Compress { .. }) && given.flags.index.is_some() {
            match coding.encoding {
                Encoding::Hbz(_) => bail!(HAS_OWN_INDEX),
                Encoding::Perturbed { .. } => bail!("--index and --perturb cannot be used together."),
                _ => {}
            }
        }
        let index = match &work {
            Work::Decompress { part: Some(_), .. } => None,
            _ => index::written(given, &target, remove_sources)?,
        };
        Ok(FilesMode { work, target, batch, index, report, remove_sources })
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

fn removes_sources(given: &Given<'_>, target: &Target) -> bool {
    match target {
        Target::Beside => !given.flags.keep,
        // A user who names the result does not expect hybz to remove the source.
        Target::File(_) | Target::Below(_) => given.flags.rm && !given.is_cat(),
        Target::Stdout | Target::Nowhere => false,
    }
}
