"""NeighborOutlierDetector: the distance to the k-th nearest training row, in the space of local features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .. import _native
from .._calls import as_native, obeys_n_jobs
from .._validation import Matrix, all_or_nothing, check_count, checked_rows
from ..graphs import nearest_rows
from ..local import RandLocal
from ._calibrated import CalibratedDetector, split_rows
from ._surprise import score_levels, surprise


@obeys_n_jobs
class NeighborOutlierDetector(CalibratedDetector):
    """Outliers by how far the k-th nearest training row is, by the cosine of local features.

    Two rows are near if many groups send them to the same anchors. The plain distance between such features fails: an
    outlier is far from all anchors, its values are small, and so is its distance to other such rows. The cosine does
    not see how large values are. The search is exact and takes time in proportion to rows times `max_samples`;
    `LocalOutlierDetector` is the one for many rows.

    Parameters
    ----------
    map : transformer, default=None
        What makes features; None for ``RandLocal(task="unsupervised")``.
    n_neighbors : int, default=20
        Which neighbour's distance counts. Outliers that come in groups of up to this many are found.
    contamination : float or "auto", default="auto"
        Share of outliers in the training data, in (0, 0.5], which sets the threshold of `predict`. "auto" sets it at a
        score of 2: a row as strange as one training row in a hundred.
    calibration : float, default=0.3
        Share of the training rows that is held out for `p_values`.
    max_samples : int, default=16384
        The most training rows that are kept and searched, drawn at random.
    random_state : int, RandomState instance or None, default=None
        Draws rows, and seeds the map if none is given.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    offset_ : float
        Threshold of `score_samples`; rows below it are outliers.
    map_ : transformer
        The fitted map.
    features_ : array or CSR matrix
        Features of the rows that are searched.
    fingerprints_ : ndarray
        A hash of each of these rows, by which a row is not taken for its own neighbour.
    levels_ : ndarray
        Quantiles of the training rows' distances.
    calibration_scores_ : ndarray
        Scores of the rows held out, ascending.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    Wang, Aggarwal, Liu: Randomized Feature Engineering as a Fast and Accurate Alternative to Kernel Methods, KDD 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import NeighborOutlierDetector
    >>> angles = np.linspace(0, 6, 500)
    >>> circle = np.column_stack([np.cos(angles), np.sin(angles)])
    >>> detector = NeighborOutlierDetector(n_neighbors=5, contamination=0.01, random_state=0).fit(circle)
    >>> detector.predict([[1.0, 0.0], [0.1, 0.1]])
    array([ 1, -1])
    """

    def __init__(
        self,
        map: Any = None,
        *,
        n_neighbors: int = 20,
        contamination: float | str = "auto",
        calibration: float = 0.3,
        max_samples: int = 16384,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.map = map
        self.n_neighbors = n_neighbors
        self.contamination = contamination
        self.calibration = calibration
        self.max_samples = max_samples
        self.random_state = random_state
        self.n_jobs = n_jobs

    @all_or_nothing
    def fit(self, X: ArrayLike, y: Any = None) -> NeighborOutlierDetector:
        """Fit the map, and keep the features of training rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        given = self._checked(X, reset=True)
        check_count("n_neighbors", self.n_neighbors)
        check_count("max_samples", self.max_samples, least=2)
        self._check_calibration()
        rng = check_random_state(self.random_state)
        learned, held_out = split_rows(given.shape[0], self.max_samples, self.calibration, rng)
        rows, seed = given[learned], rng.randint(2**31)
        self.map_ = RandLocal(task="unsupervised", random_state=seed) if self.map is None else clone(self.map)
        self.features_ = self.map_.fit_transform(rows)
        self.fingerprints_ = _fingerprints(rows)
        # By place, so that copies of a row are its neighbours here, as they are when other rows are scored.
        distances = self._distances(self.features_, np.arange(len(learned)))
        self.levels_ = score_levels(distances)
        scores_held_out = self._scores(given[held_out]) if len(held_out) else np.empty(0)
        self._calibrate(-surprise(distances, self.levels_), scores_held_out)
        return self

    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """Minus how strange each row is: -1 for a row farther off than nine training rows in ten, and so on.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self, "levels_")
        return self._scores(self._checked(X, reset=False))

    def _scores(self, rows: Matrix) -> NDArray[np.float64]:
        order = np.argsort(self.fingerprints_, kind="stable")
        prints = _fingerprints(rows)
        places = np.minimum(np.searchsorted(self.fingerprints_, prints, sorter=order), len(order) - 1)
        own = np.where(self.fingerprints_[order[places]] == prints, order[places], -1)
        return -surprise(self._distances(self.map_.transform(rows), own), self.levels_)

    def _checked(self, X: ArrayLike, *, reset: bool) -> Matrix:
        least = 3 if reset else 1
        return checked_rows(
            self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=least
        )

    def _distances(self, features: Matrix, own: NDArray[np.int64]) -> NDArray[np.float64]:
        k = min(self.n_neighbors, self.features_.shape[0] - 1)  # as many as a row that is among them has
        distances, _ = nearest_rows(features, self.features_, n_neighbors=k, metric="cosine", exclude_self=own)
        return distances[:, -1].astype(np.float64)


def _fingerprints(rows: Matrix) -> NDArray[np.uint64]:
    out = np.empty(rows.shape[0], np.uint64)
    _native.fingerprints(as_native(rows), out)
    return out
