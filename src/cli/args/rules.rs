//! Refuses what the row of a flag does not allow, always in the same words.
//!
//! Conflicts that depend on a value or on the operands are checked where that value is read: `--verify=file` needs
//! files, for example.

use super::plan::{Plan, asked_for};
use super::rows::{Kind, ROWS, Row};
use anyhow::bail;
use std::borrow::Cow;

/// Refuses flags that do not go with the mode, or with each other.
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

/// Refuses each of the flags `others` together with `flag`.
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
    use std::ffi::OsStr;

    /// Flags that need no row, because they go with every mode.
    const EVERYWHERE: &str = "--keep-going --keep --force --small --loadavg --threads --memory --gpu --no-gpu --quiet \
                              --verbose --exponential --sequential -b --help --version --man \
                              --completions";

    fn refused(words: &str) -> Option<String> {
        let parsed = parse(OsStr::new("hybz"), words.split([' ', '+']).map(Into::into), |_| None);
        parsed.err().map(|refusal| refusal.error.to_string())
    }

    /// Which flags each mode takes, and which it refuses.
    #[test]
    #[rustfmt::skip]
    fn flags_and_modes() {
        // Only -z, -d and -t take these, or some of them.
        let files = "-r --filelist=f --output-dir=y --resume --ranges=1@0 --split=1/2 --verify=file";
        let coding = "--format=hbz --format=lz4 --block-size=1M --perturb=9 --stream-size=1M --lines";
        let compressed = "-S.x --rm --index";
        let against = "--against=a";
        let modes = "-d -t -l --recover --bench --measure";
        let disk = "--no-sync --no-sparse";
        let always = "--fail-fast --ignore-trailing-garbage -9";
        for (mode, taken, refused_flags) in [
            ("-z", vec!["-c -oy -r+--exclude=a -r+--cross-file-systems --filelist=f+--null --output-dir=y --resume",
                "--stream-size=1M+--lines --format=bz2 --format=hbz --format=lz4 --block-size=1M --verify=file",
                "--verify --index=i --perturb=9+--perturb-seed=9 --verify=none",
                compressed, disk, always, "--json=r --progress"],
                vec!["--ranges=1@0 --split=1/2 --plan-file=p", against]),
            ("-d", vec!["-c -oy -r --filelist=f --output-dir=y --resume -k+--index -c+--ranges=1@0 --split=1/2+--lines",
                "-S.x --rm --block-size=1M --perturb=9 --verify=none --json=r --progress", disk, always],
                vec!["--format=bz2 --format=hbz --format=lz4 --stream-size=1M --verify --verify=file",
                "--plan-file=p", against]),
            ("-t", vec!["-r --filelist=f --block-size=1M --perturb=9 --verify=none --json=r --progress",
                compressed, disk, always],
                vec!["-c -oy --output-dir=y --resume --ranges=1@0 --split=1/2 --lines --format=bz2 --stream-size=1M",
                "--verify=file --verify --plan-file=p", against]),
            ("-l", vec![compressed, "--ignore-trailing-garbage --verify=none --json --progress"],
                vec!["-c -oy --fail-fast -9 --verify --gpu-required --json=r --against=a --plan-file=p",
                files, coding, disk]),
            ("--recover", vec!["-d -c -oy -S.x --index --verify=none --json --progress", disk],
                vec!["-z -t -l --rm --verify --gpu-required --json=r --against=a",
                "--plan-file=p", files, coding, always]),
            ("--bench", vec!["-z -d --stream-size=1M+--lines --format=hbz --block-size=1M --perturb=9",
                against, always],
                vec!["-t -l --recover -c -oy --format=lz4 --verify=none --verify --json --json=r",
                "--progress --plan-file=p", files, compressed, disk]),
            ("--measure", vec!["-d --json --progress", always],
                vec!["-z -t -l --recover --bench --json=r -c -oy --verify=none --verify",
                "--gpu-required --against=a --plan-file=p", files, coding, compressed, disk]),
            ("--plan=1M", vec!["-z -c -oy --format=bz2 --verify=none --progress", disk, always],
                vec!["--shard=0 --join=p --verify --json=r --plan-file=p",
                modes, files, coding, compressed, against]),
            ("--shard=0 --plan-file=p -oy", vec!["-z --format=bz2 --verify=none --verify --json=r --progress",
                disk, always],
                vec!["--join=p", modes, files, coding, compressed, against]),
            ("--join=p -oy", vec!["-z --format=bz2 --verify=none --verify --progress", disk, always],
                vec!["--json=r --plan-file=p", modes, files, coding, compressed, against]),
        ] {
            for flag in taken.iter().flat_map(|flags| flags.split(' ')) {
                assert_eq!(refused(&format!("{mode} {flag} x")), None, "{mode} {flag}");
            }
            for flag in refused_flags.iter().flat_map(|flags| flags.split(' ')) {
                let text = refused(&format!("{mode} {flag} x")).unwrap_or_else(|| panic!("{mode} {flag}"));
                assert!(text.contains("cannot be used together."), "{mode} {flag}: {text}");
            }
        }
    }

    /// A new flag needs a row, or a place in `EVERYWHERE`; and rows name only flags that have rows.
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
