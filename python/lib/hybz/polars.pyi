import os
from collections.abc import Sequence
from typing import Any

_Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

__all__ = ["scan_csv"]

# Polars need not be installed for these: results are Any.
def scan_csv(
    paths: _Paths,
    *,
    size: int = ...,
    storage_options: dict[str, Any] | None = None,
    threads: int = 0,
    **options: Any,
) -> Any: ...
