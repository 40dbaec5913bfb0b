import os
from collections.abc import Sequence
from typing import Any, Literal, overload

_Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

__all__ = ["read_bytes", "read_text", "read_csv", "read_json", "compress"]

# Dask has no types: blocks are Delayed objects, and read_text returns a dask.bag.Bag.
@overload
def read_bytes(
    urlpath: _Paths,
    delimiter: bytes | None = None,
    blocksize: int | str | None = "64 MiB",
    sample: int | str | bool = "10 kiB",
    include_path: Literal[False] = False,
    *,
    index: _Paths | None = None,
    storage_options: dict[str, Any] | None = None,
    threads: int = 1,
) -> tuple[bytes, list[list[Any]]]: ...
@overload
def read_bytes(
    urlpath: _Paths,
    delimiter: bytes | None = None,
    blocksize: int | str | None = "64 MiB",
    sample: int | str | bool = "10 kiB",
    *,
    include_path: Literal[True],
    index: _Paths | None = None,
    storage_options: dict[str, Any] | None = None,
    threads: int = 1,
) -> tuple[bytes, list[list[Any]], list[str]]: ...
def read_text(
    urlpath: _Paths,
    blocksize: int | str | None = "64 MiB",
    encoding: str = "utf-8",
    errors: str = "strict",
    linedelimiter: str | None = None,
    collection: bool = True,
    include_path: bool = False,
    *,
    index: _Paths | None = None,
    storage_options: dict[str, Any] | None = None,
    threads: int = 1,
) -> Any: ...
def read_csv(
    urlpath: _Paths,
    blocksize: int | str | None = "64 MiB",
    *,
    index: _Paths | None = None,
    storage_options: dict[str, Any] | None = None,
    threads: int = 1,
    **options: Any,
) -> Any: ...
def read_json(
    urlpath: _Paths,
    blocksize: int | str | None = "64 MiB",
    *,
    index: _Paths | None = None,
    storage_options: dict[str, Any] | None = None,
    threads: int = 1,
    **options: Any,
) -> Any: ...
def compress(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    compresslevel: int = 9,
    *,
    size: int | str = "64 MiB",
    threads: int = 1,
    storage_options: dict[str, Any] | None = None,
    out_storage_options: dict[str, Any] | None = None,
) -> None: ...
