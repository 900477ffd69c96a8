"""What calls of the compiled part share: rows as it takes them, number types, threads and a progress callback."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from functools import cache, partial, wraps
from inspect import isfunction
from threading import Lock
from typing import Any, TypeVar

import joblib
import numpy as np
import scipy.sparse as sp
import sklearn
from threadpoolctl import ThreadpoolController

from ._validation import Matrix, all_or_nothing

Kind = TypeVar("Kind")
Item = TypeVar("Item")
Found = TypeVar("Found")

_limit: ContextVar[int | None] = ContextVar("limit", default=None)
_callback: ContextVar[Callable[[float], object] | None] = ContextVar("callback", default=None)


@contextmanager
def watching(callback: Callable[[float], object] | None) -> Iterator[None]:
    """Within it, long searches call ``callback(share of the work that is done)`` now and then; none does with None."""
    token = _callback.set(callback)
    try:
        yield
    finally:
        _callback.reset(token)


def current_callback() -> Callable[[float], object] | None:
    """The callback of the innermost `watching`, or None."""
    return _callback.get()


def kernel_dtype(dtype: np.dtype) -> np.dtype:
    """Single precision for float32 and for the integers that it holds exactly, double for all else."""
    return np.dtype(np.float32 if np.can_cast(dtype, np.float32) else np.float64)


def n_threads(n_jobs: int | None) -> int:
    """The number of threads that `n_jobs` stands for.

    None stands for the limit of `limited_threads` or else for all cores, as in scikit-learn's compiled loops, or for
    fewer if OMP_NUM_THREADS (which joblib sets) says so. Threads, unlike joblib's workers, may run in any process, so
    that joblib is not asked how many it would start.
    """
    if n_jobs is not None:
        if not isinstance(n_jobs, int | np.integer) or isinstance(n_jobs, bool) or n_jobs == 0:
            raise ValueError(f"n_jobs must be a number of threads, or -1 for all cores; got {n_jobs!r}.")
        return n_jobs if n_jobs > 0 else max(1, joblib.cpu_count() + 1 + n_jobs)
    within = _limit.get()
    if within is not None:
        return within
    limit = os.environ.get("OMP_NUM_THREADS", "")
    return min(joblib.cpu_count(), int(limit)) if limit.isdigit() and int(limit) > 0 else joblib.cpu_count()


class _BlasLimit:
    """The number of BLAS threads, which belongs to the process: the smallest of all limits that are in force.

    Calls of several Python threads begin and end in any order; after the last one, the number from before the first
    is restored.
    """

    def __init__(self) -> None:
        self.lock, self.counts = Lock(), list[int]()
        self.before: Any = None

    @contextmanager
    def at_most(self, count: int) -> Iterator[None]:
        pools = _pools().select(user_api="blas")
        with self.lock:
            self.counts.append(count)
            limit = pools.limit(limits=min(self.counts))
            self.before = limit if self.before is None else self.before
        try:
            yield
        finally:
            with self.lock:
                self.counts.remove(count)
                if self.counts:
                    pools.limit(limits=min(self.counts))
                else:
                    self.before.restore_original_limits()
                    self.before = None


_blas = _BlasLimit()
one_blas_thread = partial(_blas.at_most, 1)  # where products are thin: more would wait for each other


@cache
def _pools() -> ThreadpoolController:
    """The libraries with threads of their own. Looking for them takes a millisecond; all are loaded by now."""
    return ThreadpoolController()


@contextmanager
def limited_threads(n_jobs: int | None) -> Iterator[None]:
    """Within it, the compiled part, BLAS and OpenMP have `n_jobs` threads, unless a call has a number of its own."""
    if n_jobs is None:
        yield
        return
    count = n_threads(n_jobs)
    token = _limit.set(count)
    try:
        with _blas.at_most(count), _pools().select(user_api="openmp").limit(limits=count):
            yield
    finally:
        _limit.reset(token)


def side_by_side(work: Callable[[Item], Found], items: Sequence[Item]) -> list[Found]:
    """What ``work(item)`` returns for each item, in as many threads as there may be, of one thread each.

    Work that is small or half in Python gains more by this than by threads of its own.
    """
    workers = min(n_threads(None), len(items))
    if workers <= 1:
        return [work(item) for item in items]
    config = sklearn.get_config()

    def alone(context: Context, item: Item) -> Found:
        with sklearn.config_context(**config):
            return context.run(work, item)

    with limited_threads(1), ThreadPoolExecutor(workers) as pool:
        waiting = [pool.submit(alone, copy_context(), item) for item in items]
        try:
            return [found.result() for found in waiting]
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


PARALLEL = (
    "fit",
    "partial_fit",
    "fit_transform",
    "transform",
    "inverse_transform",
    "predict",
    "predict_proba",
    "decision_function",
    "score_samples",
    "strangeness_by_cell",
    "kernel",
    "apply",
    "embedding_error",
    "error_bound",
    "score_distances",
    "orthogonal_distances",
    "flag_outliers",
)


def obeys_n_jobs(kind: type[Kind]) -> type[Kind]:
    """Makes the methods of a class that compute keep to the estimator's `n_jobs`.

    Limits are lifted after a method has ended: until then, a fit that is interrupted leaves the estimator as it was.
    """

    def limited(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def keeping(self: Any, *args: Any, **kwargs: Any) -> Any:
            with limited_threads(getattr(self, "n_jobs", None)):
                return method(self, *args, **kwargs)

        return keeping

    for name in PARALLEL:
        if isfunction(vars(kind).get(name)):
            method = limited(vars(kind)[name])
            setattr(kind, name, all_or_nothing(method) if "fit" in name else method)
    return kind


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
