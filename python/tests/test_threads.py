"""The number of threads comes from the argument, set_threads, HYBZ_THREADS or all cores, in this order."""

import os
import subprocess
import sys
import unittest

import hybz
from shapes import Files

# Prints the number of the library's threads after the work. The first use of a number of threads makes its pool.
SCRIPT = """
import os, sys, hybz
before = len(os.listdir("/proc/self/task"))
{}
print(len(os.listdir("/proc/self/task")) - before)
"""
# More than this machine has, to distinguish it from "all cores".
MANY = (os.cpu_count() or 1) + 3


@unittest.skipUnless(os.path.isdir("/proc/self/task"), "no /proc/self/task here")
class Threads(Files):
    def threads(self, work, value=None):
        environment = {name: text for name, text in os.environ.items() if name != "HYBZ_THREADS"}
        if value is not None:
            environment["HYBZ_THREADS"] = value
        command = [sys.executable, "-c", SCRIPT.format(work), self.path("file.bz2")]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return int(done.stdout)

    def test_order(self):
        self.coded(bytes(10_000_000) + os.urandom(2_000_000))
        work = "hybz.compress(os.urandom(3_000_000), 1)"
        cores, one = self.threads(work), self.threads(work.replace("1)", "1, threads=1)"))
        self.assertLess(cores, MANY)
        every = (work, "hybz.open(sys.argv[1]).read()", "hybz.decompress(open(sys.argv[1], 'rb').read())")
        for each in every:
            with self.subTest(each):
                self.assertEqual(self.threads(each, str(MANY)), MANY)
        self.assertEqual(self.threads(work, "0"), cores)
        self.assertEqual(self.threads(work, ""), cores)
        self.assertEqual(self.threads(f"hybz.set_threads({MANY}); {work}", "1"), MANY)
        self.assertEqual(self.threads(f"hybz.set_threads(1); hybz.set_threads(0); {work}", str(MANY)), MANY)
        self.assertEqual(self.threads(f"hybz.set_threads({MANY}); {work[:-1]}, threads=1)", str(MANY)), one)
        # The variable may be set while the program runs.
        self.assertEqual(self.threads(f"os.environ['HYBZ_THREADS'] = '{MANY}'; {work}"), MANY)

    def test_what_is_no_number(self):
        self.assertRaises(ValueError, hybz.set_threads, -1)
        work = """
try:
    hybz.compress(b"")
except ValueError as error:
    assert "HYBZ_THREADS" in str(error)
else:
    raise AssertionError("no error")
"""
        for value in ("x", "-1", "1.5"):
            self.assertEqual(self.threads(work, value), 0)
        given = 'hybz.compress(b"", threads=1)'
        self.assertEqual(self.threads(given, "x"), self.threads(given))


if __name__ == "__main__":
    unittest.main()
