//! `--recover`, and the program `bzip2recover`.

use super::rows;
use crate::place::{Place, compressed, installed, noise, odd_name, run, text};

rows! {
    "`--recover` of a damaged file" | "bzip2recover and a loop" | "NAME.recovered; losses are reported; rc 2; the \
     file is not touched" => text_of_good_blocks;
    "`--recover` where nothing is lost, or nothing found" | "rc 0, 1" | "rc 0; rc 1 and no file" => nothing_lost;
    "`--recover=fill`" | "no such thing" | "zeros where text is lost, exactly as many if there is an index" => filled;
    "`--recover=bz2`" | "no such thing" | "a valid file of the good blocks, NAME.recovered.bz2" => rejoined;
    "`--recover=split`" | "bzip2recover makes bad ones, too" | "a file of each good block" => split;
    "`--recover --json`" | "no such thing" | "an object for each file (docs/JSON.md)" => as_json;
    "`--recover` with -c, -o, stdin, several files, -q" | "no such thing" | "as usual; a pipe is refused" => places;
    "results of `--recover` that exist" | "no such thing" | "kept unless -f" => nothing_is_overwritten;
    "called as `bzip2recover`" | "files, messages, rc" | "the same" => as_bzip2recover;
    "more than 50,000 blocks" | "bzip2recover refuses" | "no limit" => many_blocks;
    "`--recover` with senseless flags" | "-" | "a sentence; rc 1; nothing is written" => nonsense;
}

/// A file of at least three blocks, of which the second is damaged; and the text of its first and of its last blocks.
fn damaged() -> (Place, Vec<u8>) {
    let place = Place::with(&[("plain", &text(450_000))]);
    place.shell("hybz -1k plain; mv plain.bz2 good.bz2; hybz -t --index good.bz2").silent(0);
    let mut bad = place.get("good.bz2");
    let middle = bad.len() * 3 / 10;
    bad[middle] ^= 1;
    place.put("a.bz2", &bad);
    (place, bad)
}

fn lost(place: &Place) -> (u64, u64) {
    let json = place.shell("hybz --recover --json -qq -o report.text -f a.bz2; rm report.text").stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
    let hole = &json["holes"][0];
    (hole["text_offset"].as_u64().unwrap_or(0), hole["bit_offset"].as_u64().expect("bits"))
}

fn text_of_good_blocks() {
    let (place, bad) = damaged();
    place.hybz(&["--recover", "a.bz2"]).says(2, "are lost: at least 1 block, text from byte ");
    assert!(place.get("a.bz2") == bad);
    let (plain, found, before) = (place.get("plain"), place.get("a.recovered"), lost(&place).0 as usize);
    assert!(before > 0 && found[..before] == plain[..before] && plain.ends_with(&found[before..]));
    assert!(found.len() > 300_000 && found.len() < 400_000);
    // The same with one thread and with little memory.
    for args in [&["--recover=text", "-fp1"][..], &["--recover", "-fsk"], &["-d", "--recover", "-fm1"]] {
        assert_eq!(place.hybz(&[args, &["a.bz2"]].concat()).code, 2);
        assert!(place.get("a.recovered") == found);
    }
}

fn nothing_lost() {
    let (place, _) = damaged();
    place.hybz(&["--recover", "good.bz2"]).says(0, "blocks recovered, 450000 bytes of text, 0 holes");
    assert!(place.get("good.recovered") == place.get("plain"));
    place.put("empty.bz2", &compressed(b""));
    place.hybz(&["--recover", "-q", "empty.bz2"]).silent(0);
    assert!(place.get("empty.recovered").is_empty());
    for (name, bytes) in [("noise", noise(50_000)), ("nothing", Vec::new()), ("cut.bz2", b"BZh91AY".to_vec())] {
        place.put(name, &bytes);
        place.hybz(&["--recover", name]).says(1, ": it has no good block of a .bz2.");
        place.hybz(&["--recover=bz2", name]).says(1, ": it has no good block of a .bz2.");
        assert!(!place.has(format!("{name}.recovered")) && !place.has("cut.recovered"));
    }
    // A header, and as many zeros as the end of a stream has bytes.
    place.put("header.bz2", &[&b"BZh9"[..], &[0; 10]].concat());
    place.hybz(&["--recover", "header.bz2"]).says(1, ": it has no good block of a .bz2.");
    assert!(!place.has("header.recovered"));
    // The last 15 bytes of another stream.
    let other = compressed(b"lost");
    place.put("end.bz2", &[&compressed(b"kept"), &other[other.len() - 15..]].concat());
    place.hybz(&["--recover", "end.bz2"]).says(2, "are lost");
    assert_eq!(place.get("end.recovered"), b"kept");
    place.shell("hybz --block-size 1M -k plain").silent(0);
    place.hybz(&["--recover", "plain.hbz"]).says(1, " is a .hbz: --recover works only with .bz2.");
    place.hybz(&["--recover", "missing"]).says(1, "Can't open input file missing: No such file or directory.");
    place.hybz(&["--recover", "."]).says(1, "Input file . is a directory.");
}

fn filled() {
    let (place, _) = damaged();
    place.hybz(&["--recover=fill", "--index=good.bz2.bzi", "a.bz2"]).says(2, "bytes of text from byte ");
    let (plain, filled) = (place.get("plain"), place.get("a.recovered"));
    assert_eq!(filled.len(), plain.len());
    let (mut wrong, pairs) = (0, filled.iter().zip(&plain));
    for (found, right) in pairs.filter(|(found, right)| found != right) {
        assert_eq!((*found, *right != 0), (0, true));
        wrong += 1;
    }
    assert!(wrong > 50_000);
    // An index next to the file is used, a file that is not an index is ignored, and without an index the offsets are
    // guessed.
    place.shell("cp good.bz2.bzi a.bz2.bzi").silent(0);
    place.hybz(&["--recover=fill", "-f", "a.bz2"]);
    assert!(place.get("a.recovered") == filled);
    place.put("a.bz2.bzi", b"nonsense");
    place.hybz(&["--recover=fill", "-f", "a.bz2"]).says(2, "; recovering without it.");
    place.hybz(&["--recover=fill", "-f", "a.bz2"]).says(2, "were guessed, because there is no index");
    place.hybz(&["--recover", "--index=plain", "a.bz2"]).says(1, "Index plain: not an index.");
}

fn rejoined() {
    let (place, _) = damaged();
    place.hybz(&["--recover", "a.bz2"]);
    assert_eq!(place.hybz(&["--recover=bz2", "a.bz2"]).code, 2);
    place.shell("hybz -dc a.recovered.bz2 | cmp - a.recovered").silent(0);
    if installed("bzip2") {
        place.shell("bzip2 -t a.recovered.bz2 && bzip2 -dc a.recovered.bz2 | cmp - a.recovered").silent(0);
    }
    // For a good file of level 9, the result is the file itself.
    place.shell("hybz -9k plain; hybz --recover=bz2 -qo again plain.bz2; cmp again plain.bz2").silent(0);
}

fn split() {
    let (place, _) = damaged();
    place.hybz(&["--recover", "a.bz2"]);
    assert_eq!(place.hybz(&["--recover=split", "a.bz2"]).code, 2);
    place.shell("cat rec0000?a.bz2 | hybz -dc | cmp - a.recovered").silent(0);
    place.hybz(&["--recover=split", "a.bz2"]).says(1, "Output file rec00001a.bz2 already exists.");
    assert_eq!(place.hybz(&["--recover=split", "-f", "a.bz2"]).code, 2);
}

fn as_json() {
    let (place, _) = damaged();
    place.put("none", b"none");
    place.put(odd_name(), &place.get("good.bz2"));
    let args = ["--recover", "--json", "-qq", "a.bz2", "good.bz2", "none"];
    let run = run(place.called("hybz").args(args).arg(odd_name()));
    assert_eq!((run.code, run.stderr.as_str()), (2, ""));
    let objects = crate::json::objects(&run.stdout);
    assert_eq!(objects[3]["results_base64"][0], "b2RkIP8KJXMnIm5hbWUucmVjb3ZlcmVk");
    let exits: Vec<_> = objects.iter().map(|object| object["exit"].as_u64().expect("exit")).collect();
    assert_eq!(exits, [2, 0, 1, 0]);
    let hole = &objects[0]["holes"][0];
    assert!(hole["bit_end"].as_u64() > hole["bit_offset"].as_u64() && hole["cause"].is_string(), "{hole}");
    assert_eq!(objects[0]["results"][0], "a.recovered");
    assert_eq!((&objects[1]["uncompressed"], &objects[1]["holes"]), (&450_000.into(), &serde_json::json!([])));
    assert!(objects[2]["error"].as_str().is_some_and(|error| error.contains("no good block")));
}

fn places() {
    let (place, _) = damaged();
    place.hybz(&["--recover", "-qq", "a.bz2"]).silent(2);
    let expected = place.get("a.recovered");
    assert!(place.hybz(&["--recover", "-cqq", "a.bz2"]).silent(2).stdout == expected);
    assert!(place.shell("hybz --recover -cqq < a.bz2").silent(2).stdout == expected);
    place.shell("hybz --recover -qqo x < a.bz2").silent(2);
    assert!(place.get("x") == expected);
    place.shell("cp a.bz2 b.tbz2; cp a.bz2 c; hybz --recover -qq b.tbz2 c").silent(2);
    assert!(place.get("b.tar.recovered") == expected && place.get("c.recovered") == expected);
    place.shell("cat a.bz2 | hybz --recover -c").says(1, "is not a file on a disk: --recover cannot seek in it.");
    place.shell("mkfifo f; hybz --recover f").says(1, "is not a file on a disk");
    // An existing FIFO is written to, and stays.
    place.shell("mkfifo out; cat out >y & hybz --recover -fqqo out a.bz2; wait; test -p out && cmp x y").silent(0);
    // The result has the file's mode.
    place.set_mode("a.bz2", 0o640);
    place.hybz(&["--recover", "-f", "a.bz2"]);
    assert_eq!(place.mode("a.recovered"), 0o640);
}

fn nothing_is_overwritten() {
    let (place, bad) = damaged();
    place.put("a.recovered", b"mine");
    place.hybz(&["--recover", "a.bz2"]).says(1, "Output file a.recovered already exists.");
    place.hybz(&["--recover", "-fo", "a.bz2", "a.bz2"]).says(1, "Output file a.bz2 is the input file.");
    assert!(place.get("a.recovered") == b"mine" && place.get("a.bz2") == bad);
    assert_eq!(place.hybz(&["--recover", "-f", "a.bz2"]).code, 2);
    assert!(place.get("a.recovered").len() > 300_000);
}

/// hybz has the results, messages and exit codes of bzip2recover for files of all kinds.
fn as_bzip2recover() {
    if !installed("bzip2recover") {
        return;
    }
    let (place, bad) = damaged();
    let good = place.get("good.bz2");
    place.shell("mkdir d; mkdir d/e; cp a.bz2 d/e/x.bz2; cp a.bz2 noname").silent(0);
    place.put("cut.bz2", &bad[..bad.len() - 20_000]);
    place.put("twice", &[&good[..], &compressed(b""), &compressed(b"hello"), &good].concat());
    place.put("moved", &[&b"x"[..], &good[4..]].concat());
    place.put("noise", &noise(100_000));
    place.put("empty", b"");
    for args in [
        &["good.bz2"][..],
        &["a.bz2"],
        &["cut.bz2"],
        &["twice"],
        &["moved"],
        &["noise"],
        &["empty"],
        &["missing"],
        &["d"],
        &["d/e/x.bz2"],
        &["noname"],
        &[],
        &["a.bz2", "b"],
        &["--help"],
    ] {
        let mut results = Vec::new();
        let ours = place.called("bzip2recover");
        let path = std::env::var("PATH").unwrap_or_default();
        let find = |dir: &str| std::path::Path::new(dir).join("bzip2recover");
        let theirs = path.split(':').map(find).find(|path| path.exists()).expect("bzip2recover");
        let programs = [ours.get_program().to_owned(), theirs.into_os_string()];
        for program in programs {
            let first = run(place.command(&program).args(args));
            // Existing files are not overwritten.
            let second = run(place.command(&program).args(args));
            let clean = |text: &str| text.replace(&*program.to_string_lossy(), "PROGRAM");
            let made =
                place.shell("for f in rec* d/e/rec*; do if test -f $f; then stat -c %a $f; cksum $f; rm $f; fi; done");
            results.push((first.code, clean(&first.stderr), second.code, clean(&second.stderr), made.out()));
        }
        assert_eq!(results[0], results[1], "{args:?}");
    }
}

fn many_blocks() {
    let place = Place::with(&[("many", &compressed(b"hello, block\n").repeat(50_010))]);
    place.hybz(&["--recover", "many"]).says(0, ": 50010 blocks recovered, ");
    assert!(place.get("many.recovered") == b"hello, block\n".repeat(50_010));
    place.hybz(&["--recover=bz2", "-q", "many"]).silent(0);
    place.shell("hybz -dc many.recovered.bz2 | cmp - many.recovered").silent(0);
    if installed("bzip2recover") {
        place.shell("bzip2recover many").says(1, "appears to contain more than 50000 blocks");
    }
    let run = run(place.called("bzip2recover").arg("many"));
    assert!(run.code == 0 && run.stderr.ends_with("finished\n"));
    place.shell("ls | grep -c ^rec | grep -qx 50010; hybz -dc rec50010many.bz2 | grep -qx 'hello, block'").silent(0);
}

fn nonsense() {
    let (place, _) = damaged();
    place.refuses(&[
        ("--recover=zip a.bz2", "--recover expects text, fill, bz2 or split, not `zip'."),
        ("-l --recover a.bz2", "-l and --recover cannot be used together."),
        ("--recover -c --ranges 1@0 a.bz2", "--ranges and --recover cannot be used together."),
        ("--recover --ignore-trailing-garbage=0 a.bz2", "--ignore-trailing-garbage and --recover cannot"),
        ("--recover -c -o x a.bz2", "-c and -o cannot be used together."),
        ("--recover -o x a.bz2 a.bz2", "-o takes the result of one input file, not of 2."),
        ("--recover=split -c a.bz2", "--recover=split makes several files: it takes neither -c nor -o."),
        ("--recover=split -o x a.bz2", "--recover=split makes several files: it takes neither -c nor -o."),
        ("--recover --json -c a.bz2", "--json prints to standard output: use --recover with -o, not with -c."),
        ("--recover", "The result of recovering stdin needs a name: use -o or -c."),
        ("--recover a.bz2 -", "The result of recovering stdin needs a name: use -o or -c."),
        ("--recover --index=x a.bz2 a.bz2", "--index=FILE is the index of one file, not of 2."),
        ("--recover --index a.bz2", "Can't open input file a.bz2.bzi: No such file or directory."),
    ]);
}
