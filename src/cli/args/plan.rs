//! What the program needs to know, derived from what was typed: the second of the two steps.

use super::batch::{self, Batch, batch};
use super::bench::{BenchPlan, bench};
use super::flags::{Flags, GpuPipeline, Recover};
use super::format::{LARGE_FLAGS, encoding};
use super::measure::measure;
use super::part::{IndexPlan, Listing, Part, Settled};
use super::recover::recover;
use super::report::{ReportPlace, progress_json, report};
use super::shards::{Shards, shards};
use super::task::{Mode, Operand, Target};
use super::verify::{VerifyPlan, verify};
use anyhow::bail;
use hybz::gpu::Offload;
use hybz::shard::Shard;
use hybz::{Encoding, Format, Formats, Level};
use std::ffi::{OsStr, OsString};
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt;

/// Which GPUs help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gpus {
    None,
    /// All that are visible, if the input is worth it.
    Visible,
    /// Those in this list, if the input is worth it.
    These(String),
}

/// What the program needs to know, with all contradictions settled.
#[derive(Clone, Debug)]
pub struct Plan {
    pub program: OsString,
    pub mode: Mode,
    pub level: Level,
    /// What is written.
    pub encoding: Encoding,
    /// What is decompressed.
    pub formats: Formats,
    /// What names of compressed files end in, instead of the suffix of their format.
    pub suffix: Option<OsString>,
    pub target: Target,
    pub operands: Vec<Operand>,
    /// Whether a source is removed once its result is safe.
    pub remove_sources: bool,
    pub force: bool,
    /// How often `-q` was given: 1 hides remarks, 2 hides errors too.
    pub quiet: u8,
    /// How often `-v` was given: 1 prints a line for each file, 2 also a line for each block and the table of stations.
    pub verbose: u8,
    /// Whether to show progress; `None`: if stderr is a terminal.
    pub progress: Option<bool>,
    /// Whether it is shown as JSON, in any case.
    pub progress_json: bool,
    /// Where an account of the work goes.
    pub report: Option<ReportPlace>,
    /// What is measured in place of all other work.
    pub bench: Option<BenchPlan>,
    /// Whether it is measured how repetitive files are, in place of all other work.
    pub measure: bool,
    /// Whether results must be on the disk before their sources are removed.
    pub sync: bool,
    /// Whether zeros in decompressed files become holes.
    pub sparse: bool,
    pub trailing_garbage: bool,
    pub threads: Option<NonZeroUsize>,
    /// Whether little memory counts more than speed.
    pub small: bool,
    pub memory: Option<u64>,
    pub gpus: Gpus,
    /// Whether it is an error if a GPU is missing or fails.
    pub gpu_required: bool,
    /// How GPUs and cores share the work.
    pub gpu_pipeline: Offload,
    /// The part of a file that is decompressed; nothing: all of it.
    pub part: Option<Part>,
    /// The index to be written, or with ranges to be read.
    pub index: Option<IndexPlan>,
    pub listing: Listing,
    /// Trees and lists of files.
    pub batch: Batch,
    /// What is made of damaged files.
    pub recover: Option<Recover>,
    /// What is verified.
    pub verify: VerifyPlan,
    /// What is done with shards.
    pub shards: Option<Shards>,
    /// The shard that is compressed, when its plan has been read.
    pub shard: Option<Shard>,
    /// Remarks about words in environment variables that were ignored.
    pub ignored_words: Vec<String>,
}

impl Plan {
    /// The plan for these flags and operands, from a program that was called `program`.
    pub fn new(
        program: &OsStr,
        flags: &Flags,
        mut operands: Vec<Operand>,
        ignored_words: Vec<String>,
    ) -> anyhow::Result<Plan> {
        let (mode, cat) = mode(program, flags);
        let results = if flags.join.is_some() { 1 } else { operands.len() };
        let target = target(flags, mode, cat.then_some(program), results)?;
        let batch = batch(&batch::Settled { flags, mode, target: &target, operands: &operands })?;
        if operands.is_empty() && batch.list.is_none() {
            operands.push(Operand::Stdin);
        }
        let (bench, measure) = (bench(flags, &operands)?, measure(flags)?);
        let shards = shards(flags, mode, &target, &operands)?;
        let recover = recover(flags, &target, &operands)?;
        let report = report(flags, mode, &target, &operands)?;
        let (level, threads) = level_and_threads(flags);
        let encoding = encoding(flags, mode, level)?;
        let gpus = gpus(flags, encoding.large_blocks().is_some())?;
        let only_reads = recover.is_some() || matches!(shards, Some(Shards::Ranges(_)));
        let remove_sources = !(only_reads || measure) && remove_sources(flags, mode, cat, &target);
        let verify = verify(flags, mode, &target, &operands, remove_sources)?;
        let settled = Settled {
            flags,
            mode,
            target: &target,
            operands: &operands,
            remove_sources,
            large_blocks: encoding.large_blocks().is_some(),
            open_ended: batch.is_open_ended(),
        };
        let (part, listing) = (settled.part()?, settled.listing()?);
        let index = settled.index(part.as_ref())?;
        Ok(Plan {
            program: program.to_owned(),
            mode,
            level,
            encoding,
            formats: formats(program),
            suffix: suffix(flags)?,
            remove_sources,
            target,
            operands,
            force: flags.force,
            quiet: flags.quiet,
            verbose: flags.verbose,
            progress: if flags.progress.is_some() { Some(true) } else { flags.no_progress.then_some(false) },
            progress_json: progress_json(flags)?,
            report,
            bench,
            measure,
            sync: !flags.no_sync,
            sparse: !flags.no_sparse,
            trailing_garbage: flags.ignore_trailing_garbage != Some(0),
            threads,
            small: flags.small,
            memory: flags.memory,
            gpus,
            gpu_required: flags.gpu_required,
            gpu_pipeline: match flags.gpu_pipeline {
                Some(GpuPipeline::Bwt) => Offload::Bwt,
                Some(GpuPipeline::Hybrid) => Offload::Hybrid,
                Some(GpuPipeline::Resident) => Offload::Resident,
                None => Offload::default(),
            },
            part,
            index,
            listing,
            batch,
            shards,
            shard: None,
            recover,
            verify,
            ignored_words,
        })
    }
}

impl Plan {
    /// Whether inputs are decompressed, in the end or on the way.
    pub fn is_decoding(&self) -> bool {
        self.mode == Mode::Decompress
    }

    /// Whether there may be more than one input file.
    pub fn has_many(&self) -> bool {
        self.operands.len() > 1 || self.batch.is_open_ended()
    }

    /// How many operands there are, unless trees and lists add to them.
    pub fn count(&self) -> Option<u64> {
        (!self.batch.is_open_ended()).then_some(self.operands.len() as u64)
    }
}

/// The mode, and whether the program was called like `bzcat`. bzip2's rule: the name contains one of these parts.
pub fn mode(program: &OsStr, flags: &Flags) -> (Mode, bool) {
    let name = program.to_string_lossy();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    let cat = has(&["zcat", "ZCAT", "z2cat", "Z2CAT", "hybcat"]);
    let mode = match () {
        () if flags.recover.is_some() || flags.plan_ranges.is_some() => Mode::Decompress,
        () if (flags.bench.is_some() || flags.measure) && !flags.decompress => Mode::Compress,
        () if flags.compress => Mode::Compress,
        () if flags.decompress => Mode::Decompress,
        () if flags.test || flags.list => Mode::Test,
        () if cat || has(&["unzip", "UNZIP", "hybunz"]) => Mode::Decompress,
        () => Mode::Compress,
    };
    (mode, cat)
}

/// What is decompressed: under bzip2's own names nothing but what bzip2 decompresses.
fn formats(program: &OsStr) -> Formats {
    let name = program.to_string_lossy();
    match name.strip_suffix(".exe").unwrap_or(&name) {
        "bzip2" | "bunzip2" | "bzcat" => Formats::Bzip2,
        _ => Formats::All,
    }
}

/// Where results go, if the program was called as `called_cat`, a name like `bzcat`.
fn target(flags: &Flags, mode: Mode, called_cat: Option<&OsStr>, operands: usize) -> anyhow::Result<Target> {
    let to_stdout = flags.stdout || called_cat.is_some();
    let only_reads = if flags.list { "-l" } else { "-t" };
    if mode == Mode::Test && to_stdout {
        match called_cat {
            // bzip2 says `-c and -t' of `bzcat -t' too.
            Some(name) if flags.list && !flags.stdout => bail!("{} and -l cannot be used together.", name.display()),
            _ => bail!("-c and {only_reads} cannot be used together."),
        }
    }
    Ok(match &flags.output {
        Some(_) if mode == Mode::Test => bail!("-o and {only_reads} cannot be used together."),
        Some(_) if flags.stdout => bail!("-o and -c cannot be used together."),
        Some(_) if operands > 1 => bail!("-o takes the result of one input file, not of {operands}."),
        // -f must not replace the link /dev/stdout.
        Some(file) if file != "-" && file != "/dev/stdout" => Target::File(file.into()),
        Some(_) => Target::Stdout,
        None if to_stdout => Target::Stdout,
        None => flags.output_dir.as_ref().map_or(Target::Beside, |directory| Target::Below(directory.into())),
    })
}

fn suffix(flags: &Flags) -> anyhow::Result<Option<OsString>> {
    match &flags.suffix {
        Some(suffix) if suffix.is_empty() || suffix.as_bytes().contains(&b'/') => {
            bail!("-S wants a suffix such as .bz2, not `{}'.", suffix.display())
        }
        Some(suffix) if is_known_without_dot(suffix) => {
            let suffix = suffix.display();
            bail!("-S {suffix} would make a{suffix} of a: use -S .{suffix}.")
        }
        suffix => Ok(suffix.clone()),
    }
}

/// Whether it is a usual suffix that lacks its dot.
fn is_known_without_dot(suffix: &OsStr) -> bool {
    Format::all_read()
        .flat_map(Format::suffixes)
        .any(|(known, _)| known.as_bytes().strip_prefix(b".") == Some(suffix.as_bytes()))
}

fn remove_sources(flags: &Flags, mode: Mode, cat: bool, target: &Target) -> bool {
    match target {
        Target::Beside => mode != Mode::Test && !flags.keep,
        // Users who name the result do not expect the source to be removed.
        Target::File(_) | Target::Below(_) => flags.rm && !cat,
        Target::Stdout => false,
    }
}

fn level_and_threads(flags: &Flags) -> (Level, Option<NonZeroUsize>) {
    let level = flags.level.0.and_then(Level::try_new).unwrap_or_default();
    let threads = flags.threads.and_then(|threads| NonZeroUsize::new(usize::try_from(threads).ok()?));
    if flags.small {
        return (level.min(Level::try_new(2).unwrap_or_default()), threads);
    }
    (level, threads)
}

fn gpus(flags: &Flags, large_blocks: bool) -> anyhow::Result<Gpus> {
    let gpus = match flags.gpu.as_deref() {
        _ if flags.no_gpu || flags.small => Gpus::None,
        Some("none") => Gpus::None,
        None => Gpus::Visible,
        Some(list) => Gpus::These(list.to_owned()),
    };
    if flags.gpu_required && gpus == Gpus::None {
        let forbids = match () {
            () if flags.no_gpu => "--no-gpu",
            () if flags.small => "-s",
            () => "--gpu none",
        };
        bail!("--gpu-required and {forbids} cannot be used together.");
    }
    if flags.gpu_pipeline == Some(GpuPipeline::Hybrid) && large_blocks {
        bail!("--gpu-pipeline hybrid is about .bz2: it cannot be used together with {LARGE_FLAGS}.");
    }
    let asked = flags.gpu_required || flags.gpu_pipeline.is_some() || matches!(gpus, Gpus::These(_));
    if asked && !cfg!(feature = "cuda") {
        bail!("This hybz was built without GPU support (feature `cuda').");
    }
    Ok(gpus)
}
