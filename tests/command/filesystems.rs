//! The life of a file on file systems that lack what ext4 has: no files without names, no hard links, no rename that
//! refuses a name that is taken, no modes or no locks.
//!
//! The shim of `faults.c` simulates them; where this machine can mount the real ones, they are used too.

use crate::faults::shim;
use crate::place::{Place, compressed, decompressed, installed_for_part, root, run, text};
use crate::skip::{Need, skip_part};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

/// What exFAT and FAT lack.
const FAT: &str = "tmpfile,noreplace,nolink,nomode";

/// All that happens to a file, in this place, with these faults.
fn life(place: &Place, fault: Option<(&Path, &str)>) {
    let hybz = |args: &[&str]| {
        let mut command = place.called("hybz");
        if let Some((shim, fault)) = fault {
            command.env("LD_PRELOAD", shim).env("FAULT", fault);
        }
        run(command.args(args))
    };
    let bytes = text(300_000);
    // A name of 212 bytes: of a temporary name that is made from it, no half character may be left.
    let long = format!("x{}", "ü".repeat(105));
    for name in ["a", &long] {
        let packed = format!("{name}.bz2");
        // fusefat takes no such name, whoever makes it.
        if fs::write(place.path(name), b"").is_err() {
            skip_part(Need::System, "a file system takes no long names");
            continue;
        }
        place.put(name, &bytes);
        hybz(&["-1", name]).silent(0);
        assert_eq!(place.names(), [&packed[..]]);
        assert_eq!(decompressed(&place.get(&packed)), bytes);

        // What exists is not touched without -f.
        place.put(name, b"other");
        hybz(&[name]).says(1, " already exists.\n");
        hybz(&["-d", &packed]).says(1, " already exists.\n");
        assert_eq!((place.get(name), decompressed(&place.get(&packed))), (b"other".to_vec(), bytes.clone()));
        hybz(&["-df", &packed]).silent(0);
        assert_eq!((place.names(), place.get(name)), (vec![name.to_owned()], bytes.clone()));
        place.put(&packed, b"old");
        hybz(&["-fk", name]).silent(0);
        assert_eq!(place.names(), [name, &packed]);
        fs::remove_file(place.path(name)).expect("remove");
        hybz(&["-t", &packed]).silent(0);
        assert_eq!(hybz(&["-dc", &packed]).silent(0).stdout, bytes);
        hybz(&["-d", &packed]).silent(0);
        assert_eq!((place.names(), place.get(name)), (vec![name.to_owned()], bytes.clone()));
        fs::remove_file(place.path(name)).expect("remove");
    }

    // Damage leaves the source alone, and no part of a result; several at once.
    let mut broken = compressed(&bytes);
    let middle = broken.len() / 2;
    broken[middle] ^= 1;
    place.put("broken.bz2", &broken);
    place.put("b.bz2", &compressed(b"b"));
    place.put("c.bz2", &compressed(b"c"));
    assert_eq!(hybz(&["-d", "b.bz2", "broken.bz2", "c.bz2"]).code, 2);
    assert_eq!(place.names(), ["b", "broken.bz2", "c"]);
    for name in place.names() {
        fs::remove_file(place.path(name)).expect("remove");
    }
}

#[test]
fn simulated() {
    let Some(shim) = shim() else { return };
    for fault in
        [FAT, "tmpfile", "tmpfile,noreplace", "tmpfile,noreplace,nolink,noflock", "nomode", "tmpfile,nothread", "noacl"]
    {
        life(&Place::new(), Some((shim, fault)));
    }
}

/// A file system that is mounted until this is dropped.
struct Mount {
    dir: TempDir,
    /// What holds its files.
    behind: TempDir,
}

impl Mount {
    /// Runs a line of shell that mounts something at `$AT`; it may use the directory `$BEHIND`.
    fn new(tool: &str, line: &str) -> Option<Mount> {
        if !root() {
            skip_part(Need::System, "only root can mount");
            return None;
        }
        if !installed_for_part(tool) {
            return None;
        }
        let directory = || tempfile::Builder::new().prefix("hybz-mount-").tempdir().expect("a temporary directory");
        let mount = Mount { dir: directory(), behind: directory() };
        let done = Command::new("sh")
            .args(["-c", &format!("exec 2>&1; set -e; {line}; mountpoint -q $AT")])
            .env("AT", mount.dir.path())
            .env("BEHIND", mount.behind.path())
            .output()
            .expect("sh");
        if !done.status.success() {
            let why = String::from_utf8_lossy(&done.stdout).replace('\n', " ");
            skip_part(Need::System, &format!("{tool}: cannot be mounted here: {why}"));
            return None;
        }
        Some(mount)
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let loops = self.behind.path().join("loop");
        let line =
            format!("umount -l {}; [ ! -s {1} ] || losetup -d $(cat {1})", self.dir.path().display(), loops.display());
        let _ = Command::new("sh").args(["-c", &line]).stderr(Stdio::null()).status();
    }
}

#[test]
fn mounted() {
    let image = "truncate -s 64M $BEHIND/image";
    for (tool, line) in [
        (
            "mkfs.exfat",
            format!(
                "{image}; mkfs.exfat $BEHIND/image; losetup -f --show $BEHIND/image > $BEHIND/loop; \
                                mount -t exfat $(cat $BEHIND/loop) $AT || mount.exfat-fuse $(cat $BEHIND/loop) $AT"
            ),
        ),
        (
            "mkfs.vfat",
            format!(
                "{image}; mkfs.vfat $BEHIND/image; mount -t vfat -o loop $BEHIND/image $AT || \
                               fusefat -o rw+ $BEHIND/image $AT"
            ),
        ),
        ("ntfs-3g", format!("{image}; mkntfs -F -q $BEHIND/image; ntfs-3g $BEHIND/image $AT")),
        ("bindfs", "bindfs $BEHIND $AT".to_owned()),
        ("mount", "mount -t tmpfs -o size=64m tmpfs $AT".to_owned()),
        (
            "unshare",
            "mkdir $BEHIND/l $BEHIND/u $BEHIND/w; \
                   mount -t overlay o -o lowerdir=$BEHIND/l,upperdir=$BEHIND/u,workdir=$BEHIND/w $AT"
                .to_owned(),
        ),
        ("mkfs.ext4", format!("{image}; mkfs.ext4 -q $BEHIND/image; mount -o loop $BEHIND/image $AT")),
        (
            "mkfs.xfs",
            "truncate -s 320M $BEHIND/image; mkfs.xfs -q $BEHIND/image; \
                      mount -o loop $BEHIND/image $AT"
                .to_owned(),
        ),
        (
            "mkfs.btrfs",
            "truncate -s 320M $BEHIND/image; mkfs.btrfs -q $BEHIND/image; \
                      mount -o loop $BEHIND/image $AT"
                .to_owned(),
        ),
        ("exportfs", "mkdir $BEHIND/x; mount -t nfs 127.0.0.1:$BEHIND/x $AT".to_owned()),
    ] {
        if let Some(mount) = Mount::new(tool, &line) {
            life(&Place::beside(mount.dir.path()), None);
        }
    }
}

/// A name that is taken while the result is made, on a file system that only has O_EXCL: nobody's file is replaced.
#[test]
fn a_result_that_appears_meanwhile() {
    let Some(shim) = shim() else { return };
    let place = Place::new();
    place
        .shell(&format!(
            "(echo hello; sleep 0.3; echo mine > late; sleep 0.1) | LD_PRELOAD={} FAULT={FAT} hybz -o late",
            shim.display()
        ))
        .says(1, "hybz: Output file late already exists.\n");
    assert_eq!((place.get("late"), place.names()), (b"mine\n".to_vec(), vec!["late".to_owned()]));
}

/// What `kill -9` leaves where files need names goes when the same result is made again; what somebody still writes, or
/// what is not a temporary file of ours, stays.
#[test]
fn leftovers() {
    let Some(shim) = shim() else { return };
    let place = Place::with(&[("a", &text(100_000))]);
    let slowly = || {
        let mut child = place
            .called("hybz")
            .args(["-o", "a.bz2"])
            .env("LD_PRELOAD", shim)
            .env("FAULT", FAT)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("hybz");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(&text(50_000)).expect("write");
        sleep(Duration::from_millis(300));
        (child, stdin)
    };
    let hybz = || run(place.called("hybz").args(["-kf", "a"]).env("LD_PRELOAD", shim).env("FAULT", FAT));
    let (mut child, stdin) = slowly();
    kill_process(Pid::from_child(&child), Signal::KILL).expect("kill");
    child.wait().expect("hybz");
    drop(stdin);
    assert_eq!(place.names(), [".a.bz2.hybz-tmp", "a"], "a result that nobody will finish");
    hybz().silent(0);
    assert_eq!(place.names(), ["a", "a.bz2"]);

    fs::remove_file(place.path("a.bz2")).expect("remove");
    let (child, stdin) = slowly();
    hybz().silent(0);
    assert_eq!(place.names(), [".a.bz2.hybz-tmp", "a", "a.bz2"], "somebody still writes the other");
    fs::remove_file(place.path("a.bz2")).expect("remove");
    drop(stdin);
    assert!(child.wait_with_output().expect("hybz").status.success());
    assert_eq!((place.names(), decompressed(&place.get("a.bz2"))), (vec!["a".into(), "a.bz2".into()], text(50_000)));

    // Names that are taken: by a directory, by a link to something of value.
    fs::create_dir(place.path(".a.bz2.hybz-tmp")).expect("a directory");
    hybz().silent(0);
    fs::remove_dir(place.path(".a.bz2.hybz-tmp")).expect("remove");
    fs::hard_link(place.path("a"), place.path(".a.bz2.hybz-tmp")).expect("a link");
    hybz().silent(0);
    assert_eq!(place.names(), [".a.bz2.hybz-tmp", "a", "a.bz2"]);
}

/// Without threads, `-f` over an existing file works too, and signals remove what needs a name.
#[test]
fn no_threads() {
    let Some(shim) = shim() else { return };
    for fault in ["nothread", "nothread,tmpfile"] {
        let place = Place::with(&[("a", &text(100_000)), ("a.bz2", b"old")]);
        let mut command = place.called("hybz");
        run(command.args(["-f", "a"]).env("LD_PRELOAD", shim).env("FAULT", fault)).silent(0);
        assert_eq!((place.names(), decompressed(&place.get("a.bz2"))), (vec!["a.bz2".to_owned()], text(100_000)));
    }
    let place = Place::new();
    let child = place
        .called("hybz")
        .args(["-o", "a.bz2"])
        .env("LD_PRELOAD", shim)
        .env("FAULT", "nothread,tmpfile")
        .stdin(Stdio::piped())
        .spawn()
        .expect("hybz");
    sleep(Duration::from_millis(300));
    assert_eq!(place.names(), [".a.bz2.hybz-tmp"]);
    kill_process(Pid::from_child(&child), Signal::TERM).expect("kill");
    let status = child.wait_with_output().expect("hybz").status;
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(15));
    assert!(place.names().is_empty());
}
