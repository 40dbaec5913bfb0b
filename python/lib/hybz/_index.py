"""The destination of an index: refuses impossible ones before any work, and replaces an existing file."""

import contextlib
import errno
import os
import stat
from builtins import open as _builtin_open


def _status(file):
    """The status of a path, a descriptor or a file object, or None."""
    try:
        return os.stat(file if isinstance(file, (str, bytes, os.PathLike, int)) else file.fileno())
    except (AttributeError, OSError, TypeError, ValueError):
        return None


def _is_same(one, other):
    """Whether two names are the same file, even if it does not exist yet. Devices do not count, because they keep
    nothing."""
    if one is other and not isinstance(one, (str, bytes, int)):
        return True
    status, its = _status(one), _status(other)
    if status is not None and its is not None:
        return os.path.samestat(status, its) and not stat.S_ISCHR(status.st_mode)
    if not all(isinstance(each, (str, bytes, os.PathLike)) for each in (one, other)):
        return False
    return os.path.realpath(os.fsdecode(one)) == os.path.realpath(os.fsdecode(other))


def refuse_same(index, file):
    """The index would destroy the file that it describes."""
    if _is_same(index, file):
        raise ValueError("The index is the file itself")


def _error(number, path):
    return OSError(number, os.strerror(number), path)


def _is_written_through(file):
    """Whether the name belongs to something that a file could not replace: a device, a FIFO."""
    try:
        return not stat.S_ISREG(os.stat(file).st_mode)
    except FileNotFoundError:
        return False


def _temporary(path):
    """A name in the same directory as a path. It does not contain the path's own name, because the longer name could be
    too long."""
    return os.path.join(os.path.dirname(path), f".hybz-{os.urandom(16).hex()}")


def target(index, file, exclusive):
    """The argument for write_whole() when the file has been written. It is not a relative path, because the working
    directory may have changed by then. If the index is known to be impossible, raises the error now."""
    refuse_same(index, file)
    if hasattr(index, "write") or isinstance(index, int):
        return index
    index = os.path.abspath(os.fsdecode(index))
    if exclusive and os.path.lexists(index):
        raise _error(errno.EEXIST, index)
    if os.path.isdir(index):
        raise _error(errno.EISDIR, index)
    if not _is_written_through(index):
        probe = _temporary(os.path.realpath(index))
        try:
            _builtin_open(probe, "xb").close()
        except OSError as error:
            raise _error(error.errno, index) from None
        os.unlink(probe)
    return index


def write_whole(file, content, exclusive=False):
    """Writes to a file object, a descriptor, a device or a FIFO; or writes a file that gets its name when it is
    complete, and replaces an existing file and keeps its mode. With `exclusive` no file of that name may exist."""
    if hasattr(file, "write"):
        file.write(content)
        return
    if isinstance(file, int) or (not exclusive and _is_written_through(file)):
        with _builtin_open(file, "wb", closefd=not isinstance(file, int)) as out:
            out.write(content)
        return
    file = os.fsdecode(file)
    if exclusive:
        # The name is reserved now, whatever other processes do.
        _builtin_open(file, "xb").close()
    file = os.path.realpath(file)
    temporary = _temporary(file)
    try:
        with _builtin_open(temporary, "xb") as out:
            out.write(content)
        with contextlib.suppress(FileNotFoundError):
            os.chmod(temporary, os.stat(file).st_mode & 0o777)
        os.replace(temporary, file)
    except BaseException:
        for path in (temporary, file) if exclusive else (temporary,):
            with contextlib.suppress(OSError):
                os.unlink(path)
        raise
