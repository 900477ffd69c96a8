"""Checks of parameters: what passes, and one sentence for what does not."""

import re

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
    suggest,
)


@pytest.mark.parametrize(
    ("check", "value", "expected"),
    [
        (lambda value: check_count("n", value), 3, 3),
        (lambda value: check_count("n", value, least=0), np.int8(0), 0),
        (lambda value: check_non_negative("w", value), 0, 0.0),
        (lambda value: check_positive("w", value), np.float32(0.5), 0.5),
        (lambda value: check_share("s", value), 1, 1.0),
        (lambda value: check_count_range("k", value), 4, (4, 4)),
        (lambda value: check_count_range("k", value), [2, 5], (2, 5)),
        (lambda value: check_feature_count("m", value, 10), 30, 10),
        (lambda value: check_feature_count("m", value, 10), 0.11, 2),
        (lambda value: check_feature_range("m", value, 10), (1, 0.5), (1, 5)),
        (lambda value: check_feature_range("m", value, 10), (2, 99), (2, 10)),
        (lambda value: check_selected_count(value, 100, has_rule=False), 0.07, 7),
        (lambda value: check_selected_count(value, 100, has_rule=False), "all", 100),
        (lambda value: check_selected_count(value, 100, has_rule=True), "auto", None),
        (lambda value: check_image_shape(value, 12), (3, 4), (3, 4, 1)),
        (lambda value: check_image_shape(value, 12), [2, 3, 2], (2, 3, 2)),
    ],
    ids=lambda value: repr(value) if not callable(value) else "",
)
def test_what_passes(check, value, expected):
    found = check(value)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("check", "bad", "message"),
    [
        (lambda value: check_choice("kind", value, ("a", "b")), ["c", None, 1], "kind must be one of 'a', 'b'; got "),
        (lambda value: check_count("n", value), [0, 1.0, True, "2", None], "n must be a whole number of at least 1"),
        (lambda value: check_non_negative("w", value), [-1, np.inf, np.nan, True], "w must be a number of at least 0"),
        (lambda value: check_positive("w", value), [0, np.nan, "1"], "w must be a number above 0; got "),
        (lambda value: check_share("s", value), [0, 1.5, np.nan, True], "s must be a share above 0 and up to 1.0"),
        (lambda value: check_count_range("k", value), [(3, 2), (0, 1), (1, 2, 3), 1.5], "or a pair (lowest, highest)"),
        (lambda value: check_feature_count("m", value, 10), [0, 0.0, 1.5, True], "or a share of the columns above 0"),
        (lambda value: check_feature_range("m", value, 10), [3, (5, 2), (0.0, 1), (1,)], "m must be a pair"),
        (lambda value: check_selected_count(value, 5, has_rule=False), [6], "but X has 5 features; ask for fewer"),
        (lambda value: check_selected_count(value, 1, has_rule=False), [2], "but X has 1 feature; ask for fewer"),
        (lambda value: check_selected_count(value, 5, has_rule=False), ["auto", 0, True], "1.0, or 'all'; got "),
        (lambda value: check_selected_count(value, 5, has_rule=True), ["most"], "'auto' or 'all'; got 'most'."),
        (lambda value: check_image_shape(value, 12), [(3,), 12, (3, -4), (3, 4.0)], "image_shape must be (height"),
        (lambda value: check_image_shape(value, 12), [(3, 5)], "image_shape=(3, 5) has 15 pixels but X has 12"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_does_not(check, bad, message):
    for value in bad:
        with pytest.raises(ValueError, match=re.escape(message)):
            check(value)


class Model:
    @all_or_nothing
    def fit(self, value, fail):
        self.value_ = value
        self.other_ = value
        if fail:
            raise fail
        return self


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, MemoryError])
def test_a_failed_fit_leaves_the_model_as_it_was(error):
    model = Model()
    with pytest.raises(error):
        model.fit(1, error)
    assert vars(model) == {}
    assert model.fit(2, None) is model
    with pytest.raises(error):
        model.fit(3, error)
    assert vars(model) == {"value_": 2, "other_": 2}


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_rare_number_types_become_common_ones(convert):
    X = np.array([[0.0, 1.0], [2.0, 0.0]])
    types = [("bool", "uint8"), ("float32", "float32"), ("int16", "int16")]
    if convert is np.asarray:  # SciPy has no other order of bytes
        types += [(">f8", "float64"), (">i4", "int32")]
    for given, expected in types:
        found = as_numbers(convert(X.astype(given)))
        assert found.dtype == expected
        assert found.dtype.isnative
        dense = found.toarray() if sp.issparse(found) else found
        assert np.array_equal(dense, X.astype(given))


@pytest.mark.parametrize(("given", "expected"), [(np.float16, np.float32), (np.longdouble, np.float64)])
def test_numbers_of_other_lengths_become_the_next(given, expected):
    assert as_numbers(np.ones((2, 2), given)).dtype == expected


def test_common_types_are_not_copied_and_packed_records_are():
    X = np.ones((3, 2))
    assert as_numbers(X) is X
    assert as_numbers(X.astype(bool)).base is not None
    records = np.zeros(4, dtype=[("flag", "i1"), ("values", "f8", 2)])
    packed = records["values"]
    assert any(stride % 8 for stride in packed.strides)
    assert as_numbers(packed).flags.c_contiguous


def test_unknown_words_get_a_hint():
    assert suggest("MNIST", ["mnist", "iris"]) == "did you mean 'mnist'?"
    assert suggest("x", []) == "none are known"
    assert suggest("zzz", ["a", "b"]) == "known are a, b"
