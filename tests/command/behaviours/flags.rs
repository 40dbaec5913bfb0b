//! The flags of bzip2, and hybz's own.

use super::rows;
use crate::place::{Place, bzip2_installed, compressed, decompressed, each_as_bzip2, noise, run, same_as_bzip2, text};

rows! {
    "`-c`, `--stdout`" | "writes everything to stdout and keeps the inputs" | "the same" => stdout_flag;
    "`-` among operands" | "ignored; alone it is stdin" | "stdin, in its place" => a_dash_among_files;
    "`-d`, `-z`, `-t` together" | "the last wins, but long flags are read after all short ones"
        | "the last wins, from left to right" => the_last_mode_wins;
    "`-t`, `--test`" | "decodes, writes nothing, keeps the input" | "the same" => test_flag;
    "`-ct`" | "rc 1" | "the same" => stdout_and_test;
    "`-k`, `--keep`" | "keeps the inputs" | "the same" => keep_flag;
    "`--rm`" | "bad flag" | "removes the inputs (F2F: the default); the last of `-k` and `--rm` wins" => rm_flag;
    "`-f`, `--force`" | "overwrites outputs" | "the same" => force_flag;
    "`-v`" | "a line for each file" | "the same, byte for byte" => verbose_flag;
    "`-vv`" | "also a line for each block" | "the same, then a table of stations" => very_verbose_flag;
    "`-s`, `--small`" | "blocks of at most 200 kB" | "the same, on one thread and without GPUs" => small_flag;
    "`-1` to `-9`, `--fast`, `--best`" | "blocks of 100 to 900 kB" | "the same" => level_flags;
    "several levels, such as `-19`" | "the last counts" | "the same" => the_last_level_wins;
    "`-0`" | "bad flag" | "the same" => no_level_zero;
    "`-L`, `-V`, `--license`, `--version`" | "on stderr, and upstream's goes on to compress stdin"
        | "on stdout, rc 0; line 1 `hybz X.Y.Z`, line 2 names bzip2; under bzip2's names its first line comes first"
        => version_flags;
    "`-h`, `--help`" | "on stderr, rc 0" | "on stdout, rc 0; under bzip2's names its first line comes first"
        => help_flags;
    "`--exponential`, `--repetitive-fast`, `--repetitive-best`" | "accepted; the last two say that they are redundant"
        | "accepted without effect, in silence" => obsolete_flags;
    "clusters such as `-v4k`; flags and files in any order" | "accepted" | "the same" => clusters_in_any_order;
    "values for long flags without one" | "bad flag" | "the same" => long_flags_without_values;
    "abbreviated long flags, such as `--decomp`" | "bad flag"
        | "the flag, if only one begins so; under bzip2's names a bad flag" => abbreviated_long_flags;
    "after `--`" | "only files" | "the same" => after_two_dashes;
    "a bad flag among good ones" | "nothing is touched, rc 1; the usage on stderr"
        | "nothing is touched, rc 1; one line on stderr" => nothing_is_touched;
    "a bare word such as `list`" | "a file" | "the same: there are no sub-commands" => no_sub_commands;
    "`-p N`, `-n N`, `-T N`, `--threads N`" | "bad flag" | "N threads, in all four spellings" => threads_flags;
    "`HYBZ_THREADS=N`" | "not read" | "N threads, unless a flag gives a number" => threads_variable;
    "`-m SIZE`, `--memory`" | "bad flag" | "bounds the blocks in flight; a bare number is in MiB" => memory_flags;
    "`-o FILE`" | "bad flag" | "the result's name; keeps the input" => output_flag;
    "`-S .SUF`, `--suffix`" | "bad flag" | "another suffix, as in gzip and xz" => suffix_flag;
    "`-u`, `--sequential`, `-bN`" | "bad flag" | "accepted without effect: flags of lbzip2 and pbzip2"
        => flags_of_others;
    "pbzip2's `--loadavg[=N]`; `-l` and `-SN` under its name" | "bad flag"
        | "accepted without effect; refused with the flag to use" => flags_of_pbzip2;
    "`--ignore-trailing-garbage`" | "bad flag" | "as with `=1`: the next word is a file" => garbage_without_a_value;
    "flags that do nothing with `-l`" | "no -l" | "refused: levels, `--no-sync`, `--perturb` and others"
        => flags_without_effect;
    "`--gpu LIST`, `--no-gpu`" | "bad flag" | "which GPUs help; the bytes do not depend on it" => gpu_flags;
    "`--block-size`, `--perturb`" | "bad flag" | "write `.hbz`, or a `.bz2` with \
     `--perturb --format=bz2`; a perturbation of 0 is none" => large_blocks_flags;
}

fn hello() -> Place {
    Place::with(&[("a", b"hello\n"), ("b.bz2", &compressed(b"hello\n"))])
}

fn put_hello(place: &Place) {
    place.put("a", b"hello\n");
    place.put("b.bz2", &compressed(b"hello\n"));
}

/// hybz does the same as bzip2 for each of these command lines.
fn all_the_same(lines: &[&str]) {
    each_as_bzip2(lines, put_hello);
}

fn stdout_flag() {
    all_the_same(&["-c a", "--stdout a", "-dc b.bz2", "-c a a"]);
}

fn a_dash_among_files() {
    let place = hello();
    let run = place.hybz_with_input(&["-c", "a", "-", "a"], b"stdin\n").silent(0);
    assert_eq!(decompressed(&run.stdout), b"hello\nstdin\nhello\n");
    let run = place.hybz_with_input(&["-v", "a", "-"], b"stdin\n");
    assert_eq!((run.code, decompressed(&run.stdout), place.has("a.bz2")), (0, b"stdin\n".to_vec(), true));
    same_as_bzip2("bzip2", &["-"], b"stdin\n", |_| {});
}

fn the_last_mode_wins() {
    all_the_same(&["-d -z a", "-z -d b.bz2", "-z -t b.bz2", "-dt b.bz2", "-td b.bz2", "-dkv a"]);
    let place = hello();
    place.hybz(&["--compress", "-d", "b.bz2"]).silent(0);
    place.hybz(&["-d", "--compress", "a"]).silent(0);
    assert_eq!(place.names(), ["a.bz2", "b"]);
}

fn test_flag() {
    all_the_same(&["-t b.bz2", "--test b.bz2", "-t a", "-tv b.bz2"]);
}

fn stdout_and_test() {
    all_the_same(&["-ct b.bz2", "-t -c b.bz2", "-c -t", "--stdout --test"]);
}

fn keep_flag() {
    all_the_same(&["-k a", "--keep a", "a -k", "-dk b.bz2", "-sdk b.bz2", "--quiet -v a", "-dq b.bz2"]);
}

fn rm_flag() {
    let place = hello();
    place.hybz(&["--rm", "-k", "a"]).silent(0);
    assert_eq!(place.names(), ["a", "a.bz2", "b.bz2"]);
    place.hybz(&["-fk", "--rm", "a"]).silent(0);
    place.hybz(&["--rm", "-o", "b", "-d", "b.bz2"]).silent(0);
    assert_eq!(place.names(), ["a.bz2", "b"]);
}

fn force_flag() {
    each_as_bzip2(&["-f a", "--force -k a", "-df b.bz2"], |place| {
        put_hello(place);
        place.put("a.bz2", b"old");
        place.set_mode("a.bz2", 0o777);
        place.put("b", b"old");
    });
}

fn verbose_flag() {
    all_the_same(&["-v a", "--verbose -c a", "-dv b.bz2", "-tv b.bz2 a", "-v a missing", "-qv a"]);
    for line in
        ["-v zeros empty text", "-v text missing a-longer-name é", "-cv text zeros", "-dkv a-long-one.bz2 b.bz2"]
    {
        let args: Vec<&str> = line.split(' ').collect();
        same_as_bzip2("bzip2", &args, b"", |place| {
            put_hello(place);
            place.put("text", &text(120_000));
            place.put("a-longer-name", &text(1000));
            place.put("zeros", &[0; 300_000]);
            place.put("empty", b"");
            place.put("é", b"hello\n");
            place.put("a-long-one.bz2", &compressed(&text(120_000)));
        });
    }
}

fn very_verbose_flag() {
    if !bzip2_installed() {
        return;
    }
    let place = hello();
    // Block numbers start anew in each stream.
    place.put("streams.bz2", &[compressed(b""), compressed(&noise(2_000_000)), compressed(b"a")].concat());
    for args in [&["-vvc", "a"][..], &["-tvv", "b.bz2"], &["-dcvv", "b.bz2"], &["-tvv", "streams.bz2", "b.bz2"]] {
        let theirs = run(place.command("bzip2").args(args));
        let ours = run(place.called("bzip2").args(args));
        assert_eq!((ours.code, &ours.stdout), (0, &theirs.stdout));
        let table = ours.stderr.strip_prefix(&theirs.stderr).unwrap_or_else(|| panic!("{args:?}: {ours:?} {theirs:?}"));
        for column in ["station", "blocks", "MB in", "busy", "waits", "fallbacks", "MiB"] {
            assert!(table.contains(column), "{table}");
        }
    }
}

fn small_flag() {
    let place = Place::with(&[("a", &text(500_000))]);
    same_as_bzip2("bzip2", &["-sc", "a"], b"", |place| place.put("a", &text(500_000)));
    assert_eq!(place.hybz(&["-sc1", "a"]).silent(0).stdout[3], b'1');
    assert_eq!(place.hybz(&["-c", "--small", "-9", "a"]).silent(0).stdout[3], b'2');
    let run = place.hybz(&["-scvv", "a"]);
    assert_eq!(run.stderr.lines().filter(|line| line.starts_with("  cpu ")).count(), 1, "{}", run.stderr);
    assert!(!run.stderr.contains("no thread"), "one was asked for: {}", run.stderr);
}

fn level_flags() {
    let levels = ["-1", "-2", "-3", "-4", "-5", "-6", "-7", "-8", "-9", "--fast", "--best"];
    levels.iter().for_each(|level| all_the_same(&[&format!("-c {level} a")]));
}

fn the_last_level_wins() {
    all_the_same(&["-c -19 a", "-91c a", "-1 -c -5 a"]);
    assert_eq!(hello().hybz(&["-c", "--best", "-1", "a"]).silent(0).stdout[3], b'1');
}

fn no_level_zero() {
    bad_flags(&[("-0", ""), ("-k0v", "")]);
}

/// One line on stderr names the whole word and the nearest flag, and nothing is touched.
fn bad_flags(flags: &[(&str, &str)]) {
    for (bad, nearest) in flags {
        let place = hello();
        let nearest = if nearest.is_empty() { ".".to_owned() } else { format!("; did you mean `{nearest}'?") };
        let ours = place.hybz(&["a", bad]);
        let line = format!("hybz: Bad flag `{bad}'{nearest} For help, type: `hybz --help'.\n");
        assert_eq!((ours.code, ours.out().as_str(), ours.stderr), (1, "", line));
        assert_eq!(place.names(), ["a", "b.bz2"]);
        if bzip2_installed() {
            let theirs = run(place.command("bzip2").args([bad, "a"])).stderr;
            assert_eq!(theirs.lines().next(), Some(&*format!("bzip2: Bad flag `{bad}'")));
        }
    }
}

fn version_flags() {
    for flag in ["-L", "-V", "--license", "--version"] {
        let out = hello().hybz(&[flag, "a"]).silent(0).out();
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines[0], format!("hybz {}", env!("CARGO_PKG_VERSION")));
        assert!(lines[1].contains("bzip2-compatible"), "{out}");
        same_first_line(flag, "hybz ");
    }
}

/// Build scripts parse this line: `bzip2, a block-sorting file compressor.  Version 1.0.8, 13-Jul-2019.`
fn same_first_line(flag: &str, next: &str) {
    for name in ["bzip2", "bunzip2", "bzcat"] {
        let ours = run(hello().called(name).arg(flag)).silent(0).out();
        assert!(ours.lines().nth(1).is_some_and(|line| line.starts_with(next)), "{ours}");
        if bzip2_installed() {
            let theirs = run(hello().command("bzip2").arg(flag)).stderr;
            assert_eq!(ours.lines().next(), theirs.lines().next(), "{name} {flag}");
        }
    }
}

fn help_flags() {
    let place = hello();
    let [daily, all] = ["-h", "--help"].map(|flag| {
        same_first_line(flag, "Compresses files");
        place.hybz(&[flag]).silent(0).out()
    });
    assert!(daily.lines().count() < 30 && all.lines().count() > 80, "{daily}{all}");
    assert!([&daily, &all].iter().all(|help| help.lines().all(|line| line.chars().count() <= 80)), "{all}");
    for part in ["Usage: hybz", "-d, --decompress", "-p, --threads <N>"] {
        assert!(daily.contains(part) && all.contains(part), "{part}");
    }
    assert!(all.contains("--json[=<FILE>]") && all.contains("Many files:"), "{all}");
    for rare in ["--perturb-seed", "--gpu-pipeline", "--keep-going", "--no-gpu"] {
        assert!(!all.contains(rare), "{rare}");
    }
}

fn obsolete_flags() {
    let place = hello();
    let plain = place.hybz(&["-c", "a"]).silent(0);
    for flag in ["--exponential", "--repetitive-fast", "--repetitive-best"] {
        assert_eq!(place.hybz(&["-c", flag, "a"]).silent(0), plain);
    }
}

fn clusters_in_any_order() {
    all_the_same(&["-v4k a", "a -kv4", "-4 a -k -v", "b.bz2 -d", "-dkv b.bz2 -q"]);
}

fn long_flags_without_values() {
    bad_flags(&[("--stdout=1", ""), ("--keep=", ""), ("--no-such", "--no-sync"), ("--foo", "")]);
}

fn abbreviated_long_flags() {
    for (name, flags, accepted) in [
        ("hybz", ["--decomp", "-k", "--thr=1"], true),
        ("hybz", ["--decompress", "--keep", "--threads=1"], true),
        ("hybz", ["--decomp", "-k", "--ke"], false),
        ("bzip2", ["--decomp", "--keep", "--force"], false),
    ] {
        let place = hello();
        let run = run(place.called(name).args(flags).arg("b.bz2"));
        assert_eq!((run.code, place.has("b")), (if accepted { 0 } else { 1 }, accepted), "{name} {flags:?}: {run:?}");
        assert!(place.has("b.bz2") && run.stderr.contains("Bad flag") != accepted);
    }
    // Not the value of another flag.
    let place = hello();
    place.hybz(&["-kS", "--std", "a"]).silent(0);
    assert!(place.has("a--std"));
    assert!(place.hybz(&["--licen"]).silent(0).stdout.starts_with(b"hybz "));
}

fn after_two_dashes() {
    each_as_bzip2(&["-- a", "-k -- -k", "-c -- --stdout -"], |place| {
        put_hello(place);
        ["-k", "--stdout", "-"].iter().for_each(|name| place.put(name, b"hello\n"));
    });
}

fn nothing_is_touched() {
    bad_flags(&[("-Z", ""), ("-kZ", ""), ("-é", "")]);
    for name in ["hybz", "bzip2", "bunzip2"] {
        let place = hello();
        let run = run(place.called(name).args(["-f", "a", "-K", "b.bz2"]));
        let line = format!("{name}: Bad flag `-K'. For help, type: `{name} --help'.\n");
        assert_eq!((run.code, run.out().as_str(), run.stderr), (1, "", line));
        assert_eq!(place.names(), ["a", "b.bz2"]);
    }
}

fn no_sub_commands() {
    all_the_same(&["compress", "list", "help a", "-d decompress"]);
}

fn threads_flags() {
    let bytes = text(400_000);
    let place = Place::with(&[("a", &bytes)]);
    let plain = place.hybz(&["-c1", "a"]).silent(0).stdout;
    for flags in [
        "-p 3",
        "-p2",
        "-n 1",
        "-n3",
        "-T0",
        "-T 7",
        "-j 2",
        "-j3",
        "--threads 2",
        "--threads=3",
        "-kp2",
        "-m1.5G -p2",
        "-m4Gi",
    ] {
        let run = place.hybz(&[&["-c1"], &flags.split(' ').collect::<Vec<_>>()[..], &["a"]].concat());
        assert!(run.code == 0 && run.stdout == plain, "{flags}");
    }
}

fn threads_variable() {
    let place = Place::with(&[("a", &text(2_500_000))]);
    // Each station in the table of -vv is a thread.
    for (variable, flags, cores) in [("3", "", 3), ("3", "-p2", 2), (" 2 ", "", 2), ("1", "-p4", 4)] {
        let run = place.shell(&format!("HYBZ_THREADS='{variable}' hybz -1vvc {flags} a >b.bz2"));
        let seen = run.stderr.lines().filter(|line| line.trim_start().starts_with("cpu")).count();
        assert!(run.code == 0 && seen == cores, "{variable} {flags}: {run:?}");
    }
    place.shell("HYBZ_THREADS= hybz -1c a | cmp - b.bz2").silent(0);
    let run = place.shell("HYBZ_THREADS=many hybz -1c a");
    assert_eq!((run.code, run.stderr.as_str()), (1, "hybz: HYBZ_THREADS expects a number of threads, not `many'.\n"));
}

fn memory_flags() {
    let place = Place::with(&[("a", &text(400_000))]);
    for (flags, bound) in [("-m 7", "7.0"), ("--memory=5M", "5.0"), ("-m2048k", "2.0"), ("--memory 6MiB", "6.0")] {
        let run = place.hybz(&[&["-cvv1"], &flags.split(' ').collect::<Vec<_>>()[..], &["a"]].concat());
        let line = format!("blocks in flight: at most {bound} MiB\n");
        assert!(run.stderr.contains(&line), "{flags}: {}", run.stderr);
    }
}

fn output_flag() {
    let place = hello();
    place.put("there", b"old");
    place.hybz(&["-o", "named", "a"]).silent(0);
    place.hybz(&["-d", "b.bz2", "-oother"]).silent(0);
    assert_eq!(place.names(), ["a", "b.bz2", "named", "other", "there"]);
    assert_eq!((decompressed(&place.get("named")), place.get("other")), (b"hello\n".to_vec(), b"hello\n".to_vec()));
    assert_eq!(decompressed(&place.hybz(&["-o", "-", "a"]).silent(0).stdout), b"hello\n");
    place.hybz_with_input(&["-o", "from-stdin"], b"hello\n").silent(0);
    assert_eq!(decompressed(&place.get("from-stdin")), b"hello\n");
    place.shell("mkdir dir; ln -s dir link").silent(0);
    let before = place.files();
    for (line, says) in [
        ("-o there a", "Output file there already exists. -f overwrites it."),
        ("-o a a", "Output file a is the input file."),
        ("-f -o ./a a", "Output file ./a is the input file."),
        ("-fo a < a", "Output file a is the input file."),
        ("-o x a b.bz2", "-o takes the result of one input file, not of 2."),
        ("-co x a", "-c and -o cannot be used together."),
        ("-to x named", "-o and -t cannot be used together."),
        ("-o dir a", "Output file dir is a directory."),
        ("-o dir/ a", "Output file dir/ is a directory."),
        ("-fo dir a", "Output file dir is a directory."),
        ("-fo link a", "Output file link is a directory."),
        ("-fo . a", "Output file . is a directory."),
    ] {
        let run = place.shell(&format!("hybz {line}"));
        assert_eq!((run.code, run.stderr), (1, format!("hybz: {says}\n")), "{line}");
        assert!(place.files() == before, "{line}");
    }
    place.hybz(&["-fo", "there", "--rm", "a"]).silent(0);
    assert_eq!((decompressed(&place.get("there")), place.has("a")), (b"hello\n".to_vec(), false));
}

fn suffix_flag() {
    let place = hello();
    for flag in ["-S .q", "-S.q", "--suffix .q", "--suffix=.q"] {
        place.shell(&format!("hybz {flag} a && test -e a.q")).silent(0);
        place.shell(&format!("hybz {flag} a.q")).says(1, "hybz: Input file a.q already has .q suffix.");
        place.shell(&format!("hybz {flag} -d a.q && test -e a")).silent(0);
    }
    place.hybz(&["a"]).silent(0);
    place.hybz(&["-S.q", "a.bz2"]).says(1, "hybz: Input file a.bz2 already has .bz2 suffix.");
    // The usual suffixes still count, and of those that fit the longest is removed.
    place.hybz(&["-d", "-S", "2", "a.bz2", "b.bz2"]).silent(0);
    place.hybz(&["--block-size", "1M", "-S", "-large", "a"]).silent(0);
    assert_eq!(place.names(), ["a-large", "b"]);
    for bad in ["", "a/b"] {
        place.hybz(&["-S", bad, "b"]).says(1, &format!("hybz: -S expects a suffix such as .bz2, not `{bad}'."));
    }
    for bad in ["bz2", "bz", "hbz", "lz4", "Z"] {
        let text = format!("hybz: -S {bad} would make a{bad} of a: use -S .{bad}.\n");
        place.hybz(&["-k", "-S", bad, "b"]).says(1, &text);
    }
}

fn flags_of_others() {
    let place = hello();
    let plain = place.hybz(&["-c", "a"]).silent(0);
    for flags in ["-u", "--sequential", "-b15", "-b 15"] {
        let args: Vec<&str> = ["-c"].into_iter().chain(flags.split(' ')).chain(["a"]).collect();
        assert_eq!(place.hybz(&args).silent(0), plain, "{flags}");
    }
    assert_eq!(place.hybz(&["-ub15k", "-c", "a"]).code, 1);
}

/// Without a GPU these flags have no effect. (Their effects are tested on machines that have a GPU.)
fn gpu_flags() {
    let place = Place::with(&[("a", b"hello\n"), ("b", &text(3_000_000))]);
    for name in ["a", "b"] {
        let plain = place.hybz(&["-c", name]).silent(0);
        for flags in ["--no-gpu", "--gpu none", "--gpu=none -p2", "--gpu=0 --no-gpu", "--gpu 7 --no-gpu"] {
            let args = [&["-c", name], &flags.split(' ').collect::<Vec<_>>()[..]].concat();
            assert!(place.hybz(&args).silent(0).stdout == plain.stdout, "{args:?}");
        }
    }
    place.hybz(&["--gpu"]).says(1, "hybz: --gpu expects a list of GPUs such as 0,1, or none. For help");
    run(place.called("hybz").env("HYBZ", "--gpu none").arg("a")).silent(0);
    assert_eq!(place.names(), ["a.bz2", "b"]);
}

fn large_blocks_flags() {
    let place = Place::with(&[("a", &text(100_000))]);
    let coded = |flags: &str| place.shell(&format!("hybz -c {flags} a")).silent(0).stdout;
    let (plain, large) = (coded(""), coded("--block-size 1M"));
    assert_ne!(plain, large);
    for none in ["0", "0%", "0.0%"] {
        assert!(coded(&format!("--perturb {none}")) == plain, "{none}");
        assert!(coded(&format!("--perturb {none} --block-size 1M")) == large, "{none}");
        assert_eq!(place.hybz(&["-c", "--perturb", none, "--block-size", "900k", "a"]).code, 1, "{none}");
    }
}

fn flags_of_pbzip2() {
    let place = hello();
    let plain = place.hybz(&["-c", "a"]).silent(0).stdout;
    for name in ["hybz", "pbzip2"] {
        for flag in ["--loadavg", "--loadavg=2"] {
            assert!(run(place.called(name).args([flag, "-c", "a"])).silent(0).stdout == plain, "{name} {flag}");
        }
    }
    for (flags, says) in [("-l4 b.bz2", "use -p N"), ("-kl b.bz2", "use -p N"), ("-S512 a", "leave it out")] {
        let run = run(place.called("pbzip2").args(flags.split(' ')));
        assert!(run.stdout.is_empty(), "{run:?}");
        run.says(1, says);
    }
    run(place.called("pbzip2").args(["--list", "b.bz2"])).silent(0);
    assert_eq!(place.names(), ["a", "b.bz2"]);
}

fn garbage_without_a_value() {
    let place = Place::with(&[("a.bz2", &[&compressed(b"hello\n")[..], b"garbage"].concat())]);
    place.hybz(&["-d", "--ignore-trailing-garbage", "a.bz2"]).says(0, "trailing garbage after EOF ignored");
    assert_eq!(place.names(), ["a"]);
}

fn flags_without_effect() {
    let place = hello();
    let flags = ["--no-sync", "--no-sparse", "--perturb 9", "--block-size 1M", "--perturb-seed 3"];
    place.refuses_each("-l {} b.bz2", "hybz: {} and -l", &flags);
    place.refuses(&[
        ("-l -1 b.bz2", "hybz: -1 to -9 and -l cannot be used together.\n"),
        ("-l --best b.bz2", "hybz: -1 to -9 and -l cannot be used together.\n"),
        ("--recover -9 b.bz2", "hybz: -1 to -9 and --recover cannot be used together.\n"),
    ]);
    // A call ignores a flag in a variable if the flag does not suit it.
    run(place.called("hybz").args(["-l", "b.bz2"]).env("BZIP2", "-9").env("HYBZ", "--no-sync")).silent(0);
}
