"""What calls of the compiled part share: rows as it takes them, number types, threads, and who is told of progress."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import joblib
import numpy as np
import scipy.sparse as sp

from ._validation import Matrix

_callback: ContextVar[Callable[[float], object] | None] = ContextVar("callback", default=None)


@contextmanager
def watching(callback: Callable[[float], object]) -> Iterator[None]:
    """Within it, long searches call ``callback(share of the work that is done)`` now and then."""
    token = _callback.set(callback)
    try:
        yield
    finally:
        _callback.reset(token)


def current_callback() -> Callable[[float], object] | None:
    """Whom `watching` has asked to call."""
    return _callback.get()


def kernel_dtype(dtype: np.dtype) -> np.dtype:
    """Single precision for float32 and for the integers that it holds exactly, double for all else."""
    return np.dtype(np.float32 if np.can_cast(dtype, np.float32) else np.float64)


def n_threads(n_jobs: int | None) -> int:
    """None is all cores, as in scikit-learn's compiled loops, or what OMP_NUM_THREADS (which joblib sets) allows.

    Threads, unlike joblib's workers, may run in any process, so that joblib is not asked how many it would start.
    """
    if n_jobs is not None:
        if not isinstance(n_jobs, int | np.integer) or isinstance(n_jobs, bool) or n_jobs == 0:
            raise ValueError(f"n_jobs must be a number of threads, or -1 for all cores; got {n_jobs!r}.")
        return n_jobs if n_jobs > 0 else max(1, joblib.cpu_count() + 1 + n_jobs)
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return min(joblib.cpu_count(), int(limit)) if limit.isdigit() and int(limit) > 0 else joblib.cpu_count()


def as_native(X: Matrix) -> Any:
    """X as the kernel takes it; indices that point nowhere would be read all the same, so they are refused here."""
    if not sp.issparse(X):
        return X
    X.check_format(full_check=True)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    parts = X.data, X.indices, X.indptr.astype(X.indices.dtype, copy=False)
    return *map(np.ascontiguousarray, parts), X.shape[1]
