//! Indexes and parts of files: what the flags ask for, and which of them do not go together.

use super::flags::{Flags, IndexFormat};
use super::format::HAS_OWN_INDEX;
use super::ranges::{Amount, Range};
use super::task::{Mode, Operand, Target};
use anyhow::bail;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Which part of a file is decompressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// These ranges of its text; with `lines`, the lines that begin in them.
    Ranges { ranges: Vec<Range>, lines: bool },
    /// The streams from this byte on, so many or all.
    Streams { at: u64, count: Option<u64> },
}

/// An index beside a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexPlan {
    /// Its name, if it was typed.
    pub path: Option<PathBuf>,
    pub format: IndexFormat,
}

/// What `-l` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    Table,
    Json,
    Offsets,
}

impl IndexPlan {
    /// The name of the index of the compressed file `path`.
    pub fn path(&self, path: &Path) -> PathBuf {
        let suffix = match self.format {
            IndexFormat::Bzi => ".bzi",
            IndexFormat::Offsets => ".offsets",
        };
        self.path.clone().unwrap_or_else(|| with_suffix(path, suffix))
    }
}

/// The name where an index is looked for if none was typed.
pub fn usual_index(path: &Path) -> PathBuf {
    with_suffix(path, ".bzi")
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// What is known when the flags of this page are looked at.
pub struct Settled<'a> {
    pub flags: &'a Flags,
    pub mode: Mode,
    pub target: &'a Target,
    pub operands: &'a [Operand],
    pub remove_sources: bool,
    pub large_blocks: bool,
    /// Whether trees and lists add to the operands.
    pub open_ended: bool,
}

impl Settled<'_> {
    /// The mode as a flag.
    fn mode_flag(&self) -> &'static str {
        match self.mode {
            _ if self.flags.list => "-l",
            Mode::Compress => "-z",
            Mode::Decompress => "-d",
            Mode::Test => "-t",
        }
    }

    /// What `-l` prints.
    pub fn listing(&self) -> anyhow::Result<Listing> {
        let &Flags { list, json, offsets, verbose, .. } = self.flags;
        let flag = if json { "--json" } else { "--offsets" };
        Ok(match (json, offsets) {
            (false, false) => Listing::Table,
            (true, false) if self.flags.recover.is_some() || self.flags.bench.is_some() || self.flags.measure => {
                Listing::Json
            }
            _ if !list => bail!("{flag} is about -l."),
            (true, true) => bail!("--json and --index-format=offsets cannot be used together."),
            (true, false) => Listing::Json,
            (false, true) if verbose > 0 => bail!("--index-format=offsets and -v cannot be used together."),
            (false, true) => match self.operands.len() {
                1 => Listing::Offsets,
                operands => bail!("--index-format=offsets lists one file, not {operands}."),
            },
        })
    }

    /// The part that is decompressed, if not all.
    pub fn part(&self) -> anyhow::Result<Option<Part>> {
        let Flags { ranges, lines, at, streams, rm, .. } = self.flags;
        let flag = match () {
            () if ranges.is_some() => "--ranges",
            () if at.is_some() => "--at",
            () if streams.is_some() => "--streams",
            () if *lines => bail!("--lines is about --ranges."),
            () => return Ok(None),
        };
        match self.mode {
            Mode::Compress => bail!("{flag} reads compressed files: use it with -d."),
            Mode::Test if self.flags.list || ranges.is_some() => {
                bail!("{flag} and {} cannot be used together.", self.mode_flag())
            }
            Mode::Decompress if *self.target == Target::Beside => {
                bail!("{flag} gives a part of the text: use it with -c or -o.")
            }
            _ if *rm => bail!("{flag} and --rm cannot be used together."),
            _ => {}
        }
        let Some(ranges) = ranges else {
            if *lines {
                bail!("--lines is about --ranges.");
            }
            return Ok(Some(Part::Streams { at: at.unwrap_or(0), count: *streams }));
        };
        if let (Some(other), _) | (None, Some(other)) = (at.map(|_| "--at"), streams.map(|_| "--streams")) {
            bail!("--ranges and {other} cannot be used together.");
        }
        let has_lines =
            |range: &Range| matches!(range.size, Amount::Lines(_)) || matches!(range.offset, Amount::Lines(_));
        if *lines && ranges.0.iter().any(has_lines) {
            bail!("--lines and ranges of lines (L) cannot be used together.");
        }
        if let Some(Operand::Stdin) = self.operands.iter().find(|operand| **operand == Operand::Stdin)
            && self.operands.len() > 1
        {
            bail!("--ranges reads stdin only if it is the one input file.");
        }
        Ok(Some(Part::Ranges { ranges: ranges.0.clone(), lines: *lines }))
    }

    /// The index that is written, or with ranges the one that is read.
    pub fn index(&self, part: Option<&Part>) -> anyhow::Result<Option<IndexPlan>> {
        let Flags { index, index_format, .. } = self.flags;
        let Some(index) = index else {
            return if index_format.is_some() {
                bail!("--index-format is about --index, and with -l it can be offsets.")
            } else {
                Ok(None)
            };
        };
        let path = (!index.is_empty()).then(|| PathBuf::from(index));
        match part {
            Some(Part::Streams { .. }) => {
                let flag = if self.flags.at.is_some() { "--at" } else { "--streams" };
                bail!("An index is of a whole file: {flag} and --index cannot be used together.")
            }
            Some(Part::Ranges { .. }) if index_format.is_some() => {
                bail!("--ranges reads an index of any format: --index-format is about writing one.")
            }
            _ => {}
        }
        if self.mode == Mode::Compress && self.large_blocks {
            bail!(HAS_OWN_INDEX);
        }
        if part.is_none() && self.mode == Mode::Decompress && self.remove_sources {
            bail!("The index is of the compressed file: use -d --index with -k, -c or -o.");
        }
        if path.is_some() && self.operands.len() > 1 {
            bail!("--index=FILE is the index of one file, not of {}.", self.operands.len());
        }
        let named = match (self.mode, self.target) {
            (Mode::Compress, Target::Stdout) => false,
            (Mode::Compress, Target::File(_)) => true,
            _ => !self.operands.contains(&Operand::Stdin),
        };
        if path.is_none() && !named && (self.operands.len() > 1 || self.open_ended) {
            let other =
                if *self.target == Target::Stdout && self.mode == Mode::Compress { "-c" } else { "standard input" };
            bail!("--index and {other} cannot be used together for several files: their indexes need names.");
        }
        if path.is_none() && !named {
            bail!("The index needs a name: use --index=FILE.");
        }
        Ok(Some(IndexPlan { path, format: index_format.unwrap_or(IndexFormat::Bzi) }))
    }
}
