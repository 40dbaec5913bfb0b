/* System calls that fail or do less than asked, for tests/command/faults.rs.
 *
 * FAULT is a list of these, separated by commas:
 *   read write fdatasync fsync close linkat rename fchmod unlink
 *             the first such call that concerns a file of the test fails with EIO; with a number (write@3), the third
 *   close1    closing stdout fails with EIO
 *   tmpfile   the file system knows no files without names
 *   noreplace the kernel or the file system knows no renameat2 flags
 *   nolink    the file system knows no hard links
 *   nomode    the file system knows no modes, owners and times (EPERM)
 *   noflock   the file system knows no locks
 *   noacl     the file system knows no access control lists
 *   refuse-CALL@ERROR  all such calls fail with this error number, as where a file system, an option of a mount or a
 *             filter of system calls refuses them; `tmpfile` is an open with O_TMPFILE, `directory` one of a directory
 *             (but for O_PATH), `pipe_size` F_SETPIPE_SZ
 *   stalelinks  files have two links, unless the file system itself is asked
 *   exchange@3  after the third open of a relative name, u/A and u/B are exchanged
 *   short     reads and writes move one byte (writes: at most 7)
 *   eintr     every second read and write is interrupted
 *   rot       of a result that is read again, the byte in the middle of each piece has a wrong bit
 *   kill      SIGKILL at the first call (kill@3: the third) that concerns a file of the test, or a name
 *   killrename  SIGKILL at the first rename
 *   misled    linkat gives the name to the file `decoy`, as a /proc that is not the kernel's would
 *   swapped   a rename is followed by one of the file `decoy` to the same name
 *   nothread  no thread can be created for the part after the result is complete
 *   protected opening the name of a link fails with EACCES, as fs.protected_symlinks has it in directories like /tmp
 *
 * The first fault that is caused makes the file that FAULT_DONE names, so that a test knows that there was one.
 *
 * "A file of the test": a descriptor above 2 that was opened below /tmp or by a relative name; /proc and libraries
 * work.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

/* The number after a fault's @ (1 if there is none), or 0 if the fault is not in the list. */
static int has(const char *fault)
{
    const char *list = getenv("FAULT");
    size_t len = strlen(fault);
    while (list && *list) {
        if (strncmp(list, fault, len) == 0) {
            if (list[len] == '@') return atoi(list + len + 1);
            if (list[len] == ',' || list[len] == 0) return 1;
        }
        list = strchr(list, ',');
        if (list) list++;
    }
    return 0;
}

/* Records that a fault was caused. */
static void note(void)
{
    int error = errno;
    const char *name = getenv("FAULT_DONE");
    int fd = name ? syscall(SYS_openat, AT_FDCWD, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0666) : -1;
    if (fd >= 0) syscall(SYS_close, fd);
    errno = error;
}

static int fails_at(const char *fault, atomic_int *calls)
{
    int number = has(fault);
    if (!number || atomic_fetch_add(calls, 1) + 1 != number) return 0;
    note();
    errno = EIO;
    return 1;
}

/* A point at which the process may be killed. */
static void point(void)
{
    static atomic_int calls;
    int number = has("kill");
    if (!number || atomic_fetch_add(&calls, 1) + 1 != number) return;
    note();
    kill(getpid(), SIGKILL);
}

/* Whether this call is the one that must fail. */
#define fails(fault) ({ static atomic_int calls; fails_at(fault, &calls); })

/* Whether the file is neither a terminal nor a pipe nor in /proc, and is opened for writing if `writing`. */
static int regular(int fd, int writing)
{
    struct stat found;
    int flags = fcntl(fd, F_GETFL);
    if (flags == -1 || fstat(fd, &found) == -1 || !S_ISREG(found.st_mode) || found.st_size > (1 << 28)) return 0;
    char path[64], name[64] = "";
    strcpy(path, "/proc/self/fd/");
    int n = fd, at = 14, div = 1;
    while (n / div >= 10) div *= 10;
    for (; div; div /= 10) path[at++] = '0' + n / div % 10;
    path[at] = 0;
    if (readlink(path, name, sizeof name - 1) < 0) return 0;
    if (strncmp(name, "/proc/", 6) == 0 || strncmp(name, "/sys/", 5) == 0) return 0;
    return ((flags & O_ACCMODE) != O_RDONLY) == writing;
}

static int interrupted(void)
{
    static atomic_int calls;
    if (!has("eintr") || atomic_fetch_add(&calls, 1) % 2) return 0;
    note();
    errno = EINTR;
    return 1;
}

/* Whether the file system does not know such calls at all. */
static int unknown(const char *fault, int error)
{
    if (!has(fault)) return 0;
    note();
    errno = error;
    return 1;
}

/* Whether all such calls are refused. */
static int refused(const char *call)
{
    char fault[32] = "refuse-";
    strcat(fault, call);
    return unknown(fault, has(fault));
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t read(int fd, void *buffer, size_t size)
{
    if (regular(fd, 0)) {
        point();
        if (fails("read")) return -1;
        if (interrupted()) return -1;
        if (has("short") && size > 1) {
            note();
            size = 1;
        }
    }
    return REAL(read)(fd, buffer, size);
}

ssize_t pread64(int fd, void *buffer, size_t size, off64_t offset)
{
    int ours = regular(fd, 1);
    if (ours || regular(fd, 0)) point();
    ssize_t n = REAL(pread64)(fd, buffer, size, offset);
    if (ours && n > 0 && has("rot")) {
        note();
        ((char *)buffer)[n / 2] ^= 4;
    }
    return n;
}

int posix_fadvise64(int fd, off64_t offset, off64_t len, int advice)
{
    point();
    if (refused("fadvise")) return has("refuse-fadvise");
    return REAL(posix_fadvise64)(fd, offset, len, advice);
}

ssize_t write(int fd, const void *buffer, size_t size)
{
    if (regular(fd, 1) || fd == 1) {
        point();
        if (fails("write")) return -1;
        if (interrupted()) return -1;
        if (has("short") && size > 7) {
            note();
            size = 7;
        }
    }
    return REAL(write)(fd, buffer, size);
}

int sync_file_range(int fd, off64_t offset, off64_t len, unsigned flags)
{
    return refused("sync_file_range") ? -1 : REAL(sync_file_range)(fd, offset, len, flags);
}

int fcntl(int fd, int command, ...)
{
    va_list rest;
    va_start(rest, command);
    long argument = va_arg(rest, long);
    va_end(rest);
    return command == F_SETPIPE_SZ && refused("pipe_size") ? -1 : REAL(fcntl)(fd, command, argument);
}

int posix_madvise(void *address, size_t len, int advice)
{
    return refused("madvise") ? has("refuse-madvise") : REAL(posix_madvise)(address, len, advice);
}

int madvise(void *address, size_t len, int advice)
{
    return refused("madvise") ? -1 : REAL(madvise)(address, len, advice);
}

int fdatasync(int fd)
{
    point();
    if (refused("fdatasync") || refused("sync")) return -1;
    return fails("fdatasync") ? -1 : REAL(fdatasync)(fd);
}

int fsync(int fd)
{
    point();
    if (refused("fsync") || refused("sync")) return -1;
    return fails("fsync") ? -1 : REAL(fsync)(fd);
}

int flock(int fd, int operation)
{
    return unknown("noflock", ENOSYS) || refused("flock") ? -1 : REAL(flock)(fd, operation);
}

int fchown(int fd, uid_t user, gid_t group)
{
    return unknown("nomode", EPERM) || refused("fchown") ? -1 : REAL(fchown)(fd, user, group);
}

int futimens(int fd, const struct timespec times[2])
{
    return unknown("nomode", EPERM) || refused("futimens") ? -1 : REAL(futimens)(fd, times);
}

int fsetxattr(int fd, const char *name, const void *value, size_t size, int flags)
{
    return unknown("noacl", EOPNOTSUPP) || refused("fsetxattr") ? -1 : REAL(fsetxattr)(fd, name, value, size, flags);
}

ssize_t fgetxattr(int fd, const char *name, void *value, size_t size)
{
    return refused("fgetxattr") ? -1 : REAL(fgetxattr)(fd, name, value, size);
}

int fremovexattr(int fd, const char *name) { return refused("fremovexattr") ? -1 : REAL(fremovexattr)(fd, name); }

int statx(int directory, const char *name, int flags, unsigned mask, struct statx *found)
{
    if (refused("statx")) return -1;
    int done = REAL(statx)(directory, name, flags, mask, found);
    if (done == 0 && !(flags & AT_STATX_FORCE_SYNC) && S_ISREG(found->stx_mode) && has("stalelinks")) {
        note();
        found->stx_nlink = 2;
    }
    return done;
}

int fchmod(int fd, mode_t mode)
{
    point();
    if (unknown("nomode", EPERM) || refused("fchmod")) return -1;
    return fails("fchmod") ? -1 : REAL(fchmod)(fd, mode);
}

int close(int fd)
{
    if (regular(fd, 1)) point();
    int ours = (regular(fd, 1) && fails("close")) || (fd == 1 && fails("close1"));
    int done = REAL(close)(fd);
    if (ours) errno = EIO;
    return ours ? -1 : done;
}

int linkat(int from, const char *old, int to, const char *new, int flags)
{
    point();
    if (has("misled") && flags) {
        note();
        return REAL(linkat)(AT_FDCWD, "decoy", to, new, 0);
    }
    const int fault = unknown("nolink", EPERM) || refused("linkat") || fails("linkat");
    return fault ? -1 : REAL(linkat)(from, old, to, new, flags);
}

static void kill_before_rename(void)
{
    if (!has("killrename")) return;
    note();
    kill(getpid(), SIGKILL);
}

static int swapped(int done, int to, const char *new)
{
    if (done || !has("swapped")) return done;
    note();
    return REAL(renameat)(AT_FDCWD, "decoy", to, new);
}

int renameat(int from, const char *old, int to, const char *new)
{
    point();
    kill_before_rename();
    return fails("rename") ? -1 : swapped(REAL(renameat)(from, old, to, new), to, new);
}

int renameat2(int from, const char *old, int to, const char *new, unsigned flags)
{
    point();
    kill_before_rename();
    if (flags && (unknown("noreplace", EINVAL) || refused("renameat2"))) return -1;
    return fails("rename") ? -1 : swapped(REAL(renameat2)(from, old, to, new, flags), to, new);
}

int unlink(const char *name) { return fails("unlink") ? -1 : REAL(unlink)(name); }
int remove(const char *name) { return fails("unlink") ? -1 : REAL(remove)(name); }

int unlinkat(int directory, const char *name, int flags)
{
    point();
    return fails("unlink") ? -1 : REAL(unlinkat)(directory, name, flags);
}

/* Whether the open of a name is refused. */
static int open_refused(int directory, const char *name, int flags)
{
    if ((flags & O_TMPFILE) == O_TMPFILE) return unknown("tmpfile", EOPNOTSUPP) || refused("tmpfile");
    if (flags & O_DIRECTORY && !(flags & O_PATH) && refused("directory")) return 1;
    struct stat found;
    if (flags & O_NOFOLLOW || !has("protected") || !strncmp(name, "/dev/", 5) || !strncmp(name, "/proc/", 6)) return 0;
    if (fstatat(directory, name, &found, AT_SYMLINK_NOFOLLOW) == -1 || !S_ISLNK(found.st_mode)) return 0;
    return unknown("protected", EACCES);
}

static int exchanged(int opened, const char *name)
{
    static atomic_int calls;
    if (has("exchange") && name[0] != '/' && atomic_fetch_add(&calls, 1) + 1 == has("exchange")) {
        note();
        syscall(SYS_renameat2, AT_FDCWD, "u/A", AT_FDCWD, "u/B", 2 /* RENAME_EXCHANGE */);
    }
    return opened;
}

#define OPEN(call, parameters, directory, arguments) \
    int call parameters \
    { \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
        va_end(rest); \
        return open_refused(directory, name, flags) ? -1 : exchanged(REAL(call) arguments, name); \
    }
OPEN(open, (const char *name, int flags, ...), AT_FDCWD, (name, flags, mode))
OPEN(open64, (const char *name, int flags, ...), AT_FDCWD, (name, flags, mode))
OPEN(openat, (int directory, const char *name, int flags, ...), directory, (directory, name, flags, mode))
OPEN(openat64, (int directory, const char *name, int flags, ...), directory, (directory, name, flags, mode))

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*work)(void *), void *argument)
{
    return unknown("nothread", EAGAIN) ? EAGAIN : REAL(pthread_create)(thread, attributes, work, argument);
}
