"""KMeansFeatures: how near a row is to each of some centroids."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.cluster import MiniBatchKMeans
from sklearn.utils import gen_batches
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.sparsefuncs import mean_variance_axis
from sklearn.utils.validation import check_is_fitted

from .._calls import obeys_n_jobs
from .._tags import TakesSparseFloats
from .._validation import Matrix, canonical, check_count, check_positive, checked_rows, refuse_extreme_values
from ..expand import gamma_from_scale

CENTROID_ENTRIES = 2**24  # that k-means holds, several times: it looks at no more columns than these allow
DENSE_ENTRIES = 2**20  # of sparse rows that are clustered as dense ones
BLOCK_ENTRIES = 2**22  # of features that are worked on at a time


@obeys_n_jobs
class KMeansFeatures(ClassNamePrefixFeaturesOutMixin, TakesSparseFloats, TransformerMixin, BaseEstimator):
    """The Gaussian kernel of each row with each of some centroids, which mini-batch k-means finds.

    Labels are not looked at, so that rows without one (-1, in scikit-learn's convention) are as welcome as others.

    Parameters
    ----------
    n_clusters : int, default=100
        Centroids. Where there are fewer rows, one for each of them; centroids that no row is nearest to are dropped.
    gamma : float or "scale", default="scale"
        Of the kernel ``exp(-gamma |x - c|^2)``. "scale" is ``1 / (n_features * X.var())``, with which exponents are
        about 1 whatever the scale of the data is. With a number far from it, all values are about 0, or about 1.
    batch_size : int, default=1000
        Rows of a mini-batch.
    max_iter : int, default=10000
        Mini-batches at most, rounded up to those of whole passes over all rows. k-means ends before that where ten of
        them in a row have not made the centroids better.
    random_state : int, RandomState instance or None, default=None
        Draws the first centroids and the mini-batches.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    cluster_centers_ : ndarray or CSR array of shape (n_centroids, n_features_in_)
        The means of the rows that k-means puts together; CSR if X was.
    gamma_ : float
    n_iter_ : int
        Mini-batches.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    LabelledOnly : A model on these features that is fitted to labelled rows.

    Notes
    -----
    Sparse rows may have a million columns. k-means itself keeps its centroids as dense arrays; so it puts rows
    together by the columns of the largest variance alone, as many of them as make 2^24 entries of centroids (16,777
    columns for 1,000 centroids), where there are more. The centroids are then means over all columns, which have no
    more entries than the rows together.

    References
    ----------
    Sculley: Web-Scale K-Means Clustering, WWW 2010.
    Sokolov, Urvoy, Le: Low-Dimensional Feature Learning with Kernel Construction, 2011, section 4, where gamma is 0.01.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from vicinal.learned import KMeansFeatures
    >>> X, y = load_digits(return_X_y=True)
    >>> model = make_pipeline(KMeansFeatures(random_state=0), LogisticRegression(C=100, max_iter=1000))
    >>> model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.95
    True
    """

    def __init__(
        self,
        n_clusters: int = 100,
        *,
        gamma: float | str = "scale",
        batch_size: int = 1000,
        max_iter: int = 10_000,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.gamma = gamma
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: Any = None) -> KMeansFeatures:
        """Find the centroids.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        n_clusters = check_count("n_clusters", self.n_clusters)
        batch_size, max_iter = check_count("batch_size", self.batch_size), check_count("max_iter", self.max_iter)
        if isinstance(self.gamma, str) and self.gamma != "scale":
            raise ValueError(f"gamma must be a number above 0 or 'scale'; got {self.gamma!r}.")
        rows = canonical(checked_rows(self, X))
        refuse_extreme_values(type(self).__name__, rows)
        self.gamma_ = gamma_from_scale(rows) if isinstance(self.gamma, str) else check_positive("gamma", self.gamma)
        n_clusters = min(n_clusters, rows.shape[0])
        search = MiniBatchKMeans(
            n_clusters,
            batch_size=batch_size,
            max_iter=-(-max_iter * min(batch_size, rows.shape[0]) // rows.shape[0]),  # passes over all rows
            n_init=1,
            reassignment_ratio=0.0,  # rows of sparse text that small centroids would move to are near no other row
            random_state=self.random_state,
        )
        clusters = search.fit_predict(_as_k_means_takes(_of_most_variance(rows, CENTROID_ENTRIES // n_clusters)))
        self.cluster_centers_, self.n_iter_ = _means(rows, clusters), search.n_steps_
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.floating]:
        """The kernel of each row with each centroid.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_centroids)
        """
        check_is_fitted(self)
        rows = canonical(checked_rows(self, X, reset=False))
        refuse_extreme_values(type(self).__name__, rows)
        features = np.empty((rows.shape[0], self._n_features_out), dtype=rows.dtype)
        centroids = self.cluster_centers_.astype(np.float64)
        squares = _squared_lengths(centroids)
        for block in gen_batches(rows.shape[0], max(1, BLOCK_ENTRIES // len(squares))):
            some = rows[block].astype(np.float64)
            distances = (
                _squared_lengths(some)[:, None] + squares - 2 * safe_sparse_dot(some, centroids.T, dense_output=True)
            )
            features[block] = np.exp(-self.gamma_ * np.maximum(distances, 0.0))
        return features

    @property
    def _n_features_out(self) -> int:
        return self.cluster_centers_.shape[0]


def _of_most_variance(rows: Matrix, most: int) -> Matrix:
    """At most `most` columns."""
    if rows.shape[1] <= most:
        return rows
    variances = mean_variance_axis(rows, axis=0)[1] if sp.issparse(rows) else rows.var(axis=0)
    return rows[:, np.sort(np.argsort(-variances, kind="stable")[: max(1, most)])]


def _as_k_means_takes(rows: Matrix) -> Matrix:
    """Sparse rows with indices of 32 bits; few of them dense, so that they are clustered as dense ones are."""
    if sp.issparse(rows) and rows.shape[0] * rows.shape[1] <= DENSE_ENTRIES:
        return rows.toarray()
    if not sp.issparse(rows) or rows.indices.dtype == rows.indptr.dtype == np.int32:
        return rows
    parts = rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return sp.csr_array(parts, shape=rows.shape)


def _means(rows: Matrix, clusters: NDArray[np.integer]) -> Matrix:
    """Of the rows of each cluster that has any."""
    _, places, counts = np.unique(clusters, return_inverse=True, return_counts=True)
    shares = (1 / counts[places]).astype(rows.dtype)
    gathering = sp.csr_array((shares, (places, np.arange(len(places)))), shape=(len(counts), len(places)))
    return gathering @ (sp.csr_array(rows) if sp.issparse(rows) else rows)


def _squared_lengths(rows: Matrix) -> NDArray[np.float64]:
    return (
        np.asarray(rows.multiply(rows).sum(axis=1)).ravel() if sp.issparse(rows) else np.einsum("ij,ij->i", rows, rows)
    )
