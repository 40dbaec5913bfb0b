"""Pipes and sockets whose other side waits for an answer: complete text is handed out."""

import bz2
import io
import os
import socket
import threading
import unittest

import hybz
from shapes import words

SECONDS = 30  # a reader that takes longer waits for data that never come
TEXT = words(50_000)


class Live(unittest.TestCase):
    def converse(self, read, write):
        """Each question is a stream, and comes when the previous one has been answered."""
        questions = [b"one\n", b"two\n", words(100_000).replace(b"\n", b" ") + b"\n", b"four\n"]
        got, answered = [], threading.Semaphore(0)

        def answer():
            with hybz.open(read) as file:
                for _ in questions:
                    got.append(file.readline())
                    answered.release()
                got.append(file.read())

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        with write:
            for question in questions:
                write.write(bz2.compress(question))
                write.flush()
                in_time = answered.acquire(timeout=SECONDS)
                if not in_time:
                    break
        thread.join(SECONDS)
        self.assertTrue(in_time, "the reader waits for more than the question")
        self.assertEqual(got, [*questions, b""])

    def test_a_pipe(self):
        ends = os.pipe()
        with open(ends[0], "rb") as read:
            self.converse(read, open(ends[1], "wb"))

    def test_a_pipe_without_a_buffer(self):
        ends = os.pipe()
        with open(ends[0], "rb", buffering=0) as read:
            self.converse(read, open(ends[1], "wb"))

    def test_a_socket(self):
        ends = socket.socketpair()
        with ends[0], ends[1], ends[0].makefile("rb") as read:
            write = ends[1].makefile("wb")
            # Closing the file does not end the other side's input before the socket is shut.
            close = write.close
            write.close = lambda: (close(), ends[1].close())
            self.converse(read, write)

    def test_a_file_without_read1(self):
        class Pipe(io.BufferedIOBase):
            """It inherits the base class's read1, which raises UnsupportedOperation."""

            inner = io.BytesIO(bz2.compress(TEXT))

            def readable(self):
                return True

            def read(self, size=-1):
                return self.inner.read(size)

        with hybz.open(Pipe()) as file:
            self.assertEqual(file.read(), TEXT)

    def test_a_pipe_that_does_not_block(self):
        """A lack of data is not the end of the file."""
        ends = os.pipe()
        os.set_blocking(ends[0], False)
        with open(ends[0], "rb") as read, open(ends[1], "wb") as write:
            write.write(bz2.compress(b"text"))
            write.flush()
            with hybz.open(read) as file:
                self.assertRaises(BlockingIOError, file.read)
                write.write(bz2.compress(b" and more"))
                write.close()
                self.assertEqual(file.read(), b"text and more")


if __name__ == "__main__":
    unittest.main()
