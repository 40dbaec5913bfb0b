//! Table 1A: the flags of bzip2, and the new ones.

use crate::place::{Place, bzip2_installed, compressed, decompressed, run, same_as_bzip2, text};

/// Two small files, one of them compressed too.
fn two_files(place: &Place) {
    place.put("one", b"hello\n");
    place.put("longer-name", &text(5000));
    place.put("done.bz2", &compressed(b"hello\n"));
}

/// Flags that both programs understand in the same way, with everything compared.
#[test]
fn the_flags_of_bzip2() {
    let cases: &[&[&str]] = &[
        &["one"],
        &["one", "longer-name"],
        &["-k", "one"],
        &["--keep", "one"],
        &["one", "-k"],
        &["-c", "one", "longer-name"],
        &["--stdout", "one"],
        &["-d", "done.bz2"],
        &["--decompress", "done.bz2"],
        &["-dk", "done.bz2"],
        &["-dc", "done.bz2"],
        &["-z", "one"],
        &["--compress", "one"],
        &["-t", "done.bz2"],
        &["--test", "done.bz2"],
        &["-d", "-z", "one"],
        &["-z", "-d", "done.bz2"],
        &["-z", "-t", "done.bz2"],
        &["-ct", "done.bz2"],
        &["-c", "-t"],
        &["-v", "one", "longer-name"],
        &["--verbose", "one"],
        &["-vk4", "one"],
        &["-v4k", "one"],
        &["-dvk", "done.bz2"],
        &["-tv", "done.bz2"],
        &["-q", "one"],
        &["--quiet", "-v", "one"],
        &["-f", "one"],
        &["--force", "-k", "one"],
        &["-dq", "done.bz2"],
        &["-dkv", "one"],
        &["--exponential", "one"],
        &["-s", "longer-name"],
        &["--small", "-c", "longer-name"],
        &["-s1", "longer-name"],
        &["-sdk", "done.bz2"],
        &["--", "one"],
        &["-k", "--", "one"],
        &["--", "-k"],
    ];
    for args in cases {
        same_as_bzip2("bzip2", args, b"", two_files);
    }
}

#[test]
fn every_level_writes_its_own_header() {
    for level in ["-1", "-2", "-3", "-4", "-5", "-6", "-7", "-8", "-9", "--fast", "--best", "-19", "-91"] {
        same_as_bzip2("bzip2", &["-c", level, "one"], b"", two_files);
    }
}

/// bzip2 reads all long flags after all short ones; hybz goes from left to right.
#[test]
fn the_last_of_contradicting_flags_wins() {
    let place = Place::with(&[("a", b"hello\n")]);
    assert_eq!(place.hybz(&["-c", "--best", "-1", "a"]).stdout[3], b'1');
    assert_eq!(place.hybz(&["-c", "-1", "--best", "a"]).stdout[3], b'9');
    place.hybz(&["--compress", "-d", "-k", "a"]).says(2, "hybz: a is not a bzip2 file.");
    place.hybz(&["--rm", "-k", "a"]).silent(0);
    assert_eq!(place.names(), ["a", "a.bz2"]);
    place.hybz(&["-f", "-k", "--rm", "a"]).silent(0);
    assert_eq!(place.names(), ["a.bz2"]);
}

#[test]
fn small_means_blocks_of_200_kb_at_most() {
    let place = Place::with(&[("a", b"hello\n")]);
    assert_eq!(place.hybz(&["-sc", "a"]).stdout[3], b'2');
    assert_eq!(place.hybz(&["-sc1", "a"]).stdout[3], b'1');
    assert_eq!(place.hybz(&["-c", "--small", "-9", "a"]).stdout[3], b'2');
}

/// An unknown flag: one line on stderr names the whole word, and nothing is touched.
#[test]
fn a_bad_flag_stops_everything() {
    for (bad, nearest) in [
        ("-Z", "-z"),
        ("-kZ", ""),
        ("-0", ""),
        ("-k0v", ""),
        ("--foo", ""),
        ("--std", "--stdout"),
        ("--compres", "--compress"),
        ("--stdout=1", "--stdout"),
        ("--keep=", "--keep"),
        ("-keep", "--keep"),
        ("--no-such", "--no-sync"),
        ("-é", ""),
    ] {
        let place = Place::with(&[("a", b"hello\n")]);
        let nearest = if nearest.is_empty() { ".".to_owned() } else { format!("; did you mean `{nearest}'?") };
        let run = place.hybz(&["a", bad]);
        let line = format!("hybz: Bad flag `{bad}'{nearest} For help, type: `hybz --help'.\n");
        assert_eq!((run.code, run.out().as_str(), run.stderr), (1, "", line));
        assert_eq!(place.names(), ["a"]);
        if bzip2_installed() {
            let theirs = place.command("bzip2").args([bad, "a"]).output().expect("bzip2");
            let first = String::from_utf8_lossy(&theirs.stderr).lines().next().map(str::to_owned);
            assert_eq!(first, Some(format!("bzip2: Bad flag `{bad}'")));
        }
    }
}

/// Requested texts go to stdout (bzip2 writes it to stderr).
#[test]
fn help_and_version_go_to_stdout() {
    let place = Place::new();
    for flag in ["-h", "--help"] {
        let run = place.hybz(&[flag]).silent(0);
        for part in ["Usage: hybz", "-d, --decompress", "-p, --threads <N>"] {
            assert!(run.out().contains(part), "{}", run.out());
        }
    }
    let lines = |flag: &str| place.hybz(&[flag]).silent(0).out().lines().map(str::to_owned).collect::<Vec<_>>();
    let (daily, all) = (lines("-h"), lines("--help"));
    assert!(daily.len() < 30 && all.len() > 80, "{} and {} lines", daily.len(), all.len());
    assert!(daily.iter().chain(&all).all(|line| line.chars().count() <= 80), "{all:#?}");
    let has = |flag: &str| all.iter().any(|line| line.contains(flag));
    assert!(has("--json[=<FILE>]") && has("Many files:"), "{all:#?}");
    for rare in ["--perturb-seed", "--gpu-pipeline", "--keep-going", "--no-progress"] {
        assert!(!has(rare), "{rare}");
    }
    for flag in ["-V", "-L", "--version", "--license"] {
        let run = place.hybz(&[flag]).silent(0);
        let lines: Vec<_> = run.out().lines().map(str::to_owned).collect();
        assert_eq!(lines[0], format!("hybz {}", env!("CARGO_PKG_VERSION")));
        assert!(lines[1].contains("bzip2-compatible"), "{lines:?}");
    }
    place.shell("hybz --help > /dev/full").says(1, "No space left on device");
}

#[test]
fn flags_that_do_nothing_say_nothing() {
    let place = Place::with(&[("a", b"hello\n")]);
    let plain = place.hybz(&["-c", "a"]).silent(0).stdout;
    for flag in ["--exponential", "--repetitive-fast", "--repetitive-best"] {
        assert_eq!(place.hybz(&[flag, "-c", "a"]).silent(0).stdout, plain);
    }
}

#[test]
fn threads_and_memory_in_all_spellings() {
    let text = text(400_000);
    let place = Place::with(&[("a", &text)]);
    let plain = place.hybz(&["-c1", "a"]).silent(0).stdout;
    assert_eq!(decompressed(&plain), text);
    let spellings: &[&[&str]] = &[
        &["-p", "2"],
        &["-p2"],
        &["-n", "1"],
        &["-n3"],
        &["-T0"],
        &["-T", "7"],
        &["-j", "2"],
        &["-j3"],
        &["-m", "4Gi"],
        &["-m1.5G"],
        &["--threads", "2"],
        &["--threads=2"],
        &["-m", "100"],
        &["-m9000k"],
        &["--memory", "1G"],
        &["--memory=64MiB"],
        &["-kp2"],
    ];
    for flags in spellings {
        let run = place.hybz(&[flags, &["-c1", "a"][..]].concat()).silent(0);
        assert!(run.stdout == plain, "{flags:?}");
    }
    for (flags, message) in [
        (&["-p", "x"][..], "-p wants a number of threads, not `x'"),
        (&["-n", "f"], "-n wants a number of threads, not `f'"),
        (&["-kTf"], "-T wants a number of threads, not `f'"),
        (&["-p-1"], "-p wants a number of threads, not `-1'"),
        (&["--threads=q"], "--threads wants a number of threads, not `q'"),
        (&["-p", "4194305"], "-p wants at most 4194304 threads, not `4194305'"),
        (&["-p", "9223372036854775808"], "-p wants at most 4194304 threads, not `9223372036854775808'"),
        (&["-p99999999999999999999"], "-p wants at most 4194304 threads, not `99999999999999999999'"),
        (&["-m", "12q"], "-m wants a size such as 100 (MiB), 300k or 1G, not `12q': `q' is not a unit"),
        (&["--memory", "0"], "--memory wants a size such as 100 (MiB), 300k or 1G, not `0': it must be more than 0"),
        (&["-p"], "-p wants a number of threads"),
        (&["-o"], "-o wants the name of a file"),
        (&["--join"], "--join wants the name of a file"),
        (&["--plan-file"], "--plan-file wants the name of a file"),
        (&["--plan", "x"], "--plan wants a size such as 100M or 1.5G, not `x'"),
        (&["--gpu-pipeline", "x"], "--gpu-pipeline wants resident, bwt or hybrid, not `x'"),
        (&["-m0"], "-m wants a size such as 100 (MiB), 300k or 1G, not `0': it must be more than 0"),
        (&["--ignore-trailing-garbage=2"], "--ignore-trailing-garbage wants 0 or 1, not `2'"),
    ] {
        let run = place.hybz(&[&["a"], flags].concat());
        let line = format!("hybz: {message}. For help, type: `hybz --help'.\n");
        assert_eq!((run.code, run.out().as_str(), run.stderr), (1, "", line));
    }
    assert_eq!(place.names(), ["a"]);
}

#[test]
fn output_file_by_name() {
    let place = Place::with(&[("a", b"hello\n"), ("b", b"hello\n"), ("there", b"old")]);
    place.hybz(&["-o", "named", "a"]).silent(0);
    assert_eq!(decompressed(&place.get("named")), b"hello\n");
    assert!(place.has("a"), "who names the result keeps the source");
    place.hybz(&["-d", "named", "-obackward"]).silent(0);
    assert_eq!(place.get("backward"), b"hello\n");
    assert_eq!(decompressed(&place.hybz(&["-o", "-", "a"]).silent(0).stdout), b"hello\n");
    place.hybz_with_input(&["-o", "from-stdin"], b"hello\n").silent(0);
    assert_eq!(decompressed(&place.get("from-stdin")), b"hello\n");

    place.hybz(&["-o", "there", "a"]).says(1, "hybz: Output file there already exists.");
    place.hybz(&["-o", "a", "a"]).says(1, "hybz: Output file a is the input file.");
    place.hybz(&["-f", "-o", "./a", "a"]).says(1, "hybz: Output file ./a is the input file.");
    place.shell("hybz -fo a < a").says(1, "hybz: Output file a is the input file.");
    place.hybz(&["-o", "x", "a", "b"]).says(1, "hybz: -o takes the result of one input file, not of 2.");
    place.hybz(&["-co", "x", "a"]).says(1, "hybz: -c and -o cannot be used together.");
    place.hybz(&["-to", "x", "named"]).says(1, "hybz: -o and -t cannot be used together.");
    place.hybz(&["-lo", "x", "named"]).says(1, "hybz: -o and -l cannot be used together.");
    std::fs::create_dir(place.path("dir")).expect("a directory");
    std::os::unix::fs::symlink("dir", place.path("link")).expect("a link");
    for (flags, name) in [("-o", "dir"), ("-o", "dir/"), ("-fo", "dir"), ("-fo", "link")] {
        let run = place.hybz(&[flags, name, "a"]);
        assert_eq!((run.code, run.stderr), (1, format!("hybz: Output file {name} is a directory.\n")));
    }
    assert_eq!((place.get("a"), place.get("there")), (b"hello\n".to_vec(), b"old".to_vec()));

    place.hybz(&["-f", "-o", "/dev/null", "a"]).silent(0);
    assert!(std::fs::metadata("/dev/null").is_ok_and(|found| !found.is_file()), "/dev/null is still a device");
    place.hybz(&["-fo", "there", "--rm", "a"]).silent(0);
    assert_eq!(decompressed(&place.get("there")), b"hello\n");
    assert!(!place.has("a") && !place.has("x"));
}

#[test]
fn trailing_garbage_can_be_forbidden() {
    let place = Place::with(&[("a.bz2", &[&compressed(b"hello\n")[..], b"garbage"].concat())]);
    let end = compressed(b"hello\n").len();
    for flags in [&["-dk"][..], &["-t"], &["-dkq"], &["-dc"]] {
        let run = place.hybz(&[flags, &["--ignore-trailing-garbage=0", "a.bz2"]].concat());
        // The data before it are intact, so there is no advice to recover anything.
        let line = format!("hybz: a.bz2: garbage after the end, from byte {end}\n");
        assert_eq!((run.code, run.stderr), (2, line), "{flags:?}");
        assert_eq!(place.names(), ["a.bz2"]);
    }
    place
        .hybz(&["-dk", "--ignore-trailing-garbage=1", "a.bz2"])
        .says(0, "hybz: a.bz2: trailing garbage after EOF ignored");
    assert_eq!(place.get("a"), b"hello\n");
}

/// The environment comes first, and only its flags count: a build that sets BZIP2=pbzip2 must not lose a file of that
/// name.
#[test]
fn flags_from_the_environment() {
    let place = Place::with(&[("a", b"hello\n"), ("pbzip2", b"not to be touched")]);
    let mut command = place.called("hybz");
    let run = run(command.args(["a"]).env("BZIP2", "-k").env("BZIP", "-1 pbzip2").env("HYBZ", "-p 2 - -- -4"));
    assert_eq!(run.code, 0, "{run:?}");
    for (word, variable) in [("pbzip2", "BZIP"), ("-", "HYBZ"), ("--", "HYBZ")] {
        let remark = format!("hybz: `{word}' in the environment variable {variable} is not a flag: ignored\n");
        assert!(run.stderr.contains(&remark), "{run:?}");
    }
    assert_eq!(place.names(), ["a", "a.bz2", "pbzip2"]);
    assert_eq!(place.get("a.bz2")[3], b'4');
    same_as_env("-9 -v", &["-1", "-k", "one"]);
    same_as_env("-k -c", &["one"]);
}

fn same_as_env(variable: &str, args: &[&str]) {
    if !bzip2_installed() {
        return;
    }
    let (theirs, ours) = (Place::new(), Place::new());
    two_files(&theirs);
    two_files(&ours);
    let their_run = run(theirs.command("bzip2").args(args).env("BZIP2", variable));
    assert_eq!(run(ours.called("bzip2").args(args).env("BZIP2", variable)), their_run);
    assert_eq!(ours.files(), theirs.files());
}

#[test]
fn progress_when_asked_for() {
    let place = Place::with(&[("a", b"hello\n")]);
    place.hybz(&["-kf", "--progress", "a"]).silent(0);
    place.hybz(&["-kf", "--no-progress", "a"]).silent(0);
    place.hybz(&["-kf", "--progress=never", "a"]).silent(0);
    // A second must pass before anything is shown.
    let slow =
        "(head -c 400000 /dev/zero; sleep 1.2; head -c 30000000 /dev/zero; sleep 1.2; head -c 30000000 /dev/zero)";
    let shown = place.shell(&format!("{slow} | hybz -1 --progress | wc -c"));
    assert!(shown.code == 0 && shown.stderr.contains("(stdin): ") && shown.stderr.contains("/s"), "{shown:?}");
    place.shell(&format!("{slow} | hybz -1 > /dev/null")).silent(0);
}

/// More threads than can help are not started, and more than any system has are refused, wherever they are asked for.
#[test]
fn threads_beyond_use() {
    let text = text(300_000);
    let place = Place::with(&[("a", &text)]);
    let plain = place.hybz(&["-c1", "a"]).silent(0).stdout;
    // The blocks in flight of this many threads would fill the address space.
    for threads in ["1000", "1000000", "4194304"] {
        let run = place.shell(&format!("ulimit -v 4000000; hybz -1vvc -p {threads} a"));
        assert!(run.code == 0 && run.stdout == plain, "{threads}: {}", run.stderr);
        let line = run.stderr.lines().find(|line| line.contains("in flight")).expect("the bound").to_owned();
        let words: Vec<&str> = line.split_whitespace().collect();
        let mebibytes: f64 = words[words.len() - 2].parse().expect("a number");
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        assert!(mebibytes <= (12 * (4 * cores).max(16)) as f64, "-p {threads}: {line}");
    }
    let run = run(place.called("hybz").arg("a").env("HYBZ", "-p 9223372036854775808"));
    run.says(1, "not `9223372036854775808' (in the environment variable HYBZ). For help, type: `hybz --help'.");
    assert_eq!(place.names(), ["a"]);
}

/// Flags of pbzip2 and lbzip2, which change nothing here.
#[test]
fn flags_of_relatives() {
    let place = Place::with(&[("a", b"hello\n")]);
    let plain = place.hybz(&["-c", "a"]).silent(0).stdout;
    for flags in [&["-u"][..], &["--sequential"], &["-b15"], &["-b", "15"], &["-ub15k"]] {
        let known = flags != ["-ub15k"];
        let run = place.hybz(&[flags, &["-c", "a"]].concat());
        assert_eq!((run.code == 0, run.stdout == plain), (known, known), "{flags:?}: {}", run.stderr);
    }
}

/// A flag of gzip, xz and pigz: another suffix.
#[test]
fn suffixes_of_ones_own() {
    let place = Place::with(&[("a", b"hello\n")]);
    for flag in [&["-S", ".q"][..], &["-S.q"], &["--suffix", ".q"], &["--suffix=.q"]] {
        place.hybz(&[flag, &["a"]].concat()).silent(0);
        assert_eq!(place.names(), ["a.q"]);
        place.hybz(&[flag, &["a.q"]].concat()).says(1, "hybz: Input file a.q already has .q suffix.");
        place.hybz(&[flag, &["-d", "a.q"]].concat()).silent(0);
        assert_eq!(place.names(), ["a"]);
    }
    place.hybz(&["a"]).silent(0);
    place.hybz(&["-S.q", "a.bz2"]).says(1, "hybz: Input file a.bz2 already has .bz2 suffix.");
    // The usual suffixes still count, and the longest of those that fit.
    place.hybz(&["-d", "-S", "2", "a.bz2"]).silent(0);
    place.hybz(&["--block-size", "1M", "-S", "-large", "a"]).silent(0);
    assert_eq!(place.names(), ["a-large"]);
    for bad in ["", "a/b"] {
        place.hybz(&["-S", bad, "a"]).says(1, &format!("hybz: -S wants a suffix such as .bz2, not `{bad}'."));
    }
    for bad in ["bz2", "bz", "hbz", "lz4", "Z"] {
        let text = format!("hybz: -S {bad} would make a{bad} of a: use -S .{bad}.\n");
        place.hybz(&["-k", "-S", bad, "a"]).says(1, &text);
    }
}
