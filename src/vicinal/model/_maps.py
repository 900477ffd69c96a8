"""Features of a local model's parts that are no cells: the columns themselves, and a kernel's values at some rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import solve_triangular
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import QuantileTransformer
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement
from sklearn.utils.sparsefuncs import mean_variance_axis

from .._calls import one_blas_thread
from .._validation import Matrix

KNOTS = 250  # quantiles that are kept of a column
LARGEST = 1e30  # factor of columns that are next to zero
RIDGE = 1e-4  # on the diagonal of a kernel matrix


class ColumnsAndRanks(TransformerMixin, BaseEstimator):
    """Columns and, of dense rows, their ranks beside them; mean squared length 1, missing values in the middle.

    Parameters
    ----------
    ranks : bool, default=True
        Whether dense rows have ranks as well.

    Examples
    --------
    >>> import numpy as np
    >>> ColumnsAndRanks().fit_transform(np.array([[1.0], [10.0], [100.0]])).shape
    (3, 2)
    """

    def __init__(self, ranks: bool = True):
        self.ranks = ranks

    def fit(self, X: Matrix, y: Any = None) -> ColumnsAndRanks:
        """Learn ranks and lengths of rows.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        self.ranker_ = None
        if self.ranks and not sp.issparse(X):
            self.ranker_ = QuantileTransformer(n_quantiles=min(KNOTS, X.shape[0]), random_state=0).fit(X)
        self.factor_ = 1.0
        made = self.transform(X)
        squares = made.multiply(made).sum() if sp.issparse(made) else np.square(made, dtype=np.float64).sum()
        self.factor_ = min(LARGEST, 1 / np.sqrt(float(squares) / X.shape[0])) if squares > 0 else 1.0
        return self

    def transform(self, X: Matrix) -> Matrix:
        """Columns, ranks beside them.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray or CSR matrix
        """
        factor = np.asarray(self.factor_, dtype=X.dtype)
        if sp.issparse(X):
            return X * factor
        parts = [X] if self.ranker_ is None else [X, 3 * (self.ranker_.transform(X) - X.dtype.type(0.5))]
        return np.nan_to_num(np.hstack(parts) * factor, nan=0.0)


class KernelAtRows(TransformerMixin, BaseEstimator):
    """Coordinates of rows in the space that a Gaussian kernel spans with some training rows.

    With the kernel matrix of these rows K = L L', the coordinates of x are the solution of L z = k(x), so that inner
    products are the kernel's where it lies in that space.

    Parameters
    ----------
    n_rows : int, default=2000
        Training rows, and features; at most as many as there are.
    sharpness : float, default=1.0
        The kernel is ``exp(-sharpness * d^2 / v)``, where v is the sum of the columns' variances.
    random_state : int, default=0

    Examples
    --------
    >>> import numpy as np
    >>> KernelAtRows(2).fit_transform(np.array([[1.0], [10.0], [100.0]])).shape
    (3, 2)
    """

    def __init__(self, n_rows: int = 2000, *, sharpness: float = 1.0, random_state: int = 0):
        self.n_rows = n_rows
        self.sharpness = sharpness
        self.random_state = random_state

    def fit(self, X: Matrix, y: Any = None) -> KernelAtRows:
        """Draw the rows.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        variances = mean_variance_axis(X, axis=0)[1] if sp.issparse(X) else X.var(axis=0, dtype=np.float64)
        self.gamma_ = self.sharpness / max(float(variances.sum()), 1e-12)
        rng = check_random_state(self.random_state)
        kept = sample_without_replacement(X.shape[0], min(self.n_rows, X.shape[0]), random_state=rng)
        self.rows_ = X[np.sort(kept)]
        with one_blas_thread():
            gram = rbf_kernel(self.rows_, gamma=self.gamma_).astype(np.float64)
            gram.flat[:: len(gram) + 1] += RIDGE  # equal rows would make it singular
            self.factor_ = np.linalg.cholesky(gram).astype(X.dtype)
        return self

    def transform(self, X: Matrix) -> Matrix:
        """The coordinates.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
        """
        with one_blas_thread():  # the same bits on any number of threads
            values = rbf_kernel(X, self.rows_, gamma=self.gamma_)
            made: Matrix = solve_triangular(self.factor_, values.T, lower=True, check_finite=False).T
        return np.ascontiguousarray(made)
