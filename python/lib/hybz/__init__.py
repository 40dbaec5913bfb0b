"""bz2 on every core: the interface of Python's bz2, bzip2's exact bytes, and seeking with an index.

`open`, `BZ2File`, `BZ2Compressor`, `BZ2Decompressor`, `compress` and `decompress` are used like those of the module
bz2. They also take `threads=` (0: the number given to `set_threads` or by HYBZ_THREADS, or all cores), read `.hbz` and
write it with `block_size=`; files also take `index=`.

`ranges` cuts the text of a file for tasks that each read a part with `read_range` or `read_lines`; `splits` does so
without an index. `hybz.dask` and `hybz.ray` do the same for Dask and Ray, and compress by tasks; `hybz.duckdb` and
`hybz.polars` read tables. They are imported when they are used.
"""

from ._file import BZ2File, open
from ._hybz import BZ2Compressor, BZ2Decompressor, __version__, compress, decompress, set_threads
from ._ranges import Range, Split, ranges, read_lines, read_range, splits
from ._register import register

__all__ = ["BZ2File", "BZ2Compressor", "BZ2Decompressor", "open", "compress", "decompress", "register"]
__all__ += ["Range", "Split", "ranges", "splits", "read_range", "read_lines", "set_threads"]

# This makes messages and documentation name them as they are imported.
for _name in ("BZ2File", "open", "register", "Range", "Split", "ranges", "splits", "read_range", "read_lines"):
    globals()[_name].__module__ = __name__
del _name


def __getattr__(name):
    if name in ("dask", "duckdb", "polars", "ray"):
        import importlib

        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
