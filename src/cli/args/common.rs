//! What every mode needs to know: the flags and operands that were typed, and what follows from them.

use super::choices::GpuPipeline;
use super::flags::Flags;
use super::rows::{self, Kind};
use anyhow::bail;
use hybz::internals::gpu::Offload;
use hybz::{Format, Formats};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{self, Seek};
use std::num::NonZeroUsize;
use std::ops::Deref;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
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

/// One thing to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    Stdin,
    File(PathBuf),
}

impl Operand {
    /// What was typed: `-` is stdin, but only before `--`.
    pub fn typed(file: &OsStr) -> Operand {
        if file == "-" { Operand::Stdin } else { Operand::File(file.into()) }
    }

    /// The operand's name in messages.
    pub fn name(&self) -> &OsStr {
        match self {
            Operand::Stdin => OsStr::new("(stdin)"),
            Operand::File(path) => path.as_os_str(),
        }
    }

    /// The number of bytes to read, if it can be known: the length of a file, or the rest of stdin if that is a file.
    pub fn len(&self) -> Option<u64> {
        let file_len = |found: Metadata| found.is_file().then_some(found.len());
        match self {
            Operand::Stdin => {
                let mut stdin = File::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
                let len = file_len(stdin.metadata().ok()?)?;
                Some(len.saturating_sub(stdin.stream_position().ok()?))
            }
            // A file that cannot be opened will not be read.
            Operand::File(path) => fs::metadata(path).map_or(Some(0), file_len),
        }
    }
}

/// The call: the flags that were typed, and what follows from some of them.
#[derive(Clone, Debug)]
pub struct Common {
    flags: Flags,
    pub kind: Kind,
    pub program: OsString,
    /// Standard input, if no file was typed and no list names files.
    pub operands: Vec<Operand>,
    /// How many operands were typed.
    pub typed: usize,
    /// The formats to decompress: under bzip2's own names, only those that bzip2 decompresses.
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
    /// The call, without its GPUs.
    pub fn new(program: &OsStr, flags: Flags, mut operands: Vec<Operand>) -> Common {
        let typed = operands.len();
        if typed == 0 && flags.filelist.is_none() {
            operands.push(Operand::Stdin);
        }
        Common {
            kind: mode(program, &flags),
            program: program.to_owned(),
            operands,
            typed,
            formats: if is_bzip2(program) { Formats::Bzip2 } else { Formats::All },
            sync: !flags.no_sync,
            trailing_garbage: flags.ignore_trailing_garbage != Some(0),
            threads: flags.threads.and_then(|threads| NonZeroUsize::new(usize::try_from(threads).ok()?)),
            gpus: Gpus::None,
            gpu_pipeline: match flags.gpu_pipeline {
                Some(GpuPipeline::Bwt) => Offload::Bwt,
                Some(GpuPipeline::Hybrid) => Offload::Hybrid,
                Some(GpuPipeline::Resident) => Offload::Resident,
                None => Offload::default(),
            },
            flags,
            ignored_words: Vec::new(),
            total: OnceLock::new(),
        }
    }

    /// Refuses wrong values of flags that every mode has, and chooses the GPUs.
    pub fn finish(self) -> anyhow::Result<Common> {
        check_suffix(&self.flags)?;
        Ok(Common { gpus: gpus(&self.flags)?, ..self })
    }

    /// Whether the program's name stands for the flag.
    pub fn name_means(&self, flag: &str) -> bool {
        match (flag, self.kind) {
            ("-d", _) => name_decompresses(&self.program) && !(self.compress || self.test || self.list),
            // These modes write to stdout whatever the program is called.
            ("-c", Kind::Bench | Kind::Measure) => false,
            // The name bzcat stands for -c only if there are files, as in bzip2.
            ("-c", Kind::Test) if self.reads_stdin() => false,
            ("-c", _) => self.is_cat(),
            _ => false,
        }
    }

    /// Whether a flag or the program's name sends results to stdout.
    pub fn to_stdout(&self) -> bool {
        let is_split = self.kind == Kind::Decompress && self.split.is_some();
        self.stdout || self.is_cat() || is_split && self.output.is_none()
    }

    /// Whether the program was called like `bzcat`.
    pub fn is_cat(&self) -> bool {
        has_part(&self.program, &CATS)
    }

    pub fn reads_stdin(&self) -> bool {
        self.operands.contains(&Operand::Stdin)
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

/// The mode of a call.
pub fn mode(program: &OsStr, flags: &Flags) -> Kind {
    let usual = if name_decompresses(program) { Kind::Decompress } else { Kind::Compress };
    asked_for(flags).unwrap_or(usual)
}

/// The mode that the flags ask for, if any.
pub fn asked_for(flags: &Flags) -> Option<Kind> {
    let asked = Kind::ALL.iter().find(|(_, flag)| rows::is_given(flag, flags)).map(|(kind, _)| *kind);
    asked.or(flags.split.is_some().then_some(Kind::Decompress))
}

const CATS: [&str; 5] = ["zcat", "ZCAT", "z2cat", "Z2CAT", "hybcat"];

fn name_decompresses(program: &OsStr) -> bool {
    has_part(program, &CATS) || has_part(program, &["unzip", "UNZIP", "hybunz"])
}

/// bzip2's rule: whether the name contains one of `parts`.
fn has_part(program: &OsStr, parts: &[&str]) -> bool {
    let name = program.to_string_lossy();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    parts.iter().any(|part| name.contains(part))
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
        bail!("-S expects a suffix such as .bz2, not `{shown}'.");
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
