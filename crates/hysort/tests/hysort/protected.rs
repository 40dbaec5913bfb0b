//! Links and files of others in a directory such as /tmp: the kernel says whether `-o` may follow or write them.

use crate::place::Place;
use crate::skip::{Need, skip};

/// A kernel that forbids to follow links, whatever `fs.protected_symlinks` is here: opening the name of one fails.
const FORBIDS: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#define OPEN(name, parameters, directory, arguments) \
    int name parameters { \
        va_list rest; va_start(rest, flags); int mode = va_arg(rest, int); va_end(rest); \
        struct stat found; \
        if (!(flags & O_NOFOLLOW) && strncmp(path, "/dev/", 5) && strncmp(path, "/proc/", 6) && \
            fstatat(directory, path, &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(found.st_mode)) { \
            errno = EACCES; return -1; } \
        return ((int (*)())dlsym(RTLD_NEXT, #name)) arguments; }
OPEN(open, (const char *path, int flags, ...), AT_FDCWD, (path, flags, mode))
OPEN(open64, (const char *path, int flags, ...), AT_FDCWD, (path, flags, mode))
OPEN(openat, (int at, const char *path, int flags, ...), at, (at, path, flags, mode))
OPEN(openat64, (int at, const char *path, int flags, ...), at, (at, path, flags, mode))
"#;

#[test]
fn the_kernel_is_asked_about_links() {
    let place = Place::with(&[("a", b"b\na\n"), ("victim", b"old\n")]);
    if !place.preload("forbids", FORBIDS) {
        return;
    }
    let before = place.names().len();
    for target in ["victim", "missing"] {
        let script = format!("ln -s {target} link; LD_PRELOAD=$PWD/forbids.so $SORT -o link a");
        place.shell(&script).says(2, "hysort: open failed: link: Permission denied\n");
        place.shell("rm link").silent(0);
        assert_eq!((place.get("victim"), place.names().len()), (b"old\n".to_vec(), before), "{target}");
    }
}

/// The same with the kernel's own rule, and with that for regular files, as root in another user's sticky directory.
#[test]
fn sticky_directories() {
    if !rustix::process::geteuid().is_root() {
        return skip(Need::System, "only root has files that others may lead it to");
    }
    let on = |name: &str| {
        let value = std::fs::read_to_string(format!("/proc/sys/fs/{name}")).unwrap_or_default();
        value.trim().parse().unwrap_or(0) > 0
    };
    let prepare = "mkdir sticky; chmod 1777 sticky; ln -s ../victim sticky/link; chown -h 12345 sticky/link; \
                   echo old >sticky/file; chown 12345 sticky/file;";
    for (sysctl, name) in [("protected_symlinks", "link"), ("protected_regular", "file")] {
        if !on(sysctl) {
            crate::skip::skip_part(Need::System, &format!("fs.{sysctl} is off"));
            continue;
        }
        let place = Place::with(&[("a", b"b\na\n"), ("victim", b"old\n")]);
        let said = format!("hysort: open failed: sticky/{name}: Permission denied\n");
        place.shell(&format!("{prepare} $SORT -o sticky/{name} a")).says(2, &said);
        assert_eq!((place.get("victim"), place.get("sticky/file")), (b"old\n".to_vec(), b"old\n".to_vec()));
    }
}
