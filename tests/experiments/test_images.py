"""Images: the features of all rows, how full they are, and their pictures."""

import numpy as np
from experiments.made import evaluate, measured, two_classes

from vicinal.datasets import Sample
from vicinal.experiments import find_method, read_experiment

DECLARED = """
title = "Two looks"
task = "images"
metrics = ["sparsity_ratio"]
n_groups = 1
data = [{ name = "blobs", label = "Two blobs" }]
methods = [
    { name = "randlocal", parameters = { n_anchors = 30 } },
    { name = "sampled-landmarks", parameters = { n_landmarks = 30, n_nearest = 6 } },
]
"""


def test_how_full_the_features_of_all_rows_are():
    X, y = two_classes()
    method = find_method("sampled-landmarks").fixing({"n_landmarks": 16, "n_nearest": 4}, {})
    outcome = evaluate("images", method, X, y)
    assert measured(outcome) == [(0, "sparsity_ratio")]
    assert outcome.values[0][2] == 0.25
    assert (outcome.training_rows, outcome.nonzeros_per_row) == (120, 80)


def test_missing_values_are_filled_in_and_noted():
    X, y = two_classes()
    X[3, 1] = np.nan
    outcome = evaluate("images", "raw", X, y)
    assert outcome.notes == ["missing values filled with medians"]
    assert outcome.values[0][2] > 0.99


def test_pictures_show_the_same_rows_for_every_method():
    X, y = two_classes()
    experiment = read_experiment("looks", DECLARED)
    section = experiment.task.pictures(experiment, lambda name: Sample(X, y))
    [pictures] = section.blocks
    assert pictures.title == "Features of Two blobs"
    assert [image.title for image in pictures.images] == ["RandLocal", "sampled landmarks"]
    assert [image.pixels.shape for image in pictures.images] == [(120, 30), (120, 30)]
    assert [image.boundaries for image in pictures.images] == [(("0", 0, 59), ("1", 59, 120))] * 2
    assert [(image.pixels > 0).sum(axis=1).tolist() for image in pictures.images] == [[1] * 120, [6] * 120]
