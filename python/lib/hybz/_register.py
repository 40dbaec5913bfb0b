"""Makes other modules use hybz."""

import sys


def register(*, fsspec=None, bz2=False):
    """Makes other modules use hybz, in this process.

    fsspec: with `compression="bz2"` (or "hbz", or inferred from names) fsspec, and so Dask, pandas and others that open
    files with it, read and write with hybz. By default this is done if fsspec is installed; with True, a missing fsspec
    is an error.

    bz2: modules that import bz2 from now on get hybz. Modules that have imported it already keep the original, so call
    this first.
    """
    if fsspec is not False:
        try:
            from fsspec.compression import register_compression  # type: ignore
        except ImportError:
            if fsspec:
                raise
        else:
            from ._file import BZ2File

            def opened(file, mode="rb", **arguments):
                return BZ2File(file, mode, **arguments)

            register_compression("bz2", opened, "bz2", force=True)
            register_compression("hbz", opened, "hbz", force=True)
    if bz2:
        sys.modules["bz2"] = sys.modules[__package__]
