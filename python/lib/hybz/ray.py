"""hybz in Ray: .bz2 files as data sets, a task for each range of the text; compression as tasks."""

import codecs

import pyarrow
import pyarrow.compute
import ray
import ray.data
from ray.data.block import BlockMetadata
from ray.data.datasource import ReadTask

from . import _tasks
from ._ranges import SIZE, check_encoding, estimated_size, ranges_of_all, read_range

__all__ = ["Datasource", "read_text", "compress"]


def _runner(threads, remote_args):
    """Runs tasks in Ray. A task whose worker dies runs again."""
    if threads < 1:
        raise ValueError("threads must be 1 or more: a task gets this many of Ray's CPUs")
    options = {"num_cpus": threads, **(remote_args or {})}

    def run(function, arguments, stop=None):
        remote = ray.remote(**options)(function)
        tasks = [remote.remote(*each) for each in arguments]
        try:
            return ray.get(tasks)
        except BaseException:
            # Of several tasks, those that write are told to end soon, even those that have not begun. (ray.cancel is
            # not used for them: in Ray 2.60 a task that is cancelled while it ends may abort this process, "tried to
            # complete task that was not pending".) Tasks that only read cannot be told, and are left to end by
            # themselves.
            if stop is not None:
                stop()
            if len(tasks) == 1:
                for task in ray.wait(tasks, timeout=0)[1]:
                    ray.cancel(task)
            if stop is not None or len(tasks) == 1:
                ray.wait(tasks, num_returns=len(tasks), fetch_local=False)
            raise

    return run


def _table(each, encoding, drop_empty_lines, threads):
    """The lines of a range as a table, made by Arrow: no line is an object of Python."""
    text = read_range(each, b"\n", threads=threads)
    if not text:
        return pyarrow.table({"text": pyarrow.array([], pyarrow.string())})
    if codecs.lookup(encoding).name not in ("utf-8", "ascii"):
        text = text.decode(encoding).encode()
    if b"\r\n" in text:
        text = text.replace(b"\r\n", b"\n")
    kind = pyarrow.string() if len(text) < 1 << 31 else pyarrow.large_string()
    whole = pyarrow.array([text.removesuffix(b"\n")], pyarrow.large_binary()).cast(pyarrow.large_string())
    lines = pyarrow.compute.split_pattern(whole, "\n").flatten().cast(kind)
    if drop_empty_lines:
        trimmed = pyarrow.compute.utf8_trim_whitespace(lines)
        lines = lines.filter(pyarrow.compute.not_equal(trimmed, ""))
    return pyarrow.table({"text": lines})


class Datasource(ray.data.Datasource):
    """Lines of .bz2 files for ray.data.read_datasource, as text, with a read task for each range of the text.

    paths are any that fsspec knows, also patterns. index is for each file what it is for hybz.ranges: a path, or a list
    of them. Files without one are cut by their compressed bytes, into parts of about size bytes of text.
    """

    def __init__(
        self,
        paths,
        *,
        size=SIZE,
        index=None,
        encoding="utf-8",
        drop_empty_lines=True,
        storage_options=None,
        threads=1,
        ray_remote_args=None,
    ):
        super().__init__()
        check_encoding(encoding)
        run = _runner(threads, ray_remote_args)
        _, planned = ranges_of_all(run, paths, size, index, storage_options, threads)
        self.planned = [each for its in planned for each in its]
        self._how = (encoding, drop_empty_lines, threads)

    def get_name(self):
        """The name of the read tasks."""
        return "HybzText"

    def estimate_inmemory_data_size(self):
        """The number of bytes of text: exact for files with an index, and about four times the file for others."""
        return sum(map(estimated_size, self.planned))

    def get_read_tasks(self, parallelism, per_task_row_limit=None, data_context=None):
        """There is a task for each range, whatever the parallelism, because the caller has asked for the size of
        ranges."""
        how = self._how

        def task(each):
            size = estimated_size(each)
            known = BlockMetadata(num_rows=None, size_bytes=size, exec_stats=None, input_files=[each.path])
            return ReadTask(lambda: [_table(each, *how)], known, per_task_row_limit=per_task_row_limit)

        return [task(each) for each in self.planned]


def read_text(paths, *, threads=1, ray_remote_args=None, **options):
    """The lines of .bz2 files as a data set with a column "text", in the form of ray.data.read_text: without line ends,
    and without empty lines unless drop_empty_lines=False. Lines end at "\\n". options are those of Datasource."""
    source = Datasource(paths, threads=threads, ray_remote_args=ray_remote_args, **options)
    rest = {"num_cpus": threads, **(ray_remote_args or {})}
    remote = {name: rest.pop(name) for name in ("num_cpus", "num_gpus", "memory") if name in rest}
    if rest:
        remote["ray_remote_args"] = rest
    return ray.data.read_datasource(source, override_num_blocks=max(len(source.planned), 1), **remote)


def compress(
    path,
    out,
    compresslevel=9,
    *,
    size=SIZE,
    threads=1,
    storage_options=None,
    out_storage_options=None,
    ray_remote_args=None,
):
    """Compresses the file path to out, with bzip2's exact bytes: one task plans, one task compresses each size bytes of
    text (or some more), and one task joins. Paths may be any that fsspec knows. Until the end, the parts are in a
    folder next to out."""
    run = _runner(threads, ray_remote_args)
    _tasks.compress(run, path, out, compresslevel, size, threads, storage_options, out_storage_options)
