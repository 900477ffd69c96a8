"""HermiteMap: the Gaussian kernel's own features, up to a total degree, with a bound of what is left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammainc
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from .._calls import obeys_n_jobs
from .._validation import Matrix, all_or_nothing, canonical, check_choice, check_positive, checked_rows
from ._bandwidth import gamma_from_scale
from ._gram import refuse_large_values
from ._monomials import (
    check_degree,
    dense_products,
    monomial_names,
    n_monomials,
    refuse_too_many_columns,
    refuse_what_does_not_fit,
    sparse_products,
    sparse_size,
    without_zeros,
)

SMALLEST_SPREAD = 1e-6  # of a column, for a kernel of gamma 1: below, Hermite polynomials are all but monomials
FARTHEST = 700.0  # exponents of features that a float64 can still hold; those of rows farther off are 0


@obeys_n_jobs
class HermiteMap(TransformerMixin, BaseEstimator):
    """The Gaussian kernel's expansion in Hermite polynomials, cut at a total degree.

    The kernel ``exp(-gamma * squared_distance)`` is the inner product of infinitely many features. For columns that are
    normally distributed they are products of Hermite polynomials times a Gaussian, one factor for each column (Mehler's
    formula); this map has those up to a total degree, for the mean and the variance of each training column. No other
    features of the same number have a smaller mean squared error in one normally distributed column.

    For CSR rows use the Taylor series of the exponential, monomials times a Gaussian, which is the limit of the former
    for narrow columns at 0: it keeps zeros, but needs more degrees for the same accuracy.

    Parameters
    ----------
    degree : int, default=4
        Polynomials up to this total degree: C(n_features + degree, degree) features.
    gamma : float or "scale", default="scale"
        "scale" is ``1 / (n_features * X.var())``, or 1 if X is constant.
    expansion : {"hermite", "taylor"}, default="hermite"
        "hermite" takes dense rows, "taylor" takes CSR rows, too, and returns CSR for them.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    gamma_ : float
    center_ : ndarray of shape (n_features_in_,)
        The columns' means. Where the expansion is "taylor" it is taken around 0, and there is no such attribute.
    variances_ : ndarray of shape (n_features_in_,)
        The columns' variances, for which the Hermite polynomials are chosen; also only for "hermite".
    n_output_features_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    What is left out is an inner product, too, so that the error of two rows is at most the geometric mean of the errors
    of each row with itself. `error_bound` returns these.

    Taylor: exp(-gamma |x|^2) prod_i (2 gamma)^(a_i/2) x_i^(a_i) / sqrt(a_i!) for the powers a_1, ..., a_d.

    Hermite, with sigma^2 a column's variance, u = 8 gamma sigma^2, b^2 = sqrt(1 + u), c = 2 gamma / (b^2 + 1) and
    q = gamma / (1 / (2 sigma^2) + c + gamma): sqrt(b) (1 / (1 + 2 sigma^2 (c + gamma)))^(1/4) exp(-c x^2)
    sqrt(q^n / n!) He_n(b x / sigma) for the order n, with x counted from the column's mean.

    All arithmetic is in double precision; float32 rows give float32 features.

    References
    ----------
    Hsu: Features, lecture notes of COMS 4771, Columbia University, 2015, section 1.1.

    Fasshauer, McCourt: Stable Evaluation of Gaussian Radial Basis Function Interpolants, SIAM J. Sci. Comput. 34, 2012.

    Cotter, Keshet, Srebro: Explicit Approximations of the Gaussian Kernel, 2011, arXiv:1109.4603.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from vicinal.expand import HermiteMap
    >>> from vicinal.expand.kernels import Gaussian
    >>> X, y = load_iris(return_X_y=True)
    >>> model = HermiteMap(degree=8, gamma=0.1)
    >>> features = model.fit_transform(X)
    >>> error = np.abs(features @ features.T - Gaussian(gamma=0.1)(X)).max()
    >>> bool(error <= model.error_bound(X).max() < 0.001)
    True
    """

    def __init__(
        self,
        degree: int = 4,
        gamma: float | str = "scale",
        *,
        expansion: str = "hermite",
        n_jobs: int | None = None,
    ):
        self.degree = degree
        self.gamma = gamma
        self.expansion = expansion
        self.n_jobs = n_jobs

    @all_or_nothing
    def fit(self, X: ArrayLike, y: Any = None) -> HermiteMap:
        """Find the kernel's width and, for Hermite polynomials, the columns' means and variances.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        check_choice("expansion", self.expansion, ("hermite", "taylor"))
        degree = check_degree(self.degree)
        given = self._checked(X, reset=True)
        n_columns = n_monomials(given.shape[1], degree)
        refuse_too_many_columns(n_columns, f"degree={degree} of {given.shape[1]} columns", "Gaussian")
        if isinstance(self.gamma, str) and self.gamma != "scale":
            raise ValueError(f"gamma must be a number above 0 or 'scale'; got {self.gamma!r}.")
        gamma = gamma_from_scale(given) if isinstance(self.gamma, str) else check_positive("gamma", self.gamma)
        if self.expansion == "hermite":
            self.center_ = given.mean(axis=0, dtype=np.float64)
            self.variances_ = np.maximum(given.var(axis=0, dtype=np.float64), SMALLEST_SPREAD / gamma)
        else:
            for name in {"center_", "variances_"} & set(vars(self)):
                delattr(self, name)
        self.gamma_, self.n_output_features_ = gamma, n_columns
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any] | sp.csr_matrix | sp.csr_array:
        """The features of each row: CSR if X is sparse, else dense.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray or CSR matrix of shape (n_samples, n_output_features_)
        """
        check_is_fitted(self)
        given = self._checked(X, reset=False)
        shape, way_out = (given.shape[0], self.n_output_features_), "lower the degree, or use RandomFourierFeatures"
        if not sp.issparse(given):
            refuse_what_does_not_fit(shape[0] * shape[1], given.dtype.itemsize, shape, way_out)
            factors = self._hermite_factors if self.expansion == "hermite" else self._taylor_factors
            scales = np.ones(self.degree + 1)
            return dense_products(given.shape, self.degree, lambda rows: factors(given[rows]), scales, given.dtype)
        rows = without_zeros(given)
        refuse_what_does_not_fit(sparse_size(rows, self.degree), given.dtype.itemsize + 8, shape, way_out)
        exponents = self.gamma_ * self._squared_norms(rows)
        scaled, near = rows.astype(np.float64), exponents < FARTHEST
        scaled.data *= np.repeat(np.sqrt(2 * self.gamma_) * near, np.diff(rows.indptr))
        common = np.where(near, np.exp(-np.minimum(exponents, FARTHEST)), 0.0)
        return sparse_products(scaled, self.degree, np.ones(self.degree), common, given.dtype)

    def error_bound(self, X: ArrayLike) -> NDArray[np.float64]:
        """What is missing in the inner product of each row's features with themselves, which should be 1.

        Between two rows, the inner product of features differs from the kernel by the geometric mean of their two
        numbers at most, and hence nowhere by more than the largest of all.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            From 0 for none to 1, as far as rounding allows.
        """
        check_is_fitted(self)
        given = self._checked(X, reset=False)
        if self.expansion == "taylor":
            # The tail of the exponential's series, divided by the exponential: of Poisson's distribution.
            return gammainc(self.degree + 1, 2 * self.gamma_ * self._squared_norms(canonical(given)))
        common, factors = self._hermite_factors(given)
        of_degree = np.zeros((self.degree + 1, given.shape[0]))
        of_degree[0] = 1
        for column in np.moveaxis(np.square(factors), 1, 0):  # the sums of squares of the products of each degree
            for k in range(self.degree, 0, -1):
                of_degree[k] += (of_degree[:k] * column[k - 1 :: -1][:k]).sum(axis=0)
        return np.clip(1 - common**2 * of_degree.sum(axis=0), 0, 1)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Names with the orders, ``"H2(x0) H1(x3)"``, or for "taylor" the powers, ``"x0^2 x3"``.

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
        if self.expansion == "taylor":
            return monomial_names(names, self.degree)
        return monomial_names(names, self.degree, one="H0", power="H{power}({name})", itself="H1({name})")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.expansion == "taylor"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.n_output_features_

    def _checked(self, X: ArrayLike, *, reset: bool) -> Matrix:
        if self.expansion == "hermite" and sp.issparse(X):
            raise TypeError(
                "Hermite polynomials of sparse rows are not sparse; set expansion='taylor', which keeps zeros, or make "
                "a dense array of X with X.toarray()."
            )
        given: Matrix = checked_rows(self, X, reset=reset)
        refuse_large_values("X", given)
        return given

    def _squared_norms(self, rows: Matrix) -> NDArray[np.float64]:
        return row_norms(rows.astype(np.float64, copy=False), squared=True)

    def _taylor_factors(self, rows: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        columns = rows.T.astype(np.float64)
        common = _envelope(self.gamma_ * np.square(columns).sum(axis=0), columns)
        columns *= np.sqrt(2 * self.gamma_)
        factors = np.empty((self.degree, *columns.shape))
        factors[0] = columns
        for k in range(1, self.degree):
            np.multiply(factors[k - 1], columns / np.sqrt(k + 1), out=factors[k])
        return common, factors

    def _hermite_factors(self, rows: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        columns = (rows - self.center_).T
        b2 = np.sqrt(1 + 8 * self.gamma_ * self.variances_)
        c = 2 * self.gamma_ / (b2 + 1)
        widths = 2 * self.variances_ * (c + self.gamma_)
        q = self.gamma_ * 2 * self.variances_ / (1 + widths)
        common = _envelope(c @ np.square(columns), columns)
        common *= np.exp(0.25 * (np.log(b2) - np.log1p(widths)).sum())
        columns *= np.sqrt(b2 / self.variances_)[:, None]
        roots = np.sqrt(q)[:, None]
        factors = np.empty((self.degree, *columns.shape))
        before: NDArray[np.float64] = np.zeros_like(columns)
        current: NDArray[np.float64] = np.ones_like(columns)
        for n in range(self.degree):  # He_(n+1)(z) = z He_n(z) - n He_(n-1)(z), each over sqrt(n!) and times q^(n/2)
            before, current = current, roots * (columns * current - np.sqrt(n) * roots * before) / np.sqrt(n + 1)
            factors[n] = current
        return common, factors


def _envelope(exponents: NDArray[np.float64], columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """exp(-exponents); 0 for rows so far off that powers of them could not be held, and these are moved to 0."""
    far = exponents > FARTHEST
    columns[:, far] = 0
    return np.where(far, 0.0, np.exp(-np.minimum(exponents, FARTHEST)))
