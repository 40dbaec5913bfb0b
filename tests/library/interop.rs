//! hybz reads the files of other programs, and they read hybz's files. (`identity` shows that hybz writes bzip2's
//! bytes, and `decode` that hybz reads them.)

use crate::{ours, program, shapes};
use hybz::Settings;

fn texts() -> Vec<(&'static str, Vec<u8>)> {
    let mut texts: Vec<_> = ["words", "image", "runs_1_to_260", "random", "zeros", "records", "period_999"]
        .map(|name| (name, (shapes::shape(name).make)(950_000)))
        .into();
    texts.extend(shapes::EDGES.iter().map(|edge| (edge.name, (edge.make)())));
    texts
}

/// Checks that hybz decompresses `program`'s files. Returns early if `program` is not installed.
fn reads(program: &str, arguments: &[&str]) {
    if !program::installed(program) {
        return;
    }
    let pool = ours::pool(2);
    for (name, text) in texts() {
        let (code, file, err) = program::run(program, arguments, &text).expect("it is installed");
        assert_eq!(code, 0, "{program} {arguments:?} of {name}: {err}");
        // pbzip2 writes an empty file if it reads an empty text from a pipe.
        if file.is_empty() {
            assert!(text.is_empty());
            continue;
        }
        let settings = Settings::new().pool(&pool);
        let ours = ours::decompress(&file, &settings);
        assert!(ours.as_ref() == Ok(&text), "{program} {arguments:?} of {name}: {:?}", ours.map(|text| text.len()));
    }
}

/// Checks that `program`, called with `arguments`, decompresses what hybz compresses.
fn is_read_by(program: &str, arguments: &[&str]) {
    if !program::installed(program) {
        return;
    }
    let pool = ours::pool(2);
    for (i, (name, text)) in texts().into_iter().enumerate() {
        let level = i as u8 % 9 + 1;
        let file = ours::compress(&text, &Settings::new().level(ours::level(level)).pool(&pool));
        let (code, out, err) = program::run(program, arguments, &file).expect("it is installed");
        assert!(code == 0 && out == text, "{program} {arguments:?} of {name}: {code}, {} bytes, {err}", out.len());
    }
}

#[test]
fn lbzip2() {
    reads("lbzip2", &["-c", "-n2"]);
    reads("lbzip2", &["-c", "-n3", "-1"]);
    is_read_by("lbzip2", &["-dc", "-n2"]);
}

#[test]
fn pbzip2() {
    reads("pbzip2", &["-c", "-p2", "-b1"]);
    reads("pbzip2", &["-c", "-p2", "-b2", "-3"]);
    is_read_by("pbzip2", &["-dc", "-p2"]);
}

#[test]
fn seven_zip() {
    reads("7z", &["a", "-tbzip2", "-si", "-so", "-an"]);
    reads("7z", &["a", "-tbzip2", "-mx=9", "-mmt=2", "-si", "-so", "-an"]);
    is_read_by("7z", &["e", "-tbzip2", "-si", "-so"]);
}

#[test]
fn busybox() {
    is_read_by("busybox", &["bunzip2", "-c"]);
}
