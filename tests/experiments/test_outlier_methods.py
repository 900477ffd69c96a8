"""Detectors of PyOD in scikit-learn's convention, and what is said where PyOD is missing."""

import importlib.util
import sys

import numpy as np
import pytest
from experiments.made import evaluate, values
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor

from vicinal.experiments import Context, Role, find_method, method_names
from vicinal.experiments._outlier_methods import PYOD, PyODDetector, _ready
from vicinal.experiments._protocol import describe_method

NAMES = [name for name in method_names() if name.startswith("pyod-")]
needs_pyod = pytest.mark.skipif(importlib.util.find_spec("pyod") is None, reason="PyOD is not installed")


@pytest.fixture
def planted(rng):
    X = np.vstack([rng.normal(size=(150, 4)), rng.uniform(8, 30, (6, 4)) * rng.choice([-1, 1], (6, 4))])
    return X.astype(np.float32), np.repeat([0, 1], [150, 6])


def test_every_kind_is_a_method():
    assert [name.removeprefix("pyod-") for name in NAMES] == list(PYOD)
    assert all(find_method(name).role is Role.DETECTOR for name in NAMES)


def test_without_pyod_one_sentence_says_so(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"INNE \(PyOD\) needs the package pyod; install it with pip"):
        find_method("pyod-inne").check_installed()


def test_results_are_of_the_same_protocol_where_pyod_is_missing(monkeypatch):
    """Neither threads nor seeds count."""
    wanted = ["PyODDetector", {"kind": "'inne'", "parameters": "None"}]
    assert describe_method(find_method("pyod-inne"))[3] == wanted
    _ready.cache_clear()
    for name in ("pyod", "pyod.models", "pyod.models.inne"):
        monkeypatch.setitem(sys.modules, name, None)
    assert describe_method(find_method("pyod-inne"))[3] == wanted


@needs_pyod
@pytest.mark.filterwarnings("ignore")  # PyOD's own
class TestPyOD:
    @pytest.mark.parametrize("name", NAMES)
    def test_planted_outliers(self, name, planted):
        outcome = evaluate("outliers", name, *planted, metrics=("auc", "average_precision"))
        assert min(values(outcome, "auc") + values(outcome, "average_precision")) > 0.9

    @pytest.mark.parametrize("name", NAMES)
    def test_low_scores_are_strange(self, name, planted):
        X, y = planted
        detector = find_method(name).build(Context(*X.shape), {}).fit(X)
        assert roc_auc_score(y, -detector.score_samples(X)) > 0.9
        assert roc_auc_score(y, -detector.fitted_scores_) > 0.9
        np.testing.assert_array_equal(detector.fitted_scores_, -detector.detector_.decision_scores_)
        far = np.full((1, 4), 100, dtype=np.float32)
        assert detector.score_samples(far)[0] <= detector.score_samples(X[:100]).min()

    @pytest.mark.parametrize("name", NAMES)
    def test_same_seed_same_scores(self, name, planted):
        X, _ = planted
        first, again, other = (find_method(name).build(Context(*X.shape, seed=s), {}).fit(X) for s in (0, 0, 1))
        np.testing.assert_array_equal(first.fitted_scores_, again.fitted_scores_)
        assert (first.fitted_scores_ != other.fitted_scores_).any() == (name in ("pyod-iforest", "pyod-inne"))

    def test_its_lof_is_scikit_learns(self, planted):
        X, _ = planted
        theirs = LocalOutlierFactor(n_neighbors=20).fit(X).negative_outlier_factor_
        np.testing.assert_allclose(PyODDetector("lof").fit(X).fitted_scores_, theirs)

    def test_parameters_reach_it(self, planted):
        X, _ = planted
        method = find_method("pyod-knn").fixing({"parameters": {"n_neighbors": 1}}, {})
        detector = clone(method.build(Context(*X.shape), {})).fit(X)
        assert detector.detector_.n_neighbors == 1
        assert (detector.fitted_scores_ >= PyODDetector("knn").fit(X).fitted_scores_).all()
        assert describe_method(method) != describe_method(find_method("pyod-knn"))

    def test_sparse_rows_are_made_dense(self, planted):
        import scipy.sparse as sp

        X, y = planted
        sparse = evaluate("outliers", "pyod-ecod", sp.csr_array(X), y, scale="none")
        assert sparse.values == evaluate("outliers", "pyod-ecod", X, y, scale="none").values
