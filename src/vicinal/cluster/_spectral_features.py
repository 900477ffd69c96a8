"""SpectralFeatures: the leading singular vectors of features that count or measure nearness."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.preprocessing import normalize
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from .._calls import obeys_n_jobs
from .._validation import all_or_nothing, check_count, checked_rows, refuse_extreme_values
from ._bipartite import balanced, inverse_roots, leading_right_vectors


@obeys_n_jobs
class SpectralFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The leading singular vectors of sparse non-negative features, for k-means.

    Rows and columns are scaled to equal weight first (``D_r^-1/2 F D_c^-1/2``), so that neither rows near many anchors
    nor anchors near many rows dominate; the result's rows have unit length. On features of nearest anchors this is
    spectral clustering of the similarity that they define, at the cost of a few sparse matrix products.

    Parameters
    ----------
    n_components : int, default=20
        Singular vectors; some more than the clusters that are looked for. At most one less than rows or columns.
    random_state : int, RandomState instance or None, default=None
        Starts the search for singular vectors.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features_in_)
        Right singular vectors.
    singular_values_ : ndarray of shape (n_components,)
    column_weights_ : ndarray of shape (n_features_in_,)
        One over the root of each column's sum; 0 for empty columns.
    n_features_in_ : int

    References
    ----------
    Dhillon: Co-clustering documents and words using bipartite spectral graph partitioning, KDD 2001.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.pipeline import make_pipeline
    >>> from vicinal import RandLocal, SpectralFeatures
    >>> from vicinal.metrics import clustering_accuracy
    >>> X, y = load_digits(return_X_y=True)
    >>> model = make_pipeline(
    ...     RandLocal(task="unsupervised", norm="l2", random_state=0), SpectralFeatures(random_state=0)
    ... )
    >>> clusters = KMeans(10, n_init=5, random_state=0).fit_predict(model.fit_transform(X))
    >>> clustering_accuracy(y, clusters) > 0.85
    True
    """

    def __init__(self, n_components: int = 20, *, random_state: Any = None, n_jobs: int | None = None):
        self.n_components = n_components
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: Any = None) -> SpectralFeatures:
        """Finds the singular vectors."""
        self.fit_transform(X)
        return self

    @all_or_nothing
    def fit_transform(self, X: ArrayLike, y: Any = None) -> NDArray:
        """Finds the singular vectors and returns the rows' places among them."""
        n_components = check_count("n_components", self.n_components)
        F = self._checked(X, reset=True)
        self.column_weights_ = inverse_roots(F.sum(axis=0), F.dtype)
        weighted = balanced(F, self.column_weights_)
        most = max(1, min(weighted.shape) - 1)
        rng = check_random_state(self.random_state)
        self.singular_values_, vectors = leading_right_vectors(weighted, min(n_components, most), rng)
        self._keep(vectors)
        return self._project(weighted)

    def transform(self, X: ArrayLike) -> NDArray:
        """The rows' places among the singular vectors, at unit length."""
        check_is_fitted(self)
        return self._project(balanced(self._checked(X, reset=False), self.column_weights_))

    def _checked(self, X: ArrayLike, *, reset: bool) -> Any:
        F = checked_rows(self, X, reset=reset)
        if (F.data if sp.issparse(F) else F).min(initial=0) < 0:
            raise ValueError(
                f"Negative values in data passed to {type(self).__name__}: it needs features that count or measure "
                "nearness, such as RandLocal's."
            )
        refuse_extreme_values(type(self).__name__, F)
        return F

    def _keep(self, vectors: NDArray) -> None:
        """Right singular vectors whose largest entries are positive, so that they have one sign only."""
        largest = np.abs(vectors).argmax(axis=1)
        signs = np.where(vectors[np.arange(len(vectors)), largest] < 0, -1.0, 1.0)
        # In one piece, so that a copy of the model rounds alike.
        self.components_ = np.ascontiguousarray(vectors * signs[:, None], dtype=self.column_weights_.dtype)

    def _first(self, n_components: int) -> SpectralFeatures:
        """What a fit with fewer components would have given."""
        fewer = SpectralFeatures(n_components, random_state=self.random_state, n_jobs=self.n_jobs)
        for name in (name for name in vars(self) if name.endswith("_")):
            setattr(fewer, name, getattr(self, name))
        fewer.components_ = np.ascontiguousarray(self.components_[:n_components])
        fewer.singular_values_ = self.singular_values_[:n_components].copy()
        return fewer

    @property
    def _n_features_out(self) -> int:
        return len(self.singular_values_)

    def _project(self, weighted: Any) -> NDArray:
        return normalize(np.asarray(weighted @ self.components_.T))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
