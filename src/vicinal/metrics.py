"""Scores of clusterings, of links and of features, and honest intervals for scores of cross-validation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import scipy.stats
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.utils import check_array, check_consistent_length, check_random_state

from ._kernel_alignment import kernel_alignment as kernel_alignment
from ._magnitudes import as_doubles, with_squares
from ._scored_pairs import checked_pairs, hits_at, linked_above
from ._triplets import Rows, TripletSampler, auc_by_columns, exact_link_auc
from ._validation import Matrix, check_adjacency, check_count, check_non_negative, refuse_other_than_numbers


class MeanInterval(NamedTuple):
    """What `mean_interval` returns."""

    mean: float
    low: float
    high: float


class TTest(NamedTuple):
    """What `corrected_t_test` returns."""

    mean: float
    low: float
    high: float
    p_value: float


def clustering_accuracy(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Share of rows that are right once every cluster has been given the class that suits it best.

    Clusters and classes are matched one to one, so that the most rows agree (the Hungarian method). Where there are
    more clusters than classes, or fewer, rows of the unmatched ones count as wrong.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Classes: numbers, strings or anything else that can be compared.
    y_pred : array-like of shape (n_samples,)
        Clusters, likewise; their names need not be those of the classes.

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> from vicinal.metrics import clustering_accuracy
    >>> clustering_accuracy(["a", "a", "b", "b"], [1, 1, 0, 1])
    0.75
    """
    table = contingency_matrix(*_two_labelings(y_true, y_pred))
    rows, columns = linear_sum_assignment(table, maximize=True)
    return float(table[rows, columns].sum() / table.sum())


def normalized_mutual_information(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Mutual information of classes and clusters, divided by the larger of their two entropies.

    Other works divide by the entropies' arithmetic or geometric mean, which gives larger values where the numbers of
    classes and of clusters differ.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
    y_pred : array-like of shape (n_samples,)

    Returns
    -------
    float
        Between 0 and 1. If there is one class and one cluster, they agree: 1. If there is one of the one kind and
        several of the other, they say nothing about each other: 0.

    Examples
    --------
    >>> from vicinal.metrics import normalized_mutual_information
    >>> round(normalized_mutual_information(["a", "a", "b", "b"], [0, 1, 2, 2]), 6)
    0.666667
    """
    score = normalized_mutual_info_score(*_two_labelings(y_true, y_pred), average_method="max")
    return float(min(max(score, 0.0), 1.0))


def sparsity_ratio(features: Matrix) -> float:
    """Share of the entries of a feature matrix that are not zero: 0 for an empty one, 1 for a full one.

    For features with l_k non-zeros among l_p columns in each of T groups it is l_k / l_p (Eq. 3 and 4 of Lokare,
    Silva, Kaynar Kabul: RULLS: Randomized Union of Locally Linear Subspaces for Feature Engineering, 2018).

    Parameters
    ----------
    features : array-like or sparse matrix of shape (n_samples, n_features)

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.metrics import sparsity_ratio
    >>> sparsity_ratio(np.eye(4))
    0.25
    """
    features = check_array(features, accept_sparse=True, dtype=None, ensure_all_finite=False, input_name="features")
    n_nonzero = features.count_nonzero() if sp.issparse(features) else np.count_nonzero(features)
    return float(n_nonzero / np.prod(features.shape))


def mean_interval(values: ArrayLike, test_over_train: float, confidence: float = 0.95) -> MeanInterval:
    """Mean of the scores of several splits, and an interval that allows for the rows that splits share.

    Training parts of different splits overlap, so their scores vary less than those of fresh data would. The usual
    variance of the mean, s^2 / k, becomes s^2 (1 / k + n_test / n_train), with Student's t of k - 1 degrees of freedom.

    Parameters
    ----------
    values : array-like of shape (n_splits,)
        One score per split (k of them).
    test_over_train : float
        Rows of the test part over rows of the training part: 0.25 for five folds. 0 gives the usual interval, for
        scores of independent data.
    confidence : float, default=0.95

    Returns
    -------
    MeanInterval
        The tuple (mean, low, high). One value says nothing about its spread: low and high are NaN. Where all values
        are equal, low and high are equal to the mean.

    References
    ----------
    Nadeau, Bengio: Inference for the Generalization Error, Machine Learning 52, 2003.

    Examples
    --------
    >>> from vicinal.metrics import mean_interval
    >>> mean, low, high = mean_interval([0.91, 0.93, 0.92, 0.94, 0.90], test_over_train=0.25)
    >>> f"{mean:.2f} from {low:.2f} to {high:.2f}"
    '0.92 from 0.89 to 0.95'
    """
    scores = _scores("values", values)
    check_non_negative("test_over_train", test_over_train)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, such as 0.95; got {confidence!r}.")
    mean, error = _mean_and_error(scores, test_over_train)
    margin = error * float(scipy.stats.t.ppf((1 + confidence) / 2, len(scores) - 1)) if error > 0 else error
    return MeanInterval(mean, mean - margin, mean + margin)


def corrected_t_test(differences: ArrayLike, test_share: float, confidence: float = 0.95) -> TTest:
    """Whether one model's scores differ from another's over the same splits: the corrected resampled t-test.

    It is the paired t-test with the larger variance of `mean_interval`. The uncorrected test calls far too many
    differences significant.

    Parameters
    ----------
    differences : array-like of shape (n_splits,)
        One model's score minus the other's, split by split.
    test_share : float
        Share of all rows in the test part: 0.2 for five folds.
    confidence : float, default=0.95

    Returns
    -------
    TTest
        The tuple (mean, low, high, p_value), of which the p value is two-sided. One difference says nothing about its
        spread: low, high and p_value are NaN. Where all differences are equal, low and high are equal to the mean and
        the p value is 1 if they are zero, otherwise 0.

    References
    ----------
    Nadeau, Bengio: Inference for the Generalization Error, Machine Learning 52, 2003.

    Examples
    --------
    >>> from vicinal.metrics import corrected_t_test
    >>> result = corrected_t_test([0.02, 0.03, 0.01, 0.02, 0.02], test_share=0.2)
    >>> round(result.p_value, 3)
    0.014
    """
    scores = _scores("differences", differences)
    if not check_non_negative("test_share", test_share) < 1:
        raise ValueError(f"test_share must be below 1, as some rows are for training; got {test_share!r}.")
    test_over_train = test_share / (1 - test_share)
    interval = mean_interval(scores, test_over_train, confidence)
    mean, error = _mean_and_error(scores, test_over_train)
    if error == 0:
        return TTest(*interval, p_value=float(mean == 0))
    return TTest(*interval, p_value=float(2 * scipy.stats.t.sf(abs(mean) / error, len(scores) - 1)))


def link_auc(
    X: ArrayLike,
    adjacency: Any,
    *,
    known: Any = None,
    n_triplets: int | None = None,
    random_state: Any = None,
) -> float:
    """How well the inner products of rows tell linked rows from others: the mean AUC of all rows.

    The AUC of a row is the share of pairs (j, k), where it is linked to j and not to k, of which it is more like j;
    ties count half. Rows without a link, or linked to all others, have none and are left out.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Columns that were selected, for example.
    adjacency : array-like, sparse matrix or Network of shape (n_samples, n_samples)
        The links that are looked for; what they weigh is not looked at.
    known : array-like, sparse matrix or Network of shape (n_samples, n_samples), default=None
        Links that count neither as links nor as missing ones: those that columns were selected by, where `adjacency`
        are links that were held out.
    n_triplets : int, default=None
        Draws so many triplets instead of looking at all: a row, a link of it, and a row that it is not linked to, each
        with equal chance. None computes the mean exactly, in time that grows with the square of rows.
    random_state : int, RandomState instance or None, default=None
        Draws the triplets.

    Returns
    -------
    float
        0.5 for rows that say nothing about links, 1 where every row is more like all its neighbours than like others.

    References
    ----------
    Wei: Unsupervised feature selection for heterogeneous data, 2017, Eq. 3.14 and 3.15.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.metrics import link_auc
    >>> chain = np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1)
    >>> X = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> link_auc(X, chain)
    0.875
    """
    refuse_other_than_numbers(X, "link_auc")
    given = check_array(X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
    rows = sp.csr_array(with_squares(as_doubles(given))[0])
    linked = check_adjacency(adjacency, rows.shape[0])
    others = None if known is None else check_adjacency(known, rows.shape[0])
    apart = linked if others is None else sp.csr_array(linked.maximum(others))
    degrees, n_apart = np.diff(linked.indptr), np.diff(apart.indptr)
    if not np.any((degrees > 0) & (n_apart < rows.shape[0] - 1)):
        raise ValueError("No row has both a link and a row that it is not linked to, so that there is no AUC.")
    if n_triplets is None:
        return exact_link_auc(rows, linked, apart)
    check_count("n_triplets", n_triplets)
    sampler = TripletSampler(linked, check_random_state(random_state), apart)
    return auc_by_columns(Rows.of(rows), sampler.draw_by_node(n_triplets), np.arange(rows.shape[1]), [rows.shape[1]])[0]


def precision_at(scores: ArrayLike, links: Any, n: int = 5, *, all_queries: bool = False) -> float:
    """The share of the n candidates with the highest scores that are linked to a query: the mean over queries.

    Parameters
    ----------
    scores : array-like of shape (n_queries, n_candidates)
        The larger, the likelier a link; of equal ones the lower number comes first.
    links : array-like or sparse matrix of shape (n_queries, n_candidates)
        Which pairs are linked: all that are not 0.
    n : int, default=5
        What hits are divided by, also where there are fewer candidates.
    all_queries : bool, default=False
        Whether queries without any link count, too, with 0; otherwise they are left out.

    Returns
    -------
    float

    Examples
    --------
    >>> from vicinal.metrics import precision_at
    >>> scores, links = [[0.9, 0.5, 0.1], [0.2, 0.3, 0.4]], [[1, 1, 0], [0, 0, 0]]
    >>> precision_at(scores, links, 2), precision_at(scores, links, 2, all_queries=True)
    (1.0, 0.5)
    """
    hits, linked = hits_at(scores, links, n)
    return float(np.mean((hits if all_queries else hits[linked > 0]) / n))


def recall_at(scores: ArrayLike, links: Any, n: int = 5, *, all_queries: bool = False) -> float:
    """The share of a query's links that are among the n candidates with the highest scores: the mean over queries.

    Parameters
    ----------
    scores, links, n, all_queries
        See `precision_at`.

    Returns
    -------
    float

    Examples
    --------
    >>> from vicinal.metrics import recall_at
    >>> recall_at([[0.9, 0.5, 0.1], [0.2, 0.3, 0.4]], [[1, 0, 1], [0, 0, 1]], 2)
    0.75
    """
    hits, linked = hits_at(scores, links, n)
    shares = hits / np.maximum(linked, 1)
    return float(np.mean(shares if all_queries else shares[linked > 0]))


def pair_auc(scores: ArrayLike, links: Any) -> float:
    """The share of pairs of a linked and an unlinked pair of which the linked one has the higher score; ties are half.

    It is the area under the ROC curve of all entries, in memory and time that large matrices can afford.

    Parameters
    ----------
    scores, links
        See `precision_at`.

    Returns
    -------
    float

    Examples
    --------
    >>> from vicinal.metrics import pair_auc
    >>> pair_auc([[0.9, 0.5, 0.1], [0.2, 0.3, 0.4]], [[1, 0, 0], [0, 1, 0]])
    0.75
    """
    given, truth = checked_pairs(scores, links)
    linked = np.sort(given[truth.nonzero()])
    n_unlinked = given.size - len(linked)
    if not n_unlinked:
        raise ValueError("All pairs are linked, so that there is no AUC.")
    return (linked_above(given, linked) / len(linked) - len(linked) / 2) / n_unlinked


def _mean_and_error(values: NDArray[np.float64], test_over_train: float) -> tuple[float, float]:
    """The mean and its standard error, NaN for one value and exactly 0 for equal ones, whatever rounding says."""
    if len(values) == 1:
        return float(values[0]), np.nan
    if np.ptp(values) == 0:
        return float(values[0]), 0.0
    return float(values.mean()), float(np.sqrt(values.var(ddof=1) * (1 / len(values) + test_over_train)))


def _scores(name: str, values: ArrayLike) -> NDArray[np.float64]:
    scores = np.asarray(values, dtype=np.float64)
    if scores.ndim != 1 or not scores.size or not np.isfinite(scores).all():
        raise ValueError(
            f"{name} must be a flat sequence of one or more finite numbers, one per split; got {values!r}."
        )
    return scores


def _two_labelings(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    codes = _codes("y_true", y_true), _codes("y_pred", y_pred)
    check_consistent_length(*codes)
    return codes


def _codes(name: str, labels: Any) -> NDArray[np.intp]:
    """Labels of any type as whole numbers from 0."""
    given = np.asarray(labels)
    if given.ndim != 1 or not given.size:
        raise ValueError(f"{name} must be a flat sequence of one or more labels; its shape is {given.shape}.")
    if given.dtype.kind in "fO" and np.any(given != given):
        raise ValueError(f"{name} has missing labels (NaN); leave these rows out, or give them a label of their own.")
    if given.dtype.kind == "O":  # which may not be sortable
        seen: dict[Any, int] = {}
        return np.array([seen.setdefault(label, len(seen)) for label in given], dtype=np.intp)
    return np.unique(given, return_inverse=True)[1]
