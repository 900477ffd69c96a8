"""Classification: nothing is learned from the test part, and figures are those of the same steps by hand."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from experiments.made import evaluate, measured, two_classes, work_for
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

from vicinal import LocalLinearClassifier, RandLocal
from vicinal._preparation import make_preparation
from vicinal.experiments import Method, Role, find_method
from vicinal.experiments._linear import check_folds, choose
from vicinal.experiments._method import C_GRID
from vicinal.experiments._noise import add_noise

SMALL = {"folds": 3, "tuning_rows": 60}


def classify(method, X, y, **more):
    return evaluate("classification", method, X, y, **{**SMALL, **more})


def parts_of(y, fold=0):
    """Training and test part of a fold."""
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    return list(folds.split(np.zeros(len(y)), y))[fold]


@pytest.fixture
def fitted_svms(monkeypatch):
    """Every linear SVM that is fitted: its parameters, and what it was given."""
    seen = []

    def recording(fit):
        def recorded(model, X, y):
            given = X.toarray() if sp.issparse(X) else np.array(X)
            fit(model, X, y)
            seen.append((model.C, given, y.copy(), model.coef_.copy()))
            return model

        return recorded

    for solver in (LinearSVC, LocalLinearClassifier):
        monkeypatch.setattr(solver, "fit", recording(solver.fit))
    return seen


class TestTheTestPart:
    """Whatever its rows and labels are, the same parameters are chosen and the same model is fitted."""

    @pytest.mark.parametrize("scale", ["minmax", "matrix", "standard", "none"])
    @pytest.mark.parametrize("name", ["raw", "nystroem", "randlocal-tuned"])
    def test_rows_are_not_read_before_prediction(self, fitted_svms, name, scale):
        X, y = two_classes()
        poisoned = X.copy()
        poisoned[parts_of(y)[1]] *= -50
        self.check_same(fitted_svms, name, (X, y), (poisoned, y), scale=scale)

    def test_missing_values_among_them_change_nothing_else(self, fitted_svms):
        X, y = two_classes()
        poisoned = X.copy()
        poisoned[parts_of(y)[1], 2] = np.nan
        self.check_same(fitted_svms, "raw", (X, y), (poisoned, y))

    @pytest.mark.parametrize("name", ["raw", "nystroem", "randlocal-tuned"])
    def test_labels_are_not_read_before_scoring(self, fitted_svms, name):
        X, y = two_classes()
        test = parts_of(y)[1]
        # Folds are dealt out to a class's rows in order: two neighbours of the test part that swap classes stay in it.
        swapped = y.copy()
        for row in test[:-1]:
            if row + 1 in test and swapped[row] == y[row] and swapped[row + 1] == y[row + 1]:
                swapped[[row, row + 1]] = y[[row + 1, row]]
        assert (swapped != y).sum() >= 8
        np.testing.assert_array_equal(parts_of(swapped)[1], test)
        self.check_same(fitted_svms, name, (X, y), (X, swapped))

    def check_same(self, fitted_svms, name, clean, poisoned, **more):
        outcomes, fits = [], []
        for data in (clean, poisoned):
            fitted_svms.clear()
            outcomes.append(classify(name, *data, **more))
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
            outcome = classify(method, X, y, scale="none", fold=fold)
            assert len(fitted_svms) == 1  # nothing to choose
            _, given, _, _ = fitted_svms[0]
            rows = np.unique(np.round(given[:, 0] / np.diff(np.sort(given[:, 0])).min()).astype(int))
            assert len(given) == outcome.training_rows == 80
            assert outcome.test_rows == 40
            tested.append(set(range(120)) - set(rows))
        assert sorted(row for part in tested for row in part) == list(range(120))


class ClassMeans(TransformerMixin, BaseEstimator):
    """Distances to the classes' means, which only labels give; it keeps what it was given."""

    given: list = []  # noqa: RUF012

    def fit(self, X, y):
        self.given.append((X.copy(), y.copy()))
        self.means_ = np.array([X[y == label].mean(axis=0) for label in np.unique(y)])
        return self

    def transform(self, X):
        return np.linalg.norm(X[:, None] - self.means_, axis=2)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class TestMapsThatLearnFromLabels:
    METHOD = Method("class-means", "class means", Role.MAP, lambda to: ClassMeans())

    def test_are_given_those_of_the_training_part_only(self, monkeypatch):
        monkeypatch.setattr(ClassMeans, "given", [])
        X, y = two_classes()
        training, _ = parts_of(y)
        outcome = classify(self.METHOD, X, y, scale="none")
        assert self.METHOD.learns_from_labels
        known = {row.tobytes(): label for row, label in zip(X[training], y[training], strict=True)}
        sizes = []
        for rows, labels in ClassMeans.given:
            sizes.append(len(rows))
            assert [known[row.tobytes()] for row in rows] == labels.tolist()
        # C is chosen in three folds of 60 rows, then the map is fitted on the whole training part.
        assert sizes == [40, 40, 40, 80]
        assert outcome.values[0][2] > 0.6

    def test_test_labels_change_only_the_score(self):
        X, y = two_classes()
        _, test = parts_of(y)
        wrong = y.copy()
        pair = next(row for row in test[:-1] if row + 1 in test and y[row] != y[row + 1])
        wrong[[pair, pair + 1]] = y[[pair + 1, pair]]
        np.testing.assert_array_equal(parts_of(wrong)[1], test)
        clean, swapped = (classify(self.METHOD, X, labels) for labels in (y, wrong))
        assert clean.chosen == swapped.chosen
        assert abs(clean.values[0][2] - swapped.values[0][2]) == pytest.approx(2 / 40) or (
            clean.values[0][2] == swapped.values[0][2]  # one of the two was wrong before
        )


class TestClassify:
    def test_accuracy_is_that_of_the_same_steps_by_hand(self):
        X, y = two_classes()
        method = find_method("randlocal").fixing({"epsilon": 0.01}, {"C": 1.0})
        outcome = classify(method, X, y, fold=1, metrics=("accuracy", "micro_f1", "macro_f1"))
        training, test = parts_of(y, 1)
        low, high = X[training].min(axis=0), X[training].max(axis=0)
        scaled = (X - low) / (high - low)
        features = RandLocal(20, epsilon=0.01, random_state=0, n_jobs=1).fit(scaled[training])
        F, F_test = features.transform(scaled[training]), features.transform(scaled[test])
        length = np.mean(np.sqrt(F.multiply(F).sum(axis=1)))
        model = LinearSVC(C=1.0, tol=0.01, random_state=0).fit(F / length, y[training])
        right = model.predict(F_test / length) == y[test]
        assert measured(outcome) == [(1, "accuracy"), (1, "micro_f1"), (1, "macro_f1")]
        assert outcome.values[0][2] == pytest.approx(right.mean(), abs=0.026)
        assert outcome.values[1][2] == pytest.approx(outcome.values[0][2])  # with one label per row they are the same
        assert outcome.nonzeros_per_row == 20

    def test_c_is_chosen_alike_whatever_the_size_of_the_features(self, fitted_svms):
        X, y = two_classes()
        outcomes = [
            classify("raw", (X * factor).astype(np.float64), y, scale="none") for factor in (2.0**-10, 1.0, 2.0**13)
        ]
        assert outcomes[0].values == outcomes[1].values == outcomes[2].values
        assert outcomes[0].chosen == outcomes[1].chosen == outcomes[2].chosen
        assert {C for C, *_ in fitted_svms} == set(C_GRID)

    def test_fixed_parameters_are_not_chosen(self):
        X, y = two_classes()
        assert classify(find_method("nystroem").fixing({"gamma": 0.5}, {"C": 3.0}), X, y).chosen == {}

    def test_the_better_parameters_are_chosen(self):
        """One map keeps what tells the classes apart, the other throws it away."""
        X, y = two_classes()
        X[:, 0] = 10 * y
        method = replace(find_method("fourier"), grid=lambda to: [{"gamma": [1e9, 0.05]}]).fixing({}, {"C": 10.0})
        work = work_for("classification", method, X, y, **SMALL)
        assert choose(work, work.sample, work.experiment.task.tuning(work)) == ({"gamma": 0.05}, {})

    @pytest.mark.parametrize("name", ["raw", "rbf-svm"])
    def test_most_rows_are_kept_to_and_noted(self, name):
        X, y = two_classes()
        outcome = classify(name, X, y, most_rows=40)
        assert outcome.training_rows == 40
        assert "fitted on 40 of 80 rows" in outcome.notes
        assert classify(name, X, y, most_rows=80).notes == []

    def test_rare_classes_survive_a_cap(self):
        X, y = two_classes(200)
        y[:9] = 2
        outcome = classify("raw", X, y, most_rows=30, tuning_folds=5)
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
            classify("raw", X, y)

    def test_bandwidths_are_for_the_prepared_columns(self):
        pl = pytest.importorskip("polars")
        words = np.arange(120) % 10
        numbers = np.random.default_rng(0).normal(size=120)
        X = pl.DataFrame({"word": [f"w{word}" for word in words], "number": numbers})
        seen = []
        method = replace(find_method("nystroem"), grid=lambda to: seen.append(to.n_features) or [{"gamma": [0.1]}])
        classify(method, X, words % 2, preparation=make_preparation)
        assert set(seen) == {11}

    def test_replaced_rows_cost_what_they_must(self):
        """No method can be right on rows of noise but by luck."""
        X, y = two_classes(600)
        X[:, 0] = 20 * y
        kept = classify("raw", X, y).values[0][2]
        lost = classify("raw", add_noise(X, "rows", 0), y).values[0][2]
        assert kept == 1
        assert 0.9 <= lost < 0.985
