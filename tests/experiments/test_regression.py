"""Regression: numbers are predicted by models and from features, in units of their deviation."""

from dataclasses import replace

import numpy as np
import pytest
from experiments.made import work_for
from sklearn.datasets import make_friedman1
from sklearn.metrics import r2_score
from sklearn.neighbors import KNeighborsRegressor

from vicinal.experiments import TASKS, find_method, read_experiment
from vicinal.experiments._linear import choose
from vicinal.experiments._methods import METHODS

SMALL = {"folds": 3, "tuning_rows": 60, "tuning_folds": 2}


@pytest.fixture(scope="module")
def table():
    return make_friedman1(150, 6, noise=0.3, random_state=0)


def measured(name, X, y, **options):
    method = find_method(name) if isinstance(name, str) else name
    outcome = TASKS["regression"].evaluate(work_for("regression", method, X, y, **{**SMALL, **options}))
    return {str(measure): value for _, measure, value in outcome.values}


@pytest.mark.parametrize("name", [method.name for method in METHODS if method.predicts_numbers])
def test_models_predict_numbers(name, table):
    method = find_method(name)
    if not method.installed:
        pytest.skip(f"{method.needs} is not installed")
    quick = {"local-model": {"parts": [{"part": "local", "n_groups": 20}, {"part": "columns"}]}}
    method = method.fixing({}, quick.get(name, {}))
    assert measured(method, *table, tuning_seconds=1.0)["r2"] > 0.3


@pytest.mark.parametrize("name", ["raw", "randlocal", "nystroem"])
def test_features_are_followed_by_ridge_regression(name, table):
    assert measured(name, *table)["r2"] > 0.4


def test_errors_are_in_deviations_of_the_training_part(table):
    X, y = table
    every = ("r2", "rmse", "mae")
    found = measured("raw", X, y, metrics=every)
    assert 0.2 < found["mae"] < found["rmse"] < 1
    other = measured("raw", X, 1000 * y - 5e6, metrics=every)
    for name, value in found.items():
        assert other[name] == pytest.approx(value, rel=1e-3)


def test_folds_have_their_share_of_every_range():
    y = np.random.default_rng(0).exponential(size=101)
    groups = TASKS["regression"].groups(y)
    assert (np.diff(groups[np.argsort(y)]) >= 0).all()
    assert np.ptp(np.bincount(groups)) <= 1
    assert len(np.unique(groups)) == 10
    assert (TASKS["regression"].groups(y[:5]) == 0).all()


def test_minus_one_is_a_number_like_others(table):
    X, y = table
    y = np.where(np.arange(150) % 2, -1.0, y)
    work = work_for("regression", find_method("raw"), X, y, **SMALL)
    assert TASKS["regression"].evaluate(work).training_rows == 100


def test_when_time_is_up_the_best_so_far_is_taken(table, monkeypatch):
    X, y = table
    work = work_for("regression", find_method("extra-trees"), X, y, **{**SMALL, "tuning_seconds": 1e-9})
    work = replace(work, context=replace(work.context, n_classes=0))
    _, chosen = choose(work, work.sample, TASKS["regression"].tuning(work))
    candidates = find_method("extra-trees").model_candidates(work.context)
    assert chosen == candidates[np.random.default_rng(work.context.seed).permutation(len(candidates))[0]]


def test_what_knows_classes_only_is_refused():
    declared = 'title = "t"\ntask = "regression"\nmetrics = ["r2"]\ndata = ["x"]\nmethods = ["logistic"]\n'
    with pytest.raises(ValueError, match="'logistic' predicts classes only"):
        read_experiment("mine", declared)


def test_r2_is_scikit_learns(table):
    X, y = table
    given = {"n_neighbors": 3, "weights": "uniform"}
    work = work_for("regression", find_method("nearest-rows").fixing({}, given), X, y, **SMALL)
    task = TASKS["regression"]
    training, test = task._split(work)
    rows = work.preparation(X).fit(X[training]).transform(X)
    model = KNeighborsRegressor(**given).fit(rows[training], y[training])
    assert task.evaluate(work).values[0][2] == pytest.approx(r2_score(y[test], model.predict(rows[test])))
