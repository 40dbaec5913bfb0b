//! Trees of files: the same results as a loop over bzip2 (600 files; 2,000 with `HYBZ_LONG`), and no loss when the call
//! is killed again and again.

use crate::place::{Place, bzip2_installed, decompressed, root, text};
use crate::skip::{Need, skip_part};
use hybz_testkit::rounds;
use hybz_testkit::shapes::Rng;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const ODD: [&[u8]; 7] = [b"a file", b"two\nlines", b"\xff\xfe", b"-dash", b"it's", b"\xc3\xbc", b".hidden"];

/// Makes `top` with `count` files in many directories, and links between them.
fn plant(top: &Path, count: usize, mut random: Rng) {
    fs::create_dir(top).expect("a directory");
    let text = text(1 << 20);
    let mut directories = vec![top.to_owned()];
    for number in 0..count {
        let odd = ODD[random.below(7)];
        let directory = directories[random.below(directories.len())].clone();
        let name = [odd, b" ", number.to_string().as_bytes()].concat();
        let path = directory.join(OsStr::from_bytes(&name));
        if random.below(10) == 0 {
            fs::create_dir(&path).expect("a directory");
            symlink("..", path.join("up")).expect("a link");
            directories.push(path);
            continue;
        }
        let len = 1_usize << random.below(16);
        let at = random.below(text.len() - len);
        fs::write(&path, &text[at..at + len - number % 2]).expect("a file");
        if random.below(20) == 0 {
            symlink(OsStr::from_bytes(&name), directory.join(format!("link {number}"))).expect("a link");
        }
    }
}

/// The state of each file below `top`: kind and mode, modification time, bytes.
fn look(place: &Place, top: &str) -> BTreeMap<PathBuf, (u32, i64, Vec<u8>)> {
    let state = |is: fs::Metadata, bytes| (is.mode(), if is.is_file() { is.mtime() } else { 0 }, bytes);
    place.tree(top).into_iter().map(|(name, (is, bytes))| (name, state(is, bytes))).collect()
}

#[test]
fn as_a_loop_over_bzip2() {
    if !bzip2_installed() {
        return;
    }
    let place = Place::new();
    plant(&place.path("theirs"), rounds(600, 2000), Rng(1));
    place.shell("cp -a theirs walked && cp -a theirs listed && cp -a theirs mirrored").silent(0);
    let plain = look(&place, "theirs");
    place.shell("find theirs -type f -print0 | xargs -0 bzip2 --").silent(0);
    place.hybz(&["-qr", "walked"]).silent(0);
    place.shell("find listed -type f -print0 | hybz -q --null --filelist -").silent(0);
    place.shell("cd mirrored && hybz -qr --rm --output-dir ../mirror .").silent(0);
    let theirs = look(&place, "theirs");
    assert!(look(&place, "walked") == theirs);
    assert!(look(&place, "listed") == theirs);
    // Results do not include links or empty directories.
    let files = |found: BTreeMap<PathBuf, (u32, i64, Vec<u8>)>| -> BTreeMap<_, _> {
        found.into_iter().filter(|(_, (mode, ..))| mode & 0o170_000 == 0o100_000).collect()
    };
    assert!(files(look(&place, "mirror")) == files(theirs));
    assert!(files(look(&place, "mirrored")).is_empty());
    place.hybz(&["-qrd", "walked"]).silent(0);
    assert!(look(&place, "walked") == plain);
}

/// Kills the call ten times, at random times, and then lets it end. No existing result is made again.
fn killed(args: &[&str], results: &str, sources_stay: bool, random: Rng) {
    let mut random = random;
    let place = Place::new();
    // Where sources are removed, the disk is waited for, 3 ms a file: 700 outlast ten kills there.
    plant(&place.path("tree"), if sources_stay { 2000 } else { 700 }, Rng(3));
    let plain = look(&place, "tree");
    let mut before = BTreeMap::new();
    let mut stopped = 0;
    for round in 0..10 {
        let mut call = place.called("hybz");
        let mut child = call.args(args).stderr(Stdio::null()).spawn().expect("hybz");
        thread::sleep(Duration::from_millis(3 + random.below(40 + 12 * round) as u64));
        stopped += u32::from(child.try_wait().expect("a process").is_none());
        child.kill().expect("it is ours");
        child.wait().expect("it ended");
        let now = place.marks(results);
        let lost: Vec<_> = before.iter().filter(|(name, mark)| now.get(*name) != Some(*mark)).collect();
        assert!(lost.is_empty(), "round {round}: made twice, or gone: {lost:?}");
        before = now;
        // Each source or its complete result exists.
        for (name, (mode, _, bytes)) in plain.iter().filter(|(_, (mode, ..))| mode & 0o170_000 == 0o100_000) {
            let result = place.path(results).join(name).into_os_string();
            let result = [result.as_bytes(), b".bz2"].concat();
            let source = fs::read(place.path("tree").join(name));
            assert!(source.is_ok() || !sources_stay, "{}: {mode:o}", name.display());
            match (source, fs::read(OsStr::from_bytes(&result))) {
                (Ok(source), Err(_)) => assert!(source == *bytes),
                (_, Ok(result)) => assert!(decompressed(&result) == *bytes),
                (Err(e), Err(_)) => panic!("{} is lost: {e}", name.display()),
            }
        }
    }
    assert!(stopped > 0, "it was always done before it was killed");
    let last = place.hybz(args);
    assert_eq!(last.code, 0, "{}", last.stderr);
    let after = place.marks(results);
    assert!(before.iter().all(|(name, mark)| after.get(name) == Some(mark)), "made twice, or gone");
    let files = plain.iter().filter(|(_, (mode, ..))| mode & 0o170_000 == 0o100_000);
    assert_eq!(after.len(), files.clone().count(), "{}", last.stderr);
    for (name, (.., bytes)) in files {
        let result = [place.path(results).join(name).as_os_str().as_bytes(), b".bz2"].concat();
        assert!(decompressed(&fs::read(OsStr::from_bytes(&result)).expect("a result")) == *bytes);
        assert_eq!(place.path("tree").join(name).exists(), sources_stay);
    }
    let again = place.hybz(args);
    assert!(again.code == 0 && again.stderr.starts_with("hybz: 0 files compressed"), "{}", again.stderr);
    let hidden = place.shell("find . -name '.*hybz-tmp'").out();
    assert_eq!(hidden, "", "temporary files");
}

#[test]
fn killed_ten_times() {
    killed(&["-r", "--resume", "tree"], "tree", false, Rng(11));
}

#[test]
fn killed_ten_times_with_sources_kept() {
    killed(&["-rk", "--resume", "tree"], "tree", true, Rng(12));
}

#[test]
fn killed_ten_times_with_a_directory_of_results() {
    killed(&["-r", "--resume", "--output-dir", "out", "tree"], "out/tree", true, Rng(13));
}

/// Links take the place of directories while the tree is walked: nothing outside is touched.
#[test]
fn directories_that_become_links() {
    if !root() {
        skip_part(Need::System, "only root would be dangerous, but the result is the same");
    }
    let place = Place::new();
    fs::create_dir_all(place.path("outside")).expect("a directory");
    for name in ["a", "b", "c"] {
        place.put(format!("outside/{name}"), b"precious\n");
    }
    for number in 0..300 {
        fs::create_dir_all(place.path(format!("tree/{number}"))).expect("a directory");
        for name in ["a", "b", "c"] {
            place.put(format!("tree/{number}/{name}"), b"hello\n");
        }
    }
    for number in 0..300 {
        symlink("../outside", place.path(format!("link{number}"))).expect("a link");
    }
    let stop = AtomicBool::new(false);
    let met = thread::scope(|scope| {
        scope.spawn(|| {
            // Half of the time, each directory is a link.
            for [from, to] in [["link", "aside"], ["aside", "link"]].iter().cycle() {
                for number in 0..300 {
                    let tree = place.path(format!("tree/{number}"));
                    fs::rename(&tree, place.path(format!("{to}{number}"))).expect("a rename");
                    fs::rename(place.path(format!("{from}{number}")), &tree).expect("a rename");
                }
                if stop.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        // A name that was a directory when it was read, and is a link when it is opened, counts as a special file.
        let meets = |args: &[&str]| place.hybz(args).stderr.contains("special file");
        let met = (0..200).filter(|call| meets(&[["-rf", "-rdf"][call % 2], "tree"])).take(3).count();
        stop.store(true, Ordering::Relaxed);
        met
    });
    assert_eq!(met, 3, "calls that met the race");
    assert_eq!(fs::read_dir(place.path("outside")).expect("it").count(), 3);
    assert!(["a", "b", "c"].iter().all(|name| place.get(format!("outside/{name}")) == b"precious\n"));
}
