//! Whole trees, lists of files, and a directory for results.

use super::rows;
use crate::place::{Place, as_nobody, compressed, text};
use crate::skip::{Need, skip_part};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, symlink};
use std::os::unix::net::UnixListener;

rows! {
    "`-r DIR`" | "bad flag" | "compresses all files in it and below, as a loop over bzip2 does; one line at the end, \
     which `-q` hides" => trees;
    "`-rd`, `-rt`, `-rc`" | "-" | "the same; files without a suffix are left out and counted"
        => trees_of_compressed_files;
    "`-r` of a tree that is compressed already" | "-" | "its files are left out and counted, rc 0" => twice;
    "`-r`: links, FIFOs, sockets, devices" | "-" | "left out and counted; a link to a directory is walked only if it \
     was typed, with `-f`" => links_and_special_files;
    "`-r`: a directory that cannot be read" | "-" | "reported, rc 1; the rest is done" => unreadable_directories;
    "`-r`: other file systems" | "-" | "not walked, but counted; `--cross-file-systems` walks them"
        => other_file_systems;
    "`-r`: paths longer than the system takes, few descriptors" | "-" | "walked" => deep_and_wide_trees;
    "`--filelist FILE`, `--null`" | "bad flag" | "the names in FILE, after those typed; as with `-r`, what is \
     compressed already is left out" => lists;
    "`.NAME.hybz-tmp`, the report, in trees and lists" | "-" | "left out and counted as hybz's own; \
     taken if they are typed" => files_of_its_own;
    "a list that is missing, a directory, or none" | "-" | "a sentence, rc 1" => bad_lists;
    "`--exclude GLOB`" | "bad flag" | "leaves out names and paths" => excluded;
    "`--output-dir DIR`" | "bad flag" | "results below DIR, at the places of their sources, which are kept unless \
     `--rm`" => output_directory;
    "`--output-dir`: source directories that may not be written" | "-" | "their mirrors are not writable either, once \
        they are complete"
        => mirrors_of_read_only_directories;
    "`--output-dir`: names with `..`, links in DIR" | "-" | "refused, rc 1: nothing is written outside DIR"
        => nothing_leaves_the_output_directory;
    "`--keep-going`, `--fail-fast`" | "bad flag" | "the default; no further file after an error" => first_error;
    "these flags in senseless combinations" | "-" | "a sentence; rc 1; nothing is written" => nonsense;
}

/// `tree` with 5 files, some of whose names are not UTF-8.
pub fn tree() -> Place {
    let place = Place::new();
    fs::create_dir_all(place.path("tree/a b/deeper")).expect("directories");
    fs::create_dir(place.path(OsStr::from_bytes(b"tree/\xff\n"))).expect("a directory");
    for (number, name) in FILES.iter().enumerate() {
        place.put(OsStr::from_bytes(name), &text(100 + 3000 * number));
    }
    place
}

const FILES: [&[u8]; 5] =
    [b"tree/one", b"tree/a b/two\nlines", b"tree/a b/deeper/-dash", b"tree/\xff\n/\xfe", b"tree/a b/*"];

/// All files in `top` and below it, with their bytes.
pub fn all(place: &Place, top: &str) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let files = place.tree(top).into_iter().filter(|(_, (is, _))| !is.is_dir());
    files.map(|(name, (_, bytes))| (name.into_os_string().into_vec(), bytes)).collect()
}

/// What `all` returns when each file has been compressed.
pub fn all_compressed(before: &BTreeMap<Vec<u8>, Vec<u8>>) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let compressed = |bytes: &[u8]| hybz::compress(bytes, &hybz::Settings::new()).expect("it fits into memory");
    before.iter().map(|(name, bytes)| ([name, &b".bz2"[..]].concat(), compressed(bytes))).collect()
}

/// Compares files; if they differ, it does not print all their bytes.
#[track_caller]
pub fn same(found: BTreeMap<Vec<u8>, Vec<u8>>, expected: BTreeMap<Vec<u8>, Vec<u8>>) {
    let names = |files: &BTreeMap<Vec<u8>, Vec<u8>>| -> Vec<String> {
        files.iter().map(|(name, bytes)| format!("{}: {}", String::from_utf8_lossy(name), bytes.len())).collect()
    };
    assert_eq!(names(&found), names(&expected));
    assert!(found == expected, "other bytes");
}

fn trees() {
    let place = tree();
    let before = all(&place, "tree");
    let bytes: usize = before.values().map(Vec::len).sum();
    let line = format!("hybz: 5 files compressed, {bytes} bytes to ");
    place.hybz(&["-r", "tree"]).says(0, &line);
    same(all(&place, "tree"), all_compressed(&before));
    place.hybz(&["-qrd", "tree"]).silent(0);
    same(all(&place, "tree"), before.clone());
    place.hybz(&["-qrk", "./tree/"]).silent(0);
    assert_eq!(all(&place, "tree").len(), 10);
    // The order is the same each time.
    let names = place.shell("rm tree/one.bz2 tree/*/*.bz2 tree/*/*/*.bz2; hybz -rkv tree").stderr;
    let starts = ["  tree/one: ", "  tree/a b/*: ", "  tree/a b/two", "lines: ", "  tree/a b/deeper/-dash: "];
    let places: Vec<_> = starts.iter().map(|start| names.find(start)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?} {names}");
    place.hybz(&["-r", "one"]).says(1, "hybz: Can't read directory one: No such file or directory.");
}

fn trees_of_compressed_files() {
    let place = tree();
    let before = all(&place, "tree");
    place.hybz(&["-qr", "tree"]).silent(0);
    place.put("tree/plain", b"hello\n");
    place.hybz(&["-rt", "tree"]).says(0, "5 files tested").says(0, "; 1 skipped (1 without a suffix");
    let mut text: Vec<u8> = Vec::new();
    for name in [FILES[0], FILES[4], FILES[1], FILES[2], FILES[3]] {
        text.extend(&before[&name[5..]]);
    }
    assert!(place.hybz(&["-qrdc", "tree"]).silent(0).stdout == text);
    // Files that are not compressed are copied, as with bzip2, one after another.
    assert_eq!(place.hybz(&["-qrdcf", "tree"]).silent(0).stdout.len(), text.len() + 6);
    place.put("tree/bad.bz2", b"BZh9 bad");
    place.hybz(&["-rd", "tree"]).says(2, "5 files decompressed").says(2, "; 1 error\n");
    assert!(place.has("tree/bad.bz2") && place.has("tree/one"));
}

fn twice() {
    let place = tree();
    place.hybz(&["-qr", "tree"]).silent(0);
    let before = all(&place, "tree");
    place.hybz(&["-r", "tree"]).says(0, "hybz: 0 files compressed, 0 bytes to 0; 5 skipped (5 already compressed)\n");
    place.hybz(&["-rf", "-S", ".x", "tree"]).says(0, "5 already compressed");
    same(all(&place, "tree"), before.clone());
    // In a loop over bzip2 the first result is gone before the second is made.
    place.put("x.bz2", &compressed(b"x\n"));
    place.put("x.bz2.bz2", &compressed(&compressed(b"xx\n")));
    fs::create_dir(place.path("d")).expect("a directory");
    place.shell("mv x.bz2 x.bz2.bz2 d; hybz -qrd d").silent(0);
    let left: Vec<_> = all(&place, "d").into_iter().collect();
    assert_eq!(left, [(b"x".to_vec(), b"x\n".to_vec()), (b"x.bz2".to_vec(), compressed(b"xx\n"))]);
}

fn links_and_special_files() {
    let place = tree();
    place.put("outside", b"hello\n");
    fs::create_dir(place.path("elsewhere")).expect("a directory");
    place.put("elsewhere/file", b"hello\n");
    symlink("../outside", place.path("tree/link")).expect("a link");
    symlink("../elsewhere", place.path("tree/to a directory")).expect("a link");
    symlink(".", place.path("tree/a b/loop")).expect("a link");
    symlink("nowhere", place.path("tree/dangling")).expect("a link");
    let _socket = UnixListener::bind(place.path("tree/socket")).expect("a socket");
    place.shell("mkfifo tree/fifo").silent(0);
    // Also with -f.
    place.hybz(&["-rkf", "tree"]).says(0, "5 files compressed").says(0, "6 skipped (4 links, 2 special files)");
    assert_eq!(place.get("outside"), b"hello\n");
    assert!(!place.has("elsewhere/file.bz2") && !place.has("outside.bz2"));
    symlink("elsewhere", place.path("typed")).expect("a link");
    place
        .hybz(&["-r", "typed"])
        .says(1, "Input file typed is a symbolic link to a directory: not followed without -f.");
    place.hybz(&["-rf", "typed"]).says(0, "1 file compressed");
    assert!(place.has("elsewhere/file.bz2"));
    // A file with two names is removed only with -f, as usual.
    place.shell("mkdir two; echo hello > two/a; ln two/a two/b").silent(0);
    place.hybz(&["-r", "two"]).says(1, "Input file two/a has 1 other link.").says(1, "two/b has 1 other link.");
    place.hybz(&["-qrf", "two"]).silent(0);
    assert_eq!(all(&place, "two").into_keys().collect::<Vec<_>>(), [b"a.bz2".to_vec(), b"b.bz2".to_vec()]);
}

fn unreadable_directories() {
    let place = tree();
    fs::create_dir(place.path("tree/closed")).expect("a directory");
    place.put("tree/closed/file", b"hello\n");
    place.shell("chmod -R a+rwX tree").silent(0);
    place.set_mode("tree/closed", 0);
    let Some(run) = as_nobody(&place, "hybz -r tree") else { return };
    place.set_mode("tree/closed", 0o755);
    run.says(1, "Can't read directory tree/closed: Permission denied.")
        .says(1, "5 files compressed")
        .says(1, "1 error");
    assert!(place.has("tree/closed/file") && place.has("tree/one.bz2"));
}

/// Skipped unless /dev contains another file system.
fn other_file_systems() {
    let device = |path: &str| fs::metadata(path).map(|found| found.dev()).ok();
    if device("/dev").is_none() || device("/dev/shm").is_none() || device("/dev") == device("/dev/shm") {
        return skip_part(Need::System, "/dev/shm is no other file system than /dev");
    }
    let place = Place::new();
    // The walk enters that file system, and reads only this file.
    let name = format!("hybz-test-{}.of-hybz", std::process::id());
    fs::write(format!("/dev/shm/{name}"), b"no bzip2").expect("a file");
    let walk = "-rt -S .of-hybz --exclude *.bz2 --exclude *.hbz --exclude *.bz --exclude *.tbz2 --exclude *.tbz \
                --exclude *.tz2 /dev";
    let walk: Vec<&str> = walk.split_whitespace().collect();
    let staying = place.hybz(&walk);
    let crossing = place.hybz(&[&["--cross-file-systems"], &walk[..]].concat());
    fs::remove_file(format!("/dev/shm/{name}")).expect("it is there");
    assert!(crossing.stderr.contains(&name) && !crossing.stderr.contains("other file systems"), "{crossing:?}");
    assert!(!staying.stderr.contains(&name) && staying.stderr.contains("on other file systems"), "{staying:?}");
}

fn deep_and_wide_trees() {
    let place = Place::new();
    let made = place.shell(
        "perl -e 'mkdir \"deep\"; chdir \"deep\"; for (1..1500) { mkdir \"ab\" or die; chdir \"ab\" or die; \
         if ($_ % 250 == 0) { open F, \">f\"; print F \"hello\\n\"; close F } }'",
    );
    if made.code != 0 {
        return skip_part(Need::System, "no perl");
    }
    let run = place.shell("ulimit -n 64; hybz -r deep");
    let back =
        place.shell("ulimit -n 64; hybz -r --output-dir out deep; hybz -rd deep; hybz -qr --output-dir out deep");
    let found = place.shell("cd deep; for i in $(seq 249); do cd ab; done; cd ab; cat f; cd ..; cd ..").out();
    let wide = place.shell(
        "for i in $(seq 300); do mkdir -p wide/$i; echo $i > wide/$i/file; done; ulimit -n 64; \
         hybz -r --output-dir more wide && hybz -qr wide && cat wide/*/*.bz2 | bzip2 -d | sort -n | md5sum; \
         seq 300 | md5sum; cat more/wide/*/*.bz2 | bzip2 -d | sort -n | md5sum",
    );
    // Not by std::fs::remove_dir_all, which would keep every directory on the path open.
    place.shell("rm -rf deep out").silent(0);
    run.says(0, "hybz: 6 files compressed, 36 bytes to ");
    assert!(back.stderr.contains("0 files compressed, 0 bytes to 0; 6 skipped"), "{back:?}");
    assert!(back.stderr.contains("6 files decompressed") && back.code == 0, "{back:?}");
    assert_eq!(found, "hello\n");
    let out = wide.out();
    let sums: Vec<&str> = out.lines().collect();
    assert!(sums.len() == 3 && sums[0] == sums[1] && sums[1] == sums[2], "{wide:?}");
}

fn lists() {
    let place = tree();
    let before = all(&place, "tree");
    place.shell("find tree -type f -print0 > list; hybz --null --filelist list").says(0, "5 files compressed");
    same(all(&place, "tree"), all_compressed(&before));
    place.shell("find tree -type f -print0 | hybz -qd --null --filelist -").silent(0);
    same(all(&place, "tree"), before.clone());
    for name in ["a", "b", "c.bz2", "-"] {
        place.put(name, b"hello\n");
    }
    // A list of lines: the last may lack its end, and `-` is a file. Typed names come first.
    place
        .hybz_with_input(&["-v", "--filelist", "-", "a"], b"b\n\nc.bz2\n-")
        .says(0, "; 1 skipped (1 already compressed)");
    for name in ["a", "b", "-"] {
        assert!(place.has(format!("{name}.bz2")) && !place.has(name), "{name}");
    }
    place
        .hybz_with_input(&["-k", "--filelist", "-"], b"gone\ntree\ntree/one\n")
        .says(1, "input file gone: No such file");
    assert!(place.has("tree/one.bz2"));
    place.shell("rm tree/one.bz2; echo tree | hybz -k --filelist -").says(1, "Input file tree is a directory.");
    place.shell("echo tree | hybz -rk --exclude '?wo*' --filelist -").says(0, "4 files compressed");
}

fn files_of_its_own() {
    let place = tree();
    for name in [".gone.bz2.hybz-tmp", "a b/.x.hybz-0123456789abcdef", "log"] {
        place.put(format!("tree/{name}"), b"");
    }
    let own = all(&place, "tree").into_iter().filter(|(_, bytes)| bytes.is_empty()).collect::<BTreeMap<_, _>>();
    let report = "--json=tree/log";
    place.hybz(&["-rk", report, "tree"]).says(0, "5 files compressed").says(0, "; 3 skipped (3 of hybz's own)\n");
    place
        .hybz(&["-rt", report, "tree"])
        .says(0, "; 8 skipped (6 without a suffix of compressed files, 2 of hybz's own)\n");
    place.shell("rm tree/*.bz2 tree/*/*.bz2 tree/*/*/*.bz2; find tree -type f -print0 > list").silent(0);
    let listed = place.hybz(&["--null", "--filelist", "list", report]);
    listed.says(0, "5 files compressed").says(0, "; 3 skipped (3 of hybz's own)\n");
    assert!(own.keys().all(|name| place.path("tree").join(OsStr::from_bytes(name)).exists()));
    // Such a file is compressed if its name is typed; the report never is.
    place.hybz(&["-q", "tree/.gone.bz2.hybz-tmp"]).silent(0);
    place.hybz(&[report, "tree/log"]).says(1, "Input file tree/log is the report.");
    assert!(place.has("tree/.gone.bz2.hybz-tmp.bz2") && place.has("tree/log"));
}

fn bad_lists() {
    let place = Place::with(&[("a", b"hello\n"), ("zeros", b"a\0b\0")]);
    fs::create_dir(place.path("d")).expect("a directory");
    let cases = [
        ("missing", "Can't read the list missing: No such file or directory."),
        ("d", "Can't read the list d: Is a directory."),
        ("zeros", "The list zeros has a name with a zero byte in it: is it for --null?"),
        ("/dev/zero", "has a name of more than a million bytes"),
    ];
    for (list, says) in cases {
        place.hybz(&["--filelist", list]).says(1, says);
    }
    place.hybz(&["--filelist", "/dev/null"]).says(0, "hybz: 0 files compressed, 0 bytes to 0\n");
    assert_eq!(place.names(), ["a", "d", "zeros"]);
}

fn excluded() {
    for (globs, left) in [
        (&["*"][..], 0),
        (&["one"], 4),
        (&["a b"], 2),
        (&["a b/*"], 2),
        (&["a b/[*]"], 4),
        (&["*/deeper", "o?e"], 3),
        (&["**/-*"], 4),
        (&["deeper/*"], 5),
        (&["tree/one"], 5),
        (&["?"], 3),
    ] {
        let place = tree();
        let flags = globs.iter().flat_map(|glob| ["--exclude", glob]);
        let args: Vec<&str> = ["-r", "tree"].into_iter().chain(flags).collect();
        let run = place.hybz(&args);
        let expected = format!("hybz: {left} file");
        assert!(run.code == 0 && run.stderr.starts_with(&expected), "{globs:?}: {run:?}");
    }
}

fn output_directory() {
    let place = tree();
    place.set_mode("tree/a b", 0o750);
    place.set_mode("tree/a b/deeper", 0o500);
    let before = all(&place, "tree");
    place.hybz(&["-r", "tree", "--output-dir", "new/out"]).says(0, "5 files compressed");
    same(all(&place, "new/out/tree"), all_compressed(&before));
    same(all(&place, "tree"), before.clone());
    assert_eq!((place.mode("new/out/tree/a b"), place.mode("new/out/tree/a b/deeper")), (0o750, 0o500));
    // The results are not walked, although they are in the tree.
    place.hybz(&["-r", "--output-dir", "tree/out", "./tree/"]).says(0, "5 files compressed");
    place.hybz(&["-rf", "--output-dir", "tree/out", "tree"]).says(0, "hybz: 5 files compressed");
    same(all(&place, "tree/out/tree"), all_compressed(&before));
    place.set_mode("tree/a b/deeper", 0o700);
    // Absolute names, compressed and decompressed.
    let absolute = place.path("new/out/tree");
    let absolute = absolute.to_str().expect("text");
    place.hybz(&["-qrd", "--rm", "--output-dir", "back", absolute]).silent(0);
    same(all(&place, &format!("back{absolute}")), before.clone());
    assert!(all(&place, "new").is_empty());
    // Files that are typed or listed.
    place.shell("hybz --output-dir o ./tree/one; echo 'tree/a b/*' | hybz -q --output-dir o --filelist -").silent(0);
    assert_eq!(all(&place, "o").into_keys().collect::<Vec<_>>(), [&b"tree/a b/*.bz2"[..], b"tree/one.bz2"]);
    place.hybz(&["--output-dir", "o", "tree/one"]).says(1, "Output file o/tree/one.bz2 already exists.");
    place.hybz(&["--output-dir", "tree/one", "tree/one"]).says(1, "Can't make the directory tree/one: ");
}

/// The files come in the order of a walk, and in that of a list that goes back and forth between directories.
fn mirrors_of_read_only_directories() {
    let place = Place::new();
    let make = "for d in t/a/c/d t/a/e t/b/f t/g; do mkdir -p $d; echo $d > $d/file; done; \
                find t -type f | sort -r > list; chmod a+rX -R .; chmod 555 t t/a t/a/c t/a/c/d t/a/e; chmod 500 t/b; \
                chown -R 1234:1234 t 2>/dev/null; true";
    place.shell(make).silent(0);
    let calls = [
        ("walk", "hybz -r --output-dir walk t"),
        (
            "lists",
            "(cat list; sed s/file/gone/ list; cat list) | hybz -f --output-dir lists --filelist - 2>/dev/null; true",
        ),
        ("twice", "hybz -qr --exclude c --output-dir twice t && hybz -r --resume --output-dir twice t"),
    ];
    for (out, line) in calls {
        let modes = format!(
            "cd {out} && find t -printf '%m %p\\n' | sed 's/.bz2$//' | sort -k 2; find . -name '*.bz2' | wc -l"
        );
        let expected = "find t -printf '%m %p\\n' | sort -k 2; cat list | wc -l";
        let run = as_nobody(&place, line);
        let (found, expected) = (place.shell(&modes).out(), place.shell(expected).out());
        place.shell(&format!("chmod -R u+rwX {out}")).silent(0);
        let Some(run) = run else { return drop(place.shell("chmod -R u+rwX t")) };
        assert_eq!((run.code, &found), (0, &expected), "{line} {run:?}");
    }
    place.shell("chmod -R u+rwX t").silent(0);
}

fn nothing_leaves_the_output_directory() {
    let place = tree();
    for path in ["../x", "tree/../tree/one", "tree/.."] {
        place.hybz(&["-r", "--output-dir", "out", path]).says(1, "");
    }
    place.shell("cd tree; hybz --output-dir ../out ../tree/one").says(1, "Input file ../tree/one has `..' in its name");
    assert!(all(&place, "out").is_empty());
    symlink("..", place.path("out/tree")).expect("a link");
    let before = all(&place, "tree");
    place.hybz(&["-rf", "--output-dir", "out", "tree"]).says(1, "Can't make the directory out/tree: ");
    assert!(!place.has("one.bz2"));
    same(all(&place, "tree"), before.clone());
    fs::remove_file(place.path("out/tree")).expect("the link");
    fs::create_dir(place.path("out/tree")).expect("a directory");
    symlink("../../tree/one", place.path("out/tree/one.bz2")).expect("a link");
    place.hybz(&["-rf", "--output-dir", "out", "tree"]).says(1, "Output file out/tree/one.bz2 is the input file.");
    same(all(&place, "tree"), before.clone());
}

fn first_error() {
    let files: [(&str, &[u8]); 3] = [("a", b"hello\n"), ("b", b"hello\n"), ("b.bz2", b"x")];
    let place = Place::with(&files);
    place
        .hybz(&["-k", "--fail-fast", "gone", "a"])
        .says(1, "input file gone")
        .says(1, "some files have not been processed");
    assert!(!place.has("a.bz2"));
    place.hybz(&["-k", "--fail-fast", "--keep-going", "gone", "a"]).says(1, "input file gone");
    assert!(place.has("a.bz2"));
    let place = Place::with(&files);
    fs::create_dir(place.path("d")).expect("a directory");
    place.shell("mv a b b.bz2 d; touch d/c; for i in $(seq 300); do touch d/e$i; done").silent(0);
    place.hybz(&["-r", "--fail-fast", "d"]).says(1, "d/b.bz2 already exists.").says(1, "not been processed");
    assert!(place.has("d/a.bz2") && place.has("d/b") && place.has("d/e300"));
    place.hybz(&["-r", "d"]).says(1, "301 files compressed").says(1, "1 error");
}

fn nonsense() {
    let place = Place::with(&[("a.bz2", &compressed(b"hello\n")), ("plain", b"hello\n"), ("list", b"plain\n")]);
    fs::create_dir(place.path("d")).expect("a directory");
    place.refuses(&[
        ("-r", "-r expects the name of a directory."),
        ("--resume", "--resume expects the names of files."),
        ("--output-dir out", "--output-dir expects files: the result of stdin has no name."),
        ("--output-dir out - plain", "--output-dir expects files"),
        ("--output-dir= plain", "--output-dir expects "),
        ("--filelist= plain", "--filelist expects "),
        ("--filelist - -", "--filelist - reads the list from stdin, which is also an input file."),
        ("--null plain", "--null works only with --filelist."),
        ("--cross-file-systems plain", "--cross-file-systems works only with -r."),
        ("--exclude x plain", "--exclude works only with -r and --filelist."),
        ("-r --exclude= d", "--exclude expects a pattern such as *.jpg or cache/**"),
        ("-r --exclude [x d", " such as *.jpg or cache/**, not `[x'."),
        ("-r --exclude a** d", "not `a**'."),
        ("-r --exclude", "--exclude expects a pattern such as"),
        ("--filelist", "--filelist expects the name of a file"),
        ("--output-dir", "--output-dir expects the name of a directory"),
        ("--resume=x plain", "Bad flag `--resume=x'"),
        ("--recurse d", "Bad flag `--recurse'; did you mean `--recursive'? For help, type: `hybz --help'."),
        ("--file-list list", "Bad flag `--file-list'; did you mean `--filelist'?"),
        ("--outputdir d", "Bad flag `--outputdir'; did you mean `--output-dir'?"),
        ("-r --index=x d", "-r and --index=FILE cannot be used together."),
        ("--index=x --filelist list", "--filelist and --index=FILE cannot be used together."),
        ("--index=x --output-dir out plain", "--output-dir and --index=FILE cannot be used together."),
    ]);
    place.refuses_each("-r {} d", "-r and {}", &["-l", "--recover", "-o x"]);
    place.refuses_each("-rdc {} d", "-r and {}", &["--ranges 1@0"]);
    place.refuses_each("{} --filelist list", "--filelist and {}", &["-l", "--recover", "-o x"]);
    let parts = ["--ranges 1@0", "--split 1/2"];
    place.refuses_each("-dc {} --filelist list", "--filelist and {}", &parts);
    place.refuses_each("-d {} --output-dir out a.bz2", "--output-dir and {}", &parts);
    place.refuses_each("-d {} --resume a.bz2", "--resume and {}", &parts);
    place.refuses_each("{} --output-dir out plain", "--output-dir and {}", &["-c", "-t", "-l", "-o x", "--recover"]);
    place.refuses_each("{} --resume plain", "--resume and {}", &["-c", "-t", "-l", "-o x", "--index", "--recover"]);
}
