//! The mode of a call, derived once from the flags and the program's name.

use super::choices::Verified;
use super::flags::Flags;
use super::operand::Operand;
use anyhow::bail;
use std::ffi::OsStr;

/// The modes: the columns of the table in [`super::table`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Compress,
    Decompress,
    Test,
    List,
    Recover,
    Bench,
    Measure,
    Plan,
    Shard,
    Join,
}

impl Kind {
    /// All modes, in the order of their declaration.
    pub const ALL: [Kind; 10] = [
        Kind::Compress,
        Kind::Decompress,
        Kind::Test,
        Kind::List,
        Kind::Recover,
        Kind::Bench,
        Kind::Measure,
        Kind::Plan,
        Kind::Shard,
        Kind::Join,
    ];

    /// The mode of a call.
    pub fn of(program: &OsStr, flags: &Flags) -> Kind {
        let usual = if name_decompresses(program) { Kind::Decompress } else { Kind::Compress };
        Kind::asked_for(flags).unwrap_or(usual)
    }

    /// The mode that the flags ask for, if any. If they ask for several, the table refuses the others.
    pub fn asked_for(flags: &Flags) -> Option<Kind> {
        let asked = [
            (flags.plan.is_some(), Kind::Plan),
            (flags.shard.is_some(), Kind::Shard),
            (flags.join.is_some(), Kind::Join),
            (flags.measure, Kind::Measure),
            (flags.bench.is_some(), Kind::Bench),
            (flags.recover.is_some(), Kind::Recover),
            (flags.list, Kind::List),
            (flags.test, Kind::Test),
            (flags.decompress, Kind::Decompress),
            (flags.compress, Kind::Compress),
            (flags.split.is_some(), Kind::Decompress),
        ];
        asked.into_iter().find(|(given, _)| *given).map(|(_, kind)| kind)
    }

    /// The flag that asks for this mode.
    pub fn flag(self) -> &'static str {
        match self {
            Kind::Compress => "-z",
            Kind::Decompress => "-d",
            Kind::Test => "-t",
            Kind::List => "-l",
            Kind::Recover => "--recover",
            Kind::Bench => "--bench",
            Kind::Measure => "--measure",
            Kind::Plan => "--plan",
            Kind::Shard => "--shard",
            Kind::Join => "--join",
        }
    }

    /// Flags that put a call into this mode.
    pub fn words(self) -> &'static [&'static str] {
        match self {
            Kind::Plan => &["--plan=1M"],
            Kind::Shard => &["--shard=0", "--plan-file=plan"],
            Kind::Join => &["--join=plan"],
            Kind::Compress => &["-z"],
            Kind::Decompress => &["-d"],
            Kind::Test => &["-t"],
            Kind::List => &["-l"],
            Kind::Recover => &["--recover"],
            Kind::Bench => &["--bench"],
            Kind::Measure => &["--measure"],
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
    pub fn new(program: &'a OsStr, flags: &'a Flags, mut operands: Vec<Operand>) -> anyhow::Result<Given<'a>> {
        let shards = [flags.plan.is_some(), flags.shard.is_some(), flags.join.is_some()];
        if shards.into_iter().filter(|&given| given).count() > 1 {
            bail!("Only one of --plan, --shard and --join can be used.");
        }
        let typed = operands.len();
        if typed == 0 && flags.filelist.is_none() {
            operands.push(Operand::Stdin);
        }
        Ok(Given { program, flags, kind: Kind::of(program, flags), operands, typed })
    }

    /// Whether a flag or the program's name asks for decompressing.
    pub fn decompresses(&self) -> bool {
        let Flags { compress, test, list, decompress, .. } = *self.flags;
        decompress || (name_decompresses(self.program) && !(compress || test || list))
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

    /// Whether `--verify` asks for more than nothing.
    pub fn verifies(&self) -> bool {
        self.flags.verify.is_some_and(|verified| verified != Verified::None)
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
