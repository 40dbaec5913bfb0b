//! Table 1F: compressed data that are unusual, cut or broken.

use crate::place::{Place, compressed, same_as_bzip2, text};

/// Everything that bzip2 decodes, with its messages.
#[test]
fn unusual_but_right() {
    let one = compressed(b"hello\n");
    let large = compressed(&text(250_000));
    let empty = compressed(b"");
    let files: &[(&str, Vec<u8>)] = &[
        ("two streams", [&one[..], &large].concat()),
        ("mixed with empty ones", [&empty[..], &one, &empty, &empty, &large, &empty].concat()),
        ("only an empty one", empty.clone()),
        ("text after", [&one[..], b"garbage"].concat()),
        ("zeros after", [&large[..], &[0; 5000]].concat()),
        ("a newline after", [&large[..], b"\n"].concat()),
        ("garbage, then a stream", [&one[..], b"x", &one].concat()),
        ("no header after", [&one[..], b"BZh0"].concat()),
    ];
    for (name, bytes) in files {
        for args in [&["-dk"][..], &["-dc"], &["-dkv"], &["-t"], &["-tv"], &["-dq"]] {
            // bzip2 prints half a line there.
            if args[0] == "-t" && name.contains("after") {
                continue;
            }
            let file = format!("{name}.bz2");
            same_as_bzip2("bzip2", &[args, &[&file]].concat(), b"", |place| {
                place.put(&file, bytes);
                place.set_mode(&file, 0o600); // bzip2 leaves a result with trailing garbage like this
            });
            same_as_bzip2("bzip2", args, bytes, |_| {});
        }
    }
    same_as_bzip2("bzip2", &["-t", "a.bz2"], b"", |place| place.put("a.bz2", &files[3].1));
}

/// A file, the message of `-d` about it, and the message of `-t`.
fn broken_files() -> Vec<(&'static str, Vec<u8>, &'static str, &'static str)> {
    let whole = compressed(&text(250_000));
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        bytes
    };
    let with_end = |end: &[u8]| [&whole[..], end].concat();
    let (cut, cut_t) = ("Compressed file ends unexpectedly;", "file ends unexpectedly");
    let (bad, bad_t) = ("Data integrity error when decompressing.", "data integrity (CRC) error in data");
    vec![
        ("only BZ", b"BZ".to_vec(), cut, cut_t),
        ("only a header", b"BZh9".to_vec(), cut, cut_t),
        ("cut in the first block", whole[..3000].to_vec(), cut, cut_t),
        ("cut in the second block", whole[..whole.len() / 2].to_vec(), cut, cut_t),
        ("without its last byte", whole[..whole.len() - 1].to_vec(), cut, cut_t),
        ("header cut after a stream", with_end(b"BZ"), cut, cut_t),
        ("a flipped bit", flipped(whole.len() / 2), bad, bad_t),
        ("a flipped bit in the last CRC", flipped(whole.len() - 3), bad, bad_t),
        ("a flipped bit in a block's CRC", flipped(11), bad, bad_t),
        ("a flipped bit in the magic", flipped(5), bad, bad_t),
        ("BZh9 and junk", b"BZh9 this is junk".to_vec(), bad, bad_t),
        ("BZh9 and junk after", with_end(b"BZh9 this is junk"), bad, bad_t),
    ]
}

#[test]
fn broken_files_leave_nothing() {
    let good = compressed(b"hello\n");
    for (name, bytes, message, message_of_test) in broken_files() {
        let file = format!("{name}.bz2");
        let place = Place::with(&[(&file, &bytes), ("good.bz2", &good)]);
        let run = place.hybz(&["-d", &file, "good.bz2"]).says(2, &format!("hybz: {message}\n"));
        for part in [&format!("Input file = {file}, output file = {name}"), "lock ", " bit "] {
            assert!(run.stderr.contains(part), "{name}: no {part:?} in {run:?}");
        }
        let mut left = vec![file.clone(), "good".to_owned()];
        left.sort();
        assert_eq!((place.names(), place.get(&file)), (left, bytes.clone()), "{name}: the others go on");

        let place = Place::with(&[(&file, &bytes), ("good.bz2", &good)]);
        let run = place.hybz(&["-t", &file, "good.bz2"]).says(2, &format!("hybz: {file}: {message_of_test}"));
        assert!(
            run.stderr.contains(&format!("You can use `hybz --recover {file}' to attempt to recover\n")),
            "{run:?}"
        );
        let run = place.hybz(&["-tv", &file, "good.bz2"]).says(2, &format!(": {message_of_test}"));
        assert!(run.stderr.contains("  good.bz2: ") && run.stderr.contains("ok\n"), "{run:?}");
        // One line under -q: bzip2 prints no message about a cut file.
        let run = place.hybz(&["-dq", &file]).says(2, &format!("hybz: {file}: {}\n", message.trim_end_matches(';')));
        assert_eq!(run.stderr.lines().count(), 1);
        place.hybz(&["-dqq", &file]).silent(2);
        place.hybz(&["-tqq", &file]).silent(2);
        assert_eq!(place.names().len(), 2);
    }
}

/// bzip2 gives up on the other files. On stdout that is right, because a hole in the output would be worse.
#[test]
fn a_broken_file_on_stdout_is_the_last() {
    for (name, bytes, message, _) in broken_files() {
        let place = Place::with(&[
            ("a.bz2", &compressed(b"hello\n")),
            ("broken.bz2", &bytes),
            ("z.bz2", &compressed(b"end\n")),
        ]);
        let run = place.hybz(&["-dc", "a.bz2", "broken.bz2", "z.bz2", "z.bz2"]).says(2, &format!("hybz: {message}\n"));
        let end = "hybz: WARNING: some files have not been processed:\n\
                   hybz:    4 specified on command line, 2 not processed yet.\n";
        assert!(run.stderr.contains("output file = (stdout)") && run.stderr.contains(end), "{run:?}");
        let expected = [b"hello\n", &text(250_000)[..]].concat();
        assert!(expected.starts_with(&run.stdout) && run.stdout.starts_with(b"hello\n"), "{name}: only checked bytes");
    }
}

/// Only whole, checked blocks of the data before the damage are written.
#[test]
fn only_checked_blocks_reach_stdout() {
    let text = text(250_000);
    let mut bytes = compressed(&text);
    let middle = bytes.len() / 2; // in the second of three blocks
    bytes[middle] ^= 0x10;
    let place = Place::new();
    let run = place.hybz_with_input(&["-d"], &bytes).says(2, "Input file = (stdin), output file = (stdout)");
    assert!(text.starts_with(&run.stdout), "a prefix");
    assert!((90_000..110_000).contains(&run.stdout.len()), "{} bytes: the first block", run.stdout.len());
}

#[test]
fn what_is_not_bzip2() {
    for args in [
        &["-d", "a"][..],
        &["-dk", "a", "c.bz2", "b.bz2"],
        &["-dv", "a", "b.bz2"],
        &["-dq", "a"],
        &["-dc", "a", "b.bz2"],
    ] {
        same_as_bzip2("bzip2", args, b"", |place| {
            place.put("a", b"hello\n");
            place.put("c.bz2", b"\x1f\x8b\x08 some gzip");
            place.put("b.bz2", &compressed(b"hello\n"));
        });
    }
    same_as_bzip2("bzip2", &["-t", "a", "b.bz2"], b"", |place| {
        place.put("a", b"hello\n");
        place.put("b.bz2", &compressed(b"hello\n"));
    });
    same_as_bzip2("bzip2", &["-tv", "a", "b.bz2"], b"", |place| {
        place.put("a", b"hello\n");
        place.put("b.bz2", &compressed(b"hello\n"));
    });
    same_as_bzip2("bzip2", &["-t"], b"hello\n", |_| {});
    same_as_bzip2("bzip2", &["-d"], b"hello\n", |_| {});
}

#[test]
fn exit_codes_the_highest_wins() {
    let place = Place::with(&[("good.bz2", &compressed(b"hello\n")), ("cut.bz2", &compressed(b"hello\n")[..20])]);
    for (files, code) in [
        (&["good.bz2"][..], 0),
        (&["missing", "good.bz2"], 1),
        (&["missing", "cut.bz2"], 2),
        (&["cut.bz2", "missing", "good.bz2"], 2),
    ] {
        assert_eq!(place.hybz(&[&["-t"], files].concat()).code, code, "{files:?}");
        assert_eq!(place.hybz(&[&["-dkf"], files].concat()).code, code, "{files:?}");
    }
}
