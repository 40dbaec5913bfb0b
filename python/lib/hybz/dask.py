"""hybz in Dask: .bz2 files as bags and blocks of bytes, a task for each range of the text; compression as tasks."""

import codecs
import io

import dask
import dask.bag
from dask.delayed import delayed
from dask.utils import parse_bytes

from . import _tasks
from ._file import BZ2File
from ._ranges import check_encoding, expand, opened, ranges_of_all, read_range

__all__ = ["read_bytes", "read_text", "read_csv", "read_json", "compress"]


def _run(function, arguments):
    """Runs tasks, wherever Dask runs them."""
    return dask.compute(*(delayed(function, pure=False)(*each) for each in arguments))


def _run_to_the_end(function, arguments, stop):
    """Runs tasks in Dask distributed. If a task fails, the others are over when its error is raised. (Dask itself drops
    the results of tasks that go on running, and does not tell when they end.)"""
    client = _client()
    if client is None:
        done = _run(_tasks.caught, [(function, each, stop) for each in arguments])
        if errors := [error for _, error in done if error is not None]:
            raise _tasks.first_error(errors)
        return [result for result, _ in done]
    from distributed import as_completed, wait

    futures = client.compute([delayed(function, pure=False)(*each) for each in arguments])
    try:
        for future in as_completed(futures):
            if future.status != "finished":
                break
        else:
            return client.gather(futures)
    except BaseException:
        stop()
        wait(futures)
        raise
    stop()
    wait(futures)
    raise _tasks.first_error([future.exception() for future in futures if future.status != "finished"])


def _client():
    """The client of Dask distributed that runs tasks now, if there is one."""
    client = getattr(dask.base.get_scheduler(), "__self__", None)
    return client if hasattr(client, "scheduler_info") else None


def _planned(urlpath, blocksize, index, options, threads):
    if blocksize is None:
        blocksize = 1 << 62  # more bytes than any file has
    size = parse_bytes(blocksize) if isinstance(blocksize, str) else int(blocksize)
    return ranges_of_all(_run, urlpath, size, index, options, threads)


def read_bytes(
    urlpath,
    delimiter=None,
    blocksize="64 MiB",
    sample="10 kiB",
    include_path=False,
    *,
    index=None,
    storage_options=None,
    threads=1,
):
    """The text of .bz2 files in blocks, in the form of dask.bytes.read_bytes for plain files: (sample, blocks[,
    paths]).

    blocks has for each file a list of delayed bytes: one item if blocksize is None. With a delimiter they have whole
    records. index is a path as for hybz.ranges, or a list with one for each file.
    """
    paths, planned = _planned(urlpath, blocksize, index, storage_options, threads)
    read = delayed(read_range)
    blocks = [[read(each, delimiter, threads=threads) for each in its] for its in planned]
    head = b""
    if sample:
        size = 10 << 10 if sample is True else parse_bytes(sample) if isinstance(sample, str) else sample
        head = _sample(paths[0], delimiter, size, storage_options)
    return (head, blocks, paths) if include_path else (head, blocks)


def _sample(path, delimiter, size, options):
    with opened(path, options) as coded, BZ2File(coded, threads=1) as file:
        head = file.read(size)
        while delimiter and not head.endswith(delimiter) and (more := file.readline() or file.read(size)):
            head += more
            if (found := head.find(delimiter, max(size - len(delimiter), 0))) >= 0:
                return head[: found + len(delimiter)]
        return head


def _check_delimiter(delimiter, encoding):
    """The line end is looked for in bytes, and must not occur inside or across characters of several bytes."""
    if delimiter in (None, "", "\n"):
        return
    if delimiter in ("\r", "\r\n"):
        if delimiter.encode(encoding) != delimiter.encode():
            raise ValueError(f"lines in {encoding} can be cut at \\n only")
        return
    delimiter.encode(encoding)
    codec = codecs.lookup(encoding)
    if codec.name == "utf-8":
        return
    for byte in range(256):
        try:
            # If the text is empty, the decoder waits for the next byte.
            one = codec.incrementaldecoder is not None and codec.incrementaldecoder().decode(bytes([byte]))
        except UnicodeDecodeError:
            continue
        if not one:
            raise ValueError(f"lines in {encoding} can be cut at \\n only")


def _lines(each, encoding, errors, delimiter, path, threads):
    """The lines of a range, in the form of dask.bag.read_text."""
    record_end = delimiter or "\n"
    coded = read_range(each, record_end.encode(encoding), threads=threads)
    text = "" if delimiter in ("\r", "\r\n") else coded.decode(encoding, errors)
    if delimiter in ("\r", "\r\n"):
        # A StringIO would translate each "\n".
        lines = list(io.TextIOWrapper(io.BytesIO(coded), encoding, errors, newline=delimiter))
    elif record_end == "\n":
        lines = list(io.StringIO(text, newline=delimiter))
    else:
        lines = [line + record_end for line in text.split(record_end)]
        # The text after the last line end has none.
        lines[-1] = lines[-1][: -len(record_end)]
        lines = lines if lines[-1] else lines[:-1]
    return lines if path is None else [(line, path) for line in lines]


def read_text(
    urlpath,
    blocksize="64 MiB",
    encoding="utf-8",
    errors="strict",
    linedelimiter=None,
    collection=True,
    include_path=False,
    *,
    index=None,
    storage_options=None,
    threads=1,
):
    """The lines of .bz2 files as a bag with a partition for each range of the text, in the form of dask.bag.read_text.
    With a blocksize of None there is one partition for each file.

    index is a path as for hybz.ranges, or a list with one for each file. threads is the number of threads of a task.
    """
    check_encoding(encoding)
    _check_delimiter(linedelimiter, encoding)
    paths, planned = _planned(urlpath, blocksize, index, storage_options, threads)
    read, blocks = delayed(_lines), []
    for path, its in zip(paths, planned):
        name = path if include_path else None
        blocks += [read(each, encoding, errors, linedelimiter, name, threads) for each in its]
    blocks = blocks or [delayed(list)(())]
    return dask.bag.from_delayed(blocks) if collection else blocks


def read_csv(urlpath, blocksize="64 MiB", *, index=None, storage_options=None, threads=1, **options):
    """A dataframe of .bz2 files of CSV with the same columns, with a partition for each block, as
    dask.dataframe.read_csv has it of plain files.

    options are those of pandas.read_csv. Types come from the first 256 kB of text, unless dtype= gives them; a block
    with others is an error. Fields in quotes have no line ends.
    """
    import pandas

    if refused := {"skiprows", "nrows", "skipfooter", "chunksize", "iterator", "index_col"} & options.keys():
        raise ValueError(f"{', '.join(sorted(refused))} cannot be used with blocks")
    if options.get("header", "infer") not in ("infer", 0, None):
        raise ValueError("the header is the first line, or None")
    head, header = _head(urlpath, storage_options), b""
    if options.get("header", "infer") is not None and "names" not in options:
        header = head[: head.find(b"\n") + 1]
    meta = pandas.read_csv(io.BytesIO(head), **options).head(0)
    return _dataframe(_csv_frame, urlpath, blocksize, index, storage_options, threads, (header, options, meta))


def read_json(urlpath, blocksize="64 MiB", *, index=None, storage_options=None, threads=1, **options):
    """A dataframe of .bz2 files with a JSON object in each line. options are those of pandas.read_json."""
    import pandas

    options = {"lines": True, **options}
    meta = pandas.read_json(io.BytesIO(_head(urlpath, storage_options)), **options).head(0)
    return _dataframe(_json_frame, urlpath, blocksize, index, storage_options, threads, (options, meta))


def _head(urlpath, storage_options):
    path = expand(urlpath, storage_options)[0]
    return _sample(path, b"\n", 256 << 10, storage_options)


def _dataframe(frame, urlpath, blocksize, index, storage_options, threads, how):
    import dask.dataframe

    _, planned = _planned(urlpath, blocksize, index, storage_options, threads)
    make = delayed(frame, pure=False)
    parts = [make(each, number == 0, threads, *how) for its in planned for number, each in enumerate(its)]
    return dask.dataframe.from_delayed(parts, meta=how[-1], verify_meta=False)


def _csv_frame(each, is_first, threads, header, options, meta):
    import pandas

    text = read_range(each, b"\n", threads=threads)
    if not text:
        return meta
    # The first block of a file has the header itself.
    text = text if is_first else header + text
    return _typed(pandas.read_csv(io.BytesIO(text), **options), meta)


def _json_frame(each, _, threads, options, meta):
    import pandas

    text = read_range(each, b"\n", threads=threads)
    return _typed(pandas.read_json(io.BytesIO(text), **options), meta) if text else meta


def _typed(frame, meta):
    """A block with the columns and types of the first lines."""
    try:
        return frame[meta.columns].astype(meta.dtypes)
    except (KeyError, TypeError, ValueError) as error:
        error.add_note("the block has other types or columns than the first lines: give dtype=")
        raise


def compress(path, out, compresslevel=9, *, size="64 MiB", threads=1, storage_options=None, out_storage_options=None):
    """Compresses the file path to out, with bzip2's exact bytes: one task plans, one task compresses each size bytes of
    text (or some more), and one task joins. Paths may be any that fsspec knows. Until the end, the parts are in a
    folder next to out."""
    size = parse_bytes(size) if isinstance(size, str) else int(size)
    _tasks.compress(_run_to_the_end, path, out, compresslevel, size, threads, storage_options, out_storage_options)
