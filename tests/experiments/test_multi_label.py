"""The task "multi-label": columns without labels, then the labels of the nearest row; nothing sees them before."""

from dataclasses import replace
from functools import cache
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from experiments.made import evaluate, scored, values, work_for
from sklearn.metrics import f1_score, hamming_loss
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier

from vicinal import datasets
from vicinal._page import Section
from vicinal.datasets import Sample
from vicinal.experiments import TASKS, Method, Role, _methods, read_experiment, verdict
from vicinal.experiments._methods import METHODS
from vicinal.experiments._runner import load_sample
from vicinal.experiments._work import work_of
from vicinal.experiments.tasks.multi_label import label_scores, labels_of
from vicinal.network import HeteroNetwork
from vicinal.select._base import Ranked, SideSelector

LABELS = "drug-causes-effect"
INFORMATIVE = 6


class Watching(SideSelector):
    """Prefers the first columns, and notes what it is shown."""

    seen: ClassVar[list] = []

    def __init__(self, n_features_to_select=0.5, backwards=False):
        self.n_features_to_select = n_features_to_select
        self.backwards = backwards

    def fit(self, X, y=None, *, side=None):
        self.seen.append((X.shape[0], y, side))
        return super().fit(X, y, side=side)

    def _rank(self, X, side):
        scores = np.arange(X.shape[1], dtype=float)
        return Ranked(scores if self.backwards else -scores)


@pytest.fixture(autouse=True)
def known(monkeypatch):
    Watching.seen = []
    grid = [{"backwards": [False, True, True]}]
    watching = Method("watching", "Watching", Role.SELECTOR, lambda to: Watching(), grid=lambda to: grid)
    monkeypatch.setattr(_methods, "METHODS", (*METHODS, watching))


@cache
def made_drugs(n=80):
    """Drugs of four kinds, which the first columns, their genes and their effects go with; the last have no effects."""
    rng = np.random.default_rng(0)
    kind = np.arange(n) % 4
    X = rng.poisson(0.5 + 4.0 * (np.arange(20) < INFORMATIVE) * (kind[:, None] == np.arange(20) % 4))
    binds = rng.random((n, 30)) < np.where(kind[:, None] == np.arange(30) % 4, 0.5, 0.05)
    causes = rng.random((n, 12)) < np.where(kind[:, None] == np.arange(12) % 4, 0.8, 0.05)
    causes[:, 0] |= ~causes.any(axis=1)
    causes[-10:] = False
    side = HeteroNetwork({("drug", "binds", "gene"): binds, ("drug", "causes", "effect"): causes}, target="drug")
    return Sample(sp.csr_matrix(X, dtype=np.float32), kind, side=side)


@pytest.fixture
def drugs():
    return made_drugs()


def outcome_of(method, sample, *, features=(INFORMATIVE,), labels=LABELS, **more):
    metrics = ("micro_f1", "macro_f1", "hamming_loss")
    return evaluate(
        "multi-label", method, sample, scale="none", metrics=metrics, features=features, labels=labels, **more
    )


def declared(labels=LABELS, methods='["raw", "watching"]', data='["hin_hetionet_compound"]'):
    return read_experiment(
        "mine",
        f"""
title = "Which effects?"
task = "multi-label"
metrics = ["micro_f1", "hamming_loss"]
labels = "{labels}"
features = [10, 20]
subject = "watching"
data = {data}
methods = {methods}
""",
    )


class TestLabelsAreHidden:
    @pytest.mark.parametrize("labels", [LABELS, "drug-binds-gene"])
    def test_the_relation_of_the_labels_is_taken_out_before_anything_sees_it(self, drugs, labels):
        outcome_of("watching", drugs, labels=labels)
        hidden = tuple(labels.split("-"))
        assert len(Watching.seen) == 3
        for n_rows, y, side in Watching.seen:
            assert (n_rows, y) == (80, None)
            assert set(side.relations) == set(drugs.side.relations) - {hidden}
            assert hidden[2] not in side.types

    def test_a_selector_with_other_labels_chooses_the_same(self, drugs):
        effects = drugs.side.relations["drug", "causes", "effect"]
        others = {**drugs.side.relations, ("drug", "causes", "effect"): effects[:, ::-1].toarray()[::-1]}
        shuffled = replace(drugs, side=HeteroNetwork(others, target="drug"), y=drugs.y[::-1])
        task = TASKS["multi-label"]
        kept = []
        for sample in (drugs, shuffled):
            work = work_for(task, "sidefs", sample, scale="none", features=(6,), labels=LABELS)
            whole, _ = work.all_rows()
            ((seen, _),) = task.preparations(work, whole)
            assert seen.y is None
            kept.append(work.method.build(work.context, {}).fit(seen.X, side=seen.side).ranking_)
        np.testing.assert_array_equal(*kept)

    def test_links_by_a_meta_path_of_the_labels_are_refused(self, drugs):
        path = "drug-causes-effect-causes-drug"
        with pytest.raises(ValueError, match="names the type 'effect', which is unknown"):
            outcome_of("gfs", drugs, use={"metapath": {"rows": path}})

    def test_without_any_other_relation_there_is_no_side_information(self, drugs):
        outcome_of("watching", replace(drugs, side=drugs.side.without(("drug", "binds", "gene"))))
        assert [side for _, _, side in Watching.seen] == [None] * 3


class TestValues:
    def test_figures_are_those_of_scikit_learns_nearest_neighbour(self, drugs):
        noisy = drugs.X.toarray() + np.random.default_rng(0).random(drugs.X.shape)  # no two rows are equally near
        drugs = replace(drugs, X=noisy)
        true = drugs.side.relations["drug", "causes", "effect"].toarray()[:70] > 0
        X = noisy[:70, :INFORMATIVE]
        expected = {"micro_f1": [], "macro_f1": [], "hamming_loss": []}
        for train, test in KFold(5, shuffle=True, random_state=0).split(X):
            model = KNeighborsClassifier(1, metric="cosine", algorithm="brute").fit(X[train], true[train])
            found = model.predict(X[test])
            there = true[test].any(axis=0)
            expected["micro_f1"].append(f1_score(true[test], found, average="micro"))
            by_label = [f1_score(true[test][:, k], found[:, k], zero_division=0) for k in np.flatnonzero(there)]
            expected["macro_f1"].append(np.mean(by_label))
            expected["hamming_loss"].append(hamming_loss(true[test], found))
        outcome = outcome_of("watching", drugs)
        for metric, scores in expected.items():
            assert values(outcome, f"best_{metric}@{INFORMATIVE}") == pytest.approx(scores)

    def test_macro_f1_is_the_mean_over_labels_that_occur(self):
        true = sp.csr_array(np.array([[1, 0, 0], [1, 1, 0]]))
        found = sp.csr_array(np.array([[1, 0, 1], [0, 1, 1]]))
        scores = label_scores(true, found)
        assert scores["macro_f1"] == pytest.approx((2 / 3 + 1) / 2)
        assert scores["micro_f1"] == pytest.approx(4 / 7)
        assert scores["hamming_loss"] == pytest.approx(3 / 6)

    def test_low_losses_are_good_ones(self, drugs):
        outcome = outcome_of("watching", drugs)
        loss, best = (np.mean(values(outcome, f"{best}hamming_loss@{INFORMATIVE}")) for best in ("", "best_"))
        assert best < loss
        assert np.mean(values(outcome, "best_micro_f1@6")) > np.mean(values(outcome, "micro_f1@6"))

    def test_rows_without_labels_are_not_tested_but_columns_are_chosen_with_them(self, drugs):
        outcome = outcome_of("raw", drugs)
        assert (outcome.training_rows, outcome.test_rows) == (56, 14)
        assert outcome.notes == ["70 of 80 rows have labels"]
        assert len(values(outcome, "micro_f1@all")) == 5

    def test_rows_without_any_chosen_column_are_told(self, drugs):
        X = drugs.X.toarray()
        X[3, :INFORMATIVE] = 0
        note = "some rows have none of the chosen columns, and get the labels of the first row"
        assert note in outcome_of("watching", replace(drugs, X=sp.csr_matrix(X))).notes
        assert note not in outcome_of("raw", replace(drugs, X=X)).notes

    def test_labels_may_lead_to_the_rows(self, drugs):
        turned = HeteroNetwork(
            {("effect", "of", "drug"): drugs.side.relations["drug", "causes", "effect"].T}, target="drug"
        )
        there, back = labels_of(drugs, LABELS), labels_of(replace(drugs, side=turned), "effect-of-drug")
        assert (there != back).nnz == 0
        assert set(there.data) == {1}

    @pytest.mark.parametrize("method", ["sidefs", "laplacian-score"])
    def test_selectors_of_the_library(self, drugs, method):
        assert np.mean(values(outcome_of(method, drugs), "micro_f1@6")) > 0.5


class TestBadInput:
    def test_labels_that_are_none(self, drugs):
        with pytest.raises(ValueError, match=r"There is no relation 'drug-causes-effects'; did you mean"):
            outcome_of("raw", drugs, labels="drug-causes-effects")
        with pytest.raises(ValueError, match="rows has no side information, and so no relation drug-causes-effect"):
            outcome_of("raw", replace(drugs, side=None))
        far = HeteroNetwork(
            {**drugs.side.relations, ("gene", "like", "gene"): np.ones((30, 30))}, target=drugs.side.target
        )
        with pytest.raises(ValueError, match="rows, which are drug nodes; gene-like-gene has none of these"):
            outcome_of("raw", replace(drugs, side=far), labels="gene-like-gene")

    def test_too_few_rows_with_labels(self, drugs):
        with pytest.raises(ValueError, match="3 rows of rows have links of drug-causes-effect, which are too few"):
            outcome_of("raw", drugs[np.arange(67, 80)])

    @pytest.mark.parametrize("labels", ["", "effects", "a-b-c-d"])
    def test_an_experiment_needs_them(self, labels):
        with pytest.raises(ValueError, match="The experiment mine needs 'labels', the relation whose links"):
            declared(labels)


class TestExperiment:
    def test_words_and_ranks_know_that_low_losses_are_good(self):
        experiment = declared("compound-causes-sideeffect")
        scores = {"raw": (0.2, 0.05), "watching": (0.3, 0.02)}
        summaries = scored(
            experiment,
            [
                ("hin_hetionet_compound", method, f"{metric}@{place}", value)
                for method, pair in scores.items()
                for metric, value in zip(("micro_f1", "hamming_loss"), pair, strict=True)
                for place in (["all"] if method == "raw" else [10, 20])
            ],
        )
        sections = experiment.task.sections(experiment, summaries, Section("Tables", "", ()))
        ranks = next(section for section in sections if section.title == "Who is ahead?")
        assert [row[-1].text for table in ranks.blocks for row in table.rows] == ["2.00", "1.00"] * 2
        assert "Watching has a mean rank of 1.00 over 1 data set, the best of 2" in " ".join(
            verdict(experiment, summaries)
        )
        facts = dict(experiment.task.protocol(experiment))
        assert "compound-causes-sideeffect, which is left out" in facts["Protocol"]
        assert "labels that occur in the test part" in facts["Metrics"]

    def test_intervals_know_that_folds_share_rows(self):
        experiment = declared()
        assert experiment.task.shared_rows(experiment) == (1 / 4, 1 / 5)
        assert experiment.task.runs(experiment) == 5

    def test_all_rows_take_part(self):
        if datasets.path_of("hin_hetionet_compound") is None:
            pytest.skip("hin_hetionet_compound.npz is not in VICINAL_DATA")
        experiment = declared("compound-causes-sideeffect")
        assert len(load_sample("hin_hetionet_compound")) == 1255
        sample = load_sample("hin_hetionet_compound", experiment.task.all_rows)
        work = work_of(experiment, experiment.cells()[0], threads=1, load=lambda name: sample)
        assert len(work.sample) == 1552
        assert np.count_nonzero(np.diff(labels_of(work.sample, "compound-causes-sideeffect").indptr)) == 1071
