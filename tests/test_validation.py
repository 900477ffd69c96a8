"""Checks of parameters: what passes, and one sentence with the name and the value for what does not."""

import numpy as np
import pytest
import scipy.sparse as sp

from vicinal._validation import (
    all_or_nothing,
    as_numbers,
    check_choice,
    check_count,
    check_count_range,
    check_feature_count,
    check_feature_range,
    check_image_shape,
    check_non_negative,
    check_positive,
    check_selected_count,
    check_share,
)


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (check_count, [1, np.int64(7)], [0, -1, 1.0, True, "1", None]),
        (check_non_negative, [0, 0.5, np.float32(2)], [-1, np.inf, np.nan, True, "1"]),
        (check_positive, [1, 1e-300], [0, -0.5, np.inf, np.nan, None]),
        (check_share, [1, 0.01, np.float64(1)], [0, 1.01, np.nan, True, "half"]),
    ],
)
def test_numbers(check, good, bad):
    for value in good:
        assert check("size", value) == value
    for value in bad:
        with pytest.raises(ValueError, match=r"^size must be a .*; got ") as refusal:
            check("size", value)
        assert str(refusal.value).endswith(f"got {value!r}.")


def test_choices_and_ranges():
    check_choice("metric", "cosine", ("cosine", "euclidean"))
    with pytest.raises(ValueError, match="metric must be one of 'cosine', 'euclidean'; got 'angle'"):
        check_choice("metric", "angle", ("cosine", "euclidean"))
    assert check_count_range("degree", 3) == (3, 3)
    assert check_count_range("degree", (2, 5)) == (2, 5)
    for value in ((5, 2), (0, 3), (1.0, 2), (1, 2, 3), "ab"):
        with pytest.raises(ValueError, match=r"degree must be a whole number .* or a pair"):
            check_count_range("degree", value)


def test_numbers_of_columns():
    assert [check_feature_count("columns", value, 10) for value in (3, 30, 0.25, 1.0, 0.001)] == [3, 10, 3, 10, 1]
    assert check_feature_range("columns", (0.2, 0.5), 10) == (2, 5)
    assert check_feature_range("columns", (2, 50), 10) == (2, 10)
    for value in (0, 1.5, "all", True):
        with pytest.raises(ValueError, match="columns must be"):
            check_feature_count("columns", value, 10)
        with pytest.raises(ValueError, match="columns must be"):
            check_feature_range("columns", (value, value), 10)
    assert [check_selected_count(value, 100, has_rule=False) for value in (7, 0.07, "all")] == [7, 7, 100]
    assert check_selected_count("auto", 100, has_rule=True) is None
    with pytest.raises(ValueError, match="or 'all'; got 'auto'"):
        check_selected_count("auto", 100, has_rule=False)
    with pytest.raises(ValueError, match="but X has 100 features; ask for fewer"):
        check_selected_count(101, 100, has_rule=False)


def test_image_shapes():
    assert check_image_shape((4, 5), 20) == (4, 5, 1)
    assert check_image_shape([4, 5, 3], 60) == (4, 5, 3)
    with pytest.raises(ValueError, match="has 20 pixels but X has 21 features"):
        check_image_shape((4, 5), 21)
    for shape in (None, (20,), (4, 5.0), (0, 20), "4x5"):
        with pytest.raises(ValueError, match="image_shape must be"):
            check_image_shape(shape, 20)


@pytest.mark.parametrize("kind", [bool, np.float16, np.longdouble, ">f8", ">i4"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_rare_number_types_keep_their_values(kind, form):
    X = np.array([[1, 0], [0, 1]]).astype(kind)
    if form is sp.csr_matrix and (kind is np.float16 or str(kind).startswith(">")):
        pytest.skip("SciPy has no sparse matrices of that type")
    made = as_numbers(form(X))
    assert made.dtype.isnative
    assert made.dtype.kind in "iuf"
    assert made.dtype.itemsize in (1, 2, 4, 8)
    np.testing.assert_array_equal(made.toarray() if sp.issparse(made) else made, X)


def test_a_call_that_fails_leaves_no_trace():
    class Model:
        @all_or_nothing
        def fit(self, error):
            self.size, self.new = 2, 3
            if error is not None:
                raise error

    model = Model()
    model.size = 1
    for error in (ValueError(), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            model.fit(error)
        assert vars(model) == {"size": 1}
    model.fit(None)
    assert vars(model) == {"size": 2, "new": 3}
