"""hybz in Polars, which does not read .bz2 itself: lazy frames of CSV, a part of each file at a time."""

import io

import polars
from polars.io.plugins import register_io_source

from ._file import BZ2File
from ._ranges import absolute, expand, opened, read_range, splits

__all__ = ["scan_csv"]

_SAMPLE = 1 << 20  # bytes of text from which the types of columns are inferred


def scan_csv(paths, *, size=16 << 20, storage_options=None, threads=0, **options):
    """A lazy frame of .bz2 files of CSV with the same columns. size is how many compressed bytes are parsed at once.

    Filters, selections and limits of the query are applied to each part, so the text of a file is never in memory as a
    whole. options are those of polars.read_csv that are about the format and the types (separator, has_header,
    schema_overrides, null_values ...). Types come from the first 1 MB of text. Fields in quotes have no line ends.
    """
    paths = list(map(absolute, expand(paths, storage_options)))
    schema = _schema(paths[0], storage_options, options)
    # Each part is parsed with these types.
    options = {name: value for name, value in options.items() if name not in ("schema_overrides", "schema")}
    has_header = options.pop("has_header", True)

    def frames(columns, predicate, rows, _):
        for path in paths:
            is_first = True
            for part in splits(path, size, storage_options=storage_options):
                text = read_range(part, b"\n", threads=threads)
                if not text:
                    continue
                frame = polars.read_csv(text, has_header=has_header and is_first, schema=schema, **options)
                is_first = False
                if predicate is not None:
                    frame = frame.filter(predicate)
                if columns is not None:
                    frame = frame.select(columns)
                if rows is not None:
                    frame = frame.head(rows)
                    rows -= frame.height
                yield frame
                if rows == 0:
                    return

    return register_io_source(frames, schema=schema)


def _schema(path, storage_options, options):
    """The names and types of the columns, from the first lines of a file."""
    if "schema" in options:
        return polars.Schema(options["schema"])
    with opened(path, storage_options) as coded, BZ2File(coded, threads=1) as file:
        head = file.read(_SAMPLE) + file.readline()
    return polars.read_csv(io.BytesIO(head), infer_schema_length=None, **options).schema
