"""Tables nobody would choose: values at the edges of what numbers can be, in every container that is accepted."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp
from hypothesis import strategies as st

VALUES = ("ordinary", "few", "repeated", "constant", "zeros", "columns apart", "tiny", "huge", "far", "sparse")
TYPES = ("float64", "float32", "int64", "int32", "int8", "uint8", "bool")
DENSE = ("C", "F", "strided", "read-only", "pandas", "polars")
SPARSE = ("csr_array", "csr_matrix", "unsorted", "duplicates", "explicit zeros", "64 bit indices", "csc", "coo")
SHAPES = ((1, 1), (1, 4), (2, 1), (2, 2), (3, 5), (6, 1), (8, 3), (12, 4), (5, 20), (30, 2), (25, 9))


@dataclass(frozen=True)
class Table:
    """Reads as what was drawn, so that a failure can be repeated by hand: ``Table(...).rows()``."""

    shape: tuple[int, int] = (8, 3)
    values: str = "ordinary"
    dtype: str = "float64"
    container: str = "C"
    missing: float = 0.0
    positive: bool = False
    seed: int = 0

    def dense(self):
        rng = np.random.default_rng(self.seed)
        X = _VALUES[self.values](rng, self.shape)
        if self.positive:
            X = np.abs(X)
        with np.errstate(over="ignore", invalid="ignore"):
            X = _as_type(X, self.dtype)
        if self.missing and X.dtype.kind == "f":
            X[rng.random(self.shape) < self.missing] = np.nan
        return X

    def rows(self):
        return _CONTAINERS[self.container](self.dense())

    def labels(self):
        """Two classes; of one row, one."""
        return np.arange(self.shape[0]) % 2

    @property
    def is_sparse(self):
        return self.container in SPARSE


def _as_type(X, dtype):
    if dtype == "bool":
        return X > 0
    if np.dtype(dtype).kind in "iu":
        bounds = np.iinfo(dtype)
        return np.clip(np.round(4 * X), max(bounds.min, -(2**53)), min(bounds.max, 2**53)).astype(dtype)
    bounds = np.finfo(dtype)
    return np.clip(X, bounds.min, bounds.max).astype(dtype)


_VALUES = {
    "ordinary": lambda rng, shape: rng.standard_normal(shape),
    "few": lambda rng, shape: rng.integers(-1, 2, shape).astype(float),
    "repeated": lambda rng, shape: rng.standard_normal(shape)[rng.integers(0, max(1, shape[0] // 3), shape[0])],
    "constant": lambda rng, shape: np.full(shape, rng.standard_normal()),
    "zeros": lambda rng, shape: np.zeros(shape),
    "columns apart": lambda rng, shape: rng.standard_normal(shape) * 10.0 ** rng.integers(-300, 301, shape[1]),
    "tiny": lambda rng, shape: rng.standard_normal(shape) * 10.0 ** rng.integers(-310, -100),
    "huge": lambda rng, shape: rng.standard_normal(shape) * 10.0 ** rng.integers(100, 308),
    "far": lambda rng, shape: rng.standard_normal(shape) + 10.0 ** rng.integers(3, 12),
    "sparse": lambda rng, shape: rng.standard_normal(shape) * (rng.random(shape) < 0.3),
}


def _read_only(X):
    X.flags.writeable = False
    return X


def _names(X):
    return [f"column {j}" for j in range(X.shape[1])]


def _unsorted(X):
    csr = sp.csr_matrix(X)
    for start, stop in zip(csr.indptr[:-1], csr.indptr[1:], strict=True):
        csr.indices[start:stop] = csr.indices[start:stop][::-1].copy()
        csr.data[start:stop] = csr.data[start:stop][::-1].copy()
    csr.has_sorted_indices = False
    return csr


def _explicit_zeros(X):
    full = np.indices(X.shape).reshape(2, -1)
    return sp.csr_array((X.ravel().copy(), full[1], np.arange(0, X.size + 1, X.shape[1])), shape=X.shape)


def _duplicates(X):
    """Each entry and a zero at its place: their sum is exact in every type of number."""
    csr = sp.csr_array(X)
    data = np.column_stack([csr.data, np.zeros_like(csr.data)]).ravel()
    return sp.csr_array((data, np.repeat(csr.indices, 2), 2 * csr.indptr), shape=csr.shape)


def _wide_indices(X):
    csr = sp.csr_array(X)
    csr.indices, csr.indptr = csr.indices.astype(np.int64), csr.indptr.astype(np.int64)
    return csr


_CONTAINERS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "read-only": _read_only,
    "pandas": lambda X: pd.DataFrame(X, columns=_names(X)),
    "polars": lambda X: pl.DataFrame(X, schema=_names(X)),
    "csr_array": sp.csr_array,
    "csr_matrix": sp.csr_matrix,
    "unsorted": _unsorted,
    "duplicates": _duplicates,
    "explicit zeros": _explicit_zeros,
    "64 bit indices": _wide_indices,
    "csc": sp.csc_array,
    "coo": sp.coo_array,
}

tables = st.builds(
    Table,
    shape=st.sampled_from(SHAPES),
    values=st.sampled_from(VALUES),
    dtype=st.sampled_from(TYPES),
    container=st.sampled_from(DENSE + SPARSE),
    missing=st.sampled_from((0.0, 0.0, 0.0, 0.1, 1.0)),
    positive=st.booleans(),
    seed=st.integers(0, 2**16),
)
