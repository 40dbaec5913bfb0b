"""bz2 on every core: the interface of Python's bz2, bzip2's exact bytes, and seeking with an index.

`open`, `BZ2File`, `BZ2Compressor`, `BZ2Decompressor`, `compress` and `decompress` are used like those of the module
bz2. They also take `threads=` (0: all cores) and read `.hbz`; a file that is read also takes `index=`.
"""

from ._file import BZ2File, open
from ._hybz import BZ2Compressor, BZ2Decompressor, __version__, compress, decompress
from ._register import register

__all__ = ["BZ2File", "BZ2Compressor", "BZ2Decompressor", "open", "compress", "decompress", "register"]

# So they are named in messages and documentation as they are imported.
BZ2File.__module__ = open.__module__ = register.__module__ = __name__
