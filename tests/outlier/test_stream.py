"""A sample of a stream in which newer rows have greater chances."""

import numpy as np
import pytest
import scipy.sparse as sp

from vicinal.outlier._stream import draw_keys, keep_largest, stacked

pytestmark = pytest.mark.portable


def shares(half_life, n_rows=1000, kept=20, runs=2000):
    counts = np.zeros(n_rows)
    rows = np.arange(n_rows)[:, None]
    for run in range(runs):
        keys = draw_keys(n_rows, 0, n_rows, half_life, np.random.RandomState(run))
        counts[keep_largest(rows, keys, kept)[0].ravel()] += 1
    return counts.reshape(10, -1).sum(axis=1) / counts.sum()


def test_without_half_life_all_rows_have_equal_chances():
    np.testing.assert_allclose(shares(None), 0.1, atol=0.01)


def test_chances_halve_with_every_half_life():
    found = shares(200)
    expected = 2.0 ** (np.arange(10) / 2)
    np.testing.assert_allclose(found, expected / expected.sum(), atol=0.02)


def test_rows_stay_in_the_order_in_which_they_came():
    rows, keys = keep_largest(np.arange(6), np.array([0.5, 3.0, 1.0, 2.0, 0.1, 4.0]), 3)
    assert rows.tolist() == [1, 3, 5]
    assert keys.tolist() == [3.0, 2.0, 4.0]


def test_rows_that_stand_for_many_weigh_as_many():
    few = np.array([draw_keys(1, 0, 1, None, np.random.RandomState(run), each=9.0)[0] for run in range(4000)])
    one = np.array([draw_keys(1, 0, 1, None, np.random.RandomState(-run - 1 + 2**31))[0] for run in range(4000)])
    assert abs((few > one).mean() - 0.9) < 0.02


def test_sparse_and_dense_rows_below_each_other():
    both = stacked([sp.csr_array(np.eye(2)), np.ones((1, 2))])
    assert sp.issparse(both)
    assert both.toarray().tolist() == [[1, 0], [0, 1], [1, 1]]
    assert stacked([np.eye(2), np.ones((1, 2))]).shape == (3, 2)
