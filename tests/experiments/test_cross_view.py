"""Cross-view links: hidden links of a planted network, queries that choose parameters and queries that are tested."""

from dataclasses import replace
from functools import cache
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from experiments.made import evaluate, values

from vicinal import AttributeCosine
from vicinal.datasets import Sample
from vicinal.experiments import Method, Role, _methods, experiment_page, read_experiment, summarise, verdict
from vicinal.experiments._methods import METHODS
from vicinal.experiments._results import ResultFile, failed_results, read_results
from vicinal.experiments._runner import run_cell
from vicinal.experiments.tasks.cross_view import DIRECTIONS, METRICS, Draw
from vicinal.metrics import pair_auc, precision_at, recall_at
from vicinal.network import Network
from vicinal.report import render

N, GROUPS = 160, 8
ALL = (*(metric.name for metric in METRICS), "complete")


class Tuned(AttributeCosine):
    """The cosine of attributes or, with the wrong sign, its opposite; it counts its fits."""

    fits: ClassVar[list[float]] = []

    def __init__(self, sign=1.0, *, random_state=None, n_jobs=None):
        self.sign = sign
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learn(self, nodes):
        self.fits.append(self.sign)
        super()._learn(nodes)

    def _scores_between(self, first, second):
        return self.sign * super()._scores_between(first, second)


@pytest.fixture(autouse=True)
def known(monkeypatch):
    Tuned.fits = []
    method = Method(
        "tuned",
        "Tuned",
        Role.LINK_PREDICTOR,
        lambda to: Tuned(random_state=to.seed),
        grid=lambda to: [{"sign": [-1.0, 1.0, 0.0]}],
    )
    monkeypatch.setattr(_methods, "METHODS", (*METHODS, method))


@cache
def planted(seed=0):
    """Nodes of a group share attributes and links; a page has no text, a page no links."""
    rng = np.random.default_rng(seed)
    group = np.arange(N) % GROUPS
    X = rng.random((N, 3 * GROUPS)) < np.where(np.arange(3 * GROUPS) // 3 == group[:, None], 0.9, 0.05)
    X[0] = False
    linked = np.triu((rng.random((N, N)) < 0.4) & (group[:, None] == group), 1)
    linked[:, 1], linked[1] = False, False
    adjacency = sp.csr_array((linked | linked.T).astype(float))
    return Sample(sp.csr_matrix(X.astype(np.float32)), adjacency=adjacency)


def outcome_of(method, sample=None, *, metrics=ALL, draws=2, shares=(0.2, 0.3), **more):
    sample = planted() if sample is None else sample
    return evaluate(
        "cross-view-links", method, sample, metrics=metrics, scale="none", draws=draws, shares=shares, **more
    )


class TestDraws:
    @pytest.mark.parametrize("validation", [0.2, 0.5])
    def test_every_query_is_for_validation_or_for_the_test(self, validation):
        draw = Draw(planted(), 0.2, validation, (0, 1, 20))
        sizes = (len(draw.shown.link_only), len(draw.shown.attribute_only))
        for direction, size in zip(DIRECTIONS, sizes, strict=True):
            first, second = draw.validation[direction], draw.test[direction]
            assert len(first) == round(validation * size)
            assert np.array_equal(np.sort(np.concatenate([first, second])), np.arange(size))

    def test_a_draw_depends_on_its_number_its_share_and_the_seed(self):
        seen = [Draw(planted(), 0.2, 0.2, seed) for seed in ((0, 0, 20), (0, 0, 20), (1, 0, 20), (0, 1, 20))]
        kinds = [tuple(draw.shown.link_only) for draw in seen]
        assert kinds[0] == kinds[1]
        assert len(set(kinds)) == 3


class TestOneCell:
    @pytest.mark.parametrize("method", ["attribute-cosine", "adamic-adar", "katz"])
    def test_planted_links_are_found(self, method):
        """By chance a candidate is linked to a query in one of some twenty pairs."""
        outcome = outcome_of(method)
        assert len(outcome.values) == 2 * 2 * len(ALL)
        for direction in DIRECTIONS:
            assert min(values(outcome, f"precision_at_5_{direction}@20")) > 0.2
            assert min(values(outcome, f"auc_{direction}@30")) > 0.85

    def test_a_learned_method_finds_them(self):
        learned = next(method for method in METHODS if method.name == "mm-nrcl")
        fixed = learned.fixing({"n_components": 8, "sparsity": 0.3, "weight_decay": 1.0}, {})
        outcome = outcome_of(fixed, draws=1, shares=(0.2,))
        for direction in DIRECTIONS:
            assert min(values(outcome, f"auc_{direction}@20")) > 0.8

    def test_values_are_those_of_the_test_queries(self):
        outcome = outcome_of("attribute-cosine", seed=3)
        for number, share in ((0, 20), (1, 20), (1, 30)):
            draw = Draw(planted(), share / 100, 0.2, (3, number, share))
            shown = draw.shown
            model = AttributeCosine().fit(shown.X, adjacency=shown.network, attributed=shown.attributed)
            whole = model.scores_between(shown.link_only, shown.attribute_only)
            for direction, scores, hidden in zip(
                DIRECTIONS, (whole, whole.T), (shown.hidden, sp.csr_array(shown.hidden.T)), strict=True
            ):
                scores, links = scores[draw.test[direction]], hidden[draw.test[direction]]
                some = np.diff(links.indptr) > 0
                for name, value in (
                    ("precision_at_5", precision_at(scores, links)),
                    ("recall_at_5", recall_at(scores, links)),
                    ("auc", pair_auc(scores[some], links[some])),
                    ("precision_at_5_all", precision_at(scores, links, all_queries=True)),
                    ("recall_at_5_all", recall_at(scores, links, all_queries=True)),
                    ("auc_all", pair_auc(scores, links)),
                ):
                    kind, _, over_all = name.partition("_all") if name.endswith("_all") else (name, "", None)
                    suffix = "" if over_all is None else "_all"
                    assert values(outcome, f"{kind}_{direction}{suffix}@{share}")[number] == pytest.approx(value)
            assert values(outcome, f"complete@{share}")[number] == shown.n_complete / N

    def test_the_same_seed_gives_the_same_values(self):
        assert outcome_of("tuned").values == outcome_of("tuned").values
        assert outcome_of("tuned", seed=1).values != outcome_of("tuned").values

    def test_parameters_are_chosen_by_validation_and_kept(self):
        outcome = outcome_of("tuned", draws=3, shares=(0.2,))
        assert sorted(Tuned.fits) == [-1.0, 0.0, 1.0, 1.0, 1.0]
        chosen = {str(measure): parameters for measure, parameters in outcome.chosen_by_measure.items()}
        assert chosen["precision_at_5_to_link_only@20"] == chosen["auc_to_attribute_only@20"] == {"sign": 1.0}
        assert outcome.tuning_seconds > 0
        plain = outcome_of("attribute-cosine", draws=3, shares=(0.2,))
        assert [value for *_, value in outcome.values] == [value for *_, value in plain.values]
        Tuned.fits.clear()
        outcome_of("tuned", draws=3, shares=(0.2,), tuned_draws=2)
        assert len(Tuned.fits) == 2 * 3 + 1

    def test_a_quick_run_tries_few_candidates(self):
        outcome_of("tuned", draws=1, shares=(0.2,), quick=True)
        assert Tuned.fits == [-1.0, 1.0]

    def test_nodes_that_are_left_out_are_noted(self):
        sample = planted()
        X = sample.X.toarray()
        X[1] = 0
        outcome = outcome_of("attribute-cosine", sample.with_X(sp.csr_matrix(X)), draws=1)
        assert outcome.notes == ["nodes that would show neither links nor attributes are left out"]

    def test_named_nodes_and_dense_rows_have_the_same_values(self):
        sample = planted()
        named = replace(
            sample.with_X(sample.X.toarray()),
            adjacency=Network(sample.adjacency, names=[f"n{i:03}" for i in range(N)][::-1]),
        )
        ours, theirs = (outcome_of("attribute-cosine", given, draws=1) for given in (sample, named))
        np.testing.assert_allclose([v for *_, v in ours.values], [v for *_, v in theirs.values], atol=0.02)

    def test_data_without_links_are_refused(self):
        with pytest.raises(ValueError, match="Cross-view links need links between rows, and rows has none"):
            outcome_of("attribute-cosine", replace(planted(), adjacency=None))


DECLARED = """
title = "Who should know whom?"
task = "cross-view-links"
metrics = ["precision_at_5_to_link_only", "auc_to_attribute_only", "precision_at_5_to_link_only_all", "complete"]
subject = "tuned"
shares = [0.2, 0.3]
draws = 3
data = [{ name = "first", scale = "none" }, { name = "second", scale = "none" }]
methods = ["adamic-adar", "tuned"]

[paper.tuned.first]
"precision_at_5_to_link_only@20" = [0.45]

[[claims]]
text = "Tuned is better than Adamic-Adar"
methods = ["tuned"]
over = ["adamic-adar"]
data = ["first"]
at = [20]
"""


@pytest.fixture
def declared():
    return read_experiment("small", DECLARED)


def results_of(declared):
    samples = {"first": planted(), "second": planted(1)}
    return [
        result for cell in declared.cells() for result in run_cell(declared, cell, threads=1, load=samples.__getitem__)
    ]


class TestDeclared:
    def test_results_are_what_was_planned_and_are_read_again(self, declared, tmp_path):
        results = results_of(declared)
        for cell in declared.cells():
            ran = {(r.measure, r.fold) for r in results if (r.data, r.method) == (cell.data, cell.method)}
            failed = {(r.measure, r.fold) for r in failed_results(declared, cell, "too large")}
            assert ran == failed == {(m, draw) for m in declared.measures(cell) for draw in range(3)}
        path = tmp_path / "small.csv"
        ResultFile(path, declared, results).write()
        assert [str(r.measure) for r in read_results(path, declared)] == [str(r.measure) for r in results]

    def test_tables_and_words(self, declared):
        summaries = summarise(declared, results_of(declared))
        page = experiment_page(declared, summaries, command="", facts=())
        tables = next(section for section in page.sections if section.title == "The results")
        assert len(tables.blocks) == 4 * 2
        assert tables.blocks[0].caption == "Precision@5, attribute-only to link-only; 20 % of nodes lose their links"
        assert [column.label for column in tables.blocks[0].columns] == ["method", "first", "second"]
        assert "paper 0.4500" in tables.blocks[0].rows[1][1].detail
        assert [row[0].text for row in tables.blocks[-1].rows] == ["every method"]
        sentences = verdict(declared, summaries)
        assert sentences[0].startswith("By precision@5, attribute-only to link-only, Tuned is the best in ")
        assert any(sentence.startswith("Tuned is better than Adamic-Adar: ") for sentence in sentences)
        assert "the first draw" in dict(page.facts)["Parameters"]
        assert "<svg" in render(page)

    def test_a_varied_parameter_has_curves_and_ranges(self):
        text = DECLARED.replace('"adamic-adar", "tuned"]', '{ name = "tuned", vary = { sign = [0.0, 1.0] } }]')
        declared = read_experiment("small", text[: text.index("[[claims]]")])
        summaries = summarise(declared, results_of(declared))
        page = experiment_page(declared, summaries, command="", facts=())
        assert page.sections[0].title == "Precision@5, attribute-only to link-only, over sign"
        assert [series.x for series in page.sections[0].blocks[0].series] == [(0.0, 1.0)] * 2
        assert any("(sign=0.0) to " in sentence for sentence in verdict(declared, summaries))

    def test_quick_ones_have_few_draws(self, declared):
        quick = declared.quickened()
        assert (quick.options.draws, quick.options.tuned_draws, quick.data[0].rows) == (2, 1, 200)

    @pytest.mark.parametrize(
        ("old", "new", "sentence"),
        [
            ("shares = [0.2, 0.3]", "shares = [0.2, 1.0]", "shares are different whole per cents above 0 and below 1"),
            ("shares = [0.2, 0.3]", "shares = [0.2, 0.2]", "such as 0.2; got [0.2, 0.2]"),
            ("shares = [0.2, 0.3]", "shares = [0.255]", "whole per cents"),
            ("shares = [0.2, 0.3]", "shares = []", "got []"),
            ("draws = 3", "draws = 3\nvalidation = 1.0", "validation is a share above 0 and below 1; got 1.0"),
            ("draws = 3", "draws = 3\ntuned_draws = 4", "of which there are 3; got 4"),
            ("draws = 3", "draws = 0", "draws must be at least 1; got 0"),
            ('"adamic-adar"', '"raw"', "'raw' leaves the columns as they are, which cross-view-links has no use for"),
        ],
    )
    def test_refused_with_one_sentence(self, old, new, sentence):
        with pytest.raises(ValueError, match="The experiment small") as error:
            read_experiment("small", DECLARED.replace(old, new, 1))
        assert sentence in str(error.value)
