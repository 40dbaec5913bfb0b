//! The command line, in two steps: clap reads what was typed, then [`Plan`] says what the program needs.
//!
//! bzip2's rules hold: flags and files in any order, short flags in clusters (`-v4k`), long flags only in full, the last of
//! contradicting flags wins, everything after `--` is a file. clap does all of that. What is left for us is a pass before it
//! (the environment variables, the split at `--`) and one after it (bzip2's text for a bad flag, the name we were called by).

use anyhow::{anyhow, bail};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use hybz::gpu::Offload;
use hybz::{LargeBlocks, Level};
use std::ffi::{OsStr, OsString};
use std::num::NonZeroUsize;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// What is to be done with the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Compress,
    Decompress,
    Test,
}

/// Where results go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Each into a file beside its source, named after it. (Of stdin: to stdout.)
    Beside,
    /// All to stdout, one after the other.
    Stdout,
    /// The only one into this file.
    File(PathBuf),
}

/// One thing to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    Stdin,
    File(PathBuf),
}

impl Operand {
    /// What messages call it.
    pub fn name(&self) -> &OsStr {
        match self {
            Operand::Stdin => OsStr::new("(stdin)"),
            Operand::File(path) => path.as_os_str(),
        }
    }
}

/// Which GPUs are to help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gpus {
    None,
    /// All that are visible, if the input is worth it.
    Visible,
    /// Those that this list names, if the input is worth it.
    These(String),
}

/// What the program needs to know, all contradictions settled.
#[derive(Clone, Debug)]
pub struct Plan {
    pub program: OsString,
    pub mode: Mode,
    pub level: Level,
    /// Write `.hbz` with such blocks instead of `.bz2`.
    pub large_blocks: Option<LargeBlocks>,
    pub target: Target,
    pub operands: Vec<Operand>,
    /// Whether a source goes when its result is safely there.
    pub remove_sources: bool,
    pub force: bool,
    /// How often `-q` was given: 1 hides remarks, 2 hides errors too.
    pub quiet: u8,
    /// How often `-v` was given: 1 is a line for each file, 2 a line for each block and the table of stations.
    pub verbose: u8,
    /// Whether to show progress; `None`: if stderr is a terminal.
    pub progress: Option<bool>,
    /// Whether results are on the disk before their sources go.
    pub sync: bool,
    pub trailing_garbage: bool,
    pub threads: Option<NonZeroUsize>,
    pub memory: Option<u64>,
    pub gpus: Gpus,
    /// Whether a GPU that cannot be had, or fails, is an error.
    pub gpu_required: bool,
    /// How GPUs and cores share the work.
    pub gpu_pipeline: Offload,
    /// Words of the environment variables that were ignored.
    pub ignored_words: Vec<String>,
}

/// What a command line asks for.
#[derive(Debug)]
pub enum Request {
    /// Help or version: a text for stdout.
    Show(String),
    Run(Plan),
    /// Say what is in the operands.
    List(Plan),
}

/// Variables with flags that come before those of the command line, in this order.
const VARIABLES: [&str; 3] = ["BZIP2", "BZIP", "HYBZ"];

/// Reads the command line that follows the program's name.
pub fn parse(
    program: &OsStr,
    words: impl Iterator<Item = OsString>,
    variable: impl Fn(&str) -> Option<OsString>,
) -> anyhow::Result<Request> {
    let mut command = command();
    let (mut flags, ignored_words) = flags_of_environment(&command, variable);
    let mut words = words;
    flags.extend(words.by_ref().take_while(|word| word != "--"));
    let files_after_dashes = words.map(|word| Operand::File(word.into()));

    match command.try_get_matches_from_mut(&flags) {
        Ok(typed) => {
            let operands = operands(&typed).chain(files_after_dashes).collect();
            let list = typed.get_flag("list");
            let request = if list { Request::List } else { Request::Run };
            plan(program, &typed, operands, ignored_words).map(request)
        }
        Err(e) if matches!(e.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            Ok(Request::Show(e.to_string()))
        }
        Err(e) => Err(bad_flag(program, &mut command, &flags, &e)),
    }
}

/// The flags of the environment variables. Words that are no flags (nor the value of one) are ignored: builds set
/// `BZIP2=pbzip2` to name a program, and bzip2 would take that for a file to compress and delete.
fn flags_of_environment(
    command: &Command,
    variable: impl Fn(&str) -> Option<OsString>,
) -> (Vec<OsString>, Vec<String>) {
    let (mut flags, mut ignored) = (Vec::new(), Vec::new());
    for name in VARIABLES {
        let Some(value) = variable(name) else { continue };
        let mut value_follows = false;
        for word in value.as_bytes().split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
            let is_flag = word[0] == b'-' && word != b"-" && word != b"--";
            if is_flag || value_follows {
                flags.push(OsString::from_vec(word.to_vec()));
            } else {
                ignored.push(format!("`{}' in the environment variable {name} is no flag: ignored", lossy(word)));
            }
            value_follows = is_flag && waits_for_value(command, word);
        }
    }
    (flags, ignored)
}

fn lossy(word: &[u8]) -> String {
    String::from_utf8_lossy(word).into_owned()
}

/// Whether `word` is a flag that takes the next word as its value.
fn waits_for_value(command: &Command, word: &[u8]) -> bool {
    let word = lossy(word);
    let mut with_value = command.get_arguments().filter(|arg| !arg.is_positional() && arg.get_action().takes_values());
    with_value.any(|arg| match word.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => arg.get_short_and_visible_aliases().unwrap_or_default().iter().any(|short| word.ends_with(*short)),
    })
}

/// The operands before `--`, where `-` stands for stdin.
fn operands(typed: &ArgMatches) -> impl Iterator<Item = Operand> {
    let files = typed.get_many::<OsString>("FILE").unwrap_or_default();
    files.map(|file| if file == "-" { Operand::Stdin } else { Operand::File(file.into()) })
}

/// What the program needs, from what was typed and the name it was called by.
fn plan(
    program: &OsStr,
    typed: &ArgMatches,
    mut operands: Vec<Operand>,
    ignored_words: Vec<String>,
) -> anyhow::Result<Plan> {
    let (mode_of_name, cat) = called_as(program);
    let flag = |name| typed.get_flag(name);
    let mode = match () {
        () if flag("compress") => Mode::Compress,
        () if flag("decompress") => Mode::Decompress,
        () if flag("test") || flag("list") => Mode::Test,
        () => mode_of_name,
    };
    if operands.is_empty() {
        operands.push(Operand::Stdin);
    }
    let (to_stdout, file) = (flag("stdout") || cat, typed.get_one::<OsString>("output"));
    if mode == Mode::Test && to_stdout {
        bail!("-c and -{} cannot be used together.", if flag("list") { 'l' } else { 't' });
    }
    let target = match file {
        Some(_) if mode == Mode::Test => bail!("-o and -t cannot be used together."),
        Some(_) if flag("stdout") => bail!("-o and -c cannot be used together."),
        Some(_) if operands.len() > 1 => bail!("-o takes the result of one input file, not of {}.", operands.len()),
        Some(file) if file != "-" => Target::File(file.into()),
        Some(_) => Target::Stdout,
        None if to_stdout => Target::Stdout,
        None => Target::Beside,
    };
    let remove_sources = match target {
        Target::Beside => mode != Mode::Test && !flag("keep"),
        Target::File(_) => flag("rm") && !cat, // who names the result himself does not expect the source to go
        Target::Stdout => false,
    };
    let mut level = (1..=9).find(|&n| flag(DIGITS[n as usize - 1])).and_then(Level::try_new).unwrap_or_default();
    let large_blocks = large_blocks(typed)?;
    let mut threads = typed.get_one::<usize>("threads").copied().and_then(NonZeroUsize::new);
    if flag("small") {
        level = level.min(Level::try_new(2).unwrap_or_default());
        threads = threads.or(Some(NonZeroUsize::MIN));
    }
    let gpu_required = flag("gpu-required");
    let gpus = match typed.get_one::<String>("gpu").map(String::as_str) {
        _ if flag("no-gpu") || flag("small") => Gpus::None,
        Some("none") => Gpus::None,
        None => Gpus::Visible,
        Some(list) => Gpus::These(list.to_owned()),
    };
    if gpu_required && gpus == Gpus::None {
        bail!("--gpu-required and no GPU cannot be used together.");
    }
    let pipeline = typed.get_one::<String>("gpu-pipeline");
    let gpu_pipeline = match pipeline.map(String::as_str) {
        Some("bwt") => Offload::Bwt,
        Some("hybrid") => Offload::Hybrid,
        Some("resident") => Offload::Resident,
        _ => Offload::default(),
    };
    if pipeline.is_some() && large_blocks.is_some() {
        bail!("--gpu-pipeline is about .bz2: it cannot be used together with --block-size or --perturb.");
    }
    if !cfg!(feature = "cuda") && (gpu_required || pipeline.is_some() || matches!(gpus, Gpus::These(_))) {
        bail!("This hybz was built without GPU support (feature `cuda').");
    }
    Ok(Plan {
        program: program.to_owned(),
        mode,
        level,
        large_blocks,
        target,
        operands,
        remove_sources,
        force: flag("force"),
        quiet: typed.get_count("quiet"),
        verbose: typed.get_count("verbose"),
        progress: if flag("progress") { Some(true) } else { flag("no-progress").then_some(false) },
        sync: !flag("no-sync"),
        trailing_garbage: typed.get_one::<u8>("ignore-trailing-garbage") != Some(&0),
        threads,
        memory: typed.get_one::<u64>("memory").copied(),
        gpus,
        gpu_required,
        gpu_pipeline,
        ignored_words,
    })
}

/// The blocks of a `.hbz` stream, if the flags ask for one.
fn large_blocks(typed: &ArgMatches) -> anyhow::Result<Option<LargeBlocks>> {
    let (size, interval) = (typed.get_one::<u64>("block-size").copied(), typed.get_one::<u32>("perturb").copied());
    if size.is_none() && interval.is_none() {
        return Ok(None);
    }
    let size = size.unwrap_or(PERTURBED_SIZE);
    let large = u32::try_from(size).ok().filter(|&size| size >= 1_000_000 || u64::from(size) == PERTURBED_SIZE);
    let Some(large) = large.and_then(LargeBlocks::try_new) else {
        bail!("--block-size must be 1M to 1G, or 900k with --perturb.");
    };
    if size == PERTURBED_SIZE && interval.is_none() {
        bail!("--block-size 900k is bzip2's own: it makes sense with --perturb only.");
    }
    let seed = typed.get_one::<u64>("perturb-seed").copied().unwrap_or(0);
    Ok(Some(large.perturbation(interval.unwrap_or(0), seed)))
}

/// What a name such as `bunzip2` or `bzcat` asks for (bzip2's rule: the name contains one of these), and whether it is `cat`.
fn called_as(program: &OsStr) -> (Mode, bool) {
    let name = program.to_string_lossy();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    let cat = has(&["zcat", "ZCAT", "z2cat", "Z2CAT", "hybcat"]);
    let unzip = cat || has(&["unzip", "UNZIP", "hybunz"]);
    (if unzip { Mode::Decompress } else { Mode::Compress }, cat)
}

const DIGITS: [&str; 9] = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];
const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), "\na bzip2-compatible block-sorting file compressor\n", "MIT OR Apache-2.0");
const AFTER_HELP: &str = "\
Called by a name that contains `unzip' (or `hybunz') it decompresses, and by one that contains `zcat' (or `hybcat')
to stdout. Without files it reads stdin and writes stdout; so does the file name `-'. The variables BZIP2, BZIP and
HYBZ may hold flags that come before those typed. Exit codes: 0 all well, 1 something could not be read, written or
understood, 2 damaged data, 3 a defect in hybz.";
/// The block size of perturbed streams, if none is given.
const PERTURBED_SIZE: u64 = 900_000;
const MODES: [&str; 4] = ["compress", "decompress", "test", "list"];

/// All flags, in the order of `--help`.
fn command() -> Command {
    let flag = |id, short, help| Arg::new(id).long(id).short(short).action(ArgAction::SetTrue).help(help);
    let long_flag = |id, help| Arg::new(id).long(id).action(ArgAction::SetTrue).help(help);
    let obsolete = |id| Arg::new(id).long(id).action(ArgAction::SetTrue).hide(true);
    let digits = DIGITS.into_iter().map(|digit| {
        let arg = Arg::new(digit).short(digit.chars().next()).action(ArgAction::SetTrue).overrides_with_all(DIGITS);
        match digit {
            "1" => arg.long("fast").help("blocks of 100 kB (-2 .. -8: of 200 to 800 kB)"),
            "9" => arg.long("best").help("blocks of 900 kB (default)"),
            _ => arg.hide(true),
        }
    });
    Command::new("hybz")
        .no_binary_name(true)
        .args_override_self(true)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .version(VERSION)
        .override_usage("hybz [flags and input files in any order]")
        .about("Compresses files into .bz2, or decompresses them, on every core.")
        .after_help(AFTER_HELP)
        .arg(Arg::new("FILE").action(ArgAction::Append).num_args(0..).value_parser(value_parser!(OsString)).hide(true))
        .arg(flag("decompress", 'd', "decompress").overrides_with_all(MODES))
        .arg(flag("compress", 'z', "compress").overrides_with_all(MODES))
        .arg(flag("test", 't', "test compressed files, write nothing").overrides_with_all(MODES))
        .arg(
            flag("list", 'l', "say how many blocks and bytes are in compressed files (-lv: check and show each block)")
                .overrides_with_all(MODES),
        )
        .arg(flag("stdout", 'c', "write to stdout, keep input files"))
        .arg(
            Arg::new("output")
                .short('o')
                .value_name("FILE")
                .value_parser(value_parser!(OsString))
                .help("write to FILE (`-': stdout), keep the one input file unless --rm"),
        )
        .arg(flag("keep", 'k', "keep input files").overrides_with("rm"))
        .arg(
            long_flag("rm", "remove input files when results are safe (default without -c, -o)").overrides_with("keep"),
        )
        .arg(flag("force", 'f', "overwrite output files; take links and devices; with -dc copy what is not bzip2"))
        .args(digits)
        .arg(flag("small", 's', "one thread, blocks of 200 kB at most"))
        .arg(
            Arg::new("block-size")
                .long("block-size")
                .value_name("SIZE")
                .value_parser(decimal_bytes)
                .help("write FILE.hbz with blocks of 1M to 1G: smaller, but only hybz reads it"),
        )
        .arg(
            Arg::new("perturb")
                .long("perturb")
                .value_name("K|P%")
                .value_parser(interval)
                .help("in a .hbz, put in a byte after every K, or P per cent, of the input (for experiments)"),
        )
        .arg(Arg::new("perturb-seed").long("perturb-seed").value_name("N").value_parser(value_parser!(u64)).hide(true))
        .arg(
            Arg::new("threads")
                .short('p')
                .visible_short_aliases(['n', 'T'])
                .long("threads")
                .value_name("N")
                .value_parser(value_parser!(usize))
                .help("use N threads (0, default: one for each core)"),
        )
        .arg(
            Arg::new("memory")
                .short('m')
                .long("memory")
                .value_name("SIZE")
                .value_parser(bytes)
                .help("let blocks on their way take SIZE MiB (or 300k, 1G ...)"),
        )
        .arg(
            Arg::new("gpu")
                .long("gpu")
                .value_name("LIST")
                .overrides_with("no-gpu")
                .help("compress on these GPUs too: numbers, UUIDs, PCI ids, or none (default: all, for large inputs)"),
        )
        .arg(long_flag("no-gpu", "the same as --gpu none").overrides_with("gpu"))
        .arg(
            Arg::new("gpu-pipeline")
                .long("gpu-pipeline")
                .value_name("SHAPE")
                .value_parser(["bwt", "hybrid", "resident"])
                .hide_possible_values(true)
                .help(
                    "resident: GPUs do all (default); bwt: they sort; hybrid: they sort two lists and the CPU merges",
                ),
        )
        .arg(long_flag("gpu-required", "it is an error if a GPU cannot be had, or fails, when compressing"))
        .arg(
            Arg::new("ignore-trailing-garbage")
                .long("ignore-trailing-garbage")
                .value_name("0|1")
                .value_parser(value_parser!(u8).range(0..=1))
                .help("0: bytes after the last stream are an error (default 1)"),
        )
        .arg(long_flag("no-sync", "do not wait for the disk before input files are removed"))
        .arg(flag("quiet", 'q', "no remarks (-qq: no error messages either)").action(ArgAction::Count))
        .arg(
            flag("verbose", 'v', "a line for each file (-vv: for each block, and who did them)")
                .action(ArgAction::Count),
        )
        .arg(long_flag("progress", "show progress even if stderr is no terminal").overrides_with("no-progress"))
        .arg(long_flag("no-progress", "never show progress").overrides_with("progress"))
        .args(["exponential", "repetitive-fast", "repetitive-best"].map(obsolete))
        .arg(Arg::new("help").short('h').long("help").action(ArgAction::HelpShort).help("show this text"))
        .arg(
            Arg::new("version")
                .short('V')
                .visible_short_alias('L')
                .long("version")
                .visible_alias("license")
                .action(ArgAction::Version)
                .help("show version and licence"),
        )
}

/// A size: a number of MiB, or of the unit that follows it.
fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let shift = match unit.to_ascii_lowercase().trim_end_matches("ib").trim_end_matches('b') {
        "" if unit.is_empty() => 20,
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return Err(format!("`{unit}' is no unit")),
    };
    let number: u64 = number.parse().map_err(|_| "no number".to_owned())?;
    number.checked_mul(1 << shift).filter(|&n| n > 0).ok_or_else(|| "out of range".to_owned())
}

/// A block size: a number of bytes, or of the decimal unit that follows it, as bzip2 counts its blocks.
fn decimal_bytes(text: &str) -> Result<u64, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let unit: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        "ki" | "kib" => 1 << 10,
        "mi" | "mib" => 1 << 20,
        "gi" | "gib" => 1 << 30,
        _ => return Err(format!("`{unit}' is no unit")),
    };
    let number: u64 = number.parse().map_err(|_| "no number".to_owned())?;
    number.checked_mul(unit).ok_or_else(|| "out of range".to_owned())
}

/// An interval of perturbation: a number of bytes, or how many per cent of the bytes are put in.
fn interval(text: &str) -> Result<u32, String> {
    let interval = match text.strip_suffix('%') {
        None => text.parse().map_err(|_| "no number".to_owned())?,
        Some(percent) => {
            let percent: f64 = percent.parse().map_err(|_| "no number".to_owned())?;
            (100.0 / percent).round()
        }
    };
    if (1.0..=1e9).contains(&interval) { Ok(interval as u32) } else { Err("out of range".to_owned()) }
}

/// bzip2's message for a flag that it does not know, with the usage under it; ours for a value that does not fit.
fn bad_flag(program: &OsStr, command: &mut Command, flags: &[OsString], e: &clap::Error) -> anyhow::Error {
    let context = |kind| match e.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    let flag = context(ContextKind::InvalidArg);
    match e.kind() {
        ErrorKind::InvalidValue | ErrorKind::ValueValidation | ErrorKind::NoEquals => {
            let (flag, value) = (flag.split(' ').next().unwrap_or_default(), context(ContextKind::InvalidValue));
            let help = format!("{0}: For help, type: `{0} --help'.", program.display());
            match value.as_str() {
                "" => anyhow!("Flag `{flag}' needs a value\n{help}"),
                value => anyhow!("Bad value `{value}' for flag `{flag}'\n{help}"),
            }
        }
        // clap names the letter, bzip2 the whole word that it stands in.
        _ => {
            let holds = |word: &&OsString| match flag.strip_prefix("--") {
                Some(_) => word.to_string_lossy().split('=').next() == Some(&flag),
                None => {
                    !word.as_bytes().starts_with(b"--")
                        && word.as_bytes().starts_with(b"-")
                        && flag.chars().nth(1).is_some_and(|letter| word.to_string_lossy()[1..].contains(letter))
                }
            };
            let word = flags.iter().find(holds).map_or(flag.clone(), |word| word.to_string_lossy().into_owned());
            anyhow!("Bad flag `{word}'\n{}", command.render_help())
        }
    }
}
