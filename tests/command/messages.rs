//! Table 1G: messages, their order, and the effects of `-q` and `-v`.

use crate::place::{Place, bzip2_installed, compressed, installed, noise, run, same_as_bzip2, text};

#[test]
fn lines_of_v_are_those_of_bzip2() {
    let prepare = |place: &Place| {
        place.put("a", &text(120_000));
        place.put("a-much-longer-name-than-the-others", &text(1000));
        place.put("empty", b"");
        place.put("zeros", &[0; 300_000]);
        place.put("é", b"hello\n");
    };
    for args in [
        &["-v", "a"][..],
        &["-v", "empty"],
        &["-v", "zeros", "empty", "a"],
        &["-v", "a", "missing", "a-much-longer-name-than-the-others", "é"],
        &["-cv", "a", "zeros"],
        &["-qv", "a"],
    ] {
        same_as_bzip2("bzip2", args, b"", prepare);
    }
    let packed = |place: &Place| {
        place.put("a.bz2", &compressed(&text(120_000)));
        place.put("longer-name.bz2", &compressed(b""));
    };
    for args in [&["-dv", "a.bz2", "longer-name.bz2"][..], &["-tv", "a.bz2", "longer-name.bz2"], &["-dkvc", "a.bz2"]] {
        same_as_bzip2("bzip2", args, b"", packed);
    }
}

/// `-vv`: bzip2's lines for blocks, then the table of the stations.
#[test]
fn lines_of_vv() {
    if !bzip2_installed() {
        return;
    }
    let place = Place::with(&[("a", b"hello\n"), ("empty", b""), ("a.bz2", &compressed(b"hello\n"))]);
    // Blocks are numbered in each stream.
    place.put("streams.bz2", &[compressed(b""), compressed(&noise(2_000_000)), compressed(b"a")].concat());
    for args in [&["-vvc", "a"][..], &["-tvv", "a.bz2"], &["-dcvv", "a.bz2"], &["-tvv", "streams.bz2", "a.bz2"]] {
        let theirs = run(place.command("bzip2").args(args));
        let ours = run(place.called("bzip2").args(args));
        assert_eq!((ours.code, &ours.stdout), (0, &theirs.stdout));
        let table = ours.stderr.strip_prefix(&theirs.stderr);
        let table =
            table.unwrap_or_else(|| panic!("{args:?}: {:?} should begin with {:?}", ours.stderr, theirs.stderr));
        for column in ["station", "blocks", "MB in", "busy", "waits", "fallbacks", "MiB"] {
            assert!(table.contains(column), "{table}");
        }
    }
    // If there was nothing to do, no station is listed.
    for args in [&["-vvc", "empty"][..], &["-tvv", "missing"], &["-vvk", "missing", "empty"]] {
        same_as_bzip2("bzip2", args, b"", |place| place.put("empty", b""));
    }
}

/// Every file's message, in the order of the operands, whatever was finished first.
#[test]
fn messages_come_in_the_order_of_the_operands() {
    let place = Place::new();
    let mut names = Vec::new();
    for n in 0..60 {
        let name = format!("file{n:02}");
        match n % 5 {
            0 => place.put(&name, &text(400_000)),
            1 => drop(std::fs::create_dir(place.path(&name))),
            2 => {}
            _ => place.put(&name, &text(n)),
        }
        names.push(name);
    }
    let run = run(place.called("hybz").arg("-1v").args(&names));
    assert_eq!(run.code, 1);
    let told: Vec<&str> =
        run.stderr.split(|c: char| !c.is_alphanumeric()).filter(|word| word.starts_with("file")).collect();
    let told: Vec<&&str> = told.iter().filter(|word| word.len() == 6).collect();
    assert_eq!(told, names.iter().map(|name| &name[..]).collect::<Vec<_>>().iter().collect::<Vec<_>>());
    assert_eq!(run.stderr.lines().count(), 60, "one line each: {}", run.stderr);
}

/// The errors that `-q` leaves and the remarks that it hides, as in bzip2.
#[test]
fn quiet() {
    for args in [
        &["-q", "a.bz2"][..],
        &["-q", "missing"],
        &["-q", "a"],
        &["-q", "dir"],
        &["-q", "/dev/null"],
        &["-dq", "b"],
        &["-dq", "garbage.bz2"],
        &["-tq", "b"],
    ] {
        same_as_bzip2("bzip2", args, b"", |place| {
            place.put("a", b"hello\n");
            place.put("a.bz2", &compressed(b"hello\n"));
            place.put("b", b"hello\n");
            place.put("garbage.bz2", &[&compressed(b"hello\n")[..], b"x"].concat());
            place.set_mode("garbage.bz2", 0o600);
            std::fs::create_dir(place.path("dir")).expect("a directory");
        });
    }
    let place = Place::with(&[("a.bz2", b"x")]);
    place.hybz(&["-qq", "missing"]).silent(1);
    place.hybz(&["-q", "-q", "-d", "a.bz2"]).silent(2);
    // This also holds for errors of the command line, wherever -q stands.
    for args in [&["-qq", "--nope"][..], &["-Z", "-qq"], &["-qqp", "x"], &["-qqct", "a.bz2"], &["-lqqo", "x", "a.bz2"]]
    {
        place.hybz(args).silent(1);
    }
    run(place.called("hybz").args(["-Z"]).env("HYBZ", "-qq")).silent(1);
    place.hybz(&["-q", "-Z"]).says(1, "hybz: Bad flag `-Z'");
    place.hybz(&["-Z", "--", "-qq"]).says(1, "hybz: Bad flag `-Z'");
}

/// An empty file is not a cut file: one line says so, and there is nothing to recover.
#[test]
fn an_empty_file_is_empty() {
    let place = Place::with(&[("a.bz2", b"")]);
    for (args, text) in [
        ("-d", "Compressed file ends unexpectedly; a.bz2 is empty."),
        ("-dq", "Compressed file ends unexpectedly; a.bz2 is empty."),
        ("-dc", "Compressed file ends unexpectedly; a.bz2 is empty."),
        ("-t", "a.bz2: file ends unexpectedly: it is empty"),
        ("-l", "a.bz2: file ends unexpectedly: it is empty"),
    ] {
        let run = place.hybz(&[args, "a.bz2"]);
        assert_eq!((run.code, run.stderr), (2, format!("hybz: {text}\n")), "{args}");
    }
    assert_eq!(place.names(), ["a.bz2"]);
}

/// The message names the typed flag, or the program's name that stands for it.
#[test]
fn contradictions_name_what_was_typed() {
    let place = Place::with(&[("a.bz2", &compressed(b"hello\n"))]);
    place.called("bzcat");
    place.shell("echo a | hybz | bzcat -tv").says(0, "  (stdin): ok\n");
    place.shell("bzcat -t a.bz2").says(1, "bzcat: -c and -t cannot be used together.\n");
    run(place.called("bzcat").args(["-l", "a.bz2"])).says(1, "bzcat: bzcat and -l cannot be used together.\n");
    run(place.called("bzcat").args(["-lc", "a.bz2"])).says(1, "bzcat: -c and -l cannot be used together.\n");
    place.hybz(&["-lc", "a.bz2"]).says(1, "hybz: -c and -l cannot be used together.\n");
    for (flag, named) in [("--no-gpu", "--no-gpu"), ("-s", "-s"), ("--gpu=none", "--gpu none")] {
        let run = place.hybz(&["--gpu-required", flag, "a"]);
        run.says(1, &format!("hybz: --gpu-required and {named} cannot be used together.\n"));
    }
}

/// Names that would move the cursor are quoted as `ls` quotes them, on a terminal only.
#[test]
fn names_on_a_terminal() {
    if !installed("script") {
        return;
    }
    let name = "a\x1b[31mred\x07";
    let place = Place::with(&[(name, b"hello\n"), ("plain name", b"hello\n")]);
    place.put(format!("{name}.bz2"), &compressed(b"hello\n"));
    let on_terminal = |line: &str| place.shell(&format!("script -qec \"{line}\" /dev/null < /dev/null")).out();
    for (line, expected) in [
        ("hybz a*red?", r"hybz: Output file 'a'$'\033''[31mred'$'\a''.bz2' already exists. -f overwrites it."),
        ("hybz -d a*2", r"hybz: Output file 'a'$'\033''[31mred'$'\a' already exists. -f overwrites it."),
        ("hybz a*2", r"hybz: Input file 'a'$'\033''[31mred'$'\a''.bz2' already has .bz2 suffix."),
        ("hybz -tv a*2", r"  'a'$'\033''[31mred'$'\a''.bz2': ok"),
        ("hybz -t a*red?", r"hybz: 'a'$'\033''[31mred'$'\a': bad magic number (file not created by bzip2)"),
        ("hybz -t 'plain name'", "hybz: plain name: bad magic number (file not created by bzip2)"),
    ] {
        let out = on_terminal(line);
        assert!(out.lines().any(|line| line.trim_end() == expected), "{line}: {out:?}");
    }
    assert!(on_terminal("hybz -l a*2").contains(r"  'a'$'\033''[31mred'$'\a''.bz2'"));
    // Elsewhere names are bytes.
    let listed = place.shell("hybz -l a*2").silent(0);
    assert!(listed.out().ends_with(&format!("  {name}.bz2\n")));
    place.hybz(&[name]).says(1, &format!("hybz: Output file {name}.bz2 already exists. -f overwrites it.\n"));
}

/// Messages begin with the name of the program as it was called, without its path.
#[test]
fn the_name_of_the_program() {
    let place = Place::new();
    for name in ["bzip2", "pbzip2", "hybz", "my tool"] {
        run(place.called(name).arg("missing"))
            .says(1, &format!("{name}: Can't open input file missing: No such file or directory.\n"));
        run(place.called(name).arg("-Z")).says(1, &format!("{name}: Bad flag `-Z'; did"));
    }
}
