//! LZ4 frames. bzip2 neither reads nor writes them, nor does hybz read them when called by bzip2's names.

use super::{as_bzip2_sees, is_read, rows};
use crate::place::{Place, text};
use hybz::lz4::Frame;
use hybz::{LargeBlocks, Settings};

rows! {
    "`--format=lz4`" | "no such flag" | "`NAME.lz4`, an LZ4 frame and its index; `-1`, `-2` fast, `-3` to `-9` as \
     `lz4 -3` to `-9`; 1 by default" => writing;
    "`--format=hbz`, `--format=bz2`" | "no such flag" | "`NAME.hbz` in blocks of 9M, or what `--block-size` says; \
     `NAME.bz2`" => other_formats;
    "`-d`, `-dk`, `-dc`, `-t`, `-dcf` of an `.lz4`" | "not a bzip2 file" | "its text, as `lz4 -d`; also from stdin"
        => reading;
    "`--format=lz4` of `NAME.lz4`; of `NAME.lz4` without it" | "`NAME.lz4.bz2`" | "refused: it has the suffix; \
     `NAME.lz4.bz2`" => names;
    "damage to an `.lz4`, a cut, a dictionary" | "-" | "rc 2, the text before it to stdout, what is wrong by name"
        => damage;
    "bytes after an LZ4 frame that are not a frame" | "-" | "ignored with a remark, as after a `.bz2`; `lz4 -d`: rc 1"
        => garbage;
    "`-l` of an `.lz4`; with `-v`, `--json`" | "no -l" | "decoded: its sizes, the number of blocks" => listing;
    "`--index` of an `.lz4`; `--recover`, `--bench`" | "no such flags" | "a remark and no index; \
     refused by name" => other_flags;
    "`--format=lz4` with `--block-size`, `--perturb`, `--stream-size`, `--index`, `--verify`, `--plan`, `--shard`, \
     `--join`, `--bench`, `--gpu-required`, `--gpu-pipeline`; `--format` with `-d`, `-t`, `-l`" | "no such flags"
        | "refused by name" => refused;
    "called as `bzip2`, `bunzip2` or `bzcat`: an `.lz4`" | "not a bzip2 file" | "the same; so are names that end in \
     `.lz4`" => called_as_bzip2;
}

fn coded(text: &[u8]) -> Vec<u8> {
    hybz::compress(text, &Settings::new().encoding(Frame::new())).unwrap()
}

fn writing() {
    let text = text(3_000_000);
    let place = Place::with(&[("a", &text), ("b", b"short")]);
    place.hybz(&["-k", "--format=lz4", "a", "b"]).silent(0);
    assert!(
        place.get("a.lz4")
            == hybz::compress(&text, &Settings::new().encoding(Frame::new().text_len(3_000_000))).unwrap()
    );
    assert!(place.get("b.lz4") == coded(b"short"));
    place.hybz(&["-kf", "-9", "--format=lz4", "a"]).silent(0);
    let nine = Settings::new().encoding(Frame::new().level(9).text_len(3_000_000));
    assert!(place.get("a.lz4") == hybz::compress(&text, &nine).unwrap());
    assert_eq!(place.hybz_with_input(&["--format", "lz4"], b"x").silent(0).stdout, coded(b"x"));
    place.hybz(&["--format=lz4", "-o", "c", "b"]).silent(0);
    assert_eq!(place.get("c"), coded(b"short"));
    place.hybz(&["-f", "--format=lz4", "-S", ".x", "b"]).silent(0);
    assert_eq!(place.names(), ["a", "a.lz4", "b.lz4", "b.x", "c"]);
    assert!(place.hybz(&["-kfv", "--format=lz4", "a"]).stderr.contains("3000000 in"));
}

fn other_formats() {
    let place = Place::with(&[("a", b"text")]);
    place.hybz(&["-k", "--format=hbz", "a"]).silent(0);
    let large = LargeBlocks::try_new(9_000_000).unwrap();
    assert_eq!(place.get("a.hbz"), hybz::compress(b"text", &Settings::new().encoding(large)).unwrap());
    place.hybz(&["-k", "--format=bz2", "a"]).silent(0);
    assert_eq!(place.get("a.bz2"), hybz::compress(b"text", &Settings::new()).unwrap());
    assert_eq!(place.hybz(&["--format=zip", "a"]).code, 1);
}

fn reading() {
    let file = coded(b"some text");
    is_read("a.lz4", &file, b"some text");
    let place = Place::with(&[("a.lz4", &file)]);
    // A file that only begins like a frame is copied.
    for other in [&b"Plain"[..], b"\x04\x22"] {
        assert_eq!(place.hybz_with_input(&["-dcf"], other).silent(0).stdout, other);
    }
    assert_eq!(place.hybz(&["-dc", "--ranges", "4@5", "a.lz4"]).silent(0).stdout, b"text");
}

fn names() {
    let file = coded(b"some text");
    let place = Place::with(&[("a.lz4", &file), ("b", b"x")]);
    place.hybz(&["--format=lz4", "a.lz4"]).says(1, "a.lz4 already has .lz4 suffix.");
    place.hybz(&["-kr", "--format=lz4", "."]);
    assert_eq!(place.names(), ["a.lz4", "b", "b.lz4"]);
    place.hybz(&["a.lz4"]).silent(0);
    assert_eq!(place.names(), ["a.lz4.bz2", "b", "b.lz4"]);
}

fn damage() {
    let text = text(300_000);
    let mut file = coded(&text);
    let place = Place::with(&[("cut.lz4", &file[..file.len() / 2])]);
    file[40] ^= 0x55;
    place.put("bad.lz4", &file);
    for name in ["cut.lz4", "bad.lz4"] {
        assert_eq!(place.hybz(&["-t", name]).code, 2);
        let run = place.hybz(&["-d", name]);
        assert_eq!(run.code, 2, "{run:?}");
        assert!(place.has(name) && !place.has(&name[..3]));
    }
    let cut = place.hybz(&["-dc", "cut.lz4"]);
    assert!(cut.code == 2 && !cut.stdout.is_empty() && text.starts_with(&cut.stdout));
    assert!(place.hybz(&["-t", "cut.lz4"]).stderr.contains("file ends unexpectedly"));
    assert!(place.hybz(&["-t", "bad.lz4"]).stderr.contains("data integrity error"));
    // A header that names dictionary 7, with the right checksum.
    let dictionary = b"\x04\x22\x4d\x18\x41\x40\x07\0\0\0";
    let mut dictionary = dictionary.to_vec();
    dictionary.push((twox_hash::XxHash32::oneshot(0, &dictionary[4..]) >> 8) as u8);
    let run = place.hybz_with_input(&["-t"], &dictionary);
    assert!(run.code == 2 && run.stderr.contains("dictionary 7 is needed"), "{run:?}");
}

fn garbage() {
    let file = [coded(b"text"), b"garbage".to_vec()].concat();
    let place = Place::with(&[("a.lz4", &file)]);
    let run = place.hybz(&["-dc", "a.lz4"]);
    assert!(run.code == 0 && run.stdout == b"text" && run.stderr.contains("trailing garbage"), "{run:?}");
    assert_eq!(place.hybz(&["-t", "--ignore-trailing-garbage=0", "a.lz4"]).code, 2);
}

fn listing() {
    let place = Place::with(&[("a.lz4", &coded(&text(200_000)))]);
    for flags in ["-l", "-lv"] {
        let run = place.hybz(&[flags, "a.lz4"]).silent(0);
        let line = String::from_utf8(run.stdout).unwrap().lines().nth(1).unwrap().to_owned();
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!((words[0], words[1], words[4], words[6]), ("1", "4", "200000", "a.lz4"), "{line}");
    }
    let run = place.hybz(&["-l", "--json", "a.lz4"]).silent(0);
    let object: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(object["format"], "lz4");
    assert_eq!(object["blocks"], 4);
}

fn other_flags() {
    let place = Place::with(&[("a.lz4", &coded(b"text"))]);
    let remark = "a.lz4 has LZ4 frames, which contain their own indexes: no index is written";
    place.hybz(&["-t", "--index", "a.lz4"]).says(0, remark);
    assert_eq!(place.names(), ["a.lz4"]);
    // Skippable frames alone have no stream, and so no index either.
    let place = Place::with(&[("a.lz4", &[0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0])]);
    place.hybz(&["-t", "--index", "a.lz4"]).says(0, remark);
    let listed = place.hybz(&["-l", "--json", "a.lz4"]).silent(0);
    assert!(listed.out().contains("\"lz4\""), "{}", listed.out());
    // Other data after a frame are an error, whatever they are: nothing is removed.
    let other = [0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 9, 0x28, 0xb5, 0x2f, 0xfd, 4, 0, 1, 0, 0];
    let place = Place::with(&[("a.zst", &other), ("a.lz4", &other)]);
    for flags in [&["-d", "a.zst"][..], &["-d", "a.lz4"], &["-t", "a.zst"]] {
        assert_ne!(place.hybz(flags).code, 0);
        assert_eq!(place.names(), ["a.lz4", "a.zst"]);
    }
    let place = Place::with(&[("a.lz4", &coded(b"text"))]);
    for flags in [&["--recover"][..], &["--bench=0.01", "-d"]] {
        let run = place.hybz(&[flags, &["a.lz4"]].concat());
        assert!(run.code == 1 && run.stderr.contains("a.lz4 is an .lz4"), "{run:?}");
    }
}

fn refused() {
    let flags = [
        "--block-size 1M",
        "--perturb 9",
        "--stream-size 1M",
        "--index",
        "--verify",
        "--plan 1M",
        "--shard 0 --plan-file=a -o x",
        "--join plan -o x",
        "--bench",
        "--gpu-required",
        "--gpu-pipeline bwt",
        "-d",
        "-t",
        "-l",
    ];
    Place::with(&[("a", b"text")]).refuses_each("--format=lz4 {} a", "hybz: --format=lz4 and {}", &flags);
}

fn called_as_bzip2() {
    as_bzip2_sees(&["a.lz4", "a.bz2"], &coded(b"text"));
}
