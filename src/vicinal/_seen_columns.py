"""Rows as the groups of a fitted map see them: columns as they are, by rank, or times what they are worth."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ._calls import kernel_dtype
from ._validation import Matrix


def seen_by(fitted: Any, X: Matrix) -> Matrix:
    """The columns that groups choose from: X's, and beside them, or in their place where all groups see ranks, X's by
    rank; times the roots of `column_weights_`."""
    ranker, weights = getattr(fitted, "ranker_", None), getattr(fitted, "column_weights_", None)
    parts = [X] if ranker is None or fitted.n_ranked_ < fitted.n_groups else []
    if ranker is not None:
        parts.append(ranker.transform(X))
    if weights is not None:
        factors = np.sqrt(weights).astype(kernel_dtype(parts[0].dtype))
        parts = [sp.csr_array(part @ sp.diags_array(factors)) if sp.issparse(X) else part * factors for part in parts]
    return parts[0] if len(parts) == 1 else np.hstack(parts)
