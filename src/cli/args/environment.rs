//! Flags in environment variables, which come before those of the command line.

use super::flags::Flags;
use super::plan::{Plan, asked_for, kind};
use super::rows;
use anyhow::anyhow;
use clap::{Arg, Command};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

const VARIABLES: [&str; 3] = ["BZIP2", "BZIP", "HYBZ"];

/// A flag in a variable: one word, or two if the flag's value is a separate word.
pub struct Unit {
    pub words: Vec<OsString>,
    pub variable: &'static str,
}

#[derive(Default)]
pub struct Environment {
    pub units: Vec<Unit>,
    pub ignored_words: Vec<String>,
}

impl Environment {
    pub fn is_empty(variable: impl Fn(&str) -> Option<OsString>) -> bool {
        VARIABLES.iter().all(|name| variable(name).is_none())
    }

    /// Reads the variables. A word that is neither a flag of `command` nor a flag's value is ignored: some builds set
    /// `BZIP2=pbzip2` to name a program, and bzip2 would take `pbzip2` for a file, compress it and delete it.
    pub fn read(command: &Command, variable: impl Fn(&str) -> Option<OsString>) -> Environment {
        let mut environment = Environment::default();
        for name in VARIABLES {
            let Some(value) = variable(name) else { continue };
            let mut value_follows = false;
            for word in value.as_bytes().split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
                let is_flag = word[0] == b'-' && word != b"-" && word != b"--";
                let owned = || OsString::from_vec(word.to_vec());
                match environment.units.last_mut().filter(|_| value_follows) {
                    Some(unit) => unit.words.push(owned()),
                    None if is_flag => environment.units.push(Unit { words: vec![owned()], variable: name }),
                    None => environment.ignored_words.push(format!(
                        "`{}' in the environment variable {name} is not a flag: ignored",
                        String::from_utf8_lossy(word)
                    )),
                }
                value_follows = is_flag && takes_next_word(command, word);
            }
        }
        environment
    }

    pub fn words(&self) -> impl Iterator<Item = &OsString> + Clone {
        self.units.iter().flat_map(|unit| &unit.words)
    }

    /// The variable that contains word number `word`.
    pub fn variable(&self, word: usize) -> Option<&'static str> {
        self.units.iter().flat_map(|unit| unit.words.iter().map(|_| unit.variable)).nth(word)
    }

    /// Ignores the flags that do not suit the call, as bzip2 ignores `BZIP2=-9` with `-d`: those that the call's mode
    /// does not take, `--index` if `-d` removes the indexed file, and those that need a flag which is not there. Flags
    /// that were typed are never ignored, and a mode that was typed takes precedence. Returns the flags that remain;
    /// `all` has the flags of all words.
    pub fn keep_suitable(
        &mut self,
        command: &mut Command,
        program: &OsStr,
        typed: &[OsString],
        all: Flags,
    ) -> Result<Flags, clap::Error> {
        if self.units.is_empty() {
            return Ok(all);
        }
        let asked = Flags::read(command, typed).ok().and_then(|typed| asked_for(&typed));
        let kind = asked.unwrap_or_else(|| kind(program, &all));
        let may_index = Plan::unchecked(kind, program, all, Vec::new()).keeps_compressed();
        let mut keep = |command: &mut Command, suits: &dyn Fn(&Flags) -> bool| {
            self.units.retain(|unit| Flags::read(command, &unit.words).map_or(true, |flags| suits(&flags)));
            Flags::read(command, self.words().chain(typed))
        };
        let taken = keep(command, &|flags| rows::are_taken(flags, kind) && (may_index || flags.index.is_none()))?;
        keep(command, &|flags| !rows::lack(flags, &taken))
    }

    /// The error, with the flag in a variable that causes it, if one does. `plan` makes a plan from the words that it
    /// is given and the typed ones.
    pub fn named(
        &self,
        error: anyhow::Error,
        mut plan: impl FnMut(&[&OsString]) -> anyhow::Result<()>,
    ) -> anyhow::Error {
        let mut words = Vec::new();
        if plan(&words).is_err() {
            return error;
        }
        for unit in &self.units {
            words.extend(&unit.words);
            if plan(&words).is_err() {
                let words = unit.words.join(OsStr::new(" "));
                return anyhow!("{error} (The environment variable {} has `{}'.)", unit.variable, words.display());
            }
        }
        error
    }
}

fn takes_next_word(command: &Command, word: &[u8]) -> bool {
    let word = String::from_utf8_lossy(word);
    with_value(command).any(|arg| match word.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => arg.get_short_and_visible_aliases().unwrap_or_default().iter().any(|short| word.ends_with(*short)),
    })
}

fn with_value(command: &Command) -> impl Iterator<Item = &Arg> {
    let has_value = |arg: &&Arg| arg.get_action().takes_values() && !arg.is_require_equals_set();
    command.get_arguments().filter(|arg| !arg.is_positional()).filter(has_value)
}

/// How often `-q` occurs among `words`, which clap has refused.
pub fn quietness<'a>(command: &Command, words: impl Iterator<Item = &'a OsString> + Clone) -> u8 {
    let long = words.clone().filter(|word| *word == "--quiet").count();
    u8::try_from(count(command, words, 'q') + long).unwrap_or(u8::MAX)
}

pub fn count<'a>(command: &Command, words: impl Iterator<Item = &'a OsString>, short: char) -> usize {
    let takes_value = |letter| {
        with_value(command).any(|arg| arg.get_short_and_visible_aliases().unwrap_or_default().contains(&letter))
    };
    let count = words.map(|word| {
        let word = word.to_string_lossy();
        match word.strip_prefix('-') {
            Some(cluster) if !cluster.starts_with('-') => {
                cluster.chars().take_while(|&letter| !takes_value(letter)).filter(|&letter| letter == short).count()
            }
            _ => 0,
        }
    });
    count.sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn quiet_words() {
        for (line, count) in
            [("", 0), ("-q", 1), ("-qq -Z", 2), ("-vqZq", 2), ("--quiet -q", 2), ("-oqq -pq", 0), ("qq --qq", 0)]
        {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert_eq!(quietness(&Flags::command(), words.iter()), count, "{line}");
        }
    }
}
