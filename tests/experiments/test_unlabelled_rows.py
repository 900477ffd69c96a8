"""Comparisons on tables with rows that have no label, and the rules that their reports show."""

import numpy as np
import pytest
import scipy.sparse as sp
from experiments.made import two_classes
from shell import refused, vicinal
from sklearn.datasets import load_breast_cancer

from vicinal.experiments import _compare as compare_module
from vicinal.experiments import (
    comparison,
    comparison_page,
    comparison_pictures,
    comparison_rules,
    comparison_sample,
)
from vicinal.experiments._runner import evaluate_cell
from vicinal.learned import RankBoost


def made(n_labelled=60, n_others=30):
    X, y = two_classes(n_labelled + n_others)
    X[:, 0] = 2 * y + 0.1 * X[:, 0]
    return X, np.where(np.arange(len(y)) < n_labelled, y, -1)


def cells_of(methods, X, y, splits=3, **options):
    """The results of a comparison in this process, by method."""
    experiment, sample = comparison("made", methods=methods, splits=splits), comparison_sample(X, y, splits, **options)
    found = {}
    for cell in experiment.cells():
        found.setdefault(cell.method, []).extend(evaluate_cell(experiment, cell, threads=1, load=lambda name: sample))
    return found


def test_only_methods_that_take_them_are_given_them():
    X, y = made()
    found = cells_of(("raw", "l2-logistic", "kmeans-features", "graph-smoothing"), X, y, unlabelled="-1")
    rows = {name: {result.training_rows for result in results} for name, results in found.items()}
    assert rows == {"raw": {40}, "l2-logistic": {40}, "kmeans-features": {70}, "graph-smoothing": {70}}
    assert {result.test_rows for results in found.values() for result in results} == {20}
    assert all(result.value > 0.8 for results in found.values() for result in results)


def test_values_are_those_without_the_other_rows_where_a_method_does_not_see_them():
    X, y = made()
    with_them = cells_of(("raw", "l2-logistic"), X, y, unlabelled="-1")
    without = cells_of(("raw", "l2-logistic"), X[y >= 0], y[y >= 0])
    for name in with_them:
        assert [result.value for result in with_them[name]] == [result.value for result in without[name]]


@pytest.mark.parametrize(
    ("labels", "word"),
    [([0, 1, -1], "-1"), ([0.0, 1.0, -1.0], "-1"), ([1, 2, 0], "0"), (np.array(["no", "yes", "?"], object), "?")],
)
def test_what_stands_for_no_label(labels, word):
    X, y = made()
    sample = comparison_sample(X, np.asarray(labels)[y], 3, unlabelled=word)
    np.testing.assert_array_equal(sample.y, y)
    assert sample.n_classes == 2
    assert len(sample.labelled) == 60
    assert word not in sample.classes


@pytest.mark.parametrize(("word", "message"), [("none", "No row has the target 'none'"), ("5", "No row")])
def test_a_word_that_no_row_has(word, message):
    X, y = made()
    with pytest.raises(ValueError, match=message):
        comparison_sample(X, y, 3, unlabelled=word)
    with pytest.raises(ValueError, match="All rows have"):
        comparison_sample(X, np.full(len(y), -1), 3, unlabelled="-1")


CANCER = load_breast_cancer(as_frame=True)
LABELS = CANCER.target.to_numpy()


class TestRules:
    def section(self, X, y=LABELS, methods=("raw", "rankboost-map"), names=(), **options):
        return comparison_rules(comparison("x", methods=methods), comparison_sample(X, y, 2, **options), names)

    def test_in_words_with_weights_and_rows(self):
        X, y = CANCER.data, CANCER.target
        (table,) = self.section(X).blocks
        ranker = RankBoost(1000, random_state=0).fit(X, y)
        sums = {}
        for rule, weight in zip(ranker.rules(), ranker.weights_, strict=True):
            words = rule.rpartition(":")[0]
            sums[words] = sums.get(words, 0) + weight
        wanted = sorted(sums, key=lambda words: -abs(sums[words]))[:20]
        assert [row[0].text for row in table.rows] == wanted
        np.testing.assert_allclose([row[1].value for row in table.rows], [sums[words] for words in wanted])
        for rule, _, rows in table.rows:
            column, _, threshold = rule.text.rpartition(" > ")
            near = np.abs(X[column] - float(threshold)) < 1e-4 * abs(float(threshold))  # of a threshold cut to 6 digits
            assert abs(rows.value - (X[column] > float(threshold)).sum()) <= near.sum()

    @pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
    def test_names_come_from_the_file(self, container):
        X = container(CANCER.data)
        with_names, without = self.section(X, names=list(CANCER.data.columns)), self.section(X)
        frame = self.section(CANCER.data)
        assert [row[0].text for row in with_names.blocks[0].rows] == [row[0].text for row in frame.blocks[0].rows]
        assert without.blocks[0].rows[0][0].text.startswith("column ")

    def test_rows_without_a_label_do_not_count(self):
        X, y = CANCER.data, LABELS
        some = np.where(np.arange(len(y)) % 2, -1, y)
        found, wanted = self.section(X, some, unlabelled="-1"), self.section(X[some >= 0], y[some >= 0])
        assert found.blocks == wanted.blocks

    def test_words_and_missing_values(self):
        X = CANCER.data[["mean radius"]].assign(kind=np.where(CANCER.target, "good", "bad"))
        X.loc[::5, "mean radius"] = np.nan
        (table,) = self.section(X).blocks
        assert table.rows[0][0].text in ("kind_bad > 0.5", "kind_good > 0.5")

    def test_none_where_there_are_none(self):
        X, y = CANCER.data.to_numpy(), LABELS
        assert self.section(X, methods=("raw", "l1-logistic")) is None
        assert self.section(X, y + (np.arange(len(y)) % 3 == 0)) is None  # three classes
        page = comparison_page(comparison("x"), [], command="", facts=(), rules=self.section(X))
        assert [section.title for section in page.sections] == ["The comparison", "The strongest rules"]


def test_no_pictures_of_many_columns(monkeypatch):
    X, y = made()
    sample = comparison_sample(X, y, 2, unlabelled="-1")
    image, _ = comparison_pictures(comparison("x"), sample).blocks
    assert sum(last - first for _, first, last in image.boundaries) == 60
    monkeypatch.setattr(compare_module, "MOST_PICTURE_COLUMNS", X.shape[1] - 1)
    assert comparison_pictures(comparison("x"), sample) is None


class TestShell:
    @pytest.fixture
    def file(self, tmp_path):
        X, y = made()
        sparse, path = sp.csr_matrix(np.where(np.abs(X) < 0.5, 0, X)), tmp_path / "reviews.npz"
        words = np.array([f"word_{place}" for place in range(X.shape[1])])
        parts = {name: getattr(sparse, name) for name in ("data", "indices", "indptr", "shape")}
        np.savez(path, **parts, y=y, terms=words)
        return path

    def test_the_report_shows_rules_and_says_what_is_done(self, file, tmp_path):
        report = tmp_path / "out.html"
        methods = ("-m", "rankboost", "-m", "kmeans-features")
        run = vicinal(
            "compare",
            file,
            "--target",
            "y",
            "--unlabelled",
            "-1",
            *methods,
            "--splits",
            2,
            "--jobs",
            1,
            "--report",
            report,
        )
        said = " ".join((run.stdout + run.stderr).split())
        assert "30 rows have no label: they are never tested on, and only k-means features learns from them." in said
        page = report.read_text(encoding="utf-8")
        assert "The strongest rules" in page
        assert "word_0 &gt; " in page

    def test_a_method_of_two_classes_says_what_the_third_is(self, file):
        run = vicinal("compare", file, "--target", "y", "-m", "raw", "-m", "rankboost", "--splits", 2, "--jobs", 1)
        said = " ".join((run.stdout + run.stderr).split())
        assert "30 rows have no label: they are never tested on, and no method learns from them." in said

    def test_a_class_that_looks_like_no_label(self, file):
        run = vicinal("compare", file, "--target", "y", "-m", "raw", "--splits", 2, "--jobs", 1)
        assert "--unlabelled -1 says they have no label" in " ".join((run.stdout + run.stderr).split())
        words = refused("compare", file, "--target", "y", "--unlabelled", "none", "-m", "raw")
        assert "No row has the target 'none'" in words
