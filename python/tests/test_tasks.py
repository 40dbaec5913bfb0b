"""Compression as tasks, one after the other without an engine: what each leaves, twice, in any order, and failing."""

import bz2
import glob
import os
import unittest

from shapes import Files, noise, words

try:
    import fsspec
except ImportError:
    fsspec = None
from hybz import _tasks


@unittest.skipIf(fsspec is None, "fsspec is not installed")
class Tasks(Files):
    def run_twice(self, function, arguments):
        """As speculative engines do: everything twice, and the last first."""
        twice = [function(*each) for each in [*arguments, *reversed(arguments)]]
        return twice[: len(arguments)]

    def compress(self, text, level, size, run=None):
        plain, out = self.file("plain", text), self.path("out.bz2")
        _tasks.compress(run or self.run_twice, plain, out, level, size)
        self.assertEqual(self.content("out.bz2"), bz2.compress(text, level))
        self.assertEqual(glob.glob(out + "?*"), [])

    def test_levels(self):
        text = words(2_000_000) + noise(300_000)
        for level in range(1, 10):
            self.compress(text, level, 500_000)
        for size in (1, 1 << 40):
            self.compress(text, 1, size)
        for text in (b"", b"x", bytes(30_000_000)):
            self.compress(text, 1, 1)

    def test_runs_across_ends(self):
        before, after = noise(99_981), words(101_000)
        for gap in (0, 1, 3, 4, 255):
            for run in (1, 3, 4, 5, 255, 256, 600):
                self.compress(before[: len(before) - gap] + b"r" * run + after, 1, 1)

    def check_failure(self, run, error):
        self.file("out.bz2", b"before")
        with self.assertRaises(error) as caught:
            self.compress(words(900_000), 1, 1, run)
        self.assertEqual(self.content("out.bz2"), b"before")
        self.assertEqual(glob.glob(self.path("out.bz2?*")), [])
        return str(caught.exception)

    def test_a_source_that_changes(self):
        def run(function, arguments):
            if function is _tasks.part:
                self.file("plain", words(900_000, 9))
            return [function(*each) for each in arguments]

        self.assertIn("has changed since it was planned", self.check_failure(run, OSError))

    def test_parts_that_are_not_right(self):
        def after_parts(spoil):
            def run(function, arguments):
                results = [function(*each) for each in arguments]
                if function is _tasks.part:
                    [folder] = glob.glob(self.path("out.bz2.parts-*"))
                    spoil(folder)
                return results

            return run

        def cut(folder):
            os.truncate(os.path.join(folder, "3"), 5000)

        def swap(folder):
            os.replace(os.path.join(folder, "3"), os.path.join(folder, "4"))
            os.link(os.path.join(folder, "4"), os.path.join(folder, "3"))

        self.check_failure(after_parts(lambda folder: os.unlink(os.path.join(folder, "3"))), FileNotFoundError)
        self.check_failure(after_parts(cut), EOFError)
        self.assertIn("not the shard's", self.check_failure(after_parts(swap), ValueError))

    def test_a_task_that_dies_leaves_no_part(self):
        text = words(500_000)
        plain, folder = self.file("plain", text), self.path("parts")
        [shard, *_] = _tasks.plan(plain, 1, 1, None)

        def dies(self, path, mode="rb", **options):
            file = opened(self, path, mode, **options)
            if mode == "wb":
                file.write(b"half")
                file.close()
                raise KeyboardInterrupt
            return file

        kind = type(fsspec.filesystem("file"))
        opened, kind.open = kind.open, dies
        try:
            self.assertRaises(KeyboardInterrupt, _tasks.part, plain, shard, 1, 1, None, folder, 0, None)
        finally:
            kind.open = opened
        self.assertFalse(os.path.exists(os.path.join(folder, "0")))
        _tasks.part(plain, shard, 1, 1, None, folder, 0, None)
        self.assertEqual(bz2.decompress(self.content("parts/0")), text[: shard[1]])

    def test_arguments(self):
        for options in ({"compresslevel": 0}, {"compresslevel": 10}, {"size": 0}):
            self.assertRaises(ValueError, _tasks.compress, self.run_twice, "plain", "out", **options)


if __name__ == "__main__":
    unittest.main()
