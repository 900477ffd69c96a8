"""How many rows differ from each other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from .._validation import Matrix, canonical


def count_distinct(rows: Matrix, *, enough: int) -> int:
    """The number of rows that differ, counted no further than `enough`. Missing values are equal to each other."""
    seen: set[bytes] = set()
    for row in _as_bytes(rows):
        seen.add(row)
        if len(seen) >= enough:
            break
    return len(seen)


def _as_bytes(rows: Matrix) -> Iterator[bytes]:
    if not sp.issparse(rows):
        yield from (_bytes(row) for row in rows)
        return
    rows = canonical(rows)
    for start, end in zip(rows.indptr, rows.indptr[1:], strict=False):
        values = rows.data[start:end]
        kept = values != 0
        yield rows.indices[start:end][kept].tobytes() + _bytes(values[kept])


def _bytes(values: np.ndarray) -> bytes:
    """With one zero and one NaN, of which there are several."""
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), np.nan, values + 0.0)
    return values.tobytes()
