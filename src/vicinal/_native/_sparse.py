"""CSR matrices as the compiled part takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._core import SparseRows


def sparse_rows(X: Any) -> SparseRows:
    """A CSR matrix of doubles, without duplicates, for the compiled products of its rows."""
    columns = X.tocsc()
    wide = np.int64 if max(X.nnz, *X.shape) > np.iinfo(np.int32).max else np.int32
    indices = (part.astype(wide, copy=False) for part in (X.indices, X.indptr, columns.indices, columns.indptr))
    row_columns, row_starts, column_rows, column_starts = indices
    return SparseRows(X.data, row_columns, row_starts, columns.data, column_rows, column_starts)
