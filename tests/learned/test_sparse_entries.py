"""Entries of sparse rows that stand twice, or are zeros: what counts is the matrix, not how it is written down."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs

from vicinal.learned import (
    GraphSmoothing,
    KMeansFeatures,
    LabelledOnly,
    LearnedKernelFeatures,
    NeuralKernel,
    NeuralReduction,
    PivotMap,
    RankBoost,
    RankBoostMap,
)

MODELS = {
    "GraphSmoothing": GraphSmoothing(n_bits=64, random_state=0),
    "KMeansFeatures": KMeansFeatures(6, random_state=0),
    "LabelledOnly": LabelledOnly(),
    "LearnedKernelFeatures": LearnedKernelFeatures(n_pivots=8, n_components=5, n_rounds=20, random_state=0),
    "NeuralKernel, pairs": NeuralKernel((4, 3), n_epochs=4, random_state=0),
    "NeuralKernel, products": NeuralKernel((4, 3), form="products", n_epochs=4, random_state=0),
    "NeuralReduction": NeuralReduction(5, n_epochs=4, random_state=0),
    "PivotMap": PivotMap(n_pivots=8, random_state=0),
    "RankBoost": RankBoost(20, random_state=0),
    "RankBoostMap": RankBoostMap(RankBoost(20, random_state=0)),
}
each_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())


@pytest.fixture(scope="module")
def table():
    """Rows of quarters, whose halves are exact, of two classes; a column is zero but for a row without a label."""
    X, y = make_blobs(80, 8, centers=2, cluster_std=3.0, random_state=0)
    X = np.where(X > 0, np.round(4 * X) / 4, 0)
    X[:, 5] = 0
    X[7, 5] = 3
    return sp.csr_array(X), np.where(np.arange(80) % 9 == 7, -1, y)


def in_halves(rows):
    """Each entry twice, as two halves, and the entries of a row in another order."""
    parts = [np.repeat(part, 2) for part in (rows.data / 2, rows.indices)]
    starts = 2 * rows.indptr
    for start, end in pairwise(starts):
        parts = [np.concatenate([part[:start], part[start:end][::-1], part[end:]]) for part in parts]
    return sp.csr_array((*parts, starts), shape=rows.shape)


def with_zeros(rows):
    """Every place has an entry, of zero where there was none."""
    n_rows, n_columns = rows.shape
    indices = np.tile(np.arange(n_columns, dtype=np.int32), n_rows)
    starts = np.arange(n_rows + 1, dtype=np.int32) * n_columns
    return sp.csr_array((rows.toarray().ravel(), indices, starts), shape=rows.shape)


def answers(model, rows, y, asked):
    known = y >= 0 if isinstance(model, RankBoost | RankBoostMap) else np.ones(len(y), dtype=bool)
    model = type(model)(**model.get_params(deep=False)).fit(rows[known], y[known])
    for name in ("kernel", "decision_function", "transform"):
        if callable(getattr(model, name, None)):
            found = getattr(model, name)(asked)
            return found.toarray() if sp.issparse(found) else found
    raise AssertionError(f"{model} answers nothing")


@each_model
@pytest.mark.parametrize("written", [in_halves, with_zeros])
def test_how_entries_are_written_does_not_matter(model, written, table):
    rows, y = table
    given = written(rows)
    assert given.nnz > rows.nnz
    before = given.copy()
    np.testing.assert_allclose(answers(model, given, y, given), answers(model, rows, y, rows), rtol=1e-9, atol=1e-12)
    for part in ("data", "indices", "indptr"):  # and what is given stays as it is
        np.testing.assert_array_equal(getattr(given, part), getattr(before, part))


@each_model
def test_one_row_at_a_time(model, table):
    rows, y = table
    together = answers(model, rows, y, rows[:6])
    for place in range(6):
        alone = answers(model, rows, y, rows[[place]])
        wanted = together[[place]][:, [place]] if callable(getattr(model, "kernel", None)) else together[[place]]
        np.testing.assert_allclose(alone, wanted, rtol=1e-6, atol=1e-9)
