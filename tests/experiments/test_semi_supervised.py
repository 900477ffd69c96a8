"""The semi-supervised task: who is given which rows and labels, and what is measured on the test rows."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from experiments.made import two_classes, work_for
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from vicinal.datasets import Sample
from vicinal.experiments import TASKS, Cell, Method, Role, Variant, find_method, read_experiment, summarise
from vicinal.experiments._classes import of_classes
from vicinal.experiments._label_draws import KnownLabels, binary_labels, draw_parts, flipped, in_words, public_rows
from vicinal.experiments._protocol import protocol_of
from vicinal.experiments._results import failed_results, results_of
from vicinal.experiments._work import work_of
from vicinal.experiments.tasks.semi_supervised import SemiSupervisedOptions, auc, auc_cell, over_labels

DECLARED = """
title = "Few labels"
task = "semi-supervised"
metrics = ["auc", "auc_public", "auc_private"]
subject = "rankboost"
repeats = 2
labelled = [1.0, 0.1]
data = [{ name = "iris", label = "rows", scale = "none" }]
methods = ["raw", "rankboost"]
"""


def published(n=300, seed=0, classes=None):
    """Rows whose first column is their number, with a published split: half to train on, a third without labels."""
    X, y = two_classes(n, seed)
    X[:, 0] = np.arange(n)
    split = np.repeat([0, 1, 2], [n // 2, n // 6, n - n // 2 - n // 6]).astype(np.uint8)
    return Sample(X, np.where(split == 2, -1, y), split=split, classes=classes), y


def parts(sample, share=1.0, flips=0.0, seed=0, *, test_share=0.3, unlabelled_share=0.0):
    known = KnownLabels(share, flips)
    return draw_parts(sample, known, seed, test_share=test_share, unlabelled_share=unlabelled_share, data="rows")


def evaluate(method, sample, *, condition="", **more):
    work = work_for("semi-supervised", method, sample, scale="none", **more)
    work = replace(work, cell=replace(work.cell, variant=Variant(condition=condition)))
    with threadpool_limits(1):
        return work.experiment.task.evaluate(work)


class TestParts:
    @pytest.mark.parametrize("seed", [0, 1])
    def test_of_a_published_split_are_those(self, seed):
        sample, y = published()
        drawn = parts(sample, seed=seed)
        for rows, number in ((drawn.labelled, 0), (drawn.test, 1), (drawn.unlabelled, 2)):
            np.testing.assert_array_equal(rows, np.flatnonzero(sample.split == number))
        np.testing.assert_array_equal(drawn.labels, y[drawn.labelled])
        np.testing.assert_array_equal(drawn.test_labels, y[drawn.test])

    @pytest.mark.parametrize("unlabelled_share", [0.0, 0.5])
    def test_without_one_are_drawn_by_class(self, unlabelled_share):
        X, _ = two_classes(400)
        y = np.repeat([3, 7], [300, 100])
        drawn = parts(Sample(X, y), test_share=0.25, unlabelled_share=unlabelled_share)
        every = np.concatenate([drawn.labelled, drawn.unlabelled, drawn.test])
        np.testing.assert_array_equal(np.sort(every), np.arange(400))
        kept = round(300 * (1 - unlabelled_share))
        assert (len(drawn.labelled), len(drawn.unlabelled), len(drawn.test)) == (kept, 300 - kept, 100)
        for rows in (drawn.labelled, drawn.unlabelled, drawn.test):
            assert (y[rows] == 7).sum() == pytest.approx(len(rows) / 4, abs=1)
        np.testing.assert_array_equal(drawn.labels, (y[drawn.labelled] == 7).astype(int))

    def test_other_seeds_draw_other_rows_of_the_same_number(self):
        sample = Sample(*two_classes(200))
        one, same, other = (parts(sample, 0.5, seed=seed) for seed in (0, 0, 1))
        np.testing.assert_array_equal(one.test, same.test)
        np.testing.assert_array_equal(one.labelled, same.labelled)
        assert set(one.test) != set(other.test)
        assert len(one.labelled) == len(other.labelled)

    @pytest.mark.parametrize("seed", [0, 3])
    def test_fewer_labels_are_some_of_more_and_the_others_are_unlabelled(self, seed):
        sample, y = published(600)
        everything, some, few, fewest = (parts(sample, share, seed=seed) for share in (1.0, 0.2, 0.1, 0.001))
        assert set(fewest.labelled) < set(few.labelled) < set(some.labelled) < set(everything.labelled)
        for drawn in (everything, some, few, fewest):
            np.testing.assert_array_equal(drawn.test, everything.test)
            hidden = np.flatnonzero((sample.split != 1) & ~np.isin(np.arange(600), drawn.labelled))
            np.testing.assert_array_equal(drawn.unlabelled, hidden)
        for label in (0, 1):
            count = (y[everything.labelled] == label).sum()
            assert (few.labels == label).sum() == round(0.1 * count)
            assert (fewest.labels == label).sum() == 2

    @pytest.mark.parametrize("share", [0.0, 0.05, 0.2])
    def test_labels_are_flipped_alike_in_both_classes(self, share):
        sample, y = published(1200)
        drawn = parts(sample, flips=share)
        truth = y[drawn.labelled]
        for label in (0, 1):
            own = truth == label
            assert (drawn.labels[own] != label).sum() == round(share * own.sum())
        np.testing.assert_array_equal(drawn.test_labels, y[drawn.test])  # those stay right
        assert set(drawn.labels) <= {0, 1}

    def test_flipping_leaves_what_it_was_given(self, rng):
        labels = rng.integers(0, 2, 50)
        before = labels.copy()
        assert (flipped(labels, 0.4, rng) != labels).any()
        np.testing.assert_array_equal(labels, before)

    def test_the_public_part_is_the_same_whatever_is_drawn(self, rng):
        labels = np.repeat([0, 1], [200, 100])
        public = public_rows(labels)
        np.testing.assert_array_equal(public, public_rows(labels))
        assert [public[labels == label].sum() for label in (0, 1)] == [60, 30]

    @pytest.mark.parametrize(("n_classes", "words"), [(1, "rows has 1;"), (3, "rows has 3;")])
    def test_other_than_two_classes_are_refused(self, n_classes, words):
        with pytest.raises(ValueError, match=rf"AUC needs two classes, and {words} name two, or two groups"):
            binary_labels(np.arange(12) % n_classes, "rows")

    def test_a_part_without_one_class_is_refused(self):
        sample, _ = published(60)
        y = np.where(sample.split == 1, 1, sample.y)
        with pytest.raises(ValueError, match="rows has too few rows of one class in its test part"):
            parts(replace(sample, y=y))


class Spy(TransformerMixin, BaseEstimator):
    """Keeps the rows, by the numbers in their first column, and the labels that it is fitted on."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y=None):
        self.seen.append((X[:, 0].astype(int), None if y is None else y.copy()))
        return self

    def transform(self, X):
        return X[:, 1:]


class SpyModel(LogisticRegression):
    def fit(self, X, y):
        Spy.seen.append((X[:, 0].astype(int), y.copy()))
        known = y >= 0
        return super().fit(X[known, 1:], y[known])

    def decision_function(self, X):
        return super().decision_function(X[:, 1:])


MAP = Method("spy", "spy", Role.MAP, lambda to: Spy())
MODEL = Method("spy-model", "spy model", Role.MODEL, lambda to: SpyModel())


@pytest.fixture
def seen(monkeypatch):
    monkeypatch.setattr(Spy, "seen", [])
    return Spy.seen


class TestWhatMethodsAreGiven:
    CONDITION = "20 % of the labels and 10 % flipped"
    SHARES = {"labelled": (0.2,), "flipped": (0.1,)}  # noqa: RUF012

    @pytest.mark.parametrize("method", [MAP, MODEL], ids=["map", "model"])
    def test_labelled_rows_only(self, seen, method):
        sample, y = published()
        evaluate(method, sample, condition=self.CONDITION, **self.SHARES)
        drawn = parts(sample, 0.2, 0.1)
        ((rows, labels),) = seen
        np.testing.assert_array_equal(rows, drawn.labelled)
        np.testing.assert_array_equal(labels, drawn.labels)
        assert (labels != y[rows]).sum() == 2 * round(0.1 * 15)

    @pytest.mark.parametrize("method", [MAP, MODEL], ids=["map", "model"])
    def test_rows_without_a_label_as_minus_one_if_they_take_them(self, seen, method):
        sample, _ = published()
        outcome = evaluate(replace(method, takes_unlabelled=True), sample, condition=self.CONDITION, **self.SHARES)
        drawn = parts(sample, 0.2, 0.1)
        ((rows, labels),) = seen
        np.testing.assert_array_equal(rows[labels >= 0], drawn.labelled)
        np.testing.assert_array_equal(labels[labels >= 0], drawn.labels)
        np.testing.assert_array_equal(rows[labels == -1], drawn.unlabelled)
        assert set(labels) == {-1, 0, 1}
        assert outcome.notes == [f"also given {len(drawn.unlabelled)} without labels"]
        assert outcome.training_rows == len(drawn.labelled)

    @pytest.mark.parametrize("takes_unlabelled", [False, True])
    @pytest.mark.parametrize("method", [MAP, MODEL], ids=["map", "model"])
    def test_hidden_and_test_labels_change_only_the_score(self, seen, method, takes_unlabelled):
        """They are all turned round; the split, the rows and the labels that are given stay the same."""
        sample, y = published()
        drawn = parts(sample, 0.2, 0.1)
        known = np.isin(np.arange(len(y)), drawn.labelled)
        turned = replace(sample, y=np.where(known | (sample.y < 0), sample.y, 1 - sample.y))
        np.testing.assert_array_equal(parts(turned, 0.2, 0.1).test, drawn.test)
        method = replace(method, takes_unlabelled=takes_unlabelled)
        # Which labels are hidden depends on the classes, so that the same ones are hidden by hand.
        hidden = [replace(one, y=np.where(known | (sample.split == 1), one.y, -1)) for one in (sample, turned)]
        values = [evaluate(method, one).values[0][2] for one in hidden]
        (rows, labels), (other_rows, other_labels) = seen
        np.testing.assert_array_equal(rows, other_rows)
        np.testing.assert_array_equal(labels, other_labels)
        assert values[0] == pytest.approx(1 - values[1])

    def test_no_fit_sees_a_test_row(self, seen, monkeypatch):
        fitted = []
        fit = LinearSVC.fit
        monkeypatch.setattr(LinearSVC, "fit", lambda model, X, y: fitted.append((len(X), y.copy())) or fit(model, X, y))
        sample, _ = published()
        evaluate(replace(MAP, takes_unlabelled=True), sample)
        assert not set(seen[0][0]) & set(parts(sample).test)
        ((n_rows, labels),) = fitted  # features of the labelled rows, whatever the map was fitted on
        assert n_rows == 150
        np.testing.assert_array_equal(labels, parts(sample).labels)

    def test_grids_are_chosen_from_on_labelled_rows(self, seen):
        sample, _ = published()
        grid = replace(MODEL, grid=lambda to: [{"C": [0.1, 1.0]}], takes_unlabelled=True)
        outcome = evaluate(grid, sample, tuning_folds=3)
        known = set(parts(sample).labelled)
        assert len(seen) == 2 * 3 + 1
        for rows, labels in seen[:-1]:
            assert set(rows) < known
            assert set(labels) == {0, 1}
        assert outcome.chosen["C"] in (0.1, 1.0)

    def test_few_labels_are_enough_to_choose_from_a_grid(self, seen):
        sample, _ = published()
        grid = replace(MODEL, grid=lambda to: [{"C": [0.1, 1.0]}])
        evaluate(grid, sample, labelled=(0.001,), condition="0.1 % of the labels")
        assert [len(rows) for rows, _ in seen] == [2, 2, 2, 2, 4]

    def test_most_rows_are_kept_to_and_noted(self, seen):
        sample, _ = published()
        outcome = evaluate(MAP, sample, most_rows=50)
        assert len(seen[0][0]) == pytest.approx(50, abs=1)
        assert outcome.notes == [f"fitted on {len(seen[0][0])} of 150 rows"]


class TestTheRule:
    def test_the_svm_has_hinge_loss_and_c_one(self, monkeypatch):
        built = []
        fit = LinearSVC.fit
        monkeypatch.setattr(LinearSVC, "fit", lambda model, X, y: built.append(model.get_params()) or fit(model, X, y))
        sample, _ = published()
        evaluate("gaussian-projection", sample, n_components=3)
        evaluate("raw", sample, C=0.5, loss="squared_hinge")
        evaluate(find_method("raw").fixing({}, {"C": 4.0}), sample)
        assert [(model["C"], model["loss"]) for model in built] == [(1, "hinge"), (0.5, "squared_hinge"), (4, "hinge")]

    def test_values_are_those_of_the_same_steps_by_hand(self):
        sample, y = published()
        outcome = evaluate("raw", sample, metrics=("auc", "auc_public", "auc_private"))
        train, test = (np.flatnonzero(sample.split == part) for part in (0, 1))
        length = np.linalg.norm(sample.X[train], axis=1).mean()
        model = LinearSVC(C=1.0, loss="hinge", tol=0.01, random_state=0, dual=True)
        scores = model.fit(sample.X[train] / length, y[train]).decision_function(sample.X[test] / length)
        public = public_rows(y[test])
        for (fold, measure, value), rows in zip(outcome.values, (public | True, public, ~public), strict=True):
            assert fold == 0
            assert value == pytest.approx(by_pairs(y[test][rows], scores[rows]), abs=0.01), str(measure)
        assert outcome.chosen == {"n_features": 6}
        assert (outcome.training_rows, outcome.test_rows) == (150, 50)

    def test_auc_counts_ties_half(self, rng):
        class Rounded:
            def decision_function(self, F):
                return np.round(F[:, 0])

        F, y = rng.uniform(0, 5, (80, 1)), rng.integers(0, 2, 80)
        assert auc(Rounded(), F, y) == pytest.approx(by_pairs(y, np.round(F[:, 0])))

    def test_a_model_is_one_feature_by_its_probability_if_need_be(self):
        sample, _ = published()
        method = Method("boosting", "boosting", Role.MODEL, find_method("boosting").make)
        outcome = evaluate(method, sample)
        assert outcome.chosen == {"n_features": 1}
        assert outcome.values[0][2] > 0.7

    def test_csr_as_dense(self):
        sample, _ = published()
        dense, sparse = (evaluate("rankboost", replace(sample, X=X)) for X in (sample.X, sp.csr_matrix(sample.X)))
        assert dense.values[0][2] == pytest.approx(sparse.values[0][2], abs=1e-3)


def by_pairs(y, scores):
    """Eq. 2 with ties half, one pair after another."""
    pairs = [(scores[i], scores[j]) for i in np.flatnonzero(y == 0) for j in np.flatnonzero(y == 1)]
    return np.mean([1.0 if low < high else 0.5 if low == high else 0.0 for low, high in pairs])


class TestClasses:
    NAMES = ("alt.atheism", "comp.graphics", "comp.os", "rec.autos")

    def sample(self):
        y = np.array([0, 1, 2, 3, -1, 1])
        return Sample(np.arange(12).reshape(6, 2), y, classes=self.NAMES, split=np.array([0, 0, 1, 1, 2, 0]))

    def test_two_of_them(self):
        part = of_classes(self.sample(), ("rec.autos", "comp.graphics"), "news")
        assert part.y.tolist() == [1, 0, -1, 1]
        assert part.X[:, 0].tolist() == [2, 6, 8, 10]
        assert part.split.tolist() == [0, 1, 2, 0]
        assert part.classes == ("rec.autos", "comp.graphics")

    def test_a_class_belongs_to_the_first_pattern_that_fits(self):
        assert of_classes(self.sample(), ("comp.*", "*"), "news").y.tolist() == [1, 0, 0, 1, -1, 0]

    def test_others_are_refused(self):
        with pytest.raises(ValueError, match=r"news has no class 'rec.auto'; did you mean 'rec.autos'"):
            of_classes(self.sample(), ("rec.auto", "comp.*"), "news")
        with pytest.raises(ValueError, match=r"rows has no names of classes, of which a, b could be chosen"):
            of_classes(Sample(np.zeros((2, 2)), np.arange(2)), ("a", "b"), "rows")


class TestQuickRuns:
    def declared(self, more=""):
        return read_experiment("mine", DECLARED.replace("labelled = [1.0, 0.1]", more))

    def test_all_parts_survive_in_their_shares(self):
        sample, _ = published(3000)
        experiment = self.declared().quickened()
        experiment = replace(experiment, data=(replace(experiment.data[0], rows=300),))
        work = work_of(experiment, experiment.cells()[0], threads=1, load=lambda name: sample)
        for part, share in ((0, 1 / 2), (1, 1 / 6), (2, 1 / 3)):
            assert (work.sample.split == part).sum() == pytest.approx(300 * share, abs=2)
        assert set(work.sample.y[work.sample.split == 1]) == {0, 1}

    def test_rows_are_those_of_the_classes(self):
        sample, _ = published(300, classes=("rare.a", "rare.b"))
        experiment = self.declared()
        spec = replace(experiment.data[0], classes=("rare.b", "rare.a"))
        experiment = replace(experiment, data=(spec,))
        work = work_of(experiment, experiment.cells()[0], threads=1, load=lambda name: sample)
        np.testing.assert_array_equal(work.sample.y, np.where(sample.y < 0, -1, 1 - sample.y))

    def test_the_first_and_the_last_condition_are_left(self):
        quick = self.declared("labelled = [1.0, 0.1, 0.01]").quickened()
        assert quick.options.labelled == (1.0, 0.01)
        assert quick.options.flipped == (0.0,)

    def test_sizes_are_small(self):
        task = TASKS["semi-supervised"]
        given = {
            "map__n_rounds": 5000,
            "n_first": 10,
            "n_clusters": 100,
            "whiten": True,
            "gamma": 900.0,
            "n_pivots": None,
        }
        assert task.quick_parameters(given) == {**given, "map__n_rounds": 200, "n_clusters": 20}
        methods = '[{ name = "rankboost", model = { n_rounds = 5000, n_first = 3 } }]'
        quick = read_experiment("mine", DECLARED.replace('["raw", "rankboost"]', methods)).quickened()
        assert quick.methods[0].model == {"n_rounds": 200, "n_first": 3}


class TestConditions:
    def test_every_method_is_run_under_each(self):
        experiment = read_experiment("mine", DECLARED.replace("0.1]", "0.1]\nflipped = [0.0, 0.2]"))
        words = ("all labels", "10 % of the labels")
        wanted = [f"{share} and {flips}" for share in words for flips in ("none flipped", "20 % flipped")]
        assert list(map(str, experiment.variants(experiment.methods[0]))) == wanted
        assert [Variant.read(text) for text in wanted] == experiment.variants(experiment.methods[0])
        assert len(experiment.cells()) == 2 * 2 * 4
        known = experiment.options.conditions["10 % of the labels and 20 % flipped"]
        assert known == KnownLabels(0.1, 0.2)

    @pytest.mark.parametrize(
        ("variant", "text"),
        [
            (Variant(condition="1 % of the labels"), "1 % of the labels"),
            (Variant("add", "layers", (20, 20), "5 % flipped"), "noise=add, 5 % flipped, layers=(20, 20)"),
            (Variant("", "layers", (20, 20), "5 % flipped"), "5 % flipped, layers=(20, 20)"),
            (Variant("", "layers", (20, 20)), "layers=(20, 20)"),
            (Variant("rows"), "noise=rows"),
            (Variant(), ""),
        ],
    )
    def test_variants_are_read_as_they_are_written(self, variant, text):
        assert str(variant) == text
        assert Variant.read(text) == variant
        assert bool(variant) == bool(text)

    @pytest.mark.parametrize(
        ("known", "words"),
        [((1.0, 0.0), "all labels and none flipped"), ((0.015, 0.05), "1.5 % of the labels and 5 % flipped")],
    )
    def test_words(self, known, words):
        assert in_words(KnownLabels(*known), (1.0, 0.015), (0.0, 0.05)) == words
        assert in_words(KnownLabels(), (1.0,), (0.0,)) == ""

    def test_another_share_leaves_the_protocol_of_the_others(self):
        one, more = (read_experiment("mine", DECLARED.replace("0.1]", shares)) for shares in ("0.1]", "0.1, 0.01]"))
        cell = one.cells()[0]
        assert cell in more.cells()
        assert protocol_of(one, cell) == protocol_of(more, cell)
        other = read_experiment("mine", DECLARED.replace("0.1]", "0.1]\nC = 2.0"))
        assert protocol_of(one, cell) != protocol_of(other, cell)

    @pytest.mark.parametrize(
        ("more", "message"),
        [
            ("labelled = [0.0]", r"labelled must be above 0 and at most 1; got 0.0"),
            ('labelled = ["few"]', r"labelled must be above 0 and at most 1; got 'few'"),
            ("flipped = [0.5]", r"flipped must be at least 0 and below 0.5; got 0.5"),
            ("test_share = 1.0", r"test_share must be between 0 and 1; got 1.0"),
            ("unlabelled_share = 1.0", r"unlabelled_share must be at least 0 and below 1; got 1.0"),
            ("C = 0", r"C must be above 0; got 0"),
            ('loss = "log"', r"loss must be one of hinge, squared_hinge; got 'log'"),
        ],
    )
    def test_mistakes_are_refused(self, more, message):
        with pytest.raises(ValueError, match=message):
            read_experiment("mine", DECLARED.replace("labelled = [1.0, 0.1]", more))


def test_parameters_that_are_to_be_none_are_named():
    """TOML has no word for it."""
    methods = '[{ name = "rankboost-map", parameters = { axis_wise = true }, without = ["n_jobs"] }]'
    experiment = read_experiment("mine", DECLARED.replace('["raw", "rankboost"]', methods))
    assert experiment.method(experiment.cells()[0]).parameters == {"axis_wise": True, "n_jobs": None}


class TestTwoWaysToUseOneDataSet:
    DATA = '[{ name = "iris", id = "one", label = "One" }, { name = "iris", id = "two" }]'

    def test_cells_and_labels_tell_them_apart(self):
        given = DECLARED.partition("data = ")[2].split("\n")[0]
        experiment = read_experiment("mine", DECLARED.replace(given, self.DATA))
        assert {cell.data for cell in experiment.cells()} == {"one", "two"}
        assert [experiment.data_label(key) for key in ("one", "two")] == ["One", "two"]
        loaded = []
        sample, _ = published()
        for cell in experiment.cells()[:2]:
            work_of(experiment, cell, threads=1, load=lambda name: loaded.append(name) or sample)
        assert loaded == ["iris", "iris"]

    def test_classes_are_part_of_the_protocol(self):
        plain = read_experiment("mine", DECLARED)
        some = read_experiment("mine", DECLARED.replace('scale = "none"', 'scale = "none", classes = ["a", "b"]'))
        cell = plain.cells()[0]
        assert protocol_of(plain, cell) != protocol_of(some, cell)


class TestReport:
    def summaries(self, experiment, sample):
        results = []
        for cell in experiment.cells():
            work = work_of(experiment, cell, threads=1, load=lambda name: sample)
            with threadpool_limits(1):
                results += results_of(experiment, cell, experiment.task.evaluate(work), threads=1)
        return summarise(experiment, results)

    def test_conditions_stand_across_and_are_drawn(self):
        experiment = read_experiment("mine", DECLARED.replace('"auc", "auc_public", "auc_private"', '"auc"'))
        sample, _ = published(240)
        summaries = self.summaries(experiment, sample)
        (table,) = experiment.task.tables(experiment, summaries)
        assert table.caption == "AUC, rows"
        assert [column.label for column in table.columns] == ["method", "all labels", "10 % of the labels"]
        assert [row[0].text for row in table.rows] == ["raw features", "RankBoost"]
        assert "1 feature" in table.rows[1][1].detail
        assert "over 2 draws" in table.rows[1][1].detail
        section = over_labels(experiment, summaries)
        (chart,) = section.blocks
        assert section.title == "AUC over the share of the labels that are known"
        assert [series.x for series in chart.series] == [(0.1, 1.0)] * 2
        assert chart.x_log

    def test_metrics_stand_across_on_one_data_set(self):
        experiment = read_experiment("mine", DECLARED.replace("labelled = [1.0, 0.1]", ""))
        sample, _ = published(240)
        (table,) = experiment.task.tables(experiment, self.summaries(experiment, sample))
        assert table.caption == "rows"
        heads = ["method", "AUC", "AUC, public 30 %", "AUC, private 70 %"]
        assert [column.label for column in table.columns] == heads

    def test_values_of_other_data_stand_beside_and_are_not_compared(self):
        beside = "\n[paper.rankboost]\niris = { auc = [0.99, 0.002] }\n"
        declared = DECLARED.replace("labelled = [1.0, 0.1]", 'paper_data = "other rows"') + beside
        experiment = read_experiment("mine", declared)
        sample, _ = published(240)
        summaries = self.summaries(experiment, sample)
        (own,) = [s for s in summaries if s.method == "rankboost" and s.measure.metric.name == "auc"]
        assert (own.paper, own.paper_deviation, own.from_paper) == (0.99, 0.002, None)
        cell = auc_cell(own)
        assert "paper 0.9900;" in cell.detail
        assert "the paper's deviation 0.0020" in cell.detail
        assert cell.brief.startswith("±0.0")
        assert not any("the paper's" in sentence for sentence in experiment.task.verdict(experiment, summaries))
        assert "of other data: other rows" in experiment.task.tables_text(experiment, summaries)

    def test_a_cell_that_was_not_run_says_why(self):
        experiment = read_experiment("mine", DECLARED)
        results = [r for cell in experiment.cells() for r in failed_results(experiment, cell, "too little memory")]
        (first, *_) = summarise(experiment, results)
        assert auc_cell(first).detail == "not run: too little memory"

    def test_the_protocol_is_told(self):
        told = dict(TASKS["semi-supervised"].protocol(read_experiment("mine", DECLARED)))
        assert list(told) == ["Rows", "Protocol", "Public and private part", "Intervals and deviations"]
        assert "C = 1 and hinge loss" in told["Protocol"]
        assert told["Intervals and deviations"].endswith("tested on: 2 of each")
        hiding = read_experiment("mine", DECLARED.replace("repeats = 2", "unlabelled_share = 0.5"))
        told = dict(hiding.task.protocol(hiding))
        assert "those of 50 % of the training rows are hidden" in told["Rows"]
        assert "Intervals and deviations" not in told
        assert SemiSupervisedOptions().conditions == {"": KnownLabels()}
        assert isinstance(read_experiment("mine", DECLARED).cells()[0], Cell)
