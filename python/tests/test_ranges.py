"""Ranges of the text, and the results of their readers: every byte and every record once, by any index."""

import bz2
import io
import os
import pickle
import random
import unittest
import warnings

import hybz
from shapes import Files, noise, words


def texts():
    """Texts of some blocks, named after their peculiarities."""
    lines = words(900_000)
    return {
        "lines": lines,
        "no last newline": lines + b"the last",
        "CRLF": lines.replace(b"\n", b"\r\n"),
        "a line longer than ranges": lines[:150_000] + noise(700_000).replace(b"\n", b" ") + b"\n" + lines[:200_000],
        "one line": noise(600_000).replace(b"\n", b" "),
        "empty lines": b"\n" * 300_000 + lines[:200_000] + b"\n\n\n",
        "one byte": b"x",
        "empty": b"",
        "zeros": bytes(20_000_000) + b"\n" + bytes(20_000_000),
    }


class Splits(Files):
    """Parts by compressed bytes, without an index."""

    def test_all_texts(self):
        for name, text in texts().items():
            path = self.file("x.bz2", bz2.compress(text, 1))
            size = os.path.getsize(path)
            for step in (1000, size // 3 + 1, size, 1 << 20) if size > 2000 else (1, 7, size):
                with self.subTest(name, step=step):
                    found = pickle.loads(pickle.dumps(hybz.splits(path, step)))
                    self.assertEqual(len(found), -(-size // step))
                    self.assertEqual(b"".join(map(hybz.read_range, found)), text)
                    for end in (b"\n", b"\r\n", b"ab"):
                        records = [hybz.read_range(part, end) for part in reversed(found)]
                        self.assertEqual(b"".join(reversed(records)), text)
                        filled = [record for record in reversed(records) if record]
                        self.assertTrue(all(record.endswith(end) for record in filled[:-1]))
                    lines = [line for part in found for line in hybz.read_lines(part)]
                    self.assertEqual(lines, list(io.BytesIO(text)))

    def test_damage_is_one_parts(self):
        text = noise(900_000)
        coded = bytearray(bz2.compress(text, 1))
        coded[len(coded) // 2] ^= 1
        path = self.file("x.bz2", bytes(coded))
        good = []
        for part in hybz.splits(path, 100_000):
            try:
                good.append(hybz.read_range(part))
            except OSError as error:
                self.assertIn("at bit", "".join(error.__notes__))
        self.assertEqual(len(good), len(hybz.splits(path, 100_000)) - 1)
        self.assertGreater(len(b"".join(good)), 700_000)

    def test_errors(self):
        path = self.file("x", b"no bzip2 at all")
        self.assertRaises(OSError, hybz.read_range, hybz.splits(path)[0])
        self.assertRaises(ValueError, hybz.splits, path, 0)
        self.assertRaises(FileNotFoundError, hybz.splits, path + "y")
        empty = self.file("empty", b"")
        self.assertRaises(EOFError, hybz.read_range, hybz.splits(empty)[0])


class Ranges(Files):
    def check(self, path, text, size, **options):
        found = hybz.ranges(path, size, **options)
        self.assertEqual([r.begin for r in found], ([0] + [r.end for r in found])[: len(found)])
        self.assertEqual(sum(r.end - r.begin for r in found), len(text))
        self.assertTrue(all(r.end - r.begin >= size for r in found[:-1]))
        # Ranges as another process gets them, in any order.
        found = pickle.loads(pickle.dumps(found))
        self.assertEqual(b"".join(map(hybz.read_range, found)), text)
        records = [hybz.read_range(r, b"\n") for r in reversed(found)]
        self.assertEqual(b"".join(reversed(records)), text)
        self.assertTrue(all(some.endswith(b"\n") for some in list(filter(None, records))[1:]))
        lines = [line for r in found for line in hybz.read_lines(r)]
        self.assertEqual(lines, list(io.BytesIO(text)))
        return found

    def test_every_record_once(self):
        for name, text in texts().items():
            path = self.coded(text, 1)
            for size in (1, 150_000, 1_000_000, 1 << 40):
                with self.subTest(name, size=size):
                    self.check(path, text, size)

    def test_streams(self):
        text = words(700_000)
        parts = [text[:300_000], b"", text[300_000:300_007], b"", text[300_007:]]
        path = self.file("f.bz2", b"".join(bz2.compress(part, 1 + n) for n, part in enumerate(parts)) + b"garbage")
        for size in (1, 200_000, 1 << 30):
            self.check(path, text, size)

    def test_lines_of_str(self):
        text = words(400_000).replace(b"\n", b"\r\n").replace(b"a", "ä".encode())
        path = self.coded(text)
        for newline in (None, "", "\n"):
            with bz2.open(path, "rt", encoding="utf-8", newline=newline) as file:
                expected = list(file)
            lines = [line for r in hybz.ranges(path, 1) for line in hybz.read_lines(r, "utf-8", newline=newline)]
            self.assertEqual(lines, expected)
        self.assertRaises(ValueError, hybz.read_lines, hybz.ranges(path)[0], "utf-16")

    def test_long_delimiters_across_ends(self):
        draw = random.Random(8)
        path = self.coded(noise(300_000), 1)
        ends = [r.end for r in hybz.ranges(path, 1)][:-1]
        for delimiter in (b"\r\n", b"<doc>", b"0123456789" * 9):
            for shift in range(len(delimiter) + 2):
                text = bytearray(noise(300_000).replace(delimiter[:1], b"~"))
                for end in ends:
                    at = end - shift
                    text[at : at + len(delimiter)] = delimiter
                for _ in range(20):
                    at = draw.randrange(250_000)
                    if not any(abs(at - end) < 300 for end in ends):
                        text[at : at + len(delimiter)] = delimiter
                path = self.coded(bytes(text), 1)
                found = hybz.ranges(path, 1)
                self.assertEqual([r.end for r in found][:-1], ends)
                pieces = [hybz.read_range(r, delimiter) for r in found]
                self.assertEqual(b"".join(pieces), text)
                # Each piece has whole records.
                for piece in list(filter(None, pieces))[:-1]:
                    self.assertTrue(piece.endswith(delimiter))

    def test_indexes(self):
        text = words(600_000)
        path = self.coded(text)
        with hybz.open(path) as file:
            file.export_index(self.path("x.bzi"))
            file.export_index(self.path("lines"), format="offsets")
        bounds = [(r.begin, r.end) for r in hybz.ranges(path, 1)]
        for index in (self.path("x.bzi"), self.path("lines"), io.BytesIO(self.content("x.bzi"))):
            found = self.check(path, text, 1, index=index)
            self.assertEqual([(r.begin, r.end) for r in found], bounds)
            if isinstance(index, io.BytesIO):
                index.seek(0)
        self.assertRaises(FileNotFoundError, hybz.ranges, path, index=self.path("none"))
        self.assertRaises(ValueError, hybz.ranges, path, 0)
        self.assertRaises(FileNotFoundError, hybz.ranges, self.path("none"))

    def test_the_index_beside_a_file_is_used_if_it_fits(self):
        text = words(500_000)
        path = self.coded(text)
        self.assertIsNone(hybz.ranges(path)[0].index)
        with hybz.open(path) as file:
            file.export_index(path + ".bzi")
        self.assertEqual(self.check(path, text, 1)[0].index, path + ".bzi")
        self.coded(text[:400_000])
        self.assertRaises(ValueError, hybz.ranges, path, index=path + ".bzi")
        with self.assertWarnsRegex(UserWarning, "is not used"):
            found = hybz.ranges(path, 1)
        self.assertEqual(b"".join(map(hybz.read_range, found)), text[:400_000])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.assertIsNone(hybz.ranges(path)[0].index)

    def test_only_its_blocks_are_read(self):
        """A range in the middle reads only slightly more of the file than its compressed bytes."""
        text = noise(3_000_000)
        path = self.coded(text)
        middle = hybz.ranges(path, 200_000)[7]
        asked = []

        class Counted(io.BytesIO):
            def read(self, size=-1):
                asked.append((self.tell(), size))
                return super().read(size)

        from hybz._file import _reader

        reader = _reader(Counted(self.content("file.bz2")), 1)
        reader.read_part(middle.part)
        reader.seek(middle.begin, 0)
        size = middle.end - middle.begin
        self.assertEqual(reader.readall(size), text[middle.begin : middle.end])
        self.assertLess(sum(n for _, n in asked), 3 * size)
        self.assertGreater(min(at for at, _ in asked), 1_000_000)

    def test_a_file_that_has_changed(self):
        path = self.coded(words(500_000))
        found = hybz.ranges(path, 1)
        self.coded(words(500_000, 7))
        self.assertRaises(OSError, hybz.read_range, found[2])

    def test_hbz_has_none(self):
        path = self.file("f.hbz", hybz.compress(words(10_000), block_size=4096))
        with self.assertRaisesRegex(ValueError, "hbz"):
            hybz.ranges(path)

    def test_any_path(self):
        try:
            import fsspec
        except ImportError:
            raise unittest.SkipTest("fsspec is not installed") from None
        text = words(500_000)
        fsspec.filesystem("memory").pipe("/folder/x.bz2", bz2.compress(text, 1))
        self.check("memory://folder/x.bz2", text, 1)
        self.check("file://" + self.coded(text), text, 1)
        here = os.getcwd()
        os.chdir(self.folder)
        try:
            found = hybz.ranges("file.bz2", 1)
        finally:
            os.chdir(here)
        self.assertEqual(b"".join(map(hybz.read_range, found)), text)


if __name__ == "__main__":
    unittest.main()
