"""Tries an installed hybz: bytes, an index, and ranges of a file."""

import bz2
import os
import tempfile

import hybz

text = os.urandom(100_000) + bytes(1_000_000) + b"lines\n" * 300_000
coded = hybz.compress(text, 1)
assert coded == bz2.compress(text, 1) and hybz.decompress(coded) == text
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "x.bz2")
    with hybz.open(path, "wb", index=path + ".bzi") as file:
        file.write(text)
    assert b"".join(map(hybz.read_range, hybz.ranges(path, 1))) == text
print("it works with", hybz.__file__)
