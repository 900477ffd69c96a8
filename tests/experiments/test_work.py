"""What every cell is made of: its rows, what a method can read of them, and what estimators are given beside them."""

import numpy as np
import pytest
import scipy.sparse as sp
from experiments.made import two_classes, work_for
from sklearn.base import BaseEstimator, TransformerMixin

from vicinal.datasets import Sample
from vicinal.experiments import Context, Method, Outcome, Role, _methods, find_method, read_experiment
from vicinal.experiments._methods import METHODS
from vicinal.experiments._noise import add_noise
from vicinal.experiments._work import readable, stratified_sample, work_of

DECLARED = """
title = "Small"
task = "classification"
metrics = ["accuracy"]
folds = 3
tuning_folds = 2
data = [{ name = "rows", scale = "standard", rows = 60 }]
methods = [{ name = "randlocal", vary = { n_groups = [2, 5] }, data_rows = { rows = 30 }, rows = 50 }]
"""


def test_sparse_rows_that_are_too_large_to_be_dense_are_refused():
    X = sp.csr_array((3, 10**12))
    work = work_for("classification", find_method("boosting"), sp.csr_array((30, 4)), np.arange(30) % 2)
    with pytest.raises(MemoryError, match=r"Gradient boosting takes no sparse rows, .* leave it out"):
        readable(work, Outcome(), X, X)


def test_sample_has_every_class_at_its_share():
    y = np.repeat([0, 1, 2], [900, 95, 5])
    keep = stratified_sample(y, 100, seed=0, at_least=3)
    assert list(np.bincount(y[keep])) == [90, 10, 3]  # 9.5 rounds to the even 10
    assert len(np.unique(keep)) == len(keep)
    assert (np.diff(keep) > 0).all()
    assert set(keep) != set(stratified_sample(y, 100, seed=1, at_least=3))


class TestWorkOf:
    def work(self, text=DECLARED, cell=0, **more):
        experiment = read_experiment("small", text)
        X, y = two_classes()
        return work_of(experiment, experiment.cells()[cell], threads=2, load=lambda name: Sample(X, y), **more), X

    def test_rows_sizes_and_threads_are_the_declared_ones(self):
        work, _ = self.work()
        assert len(work.sample) == 60
        assert (work.context.n_rows, work.context.n_features, work.context.n_classes) == (60, 6, 2)
        assert (work.context.n_groups, work.context.threads) == (2, 2)
        assert self.work(cell=1)[0].context.n_groups == 5
        assert work.most_rows == 30  # the least of what the method and the data set allow

    def test_noise_is_drawn_for_scaled_values_and_for_each_fold(self):
        noisy = DECLARED.replace(", rows = 60", "") + 'noise = ["none", "append"]\n'
        plain, X = self.work(noisy)
        np.testing.assert_array_equal(plain.sample.X, X)
        first, other = (self.work(noisy, cell)[0] for cell in (2, 6))
        assert (first.cell.fold, other.cell.fold) == (0, 1)
        scaled = (X - X.mean(axis=0)) / X.std(axis=0)
        np.testing.assert_allclose(first.sample.X[:, :6], scaled, atol=1e-5)
        np.testing.assert_allclose(first.sample.X, add_noise(scaled, "append", 0), atol=1e-4)
        assert (first.sample.X[:, 6] != other.sample.X[:, 6]).any()
        # They are not scaled once more.
        np.testing.assert_array_equal(first.preparation(first.sample.X).fit_transform(first.sample.X), first.sample.X)

    def test_a_package_that_is_not_there_is_named(self, monkeypatch):
        needy = Method("needy", "Needy", Role.MAP, lambda to: None, needs="no_such_package")
        monkeypatch.setattr(_methods, "METHODS", (*METHODS, needy))
        with pytest.raises(ValueError, match="Needy needs the package no_such_package; install it with pip"):
            self.work('title = "t"\ntask = "clustering"\nmetrics = ["nmi"]\ndata = ["rows"]\nmethods = ["needy"]\n')


class TestReadable:
    def check(self, method, X, *, dense, filled):
        work, outcome = work_for("images", method, X, np.arange(X.shape[0]) % 2, scale="none"), Outcome()
        read, read_test = readable(work, outcome, X, X[:1])
        assert sp.issparse(read) == sp.issparse(read_test) == (sp.issparse(X) and not dense)
        values = read.data if sp.issparse(read) else read
        assert np.isnan(values).any() != filled
        assert outcome.notes == ["missing values filled with medians"] * filled

    def test_tags_decide_what_is_filled_in_and_made_dense(self):
        X = sp.csr_matrix(np.where(np.arange(40).reshape(10, 4) % 7 == 0, np.nan, 1.0) * (np.arange(4) < 3))
        self.check("randlocal", X, dense=False, filled=False)
        self.check("raw", X, dense=False, filled=True)
        self.check("boosting", X, dense=True, filled=False)

    def test_missing_values_of_the_test_part_alone_are_filled_from_the_training_part(self):
        work, outcome = work_for("images", "raw", np.eye(3)), Outcome()
        _, X_test = readable(work, outcome, np.array([[1.0], [5.0], [6.0]]), np.array([[np.nan]]))
        assert X_test == [[5.0]]
        assert len(outcome.notes) == 1


class Linked(TransformerMixin, BaseEstimator):
    """Asks for links, and gives each row's degree."""

    def fit(self, X, y=None, *, adjacency=None):
        self.labels_ = y
        self.degrees_ = np.asarray(adjacency.sum(axis=1)).reshape(-1, 1)
        return self

    def fit_transform(self, X, y=None, *, adjacency=None):
        return self.fit(X, y, adjacency=adjacency).degrees_

    def transform(self, X):
        return np.zeros((X.shape[0], 1))


class TestWhatEstimatorsAreGiven:
    def sample(self):
        ring = np.roll(np.eye(10), 1, axis=1)
        return Sample(np.arange(20.0).reshape(10, 2), np.arange(10) % 2, adjacency=sp.csr_array(ring + ring.T))

    def test_links_if_they_ask_for_them(self):
        work = work_for("images", Method("linked", "Linked", Role.MAP, lambda to: Linked()), self.sample())
        sample, outcome = work.all_rows()
        features, seconds = work.features({}, sample, outcome)
        np.testing.assert_array_equal(features, np.full((10, 1), 2.0))
        assert seconds > 0

    def test_nothing_else_if_they_do_not(self):
        work = work_for("images", "randlocal", self.sample())
        sample, outcome = work.all_rows()
        features, _ = work.features({}, sample, outcome)
        assert features.shape[0] == 10

    def test_no_labels_where_the_task_has_no_training_part(self):
        made = []
        method = Method("linked", "Linked", Role.MAP, lambda to: made.append(Linked()) or made[-1])
        work = work_for("images", method, self.sample())
        sample, outcome = work.all_rows()
        work.features({}, sample, outcome)
        assert made[-1].labels_ is None


class NeedsLabels(TransformerMixin, BaseEstimator):
    def fit(self, X, y):
        return self

    def transform(self, X):
        return X

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


@pytest.mark.parametrize(("task", "metric"), [("clustering", "nmi"), ("images", "sparsity_ratio"), ("outliers", "auc")])
def test_maps_that_need_labels_are_refused_where_there_are_none(monkeypatch, task, metric):
    labelled = Method("labelled", "Labelled", Role.MAP, lambda to: NeedsLabels())
    monkeypatch.setattr(_methods, "METHODS", (*METHODS, labelled))
    assert find_method("labelled").learns_from_labels
    text = (
        f"""
        title = "t"
        task = "{task}"
        metrics = ["{metric}"]
        data = ["iris"]
        methods = ["raw", "labelled"]
    """
        + "neighbors = [1]\n" * (task == "outliers")
    )
    with pytest.raises(ValueError, match=f"The experiment small: 'labelled' learns from labels, and {task} gives none"):
        read_experiment("small", text)


def test_contexts_of_fits_have_the_size_of_what_is_fitted():
    work = work_for("images", "raw", np.zeros((9, 4)))
    assert work.context_for(np.zeros((5, 3))) == Context(5, 3, n_groups=20, n_components=15, n_classes=1)
