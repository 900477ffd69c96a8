"""Scales, categories and missing values: the same numbers for every kind of table."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfTransformer

from vicinal._preparation import (
    SCALES,
    categorical_columns,
    check_table,
    describe_columns,
    describe_scale,
    has_missing,
    make_imputer,
    make_preparation,
    scaler,
    take_rows,
    usual_scale,
)


@pytest.fixture
def X(rng):
    return rng.normal(2, 3, size=(40, 5))


def scale(kind, X):
    return scaler(kind, X).fit_transform(X)


class TestScales:
    def test_what_they_are(self, X):
        np.testing.assert_array_equal(scale("none", X), X)
        np.testing.assert_allclose(scale("standard", X), (X - X.mean(0)) / X.std(0))
        np.testing.assert_allclose(scale("minmax", X), (X - X.min(0)) / np.ptp(X, axis=0))
        np.testing.assert_allclose(scale("matrix", X), X / (max(X.max(), 0) - min(X.min(), 0)))
        counts = np.abs(X).round()
        np.testing.assert_allclose(scale("tfidf", counts).toarray(), TfidfTransformer().fit_transform(counts).toarray())

    @pytest.mark.parametrize("kind", ["standard", "minmax"])
    def test_sparse_columns_are_divided_by_their_largest_value(self, kind):
        X = sp.random(30, 6, density=0.4, format="csr", random_state=0)
        largest = np.abs(X.toarray()).max(axis=0)
        np.testing.assert_allclose(scale(kind, X).toarray(), X.toarray() / largest)
        assert describe_scale(kind, sparse=True) == "divided by their largest value"

    @pytest.mark.parametrize("kind", SCALES)
    def test_single_precision_and_sparsity_stay(self, kind, X):
        dense = np.abs(X).astype(np.float32)
        assert scale(kind, dense).dtype == np.float32
        made = scale(kind, sp.csr_matrix(dense))
        assert sp.issparse(made)
        assert made.dtype == np.float32

    @pytest.mark.parametrize("kind", ["none", "standard", "minmax", "matrix"])
    def test_missing_values_pass(self, kind, X):
        X[3, 1] = np.nan
        np.testing.assert_array_equal(np.isnan(scale(kind, X)), np.isnan(X))

    @pytest.mark.parametrize("kind", ["none", "standard", "minmax", "matrix"])
    def test_new_rows_are_scaled_as_the_fitted_ones(self, kind, X):
        made = scaler(kind, X)
        whole = made.fit_transform(X)
        np.testing.assert_allclose(made.transform(X[:7]), whole[:7])
        np.testing.assert_allclose(clone(made).fit(X).transform(X[:7]), whole[:7])

    def test_unknown_ones_and_negative_counts_are_refused(self, X):
        with pytest.raises(ValueError, match=r"scale must be one of 'none', 'standard', .*; got 'columns'"):
            scaler("columns", X)
        with pytest.raises(ValueError, match="TF-IDF is for counts, but the least value is -1; take another scale"):
            scaler("tfidf", np.array([[-1.0, 2.0]]))

    def test_the_usual_one(self, X):
        assert usual_scale(X) == "standard"
        counts = sp.csr_matrix(np.abs(X).round())
        assert usual_scale(counts) == "tfidf"
        assert usual_scale(counts * 0.5) == "none"
        assert usual_scale(-counts) == "none"
        assert usual_scale(sp.csr_matrix((3, 2))) == "tfidf"


def test_missing_values_are_filled_with_medians():
    X = np.array([[1.0, np.nan], [5.0, np.nan], [np.nan, np.nan], [2.0, np.nan]])
    assert has_missing(X)
    np.testing.assert_array_equal(make_imputer().fit_transform(X), [[1, 0], [5, 0], [2, 0], [2, 0]])
    assert not has_missing(sp.csr_matrix(np.eye(2)))
    assert has_missing(sp.csr_matrix([[np.nan, 0.0]]))


def frames():
    """The same table, as polars and as pandas have it."""
    columns = {
        "size": [1.5, None, 3.0, 2.0],
        "colour": ["red", "blue", None, "red"],
        "count": [1, 2, 3, 4],
        "flag": [True, False, True, True],
    }
    polars = pl.DataFrame({**columns, "kind": pl.Series(["a", "b", "a", "b"], dtype=pl.Categorical)})
    pandas = pd.DataFrame(columns).assign(kind=pd.Categorical(["a", "b", "a", "b"]))
    pandas["count"] = pandas["count"].astype("Int64")
    return polars, pandas


class TestTables:
    def test_polars_and_pandas_give_the_same_numbers(self):
        made = []
        for frame in frames():
            X = check_table(frame)
            assert list(X.columns) == ["size", "count", "flag", "colour", "kind"]
            made.append(make_preparation(X).fit_transform(X))
            assert describe_columns(X) == describe_columns(frame)
            assert describe_columns(X) == "3 numeric columns standardised, 2 categorical columns one-hot encoded"
            assert categorical_columns(frame) == ["colour", "kind"]
        np.testing.assert_allclose(*made)
        assert made[0].shape == (4, 3 + 3 + 2)  # a missing colour is a colour of its own

    @pytest.mark.parametrize("place", [0, 1])
    def test_rows_and_new_categories(self, place):
        X = check_table(frames()[place])
        preparation = make_preparation(X).fit(take_rows(X, [0, 1, 3]))
        assert preparation.transform(take_rows(X, np.array([2]))).shape == (1, 7)

    @pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame])
    def test_infinite_values_and_other_types_are_refused(self, make):
        with pytest.raises(ValueError, match="Column 'b' has infinite values, the first in row 2"):
            check_table(make({"a": [1.0, 2.0], "b": [1.0, np.inf]}))
        dates = make({"day": np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[us]")})
        with pytest.raises(ValueError, match=r"Column 'day' is of type .*; turn it into numbers or text"):
            check_table(dates)

    def test_columns_of_objects(self):
        frame = pd.DataFrame({"text": ["a", None], "number": [1, None], "none": [None, None]}, dtype=object)
        assert categorical_columns(frame) == ["text"]
        X = check_table(frame)
        np.testing.assert_array_equal(X[["number", "none"]], [[1, np.nan], [np.nan, np.nan]])
        with pytest.raises(ValueError, match="Column 'mixed' is of type object"):
            check_table(pd.DataFrame({"mixed": [1, "a"]}, dtype=object))

    def test_names_of_pandas_columns(self):
        X = check_table(pd.DataFrame([[1, "a"], [2, "b"]], columns=[1, 0]))
        assert make_preparation(X).fit_transform(X).tolist() == [[-1, 1, 0], [1, 0, 1]]
        with pytest.raises(ValueError, match="Two columns are named '1'; rename one of them"):
            check_table(pd.DataFrame([[1, 2]], columns=[1, "1"]))

    def test_matrices(self):
        assert check_table(np.eye(2, dtype=np.float32)).dtype == np.float32
        assert check_table(np.eye(2, dtype=np.int8)).dtype == np.float32
        assert check_table(sp.eye(2, dtype=np.int64, format="csr")).dtype == np.float64
        with pytest.raises(ValueError, match="The matrix has infinite values"):
            check_table(sp.csr_matrix([[np.inf]]))
        assert describe_columns(np.eye(2)) == "2 numeric columns standardised"
        assert describe_columns(sp.eye(3, format="csr")) == "3 sparse columns divided by their largest value"


def test_thousands_of_columns_are_said_as_people_write_them():
    assert describe_columns(sp.csr_array((2, 10**6))).startswith("1,000,000 sparse columns ")
