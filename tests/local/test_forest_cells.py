"""Leaves of forests as groups of features."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import cross_val_score

from vicinal import ForestCells, LocalLinearClassifier, LocalLinearRegressor


@pytest.fixture
def table():
    return make_classification(500, 8, n_informative=5, n_classes=3, random_state=0)


def test_each_tree_has_one_leaf_of_a_row(table):
    X, y = table
    cells = ForestCells(11, random_state=0).fit(X, y)
    features = cells.transform(X)
    groups = np.searchsorted(cells.leaf_ptr_, features.indices, side="right") - 1
    np.testing.assert_array_equal(groups.reshape(500, 11), np.tile(np.arange(11), (500, 1)))
    assert (features.data == 1).all()
    assert features.shape[1] == len(cells.get_feature_names_out()) == cells.leaf_ptr_[-1]


def test_leaves_are_those_of_the_trees(table):
    X, y = table
    cells = ForestCells(6, random_state=0).fit(X, y)
    together = cells.transform(X) @ cells.transform(X).T
    leaves = cells.forest_.apply(X)
    np.testing.assert_array_equal(together.toarray(), (leaves[:, None] == leaves[None]).sum(axis=2))


def test_a_linear_model_on_leaves_is_as_good_as_the_forest():
    X, y = make_classification(600, 10, n_informative=6, flip_y=0.1, random_state=0)
    leaves = LocalLinearClassifier(ForestCells(100, random_state=0), random_state=0)
    forest = ExtraTreesClassifier(100, max_features=0.5, random_state=0)
    ours, theirs = (cross_val_score(model, X, y).mean() for model in (leaves, forest))
    assert ours > theirs - 0.01


def test_numbers_have_cells_too():
    X, y = make_regression(400, 6, noise=1.0, random_state=0)
    model = LocalLinearRegressor(ForestCells(100, random_state=0), C=10.0, random_state=0).fit(X[:300], y[:300])
    assert model.score(X[300:], y[300:]) > 0.7


def test_sparse_rows_fall_where_dense_ones_do(table):
    X, y = table
    X = np.where(X > 0, X, 0).astype(np.float32)
    dense, sparse = (ForestCells(7, random_state=0).fit(rows, y).transform(rows) for rows in (X, sp.csr_matrix(X)))
    assert (dense != sparse).nnz == 0


def test_threads_change_nothing(table):
    X, y = table
    one, two = (ForestCells(9, random_state=0, n_jobs=n).fit(X, y).transform(X) for n in (1, 2))
    assert (one != two).nnz == 0


@pytest.mark.parametrize("given", [{"n_trees": 0}, {"min_samples_leaf": 0}])
def test_bad_parameters_are_refused(table, given):
    with pytest.raises(ValueError, match=next(iter(given))):
        ForestCells(**given).fit(*table)
