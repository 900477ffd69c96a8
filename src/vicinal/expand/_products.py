"""PolynomialMap and SubsetProductMap: features whose inner products are the kernels of products of columns."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import gen_batches
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from .._tags import TakesSparseFloats
from .._validation import Matrix, all_or_nothing, check_choice, check_count, checked_rows
from ._monomials import (
    BLOCK_ENTRIES,
    as_csr,
    check_degree,
    dense_products,
    monomial_names,
    n_monomials,
    refuse_overflow,
    refuse_too_many_columns,
    refuse_what_does_not_fit,
    sparse_products,
    sparse_size,
    without_zeros,
)

MOST_FEATURES = 62  # whose subsets an index can hold


class _ProductMap(TakesSparseFloats, TransformerMixin, BaseEstimator, metaclass=ABCMeta):
    """What maps to products of columns share: checks, tags and memory that is asked for first."""

    n_output_features_: int

    @all_or_nothing
    def fit(self, X: ArrayLike, y: Any = None) -> Any:
        """Count the products of X's columns; values do not matter.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        given = self._checked(X, reset=True)
        self.n_output_features_ = self._count(given.shape[1])
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any] | sp.csr_matrix | sp.csr_array:
        """The products of each row: CSR if X is sparse, else dense.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray or CSR matrix of shape (n_samples, n_output_features_)
        """
        check_is_fitted(self)
        given = self._checked(X, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):
            return refuse_overflow(self._sparse(given) if sp.issparse(given) else self._dense(given))

    @property
    def _n_features_out(self) -> int:
        return self.n_output_features_

    def _checked(self, X: ArrayLike, *, reset: bool) -> Matrix:
        return checked_rows(self, X, reset=reset)

    @abstractmethod
    def _count(self, n_features: int) -> int:
        """The number of products; refused if there are too many."""

    @abstractmethod
    def _dense(self, X: NDArray[Any]) -> NDArray[Any]:
        """The products of dense rows."""

    @abstractmethod
    def _sparse(self, X: Matrix) -> sp.csr_matrix | sp.csr_array:
        """The products of CSR rows."""


class PolynomialMap(_ProductMap):
    """All monomials up to a degree, weighted so that inner products are the polynomial kernel.

    The inner product of two rows' features is ``(1 + <x, y>) ** degree``. The monomial with powers a_1, ..., a_d, of
    total degree k, has the weight sqrt(p! / ((p - k)! a_1! ... a_d!)), with p the map's degree.

    `sklearn.preprocessing.PolynomialFeatures` has the same monomials in the same order without the weights. This map
    adds them, takes CSR rows of any degree from their entries alone, and counts columns beyond 2^31.

    Parameters
    ----------
    degree : int, default=2
    interaction_only : bool, default=False
        Only products of distinct columns, without squares and higher powers. Weights are the same, so that the inner
        product of two rows' features is the sum of p! / (p - k)! times the products ``x_i y_i`` of all sets of k
        columns, for k from 0 to p; for degree 2 this is ``(1 + <x, y>) ** 2`` minus the sum of ``(x_i y_i) ** 2``. The
        last C(n_features, degree) columns are the products of exactly `degree` columns.

    Attributes
    ----------
    n_output_features_ : int
        C(n_features + degree, degree) or, with `interaction_only`, the sum of C(n_features, k) for k from 0 to degree.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    A CSR row of m entries has C(m + degree, degree) entries after the map, however many columns there are. A linear
    model has a number for each column: where they are too many, hash them to fewer.

    All arithmetic is in double precision; float32 rows give float32 features.

    References
    ----------
    Hsu: Features, lecture notes of COMS 4771, Columbia University, 2015, section 1.1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from vicinal.expand import PolynomialMap
    >>> from vicinal.expand.kernels import Polynomial
    >>> X, y = load_iris(return_X_y=True)
    >>> features = PolynomialMap(degree=3).fit_transform(X)
    >>> np.allclose(features @ features.T, Polynomial(degree=3)(X))
    True
    >>> PolynomialMap().fit(X[:, :2]).get_feature_names_out()
    array(['1', 'x0', 'x1', 'x0^2', 'x0 x1', 'x1^2'], dtype=object)
    >>> PolynomialMap(interaction_only=True).fit(X[:, :3]).get_feature_names_out()
    array(['1', 'x0', 'x1', 'x2', 'x0 x1', 'x0 x2', 'x1 x2'], dtype=object)
    """

    def __init__(self, degree: int = 2, *, interaction_only: bool = False):
        self.degree = degree
        self.interaction_only = interaction_only

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Names that read as products, without the weights: ``"1"``, ``"x0"``, ``"x0^2"``, ``"x0 x1"``.

        Parameters
        ----------
        input_features : array-like of str, default=None
            The columns' names. None is those that `fit` saw, or x0, x1 and so on.

        Returns
        -------
        ndarray of shape (n_output_features_,)
        """
        check_is_fitted(self)
        names = list(_check_feature_names_in(self, input_features))
        return monomial_names(names, self.degree, distinct=self.interaction_only)

    def _count(self, n_features: int) -> int:
        degree = check_degree(self.degree)
        check_choice("interaction_only", self.interaction_only, (False, True))
        n_columns = n_monomials(n_features, degree, distinct=self.interaction_only)
        refuse_too_many_columns(n_columns, f"degree={degree} of {n_features} columns", self._kernel_name())
        return n_columns

    def _dense(self, X: NDArray[Any]) -> NDArray[Any]:
        refuse_what_does_not_fit(
            X.shape[0] * self.n_output_features_,
            X.dtype.itemsize,
            (X.shape[0], self.n_output_features_),
            f"pass X as CSR, or use vicinal.expand.kernels.{self._kernel_name()}",
        )
        powers = np.arange(1, 2 if self.interaction_only else self.degree + 1)
        weights = np.sqrt(1 / np.cumprod(powers, dtype=np.float64))[:, None, None]

        def factors(rows: slice) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            columns = X[rows].T.astype(np.float64)
            return np.ones(columns.shape[1]), weights * columns ** powers[:, None, None]

        falling = np.cumprod(np.concatenate([[1.0], self._steps()]))
        scales, distinct = np.sqrt(falling), self.interaction_only
        return dense_products(X.shape, self.degree, factors, scales, X.dtype, distinct=distinct)

    def _sparse(self, X: Matrix) -> sp.csr_matrix | sp.csr_array:
        clean = without_zeros(X)
        refuse_what_does_not_fit(
            sparse_size(clean, self.degree, distinct=self.interaction_only),
            clean.dtype.itemsize + 8,
            (X.shape[0], self.n_output_features_),
            f"or use vicinal.expand.kernels.{self._kernel_name()}",
        )
        weights, common, distinct = self._steps(), np.ones(X.shape[0]), self.interaction_only
        return sparse_products(clean, self.degree, weights, common, X.dtype, distinct=distinct)

    def _kernel_name(self) -> str:
        return f"Polynomial({self.degree}{', interaction_only=True' if self.interaction_only else ''})"

    def _steps(self) -> NDArray[np.float64]:
        """p, p - 1, ..., 1: what the squared weight gains from one degree to the next."""
        return np.arange(self.degree, 0, -1, dtype=np.float64)


class SubsetProductMap(_ProductMap):
    """The products of all subsets of columns: 2^d features whose inner products are the kernel of all subsets.

    The inner product of two rows' features is the product of ``1 + x_i * y_i`` over all columns.

    Parameters
    ----------
    max_features : int, default=16
        More columns than these are refused, as every further one doubles the number of features. 62 at most.

    Attributes
    ----------
    n_output_features_ : int
        2^d.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    The feature of a subset is at the place whose binary digits say which columns are in it: 1, x0, x1, x0 x1, x2 and so
    on. A CSR row of m entries has 2^m entries after the map. All arithmetic is in double precision; float32 rows give
    float32 features.

    References
    ----------
    Hsu: Features, lecture notes of COMS 4771, Columbia University, 2015, section 1.1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from vicinal.expand import SubsetProductMap
    >>> from vicinal.expand.kernels import AllSubsets
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SubsetProductMap()
    >>> features = model.fit_transform(X)
    >>> np.allclose(features @ features.T, AllSubsets()(X))
    True
    >>> model.get_feature_names_out()[:6]
    array(['1', 'x0', 'x1', 'x0 x1', 'x2', 'x0 x2'], dtype=object)
    """

    def __init__(self, max_features: int = 16):
        self.max_features = max_features

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Names that read as products: ``"1"``, ``"x0"``, ``"x0 x2"``.

        Parameters
        ----------
        input_features : array-like of str, default=None
            The columns' names. None is those that `fit` saw, or x0, x1 and so on.

        Returns
        -------
        ndarray of shape (n_output_features_,)
        """
        check_is_fitted(self)
        products = [""]
        for name in _check_feature_names_in(self, input_features):
            products += [f"{product} {name}" if product else name for product in products]
        return np.array(["1", *products[1:]], dtype=object)

    def _count(self, n_features: int) -> int:
        if check_count("max_features", self.max_features) > MOST_FEATURES:
            raise ValueError(
                f"max_features must be at most {MOST_FEATURES}, as an index cannot hold more subsets; got "
                f"{self.max_features}."
            )
        if n_features > self.max_features:
            raise ValueError(
                f"X has {n_features} columns, whose subsets are 2^{n_features}, but max_features is "
                f"{self.max_features}; use vicinal.expand.kernels.AllSubsets, which needs none of the products, or "
                "take fewer columns."
            )
        return 2**n_features

    def _dense(self, X: NDArray[Any]) -> NDArray[Any]:
        n_rows, n_out = X.shape[0], self.n_output_features_
        refuse_what_does_not_fit(
            n_rows * n_out,
            X.dtype.itemsize,
            (n_rows, n_out),
            "pass X as CSR if it is sparse, or use vicinal.expand.kernels.AllSubsets",
        )
        out = np.empty((n_rows, n_out), dtype=X.dtype)
        for rows in gen_batches(n_rows, max(1, BLOCK_ENTRIES // n_out)):
            out[rows] = _subset_products(X[rows].astype(np.float64))
        return out

    def _sparse(self, X: Matrix) -> sp.csr_matrix | sp.csr_array:
        clean = without_zeros(X)
        n_out, counts = self.n_output_features_, np.diff(clean.indptr).astype(np.int64)
        n_entries = sum(2 ** int(count) for count in counts)  # more than 64 bits hold, perhaps
        refuse_what_does_not_fit(
            n_entries, clean.dtype.itemsize + 8, (X.shape[0], n_out), "or use vicinal.expand.kernels.AllSubsets"
        )
        indptr = np.concatenate([[0], np.cumsum(2**counts)])
        index_dtype: type[np.integer] = np.int32 if max(n_entries, n_out) < 2**31 else np.int64
        columns = np.empty(n_entries, dtype=index_dtype)
        values = np.empty(n_entries, dtype=X.dtype)
        for count in np.unique(counts):
            alike = np.flatnonzero(counts == count)
            for chosen in gen_batches(len(alike), max(1, BLOCK_ENTRIES >> int(count))):
                rows = alike[chosen]
                entries = clean.indptr[rows][:, None] + np.arange(count)
                targets = indptr[rows][:, None] + np.arange(2**count)
                values[targets] = _subset_products(clean.data[entries].astype(np.float64))
                columns[targets] = _subset_sums(np.int64(1) << clean.indices[entries].astype(np.int64))
        return as_csr(values, columns, indptr, n_out)


def _subset_products(columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """The products of all subsets of each row's numbers, in the order of binary digits."""
    out = np.ones((columns.shape[0], 2 ** columns.shape[1]))
    for i in range(columns.shape[1]):
        np.multiply(out[:, : 2**i], columns[:, i, None], out=out[:, 2**i : 2 ** (i + 1)])
    return out


def _subset_sums(columns: NDArray[np.int64]) -> NDArray[np.int64]:
    out = np.zeros((columns.shape[0], 2 ** columns.shape[1]), dtype=np.int64)
    for i in range(columns.shape[1]):
        np.add(out[:, : 2**i], columns[:, i, None], out=out[:, 2**i : 2 ** (i + 1)])
    return out
