"""Single cells: nothing is learned from the test part, noise is the paper's, distances are exact, all methods run."""

import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs, make_classification
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

from vicinal import RandLocal
from vicinal.experiments._evaluate import (
    CLUSTERING,
    Protocol,
    check_folds,
    choose,
    classify,
    cluster,
    find_outliers,
    picture,
    scaler,
    stratified_sample,
)
from vicinal.experiments._methods import C_GRID, METHODS, Method, Setting, find_method
from vicinal.experiments._noise import add_noise
from vicinal.experiments._prepare import make_preparation

SCALES = ("columns", "matrix", "standard", "none")


def protocol_for(X, *, scale="columns", **changes):
    setting = Setting(n_rows=X.shape[0], n_features=X.shape[1], n_groups=20, n_components=15)
    return replace(Protocol(setting, partial(scaler, scale), folds=3, tuning_rows=60), **changes)


def two_classes(n=120, seed=0, features=6):
    X, y = make_classification(n, features, n_informative=4, n_redundant=0, class_sep=1.5, random_state=seed)
    return X.astype(np.float32), y


def parts_of(y, protocol):
    """Training and test part of the protocol's fold."""
    folds = StratifiedKFold(protocol.folds, shuffle=True, random_state=protocol.setting.seed)
    return list(folds.split(np.zeros(len(y)), y))[protocol.fold]


@pytest.fixture
def fitted_svms(monkeypatch):
    """Every linear SVM that is fitted: its parameters, and what it was given."""
    seen = []
    fit = LinearSVC.fit

    def recorded(model, X, y):
        given = X.toarray() if sp.issparse(X) else np.array(X)
        fit(model, X, y)
        seen.append((model.C, given, y.copy(), model.coef_.copy()))
        return model

    monkeypatch.setattr(LinearSVC, "fit", recorded)
    return seen


class TestTheTestPart:
    """Whatever its rows and labels are, the same parameters are chosen and the same model is fitted."""

    @pytest.mark.parametrize("scale", SCALES)
    @pytest.mark.parametrize("name", ["raw", "nystroem", "randlocal-tuned"])
    def test_rows_are_not_read_before_prediction(self, fitted_svms, name, scale):
        X, y = two_classes()
        protocol = protocol_for(X, scale=scale)
        poisoned = X.copy()
        poisoned[parts_of(y, protocol)[1]] *= -50
        self.check_same(fitted_svms, find_method(name), protocol, (X, y), (poisoned, y))

    def test_missing_values_among_them_change_nothing_else(self, fitted_svms):
        X, y = two_classes()
        protocol = protocol_for(X)
        poisoned = X.copy()
        poisoned[parts_of(y, protocol)[1], 2] = np.nan
        self.check_same(fitted_svms, find_method("raw"), protocol, (X, y), (poisoned, y))

    @pytest.mark.parametrize("name", ["raw", "nystroem", "randlocal-tuned"])
    def test_labels_are_not_read_before_scoring(self, fitted_svms, name):
        X, y = two_classes()
        protocol = protocol_for(X)
        test = parts_of(y, protocol)[1]
        # Folds are dealt out to a class's rows in order: two neighbours of the test part that swap classes stay in it.
        swapped = y.copy()
        for row in test[:-1]:
            if row + 1 in test and swapped[row] == y[row] and swapped[row + 1] == y[row + 1]:
                swapped[[row, row + 1]] = y[[row + 1, row]]
        assert (swapped != y).sum() >= 8
        np.testing.assert_array_equal(parts_of(swapped, protocol)[1], test)
        self.check_same(fitted_svms, find_method(name), protocol, (X, y), (X, swapped))

    def check_same(self, fitted_svms, method, protocol, clean, poisoned):
        outcomes, fits = [], []
        for data in (clean, poisoned):
            fitted_svms.clear()
            outcomes.append(classify(method, protocol, *data))
            fits.append(list(fitted_svms))
        assert len(fits[0]) > 3  # parameters were chosen, by models that were looked at
        assert outcomes[0].chosen == outcomes[1].chosen
        for first, second in zip(*fits, strict=True):
            for one, other in zip(first, second, strict=True):
                np.testing.assert_array_equal(one, other)
        assert outcomes[0].values != outcomes[1].values

    def test_every_row_is_tested_once_and_never_trained_on(self, fitted_svms):
        X, y = two_classes()
        X[:, 0] = np.arange(len(X))
        method = find_method("raw").fixing({}, {"C": 1.0})
        tested = []
        for fold in range(3):
            fitted_svms.clear()
            outcome = classify(method, protocol_for(X, scale="none", fold=fold), X, y)
            assert len(fitted_svms) == 1  # nothing to choose
            _, given, _, _ = fitted_svms[0]
            rows = np.unique(np.round(given[:, 0] / np.diff(np.sort(given[:, 0])).min()).astype(int))
            assert len(given) == outcome.training_rows == 80
            assert outcome.test_rows == 40
            tested.append(set(range(120)) - set(rows))
        assert sorted(row for part in tested for row in part) == list(range(120))


class TestClassify:
    def test_accuracy_is_that_of_the_same_steps_by_hand(self):
        X, y = two_classes()
        protocol = protocol_for(X, fold=1, metrics=("accuracy", "micro_f1", "macro_f1"))
        outcome = classify(find_method("randlocal").fixing({"epsilon": 0.01}, {"C": 1.0}), protocol, X, y)
        training, test = parts_of(y, protocol)
        low, high = X[training].min(axis=0), X[training].max(axis=0)
        scaled = (X - low) / (high - low)
        features = RandLocal(20, epsilon=0.01, random_state=0, n_jobs=1).fit(scaled[training])
        F, F_test = features.transform(scaled[training]), features.transform(scaled[test])
        length = np.mean(np.sqrt(F.multiply(F).sum(axis=1)))
        model = LinearSVC(C=1.0, tol=0.01, random_state=0).fit(F / length, y[training])
        right = model.predict(F_test / length) == y[test]
        assert [(fold, metric) for fold, metric, _ in outcome.values] == [
            (1, "accuracy"),
            (1, "micro_f1"),
            (1, "macro_f1"),
        ]
        assert outcome.values[0][2] == pytest.approx(right.mean(), abs=0.026)
        assert outcome.values[1][2] == pytest.approx(outcome.values[0][2])  # with one label per row they are the same
        assert outcome.nonzeros_per_row == 20

    def test_c_is_chosen_alike_whatever_the_size_of_the_features(self, fitted_svms):
        X, y = two_classes()
        outcomes = []
        for factor in (1e-3, 1.0, 1e4):
            protocol = protocol_for(X, scale="none")
            outcomes.append(classify(find_method("raw"), protocol, (X * factor).astype(np.float64), y))
        assert outcomes[0].values == outcomes[1].values == outcomes[2].values
        assert outcomes[0].chosen == outcomes[1].chosen == outcomes[2].chosen
        assert {C for C, *_ in fitted_svms} == set(C_GRID)

    def test_fixed_parameters_are_not_chosen(self):
        X, y = two_classes()
        outcome = classify(find_method("nystroem").fixing({"gamma": 0.5}, {"C": 3.0}), protocol_for(X), X, y)
        assert outcome.chosen == {}

    def test_the_better_setting_is_chosen(self):
        """One map keeps what tells the classes apart, the other throws it away."""
        X, y = two_classes()
        X[:, 0] = 10 * y
        method = replace(
            find_method("fourier"), map_grid=lambda to: [{"gamma": [1e9, 0.05]}], model_grid=lambda to: [{"C": [10.0]}]
        )
        map_parameters, model_parameters = choose(method, protocol_for(X), X, y)
        assert (map_parameters, model_parameters) == ({"gamma": 0.05}, {"C": 10.0})

    @pytest.mark.parametrize("name", ["raw", "rbf-svm"])
    def test_most_rows_are_kept_to_and_told(self, name):
        X, y = two_classes()
        outcome = classify(find_method(name), protocol_for(X, most_rows=40), X, y)
        assert outcome.training_rows == 40
        assert "fitted on 40 of 80 rows" in outcome.notes
        assert classify(find_method(name), protocol_for(X, most_rows=80), X, y).notes == []

    def test_rare_classes_survive_a_cap(self):
        X, y = two_classes(200)
        y[:9] = 2
        outcome = classify(find_method("raw"), protocol_for(X, most_rows=30, tuning_folds=5), X, y)
        assert outcome.training_rows == pytest.approx(34, abs=2)

    @pytest.mark.parametrize(("count", "words"), [(1, "1 row;"), (2, "2 rows;")])
    def test_a_class_with_too_few_rows_is_named(self, count, words):
        y = np.repeat(["a", "rare"], [10, count])
        with pytest.raises(ValueError, match=rf"Class 'rare' has {words} 3 are needed to cross-validate in 3 folds\."):
            check_folds(y, 3)

    def test_a_class_with_too_few_rows_within_the_training_part(self):
        X, y = two_classes()
        y[:3] = 2
        with pytest.raises(ValueError, match=r"Class 2 has 2 rows; 3 are needed to choose parameters .* training part"):
            classify(find_method("raw"), protocol_for(X), X, y)

    def test_bandwidths_are_for_the_prepared_columns(self):
        pl = pytest.importorskip("polars")
        rng = np.random.default_rng(0)
        words = np.arange(120) % 10
        X = pl.DataFrame({"word": [f"w{word}" for word in words], "number": rng.normal(size=120)})
        seen = []
        method = replace(find_method("nystroem"), map_grid=lambda to: seen.append(to.n_features) or [{"gamma": [0.1]}])
        classify(method, protocol_for(X, preparation=make_preparation), X, words % 2)
        assert set(seen) == {11}


def test_sample_has_every_class_at_its_share():
    y = np.repeat([0, 1, 2], [900, 95, 5])
    keep = stratified_sample(y, 100, seed=0, at_least=3)
    assert list(np.bincount(y[keep])) == [90, 10, 3]  # 9.5 rounds to the even 10
    assert len(np.unique(keep)) == len(keep)
    assert (np.diff(keep) > 0).all()
    assert set(keep) != set(stratified_sample(y, 100, seed=1, at_least=3))


class TestScaler:
    def test_columns(self, rng):
        X = rng.normal(size=(30, 4))
        scaled = scaler("columns", X).fit_transform(X)
        np.testing.assert_allclose([scaled.min(axis=0), scaled.max(axis=0)], [[0] * 4, [1] * 4], atol=1e-12)

    @pytest.mark.parametrize("as_input", [np.asarray, sp.csr_matrix])
    def test_matrix_keeps_ratios_and_learns_from_training_rows_only(self, as_input):
        X = np.array([[0, 50, 100], [200, 0, 0]], dtype=np.uint8)
        by_range = scaler("matrix", as_input(X))
        scaled = by_range.fit_transform(as_input(X))
        assert scaled.dtype == np.float32
        np.testing.assert_allclose(np.asarray(scaled.todense() if sp.issparse(scaled) else scaled), X / 200)
        more = by_range.transform(as_input(np.array([[400, 0, 0]], dtype=np.int16)))
        assert more.max() == 2

    def test_matrix_of_mixed_signs_and_of_zeros(self):
        X = np.array([[-1.0, 3.0], [np.nan, 0.0]])
        np.testing.assert_allclose(scaler("matrix", X).fit_transform(X), [[-0.25, 0.75], [np.nan, 0]])
        np.testing.assert_array_equal(scaler("matrix", np.zeros((2, 2))).fit_transform(np.zeros((2, 2))), 0)

    @pytest.mark.parametrize("kind", SCALES)
    def test_csr_stays_sparse(self, kind):
        X = sp.random(20, 5, density=0.3, format="csr", random_state=0)
        scaled = scaler(kind, X).fit_transform(X)
        assert sp.issparse(scaled)
        assert scaled.nnz == X.nnz


class TestNoise:
    """Section 4.5: G of ceil(0.1 d) columns, uniform between the least and the largest value of X."""

    @pytest.mark.parametrize(("d", "width"), [(5, 1), (10, 1), (11, 2), (54, 6), (784, 79)])
    def test_appended(self, rng, d, width):
        X = rng.uniform(-2, 3, (400, d)).astype(np.float32)
        noisy = add_noise(X, "append", seed=0)
        assert noisy.shape == (400, d + width)
        assert noisy.dtype == np.float32
        np.testing.assert_array_equal(noisy[:, :d], X)
        self.check_uniform(noisy[:, d:], X.min(), X.max())

    @pytest.mark.parametrize(("d", "width"), [(5, 1), (11, 2), (54, 6)])
    def test_added(self, rng, d, width):
        X = rng.uniform(-2, 3, (400, d)).astype(np.float32)
        before = X.copy()
        noisy = add_noise(X, "add", seed=0)
        np.testing.assert_array_equal(X, before)
        assert noisy.shape == X.shape
        changed = np.flatnonzero((noisy != X).any(axis=0))
        assert len(changed) == width
        self.check_uniform((noisy - X)[:, changed], X.min(), X.max())

    def check_uniform(self, noise, low, high):
        low, high, noise = float(low), float(high), noise.astype(np.float64)
        assert low - 1e-5 <= noise.min()
        assert noise.max() <= high + 1e-5
        assert noise.min() < low + 0.05 * (high - low)
        assert noise.max() > high - 0.05 * (high - low)
        assert noise.mean() == pytest.approx((low + high) / 2, abs=0.08 * (high - low))
        assert noise.std() == pytest.approx((high - low) / np.sqrt(12), rel=0.1)

    @pytest.mark.parametrize("kind", ["add", "append"])
    @pytest.mark.parametrize("as_csr", [sp.csr_matrix, sp.csr_array])
    def test_csr_as_dense(self, kind, as_csr):
        X = sp.random(50, 23, density=0.2, random_state=0).toarray()
        noisy = add_noise(as_csr(X), kind, seed=4)
        assert isinstance(noisy, as_csr)
        np.testing.assert_allclose(noisy.toarray(), add_noise(X, kind, seed=4))

    def test_draws_differ_by_seed_only(self, rng):
        X = rng.normal(size=(30, 40))
        np.testing.assert_array_equal(add_noise(X, "add", 1), add_noise(X, "add", 1))
        assert (add_noise(X, "add", 1) != add_noise(X, "add", 2)).any()
        assert add_noise(X, "none", 1) is X

    def test_missing_values_stay_missing_and_give_no_range(self, rng):
        X = rng.uniform(0, 1, (30, 10))
        X[3, :] = np.nan
        noisy = add_noise(X, "append", 0)
        assert np.isfinite(noisy[:, 10]).all()
        np.testing.assert_array_equal(np.isnan(noisy[:, :10]), np.isnan(X))


class TestCorruption:
    """A tenth of the columns or rows is replaced, the rest is left alone; noise keeps to each column's range."""

    def data(self, n=400, d=25):
        rng = np.random.default_rng(0)
        return (rng.uniform(0, 1, (n, d)) * np.arange(1, d + 1) - np.arange(d)).astype(np.float32)

    @pytest.mark.parametrize(("kind", "axis", "number"), [("columns", 1, 3), ("rows", 0, 40)])
    def test_a_tenth_is_replaced_by_noise_of_its_range(self, kind, axis, number):
        X = self.data()
        before = X.copy()
        noisy = add_noise(X, kind, seed=0)
        np.testing.assert_array_equal(X, before)
        assert (noisy.shape, noisy.dtype) == (X.shape, X.dtype)
        changed = np.flatnonzero((noisy != X).any(axis=1 - axis))
        assert len(changed) == number
        noise, clean = noisy.take(changed, axis), X.take(changed, axis)
        assert (noise != clean).mean() > 0.99
        low, high = X.min(axis=0), X.max(axis=0)
        if kind == "columns":
            low, high = low[changed], high[changed]
        shares = ((noise - low) / (high - low)).astype(float)
        assert shares.min() == pytest.approx(0, abs=0.01)
        assert shares.max() == pytest.approx(1, abs=0.01)
        assert shares.mean() == pytest.approx(0.5, abs=0.05)
        assert shares.std() == pytest.approx(np.sqrt(1 / 12), abs=0.03)
        assert abs(np.corrcoef(noise.ravel() - np.broadcast_to(low, noise.shape).ravel(), clean.ravel())[0, 1]) < 0.99

    def test_at_least_one(self):
        X = self.data(4, 3)
        assert ((add_noise(X, "columns", 1) != X).any(axis=0)).sum() == 1
        assert ((add_noise(X, "rows", 1) != X).any(axis=1)).sum() == 1

    @pytest.mark.parametrize("kind", ["columns", "rows"])
    def test_draws_differ_by_seed_only(self, kind):
        X = self.data()
        np.testing.assert_array_equal(add_noise(X, kind, 1), add_noise(X, kind, 1))
        assert (add_noise(X, kind, 1) != add_noise(X, kind, 2)).any()

    @pytest.mark.parametrize("kind", ["columns", "rows"])
    @pytest.mark.parametrize("as_csr", [sp.csr_matrix, sp.csr_array])
    def test_csr_as_dense(self, kind, as_csr):
        X = sp.random(50, 23, density=0.2, random_state=0).toarray()
        noisy = add_noise(as_csr(X), kind, seed=4)
        assert isinstance(noisy, as_csr)
        np.testing.assert_allclose(noisy.toarray(), add_noise(X, kind, seed=4))

    @pytest.mark.parametrize("kind", ["columns", "rows"])
    def test_missing_values_are_replaced_with_the_rest_and_stay_elsewhere(self, kind):
        X = self.data(60, 40)
        X[:, 7] = np.nan
        X[::2, 9] = np.nan
        noisy = add_noise(X, kind, 0)
        same = (noisy == X) | (np.isnan(noisy) & np.isnan(X))
        replaced = ~same.all(axis=int(kind == "rows"))
        assert np.isfinite(noisy[:, replaced] if kind == "columns" else noisy[replaced]).all()
        assert np.isnan(noisy).any()

    def test_it_costs_what_it_must(self):
        """No method can be right on replaced rows but by luck."""
        X, y = two_classes(600)
        X[:, 0] = 20 * y
        kept = classify(find_method("raw"), protocol_for(X), X, y).values[0][2]
        lost = classify(find_method("raw"), protocol_for(X), add_noise(X, "rows", 0), y).values[0][2]
        assert kept == 1
        assert 0.9 <= lost < 0.985


class TestCluster:
    def test_planted_clusters(self):
        X, y = make_blobs(150, 5, centers=3, cluster_std=0.3, random_state=0)
        protocol = protocol_for(X, metrics=("accuracy", "nmi"))
        outcome = cluster(find_method("raw"), protocol, X, y, runs=6, unit_rows=False)
        assert [(run, metric) for run, metric, _ in outcome.values] == [
            (run, metric) for run in range(6) for metric in ("accuracy", "nmi")
        ]
        assert max(value for _, metric, value in outcome.values if metric == "accuracy") == 1
        assert outcome.notes == []
        assert outcome.training_rows == 150

    def test_the_best_of_a_grid_by_the_labels_is_told(self):
        X, y = make_blobs(90, 5, centers=3, cluster_std=0.3, random_state=0)
        method = replace(find_method("rbf-map"), map_grid=lambda to: [{"gamma": [1e6, 0.5]}])
        outcome = cluster(method, protocol_for(X), X, y, runs=3, unit_rows=False)
        assert outcome.chosen == {"gamma": 0.5}
        assert outcome.notes == ["the best of 2 settings, by the labels"]

    def test_a_map_fitted_on_few_rows_serves_all(self):
        X, y = make_blobs(90, 5, centers=3, cluster_std=0.3, random_state=0)
        method = find_method("rbf-map").fixing({"gamma": 1.0}, {})
        outcome = cluster(method, protocol_for(X, most_rows=30), X, y, runs=3, unit_rows=False)
        assert outcome.notes == ["map fitted on 30 of 90 rows"]
        assert max(value for _, _, value in outcome.values) == 1

    def test_unit_rows_forget_lengths(self, rng):
        """Two directions at all lengths: k-means finds them only among unit rows."""
        y = np.repeat([0, 1], 60)
        angles = np.where(y == 0, 0.1, 1.4) + rng.normal(scale=0.05, size=120)
        X = np.exp(rng.uniform(-3, 3, 120))[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
        means = []
        for unit_rows in (True, False):
            outcome = cluster(find_method("raw"), protocol_for(X, scale="none"), X, y, runs=3, unit_rows=unit_rows)
            means.append(np.mean([value for _, _, value in outcome.values]))
        assert means[0] == 1
        assert means[1] < 0.9

    def test_spectral_features_of_planted_clusters(self):
        X, y = make_blobs(150, 5, centers=3, cluster_std=0.3, random_state=0)
        outcome = cluster(find_method("randlocal-spectral"), protocol_for(X), X, y, runs=5, unit_rows=False)
        assert max(value for _, _, value in outcome.values) == 1


def test_mutual_information_by_the_geometric_mean():
    """Two classes of 2 rows, three clusters: H = log 2 and 1.5 log 2, mutual information log 2."""
    y, clusters = [0, 0, 1, 1], [0, 1, 2, 2]
    assert CLUSTERING["nmi_geometric"](y, clusters) == pytest.approx(1 / np.sqrt(1.5))
    assert CLUSTERING["nmi"](y, clusters) == pytest.approx(1 / 1.5)


class TestPicture:
    def test_features_of_all_rows_and_how_full_they_are(self):
        X, y = two_classes()
        method = find_method("sampled-landmarks").fixing({"n_landmarks": 16, "n_nearest": 4}, {})
        features, outcome = picture(method, protocol_for(X), X, y)
        assert features.shape == (120, 20 * 16)
        assert outcome.values == [(0, "sparsity_ratio", 0.25)]
        assert (outcome.training_rows, outcome.nonzeros_per_row) == (120, 80)

    def test_missing_values_are_filled_in_and_told(self):
        X, y = two_classes()
        X[3, 1] = np.nan
        features, outcome = picture(find_method("raw"), protocol_for(X), X, y)
        assert np.isfinite(features).all()
        assert outcome.notes == ["missing values filled with medians"]


class TestOutliers:
    def planted(self, rng):
        X = np.vstack([rng.normal(size=(150, 4)), rng.uniform(8, 30, (6, 4)) * rng.choice([-1, 1], (6, 4))])
        return X, np.repeat([0, 1], [150, 6])

    def test_planted_outliers(self, rng):
        X, y = self.planted(rng)
        outcome = find_outliers(
            find_method("raw"), protocol_for(X), X, y, neighbors=(1, 5), unit_rows=False, detector="distance"
        )
        assert [(fold, metric) for fold, metric, _ in outcome.values] == [(0, "auc@1"), (0, "auc@5")]
        assert all(value > 0.99 for _, _, value in outcome.values)

    def test_auc_is_that_of_the_distances(self, rng):
        X, y = self.planted(rng)
        y = rng.permutation(y)
        outcome = find_outliers(
            find_method("raw"),
            protocol_for(X, scale="none"),
            X,
            y,
            neighbors=(3,),
            unit_rows=False,
            detector="distance",
        )
        third = np.sort(cdist(X, X), axis=1)[:, 3]
        assert outcome.values[0][2] == pytest.approx(roc_auc_score(y, third))

    def test_small_values_are_outliers_to_the_detector_of_values(self, rng):
        X, y = self.planted(rng)
        method = find_method("randlocal").fixing({"task": "unsupervised"}, {})
        outcome = find_outliers(method, protocol_for(X), X, y, neighbors=(1, 5), unit_rows=False, detector="values")
        assert outcome.values[0][2] == outcome.values[1][2] > 0.95

    def test_missing_values_are_filled_in_and_told(self, rng):
        X, y = self.planted(rng)
        X[::10, 1] = np.nan
        outcome = find_outliers(
            find_method("raw"), protocol_for(X), X, y, neighbors=(1,), unit_rows=False, detector="distance"
        )
        assert outcome.notes == ["missing values filled with medians"]
        assert outcome.values[0][2] > 0.95


class TestMethods:
    @pytest.mark.parametrize("kind", ["dense", "csr", "missing", "csr, missing"])
    @pytest.mark.parametrize("method", METHODS, ids=[method.name for method in METHODS])
    def test_all_run_on_all_kinds_of_data(self, method, kind):
        if not method.installed:
            pytest.skip(f"{method.needs} is not installed")
        X, y = two_classes(90)
        X[:, 0] = 2 * y + 0.1 * X[:, 0]
        if "csr" in kind:
            X = np.where(np.abs(X) < 0.5, 0, X)
            X = np.abs(X) if method.name == "rufs" else X  # which refuses negative values; CSR is not shifted
        if "missing" in kind:
            X[::7, 1] = np.nan
        X = sp.csr_matrix(X) if "csr" in kind else X
        with warnings.catch_warnings():
            # Others' code, others' warnings; and weights of selectors that keep no column.
            if method.name in ("lightgbm", "isolation-kernel") or method.selects:
                warnings.simplefilter("ignore")
            outcome = classify(short(method), protocol_for(X, tuning_rows=40), X, y)
        assert 0.6 < outcome.values[0][2] <= 1
        filled = "missing values filled with medians" in outcome.notes
        assert filled == ("missing" in kind and not method.takes_missing)
        assert outcome.training_rows == 60

    def test_fixing_takes_the_fixed_out_of_the_grids(self):
        to = Setting(n_rows=100, n_features=10)
        fixed = find_method("polynomial").fixing({"degree": 2}, {"C": 5.0})
        assert [set(part) for part in fixed.map_grid(to)] == [{"gamma"}]
        assert fixed.model_grid(to) == [{}]
        assert fixed.build_map(to, {"gamma": 0.1}).degree == 2
        assert fixed.build_model(to, {}).C == 5.0
        again = fixed.fixing({"gamma": 0.7}, {})
        assert again.map_grid(to) == [{}]
        assert (again.build_map(to, {}).degree, again.build_map(to, {}).gamma) == (2, 0.7)
        assert [set(part) for part in find_method("polynomial").map_grid(to)] == [{"degree", "gamma"}]

    @pytest.mark.parametrize(
        ("fixed", "subspaces"),
        [
            ({"subspace": "random"}, [None]),
            ({"subspace": "image"}, [None]),
            ({"n_neighbors": 7}, [["random", "correlated"], ["image"]]),
            ({"n_neighbors": 7, "subspace": "correlated"}, [None]),
        ],
    )
    def test_fixing_leaves_the_parts_of_a_grid_that_it_belongs_to(self, fixed, subspaces):
        """Rectangles are of no use to groups that are not rectangles: RandLocal refuses them."""
        to = Setting(n_rows=100, n_features=12, image_shape=(3, 4))
        grid = find_method("randlocal-tuned").fixing(fixed, {}).map_grid(to)
        assert [part.get("subspace") for part in grid] == subspaces
        assert all(("image_shape" in part) == (fixed.get("subspace", "image") == "image") for part in grid[-1:])

    @pytest.mark.parametrize("name", ["rulls", "projected-landmarks", "sampled-landmarks"])
    @pytest.mark.parametrize(("n_groups", "iterations"), [(7, 7), (100, 100), (400, 100)])
    def test_landmarks_have_at_most_the_papers_iterations(self, name, n_groups, iterations):
        assert find_method(name).build_map(Setting(50, 10, n_groups=n_groups), {}).n_iterations == iterations

    def test_names_are_unique_and_unknown_ones_get_a_hint(self):
        assert len({method.name for method in METHODS}) == len(METHODS)
        with pytest.raises(ValueError, match=r"There is no method 'randlocl'; did you mean 'randlocal'"):
            find_method("randlocl")


def short(method: Method) -> Method:
    """The method with two settings of its grid at most, and quick ones."""
    quick = {
        "dae": {"n_epochs": 2},
        "sdae": {"n_epochs": 2},
        "isolation-kernel": {"n_estimators": 10},
        "rulls": {"n_neighborhood": 10},
    }
    model = {"boosting": {"max_iter": 5}, "lightgbm": {"n_estimators": 5}}

    def first_and_last(grid):
        def shortened(to):
            return [
                {name: [values[0], values[-1]][: len(values)] for name, values in part.items()} for part in grid(to)
            ]

        return shortened

    weights = dict.fromkeys(method.map_grid(Setting(90, 6))[0], 1.0) if method.selects else {}
    fixed = method.fixing(quick.get(method.name, weights), model.get(method.name, {}))
    return replace(fixed, map_grid=first_and_last(fixed.map_grid), model_grid=first_and_last(fixed.model_grid))
