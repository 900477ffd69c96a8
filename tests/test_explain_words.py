"""Reasons as text, as HTML and as tables."""

import pickle
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from vicinal import RandLocal
from vicinal.explain import explain
from vicinal.explain._by_group import reasons_by_group, scores_by_column
from vicinal.explain._html import as_html
from vicinal.explain._inputs import inputs_of
from vicinal.explain._pipeline import taken_apart
from vicinal.explain._reasons import as_text

IRIS = load_iris(as_frame=True)
X, Y = IRIS.data, IRIS.target_names[IRIS.target]


@pytest.fixture(scope="module")
def model():
    return make_pipeline(StandardScaler(), RandLocal(60, random_state=0), LinearSVC(C=0.1)).fit(X, Y)


@pytest.fixture(scope="module")
def explanation(model):
    return explain(model, X[::30], y_train=Y)


def test_words_say_the_score_and_its_parts(model, explanation):
    said = str(explanation[2])
    assert max(map(len, said.splitlines())) <= 80
    value = model.decision_function(X[60:61])[0].max()
    assert said.startswith(f"Row 2 is predicted to be versicolor: decision value {value:.4g}.")
    totals = [float(total) for total in re.findall(r"anchors?, ([+-][\d.]+) in all", said)]
    intercept = float(re.search(r"intercept ([+-][\d.]+)", said)[1])
    assert len(totals) == 2
    assert sum(totals) + intercept == pytest.approx(value, abs=0.01)
    strongest = explanation[2].anchors.iloc[0]
    assert f"{strongest.score:+.3f}  training row {strongest.anchor} (class {Y[strongest.anchor]})" in said
    assert "petal length (cm)" in said


def test_the_words_of_another_class_and_of_numbers(model):
    asked = str(explain(model, X[:1], class_="virginica"))
    assert asked.startswith("Row 0 is predicted to be setosa. The decision value of virginica: -")
    assert "\nAgainst virginica: " in asked
    numbers = make_pipeline(RandLocal(20, random_state=0), Ridge()).fit(X, X["sepal length (cm)"])
    said = str(explain(numbers, X[:1], y_train=X["sepal length (cm)"]))
    assert re.match(r"Row 0: predicted value [\d.]+\.\n\nRaising it: ", said)
    assert re.search(r"training row \d+ \(value \d\.\d\)", said)


def test_many_rows_are_not_all_said(explanation):
    said = str(explanation)
    assert said.count("is predicted to be") == 3
    assert said.endswith("... and 2 more rows; explanation[i] is that of one.")
    assert repr(explanation) == "<Explanation of 5 rows>"
    assert explanation._repr_html_().count("is predicted to be") == 3


def test_a_row_without_any_value(model):
    nothing = X[:1] * np.nan
    explanation = explain(model, nothing)
    assert explanation.scores == explanation.intercepts
    assert "\nFor " in str(explanation)
    assert ": no anchor" in str(explanation)
    assert len(explanation.anchors) == len(explanation.groups) == 0
    assert set(explanation.columns["value"]) == {""}
    assert "no anchor" in explanation._repr_html_()
    assert "no anchor" in str(explain(model[:-1], nothing))
    assert explanation.distances()[1].shape == (0, 4)


def test_groups_of_columns_without_a_model(model):
    """What a detector needs: any scores of groups in words, and by columns, with nothing lost."""
    parts = taken_apart(model[:-1])
    groups = parts.groups
    rows = X[:3].assign(**{X.columns[0]: ["a < b", "c", "d"]})
    inputs = inputs_of([], parts.map, rows, 4, None)
    scores = np.random.default_rng(0).uniform(size=(3, 60))
    by_column = scores_by_column(scores, groups)
    np.testing.assert_allclose(by_column.sum(axis=1), scores.sum(axis=1))
    np.testing.assert_allclose(scores_by_column(sp.csr_array(scores), groups), by_column)
    alone = np.zeros(60)
    alone[7] = 0.5
    reasons = reasons_by_group("Row 0 is an outlier: score 0.5.", alone, groups, inputs, n_groups=1)
    used = groups.columns(7)
    shown = {column.name: column.score for column in reasons.columns if column.score}
    assert shown == {X.columns[j]: pytest.approx(0.5 / len(used)) for j in used}
    given = np.array([0.1, 0.4, 0.0, 0.0])
    by_distance = reasons_by_group("Row 0.", alone, groups, inputs, column_scores=given, n_columns=2)
    assert [(column.name, column.score) for column in by_distance.columns] == [(X.columns[1], 0.4), (X.columns[0], 0.1)]
    said = as_text(reasons)
    assert said.startswith("Row 0 is an outlier: score 0.5.\n\nGroups of columns that add most\n  +0.500  group 7: ")
    assert "of distances" not in said
    assert "a < b" in as_text(by_distance)
    assert "a &lt; b" in as_html([by_distance])
    assert "group 7: " in as_html([reasons])


@pytest.mark.parametrize("width", [3, 200])
def test_long_names_do_not_break_the_lines(width):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.uniform(size=(60, 30)), columns=[f"{'name' * width} {j}" for j in range(30)])
    model = make_pipeline(RandLocal(20, random_state=0), LinearSVC()).fit(rows, Y[:60])
    for letters in (50, 80):
        said = explain(model, rows[:1]).to_text(letters)
        assert max(map(len, said.splitlines())) <= letters
        assert len(re.findall(r"[+-]0\.\d+ +\d+\.\d %$", said, re.M)) == 8
    assert "(the first 8 of 30)" in said


def test_one_of_the_rows(explanation):
    rows = list(explanation)
    assert [row.rows.tolist() for row in rows] == [[0], [1], [2], [3], [4]]
    for place, row in enumerate(rows):
        assert row.scores == explanation.scores[place]
        assert row.anchor_scores.sum() + row.intercepts == pytest.approx(row.scores)
        assert str(row) == str(explanation[place])
    assert explanation[-1].rows.tolist() == [4]
    with pytest.raises(IndexError, match="This explanation is of 5 rows; there is no row 5"):
        explanation[5]
    with pytest.raises(TypeError, match="asked for one of its rows by a number; got 'a'"):
        explanation["a"]
    again = pickle.loads(pickle.dumps(explanation))
    assert str(again) == str(explanation)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_tables(model, explanation, kind):
    told = explain(model, X[::30], y_train=Y, frame=kind)
    anchors, columns, groups = (
        table.to_pandas() if kind == "polars" else table for table in (told.anchors, told.columns, told.groups)
    )
    assert type(told.anchors).__module__.startswith(kind)
    assert list(anchors.columns) == ["row", "anchor", "label", "score", "groups", "columns"]
    assert list(columns.columns) == ["row", "column", "value", "score", "share"]
    assert list(groups.columns) == ["row", "group", "anchor", "score", "columns"]
    for table in (anchors, columns, groups):
        sums = table.groupby("row")["score"].sum() + explanation.intercepts
        np.testing.assert_allclose(sums, explanation.scores)
    assert (anchors["label"] == Y[anchors["anchor"]]).all()
    assert (anchors.groupby("row")["groups"].sum() == 60).all()
    assert columns.groupby("row")["share"].sum().to_list() == pytest.approx([1] * 5)
    assert all(np.diff(abs(part["score"])).max() <= 0 for _, part in anchors.groupby("row"))
    of_group = dict(zip(groups["group"], groups["columns"], strict=True))
    local = model[1]
    for group, names in of_group.items():
        used = local.feature_indices_[local.feature_ptr_[group] : local.feature_ptr_[group + 1]]
        assert names == ", ".join(X.columns[np.sort(used)])


def test_tables_of_polars_where_rows_are_polars(model):
    rows = pl.from_pandas(X[:2])
    assert explain(model, rows, frame="polars").columns["value"][0]


class Tags(HTMLParser):
    """Which tags are open, and what stands between them."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.text = [], set(), []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_html_is_whole_and_escaped():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.uniform(size=(60, 2)), columns=["<script>alert(1)</script>", "a & b"])
    labels = np.where(rows.iloc[:, 0] > 0.5, "<b>", '"&')
    model = make_pipeline(RandLocal(20, random_state=0), LinearSVC()).fit(rows, labels)
    page = explain(model, rows[:2], y_train=labels)._repr_html_()
    parser = Tags()
    parser.feed(page)
    parser.close()
    assert not parser.open
    assert parser.seen <= {"style", "div", "p", "b", "table", "tr", "td", "th", "i"}
    assert "&lt;script&gt;" in page
    assert "<script>alert(1)</script>" in " ".join(parser.text)
    assert "http" not in page
