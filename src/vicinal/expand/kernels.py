"""Kernels: functions of two rows that are inner products of features, of which there may be very many.

Each one is a small value that is called with rows, ``kernel(X)`` or ``kernel(X, Y)``, and returns the Gram matrix.
Rows are dense or CSR. The result is float64, or float32 where all rows are float32. Those that depend on differences
of rows alone can also draw from their spectral densities, for `RandomFourierFeatures`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics.pairwise import polynomial_kernel
from sklearn.utils import check_array, gen_batches

from .._validation import check_choice, check_count, check_positive, suggest
from ._gram import (
    checked_pair,
    falling_factorials,
    interaction_sums,
    over_common_entries,
    product_over_columns,
    refuse_overflow,
)
from ._shift_invariant import Cauchy, FromFunction, FromSampler, Gaussian, Laplacian, ShiftInvariant

__all__ = [
    "KERNELS",
    "AllSubsets",
    "Cauchy",
    "FromFunction",
    "FromSampler",
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Polynomial",
    "PositiveDefiniteness",
    "ShiftInvariant",
    "check_positive_definite",
    "get_kernel",
    "gram_blocks",
]

Kernel = Callable[..., NDArray[Any]]


@dataclass(frozen=True)
class Polynomial:
    """``(1 + <x, y>) ** degree``: inner products of all monomials up to the degree, weighted.

    `PolynomialMap` has these features themselves.

    Parameters
    ----------
    degree : int, default=2
    interaction_only : bool, default=False
        Only monomials of distinct columns, with the same weights. For degree 2 this is ``(1 + <x, y>) ** 2`` minus the
        sum of ``(x_i y_i) ** 2``; in general it takes as many operations per pair of rows as there are columns, times
        the degree.

    Examples
    --------
    >>> from vicinal.expand.kernels import Polynomial
    >>> Polynomial(degree=3)([[1.0, 2.0]], [[0.0, 0.5]])
    array([[8.]])
    >>> Polynomial(interaction_only=True)([[1.0, 2.0]], [[3.0, 0.5]])
    array([[15.]])
    """

    degree: int = 2
    interaction_only: bool = False

    def __post_init__(self) -> None:
        check_count("degree", self.degree)
        check_choice("interaction_only", self.interaction_only, (False, True))

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> NDArray[Any]:
        """The Gram matrix of shape (n_X, n_Y); Y is X if it is None."""
        rows, others = checked_pair(X, Y)
        with np.errstate(over="ignore", invalid="ignore"):
            if self.interaction_only:
                gram = interaction_sums(rows, others, falling_factorials(self.degree))
            else:
                gram = polynomial_kernel(rows, others, degree=self.degree, gamma=1, coef0=1)
        return refuse_overflow(gram, f"The polynomial kernel of degree {self.degree}")


@dataclass(frozen=True)
class AllSubsets:
    """The product of ``1 + x_i * y_i`` over all columns: inner products of the products of all subsets of columns.

    `SubsetProductMap` has these features themselves, 2^d of them. The kernel takes d multiplications, for CSR rows
    only as many as there are columns in which both rows have entries.

    Values grow exponentially with the number of columns; what exceeds the number type is refused. Dividing the rows
    by the root of the number of columns keeps them in bounds.

    Examples
    --------
    >>> from vicinal.expand.kernels import AllSubsets
    >>> AllSubsets()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[36.]])
    """

    def __call__(self, X: ArrayLike, Y: ArrayLike | None = None) -> NDArray[Any]:
        """The Gram matrix of shape (n_X, n_Y); Y is X if it is None."""
        rows, others = checked_pair(X, Y)
        with np.errstate(over="ignore", invalid="ignore"):
            if sp.issparse(rows) and sp.issparse(others):
                of_rows, of_others = np.ones(rows.shape[0]), np.ones(others.shape[0])
                gram = over_common_entries(rows, others, of_rows, of_others, np.multiply, self._factor)
            else:
                gram = product_over_columns(rows, others, self._factor)
        return refuse_overflow(gram, "The kernel of all subsets")

    @staticmethod
    def _factor(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        factor = np.multiply.outer(x, y)
        factor += 1
        return factor


KERNELS = {
    "polynomial": Polynomial,
    "all_subsets": AllSubsets,
    "gaussian": Gaussian,
    "laplacian": Laplacian,
    "cauchy": Cauchy,
}


def get_kernel(kernel: str | Kernel) -> Kernel:
    """A kernel by its name, with default parameters; anything that can be called is returned as it is.

    Parameters
    ----------
    kernel : {"polynomial", "all_subsets", "gaussian", "laplacian", "cauchy"} or callable

    Returns
    -------
    callable

    Examples
    --------
    >>> from vicinal.expand.kernels import get_kernel
    >>> get_kernel("gaussian")
    Gaussian(gamma=1.0)
    """
    if isinstance(kernel, str):
        if kernel not in KERNELS:
            raise ValueError(f"There is no kernel named {kernel!r}; {suggest(kernel, KERNELS)}")
        return KERNELS[kernel]()
    if isinstance(kernel, type) or not callable(kernel):
        raise ValueError(
            f"kernel must be a name ({', '.join(KERNELS)}) or a function of two tables, such as "
            f"vicinal.expand.kernels.Gaussian(gamma=0.5); got {kernel!r}."
        )
    return kernel


def gram_blocks(
    kernel: str | Kernel, X: ArrayLike, Y: ArrayLike | None = None, *, max_bytes: int = 2**26
) -> Iterator[tuple[slice, NDArray[Any]]]:
    """The Gram matrix in blocks of rows, of which only one at a time is held.

    Parameters
    ----------
    kernel : str or callable
        A kernel, as `get_kernel` takes it.
    X : array-like or sparse matrix of shape (n_X, n_features)
    Y : array-like or sparse matrix of shape (n_Y, n_features), default=None
        None is X.
    max_bytes : int, default=2**26
        What a block may take. A block has one row at least.

    Yields
    ------
    rows : slice
        Of X.
    block : ndarray of shape (number of these rows, n_Y)

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.expand.kernels import gram_blocks
    >>> X = np.random.default_rng(0).normal(size=(1000, 5))
    >>> sums = np.empty(1000)
    >>> for rows, block in gram_blocks("gaussian", X, max_bytes=2**20):
    ...     sums[rows] = block.sum(axis=1)
    """
    kernel = get_kernel(kernel)
    check_count("max_bytes", max_bytes)
    rows, others = checked_pair(X, Y)
    n_rows = max(1, max_bytes // (others.shape[0] * rows.dtype.itemsize))
    return ((block, kernel(rows[block], others)) for block in gen_batches(rows.shape[0], n_rows))


@dataclass(frozen=True)
class PositiveDefiniteness:
    """What `check_positive_definite` found; true if the kernel passed.

    Parameters
    ----------
    is_positive_definite : bool
        Whether the Gram matrix is symmetric and has no negative eigenvalue, rounding aside.
    smallest_eigenvalue : float
        Of the Gram matrix.
    asymmetry : float
        The largest difference of the Gram matrix from its transpose.
    reason : str
        One sentence.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.expand.kernels import check_positive_definite
    >>> found = check_positive_definite(lambda X, Y: -(X @ Y.T), np.eye(3))
    >>> bool(found), found.smallest_eigenvalue < 0
    (False, True)
    """

    is_positive_definite: bool
    smallest_eigenvalue: float
    asymmetry: float
    reason: str

    def __bool__(self) -> bool:
        return self.is_positive_definite


def check_positive_definite(kernel: str | Kernel, X: ArrayLike, *, tol: float = 1e-8) -> PositiveDefiniteness:
    """Whether a kernel's Gram matrix of the rows of X is symmetric and has no negative eigenvalue.

    A kernel that fails is no inner product of features. One that passes may still fail on other rows.

    Parameters
    ----------
    kernel : str or callable
        A kernel, as `get_kernel` takes it.
    X : array-like or sparse matrix of shape (n_samples, n_features)
    tol : float, default=1e-8
        Asymmetry up to this share of the largest entry, and negative eigenvalues up to this share of the largest one,
        count as rounding.

    Returns
    -------
    PositiveDefiniteness

    Examples
    --------
    >>> from vicinal.expand.kernels import check_positive_definite
    >>> X = [[0.0], [1.0], [3.0]]
    >>> bool(check_positive_definite("laplacian", X))
    True
    >>> from sklearn.metrics.pairwise import sigmoid_kernel
    >>> check_positive_definite(lambda A, B: sigmoid_kernel(A, B, gamma=1, coef0=-1), X).reason
    'The Gram matrix has the negative eigenvalue -1.247, for a largest one of 1.988.'
    """
    kernel = get_kernel(kernel)
    check_positive("tol", tol)
    rows = check_array(X, accept_sparse="csr")
    n_rows = rows.shape[0]
    gram = np.asarray(kernel(rows, rows), dtype=np.float64)
    if gram.shape != (n_rows, n_rows):
        raise ValueError(f"The kernel of {n_rows} rows must be a square matrix of them; its shape is {gram.shape}.")
    if not np.isfinite(gram).all():
        raise ValueError("The kernel has values that are not finite on the rows of X; scale X, or mend the kernel.")
    asymmetry = float(np.abs(gram - gram.T).max())
    eigenvalues = scipy.linalg.eigvalsh((gram + gram.T) / 2)
    smallest, largest = float(eigenvalues[0]), float(np.abs(eigenvalues).max())
    if asymmetry > tol * np.abs(gram).max():
        reason = f"The Gram matrix is not symmetric: it differs from its transpose by up to {asymmetry:.4g}."
    elif smallest < -tol * largest:
        reason = f"The Gram matrix has the negative eigenvalue {smallest:.4g}, for a largest one of {largest:.4g}."
    else:
        reason = f"The Gram matrix is symmetric and its smallest eigenvalue is {smallest:.4g}."
        return PositiveDefiniteness(True, smallest, asymmetry, reason)
    return PositiveDefiniteness(False, smallest, asymmetry, reason)
