"""Products of columns up to a total degree, of dense and of CSR rows: what the explicit maps are made of.

Products are in the order of `sklearn.preprocessing.PolynomialFeatures`: by degree and, within a degree k, by the
sequence of columns i_1 <= ... <= i_k that are multiplied. Where they are `distinct`, it is i_1 < ... < i_k.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations, combinations_with_replacement, groupby
from math import comb
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils import gen_batches

from .._memory import refuse_beyond_memory
from .._validation import Matrix, canonical, check_count

BLOCK_ENTRIES = 2**20  # of the output that are computed at once
LARGEST_INDEX = 2**63 - 1
LARGEST_DEGREE = 100  # factorials of more than 170 do not fit a float64


def n_monomials(n_columns: int, degree: int, *, distinct: bool = False) -> int:
    """How many products of up to `degree` of the columns there are, with repetition unless they are distinct."""
    if distinct:
        return sum(comb(n_columns, k) for k in range(min(degree, n_columns) + 1))
    return comb(n_columns + degree, degree)


def check_degree(degree: Any) -> int:
    if check_count("degree", degree) > LARGEST_DEGREE:
        raise ValueError(f"degree must be at most {LARGEST_DEGREE}; got {degree}.")
    return int(degree)


def refuse_too_many_columns(n_columns: int, what: str, kernel: str) -> None:
    if n_columns > LARGEST_INDEX:
        raise ValueError(
            f"{what} makes {n_columns:.3g} columns, more than an index can hold; lower the degree, take fewer columns, "
            f"or use vicinal.expand.kernels.{kernel}, which needs none of them."
        )


def refuse_what_does_not_fit(n_entries: int, bytes_per_entry: int, shape: tuple[int, int], way_out: str) -> None:
    what = f"{shape[0]} rows of {shape[1]} columns"
    refuse_beyond_memory(n_entries * bytes_per_entry, what, f"transform fewer rows at a time, {way_out}")


def dense_products(
    shape: tuple[int, int],
    degree: int,
    factors: Callable[[slice], tuple[NDArray[np.float64], NDArray[np.float64]]],
    degree_scales: NDArray[np.float64],
    dtype: np.dtype,
    *,
    distinct: bool = False,
) -> NDArray[Any]:
    """Products of one factor for each column that takes part, up to a total degree.

    Parameters
    ----------
    shape : the number of rows and of columns
    degree : int
    factors : callable
        Takes a slice of rows and returns what all products of a row have in common, of shape (rows,), and the factors,
        of shape (degree, n_columns, rows): that of column i, where it takes part r times, is at ``[r - 1, i]``. Where
        columns are distinct, their first dimension is 1.
    degree_scales : ndarray of shape (degree + 1,)
        What products of each degree are multiplied by.
    dtype : the result's
    distinct : bool, default=False
        Whether a column takes part once at most.
    """
    n_rows, n_columns = shape
    ends = [n_monomials(n_columns, k, distinct=distinct) for k in range(degree + 1)]
    out = np.empty((n_rows, ends[-1]), dtype=dtype)
    for rows in gen_batches(n_rows, max(1, min(64, 16 * BLOCK_ENTRIES // ends[-1]), BLOCK_ENTRIES // ends[-1])):
        common, of_rows = factors(rows)
        products = out[rows] if dtype == np.float64 else np.empty((len(common), ends[-1]))
        products[:, 0] = degree_scales[0] * common
        starts = [[0] * n_columns + [1]]  # of the products whose first column is i or a later one, for each degree
        for k in range(1, degree + 1):
            place, starts_of_degree = ends[k - 1], []
            for i in range(n_columns):
                starts_of_degree.append(place)
                for r in (1,) if distinct else range(k, 0, -1):
                    begin, end = (0, 1) if r == k else (starts[k - r][i + 1], ends[k - r])
                    factor = of_rows[r - 1, i] * (degree_scales[k] / degree_scales[k - r])
                    target = products[:, place : place + end - begin]
                    np.multiply(products[:, begin:end], factor[:, None], out=target)
                    place += end - begin
            starts.append([*starts_of_degree, ends[k]])
        if products.dtype != dtype:
            out[rows] = products
    return out


def sparse_size(X: Matrix, degree: int, *, distinct: bool = False) -> int:
    """How many entries `sparse_products` makes."""
    numbers, occurrences = np.unique(np.diff(X.indptr), return_counts=True)
    sizes = (n_monomials(int(n), degree, distinct=distinct) for n in numbers)
    return sum(int(times) * size for size, times in zip(sizes, occurrences, strict=True))


def sparse_products(
    X: Matrix,
    degree: int,
    step_weights: NDArray[np.float64],
    common: NDArray[np.float64],
    dtype: np.dtype,
    *,
    distinct: bool = False,
) -> sp.csr_matrix | sp.csr_array:
    """Weighted monomials of CSR rows without zeros, up to a total degree, from the entries that the rows have.

    A product of k entries is made from one of k - 1 by an entry that is not after its first one or, if columns are
    distinct, that is before it. Where this entry's
    column now takes part r times, the weight is multiplied by ``sqrt(step_weights[k - 1] / r)``. All products of a row
    are multiplied by the row's number in `common`.
    """
    counts = np.diff(X.indptr).astype(np.int64)
    sizes = _looked_up(counts, partial(n_monomials, degree=degree, distinct=distinct))
    n_out = n_monomials(X.shape[1], degree, distinct=distinct)
    index_dtype = np.int32 if max(n_out, int(sizes.sum())) < 2**31 else np.int64
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    columns, values = np.empty(indptr[-1], dtype=index_dtype), np.empty(indptr[-1], dtype=dtype)
    start = 0
    while start < X.shape[0]:
        stop = max(start + 1, int(np.searchsorted(indptr, indptr[start] + BLOCK_ENTRIES, side="right")) - 1)
        block, out = slice(X.indptr[start], X.indptr[stop]), slice(indptr[start], indptr[stop])
        _expand_rows(
            X.data[block].astype(np.float64),
            X.indices[block],
            counts[start:stop],
            X.shape[1],
            step_weights,
            common[start:stop],
            columns[out],
            values[out],
            distinct,
        )
        start = stop
    return as_csr(values, columns, indptr, n_out)


def _expand_rows(
    entries: NDArray[np.float64],
    entry_columns: NDArray[np.integer],
    counts: NDArray[np.int64],
    n_columns: int,
    step_weights: NDArray[np.float64],
    common: NDArray[np.float64],
    out_columns: NDArray[np.integer],
    out_values: NDArray[np.floating],
    distinct: bool,
) -> None:
    degree = len(step_weights)
    n_rows = len(counts)
    last_of_row = np.repeat(np.cumsum(counts), counts)
    entries_left = last_of_row - np.arange(len(entries))  # in its row, with itself
    row_starts = np.cumsum(_looked_up(counts, partial(n_monomials, degree=degree, distinct=distinct)))
    row_starts = np.concatenate([[0], row_starts[:-1]])
    out_columns[row_starts], out_values[row_starts] = 0, common
    values, places = common, np.zeros(n_rows, dtype=np.int64)
    firsts, runs = np.full(n_rows, -1), np.zeros(n_rows, dtype=np.int64)
    ends, written = np.arange(1, n_rows + 1), row_starts + 1
    columns_beyond = n_columns - 1 - entry_columns.astype(np.int64)
    ranks = np.ones(len(entries), dtype=np.int64)
    for k in range(1, degree + 1):
        ranks = _times(ranks, columns_beyond + (1 - k if distinct else k - 1), k)
        # Products of k - 1 entries that begin with this entry (or after it) or a later one are the last of the row.
        lengths = _looked_up(entries_left - distinct, partial(_n_of_degree, k - 1, distinct))
        sources = _ranges(np.repeat(ends, counts) - lengths, lengths)
        owners = np.repeat(np.arange(len(entries)), lengths)
        runs = np.where(firsts[sources] == owners, runs[sources] + 1, 1)
        weights = np.sqrt(step_weights[k - 1] / np.arange(1, degree + 1))
        values = values[sources] * entries[owners] * weights[runs - 1]
        places = places[sources] + ranks[owners]
        firsts = owners
        sizes = _looked_up(counts, partial(_n_of_degree, k, distinct))
        targets = _ranges(written, sizes)
        out_columns[targets] = n_monomials(n_columns, k, distinct=distinct) - 1 - places
        out_values[targets] = values
        ends, written = np.cumsum(sizes), written + sizes


def _times(ranks: NDArray[np.int64], top: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """C(n + k - 1, k) from C(n + k - 2, k - 1), where top = n + k - 1; no product is larger than the result.

    So many products of k columns lie beyond those with a given column k-th from the end, n columns being after it: the
    product of i_1 <= ... <= i_k is, among all of degree k and counted from the last, at the sum over j of
    C(d - i_j + k - j - 1, k - j + 1). Of distinct columns there are C(n, k), from C(n, k - 1), where top = n - k + 1.
    """
    shared = np.gcd(ranks, k)
    return ranks // shared * (top // (k // shared))


def _n_of_degree(degree: int, distinct: bool, n_columns: int) -> int:
    if distinct:
        return comb(n_columns, degree)
    return comb(n_columns + degree - 1, degree) if degree else 1


def _looked_up(numbers: NDArray[np.int64], function: Callable[[int], int]) -> NDArray[np.int64]:
    """The function of each number, of which few are different."""
    different, places = np.unique(numbers, return_inverse=True)
    return np.array([function(int(n)) for n in different], dtype=np.int64)[places]


def _ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """start, ..., start + length - 1 for all of them, one after the other."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(lengths.sum())


def refuse_overflow(features: Matrix) -> Matrix:
    entries = features.data if sp.issparse(features) else features
    if not (np.isfinite(entries.max()) and np.isfinite(entries.min())):
        raise ValueError(
            f"Products of these rows are too large for {features.dtype}; scale X down, for example with "
            "sklearn.preprocessing.StandardScaler or sklearn.preprocessing.normalize."
        )
    return features


def monomial_names(
    names: list[str],
    degree: int,
    *,
    distinct: bool = False,
    one: str = "1",
    itself: str = "{name}",
    power: str = "{name}^{power}",
) -> NDArray[np.object_]:
    """Names that read as products: "1", "x0", "x0^2", "x0 x1", or as the patterns say."""
    products = [one]
    for k in range(1, degree + 1):
        for chosen in (combinations if distinct else combinations_with_replacement)(range(len(names)), k):
            powers = ((names[i], len(list(group))) for i, group in groupby(chosen))
            products.append(" ".join((itself if r == 1 else power).format(name=name, power=r) for name, r in powers))
    return np.array(products, dtype=object)


def without_zeros(X: Matrix) -> Matrix:
    """CSR rows with one entry for each place, none of them 0; what is given stays as it is."""
    X = canonical(X)
    if not X.data.all():
        X = X.copy()
        X.eliminate_zeros()
    return X


def as_csr(
    values: NDArray[Any], columns: NDArray[np.integer], indptr: NDArray[np.integer], n_columns: int
) -> sp.csr_matrix | sp.csr_array:
    """A canonical CSR matrix over the same memory, of the kind that scikit-learn is configured for."""
    container = sp.csr_array if get_config().get("sparse_interface") == "sparray" else sp.csr_matrix
    arrays = values, columns, indptr.astype(columns.dtype, copy=False)
    out = container(arrays, shape=(len(indptr) - 1, n_columns), copy=False)
    out.has_canonical_format = True
    return out
