//! What was given: the mode of a call, derived once from the flags and the name of the program, and its operands.

use super::flags::Flags;
use super::rows::{self, Kind};
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{self, Seek};
use std::os::fd::AsFd;
use std::path::PathBuf;

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

/// The typed flags, and the mode that follows from them.
pub struct Given<'a> {
    pub program: &'a OsStr,
    pub flags: &'a Flags,
    pub kind: Kind,
    /// Standard input, if no file was typed and no list names files.
    pub operands: Vec<Operand>,
    /// How many operands were typed.
    pub typed: usize,
}

impl<'a> Given<'a> {
    pub fn new(program: &'a OsStr, flags: &'a Flags, mut operands: Vec<Operand>) -> Given<'a> {
        let typed = operands.len();
        if typed == 0 && flags.filelist.is_none() {
            operands.push(Operand::Stdin);
        }
        Given { program, flags, kind: mode(program, flags), operands, typed }
    }

    /// Whether the program's name stands for the flag.
    pub fn name_means(&self, flag: &str) -> bool {
        let Flags { compress, test, list, .. } = *self.flags;
        match (flag, self.kind) {
            ("-d", _) => name_decompresses(self.program) && !(compress || test || list),
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
        let is_split = self.kind == Kind::Decompress && self.flags.split.is_some();
        self.flags.stdout || self.is_cat() || is_split && self.flags.output.is_none()
    }

    /// Whether the program was called like `bzcat`.
    pub fn is_cat(&self) -> bool {
        has_part(self.program, &CATS)
    }

    pub fn reads_stdin(&self) -> bool {
        self.operands.contains(&Operand::Stdin)
    }
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
