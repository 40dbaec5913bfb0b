//! Refuses what the row of a flag does not allow, always in the same words.
//!
//! Conflicts that depend on a value or on the operands are checked where that value is read: `--verify=file` needs
//! files, for example.

use super::plan::{Plan, asked_for};
use super::rows::{Kind, ROWS, Row};
use anyhow::bail;
use std::borrow::Cow;

pub fn check(plan: &Plan) -> anyhow::Result<()> {
    let mode = plan.kind;
    for row in ROWS.iter().filter(|row| !row.is_taken_by(mode)) {
        let Some(flag) = spelling(plan, row) else { continue };
        if row.only && asked_for(plan).is_none() {
            let modes: Vec<&str> = row.modes.iter().map(|mode| mode.flag()).collect();
            bail!("{flag} works only with {}.", listed(&modes));
        }
        bail!("{flag} and {} cannot be used together.", mode.flag());
    }
    if let Some(Row { name, needs, .. }) = ROWS.iter().find(|row| row.lacks(plan)) {
        bail!("{name} works only with {}.", listed(needs));
    }
    for row in ROWS.iter().filter(|row| (row.is_given)(plan)) {
        refuse(plan, row.name, row.excludes)?;
    }
    Ok(())
}

pub fn refuse(plan: &Plan, flag: &str, others: &[&str]) -> anyhow::Result<()> {
    let rows = others.iter().filter_map(|name| ROWS.iter().find(|row| row.name == *name));
    match rows.filter_map(|row| spelling(plan, row)).next() {
        Some(other) => bail!("{flag} and {other} cannot be used together."),
        None => Ok(()),
    }
}

/// The flag, or the program's name that stands for it, if either is given.
fn spelling<'a>(plan: &'a Plan, row: &Row) -> Option<Cow<'a, str>> {
    let is_typed = (row.is_given)(plan);
    match plan.name_means(row.name) {
        // bzip2 says "-c and -t", whatever it is called.
        by_name if is_typed || by_name && plan.kind == Kind::Test => Some(row.name.into()),
        by_name => by_name.then(|| plan.program.to_string_lossy()),
    }
}

/// `a`, `a and b`, `a, b and c`.
fn listed(words: &[&str]) -> String {
    match words {
        [others @ .., last] if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => words.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::flags::Flags;
    use super::super::parse;
    use super::*;
    use clap::{Arg, CommandFactory};
    use std::ffi::{OsStr, OsString};

    /// Flags that need no row, because they go with every mode.
    const EVERYWHERE: &str = "--keep-going --keep --force --small --loadavg --threads --memory --gpu --no-gpu --quiet \
                              --verbose --exponential --sequential -b --help --version --man --completions";

    const MODES: &str = "-z -d -t -l --recover --bench --measure --plan=1M --shard=0 --join=p";

    /// The modes that take these flags; the others refuse them.
    #[test]
    fn flags_and_modes() {
        for (taking, flags) in [
            ("-z -d --recover --plan=1M --shard=0 --join=p", "-c -oy"),
            ("-z -d -t", "-r --cross-file-systems --filelist=f --null --exclude=a"),
            ("-z -d", "--output-dir=y --resume"),
            ("-z -d -t --bench --measure --plan=1M --shard=0 --join=p", "--fail-fast -9"),
            ("-z -d -t -l", "--rm"),
            ("-z -d -t -l --recover", "-S.x --index --index=i"),
            ("-z -d -t --recover --plan=1M --shard=0 --join=p", "--no-sync --no-sparse"),
            ("-z -d -t -l --bench --measure --plan=1M --shard=0 --join=p", "--ignore-trailing-garbage"),
            ("-d", "--ranges=1@0 --split=1/2"),
            ("-z -d --bench", "--lines"),
            ("-z --bench --plan=1M --shard=0 --join=p", "--format=bz2"),
            ("-z --bench", "--format=hbz --stream-size=1M"),
            ("-z", "--format=lz4 --verify=file"),
            ("-z -d -t --bench", "--block-size=1M --perturb=9 --perturb-seed=9"),
            ("-z -d -t -l --recover --plan=1M --shard=0 --join=p", "--verify=none"),
            ("-z --shard=0 --join=p", "--verify"),
            ("-z -d -t --bench --plan=1M --shard=0 --join=p", "--gpu-required"),
            ("-z -d -t -l --recover --bench --measure --plan=1M --shard=0 --join=p", "--gpu-pipeline=bwt"),
            ("-z -d -t -l --recover --measure --shard=0", "--json"),
            ("-z -d -t --shard=0", "--json=r"),
            ("-z -d -t -l --recover --measure --plan=1M --shard=0 --join=p", "--progress"),
            ("--bench", "--against=a"),
            ("--recover --bench --measure", "-d"),
            ("--bench --plan=1M --shard=0 --join=p", "-z"),
            ("", "-t -l --recover --bench --measure --plan=1M --shard=0 --join=p"),
        ] {
            for flag in flags.split(' ') {
                // The last of the first four modes wins.
                let some = if MODES.contains(flag) { 4 } else { 0 };
                for mode in MODES.split(' ').skip(some).filter(|mode| *mode != flag) {
                    let words = [mode, flag, "x"].map(OsString::from).into_iter();
                    let refused = parse(OsStr::new("hybz"), words, |_| None).err();
                    let text = refused.map(|refusal| refusal.error.to_string()).unwrap_or_default();
                    let is_taken = taking.split(' ').any(|taking| taking == mode);
                    assert_eq!(!text.contains("cannot be used together."), is_taken, "{mode} {flag}: {text}");
                }
            }
        }
    }

    /// A new flag needs a row, or an entry in `EVERYWHERE`; and rows name only flags that have rows.
    #[test]
    fn every_flag_has_its_place() {
        let rows: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
        for name in ROWS.iter().flat_map(|row| row.needs.iter().chain(row.excludes)) {
            assert!(rows.contains(name), "{name} has no row");
        }
        let known = rows.iter().flat_map(|row| row.split(['=', ' '])).chain(EVERYWHERE.split(' '));
        let known: Vec<&str> = known.collect();
        let shown = |arg: &Arg| {
            let short = arg.get_short().filter(|short| !matches!(short, '2'..='8'));
            let long = arg.get_long().map(|long| format!("--{long}"));
            long.into_iter().chain(short.map(|short| format!("-{short}"))).collect::<Vec<_>>()
        };
        for arg in Flags::command().get_arguments().filter(|arg| !arg.is_positional()) {
            let names = shown(arg);
            assert!(names.is_empty() || names.iter().any(|name| known.contains(&&**name)), "{names:?} has no row");
        }
    }
}
