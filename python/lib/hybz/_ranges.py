"""Ranges of the text of compressed files, for tasks that each read one range, on other cores or on other machines."""

import io
import os
import warnings
from contextlib import ExitStack, contextmanager

from ._file import BZ2File, _name, _reader, _source
from ._hybz import read_split

SIZE = 64 << 20  # of a range: large compared with the cost of starting a task
# How far a range's index goes beyond the range: up to there its last record is read without another index.
_AHEAD = 4 << 20
_PIECE = 64 << 10  # the size of reads after the range
_SPLIT = 16 << 20  # the size of a split, in compressed bytes
_RATIO = 4  # about how many times longer a text is than its .bz2
_REQUEST = 1 << 20  # the size of fsspec's read-ahead on other machines


def _is_url(path):
    return isinstance(path, str) and ("://" in path or "::" in path)


def absolute(path):
    """A path that tasks can use, whatever their working directory."""
    path = os.fspath(path)
    return path if _is_url(path) else os.path.abspath(path)


def filesystem(path, options):
    """The fsspec file system of a path or URL, and the path there."""
    from fsspec.core import url_to_fs  # type: ignore

    return url_to_fs(os.fspath(path), **(options or {}))


@contextmanager
def opened(path, options=None):
    """A file of compressed data, or an index: a path or any URL of fsspec, opened for reading."""
    if not _is_url(path):
        with open(path, "rb") as file:
            yield file
        return
    fs, there = filesystem(path, options)
    # Files of the same machine are read by the system.
    local = "file" in fs.protocol if isinstance(fs.protocol, tuple) else fs.protocol == "file"
    with open(there, "rb") if local else fs.open(there, "rb", block_size=_REQUEST) as file:
        yield file


def expand(paths, options=None):
    """A list of paths, from one path, many paths or a pattern."""
    found = []
    for path in [paths] if isinstance(paths, (str, os.PathLike)) else paths:
        path = os.fspath(path)
        if not any(mark in path for mark in "*?[") or (not _is_url(path) and os.path.exists(path)):
            found.append(path)
            continue
        fs, there = filesystem(path, options)
        matches = sorted(fs.glob(there))
        if not matches:
            raise FileNotFoundError(f"no file matches {path}")
        found += [fs.unstrip_protocol(match) if _is_url(path) else match for match in matches]
    return found


class Range:
    """A part of the text of a compressed file: bytes begin to end, which are ends of blocks. ranges() makes them.

    It can be pickled, and has the index of its own blocks, so that a reader needs only the file.
    """

    __slots__ = ("path", "begin", "end", "text_size", "part", "index", "storage_options")

    def __init__(self, path, begin, end, text_size, part, index, storage_options):
        self.path = path
        self.begin = begin
        self.end = end
        self.text_size = text_size
        self.part = part
        self.index = index
        self.storage_options = storage_options

    def __repr__(self):
        return f"<hybz.Range {self.begin}-{self.end} of {self.path!r}>"


class Split:
    """The blocks that begin in bytes begin to end of a .bz2 file: a part of its text, without an index. splits() makes
    them. It can be pickled, and is read as a Range is."""

    __slots__ = ("path", "begin", "end", "coded_size", "storage_options")

    def __init__(self, path, begin, end, coded_size, storage_options):
        self.path = path
        self.begin = begin
        self.end = end
        self.coded_size = coded_size
        self.storage_options = storage_options

    def __repr__(self):
        return f"<hybz.Split {self.begin}-{self.end} of {self.path!r}>"


def splits(path, size=_SPLIT, *, storage_options=None):
    """Cuts a .bz2 file into parts of size compressed bytes, without decoding anything: a list of Split.

    Each part has the blocks that begin in it, so all parts together are the text. They are read with read_range and
    read_lines, as ranges are. Reading a part takes up to 2.5 MB of the file before it and the blocks around its ends,
    so parts should be large against that. path is a path or any URL of fsspec, with its storage_options.
    """
    if size < 1:
        raise ValueError("size must be 1 or more")
    path = absolute(path)
    with opened(path, storage_options) as file:
        coded_size = file.seek(0, io.SEEK_END)
    cuts = [*range(0, max(coded_size, 1), size), max(coded_size, 1)]
    return [Split(path, begin, end, coded_size, storage_options) for begin, end in zip(cuts, cuts[1:])]


def estimated_size(part):
    """About how many bytes of text a Range or a Split has."""
    return (part.end - part.begin) * (_RATIO if isinstance(part, Split) else 1)


def ranges(path, size=SIZE, index=None, *, storage_options=None, threads=0):
    """Cuts the text of a .bz2 file into ranges of at least size bytes that end where blocks end: a list of Range.

    path is a path or any URL of fsspec, with its storage_options. index is the path of an index (.bzi, or lines of
    offsets); by default FILE.bz2.bzi, if it exists. Without an index, the file is decoded once to make one, which is
    not written anywhere: use BZ2File.export_index or `hybz --index` to write one.
    """
    if size < 1:
        raise ValueError("size must be 1 or more")
    path = absolute(path)
    with opened(path, storage_options) as coded, BZ2File(coded, threads=threads) as file:
        if index is not None:
            _import(file, index, storage_options)
        else:
            index = path + ".bzi"
            try:
                _import(file, index, storage_options)
            except (FileNotFoundError, PermissionError):
                index = None  # servers without listings raise the second for a missing file
            except ValueError as error:
                warnings.warn(f"{index} is not used: {error}", stacklevel=2)
                index = None
        text_size = file.size()
        found = file._reader.ranges(size, _AHEAD)
    where = absolute(index) if isinstance(index, (str, os.PathLike)) else None
    return [Range(path, begin, end, text_size, part, where, storage_options) for begin, end, part in found]


def ranges_of_all(run, paths, size, index, options, threads):
    """Paths (from one path, many paths or a pattern), and the ranges of each. Tasks find the ranges, run as by
    _tasks.compress, because files without an index must be decoded."""
    paths = list(map(absolute, expand(paths, options)))
    if index is None:
        indexes = [None] * len(paths)
    else:
        indexes = list(map(absolute, [index] if isinstance(index, (str, os.PathLike)) else index))
        if len(indexes) != len(paths) or len(set(indexes)) != len(paths):
            raise ValueError("each file needs an index of its own")
    return paths, run(_ranges, [(path, size, its, options, threads) for path, its in zip(paths, indexes)])


def _ranges(path, size, index, options, threads):
    """Ranges by the index of a file; splits of a .bz2 that has none."""
    if index is None and _is_unindexed(path, options):
        return splits(path, -(-size // _RATIO), storage_options=options)
    return ranges(path, size, index, storage_options=options, threads=threads)


def _is_unindexed(path, options):
    """Whether a file is a .bz2 and has no index next to it."""
    with opened(path, options) as file:
        if file.read(3) != b"BZh":
            return False
    try:
        with opened(path + ".bzi", options):
            return False
    except OSError:
        return True


def check_encoding(encoding):
    """Lines are cut as bytes, before they are decoded."""
    if "\n".encode(encoding) != b"\n":
        raise ValueError(f"lines in {encoding} cannot be distinguished from the bytes around them")


def _import(file, index, options):
    if hasattr(index, "read"):
        file.import_index(index)
        return
    with opened(index, options) as found:
        file.import_index(found)


class _SplitText:
    """The text of a split, and the text after it."""

    def __init__(self, split, threads, stack):
        self._split, self._threads = split, threads
        self._file = stack.enter_context(opened(split.path, split.storage_options))
        self._at, self._step = split.end, _PIECE

    def own(self):
        """The text of the split."""
        return self._read(self._split.begin, self._split.end)

    def read(self, _):
        """Some more text; nothing at the end of the file."""
        text = b""
        while not text and self._at < self._split.coded_size:
            end = self._at + self._step
            text, self._at, self._step = self._read(self._at, end), end, min(2 * self._step, _SPLIT)
        return text

    def _read(self, begin, end):
        self._file.seek(0)
        source, base = _source(self._file)
        return read_split(source, base, begin, end, self._threads, _name(self._file))


class _Text:
    """The text of a range, and the text after it."""

    def __init__(self, range, threads, stack):
        self._range, self._threads, self._stack = range, threads, stack
        file = stack.enter_context(opened(range.path, range.storage_options))
        self._reader = _reader(file, threads)
        self._reader.read_part(range.part)
        self._reader.seek(range.begin, 0)
        self._part_end = self._reader.size()
        self.at = range.begin

    def own(self):
        """The text of the range."""
        own = self.read(self._range.end - self._range.begin)
        if len(own) < self._range.end - self._range.begin:
            raise EOFError(f"{self._range!r} ends before its end")
        return own

    def read(self, size):
        """Up to size bytes from the position on; nothing at the end of the file."""
        if self.at == self._part_end < self._range.text_size:
            self._go_on()
        text = self._reader.readall(size)
        self.at += len(text)
        return text

    def _go_on(self):
        """Goes on reading after the end of the range's index, where a record continues, with the index of the whole
        file. If there is none, the file is decoded up to there."""
        file = self._stack.enter_context(opened(self._range.path, self._range.storage_options))
        whole = self._stack.enter_context(BZ2File(file, threads=self._threads))
        if self._range.index is not None:
            _import(whole, self._range.index, self._range.storage_options)
        self._reader, self._part_end = whole._reader, self._range.text_size
        self._reader.seek(self.at, 0)


def read_range(range, delimiter=None, *, threads=1):
    """The bytes of a range or split. With a delimiter, whole records: those that begin in it, by Hadoop's rule.

    A record ends with the delimiter. A range skips everything up to the first delimiter that begins in it, unless it is
    the file's first range, and ends with the first delimiter that begins after it. All ranges of a file together
    therefore have each byte once, whatever the lengths of the records.
    """
    with ExitStack() as stack:
        text = (_SplitText if isinstance(range, Split) else _Text)(range, threads, stack)
        own = text.own()
        if delimiter is None:
            return own
        start = 0
        if range.begin > 0:
            # The first delimiter may begin in the range and end after it.
            border = own[1 - len(delimiter) :] if len(delimiter) > 1 else b""
            found = own.find(delimiter)
            if found < 0 and border:
                tail = text.read(len(delimiter) - 1)
                found = (border + tail).find(delimiter)
                if found >= 0:
                    found += len(own) - len(border)
            else:
                tail = b""
            if found < 0:
                return b""
            start = found + len(delimiter)
        else:
            tail = b""
        return _with_tail(text, own, tail, start, delimiter)


def _with_tail(text, own, tail, start, delimiter):
    """The text of a range from start on, and the text after it, up to the end of the first delimiter there."""
    tail, size, seen = bytearray(tail), _PIECE, 0
    while (found := tail.find(delimiter, seen)) < 0:
        seen = max(len(tail) - len(delimiter) + 1, 0)
        piece = text.read(size)
        if not piece:
            break
        tail += piece
        size = min(2 * size, 1 << 24)
    end = found + len(delimiter) if found >= 0 else len(tail)
    inside = memoryview(own)[start:]
    return b"".join((inside, memoryview(tail)[max(start - len(own), 0) : end]))


def read_lines(range, encoding=None, errors=None, newline=None, *, threads=1):
    """An iterator of the lines of a range or split: bytes, or with an encoding str, as an open file gives them.

    The lines of all ranges of a file are its lines, each once. (They are cut at b"\\n", so the encoding must write
    "\\n", and no other character, with that byte, as UTF-8 does.)
    """
    if encoding is not None:
        check_encoding(encoding)
    text = io.BytesIO(read_range(range, b"\n", threads=threads))
    return iter(text if encoding is None else io.TextIOWrapper(text, encoding, errors, newline))
