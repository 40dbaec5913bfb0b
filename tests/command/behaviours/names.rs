//! Names of the program and of files, and the environment.

use super::rows;
use crate::place::{Place, bzip2_installed, compressed, decompressed, odd_name, run, same_as_bzip2};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

rows! {
    "a program name with `unzip` or `UNZIP`" | "decompresses" | "the same; also with `hybunz`" => names_that_decompress;
    "a program name with `zcat`, `z2cat`, `ZCAT`, `Z2CAT`" | "decompresses to stdout" | "the same; also with `hybcat`"
        => names_that_write_to_stdout;
    "a program name that ends in `.exe`" | "no difference" | "the same" => names_with_exe;
    "cat mode" | "never deletes" | "the same, also with `-z` and `--rm`" => cat_never_deletes;
    "flags in variables" | "`BZIP2`, then `BZIP`, before the command line" | "the same, and then `HYBZ`" => variables;
    "a bare word in a variable" | "a file: `BZIP2=pbzip2` compresses and deletes `pbzip2`" | "ignored with a remark"
        => words_in_variables;
    "`-`, `--` in a variable" | "stdin; all of the command line are files" | "ignored with a remark"
        => dashes_in_variables;
    "variables with a flag of another mode: `HYBZ=--verify`, `HYBZ=--index`" | "- (`BZIP2=-9` with `-d`: passed over)" |
        "passed over; typed, it is an error; what contradicts in any mode is an error that names the variable"
        => variables_for_other_modes;
    "`-z` of `.bz2`, `.bz`, `.tbz2`, `.tbz`" | "refused, rc 1" | "the same; also `.tz2` and `.hbz`"
        => compressed_names_are_refused;
    "the same under `-c`" | "refused, rc 1" | "the same" => refused_to_stdout_too;
    "the same under `-f`" | "refused, rc 1" | "the same: a nightly `-f *` does not wrap its own results"
        => "manners"/"repeated-force";
    "`-d`: names of results" | "`.bz2` and `.bz` go, `.tbz2` and `.tbz` become `.tar`"
        | "the same; `.tz2` becomes `.tar`"
        => results_of_decompressing;
    "`-d` of another name" | "NAME.out, with a warning, rc 0" | "the same" => names_that_are_guessed;
    "`-d` of `.bz2`, which leaves no name" | "rc 1, source kept" | "the same" => "files"/"nothing-but-suffix";
    "`-d NAME` where only NAME.bz2 exists" | "rc 1" | "the same" => no_suffix_is_tried;
    "a name of more than 1,024 bytes" | "rc 1 for all files" | "what the system allows" => long_names;
    "a name with any bytes" | "written as it is" | "the same" => any_bytes;
}

fn names_that_decompress() {
    for name in ["bunzip2", "xUNZIPx", "lbunzip2", "hybunz", "hybunzip"] {
        decompresses(name, false);
    }
    as_the_tools_of_bzip2("bunzip2");
}

/// hybz as `name` decompresses.
fn decompresses(name: &str, to_stdout: bool) {
    let place = Place::with(&[("a.bz2", &compressed(b"hello\n"))]);
    let run = run(place.called(name).arg("a.bz2")).silent(0);
    let expected = if to_stdout { ("hello\n", ["a.bz2"]) } else { ("", ["a"]) };
    assert_eq!((run.out().as_str(), &place.names()[..]), (expected.0, &expected.1.map(str::to_owned)[..]), "{name}");
}

fn as_the_tools_of_bzip2(name: &str) {
    for args in [&["a.bz2"][..], &["-k", "a.bz2"], &["-z", "plain"], &["-t", "a.bz2"], &["-v", "a.bz2"], &[]] {
        same_as_bzip2(name, args, &compressed(b"from stdin"), |place| {
            place.put("a.bz2", &compressed(b"hello\n"));
            place.put("plain", b"hello\n");
        });
    }
}

fn names_that_write_to_stdout() {
    for name in ["bzcat", "z2cat", "xZCATx", "Z2CAT", "lbzcat", "hybcat"] {
        decompresses(name, true);
    }
    as_the_tools_of_bzip2("bzcat");
    let place = Place::with(&[("a", b"hello\n")]);
    run(place.called("cat-bz").arg("a")).silent(0);
    assert_eq!(place.names(), ["a.bz2"], "only those names");
}

fn names_with_exe() {
    for (name, to_stdout) in [("bunzip2.exe", false), ("UNZIP.exe", false), ("bzcat.exe", true), ("hybcat.exe", true)] {
        decompresses(name, to_stdout);
    }
}

fn cat_never_deletes() {
    for args in [&["-z", "a"][..], &["-zf", "a"], &["--rm", "-z", "a"]] {
        let place = Place::with(&[("a", b"hello\n")]);
        assert_eq!(decompressed(&run(place.called("bzcat").args(args)).silent(0).stdout), b"hello\n");
        assert_eq!(place.names(), ["a"]);
    }
}

fn variables() {
    let place = Place::with(&[("a", b"hello\n")]);
    let level = |variables: &[(&str, &str)], args: &[&str]| {
        let run = run(place.called("hybz").args(args).envs(variables.iter().copied())).silent(0);
        char::from(run.stdout[3])
    };
    assert_eq!(level(&[("BZIP2", "-c -1"), ("BZIP", "-2"), ("HYBZ", "-3")], &["a"]), '3');
    assert_eq!(level(&[("BZIP2", "-1"), ("BZIP", " -2\t-c")], &["a"]), '2');
    assert_eq!(level(&[("BZIP2", "-1"), ("HYBZ", "-3")], &["-4c", "a"]), '4');
    if bzip2_installed() {
        for (variable, args) in [("-9 -v", &["-1", "-k", "a"][..]), ("-k -c", &["a"])] {
            let [theirs, ours] = [(); 2].map(|()| Place::with(&[("a", b"hello\n")]));
            let their_run = run(theirs.command("bzip2").args(args).env("BZIP2", variable));
            assert_eq!(run(ours.called("bzip2").args(args).env("BZIP2", variable)), their_run);
            assert_eq!(ours.files(), theirs.files());
        }
    }
}

fn words_in_variables() {
    let place = Place::with(&[("a", b"hello\n"), ("pbzip2", b"a program\n")]);
    run(place.called("hybz").arg("a").env("BZIP2", "pbzip2"))
        .says(0, "hybz: `pbzip2' in the environment variable BZIP2 is not a flag: ignored\n");
    assert_eq!(place.names(), ["a.bz2", "pbzip2"]);
    for line in ["-t a.bz2", "-l a.bz2", "--recover a.bz2", "--plan 1M pbzip2", "--bench=0 pbzip2", "--measure pbzip2"]
    {
        let hybz = |flags: &str| {
            run(place.called("hybz").args(line.split(' ')).args(flags.split_whitespace()).env("HYBZ", "foo"))
        };
        hybz("").says(0, "hybz: `foo' in the environment variable HYBZ is not a flag: ignored\n");
        assert!(!hybz("-qf").stderr.contains("foo"), "{line}");
    }
}

fn dashes_in_variables() {
    let place = Place::with(&[("a", b"hello\n")]);
    let run = run(place.called("hybz").args(["-k", "a"]).env("HYBZ", "-p 2 - -- -4"));
    let says = |word| format!("hybz: `{word}' in the environment variable HYBZ is not a flag: ignored\n");
    assert_eq!((run.code, run.stderr, place.get("a.bz2")[3]), (0, says("-") + &says("--"), b'4'));
    assert_eq!(place.names(), ["a", "a.bz2"]);
}

fn variables_for_other_modes() {
    let place = Place::with(&[("a", &[b'a'; 100]), ("a.bz2", &compressed(&[b'a'; 100]))]);
    let hybz =
        |variable: &str, value: &str, line: &str| run(place.called("hybz").args(line.split(' ')).env(variable, value));
    for value in ["-9", "--verify", "--verify=file", "--index", "-v --verify", "--block-size 1M --verify"] {
        for line in ["-dkf a.bz2", "-t a.bz2", "-l a.bz2", "--recover -f a.bz2", "-qdf -o b a.bz2", "--bench=0 -zp1 a"]
        {
            // These also make or read indexes.
            let indexes = value.contains("--index") && !line.contains("-o b") && !line.contains("--bench");
            if !indexes {
                assert_eq!(hybz("HYBZ", value, line).code, 0, "{value} {line}");
            }
        }
        assert_eq!(hybz("BZIP2", value, "-df -o b a.bz2").code, 0, "{value}");
    }
    assert_eq!(
        (hybz("HYBZ", "--verify", "-dc a.bz2").silent(0).stdout, place.get("a")),
        (vec![b'a'; 100], vec![b'a'; 100])
    );
    hybz("HYBZ", "-c", "-t a.bz2").silent(0);
    for value in ["-9", "--verify", "--index", "-r", "-v --verify=file", "--block-size 1M", "-S .b --verify"] {
        let plan = hybz("HYBZ", value, "--plan=1M a").silent(0).stdout;
        place.put("plan", &plan);
        let shard = hybz("HYBZ", value, "--shard=0 --plan-file=plan -o part a");
        // A flag that every mode takes has its effect, even if others in the variable are ignored.
        assert_eq!((shard.code, shard.stderr.is_empty()), (0, !value.contains("-v ")), "{value}: {shard:?}");
        assert_eq!(hybz("HYBZ", value, "--join=plan -f -o b part").code, 0, "{value}");
        assert_eq!(decompressed(&place.get("b")), place.get("a"), "{value}");
        for name in ["part", "b"] {
            fs::remove_file(place.path(name)).expect("it is there");
        }
    }
    // No index is written for a file that is removed.
    place.put("b.bz2", &compressed(b"hello\n"));
    hybz("HYBZ", "--index", "-d b.bz2").silent(0);
    assert!(place.has("b") && !place.names().iter().any(|name| name.starts_with("b.bz2")));
    // A typed flag of another mode is an error; so are two flags that contradict each other in this mode. If one of
    // them is in a variable, the message names it.
    hybz("HYBZ", "-k", "-d --verify a.bz2").says(1, "--verify and -d cannot be used together.\n");
    hybz("HYBZ", "--verify", "-d --verify a.bz2").says(1, "--verify and -d cannot be used together.\n");
    hybz("HYBZ", "-o x", "a a.bz2")
        .says(1, "-o takes the result of one input file, not of 2. (The environment variable HYBZ has `-o x'.)\n");
    hybz("BZIP", "-k --verify=file", "-c a").says(1, "with -c. (The environment variable BZIP has `--verify=file'.)\n");
    hybz("HYBZ", "--verify=file --no-sync", "a").says(1, "(The environment variable HYBZ has `--no-sync'.)\n");
    assert!(place.has("a") && place.has("a.bz2") && !place.has("x"));
}

fn compressed_names_are_refused() {
    for name in ["a.bz2", "a.bz", "a.tbz2", "a.tbz"] {
        for flags in ["-z", "-kv", "-q"] {
            same_as_bzip2("bzip2", &[flags, name], b"", |place| place.put(name, b"x"));
        }
    }
    for name in ["a.tz2", "a.hbz"] {
        let (_, suffix) = name.split_at(1);
        let place = Place::with(&[(name, b"x")]);
        for flags in ["-z", "-f"] {
            place.hybz(&[flags, name]).says(1, &format!("hybz: Input file {name} already has {suffix} suffix.\n"));
        }
        assert_eq!(place.names(), [name]);
    }
}

fn refused_to_stdout_too() {
    for flags in ["-c", "-cf"] {
        same_as_bzip2("bzip2", &[flags, "a.bz2"], b"", |place| place.put("a.bz2", b"x"));
    }
}

fn results_of_decompressing() {
    for name in ["a.bz2", "a.bz", "a.tbz2", "a.tbz", "a.tar.bz2", "a.bz2.bz2", "a b.bz2"] {
        same_as_bzip2("bzip2", &["-d", name], b"", |place| place.put(name, &compressed(b"hello\n")));
    }
    let place = Place::with(&[("a.tz2", &compressed(b"hello\n"))]);
    place.hybz(&["-d", "a.tz2"]).silent(0);
    assert_eq!(place.names(), ["a.tar"]);
}

fn names_that_are_guessed() {
    for args in [["-d", "a"], ["-dq", "a"], ["-d", "a.foo"], ["-d", "a.BZ2"], ["-dq", "a.BZ2"], ["-d", ".bz2x"]] {
        same_as_bzip2("bzip2", &args, b"", |place| place.put(args[1], &compressed(b"hello\n")));
    }
}

fn no_suffix_is_tried() {
    same_as_bzip2("bzip2", &["-d", "a"], b"", |place| place.put("a.bz2", &compressed(b"hello\n")));
}

fn long_names() {
    let place = Place::new();
    let deep = ["d".repeat(250).as_str(); 5].join("/");
    fs::create_dir_all(place.path(&deep)).expect("directories");
    let (file, longest, too_long) = (format!("{deep}/{}", "f".repeat(250)), "n".repeat(251), "n".repeat(253));
    [&file, &longest, &too_long].into_iter().for_each(|name| place.put(name, b"hello\n"));
    place.put(format!("{longest}.bz2"), b"old");
    for name in [&file, &longest] {
        place.hybz(&["-f", name]).silent(0);
        assert!(decompressed(&place.get(format!("{name}.bz2"))) == b"hello\n" && !place.has(name));
    }
    place.hybz(&[&too_long]).says(1, "File name too long");
    assert!(place.has(&too_long));
}

fn any_bytes() {
    for name in ["a b", "\x1b[31m", "new\nline", "é", "*", "'\"", " "] {
        same_as_bzip2("bzip2", &["-v", name], b"", |place| place.put(name, b"hello\n"));
    }
    for name in ["-z", "--", "-", "--rm"] {
        let place = Place::with(&[(name, b"hello\n")]);
        place.hybz(&["--", name]).silent(0);
        assert_eq!(place.names(), [format!("{name}.bz2")]);
    }
    let place = Place::new();
    place.put(odd_name(), b"hello\n");
    let result = [odd_name().as_bytes(), b".bz2"].concat();
    let with_suffix = OsStr::from_bytes(&result);
    run(place.called("hybz").arg(odd_name())).silent(0);
    assert!(place.has(with_suffix) && !place.has(odd_name()));
    let output = place.called("hybz").arg(with_suffix).output().expect("hybz");
    let message = [b"hybz: Input file ", &result[..], b" already has .bz2 suffix.\n"].concat();
    assert_eq!((output.status.code(), output.stderr), (Some(1), message));
    run(place.called("hybz").arg("-d").arg(with_suffix)).silent(0);
    assert_eq!(place.get(odd_name()), b"hello\n");
}
