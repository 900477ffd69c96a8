"""RankBoostMap: rules as features, and what their sums are."""

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from vicinal.learned import RankBoost, RankBoostMap

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)


@pytest.mark.parametrize("rankers", ["stumps", "grids"])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.csr_matrix])
def test_features_by_definition(rankers, container):
    rows = X.to_numpy() - X.to_numpy().mean(0)  # thresholds on either side of zero
    model = RankBoostMap(RankBoost(40, rankers=rankers)).fit(container(rows), Y)
    ranker = model.ranker_
    first = rows[:, ranker.columns_] > ranker.thresholds_
    second = (rows[:, ranker.second_columns_] > ranker.second_thresholds_) | (ranker.second_columns_ < 0)
    features = model.transform(container(rows))
    assert isinstance(features, sp.csr_matrix)
    np.testing.assert_allclose(features.toarray(), first * second * ranker.weights_)
    np.testing.assert_allclose(features.sum(axis=1).A1 + ranker.intercept_, ranker.decision_function(rows))


def test_features_by_columns():
    whole, summed = (RankBoostMap(RankBoost(60, random_state=0), axis_wise=wise).fit(X, Y) for wise in (False, True))
    columns = whole.ranker_.columns_
    names = summed.get_feature_names_out()
    assert list(names) == list(X.columns[np.unique(columns)])
    features, found = whole.transform(X).toarray(), summed.transform(X).toarray()
    for place, column in enumerate(np.unique(columns)):
        np.testing.assert_allclose(found[:, place], features[:, columns == column].sum(axis=1))
    with pytest.raises(ValueError, match="rankers='stumps'"):
        RankBoostMap(RankBoost(20, rankers="grids"), axis_wise=True).fit(X, Y)


def test_names_are_rules_and_differ():
    model = RankBoostMap(RankBoost(200)).fit(X, Y)
    names = model.get_feature_names_out()
    assert len(set(names)) == len(names) == 200
    assert any("(round " in name for name in names)
    assert RankBoostMap(RankBoost(1)).fit(X.to_numpy(), Y).get_feature_names_out()[0].startswith("x")


def test_a_ranker_that_is_fitted_already():
    ranker = RankBoost(30).fit(X, Y)
    model = RankBoostMap(FrozenEstimator(ranker)).fit(X, 1 - Y)
    np.testing.assert_allclose(
        model.transform(X).sum(axis=1).A1 + ranker.intercept_, ranker.decision_function(X), atol=1e-9
    )
    with pytest.raises(ValueError, match="the ranker was fitted on 30"):
        RankBoostMap(FrozenEstimator(ranker)).fit(X.to_numpy()[:, :5], Y)


def test_single_precision_stays_single():
    for axis_wise in (False, True):
        model = RankBoostMap(RankBoost(10), axis_wise=axis_wise).fit(X.astype(np.float32), Y)
        assert model.transform(X.astype(np.float32)).dtype == np.float32
        assert model.transform(X).dtype == np.float64


def test_sparse_arrays_where_they_are_wanted():
    if "sparse_interface" not in sklearn.get_config():
        pytest.skip("this scikit-learn has no such setting")
    model = RankBoostMap(RankBoost(10)).fit(X, Y)
    with sklearn.config_context(sparse_interface="sparray"):
        assert isinstance(model.transform(X), sp.csr_array)


def test_grades():
    rows, grades = load_diabetes(return_X_y=True)
    model = RankBoostMap(RankBoost(20, target="grades")).fit(rows, grades)
    np.testing.assert_allclose(model.transform(rows).sum(axis=1).A1, model.ranker_.predict(rows))


def test_blocks_of_rows_do_not_change_features(monkeypatch):
    model = RankBoostMap(RankBoost(30, rankers="grids")).fit(X, Y)
    expected, scores = model.transform(X), model.ranker_.decision_function(X)
    monkeypatch.setattr("vicinal.learned._rules.BLOCK_ENTRIES", 1000)
    assert (model.transform(X) != expected).nnz == 0
    np.testing.assert_array_equal(model.ranker_.decision_function(X), scores)


def test_a_ranker_of_another_kind():
    with pytest.raises(ValueError, match="ranker must be a RankBoost"):
        RankBoostMap(LogisticRegression()).fit(X, Y)


def test_no_rules_make_no_features():
    with pytest.warns(UserWarning, match="no column of X varies"):
        model = RankBoostMap().fit(np.ones((4, 2)), [0, 0, 1, 1])
    assert model.transform(np.ones((3, 2))).shape == (3, 0)
