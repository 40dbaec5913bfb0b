import io
import os
from collections.abc import Iterable, Iterator
from typing import IO, Any, Literal, overload

from typing_extensions import Buffer

from ._hybz import BZ2Compressor as BZ2Compressor
from ._hybz import BZ2Decompressor as BZ2Decompressor
from ._hybz import __version__ as __version__
from ._hybz import compress as compress
from ._hybz import decompress as decompress
from ._hybz import set_threads as set_threads

__all__ = ["BZ2File", "BZ2Compressor", "BZ2Decompressor", "open", "compress", "decompress", "register"]
__all__ += ["Range", "Split", "ranges", "splits", "read_range", "read_lines", "set_threads"]

_Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]
_File = _Path | IO[bytes]
_Index = _File | int
_Binary = Literal["", "r", "rb", "w", "wb", "x", "xb", "a", "ab"]
_Text = Literal["rt", "wt", "xt", "at"]

def register(*, fsspec: bool | None = None, bz2: bool = False) -> None: ...
@overload
def open(
    filename: _File,
    mode: _Binary = "rb",
    compresslevel: int = 9,
    encoding: None = None,
    errors: None = None,
    newline: None = None,
    *,
    threads: int = 0,
    index: _Index | None = None,
    block_size: int | None = None,
) -> BZ2File: ...
@overload
def open(
    filename: _File,
    mode: _Text,
    compresslevel: int = 9,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
    *,
    threads: int = 0,
    index: _Index | None = None,
    block_size: int | None = None,
) -> io.TextIOWrapper: ...
@overload
def open(
    filename: _File,
    mode: str,
    compresslevel: int = 9,
    encoding: str | None = None,
    errors: str | None = None,
    newline: str | None = None,
    *,
    threads: int = 0,
    index: _Index | None = None,
    block_size: int | None = None,
) -> BZ2File | io.TextIOWrapper: ...

class Range:
    path: str
    begin: int
    end: int
    text_size: int
    part: bytes
    index: str | os.PathLike[str] | None
    storage_options: dict[str, Any] | None
    def __init__(
        self,
        path: str,
        begin: int,
        end: int,
        text_size: int,
        part: bytes,
        index: str | os.PathLike[str] | None,
        storage_options: dict[str, Any] | None,
    ) -> None: ...

def ranges(
    path: str | os.PathLike[str],
    size: int = ...,
    index: _Index | None = None,
    *,
    storage_options: dict[str, Any] | None = None,
    threads: int = 0,
) -> list[Range]: ...

class Split:
    path: str
    begin: int
    end: int
    coded_size: int
    storage_options: dict[str, Any] | None
    def __init__(
        self, path: str, begin: int, end: int, coded_size: int, storage_options: dict[str, Any] | None
    ) -> None: ...

def splits(
    path: str | os.PathLike[str], size: int = ..., *, storage_options: dict[str, Any] | None = None
) -> list[Split]: ...
def read_range(range: Range | Split, delimiter: bytes | None = None, *, threads: int = 1) -> bytes: ...
@overload
def read_lines(
    range: Range | Split, encoding: None = None, errors: None = None, newline: None = None, *, threads: int = 1
) -> Iterator[bytes]: ...
@overload
def read_lines(
    range: Range | Split, encoding: str, errors: str | None = None, newline: str | None = None, *, threads: int = 1
) -> Iterator[str]: ...

class BZ2File(io.BufferedIOBase):
    def __init__(
        self,
        filename: _File,
        mode: str = "r",
        *,
        compresslevel: int = 9,
        threads: int = 0,
        index: _Index | None = None,
        block_size: int | None = None,
    ) -> None: ...
    def close(self) -> None: ...
    @property
    def closed(self) -> bool: ...
    @property
    def name(self) -> str: ...
    @property
    def mode(self) -> str: ...
    def fileno(self) -> int: ...
    def readable(self) -> bool: ...
    def writable(self) -> bool: ...
    def seekable(self) -> bool: ...
    def peek(self, n: int = 0) -> bytes: ...
    def read(self, size: int | None = -1) -> bytes: ...
    def read1(self, size: int = -1) -> bytes: ...
    def readinto(self, b: Buffer) -> int: ...
    def readline(self, size: int | None = -1) -> bytes: ...
    def readlines(self, size: int | None = -1) -> list[bytes]: ...
    def __iter__(self) -> Iterator[bytes]: ...
    def write(self, data: Buffer) -> int: ...
    def writelines(self, seq: Iterable[Buffer]) -> None: ...
    def seek(self, offset: int, whence: int = 0) -> int: ...
    def tell(self) -> int: ...
    def export_index(self, file: _Index, *, format: Literal["bzi", "offsets"] = "bzi") -> None: ...
    def import_index(self, file: _Index) -> None: ...
    def block_offsets(self) -> dict[int, int]: ...
    def available_block_offsets(self) -> dict[int, int]: ...
    def block_offsets_complete(self) -> bool: ...
    def set_block_offsets(self, offsets: dict[int, int]) -> None: ...
    def size(self) -> int: ...
    def tell_compressed(self) -> int: ...
