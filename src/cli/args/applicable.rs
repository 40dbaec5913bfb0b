//! Ignores flags from environment variables that belong to another mode than the call's, as bzip2 ignores `BZIP2=-9`
//! with `-d`. Flags that were typed are never ignored.

use super::environment::Environment;
use super::flags::Flags;
use super::kind::Kind;
use super::operand::Operand;
use super::plan::Plan;
use anyhow::anyhow;
use clap::CommandFactory;
use std::ffi::{OsStr, OsString};

/// The typed words, and the words that precede them.
pub struct Call<'a> {
    pub program: &'a OsStr,
    pub environment: &'a Environment,
    /// The words up to `--`.
    pub typed: &'a [OsString],
    /// The operands after `--`.
    pub more: &'a [Operand],
}

/// A flag from a variable, with its value, and whether it is taken.
struct Unit<'a> {
    words: &'a [OsString],
    variable: &'static str,
    taken: bool,
}

impl Call<'_> {
    /// The plan for a call whose `flags` contradict each other when all are taken; `error` says how.
    pub fn without_other_modes(&self, flags: &Flags, error: anyhow::Error) -> anyhow::Result<Plan> {
        if self.environment.flags.is_empty() {
            return Err(error);
        }
        let this = self.mode(flags);
        let with = |kind: Kind| {
            let words: Vec<&OsStr> = kind.words().iter().chain(&["x"]).map(OsStr::new).collect();
            fitting(self.environment, &words)
        };
        let here = with(this);
        let elsewhere: Vec<_> = Kind::ALL.into_iter().filter(|kind| *kind != this).map(with).collect();
        let mut units = units(self.environment);
        for (number, unit) in units.iter_mut().enumerate() {
            unit.taken = here[number] || !elsewhere.iter().any(|there| there[number]);
        }
        self.plan(&units).map_err(|error| self.named(&mut units, error))
    }

    /// The mode of a call with these flags. If typed flags ask for a mode, they decide.
    fn mode(&self, flags: &Flags) -> Kind {
        let typed = Flags::command().try_get_matches_from(self.typed).ok();
        let typed = typed.and_then(|mut found| Flags::from_matches(&mut found).ok());
        typed.and_then(|typed| Kind::asked_for(&typed)).unwrap_or_else(|| Kind::of(self.program, flags))
    }

    /// The error, with the flag from a variable that causes it, if there is one.
    fn named(&self, units: &mut [Unit<'_>], error: anyhow::Error) -> anyhow::Error {
        let taken: Vec<bool> = units.iter().map(|unit| unit.taken).collect();
        units.iter_mut().for_each(|unit| unit.taken = false);
        if self.plan(units).is_err() {
            return error;
        }
        for (number, taken) in taken.into_iter().enumerate() {
            units[number].taken = taken;
            if self.plan(units).is_err() {
                let Unit { words, variable, .. } = units[number];
                let words = words.join(OsStr::new(" "));
                return anyhow!("{error} (The environment variable {variable} has `{}'.)", words.display());
            }
        }
        error
    }

    fn plan(&self, units: &[Unit<'_>]) -> anyhow::Result<Plan> {
        let taken = units.iter().filter(|unit| unit.taken).flat_map(|unit| unit.words);
        let words: Vec<&OsStr> = taken.chain(self.typed).map(OsString::as_os_str).collect();
        plan(self.program, &words, self.more, &self.environment.ignored_words)
    }
}

/// Which flags of the variables can precede these words, alone or with others: a flag may need one that comes after it.
fn fitting(environment: &Environment, words: &[&OsStr]) -> Vec<bool> {
    let mut units = units(environment);
    let fits = |units: &[Unit<'_>], number: usize, with_others: bool| {
        let taken = |at: usize| at == number || (with_others && units[at].taken);
        let taken = (0..units.len()).filter(|at| taken(*at)).flat_map(|at| units[at].words);
        let all: Vec<&OsStr> = taken.map(OsString::as_os_str).chain(words.iter().copied()).collect();
        plan(OsStr::new("hybz"), &all, &[], &[]).is_ok()
    };
    loop {
        let next =
            |number: &usize| !units[*number].taken && (fits(&units, *number, false) || fits(&units, *number, true));
        match (0..units.len()).find(next) {
            Some(number) => units[number].taken = true,
            None => return units.iter().map(|unit| unit.taken).collect(),
        }
    }
}

fn units(environment: &Environment) -> Vec<Unit<'_>> {
    let mut units: Vec<Unit<'_>> = Vec::new();
    let mut rest = &environment.flags[..];
    let mut variables = &environment.variables[..];
    for &len in &environment.lengths {
        let (words, others) = rest.split_at(len);
        units.push(Unit { words, variable: variables[0], taken: false });
        (rest, variables) = (others, &variables[len..]);
    }
    units
}

fn plan(program: &OsStr, words: &[&OsStr], more: &[Operand], ignored: &[String]) -> anyhow::Result<Plan> {
    let mut found = Flags::command().try_get_matches_from(words)?;
    let flags = Flags::from_matches(&mut found)?;
    let operands = flags.files.iter().map(|file| Operand::typed(file)).chain(more.iter().cloned()).collect();
    Plan::new(program, &flags, operands, ignored.to_vec())
}
