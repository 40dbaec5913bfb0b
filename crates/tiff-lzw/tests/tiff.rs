//! `examples/tiff_lzw` and libtiff: each reads the other's files, and both read damaged strips in the same way.

#[path = "../examples/tiff_lzw/tiff.rs"]
mod tiff;
// Depends on the module `tiff`, because it makes a `tiff::Image`.
#[path = "../examples/tiff_lzw/pnm.rs"]
mod pnm;

use hybz::{Damage, Pool};
use hybz_testkit::shapes::{Rng, SHAPES};
use hybz_testkit::skip::{Need, skip};
use hybz_tiff_lzw::{StripDecoder, StripEncoder};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tiff::{Coding, Image, Layout};

fn pool() -> Pool {
    Pool::builder().build()
}

fn read(file: &[u8], pool: &Pool) -> Result<(Image, Coding), tiff::Trouble> {
    tiff::read(file, &|strips, differences| tiff::on_cores(pool, strips, differences))
}

/// Whether libtiff's programs are installed.
fn libtiff() -> bool {
    let found = Command::new("tiffcp").arg("-h").output().is_ok();
    if !found {
        skip(Need::Peers, "tiffcp is not installed");
    }
    found
}

fn tiffcp(folder: &Path, args: &[&str]) -> Output {
    Command::new("tiffcp").current_dir(folder).args(args).output().expect("tiffcp")
}

/// Something like a photograph, and something like a drawing.
fn images() -> Vec<Image> {
    let mut rng = Rng(21);
    let mut images = Vec::new();
    for (width, height, samples) in [(1, 1, 1), (1, 1, 3), (17, 5, 1), (333, 200, 3), (640, 481, 1), (64, 64, 3)] {
        let pixel = |at: usize| ((at % width) * 255 / width) as u8;
        let noisy = (0..width * height * samples).map(|at| pixel(at / samples).wrapping_add(rng.below(9) as u8));
        images.push(Image { width, height, samples, pixels: noisy.collect() });
        let flat = (0..width * height * samples).map(|at| if at / samples % width / 40 % 2 == 0 { 255 } else { 7 });
        images.push(Image { width, height, samples, pixels: flat.collect() });
    }
    images
}

const LAYOUTS: [Layout; 6] = [
    Layout::Strips(1),
    Layout::Strips(16),
    Layout::Strips(100_000),
    Layout::Tiles(16, 16),
    Layout::Tiles(128, 64),
    Layout::Tiles(512, 512),
];

#[test]
fn there_and_back() {
    let pool = pool();
    for image in images() {
        for layout in LAYOUTS {
            for differences in [false, true] {
                let coding = Coding { layout, differences };
                let file = tiff::write(&image, coding, &pool).unwrap();
                let (found, how) = read(&file, &pool).unwrap();
                assert!(found == image, "{coding:?}");
                assert_eq!(how.differences, differences);
            }
        }
        assert!(pnm::read(&pnm::write(&image)).unwrap() == image);
    }
}

#[test]
fn libtiff_reads_it() {
    if !libtiff() {
        return;
    }
    let (pool, folder) = (pool(), tempfile::tempdir().unwrap());
    for image in images() {
        for layout in LAYOUTS {
            for differences in [false, true] {
                let coding = Coding { layout, differences };
                fs::write(folder.path().join("a.tif"), tiff::write(&image, coding, &pool).unwrap()).unwrap();
                let run = tiffcp(folder.path(), &["-c", "none", "a.tif", "b.tif"]);
                assert!(run.status.success() && run.stderr.is_empty(), "{coding:?}: {run:?}");
                let plain = fs::read(folder.path().join("b.tif")).unwrap();
                assert!(read(&plain, &pool).unwrap().0 == image, "{coding:?}");
            }
        }
    }
}

#[test]
fn it_reads_libtiff() {
    if !libtiff() {
        return;
    }
    let (pool, folder) = (pool(), tempfile::tempdir().unwrap());
    for image in images() {
        let file = tiff::write(&image, Coding { layout: Layout::Strips(7), differences: false }, &pool).unwrap();
        fs::write(folder.path().join("a.tif"), file).unwrap();
        for args in [
            &["-c", "lzw"][..],
            &["-c", "lzw:1", "-r", "16"],
            &["-c", "lzw:2", "-r", "3"],
            &["-c", "lzw", "-t", "-w", "32", "-l", "16"],
            &["-c", "lzw:2", "-t"],
            &["-c", "lzw", "-B"],
            &["-c", "lzw:2", "-L", "-r", "1"],
        ] {
            let run = tiffcp(folder.path(), &[args, &["a.tif", "b.tif"]].concat());
            assert!(run.status.success(), "{args:?}: {run:?}");
            let coded = fs::read(folder.path().join("b.tif")).unwrap();
            assert!(read(&coded, &pool).unwrap().0 == image, "{args:?}");
        }
    }
}

/// The text of a strip as libtiff reads it; `None` if libtiff reports an error.
fn by_libtiff(folder: &Path, codes: &[u8], len: usize) -> Option<Vec<u8>> {
    // One strip of grey pixels, in one row.
    let coding = Coding { layout: Layout::Strips(1), differences: false };
    fs::write(folder.join("a.tif"), tiff::file([len, 1, 1], coding, vec![codes.to_vec()]).unwrap()).unwrap();
    let run = tiffcp(folder, &["-c", "none", "a.tif", "b.tif"]);
    run.status.success().then(|| fs::read(folder.join("b.tif")).unwrap()[8..8 + len].to_vec())
}

fn same_as_libtiff(folder: &Path, codes: &[u8], len: usize, context: &str) -> Result<(), Damage> {
    let mut text = vec![0; len];
    let outcome = StripDecoder::new().decode(codes, &mut text);
    let theirs = by_libtiff(folder, codes, len);
    assert_eq!(theirs.is_some(), outcome.is_ok(), "{context}: {outcome:?}");
    assert!(theirs.is_none_or(|theirs| theirs == text), "{context}");
    outcome
}

/// Codes of nine bits.
fn nine(codes: &[u32], old: bool) -> Vec<u8> {
    let bit = |code: u32, i: u32| code >> if old { i } else { 8 - i } & 1;
    let bits: Vec<u32> = codes.iter().flat_map(|code| (0..9).map(move |i| bit(*code, i))).collect();
    let byte =
        |byte: &[u32]| byte.iter().enumerate().map(|(i, bit)| (*bit as u8) << if old { i } else { 7 - i }).sum::<u8>();
    bits.chunks(8).map(byte).collect()
}

#[test]
fn strips_as_libtiff_reads_them() {
    if !libtiff() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (clear, end) = (256, 257);
    let (a, b) = (97, 98);
    for (name, codes, len, good) in [
        ("plain", &[clear, a, b, 258, end][..], 4, true),
        ("no clear", &[a, b, 258, end], 4, false),
        ("two clears", &[clear, clear, a, b, end], 2, true),
        ("empty", &[clear, end], 2, false),
        ("an end alone", &[end], 2, false),
        ("beyond the table", &[clear, a, 259, end], 3, false),
        ("the first is beyond the table", &[clear, 258, a, end], 3, false),
        ("its own string", &[clear, a, 258, 259, end], 6, true),
        ("its own string after a clear", &[clear, a, b, clear, 258, end], 4, false),
        ("no end", &[clear, a, b], 2, true),
        ("too short", &[clear, a, b, end], 5, false),
        ("too long", &[clear, a, b, 99, end], 2, true),
        ("too long by half a string", &[clear, a, 258, 259, end], 4, true),
        ("an end in the middle", &[clear, a, b, end, 99], 3, false),
    ] {
        for old in [false, true] {
            // Only data that begin with a clear can have the old form: the clear distinguishes it.
            if old && codes[0] != clear {
                continue;
            }
            let outcome = same_as_libtiff(folder.path(), &nine(codes, old), len, name);
            assert_eq!(outcome.is_ok(), good, "{name}: {outcome:?}");
        }
    }
}

/// Cut at every byte, and changed at some.
#[test]
fn damaged_strips_as_libtiff_reads_them() {
    if !libtiff() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut rng = Rng(4);
    for shape in SHAPES.iter().filter(|shape| ["words", "random", "zeros", "five_letters"].contains(&shape.name)) {
        let text = (shape.make)(700);
        let mut coded = Vec::new();
        StripEncoder::new().encode(&text, &mut coded);
        same_as_libtiff(folder.path(), &coded, text.len(), shape.name).unwrap();
        for at in (1..coded.len()).step_by(1 + coded.len() / 60) {
            let _ = same_as_libtiff(folder.path(), &coded[..at], text.len(), &format!("{} to {at}", shape.name));
            let mut coded = coded.clone();
            coded[at] ^= 1 << rng.below(8);
            let _ = same_as_libtiff(folder.path(), &coded, text.len(), &format!("{} at {at}", shape.name));
        }
    }
}

/// Files with wrong bytes everywhere: no panic, and no memory just because a header claims it.
#[test]
fn damaged_files() {
    let (pool, mut rng) = (pool(), Rng(9));
    let image = &images()[6];
    let files = [Layout::Strips(9), Layout::Tiles(64, 32)]
        .map(|layout| tiff::write(image, Coding { layout, differences: false }, &pool).unwrap());
    for file in files {
        for at in 0..file.len() {
            if at < 8 || at + 400 > file.len() {
                let _ = read(&file[..at], &pool);
                let mut file = file.clone();
                file[at] = rng.below(256) as u8;
                let _ = read(&file, &pool);
            }
        }
    }
}
