"""p-values of the rows of one table, each by a detector that has not seen the row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from .._validation import check_count


def cross_fitted_p_values(
    detector: Any, X: ArrayLike, *, n_folds: int = 2, random_state: int | np.random.RandomState | None = None
) -> NDArray[np.float64]:
    """How likely a row of the same table is at least as strange, for all rows of the table.

    A detector has seen the rows that it was fitted on, so that they look less strange to it than others do. Here the
    rows are divided at random into folds. The rows of a fold are scored by a detector that was fitted on the other
    folds, and each is compared with the rows of its own fold, which that detector has not seen either.

    Parameters
    ----------
    detector : estimator
        Anything with `fit` and `score_samples`, such as a `LocalOutlierDetector` or a pipeline that ends in one. It is
        cloned and stays as it is.
    X : array-like, sparse matrix or frame of shape (n_samples, n_features)
    n_folds : int, default=2
        With more folds detectors learn from more rows, but p-values are coarser: the least is the number of folds over
        the number of rows.
    random_state : int, RandomState instance or None, default=None
        Draws the folds.

    Returns
    -------
    ndarray of shape (n_samples,)
        Rows of the fold that are at least as strange, the row itself among them, over all rows of the fold.

    Notes
    -----
    If rows are exchangeable, each p-value is uniform, whatever the detector. But together they say nothing of how many
    outliers there are: the p-values of a fold are always 1/n, 2/n, ..., 1, so that a bound on the share of false alarms
    (Benjamini and Hochberg) calls none an outlier. Such a bound needs a detector that was fitted on rows known to be
    normal: ``detector.fit(normal).predict(X, fdr=0.05)``.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.outlier import LocalOutlierDetector, cross_fitted_p_values
    >>> X = np.random.default_rng(0).normal(size=(400, 4))
    >>> X[7] = 9
    >>> p_values = cross_fitted_p_values(LocalOutlierDetector(random_state=0), X, random_state=0)
    >>> float(p_values[7])
    0.005
    """
    check_count("n_folds", n_folds, least=2)
    n_rows = _num_samples(X)
    if n_rows < 2 * n_folds:
        raise ValueError(f"{n_folds} folds need at least {2 * n_folds} rows; there are {n_rows}.")
    p_values = np.empty(n_rows)
    folds = KFold(n_folds, shuffle=True, random_state=random_state)
    for others, own in folds.split(np.empty((n_rows, 1))):
        fitted = _without_calibration(clone(detector)).fit(_safe_indexing(X, others))
        scores = fitted.score_samples(_safe_indexing(X, own))
        p_values[own] = np.searchsorted(np.sort(scores), scores, side="right") / len(own)
    return p_values


def _without_calibration(detector: Any) -> Any:
    """Rows need not be held out for p-values: those of the other fold are."""
    names = [name for name in detector.get_params() if name.rpartition("__")[2] == "calibration"]
    return detector.set_params(**dict.fromkeys(names, 0.0))
