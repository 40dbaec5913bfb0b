"""Runs CPython's own tests of bz2, and the tests of tarfile that use bz2, with hybz in bz2's place.

cpython.py [FOLDER]: FOLDER has test_bz2.py and test_tarfile.py, if this Python came without its tests.
"""

import importlib
import importlib.util
import os
import sys
import tempfile
import unittest

import hybz

hybz.register(fsspec=False, bz2=True)


def load(name, folder):
    """A module of tests of this Python, or of a folder."""
    if folder is None:
        return importlib.import_module(f"test.{name}")
    spec = importlib.util.spec_from_file_location(f"test.{name}", os.path.join(folder, f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def main():
    folder = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else None
    with tempfile.TemporaryDirectory() as here:
        os.chdir(here)  # where the tests put their files
        succeeded = run(folder)
        os.chdir("/")
    sys.exit(not succeeded)


def run(folder):
    """Whether all existing tests passed."""
    try:
        bz2_tests, tar_tests = load("test_bz2", folder), load("test_tarfile", folder)
    except ImportError as error:
        print(f"skipped: CPython's own tests ({error})")
        return True
    assert bz2_tests.BZ2File is hybz.BZ2File and tar_tests.bz2 is hybz
    loader, suite = unittest.defaultTestLoader, unittest.TestSuite()
    suite.addTests(loader.loadTestsFromModule(bz2_tests))
    for name, case in vars(tar_tests).items():
        if name.startswith("Bz2") and isinstance(case, type) and issubclass(case, unittest.TestCase):
            suite.addTests(loader.loadTestsFromTestCase(case))
    result = unittest.TextTestRunner().run(suite)
    for case, why in result.skipped:
        print(f"skipped: {case}: {why}")
    return result.wasSuccessful()


if __name__ == "__main__":
    main()
