"""LabelledOnly: an estimator that sees the rows with a label."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import StandardScaler

from vicinal.learned import KMeansFeatures, LabelledOnly, RankBoost, RankBoostMap

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)
SOME = np.where(np.arange(len(Y)) % 3, -1, Y)


@pytest.mark.parametrize("container", [lambda rows: rows, np.asarray, sp.csr_array, sp.coo_array])
def test_the_same_as_without_the_other_rows(container):
    rows = container(X)
    part = X[SOME >= 0] if rows is X else X.to_numpy()[SOME >= 0]
    alone = RankBoost(10, random_state=0).fit(part, SOME[SOME >= 0])
    model = LabelledOnly(RankBoost(10, random_state=0)).fit(rows, SOME)
    queries = X if rows is X else X.to_numpy()
    np.testing.assert_allclose(model.decision_function(queries), alone.decision_function(queries))
    assert model.n_features_in_ == 30
    assert model.score(queries, Y) == alone.score(queries, Y)


def test_what_it_has_is_what_the_estimator_has():
    model, features = LabelledOnly(GaussianNB()), LabelledOnly(RankBoostMap(RankBoost(5)))
    assert is_classifier(model)
    assert not is_classifier(features)
    assert not hasattr(model, "decision_function")
    assert not hasattr(model, "transform")
    assert not hasattr(features, "predict")
    assert features.fit_transform(X, SOME).shape == (len(X), 5)
    assert " > " in features.get_feature_names_out()[0]
    shares = model.fit(X, SOME).predict_proba(X)
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(X))
    assert list(model.feature_names_in_) == list(X.columns)


def test_a_pipeline_whose_first_steps_look_at_all_rows():
    both = make_union("passthrough", KMeansFeatures(10, random_state=0))
    model = make_pipeline(StandardScaler(), both, LabelledOnly(LogisticRegression(max_iter=1000)))
    by_hand = clone(model[:-1]).fit(X.to_numpy()).transform(X.to_numpy())
    alone = LogisticRegression(max_iter=1000).fit(by_hand[SOME >= 0], SOME[SOME >= 0])
    np.testing.assert_allclose(
        model.fit(X.to_numpy(), SOME).decision_function(X.to_numpy()), alone.decision_function(by_hand), rtol=1e-6
    )


def test_labels_that_are_no_numbers_are_all_labels():
    names = np.array(["benign", "malignant"])[Y]
    assert list(LabelledOnly(GaussianNB()).fit(X, names).classes_) == ["benign", "malignant"]


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.full(len(Y), -1), "all rows are unlabelled"),
        (np.where(Y, 1, -1), "one class only"),
        (SOME[:-1], "inconsist"),
    ],
)
def test_labels_that_say_nothing(y, words):
    with pytest.raises(ValueError, match=words):
        LabelledOnly().fit(X, y)


def test_a_failed_fit_leaves_it_as_it_was():
    model = LabelledOnly(RankBoost(10, random_state=0)).fit(X, SOME)
    before, fitted = model.predict(X), model.estimator_
    with pytest.raises(ValueError, match="rankers must be one of"):
        model.set_params(estimator__rankers="none").fit(X.iloc[:, :3], SOME)
    assert model.estimator_ is fitted
    np.testing.assert_array_equal(model.predict(X), before)
