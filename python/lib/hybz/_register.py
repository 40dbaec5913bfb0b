"""Putting hybz in the place of others."""

import sys


def register(*, fsspec=None, bz2=False):
    """Has others use hybz, for this process.

    fsspec: with `compression="bz2"` (or "hbz", or inferred from names) fsspec, and so Dask, pandas and others that open
    files with it, read and write with hybz. By default if fsspec is installed; True makes it an error if it is not.

    bz2: whoever imports bz2 from now on gets hybz. Modules that have imported it already keep what they have, so call
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
