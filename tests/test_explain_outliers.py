"""Reasons for outliers: parts that add up to the score, columns that were spoiled, the nearest normal row, words."""

import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import LocalOutlierDetector, NeighborOutlierDetector
from vicinal._preparation import check_table, make_preparation
from vicinal.explain import OutlierExplanation, explain, explain_outliers

N_ROWS, N_COLUMNS, SPOILED = 900, 8, 5


def detector(**options):
    return LocalOutlierDetector(40, random_state=0, **options)


@pytest.fixture(scope="module")
def table():
    X = np.random.default_rng(0).normal(size=(N_ROWS, N_COLUMNS))
    X[:3, SPOILED] = 9
    return X


@pytest.fixture(scope="module")
def fitted(table):
    return detector().fit(table)


def adds_up(explanation, scores):
    np.testing.assert_allclose(explanation.strangeness, -scores)
    np.testing.assert_allclose(explanation.group_scores.sum(axis=1), -scores, rtol=1e-9)
    np.testing.assert_allclose(explanation.column_scores.sum(axis=1), -scores, rtol=1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"local_weight": 0.5},
        {"criterion": "values"},
        {"criterion": "mass"},
        {"criterion": "relative"},
        {"metric": "manhattan"},
        {"metric": "cosine"},
        {"scale": None},
    ],
    ids=str,
)
def test_parts_add_up_and_are_not_negative(table, options):
    fitted = detector(**options).fit(table)
    explanation = explain(fitted, table[:50])
    adds_up(explanation, fitted.score_samples(table[:50]))
    assert explanation.group_scores.min() > -1e-12
    assert explanation.column_scores.min() > -1e-12
    np.testing.assert_array_equal(explanation.outliers, fitted.predict(table[:50]) == -1)
    np.testing.assert_array_equal(explanation.p_values, fitted.p_values(table[:50]))


def test_terms_are_those_whose_means_are_scores(table):
    rows = table[:100].astype(np.float32)
    rows[3, :5] = np.nan
    rows[4] = np.nan
    for cells in detector(local_weight=0.5).fit(table)._cells():
        scores = dict(zip(("values", "mass", "relative"), cells.scores(rows), strict=True))
        nearest, terms = cells.terms(rows)
        assert set(terms) == set(cells.names)
        assert (nearest[4] == -1).all()
        for name, term in terms.items():
            np.testing.assert_allclose(np.nanmean(np.delete(term, 4, 0), axis=1), np.delete(scores[name], 4))


@pytest.mark.parametrize("options", [{}, {"local_weight": 0.5}, {"metric": "manhattan"}], ids=str)
def test_the_column_that_was_spoiled_is_blamed(table, options):
    fitted = detector(**options).fit(table)
    rows = np.zeros((N_COLUMNS, N_COLUMNS)) + 9 * np.eye(N_COLUMNS)
    explanation = explain(fitted, rows)
    assert explanation.column_scores.argmax(axis=1).tolist() == list(range(N_COLUMNS))
    assert (explanation.column_scores.max(axis=1) > 0.6 * explanation.strangeness).all()
    looked_at = [row.groups["columns"].iloc[0].split(", ") for row in explanation]
    assert all(f"column {place}" in names for place, names in enumerate(looked_at))


def test_the_nearest_normal_row_is_the_nearest_of_normal_anchors(table, fitted):
    rows = np.where(np.arange(N_COLUMNS) == 2, np.nan, table[:20])
    explanation = explain(fitted, rows)
    anchors = fitted.map_.anchor_samples_
    normal = anchors[fitted.predict(table[anchors]) == 1]
    scaled = table / fitted.scale_
    for place, row in enumerate(rows / fitted.scale_):
        distances = np.nansum((scaled[normal] - row) ** 2, axis=1)
        assert explanation.normal_rows[place] == normal[distances.argmin()]
        frame = explanation[place].columns.set_index("column")
        shown = float(frame.loc["column 1", "normal_value"])
        assert shown == pytest.approx(table[explanation.normal_rows[place], 1], rel=1e-3)


def test_normal_rows_are_no_outliers_and_others_than_the_row(table):
    fitted = detector(contamination=0.3).fit(table)
    explanation = explain(fitted, table)
    assert (explanation.normal_rows != np.arange(N_ROWS)).all()
    assert explain(fitted, table[explanation.normal_rows]).outliers.mean() == 0


def test_missing_values_get_no_part(fitted):
    row = np.full(N_COLUMNS, np.nan)
    row[3] = 9
    explanation = explain(fitted, row)
    adds_up(explanation, fitted.score_samples([row]))
    assert explanation.column_scores[0, 3] == pytest.approx(explanation.strangeness[0])
    assert set(explanation.columns["value"]) == {"9", ""}
    assert str(explanation).count("column 3") >= 1
    assert "column 0  " not in str(explanation)


def test_a_row_without_any_value(fitted):
    rows = np.full((2, N_COLUMNS), np.nan)
    rows[1] = 9
    explanation = explain(fitted, rows)
    adds_up(explanation, fitted.score_samples(rows))
    assert explanation.normal_rows[0] == -1
    assert explanation.normal_rows[1] >= 0
    assert np.ptp(explanation.column_scores[0]) < 1e-12
    assert set(explanation[0].columns["normal_value"]) == {""}
    assert "It has no values, and counts as an ordinary row" in str(explanation[0])
    assert "It has no values" not in str(explanation[1])


def test_sparse_rows_are_explained_as_dense_ones_are():
    X = sp.random_array((600, 12), density=0.4, rng=np.random.default_rng(0), format="csr")
    fitted = detector(scale=None).fit(X)
    sparse, dense = explain(fitted, X[:30]), explain(fitted, X[:30].toarray())
    adds_up(sparse, fitted.score_samples(X[:30]))
    np.testing.assert_allclose(sparse.column_scores, dense.column_scores, atol=1e-5)
    np.testing.assert_array_equal(sparse.normal_rows, dense.normal_rows)
    assert sparse[3].columns["normal_value"].tolist() == dense[3].columns["normal_value"].tolist()
    nothing = sp.csr_array(np.full((1, 12), np.nan))
    assert explain(fitted, nothing).normal_rows.tolist() == [-1]


def mixed_frame(table):
    frame = pd.DataFrame(table, columns=[f"size {j}" for j in range(N_COLUMNS)])
    frame["colour"] = np.array(["red", "green"])[np.arange(N_ROWS) % 2]
    frame.loc[7, "colour"] = "blue"
    frame.loc[8, "size 1"] = np.nan
    return frame


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_pipelines_speak_of_the_columns_of_the_user(table, kind):
    given = mixed_frame(table)
    frame = check_table(given if kind == "pandas" else pl.from_pandas(given))
    model = make_pipeline(make_preparation(frame), detector()).fit(frame)
    explanation = explain(model, frame[:40], frame=kind)
    adds_up(explanation, model.score_samples(frame[:40]))
    assert explanation.column_names.tolist() == list(frame.columns)
    assert type(explanation.columns).__module__.startswith(kind)
    strange = explanation[7].columns
    assert next(iter(strange["column"])) == "colour"
    assert next(iter(strange["value"])) == "blue"
    normal = explanation.normal_rows[7]
    assert next(iter(strange["normal_value"])) == given["colour"][normal]
    numbers = dict(zip(strange["column"], strange["normal_value"], strict=True))
    assert float(numbers["size 2"]) == pytest.approx(given["size 2"][normal], rel=1e-3)
    assert list(explanation.summary["outlier"]) == explanation.outliers.tolist()
    assert sum(explanation[7].groups["score"]) == pytest.approx(explanation.strangeness[7])


def test_preparations_that_cannot_be_undone_show_no_normal_values(table):
    selected = make_pipeline(VarianceThreshold(), StandardScaler(), detector()).fit(table)
    assert set(explain(selected, table[:2]).columns["normal_value"]) == {""}
    mixed = explain(make_pipeline(PCA(3), detector()).fit(table), table[:2])
    assert mixed.column_names.tolist() == ["PCA 0", "PCA 1", "PCA 2"]
    assert set(mixed.columns["normal_value"]) == {""}
    imputed = make_pipeline(SimpleImputer(), make_pipeline(StandardScaler()), detector()).fit(table)
    shown = explain(imputed, table[:2])
    assert float(shown.columns["normal_value"][0]) == pytest.approx(
        table[shown.normal_rows[0], int(shown.columns["column"][0][-1])], rel=1e-3
    )


def test_words(fitted, table):
    rows = np.concatenate([np.full((1, N_COLUMNS), 9.0), table[1:5]])
    explanation = explain_outliers(fitted, rows, column_names=[f"<{'long' * 12} {j}>" for j in range(N_COLUMNS)])
    said = str(explanation)
    assert max(map(len, said.splitlines())) <= 80
    first = explanation[0]
    assert said.startswith(
        f"Row 0 is an outlier: score {first.strangeness[0]:.2f} (threshold 2.00), p-value {first.p_values[0]:.2g}."
    )
    assert f"The nearest normal row: training row {first.normal_rows[0]}." in str(first)
    assert "is no outlier" in str(explanation[4])
    parts = [float(part) for part in re.findall(r"\+(\d+\.\d+)$", str(first), re.M)]
    assert len(parts) == 8
    assert sum(parts) == pytest.approx(first.strangeness[0], abs=0.01)
    assert said.endswith("... and 2 more rows; explanation[i] is that of one.")
    assert repr(explanation) == "<OutlierExplanation of 5 rows>"
    shown = explanation._repr_html_()
    assert "&lt;long" in shown
    assert "<th>normal row</th>" in shown
    assert str(pickle.loads(pickle.dumps(explanation))) == said
    assert [row.rows.tolist() for row in explanation] == [[0], [1], [2], [3], [4]]


def test_without_held_out_rows_there_are_no_p_values(table):
    explanation = explain(detector(calibration=0).fit(table), table[:2])
    assert explanation.p_values is None
    assert "p-value" not in str(explanation)
    assert "p_value" not in explanation.summary.columns
    assert explanation[1].p_values is None


def test_after_a_stream_normal_rows_have_no_numbers(table):
    fitted = detector().partial_fit(table[:400]).partial_fit(table[400:])
    explanation = explain(fitted, table[:3])
    assert explanation.normal_rows.tolist() == [-1, -1, -1]
    assert "training row" not in str(explanation)
    assert "normal row" in str(explanation)


def test_the_same_on_any_number_of_threads(table):
    one, two = (explain(detector(n_jobs=jobs).fit(table), table[:20]) for jobs in (1, 2))
    np.testing.assert_array_equal(one.column_scores, two.column_scores)
    assert isinstance(one, OutlierExplanation)


def test_many_rows_are_divided_into_blocks(fitted, table, monkeypatch):
    whole = fitted.strangeness_by_cell(table)
    monkeypatch.setattr("vicinal.outlier._local_outlier_detector.CELL_BLOCK", 77)
    for part, again in zip(whole, fitted.strangeness_by_cell(table), strict=True):
        assert abs(part - again).max() == 0


def test_what_is_refused(table, fitted):
    neighbor = NeighborOutlierDetector(random_state=0).fit(table)
    with pytest.raises(ValueError, match="NeighborOutlierDetector measures distances between features of rows"):
        explain(neighbor, table[:1])
    with pytest.raises(ValueError, match="last step must be a LocalOutlierDetector; it is IsolationForest"):
        explain(IsolationForest(n_estimators=5).fit(table), table[:1])
    with pytest.raises(NotFittedError, match="The LocalOutlierDetector is not fitted yet"):
        explain(detector(), table[:1])
    with pytest.raises(ValueError, match="leave out class_ and y_train"):
        explain(fitted, table[:1], class_=1)
    with pytest.raises(ValueError, match="X has 3 columns; the pipeline was fitted on 8"):
        explain(fitted, table[:1, :3])
    with pytest.raises(ValueError, match="frame must be one of"):
        explain_outliers(fitted, table[:1], frame="dask")
    with pytest.raises(IndexError, match="of 1 row; there is no row 1"):
        explain(fitted, table[:1])[1]
