"""GraphSmoothing: a classifier's scores, made smooth over a graph of similar rows, labelled or not."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import cg
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils import Tags, check_random_state, gen_batches, get_tags
from sklearn.utils.validation import check_is_fitted

from .._calls import obeys_n_jobs
from .._magnitudes import as_doubles, unit_rows
from .._messages import warn_not_converged
from .._validation import Matrix, check_count, check_non_negative, check_positive, checked_rows
from ..graphs import laplacian, nearest_rows
from ._labels import partial_labels

Floats = NDArray[np.float64]
BLOCK_ENTRIES = 2**24  # of hyperplanes that are held at a time


@obeys_n_jobs
class GraphSmoothing(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier fitted to the labelled rows, whose scores are then drawn towards those of similar rows.

    Of the scores s of all rows, labelled or not, it makes the z with the least
    ``sum_i (z_i - s_i)^2 + smoothness * sum_ij w_ij (z_i - z_j)^2``, where w_ij is about the cosine of two rows that
    are near each other and 0 for others. Rows of another batch are drawn towards the fitted ones, which stay where
    they are, so that answers do not depend on what else is asked; give rows to `fit` without labels for them to
    influence each other. A fitted row that is asked again is such a row, too, and has itself among its neighbours: what
    was found for it at `fit` is in `scores_`.

    Parameters
    ----------
    estimator : classifier, default=None
        Fitted, as a clone, to the labelled rows. None stands for ``LogisticRegression()``.
    smoothness : float, default=0.1
        How much neighbours count (lambda); with 0 the scores are the estimator's own.
    n_neighbors : int, default=10
        Two rows are joined if either is among the other's nearest, of which there are so many.
    n_bits : int, default=256
        Length of the fingerprints by which rows are compared. The error of a cosine is about ``1.6 / sqrt(n_bits)``.
    tol : float, default=1e-6
        The equations are solved until their residual is this part of the scores.
    random_state : int, RandomState instance or None, default=None
        Draws the hyperplanes of fingerprints.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    estimator_ : classifier
        The fitted one.
    scores_ : ndarray of shape (n_samples,) or (n_samples, n_classes)
        The smooth scores of the fitted rows.
    fingerprints_ : ndarray of shape (n_samples, ceil(n_bits / 8))
        Eight bits of the fitted rows' fingerprints to a number.
    seed_ : int
        Of the hyperplanes, which are drawn again whenever rows are compared: for a million columns they would be larger
        than the data.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    A bit of the fingerprint says on which side of a random hyperplane a row lies. Two rows at the angle a differ in a
    share of a / pi of the bits, so that ``cos(pi * differing / n_bits)`` estimates their cosine; negative ones are
    dropped. The solution has ``(I + 2 smoothness L) z = s`` with the Laplacian L of the graph. Nothing of the size rows
    x rows is made.

    References
    ----------
    Charikar: Similarity Estimation Techniques from Rounding Algorithms, STOC 2002.
    Sokolov, Urvoy, Le: Low-Dimensional Feature Learning with Kernel Construction, 2011, section 4.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from vicinal.learned import GraphSmoothing
    >>> X, y = load_digits(return_X_y=True)
    >>> X /= 16
    >>> some = np.where(np.arange(len(y)) % 20, -1, y)
    >>> alone, smooth = (GraphSmoothing(smoothness=amount, random_state=0).fit(X, some) for amount in (0, 1))
    >>> bool(smooth.score(X, y) > alone.score(X, y) + 0.02)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        smoothness: float = 0.1,
        n_neighbors: int = 10,
        n_bits: int = 256,
        tol: float = 1e-6,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.estimator = estimator
        self.smoothness = smoothness
        self.n_neighbors = n_neighbors
        self.n_bits = n_bits
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Tags:
        tags, own = super().__sklearn_tags__(), get_tags(self._chosen())
        tags.input_tags.sparse = own.input_tags.sparse
        tags.classifier_tags = own.classifier_tags
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike) -> GraphSmoothing:
        """Fit the estimator to the labelled rows, and smooth its scores of all rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels; -1 marks rows without one.

        Returns
        -------
        self
        """
        check_non_negative("smoothness", self.smoothness)
        check_count("n_neighbors", self.n_neighbors)
        check_count("n_bits", self.n_bits)
        check_positive("tol", self.tol)
        rows, given = checked_rows(self, X, y)
        labels = partial_labels(given, type(self).__name__)
        self.classes_ = labels.classes
        self.estimator_ = clone(self._chosen()).fit(rows[labels.labelled], labels.classes[labels.places])
        self.seed_ = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        self.fingerprints_ = self._fingerprints(rows)
        scores = _scores(self.estimator_, rows)
        if scores.ndim > 1 and (
            scores.shape[1] != len(labels.classes) or getattr(self.estimator_, "decision_function_shape", "") == "ovo"
        ):
            raise ValueError(
                "The estimator's decision_function gives scores of pairs of classes, and smoothing needs one per "
                "class; of SVC, take decision_function_shape='ovr'."
            )
        self.scores_ = self._smooth(scores, self._graph())
        return self

    def decision_function(self, X: ArrayLike) -> Floats:
        """The rows' scores, drawn towards the smooth ones of the nearest fitted rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, above 0 for the second.
        """
        check_is_fitted(self)
        rows = checked_rows(self, X, reset=False)
        near = self._neighbors(self._fingerprints(rows))
        # The least loss for known z_j, each pair counted both ways: the weighted mean of s_i and all z_j.
        pull = 2 * self.smoothness
        sums, own = pull * (near @ self.scores_), 1 + pull * np.asarray(near.sum(axis=1)).ravel()
        scores = _scores(self.estimator_, rows)
        return (scores + sums) / (own if scores.ndim == 1 else own[:, None])

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class with the largest smooth score.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)]

    def _chosen(self) -> Any:
        return LogisticRegression() if self.estimator is None else self.estimator

    def _fingerprints(self, rows: Matrix) -> NDArray[np.uint8]:
        """On which side of each random hyperplane the rows lie, eight bits to a number."""
        unit, n_columns = unit_rows(as_doubles(rows)), rows.shape[1]
        bits = np.empty((rows.shape[0], self.n_bits), dtype=bool)
        for some in gen_batches(self.n_bits, max(1, BLOCK_ENTRIES // n_columns)):
            planes = np.empty((n_columns, some.stop - some.start))
            for place in range(some.start, some.stop):
                draws = np.random.default_rng([self.seed_, place])
                planes[:, place - some.start] = draws.standard_normal(n_columns, dtype=np.float32)
            bits[:, some] = unit @ planes > 0
        return np.packbits(bits, axis=1)

    def _neighbors(self, fingerprints: NDArray[np.uint8] | None = None) -> sp.csr_array:
        """The estimated cosines of rows, or of the fitted ones, with the fitted rows nearest to them."""
        fitted = self._signs(self.fingerprints_)
        given = None if fingerprints is None else self._signs(fingerprints)
        queries, others = (fitted, None) if given is None else (given, fitted)
        products, nearest = nearest_rows(
            queries, others, n_neighbors=self.n_neighbors, metric="inner", n_jobs=self.n_jobs
        )
        # cos(pi h / n) with the inner product n - 2 h of signs, of which h differ.
        weights = np.sin(np.pi / 2 * products.astype(np.float64) / self.n_bits)
        here, kept = np.arange(len(queries)).repeat(nearest.shape[1]), weights.ravel() > 0
        entries = weights.ravel()[kept], (here[kept], nearest.ravel()[kept])
        return sp.csr_array(entries, shape=(len(queries), len(fitted)))

    def _signs(self, fingerprints: NDArray[np.uint8]) -> NDArray[np.int8]:
        return 2 * np.unpackbits(fingerprints, axis=1, count=self.n_bits).view(np.int8) - 1

    def _graph(self) -> sp.csr_array:
        """The symmetric graph of the fitted rows."""
        near = self._neighbors()
        return near.maximum(near.T)

    def _smooth(self, scores: Floats, graph: sp.csr_array) -> Floats:
        """The solution of (I + 2 lambda L) z = s, one column of scores after the other."""
        matrix = sp.eye_array(len(scores), format="csr") + 2 * self.smoothness * laplacian(graph)
        smooth = np.empty_like(scores)
        columns = [(scores, smooth)] if scores.ndim == 1 else zip(scores.T, smooth.T, strict=True)
        for given, found in columns:
            found[:], n_steps = cg(matrix, given, x0=given, rtol=self.tol)
            if n_steps:
                warn_not_converged(self, n_steps, steps="steps of conjugate gradients", cure="raise tol")
        return smooth


def _scores(estimator: Any, rows: Matrix) -> Floats:
    """Scores that are above 0 for the second of two classes, or one for each class."""
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(rows), dtype=np.float64)
    shares = np.asarray(estimator.predict_proba(rows), dtype=np.float64)
    return shares[:, 1] - shares[:, 0] if shares.shape[1] == 2 else shares
