"""Outliers: areas under the curve are those of the distances, and detectors score rows themselves."""

from dataclasses import replace

import numpy as np
import pytest
from experiments.made import evaluate, measured, scored, values
from scipy.spatial.distance import cdist
from sklearn.ensemble import IsolationForest
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.neighbors import LocalOutlierFactor

from vicinal.experiments import experiment_page, find_method, read_experiment


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


def test_average_precision_is_scikit_learns(planted, rng):
    X, y = planted
    y, both = rng.permutation(y), ("auc", "average_precision")
    outcome = find_outliers("raw", X, y, scale="none", neighbors=(3, 4), metrics=both)
    assert measured(outcome) == [(0, f"{name}@{k}") for k in (3, 4) for name in both]
    third = np.sort(cdist(X, X), axis=1)[:, 3]
    assert values(outcome, "average_precision@3") == [pytest.approx(average_precision_score(y, third))]
    assert values(outcome, "auc@3") == [pytest.approx(roc_auc_score(y, third))]


def test_the_first_metric_chooses_from_a_grid(planted, rng):
    X, y = planted
    X, y = np.hstack([X, rng.normal(scale=40, size=(156, 4))]), rng.permutation(y)
    method = replace(find_method("gaussian-projection"), grid=lambda to: [{"n_components": [1, 2, 3, 5, 8]}])
    for metrics in (("auc", "average_precision"), ("average_precision", "auc")):
        outcome = find_outliers(method, X, y, neighbors=(2,), metrics=metrics)
        alone = [
            values(
                find_outliers(method.fixing({"n_components": n}, {}), X, y, neighbors=(2,), metrics=metrics[:1]),
                f"{metrics[0]}@2",
            )
            for n in (1, 2, 3, 5, 8)
        ]
        assert values(outcome, f"{metrics[0]}@2") == max(alone)


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
        assert outcome.feature_seconds > 0  # of the fit
        assert outcome.model_seconds > 0  # of the scores

    def test_it_finds_planted_outliers_and_may_be_fitted_on_few_rows(self, planted):
        outcome = find_outliers("isolation-forest", *planted, most_rows=60)
        assert outcome.values[0][2] > 0.95
        assert any("fitted on 60 of 156 rows" in note for note in outcome.notes)

    def test_fixed_parameters_reach_it(self, planted):
        few = find_method("isolation-forest").fixing({"n_estimators": 1, "max_samples": 2}, {})
        assert find_outliers(few, *planted).values != find_outliers("isolation-forest", *planted).values

    def test_without_neighbours_there_is_one_value(self, planted):
        outcome = find_outliers("isolation-forest", *planted, neighbors=(), metrics=("auc", "average_precision"))
        assert measured(outcome) == [(0, "auc"), (0, "average_precision")]
        assert min(value for _, _, value in outcome.values) > 0.9

    def test_fitted_rows_are_not_their_own_neighbours(self, planted, rng):
        X, y = planted
        y = rng.permutation(y)
        outcome = find_outliers("lof", X, y, scale="none", neighbors=())
        model = LocalOutlierFactor(novelty=True).fit(X)
        assert values(outcome, "auc") == [pytest.approx(roc_auc_score(y, -model.negative_outlier_factor_))]
        assert values(outcome, "auc") != [pytest.approx(roc_auc_score(y, -model.score_samples(X)))]

    def test_fitted_rows_are_not_their_own_neighbours_among_others(self, planted, rng):
        X, y = planted
        y = rng.permutation(y)
        outcome = find_outliers("lof", X, y, scale="none", neighbors=(), most_rows=100)
        some = np.sort(np.random.default_rng(0).permutation(156)[:100])
        model = LocalOutlierFactor(novelty=True).fit(X[some])
        scores = model.score_samples(X)
        scores[some] = model.negative_outlier_factor_
        assert values(outcome, "auc") == [pytest.approx(roc_auc_score(y, -scores))]

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


class TestDeclaredExperiments:
    def declared(self, method, neighbors=""):
        text = f"""
            title = "t"
            task = "outliers"
            metrics = ["auc", "average_precision"]
            data = ["pageblocks"]
            methods = ["isolation-forest", {method}]
            {neighbors}
        """
        return read_experiment("small", text)

    @pytest.mark.parametrize("method", ['"lof"', '{ name = "randlocal", detector = "values" }'])
    def test_one_score_needs_no_neighbours(self, method):
        experiment = self.declared(method)
        measures = {str(measure) for cell in experiment.cells() for measure in experiment.measures(cell)}
        assert measures == {"auc", "average_precision"}

    def test_distances_need_neighbours(self):
        with pytest.raises(ValueError, match="needs 'neighbors', the k of its outlier scores; 'raw' is no detector"):
            self.declared('"raw"')
        experiment = self.declared('"raw"', "neighbors = [1, 5]")
        assert [str(measure) for measure in experiment.measures(experiment.cells()[0])] == [
            "auc@1",
            "average_precision@1",
            "auc@5",
            "average_precision@5",
        ]

    @pytest.mark.parametrize("neighbors", ["", "neighbors = [1, 5]"])
    def test_the_report_has_a_table_and_charts_for_both_metrics(self, neighbors):
        experiment = self.declared('"lof"', neighbors)
        measures = map(str, experiment.measures(experiment.cells()[0]))
        summaries = scored(
            experiment,
            [("pageblocks", method, m, 0.7) for m in measures for method in ("isolation-forest", "lof")],
        )
        names = [part.title for part in experiment_page(experiment, summaries, command="again", facts=()).sections]
        if neighbors:
            assert "AUC over the neighbour k" in names
            assert "Average precision over the neighbour k" in names
        captions = [table.caption for table in experiment.task.tables(experiment, summaries)]
        where = ", pageblocks" if neighbors else ""
        assert captions == [f"AUC{where}", f"Average precision{where}"]
