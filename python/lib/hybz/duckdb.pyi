import os
from collections.abc import Sequence
from typing import Any

_Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

__all__ = ["read_csv", "read_json"]

# DuckDB need not be installed for these: results are Any.
def read_csv(
    paths: _Paths,
    *,
    connection: Any = None,
    storage_options: dict[str, Any] | None = None,
    threads: int = 0,
    **options: Any,
) -> Any: ...
def read_json(
    paths: _Paths,
    *,
    connection: Any = None,
    storage_options: dict[str, Any] | None = None,
    threads: int = 0,
    **options: Any,
) -> Any: ...
