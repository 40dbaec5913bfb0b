"""hybz in DuckDB, which does not read .bz2 itself: relations of files, decompressed on all cores as DuckDB reads."""

import duckdb

from ._file import BZ2File
from ._ranges import absolute, expand, filesystem

__all__ = ["read_csv", "read_json"]


def _files(paths, options, threads):
    """File objects of the text. DuckDB keeps them as long as the relation."""
    files = []
    for path in map(absolute, expand(paths, options)):
        if "://" in path or "::" in path:
            fs, there = filesystem(path, options)
            path = fs.open(there, "rb")
        files.append(BZ2File(path, threads=threads))
    return files


def read_csv(paths, *, connection=None, storage_options=None, threads=0, **options):
    """A relation of .bz2 files of CSV, as duckdb.read_csv makes it of plain ones. paths are any that fsspec knows, also
    patterns; options are those of duckdb.read_csv."""
    return (connection or duckdb).read_csv(_files(paths, storage_options, threads), **options)


def read_json(paths, *, connection=None, storage_options=None, threads=0, **options):
    """A relation of .bz2 files of JSON, as duckdb.read_json makes it of a plain one: one file."""
    [file] = _files(paths, storage_options, threads)
    return (connection or duckdb).read_json(file, **options)
