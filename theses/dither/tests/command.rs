//! The command: its output and its exit codes.

mod common;

use dither::picture::Picture;
use dither::{plain, pnm, scene};
use proptest::prelude::*;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn dither(folder: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dither"));
    command.args(arguments).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().expect("it was built");
    let mut stdin = process.stdin.take().expect("piped");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&input); // it may end without reading
    });
    let output = process.wait_with_output().expect("it ends");
    writer.join().expect("it does not panic");
    output
}

fn pgm(picture: &Picture) -> Vec<u8> {
    let mut file = format!("P5\n{} {}\n255\n", picture.width(), picture.height()).into_bytes();
    file.extend(picture.pixels());
    file
}

fn pbm(picture: &Picture) -> Vec<u8> {
    let mut file = Vec::new();
    plain::dither(picture).write_pbm(&mut file).expect("memory");
    file
}

/// Its exit code and its message.
fn said(output: &Output) -> (i32, String) {
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn every_mode() {
    let folder = tempfile::tempdir().expect("a folder");
    let picture = common::picture(333, 222, 2);
    let (input, expected) = (pgm(&picture), pbm(&picture));
    fs::write(folder.path().join("in.pgm"), &input).expect("room");
    for mode in ["plain", "whole", "cores", "handover", "hybrid", "device"] {
        let output = dither(folder.path(), &["-m", mode], &input);
        assert!(output.stdout == expected, "{mode}: {}", said(&output).1);
        assert_eq!(output.status.code(), Some(0));
        let output = dither(folder.path(), &["in.pgm", "-m", mode, "-o", "out.pbm", "-t", "3"], b"");
        assert_eq!(output.status.code(), Some(0), "{mode}");
        assert!(fs::read(folder.path().join("out.pbm")).expect("it was written") == expected, "{mode}");
    }
    let output = dither(folder.path(), &["--verify", "-v", "--band", "64", "--tile", "100", "-"], &input);
    assert!(output.stdout == expected);
    assert!(
        said(&output).1.contains("333 x 222, cores: 19 slabs, 34 strips repeated, 0 slabs wrong"),
        "{}",
        said(&output).1
    );
}

#[test]
fn many_pictures() {
    let folder = tempfile::tempdir().expect("a folder");
    let pictures: Vec<_> = (0..5).map(|kind| common::picture(100 + kind as usize, 50, kind)).collect();
    let names: Vec<String> = (0..5).map(|number| format!("{number}.pgm")).collect();
    for (name, picture) in names.iter().zip(&pictures) {
        fs::write(folder.path().join(name), pgm(picture)).expect("room");
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let output = dither(folder.path(), &names, b"");
    assert_eq!(said(&output), (0, String::new()));
    for (number, picture) in pictures.iter().enumerate() {
        assert!(fs::read(folder.path().join(format!("{number}.pbm"))).expect("it was written") == pbm(picture));
    }
    // The outputs exist now.
    let (code, text) = said(&dither(folder.path(), &names, b""));
    assert!(code == 1 && text.starts_with("dither: 0.pbm: "), "{text}");
    let output = dither(folder.path(), &[&names[..], &["-f", "--verify"]].concat(), b"");
    assert_eq!(said(&output), (0, String::new()));
}

#[test]
fn exit_codes() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("bad.pgm"), b"P5 10 10 255 short").expect("room");
    fs::write(folder.path().join("good.pgm"), b"P5 1 1 255 x").expect("room");
    for (arguments, input, code, text) in [
        (&["--wrong"][..], "", 1, "dither: no such option: --wrong (--help lists them)"),
        (&["-m", "fast"], "", 1, "dither: no such mode: fast"),
        (&["-m"], "", 1, "dither: -m wants a value"),
        (&["-t", "0"], "", 1, "dither: -t 0: not a number from 1"),
        (&["--scene", "10"], "", 1, "dither: --scene 10: not WIDTHxHEIGHT"),
        (&["--scene", "9999999999x9999999999"], "", 1, "dither: too many pixels"),
        (&["-o", "out.pbm", "good.pgm", "bad.pgm"], "", 1, "dither: --mode and --output are for one picture"),
        (&["-", "good.pgm"], "", 1, "dither: standard input can only be alone"),
        (&["missing.pgm"], "", 1, "dither: missing.pgm: No such file or directory (os error 2)"),
        (
            &["-o", "no/such/folder", "good.pgm"],
            "",
            1,
            "dither: no/such/folder: No such file or directory (os error 2)",
        ),
        (&["bad.pgm"], "", 2, "dither: bad.pgm: the file ends before its last pixel"),
        (&["good.pgm", "bad.pgm"], "", 2, "dither: bad.pgm: the file ends before its last pixel"),
        (&[], "P1 1 1 1", 2, "dither: standard input: not a PGM or PPM file (P2, P3, P5, P6)"),
        (&[], "", 2, "dither: standard input: not a PGM or PPM file (P2, P3, P5, P6)"),
    ] {
        let output = dither(folder.path(), arguments, input.as_bytes());
        assert_eq!(said(&output), (code, format!("{text}\n")), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
    let output = dither(folder.path(), &["-o", "/dev/full", "good.pgm"], b"");
    assert_eq!(output.status.code(), Some(1));
    assert!(Path::new("/dev/full").exists());
    let output = dither(folder.path(), &["--help"], b"");
    assert!(output.status.success() && output.stdout.starts_with(b"Floyd-Steinberg dithering"));
}

/// Without a GPU, modes that use one say so and go on; `--gpu` fails.
#[test]
fn no_gpu() {
    if dither::device::groups().is_ok() {
        return; // there is a GPU: every_mode uses it
    }
    let folder = tempfile::tempdir().expect("a folder");
    let input = pgm(&common::picture(100, 100, 0));
    let (code, text) = said(&dither(folder.path(), &["-m", "hybrid"], &input));
    assert!(code == 0 && text.starts_with("dither: no GPU: ") && text.ends_with("; cores do its part\n"), "{text}");
    let (code, text) = said(&dither(folder.path(), &["-g"], &input));
    assert!(code == 1 && text.starts_with("dither: no GPU: "), "{text}");
}

#[test]
fn the_scene() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = dither(folder.path(), &["--scene", "300x200"], b"");
    let picture = pnm::read(&output.stdout[..]).expect("a picture");
    assert_eq!(Some(&picture), scene::scene(300, 200).as_ref());
    let mean = picture.pixels().iter().map(|&pixel| u32::from(pixel)).sum::<u32>() / 60_000;
    assert!((60..200).contains(&mean), "{mean}");
    // The purpose of dithering: the average brightness stays.
    let bitmap = plain::dither(&picture);
    let white = 60_000 - bitmap.bits().iter().map(|byte| byte.count_ones()).sum::<u32>();
    assert!((white * 255 / 60_000).abs_diff(mean) <= 1, "{white}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Any bytes, headers with any values, and files with some bytes changed: a picture or an error, never a panic.
    #[test]
    fn files_that_are_anything(
        magic in prop_oneof![Just("P2"), Just("P3"), Just("P5"), Just("P6"), Just("P4"), Just("")],
        header in "[0-9 #\n\t-]{0,40}",
        rest in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let file = [magic.as_bytes(), header.as_bytes(), &rest].concat();
        if let Ok(picture) = pnm::read(&file[..]) {
            prop_assert_eq!(picture.pixels().len(), picture.width() * picture.height());
        }
    }

    #[test]
    fn files_that_were_changed(
        (width, height) in (0usize..20, 0usize..20), kind in 0u32..5, cut in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(), with in any::<u8>(),
    ) {
        let picture = common::picture(width, height, kind);
        let mut file = pgm(&picture);
        prop_assert_eq!(&pnm::read(&file[..]).ok(), &Some((*picture).clone()));
        let short = &file[..cut.index(file.len())];
        prop_assert!(pnm::read(short).is_err());
        let at = at.index(file.len());
        file[at] = with;
        let _ = pnm::read(&file[..]);
    }

    /// Written as text and as colours, and with larger samples: the same pixels.
    #[test]
    fn other_formats((width, height) in (0usize..20, 0usize..20), kind in 0u32..5) {
        let picture = common::picture(width, height, kind);
        let mut p2 = format!("P2\n# text\n{width} {height}\n255\n");
        let mut p3 = format!("P3 {width} {height} 65535\n");
        let mut p6 = format!("P6 {width} {height} 255\n").into_bytes();
        let mut wide = format!("P5 {width} {height} 65535\n").into_bytes();
        for &pixel in picture.pixels() {
            p2 += &format!("{pixel}\n");
            let large = u16::from(pixel) * 257;
            p3 += &format!("{large} {large}\t{large} ");
            p6.extend([pixel; 3]);
            wide.extend(large.to_be_bytes());
        }
        for file in [p2.as_bytes(), p3.as_bytes(), &p6, &wide] {
            prop_assert!(pnm::read(file).is_ok_and(|read| read == *picture));
        }
    }
}
