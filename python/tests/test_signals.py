"""A signal whose handler raises an exception soon ends long work."""

import bz2
import os
import signal
import time
import unittest

import hybz
from shapes import Files, noise, words


class Interrupted(Exception):
    pass


@unittest.skipUnless(hasattr(signal, "setitimer"), "no setitimer here")
class Signals(Files):
    SIZE = 30_000_000

    def setUp(self):
        super().setUp()
        self.handle = self.interrupt
        before = signal.signal(signal.SIGALRM, lambda *_: self.handle())
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        self.addCleanup(signal.setitimer, signal.ITIMER_REAL, 0)

    def interrupt(self):
        raise Interrupted

    def check(self, begin, work):
        """Interrupts the work after a fifth of its time: it must stop before it is complete.

        Other processes can make any one measurement useless, so it may take several attempts.
        """
        made = begin()
        start = time.monotonic()
        work(made)
        whole = time.monotonic() - start
        for _ in range(5):
            made = begin()
            start = time.monotonic()
            signal.setitimer(signal.ITIMER_REAL, whole / 5)
            try:
                work(made)
                signal.setitimer(signal.ITIMER_REAL, 0)
            except Interrupted:
                if time.monotonic() - start < whole * 4 / 5:
                    return made
            whole = time.monotonic() - start
        self.fail("the work was complete before it ended")

    def test_functions(self):
        text = noise(self.SIZE)
        self.check(lambda: None, lambda _: hybz.compress(text, threads=1))
        coded = hybz.compress(text, 1)
        self.check(lambda: None, lambda _: hybz.decompress(coded, threads=1))
        self.assertEqual(hybz.decompress(coded), text)

    def test_compressor(self):
        text = noise(self.SIZE)
        coder = self.check(lambda: hybz.BZ2Compressor(threads=1), lambda coder: coder.compress(text))
        # The compressor has taken a part of the data.
        self.assertTrue(text.startswith(bz2.decompress(coder.flush())))

    def opened(self):
        return hybz.open(self.path("file.bz2"), threads=1)

    def test_read(self):
        text = noise(self.SIZE)
        self.file("file.bz2", hybz.compress(text, 1))
        with self.check(self.opened, lambda file: file.read()) as file:
            self.assertEqual(file.read(), text)
        with self.check(self.opened, lambda file: file.size()) as file:
            self.assertEqual((file.tell(), file.size()), (0, len(text)))

    def test_seek(self):
        text = noise(self.SIZE)
        self.file("file.bz2", hybz.compress(text, 1))

        def begun():
            file = self.opened()
            file.read(100_000)
            return file

        for work in (lambda file: file.seek(10**12), lambda file: file.seek(0, 2)):
            with self.check(begun, work) as file:
                self.assertEqual(file.tell(), 100_000)
                self.assertEqual(file.read(1000), text[100_000:101_000])
                self.assertEqual(file.seek(-1000, 2), len(text) - 1000)
                self.assertEqual(file.read(), text[-1000:])

    def test_a_pipe_is_read_on(self):
        """The data already read cannot be read again, and must not be lost."""

        class Pipe:
            def __init__(self, content):
                self.content, self.at = content, 0

            def read(self, size):
                self.at += size
                return self.content[self.at - size : self.at]

        text = noise(self.SIZE)
        coded = hybz.compress(text, 1)
        file = self.check(lambda: hybz.open(Pipe(coded), threads=1), lambda file: file.read())
        self.assertEqual(file.read(), text)
        file.close()

    def test_a_handler_that_uses_the_file(self):
        """The call is refused, and does not wait for the call within which it runs."""
        self.file("file.bz2", hybz.compress(noise(self.SIZE), 1))
        raised = []

        def use():
            try:
                file.block_offsets_complete()
            except RuntimeError as error:
                raised.append(str(error))

        self.handle = use
        with self.opened() as file:
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            self.assertEqual(file.size(), self.SIZE)
        self.assertEqual(len(raised), 1)
        self.assertIn("reentrant", raised[0])

    def test_a_plan(self):
        path = self.file("plain", words(1_000_000))
        os.truncate(path, 2 << 30)  # a hole, which is quick to make

        def plan(_):
            with open(path, "rb") as file:
                hybz._hybz.plan(file, 0, 9, 1 << 20)

        plan(None)  # the first run takes longer, because it reads the hole
        self.check(lambda: None, plan)


if __name__ == "__main__":
    unittest.main()
