"""The task "selection": columns without labels, k-means by the thesis' protocol, medians of grids and mean ranks."""

import json
import warnings
from dataclasses import replace
from functools import cache, partial
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize
from vicinal.experiments._evaluate import Protocol
from vicinal.experiments._selection import Trial, best_trial, median_trial, middle, select

from vicinal._preparation import scaler
from vicinal.experiments import Entry, _methods, entry_label, mean_ranks, read_experiment, summarise
from vicinal.experiments._methods import METHODS, Method, Setting, find_method
from vicinal.experiments._results import ResultFile
from vicinal.experiments._runner import failed_rows, run_cell
from vicinal.metrics import clustering_accuracy, normalized_mutual_information
from vicinal.select._base import FeatureSelector, Ranked

INFORMATIVE, NOISE = 6, 30


class Sparing(FeatureSelector):
    """Scores the first columns highest, or the last where `upside_down`; its rule keeps the informative ones."""

    _has_rule = True
    fits: ClassVar[list[dict]] = []

    def __init__(self, n_features_to_select="auto", *, upside_down=False, weight=1.0, rule=INFORMATIVE, stop=False):
        self.n_features_to_select = n_features_to_select
        self.upside_down = upside_down
        self.weight = weight
        self.rule = rule
        self.stop = stop

    def _rank(self, X):
        self.fits.append({"rows": X.shape[0], "weight": self.weight})
        if self.stop:
            warnings.warn("stopped", ConvergenceWarning, stacklevel=2)
        if self.rule == 0:
            warnings.warn("rule=0 keeps nothing: take another one; or none.", UserWarning, stacklevel=2)
        order = np.arange(X.shape[1], dtype=float)
        return Ranked(order if self.upside_down else -order, n_auto=self.rule)


def sparing(**grid):
    return Method("sparing", "Sparing", lambda to: Sparing(), map_grid=lambda to: [grid], selects=True, has_rule=True)


@pytest.fixture(autouse=True)
def known(monkeypatch):
    """Sparing is one of the methods; its fits are listed."""
    Sparing.fits = []
    monkeypatch.setattr(_methods, "METHODS", (*METHODS, sparing(upside_down=[False, True], weight=[1.0, 2.0])))


@pytest.fixture
def texts():
    return made_texts()


@cache
def made_texts():
    """Counts of words in three classes that the first columns tell apart."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 25)
    X = rng.poisson(1.0, (75, INFORMATIVE + NOISE))
    X[:, :INFORMATIVE] = rng.poisson(0.3 + 6.0 * (y[:, None] == np.arange(INFORMATIVE) % 3))
    return sp.csr_matrix(X, dtype=np.float32), y


def outcome_of(method, X, y, *, features=(6,), runs=3, unit_rows=True, scale="none", **more):
    to = Setting(X.shape[0], X.shape[1], n_classes=len(np.unique(y)))
    protocol = Protocol(to, partial(scaler, scale), metrics=("accuracy", "nmi"))
    return select(method, protocol, X, y, features=features, runs=runs, unit_rows=unit_rows, **more)


def told(outcome, metric):
    return [value for _, name, value in outcome.values if name == metric]


class TestOneCell:
    @pytest.mark.parametrize("unit_rows", [True, False])
    def test_figures_are_those_of_a_plain_loop(self, texts, unit_rows):
        X, y = texts
        weights = TfidfTransformer().fit_transform(X)
        variances = weights.toarray().var(axis=0)
        outcome = outcome_of(
            find_method("maximum-variance"), X, y, features=(5, 20), unit_rows=unit_rows, scale="tfidf"
        )
        for count in (5, 20):
            kept = weights[:, np.sort(np.argsort(-variances, kind="stable")[:count])]
            rows = normalize(kept) if unit_rows else kept
            runs = [KMeans(3, n_init=1, random_state=run).fit_predict(rows) for run in range(3)]
            assert told(outcome, f"accuracy@{count}") == [clustering_accuracy(y, labels) for labels in runs]
            assert told(outcome, f"nmi@{count}") == [normalized_mutual_information(y, labels) for labels in runs]
            nonzeros = outcome.by_metric[f"accuracy@{count}"]["nonzeros_per_row"]
            assert nonzeros == pytest.approx(kept.nnz / 75)
        assert len(outcome.values) == 2 * 2 * 3
        assert outcome.feature_seconds > 0
        assert outcome.model_seconds > 0

    def test_the_method_is_fitted_once_in_each_setting_and_never_sees_labels(self, texts, monkeypatch):
        X, y = texts
        given = []
        fit = Sparing.fit
        monkeypatch.setattr(Sparing, "fit", lambda self, X, y=None: (given.append(y), fit(self, X, y))[1])
        outcome_of(find_method("sparing"), X, y, features=(1, 2, 3, 4, "auto"))
        assert len(Sparing.fits) == 4
        assert given == [None] * 4

    def test_its_own_number_of_columns_is_recorded(self, texts):
        outcome = outcome_of(sparing(), *texts, features=(6, "auto"))
        assert told(outcome, "accuracy@auto") == told(outcome, "accuracy@6")
        assert outcome.by_metric["accuracy@auto"]["chosen"] == {"n_features": INFORMATIVE}
        assert outcome.by_metric["accuracy@6"]["chosen"] == {}

    def test_raw_features_are_all_columns(self, texts):
        outcome = outcome_of(find_method("raw"), *texts, features=(6, "auto"))
        assert {name for _, name, _ in outcome.values} == {"accuracy@all", "nmi@all"}
        assert outcome.by_metric["accuracy@all"]["chosen"] == {"n_features": INFORMATIVE + NOISE}
        assert outcome.feature_seconds == 0

    def test_a_method_without_a_rule_has_no_figure_for_its_own_number(self, texts):
        outcome = outcome_of(find_method("maximum-variance"), *texts, features=(6, "auto"))
        assert {name for _, name, _ in outcome.values} == {"accuracy@6", "nmi@6"}

    def test_of_a_grid_the_median_and_the_best_are_told_with_their_settings(self, texts):
        outcome = outcome_of(sparing(upside_down=[False, True, True]), *texts)
        poor = outcome_of(sparing(upside_down=[True]), *texts)
        good = outcome_of(sparing(upside_down=[False]), *texts)
        assert np.mean(told(good, "accuracy@6")) > 0.9 > np.mean(told(poor, "accuracy@6")) + 0.2
        for metric in ("accuracy@6", "nmi@6"):
            assert told(outcome, metric) == told(poor, metric)
            assert told(outcome, f"best_{metric}") == told(good, metric)
            assert outcome.by_metric[metric]["chosen"] == {"upside_down": True}
            assert outcome.by_metric[f"best_{metric}"]["chosen"] == {"upside_down": False}
        assert not any("best" in name for _, name, _ in good.values)

    @pytest.mark.parametrize(("means", "median"), [([3], 3), ([2, 1], 1), ([3, 1, 2], 2), ([4, 1, 3, 2], 2)])
    def test_the_median_is_a_setting_that_was_run(self, means, median):
        trials = [Trial({"weight": mean}, 5, 1.0, {"accuracy": np.array([mean - 1, mean + 1])}) for mean in means]
        assert median_trial(trials, "accuracy").parameters["weight"] == median
        assert best_trial(trials, "accuracy").parameters["weight"] == max(means)

    def test_few_settings_of_a_grid(self, texts):
        outcome_of(sparing(weight=[1.0, 2.0, 3.0, 4.0]), *texts, most_settings=2)
        assert [fit["weight"] for fit in Sparing.fits] == [2.0, 3.0]

    @pytest.mark.parametrize(
        ("number", "most", "kept"), [(1, 2, [0]), (2, 2, [0, 1]), (3, 2, [0, 1]), (9, 2, [3, 4]), (3, None, [0, 1, 2])]
    )
    def test_those_in_the_middle(self, number, most, kept):
        settings = [{"weight": place} for place in range(number)]
        assert [setting["weight"] for setting in middle(settings, most)] == kept

    def test_a_fit_on_part_of_the_rows_chooses_columns_for_all(self, texts):
        X, y = texts
        protocol = Protocol(Setting(75, X.shape[1], n_classes=3), partial(scaler, "none"), most_rows=40)
        outcome = select(sparing(), protocol, X, y, features=(6,), runs=2, unit_rows=True)
        assert Sparing.fits == [{"rows": 40, "weight": 1.0}]
        assert outcome.notes == ["map fitted on 40 of 75 rows"]
        assert told(outcome, "accuracy@6") == told(outcome_of(sparing(), X, y, runs=2), "accuracy@6")

    def test_rows_that_cannot_be_told_apart_are_noted(self, texts):
        X, y = texts
        outcome = outcome_of(sparing(), sp.csr_matrix((X[:, [0]] > 0).astype(np.float32)), y, features=(1,))
        assert outcome.notes == ["fewer different rows than clusters on some columns"]

    def test_fits_that_did_not_converge_are_noted(self, texts):
        outcome = outcome_of(sparing(stop=[False, True]), *texts)
        assert outcome.notes == ["1 of 2 fits stopped before they converged"]

    def test_more_columns_than_there_are_is_refused_with_a_sentence(self, texts):
        with pytest.raises(ValueError, match="99"):
            outcome_of(sparing(), *texts, features=(99,))


@pytest.mark.parametrize("name", [method.name for method in METHODS if method.selects])
def test_every_selector_runs_in_each_setting_and_may_be_cut(texts, name):
    X, y = texts
    method = find_method(name)
    outcome = outcome_of(method, X, y, features=(6, 12, "auto"), runs=2, scale="tfidf", most_settings=2)
    assert max(map(len, map(partial(told, outcome), {value[1] for value in outcome.values}))) == 2
    assert all(0 <= value <= 1 for _, _, value in outcome.values)
    assert any(metric.startswith("best_") for _, metric, _ in outcome.values) == (
        len(method.map_settings(Setting(1, 1))) > 1
    )
    built = method.build_map(Setting(75, 36, n_classes=3), {})
    assert getattr(built, "n_clusters", 3) == 3


class TestTfidf:
    def test_is_that_of_all_rows(self, texts):
        X, _ = texts
        made = scaler("tfidf", X).fit_transform(X)
        assert made.dtype == np.float32
        np.testing.assert_allclose(made.toarray(), TfidfTransformer().fit_transform(X).toarray())
        np.testing.assert_allclose(sp.linalg.norm(made, axis=1), 1, rtol=1e-6)
        np.testing.assert_allclose(made.toarray(), scaler("tfidf", X.toarray()).fit_transform(X.toarray()).toarray())

    def test_negative_numbers_are_refused(self):
        with pytest.raises(ValueError, match="TF-IDF is for counts, but the least value is -1"):
            scaler("tfidf", np.array([[-1.0, 2.0]]))


DECLARED = """
title = "Selection"
task = "selection"
metrics = ["accuracy", "nmi"]
runs = 4
subject = "sparing"
features = [3, 6, "auto"]
data = [{ name = "first", scale = "tfidf" }, { name = "second", scale = "tfidf" }]
methods = ["raw", "maximum-variance", "sparing"]

[paper.raw]
first = { "accuracy@all" = [0.5] }
[paper.sparing]
first = { "accuracy@6" = [0.1], "best_accuracy@6" = [0.2], "accuracy@auto" = [0.3] }
"""


@pytest.fixture
def declared():
    return read_experiment("small", DECLARED)


@pytest.fixture
def rows(known):
    return list(made_rows())


@cache
def made_rows():
    declared = read_experiment("small", DECLARED)
    load = {"load": lambda name: made_texts()}
    return [row for cell in declared.cells() for row in run_cell(declared, cell, threads=1, **load)]


class TestDeclared:
    def test_cells_say_what_is_measured(self, declared):
        raw, variance, own = declared.cells()[:3]
        assert declared.measured(raw) == ("accuracy@all", "nmi@all")
        assert declared.measured(variance) == ("accuracy@3", "nmi@3", "accuracy@6", "nmi@6")
        assert declared.measured(own)[:5] == ("accuracy@3", "nmi@3", "best_accuracy@3", "best_nmi@3", "accuracy@6")
        assert [declared.rows_per_cell(cell) for cell in (raw, variance, own)] == [8, 16, 48]
        fixed = read_experiment(
            "small",
            DECLARED.replace('"sparing"]', '{ name = "sparing", parameters = { upside_down = false, weight = 1.0 } }]'),
        )
        assert declared.rows_per_cell(own) == 2 * fixed.rows_per_cell(fixed.cells()[2])

    def test_rows_are_what_was_planned_whether_a_cell_runs_or_not(self, declared, rows):
        for cell in declared.cells():
            names = set(declared.measured(cell))
            ran = [row for row in rows if (row["data"], row["method"]) == (cell.data, cell.method)]
            failed = failed_rows(declared, cell, "too large")
            assert len(ran) == len(failed) == declared.rows_per_cell(cell)
            assert {row["metric"] for row in ran} == {row["metric"] for row in failed} == names
            assert {row["fold"] for row in ran} == {"0", "1", "2", "3"}

    def test_settings_are_written_beside_their_figures(self, rows):
        chosen = {(row["method"], row["metric"]): row["chosen"] for row in rows}
        assert chosen["raw", "accuracy@all"] == '{"n_features": 36}'
        assert chosen["maximum-variance", "accuracy@3"] == ""
        assert set(json.loads(chosen["sparing", "best_nmi@6"])) == {"upside_down", "weight"}
        assert json.loads(chosen["sparing", "accuracy@auto"])["n_features"] == INFORMATIVE

    def test_a_run_that_was_stopped_goes_on(self, declared, rows, tmp_path):
        path = tmp_path / "small.csv"
        ResultFile(path, declared, rows).write()
        assert len(ResultFile.open(path, declared).done()) == len(declared.cells())
        ResultFile(path, declared, rows[:-1]).write()
        assert {cell.key for cell in declared.cells()} - ResultFile.open(path, declared).done() == {
            declared.cells()[-1].key
        }

    def test_figures_depend_on_the_numbers_of_columns_and_on_unit_rows(self, declared):
        def hashes(experiment):
            return {cell.protocol for cell in experiment.cells()}

        assert not hashes(declared) & hashes(replace(declared, unit_rows=False))
        assert not hashes(declared) & hashes(replace(declared, starts=declared.starts + 1))
        assert not hashes(declared) & hashes(replace(declared, features=(3, 6)))
        clustering = replace(declared, task="clustering")
        assert hashes(clustering) == hashes(replace(clustering, unit_rows=False, features=()))

    def test_quick_ones_try_few_rows_runs_and_settings(self, declared):
        quick = declared.quickened()
        assert {spec.rows for spec in quick.data} == {200}
        assert quick.runs == 4
        assert quick.most_settings == 2
        assert declared.most_settings is None

    @pytest.mark.parametrize(
        ("old", "new", "sentence"),
        [
            ("features = [3", "neighbors = [3", "needs 'features', the numbers of columns"),
            ("[3,", "[0,", 'features are whole numbers from 1 on, or "auto"; got 0'),
            ("[3,", '["many",', "got 'many'"),
            ("[3,", "[true,", "got True"),
            ('[3, 6, "auto"]', '["auto"]', "'maximum-variance' does not know how many columns to keep"),
            ('["raw"', '["nystroem"', "'nystroem' does not choose columns; take raw, for all of them, or one of max"),
            ('["raw"', '[{ name = "raw", unit_rows = true }', "unit_rows is the experiment's, not a method's"),
            ('["accuracy"', '["auc"', "there is no metric 'auc' for selection"),
        ],
    )
    def test_refused_with_one_sentence(self, old, new, sentence):
        with pytest.raises(ValueError, match="The experiment small") as error:
            read_experiment("small", DECLARED.replace(old, new, 1))
        assert sentence in str(error.value)
        assert str(error.value).count("\n") == 0


class TestSummary:
    def test_the_best_of_a_grid_stands_beside_its_median_and_is_not_ranked(self, declared, rows):
        figures = summarise(declared, rows)
        assert not any(figure.metric.startswith("best_") for figure in figures)
        figure = next(f for f in figures if (f.data, f.method, f.metric) == ("first", "sparing", "accuracy@6"))
        assert figure.by_labels.metric == "best_accuracy@6"
        assert figure.by_labels.mean > figure.mean
        assert not figure.by_labels.best
        assert (figure.paper, figure.by_labels.paper) == (0.1, 0.2)
        assert figure.n == figure.planned == 4
        assert next(f for f in figures if f.method == "maximum-variance").by_labels is None

    def test_own_numbers_and_all_columns_are_compared(self, declared, rows):
        figures = summarise(declared, rows)
        whole, own = (
            next(f for f in figures if (f.data, f.metric) == ("first", metric))
            for metric in ("accuracy@all", "accuracy@auto")
        )
        assert whole.best + own.best == 1
        assert (whole.p_value is None) == whole.best
        assert (own.p_value is None) == own.best
        assert (whole.n_columns, own.n_columns) == (36, INFORMATIVE)

    def test_seconds_are_those_of_a_fit_not_of_a_run(self, declared, rows):
        times = replace(declared, shown=("feature_seconds",), paper={})
        figures = summarise(times, rows)
        assert [(f.data, f.method) for f in figures] == [
            (data, method) for data in ("first", "second") for method in ("maximum-variance", "sparing")
        ]
        assert {(f.n, f.planned) for f in figures} == {(1, 1)}


def scored(experiment, scores):
    """Figures from means by data set, method and metric."""
    made = []
    for data, method, metric, mean in scores:
        cell = next(cell for cell in experiment.cells() if (cell.data, cell.method) == (data, method))
        for row in failed_rows(experiment, cell, ""):
            if row["metric"] == metric:
                made.append(row | {"value": str(mean), "notes": ""})
    return summarise(experiment, made)


class TestMeanRanks:
    RAW, VARIANCE = Entry("raw", own_number=True), Entry("maximum-variance", own_number=False)
    FIXED, OWN = Entry("sparing", own_number=False), Entry("sparing", own_number=True)

    @pytest.fixture
    def figures(self, declared):
        scores = [
            ("first", "raw", "accuracy@all", 0.5),
            ("first", "maximum-variance", "accuracy@3", 0.4),
            ("first", "maximum-variance", "accuracy@6", 0.7),
            ("first", "sparing", "accuracy@3", 0.6),
            ("first", "sparing", "accuracy@6", 0.7),
            ("first", "sparing", "accuracy@auto", 0.9),
            ("second", "raw", "accuracy@all", 0.8),
            ("second", "maximum-variance", "accuracy@3", 0.1),
            ("second", "maximum-variance", "accuracy@6", 0.2),
            ("second", "sparing", "accuracy@3", 0.3),
            ("second", "sparing", "accuracy@6", 0.4),
            ("second", "sparing", "accuracy@auto", 0.5),
        ]
        return scored(declared, scores)

    def test_by_hand(self, declared, figures):
        three, six, overall = mean_ranks(declared, figures, "accuracy")
        assert [contest.count for contest in (three, six, overall)] == [3, 6, None]
        # Beside the number of columns that all have, Sparing's own takes its place: three rivals each time.
        assert three.ranks == {self.RAW: 1.5, self.VARIANCE: 3.0, self.FIXED: 1.5, self.OWN: 1.5}
        assert six.ranks == {self.RAW: 2.0, self.VARIANCE: 2.25, self.FIXED: 1.75, self.OWN: 1.5}
        # Sparing is there once, at its own number; maximum variance with the mean of both numbers.
        assert overall.ranks == {self.RAW: 2.0, self.VARIANCE: 2.5, self.OWN: 1.5}
        assert overall.scores["first"][self.VARIANCE] == pytest.approx(0.55)
        assert (overall.best("first"), overall.best("second")) == (self.OWN, self.RAW)

    def test_labels(self, declared):
        labels = [entry_label(declared, entry) for entry in (self.RAW, self.VARIANCE, self.FIXED, self.OWN)]
        assert labels == ["raw features", "maximum variance", "Sparing", "Sparing, own number"]

    def test_data_sets_that_a_method_lacks_do_not_count(self, declared, figures):
        some = [f for f in figures if (f.data, f.method) != ("second", "raw")]
        contests = mean_ranks(declared, some, "accuracy")
        assert [list(contest.scores) for contest in contests] == [["first"]] * 3
        assert contests[0].ranks[self.OWN] == 1

    def test_none_where_parameters_vary_or_for_another_task(self, declared, figures):
        varied = [replace(figure, setting="weight=2.0") for figure in figures]
        assert mean_ranks(declared, varied, "accuracy") == []
        assert mean_ranks(replace(declared, task="clustering"), figures, "accuracy") == []
