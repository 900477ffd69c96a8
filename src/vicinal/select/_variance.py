"""The honest trivial selector."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.utils.sparsefuncs import mean_variance_axis

from .._magnitudes import as_doubles, columns_with_squares
from .._validation import Matrix
from ._base import FeatureSelector, Ranked
from ._columns import varying


class MaximumVariance(FeatureSelector):
    """Keeps the columns that vary most.

    What every other method has to beat. Columns need a common unit: standardised, all are equal.

    Parameters
    ----------
    n_features_to_select : int, float or "all", default=0.5
        How many columns are kept: a number, a share of them, or all.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The columns' standard deviations.
    ranking_ : ndarray of shape (n_features_in_,)
        The rank of each column, 1 for the best; equal scores in the order of columns.
    support_ : ndarray of bool of shape (n_features_in_,)
        The columns that are kept.
    objective_ : ndarray of shape (1,)
        The sum of the kept columns' standard deviations.
    n_iter_ : int
        1.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import MaximumVariance
    >>> X = np.array([[0.0, 5.0, 1.0], [0.1, -5.0, 1.0], [0.2, 4.0, 1.0]])
    >>> selector = MaximumVariance(1).fit(X)
    >>> selector.get_feature_names_out()
    array(['x1'], dtype=object)
    >>> selector.with_n_features(2).transform(X).shape
    (3, 2)
    """

    def __init__(self, n_features_to_select: int | float | str = 0.5):
        self.n_features_to_select = n_features_to_select

    def _rank(self, X: Matrix) -> Ranked:
        X, units = columns_with_squares(as_doubles(X))
        deviations = np.sqrt(mean_variance_axis(X, axis=0)[1]) if sp.issparse(X) else X.std(axis=0)
        return Ranked(np.where(varying(X), units * deviations, 0.0))
