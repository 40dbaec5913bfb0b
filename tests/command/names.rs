//! Names of files that depend on each other, beyond the rows of `behaviours::names`.

use crate::place::{Place, compressed, decompressed, run};
use std::fs;

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
    let (mut args, twice) = (vec!["-d".to_owned(), "--no-sync".to_owned()], compressed(&compressed(b"hello\n")));
    for n in 0..200 {
        place.put(format!("f{n}.bz2"), &twice);
        args.extend([format!("f{n}.bz2"), format!("f{n}")]);
    }
    let run = run(place.called("hybz").args(&args));
    assert_eq!((run.code, place.names().len()), (0, 200), "{}", run.stderr);
    assert!((0..200).all(|n| place.get(format!("f{n}.out")) == b"hello\n"));
}

/// The name of an open descriptor belongs to the system.
#[test]
fn names_of_descriptors_stay() {
    let place = Place::with(&[("a", b"hello\n")]);
    place.shell("ln -s /dev/stdin x; hybz -f x < a").says(0, "x is the name of an open descriptor: not removed.\n");
    assert_eq!(place.names(), ["a", "x", "x.bz2"]);
    assert_eq!(decompressed(&place.get("x.bz2")), b"hello\n");
}
