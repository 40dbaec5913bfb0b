//! Table 1G: what is said, in which order, and what `-q` and `-v` change.

use crate::place::{Place, bzip2_installed, compressed, run, same_as_bzip2, text};

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

/// `-vv`: bzip2's lines for blocks, then the table of who did them.
#[test]
fn lines_of_vv() {
    if !bzip2_installed() {
        return;
    }
    let place = Place::with(&[("a", b"hello\n"), ("empty", b""), ("a.bz2", &compressed(b"hello\n"))]);
    for args in [&["-vvc", "a"][..], &["-vvc", "empty"], &["-tvv", "a.bz2"], &["-dcvv", "a.bz2"]] {
        let theirs = run(place.command("bzip2").args(args));
        let ours = run(place.called("bzip2").args(args));
        assert_eq!((ours.code, &ours.stdout), (0, &theirs.stdout));
        let table = ours.stderr.strip_prefix(&theirs.stderr);
        let table =
            table.unwrap_or_else(|| panic!("{args:?}: {:?} should begin with {:?}", ours.stderr, theirs.stderr));
        for column in ["station", "blocks", "bytes", "busy", "waits", "fallbacks", "MiB"] {
            assert!(table.contains(column), "{table}");
        }
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
}

/// Messages begin with the name of the program as it was called, without its path.
#[test]
fn the_name_of_the_program() {
    let place = Place::new();
    for name in ["bzip2", "pbzip2", "hybz", "my tool"] {
        run(place.called(name).arg("missing"))
            .says(1, &format!("{name}: Can't open input file missing: No such file or directory.\n"));
        run(place.called(name).arg("-Z")).says(1, &format!("{name}: Bad flag `-Z'\n"));
    }
}
