"""BZ2File and open: against those of Python's bz2; seeking, indexes, sources."""

import bz2
import io
import os
import random
import threading
import unittest

import hybz
from shapes import SHAPES, Files, noise, words


class Unseekable(io.RawIOBase):
    """A pipe: it has only `read`, and gives small pieces."""

    def __init__(self, content):
        self.inner = io.BytesIO(content)

    def readable(self):
        return True

    def read(self, size=-1):
        return self.inner.read(min(size, 5000))


class More(io.BytesIO):
    """Returns all that is left, however little is asked for, as wrappers of iterators do."""

    def read(self, size=-1):
        return super().read()


class MoreOfAPipe(Unseekable):
    def read(self, size=-1):
        return self.inner.read(200_000)

    def readinto(self, buffer):
        raise AssertionError("read() is what there is")


class Reading(Files):
    def test_position_of_a_callers_file(self):
        text = SHAPES["words"]
        path = self.coded(text, 1)
        size = os.path.getsize(path)
        for wanted in (-1, 100, 200_000, len(text), len(text) + 1):
            with self.subTest(wanted=wanted), open(path, "rb") as raw:
                file, last, read = hybz.open(raw), 0, 0
                while some := file.read(wanted):
                    read += len(some)
                    coded = file.tell_compressed() // 8 if read < len(text) else size - 20
                    self.assertTrue(max(last, coded) <= raw.tell() <= size, (last, coded, raw.tell()))
                    last = raw.tell()
                self.assertEqual((read, raw.tell()), (len(text), size))
                self.assertEqual(raw.read(), b"")
                file.seek(0)
                self.assertEqual(file.read(10), text[:10])

    def test_the_callers_file_may_be_closed(self):
        text = SHAPES["words"]
        raw = open(self.coded(text), "rb")
        file = hybz.open(raw)
        begin = file.read(10)
        raw.close()
        self.assertEqual(begin + file.read(), text)

    def test_more_than_was_asked_for(self):
        text = SHAPES["words"] + SHAPES["noise"]
        coded = bz2.compress(text, 1)
        for source in (More(coded), MoreOfAPipe(coded)):
            with self.subTest(type(source).__name__), hybz.open(source) as file:
                self.assertEqual(file.read(1000) + file.read(), text)

    def test_whole(self):
        for name, text in SHAPES.items():
            path = self.coded(text, 1)
            for options in ({}, {"threads": 1}, {"threads": 3}):
                with self.subTest(name, **options):
                    with hybz.open(path, **options) as file:
                        self.assertEqual(file.read(), text)
                        self.assertEqual((file.read(), file.tell()), (b"", len(text)))
                    with hybz.open(Unseekable(bz2.compress(text, 1)), **options) as file:
                        self.assertFalse(file.seekable())
                        self.assertEqual(file.read(), text)
                        self.assertRaises(io.UnsupportedOperation, file.seek, 0)

    def test_lines_and_pieces(self):
        text = SHAPES["words"]
        path = self.coded(text)
        with hybz.open(path) as file, bz2.open(path) as other:
            self.assertEqual(list(file), list(other))
        with hybz.open(path, "rt", encoding="latin-1") as file:
            self.assertEqual(file.read(), text.decode("latin-1"))
        with hybz.BZ2File(path) as file:
            draw, got = random.Random(5), b""
            while some := draw.choice([file.read, file.read1, file.readline])(draw.choice([1, 100, 70_000, 200_000])):
                got += some
            self.assertEqual(got, text)
        with hybz.BZ2File(path) as file:
            buffer = bytearray(300_000)
            self.assertEqual(file.readinto(buffer), 300_000)
            self.assertEqual(buffer, text[:300_000])
            self.assertTrue(text[300_000:].startswith(file.peek(10)))

    def test_streams_and_garbage(self):
        a, b = SHAPES["words"], SHAPES["noise"]
        for tail in (b"", b"garbage", bytes(5)):
            path = self.file("f", bz2.compress(a) + bz2.compress(b"") + bz2.compress(b, 1) + tail)
            with hybz.open(path) as file:
                self.assertEqual(file.read(), a + b)
                self.assertEqual(file.seek(len(a) - 5), len(a) - 5)
                self.assertEqual(file.read(10), (a + b)[len(a) - 5 :][:10])

    def test_errors_as_of_bz2(self):
        coded = bz2.compress(SHAPES["words"], 1)
        damaged = bytearray(coded)
        damaged[len(coded) // 2] ^= 4
        for content in (b"", b"B", b"BZh9", coded[:-1], coded[: len(coded) // 2], b"x" * 99, bytes(damaged)):
            path = self.file("f", content)
            kinds, texts = [], []
            for module in (bz2, hybz):
                with module.open(path) as file:
                    text = b""
                    try:
                        while some := file.read(1000):
                            text += some
                    except (OSError, EOFError) as error:
                        kinds.append((type(error), str(error)))
                    texts.append(text)
            with self.subTest(content[:10], size=len(content)):
                self.assertEqual(kinds[0], kinds[1])
                # The text that an io.BufferedReader holds when the error comes is lost; with other buffers that is at
                # another place.
                self.assertTrue(texts[1].startswith(texts[0]) and SHAPES["words"].startswith(texts[1]))

    def test_what_is_before_damage_can_be_read_again(self):
        text = SHAPES["words"]
        coded = bytearray(bz2.compress(text, 1))
        coded[-3000] ^= 1
        with hybz.open(self.file("f", coded)) as file:
            self.assertRaises(OSError, file.read)
            file.seek(1000)
            self.assertEqual(file.read(100_000), text[1000:101_000])

    def test_arguments(self):
        path = self.coded(b"x")
        for module in (bz2, hybz):
            for mode in ("rw", "br", "z", "rbt", "U"):
                self.assertRaises(ValueError, module.open, path, mode)
            self.assertRaises(ValueError, module.open, path, "rb", encoding="utf-8")
            self.assertRaises(ValueError, module.BZ2File, path, compresslevel=10)
            self.assertRaises(TypeError, module.BZ2File, None)
            self.assertRaises(FileNotFoundError, module.open, self.path("missing"))
            with module.open(path) as file:
                self.assertRaises(io.UnsupportedOperation, file.write, b"")
            self.assertTrue(file.closed)
            for call in (file.read, file.seekable, file.tell, file.fileno, lambda: next(iter(file))):
                self.assertRaises(ValueError, call)
        self.assertRaises(ValueError, hybz.open, path, threads=-1)
        for options in ({"mode": "ab", "index": "x"}, {"mode": "wb", "index": "x", "block_size": 1 << 20}):
            self.assertRaises(ValueError, hybz.open, self.path("new"), **options)
        for size in (0, -1, 1 << 40):
            self.assertRaises(ValueError, hybz.open, self.path("new"), "wb", block_size=size)
        self.assertFalse(os.path.exists(self.path("new")))
        with hybz.open(path) as file:
            self.assertEqual((file.name, file.mode), (path, "rb"))

    def test_errors_name_the_file(self):
        coded = bytearray(bz2.compress(SHAPES["words"], 1))
        coded[-3000] ^= 1
        path = self.file("f", coded)
        for source in (path, os.fsencode(path), open(path, "rb")):
            with hybz.open(source) as file:
                for work in (file.read, file.size, file.block_offsets):
                    with self.assertRaises(OSError) as caught:
                        work()
                    name = source.name if hasattr(source, "name") else source
                    self.assertEqual(caught.exception.__notes__[1:], [f"file: {name!r}"])
        source.close()
        cut = self.file("cut", b"BZh9")
        with hybz.open(cut) as file, self.assertRaises(EOFError) as caught:
            file.read()
        self.assertEqual(caught.exception.__notes__[1:], [f"file: {cut!r}"])
        with hybz.open(io.BytesIO(coded)) as file, self.assertRaises(OSError) as caught:
            file.read()
        self.assertEqual(len(caught.exception.__notes__), 1)
        whole = self.coded(b"text")
        with self.assertRaises(ValueError) as caught:
            hybz.open(whole, index=path)
        self.assertIn(f"index: {path!r}", caught.exception.__notes__)
        with self.assertRaises(OSError) as caught:
            hybz.ranges(path)
        self.assertIn(f"file: {path!r}", caught.exception.__notes__)

    def test_a_file_object_is_read_from_where_it_is(self):
        text = SHAPES["words"]
        path = self.file("f", b"header" + bz2.compress(text, 1))
        for opened in (lambda: open(path, "rb"), lambda: io.BytesIO(self.content("f"))):
            with opened() as inner:
                inner.read(6)
                with hybz.open(inner) as file:
                    self.assertEqual(file.read(), text)
                    file.seek(123_456)
                    self.assertEqual(file.read(1000), text[123_456:124_456])
                self.assertFalse(inner.closed)

    def test_what_a_file_object_raises_is_raised(self):
        class Broken(io.BytesIO):
            def read(self, size=-1):
                raise KeyError("mine")

        with hybz.open(Broken(b"BZh9")) as file:
            self.assertRaisesRegex(KeyError, "mine", file.read)


class Writing(Files):
    def test_bytes(self):
        for name, text in SHAPES.items():
            path = self.path("out.bz2")
            with hybz.open(path, "wb", 3) as file:
                for at in range(0, len(text), 50_000):
                    file.write(memoryview(text)[at : at + 50_000])
                self.assertEqual(file.tell(), len(text))
            with open(path, "rb") as file:
                self.assertEqual(file.read(), bz2.compress(text, 3), name)

    def test_append_exclusive_text(self):
        path = self.path("out.bz2")
        with hybz.open(path, "xt", encoding="utf-8", newline="\r\n") as file:
            file.write("ä\n")
        self.assertRaises(FileExistsError, hybz.open, path, "x")
        with hybz.open(path, "ab") as file:
            file.writelines([b"two\n", b"three\n"])
        with bz2.open(path) as file:
            self.assertEqual(file.read(), "ä\r\n".encode() + b"two\nthree\n")

    def test_index(self):
        text = words(700_000)
        for kind, index in (("path", self.path("x.bzi")), ("file", io.BytesIO())):
            with hybz.open(self.path("x.bz2"), "wb", 1, index=index) as file:
                for at in range(0, len(text), 50_000):
                    file.write(text[at : at + 50_000])
                if kind == "path":
                    self.assertFalse(os.path.exists(index))
            self.assertEqual(self.content("x.bz2"), bz2.compress(text, 1))
            written = index.getvalue() if kind == "file" else self.content("x.bzi")
            # The index is the same as one made by reading.
            with hybz.open(self.path("x.bz2")) as file:
                file.export_index(made := io.BytesIO())
            self.assertEqual(written, made.getvalue())
        with hybz.open(self.path("x.bz2"), "rt", encoding="ascii", index=self.path("x.bzi")) as file:
            self.assertEqual(file.read(), text.decode())
        with hybz.open(self.path("t.bz2"), "wt", index=self.path("t.bzi"), encoding="ascii", newline="") as file:
            file.write(text.decode())
        with hybz.open(self.path("t.bz2"), index=self.path("t.bzi")) as file:
            self.assertEqual((file.block_offsets_complete(), file.read()), (True, text))
        self.assertEqual(sorted(os.listdir(self.folder)), ["t.bz2", "t.bzi", "x.bz2", "x.bzi"])

    def test_hbz(self):
        text = words(300_000)
        with hybz.open(self.path("x.hbz"), "wb", block_size=100_000) as file:
            file.write(text)
        self.assertEqual(self.content("x.hbz"), hybz.compress(text, block_size=100_000))
        coder = hybz.BZ2Compressor(block_size=100_000)
        self.assertEqual(coder.compress(text) + coder.flush(), self.content("x.hbz"))
        with hybz.open(self.path("x.hbz"), "at", encoding="ascii", block_size=1024) as file:
            file.write("more")
        with hybz.open(self.path("x.hbz")) as file:
            self.assertEqual((file.seek(299_990), file.read()), (299_990, text[-10:] + b"more"))
            self.assertEqual((file.seek(100_001), file.read(9)), (100_001, text[100_001:100_010]))
            self.assertEqual(file.size(), 300_004)

    def test_file_objects(self):
        out = io.BytesIO()
        with hybz.BZ2File(out, "w") as file:
            file.write(b"text")
        self.assertEqual(out.getvalue(), bz2.compress(b"text"))


class Seeking(Files):
    def setUp(self):
        super().setUp()
        self.text = words(1_500_000) + noise(200_000) + bytes(400_000) + words(300_000, 9)

    def check(self, file, rounds=60, seed=3):
        draw = random.Random(seed)
        for _ in range(rounds):
            at, size = draw.randrange(len(self.text) + 10), draw.choice([1, 100, 65_536, 300_000])
            reached = min(at, len(self.text))
            self.assertEqual(file.seek(at), reached)
            self.assertEqual(file.read(size), self.text[at : at + size])
            self.assertEqual(file.tell(), min(reached + size, len(self.text)))

    def test_anywhere(self):
        coded = bz2.compress(self.text, 1)
        for source in (lambda: self.file("f", coded), lambda: io.BytesIO(coded)):
            for threads in (0, 1):
                with hybz.open(source(), threads=threads) as file:
                    self.check(file)

    def test_backwards_while_the_index_grows(self):
        for step in (1, 5_000, 99_000, 250_000):
            with hybz.open(self.coded(self.text)) as file:
                for end in range(300_000, len(self.text), 200_000):
                    file.seek(end)
                    self.assertEqual(file.read(10), self.text[end : end + 10])
                    file.seek(-10 - step, os.SEEK_CUR)
                    self.assertEqual(file.read(step + 100_000), self.text[end - step : end + 100_000])

    def test_from_the_end(self):
        with hybz.open(self.coded(self.text)) as file:
            self.assertEqual(file.seek(-7, os.SEEK_END), len(self.text) - 7)
            self.assertEqual(file.read(), self.text[-7:])
            self.assertEqual((file.seek(-1), file.seek(0, 2)), (0, len(self.text)))
            self.assertRaises(ValueError, file.seek, 0, 5)

    def test_indexes(self):
        path = self.coded(self.text)
        with hybz.open(path) as file:
            self.assertEqual((file.available_block_offsets(), file.block_offsets_complete()), ({}, False))
            file.read(350_000)
            known = file.available_block_offsets()
            self.assertTrue(2 <= len(known) < 8 and not file.block_offsets_complete())
            self.assertEqual(file.tell(), 350_000)
            offsets = file.block_offsets()
            self.assertEqual({bits: offsets[bits] for bits in known}, known)
            self.assertTrue(file.block_offsets_complete())
            self.assertEqual(file.available_block_offsets(), offsets)
            self.assertEqual(list(offsets.items())[-1], (os.path.getsize(path) * 8, len(self.text)))
            self.assertEqual(file.tell(), 350_000)
            self.assertEqual(file.read(5), self.text[350_000:350_005])
            file.export_index(self.path("bzi"))
            file.export_index(self.path("lines"), format="offsets")
            self.assertRaises(ValueError, file.export_index, self.path("no"), format="x")
            self.assertEqual(file.size(), len(self.text))
        for index in (self.path("bzi"), self.path("lines"), io.BytesIO(self.content("bzi"))):
            with hybz.open(path, index=index) as file:
                self.assertTrue(file.block_offsets_complete())
                self.assertEqual(file.size(), len(self.text))
                self.check(file, 20)
                self.assertEqual(file.block_offsets(), offsets)
        with hybz.BZ2File(path) as file:
            file.set_block_offsets(offsets)
            file.seek(1_000_000)
            self.assertEqual(file.read(99), self.text[1_000_000:1_000_099])
            at = file.tell_compressed()
            self.assertTrue(at in offsets and offsets[at] <= 1_000_099)
        other = self.coded(b"another", name="other")
        self.assertRaises(ValueError, hybz.open, other, index=self.path("bzi"))
        self.assertRaises(ValueError, hybz.open, path, index=path)
        self.assertRaises(FileNotFoundError, hybz.open, path, index=self.path("none"))

    def test_a_foreign_index_gives_no_wrong_text(self):
        path = self.coded(self.text)
        with hybz.open(path) as file:
            file.export_index(self.path("bzi"))
        content = bytearray(self.content("file.bz2"))
        content[50_000] ^= 1
        with open(path, "wb") as out:
            out.write(content)
        with hybz.open(path, index=self.path("bzi")) as file:
            self.assertRaises(OSError, file.read)

    def test_small_reads_of_the_raw_reader(self):
        """Without a buffer of Python's io: held text, and moves in it."""
        path = self.coded(self.text)
        with hybz.open(path) as file:
            file.export_index(self.path("bzi"))
        for index in (None, self.path("bzi")):
            with hybz.open(path, index=index) as file:
                raw, at, draw = file._reader, 0, random.Random(6)
                for _ in range(3000):
                    kind, by = draw.randrange(12), draw.choice([0, 1, 100, 5000, 70_000])
                    if kind == 0:
                        at = min(at + by, len(self.text))
                        self.assertEqual(raw.seek(by, 1), at)
                    elif kind == 1:
                        at = max(at - by, 0)
                        self.assertEqual(raw.seek(at, 0), at)
                    elif kind == 2 and draw.randrange(20) == 0:
                        at = draw.randrange(len(self.text))
                        raw.seek(at, 0)
                    elif kind == 3:
                        some = raw.readall(by)
                        self.assertEqual(some, self.text[at : at + by])
                        at += len(some)
                    else:
                        buffer = bytearray(by + 1)
                        n = raw.readinto(buffer)
                        self.assertEqual(buffer[:n], self.text[at : at + n])
                        self.assertTrue(n > 0 or at == len(self.text))
                        at += n
                    self.assertEqual(raw.tell(), at)

    def test_bit_positions(self):
        with hybz.open(self.coded(self.text)) as file:
            self.assertEqual(file.tell_compressed(), 0)
            seen = []
            while file.read(50_000):
                seen.append(file.tell_compressed())
            self.assertEqual(seen, sorted(seen))
            self.assertGreater(len(set(seen)), 10)

    def test_many_threads_and_one_file(self):
        path = self.coded(self.text)
        failures = []
        shared = hybz.open(path)

        def own(seed):
            try:
                with hybz.open(path) as file:
                    self.check(file, 6, seed)
            except BaseException as error:
                failures.append(error)

        def common():
            try:
                while shared.read(10_000):
                    pass
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=own, args=(seed,)) for seed in range(48)]
        threads += [threading.Thread(target=common) for _ in range(16)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        shared.close()
        self.assertEqual(failures, [])


class Hbz(Files):
    """A `.hbz` of three blocks, made by the command, and one followed by a `.bz2`."""

    def setUp(self):
        super().setUp()
        here = os.path.dirname(os.path.abspath(__file__))
        with open(os.path.join(here, "words.hbz"), "rb") as file:
            self.hbz = file.read()
        self.text = words(100_000)[:30_000]

    def test_functions(self):
        self.assertEqual(hybz.decompress(self.hbz), self.text)
        coder = hybz.BZ2Decompressor()
        self.assertEqual(coder.decompress(self.hbz + b"tail"), self.text)
        self.assertEqual((coder.eof, coder.unused_data), (True, b"tail"))
        self.assertEqual(hybz.decompress(self.hbz + bz2.compress(b"x") + self.hbz), self.text + b"x" + self.text)

    def test_file(self):
        with hybz.open(self.file("f.hbz", self.hbz)) as file:
            self.assertEqual((file.seek(27_777), file.read(10)), (27_777, self.text[27_777:27_787]))
            self.assertEqual((file.seek(5), file.read()), (5, self.text[5:]))
            self.assertEqual(file.size(), 30_000)
            self.assertRaises(ValueError, file.block_offsets)

    def test_mixed(self):
        both = self.text + b"more" + self.text
        with hybz.open(io.BytesIO(self.hbz + bz2.compress(b"more") + self.hbz)) as file:
            for at in (0, 50_000, 29_000, 5, 60_000):
                file.seek(at)
                self.assertEqual(file.read(5000), both[at : at + 5000])
            self.assertEqual(file.seek(0, 2), len(both))


if __name__ == "__main__":
    unittest.main()
