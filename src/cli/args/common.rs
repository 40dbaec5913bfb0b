//! The options that every mode has.

use super::choices::GpuPipeline;
use super::flags::Flags;
use super::given::Given;
use super::given::Operand;
use anyhow::bail;
use hybz::internals::gpu::Offload;
use hybz::{Format, Formats};
use std::ffi::{OsStr, OsString};
use std::num::NonZeroUsize;
use std::ops::Deref;
use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;

/// Which GPUs to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gpus {
    None,
    /// As many of the visible GPUs as the input is worth.
    Visible,
    /// The GPUs in this list, if the input is worth it.
    These(String),
}

/// What every mode needs to know: the flags that were typed, and what follows from some of them.
#[derive(Clone, Debug)]
pub struct Common {
    flags: Flags,
    pub program: OsString,
    pub operands: Vec<Operand>,
    /// The formats to decompress.
    pub formats: Formats,
    /// Whether results must be on the disk before their sources are removed.
    pub sync: bool,
    pub trailing_garbage: bool,
    pub threads: Option<NonZeroUsize>,
    pub gpus: Gpus,
    /// How GPUs and cores share the work.
    pub gpu_pipeline: Offload,
    /// Remarks about words in environment variables that were ignored.
    pub ignored_words: Vec<String>,
    total: OnceLock<Option<u64>>,
}

impl Deref for Common {
    type Target = Flags;

    fn deref(&self) -> &Flags {
        &self.flags
    }
}

/// The number of operands whose lengths are worth a look before the work begins.
const MAX_STATS: usize = 64;

impl Common {
    pub fn new(given: &Given<'_>, ignored_words: Vec<String>) -> anyhow::Result<Common> {
        let flags = given.flags;
        check_suffix(flags)?;
        Ok(Common {
            flags: flags.clone(),
            program: given.program.to_owned(),
            operands: given.operands.clone(),
            formats: formats(given.program),
            sync: !flags.no_sync,
            trailing_garbage: flags.ignore_trailing_garbage != Some(0),
            threads: flags.threads.and_then(|threads| NonZeroUsize::new(usize::try_from(threads).ok()?)),
            gpus: gpus(flags)?,
            gpu_pipeline: match flags.gpu_pipeline {
                Some(GpuPipeline::Bwt) => Offload::Bwt,
                Some(GpuPipeline::Hybrid) => Offload::Hybrid,
                Some(GpuPipeline::Resident) => Offload::Resident,
                None => Offload::default(),
            },
            ignored_words,
            total: OnceLock::new(),
        })
    }

    /// Whether a walk or a list may add files to those that were typed.
    pub fn is_open_ended(&self) -> bool {
        self.recursive || self.filelist.is_some()
    }

    /// Whether there may be more than one input file.
    pub fn has_many(&self) -> bool {
        self.operands.len() > 1 || self.is_open_ended()
    }

    /// The number of operands, unless trees and lists add to them.
    pub fn count(&self) -> Option<u64> {
        (!self.is_open_ended()).then_some(self.operands.len() as u64)
    }

    /// The total length of the operands, if it can be known. Each is looked at once.
    pub fn total(&self) -> Option<u64> {
        *self.total.get_or_init(|| match self.filelist {
            Some(_) => None,
            None => self.operands.iter().map(Operand::len).sum(),
        })
    }

    /// The total length, unless there are so many operands that looking at all of them is not worth it.
    pub fn expected_bytes(&self) -> Option<u64> {
        if self.operands.len() <= MAX_STATS { self.total() } else { None }
    }
}

/// The formats to decompress: under bzip2's own names, only those that bzip2 decompresses.
fn formats(program: &OsStr) -> Formats {
    if is_bzip2(program) { Formats::Bzip2 } else { Formats::All }
}

/// Whether the program was called by a name of bzip2's own.
pub fn is_bzip2(program: &OsStr) -> bool {
    let name = program.to_string_lossy();
    ["bzip2", "bunzip2", "bzcat"].contains(&name.strip_suffix(".exe").unwrap_or(&name))
}

fn check_suffix(flags: &Flags) -> anyhow::Result<()> {
    let Some(suffix) = &flags.suffix else { return Ok(()) };
    let shown = suffix.display();
    if suffix.is_empty() || suffix.as_bytes().contains(&b'/') {
        bail!("-S wants a suffix such as .bz2, not `{shown}'.");
    }
    if is_known_without_dot(suffix) {
        bail!("-S {shown} would make a{shown} of a: use -S .{shown}.");
    }
    Ok(())
}

/// Whether `suffix` is a usual suffix without its dot.
fn is_known_without_dot(suffix: &OsStr) -> bool {
    let mut known = Format::all_read().flat_map(Format::suffixes);
    known.any(|(known, _)| known.as_bytes().strip_prefix(b".") == Some(suffix.as_bytes()))
}

fn gpus(flags: &Flags) -> anyhow::Result<Gpus> {
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
    let asked = flags.gpu_required || flags.gpu_pipeline.is_some() || matches!(gpus, Gpus::These(_));
    if asked && !cfg!(feature = "cuda") {
        bail!("This hybz was built without GPU support (feature `cuda').");
    }
    Ok(gpus)
}
