"""Files: Python's own io on top of the compiled reader and compressor."""

import io
import itertools
import os
import stat
from builtins import open as _builtin_open

from . import _index
from ._hybz import BZ2Compressor, Reader

# Large enough for lines and small reads, and no larger than a random read of some lines needs.
_BUFFER_SIZE = 64 << 10


def _source(file):
    """A file object in the form that the compiled part takes: the source of bytes, and its position now (None if it
    cannot seek)."""
    try:
        base = file.tell() if file.seekable() else None
    except (AttributeError, OSError, ValueError):
        base = None
    if base is not None and _is_plain(file):
        # The system reads it without Python: in parallel, and parent and child of a fork do not disturb each other.
        return os.dup(file.fileno()), base
    return file, base


def _name(file):
    """The name of a file object in errors: its path, if it has one."""
    for attribute in ("name", "path"):
        name = getattr(file, attribute, None)
        if isinstance(name, (str, bytes, os.PathLike)) and name:
            return repr(os.fspath(name))
    return None


def _reader(file, threads):
    """The compiled reader of a file object, from its position on."""
    source, base = _source(file)
    try:
        return Reader(source, base, threads, _name(file))
    except BaseException:
        if source is not file:
            os.close(source)
        raise


def _own_reader(file, threads):
    """The compiled reader of a file that hybz has opened, and that file. The reader takes over the descriptor of a
    regular file, so there is only one descriptor."""
    if not _is_plain(file):
        return _reader(file, threads), file
    descriptor, name = os.dup(file.fileno()), file.name
    file.close()
    try:
        thin = io.FileIO(descriptor, closefd=False)
        thin.name = name
        return Reader(descriptor, 0, threads, _name(thin)), thin
    except BaseException:
        os.close(descriptor)
        raise


def _is_plain(file):
    """Whether a file object is a regular file that Python's own open() has opened."""
    if os.name != "posix":
        return False
    raw = file.raw if type(file) in (io.BufferedReader, io.BufferedRandom) else file
    return type(raw) is io.FileIO and stat.S_ISREG(os.fstat(raw.fileno()).st_mode)


class _Raw(io.RawIOBase):
    """The compiled reader with the interface that Python's io needs."""

    def __init__(self, reader, file=None):
        self._reader = reader
        self._file = file

    def _follow(self, ended):
        """Moves the caller's file object as if it had been read: at least to the end of what has been decoded, and
        to its own end when the text has ended. The reader itself reads by another descriptor."""
        if self._file is not None:
            try:
                self._file.seek(*((0, io.SEEK_END) if ended else (self._reader.position(),)))
            except (OSError, ValueError):
                # The caller has closed it, which does not matter here.
                self._file = None

    def readable(self):
        return True

    def seekable(self):
        return self._reader.seekable()

    def readinto(self, buffer):
        n = self._reader.readinto(buffer)
        self._follow(ended=n == 0)
        return n

    def readall(self):
        text = self._reader.readall()
        self._follow(ended=True)
        return text

    def tell(self):
        return self._reader.tell()

    def seek(self, offset, whence=io.SEEK_SET):
        if not self.seekable():
            raise io.UnsupportedOperation("The underlying file object does not support seeking")
        return self._reader.seek(offset, whence)

    def close(self):
        self._reader = self._file = None
        super().close()


class BZ2File(io.BufferedIOBase):
    """A file that is compressed as it is written, or decompressed as it is read, like bz2.BZ2File.

    filename is a path, or an object with read or write. mode is "r" (the default), "w", "x" or "a", with or without
    "b". compresslevel is 1 to 9. threads is the maximum number of threads, 0 for all cores. index is the path of an
    index (or a file object). For reading, it is the index to use (see import_index). For writing, it is the index to
    make when this file is closed, unless a write has failed. Mode "x" replaces neither file. block_size, for writing,
    makes a .hbz file with blocks of this many bytes, which contains its index.

    A file that is read can seek. The positions of its blocks are remembered as they pass, so nothing before a block is
    decoded again to go back; with an index nothing is decoded to go forward either.
    """

    def __init__(self, filename, mode="r", *, compresslevel=9, threads=0, index=None, block_size=None):
        self._fp = None
        self._closefp = False
        self._buffer = None
        self._compressor = None
        self._reader = None
        self._index = None
        self._pos = 0
        if not 1 <= compresslevel <= 9:
            raise ValueError("compresslevel must be between 1 and 9")
        if mode in ("", "r", "rb"):
            mode = "rb"
        elif mode in ("w", "wb", "x", "xb", "a", "ab"):
            mode = mode[0] + "b"
            if index is not None and mode == "ab":
                raise ValueError("Argument 'index' cannot be used when appending: it would lack the existing blocks")
            if index is not None and block_size is not None:
                raise ValueError("A .hbz file contains its index")
            recording = index is not None
            compressor = BZ2Compressor(compresslevel, threads=threads, block_size=block_size, _recording=recording)
        else:
            raise ValueError(f"Invalid mode: {mode!r}")
        if threads < 0:
            raise ValueError("threads must be 0 or more")
        self._reads = mode == "rb"

        self._exclusive = mode == "xb"
        if index is not None and not self._reads:
            index = _index.target(index, filename, self._exclusive)

        if isinstance(filename, (str, bytes, os.PathLike)):
            self._fp = _builtin_open(filename, mode)
            self._closefp = True
        elif hasattr(filename, "read") or hasattr(filename, "write"):
            self._fp = filename
        else:
            raise TypeError("filename must be a str, bytes, file or PathLike object")
        if not self._reads:
            self._compressor, self._index = compressor, index
            return
        try:
            if self._closefp:
                self._reader, self._fp = _own_reader(self._fp, threads)
            else:
                self._reader = _reader(self._fp, threads)
            followed = self._fp if not self._closefp and _is_plain(self._fp) else None
            self._buffer = io.BufferedReader(_Raw(self._reader, followed), _BUFFER_SIZE)
            if index is not None:
                self.import_index(index)
        except BaseException:
            self.close()
            raise

    def close(self):
        """Ends and closes the file. Closing it again does nothing; any other call then raises ValueError."""
        if self._fp is None:
            return
        try:
            if self._buffer is not None:
                self._buffer.close()
            elif self._compressor is not None:
                self._fp.write(self._compressor.flush())
                if self._index is not None and hasattr(self._fp, "flush"):
                    self._fp.flush()
        except BaseException:
            self._index = None
            raise
        finally:
            try:
                if self._closefp:
                    self._fp.close()
                # The index comes last, because its presence says that the file is complete.
                if self._index is not None:
                    _index.write_whole(self._index, self._compressor._index(), self._exclusive)
            finally:
                self._fp = self._buffer = self._reader = self._compressor = self._index = None
                self._closefp = False

    @property
    def closed(self):
        """Whether this file is closed."""
        return self._fp is None

    @property
    def name(self):
        """The name of the underlying file."""
        self._check_not_closed()
        return self._fp.name

    @property
    def mode(self):
        """The mode: "rb" or "wb"."""
        return "rb" if self._reads else "wb"

    def _check_not_closed(self):
        if self._fp is None:
            raise ValueError("I/O operation on closed file")

    def _check_can_read(self):
        self._check_not_closed()
        if not self._reads:
            raise io.UnsupportedOperation("File not open for reading")

    def _check_can_write(self):
        self._check_not_closed()
        if self._reads:
            raise io.UnsupportedOperation("File not open for writing")

    def _check_can_seek(self):
        self._check_not_closed()
        if not self._reads:
            raise io.UnsupportedOperation("Seeking is only supported on files open for reading")
        if not self.seekable():
            raise io.UnsupportedOperation("The underlying file object does not support seeking")

    def fileno(self):
        """The descriptor of the underlying file."""
        self._check_not_closed()
        return self._fp.fileno()

    def readable(self):
        """Whether the file was opened for reading."""
        self._check_not_closed()
        return self._reads

    def writable(self):
        """Whether the file was opened for writing."""
        self._check_not_closed()
        return not self._reads

    def seekable(self):
        """Whether the file can seek."""
        return self.readable() and self._buffer.seekable()

    def peek(self, n=0):
        """Some bytes from the position on, without moving it; at least one byte unless the file is at its end."""
        self._check_can_read()
        return self._buffer.peek(n)

    def read(self, size=-1):
        """Up to size bytes; all remaining bytes if size is negative or None."""
        self._check_can_read()
        return self._buffer.read(size)

    def read1(self, size=-1):
        """Up to size bytes, without waiting for more if some are available."""
        self._check_can_read()
        return self._buffer.read1(io.DEFAULT_BUFFER_SIZE if size < 0 else size)

    def readinto(self, b):
        """Fills a buffer. Returns the number of bytes, 0 at the end."""
        self._check_can_read()
        return self._buffer.readinto(b)

    def readline(self, size=-1):
        """A line with its line end; at most size bytes of it, if size is not negative."""
        if not isinstance(size, int):
            if not hasattr(size, "__index__"):
                raise TypeError("Integer argument expected")
            size = size.__index__()
        self._check_can_read()
        return self._buffer.readline(size)

    def readlines(self, size=-1):
        """A list of lines; if size is positive, no more lines are read once size bytes have come."""
        if not isinstance(size, int):
            if not hasattr(size, "__index__"):
                raise TypeError("Integer argument expected")
            size = size.__index__()
        self._check_can_read()
        return self._buffer.readlines(size)

    def __iter__(self):
        self._check_can_read()
        # This iterates in C alone, for speed. repeat() keeps this file alive, because dropping the file would close the
        # buffer.
        return itertools.compress(self._buffer, itertools.repeat(self))

    def write(self, data):
        """Compresses data. Returns the number of bytes of data. close() writes the rest of the output."""
        self._check_can_write()
        if isinstance(data, (bytes, bytearray)):
            length = len(data)
        else:
            data = memoryview(data)
            length = data.nbytes
        try:
            self._fp.write(self._compressor.compress(data))
        except BaseException:
            # The index would describe bytes that the file does not have.
            self._index = None
            raise
        self._pos += length
        return length

    def writelines(self, seq):
        """Compresses all items of seq, one after the other."""
        for line in seq:
            self.write(line)

    def seek(self, offset, whence=io.SEEK_SET):
        """Moves the position, from the beginning (0), the position (1) or the end (2). Returns it."""
        if not isinstance(offset, int):
            if not hasattr(offset, "__index__"):
                raise TypeError("Integer argument expected")
            offset = offset.__index__()
        if not isinstance(whence, int):
            if not hasattr(whence, "__index__"):
                raise TypeError("Integer argument expected")
            whence = whence.__index__()
        self._check_can_seek()
        return self._buffer.seek(offset, whence)

    def tell(self):
        """The position in the text."""
        self._check_not_closed()
        return self._buffer.tell() if self._reads else self._pos

    # With an index.

    def export_index(self, file, *, format="bzi"):
        """Writes the index to a path or a file object. If there is no index yet, first decodes the file to its end.

        format "bzi" is hybz's own (FILE.bz2.bzi), "offsets" are the lines of indexed_bzip2 and rapidgzip.
        """
        self._check_can_read()
        if format not in ("bzi", "offsets"):
            raise ValueError(f"Unknown format of an index: {format!r}")
        _index.refuse_same(file, self._fp)
        _index.write_whole(file, self._reader.write_index(format == "offsets"))

    def import_index(self, file):
        """Reads an index from a path or a file object, of either format. ValueError if it does not fit the file."""
        self._check_can_read()
        if hasattr(file, "read"):
            self._take_index(file.read(), _name(file))
            return
        with _builtin_open(file, "rb", closefd=not isinstance(file, int)) as index:
            self._take_index(index.read(), None if isinstance(file, int) else repr(os.fspath(file)))

    def _take_index(self, content, name):
        try:
            self._reader.read_index(content)
        except ValueError as error:
            if name is not None:
                error.add_note(f"index: {name}")
            raise

    def block_offsets(self):
        """The positions of blocks and of ends of streams, as {bits of the file: bytes of the text}, for the whole
        file."""
        self._check_can_read()
        return self._reader.block_offsets(True)

    def available_block_offsets(self):
        """The positions known so far, in the same form."""
        self._check_can_read()
        return self._reader.block_offsets(False)

    def block_offsets_complete(self):
        """Whether the positions in the whole file are known."""
        self._check_can_read()
        return self._reader.block_offsets_complete()

    def set_block_offsets(self, offsets):
        """Takes the positions that block_offsets() of hybz, indexed_bzip2 or rapidgzip has returned."""
        self._check_can_read()
        lines = "".join(f"{bits},{text}\n" for bits, text in sorted(offsets.items()))
        self._reader.read_index(lines.encode())

    def size(self):
        """The number of bytes of text in the file."""
        self._check_can_read()
        return self._reader.size()

    def tell_compressed(self):
        """The position in the compressed file, in bits, of the block that is being read."""
        self._check_can_read()
        return self._reader.tell_compressed()


def open(
    filename,
    mode="rb",
    compresslevel=9,
    encoding=None,
    errors=None,
    newline=None,
    *,
    threads=0,
    index=None,
    block_size=None,
):
    """Opens a compressed file, in binary or text mode, like bz2.open.

    mode is "r", "rb", "w", "wb", "x", "xb", "a" or "ab" for a BZ2File, "rt", "wt", "xt" or "at" for text (to which
    encoding, errors and newline apply). threads, index and block_size are those of BZ2File.
    """
    if "t" in mode:
        if "b" in mode:
            raise ValueError(f"Invalid mode: {mode!r}")
    elif encoding is not None:
        raise ValueError("Argument 'encoding' not supported in binary mode")
    elif errors is not None:
        raise ValueError("Argument 'errors' not supported in binary mode")
    elif newline is not None:
        raise ValueError("Argument 'newline' not supported in binary mode")
    options = {"compresslevel": compresslevel, "threads": threads, "index": index, "block_size": block_size}
    binary = BZ2File(filename, mode.replace("t", ""), **options)
    if "t" not in mode:
        return binary
    encoding = io.text_encoding(encoding)
    return io.TextIOWrapper(binary, encoding, errors, newline)
