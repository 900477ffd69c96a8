"""LocalOutlierDetector: rows that are far from anchors, in empty cells, or far for their neighbourhood."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._calls import obeys_n_jobs
from .._validation import (
    Matrix,
    all_or_nothing,
    check_choice,
    check_count,
    check_positive,
    checked_rows,
)
from ..local import RandLocal
from ._calibrated import CalibratedDetector, split_rows
from ._cells import Cells, weight_of_relative
from ._column_scale import ColumnScale
from ._stream import draw_keys, keep_largest, stacked
from ._surprise import score_levels, surprise

CRITERIA = ("combined", "values", "mass", "relative")
BLOCK, CELL_BLOCK = 16384, 4096  # rows that are scaled and scored at a time, and whose cells are all kept
LEAST_ROWS, MOST_VALUES = 4096, 2**24  # that are learned from, where there are as many
# The relative score looks closely: anchors as many as an eighth of the rows, in few groups of most columns.
LOCAL_ROWS, LOCAL_SHARE, LOCAL_ANCHORS, LOCAL_GROUPS = 32768, 8, (64, 2048), 16
MASS_WEIGHT = 0.2


@obeys_n_jobs
class LocalOutlierDetector(CalibratedDetector):
    """Outliers by the nearest of random anchors in random subspaces, in time linear in the rows.

    As in `RandLocal`, each group has a few columns and some training rows as anchors, and each row belongs to the cell
    of its nearest anchor. Three scores follow, each a mean over the groups:

    - "values": how far the row is from its anchor, as a share s of the group's mean distance; beyond it, 1 + log s.
      Outliers of the whole data set are far in many groups, or very far in some.
    - "mass": how few training rows are in its cell.
    - "relative": how far it is from its anchor beside other rows of its cell, among many anchors. Outliers of their
      neighbourhood, which are not far from anything, are found by it.

    "combined" weighs them. Scores are brought to one scale first: 1 for a row that is stranger than nine training rows
    in ten, 2 for one stranger than 99 in a hundred, and so on. The features themselves are never stored.

    Parameters
    ----------
    n_groups : int, default=200
        Groups of columns and anchors.
    n_anchors : int or (int, int), default=32
        Anchors per group, see `RandLocal`. Few of them see outliers that keep together, too.
    feature_range : (int, int) or (float, float), default=None
        Columns per group, as in `RandLocal`; None for 1 to half of them.
    metric : {"euclidean", "manhattan", "cosine"}, default="euclidean"
        Distance within a group's columns.
    criterion : {"combined", "values", "mass", "relative"}, default="combined"
        What makes a row an outlier.
    local_weight : float or "auto", default="auto"
        Weight of the relative score in the combination, from 0 to 1. "auto" gives it 0.85 where surroundings of rows
        are of very different widths (their quartiles differ by a factor of more than three), rows of a cell agree on
        theirs, and few rows repeat: then one threshold cannot do for all regions. It gives none where one of these
        does not hold, and something in between on the way. The rest goes to values and mass, four to one.
    scale : {"standard", None}, default="standard"
        Whether columns are scaled to unit variance first. Then the result does not depend on their units.
    contamination : float or "auto", default="auto"
        Share of outliers in the training data, in (0, 0.5], which sets the threshold of `predict`. "auto" sets it at a
        score of 2: a row as strange as one training row in a hundred.
    calibration : float, default=0.3
        Share of the training rows that is held out for `p_values`.
    max_samples : int, default=65536
        The most training rows that are looked at, drawn at random; fewer where they have more than 2^24 values.
    half_life : float or None, default=None
        For `partial_fit`: a row counts half as much as one that came this many rows later. None: all rows count alike.
    random_state : int, RandomState instance or None, default=None
        Draws rows, columns and anchors. The result does not depend on the number of threads.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    offset_ : float
        Threshold of `score_samples`; rows below it are outliers.
    local_weight_ : float
        Weight of the relative score.
    map_, local_map_ : RandLocal or None
        Anchors of the first two scores, and of the relative one; over `scale_`. None where
        they are not needed.
    scale_ : ndarray of shape (n_features_in_,)
        What columns are divided by.
    largest_ : float
        The largest value of a training row after that.
    emptiness_ : ndarray or None
        Of each anchor of `map_`, minus the logarithm of the share of rows in its cell.
    local_nearness_ : ndarray or None
        Of each anchor of `local_map_`, one over the usual distance of rows in its cell.
    levels_ : ndarray of shape (n_scores, 1001)
        Quantiles of the training rows' scores.
    calibration_scores_ : ndarray
        Scores of the rows held out, ascending.
    anchor_scores_ : ndarray
        Scores of the anchors of `map_`, or of `local_map_` where there is no other.
    n_samples_seen_ : int
    recent_rows_, recent_keys_ : ndarray
        What `partial_fit` keeps of the rows it has seen.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    A training row that is an anchor is compared with other anchors, not with itself. Missing values are left out: a
    row is scored by the groups in which it has any; a row without any value is as strange as the median row.

    p-values are exact for rows that are exchangeable with the training rows. Outliers among the training rows make
    them larger, so that fewer rows are called outliers, never more. After `partial_fit` they hold approximately.

    References
    ----------
    Wang, Aggarwal, Liu: Randomized Feature Engineering as a Fast and Accurate Alternative to Kernel Methods, KDD 2017.
    Bates, Candes, Lei, Romano, Sesia: Testing for outliers with conformal p-values, Annals of Statistics 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import LocalOutlierDetector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 5))
    >>> detector = LocalOutlierDetector(random_state=0).fit(X)
    >>> detector.predict([[0, 0, 0, 0, 0], [9, 9, 9, 9, 9]])
    array([ 1, -1])
    >>> bool(detector.p_values([[9, 9, 9, 9, 9]])[0] < 0.01)
    True
    """

    map_: RandLocal | None
    local_map_: RandLocal | None
    emptiness_: NDArray[np.float64] | None
    local_nearness_: NDArray[np.float64] | None

    def __init__(
        self,
        n_groups: int = 200,
        *,
        n_anchors: int | tuple[int, int] = 32,
        feature_range: tuple[float, float] | None = None,
        metric: str = "euclidean",
        criterion: str = "combined",
        local_weight: float | str = "auto",
        scale: str | None = "standard",
        contamination: float | str = "auto",
        calibration: float = 0.3,
        max_samples: int = 65536,
        half_life: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_groups = n_groups
        self.n_anchors = n_anchors
        self.feature_range = feature_range
        self.metric = metric
        self.criterion = criterion
        self.local_weight = local_weight
        self.scale = scale
        self.contamination = contamination
        self.calibration = calibration
        self.max_samples = max_samples
        self.half_life = half_life
        self.random_state = random_state
        self.n_jobs = n_jobs

    @all_or_nothing
    def fit(self, X: ArrayLike, y: Any = None) -> LocalOutlierDetector:
        """Draw anchors from X, count its rows in their cells, and hold some out for p-values.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        rows = self._checked(X, reset=True)
        self._check_parameters()
        self._learn(rows, check_random_state(self.random_state))
        self.n_samples_seen_ = rows.shape[0]
        self.recent_rows_, self.recent_keys_ = rows[:0], np.empty(0)
        return self

    @all_or_nothing
    def partial_fit(self, X: ArrayLike, y: Any = None) -> LocalOutlierDetector:
        """Learn from more rows of a stream.

        A sample of at most `max_samples` of all rows seen is kept, newer ones with greater chances if there is a
        `half_life`; anchors, the masses of cells and p-values follow from it.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        first = not hasattr(self, "offset_")
        new = self._checked(X, reset=first)
        self._check_parameters()
        seen = 0 if first else self.n_samples_seen_
        rng = check_random_state(_seed_after(self.random_state, seen))
        rows, keys = (new[:0], np.empty(0)) if first else self._recent(seen, rng)
        rows = stacked([rows, new])
        keys = np.concatenate([keys, draw_keys(new.shape[0], seen, seen + new.shape[0], self.half_life, rng)])
        self.recent_rows_, self.recent_keys_ = keep_largest(rows, keys, self._most_rows(new.shape[1]))
        self.n_samples_seen_ = seen + new.shape[0]
        self._learn(self.recent_rows_, rng)
        return self

    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """Minus how strange each row is: -1 for a row stranger than nine training rows in ten, -2 for 99 in a hundred.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        rows = self._checked(X, reset=False)
        scale = ColumnScale(self.scale_, self.largest_)
        parts = (scale.apply(rows[start : start + BLOCK]) for start in range(0, rows.shape[0], BLOCK))
        return -np.concatenate([self._strangeness(self._parts(part)) for part in parts])

    def strangeness_by_cell(self, X: ArrayLike) -> list[sp.csr_array]:
        """Which cells make rows strange, and how much: what `vicinal.explain.explain` tells in words.

        Each of the scores is divided among the groups, in proportion to how far the row's term exceeds the usual one of
        the group; in equal parts where it exceeds none.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        list of CSR arrays of shape (n_samples, n_cells)
            Of `map_` and `local_map_`, as far as they are there: an entry for the cell of each group that a row is in.
            All entries of a row add up to ``-score_samples(X)``, unless it has no value in any group of a map.
        """
        check_is_fitted(self)
        rows = self._checked(X, reset=False)
        cells = self._cells()
        usual = [one.usual_terms() for one in cells]
        blocks = []
        for start in range(0, rows.shape[0], CELL_BLOCK):
            block = ColumnScale(self.scale_, self.largest_).apply(rows[start : start + CELL_BLOCK])
            amounts = self._weighted(self._parts(block))
            blocks.append([one.divided(block, amounts, terms) for one, terms in zip(cells, usual, strict=True)])
        return [sp.vstack(found, format="csr") for found in zip(*blocks, strict=True)]

    def _checked(self, X: ArrayLike, *, reset: bool) -> Matrix:
        return checked_rows(self, X, reset=reset, ensure_all_finite="allow-nan", ensure_min_samples=2 if reset else 1)

    def _check_parameters(self) -> None:
        check_choice("criterion", self.criterion, CRITERIA)
        check_choice("scale", self.scale, ("standard", None))
        check_count("max_samples", self.max_samples, least=2)
        if self.half_life is not None:
            check_positive("half_life", self.half_life)
        if self.local_weight != "auto" and not (
            isinstance(self.local_weight, float | int | np.floating) and 0 <= self.local_weight <= 1
        ):
            raise ValueError(f"local_weight must be 'auto' or a number from 0 to 1; got {self.local_weight!r}.")
        self._check_calibration()

    def _most_rows(self, n_features: int) -> int:
        return min(self.max_samples, max(LEAST_ROWS, MOST_VALUES // n_features))

    def _recent(self, seen: int, rng: np.random.RandomState) -> tuple[Matrix, NDArray[np.float64]]:
        """Rows kept of earlier calls; after `fit`, which keeps none, its anchors, a sample of its rows."""
        if self.recent_rows_.shape[0]:
            return self.recent_rows_, self.recent_keys_
        rows = ColumnScale(self.scale_, self.largest_).undo(
            stacked([cells.anchors.anchors_ for cells in self._cells()])
        )
        n_rows = rows.shape[0]
        return rows, draw_keys(n_rows, 0, seen, self.half_life, rng, each=max(seen / n_rows, 1.0))

    def _learn(self, X: Matrix, rng: np.random.RandomState) -> None:
        learned, held_out = split_rows(X.shape[0], self._most_rows(X.shape[1]), self.calibration, rng)
        rows = X[learned]
        scale = ColumnScale.of(rows, unit_variance=self.scale == "standard")
        self.scale_, self.largest_ = scale.scale, scale.largest
        rows = scale.apply(rows)
        self.local_weight_ = 1.0 if self.criterion == "relative" else 0.0
        self.map_ = self.local_map_ = None
        self.emptiness_ = self.local_nearness_ = None
        if self.criterion != "relative":
            self._learn_cells(rows, learned, rng)
        if self.criterion == "relative" or (self.criterion == "combined" and self.local_weight != 0):
            self._learn_surroundings(rows, learned, rng)
        parts = self._parts(rows)
        self.levels_ = np.stack([score_levels(part[~np.isnan(part)]) for part in parts.values()])
        scores = -self._strangeness(parts)
        self.anchor_scores_ = scores[np.searchsorted(learned, self._cells()[0].anchors.anchor_samples_)]
        scores_held_out = self._strangeness(self._parts(scale.apply(X[held_out]))) if len(held_out) else np.empty(0)
        self._calibrate(scores, -scores_held_out)

    def _learn_cells(self, rows: Matrix, places: NDArray[np.int64], rng: np.random.RandomState) -> None:
        n_features = rows.shape[1]
        self.map_ = RandLocal(
            self.n_groups,
            n_anchors=self.n_anchors,
            feature_range=self.feature_range or (1, max(1, n_features // 2)),
            metric=self.metric,
            random_state=rng.randint(2**31),
        ).fit(rows)
        self.map_.anchor_samples_ = places[self.map_.anchor_samples_]
        cells, _ = Cells.count(self.map_, rows)
        self.emptiness_ = cells.emptiness

    def _learn_surroundings(self, rows: Matrix, places: NDArray[np.int64], rng: np.random.RandomState) -> None:
        """Many anchors in few groups; they are forgotten again where they get no weight."""
        n_rows, n_features = rows.shape
        if self.criterion == "combined" and n_rows < LOCAL_ANCHORS[0] * LOCAL_SHARE:
            return
        if n_rows > LOCAL_ROWS:
            kept = np.sort(rng.permutation(n_rows)[:LOCAL_ROWS])
            rows, places = rows[kept], places[kept]
        n_anchors = int(np.clip(rows.shape[0] // LOCAL_SHARE, *LOCAL_ANCHORS))
        local_map = RandLocal(
            LOCAL_GROUPS,
            n_anchors=n_anchors,
            feature_range=((n_features + 1) // 2, n_features),
            metric=self.metric,
            random_state=rng.randint(2**31),
        ).fit(rows)
        local_map.anchor_samples_ = places[local_map.anchor_samples_]
        cells, surroundings = Cells.count(local_map, rows)
        if self.criterion == "combined":
            given = self.local_weight
            self.local_weight_ = weight_of_relative(cells, surroundings, rows) if given == "auto" else float(given)
        if self.local_weight_ > 0:
            self.local_map_, self.local_nearness_ = local_map, cells.nearness

    def _cells(self) -> list[Cells]:
        found = []
        if self.map_ is not None:
            found.append(Cells(self.map_, self.emptiness_, None))
        if self.local_map_ is not None:
            found.append(Cells(self.local_map_, None, self.local_nearness_))
        return found

    def _parts(self, rows: Matrix) -> dict[str, NDArray[np.float64]]:
        """The scores of rows that count, each on a scale of its own."""
        parts: dict[str, NDArray[np.float64]] = {}
        for cells in self._cells():
            scores = dict(zip(CRITERIA[1:], cells.scores(rows), strict=True))
            parts |= {name: scores[name] for name in cells.names if self.criterion in (name, "combined")}
        return parts

    def _strangeness(self, parts: dict[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        """The weighted mean of scores on their common scale."""
        return np.sum(list(self._weighted(parts).values()), axis=0)

    def _weighted(self, parts: dict[str, NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
        """Scores on their common scale, times their weights, which add up to 1."""
        far = 1 - self.local_weight_
        weights = {"values": far * (1 - MASS_WEIGHT), "mass": far * MASS_WEIGHT, "relative": self.local_weight_}
        whole = sum(weights[name] for name in parts)
        weighted = {}
        for (name, part), levels in zip(parts.items(), self.levels_, strict=True):
            known = np.where(np.isnan(part), levels[len(levels) // 2], part)
            weighted[name] = weights[name] / whole * surprise(known, levels)
        return weighted


def _seed_after(random_state: Any, seen: int) -> Any:
    """Another seed for every call: with the same one, the keys of rows would be alike in all of them."""
    return (int(random_state) + seen) % 2**32 if isinstance(random_state, int | np.integer) else random_state
