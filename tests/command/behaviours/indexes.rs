//! Indexes, and listings of files. bzip2 has neither.

use super::rows;
use crate::place::{Place, Run, compressed, noise, text};
use std::collections::BTreeSet;
use std::io::Write;
use std::process::Stdio;

rows! {
    "`--index` while compressing" | "no index" | "FILE.bz2 as usual, and FILE.bz2.bzi" => an_index_while_compressing;
    "`--index` with `-t`, `-dk`, `-dc`, `-l`" | "no index" | "the same index, of a file that exists"
        => an_index_of_a_file;
    "`--index=FILE`, `-o FILE`, stdin" | "no index" | "FILE, or the result's name and `.bzi`; a name is needed where \
     there is none" => names_of_indexes;
    "an index that exists" | "no index" | "kept unless -f; nothing is written then" => indexes_are_not_overwritten;
    "`--index` of a .hbz" | "no index" | "a remark; rc 0" => a_hbz_needs_no_index;
    "a result whose name is taken meanwhile" | "rc 1" | "rc 1, and no index either" => no_index_without_its_file;
    "`--index` of a damaged file" | "no index" | "none is written; rc 2" => no_index_of_damage;
    "`-f --index=FIFO`, a device" | "no index" | "written to directly, as by `-o`" => an_index_into_a_fifo;
    "an index that cannot be written; its mode" | "no index" | "rc 1 before the work; no result, source kept; as the \
     file's" => unwritable_index;
    "`-l` next to an index" | "no -l" | "reads the index if it fits, decodes if not, with a remark"
        => lists_by_the_index;
    "`-l --json`" | "no -l" | "an object for each file, also for those that fail" => lists_as_json;
    "`-l` of a file with bytes after its last stream" | "no -l" | "a remark; `trailing_garbage` with `--json`"
        => lists_with_garbage;
    "the column `offset` of `-lv`" | "no -l" | "the byte in which a block begins" => offsets_of_blocks;
    "`--index` of a `.bz2`" | "no index" | "refused as usual, with a hint at `-t --index`" => a_hint_at_t;
    "`-l` of a file that cannot be opened" | "no -l" | "no head of a table" => no_head_without_a_file;
    "`-d` of a file that has an index" | "no index" | "the index stays, with a remark; none under bzip2's names"
        => an_index_that_is_left;
    "bad values, and flags that do not go together" | "-" | "a sentence; rc 1; nothing is written" => nonsense;
}

fn an_index_into_a_fifo() {
    let place = Place::with(&[("a", &text(300_000))]);
    place.shell("hybz -k --index a && mkfifo fifo").silent(0);
    place.shell("timeout 20 cat fifo > got & timeout 20 hybz -kf --index=fifo a; code=$?; wait; exit $code").silent(0);
    place.shell("test -p fifo && cmp got a.bz2.bzi").silent(0);
}

/// Two streams with blocks of 100 kB, and between them a stream without blocks.
pub fn two_streams() -> (Vec<u8>, Vec<u8>) {
    let (one, two) = (text(450_000), noise(150_000));
    (compressed(&one).into_iter().chain(compressed(b"")).chain(compressed(&two)).collect(), [one, two].concat())
}

pub fn place() -> (Place, Vec<u8>) {
    let (coded, plain) = two_streams();
    (Place::with(&[("a.bz2", &coded)]), plain)
}

/// A place with `a.bz2` of [`two_streams`] and `plain`.
pub fn to_refuse() -> Place {
    let (place, _) = place();
    place.put("plain", b"hello\n");
    place
}

fn an_index_while_compressing() {
    let place = Place::with(&[("a", &text(450_000)), ("b", b""), ("c", &noise(250_000))]);
    for file in ["a", "b", "c"] {
        place.hybz(&["-1k", file, "-c"]).silent(0);
        let plain = place.hybz(&["-1c", file]).silent(0).stdout;
        place.hybz(&["-1k", "--index", file]).silent(0);
        assert!(place.get(format!("{file}.bz2")) == plain, "{file}");
        assert_eq!(place.get(format!("{file}.bz2.bzi"))[..4], *b"\x89BZI", "{file}");
    }
    // Several files in one call, with one thread and with three; and the sources are removed as usual.
    let made: Vec<_> = ["a", "b", "c"].map(|file| place.get(format!("{file}.bz2.bzi"))).into();
    for threads in ["-p1", "-p3"] {
        place.shell(&format!("rm *.bz2*; hybz -1k --index {threads} a b c")).silent(0);
        assert!(["a", "b", "c"].map(|file| place.get(format!("{file}.bz2.bzi"))) == made[..], "{threads}");
    }
    place.shell("rm *.bz2*; hybz --index a b c").silent(0);
    assert_eq!(place.names(), ["a.bz2", "a.bz2.bzi", "b.bz2", "b.bz2.bzi", "c.bz2", "c.bz2.bzi"]);
}

fn an_index_of_a_file() {
    let (place, plain) = place();
    let mut made = BTreeSet::new();
    for args in ["-t", "-dk", "-dc", "-l", "-lv", "-tp1", "-tp3"] {
        let run = place.hybz(&[args, "--index", "a.bz2"]);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{args}");
        assert!(args != "-dc" || run.stdout == plain);
        made.insert(place.get("a.bz2.bzi"));
        place.shell("rm a.bz2.bzi; rm -f a").silent(0);
    }
    assert_eq!(made.len(), 1);
    place.hybz(&["-d", "--index", "a.bz2"]).says(1, "use -d --index with -k, -c or -o.");
    place.hybz(&["-d", "--index", "-o", "x", "a.bz2"]).silent(0);
    assert_eq!(place.names(), ["a.bz2", "a.bz2.bzi", "x"]);
}

fn names_of_indexes() {
    let (place, _) = place();
    place.shell("hybz -t --index a.bz2; mv a.bz2.bzi expected").silent(0);
    let expected = place.get("expected");
    place.hybz(&["-t", "--index=x", "a.bz2"]).silent(0);
    place.shell("hybz -t --index=y < a.bz2").silent(0);
    place.shell("cat a.bz2 | hybz -dc --index=z | cmp - <(hybz -dc a.bz2)").silent(0);
    place.shell("cat a.bz2 | hybz -l --index=w >list").silent(0);
    for name in ["x", "y", "z", "w"] {
        assert!(place.get(name) == expected, "{name}");
    }
    place.put("plain", &text(300_000));
    place
        .shell("hybz -o r --index plain; hybz -c --index=s plain | cmp - r; hybz --index=t <plain | cmp - r")
        .silent(0);
    assert!(place.get("r.bzi") == place.get("s") && place.get("s") == place.get("t"));
    for (line, says) in [
        ("hybz -c --index plain", "The index needs a name: use --index=FILE."),
        ("hybz --index <plain", "The index needs a name"),
        ("hybz -t --index <a.bz2", "The index needs a name"),
        ("hybz -t --index=q a.bz2 a.bz2", "--index=FILE is the index of one file, not of 2."),
        ("hybz -tf --index=a.bz2 a.bz2", "Output file a.bz2 would be its own index."),
        ("hybz -tf --index=./a.bz2 a.bz2", "Output file ./a.bz2 is the input file."),
        ("hybz -kf --index=plain.bz2 plain", "Output file plain.bz2 would be its own index."),
    ] {
        let before = place.files();
        place.shell(line).says(1, says);
        assert!(place.files() == before, "{line}");
    }
}

fn indexes_are_not_overwritten() {
    let (place, _) = place();
    place.put("a.bz2.bzi", b"mine");
    place.put("b", b"hello\n");
    place.put("b.bz2.bzi", b"mine");
    let before = place.files();
    for args in [["-t", "--index", "a.bz2"], ["-l", "--index", "a.bz2"], ["-k", "--index", "b"]] {
        place.hybz(&args).says(1, "already exists.");
        assert!(place.files() == before, "{args:?}");
    }
    place.shell("hybz -tf --index a.bz2; hybz -f --index b").silent(0);
    assert_eq!(place.get("a.bz2.bzi")[..4], *b"\x89BZI");
    assert_eq!(place.get("b.bz2.bzi")[..4], *b"\x89BZI");
    place.shell("mkdir d; hybz -tf --index=d a.bz2").says(1, "Can't create output file d: Is a directory.");
}

fn a_hbz_needs_no_index() {
    let place = Place::with(&[("a", &text(100_000))]);
    place.shell("hybz -k --block-size 1M a; hybz -k a; cat a.bz2 a.hbz > mixed").silent(0);
    for args in [["-t", "--index", "a.hbz"], ["-t", "--index", "mixed"], ["-l", "--index", "a.hbz"]] {
        place.hybz(&args).says(0, "has .hbz streams, which contain their own indexes: no index is written");
        place.hybz(&["-q", args[0], args[1], args[2]]).silent(0);
    }
    place.hybz(&["--index", "--block-size", "1M", "a"]).says(1, "A .hbz file contains its own index");
    assert_eq!(place.names(), ["a", "a.bz2", "a.hbz", "mixed"]);
}

fn no_index_of_damage() {
    let (place, _) = place();
    let mut coded = place.get("a.bz2");
    coded[100_000] ^= 1;
    place.put("bad.bz2", &coded);
    place.put("cut.bz2", &coded[..90_000]);
    place.put("none.bz2", b"no such thing");
    for file in ["bad.bz2", "cut.bz2", "none.bz2"] {
        for mode in ["-t", "-dc", "-l"] {
            assert_eq!(place.hybz(&[mode, "--index", file]).code, 2, "{mode} {file}");
        }
    }
    assert_eq!(place.names(), ["a.bz2", "bad.bz2", "cut.bz2", "none.bz2"]);
}

fn unwritable_index() {
    let (private, _) = self::place();
    private.put("p", b"hello\n");
    for (args, file) in
        [(["-t", "--index", "a.bz2"], "a.bz2"), (["-l", "--index=i", "a.bz2"], "a.bz2"), (["-k", "--index", "p"], "p")]
    {
        private.set_mode(file, 0o600);
        private.hybz(&args);
    }
    for index in ["a.bz2.bzi", "i", "p.bz2.bzi"] {
        assert_eq!(private.mode(index), 0o600, "{index}: a user who may not read the file may not read its index");
    }
    let place = Place::with(&[("a", b"hello\n")]);
    place.hybz(&["--index=no/such/place", "a"]).says(1, "Can't create output file no/such/place: No such file");
    assert_eq!(place.names(), ["a"]);
}

fn no_index_without_its_file() {
    let place = Place::new();
    let mut command = place.called("hybz");
    command.args(["-1", "--index", "-o", "a.bz2"]).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // hybz has begun the result once it takes a block of it from the pipe.
    let mut input = child.stdin.take().unwrap();
    input.write_all(&noise(600_000)).unwrap();
    place.put("a.bz2", b"another's");
    drop(input);
    let run = Run::from(child.wait_with_output().unwrap());
    run.says(1, "hybz: Output file a.bz2 already exists.");
    assert_eq!(place.names(), ["a.bz2"]);
    assert_eq!(place.get("a.bz2"), b"another's");
}

fn lists_by_the_index() {
    let (place, _) = place();
    let decoded = place.hybz(&["-l", "a.bz2"]).silent(0);
    place.hybz(&["-t", "--index", "a.bz2"]).silent(0);
    assert_eq!(place.hybz(&["-l", "a.bz2"]).silent(0), decoded);
    // With zeros in the middle of the file, the index still lists the old blocks; -lv checks them.
    let mut coded = place.get("a.bz2");
    let middle = coded.len() / 2;
    coded[middle..middle + 100].fill(0);
    place.put("a.bz2", &coded);
    assert_eq!(place.hybz(&["-l", "a.bz2"]).silent(0), decoded);
    assert_eq!(place.hybz(&["-lv", "a.bz2"]).code, 2);
    // Another length: the index does not fit.
    place.put("a.bz2", &two_streams().0.repeat(2));
    place.hybz(&["-l", "a.bz2"]).says(0, "decoding without it");
    place.put("a.bz2.bzi", b"\x89BZI\r\n\x1a\nand nonsense, of more than 64 bytes, which nobody should believe....");
    place.hybz(&["-l", "a.bz2"]).says(0, "Index a.bz2.bzi: the index is damaged: its header; decoding without it");
    // Only some records of an index of more than 64 KiB are checked before it is used.
    let many = compressed(b"text\n").repeat(1700);
    place.put("a.bz2", &many);
    place.shell("rm a.bz2.bzi; hybz -t --index a.bz2").silent(0);
    let index = place.get("a.bz2.bzi");
    assert!(index.len() > 64 << 10);
    let by_index = place.hybz(&["-l", "a.bz2"]).silent(0);
    let at = 64 + 40 * 800 + 3;
    place.put("a.bz2.bzi", &[&index[..at], &[!index[at]], &index[at + 1..]].concat());
    let run = place.hybz(&["-l", "a.bz2"]);
    assert!(run.stdout == by_index.stdout);
    run.says(0, "hybz: Index a.bz2.bzi: the index is damaged: a record has a wrong check; decoding without it.");
}

fn lists_as_json() {
    let (place, _) = place();
    place.put("b", &text(50_000));
    place.put("bad", b"BZh9 and nonsense");
    place.shell("hybz --block-size 1M b").silent(0);
    let odd = crate::place::odd_name();
    std::fs::copy(place.path("a.bz2"), place.path(odd)).unwrap();
    let mut command = place.called("hybz");
    command.args(["-lv", "--json", "a.bz2", "b.hbz", "bad", "none"]).arg(odd);
    let run = crate::place::run(&mut command);
    assert_eq!(run.code, 2);
    let objects = crate::json::objects(&run.stdout);
    assert_eq!(objects.len(), 5);
    let [a, b, bad, none, odd] = &objects[..] else { unreachable!() };
    for object in &objects {
        assert_eq!(object["schema"], 1);
    }
    assert_eq!((a["format"].as_str(), a["streams"].as_u64(), a["exit"].as_u64()), (Some("bz2"), Some(3), Some(0)));
    assert_eq!((a["uncompressed"].as_u64(), a["block_size"].as_u64()), (Some(600_000), Some(100_000)));
    assert_eq!(a["compressed"].as_u64(), Some(place.get("a.bz2").len() as u64));
    let blocks = a["block_list"].as_array().unwrap();
    assert_eq!(a["blocks"].as_u64(), Some(blocks.len() as u64));
    let offsets = place.offsets("a.bz2");
    for block in blocks {
        let line = format!("{},{}\n", block["bit_offset"], block["text_offset"]);
        assert!(offsets.contains(&line) && block["state"] == "ok", "{line}");
    }
    assert_eq!((b["format"].as_str(), b["block_size"].as_u64()), (Some("hbz"), Some(1_000_000)));
    assert_eq!((bad["exit"].as_u64(), none["exit"].as_u64()), (Some(2), Some(1)));
    assert!(none["error"].as_str().unwrap().contains("No such file"));
    assert_eq!(odd["name_base64"], "b2RkIP8KJXMnIm5hbWU=");
    // The numbers come from the index; no block is decoded.
    place.hybz(&["-t", "--index", "a.bz2"]).silent(0);
    let one: serde_json::Value = serde_json::from_str(&place.hybz(&["-l", "--json", "a.bz2"]).silent(0).out()).unwrap();
    assert_eq!((one["from"].as_str(), one["blocks"].as_u64()), (Some("index"), a["blocks"].as_u64()));
    assert!(one.get("block_list").is_none());
    let lines = place.hybz(&["-dc", "a.bz2"]).silent(0).stdout.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!((one["lines"].as_u64(), a.get("lines")), (Some(lines as u64), None));
}

fn a_hint_at_t() {
    let (place, _) = place();
    let known = "hybz: Input file a.bz2 already has .bz2 suffix.";
    place.hybz(&["--index", "a.bz2"]).says(1, &format!("{known} Its index: -t --index.\n"));
    place.hybz(&["-k", "a.bz2"]).says(1, &format!("{known}\n"));
}

fn no_head_without_a_file() {
    let (place, _) = place();
    let run = place.hybz(&["-l", "none", "neither"]).says(1, "hybz: Can't open input file none: No such file");
    assert_eq!(run.out(), "");
    let run = place.hybz(&["-l", "none", "a.bz2"]);
    assert_eq!((run.code, run.out().lines().count()), (1, 2), "{run:?}");
}

fn an_index_that_is_left() {
    for (name, says) in [("hybz", "hybz: a.bz2.bzi is kept: it is the index of a.bz2\n"), ("bzip2", "")] {
        let (place, _) = place();
        place.shell("hybz -t --index a.bz2").silent(0);
        let run = crate::place::run(place.called(name).args(["-d", "a.bz2"]));
        assert_eq!((run.code, &*run.stderr), (0, says), "{name}");
        assert_eq!(place.names(), ["a", "a.bz2.bzi"]);
        let (place, _) = self::place();
        place.shell("hybz -t --index a.bz2; hybz -dk a.bz2; hybz -dqf a.bz2").silent(0);
    }
}

/// Each bad value, and each senseless pair of flags, makes hybz print one line and exit with 1, and nothing is done.
fn nonsense() {
    let place = to_refuse();
    place.refuses(&[
        ("--index --block-size 2M plain", "A .hbz file contains its own index: --index works only with .bz2."),
        ("--index --perturb 1000 plain", "A .hbz file contains its own index: --index works only with .bz2."),
        ("-d --index a.bz2", "use -d --index with -k, -c or -o."),
        ("--index=x plain a.bz2", "--index=FILE is the index of one file, not of 2."),
        ("-c --index plain", "The index needs a name: use --index=FILE."),
        ("-rc --index plain", "--index and -c cannot be used together for several files: their indexes need names."),
        ("-c --index --filelist plain", "--index and -c cannot be used together for several files"),
        ("-c --index plain plain", "--index and -c cannot be used together for several files"),
        ("-t --index a.bz2 -", "--index and standard input cannot be used together for several files"),
        ("-l --index=x a.bz2 a.bz2", "--index=FILE is the index of one file, not of 2."),
    ]);
}

fn lists_with_garbage() {
    let (place, _) = place();
    place.put("b", &text(50_000));
    place.shell("hybz --block-size 1M b; hybz -t --index a.bz2; cp a.bz2 c.bz2; cp a.bz2.bzi c.bz2.bzi").silent(0);
    for (name, from) in [("a.bz2", "decoding"), ("b.hbz", "index"), ("c.bz2", "index")] {
        if name == "a.bz2" {
            std::fs::remove_file(place.path("a.bz2.bzi")).expect("an index");
        }
        let list = |code: i32, says: &str| {
            let run = place.hybz(&["-l", "--json", name]);
            assert!(run.code == code && run.stderr == says, "{name}: {run:?}");
            crate::json::objects(&run.stdout).remove(0)
        };
        assert!(list(0, "")["trailing_garbage"].is_null());
        let whole = place.get(name);
        place.put(name, &[&whole[..], b"no stream"].concat());
        let listed = list(0, &format!("hybz: {name}: trailing garbage after EOF ignored\n"));
        assert_eq!((listed["trailing_garbage"].as_u64(), &listed["from"]), (Some(whole.len() as u64), &from.into()));
        place.hybz(&["-lq", name]).silent(0);
        let run = place.hybz(&["-l", "--ignore-trailing-garbage=0", name]);
        assert!(run.code == 2 && run.stderr.contains("garbage after the end, from byte"), "{run:?}");
    }
}

fn offsets_of_blocks() {
    let (place, _) = place();
    let listed = place.hybz(&["-lv", "a.bz2"]).silent(0).out();
    let offset = |line: &str| line.split_whitespace().nth(2)?.parse().ok();
    let offsets: Vec<u64> = listed.lines().skip(3).filter_map(offset).collect();
    let objects = crate::json::objects(&place.hybz(&["-lv", "--json", "a.bz2"]).silent(0).stdout);
    let blocks = objects[0]["block_list"].as_array().expect("blocks");
    let expected: Vec<u64> = blocks.iter().map(|block| block["bit_offset"].as_u64().expect("a number") / 8).collect();
    assert_eq!(offsets, expected);
}
