"""Views side by side, and how they can be described."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from vicinal._views import resolve_views
from vicinal.views import split_views, stack_views, views_by_prefix


@pytest.fixture
def matrices(rng):
    return [rng.normal(size=(6, 3)), rng.normal(size=(6, 2)), rng.normal(size=(6, 4))]


def as_array(X):
    return X.toarray() if sp.issparse(X) else np.asarray(X)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, sp.csc_matrix, pd.DataFrame, lambda X: pl.DataFrame(X)])
def test_what_is_stacked_can_be_split(matrices, kind):
    X, views = stack_views([kind(matrix) for matrix in matrices])
    assert views == {"view1": slice(0, 3), "view2": slice(3, 5), "view3": slice(5, 9)}
    np.testing.assert_array_equal(as_array(X), np.hstack(matrices))
    parts = split_views(X, views)
    assert list(parts) == list(views)
    for part, matrix in zip(parts.values(), matrices, strict=True):
        assert type(part) is type(X)
        np.testing.assert_array_equal(as_array(part), matrix)


def test_one_sparse_view_makes_all_of_them_csr(matrices):
    X, _ = stack_views([matrices[0], sp.coo_array(matrices[1]), pd.DataFrame(matrices[2])])
    assert sp.issparse(X)
    assert X.format == "csr"
    np.testing.assert_array_equal(X.toarray(), np.hstack(matrices))


def test_names_come_from_a_mapping_or_a_list(matrices):
    assert list(stack_views(dict(zip("abc", matrices, strict=True)))[1]) == list("abc")
    assert list(stack_views(matrices, names=["x", "y", "z"])[1]) == ["x", "y", "z"]


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_columns_of_the_same_name_are_told_apart(kind):
    first, second = kind({"ball": [1, 2], "goal": [3, 4]}), kind({"ball": [5, 6]})
    X, views = stack_views({"title": first, "text": second})
    assert list(X.columns) == ["title_ball", "title_goal", "text_ball"]
    assert views_by_prefix(X) == views
    assert list(first.columns) == ["ball", "goal"]
    assert list(stack_views([first, kind({"net": [5, 6]})])[0].columns) == ["ball", "goal", "net"]


def test_rows_keep_their_names():
    frames = [pd.DataFrame({name: [1, 2]}, index=["p", "q"]) for name in "ab"]
    assert list(stack_views(frames)[0].index) == ["p", "q"]


@pytest.mark.parametrize(
    ("views", "sentence"),
    [
        ([np.zeros((3, 2)), np.zeros((4, 2))], "'view1' has 3 rows and view 'view2' has 4; all views must"),
        ([np.zeros((3, 2)), np.zeros((3, 0))], "'view2' has no columns"),
        ([np.zeros(3)], "'view1' must be a matrix"),
        ([], "There are no views"),
        ([pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"b": [1, 2]}, index=[1, 0])], "in another order"),
    ],
)
def test_views_that_cannot_be_stacked(views, sentence):
    with pytest.raises(ValueError, match=sentence):
        stack_views(views)


@pytest.mark.parametrize(
    ("names", "sentence"), [(["a"], "1 names for 3 views"), (["a", "b", "a"], "Two views have the name 'a'")]
)
def test_names_that_do_not_fit(matrices, names, sentence):
    with pytest.raises(ValueError, match=sentence):
        stack_views(matrices, names)


@pytest.mark.parametrize(
    ("views", "expected"),
    [
        (None, {"view1": [0, 1, 2, 3]}),
        ([3, 1], {"view1": [0, 1, 2], "view2": [3]}),
        (np.array([3, 1]), {"view1": [0, 1, 2], "view2": [3]}),
        ({"a": 1, "b": 3}, {"a": [0], "b": [1, 2, 3]}),
        ([slice(2), slice(2, None)], {"view1": [0, 1], "view2": [2, 3]}),
        ({"a": slice(0, 4, 2), "b": [1, 3]}, {"a": [0, 2], "b": [1, 3]}),
        ([range(1), np.array([3, 1, 2])], {"view1": [0], "view2": [3, 1, 2]}),
        ({"a": ["q", "s"], "b": ("p", "r")}, {"a": [1, 3], "b": [0, 2]}),
    ],
)
def test_every_way_to_describe_views(views, expected):
    found = resolve_views(views, 4, list("pqrs"))
    assert {name: columns.tolist() for name, columns in found.items()} == expected
    assert list(found) == list(expected)


@pytest.mark.parametrize(
    ("views", "sentence"),
    [
        ([2, 3], r"2 \+ 3 = 5 columns, but X has 4; the views' numbers"),
        ([4, 0], "'view2' has no columns"),
        ([5, -1], "must add up"),
        ([[0, 1], [1, 2, 3]], "'view1' and 'view2' both have column 1;"),
        ([[0, 1, 1], [2, 3]], "'view1' has column 1 twice;"),
        ([[0, 1], []], "'view2' has no columns"),
        ([slice(0, 4), slice(4, 4)], "'view2' has no columns"),
        ([slice(0, 9)], "goes to column 8, but X has columns 0 to 3"),
        ([[0, 1, 2, 4]], "has column 4, but X has 4"),
        ([[-1]], "has column -1"),
        ([[0, 2]], "Columns 'q', 's' of X belong to no view"),
        ([[0, 1, 2]], "Column 's' of X belongs to no view"),
        ([["p", "x"]], "has the column 'x', but X has no column of that name"),
        ([], "There are no views"),
        ("pq", "views must be"),
        (3, "views must be"),
        ({"a": "p", "b": [1, 2, 3]}, "must be a slice, a list"),
        ([[0, 1.5], [1]], "must be a slice, a list"),
    ],
)
def test_views_that_make_no_sense(views, sentence):
    with pytest.raises(ValueError, match=sentence):
        resolve_views(views, 4, list("pqrs"))


def test_names_need_names():
    with pytest.raises(ValueError, match="columns of X have no names"):
        resolve_views([["p"]], 1)
    with pytest.raises(ValueError, match="data frame"):
        split_views(np.zeros((2, 2)), {"a": ["p", "q"]})


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_views_by_prefix(kind):
    X = kind({name: [0.0] for name in ["w_a", "wx_a", "t_a", "w_b"]})
    assert views_by_prefix(X) == {"w": [0, 3], "wx": slice(1, 2), "t": slice(2, 3)}
    assert views_by_prefix(X, ["w", "wx", "t"]) == {"w": [0, 3], "wx": slice(1, 2), "t": slice(2, 3)}
    assert views_by_prefix(X, {"words": "w", "tags": "t_"}) == {"words": [0, 1, 3], "tags": slice(2, 3)}


@pytest.mark.parametrize(
    ("prefixes", "sentence"),
    [
        (["w_"], "'t_a' of X belongs to no view"),
        (["w_", "t_", "z_"], "begins with 'z_', for the view 'z'"),
        (["w_", "w"], "Two views have the name 'w'"),
    ],
)
def test_prefixes_that_do_not_fit(prefixes, sentence):
    with pytest.raises(ValueError, match=sentence):
        views_by_prefix(pd.DataFrame({"w_a": [0], "t_a": [0]}), prefixes)


def test_prefixes_need_names():
    with pytest.raises(ValueError, match="frame"):
        views_by_prefix(np.zeros((2, 2)))
    with pytest.raises(ValueError, match="separator"):
        views_by_prefix(pd.DataFrame({"a": [0]}), separator="")


def test_frames_with_names_and_numbers_as_names():
    X, _ = stack_views({"a": pd.DataFrame([[1.0, 2.0]]), "b": pd.DataFrame([[3.0]], columns=["x"])})
    assert list(X.columns) == ["a_0", "a_1", "b_x"]


def test_slices_of_names_are_refused_and_an_index_is_a_list():
    X = pd.DataFrame(np.ones((2, 3)), columns=["w_a", "w_b", "t_a"])
    with pytest.raises(ValueError, match="View 'w' must be a slice, a list of column numbers"):
        split_views(X, {"w": slice("w_a", "w_b"), "t": [2]})
    assert split_views(X, {"w": X.columns[:2], "t": X.columns[2:]})["w"].shape == (2, 2)
