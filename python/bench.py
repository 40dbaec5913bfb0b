"""Ratios of hybz to other modules on this machine: python/bench.py FILE [ROUNDS]

FILE is plain, some tens of MB. Each round measures all sides, one after the other; medians of rounds, elapsed and
CPU time (on a busy machine the latter is the fairer: short work is interrupted less). Every output is compared. Modules
that are missing are left out.
"""

import bz2
import importlib
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import hybz

RANDOM_READS = 40


def sides(path, text):
    """What is measured, as {what: {who: function}}; the first of each is what the others are compared with."""

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

    with hybz.open(path) as file:
        offsets = file.block_offsets()
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
    with open(path, "rb") as file:
        coded = file.read()
    for name in ("indexed_bzip2", "rapidgzip"):
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        opened = getattr(module, "IndexedBzip2File")
        found["decompress, one thread"][name] = lambda opened=opened: whole(opened(path, parallelization=1))
        found["random reads of 64 KiB"][name] = lambda opened=opened: reads(
            opened(path, parallelization=os.cpu_count()), offsets
        )
    return found


FOREVER = "import sys, hybz; data = open(sys.argv[1], 'rb').read()\nwhile True: hybz.decompress(data, threads=1)"


def pace():
    """How often a loop of Python goes round in a second."""
    rounds, end = 0, time.perf_counter() + 1
    while time.perf_counter() < end:
        rounds += 1
    return rounds


def kept_pace(path):
    """The pace of a thread beside decompress() in another thread, to that beside the same work in another process. So
    what the cores are short of is not counted, only what the threads of one interpreter take from each other."""
    with open(path, "rb") as file:
        coded = file.read()
    other = subprocess.Popen([sys.executable, "-c", FOREVER, path])
    time.sleep(0.5)
    beside_process = pace()
    other.kill()
    other.wait()
    stop = threading.Event()

    def go():
        while not stop.is_set():
            hybz.decompress(coded, threads=1)

    worker = threading.Thread(target=go)
    worker.start()
    beside_thread = pace()
    stop.set()
    worker.join()
    return beside_thread / beside_process


def main():
    with open(sys.argv[1], "rb") as file:
        text = file.read()
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.NamedTemporaryFile(suffix=".bz2") as file:
        file.write(hybz.compress(text))
        file.flush()
        for what, who in sides(file.name, text).items():
            times = {name: [] for name in who}
            for _ in range(rounds):
                for name, work in who.items():
                    begin = time.perf_counter(), time.process_time()
                    work()
                    times[name].append((time.perf_counter() - begin[0], time.process_time() - begin[1]))
            middle = {name: [statistics.median(side) for side in zip(*pairs)] for name, pairs in times.items()}
            own, cpu = middle.pop("hybz")
            others = [f"{name} {t / own:.2f} (CPU {c / cpu:.2f})" for name, (t, c) in middle.items()]
            print(f"{what}: hybz {own:.3f} s ({len(text) / own / 1e6:.0f} MB/s); times as long: {', '.join(others)}")
        kept = statistics.median(kept_pace(file.name) for _ in range(rounds))
        print(f"a spinning thread beside decompress(), one thread: {kept:.2f} of its pace beside another process")


if __name__ == "__main__":
    main()
