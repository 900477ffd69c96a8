import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.svm import LinearSVC

from vicinal.learned import LearnedKernelFeatures, PivotMap, RankBoost, RankBoostMap

X, Y = load_breast_cancer(return_X_y=True)
SOME = np.where(np.arange(len(Y)) % 3 == 0, Y, -1)


@pytest.mark.parametrize("rankers", ["stumps", "grids"])
@pytest.mark.parametrize("whiten", [False, True])
def test_the_chain_without_the_score_is_a_pivot_map(rankers, whiten):
    given = {"n_pivots": 40, "whiten": whiten, "n_components": 9, "random_state": 3}
    chain = LearnedKernelFeatures(f"rankboost-{rankers}", n_rounds=30, with_score=False, **given).fit(X, SOME)
    same = PivotMap(RankBoostMap(RankBoost(30, rankers=rankers)), **given).fit(X, SOME)
    np.testing.assert_array_equal(chain.transform(X), same.transform(X))
    assert (chain.kernel_.ranker_.second_columns_ >= 0).any() == (rankers == "grids")


@pytest.mark.parametrize("projection", ["binary", "labels"])
@pytest.mark.parametrize("n_pivots", [None, 40])
def test_the_first_feature_is_the_score(projection, n_pivots):
    model = LearnedKernelFeatures(
        n_rounds=30, n_pivots=n_pivots, n_components=5, projection=projection, random_state=0
    ).fit(X, SOME)
    features, ranker = model.transform(X), model.kernel_.ranker_
    assert features.shape == (len(X), 5)
    score = ranker.decision_function(X) - ranker.intercept_
    np.testing.assert_allclose(features[:, 0] / features[0, 0], score / score[0], atol=1e-9)
    assert features[0, 0] * score[0] > 0
    lengths = np.linalg.norm(model.components_, axis=0)
    assert lengths[0] == pytest.approx(lengths[1:].mean())


def test_rules_have_the_names_of_columns():
    frame = load_breast_cancer(as_frame=True).data
    model = LearnedKernelFeatures(n_rounds=5, n_pivots=10, random_state=0).fit(frame, SOME)
    assert all(rule.partition(" > ")[0] in frame.columns for rule in model.rules())
    with pytest.raises(AttributeError, match="Only a kernel of RankBoost has rules"):
        LearnedKernelFeatures("neural", n_pivots=10, random_state=0).fit(frame, SOME).rules()


@pytest.mark.parametrize("projection", ["binary", "labels"])
@pytest.mark.parametrize("n_pivots", [None, 10])
def test_constant_columns(projection, n_pivots):
    model = LearnedKernelFeatures(n_pivots=n_pivots, n_components=4, projection=projection, random_state=0)
    with pytest.warns(UserWarning, match="no column of X varies with y"):
        model.fit(np.ones_like(X), SOME)
    assert (model.transform(X) == 0).all()


def test_stages_may_be_left_out():
    given = {"n_rounds": 30, "n_pivots": None, "random_state": 0}
    rules = LearnedKernelFeatures(n_components=None, **given).fit(X, SOME)
    np.testing.assert_allclose(rules.transform(X), rules.kernel_.transform(X).toarray())
    projected = LearnedKernelFeatures(n_components=7, with_score=False, **given).fit(X, SOME)
    assert projected.components_.shape == (30, 7)
    alone = LearnedKernelFeatures(n_components=1, **given).fit(X, SOME)
    assert alone.transform(X).shape == (len(X), 1)


@pytest.mark.parametrize(
    ("name", "form", "layers"), [("neural", "pairs", (20, 20)), ("neural-products", "products", (20,))]
)
@pytest.mark.parametrize("given", [None, (3,)])
def test_a_neural_kernel_at_pivots(name, form, layers, given):
    rows = (X - X.mean(0)) / X.std(0)
    options = {"n_pivots": 15, "n_components": None, "random_state": 0}
    model = LearnedKernelFeatures(name, hidden_layers=given, **options).fit(rows, SOME)
    assert model.kernel_.form == form
    assert tuple(map(len, model.kernel_.layer_biases_))[: len(given or layers)] == (given or layers)
    np.testing.assert_allclose(model.transform(rows), model.kernel_.kernel(rows, model.pivots_), atol=1e-5)
    assert (SOME[model.pivot_indices_] == -1).all()
    with pytest.raises(ValueError, match="a neural kernel has no score of rows"):
        LearnedKernelFeatures(name, with_score=True, **{**options, "n_components": 5}).fit(rows, SOME)


def test_few_features_hold_the_labels():
    for options in ({}, {"projection": "labels"}, {"projection": "labels", "with_score": False}):
        model = LearnedKernelFeatures(n_rounds=100, n_pivots=100, n_components=10, random_state=0, **options)
        features = model.fit(X, SOME).transform(X)
        features /= np.linalg.norm(features, axis=1).mean()
        svm = LinearSVC(dual=False).fit(features[SOME >= 0], Y[SOME >= 0])
        assert roc_auc_score(Y[SOME < 0], svm.decision_function(features[SOME < 0])) > 0.97


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"kernel": "gaussian"},
            "kernel must be one of 'rankboost-stumps', .*'neural-products'",
        ),
        ({"with_score": "yes"}, "with_score must be one of"),
        ({"with_score": True, "n_components": None}, "with_score=True needs"),
        ({"n_rounds": 0}, "n_rounds must be"),
    ],
)
def test_one_clear_sentence(options, words):
    with pytest.raises(ValueError, match=words):
        LearnedKernelFeatures(**{"n_pivots": 10, "n_rounds": 5, **options}).fit(X, SOME)
