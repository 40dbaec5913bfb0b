//! `.hbz`: the files that the flags make, the programs that read them, and the treatment of damaged files.

use crate::place::{Place, bzip2_installed, run_with_input, text};
use hybz::{LargeBlocks, Settings};

#[test]
fn there_and_back() {
    let plain = text(1_100_000);
    for flags in [&["--block-size", "1M"][..], &["--perturb", "0.1%"], &["--block-size", "2M", "--perturb", "500"]] {
        let place = Place::with(&[("a", &plain)]);
        place.hybz(&[flags, &["a"]].concat()).silent(0);
        assert_eq!(place.names(), ["a.hbz"]);
        place.hybz(&["-t", "a.hbz"]).silent(0);
        assert!(place.hybz(&["-dc", "a.hbz"]).silent(0).stdout == plain);
        assert!(place.shell("hybz -dcf < a.hbz | cat").silent(0).stdout == plain);
        place.hybz(&["-d", "a.hbz"]).silent(0);
        assert!(place.names() == ["a"] && place.get("a") == plain);
    }
}

#[test]
fn through_pipes() {
    let place = Place::new();
    let plain = text(1_200_000);
    let coded = place.hybz_with_input(&["--block-size", "1M"], &plain).silent(0).stdout;
    assert!(place.hybz_with_input(&["-d"], &coded).silent(0).stdout == plain);
    let empty = place.hybz_with_input(&["--block-size", "1M"], b"").silent(0).stdout;
    assert_eq!(empty.len(), 64);
    assert!(place.hybz_with_input(&["-d"], &empty).silent(0).stdout.is_empty());
}

#[test]
fn bzip2_refuses_it_at_once() {
    if !bzip2_installed() {
        return;
    }
    let place = Place::new();
    let coded = place.hybz_with_input(&["--block-size", "1M"], &text(10_000)).silent(0).stdout;
    let run = run_with_input(place.command("bzip2").arg("-dc"), &coded);
    assert!(run.code == 2 && run.stdout.is_empty(), "{run:?}");
}

#[test]
fn names_and_sizes_that_do_not_fit() {
    let place = Place::with(&[("a.hbz", b"x"), ("a", b"x")]);
    assert_eq!(place.hybz(&["a.hbz"]).code, 1);
    for size in ["100k", "2G", "900k"] {
        assert_eq!(place.hybz(&["--block-size", size, "a"]).code, 1, "{size}");
    }
    assert_eq!(place.names(), ["a", "a.hbz"]);
}

/// A file of small blocks, which the library writes but no flag asks for: so that 500 damaged ones cost little.
fn small_blocks(plain: &[u8], size: u32) -> Vec<u8> {
    hybz::compress(plain, &Settings::new().encoding(LargeBlocks::try_new(size).unwrap())).unwrap()
}

/// 150 flips and cuts (with `HYBZ_LONG`, 5000): exit code 2, the block named, no file left, and the undamaged blocks
/// listed as such.
#[test]
fn many_damaged_ones() {
    let plain = text(60_000);
    let coded = small_blocks(&plain, 8192);
    let blocks = hybz::hbz::List::read(&mut std::io::Cursor::new(&coded)).unwrap().blocks().to_vec();
    let (place, mut state) = (Place::new(), 1u64);
    let rounds = if std::env::var_os("HYBZ_LONG").is_some() { 5000 } else { 150 };
    for round in 0..rounds {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut bad = coded.clone();
        let at = (state >> 33) as usize % coded.len();
        if round % 3 == 0 {
            bad.truncate(at);
        } else {
            bad[at] ^= 1 << (state >> 60 & 7);
        }
        place.put("a.hbz", &bad);
        let run = place.hybz(&[["-d", "-t"][round % 2], "a.hbz"]);
        assert!(run.code == 2 && run.stdout.is_empty(), "{round}: {run:?}");
        assert_eq!(place.names(), ["a.hbz"], "{round}: no other file is left");
        // There is no block in the first 32 bytes.
        if at < 32 {
            continue;
        }
        let hit = blocks.iter().rposition(|block| block.at as usize <= at).unwrap();
        let in_block = at < blocks[hit].at as usize + 32 + blocks[hit].coded_len as usize;
        let named = if in_block { hit + 1 } else { blocks.len() + 1 };
        assert!(run.stderr.contains(&format!("block {named},")), "{round}: {at} in {named}: {run:?}");

        let run = place.hybz(&["-lv", "a.hbz"]);
        assert_eq!(run.code, 2, "{round}");
        let text = String::from_utf8(run.stdout).unwrap();
        // A cut loses everything after it; a flip in one block leaves all others.
        let good = if round % 3 != 0 { blocks.len() - usize::from(in_block) } else { hit + usize::from(!in_block) };
        assert_eq!(text.lines().filter(|line| line.ends_with(" ok")).count(), good, "{round}: {at}: {text}");
    }
}

#[test]
fn lists() {
    let plain = text(300_000);
    let place = Place::with(&[("a", &plain), ("b", &plain), ("x", &plain)]);
    place.shell("hybz --block-size 1M a; hybz -3 b").silent(0);
    assert!(place.shell("hybz -l < a.hbz").silent(0).stdout.ends_with(b"(stdin)\n"));
    assert!(place.shell("cat b.bz2 | hybz -l").silent(0).stdout.ends_with(b"(stdin)\n"));
    assert_eq!(place.shell("cat a.hbz | hybz -l").code, 1, "a .hbz is listed from its end");
    for (line, code) in [("-l none", 1), ("-l .", 1), ("-lc a.hbz", 1), ("-l a.hbz x", 2), ("-l x", 2)] {
        assert_eq!(place.hybz(&line.split(' ').collect::<Vec<_>>()).code, code, "{line}");
    }
    assert_eq!(place.names(), ["a.hbz", "b.bz2", "x"]);
}

/// However large a number is, the columns of `-l` do not touch.
#[test]
fn columns_of_lists_stay_apart() {
    let place = Place::new();
    place.shell("head -c 60M /dev/zero | tee >(hybz > a.bz2) | hybz --block-size 60M > a.hbz; sleep 0.2").silent(0);
    let run = place.hybz(&["-l", "a.bz2", "a.hbz"]).silent(0);
    for line in run.out().lines().skip(1) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| words[at].parse::<f64>().unwrap_or_else(|_| panic!("{line}"));
        assert_eq!((words.len(), number(4)), (7, 62_914_560.0), "{line}");
        let ratio = number(4) / number(3);
        assert!(ratio > 10_000.0 && (number(5) - ratio).abs() < 1.0, "{line}");
    }
}

/// For a FIFO that never gets a writer, hybz does not wait.
#[test]
fn lists_do_not_wait() {
    let place = Place::with(&[("a", b"hello\n")]);
    place.shell("mkfifo fifo").silent(0);
    place.shell("timeout 20 hybz -lq fifo").silent(1);
    let run = place.shell("(sleep 0.2; hybz -c a > fifo) & timeout 20 hybz -lf fifo").silent(0);
    assert!(run.out().ends_with("  fifo\n"), "{run:?}");
    // For a slow pipe, at least the head of the table is printed.
    let run = place.shell("(sleep 20 > fifo & hybz -l < fifo & sleep 0.5; kill %2 %1); true");
    assert!(run.out().starts_with("streams "), "{run:?}");
}
