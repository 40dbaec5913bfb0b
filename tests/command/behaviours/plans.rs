//! Plans that differ from `--plan`'s output, and FIFOs instead of files.

use super::rows;
use super::shards::{checked, mixture, parts};
use crate::place::{Place, text};

rows! {
    "a plan that was changed, even if its checks are right: its CRCs disagree" | "no shards" | "refused by \
     `--join` and `--shard`; rc 1; nothing is written" => plans_that_disagree;
    "2 GB of zeros, or `/dev/zero`, as a plan" | "no shards" | "refused at the first line that is not a plan's, in \
     bounded memory" => endless_plans;
    "a plan through a pipe" | "no shards" | "as from a file" => plans_through_pipes;
    "a FIFO without a writer for `--plan`, `--join`, `--shard`, `--index`" | "no such flags" | "a \
        sentence immediately; rc 1"
        => fifos;
}

/// (`src/cli/modes/plan_file.rs` tests every change at a single place.)
fn plans_that_disagree() {
    let place = Place::with(&[("a", &text(250_000))]);
    parts(&place, "-1 --plan 1");
    let plan = String::from_utf8(place.get("plan")).expect("text");
    let fields = |line: &str| line.rsplit_once('\t').expect("a check").0.to_owned();
    let lines: Vec<String> = plan.lines().filter(|line| !line.starts_with("#number")).map(fields).collect();
    assert_eq!(checked(&lines), plan);
    let mut blocks: Vec<String> = lines.clone();
    blocks[2] = lines[2].replacen("\t1\t", "\t2\t", 1);
    let mut crc = lines.clone();
    crc[4] = "#end\t01234567".to_owned();
    let mut long = lines.clone();
    long[0] += "0";
    for (bad, says) in [
        (blocks, "Plan bad has shards whose CRCs do not give the CRC of the whole."),
        (crc, "Plan bad has shards whose CRCs do not give the CRC of the whole."),
        (long, "Plan bad ends at byte 250000 of 2500000: it is not complete."),
    ] {
        assert_ne!(bad, lines);
        place.put("bad", checked(&bad).as_bytes());
        place.shell("hybz --join=bad part.* -o whole").says(1, says);
        place.shell("hybz --shard=0 --plan-file=bad a -o whole").says(1, says);
        assert!(!place.has("whole"));
    }
}

fn endless_plans() {
    let place = Place::with(&[("a", &mixture())]);
    parts(&place, "-1 --plan 300k");
    place.shell("truncate -s 2G zeros; head -n4 plan > more; truncate -s 2G more").silent(0);
    for (plan, says) in [
        ("zeros", "Plan zeros does not begin as a plan."),
        ("/dev/zero", "Plan /dev/zero does not begin as a plan."),
        ("more", "Plan more has a line that does not follow: `????"),
    ] {
        for command in ["--join=PLAN part.* -o whole", "--shard=0 --plan-file=PLAN a -o whole"] {
            let line = format!("ulimit -v 400000; timeout 20 hybz -p1 {}", command.replace("PLAN", plan));
            place.shell(&line).says(1, says);
        }
    }
    assert!(!place.has("whole"));
}

fn plans_through_pipes() {
    let place = Place::with(&[("a", &mixture())]);
    parts(&place, "-1 --plan 300k");
    place.shell("hybz -1c a > expected").silent(0);
    for slow in ["", "sleep 0.5; ", "head -c20 plan; sleep 0.5; tail -c+21 plan | "] {
        let plan = format!("<({slow}cat {})", if slow.ends_with("| ") { "" } else { "plan" });
        place.shell(&format!("timeout 20 hybz --shard=2 --plan-file={plan} a -c | cmp - part.2")).silent(0);
        place.shell(&format!("timeout 20 hybz --join={plan} part.* -c | cmp - expected")).silent(0);
    }
    place.shell("cat plan | timeout 20 hybz --join=/dev/stdin part.* -c | cmp - expected").silent(0);
    // A FIFO with data in it.
    let fifo = "mkfifo p; exec 3<>p; cat plan >&3; exec 4<p 3>&-; timeout 20 hybz --join=p part.* -c | cmp - expected";
    place.shell(fifo).silent(0);
}

fn fifos() {
    let place = Place::with(&[("a", &mixture())]);
    parts(&place, "-1 --plan 300k");
    place.shell("mkfifo p; hybz -1k a").silent(0);
    let before = place.files();
    let no_disk = "Input file p is not a file on a disk: ";
    for (args, says) in [
        ("--plan=1M p", no_disk),
        ("--join=p part.0 -o x", "Plan p is a FIFO without a writer."),
        ("--shard=0 --plan-file=p a -o x", "Plan p is a FIFO without a writer."),
        ("--join=plan p -o x", "Part p is not a normal file."),
        ("--join=plan --verify p part.* -o x", "Part p is not a normal file."),
        ("-dc --ranges=5@0 --index=p a.bz2", "Index p is not a normal file."),
        ("--recover --index=p a.bz2 -o x", "Index p is not a normal file."),
    ] {
        let run = place.shell(&format!("timeout 20 hybz {args}"));
        assert!(run.stdout.is_empty(), "{args}");
        run.says(1, says);
    }
    assert!(place.files() == before, "{:?}", place.names());
}
