"""Compression as tasks of whatever engine: plan, a task for each shard, join. Each can run twice or be run again."""

import uuid

from . import _hybz
from ._file import _source
from ._ranges import SIZE, absolute, filesystem, opened


def plan(path, compresslevel, size, options):
    """The shards of a file: (offset, length, blocks, CRC). Reads the file once."""
    with opened(path, options) as file:
        return _hybz.plan(*_source(file), compresslevel, size)


def part(path, shard, compresslevel, threads, options, folder, number, out_options):
    """Compresses a shard into folder/number: under that name there is all of it or nothing."""
    offset, length, blocks, crc = shard
    with opened(path, options) as file:
        file.seek(offset)
        text = file.read(length)
    coded = _hybz.compress(text, compresslevel, threads=threads)
    try:
        # The joiner sees whether the blocks are those of the plan.
        _hybz.Joiner(compresslevel).part(blocks, crc, coded)
    except ValueError:
        raise OSError(f"{path} has changed since it was planned") from None
    fs, there = filesystem(folder, out_options)
    _write(fs, f"{there}/{number}", there, [coded])


def join(shards, compresslevel, folder, out, out_options):
    """Joins the parts to out: under that name there is all of it or what was there before."""
    fs, there = filesystem(folder, out_options)

    def pieces():
        joiner = _hybz.Joiner(compresslevel)
        for number, (_, _, blocks, crc) in enumerate(shards):
            yield joiner.part(blocks, crc, fs.cat_file(f"{there}/{number}"))
        yield joiner.finish()

    _write(fs, filesystem(out, out_options)[1], there, pieces())


def _write(fs, path, folder, pieces):
    """Writes a file under another name and gives it its own then. Whoever dies before has written nothing."""
    fs.makedirs(folder, exist_ok=True)
    temporary = f"{folder}/{uuid.uuid4().hex}"
    with fs.open(temporary, "wb") as file:
        for piece in pieces:
            file.write(piece)
    fs.mv(temporary, path)


def compress(run, path, out, compresslevel=9, size=SIZE, threads=1, storage_options=None, out_storage_options=None):
    """Compresses path to out by tasks. run(function, arguments) runs a task for each tuple of arguments, somewhere, and
    returns the list of their results."""
    if size < 1:
        raise ValueError("size must be 1 or more")
    if not 1 <= compresslevel <= 9:
        raise ValueError("compresslevel must be between 1 and 9")
    path, out = absolute(path), absolute(out)
    if out_storage_options is None:
        out_storage_options = storage_options
    # Beside the result, so that it can get its name by a rename.
    folder = f"{out}.parts-{uuid.uuid4().hex}"
    try:
        [shards] = run(plan, [(path, compresslevel, size, storage_options)])
        tail = (compresslevel, threads, storage_options, folder)
        run(part, [(path, shard, *tail, number, out_storage_options) for number, shard in enumerate(shards)])
        run(join, [(shards, compresslevel, folder, out, out_storage_options)])
    finally:
        fs, there = filesystem(folder, out_storage_options)
        fs.invalidate_cache()
        if fs.exists(there):
            fs.rm(there, recursive=True)
