"""Reasons for scores: shares of anchors and columns that add up, against plain NumPy, in words and tables."""

import re

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from oracle import distances
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest, VarianceThreshold, chi2
from sklearn.impute import SimpleImputer
from sklearn.linear_model import (
    Lasso,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    Normalizer,
    OneHotEncoder,
    QuantileTransformer,
    StandardScaler,
)
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR

from vicinal import RULLS, OnlinePerceptron, ProjectedLandmarks, RandLocal, SampledLandmarks
from vicinal._preparation import check_table, make_preparation, scaler
from vicinal.explain import explain

IRIS = load_iris(as_frame=True)
X, FRAME = IRIS.data.to_numpy(), IRIS.data
Y = IRIS.target_names[IRIS.target]
TWO = np.where(IRIS.target == 1, "versicolor", "other")
ROWS = X[::15] + 0.05
SMALL = {"n_groups": 30, "random_state": 0}


def adds_up(explanation, pipeline, rows):
    """The sums of the shares are the model's own decision values."""
    scores = explanation.scores
    for parts in (explanation.contributions, explanation.anchor_scores, explanation.column_scores):
        sums = np.asarray(parts.sum(axis=1)).ravel() + explanation.intercepts
        np.testing.assert_allclose(sums, scores, rtol=0, atol=1e-9 * (1 + abs(explanation.contributions).sum()))
    told = getattr(pipeline, "decision_function", pipeline.predict)(rows)
    tolerance = {"rtol": 1e-6, "atol": 1e-6}
    np.testing.assert_allclose(explanation.decision_values.reshape(np.shape(told)), told, **tolerance)
    if not hasattr(pipeline, "classes_"):
        np.testing.assert_allclose(scores, told, **tolerance)
    elif told.ndim == 1:
        signs = np.where(explanation.targets == pipeline.classes_[1], 1, -1)
        np.testing.assert_allclose(scores, signs * told, **tolerance)
    else:
        places = np.searchsorted(pipeline.classes_, explanation.targets)
        np.testing.assert_allclose(scores, told[np.arange(len(told)), places], **tolerance)


CLASSIFIERS = [
    LinearSVC(C=0.1),
    LinearSVC(fit_intercept=False),
    LogisticRegression(),
    RidgeClassifier(),
    SGDClassifier(random_state=0),
    Perceptron(random_state=0),
]


@pytest.mark.parametrize("y", [Y, TWO], ids=["three classes", "two classes"])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_shares_add_up_to_the_decision_value(model, y):
    pipeline = make_pipeline(StandardScaler(), RandLocal(**SMALL), model).fit(X, y)
    explanation = explain(pipeline, ROWS)
    assert (explanation.targets == pipeline.predict(ROWS)).all()
    adds_up(explanation, pipeline, ROWS)
    for label in np.unique(y):
        asked = explain(pipeline, ROWS, class_=label)
        assert (asked.targets == label).all()
        adds_up(asked, pipeline, ROWS)


@pytest.mark.parametrize("model", [Ridge(), LinearRegression(), Lasso(0.1)], ids=lambda model: type(model).__name__)
def test_shares_add_up_to_the_predicted_number(model):
    pipeline = make_pipeline(RandLocal(**SMALL), model).fit(X, X[:, 0])
    adds_up(explain(pipeline, ROWS), pipeline, ROWS)


def test_one_of_several_predicted_numbers():
    pipeline = make_pipeline(RandLocal(**SMALL), Ridge()).fit(X, X[:, :3])
    explanation = explain(pipeline, ROWS, class_=2)
    np.testing.assert_allclose(explanation.scores, pipeline.predict(ROWS)[:, 2])
    assert "Row 0, output 2: predicted value" in str(explanation)
    with pytest.raises(ValueError, match="predicts 3 numbers; class_ must say which, from 0 to 2; got None"):
        explain(pipeline, ROWS)


@pytest.mark.parametrize("norm", [None, "l2"])
@pytest.mark.parametrize("n_neighbors", [1, 3])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
@pytest.mark.parametrize("kind", ["dense", "missing", "sparse", "sparse and missing", "single precision"])
def test_every_kind_of_features(kind, metric, n_neighbors, norm):
    rows = X - 3
    rows[rows < 0.3] = 0
    if "missing" in kind:
        rows = np.where(np.random.default_rng(0).uniform(size=rows.shape) < 0.2, np.nan, rows)
        rows[3], rows[4, 1:] = np.nan, np.nan
    if "sparse" in kind:
        rows = sp.csr_matrix(rows)
    if kind == "single precision":
        rows = rows.astype(np.float32)
    local = RandLocal(metric=metric, n_neighbors=n_neighbors, norm=norm, **SMALL)
    pipeline = make_pipeline(local, LogisticRegression(max_iter=300)).fit(rows, Y)
    explanation = explain(pipeline, rows[:30])
    adds_up(explanation, pipeline, rows[:30])
    full = (rows.toarray() if sp.issparse(rows) else rows).astype(np.float64)
    scores, shares = by_hand(local, full, explanation.contributions.toarray(), full[:30])
    np.testing.assert_allclose(explanation.column_scores, scores, atol=1e-9)
    np.testing.assert_allclose(explanation.column_shares, shares, atol=1e-6)
    missing = np.isnan(full[:30])
    assert not explanation.column_scores[missing].any()
    assert not explanation.column_shares[missing].any()


def by_hand(local, training, contributions, rows):
    """Scores and shares of columns, one anchor and one row at a time."""
    scores, shares, totals = np.zeros(rows.shape), np.zeros(rows.shape), np.zeros(len(rows))
    for i, cell in zip(*np.nonzero(contributions), strict=True):
        added = contributions[i, cell]
        group = np.searchsorted(local.anchor_ptr_, cell, side="right") - 1
        columns = local.feature_indices_[local.feature_ptr_[group] : local.feature_ptr_[group + 1]]
        anchor = training[local.anchor_samples_[local.anchor_rows_[cell]]]
        columns = [j for j in columns if not np.isnan(rows[i, j]) and not np.isnan(anchor[j])]
        x, a = rows[i, columns], anchor[columns]
        if local.metric == "cosine":
            x, a = (part / (np.linalg.norm(part) or 1) for part in (x, a))
        gaps = abs(x - a) if local.metric == "manhattan" else (x - a) ** 2
        scores[i, columns] += added / len(columns)
        if gaps.sum() > 0:
            shares[i, columns] += abs(added) * gaps / gaps.sum()
            totals[i] += abs(added)
    return scores, shares / np.where(totals > 0, totals, 1)[:, None]


def test_distances_by_column_are_those_of_the_map():
    """In groups of complete rows: the parts of an anchor that has one group add up to its squared distance."""
    local = RandLocal(**SMALL).fit(X)
    explanation = explain(local, ROWS[4])
    anchors, parts = explanation.distances()
    groups = explanation.groups
    for anchor, part in zip(anchors, parts, strict=True):
        expected = 0.0
        for group in groups["group"][groups["anchor"] == anchor]:
            columns = local.feature_indices_[local.feature_ptr_[group] : local.feature_ptr_[group + 1]]
            expected += distances(ROWS[4:5, columns], X[anchor : anchor + 1, columns])[0, 0] ** 2
        assert part.sum() == pytest.approx(expected)
    with pytest.raises(ValueError, match=r"distances are those of one row, and there are 2"):
        explain(local, ROWS[:2]).distances()


BETWEEN = [
    [MaxAbsScaler()],
    [StandardScaler(with_mean=False)],
    [StandardScaler(with_mean=False, with_std=False)],
    [Normalizer()],
    [MaxAbsScaler(), Normalizer(), VarianceThreshold()],
    [SelectKBest(chi2, k=50), MaxAbsScaler()],
    [TruncatedSVD(5, random_state=0), StandardScaler()],
    [PCA(4, svd_solver="arpack", whiten=True, random_state=0)],
    ["passthrough"],
]


@pytest.mark.parametrize("steps", BETWEEN, ids=lambda steps: " ".join(re.findall(r"[A-Z]\w+|pass", str(steps))))
def test_linear_steps_between_map_and_model(steps):
    pipeline = make_pipeline(RandLocal(**SMALL), *steps, LogisticRegression()).fit(X, Y)
    adds_up(explain(pipeline, ROWS), pipeline, ROWS)


def test_sampled_landmarks_and_nested_pipelines():
    inner = make_pipeline(StandardScaler(), SampledLandmarks(n_iterations=10, n_columns=2, n_nearest=3, random_state=0))
    pipeline = make_pipeline(inner, LinearSVC(C=0.1)).fit(X, Y)
    adds_up(explain(pipeline, ROWS), pipeline, ROWS)


def test_the_best_of_a_search():
    pipeline = make_pipeline(RandLocal(**SMALL), GridSearchCV(LinearSVC(), {"C": [0.1, 1]}, cv=2))
    search = GridSearchCV(pipeline, {"randlocal__n_groups": [10, 20]}, cv=2).fit(X, Y)
    adds_up(explain(search, ROWS), search, ROWS)


def test_a_map_without_a_model_shows_what_is_near():
    local = RandLocal(**SMALL).fit(X)
    explanation = explain(local, ROWS)
    features = local.transform(ROWS)
    np.testing.assert_allclose(explanation.contributions.toarray(), features.toarray())
    np.testing.assert_allclose(explanation.scores, np.asarray(features.sum(axis=1)).ravel())
    assert explanation.predictions is None
    said = str(explanation[1])
    assert "Row 1 and the training rows that it is nearest to" in " ".join(said.split())
    assert re.search(r"\d\.\d %  training row \d+, in \d+ groups? by column \d", said)
    with pytest.raises(ValueError, match="this pipeline has no model after its map"):
        explain(local, ROWS, class_="setosa")


def mixed_frame():
    rng = np.random.default_rng(0)
    return FRAME.set_axis(list("abcd"), axis=1).assign(
        colour=rng.choice(["red", "green", "blue"], 150), e=np.where(rng.uniform(size=150) < 0.1, np.nan, X[:, 0])
    )


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_columns_made_of_one_column_count_as_that_column(kind):
    table = check_table(mixed_frame() if kind == "pandas" else pl.from_pandas(mixed_frame()))
    pipeline = make_pipeline(make_preparation(table), RandLocal(**SMALL), LinearSVC(C=0.1)).fit(table, Y)
    explanation = explain(pipeline, table[:20], frame=kind)
    assert explanation.column_names.tolist() == list(table.columns)
    adds_up(explanation, pipeline, table[:20])
    prepared = pipeline[0].transform(table[:20])
    assert prepared.shape[1] == 8
    inner = explain(make_pipeline(*pipeline[1:]), prepared)
    colour = list(table.columns).index("colour")
    names = list(pipeline[0].get_feature_names_out())
    of_colour = [j for j, name in enumerate(names) if "colour" in name]
    np.testing.assert_allclose(explanation.column_scores[:, colour], inner.column_scores[:, of_colour].sum(1))
    value = explanation.columns
    value = value[value["row"] == 0] if kind == "pandas" else value.filter(pl.col("row") == 0)
    told = dict(zip(value["column"], value["value"], strict=True))
    assert told["colour"] == mixed_frame()["colour"][0]
    assert told["a"] == "5.1"


def test_columns_are_matched_by_name():
    pipeline = make_pipeline(StandardScaler(), RandLocal(**SMALL), LinearSVC(C=0.1)).fit(FRAME, Y)
    other = FRAME.assign(extra=1)[["extra", *FRAME.columns[::-1]]]
    np.testing.assert_array_equal(explain(pipeline, other[:9]).scores, explain(pipeline, FRAME[:9]).scores)
    np.testing.assert_array_equal(explain(pipeline, FRAME.iloc[8]).scores, explain(pipeline, FRAME[:9]).scores[8:])


def test_values_that_pandas_lacks():
    table = FRAME.set_axis(list("abcd"), axis=1).round().astype("Int64")
    table.loc[0, "b"] = None
    pipeline = make_pipeline(StandardScaler(), RandLocal(**SMALL), LinearSVC(C=0.1)).fit(table, Y)
    columns = explain(pipeline, table[:1]).columns.set_index("column")
    assert columns["value"].to_dict() == {"a": "5", "b": "", "c": "1", "d": "0"}
    assert columns["score"]["b"] == 0


NUMBERS = make_pipeline(SimpleImputer(), StandardScaler())
RARE = OneHotEncoder(min_frequency=20, handle_unknown="infrequent_if_exist", sparse_output=False)
ENCODERS = {
    "rare categories": make_column_transformer(
        (RARE, ["group"]), ("passthrough", ["a"]), (StandardScaler(), ["b", "c"])
    ),
    "without the first": make_column_transformer(
        (OneHotEncoder(drop="first", sparse_output=False), [4]), remainder="passthrough"
    ),
    "slice of names": make_column_transformer(
        (NUMBERS, slice("a", "d")), (OneHotEncoder(sparse_output=False), ["group"])
    ),
    "slice of numbers": make_column_transformer((NUMBERS, slice(0, 3)), ("drop", [3])),
    "mask": make_column_transformer((VarianceThreshold(), [True, True, False, True, False])),
}


@pytest.mark.parametrize("encoder", ENCODERS.values(), ids=ENCODERS)
def test_preparations_of_columns(encoder):
    table = FRAME.set_axis(list("abcd"), axis=1).assign(group=np.repeat(list("xyzuv"), [60, 60, 10, 10, 10]))
    pipeline = make_pipeline(encoder, RandLocal(**SMALL), LinearSVC(C=0.1)).fit(table, Y)
    explanation = explain(pipeline, table[::10])
    assert explanation.column_names.tolist() == ["a", "b", "c", "d", "group"]
    adds_up(explanation, pipeline, table[::10])
    inner = explain(make_pipeline(*pipeline[1:]), encoder.transform(table[::10])).column_scores
    for j, name in enumerate(table.columns):
        own = [k for k, made in enumerate(encoder.get_feature_names_out()) if re.search(rf"__{name}(_|$)", made)]
        np.testing.assert_allclose(explanation.column_scores[:, j], inner[:, own].sum(1), atol=1e-12)


def test_mixed_columns_are_named_by_what_mixes_them():
    pipeline = make_pipeline(PCA(3), RandLocal(**SMALL), LinearSVC(C=0.1)).fit(FRAME, Y)
    explanation = explain(pipeline, FRAME[:3])
    assert explanation.column_names.tolist() == ["PCA 0", "PCA 1", "PCA 2"]
    assert set(explanation.columns["value"]) == {""}
    named = explain(pipeline, FRAME[:3], column_names=["size", "shape", "rest"])
    assert named.column_names.tolist() == ["size", "shape", "rest"]


@pytest.mark.parametrize("scale", ["none", "standard", "minmax", "matrix", "tfidf"])
def test_the_library_s_own_scales(scale):
    rows = sp.csr_matrix(np.round(X))
    pipeline = make_pipeline(scaler(scale, rows), RandLocal(**SMALL), LinearSVC(C=0.1)).fit(rows, Y)
    explanation = explain(pipeline, rows[:9], column_names=["a", "b", "c", "d"])
    adds_up(explanation, pipeline, rows[:9])
    assert explanation.column_names.tolist() == ["a", "b", "c", "d"]
    assert explanation.columns["value"][0]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            RandomForestClassifier(3),
            "RandomForestClassifier is not a linear model, so its scores are no sums over anchors",
        ),
        (SVC(kernel="linear"), "The scores of SVC are not its coef_ times the features plus its intercept_"),
        (SVC(), "SVC is not a linear model"),
        (KMeans(2, n_init=1), "KMeans is not a linear model"),
    ],
    ids=["forest", "linear SVC by pairs", "SVC", "k-means"],
)
def test_models_that_are_not_linear_are_refused(model, message):
    with pytest.raises(ValueError, match=message):
        explain(make_pipeline(RandLocal(**SMALL), model).fit(X, Y), ROWS)


def test_other_bad_input_gets_one_sentence():
    pipeline = make_pipeline(StandardScaler(), RandLocal(**SMALL), LinearSVC(C=0.1))
    with pytest.raises(NotFittedError, match="The StandardScaler is not fitted yet; call fit before explain"):
        explain(pipeline, ROWS)
    with pytest.raises(NotFittedError, match="The RandLocal is not fitted yet"):
        explain(RandLocal(), ROWS)
    framed = Pipeline(pipeline.steps).fit(FRAME, Y)
    with pytest.raises(ValueError, match=r"X lacks columns that the pipeline was fitted on: petal width \(cm\)\."):
        explain(framed, FRAME.iloc[:, :3])
    pipeline = make_pipeline(StandardScaler(), RandLocal(**SMALL), LinearSVC(C=0.1)).fit(X, Y)
    for rows, message in [
        (ROWS[:, :3], "X has 3 columns; the pipeline was fitted on 4"),
        (ROWS[0, :2], "X has 2 columns"),
        (ROWS[:0], "X has no rows to explain"),
        (ROWS[None], "X must be one row or a table of rows; it has 3 dimensions"),
    ]:
        with pytest.raises(ValueError, match=message):
            explain(pipeline, rows)
    for options, message in [
        ({"class_": "rose"}, "class_='rose' is none of the model's classes, which are 'setosa', 'versicolor'"),
        ({"frame": "arrow"}, "frame must be one of None, 'pandas', 'polars'; got 'arrow'"),
        ({"y_train": Y[:9]}, "y_train has 9 labels, but row .* of the training data is an anchor"),
        ({"y_train": X}, "y_train must be one label for each training row"),
        ({"column_names": ["a"]}, "column_names must name 4 columns; 1 names were given"),
    ]:
        with pytest.raises(ValueError, match=message):
            explain(pipeline, ROWS, **options)
    for steps, message in [
        (
            (StandardScaler(), LinearSVC()),
            "There is no local map to explain by: .* this is StandardScaler and LinearSVC",
        ),
        ((RandLocal(**SMALL), QuantileTransformer(n_quantiles=9), LinearSVC()), "QuantileTransformer stands between"),
        ((RandLocal(**SMALL), SelectKBest(chi2, k=9), Normalizer(), LinearSVC()), "SelectKBest stands between"),
        ((ProjectedLandmarks(3), LinearSVC()), "ProjectedLandmarks measures distances in subspaces of all columns"),
        ((RULLS(3), LinearSVC()), "RULLS measures distances in subspaces"),
    ]:
        fitted = make_pipeline(*steps).fit(X, Y)
        with pytest.raises(ValueError, match=message):
            explain(fitted, ROWS)
    several = make_pipeline(RandLocal(**SMALL), RidgeClassifier()).fit(X, X[:, :2] > 5)
    with pytest.raises(ValueError, match="This RidgeClassifier gives a row several labels"):
        explain(several, ROWS)
    counts = make_pipeline(RandLocal(**SMALL), PoissonRegressor(max_iter=300)).fit(X, np.round(X[:, 0]))
    with pytest.raises(ValueError, match="The scores of PoissonRegressor are not its coef_"):
        explain(counts, ROWS)
    with pytest.raises(ValueError, match="class_ is for classifiers"):
        explain(make_pipeline(RandLocal(**SMALL), Ridge()).fit(X, X[:, 0]), ROWS, class_=1)


@pytest.mark.parametrize(
    ("steps", "y"),
    [
        ((TruncatedSVD(3), LinearDiscriminantAnalysis()), Y),
        ((SVC(kernel="linear"),), TWO),
        ((OnlinePerceptron(random_state=0),), Y),
        ((LinearSVR(),), X[:, 0]),
        ((SVR(kernel="linear"),), X[:, 0]),
    ],
    ids=lambda part: type(part[-1]).__name__ if isinstance(part, tuple) else "",
)
def test_other_models_that_are_linear(steps, y):
    pipeline = make_pipeline(RandLocal(**SMALL), *steps).fit(X, y)
    adds_up(explain(pipeline, ROWS), pipeline, ROWS)
