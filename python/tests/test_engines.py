"""Dask distributed and Ray with several worker processes, and S3: as many lines as `wc -l` counts, and bzip2's bytes,
also when a worker is killed. Modules that are not installed are skipped by name."""

import bz2
import glob
import io
import logging
import os
import random
import signal
import subprocess
import threading
import time
import unittest
import warnings
from unittest import mock

import hybz
from hybz import _tasks
from shapes import Files, noise, words
from test_others import need

WORKERS = (2, 4, 8)
SECONDS = 60


def wc(path):
    """The number of lines that `wc -l` counts."""
    with subprocess.Popen(["wc", "-l", path], stdout=subprocess.PIPE, text=True) as counting:
        return int(counting.communicate()[0].split()[0])


def wait_for(what):
    """Waits until `what` returns a true value, and returns it."""
    end = time.monotonic() + SECONDS
    while not (found := what()):
        if time.monotonic() > end:
            raise TimeoutError("waited in vain")
        time.sleep(0.002)
    return found


class Engine(Files):
    """Four plain files, their compressed forms, and their lines."""

    TEXTS = {
        "lines": words(1_500_000, 11)[:-1] + b"\n",
        "CRLF without the last": words(600_000, 12).replace(b"\n", b"\r\n") + b"the last",
        "longer than ranges": words(300_000, 13) + noise(900_000).replace(b"\n", b"-").hex().encode() + b"\nx\n",
        "empty lines": b"\n" * 200_000 + words(300_000, 14) + b"\n\n",
    }

    def setUp(self):
        super().setUp()
        self.plain = [self.file(f"{n}.txt", text) for n, text in enumerate(self.TEXTS.values())]
        self.files = [self.coded(text, 1, f"{n}.txt.bz2") for n, text in enumerate(self.TEXTS.values())]

    def lines(self):
        """The number of lines that the files have for a reader: a file's last line needs no line end."""
        ended = [text.endswith(b"\n") for text in self.TEXTS.values()]
        return [wc(path) + (not has_end) for path, has_end in zip(self.plain, ended)]

    def check_compress(self, compress):
        text = words(2_500_000, 15) + bytes(400_000) + noise(300_000)
        for level, size in ((9, 900_000), (1, 1), (4, 1 << 40)):
            plain, out = self.file("plain", text), self.path("out.bz2")
            compress(plain, out, level, size=size)
            self.assertEqual(self.content("out.bz2"), bz2.compress(text, level))
            self.assertEqual(glob.glob(out + "?*"), [])
        compress(self.file("nothing", b""), self.path("out.bz2"))
        self.assertEqual(self.content("out.bz2"), bz2.compress(b""))
        # A failure leaves the earlier files, and nothing else.
        with self.assertRaises(Exception):
            compress(self.path("missing"), self.path("out.bz2"))
        self.assertEqual(self.content("out.bz2"), bz2.compress(b""))
        self.assertEqual(glob.glob(self.path("out.bz2?*")), [])

    def check_a_failure_ends_all(self, compress, error=LookupError):
        def names(what):
            return {os.path.basename(path)[6:] for path in glob.glob(self.path(what + "-*"))}

        plain, out = self.file("plain", words(900_000, 17)), self.file("out.bz2", b"before")
        with mock.patch.object(_tasks, "part", part), self.assertRaisesRegex(error, "the first has failed"):
            compress(plain, out, 1, size=1)
        begun, ended = names("begun"), names("ended")
        left = glob.glob(out + "?*")
        wait_for(lambda: names("begun") == names("ended"))
        self.assertEqual((begun, left), (ended, []))
        self.assertTrue(begun)
        self.assertEqual((self.content("out.bz2"), glob.glob(out + "?*")), (b"before", []))

    def check_killed_while_compressing(self, compress, busy):
        """`busy` returns the process of a worker that has a task, or nothing."""
        text = words(10_000_000, 16)
        plain, out = self.file("plain", text), self.path("out.bz2")
        failures = []

        def work():
            try:
                compress(plain, out, 9, size=900_000)
            except BaseException as error:
                failures.append(error)

        working = threading.Thread(target=work)
        working.start()
        wait_for(lambda: [path for path in glob.glob(out + ".parts-*/*") if len(os.path.basename(path)) < 3])
        os.kill(wait_for(busy), signal.SIGKILL)
        self.assertFalse(os.path.exists(out))
        working.join(SECONDS)
        self.assertEqual(failures, [])
        self.assertEqual(self.content("out.bz2"), bz2.compress(text))
        self.assertEqual(glob.glob(out + "?*"), [])


PART = _tasks.part  # as it is


def part(path, *arguments):
    """A task for a part. The first one fails while another one runs, which cannot be interrupted, and then goes on."""
    number = arguments[-2]
    folder = os.path.dirname(path)
    if number == 0:
        wait_for(lambda: glob.glob(os.path.join(folder, "begun-*")))
        raise LookupError("the first has failed")
    open(os.path.join(folder, f"begun-{number}"), "wb").close()
    end = time.monotonic() + 0.7
    while (left := end - time.monotonic()) > 0:
        try:
            time.sleep(left)
        except KeyboardInterrupt:
            pass
    try:
        PART(path, *arguments)
    finally:
        open(os.path.join(folder, f"ended-{number}"), "wb").close()


def slowly(lines):
    """A partition, and time enough to kill the worker that has it."""
    time.sleep(0.3)
    return len(list(lines))


class Dask(Engine):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        distributed = need("distributed")
        need("dask")
        # Their warnings do not concern hybz.
        warnings.simplefilter("ignore")
        cls.cluster = distributed.LocalCluster(
            n_workers=WORKERS[0], threads_per_worker=1, dashboard_address=None, silence_logs=50
        )
        cls.addClassCleanup(cls.cluster.close)
        cls.client = distributed.Client(cls.cluster)
        cls.addClassCleanup(cls.client.close)

    def busy(self):
        tasks = self.client.processing()
        pids = self.client.run(os.getpid)
        return next((pids[worker] for worker, keys in tasks.items() if keys and worker in pids), None)

    def test_a_lines(self):
        for workers in WORKERS:
            self.cluster.scale(workers)
            self.client.wait_for_workers(workers, timeout=SECONDS)
            for files in (1, 4):
                with self.subTest(workers=workers, files=files):
                    bag = hybz.dask.read_text(self.files[:files], blocksize=200_000)
                    self.assertGreater(bag.npartitions, 3 * files)
                    self.assertEqual(bag.count().compute(), sum(self.lines()[:files]))

    def test_lines_as_of_dask(self):
        bag = need("dask.bag")
        # Lists of many lines are slow through the cluster: 120 s for these.
        local = need("dask").config.set(scheduler="sync")
        local.__enter__()
        self.addCleanup(local.__exit__, None, None, None)
        for path in self.files:
            for options in ({}, {"linedelimiter": "\n"}, {"linedelimiter": "the"}, {"encoding": "latin-1"}):
                expected = bag.read_text(path, **{"encoding": "utf-8", **options}).compute()
                got = hybz.dask.read_text(path, "200 kB", **options).compute()
                if options.get("linedelimiter") == "the" and expected[-1] == "":
                    del expected[-1]  # no line follows the last line end; dask sees one, except in files of one piece
                self.assertEqual(got, expected, options)
        # Tasks may have another directory.
        here = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, here)
        with hybz.open(self.files[1]) as file:
            file.export_index("of-1")
        both = hybz.dask.read_text("[01].txt.bz2", include_path=True)
        one = hybz.dask.read_text("1.txt.bz2", index="of-1")
        os.chdir(here)
        self.assertEqual(one.count().compute(), self.lines()[1])
        both = both.compute()
        self.assertEqual({path for _, path in both}, set(self.files[:2]))
        self.assertEqual(hybz.dask.read_text(self.coded(b"")).compute(), [])
        self.assertRaises(FileNotFoundError, hybz.dask.read_text, self.path("*.none"))
        self.assertRaises(ValueError, hybz.dask.read_text, self.files, encoding="utf-16")
        self.assertRaises(ValueError, hybz.dask.read_text, self.files, index="one for all")

    def test_bytes(self):
        dask = need("dask")
        text = self.TEXTS["lines"]
        for delimiter in (None, b"\n", b" a"):
            sample, blocks, paths = hybz.dask.read_bytes(self.files[0], delimiter, "200 kB", "1 kiB", True)
            self.assertEqual(b"".join(dask.compute(*blocks[0])), text)
            self.assertEqual(paths, self.files[:1])
            self.assertTrue(text.startswith(sample) and 1024 <= len(sample) < 3000)
            if delimiter:
                self.assertTrue(sample.endswith(delimiter) and delimiter not in sample[1024 : -len(delimiter)])
        self.assertEqual(hybz.dask.read_bytes(self.files, sample=False)[0], b"")

    def test_compress(self):
        self.check_compress(hybz.dask.compress)

    def test_a_failure_ends_all(self):
        self.check_a_failure_ends_all(hybz.dask.compress)

    def test_z_killed_while_compressing(self):
        self.check_killed_while_compressing(hybz.dask.compress, self.busy)

    def test_z_killed_while_reading(self):
        dask = need("dask")
        counts = [dask.delayed(slowly)(part) for part in hybz.dask.read_text(self.files, 200_000).to_delayed()]
        futures = self.client.compute(counts)
        wait_for(lambda: any(future.done() for future in futures))
        os.kill(wait_for(self.busy), signal.SIGKILL)
        self.assertEqual(sum(self.client.gather(futures)), sum(self.lines()))


class DaskWithoutCluster(Engine):
    def test_a_failure_ends_all(self):
        dask = need("dask")
        need("dask.bag")
        with dask.config.set(scheduler="threads", num_workers=4):
            self.check_a_failure_ends_all(hybz.dask.compress)
        with dask.config.set(scheduler="sync"):
            for name in glob.glob(self.path("*-*")):
                os.unlink(name)
            open(self.path("begun-1"), "wb").close()
            open(self.path("ended-1"), "wb").close()
            self.check_a_failure_ends_all(hybz.dask.compress)

    def test_one_range_for_each_file(self):
        dask = need("dask")
        need("dask.bag")
        with dask.config.set(scheduler="sync"):
            bag = hybz.dask.read_text(self.files[:2], None)
            self.assertEqual((bag.npartitions, bag.count().compute()), (2, sum(self.lines()[:2])))
            _, blocks = hybz.dask.read_bytes(self.files[:2], blocksize=None)
            self.assertEqual([len(each) for each in blocks], [1, 1])
            self.assertEqual(blocks[0][0].compute(), self.TEXTS["lines"])

    def test_delimiters(self):
        dask = need("dask")
        need("dask.bag")
        for encoding in ("gbk", "big5", "shift_jis", "gb18030", "iso2022_jp", "utf-7", "utf-16", "utf-32", "utf-16-le"):
            with self.subTest(encoding), self.assertRaises(ValueError):
                hybz.dask.read_text(self.files[0], encoding=encoding, linedelimiter="|")
        # The second byte of some of its characters is the byte of "|".
        text = "".join(map(chr, range(0x4E00, 0x5200))).encode("gbk", "ignore") + b"\r\nx\n"
        self.assertIn(b"|", text)
        coded = self.coded(text, name="gbk.bz2")
        with dask.config.set(scheduler="sync"):
            for delimiter in (None, "\n", "\r\n"):
                lines = hybz.dask.read_text(coded, encoding="gbk", linedelimiter=delimiter).compute()
                self.assertEqual("".join(lines).replace("\r", ""), text.decode("gbk").replace("\r", ""))
            coded = self.coded("ä|ö|".encode("cp1252"), name="cp.bz2")
            for encoding in ("cp1252", "latin-1", "koi8-r", "ascii"):
                lines = hybz.dask.read_text(coded, encoding=encoding, errors="replace", linedelimiter="|").compute()
                self.assertEqual([line[1:] for line in lines], ["|", "|"])
        self.assertRaises(ValueError, hybz.dask.read_text, coded, linedelimiter="ä", encoding="ascii")

    def test_carriage_returns_as_of_dask(self):
        dask = need("dask")
        bag = need("dask.bag")
        draw = random.Random(4)
        text = b"".join(draw.choices([b"a", b"bc", "ä".encode(), b"\r", b"\n", b"\r\n"], k=300_000))
        coded = self.coded(text, name="returns.bz2")
        with dask.config.set(scheduler="sync"):
            for delimiter in ("\r", "\r\n"):
                for size in (None, 100_000):
                    got = hybz.dask.read_text(coded, size, linedelimiter=delimiter).compute()
                    expected = bag.read_text(coded, encoding="utf-8", linedelimiter=delimiter).compute()
                    self.assertEqual(len(got), len(expected))
                    self.assertTrue(got == expected)
        self.assertRaises(ValueError, hybz.dask.read_text, coded, encoding="utf-16", linedelimiter="\r")

    def test_compress(self):
        dask = need("dask")
        need("dask.bag")
        for scheduler in ("threads", "processes"):
            with dask.config.set(scheduler=scheduler):
                self.check_compress(hybz.dask.compress)


class Ray(Engine):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        ray = need("ray")
        need("ray.data")
        warnings.simplefilter("ignore")
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [os.getcwd(), os.environ.get("PYTHONPATH")]))
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        ray.init(num_cpus=max(WORKERS), include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        cls.addClassCleanup(ray.shutdown)
        need("ray.data").DataContext.get_current().enable_progress_bars = False
        cls.ray = ray

    def busy(self, name="ray::part"):
        """The process of a worker that runs such a task."""
        workers = need("psutil").Process().children(recursive=True)
        for worker in workers:
            try:
                if worker.cmdline()[:1] and worker.cmdline()[0].startswith(name):
                    return worker.pid
            except Exception:
                continue  # it has just ended
        return None

    def test_lines(self):
        for workers in WORKERS:
            # The number of tasks that run at the same time.
            share = {"num_cpus": max(WORKERS) / workers}
            for files in (1, 4):
                with self.subTest(workers=workers, files=files):
                    options = {"size": 200_000, "drop_empty_lines": False, "ray_remote_args": share}
                    data = hybz.ray.read_text(self.files[:files], **options)
                    self.assertEqual(data.count(), sum(self.lines()[:files]))

    def test_lines_as_of_ray(self):
        data = need("ray.data")
        for path in self.files:
            expected = sorted(row["text"] for row in data.read_text(path, arrow_open_stream_args={}).iter_rows())
            got = sorted(row["text"] for row in hybz.ray.read_text(path, size=400_000).iter_rows())
            self.assertEqual(got, expected)
        self.assertEqual(hybz.ray.read_text(self.coded(b"")).count(), 0)
        self.check_estimate(hybz.ray.Datasource)
        umlauts = self.coded("ä\r\nö\n\nü".encode("latin-1"), name="latin.bz2")
        rows = hybz.ray.read_text(umlauts, encoding="latin-1").take_all()
        self.assertEqual([row["text"] for row in rows], ["ä", "ö", "ü"])

    def check_estimate(self, source):
        """The size is known from an index, and otherwise estimated from that of the coded bytes."""
        for path, text in zip(self.files, self.TEXTS.values()):
            coded = os.path.getsize(path)
            self.assertEqual(source(path).estimate_inmemory_data_size() % coded, 0)
            self.assertIn(source(path).estimate_inmemory_data_size() // coded, (2, 3, 4, 5))
            with hybz.open(path) as file:
                file.export_index(path + ".index")
            indexed = source(path, index=path + ".index")
            self.assertEqual(indexed.estimate_inmemory_data_size(), len(text))

    def test_compress(self):
        self.check_compress(hybz.ray.compress)

    def test_a_failure_ends_all(self):
        self.check_a_failure_ends_all(hybz.ray.compress)

    def test_threads(self):
        for call in (hybz.ray.compress, hybz.ray.read_text):
            with self.assertRaisesRegex(ValueError, "threads must be 1 or more"):
                call(*[self.plain[0], self.path("out")][: 2 if call is hybz.ray.compress else 1], threads=0)
        self.assertRaises(ValueError, hybz.ray.Datasource, self.files, threads=0)

    def test_killed_while_compressing(self):
        self.check_killed_while_compressing(hybz.ray.compress, self.busy)

    def test_killed_while_reading(self):
        def slow(batch):
            time.sleep(0.2)
            return batch

        options = {"size": 200_000, "drop_empty_lines": False, "ray_remote_args": {"num_cpus": 4}}
        data = hybz.ray.read_text(self.files, **options).map_batches(slow, batch_size=None, num_cpus=4)
        counted = []
        counting = threading.Thread(target=lambda: counted.append(data.count()))
        counting.start()
        os.kill(wait_for(lambda: self.busy("ray::ReadHybzText")), signal.SIGKILL)
        counting.join(SECONDS)
        self.assertEqual(counted, [sum(self.lines())])


class S3(Files):
    def setUp(self):
        super().setUp()
        server = need("moto.server")
        s3fs = need("s3fs")
        need("boto3")
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self.server = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self.server.start()
        self.addCleanup(self.server.stop)
        host, port = self.server.get_host_and_port()
        self.options = {"key": "none", "secret": "none", "endpoint_url": f"http://{host}:{port}"}
        self.fs = s3fs.S3FileSystem(**self.options)
        # s3fs keeps one cache for the whole process, whatever the server, so each test has its own bucket.
        self.bucket = "of-" + self.id().rpartition(".")[2].replace("_", "-")
        self.fs.mkdir(self.bucket)

    def test_ranges(self):
        text = words(2_000_000, 21) + noise(1_000_000)
        self.fs.pipe(f"{self.bucket}/x.bz2", bz2.compress(text, 1))
        found = hybz.ranges(f"s3://{self.bucket}/x.bz2", 300_000, storage_options=self.options)
        self.assertEqual(b"".join(hybz.read_range(each, b"\n") for each in found), text)
        # By its index, also by an index that lies next to it.
        with self.fs.open(f"{self.bucket}/x.bz2") as coded, hybz.open(coded) as file:
            with self.fs.open(f"{self.bucket}/x.bz2.bzi", "wb") as index:
                file.export_index(index)
        self.fs.invalidate_cache()
        indexed = hybz.ranges(f"s3://{self.bucket}/x.bz2", 300_000, storage_options=self.options)
        self.assertEqual(indexed[0].index, f"s3://{self.bucket}/x.bz2.bzi")
        self.assertEqual(b"".join(map(hybz.read_range, indexed)), text)

    def test_dask_threads(self):
        dask = need("dask")
        need("dask.bag")
        text = words(1_000_000, 22)
        self.fs.pipe(f"{self.bucket}/x.txt", text)
        with dask.config.set(scheduler="threads"):
            name = f"s3://{self.bucket}/x.txt"
            hybz.dask.compress(name, name + ".bz2", 1, size=1, storage_options=self.options)
            self.fs.invalidate_cache()
            self.assertEqual(self.fs.cat(f"{self.bucket}/x.txt.bz2"), bz2.compress(text, 1))
            self.assertEqual(sorted(self.fs.ls(self.bucket)), [f"{self.bucket}/x.txt", f"{self.bucket}/x.txt.bz2"])
            bag = hybz.dask.read_text(f"s3://{self.bucket}/*.bz2", 200_000, storage_options=self.options)
            self.assertEqual(bag.count().compute(), len(list(io.BytesIO(text))))


if __name__ == "__main__":
    unittest.main()
