"""Data for the tests, and files of them."""

import bz2
import os
import random
import tempfile
import unittest


def words(size, seed=1):
    """Text of words, in lines."""
    draw = random.Random(seed)
    some = [bytes(draw.choices(b"abcdefghijklmnopqrstuvwxyz", k=draw.randint(1, 9))) for _ in range(500)]
    text = bytearray()
    while len(text) < size:
        text += b" ".join(draw.choices(some, k=draw.randint(0, 20))) + b"\n"
    return bytes(text[:size])


def noise(size, seed=2):
    """Bytes that no coder can shorten."""
    return random.Random(seed).randbytes(size)


SHAPES = {
    "empty": b"",
    "one byte": b"x",
    "words": words(400_000),
    "noise": noise(250_000),
    "zeros": bytes(3_000_000),
    "runs and words": bytes(300_000) + words(120_000, 3) + b"z" * 100_000,
}


class Files(unittest.TestCase):
    """Provides a directory for files, which is removed at the end."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def file(self, name, content):
        with open(self.path(name), "wb") as out:
            out.write(content)
        return self.path(name)

    def coded(self, text, level=1, name="file.bz2"):
        return self.file(name, bz2.compress(text, level))

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()
