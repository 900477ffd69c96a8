"""Comparisons on a table of the user's: read once, handed to the cells, prepared within their training parts."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from vicinal.experiments import compare, comparison, comparison_sample, run_comparison, summarise
from vicinal.experiments._compare import check_classes


@pytest.fixture
def iris():
    return load_iris(return_X_y=True)


def test_processes_give_what_one_process_gives(iris):
    """The cells have only the sample that is handed to them: there is no file that they could read."""
    options = {"methods": ("raw", "randlocal"), "n_groups": 20, "splits": 3}
    experiment, events = comparison("iris.csv", **options), []
    sample = comparison_sample(*iris, 3)
    results = run_comparison(experiment, sample, jobs=2, callback=lambda cell, event: events.append(event))
    assert events.count("started") == events.count("done") == 6
    assert {result.training_rows for result in results} == {100}
    apart, here = summarise(experiment, results), compare(*iris, **options)
    assert [(s.method, s.mean, s.n, s.chosen) for s in apart] == [(s.method, s.mean, s.n, s.chosen) for s in here]
    assert all(s.mean > 0.85 for s in here)
    assert all(s.peak_memory_mb > 10 for s in apart)


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_frames_with_words(package, iris):
    frames = pytest.importorskip(package)
    X, y = iris
    frame = frames.DataFrame({"length": X[:, 2], "kind": [f"k{label}" for label in y]})
    [raw] = compare(frame, y, methods=("raw",), splits=3)
    assert raw.mean == 1


def test_labels_are_numbers_from_0_with_names(iris):
    X, y = iris
    words = np.array(["b", "c", "a"], dtype=object)[y]
    sample = comparison_sample(X, words, 3)
    assert sample.classes == ("a", "b", "c")
    assert sample.y.tolist() == np.array([1, 2, 0])[y].tolist()


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.linspace(0, 1, 9), "The target has fractions; compare needs classes"),
        (np.zeros(9), r"The target has one class only \(0.0\)"),
        (np.array(["a"] * 9 + ["b"]), "Class 'b' has 1 row; at least 5 are needed for 5 splits"),
    ],
    ids=["fractions", "one class", "rare"],
)
def test_targets_that_are_no_classes_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        check_classes(y, 5)


def test_methods_of_other_roles_are_refused():
    with pytest.raises(ValueError, match="'isolation-forest' scores rows by how normal they are, which classification"):
        comparison("x", methods=("isolation-forest",))


def test_the_curve_has_fewer_groups():
    experiment = comparison("x", methods=("randlocal",), n_groups=40, curve=True)
    assert experiment.methods[1].vary == {"n_groups": (2, 5, 10, 20)}
