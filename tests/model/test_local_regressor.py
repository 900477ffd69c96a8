"""LocalRegressor: numbers as LocalClassifier has classes; what is the same is tested there."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_friedman1
from sklearn.ensemble import ExtraTreesRegressor

from vicinal import LocalRegressor
from vicinal.model._family import DEFAULTS, completed
from vicinal.model._trials import Problem, Trials, folds_of

SMALL = [
    {"part": "local", "n_groups": 20, "n_neighbors": 3},
    {"part": "leaves", "n_trees": 10},
    {"part": "boosted", "max_iter": 20},
    {"part": "columns"},
]


@pytest.fixture
def table():
    return make_friedman1(500, 8, noise=0.5, random_state=0)


def of_parts(parts=SMALL, **options):
    return LocalRegressor(parts, random_state=0, **options)


def test_it_is_at_least_about_as_good_as_a_forest(table):
    X, y = table
    model = LocalRegressor(random_state=0, budget="1m").fit(X[:350], y[:350])
    forest = ExtraTreesRegressor(300, random_state=0).fit(X[:350], y[:350])
    assert model.score(X[350:], y[350:]) > forest.score(X[350:], y[350:])
    assert model.validation_score_ == pytest.approx(model.score(X[350:], y[350:]), abs=0.1)


def test_the_parameters_in_chosen_give_the_same_model(table):
    X, y = table
    model = of_parts().fit(X, y)
    again = LocalRegressor(**model.chosen_, random_state=1).fit(X, y)
    np.testing.assert_allclose(again.predict(X), model.predict(X), rtol=1e-10)
    assert again.chosen_ == model.chosen_


@pytest.mark.parametrize(("scale", "shift"), [(1e-9, 0.0), (1e9, -3e12), (1.0, 1e6)])
def test_units_of_targets_do_not_matter(table, scale, shift):
    X, y = table
    plain, other = of_parts().fit(X, y), of_parts().fit(X, scale * y + shift)
    apart = (other.predict(X) - shift) / scale - plain.predict(X)
    assert np.abs(apart).max() < 0.05 * y.std()


@pytest.mark.parametrize("part", sorted(DEFAULTS))
def test_targets_of_a_validation_fold_never_reach_what_is_fitted(part, table):
    X, y = (values[:150] for values in table)
    small = {name: 10 for name in ("n_groups", "n_trees", "max_iter") if name in DEFAULTS[part]}
    settings = completed({"part": part, **small, **({"guide": 1.0} if part == "local" else {})})
    problem = Problem(X.astype(np.float32), (y - y.mean()) / y.std(), np.ones(150), 0)
    folds = folds_of(problem, 3, np.random.RandomState(0))
    other = problem.targets.copy()
    other[folds[0][1]] = np.roll(other[folds[0][1]], 7)
    changed = Problem(problem.X, other, problem.weights, 0)
    first = slice(len(folds[0][1]))
    ((_, scores),), ((_, shuffled),) = (Trials(p, folds).scores(settings, (1.0,)) for p in (problem, changed))
    np.testing.assert_array_equal(scores[first], shuffled[first])
    assert (scores[first.stop :] != shuffled[first.stop :]).any()


def test_sparse_rows_and_frames(table):
    X, y = table
    X = np.where(X > 0.5, X, 0)
    parts = [part for part in SMALL if part["part"] != "boosted"]
    assert of_parts(parts).fit(sp.csr_matrix(X), y).score(sp.csr_matrix(X), y) > 0.7
    frame = pd.DataFrame(X).assign(level=np.where(y > np.median(y), "high", "low"))
    frame.columns = frame.columns.astype(str)
    assert of_parts().fit(frame, y).score(frame, y) > 0.8


def test_constant_targets_are_predicted(table):
    X, _ = table
    np.testing.assert_allclose(of_parts().fit(X, np.full(500, 3.5)).predict(X[:5]), 3.5)


def test_weights_count(table):
    X, y = table
    weights = np.where(np.arange(500) < 250, 1.0, 0.0)
    y = y.copy()
    y[250:] += 1000
    assert of_parts().fit(X, y, sample_weight=weights).predict(X).max() < 100


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda y: np.where(y > 20, np.nan, y), "NaN"),
        (lambda y: np.where(y > 20, np.inf, y), "infinity"),
        (lambda y: y[:-1], "inconsistent numbers of samples"),
        (lambda y: np.where(y > 20, "much", "little"), "could not convert|numeric"),
    ],
)
def test_bad_targets_are_refused(change, message, table):
    X, y = table
    with pytest.raises(ValueError, match=message):
        of_parts().fit(X, change(y))


def test_boosted_trees_of_sparse_rows_are_refused(table):
    X, y = table
    with pytest.raises(ValueError, match="Boosted trees need dense rows"):
        of_parts().fit(sp.csr_matrix(X), y)
