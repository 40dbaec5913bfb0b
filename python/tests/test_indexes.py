"""The destination of an index, and the cases in which none is written."""

import bz2
import io
import os
import stat
import threading
import unittest

import hybz
from shapes import Files, words

TEXT = words(300_000)


class Failing(io.BytesIO):
    """A file object that takes nothing more once `fails` is set."""

    fails = False

    def write(self, data):
        if self.fails:
            raise OSError(28, "No space left on device")
        return super().write(data)


class Unflushed(Failing):
    def flush(self):
        raise OSError(28, "No space left on device")


@unittest.skipIf(os.name != "posix", "has no FIFOs")
class Places(Files):
    """Writing an index, and export_index(), to the same places."""

    def setUp(self):
        super().setUp()
        self.data = self.path("x.bz2")
        with hybz.open(self.data, "wb", 1, index=self.path("good")) as file:
            file.write(TEXT)
        self.expected = self.content("good")
        os.unlink(self.path("good"))

    def write(self, index):
        with hybz.open(self.data, "wb", 1, index=index) as file:
            file.write(TEXT)

    def export(self, index):
        with hybz.open(self.data) as file:
            file.export_index(index)

    def test_a_fifo(self):
        for how in (self.write, self.export):
            path = self.path("fifo")
            os.mkfifo(path)
            got = []
            # Does not wait for a writer that never comes.
            reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            os.set_blocking(reading, True)
            with open(reading, "rb") as file:
                reader = threading.Thread(target=lambda: got.append(file.read()))
                how(path)
                reader.start()
                reader.join()
            self.assertEqual((got, stat.S_ISFIFO(os.stat(path).st_mode)), ([self.expected], True))
            os.unlink(path)

    def test_a_device(self):
        for how in (self.write, self.export):
            link = self.path(f"{how.__name__}-null")
            os.symlink("/dev/null", link)
            how(link)
            self.assertTrue(os.path.islink(link) and stat.S_ISCHR(os.stat("/dev/null").st_mode))
        with hybz.open("/dev/null", "wb", index="/dev/null") as file:
            file.write(TEXT)

    def test_a_link(self):
        for how in (self.write, self.export):
            for content in (None, b"before"):
                os.mkdir(self.path("there"))
                if content:
                    self.file("there/index", content)
                os.symlink("there/index", self.path("link"))
                how(self.path("link"))
                self.assertTrue(os.path.islink(self.path("link")))
                self.assertEqual(self.content("there/index"), self.expected)
                self.assertEqual(os.listdir(self.path("there")), ["index"])
                os.unlink(self.path("link"))
                os.unlink(self.path("there/index"))
                os.rmdir(self.path("there"))

    def test_the_mode_is_kept(self):
        for how in (self.write, self.export):
            for mode in (0o600, 0o664):
                os.chmod(self.file("index", b"before"), mode)
                how(self.path("index"))
                self.assertEqual(stat.S_IMODE(os.stat(self.path("index")).st_mode), mode)
                self.assertEqual(self.content("index"), self.expected)

    def test_a_long_name(self):
        for how in (self.write, self.export):
            name = how.__name__[:1] + "n" * 254
            for path in (self.path(name), os.fsencode(self.path(name))):
                how(path)
                self.assertEqual(self.content(name), self.expected)
            self.assertEqual([each for each in os.listdir(self.folder) if each.startswith(".")], [])

    def test_a_descriptor(self):
        for how in (self.write, self.export):
            with open(self.path("index"), "w+b") as file:
                file.write(b"head")
                file.flush()
                how(file.fileno())
                # The file is still open.
                file.seek(0)
                self.assertEqual(file.read(), b"head" + self.expected)
                file.seek(4)
                with hybz.open(self.data, index=file.fileno()) as coded:
                    self.assertTrue(coded.block_offsets_complete())
                os.fstat(file.fileno())


class Refused(Files):
    def check(self, error, name, mode, index):
        with self.assertRaises(error):
            hybz.open(name, mode, index=index).close()

    def test_the_file_itself(self):
        coded = self.coded(TEXT)
        content = self.content("file.bz2")
        os.link(coded, self.path("hard"))
        os.symlink("file.bz2", self.path("soft"))
        for index in (coded, os.fsencode(coded), os.path.relpath(coded), self.path("hard"), self.path("soft")):
            self.check(ValueError, coded, "wb", index)
            with hybz.open(coded) as file:
                self.assertRaises(ValueError, file.export_index, index)
            with open(coded, "rb") as inner, hybz.open(inner) as file:
                self.assertRaises(ValueError, file.export_index, index)
            with open(coded, "r+b") as file:
                self.check(ValueError, file, "wb", index)
                self.check(ValueError, coded, "wb", file)
                self.check(ValueError, coded, "wb", file.fileno())
            self.assertEqual(self.content("file.bz2"), content)
        for mode in ("wb", "xb"):
            self.check(ValueError, self.path("new"), mode, os.path.join(self.folder, ".", "new"))
        self.assertFalse(os.path.exists(self.path("new")))
        both = io.BytesIO()
        self.check(ValueError, both, "wb", both)

    def test_exclusive(self):
        self.file("index", b"before")
        os.symlink("nowhere", self.path("link"))
        for name in ("index", "link"):
            self.check(FileExistsError, self.path("new"), "xb", self.path(name))
        # Or the failure comes later.
        file = hybz.open(self.path("x.bz2"), "xb", index=self.path("late"))
        file.write(TEXT)
        self.file("late", b"another")
        self.assertRaises(FileExistsError, file.close)
        self.assertEqual(bz2.decompress(self.content("x.bz2")), TEXT)
        with hybz.open(self.path("y.bz2"), "xb", index=self.path("y")) as file:
            file.write(TEXT)
        with hybz.open(self.path("y.bz2"), index=self.path("y")) as file:
            self.assertTrue(file.block_offsets_complete())
        self.assertEqual((self.content("index"), self.content("late")), (b"before", b"another"))
        self.assertEqual(sorted(os.listdir(self.folder)), ["index", "late", "link", "x.bz2", "y", "y.bz2"])

    def test_places_that_cannot_be(self):
        self.file("file", b"")
        os.mkdir(self.path("folder"))
        for mode in ("wb", "xb"):
            self.check(FileNotFoundError, self.path("new"), mode, self.path("none/index"))
            self.check(NotADirectoryError, self.path("new"), mode, self.path("file/index"))
            self.check(OSError, self.path("new"), mode, self.path("n" * 256))
        self.check(IsADirectoryError, self.path("new"), "wb", self.path("folder"))
        self.assertEqual(sorted(os.listdir(self.folder)), ["file", "folder"])

    def test_a_place_where_nobody_may_write(self):
        os.mkdir(self.path("closed"), 0o500)
        if os.access(self.path("closed"), os.W_OK):
            self.skipTest("runs as root")
        self.check(PermissionError, self.path("new"), "wb", self.path("closed/index"))
        self.assertEqual(os.listdir(self.folder), ["closed"])


class NotWritten(Files):
    def check(self, file, *calls):
        for call in calls:
            self.assertRaises(OSError, call)
        try:
            file.close()
        except OSError:
            self.fail("closed twice")
        self.assertTrue(file.closed)
        self.assertEqual(os.listdir(self.folder), [])

    def test_the_end_fails(self):
        out = Failing()
        file = hybz.open(out, "wb", 1, index=self.path("index"))
        file.write(TEXT)
        out.fails = True
        self.check(file, file.close)

    def test_a_write_fails(self):
        out = Failing()
        file = hybz.open(out, "wb", 1, threads=1, index=self.path("index"))
        out.fails = True
        self.assertRaises(OSError, file.write, TEXT)
        out.fails = False
        self.check(file)
        index = io.BytesIO()
        file = hybz.open(out, "wb", 1, threads=1, index=index)
        out.fails = True
        self.assertRaises(OSError, file.write, TEXT)
        out.fails = False
        file.close()
        self.assertEqual(index.getvalue(), b"")

    def test_what_the_file_object_holds_is_not_written(self):
        file = hybz.open(Unflushed(), "wb", 1, index=self.path("index"))
        file.write(TEXT)
        self.check(file, file.close)

    def test_full(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        file = hybz.open("/dev/full", "wb", 1, index=self.path("index"))
        file.write(TEXT[:10])
        self.check(file, file.close)


class Directories(Files):
    def test_another_directory_meanwhile(self):
        os.mkdir(self.path("there"))
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        os.chdir(self.folder)
        with hybz.open("x.bz2", "wb", index="index") as file:
            file.write(TEXT)
            os.chdir("there")
        self.assertEqual(sorted(os.listdir(self.folder)), ["index", "there", "x.bz2"])


if __name__ == "__main__":
    unittest.main()
