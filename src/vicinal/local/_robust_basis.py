"""ROBPCA as one function of arrays: a robust affine subspace of the rows, fast on small data."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, gammaincinv, ndtri
from sklearn.utils.random import sample_without_replacement

QUANTILE = 0.975  # rows beyond it, were they normal, count as outlying
AUTOMATIC_SHARE = 0.8  # of the variance, where the number of components is left open
AUTOMATIC_RATIO = 1e-3  # of the last eigenvalue to the first, likewise
AUTOMATIC_COMPONENTS = 10
MCD_STARTS = 30
MCD_FINALISTS = 5
MCD_STEPS = 100  # many more than are ever needed; rounding might go round in circles
ZERO = 1e-12  # a length that counts as none, where the largest value is 1
FLAT = 1e-14  # a variance that counts as none, where that of the least outlying rows is 1
BLOCK_ENTRIES = 2**20

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class RobustBasis(NamedTuple):
    """What `robust_basis` finds: an affine subspace, the variances along its axes, and the rows that speak for them."""

    center: Floats  # (n_features,)
    loadings: Floats  # (n_features, n_components): orthonormal columns, the largest variance first
    eigenvalues: Floats  # (n_components,)
    support: Flags  # (n_samples,): the rows that centre and eigenvalues rest on
    near: Flags  # (n_samples,): the rows that the subspace rests on, and that a share of the variance is one of
    n_support: int  # h in the paper


def robust_basis(
    X: NDArray,
    n_components: int | float | None,
    rng: np.random.RandomState,
    *,
    support_fraction: float = 0.75,
    n_directions: int = 250,
    max_components: int | None = None,
) -> RobustBasis:
    """ROBPCA of a finite matrix, without any checks; the parameters are those of `RobustPCA`.

    The basis is empty where at least h rows are equal, and smaller than a whole number `n_components` where the rows
    that count span less.
    """
    X = np.asarray(X, dtype=np.float64)
    n_samples = len(X)
    mean = X.mean(axis=0)
    centred = X - mean
    scale = np.abs(centred).max()
    if scale <= 4 * np.finfo(np.float64).eps * np.abs(X).max():
        return _empty_basis(mean, np.ones(n_samples, dtype=bool), n_samples)
    centred /= scale
    row_space = _row_space(centred)
    Z = centred @ row_space
    h = _support_size(n_samples, Z.shape[1], n_components, support_fraction, max_components)

    least_outlying = np.argsort(_outlyingness(Z, h, n_directions, rng), kind="stable")[:h]
    near = _mask(least_outlying, n_samples)
    center, axes, variances = _principal_axes(Z[near])
    k = _count(variances, n_components, max_components)
    if k == 0:
        return _empty_basis(mean + scale * (row_space @ center), near, h)
    if k < Z.shape[1]:
        wider = _near_subspace(Z - center, axes[:, :k], h)
        reweighted = _principal_axes(Z[wider])
        if len(reweighted[2]) >= k:
            near, (center, axes, variances) = wider, reweighted
            k = _count(variances, n_components, max_components)

    axes = axes[:, :k]
    shift, root, support = _robust_scatter((Z - center) @ axes, h, least_outlying, rng)
    rotation, deviations, _ = np.linalg.svd(root, full_matrices=False)
    loadings = row_space @ (axes @ rotation)
    center = mean + scale * (row_space @ (center + axes @ shift))
    return RobustBasis(center, _with_fixed_signs(loadings), (scale * deviations) ** 2, support, near, h)


def univariate_mcd(values: Floats, h: int) -> tuple[Floats, Floats]:
    """Location and scale of every row of `values` by its h values of least variance, exactly, then reweighted.

    Sorted, these h values are neighbours. As h is more than half of all, every window of h holds the same core, so
    that its sums grow outwards from the core and no far value is ever added and taken away again. The h-th smallest
    deviation from their mean, over the normal quantile of h/n, is the raw scale; values within the 97.5 % quantile of
    it give the mean and the standard deviation, made consistent for what normal values lose by the cut.
    """
    n = values.shape[1]
    if h == n:
        return values.mean(axis=1), values.std(axis=1, ddof=1)
    y = np.sort(values, axis=1)
    middle = y[:, n // 2, None]
    y = y - middle
    sums, squares = _window_sums(y, h), _window_sums(y * y, h)
    best = np.argmin(squares - sums**2 / h, axis=1)[:, None]
    deviations = np.abs(y - np.take_along_axis(sums, best, axis=1) / h)
    raw = np.partition(deviations, h - 1, axis=1)[:, h - 1, None]
    coverage = max(QUANTILE, h / n)
    inside = deviations <= raw * np.sqrt(chi2_quantile(coverage, 1) / chi2_quantile(h / n, 1))
    counts = inside.sum(axis=1, keepdims=True)
    location = np.where(inside, y, 0).sum(axis=1, keepdims=True) / counts
    variance = (np.where(inside, y - location, 0) ** 2).sum(axis=1) / (counts[:, 0] - 1)
    return (location + middle)[:, 0], np.sqrt(variance * _consistency(1, coverage))


def wilson_hilferty_cutoff(orthogonal_distances: Floats, h: int) -> float:
    """The 97.5 % quantile of orthogonal distances, whose power 2/3 is nearly normal (section 2.3 of the paper)."""
    location, scale = univariate_mcd(orthogonal_distances[None, :] ** (2 / 3), h)
    return float((location[0] + scale[0] * ndtri(QUANTILE)) ** 1.5)


def _window_sums(y: Floats, h: int) -> Floats:
    """Sums over columns s to s + h - 1, for every s."""
    spare = y.shape[1] - h
    sums = np.repeat(y[:, spare:h].sum(axis=1, keepdims=True), spare + 1, axis=1)
    sums[:, :spare] += np.cumsum(y[:, :spare][:, ::-1], axis=1)[:, ::-1]
    sums[:, 1:] += np.cumsum(y[:, h:], axis=1)
    return sums


def _row_space(centred: Floats) -> Floats:
    """An orthonormal basis, in columns, of what the rows span; nothing larger than the data is formed."""
    if centred.shape[0] > centred.shape[1]:
        _, sizes, rotation = np.linalg.svd(np.linalg.qr(centred, mode="r"))
        axes = rotation.T
    else:
        basis, triangle = np.linalg.qr(centred.T)
        rotation, sizes, _ = np.linalg.svd(triangle)
        axes = basis @ rotation
    return axes[:, sizes > max(centred.shape) * np.finfo(np.float64).eps * sizes[0]]


def _support_size(
    n_samples: int, rank: int, n_components: int | float | None, fraction: float, max_components: int | None
) -> int:
    """h = max(fraction n, (n + k_max + 1) / 2), rounded down."""
    if isinstance(n_components, int | np.integer):
        k_max = min(int(n_components), rank)
    else:
        k_max = max(1, min(max_components or AUTOMATIC_COMPONENTS, n_samples // 2, rank))
    return min(n_samples, max(int(fraction * n_samples + 1e-9), (n_samples + k_max + 1) // 2))


def _outlyingness(
    Z: Floats, h: int, n_directions: int, rng: np.random.RandomState, block_entries: int = BLOCK_ENTRIES
) -> Floats:
    """Stahel-Donoho outlyingness: the largest standardised distance from the middle over directions through two rows.

    Where a direction has scale 0, at least h rows lie on a hyperplane: rows off it are infinitely far out, and the
    search begins again within it.
    """
    outlyingness = np.full(len(Z), np.inf)
    rows = np.arange(len(Z))
    while True:
        current = Z[rows]
        if len(rows) == h:
            outlyingness[rows] = 0
            return outlyingness
        directions = _directions(current, n_directions, rng)
        if not len(directions):  # nearly all rows are equal
            outlyingness[rows] = np.linalg.norm(current - np.median(current, axis=0), axis=1)
            return outlyingness
        worst = np.zeros(len(rows))
        planes = []
        step = max(1, block_entries // len(rows))
        for first in range(0, len(directions), step):
            projected = directions[first : first + step] @ current.T
            location, scale = univariate_mcd(projected, h)
            distances = np.abs(projected - location[:, None])
            flat = scale <= ZERO
            if flat.any():
                planes.append(distances[flat] <= ZERO * np.sqrt(len(rows)))
            elif not planes:
                worst = np.maximum(worst, (distances / scale[:, None]).max(axis=0))
        if not planes:
            outlyingness[rows] = worst
            return outlyingness
        rows = rows[_on_common_planes(np.concatenate(planes), h)]


def _on_common_planes(planes: Flags, h: int) -> Flags:
    """Rows on the fullest hyperplane, and on as many others as leave at least h rows."""
    fullest_first = planes[np.argsort(-planes.sum(axis=1), kind="stable")]
    common = fullest_first[0]
    for plane in fullest_first[1:]:
        if (common & plane).sum() >= h:
            common = common & plane
    return common


def _directions(rows: Floats, n_directions: int, rng: np.random.RandomState) -> Floats:
    """Unit vectors through pairs of rows: all pairs or, if there are too many, as many random ones."""
    n_pairs = len(rows) * (len(rows) - 1) // 2
    if n_pairs <= n_directions:
        pairs = np.arange(n_pairs)
    else:
        pairs = sample_without_replacement(n_pairs, n_directions, random_state=rng)
    second = ((1 + np.sqrt(1 + 8 * pairs)) / 2).astype(np.int64)
    directions = rows[second] - rows[pairs - second * (second - 1) // 2]
    lengths = np.linalg.norm(directions, axis=1)
    apart = lengths > ZERO
    return directions[apart] / lengths[apart, None]


def _principal_axes(rows: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean, principal axes (in columns) and variances of rows, as many as there are dimensions with variance."""
    mean = rows.mean(axis=0)
    _, sizes, axes = np.linalg.svd(rows - mean, full_matrices=False)
    rounding = max(rows.shape) * np.finfo(np.float64).eps * sizes.max(initial=0)
    rank = int((sizes > max(ZERO, rounding)).sum())
    return mean, axes[:rank].T, sizes[:rank] ** 2 / max(len(rows) - 1, 1)


def _count(variances: Floats, n_components: int | float | None, max_components: int | None) -> int:
    if isinstance(n_components, int | np.integer):
        return min(int(n_components), len(variances))
    if not len(variances):
        return 0
    most = len(variances) if max_components is None else min(len(variances), max_components)
    share = n_components
    if share is None:
        share = AUTOMATIC_SHARE
        most = min(most, int((variances >= AUTOMATIC_RATIO * variances[0]).sum()))
        if max_components is None:
            most = min(most, AUTOMATIC_COMPONENTS)
    cumulative = np.cumsum(variances)
    return min(most, int(np.searchsorted(cumulative, (share - 1e-12) * cumulative[-1])) + 1)


def _near_subspace(rows: Floats, directions: Floats, h: int) -> Flags:
    """Rows whose orthogonal distance is not outlying (the reweighting step)."""
    distances = np.linalg.norm(rows - rows @ directions @ directions.T, axis=1)
    return distances <= max(wilson_hilferty_cutoff(distances, h), ZERO)


def _robust_scatter(
    scores: Floats, h: int, least_outlying: NDArray[np.int64], rng: np.random.RandomState
) -> tuple[Floats, Floats, Flags]:
    """Centre, a root of the covariance (R in R R') and the rows behind them: reweighted MCD where it is defined.

    The determinant of h rows in k dimensions says something only where h is well above k; otherwise mean and covariance
    of the h least outlying rows have to do. So they have where h rows are equal in all dimensions, as rows of sparse
    data are that have none of a subspace's columns. Where h rows are found on a hyperplane, all others are outliers,
    and the search begins again within it.

    All is computed in units of the least outlying rows' deviations, which the MCD does not depend on, so that variances
    of any size keep their precision.
    """
    n = len(scores)
    center, axes, variances = _principal_axes(scores[least_outlying])
    root = axes * np.sqrt(variances)
    k = len(variances)
    if not 0 < 2 * k < h:
        return center, root, _mask(least_outlying, n)
    white = (scores - center) @ (axes / np.sqrt(variances))
    tightest = _fast_mcd(white, h, least_outlying, rng)
    shift, eigenvalues, rotation = _moments(white[tightest])
    centred = (white - shift) @ rotation
    flat = eigenvalues <= FLAT * max(1, eigenvalues[-1])
    if flat.all():
        return center, root, _mask(least_outlying, n)
    if flat.any():
        off_plane = (centred[:, flat] ** 2).sum(axis=1)
        rows = np.flatnonzero(off_plane <= max(FLAT, off_plane[tightest].max()))
        within = np.searchsorted(rows, np.sort(tightest))
        inner_shift, inner_root, inner_support = _robust_scatter(centred[rows][:, ~flat], h, within, rng)
        plane = rotation[:, ~flat]
        support = _mask(rows[inner_support], n)
        return center + root @ (shift + plane @ inner_shift), root @ plane @ inner_root, support
    eigenvalues *= _consistency(k, h / n)
    support = (centred**2 / eigenvalues).sum(axis=1) <= chi2_quantile(QUANTILE, k)
    reweighted = _moments(white[support])
    if reweighted[1][0] > FLAT * max(1, reweighted[1][-1]):
        shift, eigenvalues, rotation = reweighted
        eigenvalues *= _consistency(k, QUANTILE)
    else:  # a column that is almost constant can lose all rows that differ
        support = _mask(tightest, n)
    return center + root @ shift, root @ (rotation * np.sqrt(eigenvalues)), support


def _moments(rows: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean, and the covariance's eigenvalues and eigenvectors."""
    center = rows.mean(axis=0)
    eigenvalues, rotation = np.linalg.eigh((rows - center).T @ (rows - center) / max(len(rows) - 1, 1))
    return center, eigenvalues, rotation


def _fast_mcd(
    scores: Floats,
    h: int,
    least_outlying: NDArray[np.int64],
    rng: np.random.RandomState,
    block_entries: int = BLOCK_ENTRIES,
) -> NDArray[np.int64]:
    """The h rows of least determinant that C-steps find, from the least outlying rows and from random ones."""
    n, k = scores.shape
    determinants, subsets = _c_steps(scores, least_outlying[None], h, 2)
    step = max(1, block_entries // scores.size)
    for first in range(0, MCD_STARTS, step):
        n_starts = min(step, MCD_STARTS - first)
        few = np.array([sample_without_replacement(n, k + 1, random_state=rng) for _ in range(n_starts)])
        more = _c_steps(scores, few, h, 3)
        determinants = np.concatenate([determinants, more[0]])
        best = np.argsort(determinants, kind="stable")[:MCD_FINALISTS]
        determinants, subsets = determinants[best], np.concatenate([subsets, more[1]])[best]
    for _ in range(MCD_STEPS):
        following = _c_steps(scores, subsets, h, 1)
        if not (following[0] < determinants - 1e-12).any():
            break
        determinants, subsets = following
    return subsets[np.argmin(determinants)]


def _c_steps(scores: Floats, subsets: NDArray[np.int64], h: int, n_steps: int) -> tuple[Floats, NDArray[np.int64]]:
    """From subsets of rows to the h rows nearest by their covariance, several times, and the logarithms of the
    determinants at the end."""
    centers, eigenvalues, rotations = _subset_moments(scores, subsets)
    for _ in range(n_steps):
        whitened = (scores - centers) @ (rotations / np.sqrt(eigenvalues)[:, None, :])
        distances = np.einsum("bnk,bnk->bn", whitened, whitened)
        subsets = np.argpartition(distances, h - 1, axis=1)[:, :h]
        centers, eigenvalues, rotations = _subset_moments(scores, subsets)
    return np.log(eigenvalues).sum(axis=1), subsets


def _subset_moments(scores: Floats, subsets: NDArray[np.int64]) -> tuple[Floats, Floats, Floats]:
    chosen = scores[subsets]
    centers = chosen.mean(axis=1, keepdims=True)
    chosen -= centers
    eigenvalues, rotations = np.linalg.eigh(chosen.transpose(0, 2, 1) @ chosen / chosen.shape[1])
    return centers, np.maximum(eigenvalues, FLAT / 100), rotations


def chi2_quantile(probability: float, n_dimensions: int) -> float:
    return float(2 * gammaincinv(n_dimensions / 2, probability))


def _consistency(n_dimensions: int, share: float) -> float:
    """What the covariance of the innermost share of normal rows must be multiplied by (Croux, Haesbroeck 1999)."""
    if share >= 1:
        return 1.0
    return float(share / gammainc(n_dimensions / 2 + 1, chi2_quantile(share, n_dimensions) / 2))


def _mask(rows: NDArray[np.int64], n: int) -> Flags:
    mask = np.zeros(n, dtype=bool)
    mask[rows] = True
    return mask


def _empty_basis(center: Floats, support: Flags, n_support: int) -> RobustBasis:
    return RobustBasis(center, np.empty((len(center), 0)), np.empty(0), support, support, n_support)


def _with_fixed_signs(loadings: Floats) -> Floats:
    """Columns whose entry of largest size is positive."""
    largest = np.take_along_axis(loadings, np.abs(loadings).argmax(axis=0)[None], axis=0)
    return loadings * np.where(largest < 0, -1, 1)
