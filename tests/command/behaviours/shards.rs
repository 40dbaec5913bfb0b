//! One file compressed in parts. bzip2 has nothing like it.

use super::rows;
use crate::place::{Place, compressed, noise, text};
use crate::skip::{Need, skip};
use hybz::internals::crc::Crc;
use hybz::shard::{Joiner, Part, Shard};
use hybz::{Level, Settings};
use hybz_testkit::rounds;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

rows! {
    "`--plan`, `--shard`, `--join`" | "no shards" | "the bytes of the whole file compressed in one call" => joined;
    "thousands of parts, 16 descriptors" | "no shards" | "joined" => many_parts;
    "`--shard` and `--join` killed at any time" | "no shards" | "no file under the name, or a complete one; again is \
     enough" => killed;
    "where no thread can be started" | "no shards" | "the same" => without_threads;
    "parts in any order; made twice; of equal text" | "no shards" | "the same" => any_order;
    "a part missing, doubled, foreign, cut" | "no shards" | "named; rc 1; nothing is written" => wrong_parts;
    "`--join --verify` of a damaged part" | "no shards" | "named; rc 1; nothing is written" => damaged_parts;
    "a part that is written to while it is joined" | "no shards" | "named; rc 1; the result gets no name"
        => changed_parts;
    "`>>` onto the file to plan, a part, the plan, or the file to recover" | "-" | "rc 1; nothing is written"
        => onto_inputs;
    "a file that has changed since its plan" | "no shards" | "rc 1; no part" => changed_files;
    "plans that are cut, or no plans" | "no shards" | "a sentence; rc 1" => wrong_plans;
    "flags that do not go with shards" | "-" | "a sentence; rc 1; nothing is written" => nonsense;
}

/// Text with runs, some of which cross the ends of blocks.
pub fn mixture() -> Vec<u8> {
    let mut all = Vec::new();
    for round in 0..25 {
        all.extend(text(80_000 + 777 * round));
        all.extend(vec![b'r'; 10 + 97 * round]);
        all.extend(noise(9_000));
    }
    all
}

/// The plan and the parts of `a`.
pub fn parts(place: &Place, flags: &str) -> usize {
    place.shell(&format!("hybz {flags} a > plan")).silent(0);
    let count = place.shell("grep -vc '^#' plan; true").out().trim().parse().unwrap();
    place.shell(
        "for n in $(grep -v '^#' plan | cut -f1); do hybz --shard=$n --plan-file=plan a -o part.$n || exit; done",
    );
    count
}

fn joined() {
    for (level, size, content) in [
        (1, "1", mixture()),
        (1, "300k", mixture()),
        (5, "1", mixture()),
        (9, "1M", mixture()),
        (9, "1T", mixture()),
        (1, "1", text(10)),
        (1, "1", Vec::new()),
    ] {
        let place = Place::with(&[("a", &content)]);
        let count = parts(&place, &format!("-{level} --plan {size}"));
        assert_eq!(count == 0, content.is_empty());
        place.shell("hybz --join=plan $(ls | grep part) -o whole.bz2").silent(0);
        let whole = place.hybz(&[&format!("-{level}c"), "a"]).silent(0).stdout;
        assert!(place.get("whole.bz2") == whole, "{level} {size}");
        assert!(place.has("a"), "kept");
        place.shell("hybz --join plan $(ls | grep part) -c | cmp - whole.bz2").silent(0);
    }
    // Lines appear while `--plan` runs, and `-o` writes them to a file.
    let place = Place::with(&[("a", &mixture())]);
    place.shell("hybz -1 --plan 300k a | head -n3 | grep -c . && hybz -1 --plan 300k -o plan a").silent(0);
    place.shell("hybz -1 --plan 300k a | cmp - plan").silent(0);
    place.hybz(&["-1", "--plan", "300k", "-o", "plan", "a"]).says(1, "Output file plan already exists.");
}

/// The lines of a plan with their checks, and the line of names.
pub fn checked(lines: &[String]) -> String {
    let (mut crc, mut plan) = (Crc::new(), String::new());
    for (number, line) in lines.iter().enumerate() {
        crc.update(format!("{line}\n").as_bytes());
        plan += &format!("{line}\t{:08x}\n", crc.finish());
        if number == 0 {
            plan += "#number\toffset\tlength\tblocks\tcrc\tcheck\n";
        }
    }
    plan
}

/// A plan made by hand: each shard has a short text, which is one block, although `--plan` would never cut so.
fn many_parts() {
    let count = rounds(2_000, 10_000);
    let place = Place::new();
    let (mut plan, mut whole, mut joiner) = (vec![String::new()], Vec::new(), Joiner::new(Level::FASTEST, Vec::new()));
    let settings = Settings::new().level(Level::FASTEST);
    for number in 0..count {
        let text = format!("The text of shard {number}.\n").into_bytes();
        let part = hybz::compress(&text, &settings).unwrap();
        let shard = Shard::new(number as u64, whole.len() as u64, text.len() as u64, 1, Part::open(&part).unwrap().crc);
        plan.push(format!("{number}\t{}\t{}\t1\t{:08x}", shard.offset, shard.length, shard.crc));
        joiner.part(&shard, &part).unwrap();
        place.put(format!("part.{number}"), &part);
        whole.extend(text);
    }
    plan[0] = format!("#hybz-plan-2\t1\t{}", whole.len());
    plan.push(format!("#end\t{:08x}", joiner.crc()));
    place.put("plan", checked(&plan).as_bytes());
    place.put("a", &whole);
    let joined = joiner.finish().unwrap().0;
    // The number of descriptors does not grow with that of parts.
    let run = "ulimit -n 16; hybz -p2 --join";
    place.shell(&format!("{run}=plan $(ls part.* | sort -R) -o whole.bz2 && hybz -dc whole.bz2 | cmp - a")).silent(0);
    assert!(place.get("whole.bz2") == joined);
    place.shell(&format!("{run}=plan --verify part.* -c | cmp - whole.bz2")).silent(0);
    // One of the shards is compressed again.
    place.shell("ulimit -n 16; hybz --shard=1654 --plan-file=plan a -c | cmp - part.1654").silent(0);
    place.shell("rm part.77 part.1999; cp part.5 part.x").silent(0);
    let run = place.shell(&format!("{run}=plan part.* -o new.bz2"));
    assert!(run.stderr.contains(" shards: 77, 1999.\n") && run.stderr.lines().count() == 2, "{run:?}");
    assert!(run.code == 1 && !place.has("new.bz2"));
}

fn killed() {
    let place = Place::with(&[("a", &mixture())]);
    let count = parts(&place, "-1 --plan 300k");
    place.shell("mkdir good; mv part.* good; hybz -1c a > good/whole.bz2").silent(0);
    let mut delay = 1u64;
    // Kills the call after a random time, again and again; every file that exists is complete.
    let mut kill = |args: &[&str], result: &str| {
        for _ in 0..6 {
            delay = delay.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let mut child = place.called("hybz").args(args).stderr(Stdio::null()).spawn().expect("hybz");
            sleep(Duration::from_micros((delay >> 33) % 30_000));
            child.kill().expect("SIGKILL");
            child.wait().expect("its end");
            assert!(!place.has(result) || place.get(result) == place.get(format!("good/{result}")), "{result}");
        }
    };
    for number in 0..count {
        let (number, result) = (number.to_string(), format!("part.{number}"));
        kill(&["--shard", &number, "--plan-file=plan", "a", "-o", &result], &result);
    }
    place
        .shell("for n in $(grep -v '^#' plan | cut -f1); do hybz -f --shard=$n --plan-file=plan a -o part.$n; done")
        .silent(0);
    let parts: Vec<String> = (0..count).map(|number| format!("part.{number}")).collect();
    let words: Vec<&str> = ["--join=plan", "-o", "whole.bz2"].into_iter().chain(parts.iter().map(|p| &**p)).collect();
    kill(&words, "whole.bz2");
    place.shell("hybz -f --join=plan part.* -o whole.bz2 && cmp whole.bz2 good/whole.bz2").silent(0);
    let mut names = [&parts[..], &["a", "good", "plan", "whole.bz2"].map(str::to_owned)].concat();
    names.sort();
    assert_eq!(place.names(), names, "no other file is left");
}

fn without_threads() {
    let place = Place::with(&[("a", &mixture())]);
    parts(&place, "-1 --plan 300k");
    place.shell("hybz -1c a > whole").silent(0);
    let alone = "chmod 755 .; setpriv --reuid=65534 --clear-groups prlimit --nproc=1";
    if place.shell(&format!("{alone} hybz -V")).code != 0
        || place.shell(&format!("{alone} sh -c 'true | true'")).code == 0
    {
        return skip(Need::System, "no root, setpriv or prlimit");
    }
    for (line, expected) in [
        ("hybz -1 --plan 300k a", "plan"),
        ("hybz --join=plan part.* -c", "whole"),
        ("hybz --join=plan --verify part.* -c", "whole"),
        ("hybz --shard=2 --plan-file=plan a -c", "part.2"),
    ] {
        let run = place.shell(&format!("{alone} {line}")).silent(0);
        assert!(run.stdout == place.get(expected), "{line}");
    }
    place.shell("cp whole a; chmod 644 a").silent(0);
    let run = place.shell(&format!("{alone} hybz -c --stream-size=100k a")).silent(0);
    assert_eq!(run.stdout, place.hybz(&["-c", "--stream-size=100k", "a"]).stdout);
}

fn any_order() {
    // The first three shards have equal texts.
    let block = text(99_981);
    let place = Place::with(&[("a", &[&block[..], &block, &block, &text(250_000)].concat())]);
    let count = parts(&place, "-1 --plan 1");
    assert_eq!(count, 6);
    place.shell("hybz -1c a > whole").silent(0);
    place.shell("hybz --join plan $(ls -r | grep part) -o b && cmp b whole").silent(0);
    // Another machine makes one part again, with one thread, or verified.
    place
        .shell("for more in -p1 --verify; do hybz $more --shard 3 --plan-file plan a -c | cmp - part.3; done")
        .silent(0);
    place.hybz(&["--shard=3", "--plan-file=plan", "a", "-o", "part.3"]).says(1, "Output file part.3 already exists.");
    place.hybz(&["-f", "--shard=3", "--plan-file=plan", "a", "-o", "part.3"]).silent(0);
    place.shell("bzip2 -tv part.* || hybz -tv part.*").says(0, "ok");
}

fn wrong_parts() {
    let place = Place::with(&[("a", &mixture()), ("other", &noise(100_000))]);
    let count = parts(&place, "-1 --plan 1");
    place.shell("hybz -1k other; hybz -9c a > nine; head -c-1 part.2 > cut; (cat part.2; echo) > longer").silent(0);
    let before = place.names();
    let missing = format!("hybz: No part for 2 of {count} shards: 0, {}.", count - 1);
    let one = format!("hybz: No part for 1 of {count} shards: 3.");
    for (parts, says) in [
        (format!("$(ls part.* | grep -vxE 'part.(0|{})')", count - 1), &missing[..]),
        ("$(ls part.* | grep -vw part.3)".to_owned(), &one),
        ("part.* ./part.3".to_owned(), "hybz: Part ./part.3 belongs to shard 3, and so does part.3."),
        (
            "part.* other.bz2".to_owned(),
            "hybz: Part other.bz2 belongs to no shard of the plan: it belongs to another plan, or",
        ),
        ("part.* nine".to_owned(), "hybz: Part nine has level 9, but the plan has level 1."),
        ("$(ls part.* | grep -vw part.2) cut".to_owned(), "hybz: Part cut does not end as a .bz2 file"),
        ("part.* longer".to_owned(), "hybz: Part longer does not end as a .bz2 file"),
        ("part.* a".to_owned(), "hybz: Part a is not a .bz2 file."),
        ("part.* none".to_owned(), "hybz: Can't open input file none: No such file or directory."),
        ("part.* .".to_owned(), "hybz: Part . is not a normal file."),
        ("part.2".to_owned(), " shards: 0, 1, 3, 4, 5, "),
        (String::new(), " shards: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and others.\n"),
    ] {
        place.shell(&format!("hybz --join plan {parts} -o whole")).says(1, says);
        assert_eq!(place.names(), before, "{parts}");
        let run = place.shell(&format!("hybz --join plan {parts} -c"));
        assert!(run.stdout.is_empty() && run.code == 1, "{parts}");
    }
}

fn damaged_parts() {
    let place = Place::with(&[("a", &mixture())]);
    parts(&place, "-1 --plan 300k");
    place.shell("hybz -1c a > expected; hybz --join plan --verify part.* -o whole && cmp whole expected").silent(0);
    let mut bad = place.get("part.1");
    let middle = bad.len() / 2;
    bad[middle] ^= 1;
    place.put("part.1", &bad);
    let run = place.shell("hybz --join plan --verify part.* -o verified");
    run.says(1, "hybz: Part part.1 is damaged: ");
    assert!(!place.has("verified"));
}

/// The parts are longer than a pipe and the thread that reads ahead can hold.
fn changed_parts() {
    let place = Place::with(&[("a", &noise(5_000_000))]);
    let last = parts(&place, "-1 --plan=500k") - 1;
    place.shell(&format!("mkfifo fifo; cp part.{last} copy")).silent(0);
    let write = format!("printf 1234 | dd of=part.{last} bs=1 seek=90000 conv=notrunc status=none");
    for flags in ["--join=plan", "--verify --join=plan"] {
        for output in ["-c >fifo", "-fo fifo"] {
            let reader = format!("(head -c 1000; sleep 0.5; {write}; cat) <fifo >whole");
            let run = place.shell(&format!("hybz {flags} part.* {output} & {reader}; wait $!"));
            run.says(1, &format!("hybz: Part part.{last} has changed.\n"));
            place.shell(&format!("cp copy part.{last}")).silent(0);
        }
    }
}

fn onto_inputs() {
    let place = Place::with(&[("a", &text(300_000))]);
    parts(&place, "-1 --plan=1");
    place.shell("hybz -k a; mkdir copy; cp a a.bz2 plan part.* copy").silent(0);
    for (line, input) in [
        ("--plan=100k a >>a", "a"),
        ("--shard=0 --plan-file=plan -c a >>plan", "plan"),
        ("--join=plan -c part.* >>part.1", "part.1"),
        ("--join=plan --verify -c part.* 1<>part.0", "part.0"),
        ("--join=plan -c part.* >>plan", "plan"),
        ("--recover -c a.bz2 >>a.bz2", "a.bz2"),
        ("--recover=fill -c a.bz2 1<>a.bz2", "a.bz2"),
        ("--recover=bz2 -c <a.bz2 >>a.bz2", "(stdin)"),
    ] {
        place.shell(&format!("hybz {line}")).says(1, &format!("hybz: Input file {input} is the output file.\n"));
        place.shell("for file in copy/*; do cmp $file ${file#copy/} || exit; done").silent(0);
    }
}

fn changed_files() {
    let place = Place::with(&[("a", &mixture())]);
    let parts = parts(&place, "-1 --plan 300k");
    let mut other = place.get("a");
    other[400_000] ^= 1;
    place.put("a", &other);
    let says = "hybz: Can't read input file a: shard 1 differs from the plan: the file has changed, or is another one.";
    place.hybz(&["--shard=1", "--plan-file=plan", "a", "-o", "new"]).says(1, says);
    place.hybz(&["--shard=0", "--plan-file=plan", "a", "-o", "same"]).silent(0);
    place.put("a", &other[..500_000]);
    place.hybz(&["--shard=1", "--plan-file=plan", "a", "-o", "new"]).says(1, says);
    place.hybz(&["--shard=5", "--plan-file=plan", "a", "-o", "new"]).says(1, "shard 5 differs from the plan");
    assert!(!place.has("new"));
    // Without an error, the appended byte would be missing from the result.
    place.put("a", &[&mixture()[..], b"x"].concat());
    for shard in 0..parts {
        let run = place.hybz(&[&format!("--shard={shard}"), "--plan-file=plan", "a", "-o", "new"]);
        run.says(1, &format!("shard {shard} differs from the plan: the file has changed, or is another one."));
    }
    assert!(!place.has("new"));
}

fn wrong_plans() {
    let place = Place::with(&[("a", &mixture())]);
    parts(&place, "-1 --plan 300k");
    place
        .shell("head -n4 plan > cut; sed 's/^2/3/' plan > other; sed 1d plan > headless; printf '\\377' > bytes")
        .silent(0);
    for (plan, says) in [
        ("cut", "Plan cut ends at byte "),
        ("other", "Plan other has a line that does not follow: `3\t"),
        ("headless", "Plan headless does not begin as a plan."),
        ("a", "Plan a does not begin as a plan."),
        ("bytes", "Plan bytes does not begin as a plan."),
        ("none", "Can't open input file none: No such file or directory."),
    ] {
        place.hybz(&["--join", plan, "part.0", "-o", "whole"]).says(1, says);
        place.hybz(&["--shard=0", "--plan-file", plan, "a", "-o", "whole"]).says(1, says);
    }
    let run = place.hybz(&["--shard=99", "--plan-file=plan", "a", "-o", "whole"]);
    run.says(1, "Plan plan has 9 shards, but no shard 99.");
    assert!(!place.has("whole"));
}

fn nonsense() {
    let place = Place::with(&[("a", b"hello\n"), ("b.bz2", &compressed(b"hello\n"))]);
    place.shell("hybz --plan 1 a > plan; hybz --shard 0 --plan-file plan a -o part").silent(0);
    place.hybz(&["-f", "--join", "plan", "part", "-o", "part"]).says(1, "Output file part is the input file.");
    place.refuses(&[
        ("--plan 1", "--plan expects one file."),
        ("--plan 1 a a", "--plan expects one file."),
        ("--plan 0 a", "--plan"),
        ("--plan x a", "--plan"),
        ("--plan 1 .", "Input file . is a directory."),
        ("--plan 1 none", "Can't open input file none"),
        ("--plan-file plan a", "--plan-file works only with --shard."),
        ("--plan 1 -r .", "-r and --plan cannot be used together."),
        ("--shard 0 a -o x", "--shard expects a plan: --plan-file PLAN."),
        ("--shard 0 --plan-file plan a", "--shard expects a name for its result: -o FILE, or -c for standard output."),
        ("--shard 0 --plan-file plan -c", "--shard expects one file."),
        ("--shard x --plan-file plan a -o x", "--shard"),
        ("--shard 0 --plan-file plan --rm a -o x", "--rm and --shard cannot be used together."),
        ("--shard 0 --plan-file plan --verify=file a -o x", "--verify=file and --shard cannot be used together."),
        ("--shard 0 --plan-file plan --recover a -o x", "cannot be used together."),
        ("--join plan b.bz2", "--join expects a name for its result: -o FILE, or -c for standard output."),
        ("--join plan --verify=file b.bz2 -o x", "--verify=file and --join cannot be used together."),
        ("--join plan - -o x b.bz2", "--join reads files, not standard input."),
        ("-f --plan 1 -o a a", "Output file a is the input file."),
        ("-f --join plan b.bz2 -o plan", "--join and -o cannot name the same file."),
        ("-f --shard 0 --plan-file plan a -o plan", "--shard and -o cannot name the same file."),
        ("-f --shard 0 --plan-file plan a -o a", "Output file a is the input file."),
        ("--join plan --bench b.bz2", "cannot be used together."),
        ("--join plan --plan-file plan b.bz2 -o x", "--plan-file and --join cannot be used together."),
        ("-f --join plan b.bz2 -o ./plan", "Output file ./plan is the input file."),
        ("-f --shard 0 --plan-file plan a -o ./plan", "Output file ./plan is the input file."),
    ]);
}
