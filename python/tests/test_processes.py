"""Fork in the middle of reading, spawn, and a thread of Python that wants to go on meanwhile."""

import bz2
import multiprocessing
import os
import signal
import threading
import time
import unittest
import warnings

import hybz
from shapes import Files, noise, words

TEXT = words(2_000_000)
# A child that takes longer counts as hung.
SECONDS = 60


def count_lines(path):
    """For a worker process."""
    with hybz.open(path) as file:
        return sum(1 for _ in file)


@unittest.skipUnless(hasattr(os, "fork"), "no os.fork here")
class Fork(Files):
    def in_child(self, work):
        """Forks; `work` must return True in the child. The parent waits for it."""
        with warnings.catch_warnings():
            # Python 3.12 and newer warn about threads in general; the test shows that these threads do no harm.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            signal.alarm(SECONDS)
            code = 1
            try:
                code = 0 if work() is True else 2
            finally:
                os._exit(code)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_functions(self):
        coded = hybz.compress(TEXT, 1)
        self.in_child(lambda: hybz.decompress(coded) == TEXT and hybz.compress(TEXT, 1, threads=2) == coded)
        self.assertEqual(hybz.decompress(coded), TEXT)

    def test_in_the_middle_of_reading(self):
        path = self.coded(TEXT)
        for threads in (0, 1, 2):
            for source in (path, open(path, "rb")):
                with hybz.open(source, threads=threads) as file:
                    self.assertEqual(file.read(700_001), TEXT[:700_001])
                    self.in_child(lambda: file.read() == TEXT[700_001:])
                    self.in_child(lambda: file.seek(5) == 5 and file.read(300_000) == TEXT[5:300_005])
                    self.assertEqual(file.read(), TEXT[700_001:])
                if source is not path:
                    source.close()

    def test_with_an_index(self):
        with hybz.open(self.coded(TEXT)) as file:
            file.size()
            file.seek(1_000_000)
            self.in_child(lambda: file.read(200_000) == TEXT[1_000_000:1_200_000])
            self.assertEqual(file.read(200_000), TEXT[1_000_000:1_200_000])

    def test_coders_of_the_parent_say_so(self):
        compressor, decompressor = hybz.BZ2Compressor(1), hybz.BZ2Decompressor()
        compressor.compress(TEXT[:500_000])
        decompressor.decompress(bz2.compress(TEXT, 1)[:50_000])

        def work():
            for call in (lambda: compressor.compress(TEXT), lambda: decompressor.decompress(b"x" * 100_000)):
                try:
                    call()
                    return False
                except RuntimeError:
                    pass
            return True

        self.in_child(work)

    def test_while_other_threads_read(self):
        path = self.coded(TEXT)
        stop = threading.Event()

        def work():
            while not stop.is_set():
                with hybz.open(path) as file:
                    file.read()

        threads = [threading.Thread(target=work) for _ in range(3)]
        [thread.start() for thread in threads]
        try:
            for _ in range(5):
                self.in_child(lambda: hybz.open(path).read() == TEXT)
        finally:
            stop.set()
            [thread.join() for thread in threads]


class Workers(Files):
    def test_start_methods(self):
        path = self.coded(TEXT)
        expected = count_lines(path)
        self.assertEqual(expected, len(TEXT.splitlines()))
        for method in multiprocessing.get_all_start_methods():
            with self.subTest(method), warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                with multiprocessing.get_context(method).Pool(2) as pool:
                    results = pool.map_async(count_lines, [path] * 4).get(SECONDS)
                self.assertEqual(results, [expected] * 4)


class Interpreter(Files):
    def test_a_thread_goes_on_while_the_library_works(self):
        """This does not test speed, but that the library never holds the interpreter's lock for long."""
        text = TEXT * 4
        coded = hybz.compress(text, 9)
        path = self.file("f", coded)
        longest, stop = [0.0], threading.Event()

        def spin():
            last = time.monotonic()
            while not stop.is_set():
                now = time.monotonic()
                longest[0] = max(longest[0], now - last)
                last = now

        spinner = threading.Thread(target=spin)
        spinner.start()
        begin = time.monotonic()
        for work in (
            lambda: hybz.compress(text, 9, threads=1),
            lambda: hybz.decompress(coded, threads=1),
            lambda: hybz.open(path, threads=1).read(),
        ):
            work()
        took = time.monotonic() - begin
        stop.set()
        spinner.join()
        # If the lock were held, it would have waited for a third of that time.
        self.assertLess(longest[0], max(took / 6, 0.1))

    def test_an_unfinished_coder_is_dropped_at_once(self):
        """The lock is not held until the stream is complete."""
        text = noise(2_700_000)

        def took(end):
            coder = hybz.BZ2Compressor(9, threads=1)
            coder.compress(text)
            begin = time.monotonic()
            if end == "flush":
                coder.flush()
            del coder
            return time.monotonic() - begin

        self.assertLess(min(took("drop") for _ in range(3)), min(took("flush") for _ in range(3)) / 2)


if __name__ == "__main__":
    unittest.main()
