"""The task "view-selection": columns of each view without labels, then clusters on which the views agree."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from experiments.made import evaluate, scored, values
from sklearn.preprocessing import normalize

from vicinal import CDMAFS
from vicinal.cluster import cluster_views
from vicinal.datasets import Sample
from vicinal.experiments import find_method, load_experiment, read_experiment
from vicinal.experiments._claims import claim_sentences
from vicinal.experiments._metric import read_measure
from vicinal.experiments._protocol import protocol_of
from vicinal.experiments._work import work_of
from vicinal.experiments.tasks.clustering import METRICS
from vicinal.experiments.tasks.view_selection import unit_rows_per_view, with_few_columns
from vicinal.metrics import clustering_accuracy
from vicinal.select import LaplacianScore

SIZES = {"text": 30, "tags": 20}
VIEWS = {"text": slice(0, 30), "tags": slice(30, 50)}


@cache
def made_posts():
    """Counts in two views; the first six columns of each know three topics."""
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    parts = [
        rng.poisson(0.4 + 5 * (np.arange(size) < 6) * (y[:, None] == np.arange(size) % 3)) for size in SIZES.values()
    ]
    return Sample(sp.csr_matrix(np.hstack(parts), dtype=np.float32), y, views=VIEWS)


@pytest.fixture
def posts():
    return made_posts()


def outcome_of(method, sample, *, features=(6,), runs=3, **more):
    return evaluate("view-selection", method, sample, scale="none", features=features, runs=runs, **more)


def declared(**changes):
    text = """
title = "Which columns of each view?"
task = "view-selection"
metrics = ["accuracy"]
features = [100]
unit_rows = [true, false]
data = [{ name = "mv_reuters600", scale = "none", views = ["EN", "GR"] }, { name = "mv_mfeat6", scale = "none" }]
data_features = { mv_mfeat6 = [0.1, 0.5] }
subject = "cdma"
methods = ["raw", "udfs", "cdma"]
"""
    for old, new in changes.values():
        text = text.replace(old, new)
    return read_experiment("mine", text)


class TestOneCell:
    @pytest.mark.parametrize("unit_rows", [True, False])
    @pytest.mark.parametrize("count", [6, 0.2])
    def test_figures_are_those_of_a_plain_loop(self, posts, unit_rows, count):
        kept = []
        for place in VIEWS.values():
            part = normalize(posts.X[:, place]) if unit_rows else posts.X[:, place]
            kept.append(LaplacianScore(count).fit_transform(part))
        runs = cluster_views([part.toarray() for part in kept], 3, n_runs=3)
        outcome = outcome_of("laplacian-score", posts, features=(count,), unit_rows=unit_rows)
        expected = [clustering_accuracy(posts.y, labels) for labels in runs]
        assert values(outcome, f"accuracy@{count}") == pytest.approx(expected)

    @pytest.mark.parametrize("method", ["laplacian-score", "mvfs", "cdma"])
    def test_planted_columns_are_found_and_tell_the_classes(self, posts, method):
        outcome = outcome_of(method, posts, unit_rows=(True, False))
        assert np.mean(values(outcome, "accuracy@6/unit-1")) > 0.8
        assert len(values(outcome, "accuracy@6/raw-1")) == 3

    def test_all_columns(self, posts):
        outcome = outcome_of("raw", posts)
        runs = cluster_views(unit_rows_per_view(posts.X, VIEWS), 3, views=VIEWS, n_runs=3)
        assert values(outcome, "accuracy@all") == [clustering_accuracy(posts.y, labels) for labels in runs]

    def test_a_penalty_is_looked_for_once_for_each_number_of_columns(self, posts, monkeypatch):
        fits = []
        fit = CDMAFS.fit
        monkeypatch.setattr(
            CDMAFS, "fit", lambda self, X, y=None: (fits.append(self.n_features_to_select), fit(self, X))[1]
        )
        outcome_of("cdma", posts, features=(3, 6), unit_rows=(True, False))
        assert fits == [3, 6, 3, 6]
        outcome_of(find_method("cdma").fixing({"penalty": 1e-4}, {}), posts, features=(3, 6))
        assert len(fits) == 5

    def test_stacked_columns_compete_with_those_of_other_views(self, posts):
        X = unit_rows_per_view(posts.X, VIEWS)
        kept = LaplacianScore(8).fit(X).get_support(indices=True)
        sizes = [int((kept < 30).sum()), int((kept >= 30).sum())]
        runs = cluster_views(X[:, kept], 3, views=[size for size in sizes if size], n_runs=3)
        outcome = outcome_of("laplacian-score", posts, features=(4,), use={"stacked": True})
        assert values(outcome, "accuracy@4") == [clustering_accuracy(posts.y, labels) for labels in runs]

    def test_rows_that_are_not_divided_into_views_are_refused(self, posts):
        with pytest.raises(ValueError, match="rows is not divided into views"):
            outcome_of("raw", replace(posts, views=None))


class TestViewsOfData:
    def test_some_views_in_their_order(self, posts):
        some = replace(posts, names=tuple(map(str, range(50)))).with_views(["tags"])
        assert some.views == {"tags": slice(0, 20)}
        assert some.names == tuple(map(str, range(30, 50)))
        assert (posts.X[:, 30:] != some.X).nnz == 0
        with pytest.raises(ValueError, match=r"There is no view 'tag'; did you mean 'tags'\?"):
            posts.with_views(["tag"])
        with pytest.raises(ValueError, match="the columns are not divided into views"):
            replace(posts, views=None).with_views(["tags"])

    def test_a_data_set_may_be_used_with_some_of_them(self, posts):
        experiment = declared()
        sample = replace(posts, views={"EN": slice(0, 10), "FR": slice(10, 30), "GR": slice(30, 50)})
        cell = experiment.cells()[0]
        work = work_of(experiment, cell, threads=1, load=lambda name: sample)
        assert work.sample.views == {"EN": slice(0, 10), "GR": slice(10, 30)}
        other = declared(views=('views = ["EN", "GR"]', 'views = ["EN", "FR"]'))
        assert protocol_of(experiment, cell) != protocol_of(other, cell)

    def test_a_quick_run_has_few_columns_of_each_view(self, posts):
        few = with_few_columns(posts, 25)
        assert few.views == {"text": slice(0, 25), "tags": slice(25, 45)}
        filled = (posts.X[:, :30] != 0).sum(axis=0).A1
        assert (few.X[:, :25] != 0).sum() == np.sort(filled)[-25:].sum()
        assert "500 columns of each view" in declared().task.quick_size(declared().quickened())


class TestShares:
    def test_measures_are_read_as_they_are_written(self):
        experiment = declared()
        measures = {measure for cell in experiment.cells() for measure in experiment.measures(cell)}
        assert {"accuracy@0.1/unit-1", "best_accuracy@0.5/raw-1", "accuracy@100/unit-1"} <= set(map(str, measures))
        assert {read_measure(str(measure), METRICS) for measure in measures} == measures

    @pytest.mark.parametrize("wrong", ["1.5", "0.0", "-0.1", "true"])
    def test_what_is_no_share_is_refused(self, wrong):
        with pytest.raises(ValueError, match="features are whole numbers from 1 on, shares below 1"):
            declared(features=("[0.1, 0.5]", f"[{wrong}]"))

    def test_words(self):
        experiment = declared()
        tables = experiment.task.tables(
            experiment, scored(experiment, [("mv_mfeat6", "cdma", "accuracy@0.1/unit-1", 0.5)])
        )
        assert tables[0].columns[1].label == "10 %"
        assert tables[0].caption == "Accuracy by columns kept of each view, mv_mfeat6; rows of unit length, one start"


class TestClaims:
    @pytest.mark.parametrize(("best", "held"), [(0.72, ": holds, -2.8 %"), (0.80, ": does not hold, -12.5 %")])
    def test_rivals_at_the_best_of_their_grids(self, best, held):
        experiment = load_experiment("thesis-table13")
        claim = next(claim for claim in experiment.claims if claim.over_best)
        summaries = scored(
            experiment,
            [
                ("mv_3sources", "cdma", "accuracy@100/unit-1", 0.70),
                ("mv_3sources", "udfs", "accuracy@100/unit-1", 0.30),
                ("mv_3sources", "udfs", "best_accuracy@100/unit-1", best),
            ],
        )
        sentence = next(text for text in claim_sentences(experiment, summaries) if text.startswith(claim.text))
        assert f"{held}, 0.7000 against {best:.4f}" in sentence
