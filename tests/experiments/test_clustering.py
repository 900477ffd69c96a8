"""Clustering: k-means on features of all rows, and what its scores mean."""

from dataclasses import replace

import numpy as np
import pytest
from experiments.made import evaluate, measured, values
from sklearn.datasets import make_blobs

from vicinal.experiments import find_method
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
