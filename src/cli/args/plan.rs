//! The second of the two steps: what the program needs to know, which follows from the typed flags and operands.

use super::choices::{GpuPipeline, Verified};
use super::coding::Coding;
use super::flags::Flags;
use super::rows::{self, Kind};
use hybz::internals::gpu::Offload;
use hybz::shard::Shard;
use hybz::{Formats, Verify};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{self, Seek};
use std::num::NonZeroUsize;
use std::ops::Deref;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gpus {
    None,
    /// As many of the visible GPUs as are worth starting for the input.
    Visible,
    /// The GPUs in this list, if the input is worth it.
    These(String),
}

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

    pub fn name(&self) -> &OsStr {
        self.path().map_or(OsStr::new("(stdin)"), Path::as_os_str)
    }

    pub fn path(&self) -> Option<&Path> {
        match self {
            Operand::Stdin => None,
            Operand::File(path) => Some(path),
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Each result goes to a file next to its source and named after it; the result of stdin goes to stdout.
    Beside,
    /// All results go to stdout, one after another.
    Stdout,
    /// Each result goes below this directory, at the path that its source's name gives.
    Below(PathBuf),
    /// The only result goes to this file.
    File(PathBuf),
    Nowhere,
}

impl Target {
    pub fn makes_files(&self) -> bool {
        !matches!(self, Target::Stdout | Target::Nowhere)
    }
}

/// The call: the flags that were typed, and what follows from them.
#[derive(Debug)]
pub struct Plan {
    flags: Flags,
    pub kind: Kind,
    pub program: OsString,
    /// Standard input, if no file was typed and no list names files.
    pub operands: Vec<Operand>,
    pub typed: usize,
    /// The formats to decompress: under bzip2's own names, only those that bzip2 decompresses.
    pub formats: Formats,
    /// Whether results must be on the disk before their sources are removed.
    pub sync: bool,
    pub trailing_garbage: bool,
    pub threads: Option<NonZeroUsize>,
    pub gpus: Gpus,
    pub gpu_pipeline: Offload,
    /// What to write, if text is compressed.
    pub coding: Option<Coding>,
    pub target: Target,
    pub remove_sources: bool,
    pub verified: Verify,
    /// Whether to read source and result again from the disk and compare them.
    pub rereads: bool,
    /// The shard to compress of the single input, and the length of that file, once the plan of shards has been read.
    pub part: Option<(Shard, u64)>,
    pub ignored_words: Vec<String>,
    total: OnceLock<Option<u64>>,
}

impl Deref for Plan {
    type Target = Flags;

    fn deref(&self) -> &Flags {
        &self.flags
    }
}

/// The maximum number of operands whose lengths are looked up before the work begins.
const MAX_STATS: usize = 64;

impl Plan {
    /// The plan of a call in the mode `kind`, without a coding; the flags may contradict each other.
    pub fn unchecked(kind: Kind, program: &OsStr, flags: Flags, mut operands: Vec<Operand>) -> Plan {
        let typed = operands.len();
        if typed == 0 && flags.filelist.is_none() {
            operands.push(Operand::Stdin);
        }
        let mut plan = Plan {
            kind,
            program: program.to_owned(),
            operands,
            typed,
            formats: if is_bzip2(program) { Formats::Bzip2 } else { Formats::All },
            sync: !flags.no_sync,
            trailing_garbage: flags.ignore_trailing_garbage != Some(0),
            threads: flags.threads.and_then(|threads| NonZeroUsize::new(usize::try_from(threads).ok()?)),
            gpus: match flags.gpu.as_deref() {
                _ if flags.no_gpu || flags.small => Gpus::None,
                Some("none") => Gpus::None,
                None => Gpus::Visible,
                Some(list) => Gpus::These(list.to_owned()),
            },
            gpu_pipeline: match flags.gpu_pipeline {
                Some(GpuPipeline::Bwt) => Offload::Bwt,
                Some(GpuPipeline::Hybrid) => Offload::Hybrid,
                Some(GpuPipeline::Resident) => Offload::Resident,
                None => Offload::default(),
            },
            coding: None,
            target: Target::Nowhere,
            remove_sources: false,
            verified: Verify::Off,
            rereads: flags.verify == Some(Verified::File),
            part: None,
            flags,
            ignored_words: Vec::new(),
            total: OnceLock::new(),
        };
        plan.target = plan.destination();
        plan.remove_sources = match plan.target {
            Target::Beside => !plan.keep,
            // A user who names the result does not expect hybz to remove the source.
            Target::File(_) | Target::Below(_) => plan.rm && !plan.is_cat(),
            Target::Stdout | Target::Nowhere => false,
        };
        // Blocks made by a device are verified without a flag if the source is to be removed.
        plan.verified = match plan.verify {
            _ if !matches!(kind, Kind::Compress | Kind::Shard) => Verify::Off,
            Some(Verified::None) => Verify::Off,
            Some(_) => Verify::All,
            None if plan.remove_sources => Verify::Devices,
            None => Verify::Off,
        };
        plan
    }

    fn destination(&self) -> Target {
        let is_split = self.kind == Kind::Decompress && self.split.is_some();
        match &self.output {
            _ if self.kind == Kind::Test => Target::Nowhere,
            // -f must not replace the link /dev/stdout.
            Some(file) if file != "-" && file != "/dev/stdout" => Target::File(file.into()),
            Some(_) => Target::Stdout,
            None if self.stdout || self.is_cat() || is_split || self.kind == Kind::Plan => Target::Stdout,
            None => self.output_dir.as_ref().map_or(Target::Beside, |directory| Target::Below(directory.into())),
        }
    }

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

    fn is_cat(&self) -> bool {
        has_part(&self.program, &CATS)
    }

    pub fn reads_stdin(&self) -> bool {
        self.operands.contains(&Operand::Stdin)
    }

    /// Whether compressed files stay, so that an index can belong to them.
    pub fn keeps_compressed(&self) -> bool {
        self.kind != Kind::Decompress || !self.remove_sources
    }

    /// Whether a walk or a list may add files to those that were typed.
    pub fn is_open_ended(&self) -> bool {
        self.recursive || self.filelist.is_some()
    }

    pub fn has_many(&self) -> bool {
        self.operands.len() > 1 || self.is_open_ended()
    }

    /// The number of operands, unless trees and lists add to them.
    pub fn count(&self) -> Option<u64> {
        (!self.is_open_ended()).then_some(self.operands.len() as u64)
    }

    /// The total length of the operands, if it can be known. Each length is looked up only once.
    pub fn total(&self) -> Option<u64> {
        *self.total.get_or_init(|| match self.filelist {
            Some(_) => None,
            None => self.operands.iter().map(Operand::len).sum(),
        })
    }

    /// The number of bytes to read, if it can be known beforehand, unless there are so many operands that looking at
    /// all of them is not worth it.
    pub fn expected_bytes(&self) -> Option<u64> {
        match self.part {
            Some((shard, _)) => Some(shard.length),
            None if self.operands.len() <= MAX_STATS => self.total(),
            None => None,
        }
    }

    pub fn writes_index(&self) -> bool {
        self.index.is_some() && self.ranges.is_none()
    }

    pub fn names_index(&self) -> bool {
        self.index.as_ref().is_some_and(|name| !name.is_empty())
    }

    pub fn index_of(&self, path: &Path) -> PathBuf {
        match &self.index {
            Some(name) if self.names_index() => name.into(),
            _ => usual_index(path),
        }
    }
}

pub fn usual_index(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".bzi");
    name.into()
}

pub fn kind(program: &OsStr, flags: &Flags) -> Kind {
    let usual = if name_decompresses(program) { Kind::Decompress } else { Kind::Compress };
    asked_for(flags).unwrap_or(usual)
}

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

pub fn is_bzip2(program: &OsStr) -> bool {
    let name = program.to_string_lossy();
    ["bzip2", "bunzip2", "bzcat"].contains(&name.strip_suffix(".exe").unwrap_or(&name))
}

#[cfg(test)]
mod tests {
    use super::super::tests::plan;
    use super::*;

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
            assert_eq!(plan(words).verified, blocks, "{words}");
        }
        assert!(plan("--verify=file a").rereads && !plan("--verify a").rereads);
    }
}
