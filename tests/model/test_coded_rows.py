"""Codes of local features against the CSR matrix that they stand for, and models fitted to them."""

import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import LocalLinearClassifier, RandLocal
from vicinal.model import _base
from vicinal.model._base import coded_features
from vicinal.model._coded_rows import CodedRowsBuilder
from vicinal.model._solver import Outputs, solve

POINTERS = np.array([0, 3, 400, 70_500, 70_502])  # groups with codes of one, two and four bytes


def some_rows(n_rows, n_per_group=1, missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    rows, columns = [], []
    for row in range(n_rows):
        for first, last in itertools.pairwise(POINTERS):
            if rng.random() >= missing:
                columns += list(first + rng.choice(last - first, n_per_group, replace=False))
                rows += [row] * n_per_group
    values = rng.uniform(0.2, 3, len(rows)).astype(np.float32)
    return sp.csr_array((values, (rows, columns)), shape=(n_rows, POINTERS[-1]))


def codes_of(X, n_per_group=1, block=7):
    builder = CodedRowsBuilder(POINTERS, X.shape[0], n_per_group)
    for start in range(0, X.shape[0], block):
        builder.add(X[start : start + block])
    return builder.finished()


@pytest.mark.parametrize("n_per_group", [1, 2])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_codes_are_the_matrix_up_to_a_level_of_its_values(n_per_group, missing):
    X = some_rows(30, n_per_group, missing)
    coded = codes_of(X, n_per_group)
    again = coded.to_csr()
    assert coded.shape == X.shape
    np.testing.assert_array_equal(again.indptr, X.indptr)
    np.testing.assert_array_equal(again.indices, sp.csr_array(X).indices)
    np.testing.assert_allclose(again.data, X.data, atol=1.01 * 3 / 255)
    assert [part.shape[1] for part in coded.codes] == [2 * n_per_group, n_per_group, n_per_group]
    lengths = np.asarray(again.multiply(again).sum(axis=1)).ravel()
    assert coded.mean_squared_length() == pytest.approx(lengths.mean(), rel=1e-5)


def test_codes_take_a_third_of_the_matrix():
    X = RandLocal(50, random_state=0).fit(np.random.default_rng(0).normal(size=(2000, 5)))
    rows = np.random.default_rng(1).normal(size=(500, 5)).astype(np.float32)
    matrix, coded = X.transform(rows), coded_features(X, rows)
    assert coded.nbytes <= (matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes) / 3


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "logistic"])
@pytest.mark.parametrize("n_per_group", [1, 2])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_solver_finds_the_same_on_codes_as_on_their_matrix(loss, n_per_group, missing):
    coded = codes_of(some_rows(40, n_per_group, missing), n_per_group)
    labels = (np.arange(40) % 3).astype(np.int32)
    outputs = Outputs(np.ones((2, 3)), np.bincount(labels).astype(float), labels=labels)
    options = {"loss": loss, "constant": 1.0, "tol": 1e-4, "max_iter": 1000, "seed": 0}
    on_codes = solve(coded, outputs, np.ones(40), **options)
    on_matrix = solve(coded.to_csr(), outputs, np.ones(40), **options)
    assert on_codes.gap <= 1e-4
    assert on_codes.primal == pytest.approx(on_matrix.primal, rel=2e-4)
    np.testing.assert_allclose(on_codes.coefficients, on_matrix.coefficients, atol=0.02)
    for n_jobs in (2, 3):
        np.testing.assert_array_equal(
            solve(coded, outputs, np.ones(40), n_jobs=n_jobs, **options).coefficients, on_codes.coefficients
        )


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (some_rows(5)[:, :-1], "belong to another map"),
        (some_rows(5, 2), "more than 1 entries|other than 1 entries"),
        (-some_rows(5), "at least 0"),
    ],
    ids=["columns", "entries", "values"],
)
def test_rows_of_another_map_are_refused(X, sentence):
    with pytest.raises(ValueError, match=sentence):
        codes_of(X)


def test_two_entries_in_one_group_and_none_in_another_are_refused():
    X = sp.csr_array((np.ones(4), ([0] * 4, [0, 1, 5, 500])), shape=(1, POINTERS[-1]))
    with pytest.raises(ValueError, match="cannot be coded"):
        codes_of(X)


@pytest.fixture(scope="module")
def table():
    X, y = make_classification(900, 8, n_informative=5, n_classes=3, random_state=0)
    X = StandardScaler().fit_transform(X).astype(np.float32)
    return X[:600], y[:600], X[600:], y[600:]


@pytest.mark.parametrize(
    "features", [RandLocal(60, random_state=0), RandLocal(30, n_neighbors=3, norm="l2", random_state=0)]
)
def test_the_fused_model_is_the_pipeline_but_for_the_rounding(table, features):
    X, y, X_test, _ = table
    fused = LocalLinearClassifier(features, tol=1e-4, random_state=0).fit(X, y)
    matrix = features.fit(X).transform(X)
    factor = 1 / np.sqrt(matrix.multiply(matrix).sum() / len(y))
    alone = LocalLinearClassifier(tol=1e-4, random_state=0).fit(matrix * factor, y)
    assert fused.objective_ == pytest.approx(alone.objective_, rel=0.01)
    np.testing.assert_allclose(
        fused.decision_function(X_test), alone.decision_function(features.transform(X_test) * factor), atol=0.05
    )


def test_a_pipeline_of_map_and_model_works_as_well(table):
    X, y, X_test, y_test = table
    two_steps = make_pipeline(RandLocal(60, random_state=0), LocalLinearClassifier(random_state=0)).fit(X, y)
    one = LocalLinearClassifier(RandLocal(60, random_state=0), random_state=0).fit(X, y)
    assert abs(two_steps.score(X_test, y_test) - one.score(X_test, y_test)) < 0.03
    assert one.score(X_test, y_test) > 0.7


def test_predictions_in_blocks_are_those_of_all_rows(table, monkeypatch):
    X, y, X_test, _ = table
    model = LocalLinearClassifier(RandLocal(20, random_state=0), random_state=0).fit(X, y)
    whole = model.decision_function(X_test)
    np.testing.assert_allclose(
        whole, model.features_.transform(X_test) @ model.coef_.T + model.intercept_, rtol=1e-6, atol=1e-9
    )
    monkeypatch.setattr(_base, "BLOCK_ROWS", (37, 37))
    np.testing.assert_allclose(model.decision_function(X_test), whole, rtol=1e-6, atol=1e-9)
    assert len(pickle.loads(pickle.dumps(model)).predict(X_test)) == len(X_test)


def test_rows_with_missing_values_and_sparse_rows(table):
    X, y, X_test, _ = table
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    model = LocalLinearClassifier(RandLocal(40, random_state=0), random_state=0).fit(holes, y)
    assert model.score(holes, y) > 0.7
    sparse = LocalLinearClassifier(RandLocal(40, random_state=0), random_state=0).fit(sp.csr_array(X), y)
    dense = LocalLinearClassifier(RandLocal(40, random_state=0), random_state=0).fit(X, y)
    assert (sparse.predict(X_test) == dense.predict(X_test)).mean() > 0.95
    with pytest.raises(ValueError, match="NaN"):
        LocalLinearClassifier().fit(holes, y)


def test_a_map_without_groups_is_refused(table):
    X, y, _, _ = table
    with pytest.raises(ValueError, match="map with groups of anchors or leaves, such as RandLocal; got StandardScaler"):
        LocalLinearClassifier(StandardScaler()).fit(X, y)


def test_warm_starts_keep_the_map(table):
    X, y, _, _ = table
    model = LocalLinearClassifier(RandLocal(20), warm_start=True, random_state=0).fit(X, y)
    features = model.features_
    model.set_params(C=1.2).fit(X, y)
    assert model.features_ is features
