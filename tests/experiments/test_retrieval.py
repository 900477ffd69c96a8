"""Link retrieval: precision@1 by a plain loop, on all links and on links held out, and document frequencies."""

from dataclasses import replace
from functools import cache
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from experiments.made import evaluate, values
from sklearn.exceptions import ConvergenceWarning

from vicinal import LaplacianScore
from vicinal._messages import warn_not_converged
from vicinal.datasets import Sample
from vicinal.experiments import (
    Measure,
    Method,
    Role,
    _methods,
    experiment_page,
    read_experiment,
    summarise,
    verdict,
)
from vicinal.experiments._methods import METHODS
from vicinal.experiments._metric import FEATURE_SECONDS
from vicinal.experiments._results import ResultFile, failed_results, read_results
from vicinal.experiments._runner import run_cell
from vicinal.experiments.tasks.retrieval import document_frequency, most_similar, pair_numbers
from vicinal.network import Network, hold_out_links
from vicinal.report import render
from vicinal.select._base import NetworkSelector, Ranked

N = 60
ALL = ("precision_at_1", "held_out_precision_at_1", "document_frequency")


class Common(NetworkSelector):
    """Scores a column by how often both ends of a link have it; a little chance, where it has a seed, settles ties."""

    seen: ClassVar[list[tuple[int, int | None]]] = []

    def __init__(self, n_features_to_select=0.5, *, random_state=None, stop=False):
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state
        self.stop = stop

    def _rank(self, X, adjacency):
        self.seen.append((adjacency.nnz, self.random_state))
        if self.stop:
            warn_not_converged(self, 3)
        present = sp.csr_array(X != 0).astype(float)
        together = np.asarray(present.multiply(adjacency @ present).sum(axis=0)).ravel()
        return Ranked(together + 0.5 * np.random.default_rng(self.random_state).random(X.shape[1]))


class Steady(Common):
    """The same without chance."""

    def __init__(self, n_features_to_select=0.5):
        self.n_features_to_select = n_features_to_select
        self.random_state, self.stop = 0, False


@pytest.fixture(autouse=True)
def known(monkeypatch):
    Common.seen = []
    made = (
        Method("common", "Common", Role.SELECTOR, lambda to: Common(random_state=to.seed)),
        Method("steady", "Steady", Role.SELECTOR, lambda to: Steady()),
    )
    monkeypatch.setattr(_methods, "METHODS", (*METHODS, *made))


@cache
def network_sample(seed=0):
    """Few words of a row each, links between rows that share some; some rows have no words, some no links."""
    rng = np.random.default_rng(seed)
    X = rng.integers(1, 4, (N, 24)) * (rng.random((N, 24)) < 0.15)
    X[:2] = 0
    shared = X[:, :12] @ X[:, :12].T
    upper = np.triu(rng.random((N, N)) < 0.03 + 0.1 * np.minimum(shared, 6), 1)
    upper[:, -3:] = False
    adjacency = sp.csr_array((upper | upper.T).astype(float))
    return Sample(sp.csr_matrix(X, dtype=np.float32), np.arange(N) % 3, adjacency=adjacency)


def outcome_of(method, sample, *, metrics=ALL, features=(5, 10), draws=3, held_out=0.2, **more):
    return evaluate(
        "link-retrieval",
        method,
        sample,
        metrics=metrics,
        scale="none",
        features=features,
        draws=draws,
        held_out=held_out,
        **more,
    )


def plainly(X, nodes, left_out=()):
    """The most similar other row of each node, by a loop; -1 where nothing is similar."""
    X = np.asarray(X.todense(), dtype=float)
    found = []
    for node in nodes:
        products = X @ X[node]
        products[[node, *(b for a, b in left_out if a == node), *(a for a, b in left_out if b == node)]] = -np.inf
        found.append(int(np.argmax(products)) if products.max() > 0 else -1)
    return found


class TestMostSimilar:
    @pytest.mark.parametrize("seed", range(4))
    def test_is_that_of_a_plain_loop(self, seed):
        sample = network_sample(seed)
        nodes = np.arange(N)
        assert most_similar(sample.X, nodes).tolist() == plainly(sample.X, nodes)
        links = Network(sample.adjacency).links()
        some = np.unique(links)[::2]
        found = most_similar(sample.X, some, pair_numbers(links, N))
        assert found.tolist() == plainly(sample.X, some, links.tolist())
        assert (found == -1).any()
        assert most_similar(sample.X.toarray(), some, pair_numbers(links, N)).tolist() == found.tolist()

    def test_a_node_that_is_linked_to_all_has_none_left(self):
        X = sp.csr_matrix(np.ones((40, 2), dtype=np.float32))
        links = np.column_stack([np.zeros(39, dtype=np.int64), np.arange(1, 40)])
        found = most_similar(X, np.arange(3), pair_numbers(links, 40))
        assert found.tolist() == [-1, 2, 1]


class TestOneCell:
    @pytest.mark.parametrize("wrapped", [False, True])
    def test_values_are_those_of_a_plain_loop(self, wrapped):
        sample = network_sample()
        given = replace(sample, adjacency=Network(sample.adjacency)) if wrapped else sample
        outcome = outcome_of("steady", given)
        dense = sample.adjacency.toarray() > 0
        for count in (5, 10):
            selector = Steady(count).fit(sample.X, adjacency=sample.adjacency)
            kept = selector.transform(sample.X)
            hits = [u >= 0 and dense[v, u] for v, u in enumerate(plainly(kept, range(N)))]
            assert values(outcome, f"precision_at_1@{count}") == [np.mean(hits)] * 3
            frequency = np.mean((kept.toarray() != 0).sum(axis=0))
            assert values(outcome, f"document_frequency@{count}") == [frequency] * 3
            for draw, value in enumerate(values(outcome, f"held_out_precision_at_1@{count}")):
                left, held = hold_out_links(sample.adjacency, 0.2, random_state=draw)
                columns = Steady(count).fit(sample.X, adjacency=left).transform(sample.X)
                pairs = {frozenset(link) for link in held.tolist()}
                nodes = sorted({node for link in held.tolist() for node in link})
                found = plainly(columns, nodes, left.links().tolist())
                hits = [frozenset((v, u)) in pairs for v, u in zip(nodes, found, strict=True)]
                assert value == np.mean(hits)
        assert len(set(values(outcome, "held_out_precision_at_1@10"))) > 1
        assert outcome.notes[0].startswith("up to ")
        assert outcome.feature_seconds > 0

    def test_fits_are_as_few_as_there_can_be(self):
        sample = network_sample()
        all_links = sample.adjacency.nnz
        left = hold_out_links(sample.adjacency, 0.2, random_state=0)[0].adjacency.nnz
        outcome_of("steady", sample)
        assert sorted(Common.seen) == [(left, 0)] * 3 + [(all_links, 0)]
        Common.seen.clear()
        outcome_of("common", sample, seed=7)
        assert sorted(Common.seen) == [(nnz, seed) for nnz in (left, all_links) for seed in (7, 8, 9)]

    def test_a_selector_that_does_not_look_at_links_is_fitted_once(self, monkeypatch):
        fits = []
        fit = LaplacianScore.fit
        monkeypatch.setattr(LaplacianScore, "fit", lambda self, X, y=None: (fits.append(y), fit(self, X, y))[1])
        outcome = outcome_of("laplacian-score", network_sample())
        assert fits == [None]
        assert len(set(values(outcome, "precision_at_1@5"))) == 1
        assert len(outcome.values) == 3 * 2 * 3

    def test_raw_features_are_all_columns(self):
        sample = network_sample()
        outcome = outcome_of("raw", sample)
        dense = sample.adjacency.toarray() > 0
        hits = [u >= 0 and dense[v, u] for v, u in enumerate(plainly(sample.X, range(N)))]
        assert values(outcome, "precision_at_1@all") == [np.mean(hits)] * 3
        assert values(outcome, "document_frequency@all") == [pytest.approx(sample.X.nnz / 24)] * 3
        assert outcome.chosen_by_measure[Measure(outcome.values[0][1].metric, "all")] == {"n_features": 24}
        assert outcome.feature_seconds == 0

    def test_links_of_one_direction_count_both_ways(self):
        sample = network_sample()
        one_way = replace(sample, adjacency=sp.csr_array(sp.triu(sample.adjacency)))
        assert outcome_of("steady", one_way).values == outcome_of("steady", sample).values

    def test_fits_that_did_not_converge_are_noted(self):
        method = Method("stopped", "Stopped", Role.SELECTOR, lambda to: Common(random_state=0, stop=True))
        with pytest.warns(ConvergenceWarning):
            Common(stop=True).fit(network_sample().X, adjacency=network_sample().adjacency)
        notes = outcome_of(method, network_sample()).notes
        assert sum(note.startswith("a fit warned: ") for note in notes) == 1

    def test_data_without_links_are_refused(self):
        with pytest.raises(ValueError, match="Link retrieval needs links between rows, and rows has none"):
            outcome_of("steady", replace(network_sample(), adjacency=None))

    def test_document_frequencies_of_dense_columns(self):
        X = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 1.0]])
        assert document_frequency(X, np.array([0, 2])) == 1.5


DECLARED = """
title = "Are similar nodes linked?"
task = "link-retrieval"
metrics = ["precision_at_1", "held_out_precision_at_1", "document_frequency"]
subject = "common"
features = [5, 10]
data_features = { second = [4, 8, 12] }
held_out = 0.2
draws = 3
data = [{ name = "first", scale = "none" }, { name = "second", scale = "none" }]
methods = [{ name = "raw", label = "all columns" }, "laplacian-score", "common"]

[paper.common]
first = { "document_frequency@10" = [102.39] }
"""


@pytest.fixture
def declared():
    return read_experiment("small", DECLARED)


@cache
def made_results():
    declared = read_experiment("small", DECLARED)
    samples = {"first": network_sample(), "second": network_sample(1)}
    return [
        result for cell in declared.cells() for result in run_cell(declared, cell, threads=1, load=samples.__getitem__)
    ]


class TestDeclared:
    def test_results_are_what_was_planned_and_are_read_again(self, declared, tmp_path):
        results = list(made_results())
        for cell in declared.cells():
            ran = {(r.measure, r.fold) for r in results if (r.data, r.method) == (cell.data, cell.method)}
            failed = {(r.measure, r.fold) for r in failed_results(declared, cell, "too large")}
            assert ran == failed == {(m, draw) for m in declared.measures(cell) for draw in range(3)}
        path = tmp_path / "small.csv"
        ResultFile(path, declared, results).write()
        assert {str(r.measure) for r in read_results(path, declared)} == {str(r.measure) for r in results}

    def test_quick_ones_have_few_draws(self, declared):
        quick = declared.quickened()
        assert (quick.options.draws, quick.data[0].rows) == (2, 200)

    @pytest.mark.parametrize(
        ("old", "new", "sentence"),
        [
            (
                "held_out = 0.2",
                "",
                "and held_out, the share of links that are held out, belong",
            ),
            ('"held_out_precision_at_1", ', "", "give both or neither"),
            ("held_out = 0.2", "held_out = 1.0", "held_out is a share from 0 to below 1; got 1.0"),
            ("draws = 3", "draws = 0", "draws must be at least 1; got 0"),
            ("features = [5, 10]", "", "needs 'features'"),
            ('"raw"', '"link-only"', "'link-only' clusters by links alone, which link-retrieval has no use for"),
        ],
    )
    def test_refused_with_one_sentence(self, old, new, sentence):
        with pytest.raises(ValueError, match="The experiment small") as error:
            read_experiment("small", DECLARED.replace(old, new, 1))
        assert sentence in str(error.value)


class TestWords:
    @pytest.fixture
    def summaries(self, declared):
        return summarise(declared, list(made_results()))

    def test_the_page_has_curves_and_tables(self, declared, summaries):
        page = experiment_page(declared, summaries, command="", facts=())
        *curves, tables = page.sections
        assert [section.title for section in curves] == [
            "Precision@1 over the number of columns",
            "Precision@1 on links held out over the number of columns",
            "Mean document frequency over the number of columns",
        ]
        assert [series.x for series in curves[0].blocks[1].series] == [(4, 8, 12)] * 2
        assert [name for name, _ in curves[0].blocks[0].reference] == ["all columns"]
        assert len(tables.blocks) == 2 * 3
        frequencies = next(block for block in tables.blocks if block.caption.startswith("Mean document frequency"))
        cell = next(row for row in frequencies.rows if row[0].text == "Common")[2]
        assert "paper 102.39 (-" in cell.detail
        assert "20% of the links" in dict(page.facts)["Protocol"]
        assert "<svg" in render(page)

    def test_the_verdict_tells_both_precisions(self, declared, summaries):
        sentences = verdict(declared, summaries)
        starts = ("By precision@1, Common is the best in ", "By precision@1 on links held out, Common is the best in ")
        for start in starts:
            assert sum(sentence.startswith(start) and "of 5 comp" in sentence for sentence in sentences) == 1

    def test_one_number_of_columns_has_data_sets_across_and_values_in_words(self):
        text = DECLARED.replace("features = [5, 10]", "features = [10]").replace("{ second = [4, 8, 12] }", "{}")
        text = text.replace("held_out = 0.2", "").replace('"precision_at_1", "held_out_precision_at_1", ', "")
        declared = read_experiment("small", text)
        results = [r for r in made_results() if str(r.measure) in ("document_frequency@10", "document_frequency@all")]
        summaries = summarise(declared, [r for r in results if r.data == "first"])
        (tables,) = experiment_page(declared, summaries, command="", facts=()).sections
        assert [table.caption for table in tables.blocks] == ["Mean document frequency, 10 columns"]
        assert [column.label for column in tables.blocks[0].columns] == ["method", "first"]
        (sentence,) = verdict(declared, summaries)
        assert sentence.startswith("Mean document frequency, first, 10 columns: all columns ")
        assert sentence.endswith("(paper 102.39).")

    def test_times_are_those_of_one_fit(self, declared):
        times = replace(declared, shown=(FEATURE_SECONDS,), paper={})
        summaries = summarise(times, list(made_results()))
        assert {s.method for s in summaries} == {"laplacian-score", "common"}
        assert verdict(times, summaries)[0].startswith("One fit on ")
