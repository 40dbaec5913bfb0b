"""Compression as tasks, one after the other without an engine: the files that tasks leave if they run twice, in any
order, or fail."""

import bz2
import glob
import os
import unittest
from unittest import mock

from shapes import Files, noise, words

try:
    import fsspec
except ImportError:
    fsspec = None
from hybz import _tasks


@unittest.skipIf(fsspec is None, "fsspec is not installed")
class Tasks(Files):
    def run_twice(self, function, arguments, stop=None):
        """Runs tasks like a speculative engine: everything twice, and the last first."""
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
        def run(function, arguments, stop):
            if function is _tasks.part:
                self.file("plain", words(900_000, 9))
            return [function(*each) for each in arguments]

        self.assertIn("has changed since it was planned", self.check_failure(run, OSError))

    def test_parts_that_are_not_right(self):
        def after_parts(spoil):
            def run(function, arguments, stop):
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
        self.assertIn("does not have the shard's", self.check_failure(after_parts(swap), ValueError))

    def test_a_task_that_dies_leaves_no_part(self):
        text = words(500_000)
        plain, folder = self.file("plain", text), self.path("parts")
        [shard, *_] = _tasks.plan(plain, 1, 1, None)
        _tasks.start(folder, None)

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

    def test_a_part_that_is_not_wanted(self):
        plain, folder = self.file("plain", words(500_000)), self.path("parts")
        [shard, *_] = _tasks.plan(plain, 1, 1, None)

        def part(options=None):
            _tasks.part(plain, shard, 1, 1, None, folder, 0, options)

        # The folder is gone, and a late task does not make it again.
        for options in (None, {"auto_mkdir": True}):
            self.assertRaises(_tasks.Stopped, part, options)
            self.assertFalse(os.path.exists(folder))
        # Another task has failed.
        _tasks.start(folder, None)
        _tasks.stop(folder, None)
        _tasks.stop(folder, None)
        self.assertRaises(_tasks.Stopped, part)
        self.assertEqual(os.listdir(folder), [])
        # Another has failed meanwhile.
        _tasks.start(folder, None)
        with mock.patch.object(_tasks._hybz, "compress", side_effect=lambda *_, **__: self.stopped(folder)):
            self.assertRaises(_tasks.Stopped, part)
        self.assertEqual(os.listdir(folder), [])

    def stopped(self, folder):
        _tasks.stop(folder, None)
        with open(self.path("plain"), "rb") as file:
            return bz2.compress(file.read(_tasks.plan(self.path("plain"), 1, 1, None)[0][1]), 1)

    def test_results_that_are_refused(self):
        plain = self.file("plain", words(500_000))
        content = self.content("plain")
        os.mkdir(self.path("folder"))
        os.symlink("plain", self.path("soft"))
        os.link(plain, self.path("hard"))
        os.mkfifo(self.path("fifo"))
        before = sorted(os.listdir(self.folder))

        def run(function, arguments, stop=None):
            begun.append(function)
            return self.run_twice(function, arguments)

        begun = []
        outs = {"folder": IsADirectoryError} | dict.fromkeys(("plain", "soft", "hard", "fifo", "./plain"), ValueError)
        for out, error in outs.items():
            for prefix in ("", "file://"):
                with self.subTest(out, prefix=prefix), self.assertRaises(error):
                    _tasks.compress(run, plain, prefix + self.path(out), 1, 1)
        self.assertEqual((begun, self.content("plain")), ([], content))
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        # In memory, which has no links.
        there = fsspec.filesystem("memory")
        there.pipe("/tasks/plain", content)
        there.pipe("/tasks/folder/x", b"")
        self.addCleanup(there.rm, "/tasks", recursive=True)
        for out, error in (("plain", ValueError), ("folder", IsADirectoryError)):
            with self.assertRaises(error):
                _tasks.compress(run, "memory://tasks/plain", f"memory://tasks/{out}", 1, 1)
        _tasks.compress(run, "memory://tasks/plain", "memory://tasks/out", 1, 1)
        self.assertEqual(there.cat("/tasks/out"), bz2.compress(content, 1))
        self.assertEqual(sorted(there.ls("/tasks", detail=False)), ["/tasks/folder", "/tasks/out", "/tasks/plain"])

    def test_arguments(self):
        for options in ({"compresslevel": 0}, {"compresslevel": 10}, {"size": 0}):
            self.assertRaises(ValueError, _tasks.compress, self.run_twice, "plain", "out", **options)


if __name__ == "__main__":
    unittest.main()
