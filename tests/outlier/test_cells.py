"""What rows' nearest anchors add up to, against plain NumPy, on every instruction set."""

import numpy as np
import pytest
import scipy.sparse as sp
from oracle import distances as oracle_distances
from oracle import nearest

from vicinal import RandLocal, _native
from vicinal._anchors import fitted_groups
from vicinal._calls import as_native
from vicinal.outlier._cells import FLOOR, LEAST_USUAL, Cells


def table(n_rows=300, n_columns=6, *, missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)).astype(np.float32)
    X[rng.uniform(size=X.shape) < missing] = np.nan
    return X


def nearest_by_numpy(fitted, X):
    """Each row's nearest other anchor and its distance, by groups; -1 where it shares no column with any."""
    anchors = np.full((len(X), fitted.n_groups), -1)
    distances = np.zeros((len(X), fitted.n_groups))
    for t in range(fitted.n_groups):
        columns = fitted.feature_indices_[fitted.feature_ptr_[t] : fitted.feature_ptr_[t + 1]]
        cells = np.arange(fitted.anchor_ptr_[t], fitted.anchor_ptr_[t + 1])
        table = fitted.anchors_[fitted.anchor_rows_[cells]]
        d = oracle_distances(X[:, columns], table[:, columns])
        rows, others = (np.nan_to_num(part, nan=np.inf) for part in (X, table))
        d[(rows[:, None] == others[None]).all(axis=2)] = np.inf  # itself
        at, far = nearest(d)
        known = at[:, 0] >= 0
        anchors[known, t] = cells[at[known, 0]]
        distances[known, t] = far[known, 0]
    return anchors, distances


def scores_by_numpy(cells, X):
    fitted = cells.anchors
    anchors, distances = nearest_by_numpy(fitted, X)
    present = anchors >= 0
    far = distances / fitted.mean_distances_
    far = np.where(far > 1, 1 + np.log(np.maximum(far, 1)), far)
    ratio = np.log(distances * cells.nearness[anchors] + 0.05)
    terms = np.stack([far, cells.emptiness[anchors], ratio])
    return np.where(present, terms, 0).sum(axis=2) / present.sum(axis=1)


@pytest.mark.parametrize("isa", _native.available_instruction_sets)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_sums_over_groups_are_those_of_plain_numpy(isa, missing):
    X = table(missing=missing)
    fitted = RandLocal(9, n_anchors=(4, 40), random_state=0).fit(X[:200])
    cells, _ = Cells.count(fitted, X[:200])
    sums = np.zeros((len(X), 4))
    groups = fitted_groups(fitted).native(X, exclude_self=True)
    _native.score_cells(
        as_native(X), groups, fitted.mean_distances_, sums, cells.emptiness, cells.nearness, True, 2, None, isa
    )
    np.testing.assert_allclose(sums[:, 1:].T / sums[:, 0], scores_by_numpy(cells, X), rtol=1e-4, atol=1e-5)
    assert (sums[:, 0] <= 9).all()
    assert (sums[:, 0] == 9).all() == (missing == 0)


def test_cells_count_rows_and_their_distances():
    X = table()
    fitted = RandLocal(5, n_anchors=12, random_state=0).fit(X)
    cells, surroundings = Cells.count(fitted, X)
    anchors, distances = nearest_by_numpy(fitted, X)
    n_cells = fitted.anchor_ptr_[-1]
    rows = np.bincount(anchors.ravel(), minlength=n_cells)
    total = np.bincount(anchors.ravel(), distances.ravel(), minlength=n_cells)
    group = np.repeat(np.arange(5), 12)
    np.testing.assert_allclose(np.exp(-cells.emptiness), (rows + 1 / 12) / (len(X) + 1), rtol=1e-6)
    assert np.isclose(np.exp(-cells.emptiness[:12]).sum(), 1)
    usual = total / np.maximum(rows, 1) + LEAST_USUAL * fitted.mean_distances_[group]
    np.testing.assert_allclose(1 / cells.nearness[rows > 0], usual[rows > 0], rtol=1e-4)
    expected = np.log(distances / fitted.mean_distances_ + FLOOR).mean(axis=1)
    np.testing.assert_allclose(surroundings.widths, expected, rtol=1e-3, atol=1e-4)
    assert surroundings.repeated == 0
    few_values = np.random.default_rng(0).integers(3, size=(200, 2)).astype(np.float32)
    fitted = RandLocal(3, n_anchors=20, feature_range=(1, 1), random_state=0).fit(few_values)
    assert Cells.count(fitted, few_values)[1].repeated > 0.2


def test_scores_do_not_depend_on_blocks_threads_or_storage():
    X = np.round(table(700), 1)
    X[X < 0] = 0
    fitted = RandLocal(6, n_anchors=16, random_state=0).fit(X)
    cells, _ = Cells.count(fitted, X)
    whole = cells.scores(X)
    np.testing.assert_array_equal(np.concatenate([cells.scores(X[:333]), cells.scores(X[333:])], axis=1), whole)
    sparse_fitted = RandLocal(6, n_anchors=16, random_state=0).fit(sp.csr_array(X))
    sparse_cells, _ = Cells.count(sparse_fitted, sp.csr_array(X))
    np.testing.assert_allclose(sparse_cells.scores(sp.csr_array(X)), whole, rtol=1e-4, atol=1e-5)


def test_in_constant_columns_other_rows_are_far():
    X = np.ones((50, 3), np.float32)
    fitted = RandLocal(4, n_anchors=5, random_state=0).fit(X)
    cells, _ = Cells.count(fitted, X)
    assert cells.scores(X)[0].tolist() == [0.0] * 50
    assert cells.scores(X[:1] + 1)[0].tolist() == [1.0]


def test_a_row_without_values_has_no_score():
    X = table(missing=0.1)
    fitted = RandLocal(4, random_state=0).fit(X)
    cells, _ = Cells.count(fitted, X)
    assert np.isnan(cells.scores(np.full((1, 6), np.nan, np.float32))).all()
