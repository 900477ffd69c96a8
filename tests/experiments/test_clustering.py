"""Clustering: k-means on features of all rows, and what its scores mean."""

from dataclasses import replace

import numpy as np
import pytest
from experiments.made import evaluate, measured, values, work_for
from sklearn.datasets import make_blobs

from vicinal.experiments import Cell, Variant, find_method, load_experiment
from vicinal.experiments._clustering_methods import CLUSTERERS
from vicinal.experiments._protocol import protocol_of
from vicinal.experiments._results import failed_results
from vicinal.experiments.tasks.clustering import SCORES


def blobs(n=90):
    return make_blobs(n, 5, centers=3, cluster_std=0.3, random_state=0)


def cluster(method, X, y, **more):
    return evaluate("clustering", method, X, y, **{"runs": 3, **more})


def test_planted_clusters():
    X, y = blobs(150)
    outcome = cluster("raw", X, y, runs=6, metrics=("accuracy", "nmi"))
    assert measured(outcome) == [(run, metric) for run in range(6) for metric in ("accuracy", "nmi")]
    assert max(values(outcome, "accuracy")) == 1
    assert outcome.notes == []
    assert outcome.training_rows == 150


def test_the_best_of_a_grid_by_the_labels_is_noted():
    X, y = blobs()
    method = replace(find_method("rbf-map"), grid=lambda to: [{"gamma": [1e6, 0.5]}])
    outcome = cluster(method, X, y)
    assert outcome.chosen == {"gamma": 0.5}
    assert outcome.notes == ["the best of 2 combinations of parameters, by the labels"]


def test_a_map_fitted_on_few_rows_serves_all():
    X, y = blobs()
    outcome = cluster(find_method("rbf-map").fixing({"gamma": 1.0}, {}), X, y, most_rows=30)
    assert outcome.notes == ["fitted on 30 of 90 rows"]
    assert max(values(outcome, "accuracy")) == 1


def test_unit_rows_forget_lengths(rng):
    """Two directions at all lengths: k-means finds them only among unit rows."""
    y = np.repeat([0, 1], 60)
    angles = np.where(y == 0, 0.1, 1.4) + rng.normal(scale=0.05, size=120)
    X = np.exp(rng.uniform(-3, 3, 120))[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    unit, plain = (
        np.mean(values(cluster("raw", X, y, scale="none", use={"unit_rows": unit_rows}), "accuracy"))
        for unit_rows in (True, False)
    )
    assert unit == 1
    assert plain < 0.9


def test_spectral_features_of_planted_clusters():
    X, y = blobs(150)
    assert max(values(cluster("randlocal-spectral", X, y, runs=5), "accuracy")) == 1


def test_mutual_information_by_the_geometric_mean():
    """Two classes of 2 rows, three clusters: H = log 2 and 1.5 log 2, mutual information log 2."""
    y, clusters = [0, 0, 1, 1], [0, 1, 2, 2]
    assert SCORES["nmi_geometric"](y, clusters) == pytest.approx(1 / np.sqrt(1.5))
    assert SCORES["nmi"](y, clusters) == pytest.approx(1 / 1.5)


@pytest.mark.filterwarnings("ignore:Graph is not fully connected")
class TestMethodsThatClusterByThemselves:
    @pytest.mark.parametrize("name", [method.name for method in CLUSTERERS])
    def test_planted_clusters(self, name):
        X, y = blobs(150)
        outcome = cluster(name, X, y, fits=2, metrics=("accuracy", "nmi"))
        assert measured(outcome) == [(fit, metric) for fit in range(2) for metric in ("accuracy", "nmi")]
        assert min(values(outcome, "accuracy")) > 0.97

    def test_only_rows_that_were_seen_count(self):
        X, y = blobs(150)
        outcome = cluster("spectral", X, y, most_rows=60)
        assert outcome.notes == ["fitted on 60 of 150 rows"]
        assert outcome.training_rows == outcome.test_rows == 60
        assert min(values(outcome, "accuracy")) == 1

    def test_noise_is_a_cluster_of_its_own(self, rng):
        X, y = blobs(100)
        X = np.vstack([X, rng.uniform(-40, 40, size=(50, 5))])
        outcome = cluster("hdbscan", X, np.append(y, np.full(50, 3)), fits=1)
        assert "noise, which counts as a cluster of its own" in outcome.notes[0]
        assert min(values(outcome, "accuracy")) > 0.9

    def test_each_fit_has_its_seed(self, rng):
        """Rows without clusters are cut otherwise each time."""
        outcome = cluster("mini-batch-k-means", rng.uniform(size=(200, 4)), rng.integers(0, 4, 200), fits=4)
        assert len(set(values(outcome, "accuracy"))) > 1

    def test_other_tasks_have_no_use_for_them(self):
        with pytest.raises(ValueError, match="'hdbscan' puts rows into clusters, which classification has no use for"):
            work_for("classification", "hdbscan", *blobs()).experiment.task.check(
                work_for("classification", "hdbscan", *blobs()).experiment
            )

    def test_as_many_values_are_planned_as_there_are_fits(self):
        experiment = load_experiment("randlocal-table5-6")
        runs = {spec.id: experiment.task.runs_of(experiment, spec.id) for spec in experiment.methods}
        assert (runs["local-spectral"], runs["raw"]) == (3, 20)

    def test_fewer_values_make_a_whole_cell(self):
        experiment = load_experiment("randlocal-table5-6")
        sizes = [
            len(failed_results(experiment, Cell("covtype", method, Variant(), 0, 0), "no memory"))
            for method in ("local-spectral", "raw")
        ]
        assert sizes == [6, 40]

    def test_the_number_of_fits_came_when_there_were_results(self):
        """Those of k-means on features keep their protocol."""
        experiment = load_experiment("randlocal-table5-6")
        assert protocol_of(experiment, Cell("covtype", "raw", Variant(), 0, 0)) == "0e542874"
