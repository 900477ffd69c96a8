"""Selection on networks: links reach selectors, links alone cluster, and one fit serves every way of k-means."""

from dataclasses import replace
from functools import cache
from itertools import product
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from experiments.made import evaluate, values
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

from vicinal.cluster import cluster_links
from vicinal.datasets import Sample
from vicinal.experiments import (
    KMeansProtocol,
    Measure,
    Method,
    Role,
    _methods,
    experiment_page,
    find_method,
    mean_ranks,
    read_experiment,
    summarise,
    verdict,
)
from vicinal.experiments._methods import METHODS
from vicinal.experiments._protocol import protocol_of
from vicinal.experiments._results import ResultFile, failed_results, read_results
from vicinal.experiments._runner import run_cell
from vicinal.experiments._work import linked_sample, stratified_sample, work_of
from vicinal.metrics import clustering_accuracy, normalized_mutual_information
from vicinal.network import Network
from vicinal.select._base import NetworkSelector, Ranked

INFORMATIVE, NOISE, CLASSES = 6, 30, 3
WAYS = [KMeansProtocol(unit_rows, starts) for unit_rows, starts in product((False, True), (1, 3))]


class Joined(NetworkSelector):
    """Scores a column by how often both ends of a link have it, against what chance would give."""

    seen: ClassVar[list[tuple[int, int]]] = []

    def __init__(self, n_features_to_select=0.5):
        self.n_features_to_select = n_features_to_select

    def _rank(self, X, adjacency):
        self.seen.append((X.shape[0], adjacency.nnz))
        present = sp.csr_array(X > 0).astype(float)
        together = np.asarray(present.multiply(adjacency @ present).sum(axis=0)).ravel()
        shares = np.asarray(present.mean(axis=0)).ravel()
        return Ranked(together - adjacency.nnz * shares**2)


@pytest.fixture(autouse=True)
def known(monkeypatch):
    Joined.seen = []
    joined = Method("joined", "Joined", Role.SELECTOR, lambda to: Joined())
    monkeypatch.setattr(_methods, "METHODS", (*METHODS, joined))


@cache
def linked_texts(n=90, seed=0):
    """Words of three classes, and links mostly within them; the last rows have no links."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % CLASSES
    X = rng.poisson(0.7, (n, INFORMATIVE + NOISE))
    X[:, :INFORMATIVE] = rng.poisson(0.3 + 4.0 * (y[:, None] == np.arange(INFORMATIVE) % CLASSES))
    chance = np.where(y[:, None] == y, 0.15, 0.01)
    chance[:, n - 3 :] = chance[n - 3 :] = 0
    upper = np.triu(rng.random((n, n)) < chance, 1)
    return Sample(sp.csr_matrix(X, dtype=np.float32), y, adjacency=sp.csr_array((upper | upper.T).astype(float)))


def outcome_of(method, sample, *, features=(6,), runs=2, **more):
    metrics = ("accuracy", "nmi")
    return evaluate("selection", method, sample, metrics=metrics, scale="none", features=features, runs=runs, **more)


class TestOneCell:
    def test_one_fit_serves_every_number_of_columns_and_every_way_of_k_means(self):
        sample = linked_texts()
        outcome = outcome_of("joined", sample, features=(4, 6), unit_rows=(False, True), starts=(1, 3))
        assert Joined.seen == [(90, sample.adjacency.nnz)]
        selector = Joined().fit(sample.X, adjacency=sample.adjacency)
        for count, way in product((4, 6), WAYS):
            kept = selector.with_n_features(count).transform(sample.X)
            rows = normalize(kept) if way.unit_rows else kept
            runs = [KMeans(3, n_init=way.starts, random_state=run).fit_predict(rows) for run in range(2)]
            name = f"@{count}/{way}"
            assert values(outcome, f"accuracy{name}") == [clustering_accuracy(sample.y, labels) for labels in runs]
            assert values(outcome, f"nmi{name}") == [normalized_mutual_information(sample.y, labels) for labels in runs]
        assert len(outcome.values) == 2 * 2 * 4 * 2

    def test_links_show_which_columns_matter(self):
        sample = linked_texts()
        selector = Joined(INFORMATIVE).fit(sample.X, adjacency=sample.adjacency)
        assert selector.get_support(indices=True).tolist() == list(range(INFORMATIVE))

    def test_one_way_of_k_means_is_not_named(self):
        outcome = outcome_of("joined", linked_texts(), unit_rows=False, starts=3)
        assert {str(measure) for _, measure, _ in outcome.values} == {"accuracy@6", "nmi@6"}
        several = outcome_of("joined", linked_texts(), unit_rows=(False,), starts=(3,))
        assert values(several, "nmi@6/raw-3") == values(outcome, "nmi@6")

    @pytest.mark.parametrize("wrapped", [False, True])
    def test_links_alone_are_clustered_once_for_both_kinds_of_rows(self, wrapped):
        sample = linked_texts()
        if wrapped:
            sample = replace(sample, adjacency=Network(sample.adjacency))
        outcome = outcome_of("link-only", sample, unit_rows=(False, True), starts=(1, 2))
        for starts in (1, 2):
            runs = cluster_links(sample.adjacency, CLASSES, n_runs=2, n_starts=starts)
            scores = [clustering_accuracy(sample.y, labels) for labels in runs]
            assert values(outcome, f"accuracy@all/raw-{starts}") == scores
            assert values(outcome, f"accuracy@all/unit-{starts}") == scores
        assert np.mean(values(outcome, "accuracy@all/raw-2")) > 0.8
        assert set(map(str, outcome.chosen_by_measure.values())) == {"{}"}
        assert set(outcome.nonzeros_by_measure.values()) == {0.0}

    def test_links_alone_need_links(self):
        with pytest.raises(ValueError, match="link-only needs links between rows, and rows has none"):
            outcome_of("link-only", replace(linked_texts(), adjacency=None))

    def test_without_grids_a_method_is_fitted_once_with_its_defaults(self):
        outcome = outcome_of("udfs", linked_texts(), grids=False)
        fixed = find_method("udfs").fixing({"sparsity": 1.0, "ridge": 1.0}, {})
        assert outcome.values == outcome_of(fixed, linked_texts()).values
        assert not any(measure.best_of_grid for _, measure, _ in outcome.values)


class TestFewRows:
    def test_rows_of_a_network_are_linked(self):
        sample = linked_texts(300)
        some = linked_sample(sample, 60, 0, at_least=2)
        alone = stratified_sample(sample.y, 60, 0, at_least=2)
        assert len(some) == len(set(some)) == 60
        assert np.array_equal(some, np.sort(some))
        assert set(sample.y[some]) == set(range(CLASSES))
        assert sample[some].adjacency.nnz > sample[alone].adjacency.nnz
        assert np.array_equal(some, linked_sample(sample, 60, 0, at_least=2))

    def test_rows_without_links_fill_up(self):
        sample = replace(linked_texts(), adjacency=sp.csr_array((90, 90)))
        assert len(linked_sample(sample, 40, 0, at_least=2)) == 40

    def test_a_quick_cell_has_the_links_between_its_rows(self):
        sample = linked_texts(300)
        quick = read_experiment("small", DECLARED).quickened()
        cell = next(cell for cell in quick.cells() if cell.method == "joined")
        work = work_of(quick, cell, threads=1, load=lambda name: sample)
        assert work.sample.adjacency.shape == (200, 200)
        rows = linked_sample(sample, 200, 0, at_least=2)
        assert np.array_equal(work.sample.adjacency.toarray(), sample.adjacency.toarray()[np.ix_(rows, rows)])
        outcome = quick.task.evaluate(work)
        assert Joined.seen == [(200, work.sample.adjacency.nnz)]
        assert {measure for _, measure, _ in outcome.values} == set(quick.measures(cell))
        assert {measure.protocol.starts for _, measure, _ in outcome.values} == {1, 2}


DECLARED = """
title = "Columns of networks"
task = "selection"
metrics = ["accuracy", "nmi"]
runs = 3
subject = "joined"
features = [3, 6]
data_features = { second = [2, 6] }
unit_rows = [false, true]
starts = [1, 3]
data = [{ name = "first", scale = "none" }, { name = "second", scale = "none" }]
methods = [{ name = "raw", label = "all columns" }, "link-only", "maximum-variance", "joined"]

[paper.joined]
first = { "nmi@6/raw-1" = [0.5] }
"""


@pytest.fixture
def declared():
    return read_experiment("small", DECLARED)


@cache
def made_results():
    declared = read_experiment("small", DECLARED)
    samples = {"first": linked_texts(), "second": linked_texts(seed=1)}
    return [
        result for cell in declared.cells() for result in run_cell(declared, cell, threads=1, load=samples.__getitem__)
    ]


class TestDeclared:
    def test_cells_say_what_is_measured(self, declared):
        measures = {(cell.data, cell.method): declared.measures(cell) for cell in declared.cells()}
        assert measures["first", "joined"] == tuple(
            Measure(metric, count, protocol=way) for way in WAYS for count in (3, 6) for metric in declared.metrics
        )
        assert {measure.at for measure in measures["second", "joined"]} == {2, 6}
        assert {measure.at for measure in measures["second", "link-only"]} == {"all"}
        assert len(measures["first", "raw"]) == 2 * len(WAYS)
        for cell in declared.cells():
            planned = {result.measure for result in failed_results(declared, cell, "too large")}
            assert planned == set(measures[cell.data, cell.method])

    def test_measures_are_read_as_they_were_written(self, declared, tmp_path):
        results = list(made_results())
        path = tmp_path / "small.csv"
        ResultFile(path, declared, results).write()
        again = read_results(path, declared)
        assert [result.measure for result in again] == [
            result.measure for result in sorted(results, key=lambda r: place(declared, r))
        ]
        assert ResultFile.open(path, declared).done() == set(declared.cells())
        for text in ("nmi@6/flat-1", "nmi@6/raw-0", "nmi@6/raw"):
            with pytest.raises(ValueError, match="There is no metric"):
                declared.task.read_measure(text)

    def test_values_depend_on_the_ways_and_on_the_numbers_of_their_own_data_set(self, declared):
        def hashes(**changes):
            changed = replace(declared, options=replace(declared.options, **changes))
            return {(cell.data, cell.method): protocol_of(changed, cell) for cell in changed.cells()}

        before = hashes()
        for changes in ({"unit_rows": (True,)}, {"starts": (1, 5)}, {"features": (3,)}, {"grids": False}):
            assert not set(before.values()) & set(hashes(**changes).values())
        touched = {place for place, value in hashes(data_features={}).items() if before[place] != value}
        assert touched == {place for place in before if place[0] == "second"}

    @pytest.mark.parametrize(
        ("old", "new", "sentence"),
        [
            ("unit_rows = [false, true]", "unit_rows = [false, 1]", "unit_rows is true, false or both; got (False, 1)"),
            ("unit_rows = [false, true]", "unit_rows = 1", "unit_rows must be true or false or a list; got 1"),
            ("unit_rows = [false, true]", "unit_rows = []", "unit_rows must list different values; got ()"),
            ("starts = [1, 3]", "starts = [3, 3]", "starts must list different values; got (3, 3)"),
            ("starts = [1, 3]", "starts = [1, 0]", "starts must be at least 1; got [1, 0]"),
            ("starts = [1, 3]", 'starts = "many"', "starts must be a whole number or a list; got 'many'"),
            ("starts = [1, 3]", 'starts = ["many"]', "starts must be at least 1; got ['many']"),
            (
                "second = [2",
                "secnd = [2",
                "has data_features for 'secnd', which is none of its data sets; did you mean",
            ),
            ("second = [2, 6]", "second = 2", "data_features of second must be a list; got 2"),
            ("second = [2", "second = [0", 'features are whole numbers from 1 on, shares below 1, or "auto"; got 0'),
        ],
    )
    def test_refused_with_one_sentence(self, old, new, sentence):
        with pytest.raises(ValueError, match="The experiment small") as error:
            read_experiment("small", DECLARED.replace(old, new, 1))
        assert sentence in str(error.value)

    def test_the_words_say_that_there_are_no_grids(self):
        declared = read_experiment("small", DECLARED.replace("runs = 3", "runs = 3\ngrids = false"))
        assert dict(declared.task.protocol(declared))["Grids"].startswith("none: parameters as declared")
        assert declared.task.quick_size(declared) == "3 runs of k-means"

    def test_other_tasks_have_no_use_for_links_alone(self):
        text = 'title = "t"\ntask = "clustering"\nmetrics = ["nmi"]\ndata = ["iris"]\nmethods = ["link-only"]\n'
        with pytest.raises(ValueError, match="'link-only' clusters by links alone, which clustering has no use for"):
            read_experiment("small", text)
        assert find_method("link-only").role is Role.LINKS


def place(declared, result):
    return declared.cells().index(result.cell(declared)), result.fold


class TestWords:
    @pytest.fixture
    def summaries(self, declared):
        return summarise(declared, list(made_results()))

    def test_ranks_are_among_values_of_the_same_way(self, declared, summaries):
        accuracy = declared.metrics[0]
        assert mean_ranks(declared, summaries, accuracy) == []
        for way in WAYS:
            contests = mean_ranks(declared, summaries, accuracy, way)
            assert [(contest.count, list(contest.scores)) for contest in contests] == [
                (2, ["second"]),
                (3, ["first"]),
                (6, ["first", "second"]),
                (None, ["first", "second"]),
            ]
            own = {(s.data, s.method, s.measure): s.mean for s in summaries}
            joined = next(entry for entry in contests[-1].ranks if entry.method == "joined")
            at = [own["second", "joined", Measure(accuracy, count, protocol=way)] for count in (2, 6)]
            assert contests[-1].scores["second"][joined] == pytest.approx(np.mean(at))
        best = [s for s in summaries if s.best]
        assert len({(s.data, s.measure) for s in best}) == len(best)

    def test_the_page_has_every_way_apart(self, declared, summaries):
        page = experiment_page(declared, summaries, command="", facts=())
        ranks, *curves, tables = page.sections
        assert len(ranks.blocks) == 2 * len(WAYS)
        assert [section.title for section in curves] == [f"How many columns? With {way.label}" for way in WAYS]
        assert {len(section.blocks) for section in curves} == {2}
        assert [name for name, _ in curves[0].blocks[0].reference] == ["all columns", "links alone"]
        assert len(tables.blocks) == 2 * 2 * len(WAYS)
        first = tables.blocks[0]
        assert first.caption == "Accuracy by columns kept, first; rows as they are, one start"
        assert [column.label for column in first.columns] == ["method", "3 columns", "6 columns", "without selection"]
        assert "in each of these ways: rows as they are, one start; rows as" in dict(page.facts)["Protocol"]

    def test_the_verdict_tells_the_first_way_in_full_and_the_ranks_of_the_others(self, declared, summaries):
        sentences = verdict(declared, summaries)
        assert sentences[0].startswith("By accuracy, Joined has a mean rank of ")
        assert sentences[0].endswith("(rows as they are, one start).")
        for way in WAYS[1:]:
            assert (
                sum(s.startswith(f"With {way.label}: by accuracy, Joined has a mean rank of") for s in sentences) == 1
            )

    def test_a_value_of_the_paper_stands_beside_its_own_way(self, summaries):
        beside = [(s.data, s.method, str(s.measure)) for s in summaries if s.paper is not None]
        assert beside == [("first", "joined", "nmi@6/raw-1")]
