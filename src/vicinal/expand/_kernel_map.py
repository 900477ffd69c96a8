"""RBFMap: features whose inner products are the Gaussian kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from .._calls import obeys_n_jobs
from .._memory import available_memory
from .._tags import TakesSparseFloats
from .._validation import Matrix, all_or_nothing, canonical, check_count, check_non_negative, checked_rows
from ._bandwidth import gamma_from_scale

BLOCK_ENTRIES = 2**21  # of a block of the kernel matrix: 16 MB
LARGEST_VALUE = 1e150  # squares of larger ones, and sums of these, would not fit a float64


@obeys_n_jobs
class RBFMap(TakesSparseFloats, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The explicit map of the Gaussian kernel: a linear model on it is the kernel machine.

    The kernel matrix of the training rows is taken apart, K = Q Sigma^2 Q'. Training rows become the rows of Q Sigma,
    so that their inner products are the kernel exactly. A new row x becomes k(x, X) Q Sigma^-1, which is its image
    under the kernel's own map, projected on the span of the training rows' images; its inner products with training
    rows are the kernel, too.

    Memory grows with the square of the number of training rows and time with the cube. This is the exact map, for
    small data and for comparison; `sklearn.kernel_approximation.Nystroem` is the approximation for large data.

    Parameters
    ----------
    gamma : float or "scale", default="scale"
        The kernel is ``exp(-gamma * squared_distance)``. "scale" is ``1 / (n_features * X.var())``, or 1 if X is
        constant, as in `sklearn.svm.SVC`.
    n_components : int, default=None
        At most this many features, those of the largest eigenvalues. None keeps all above `tol`.
    tol : float, default=1e-12
        Eigenvalues up to this share of the largest one count as zero; they belong to duplicates and to rounding.
    max_memory : int, default=None
        Bytes that the matrices of `fit` may take. None is the memory that the system has available. Where they would
        take more, `fit` raises a MemoryError before it starts.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    X_fit_ : ndarray or CSR matrix of shape (n_samples, n_features_in_)
        The training rows.
    eigenvalues_ : ndarray of shape (n_features_out,)
        The diagonal of Sigma^2, largest first.
    eigenvectors_ : ndarray of shape (n_samples, n_features_out)
        Q, with the entry of largest size in every column positive.
    gamma_ : float
    center_ : ndarray of shape (n_features_in_,)
        Where the arithmetic takes place; it affects rounding only. Where the training rows were CSR, 0 for columns in
        which some of them have no entry.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    All arithmetic is in double precision; float32 rows give float32 features.

    References
    ----------
    Wang, Aggarwal, Liu: Randomized Feature Engineering as a Fast and Accurate Alternative to Kernel Methods, KDD 2017,
    section 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.metrics.pairwise import rbf_kernel
    >>> from vicinal.expand import RBFMap
    >>> X, y = load_iris(return_X_y=True)
    >>> features = RBFMap(gamma=0.5).fit_transform(X)
    >>> np.allclose(features @ features.T, rbf_kernel(X, gamma=0.5))
    True
    """

    def __init__(
        self,
        gamma: float | str = "scale",
        *,
        n_components: int | None = None,
        tol: float = 1e-12,
        max_memory: int | None = None,
        n_jobs: int | None = None,
    ):
        self.gamma = gamma
        self.n_components = n_components
        self.tol = tol
        self.max_memory = max_memory
        self.n_jobs = n_jobs

    @all_or_nothing
    def fit(self, X: ArrayLike, y: Any = None) -> RBFMap:
        """Take the kernel matrix of the rows of X apart.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        given = self._checked(X, reset=True)
        n_samples = given.shape[0]
        n_components = n_samples
        if self.n_components is not None:
            n_components = min(check_count("n_components", self.n_components), n_samples)
        check_non_negative("tol", self.tol)
        self._refuse_what_does_not_fit(n_samples)
        center = _center(given)
        rows = _centred(given, center, sparse=True)
        gamma = self._kernel_width(given)
        values, vectors = _leading_eigenpairs(_lower_kernel_matrix(rows, gamma), n_components, self.tol)
        self.X_fit_, self.center_, self.gamma_ = given.copy(), center, gamma
        self.eigenvalues_, self.eigenvectors_ = values, vectors
        return self

    def fit_transform(self, X: ArrayLike, y: Any = None, **fit_params: Any) -> NDArray[Any]:
        """Q Sigma: what ``fit(X).transform(X)`` returns up to rounding, without computing the kernel again.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
        """
        self.fit(X)
        out = np.empty(self.eigenvectors_.shape, dtype=self.X_fit_.dtype)
        np.multiply(self.eigenvectors_, np.sqrt(self.eigenvalues_), out=out, casting="same_kind")
        return out

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """k(x, X) Q Sigma^-1 for every row x.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
        """
        check_is_fitted(self)
        given = self._checked(X, reset=False)
        sparse = sp.issparse(self.X_fit_)
        training = _centred(self.X_fit_, self.center_, sparse=sparse)
        deviations = np.sqrt(self.eigenvalues_)
        out = np.empty((given.shape[0], len(deviations)), dtype=given.dtype)
        for block in _blocks(given.shape[0], sum(training.shape)):
            rows = _centred(given[block], self.center_, sparse=sparse)
            kernel = rbf_kernel(rows, training, gamma=self.gamma_)
            np.divide(kernel @ self.eigenvectors_, deviations, out=out[block], casting="same_kind")
        return out

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def _checked(self, X: ArrayLike, *, reset: bool) -> Matrix:
        given: Matrix = checked_rows(self, X, reset=reset)
        given = canonical(given)
        entries = given.data if sp.issparse(given) else given
        if entries.size and max(float(entries.max()), -float(entries.min())) > LARGEST_VALUE:
            raise ValueError(
                f"X has values beyond {LARGEST_VALUE:g}, whose squares are too large for a float64; scale X first, for "
                "example with sklearn.preprocessing.StandardScaler."
            )
        return given

    def _kernel_width(self, given: Matrix) -> float:
        if isinstance(self.gamma, str) and self.gamma == "scale":
            return gamma_from_scale(given)
        if isinstance(self.gamma, str) or check_non_negative("gamma", self.gamma) == 0:
            raise ValueError(f"gamma must be a number above 0 or 'scale'; got {self.gamma!r}.")
        return float(self.gamma)

    def _refuse_what_does_not_fit(self, n_samples: int) -> None:
        needed = 8 * n_samples * 3 * n_samples  # the kernel matrix, its eigenvectors and LAPACK's work
        if self.max_memory is None:
            allowed, limit = available_memory(), "are available"
        else:
            allowed, limit = check_count("max_memory", self.max_memory), "are allowed by max_memory"
        if needed > allowed:
            raise MemoryError(
                f"The kernel matrix of {n_samples} rows and its eigenvectors need {needed / 1e9:.3g} GB of memory, but "
                f"{allowed / 1e9:.3g} GB {limit}; fit fewer rows, or use "
                "sklearn.kernel_approximation.Nystroem."
            )


def _center(X: Matrix) -> NDArray[np.float64]:
    """The mean of dense rows; of CSR rows that of full columns, which can be moved without making entries of zeros."""
    if not sp.issparse(X):
        return np.asarray(X.mean(axis=0, dtype=np.float64))
    full = np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0]
    return np.where(full, np.asarray(X.sum(axis=0, dtype=np.float64)).ravel() / X.shape[0], 0.0)


def _centred(X: Matrix, center: NDArray[np.float64], *, sparse: bool) -> Matrix:
    """X in double precision around a center, as distances far from zero lose digits; CSR rows stay so if `sparse`."""
    if not (sparse and sp.issparse(X)):
        return (X.toarray() if sp.issparse(X) else X) - center
    moved = np.flatnonzero(center)
    starts = len(moved) * np.arange(X.shape[0] + 1)
    shift = (np.tile(center[moved], X.shape[0]), np.tile(moved, X.shape[0]), starts)
    return X.astype(np.float64, copy=False) - type(X)(shift, shape=X.shape)


def _blocks(n_rows: int, entries_per_row: int) -> Iterator[slice]:
    return gen_batches(n_rows, max(1, BLOCK_ENTRIES // entries_per_row))


def _lower_kernel_matrix(X: Matrix, gamma: float) -> NDArray[np.float64]:
    """The kernel matrix, of which only the lower triangle is computed."""
    kernel = np.zeros((X.shape[0], X.shape[0]))
    for block in _blocks(X.shape[0], X.shape[0]):
        kernel[block, : block.stop] = rbf_kernel(X[block], X[: block.stop], gamma=gamma)
    np.fill_diagonal(kernel, 1.0)
    return kernel


def _leading_eigenpairs(
    lower: NDArray[np.float64], n_components: int, tol: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Eigenvalues above `tol` times the largest, largest first, and their vectors; `lower` is overwritten."""
    # LAPACK reads columns first: the transpose spares a copy, and its lower triangle lies above the diagonal. Where
    # kernel values are tiny the driver "evr", which could leave vectors out, returns some that are not orthogonal.
    values, vectors = scipy.linalg.eigh(lower.T, lower=False, overwrite_a=True, check_finite=False, driver="evd")
    del lower
    first = max(int(np.searchsorted(values, tol * values[-1], side="right")), len(values) - n_components)
    kept = np.ascontiguousarray(vectors[:, first:][:, ::-1])
    del vectors
    kept *= np.where(kept.max(axis=0) < -kept.min(axis=0), -1.0, 1.0)
    return values[first:][::-1].copy(), kept
