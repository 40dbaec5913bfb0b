"""How long a file lives: while something iterates over it, in a cycle, and with one descriptor."""

import bz2
import gc
import io
import itertools
import os
import pathlib
import unittest
import weakref

import hybz
from shapes import Files, words

TEXT = words(300_000)
LINES = TEXT.splitlines(keepends=True)


class Iteration(Files):
    def test_a_file_without_a_name(self):
        path = self.coded(TEXT)
        self.assertEqual([line for line in hybz.open(path)], LINES)
        self.assertEqual(sum(map(len, hybz.open(path))), len(TEXT))
        self.assertEqual(list(itertools.islice(hybz.open(path), 2000)), LINES[:2000])
        iterator = iter(hybz.open(io.BytesIO(bz2.compress(TEXT))))
        gc.collect()
        self.assertEqual(list(iterator), LINES)

    def test_as_of_bz2(self):
        for module in (bz2, hybz):
            with module.open(self.coded(TEXT)) as file:
                iterator = iter(file)
                got = [next(iterator), next(file), file.readline(), *iterator]
                self.assertEqual(got, LINES)
                self.assertRaises(StopIteration, next, iterator)
                file.seek(0)
                self.assertEqual(next(iterator), LINES[0])
            self.assertRaises(ValueError, next, iterator)
            self.assertRaises(ValueError, iter, file)

    def test_the_file_ends_with_its_iterator(self):
        file = hybz.open(self.coded(TEXT))
        iterator, dropped = iter(file), weakref.ref(file)
        del file
        next(iterator)
        self.assertIsNotNone(dropped())
        del iterator
        gc.collect()
        self.assertIsNone(dropped())


class Cycles(unittest.TestCase):
    def test_a_file_object_that_has_its_reader(self):
        class Seekable(io.BytesIO):
            pass

        class Pipe(io.BytesIO):
            def seekable(self):
                return False

        # An object that compiled code holds, and that nothing in Python closes.
        def raw(file):
            return hybz._hybz.Reader(file, 0 if file.seekable() else None, 1)

        for kind in (Seekable, Pipe):
            for made in (hybz.open, raw):
                with self.subTest(kind.__name__, made=made.__name__):
                    file = kind(bz2.compress(TEXT))
                    file.reader = made(file)
                    file.reader.readinto(bytearray(100))
                    dropped = weakref.ref(file)
                    del file
                    gc.collect()
                    self.assertIsNone(dropped())


@unittest.skipUnless(os.path.isdir("/proc/self/fd"), "no /proc/self/fd here")
class Descriptors(Files):
    def count(self):
        return len(os.listdir("/proc/self/fd"))

    def test_one_for_a_path(self):
        path = self.coded(TEXT)
        before = self.count()
        files = [hybz.open(path) for _ in range(20)]
        self.assertEqual(self.count() - before, 20)
        for file in files:
            self.assertEqual(file.read(5000), TEXT[:5000])
            file.close()
            self.assertRaises(ValueError, file.fileno)
        del files, file
        gc.collect()
        self.assertEqual(self.count(), before)

    def test_it_is_that_of_the_file(self):
        path = self.coded(TEXT)
        for name in (path, os.fsencode(path), pathlib.Path(path)):
            with hybz.open(name) as file, bz2.open(name) as other:
                self.assertEqual((file.name, file.mode), (other._fp.name, "rb"))
                self.assertTrue(os.path.samestat(os.fstat(file.fileno()), os.stat(path)))
                self.assertFalse(os.get_inheritable(file.fileno()))
                self.assertRaises(ValueError, file.export_index, path)
                self.assertEqual(file.read(), TEXT)
        self.assertRaises(IsADirectoryError, hybz.open, self.folder)

    def test_that_of_a_file_object_stays_open(self):
        with open(self.coded(TEXT), "rb") as inner:
            before = self.count()
            hybz.open(inner).close()
            gc.collect()
            self.assertEqual(self.count(), before)
            self.assertEqual(inner.read(3), b"BZh")


if __name__ == "__main__":
    unittest.main()
