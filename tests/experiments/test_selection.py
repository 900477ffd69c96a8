"""The task "selection": columns without labels, k-means by the thesis' protocol, medians of grids and mean ranks."""

import warnings
from dataclasses import replace
from functools import cache
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from experiments.made import evaluate, scored, values
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

from vicinal.datasets import Sample
from vicinal.experiments import (
    Context,
    Entry,
    Method,
    Metric,
    Role,
    Variant,
    _methods,
    entry_label,
    find_method,
    mean_ranks,
    read_experiment,
    summarise,
)
from vicinal.experiments._column_trials import Trial, best_trial, median_trial, middle
from vicinal.experiments._methods import METHODS
from vicinal.experiments._metric import FEATURE_SECONDS
from vicinal.experiments._protocol import protocol_of
from vicinal.experiments._results import ResultFile, failed_results
from vicinal.experiments._runner import run_cell
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
    return Method("sparing", "Sparing", Role.SELECTOR, lambda to: Sparing(), grid=lambda to: [grid], has_rule=True)


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


def outcome_of(method, X, y, *, features=(6,), runs=3, scale="none", **more):
    metrics = ("accuracy", "nmi")
    return evaluate("selection", method, X, y, metrics=metrics, scale=scale, features=features, runs=runs, **more)


def chosen(outcome, name):
    return next(kept for measure, kept in outcome.chosen_by_measure.items() if str(measure) == name)


def names(outcome):
    return {str(measure) for _, measure, _ in outcome.values}


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
            assert values(outcome, f"accuracy@{count}") == [clustering_accuracy(y, labels) for labels in runs]
            assert values(outcome, f"nmi@{count}") == [normalized_mutual_information(y, labels) for labels in runs]
            nonzeros = {str(measure): number for measure, number in outcome.nonzeros_by_measure.items()}
            assert nonzeros[f"accuracy@{count}"] == pytest.approx(kept.nnz / 75)
        assert len(outcome.values) == 2 * 2 * 3
        assert outcome.feature_seconds > 0
        assert outcome.model_seconds > 0

    def test_the_method_is_fitted_once_with_each_combination_and_never_sees_labels(self, texts, monkeypatch):
        X, y = texts
        given = []
        fit = Sparing.fit
        monkeypatch.setattr(Sparing, "fit", lambda self, X, y=None: (given.append(y), fit(self, X, y))[1])
        outcome_of(find_method("sparing"), X, y, features=(1, 2, 3, 4, "auto"))
        assert len(Sparing.fits) == 4
        assert given == [None] * 4

    def test_its_own_number_of_columns_is_recorded(self, texts):
        outcome = outcome_of(sparing(), *texts, features=(6, "auto"))
        assert values(outcome, "accuracy@auto") == values(outcome, "accuracy@6")
        assert chosen(outcome, "accuracy@auto") == {"n_features": INFORMATIVE}
        assert chosen(outcome, "accuracy@6") == {}

    def test_raw_features_are_all_columns(self, texts):
        outcome = outcome_of(find_method("raw"), *texts, features=(6, "auto"))
        assert names(outcome) == {"accuracy@all", "nmi@all"}
        assert chosen(outcome, "accuracy@all") == {"n_features": INFORMATIVE + NOISE}
        assert outcome.feature_seconds == 0

    def test_a_method_without_a_rule_has_no_value_for_its_own_number(self, texts):
        outcome = outcome_of(find_method("maximum-variance"), *texts, features=(6, "auto"))
        assert names(outcome) == {"accuracy@6", "nmi@6"}

    def test_of_a_grid_the_median_and_the_best_are_recorded_with_their_parameters(self, texts):
        outcome = outcome_of(sparing(upside_down=[False, True, True]), *texts)
        poor = outcome_of(sparing(upside_down=[True]), *texts)
        good = outcome_of(sparing(upside_down=[False]), *texts)
        assert np.mean(values(good, "accuracy@6")) > 0.9 > np.mean(values(poor, "accuracy@6")) + 0.2
        for metric in ("accuracy@6", "nmi@6"):
            assert values(outcome, metric) == values(poor, metric)
            assert values(outcome, f"best_{metric}") == values(good, metric)
            assert chosen(outcome, metric) == {"upside_down": True}
            assert chosen(outcome, f"best_{metric}") == {"upside_down": False}
        assert not any("best" in name for name in names(good))

    @pytest.mark.parametrize(("means", "median"), [([3], 3), ([2, 1], 1), ([3, 1, 2], 2), ([4, 1, 3, 2], 2)])
    def test_the_median_is_a_combination_that_was_run(self, means, median):
        trials = [Trial({"weight": mean}, 5, 1.0, {"accuracy": np.array([mean - 1, mean + 1])}) for mean in means]
        assert median_trial(trials, Metric("accuracy", "accuracy")).parameters["weight"] == median
        assert best_trial(trials, Metric("accuracy", "accuracy")).parameters["weight"] == max(means)

    def test_where_low_values_are_good_the_worse_one_in_the_middle_counts(self):
        trials = [Trial({"weight": mean}, 5, 1.0, {"loss": np.array([float(mean)])}) for mean in (4, 1, 3, 2)]
        loss = Metric("loss", "loss", better="low")
        assert median_trial(trials, loss).parameters["weight"] == 3
        assert best_trial(trials, loss).parameters["weight"] == 1

    def test_quick_runs_try_the_middle_of_a_grid(self, texts):
        outcome_of(sparing(weight=[1.0, 2.0, 3.0, 4.0]), *texts, quick=True)
        assert [fit["weight"] for fit in Sparing.fits] == [2.0, 3.0]

    @pytest.mark.parametrize(
        ("number", "most", "kept"), [(1, 2, [0]), (2, 2, [0, 1]), (3, 2, [0, 1]), (9, 2, [3, 4]), (3, None, [0, 1, 2])]
    )
    def test_those_in_the_middle(self, number, most, kept):
        candidates = [{"weight": place} for place in range(number)]
        assert [candidate["weight"] for candidate in middle(candidates, most)] == kept

    def test_a_fit_on_part_of_the_rows_chooses_columns_for_all(self, texts):
        X, y = texts
        outcome = outcome_of(sparing(), X, y, runs=2, most_rows=40)
        assert Sparing.fits == [{"rows": 40, "weight": 1.0}]
        assert outcome.notes == ["fitted on 40 of 75 rows"]
        assert values(outcome, "accuracy@6") == values(outcome_of(sparing(), X, y, runs=2), "accuracy@6")

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


@pytest.mark.parametrize("name", [method.name for method in METHODS if method.role is Role.SELECTOR])
def test_every_selector_runs_with_each_combination_and_may_be_cut(texts, name):
    X, y = texts
    method = find_method(name)
    outcome = outcome_of(method, X, y, features=(6, 12, "auto"), runs=2, scale="tfidf", quick=True)
    assert {len(values(outcome, measure)) for measure in names(outcome)} == {2}
    assert all(0 <= value <= 1 for _, _, value in outcome.values)
    has_grid = len(method.candidates(Context(1, 1))) > 1
    assert any(measure.startswith("best_") for measure in names(outcome)) == has_grid
    built = method.build(Context(75, 36, n_classes=3), {})
    assert getattr(built, "n_clusters", 3) == 3


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
def results(known):
    return list(made_results())


@cache
def made_results():
    declared = read_experiment("small", DECLARED)
    sample = Sample(*made_texts())
    return [
        result for cell in declared.cells() for result in run_cell(declared, cell, threads=1, load=lambda name: sample)
    ]


class TestDeclared:
    def test_cells_say_what_is_measured(self, declared):
        raw, variance, own = ([str(measure) for measure in declared.measures(cell)] for cell in declared.cells()[:3])
        assert raw == ["accuracy@all", "nmi@all"]
        assert variance == ["accuracy@3", "nmi@3", "accuracy@6", "nmi@6"]
        assert own[:5] == ["accuracy@3", "nmi@3", "best_accuracy@3", "best_nmi@3", "accuracy@6"]
        assert len(own) == 12
        fixed = read_experiment(
            "small",
            DECLARED.replace('"sparing"]', '{ name = "sparing", parameters = { upside_down = false, weight = 1.0 } }]'),
        )
        assert len(own) == 2 * len(fixed.measures(fixed.cells()[2]))

    def test_results_are_what_was_planned_whether_a_cell_runs_or_not(self, declared, results):
        for cell in declared.cells():
            ran = [result for result in results if (result.data, result.method) == (cell.data, cell.method)]
            failed = failed_results(declared, cell, "too large")
            assert len(ran) == len(failed) == 4 * len(declared.measures(cell))
            assert {r.measure for r in ran} == {r.measure for r in failed} == set(declared.measures(cell))
            assert {r.fold for r in ran} == {r.fold for r in failed} == {0, 1, 2, 3}

    def test_parameters_are_kept_beside_their_values(self, results):
        kept = {(result.method, str(result.measure)): result.chosen for result in results}
        assert kept["raw", "accuracy@all"] == {"n_features": 36}
        assert kept["maximum-variance", "accuracy@3"] == {}
        assert set(kept["sparing", "best_nmi@6"]) == {"upside_down", "weight"}
        assert kept["sparing", "accuracy@auto"]["n_features"] == INFORMATIVE

    def test_a_run_that_was_stopped_goes_on(self, declared, results, tmp_path):
        path = tmp_path / "small.csv"
        ResultFile(path, declared, results).write()
        assert ResultFile.open(path, declared).done() == set(declared.cells())
        ResultFile(path, declared, results[:-1]).write()
        assert set(declared.cells()) - ResultFile.open(path, declared).done() == {declared.cells()[-1]}

    def test_values_depend_on_the_numbers_of_columns_and_on_unit_rows(self, declared):
        def hashes(**changes):
            changed = replace(declared, options=replace(declared.options, **changes))
            return {protocol_of(changed, cell) for cell in changed.cells()}

        before = hashes()
        for changes in ({"unit_rows": False}, {"starts": declared.options.starts + 1}, {"features": (3, 6)}):
            assert not before & hashes(**changes)

    def test_quick_ones_try_few_rows_and_runs(self, declared):
        quick = replace(declared, options=replace(declared.options, runs=20, starts=10)).quickened()
        assert {spec.rows for spec in quick.data} == {200}
        assert (quick.options.runs, quick.options.starts) == (5, 1)
        assert declared.quickened().options.runs == 4

    @pytest.mark.parametrize(
        ("old", "new", "sentence"),
        [
            ('features = [3, 6, "auto"]', "", "needs 'features', the numbers of columns"),
            ("features = [3", "neighbors = [3", "an experiment has no 'neighbors'"),
            ("[3,", "[0,", 'features are whole numbers from 1 on, shares below 1, or "auto"; got 0'),
            ("[3,", '["many",', "got 'many'"),
            ("[3,", "[true,", "got True"),
            ('[3, 6, "auto"]', '["auto"]', "'maximum-variance' does not know how many columns to keep"),
            (
                '["raw"',
                '["nystroem"',
                "'nystroem' makes other columns, which selection has no use for; take one of raw, link-only, max",
            ),
            ('["raw"', '[{ name = "raw", unit_rows = true }', "a method has no 'unit_rows'"),
            ('["accuracy"', '["auc"', "there is no metric 'auc' for selection"),
        ],
    )
    def test_refused_with_one_sentence(self, old, new, sentence):
        with pytest.raises(ValueError, match="The experiment small") as error:
            read_experiment("small", DECLARED.replace(old, new, 1))
        assert sentence in str(error.value)
        assert str(error.value).count("\n") == 0


class TestSummary:
    def test_the_best_of_a_grid_stands_beside_its_median_and_is_not_ranked(self, declared, results):
        summaries = summarise(declared, results)
        assert not any(summary.measure.best_of_grid for summary in summaries)
        found = next(s for s in summaries if (s.data, s.method, str(s.measure)) == ("first", "sparing", "accuracy@6"))
        assert str(found.by_labels.measure) == "best_accuracy@6"
        assert found.by_labels.mean > found.mean
        assert not found.by_labels.best
        assert (found.paper, found.by_labels.paper) == (0.1, 0.2)
        assert found.n == found.planned == 4
        assert next(s for s in summaries if s.method == "maximum-variance").by_labels is None

    def test_own_numbers_and_all_columns_are_compared(self, declared, results):
        summaries = summarise(declared, results)
        whole, own = (
            next(s for s in summaries if (s.data, str(s.measure)) == ("first", measure))
            for measure in ("accuracy@all", "accuracy@auto")
        )
        assert whole.best + own.best == 1
        assert (whole.p_value is None) == whole.best
        assert (own.p_value is None) == own.best
        assert (whole.n_columns, own.n_columns) == (36, INFORMATIVE)

    def test_seconds_are_those_of_a_fit_not_of_a_run(self, declared, results):
        times = replace(declared, shown=(FEATURE_SECONDS,), paper={})
        summaries = summarise(times, results)
        assert [(s.data, s.method) for s in summaries] == [
            (data, method) for data in ("first", "second") for method in ("maximum-variance", "sparing")
        ]
        assert {(s.n, s.planned) for s in summaries} == {(1, 1)}


class TestMeanRanks:
    RAW, VARIANCE = Entry("raw", own_number=True), Entry("maximum-variance", own_number=False)
    FIXED, OWN = Entry("sparing", own_number=False), Entry("sparing", own_number=True)

    @pytest.fixture
    def summaries(self, declared):
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

    def test_by_hand(self, declared, summaries):
        three, six, overall = mean_ranks(declared, summaries, declared.metrics[0])
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

    def test_data_sets_that_a_method_lacks_do_not_count(self, declared, summaries):
        some = [f for f in summaries if (f.data, f.method) != ("second", "raw")]
        contests = mean_ranks(declared, some, declared.metrics[0])
        assert [list(contest.scores) for contest in contests] == [["first"]] * 3
        assert contests[0].ranks[self.OWN] == 1

    def test_none_where_parameters_vary_or_times_are_shown(self, declared, summaries):
        varied = [replace(summary, variant=Variant(parameter="weight", value=2.0)) for summary in summaries]
        assert mean_ranks(declared, varied, declared.metrics[0]) == []
        assert mean_ranks(replace(declared, shown=(FEATURE_SECONDS,)), summaries, declared.metrics[0]) == []
