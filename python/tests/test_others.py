"""Other modules that use hybz: fsspec, tarfile, pandas, pyarrow, ratarmount. Missing modules are skipped by name."""

import bz2
import importlib.util
import io
import os
import subprocess
import sys
import tarfile
import tempfile
import unittest

import hybz
from shapes import Files, words


def need(name):
    """Returns the module with this name, or skips the test."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise unittest.SkipTest(f"{name} is not installed") from None


class Others(Files):
    def in_new_process(self, script, *arguments):
        done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.strip()

    def test_in_place_of_bz2(self):
        path = self.coded(words(100_000))
        script = """
import sys, hybz
hybz.register(bz2=True)
import bz2, shutil, tarfile
assert bz2 is hybz
with bz2.open(sys.argv[1]) as file:
    print(len(file.read()))
"""
        self.assertEqual(self.in_new_process(script, path), "100000")

    def test_tarfile(self):
        script = """
import sys, hybz
hybz.register(bz2=True)
import tarfile
for write, read in (("w:bz2", "r:bz2"), ("w|bz2", "r|bz2"), ("w:bz2", "r:*")):
    with tarfile.open(sys.argv[1], write) as tar:
        tar.add(sys.argv[2], "member")
    with tarfile.open(sys.argv[1], read) as tar:
        for member in tar:
            assert tar.extractfile(member).read() == open(sys.argv[2], "rb").read()
print("good")
"""
        content = self.file("content", words(300_000))
        self.assertEqual(self.in_new_process(script, self.path("x.tar.bz2"), content), "good")
        with tarfile.open(self.path("x.tar.bz2")) as tar:
            self.assertEqual(tar.getnames(), ["member"])

    def test_fsspec(self):
        fsspec = need("fsspec")
        text = words(300_000)
        path = self.coded(text)
        hybz.register()
        with fsspec.open(path, "rb", compression="infer") as file:
            self.assertIsInstance(file, hybz.BZ2File)
            self.assertEqual(file.read(), text)
        memory = fsspec.filesystem("memory")
        with fsspec.open("memory://out.bz2", "wb", compression="bz2") as file:
            file.write(text)
        self.assertEqual(memory.cat("/out.bz2"), bz2.compress(text))
        with memory.open("/out.bz2") as inner, hybz.open(inner) as file:
            file.seek(123_456)
            self.assertEqual(file.read(100), text[123_456:123_556])
            self.assertEqual(file.size(), len(text))
        with fsspec.open("memory://out.bz2", "rt", compression="bz2") as file:
            self.assertEqual(sum(1 for _ in file), len(text.splitlines()))

    def test_pandas(self):
        need("pandas")
        script = """
import sys, hybz
hybz.register(bz2=True)
import pandas
frame = pandas.DataFrame({"a": range(50000), "b": [str(n) for n in range(50000)]})
frame.to_csv(sys.argv[1], index=False)
assert pandas.read_csv(sys.argv[1], dtype={"b": str}).equals(frame)
print("good")
"""
        self.assertEqual(self.in_new_process(script, self.path("x.csv.bz2")), "good")
        with bz2.open(self.path("x.csv.bz2"), "rt") as file:
            self.assertEqual(sum(1 for _ in file), 50001)

    def test_pyarrow(self):
        need("pyarrow")
        csv = need("pyarrow.csv")
        pyarrow = need("pyarrow")
        lines = b"a,b\n" + b"".join(b"%d,%d\n" % (n, n * n) for n in range(50_000))
        with hybz.open(self.coded(lines)) as file:
            table = csv.read_csv(pyarrow.PythonFile(file, mode="r"))
        self.assertEqual((table.num_rows, table["b"][77].as_py()), (50_000, 77 * 77))

    def test_ratarmount(self):
        need("ratarmountcore")
        rapidgzip = need("rapidgzip")
        mounts = importlib.import_module("ratarmountcore.mountsource.factory")
        content = {f"folder/{n}": words(50_000, n) for n in range(20)}
        with tarfile.open(self.path("x.tar.bz2"), "w:bz2") as tar:
            for name, data in content.items():
                info = tarfile.TarInfo(name)
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
        opened = []

        class Reader(hybz.BZ2File):
            def __init__(self, file, parallelization=0):
                super().__init__(file, threads=parallelization)
                opened.append(self)

        before, rapidgzip.IndexedBzip2File = rapidgzip.IndexedBzip2File, Reader
        try:
            for _ in range(2):  # the second time with the index of the first
                with mounts.open_mount_source(self.path("x.tar.bz2"), writeIndex=True) as mount:
                    for name, data in reversed(content.items()):
                        with mount.open(mount.lookup("/" + name)) as file:
                            self.assertEqual(file.read(), data)
        finally:
            rapidgzip.IndexedBzip2File = before
        self.assertTrue(opened)


class Types(unittest.TestCase):
    def test_stubs_fit_what_there_is(self):
        need("mypy.stubtest")
        # Modules that cannot be imported here are ignored.
        missing = [name for name in ("dask", "ray") if importlib.util.find_spec(name) is None]
        with tempfile.TemporaryDirectory() as folder:
            allowed = os.path.join(folder, "allowed")
            with open(allowed, "w", encoding="ascii") as out:
                out.writelines(f"hybz\\.{name}(\\..*)?\n" for name in missing)
            command = [sys.executable, "-m", "mypy.stubtest", "hybz", "--allowlist", allowed]
            environment = {**os.environ, "MYPYPATH": os.path.dirname(os.path.dirname(hybz.__file__))}
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_stubs_name_what_there_is(self):
        import ast

        folder = os.path.dirname(hybz.__file__)
        self.assertTrue(os.path.exists(os.path.join(folder, "py.typed")))
        with open(os.path.join(folder, "__init__.pyi"), encoding="utf-8") as file:
            tree = ast.parse(file.read())
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                self.assertTrue(callable(getattr(hybz, node.name)))
            elif isinstance(node, ast.ClassDef):
                of = getattr(hybz, node.name)
                named = {item.name for item in node.body if isinstance(item, ast.FunctionDef)} - {"__init__"}
                named |= {item.target.id for item in node.body if isinstance(item, ast.AnnAssign)}
                self.assertEqual(named - set(dir(of)), set())
                own = {name for name in vars(of) if not name.startswith("_")}
                self.assertEqual(own - named, set())
        for name in hybz.__all__:
            self.assertTrue(getattr(hybz, name).__doc__, name)


if __name__ == "__main__":
    unittest.main()
