"""compress, decompress, BZ2Compressor, BZ2Decompressor: against those of Python's bz2."""

import array
import bz2
import copy
import pickle
import threading
import unittest

import hybz
from shapes import SHAPES, noise, words


class Bytes(unittest.TestCase):
    def test_levels_give_bzip2s_bytes(self):
        for name, text in SHAPES.items():
            for level in range(1, 10) if name in ("words", "empty") else (1, 9):
                with self.subTest(name, level=level):
                    expected = bz2.compress(text, level)
                    self.assertEqual(hybz.compress(text, level), expected)
                    self.assertEqual(hybz.compress(text, level, threads=1), expected)
                    coder = hybz.BZ2Compressor(level, threads=2)
                    parts = [coder.compress(text[at : at + 7777]) for at in range(0, len(text), 7777)]
                    self.assertEqual(b"".join(parts) + coder.flush(), expected)

    def test_decompress(self):
        for name, text in SHAPES.items():
            for coded in (bz2.compress(text, 1), bz2.compress(text, 9) + bz2.compress(b"more")):
                with self.subTest(name):
                    self.assertEqual(hybz.decompress(coded), bz2.decompress(coded))
                    self.assertEqual(hybz.decompress(coded, threads=1), bz2.decompress(coded))
                    self.assertEqual(hybz.decompress(coded + b"garbage"), bz2.decompress(coded))

    def test_any_buffer(self):
        numbers = array.array("I", range(5000))
        for data in (bytearray(b"abc"), memoryview(b"abc" * 99), memoryview(b"abcdef").cast("H"), numbers):
            expected = bz2.compress(data)
            self.assertEqual(hybz.compress(data), expected)
            self.assertEqual(hybz.decompress(bytearray(expected)), bz2.decompress(expected))
        self.assertRaises(BufferError, hybz.compress, memoryview(b"abcdef")[::2])
        for wrong in ("text", 7, None):
            self.assertRaises(TypeError, hybz.compress, wrong)
            self.assertRaises(TypeError, hybz.decompress, wrong)
            self.assertRaises(TypeError, hybz.BZ2Decompressor().decompress, wrong)

    def test_arguments(self):
        for level in (0, 10, -1, 1 << 70):
            error = ValueError if abs(level) < 100 else (ValueError, OverflowError)
            self.assertRaises(error, hybz.compress, b"", level)
            self.assertRaises(error, hybz.BZ2Compressor, level)
        self.assertRaises(ValueError, hybz.compress, b"", threads=-1)
        self.assertRaises(ValueError, hybz.BZ2Decompressor, threads=-1)
        self.assertEqual(hybz.compress(b"", compresslevel=3)[:4], b"BZh3")

    def test_errors(self):
        coded = bz2.compress(words(50_000))
        for cut in (1, 3, 4, 10, 100, len(coded) - 1):
            with self.assertRaisesRegex(ValueError, "ended before the end-of-stream marker"):
                hybz.decompress(coded[:cut])
        self.assertRaises(OSError, hybz.decompress, b"no stream at all")
        damaged = bytearray(coded)
        damaged[len(coded) // 2] ^= 1
        with self.assertRaisesRegex(OSError, "^Invalid data stream$") as caught:
            hybz.decompress(damaged)
        self.assertIn("block 1", caught.exception.__notes__[0])
        self.assertEqual(hybz.decompress(b""), b"")


class Compressor(unittest.TestCase):
    def test_after_flush(self):
        coder = hybz.BZ2Compressor()
        coder.flush()
        with self.assertRaisesRegex(ValueError, "Repeated call"):
            coder.flush()
        with self.assertRaisesRegex(ValueError, "has been flushed"):
            coder.compress(b"")

    def test_no_pickle_and_no_copy(self):
        for coder in (hybz.BZ2Compressor(), hybz.BZ2Decompressor()):
            for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
                with self.assertRaisesRegex(TypeError, "cannot pickle"):
                    pickle.dumps(coder, protocol)
            self.assertRaises(TypeError, copy.copy, coder)

    def test_from_many_threads(self):
        text = words(3_000_000)
        expected = bz2.compress(text, 1)
        results = []

        def work():
            coder = hybz.BZ2Compressor(1)
            coded = b"".join(coder.compress(text[at : at + 100_000]) for at in range(0, len(text), 100_000))
            results.append(hybz.decompress(coded + coder.flush()) == text and coded == expected[: len(coded)])

        threads = [threading.Thread(target=work) for _ in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        self.assertEqual(results, [True] * 8)


class Decompressor(unittest.TestCase):
    def feed(self, coded, piece, max_length):
        """The output, piece by piece, in the way that the documentation of bz2 shows."""
        coder, text, at = hybz.BZ2Decompressor(), b"", 0
        while not coder.eof:
            more = coded[at : at + piece] if coder.needs_input else b""
            at += len(more)
            if coder.needs_input and not more:
                break
            some = coder.decompress(more, max_length)
            if max_length >= 0:
                self.assertLessEqual(len(some), max_length)
            text += some
        return coder, text, coded[at:]

    def test_pieces(self):
        for name, text in SHAPES.items():
            coded = bz2.compress(text, 1) + b"tail"
            for piece in (len(coded), 10_000, 333):
                for most in (-1, 70_001, 1_000_000):
                    with self.subTest(name, piece=piece, most=most):
                        coder, got, rest = self.feed(coded, piece, most)
                        self.assertTrue(coder.eof and not coder.needs_input)
                        self.assertEqual(got, text)
                        self.assertEqual(coder.unused_data + rest, b"tail")

    def test_byte_by_byte(self):
        coded = bz2.compress(b"to be or not to be")
        coder, text, _ = self.feed(coded, 1, 1)
        self.assertEqual((text, coder.eof, coder.unused_data), (b"to be or not to be", True, b""))

    def test_ends(self):
        coder = hybz.BZ2Decompressor()
        self.assertTrue(coder.needs_input and not coder.eof)
        self.assertEqual(coder.decompress(bz2.compress(b"x")), b"x")
        with self.assertRaisesRegex(EOFError, "already reached"):
            coder.decompress(b"")

    def test_cut_streams_are_not_complete(self):
        coded = bz2.compress(words(150_000), 1)
        for cut in (0, 1, 4, 20, len(coded) // 2, len(coded) - 1):
            coder, text, _ = self.feed(coded[:cut], 1000, -1)
            self.assertFalse(coder.eof)
            self.assertEqual(text, words(150_000)[: len(text)])

    def test_damage(self):
        flipped = bytearray(bz2.compress(noise(5000)))
        flipped[3000] ^= 1
        for damaged in (b"no stream", b"BZh0", b"BZh9 no block", bytes(flipped)):
            coder = hybz.BZ2Decompressor()
            with self.assertRaisesRegex(OSError, "Invalid data stream"):
                coder.decompress(damaged + bytes(20))
            self.assertFalse(coder.eof or coder.needs_input)
            self.assertRaises(ValueError, coder.decompress, b"")

    def test_bombs_stay_small(self):
        bomb = bz2.compress(bytes(200_000_000))
        coder = hybz.BZ2Decompressor()
        self.assertEqual(coder.decompress(bomb, 10), bytes(10))
        self.assertFalse(coder.needs_input)
        self.assertEqual(coder.decompress(b"", 100_000), bytes(100_000))
