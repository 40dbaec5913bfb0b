"""Compression as tasks of any engine: plan, a task for each shard, join. Each task can run twice or be run again."""

import errno
import os
import uuid
from functools import partial

from . import _hybz
from ._file import _name, _source
from ._ranges import SIZE, absolute, filesystem, opened


# A file in the folder of parts that exists as long as the parts are wanted. (An object store has no empty folders.)
_WANTED = "wanted"


class Stopped(OSError):
    """Another task has failed, and this task's output is no longer wanted."""


def start(folder, options):
    """Makes the folder of parts. No task makes it, so a late task cannot recreate a removed folder."""
    fs, there = filesystem(folder, options)
    fs.makedirs(there, exist_ok=True)
    fs.touch(f"{there}/{_WANTED}")


def stop(folder, options):
    """Makes all tasks that work for the folder end soon."""
    fs, there = filesystem(folder, options)
    try:
        fs.rm_file(f"{there}/{_WANTED}")
    except FileNotFoundError:
        pass


def _remove(folder, options):
    fs, there = filesystem(folder, options)
    fs.invalidate_cache(there)
    if fs.exists(there):
        fs.rm(there, recursive=True)


def _check_wanted(fs, folder):
    # Another process has removed it.
    fs.invalidate_cache(folder)
    if not fs.exists(f"{folder}/{_WANTED}"):
        raise Stopped(errno.ENOENT, "The compression has been given up", folder)


def plan(path, compresslevel, size, options):
    """The shards of a file: (offset, length, blocks, CRC). Reads the file once."""
    with opened(path, options) as file:
        return _hybz.plan(*_source(file), compresslevel, size, _name(file))


def part(path, shard, compresslevel, threads, options, folder, number, out_options):
    """Compresses a shard into folder/number: a file of that name is always complete."""
    offset, length, blocks, crc = shard
    fs, there = filesystem(folder, out_options)
    _check_wanted(fs, there)
    with opened(path, options) as file:
        file.seek(offset)
        text = file.read(length)
    coded = _hybz.compress(text, compresslevel, threads=threads)
    try:
        # The joiner checks whether the blocks are those of the plan.
        _hybz.Joiner(compresslevel).part(blocks, crc, coded)
    except ValueError:
        raise OSError(f"{path} has changed since it was planned") from None
    _check_wanted(fs, there)
    _write(fs, f"{there}/{number}", there, [coded])


def join(shards, compresslevel, folder, out, out_options):
    """Joins the parts to out: the file of that name is always the complete result or the earlier file."""
    fs, there = filesystem(folder, out_options)

    def pieces():
        joiner = _hybz.Joiner(compresslevel)
        for number, (_, _, blocks, crc) in enumerate(shards):
            try:
                yield joiner.part(blocks, crc, fs.cat_file(f"{there}/{number}"))
            except (OSError, ValueError) as error:
                error.add_note(f"part: {folder}/{number}")
                raise
        yield joiner.finish()

    _write(fs, filesystem(out, out_options)[1], there, pieces())


def _write(fs, path, folder, pieces):
    """Writes a file under another name and then renames it. A task that dies before the rename has written nothing."""
    temporary = f"{folder}/{uuid.uuid4().hex}"
    with fs.open(temporary, "wb") as file:
        for piece in pieces:
            file.write(piece)
    if _is_local(fs):
        os.replace(temporary, path)
    else:
        fs.mv(temporary, path)


def _is_local(fs):
    return "file" in ([fs.protocol] if isinstance(fs.protocol, str) else fs.protocol)


def _check_out(path, options, out, out_options):
    """A result that would destroy the source, or that could not get its name in the end, is an error before any
    work."""
    source_fs, source = filesystem(path, options)
    fs, there = filesystem(out, out_options)
    if type(fs) is type(source_fs) and there == source:
        raise ValueError(f"{out} is the file to compress")
    if fs.isdir(there):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), out)
    if _is_local(fs) and os.path.exists(there):
        if _is_local(source_fs) and os.path.exists(source) and os.path.samefile(source, there):
            raise ValueError(f"{out} is the file to compress")
        if not os.path.isfile(there):
            raise ValueError(f"{out} is not a regular file")


def compress(run, path, out, compresslevel=9, size=SIZE, threads=1, storage_options=None, out_storage_options=None):
    """Compresses path to out by tasks. run(function, arguments, stop) runs a task for each tuple of arguments,
    somewhere, and returns the list of their results. If a task fails, it calls stop, and raises the error when no other
    task runs any more, because nothing may be written once the folder is removed."""
    if size < 1:
        raise ValueError("size must be 1 or more")
    if not 1 <= compresslevel <= 9:
        raise ValueError("compresslevel must be between 1 and 9")
    path, out = absolute(path), absolute(out)
    if out_storage_options is None:
        out_storage_options = storage_options
    _check_out(path, storage_options, out, out_storage_options)
    # In the result's directory, so that the result can get its name by a rename.
    folder = f"{out}.parts-{uuid.uuid4().hex}"
    stopping = partial(stop, folder, out_storage_options)
    [shards] = run(plan, [(path, compresslevel, size, storage_options)], stopping)
    try:
        start(folder, out_storage_options)
        tail = (compresslevel, threads, storage_options, folder)
        run(part, [(path, shard, *tail, number, out_storage_options) for number, shard in enumerate(shards)], stopping)
        run(join, [(shards, compresslevel, folder, out, out_storage_options)], stopping)
    finally:
        _remove(folder, out_storage_options)


def caught(function, arguments, stop):
    """A task that never fails, for engines that cannot wait for the others when one fails: (its result, its error)."""
    try:
        return function(*arguments), None
    except Exception as error:
        stop()
        return None, error


def first_error(errors):
    """The error that made the other tasks stop, among the errors of tasks in any order."""
    return next((error for error in errors if not isinstance(error, Stopped)), errors[0])
