"""Where an index is written to: what is refused before any work, and what replaces a file."""

import contextlib
import errno
import os
import stat
import uuid
from builtins import open as _builtin_open


def _status(file):
    """The status of a path, a descriptor or a file object, or None."""
    try:
        return os.stat(file if isinstance(file, (str, bytes, os.PathLike, int)) else file.fileno())
    except (AttributeError, OSError, TypeError, ValueError):
        return None


def _is_same(one, other):
    """Whether two are the same file, also if there is none yet. Devices take everything, and keep none of it."""
    if one is other and not isinstance(one, (str, bytes, int)):
        return True
    status, its = _status(one), _status(other)
    if status is not None and its is not None:
        return os.path.samestat(status, its) and not stat.S_ISCHR(status.st_mode)
    if not all(isinstance(each, (str, bytes, os.PathLike)) for each in (one, other)):
        return False
    return os.path.realpath(os.fsdecode(one)) == os.path.realpath(os.fsdecode(other))


def refuse_same(index, file):
    """The index would destroy the file that it is of."""
    if _is_same(index, file):
        raise ValueError("The index is the file itself")


def _error(number, path):
    return OSError(number, os.strerror(number), path)


def _is_written_through(file):
    """Whether what has the name is no file that another could replace: a device, a FIFO."""
    try:
        return not stat.S_ISREG(os.stat(file).st_mode)
    except FileNotFoundError:
        return False


def _temporary(path):
    """A name beside a path. It does not have the path's own: with more at its end that could be too long a name."""
    return os.path.join(os.path.dirname(path), f".hybz-{uuid.uuid4().hex}")


def target(index, file, exclusive):
    """What write_whole() will get when the file has been written: not a relative path, for the directory may have
    changed by then. What can be known of the index not being possible is an error now."""
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
    """Writes to a file object, a descriptor, a device or a FIFO; or a file that gets its name when it is complete, in
    the place and with the mode of what had it. With `exclusive` nothing may have it."""
    if hasattr(file, "write"):
        file.write(content)
        return
    if isinstance(file, int) or (not exclusive and _is_written_through(file)):
        with _builtin_open(file, "wb", closefd=not isinstance(file, int)) as out:
            out.write(content)
        return
    file = os.fsdecode(file)
    if exclusive:
        # The name is taken now, whatever else is going on.
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
