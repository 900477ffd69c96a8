"""Tables with columns that are no numbers: every estimator names them, in fit and in transform."""

from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from estimators import looks_at_all_rows
from sklearn.base import clone
from test_failed_fits import MODELS, answer, name_of

from vicinal.cluster import repeated_kmeans
from vicinal.expand.kernels import Gaussian

ROWS = np.random.default_rng(0).uniform(size=(40, 4))
Y = np.arange(40) % 2
COLOURS, DAYS = ["red", "green"] * 20, pd.date_range("2024-01-01", periods=40)


def frame(**strange):
    return pd.DataFrame(ROWS, columns=list("abcd")).assign(**strange)


def polars_frame(**strange):
    return pl.DataFrame(ROWS, schema=list("abcd")).with_columns(**strange)


def with_column(values):
    rows = ROWS.astype(object)
    rows[:, 1] = values
    return rows


TEXT = r"needs numbers, but X has something else in column {} \(text, such as 'red'\); encode such columns"
DATES = r"needs numbers, but X has something else in column {} \(dates or times\); encode such columns"
STRANGE = {
    "pandas strings": (frame(b=COLOURS), TEXT.format("'b'")),
    "pandas objects": (frame(b=pd.Series(COLOURS, dtype=object)), TEXT.format("'b'")),
    "pandas categories": (frame(b=pd.Categorical(COLOURS)), TEXT.format("'b'")),
    "pandas dates": (frame(b=DAYS), DATES.format("'b'")),
    "pandas dates with a zone": (frame(b=DAYS.tz_localize("UTC")), DATES.format("'b'")),
    "pandas durations": (frame(b=DAYS - DAYS[0]), DATES.format("'b'")),
    "two pandas columns of one name": (frame(c=COLOURS).set_axis(list("abba"), axis=1), TEXT.format("'b'")),
    "polars strings": (polars_frame(b=pl.Series(COLOURS)), TEXT.format("'b'")),
    "polars categories": (polars_frame(b=pl.Series(COLOURS, dtype=pl.Categorical)), TEXT.format("'b'")),
    "polars dates": (polars_frame(b=pl.Series(DAYS.date)), DATES.format("'b'")),
    "polars times": (polars_frame(b=pl.Series(DAYS.to_numpy())), DATES.format("'b'")),
    "an array of objects": (with_column(COLOURS), TEXT.format(1)),
    "an array of dates": (with_column([date(2024, 1, 1)] * 40), DATES.format(1)),
    "an array of text": (np.array([["red"]] * 40), TEXT.format(0)),
    "an array of times": (DAYS.to_numpy().reshape(40, 1), DATES.format(0)),
    "a list": (with_column(COLOURS).tolist(), TEXT.format(1)),
}
NUMBERS = {
    "pandas": frame(b=pd.Series(range(40), dtype="Int64"), c=Y == 1, d=pd.Series(ROWS[:, 0], dtype="Float32")),
    "pandas objects": frame(b=pd.Series(range(40), dtype=object)),
    "pandas categories": frame(b=pd.Categorical(Y)),
    "polars": polars_frame(b=pl.Series(range(40)), c=pl.Series(Y == 1), d=pl.Series(ROWS[:, 0], dtype=pl.Float32)),
    "polars decimals": polars_frame(b=pl.Series([Decimal("1.5"), Decimal(2)] * 20)),
    "an array of objects": with_column([Decimal(2), np.float32(1.5), True, 3] * 10),
    "a list": ROWS.tolist(),
}
ALL = {name_of(model): model for model in MODELS}
TAKE_TEXT = ("LocalClassifier", "LocalRegressor")  # of data frames


@pytest.mark.parametrize("name", [name for name in ALL if name not in TAKE_TEXT])
def test_columns_without_numbers_are_named(name):
    for rows, sentence in STRANGE.values():
        with pytest.raises(ValueError, match=f"^{name} {sentence}.*OneHotEncoder, or leave them out"):
            clone(ALL[name]).fit(rows, Y)


@pytest.mark.parametrize("name", [name for name in ALL if not looks_at_all_rows(ALL[name])])
def test_columns_without_numbers_are_named_after_the_fit(name):
    model = clone(ALL[name]).fit(frame(), Y)
    for table in ("pandas categories", "pandas dates", "polars strings", "polars dates"):
        rows, sentence = STRANGE[table]
        with pytest.raises(ValueError, match=f"^{name} {sentence}"):
            answer(model, rows)
    rows, sentence = STRANGE["an array of objects"]
    with pytest.raises(ValueError, match=f"^{name} {sentence}"):
        answer(model.fit(ROWS, Y), rows)


# Those that read all number types, and one of each other way through the door.
@pytest.mark.parametrize(
    "name",
    [
        "RandLocal",
        "RULLS",
        "ProjectedLandmarks",
        "SampledLandmarks",
        "HashedProjection",
        "PolynomialMap",
        "RobustPCA",
        "OnlinePerceptron",
        "MaximumVariance",
        "DenoisingAutoencoder",
    ],
)
@pytest.mark.parametrize("table", NUMBERS)
def test_numbers_in_any_container(name, table):
    rows = NUMBERS[table]
    plain = np.array(rows, dtype=np.float64) if isinstance(rows, np.ndarray | list) else rows.to_numpy().astype(float)
    found, expected = (answer(clone(ALL[name]).fit(some, Y), some) for some in (rows, plain))
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=1e-5, atol=1e-6)


def test_many_columns_and_other_objects():
    rows = with_column(COLOURS)
    rows[:, 0], rows[3, 2], rows[:, 3] = np.datetime64("2024-01-01"), {"a": 1}, None
    for what, error in ((rows, ValueError), (rows[:, 2:], TypeError)):
        with pytest.raises(error, match=r"column [0-2] \(.*float\(\) argument must be a string or a real number"):
            Gaussian()(what)
    with pytest.raises(ValueError, match=r"column 'f' .*, column 'g' .*, column 'h' .* and 2 more; encode"):
        repeated_kmeans(pd.DataFrame(dict.fromkeys("fghij", COLOURS)), 2)
