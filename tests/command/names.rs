//! The name by which hybz is called, and the names of files, beyond the rows of `behaviours::names`.

use crate::place::{Place, compressed, compressed_at_9, decompressed, odd_name, run, same_as_bzip2};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

#[test]
fn called_like_the_tools_of_bzip2() {
    for name in ["bunzip2", "bzcat"] {
        for args in [&["a.bz2"][..], &["-k", "a.bz2"], &["-z", "plain"], &["-t", "a.bz2"], &["-v", "a.bz2"], &[]] {
            same_as_bzip2(name, args, &compressed(b"from stdin"), |place| {
                place.put("a.bz2", &compressed(b"hello\n"));
                place.put("plain", b"hello\n");
            });
        }
    }
}

/// bzip2's rule is that the name contains one of these.
#[test]
fn other_names_that_decompress() {
    let bytes = compressed(b"hello\n");
    for (name, to_stdout) in [("hybunz", false), ("hybunzip", false), ("UNZIP.exe", false), ("lbunzip2", false)]
        .into_iter()
        .chain(["hybcat", "hybcat.exe", "z2cat", "lbzcat", "Z2CAT", "xZCATx"].map(|name| (name, true)))
    {
        let place = Place::with(&[("a.bz2", &bytes)]);
        let run = run(place.called(name).arg("a.bz2")).silent(0);
        match to_stdout {
            true => assert_eq!((run.out().as_str(), place.names()), ("hello\n", vec!["a.bz2".to_owned()]), "{name}"),
            false => assert_eq!((run.out().as_str(), place.names()), ("", vec!["a".to_owned()]), "{name}"),
        }
    }
    let place = Place::with(&[("a", b"hello\n")]);
    run(place.called("cat-bz").arg("a")).silent(0);
    assert_eq!(place.names(), ["a.bz2"], "only those names");
}

#[test]
fn the_names_of_results() {
    let bytes = compressed(b"hello\n");
    for name in ["a.bz2", "a.bz", "a.tbz2", "a.tbz", "a.foo", "a", "a.BZ2", "a.bz2.bz2", ".bz2x", "a b.bz2"] {
        same_as_bzip2("bzip2", &["-d", name], b"", |place| place.put(name, &bytes));
        same_as_bzip2("bzip2", &["-dq", name], b"", |place| place.put(name, &bytes));
    }
    let place = Place::with(&[("a.tz2", &bytes)]);
    place.hybz(&["-d", "a.tz2"]).silent(0);
    assert_eq!(place.names(), ["a.tar"]);
}

#[test]
fn no_name_left_for_the_result() {
    let place = Place::with(&[(".bz2", &compressed(b"hello\n"))]);
    place.hybz(&["-d", ".bz2"]).says(1, "hybz: Can't create output file : No such file or directory.");
    std::fs::create_dir(place.path("dir")).expect("a directory");
    place.put("dir/.bz2", &compressed(b"hello\n"));
    place.hybz(&["-df", "dir/.bz2"]).says(1, "hybz: Can't create output file dir/: No such file or directory.");
    assert_eq!(place.names(), [".bz2", "dir"]);
}

#[test]
fn what_is_compressed_already_is_refused() {
    for name in ["a.bz2", "a.bz", "a.tbz2", "a.tbz"] {
        for flags in ["-z", "-c", "-kv", "-q", "-f", "-9f", "-cf"] {
            same_as_bzip2("bzip2", &[flags, name], b"", |place| place.put(name, b"x"));
        }
    }
    let place = Place::with(&[("a.tz2", b"x"), ("a.bz2", b"x")]);
    place.hybz(&["a.tz2"]).says(1, "hybz: Input file a.tz2 already has .tz2 suffix.");
    place.hybz(&["-f", "a.tz2"]).says(1, "hybz: Input file a.tz2 already has .tz2 suffix.");
    assert_eq!(place.names(), ["a.bz2", "a.tz2"]);
}

/// A nightly job: its results of the night before are not compressed again and removed.
#[test]
fn the_same_job_every_night() {
    let place = Place::with(&[("f", b"hello\n"), ("g", b"hello\n")]);
    let bytes = compressed_at_9(b"hello\n");
    for night in 0..3 {
        let run = place.shell("hybz -9f *");
        assert_eq!((run.code, place.names()), (i32::from(night > 0), vec!["f.bz2".to_owned(), "g.bz2".to_owned()]));
        assert!(place.get("f.bz2") == bytes && place.get("g.bz2") == bytes, "night {night}");
    }
}

/// Operands are opened ahead, but not before the operands that make, replace or remove them are done.
#[test]
fn operands_that_other_operands_make() {
    let twice = compressed(&compressed(b"hello\n"));
    let prepare = |place: &Place| {
        place.put("x.bz2", &twice);
        place.put("y.bz2", &compressed(b"hello\n"));
        place.put("f", b"f\n");
        place.put("g", b"g\n");
        place.put("g.bz2", b"old");
        fs::hard_link(place.path("f"), place.path("h")).expect("a link");
        symlink("x", place.path("link")).expect("a link");
    };
    for args in [
        &["-d", "x.bz2", "x"][..],
        &["-d", "x.bz2", "./x"],
        &["-d", "y.bz2", "x.bz2", "x"],
        &["-dk", "x.bz2", "x"],
        &["-dv", "x.bz2", "x", "x.out"],
        &["-df", "x.bz2", "link"],
        &["-d", "x.bz2", "missing", "y.bz2"],
        &["-f", "f", "g", "g.bz2"],
        &["-f", "g", "g.bz2", "f"],
        &["-f", "f", "h"],
        &["-f", "g", "g"],
        &["-k", "g", "g"],
        &["-c", "g", "g"],
    ] {
        same_as_bzip2("bzip2", args, b"", prepare);
    }
}

/// A file of the same name in another directory is a different one, and is not waited for.
#[test]
fn equal_names_in_other_directories() {
    let place = Place::new();
    let files: Vec<String> = (0..300).map(|n| format!("d{n}/x.bz2")).collect();
    for file in &files {
        fs::create_dir_all(place.path(file).parent().expect("a directory")).expect("directories");
        place.put(file, &compressed(b"hello\n"));
    }
    let run = run(place.called("hybz").arg("-d").args(&files).arg("d7/x"));
    run.says(2, "hybz: d7/x is not a bzip2 file.\n");
    assert!(files.iter().all(|file| !place.has(file) && place.get(file.trim_end_matches(".bz2")) == b"hello\n"));
}

/// Operands after one that waits are still processed, however many there are.
#[test]
fn waiting_does_not_stop_the_rest() {
    let place = Place::new();
    let mut args = vec!["-d".to_owned()];
    for n in 0..200 {
        place.put(format!("f{n}.bz2"), &compressed(&compressed(b"hello\n")));
        args.extend([format!("f{n}.bz2"), format!("f{n}")]);
    }
    let run = run(place.called("hybz").args(&args));
    assert_eq!((run.code, place.names().len()), (0, 200), "{}", run.stderr);
    assert!((0..200).all(|n| place.get(format!("f{n}.out")) == b"hello\n"));
}

/// Names are bytes: they come out of messages and into results as they are.
#[test]
fn odd_names() {
    let place = Place::new();
    place.put(odd_name(), b"hello\n");
    let with_suffix = OsStr::from_bytes(b"odd \xff\n%s'\"name.bz2");
    run(place.called("hybz").arg(odd_name())).silent(0);
    assert!(place.has(with_suffix) && !place.has(odd_name()));
    let output = place.called("hybz").arg(with_suffix).output().expect("hybz");
    let message = [b"hybz: Input file ", with_suffix.as_bytes(), b" already has .bz2 suffix.\n"].concat();
    assert_eq!((output.status.code(), output.stderr), (Some(1), message));
    run(place.called("hybz").arg("-d").arg(with_suffix)).silent(0);
    assert_eq!(place.get(odd_name()), b"hello\n");
    for name in ["-z", "--", "-", "--rm", " ", "*"] {
        let place = Place::with(&[(name, b"hello\n")]);
        place.hybz(&["--", name]).silent(0);
        assert_eq!(place.names(), [format!("{name}.bz2")]);
    }
}

/// bzip2 gives up on all files when one name is longer than 1,024 bytes.
#[test]
fn long_names() {
    let place = Place::new();
    let deep = ["d".repeat(250).as_str(); 5].join("/");
    std::fs::create_dir_all(place.path(&deep)).expect("directories");
    let file = format!("{deep}/{}", "f".repeat(250));
    place.put(&file, b"hello\n");
    place.hybz(&[&file]).silent(0);
    assert!(place.has(format!("{file}.bz2")) && !place.has(&file));
    let longest = "n".repeat(251);
    place.put(&longest, b"hello\n");
    place.put(format!("{longest}.bz2"), b"old");
    place.hybz(&["-f", &longest]).silent(0);
    assert_eq!(decompressed(&place.get(format!("{longest}.bz2"))), b"hello\n");
    let too_long = "n".repeat(253);
    place.put(&too_long, b"hello\n");
    place.hybz(&[&too_long]).says(1, "File name too long");
    assert!(place.has(&too_long));
}

/// The name of an open descriptor is the system's.
#[test]
fn names_of_descriptors_stay() {
    let place = Place::with(&[("a", b"hello\n")]);
    place.shell("ln -s /dev/stdin x; hybz -f x < a").says(0, "x is the name of an open descriptor: not removed.\n");
    assert_eq!(place.names(), ["a", "x", "x.bz2"]);
    assert_eq!(decompressed(&place.get("x.bz2")), b"hello\n");
}
