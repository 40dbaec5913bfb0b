//! Compressed data that are unusual, cut or damaged, and data that are not compressed.

use super::rows;
use crate::place::{Place, compressed, each_as_bzip2, same_as_bzip2, text};

rows! {
    "streams one after the other" | "all are decoded" | "the same" => concatenated_streams;
    "text or zeros after the last stream" | "a warning, rc 0" | "the same; no warning with `-q`" => trailing_garbage;
    "the same with `--ignore-trailing-garbage=0`" | "bad flag" | "rc 2, no output; says at which byte"
        => forbidden_garbage;
    "after a stream, `BZh9` and junk" | "rc 2, no output" | "the same" => a_header_and_junk;
    "after a stream, a cut header such as `BZ`" | "rc 2" | "the same" => a_cut_header;
    "a file that is cut" | "rc 2, no output" | "the same; says the block and the bit" => cut_files;
    "a wrong CRC" | "rc 2, no output" | "the same; says the block, the bit and both CRCs" => wrong_crcs;
    "not compressed data" | "rc 2; the other files are done" | "the same" => other_data;
    "data of gzip, xz, zstd, lzma, zip, 7z and tar" | "not a bzip2 file"
        | "the same, and which program reads them; not under bzip2's names" => data_of_others;
    "the same with `-df`, F2F" | "copied, renamed, the source removed, rc 0" | "rc 2, nothing is touched"
        => other_data_with_force;
    "the same with `-dcf`" | "copied" | "the same" => other_data_to_stdout;
    "the same from a pipe" | "the first 5,000 bytes are lost" | "every byte is copied" => other_data_from_pipes;
    "an empty file" | "rc 2" | "the same; says that it is empty" => empty_files;
    "a damaged file among others, F2F" | "stops: some files have not been processed" | "goes on, rc 2"
        => "files"/"one-bad-among-many";
    "the same to stdout" | "stops" | "the same: a hole in the output would be worse"
        => "pipes"/"damage-in-the-middle-of-several";
    "`-t` of a damaged file among others" | "goes on, rc 2" | "the same" => test_goes_on;
    "`-dc` of damaged data: what comes out" | "also text of the block that is damaged" | "blocks with a right CRC only"
        => "data"/"damaged-to-stdout";
}

fn three_blocks() -> (Vec<u8>, Vec<u8>) {
    let text = text(250_000);
    let coded = compressed(&text);
    (text, coded)
}

/// `-d` makes no result of this file and goes on with the others, and `-t` refuses it: both exit with 2 and one of
/// bzip2's messages. `-dc` stops at this file, because a gap in the output would be worse.
fn refused(bytes: &[u8], text: &str, text_of_test: &str) -> String {
    let place = Place::with(&[("a.bz2", bytes), ("good.bz2", &compressed(b"hello\n"))]);
    let test = place.hybz(&["-t", "a.bz2", "good.bz2"]).says(2, text_of_test);
    let advised = test.stderr.contains("You can use `hybz --recover a.bz2' to attempt to recover\n");
    assert_eq!(advised, !bytes.is_empty(), "{test:?}");
    let run = place.hybz(&["-tv", "a.bz2", "good.bz2"]).says(2, &text_of_test["hybz: a.bz2: ".len()..]);
    assert!(run.stderr.contains("  good.bz2: ") && run.stderr.contains("ok\n"), "{run:?}");
    // Under -q hybz prints one line, but bzip2 nothing, about a cut file.
    let run = place.hybz(&["-dq", "a.bz2"]);
    assert_eq!((run.code, run.stderr.lines().count()), (2, 1), "{run:?}");
    place.hybz(&["-dqq", "a.bz2"]).silent(2);
    place.hybz(&["-tqq", "a.bz2"]).silent(2);

    let run = place.hybz(&["-dc", "good.bz2", "a.bz2", "good.bz2", "good.bz2"]).says(2, text);
    let end = "hybz: WARNING: some files have not been processed:\n\
               hybz:    4 specified on command line, 2 not processed yet.\n";
    assert!(run.stderr.contains(end) && run.stdout.starts_with(b"hello\n"), "{run:?}");
    assert!(three_blocks().0.starts_with(&run.stdout[6..]), "only checked bytes");

    let run = place.hybz(&["-d", "a.bz2", "good.bz2"]).says(2, text);
    assert_eq!((place.names(), place.get("a.bz2")), (vec!["a.bz2".to_owned(), "good".to_owned()], bytes.to_vec()));
    run.stderr
}

/// Like [`refused`], for a file that has data: the message has the names, the block and the bit.
fn refused_at(bytes: &[u8], [text, text_of_test]: [&str; 2]) -> String {
    let said = refused(bytes, text, text_of_test);
    for part in ["Input file = a.bz2, output file = a\n", "lock ", " bit "] {
        assert!(said.contains(part), "no {part:?} in {said}");
    }
    said
}

fn data_of_others() {
    let tar = [&b"name"[..], &[0; 253], b"ustar\x0000", &[0; 2000]].concat();
    for (format, head, [decompress, test, list]) in [
        ("gzip", &b"\x1f\x8b\x08\0"[..], ["gzip -d", "gzip -t", "gzip -l"]),
        ("xz", b"\xfd7zXZ\0\0\x04", ["xz -d", "xz -t", "xz -l"]),
        ("zstd", b"\x28\xb5\x2f\xfd\x04", ["zstd -d", "zstd -t", "zstd -l"]),
        ("lzma", b"\x5d\0\0\x80\0\xff\xff\xff\xff", ["xz -d", "xz -t", "xz -t"]),
        ("zip", b"PK\x03\x04\x14\0", ["unzip", "unzip -t", "unzip -l"]),
        ("7z", b"7z\xbc\xaf\x27\x1c\0\x04", ["7z x", "7z t", "7z l"]),
        ("tar", &tar, ["tar -xf", "tar -tf", "tar -tf"]),
    ] {
        let place = Place::with(&[("a", &[head, &text(1000)].concat()), ("long", &[head, &text(20_000_000)].concat())]);
        let is = |says: &str| format!(" is not a bzip2 file: it is {format} data; use {says}.\n");
        let a_test = format!("hybz: a: bad magic number: it is {format} data; use {test}\n");
        for (line, says) in [
            ("hybz -dk a", format!("hybz: a{}", is(decompress))),
            ("cat a | hybz -d", format!("hybz: (stdin){}", is(decompress))),
            ("hybz -d < a", is(decompress)),
            ("hybz -d < long", is(decompress)),
            ("hybz -l a", format!("hybz: a{}", is(list))),
            ("hybz -t a", a_test),
        ] {
            assert!(!place.shell(line).says(2, &says).stderr.contains("to attempt to recover"), "{line}");
        }
        assert_eq!(place.names(), ["a", "long"]);
        same_as_bzip2("bzip2", &["-t", "a"], b"", |place| place.put("a", head));
        same_as_bzip2("bzip2", &["-d", "a"], b"", |place| place.put("a", head));
    }
}

const CUT: [&str; 2] = ["hybz: Compressed file ends unexpectedly;", "hybz: a.bz2: file ends unexpectedly"];
const BAD: [&str; 2] =
    ["hybz: Data integrity error when decompressing.", "hybz: a.bz2: data integrity (CRC) error in data"];

/// However the file is read, hybz does what bzip2 does.
fn all_ways(bytes: &[u8], ways: &[&str]) {
    for args in ways {
        same_as_bzip2("bzip2", &[args, "a.bz2"], b"", |place| {
            place.put("a.bz2", bytes);
            place.set_mode("a.bz2", 0o600); // bzip2 leaves a result with trailing garbage like this
        });
        same_as_bzip2("bzip2", &[args], bytes, |_| {});
    }
}

fn concatenated_streams() {
    let (one, empty, (_, large)) = (compressed(b"hello\n"), compressed(b""), three_blocks());
    for bytes in [
        [&one[..], &large].concat(),
        [&empty[..], &one, &empty, &empty, &large, &empty].concat(),
        [&one[..], &empty, &large, &one].concat(),
        empty.clone(),
    ] {
        all_ways(&bytes, &["-dk", "-dc", "-dkv", "-t", "-tv", "-dq"]);
    }
}

fn trailing_garbage() {
    let (one, (_, large)) = (compressed(b"hello\n"), three_blocks());
    for bytes in [
        [&one[..], b"garbage"].concat(),
        [&large[..], &[0; 5000]].concat(),
        [&large[..], b"\n"].concat(),
        [&one[..], b"x", &one].concat(),
        [&one[..], b"BZh0"].concat(),
    ] {
        // With -tv bzip2 prints half a line.
        all_ways(&bytes, &["-dk", "-dc", "-dkv", "-dkq", "-dq"]);
    }
    let bytes = [&one[..], b"garbage"].concat();
    same_as_bzip2("bzip2", &["-t", "a.bz2"], b"", |place| place.put("a.bz2", &bytes));
}

fn forbidden_garbage() {
    let coded = compressed(b"hello\n");
    let place = Place::with(&[("a.bz2", &[&coded[..], b"garbage"].concat())]);
    for flags in ["-d", "-dkq", "-dc", "-t"] {
        // The data before it are intact, so there is no advice to recover anything.
        let run = place.hybz(&[flags, "--ignore-trailing-garbage=0", "a.bz2"]);
        let line = format!("hybz: a.bz2: garbage after the end, from byte {}\n", coded.len());
        assert_eq!((run.code, run.stderr, place.names()), (2, line, vec!["a.bz2".to_owned()]));
    }
    let ignored = "hybz: a.bz2: trailing garbage after EOF ignored";
    place.hybz(&["-d", "--ignore-trailing-garbage=1", "a.bz2"]).says(0, ignored);
    assert_eq!(place.get("a"), b"hello\n");
}

fn a_header_and_junk() {
    for before in [vec![], three_blocks().1] {
        refused_at(&[&before[..], b"BZh9 this is junk"].concat(), BAD);
    }
}

fn a_cut_header() {
    for header in [&b"B"[..], b"BZ", b"BZh", b"BZh9"] {
        refused_at(&[&three_blocks().1[..], header].concat(), CUT);
    }
}

fn cut_files() {
    let (_, coded) = three_blocks();
    for len in [2, 4, 3000, coded.len() / 2, coded.len() - 1] {
        refused_at(&coded[..len], CUT);
    }
}

fn wrong_crcs() {
    let (_, coded) = three_blocks();
    // A bit is flipped in the second block, in the combined CRC, in a block's magic, and in a block's CRC.
    for at in [coded.len() / 2, coded.len() - 3, 5, 11] {
        let mut flipped = coded.clone();
        flipped[at] ^= 0x10;
        let said = refused_at(&flipped, BAD);
        let crcs = said.contains("block 1, at bit 32: block CRC 0x") && said.contains("is stored");
        assert!(at != 11 || crcs, "{said}");
    }
}

fn put_other_data(place: &Place) {
    place.put("a.bz2", b"some other data\n");
    place.put("b.bz2", &compressed(b"hello\n"));
    place.put("c.bz2", b"\x1f\x8b\x08 some gzip");
    place.put("d", b"hello\n");
}

fn other_data() {
    each_as_bzip2(
        &[
            "-d a.bz2 b.bz2",
            "-dq a.bz2",
            "-dc a.bz2 b.bz2",
            "-t a.bz2",
            "-d d",
            "-dk d c.bz2 b.bz2",
            "-dv d b.bz2",
            "-dq d",
            "-t d b.bz2",
            "-tv d b.bz2",
        ],
        put_other_data,
    );
    same_as_bzip2("bzip2", &["-t"], b"hello\n", |_| {});
    same_as_bzip2("bzip2", &["-d"], b"hello\n", |_| {});
}

fn other_data_with_force() {
    let place = Place::new();
    put_other_data(&place);
    for name in ["a.bz2", "d"] {
        place.hybz(&["-df", name]).says(2, &format!("hybz: {name} is not a bzip2 file.\n"));
    }
    assert_eq!(place.names(), ["a.bz2", "b.bz2", "c.bz2", "d"]);
}

fn other_data_to_stdout() {
    each_as_bzip2(&["-dcf a.bz2 b.bz2 a.bz2"], put_other_data);
    for bytes in [&b"BZx"[..], b"BZh0", b"a", &compressed(b"hello\n")] {
        same_as_bzip2("bzip2", &["-dcfv", "file"], b"", |place| place.put("file", bytes));
    }
}

fn other_data_from_pipes() {
    let (place, bytes) = (Place::new(), text(8893));
    for len in [1, 2, 3, 4, 5, 5000, 8893] {
        for flag in ["-dcf", "-df"] {
            assert!(place.hybz_with_input(&[flag], &bytes[..len]).silent(0).stdout == bytes[..len], "{len} bytes");
        }
    }
    // For bzip2 and hybz the beginning of a header is a stream that was cut.
    for cut in ["", "B", "BZ", "BZh", "BZh9"] {
        place.hybz_with_input(&["-dcf"], cut.as_bytes()).says(2, "ends unexpectedly");
    }
}

fn empty_files() {
    let said = refused(
        b"",
        "hybz: Compressed file ends unexpectedly; a.bz2 is empty.\n",
        "hybz: a.bz2: file ends unexpectedly: it is empty\n",
    );
    assert_eq!(said.lines().count(), 1, "{said}");
    let place = Place::with(&[("a.bz2", b"")]);
    place.hybz(&["-l", "a.bz2"]).says(2, "file ends unexpectedly: it is empty\n");
}

fn test_goes_on() {
    let (good, mut bad) = (compressed(b"hello\n"), compressed(b"hello\n"));
    bad[20] ^= 0x10;
    let place = Place::with(&[("a.bz2", &good), ("b.bz2", &bad), ("c.bz2", &good)]);
    let run = place.hybz(&["-tv", "a.bz2", "b.bz2", "c.bz2"]).says(2, "  c.bz2:   ok\n");
    assert!(run.stderr.contains("  b.bz2:   data integrity (CRC) error in data"), "{}", run.stderr);
}
