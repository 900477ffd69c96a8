"""RandLocal: sparse features from the nearest of randomly drawn anchors in randomly drawn subspaces."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from .._anchors import (
    METRICS,
    AnchorGroups,
    draw_group_sizes,
    fitted_groups,
    mean_distances,
    median_distances,
    nearest_anchors,
    nearest_codes,
    sample_groups,
)
from .._calls import obeys_n_jobs
from .._coarse_cells import divided, growing_bounds
from .._seen_columns import seen_by
from .._validation import (
    Matrix,
    all_or_nothing,
    check_choice,
    check_count,
    check_count_range,
    check_non_negative,
    check_share,
    checked_rows,
)
from ._anchor_draws import ANCHORS, draw_anchors
from ._seen import fitted_ranker, usefulness
from ._subspaces import draw_subspaces


@obeys_n_jobs
class RandLocal(TransformerMixin, BaseEstimator):
    """Sparse local features from nearest anchors in random subspaces.

    Many times over, a few columns and some training rows (anchors) are drawn. In each such group a row switches on
    one feature, that of its nearest anchor, and the nearer the anchor the larger the value:
    ``max(mean - distance, epsilon * mean)``, where ``mean`` is the group's mean distance between rows and anchors.
    A linear model on these features draws boundaries as curved as a kernel machine's, at the cost of a linear one.

    Parameters
    ----------
    n_groups : int, default=400
        Number of groups, and so of non-zeros per row and neighbour (T in the paper).
    epsilon : float, default=1e-4
        The least value, as a share of the group's mean distance, that a far row gets.
    n_anchors : int, (int, int) or "auto", default=(32, 1024)
        Anchors per group. A pair is a range: the number is 2^p, rounded down, with p uniform between the two
        logarithms. It is at most half the rows. The default is the paper's for any number of rows. With "auto" the
        number grows with the rows: beyond 32,768 rows it goes from 512, or with 262,144 rows and more from one anchor
        for every 64 rows, to one for every 16, in two levels; up to there it is the default, in one level. More anchors
        are more columns, and more weights of a model on them.
    n_levels : {1, 2}, default=1
        With 1, as in the paper, a row is compared with all anchors of a group. With 2, some of the anchors are coarse,
        about the square root of twice their number, and every anchor lies in the cell of its nearest coarse
        one. A row goes to its nearest coarse anchor and looks for its nearest anchors in that cell alone: 28,700
        anchors cost about as much as 512 do with one level. Large tables gain by thousands of anchors. Where
        `n_anchors` is "auto", it chooses the levels, too.
    anchors : {"random", "spread", "boundary"}, default="random"
        Which rows become anchors: any; rows far from each other in the group's columns, drawn as by k-means++; or, more
        often than others, rows on whose label a quick forest is in doubt, for which `fit` needs y.
    task : {"supervised", "unsupervised"}, default="supervised"
        Columns per group: uniform between 1 and all of them, or between half and all of them. Without labels nothing
        shows later which groups were useful, so each should see most of the data.
    feature_range : (int, int) or (float, float), default=None
        Columns per group, in place of what `task` says: a pair of numbers, or of shares of all columns.
    n_neighbors : int, default=1
        Nearest anchors that are switched on in each group.
    values : {"nearness", "soft"}, default="nearness"
        What an anchor at distance d is worth: "nearness" is the paper's ``max(mean - d, epsilon * mean)``. With "soft",
        for several neighbours, it is ``max(exp(-(d^2 - e^2) / (2 b^2)), epsilon)``, where e is the distance of the
        row's nearest anchor in the group and b the median of these over training rows; the values of a group are then
        scaled to unit length, so that all groups count alike, wherever the row lies.
    metric : {"euclidean", "manhattan", "cosine"}, default="euclidean"
        Distance within a group's columns.
    exclude_self : bool, default=True
        A row that is itself an anchor goes to its nearest other anchor, at `fit_transform` as at `transform`. It is
        recognised by all its values: a row equal to an anchor in every column counts as that anchor.
    norm : {None, "l2"}, default=None
        "l2" scales every output row to unit length. For k-means and for distances between rows this matters: otherwise
        rows far from all anchors crowd at the origin.
    subspace : {"random", "correlated", "image"}, default="random"
        How a group's columns are drawn: all with equal chances; with chances that grow with the correlation to a
        random column; or as a random rectangle of an image.
    image_shape : (int, int) or (int, int, int), default=None
        Height, width and, if there are any, channels (last) of the images in the rows, where ``subspace="image"``.
    ranks : float, default=0.0
        Share of the groups that see columns by rank, where a value counts as the share of training rows below it. It
        helps distances between skewed columns as it helps trees. X must be dense.
    guide : None, "forest" or array-like of shape (n_features,), default=None
        How useful each column is; "forest" asks a quick forest on the labels, for which `fit` needs y. Columns are
        drawn with chances in proportion to these numbers and multiplied by their roots, so that columns of noise do no
        harm; squares of a forest's importances are stricter.
    random_state : int, RandomState instance or None, default=None
        Draws columns and anchors.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    anchors_ : ndarray or CSR matrix of shape (n_stored, n_features_in_)
        The training rows that serve as anchors, each once, as groups see them: where some groups see ranks, these
        stand beside the values and `feature_indices_` goes on counting, or in their place where all groups do.
    anchor_samples_ : ndarray of shape (n_stored,)
        Their places in the training data.
    anchor_rows_ : ndarray of shape (n_features_out,)
        For each output column, the row of `anchors_` that is its anchor.
    anchor_ptr_ : ndarray of shape (n_groups + 1,)
        Output columns of group t: ``anchor_ptr_[t]`` to ``anchor_ptr_[t + 1]``.
    feature_indices_ : ndarray
        Columns of X that the groups use, one group after the other.
    feature_ptr_ : ndarray of shape (n_groups + 1,)
        Columns of group t: ``feature_indices_[feature_ptr_[t]:feature_ptr_[t + 1]]``.
    mean_distances_ : ndarray of shape (n_groups,)
        Mean distance between training rows and anchors, per group (D_avg in the paper); with two levels between
        training rows and coarse anchors.
    widths_ : ndarray of shape (n_groups,) or None
        With soft values, b of each group, from at most 4,096 training rows.
    column_weights_ : ndarray of shape (n_features_in_,) or None
        With a `guide`, how useful columns are, 1 for the most useful.
    ranker_ : QuantileTransformer or None
        With `ranks`, what turns columns into ranks; the last ``n_ranked_`` groups see these.
    n_levels_ : int
    coarse_ptr_ : ndarray of shape (n_groups + 1,) or None
        With two levels, the cells of group t: ``coarse_ptr_[t]`` to ``coarse_ptr_[t + 1]``.
    coarse_rows_ : ndarray of shape (n_cells,) or None
        For each cell, the row of `anchors_` that is its coarse anchor.
    cell_ptr_ : ndarray of shape (n_cells + 1,) or None
        Output columns of cell c: ``cell_ptr_[c]`` to ``cell_ptr_[c + 1]``.
    fingerprints_ : ndarray of shape (n_stored,)
        A hash of each anchor's whole row, by which `exclude_self` recognises it.
    center_, scale_ : ndarray of shape (n_features_in_,) or None, float
        Where the arithmetic takes place; they affect rounding only.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Numbers of 8 and 16 bits and float32 are computed in single precision, all others in double. Missing values (NaN)
    are left out: distances are taken over the columns that row and anchor both have and scaled up, as
    `sklearn.metrics.pairwise.nan_euclidean_distances` does; a row with none of a group's columns has no entry there.

    In a group whose columns are all constant the mean distance is 0 and every value is `epsilon`. With fewer than 64
    rows a group has half as many anchors as there are rows. A row all of whose possible anchors are equal to itself
    keeps one of them. Among anchors that are equally near, up to rounding, the first one counts.

    With two levels the nearest anchor of a row's cell need not be the nearest of all: the cells still divide the space
    into small parts, each around an anchor, and that is what the features need. Anchors that are equal in all columns
    of their group count once, so that a group may have fewer than were drawn. A cell has more anchors than
    `n_neighbors`: coarse anchors with fewer are coarse no more, and their anchors go to the nearest cell that is left.
    A row that is itself an anchor goes to the nearest other anchor of its cell. A row that has none of the columns that
    the coarse anchors have has no entry.

    Beside its input, the anchors and the output, a thread holds a few megabytes, or the widest group's columns times
    anchors if that is more; with two levels, all threads together hold up to 64 MB of rows. A memory-mapped array is
    read in blocks of rows.

    References
    ----------
    Wang, Aggarwal, Liu: Randomized Feature Engineering as a Fast and Accurate Alternative to Kernel Methods, KDD 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import LinearSVC
    >>> from vicinal import RandLocal
    >>> X, y = load_digits(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = make_pipeline(RandLocal(random_state=0), LinearSVC())
    >>> bool(model.fit(X_train, y_train).score(X_test, y_test) > 0.97)
    True
    >>> model[0].transform(X_test[:1]).nnz
    400
    """

    def __init__(
        self,
        n_groups: int = 400,
        *,
        epsilon: float = 1e-4,
        n_anchors: int | tuple[int, int] | str = (32, 1024),
        n_levels: int = 1,
        anchors: str = "random",
        task: str = "supervised",
        feature_range: tuple[float, float] | None = None,
        n_neighbors: int = 1,
        values: str = "nearness",
        metric: str = "euclidean",
        exclude_self: bool = True,
        norm: str | None = None,
        subspace: str = "random",
        image_shape: tuple[int, ...] | None = None,
        ranks: float = 0.0,
        guide: Any = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_groups = n_groups
        self.epsilon = epsilon
        self.n_anchors = n_anchors
        self.n_levels = n_levels
        self.anchors = anchors
        self.task = task
        self.feature_range = feature_range
        self.n_neighbors = n_neighbors
        self.values = values
        self.metric = metric
        self.exclude_self = exclude_self
        self.norm = norm
        self.subspace = subspace
        self.image_shape = image_shape
        self.ranks = ranks
        self.guide = guide
        self.random_state = random_state
        self.n_jobs = n_jobs

    @all_or_nothing
    def fit(self, X: ArrayLike, y: Any = None) -> RandLocal:
        """Draw groups of anchors from X and measure their mean distances.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), default=None
            Labels or numbers to predict; only guides and anchors that ask for them look at them.

        Returns
        -------
        self
        """
        seen, groups, samples = self._draw(self._checked(X, reset=True), y)
        means = mean_distances(groups, seen, n_jobs=self.n_jobs)
        self._keep(groups, samples, means, self._widths(groups, seen))
        return self

    @all_or_nothing
    def fit_transform(self, X: ArrayLike, y: Any = None, **fit_params: Any) -> sp.csr_matrix | sp.csr_array:
        """What ``fit(X).transform(X)`` returns, in one pass over X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), default=None
            Labels or numbers to predict; only guides and anchors that ask for them look at them.

        Returns
        -------
        CSR matrix of shape (n_samples, n_features_out)
        """
        seen, groups, samples = self._draw(self._checked(X, reset=True), y)
        widths = self._widths(groups, seen)
        out, means = self._nearest(groups, seen, None, widths)
        self._keep(groups, samples, means, widths)
        return out

    def transform(self, X: ArrayLike) -> sp.csr_matrix | sp.csr_array:
        """The rows' local features: for complete rows exactly ``n_groups * n_neighbors`` entries each.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        CSR matrix of shape (n_samples, n_features_out)
        """
        check_is_fitted(self)
        out, _ = self._nearest(fitted_groups(self), self._seen(X), self.mean_distances_, self.widths_)
        return out

    def apply(self, X: ArrayLike) -> NDArray[np.int32]:
        """Each row's nearest anchor in each group, as a forest's `apply` gives leaves.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_groups)
            The anchor's place within its group; -1 where a row has none of the group's columns.
        """
        check_is_fitted(self)
        return nearest_codes(fitted_groups(self), self._seen(X), exclude_self=self.exclude_self, n_jobs=self.n_jobs)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Names of group and anchor: ``"group12_anchor34"``.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        ndarray of shape (n_features_out,)
        """
        check_is_fitted(self)
        sizes = np.diff(self.anchor_ptr_)
        names = [f"group{group}_anchor{anchor}" for group, size in enumerate(sizes) for anchor in range(size)]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.ranks == 0
        tags.target_tags.required = isinstance(self.guide, str) or self.anchors == "boundary"
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _checked(self, X: ArrayLike, *, reset: bool) -> Matrix:
        # Infinite values are found by the kernel as it reads the rows, not by a pass of their own.
        least = 2 if reset else 1
        return checked_rows(self, X, reset=reset, dtype="numeric", ensure_all_finite=False, ensure_min_samples=least)

    def _seen(self, X: ArrayLike) -> Matrix:
        """Rows as the groups see them."""
        return seen_by(self, self._checked(X, reset=False))

    def _draw(self, X: Matrix, y: Any) -> tuple[Matrix, AnchorGroups, NDArray[np.int64]]:
        """Rows as groups see them, and columns and anchors of all groups (Alg. 2, line 4 and Alg. 1, lines 1 and 2)."""
        n_samples = X.shape[0]
        check_count("n_groups", self.n_groups)
        check_count("n_neighbors", self.n_neighbors)
        check_non_negative("epsilon", self.epsilon)
        check_choice("metric", self.metric, METRICS)
        check_choice("norm", self.norm, (None, "l2"))
        check_choice("values", self.values, ("nearness", "soft"))
        check_choice("n_levels", self.n_levels, (1, 2))
        check_choice("anchors", self.anchors, ANCHORS)
        if n_samples <= self.n_neighbors:
            raise ValueError(
                f"n_neighbors={self.n_neighbors} needs at least {self.n_neighbors + 1} rows, as a row is not its own "
                f"neighbour; X has {n_samples}."
            )
        rng = check_random_state(self.random_state)
        X, features = self._see(X, y, rng)
        auto = isinstance(self.n_anchors, str) and self.n_anchors == "auto"
        bounds = check_count_range("n_anchors", (32, 1024) if auto else self.n_anchors, or_auto=True)
        bounds, n_levels = growing_bounds(n_samples) if auto else (bounds, self.n_levels)
        least = self.n_neighbors + bool(self.exclude_self)  # enough for all neighbours, where a row is not its own
        sizes = np.clip(draw_group_sizes(bounds, n_samples, self.n_groups, rng), least, n_samples)
        anchors = draw_anchors(self.anchors, X, y, features, sizes, rng, self.n_jobs)
        groups, samples = sample_groups(X, anchors, features, self.metric)
        if n_levels == 1:
            return X, groups, samples
        del anchors  # as large as the groups
        groups, needed = divided(groups, least=least, rng=rng, n_jobs=self.n_jobs)
        return X, groups, samples[needed]

    def _see(self, X: Matrix, y: Any, rng: np.random.RandomState) -> tuple[Matrix, list[NDArray[np.int64]]]:
        """Learns what is seen of columns, and draws which of them each group has."""
        self.column_weights_ = usefulness(self.guide, X, y, rng, self.n_jobs)
        self.n_ranked_ = round(check_share("ranks", self.ranks, or_zero=True) * self.n_groups)
        self.ranker_ = fitted_ranker(X, rng) if self.n_ranked_ else None
        features = draw_subspaces(self, X, self.column_weights_, rng)
        if self.n_ranked_ < self.n_groups:  # else ranks are all there is
            for group in range(self.n_groups - self.n_ranked_, self.n_groups):
                features[group] = features[group] + X.shape[1]
        return seen_by(self, X), features

    def _keep(self, groups: AnchorGroups, samples: NDArray[np.int64], means: NDArray[np.float64], widths: Any) -> None:
        self.anchor_samples_, self.mean_distances_, self.widths_ = samples, means, widths
        self.anchors_, self.anchor_rows_, self.anchor_ptr_ = groups.table, groups.rows, groups.anchor_ptr
        self.feature_indices_, self.feature_ptr_ = groups.features, groups.feature_ptr
        self.fingerprints_, self.center_, self.scale_ = groups.fingerprints, groups.center, groups.scale
        self.n_levels_ = 2 if groups.cells else 1
        for name in ("coarse_ptr", "cell_ptr", "coarse_rows"):
            setattr(self, f"{name}_", getattr(groups.cells, name, None))

    def _widths(self, groups: AnchorGroups, X: Matrix) -> NDArray[np.float64] | None:
        soft = self.values == "soft"
        return median_distances(groups, X, exclude_self=self.exclude_self, n_jobs=self.n_jobs) if soft else None

    def _nearest(
        self, groups: AnchorGroups, X: Matrix, means: NDArray[np.float64] | None, widths: NDArray[np.float64] | None
    ) -> tuple[sp.csr_matrix | sp.csr_array, NDArray[np.float64]]:
        return nearest_anchors(
            groups,
            X,
            means=means,
            widths=widths,
            epsilon=self.epsilon,
            unit_rows=self.norm == "l2",
            n_neighbors=self.n_neighbors,
            exclude_self=self.exclude_self,
            n_jobs=self.n_jobs,
        )
