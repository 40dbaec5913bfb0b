"""Ratios of hybz to other modules on this machine, each next to its target: python/bench.py FILE [ROUNDS] [--engines]

FILE is plain, some tens of MB. Each round measures all sides, one after the other. It prints medians of the rounds, of
elapsed and of CPU time (on a busy machine CPU time is fairer, because short work is interrupted less). Every output is
compared. Missing modules are named. The command is $HYBZ_COMMAND, or target/release/hybz; build the package with the
same profile
(`pip install ./python`). With --engines it also measures Dask distributed and Ray, with two workers and an index next
to the file.
"""

import bz2
import importlib.metadata
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import hybz

RANDOM_READS = 40
WORKERS = 2
# The target: how many times as long the other module must take at least, by operation and module.
TARGETS = {
    ("decompress, one thread", "bz2"): 4,
    ("decompress, one thread", "indexed_bzip2"): 1,
    ("decompress, one thread", "command"): 0.9,
    ("lines, one thread", "bz2"): 2,
    ("compress(), one thread", "bz2"): 1.8,
    ("random reads of 64 KiB", "rapidgzip"): 5,
    ("lines in Ray", "ray.data.read_text"): 4,
    ("lines in Dask", "dask.bag.read_text"): 3,
}
PACE = 0.9


def command():
    """The command hybz, if it is built."""
    built = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "target", "release", "hybz")
    return os.environ.get("HYBZ_COMMAND") or (built if os.path.exists(built) else shutil.which("hybz"))


def module(name):
    """A module to compare with; if it is missing, prints that and returns None."""
    try:
        found = importlib.import_module(name)
    except ImportError:
        print(f"missing: {name}")
        return None
    print(f"{name} {importlib.metadata.version(name)}")
    return found


def sides(path, text):
    """The measurements, as {operation: {module: function}}; the others are compared with the first module of each
    operation."""

    def whole(opened):
        with opened as file:
            size = 0
            buffer = bytearray(1 << 20)
            while n := file.readinto(buffer):
                size += n
        assert size == len(text)

    def lines(opened):
        with opened as file:
            assert sum(1 for _ in file) == len(text.splitlines()) or b"\r" in text

    def reads(opened, offsets):
        draw = random.Random(1)
        with opened as file:
            file.set_block_offsets(offsets)
            for _ in range(RANDOM_READS):
                at = draw.randrange(len(text) - 65536)
                file.seek(at)
                assert file.read(65536) == text[at : at + 65536]

    def by_command():
        with subprocess.Popen([command(), "-dc", "-p1", path], stdout=subprocess.PIPE) as process:
            whole(process.stdout)

    with hybz.open(path) as file:
        offsets = file.block_offsets()
    with open(path, "rb") as file:
        coded = file.read()
    found = {
        "decompress, one thread": {
            "hybz": lambda: whole(hybz.open(path, threads=1)),
            "bz2": lambda: whole(bz2.open(path)),
        },
        "decompress(), one thread": {
            "hybz": lambda: hybz.decompress(coded, threads=1) == text or sys.exit("wrong text"),
            "bz2": lambda: bz2.decompress(coded),
        },
        "lines, one thread": {
            "hybz": lambda: lines(hybz.open(path, threads=1)),
            "bz2": lambda: lines(bz2.open(path)),
        },
        "compress(), one thread": {
            "hybz": lambda: hybz.compress(text, threads=1) == coded or sys.exit("wrong bytes"),
            "bz2": lambda: bz2.compress(text) == coded or sys.exit("not bzip2's file"),
        },
        "random reads of 64 KiB": {"hybz": lambda: reads(hybz.open(path), offsets)},
    }
    if command():
        found["decompress, one thread"]["command"] = by_command
    else:
        print("missing: the command hybz")
    for name in ("indexed_bzip2", "rapidgzip"):
        if other := module(name):
            opened = other.IndexedBzip2File
            found["decompress, one thread"][name] = lambda opened=opened: whole(opened(path, parallelization=1))
            found["random reads of 64 KiB"][name] = lambda opened=opened: reads(
                opened(path, parallelization=os.cpu_count()), offsets
            )
    return found


def engines(path, text):
    """The measurements of Ray and Dask, which are started and given their first tasks before they are measured."""
    expected = text.count(b"\n") + (not text.endswith(b"\n"))
    size = len(text) // (4 * WORKERS) + 1
    with hybz.open(path) as file:
        file.export_index(path + ".bzi")
    found = {}

    def equal(counted):
        assert counted == expected, (counted, expected)

    if module("distributed") and module("dask"):
        import dask.bag
        import distributed

        cluster = distributed.LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None)
        client = distributed.Client(cluster)
        client.wait_for_workers(WORKERS)
        found["lines in Dask"] = {
            "hybz": lambda: equal(hybz.dask.read_text(path, size).count().compute()),
            "dask.bag.read_text": lambda: equal(dask.bag.read_text(path, encoding="utf-8").count().compute()),
        }
    if module("ray"):
        import ray.data

        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        ray.data.DataContext.get_current().enable_progress_bars = False
        plain = {"drop_empty_lines": False}
        found["lines in Ray"] = {
            "hybz": lambda: equal(hybz.ray.read_text(path, size=size, **plain).count()),
            "ray.data.read_text": lambda: equal(ray.data.read_text(path, **plain).count()),
        }
    for who in found.values():
        who["hybz"]()
    return found


def compared(path, text, found, rounds):
    """Measures, and prints ratios."""
    for what, who in found.items():
        times = {name: [] for name in who}
        for _ in range(rounds):
            for name, work in who.items():
                begin = time.perf_counter(), time.process_time()
                work()
                times[name].append((time.perf_counter() - begin[0], time.process_time() - begin[1]))
        middle = {name: [statistics.median(side) for side in zip(*pairs)] for name, pairs in times.items()}
        own, cpu = middle.pop("hybz")
        size = RANDOM_READS * 65536 if what.startswith("random") else len(text)
        print(f"{what}: hybz {own:.3f} s ({size / own / 1e6:.0f} MB/s); times as long:")
        for name, (elapsed, used) in middle.items():
            target = TARGETS.get((what, name))
            wanted = "" if target is None else f", {'at least' if elapsed / own >= target else 'MISSED:'} {target}"
            # Work in other processes has no CPU time here.
            in_cpu = f" (CPU {used / cpu:.2f})" if "." not in name and name != "command" else ""
            print(f"  {name} {elapsed / own:.2f}{in_cpu}{wanted}")


def spin(seconds=2):
    """The share of the time given by the system in which a thread that never waits went on. Its waits for a core are
    left out, because they have nothing to do with the interpreter's lock; it was blocked on that lock for the rest."""
    with open("/proc/thread-self/schedstat", "rb") as state:

        def now():
            state.seek(0)
            cpu, queued, _ = map(int, state.read().split())
            return cpu, time.perf_counter_ns() - queued

        cpu, clock = now()
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            pass
        cpu_now, clock_now = now()
        return (cpu_now - cpu) / (clock_now - clock)


def paces(path, text):
    """The pace of such a thread next to a thread that works."""
    with open(path, "rb") as file:
        coded = file.read()

    def pieces(size):
        with hybz.open(path, threads=1) as file:
            while file.read(size):
                pass

    works = {
        "decompress()": lambda: hybz.decompress(coded, threads=1),
        "read()": lambda: pieces(-1),
        "read(1 MiB)": lambda: pieces(1 << 20),
        "read(64 KiB)": lambda: pieces(64 << 10),
        "compress()": lambda: hybz.compress(text, threads=1),
    }
    for name, work in works.items():
        stop = threading.Event()

        def go():
            while not stop.is_set():
                work()

        worker = threading.Thread(target=go)
        worker.start()
        kept = statistics.median(spin() for _ in range(3))
        stop.set()
        worker.join()
        wanted = f"{'at least' if kept >= PACE else 'MISSED:'} {PACE}"
        print(f"a spinning thread beside {name}, one thread: {kept:.3f} of its pace, {wanted}")


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--engines"]
    with open(arguments[0], "rb") as file:
        text = file.read()
    rounds = int(arguments[1]) if len(arguments) > 1 else 3
    print(f"{sys.version.split()[0]}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file.bz2")
        with open(path, "wb") as file:
            file.write(hybz.compress(text))
        compared(path, text, sides(path, text), rounds)
        paces(path, text)
        if "--engines" in sys.argv:
            compared(path, text, engines(path, text), rounds)


if __name__ == "__main__":
    main()
