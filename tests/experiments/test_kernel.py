"""The task "kernel": errors are those of a plain loop over pairs, of the kernel that the map stands for."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from experiments.made import evaluate
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch, RBFSampler

from vicinal.datasets import Sample
from vicinal.experiments import Context, find_method, load_experiment, read_experiment
from vicinal.experiments._runner import run_cell
from vicinal.experiments.tasks.kernel import PAIRS, kernel_of, random_pairs, values_of_pairs


def errors_of(name, X, *, n_components=64, seed=0, **parameters):
    method = find_method(name).fixing(parameters, {})
    metrics = ("rms_error", "max_error")
    outcome = evaluate("kernel", method, X, metrics=metrics, scale="none", n_components=n_components, seed=seed)
    return {measure.metric.name: value for _, measure, value in outcome.values}


@pytest.fixture
def X(rng):
    return rng.uniform(size=(40, 7))


def gaussian(x, y, gamma):
    return np.exp(-gamma * np.sum((x - y) ** 2))


KERNELS = {
    "fourier": ({"gamma": 0.7}, RBFSampler, partial(gaussian, gamma=0.7)),
    "nystroem": ({"gamma": 0.7}, Nystroem, partial(gaussian, gamma=0.7)),
    "polynomial": ({"gamma": 0.5, "degree": 3}, PolynomialCountSketch, lambda x, y: (0.5 * x @ y + 1) ** 3),
}


@pytest.mark.parametrize("name", KERNELS)
def test_errors_are_those_of_a_loop_over_pairs(X, name):
    parameters, kind, kernel = KERNELS[name]
    more = {"coef0": 1} if name == "polynomial" else {}
    F = kind(n_components=16, random_state=3, **parameters, **more).fit_transform(X)
    errors = [
        (F[i] @ F[j] - kernel(X[i], X[j])) / np.sqrt(kernel(X[i], X[i]) * kernel(X[j], X[j]))
        for i, j in zip(*random_pairs(len(X), 3), strict=True)
    ]
    found = errors_of(name, X, n_components=16, seed=3, **parameters)
    assert found["rms_error"] == pytest.approx(np.sqrt(np.mean(np.square(errors))))
    assert found["max_error"] == pytest.approx(np.max(np.abs(errors)))


@pytest.mark.parametrize(
    ("kernel", "value"),
    [
        ("gaussian", lambda x, y: gaussian(x, y, 0.7)),
        ("laplacian", lambda x, y: np.exp(-0.7 * np.abs(x - y).sum())),
        ("cauchy", lambda x, y: np.prod(1 / (1 + 0.7 * (x - y) ** 2))),
    ],
    ids=["gaussian", "laplacian", "cauchy"],
)
def test_random_fourier_features_stand_for_their_own_kernel(X, kernel, value):
    waves = find_method("random-fourier").fixing({"kernel": kernel, "gamma": 0.7}, {})
    fitted = waves.build(Context(40, 7, n_components=20), {}).fit(X)
    assert kernel_of(fitted)(X[:1], X[1:2]) == pytest.approx(value(X[0], X[1]))
    assert 0 < errors_of("random-fourier", X, n_components=2048, kernel=kernel, gamma=0.7)["rms_error"] < 0.05


@pytest.mark.parametrize("name", ["gaussian-projection", "hashed-projection"])
def test_projections_stand_for_the_inner_product_whatever_the_length_of_rows(rng, name):
    X = rng.uniform(size=(40, 100))
    X[0] = 0
    found = errors_of(name, X, n_components=256)
    assert 0 < found["rms_error"] < 0.15
    assert errors_of(name, 1000 * X, n_components=256)["rms_error"] == pytest.approx(found["rms_error"], rel=1e-3)


@pytest.mark.parametrize("name", ["random-fourier", "fourier", "nystroem"])
def test_one_gamma_for_all_maps_of_the_gaussian_kernel(X, name):
    """1 / (n_features * variance), also where scikit-learn's default is another one."""
    expected = errors_of(name, X, gamma=1 / (7 * X.var()))
    assert errors_of(name, X) == pytest.approx(expected)
    assert errors_of(name, sp.csr_matrix(X)) == pytest.approx(expected, rel=1e-3)


def test_errors_fall_with_the_root_of_the_number_of_features(X):
    few, many = (
        np.mean([errors_of("random-fourier", X, n_components=m, seed=seed)["rms_error"] for seed in range(3)])
        for m in (64, 1024)
    )
    assert few / many == pytest.approx(4, rel=0.2)


def test_pairs_are_of_different_rows():
    first, second = random_pairs(3, 0)
    assert len(first) == len(second) == PAIRS
    assert (first != second).all()
    assert set(zip(first.tolist(), second.tolist(), strict=True)) == {
        (i, j) for i in range(3) for j in range(3) if i != j
    }
    with pytest.raises(ValueError, match="at least two rows; there is 1"):
        random_pairs(1, 0)


def test_values_of_pairs_are_not_those_of_their_neighbours(X):
    first, second = np.arange(37), np.arange(37)[::-1]
    product = values_of_pairs(lambda A, B: A @ B.T, X, first, second)
    np.testing.assert_allclose(product, [X[i] @ X[j] for i, j in zip(first, second, strict=True)])


def test_maps_without_a_kernel_are_refused(X):
    with pytest.raises(ValueError, match="RandomTreesEmbedding stands for no kernel"):
        errors_of("trees", X)


def test_methods_without_features_are_refused():
    declared = DECLARED.replace('name = "fourier", vary = { n_components = [32, 2048] }', 'name = "rbf-svm"')
    with pytest.raises(ValueError, match="'rbf-svm' predicts labels, which kernel has no use for; take one of"):
        read_experiment("small", declared)


DECLARED = """
title = "Kernel"
task = "kernel"
metrics = ["rms_error"]
repeats = 2
data = [{ name = "uniform", scale = "none", rows = 50 }]
methods = [
    { name = "fourier", vary = { n_components = [32, 2048] } },
    { name = "nystroem", vary = { n_components = [8, 4096] } },
]
"""


def results_of(declared, X, y):
    sample = Sample(X, y)
    return [
        result for cell in declared.cells() for result in run_cell(declared, cell, threads=1, load=lambda name: sample)
    ]


def test_a_run_varies_the_size_and_draws_anew(rng):
    results = results_of(read_experiment("small", DECLARED), rng.uniform(size=(80, 3)), np.arange(80) % 2)
    errors = {(result.method, result.variant.value, result.seed): result.value for result in results}
    assert len(errors) == len(results) == 8
    assert {result.training_rows for result in results} == {50}
    for seed in (0, 1):
        assert errors["fourier", 2048, seed] < errors["fourier", 32, seed]
        # As many landmarks as rows: exact but for rounding.
        assert 0 < errors["nystroem", 4096, seed] < 1e-5
    assert errors["fourier", 32, 0] != errors["fourier", 32, 1]


class TestPackaged:
    @pytest.mark.parametrize("spec", load_experiment("expand-kernel-error").methods, ids=lambda spec: spec.id)
    def test_every_method_strays_about_as_the_theory_says(self, rng, spec):
        X = rng.uniform(size=(60, 300)).astype(np.float32)
        found = errors_of(spec.name, X, n_components=256, **spec.parameters)
        # Nystroem with as many landmarks as rows is exact.
        assert found["rms_error"] < (1e-4 if spec.name == "nystroem" else 2 / np.sqrt(256))
        assert found["rms_error"] <= found["max_error"]

    def test_only_maps_of_the_same_kernel_are_ranked_together(self):
        kernels = {spec.id: spec.among for spec in load_experiment("expand-kernel-error").methods}
        gaussian = [id for id, among in kernels.items() if among == "Gaussian kernel"]
        assert gaussian == ["fourier-iid", "random-fourier", "fourier-hadamard", "fourier", "nystroem"]
        assert kernels["gaussian-projection"] == kernels["hashed-projection"] == "inner product"
        assert kernels["fourier-laplacian"] != kernels["fourier-cauchy"]

    @pytest.mark.parametrize("method", ["fourier-hadamard", "nystroem", "randlocal"])
    def test_a_cell_of_what_accuracy_costs(self, rng, method):
        declared = load_experiment("expand-accuracy").quickened()
        X = rng.uniform(-1, 1, size=(300, 3))
        y = ((X[:, :2] ** 2).sum(axis=1) < 0.6).astype(int)
        spec = declared.method_spec(method)
        results = results_of(replace(declared, data=(declared.data_spec("pendigits"),), methods=(spec,)), X, y)
        assert [result.fold for result in results] == [0, 1]
        assert min(result.value for result in results) > 0.8
        assert all(result.feature_seconds > 0 and result.model_seconds > 0 for result in results)
        nonzeros = {"n_components=128": 128, "n_groups=50": 50}[str(results[0].variant)]
        assert results[0].nonzeros_per_row == pytest.approx(nonzeros, rel=0.02)
