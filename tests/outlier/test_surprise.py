"""Scores on one scale, in powers of ten."""

import numpy as np
import pytest

from vicinal.outlier._surprise import score_levels, surprise


def test_one_in_ten_is_1_and_one_in_a_hundred_2():
    scores = np.random.default_rng(0).exponential(size=100_000)
    levels = score_levels(scores)
    at = surprise(np.quantile(scores, [0.5, 0.9, 0.99]), levels)
    np.testing.assert_allclose(at, [np.log10(2), 1, 2], atol=0.01)
    # and an exponential tail goes on as it is
    np.testing.assert_allclose(surprise(np.array([np.log(10_000.0)]), levels), 4, atol=0.15)


@pytest.mark.parametrize("seed", range(5))
def test_order_is_kept_also_beyond_all_training_rows(seed):
    rng = np.random.default_rng(seed)
    levels = score_levels(rng.normal(size=300) ** 3)
    scores = np.sort(np.concatenate([rng.normal(size=100) ** 3, levels[-1] + np.arange(1, 50)]))
    found = surprise(scores, levels)
    assert (np.diff(found) >= 0).all()
    assert (np.diff(found[scores > levels[-1]]) > 0).all()
    assert (found >= 0).all()


def test_what_many_share_is_not_strange():
    levels = score_levels(np.concatenate([np.zeros(70), np.ones(30)]))
    np.testing.assert_allclose(surprise(np.array([0.0, 1.0]), levels), [0, -np.log10(0.3)], atol=0.02)


@pytest.mark.parametrize("value", [0.0, 1.0, -1e9, 1e-12])
def test_where_all_are_equal_another_one_is_far_but_finite(value):
    levels = score_levels(np.full(20, value))
    same, next_to_it, other = surprise(np.array([value, np.nextafter(value, np.inf), value + 1]), levels)
    assert same == 0
    assert next_to_it < 0.01
    assert 2 < other < np.inf
