"""Runs indexed_bzip2, rapidgzip and ratarmount on files and on our offsets. Called by tests/library/seek/peers.rs:

python3 peers.py packages                       the packages that are there
python3 peers.py offsets FILE                   the offsets that both find, as lines; fails if they differ
python3 peers.py read FILE OFFSETS TEXT         both read TEXT at random places by these offsets
python3 peers.py ratarmount TAR.bz2 OFFSETS     lists and reads a tar by these offsets, in place of its own
"""

import importlib.util
import random
import sys


def readers(path):
    import indexed_bzip2
    import rapidgzip

    # With two threads: the serial reader has other quirks.
    yield indexed_bzip2.IndexedBzip2File(path, parallelization=2)
    yield rapidgzip.IndexedBzip2File(path, parallelization=2)


def lines(offsets):
    return "".join(f"{bits},{text}\n" for bits, text in sorted(offsets.items()))


def parsed(path):
    pairs = (line.split(",") for line in open(path))
    return {int(bits): int(text) for bits, text in pairs}


def offsets(path):
    first, second = (lines(reader.block_offsets()) for reader in readers(path))
    assert first == second, (first, second)
    print(first, end="")


def read(path, offsets_path, text_path):
    text = open(text_path, "rb").read()
    for reader in readers(path):
        reader.set_block_offsets(parsed(offsets_path))
        assert reader.block_offsets_complete()
        generator = random.Random(7)
        for _ in range(20 if len(text) > 10_000_000 else 200):
            at = generator.randrange(len(text) + 1)
            length = generator.choice([1, 100, 65536])
            reader.seek(at)
            assert reader.read(length) == text[at : at + length], at
        reader.close()


def ratarmount(path, offsets_path):
    import os
    import sqlite3

    from ratarmountcore.mountsource.factory import open_mount_source

    def opened():
        return open_mount_source(path, writeIndex=True, indexFilePath=path + ".sqlite", printDebug=0)

    def walk(source, folder=""):
        for name, info in sorted(source.list(folder or "/").items()):
            if source.list(f"{folder}/{name}"):
                yield from walk(source, f"{folder}/{name}")
            else:
                info = source.lookup(f"{folder}/{name}")
                with source.open(info) as file:
                    yield f"{folder}/{name}", file.read()

    opened().__exit__(None, None, None)
    database = sqlite3.connect(path + ".sqlite")
    before = dict(database.execute("SELECT blockoffset, dataoffset FROM bzip2blocks"))
    database.execute("DELETE FROM bzip2blocks")
    ours = parsed(offsets_path)
    database.executemany("INSERT INTO bzip2blocks VALUES (?, ?)", ours.items())
    database.commit()
    database.close()
    # ratarmount's own offsets come from the serial reader, which has no line for the end of the data.
    assert sorted(ours.items())[:-1] == sorted(before.items()), (ours, before)
    source = opened()
    # ratarmount has used our offsets: otherwise it would have made its own.
    assert dict(source.tarFileObject.block_offsets()) == ours
    for name, data in walk(source):
        print(name, len(data), sum(data) % 65521)
    os.remove(path + ".sqlite")


def packages():
    names = ["indexed_bzip2", "rapidgzip", "ratarmountcore"]
    print(" ".join(name for name in names if importlib.util.find_spec(name)))


{"packages": packages, "offsets": offsets, "read": read, "ratarmount": ratarmount}[sys.argv[1]](*sys.argv[2:])
