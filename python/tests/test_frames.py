"""Tables in .bz2 files: DuckDB, Polars, Dask and pandas have the rows of the plain file."""

import bz2
import io
import json
import multiprocessing
import os
import random
import unittest
from concurrent.futures import ProcessPoolExecutor

import hybz
from shapes import Files
from test_others import need

NAMES = ["number", "word", "price"]


def rows(count):
    randoms = random.Random(count)
    return [(i, f"word {randoms.randrange(900)}", randoms.randrange(10**6) / 8) for i in range(count)]


def parsed(part):
    """The rows of a part, as a process of a pool makes them."""
    import pandas

    lines = hybz.read_range(part, b"\n")
    return pandas.read_csv(io.BytesIO(lines), names=NAMES, header=0 if part.begin == 0 else None)


class Frames(Files):
    def setUp(self):
        super().setUp()
        self.rows = rows(60_000)
        text = ",".join(NAMES) + "\n" + "".join(f"{i},{word},{price}\n" for i, word, price in self.rows)
        self.csv = self.file("rows.csv.bz2", bz2.compress(text.encode(), 1))
        objects = "".join(json.dumps(dict(zip(NAMES, row))) + "\n" for row in self.rows)
        self.json = self.file("rows.json.bz2", bz2.compress(objects.encode(), 1))

    def test_duckdb(self):
        need("duckdb")
        import hybz.duckdb

        self.assertEqual(hybz.duckdb.read_csv(self.csv).fetchall(), self.rows)
        self.assertEqual(sorted(hybz.duckdb.read_json(self.json).fetchall()), self.rows)
        two = hybz.duckdb.read_csv([self.csv, self.csv])
        self.assertEqual(two.filter("number % 2 = 0").aggregate("count(*)").fetchall(), [(60_000,)])

    def test_polars(self):
        polars = need("polars")
        import hybz.polars

        for size in (10_000, 1 << 30):
            frame = hybz.polars.scan_csv(self.csv, size=size)
            self.assertEqual(frame.collect().rows(), self.rows)
            some = frame.filter(polars.col("number") % 1000 == 7).select("word")
            self.assertEqual(some.collect().rows(), [(word,) for i, word, _ in self.rows if i % 1000 == 7])
            self.assertEqual(frame.head(70).collect().rows(), self.rows[:70])
        self.assertEqual(hybz.polars.scan_csv([self.csv] * 2).select("price").collect().height, 120_000)

    def test_dask(self):
        need("dask.dataframe")
        import hybz.dask

        for read, path in ((hybz.dask.read_csv, self.csv), (hybz.dask.read_json, self.json)):
            frame = read(path, blocksize=100_000)
            self.assertGreater(frame.npartitions, 5)
            found = frame.compute(scheduler="sync")
            self.assertEqual(list(found.itertuples(index=False, name=None)), self.rows)
        self.assertRaises(ValueError, hybz.dask.read_csv, self.csv, skiprows=1)
        wrong = self.file("w.csv.bz2", bz2.compress(b"a\n" + b"1\n" * 300_000 + b"x\n" * 300_000, 1))
        with self.assertRaises(ValueError):
            hybz.dask.read_csv(wrong, blocksize=100_000).compute(scheduler="sync")

    def test_pandas_by_processes(self):
        pandas = need("pandas")
        parts = hybz.splits(self.csv, os.path.getsize(self.csv) // 5)
        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
            found = pandas.concat(pool.map(parsed, parts))
        self.assertEqual(list(found.itertuples(index=False, name=None)), self.rows)


if __name__ == "__main__":
    unittest.main()
