//! What the program needs to know, derived from the words of the command line in their order: an error names the first
//! wrong word, as in GNU sort.

use super::keys::{key, key_failure};
use super::size::{batch_size, buffer_size, parallel};
use super::table::{command, help, refused};
use super::words::{Word, Words};
use crate::failure::Failure;
use crate::names::{in_plain_quotes, quoted};
use crate::packaging;
use hybz_files::process;
use hybz_files::terminal::columns;
use hysort::{Key, Keys, Options, Order};
use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// The request of a command line.
#[derive(Debug)]
pub enum Request {
    /// A text for stdout, such as the help.
    Show(String),
    Run(Box<Plan>),
}

/// The work to do on the lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum What {
    #[default]
    Sort,
    Merge,
    /// Checks whether they are sorted; quietly or not.
    Check {
        quiet: bool,
    },
}

/// Which GPUs help.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Gpus {
    None,
    /// The first one that is visible.
    #[default]
    Visible,
    /// Those in this list.
    These(String),
}

/// What the program needs to know.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub what: What,
    pub reverse: bool,
    pub unique: bool,
    pub stable: bool,
    pub(super) keys: Vec<Key>,
    /// The options of keys that have none of their own.
    pub(super) options: Options,
    pub separator: Option<u8>,
    /// The program named to compress temporary files.
    compress: Option<OsString>,
    /// Whether a zero byte ends a line.
    pub zero: bool,
    /// The files that are read; `-` is stdin.
    pub files: Vec<OsString>,
    /// The file that lists the names of inputs, if they are not on the command line.
    pub files0_from: Option<OsString>,
    pub output: Option<OsString>,
    pub memory: Option<u64>,
    pub temporary: Vec<PathBuf>,
    pub threads: Option<NonZeroUsize>,
    /// The number of files to merge at once.
    pub batch: Option<usize>,
    pub no_sync: bool,
    pub gpus: Gpus,
    pub gpu_required: bool,
    pub verbose: bool,
    /// Whether to show progress; `None`: if stderr is a terminal.
    pub progress: Option<bool>,
}

impl Plan {
    /// The byte that ends a line.
    pub fn end(&self) -> u8 {
        if self.zero { 0 } else { b'\n' }
    }

    /// How lines are ordered, apart from keys.
    fn order(&self) -> Order {
        Order::new().end(self.end()).reverse(self.reverse).unique(self.unique)
    }

    /// The order of lines, with their keys: without keys, lines are compared as a whole.
    pub fn keyed(&self) -> Keys {
        Keys::new(self.effective_keys(), &self.order()).stable(self.stable).separator(self.separator)
    }

    /// All keys, with the options that they take from the command line. Options alone make a key.
    pub fn effective_keys(&self) -> Vec<Key> {
        match &self.keys[..] {
            [] if self.options.is_plain() => Vec::new(),
            [] => vec![Key::line(self.options)],
            keys => keys.iter().map(|key| key.clone().or_options(&self.options)).collect(),
        }
    }
}

/// Reads the words after the program's name.
pub fn parse(words: impl Iterator<Item = OsString>) -> Result<Request, Failure> {
    let mut command = command();
    command.build();
    let flags_first = env::var_os("POSIXLY_CORRECT").is_some();
    let mut words = Words::new(&command, words, flags_first);
    let mut plan = Plan::default();
    let mut checked = None;
    while let Some(word) = words.next()? {
        match word {
            Word::File(file) => plan.files.push(file),
            Word::Flag { id, letter, typed, value } => match &*id {
                "debug" | "random-source" => return Err(refused(OsStr::new(&typed))),
                "help" => return Ok(Request::Show(help(&command, columns(io::stdout())))),
                "version" => return Ok(Request::Show(command.render_version())),
                "man" => return Ok(Request::Show(packaging::MANUAL_PAGE.to_owned())),
                "completions" => return completions(&value.unwrap_or_default()),
                _ => plan.take(&id, (&typed, letter), value, &mut checked)?,
            },
        }
    }
    if plan.threads.is_none() {
        plan.threads = threads_of_environment(env::var_os(THREADS))?;
    }
    plan.settle()?;
    if plan.compress.is_some() {
        let remark = b"hysort: --compress-program is ignored: temporary files are not compressed\n";
        // If stderr fails, there is nowhere to report it.
        let _ = io::stderr().write_all(remark);
    }
    Ok(Request::Run(Box::new(plan)))
}

/// The environment variable that gives the number of threads if no flag does, as for hybz.
const THREADS: &str = "HYBZ_THREADS";

/// The number of threads that the variable gives; none if it is not set, or 0.
fn threads_of_environment(value: Option<OsString>) -> Result<Option<NonZeroUsize>, Failure> {
    let Some(value) = value.filter(|value| !value.is_empty()) else { return Ok(None) };
    match value.to_str().and_then(|value| value.trim().parse().ok()) {
        Some(number) => Ok(NonZeroUsize::new(number)),
        None => {
            let text =
                [THREADS.as_bytes(), b" expects a number of threads, not ", &in_plain_quotes(&value)[..]].concat();
            Err(Failure::sentence(text))
        }
    }
}

impl Plan {
    /// Takes a flag. `checked` is the letter of the check that was asked for.
    fn take(
        &mut self,
        id: &str,
        (typed, letter): (&str, Option<u8>),
        value: Option<OsString>,
        checked: &mut Option<char>,
    ) -> Result<(), Failure> {
        let given = value.clone().unwrap_or_default();
        // Flags such as -n, -f and -R are options of all keys that have none.
        letter.into_iter().for_each(|letter| self.option(letter));
        match id {
            "reverse" => self.reverse = true,
            "sort" => self.option(sort_word(&given)?),
            "compress-program" => match self.compress.replace(given.clone()) {
                Some(before) if before != given => {
                    return Err(Failure::sentence("multiple compress programs specified"));
                }
                _ => {}
            },
            "key" => self.keys.push(key(&given)?),
            "field-separator" => self.separate(&given)?,
            "stable" => self.stable = true,
            "unique" => self.unique = true,
            "zero-terminated" => self.zero = true,
            "check" | "quiet-check" => self.check(if id == "check" { how(value.as_deref())? } else { 'C' }, checked)?,
            "merge" if checked.is_none() => self.what = What::Merge,
            "output" => match &self.output {
                Some(other) if *other != given => return Err(Failure::sentence("multiple output files specified")),
                _ => self.output = Some(given),
            },
            "files0-from" => self.files0_from = Some(given),
            "buffer-size" => {
                let size = buffer_size(typed, &given, hybz_queue::memory_of_machine)?;
                self.memory = self.memory.max(Some(size));
            }
            "temporary-directory" => self.temporary.push(given.into()),
            "parallel" => self.threads = Some(parallel(typed, &given)?),
            "batch-size" => self.batch = Some(batch_size(typed, &given, process::max_descriptors())?),
            "no-sync" => self.no_sync = true,
            "gpu" => {
                self.gpus = match given.to_string_lossy().as_ref() {
                    "none" => Gpus::None,
                    list => Gpus::These(list.to_owned()),
                }
            }
            "no-gpu" => self.gpus = Gpus::None,
            "gpu-required" => self.gpu_required = true,
            "verbose" => self.verbose = true,
            "progress" => self.progress = Some(true),
            "no-progress" => self.progress = Some(false),
            _ => {} // options of keys; --merge together with --check
        }
        Ok(())
    }

    /// Adds an option of all keys that have none of their own.
    fn option(&mut self, letter: u8) {
        self.options = self.options.with(letter).unwrap_or(self.options);
    }

    fn separate(&mut self, given: &OsStr) -> Result<(), Failure> {
        let byte = match given.as_bytes() {
            [] => return Err(Failure::sentence("empty tab")),
            [byte] => *byte,
            b"\\0" => 0,
            _ => return Err(Failure::sentence([b"multi-character tab ", &in_plain_quotes(given)[..]].concat())),
        };
        match self.separator.replace(byte) {
            Some(before) if before != byte => Err(Failure::sentence("incompatible tabs")),
            _ => Ok(()),
        }
    }

    fn check(&mut self, letter: char, checked: &mut Option<char>) -> Result<(), Failure> {
        if checked.is_some_and(|before| before != letter) {
            return Err(Failure::sentence("options '-cC' are incompatible"));
        }
        *checked = Some(letter);
        self.what = What::Check { quiet: letter == 'C' };
        Ok(())
    }

    /// Checks combinations of flags, when all flags are known.
    fn settle(&mut self) -> Result<(), Failure> {
        if self.files0_from.is_some()
            && let Some(file) = self.files.first()
        {
            let extra = [b"extra operand ", &quoted(file)[..]].concat();
            return Err(Failure::usage(
                [&extra[..], b"\nfile operands cannot be combined with --files0-from"].concat(),
            ));
        }
        self.effective_keys().iter().try_for_each(|key| key.options().check()).map_err(key_failure)?;
        if self.gpu_required && self.gpus == Gpus::None {
            return Err(Failure::sentence("--gpu-required and --no-gpu cannot be used together"));
        }
        let asked = self.gpu_required || matches!(self.gpus, Gpus::These(_));
        if asked && !cfg!(feature = "cuda") {
            return Err(Failure::sentence("this hysort was built without GPU support (feature 'cuda')"));
        }
        if self.files.is_empty() && self.files0_from.is_none() {
            self.files.push(OsString::from("-"));
        }
        Ok(())
    }

    /// Refuses what `-c` does not allow. The names of the files are known by now.
    pub fn settle_check(&self, quiet: bool) -> Result<(), Failure> {
        let letter = if quiet { "C" } else { "c" };
        if let [_, extra, ..] = &self.files[..] {
            let text = [b"extra operand ", &quoted(extra)[..], b" not allowed with -", letter.as_bytes()].concat();
            return Err(Failure::sentence(text));
        }
        match self.output {
            Some(_) => Err(Failure::sentence(format!("options '-{letter}o' are incompatible"))),
            None => Ok(()),
        }
    }
}

/// The letter of `--check=HOW`, where a prefix of HOW is enough.
fn how(value: Option<&OsStr>) -> Result<char, Failure> {
    const HOW: [(&str, char); 3] = [("quiet", 'C'), ("silent", 'C'), ("diagnose-first", 'c')];
    value.map_or(Ok('c'), |value| one_of(&HOW, value, "--check"))
}

/// The letter of `--sort=WORD`.
fn sort_word(value: &OsStr) -> Result<u8, Failure> {
    const WORDS: [(&str, char); 6] = [
        ("general-numeric", 'g'),
        ("human-numeric", 'h'),
        ("month", 'M'),
        ("numeric", 'n'),
        ("random", 'R'),
        ("version", 'V'),
    ];
    one_of(&WORDS, value, "--sort").map(|letter| letter as u8)
}

/// The letter of the only word that begins with `value`; words of the same letter count as one.
fn one_of(words: &[(&str, char)], value: &OsStr, flag: &str) -> Result<char, Failure> {
    let begin = words.iter().filter(|(word, _)| word.as_bytes().starts_with(value.as_bytes()));
    let exact = words.iter().find(|(word, _)| word.as_bytes() == value.as_bytes());
    let letters: Vec<char> = begin.map(|(_, letter)| *letter).collect();
    match (exact, &letters[..]) {
        (Some((_, letter)), _) => Ok(*letter),
        (None, [letter, rest @ ..]) if rest.iter().all(|other| other == letter) => Ok(*letter),
        (None, all) => {
            let why = if all.is_empty() { "invalid" } else { "ambiguous" };
            let mut valid = String::new();
            for same in words.chunk_by(|a, b| a.1 == b.1) {
                let names: Vec<String> = same.iter().map(|(word, _)| format!("'{word}'")).collect();
                valid += &format!("\n  - {}", names.join(", "));
            }
            let before = format!("{why} argument ");
            let after = format!(" for '{flag}'\nValid arguments are:{valid}");
            Err(Failure::usage([before.as_bytes(), &in_plain_quotes(value), after.as_bytes()].concat()))
        }
    }
}

fn completions(shell: &OsStr) -> Result<Request, Failure> {
    let known = shell.to_str().and_then(packaging::completions);
    known.map(|text| Request::Show(text.to_owned())).ok_or_else(|| {
        let why = b" for '--completions': it is bash, zsh or fish";
        Failure::usage([b"invalid argument ", &in_plain_quotes(shell)[..], why].concat())
    })
}

/// The names in the text of `--files0-from`, which is the file `from`.
pub fn names(text: &[u8], from: &OsStr) -> Result<Vec<OsString>, Failure> {
    if text.is_empty() {
        return Err(Failure::sentence([b"no input from ", &quoted(from)[..]].concat()));
    }
    let text = text.strip_suffix(b"\0").unwrap_or(text);
    let mut names = Vec::new();
    for (at, name) in text.split(|&byte| byte == 0).enumerate() {
        if name.is_empty() {
            let place = format!(":{}: invalid zero-length file name", at + 1);
            return Err(Failure::sentence([&crate::names::quoted_if_needed(from)[..], place.as_bytes()].concat()));
        }
        if name == b"-" && from == "-" {
            return Err(Failure::sentence("when reading file names from stdin, no file name of '-' allowed"));
        }
        names.push(OsString::from_vec(name.to_vec()));
    }
    Ok(names)
}
