//! Refuses combinations that depend on the values of flags or on the operands. (`rules` refuses the others.)

use super::coding::{Coding, LARGE_FLAGS};
use super::flags::Flags;
use super::plan::{Gpus, Operand, Plan, Target, kind};
use super::ranges::Amount;
use super::rows::{Kind, is_given};
use super::{Recovery, rules};
use anyhow::{Result, bail};
use hybz::{Encoding, Format};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

pub fn plan(program: &OsStr, flags: Flags, operands: Vec<Operand>) -> Result<Plan> {
    let coding = Coding::new(&flags);
    let mut plan = Plan::unchecked(kind(program, &flags), program, flags, operands);
    rules::check(&plan)?;
    let codes = matches!(plan.kind, Kind::Compress | Kind::Bench | Kind::Plan | Kind::Shard);
    plan.coding = Some(coding?).filter(|_| codes);
    check(&plan)?;
    Ok(plan)
}

fn check(plan: &Plan) -> Result<()> {
    if plan.output.is_some() && plan.typed > 1 && plan.kind != Kind::Join {
        bail!("-o takes the result of one input file, not of {}.", plan.typed);
    }
    match plan.kind {
        Kind::Compress | Kind::Decompress | Kind::Test => {
            files(plan)?;
            index(plan)?;
        }
        Kind::List => index(plan)?,
        Kind::Recover => {
            recover(plan)?;
            index(plan)?;
        }
        Kind::Bench => bench(plan)?,
        Kind::Measure => {}
        Kind::Plan => one_file(plan)?,
        Kind::Shard => {
            let Some(shards) = &plan.plan_file else { bail!("--shard expects a plan: --plan-file PLAN.") };
            one_file(plan)?;
            named_target(plan, shards)?;
            files(plan)?;
        }
        Kind::Join => {
            no(plan.operands.len() > 1 && plan.reads_stdin(), "--join reads files, not standard input.")?;
            named_target(plan, plan.join.as_deref().unwrap_or_default())?;
        }
    }
    suffix(plan)?;
    gpus(plan)
}

fn no(is_wrong: bool, text: &str) -> Result<()> {
    if is_wrong { bail!("{text}") } else { Ok(()) }
}

/// Refuses what does not go together when each file is processed by itself.
fn files(plan: &Plan) -> Result<()> {
    let is = |name: &Option<OsString>, expected: &str| name.as_ref().is_some_and(|name| name == expected);
    let (none, stdin) = (plan.typed == 0 && plan.filelist.is_none(), plan.reads_stdin());
    // The report and the data cannot share stdout, and the report and the lines of `-vv` cannot share stderr.
    let data_on_stdout = plan.target == Target::Stdout || plan.target == Target::Beside && stdin;
    let is_lines = |amount| matches!(amount, Amount::Lines(_));
    let ranges = plan.ranges.as_ref().map_or(&[][..], |ranges| &ranges.0);
    let by_line = ranges.iter().any(|range| is_lines(range.size) || is_lines(range.offset));
    for (is_wrong, text) in [
        (is(&plan.filelist, ""), "--filelist expects the name of a file, or -."),
        (is(&plan.output_dir, ""), "--output-dir expects the name of a directory."),
        (is(&plan.filelist, "-") && stdin, "--filelist - reads the list from stdin, which is also an input file."),
        (none && plan.recursive, "-r expects the name of a directory."),
        (none && plan.resume, "--resume expects the names of files."),
        (plan.output_dir.is_some() && stdin, "--output-dir expects files: the result of stdin has no name."),
        (is(&plan.json, "") && plan.verbose > 1, "--json and -vv cannot be used together: use --json=FILE."),
        (is(&plan.json, "-") && data_on_stdout, "--json=- and a result on standard output cannot be used together."),
        (
            plan.rereads && plan.target == Target::Stdout,
            "--verify=file reads the result again from the disk: it cannot be used together with -c.",
        ),
        (
            plan.rereads && stdin,
            "--verify=file reads the input file again from the disk: it cannot be used with stdin.",
        ),
        (
            plan.rereads && plan.no_sync,
            "--verify=file reads what is on the disk: it cannot be used together with --no-sync.",
        ),
        (
            !ranges.is_empty() && plan.target == Target::Beside,
            "--ranges gives a part of the text: use it with -c or -o.",
        ),
        (plan.lines && by_line, "--lines and ranges of lines (L) cannot be used together."),
        (
            !ranges.is_empty() && stdin && plan.operands.len() > 1,
            "--ranges reads stdin only if it is the one input file.",
        ),
    ] {
        no(is_wrong, text)?;
    }
    Ok(())
}

/// Refuses an index that belongs to no file or has no name.
fn index(plan: &Plan) -> Result<()> {
    if plan.index.is_none() {
        return Ok(());
    }
    match plan.coding.map(|coding| coding.encoding) {
        Some(Encoding::Hbz(_)) => bail!("A .hbz file contains its own index: --index works only with .bz2."),
        Some(Encoding::Perturbed { .. }) => bail!("--index and --perturb cannot be used together."),
        _ => {}
    }
    let (is_named, inputs) = (plan.names_index(), plan.operands.len());
    if is_named && inputs > 1 {
        bail!("--index=FILE is the index of one file, not of {inputs}.");
    }
    if plan.writes_index() && !plan.keeps_compressed() {
        bail!("The index is of the compressed file: use -d --index with -k, -c or -o.");
    }
    // The index is named after the compressed file.
    let unnamed = match (plan.kind, &plan.target) {
        (Kind::Compress, Target::File(_)) => None,
        (Kind::Compress, Target::Stdout) => Some("-c"),
        _ => plan.reads_stdin().then_some("standard input"),
    };
    match unnamed.filter(|_| !is_named) {
        Some(what) if plan.has_many() => {
            bail!("--index and {what} cannot be used together for several files: their indexes need names.")
        }
        Some(_) => bail!("The index needs a name: use --index=FILE."),
        None => Ok(()),
    }
}

fn recover(plan: &Plan) -> Result<()> {
    let named = plan.target != Target::Beside;
    no(!named && plan.reads_stdin(), "The result of recovering stdin needs a name: use -o or -c.")?;
    let is_split = plan.recover == Some(Recovery::Split);
    no(named && is_split, "--recover=split makes several files: it takes neither -c nor -o.")?;
    let shared = plan.target == Target::Stdout && plan.json.is_some();
    no(shared, "--json prints to standard output: use --recover with -o, not with -c.")
}

fn bench(plan: &Plan) -> Result<()> {
    no(plan.reads_stdin(), "--bench reads files, not standard input.")?;
    if plan.decompress {
        let coding = "--format=bz2 --format=hbz --format=lz4 --stream-size --block-size --perturb";
        rules::refuse(plan, "-d", &coding.split(' ').collect::<Vec<_>>())?;
    }
    let Some(against) = &plan.against else { return Ok(()) };
    no(against.split(',').any(str::is_empty), "--against expects programs such as lbzip2,pbzip2.")?;
    if plan.coding.is_some_and(|coding| coding.large_blocks().is_some()) || plan.perturb.is_some() {
        bail!("--against works only with .bz2 output: it cannot be used together with {LARGE_FLAGS}.");
    }
    Ok(())
}

fn one_file(plan: &Plan) -> Result<()> {
    match plan.operands[..] {
        [Operand::File(_)] => Ok(()),
        _ => bail!("{} expects one file.", plan.kind.flag()),
    }
}

/// Requires a target that is not named after its source, and that is not the file `shards`.
fn named_target(plan: &Plan, shards: &OsStr) -> Result<()> {
    let flag = plan.kind.flag();
    match &plan.target {
        Target::File(result) if result == shards => bail!("{flag} and -o cannot name the same file."),
        Target::Beside => bail!("{flag} expects a name for its result: -o FILE, or -c for standard output."),
        _ => Ok(()),
    }
}

fn suffix(plan: &Plan) -> Result<()> {
    let Some(suffix) = &plan.suffix else { return Ok(()) };
    let shown = suffix.display();
    if suffix.is_empty() || suffix.as_bytes().contains(&b'/') {
        bail!("-S expects a suffix such as .bz2, not `{shown}'.");
    }
    // A usual suffix without its dot.
    let mut known = Format::all_read().flat_map(Format::suffixes);
    if known.any(|(known, _)| known.as_bytes().strip_prefix(b".") == Some(suffix.as_bytes())) {
        bail!("-S {shown} would make a{shown} of a: use -S .{shown}.");
    }
    Ok(())
}

fn gpus(plan: &Plan) -> Result<()> {
    if plan.gpu_required && plan.gpus == Gpus::None {
        let forbids = match () {
            () if plan.no_gpu => "--no-gpu",
            () if plan.small => "-s",
            () => "--gpu none",
        };
        bail!("--gpu-required and {forbids} cannot be used together.");
    }
    let asked = plan.gpu_required || is_given("--gpu-pipeline", plan) || matches!(plan.gpus, Gpus::These(_));
    no(asked && !cfg!(feature = "cuda"), "This hybz was built without GPU support (feature `cuda').")
}
