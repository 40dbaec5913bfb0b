import os
from collections.abc import Sequence
from typing import Any

import ray.data  # type: ignore

from ._ranges import Range

_Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

__all__ = ["Datasource", "read_text", "compress"]

class Datasource(ray.data.Datasource):
    planned: list[Range]
    def __init__(
        self,
        paths: _Paths,
        *,
        size: int = 67108864,
        index: _Paths | None = None,
        encoding: str = "utf-8",
        drop_empty_lines: bool = True,
        storage_options: dict[str, Any] | None = None,
        threads: int = 1,
        ray_remote_args: dict[str, Any] | None = None,
    ) -> None: ...
    def get_name(self) -> str: ...
    def estimate_inmemory_data_size(self) -> int: ...
    def get_read_tasks(
        self, parallelism: int, per_task_row_limit: int | None = None, data_context: Any = None
    ) -> list[Any]: ...

def read_text(
    paths: _Paths, *, threads: int = 1, ray_remote_args: dict[str, Any] | None = None, **options: Any
) -> ray.data.Dataset: ...
def compress(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    compresslevel: int = 9,
    *,
    size: int = 67108864,
    threads: int = 1,
    storage_options: dict[str, Any] | None = None,
    out_storage_options: dict[str, Any] | None = None,
    ray_remote_args: dict[str, Any] | None = None,
) -> None: ...
