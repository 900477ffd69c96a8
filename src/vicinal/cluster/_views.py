"""cluster_views: clusters on which several views of the rows agree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array

from .._messages import warn
from .._validation import (
    check_choice,
    check_count,
    check_non_negative,
    check_positive,
    refuse_other_than_numbers,
)
from ..views import split_views, stack_views
from ._agreeing_views import FORMS, agree, normalized_similarities
from ._repeated import refuse_few_rows, repeated_kmeans


def cluster_views(
    X: Any,
    n_clusters: int,
    *,
    views: Any = None,
    agreement: float = 0.1,
    form: str = "pairwise",
    bandwidth: float | None = None,
    n_runs: int = 20,
    n_starts: int = 1,
    max_iter: int = 100,
    tol: float = 1e-5,
) -> NDArray[np.int32]:
    """Clusters on which several views of the rows agree: co-regularised spectral clustering, then k-means.

    Each view v has its similarity ``S = exp(-d^2 / (2 sigma^2))`` of rows at a distance d, ``N_v = D^-1/2 S D^-1/2``
    with the sums of its rows in D, and places the rows by orthonormal columns U_v, as many as there are clusters. All
    are found together::

        max  sum_v Tr(U_v' N_v U_v) + lambda sum_{v < w} ||U_v' U_w||^2    pairwise
        max  sum_v (Tr(U_v' N_v U_v) + lambda ||U_v' U*||^2)               with a centroid U*

    and k-means runs on rows of unit length of all U_v side by side, or of U*.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features), or list of them
        Views side by side, or one matrix for each. Rows should be comparable; those of text should have unit length.
    n_clusters : int
    views : None, sequence or mapping, default=None
        The columns of each view, see `vicinal.views.split_views`. None for one view: spectral clustering.
    agreement : float, default=0.1
        How much views are drawn towards each other; lambda above and in the paper. 0 leaves each as it is.
    form : {"pairwise", "centroid"}, default="pairwise"
        Whether views are drawn towards each other, or all towards one more.
    bandwidth : float or None, default=None
        sigma; None for the median distance of two rows in the view, or of two that differ if most do not.
    n_runs, n_starts : int
        See `repeated_kmeans`.
    max_iter : int, default=100
        Most passes over the views.
    tol : float, default=1e-5
        Ends when a pass adds less than this share to what is maximised.

    Returns
    -------
    ndarray of shape (n_runs, n_samples)
        The cluster of each row, by run.

    Notes
    -----
    Each U_v in turn becomes the leading eigenvectors of ``N_v + lambda sum_{w != v} U_w U_w'`` (or ``lambda U* U*'``),
    U* those of ``sum_v U_v U_v'``; neither lowers the sum. All start from the leading eigenvectors of ``sum_v N_v``.
    The paper starts from each view's own; where lambda exceeds the differences of eigenvalues, as in text, that creeps
    for hundreds of passes, to smaller sums. Views in which all rows are alike say nothing and are left out. A matrix
    of n_samples x n_samples doubles is held for each view.

    References
    ----------
    Kumar, Rai, Daume: Co-regularized multi-view spectral clustering, NIPS 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.cluster import cluster_views
    >>> from vicinal.metrics import clustering_accuracy
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat([0, 1, 2, 3], 20)
    >>> first = (group // 2)[:, None] + 0.2 * rng.normal(size=(80, 4))
    >>> second = (group % 2)[:, None] + 0.2 * rng.normal(size=(80, 4))
    >>> clusters = cluster_views([first, second], 4, n_runs=1, n_starts=5)[0]
    >>> clustering_accuracy(group, clusters)
    1.0
    """
    for name, value in (("n_clusters", n_clusters), ("n_runs", n_runs), ("n_starts", n_starts), ("max_iter", max_iter)):
        check_count(name, value)
    check_choice("form", form, FORMS)
    check_non_negative("agreement", agreement)
    check_non_negative("tol", tol)
    if bandwidth is not None:
        check_positive("bandwidth", bandwidth)
    several = isinstance(X, Mapping) or (
        isinstance(X, list | tuple) and len(X) > 0 and all(len(np.shape(part)) == 2 for part in X)
    )
    if several and views is not None:
        raise ValueError("X is several matrices, one per view, so that views=... has nothing to say; leave it out.")
    if several:
        X, views = stack_views(X)
    refuse_other_than_numbers(X, "cluster_views")
    parts = [
        check_array(part, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
        for part in split_views(X, views).values()
    ]
    refuse_few_rows(n_clusters, parts[0].shape[0])
    similarities = normalized_similarities(parts, bandwidth)
    if not similarities:
        raise ValueError("All rows are alike in every view, so that they tell no clusters.")
    found = agree(similarities, n_clusters, agreement=agreement, form=form, max_iter=max_iter, tol=tol)
    if not found.converged:
        passes = f"{max_iter} pass{'es' * (max_iter > 1)} over the views"
        warn(f"cluster_views did not converge in {passes}; raise max_iter or tol.", ConvergenceWarning)
    return repeated_kmeans(found.common, n_clusters, n_runs=n_runs, n_starts=n_starts)
