"""Scores of attributes: the highest, the lowest and those that are listed, by their names."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from experiments.made import evaluate, values

from vicinal import AdamicAdar
from vicinal.datasets import Sample
from vicinal.experiments import Method, Role, _methods, experiment_page, read_experiment, summarise, verdict
from vicinal.experiments._methods import METHODS
from vicinal.experiments._runner import run_cell

SCORES = np.array([0.5, 2e-7, 3.0, 0.0, 1.0, 0.5])
NAMES = tuple("abcdef")


class Scored(AdamicAdar):
    """Has scores of its own."""

    def _learn(self, nodes):
        super()._learn(nodes)
        self.feature_scores_ = SCORES
        self.n_nodes_ = len(nodes.names)


@pytest.fixture(autouse=True)
def known(monkeypatch):
    method = Method("scored", "Scored", Role.LINK_PREDICTOR, lambda to: Scored())
    monkeypatch.setattr(_methods, "METHODS", (*METHODS, method))


@pytest.fixture
def sample():
    ring = np.roll(np.eye(12), 1, axis=1) + np.roll(np.eye(12), -1, axis=1)
    ring[[0, 1]], ring[:, [0, 1]] = 0, 0
    X = np.ones((12, 6), dtype=np.float32)
    X[0] = 0
    return Sample(sp.csr_matrix(X), adjacency=sp.csr_array(ring), names=NAMES)


def outcome_of(method, sample, **options):
    return evaluate("attribute-scores", method, sample, metrics=("score", "selected"), scale="none", **options)


def test_scores_ranks_and_names(sample):
    outcome = outcome_of("scored", sample, top=2, listed=("f", "b"))
    shown = {str(measure): parameters for measure, parameters in outcome.chosen_by_measure.items()}
    assert shown == {
        "score@top1": {"attribute": "c", "rank": 1},
        "score@top2": {"attribute": "e", "rank": 2},
        "score@last1": {"attribute": "d", "rank": 5},
        "score@last2": {"attribute": "b", "rank": 5},
        "score@listed1": {"attribute": "f", "rank": 3},
        "score@listed2": {"attribute": "b", "rank": 5},
    }
    assert values(outcome, "score@last2") == [0.0]  # less than a millionth of the largest
    assert values(outcome, "selected") == [pytest.approx(4 / 6)]
    assert outcome.notes == ["1 nodes show neither links nor attributes and are left out"]


def test_refused_with_one_sentence(sample):
    with pytest.raises(ValueError, match="There is no attribute 'g'"):
        outcome_of("scored", sample, listed=("g",))
    with pytest.raises(ValueError, match="top is 7, and there are 6 attributes"):
        outcome_of("scored", sample, top=7)
    with pytest.raises(ValueError, match="Katz gives attributes no scores"):
        outcome_of("katz", sample)
    with pytest.raises(ValueError, match="need links between rows"):
        outcome_of("scored", replace(sample, adjacency=None))


def test_tables_and_words(sample):
    declared = read_experiment(
        "small",
        """
        title = "Which attributes?"
        task = "attribute-scores"
        metrics = ["score", "selected"]
        subject = "scored"
        top = 2
        listed = ["f", "b"]
        data = [{ name = "users", scale = "none" }]
        methods = ["scored"]

        [paper.scored.users]
        "score@listed1" = [0.7]
        "score@listed2" = [0.0]
        """,
    )
    results = [
        result for cell in declared.cells() for result in run_cell(declared, cell, threads=1, load=lambda name: sample)
    ]
    summaries = summarise(declared, results)
    section, chart = experiment_page(declared, summaries, command="", facts=()).sections
    assert [(row.label, row.value, row.paper) for row in chart.blocks[0].rows] == [("f", 0.5, 0.7), ("b", 0.0, 0.0)]
    assert [[cell.text for cell in row] for row in section.blocks[0].rows] == [["c", "1", "3"], ["e", "2", "1"]]
    assert [cell.text for cell in section.blocks[2].rows[0]] == ["f", "3", "0.5", "0.7"]
    assert verdict(declared, summaries) == (
        "users, Scored: 66.7% of the attributes have a score that is not zero.",
        "users, Scored: the highest score is 3, of c.",
        "users, Scored: the 1 attributes that the paper ranks first have the ranks 3 here; of the 1 that it names as "
        "unselected, 1 have a score of zero.",
    )
