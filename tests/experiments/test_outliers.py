"""Outliers: areas under the curve are those of the distances, and detectors score rows themselves."""

import numpy as np
import pytest
from experiments.made import evaluate, measured, values
from scipy.spatial.distance import cdist
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score

from vicinal.experiments import find_method, read_experiment


@pytest.fixture
def planted(rng):
    X = np.vstack([rng.normal(size=(150, 4)), rng.uniform(8, 30, (6, 4)) * rng.choice([-1, 1], (6, 4))])
    return X, np.repeat([0, 1], [150, 6])


def find_outliers(method, X, y, **more):
    return evaluate("outliers", method, X, y, **{"neighbors": (1, 5), **more})


def test_planted_outliers(planted):
    outcome = find_outliers("raw", *planted)
    assert measured(outcome) == [(0, "auc@1"), (0, "auc@5")]
    assert all(value > 0.99 for _, _, value in outcome.values)


def test_auc_is_that_of_the_distances(planted, rng):
    X, y = planted
    y = rng.permutation(y)
    outcome = find_outliers("raw", X, y, scale="none", neighbors=(3,))
    assert outcome.values[0][2] == pytest.approx(roc_auc_score(y, np.sort(cdist(X, X), axis=1)[:, 3]))


def test_small_values_are_outliers_to_the_detector_of_values(planted):
    method = find_method("randlocal").fixing({"task": "unsupervised"}, {})
    outcome = find_outliers(method, *planted, use={"detector": "values"})
    assert outcome.values[0][2] == outcome.values[1][2] > 0.95


def test_missing_values_are_filled_in_and_noted(planted):
    X, y = planted
    X[::10, 1] = np.nan
    outcome = find_outliers("raw", X, y, neighbors=(1,))
    assert outcome.notes == ["missing values filled with medians"]
    assert outcome.values[0][2] > 0.95


class TestDetectors:
    def test_an_isolation_forest_scores_rows_by_itself(self, planted, rng):
        X, y = planted
        y = rng.permutation(y)  # so that areas are not all 1
        outcome = find_outliers("isolation-forest", X, y, scale="none")
        scores = -IsolationForest(n_estimators=200, random_state=0).fit(X).score_samples(X)
        assert values(outcome, "auc@1") == values(outcome, "auc@5") == [pytest.approx(roc_auc_score(y, scores))]
        assert outcome.model_seconds > 0
        assert outcome.feature_seconds == 0

    def test_it_finds_planted_outliers_and_may_be_fitted_on_few_rows(self, planted):
        outcome = find_outliers("isolation-forest", *planted, most_rows=60)
        assert outcome.values[0][2] > 0.95
        assert any("fitted on 60 of 156 rows" in note for note in outcome.notes)

    def test_fixed_parameters_reach_it(self, planted):
        few = find_method("isolation-forest").fixing({"n_estimators": 1, "max_samples": 2}, {})
        assert find_outliers(few, *planted).values != find_outliers("isolation-forest", *planted).values

    @pytest.mark.parametrize("task", ["classification", "clustering", "kernel"])
    def test_other_tasks_have_no_use_for_it(self, task):
        metric = "rms_error" if task == "kernel" else "accuracy"
        declared = f"""
            title = "t"
            task = "{task}"
            metrics = ["{metric}"]
            data = ["iris"]
            methods = ["isolation-forest"]
        """
        sentence = rf"'isolation-forest' scores rows by how normal they are, which {task} has no use for; take one of"
        with pytest.raises(ValueError, match=sentence):
            read_experiment("small", declared)
