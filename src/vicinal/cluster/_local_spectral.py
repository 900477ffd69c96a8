"""LocalSpectralClustering: spectral clustering of rows by the anchors that they share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from .._calls import obeys_n_jobs
from .._validation import Matrix, check_count, checked_rows
from ..local import RandLocal
from ._distinct import count_distinct
from ._spectral_features import SpectralFeatures
from ._starts import best_of_starts

# Of the default map. A group of one or two columns out of few would tear apart what the others join; and of few rows
# there must be several to an anchor, or rows share too few of them.
FEWEST_COLUMNS = 8
ROWS_PER_ANCHOR, FEWEST_ANCHORS, MOST_ANCHORS = 8, 16, 1024
_SEEDS = 2**31 - 1


@obeys_n_jobs
class LocalSpectralClustering(ClusterMixin, BaseEstimator):
    """Spectral clustering by shared neighbourhoods, at a cost that grows with the rows and not with their square.

    Rows and the anchors of `RandLocal` are the two sides of a graph: a row is joined to its nearest anchor of every
    group, and rows are alike if they share anchors. The graph's leading singular vectors (`SpectralFeatures`) place the
    rows, and k-means on these places, scaled to unit length, finds the clusters. They can have any shape, as those of
    `sklearn.cluster.SpectralClustering` can, but no matrix of rows by rows is made, and new rows have clusters, too.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        "auto" takes as many as the largest gap in the spectrum suggests, see Notes.
    map : transformer or None, default=None
        What makes the features: rows in, non-negative values out, such as `RandLocal` or `RULLS`. It is fitted as a
        clone. None for a `RandLocal` with unit rows and an anchor for every 8 rows, at least 16 and at most 1,024 of
        them in a group; each group looks at half of the columns or more, and at no fewer than 8 if there are as many.
    max_clusters : int, default=20
        The most that "auto" may suggest.
    n_groups : int, default=200
        Groups of the default map. More of them give steadier clusters, and take as much longer.
    metric : {"euclidean", "manhattan", "cosine"}, default="euclidean"
        Distance of the default map. The cosine is for counts of words, and wherever a row's length says little.
    n_components : int or "auto", default="auto"
        Singular vectors beside the first, which is much the same for all rows. "auto" takes half as many again as
        there are clusters, rounded up, less one: a vector that tells parts of one cluster apart may come before one
        that tells two clusters apart.
    n_starts : int, default=50
        Starts of k-means, of which the one with the smallest sum of squares counts; with more than 10,000 rows, on
        that many of them, and the best goes on with all rows. Few starts often end with a cluster cut in two.
    random_state : int, RandomState instance or None, default=None
        Draws the map's anchors, where the map has no seed of its own, and the starts of k-means.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row, from 0. The largest cluster comes first.
    n_clusters_ : int
    cluster_centers_ : ndarray of shape (n_clusters_, n_components + 1)
        Means of the clusters' places among the singular vectors.
    singular_values_ : ndarray
        The largest ones, in descending order, some more than are used. The first is 1, or nearly so.
    map_ : transformer
        The fitted map, whose anchors are the other side of the graph.
    features_ : SpectralFeatures
        Places what the map makes among the singular vectors.
    inertia_ : float
        Sum of the squared distances between the rows' places and their clusters' centers.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    If the rows are k parts that share no anchors, the first k singular values are 1 and the next is less. "auto" looks
    at the angles whose cosines they are and takes the k, at least 2, after which the angle grows the most. On data
    without such parts this is a hint, not more: look at `singular_values_`.

    Columns should be comparable, as for any distance: scale them first. Missing values are left out as `RandLocal`
    does; a row without any value is given to a cluster all the same.

    Defaults were chosen on scikit-learn's digits, pendigits, anuran calls, 6,000 rows of Fashion-MNIST and toy shapes.

    References
    ----------
    Dhillon: Co-clustering documents and words using bipartite spectral graph partitioning, KDD 2001.
    Chen, Cai: Large scale spectral clustering with landmark-based representation, AAAI 2011.
    Wang, Aggarwal, Liu: Randomized Feature Engineering as a Fast and Accurate Alternative to Kernel Methods, KDD 2017.

    See Also
    --------
    SpectralFeatures : The singular vectors alone.

    Examples
    --------
    Two rings, one within the other, which k-means cannot tell apart:

    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import make_circles
    >>> from vicinal import LocalSpectralClustering
    >>> from vicinal.metrics import clustering_accuracy
    >>> X, ring = make_circles(600, noise=0.05, factor=0.4, random_state=0)
    >>> model = LocalSpectralClustering(random_state=0).fit(X)
    >>> model.n_clusters_, clustering_accuracy(ring, model.labels_)
    (2, 1.0)
    >>> clustering_accuracy(ring, KMeans(2, n_init=10, random_state=0).fit_predict(X)) < 0.6
    True

    New rows go to the cluster whose center is nearest to their place:

    >>> bool((model.predict(X[:5]) == model.labels_[:5]).all())
    True
    """

    def __init__(
        self,
        n_clusters: int | str = "auto",
        *,
        map: Any = None,
        max_clusters: int = 20,
        n_groups: int = 200,
        metric: str = "euclidean",
        n_components: int | str = "auto",
        n_starts: int = 50,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.map = map
        self.max_clusters = max_clusters
        self.n_groups = n_groups
        self.metric = metric
        self.n_components = n_components
        self.n_starts = n_starts
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: Any = None) -> LocalSpectralClustering:
        """Find the clusters.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        rows = self._checked(X, reset=True)
        most = self._check_distinct(rows)
        rng = check_random_state(self.random_state)
        self.map_ = self._seeded_map(rows.shape, rng)
        sides = self.map_.fit_transform(rows)
        wanted = most if self._auto else int(self.n_clusters)
        features = SpectralFeatures(max(wanted + 1, self._vectors(wanted)), random_state=rng.randint(_SEEDS))
        features.fit(sides)
        self.singular_values_ = features.singular_values_
        self.n_clusters_ = suggested_clusters(self.singular_values_, most) if self._auto else wanted
        self.features_ = features._first(self._vectors(self.n_clusters_))
        self._find_centers(self.features_.transform(sides), rng)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.int32]:
        """The cluster of each row: that of the nearest center to its place among the singular vectors.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        rows = self._checked(X, reset=False)
        return self._nearest_centers(self.features_.transform(self.map_.transform(rows)))

    @property
    def _auto(self) -> bool:
        return isinstance(self.n_clusters, str)

    def _check_parameters(self) -> None:
        if self.n_clusters != "auto":
            _check_count_or_auto("n_clusters", self.n_clusters, least=1)
        check_count("max_clusters", self.max_clusters, least=2)
        if self.n_components != "auto":
            _check_count_or_auto("n_components", self.n_components, least=1)
        check_count("n_starts", self.n_starts)
        if self.map is None:
            check_count("n_groups", self.n_groups)

    def _checked(self, X: ArrayLike, *, reset: bool) -> Matrix:
        finite = "allow-nan" if self._takes_missing else True
        return checked_rows(
            self, X, reset=reset, dtype="numeric", ensure_all_finite=finite, ensure_min_samples=2 if reset else 1
        )

    def _check_distinct(self, rows: Matrix) -> int:
        """The most clusters that rows allow; too many that are asked for are refused."""
        wanted = self.max_clusters if self._auto else int(self.n_clusters)
        distinct = count_distinct(rows, enough=max(2, wanted))
        if distinct == 1 and wanted > 1:
            raise ValueError(f"All {rows.shape[0]} rows are equal, so that there are no clusters to tell apart.")
        if distinct < wanted and not self._auto:
            raise ValueError(
                f"n_clusters is {wanted}, but only {distinct} of the {rows.shape[0]} rows are different; ask for at "
                f"most {distinct} clusters."
            )
        return min(wanted, distinct)

    def _seeded_map(self, shape: tuple[int, int], rng: np.random.RandomState) -> Any:
        if self.map is None:
            n_rows, n_columns = shape
            return RandLocal(
                self.n_groups,
                n_anchors=min(MOST_ANCHORS, max(FEWEST_ANCHORS, n_rows // ROWS_PER_ANCHOR)),
                feature_range=(min(n_columns, max(FEWEST_COLUMNS, -(-n_columns // 2))), n_columns),
                metric=self.metric,
                norm="l2",
                random_state=rng.randint(_SEEDS),
            )
        fitted = clone(self.map)
        given = fitted.get_params()
        unset = [name for name in given if name.split("__")[-1] == "random_state" and given[name] is None]
        return fitted.set_params(**{name: rng.randint(_SEEDS) for name in sorted(unset)})

    def _vectors(self, n_clusters: int) -> int:
        """All that are needed, with the first."""
        return -(-3 * n_clusters // 2) if self.n_components == "auto" else int(self.n_components) + 1

    def _find_centers(self, places: NDArray, rng: np.random.RandomState) -> None:
        found = best_of_starts(places, self.n_clusters_, n_starts=self.n_starts, rng=rng)
        order = np.argsort(-np.bincount(found.labels_, minlength=self.n_clusters_), kind="stable")
        self.cluster_centers_ = found.cluster_centers_[order]
        self.labels_ = self._nearest_centers(places)
        self.inertia_ = float(((places - self.cluster_centers_[self.labels_]) ** 2).sum())

    def _nearest_centers(self, places: NDArray) -> NDArray[np.int32]:
        return pairwise_distances_argmin(places, self.cluster_centers_).astype(np.int32)

    @property
    def _takes_missing(self) -> bool:
        return self.map is None or bool(get_tags(self.map).input_tags.allow_nan)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.map is None or get_tags(self.map).input_tags.sparse
        tags.input_tags.allow_nan = self._takes_missing
        return tags


def suggested_clusters(singular_values: NDArray, most: int) -> int:
    """The number of at least 2 after which the angles whose cosines are the singular values grow the most."""
    angles = np.arccos(np.clip(np.append(singular_values, [0.0, 0.0]), 0.0, 1.0))
    growth = np.diff(angles)[1:]
    return 2 + int(np.argmax(growth[: max(1, most - 1)]))


def _check_count_or_auto(name: str, value: Any, *, least: int) -> None:
    try:
        check_count(name, value, least=least)
    except ValueError:
        raise ValueError(f"{name} must be a whole number of at least {least}, or 'auto'; got {value!r}.") from None
