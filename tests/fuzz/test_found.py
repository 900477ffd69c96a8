"""What drawn tables have shown, as small as it gets."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

from vicinal import RSFS, RUFS, RULLS, SNFS, DenoisingAutoencoder, GaussianProjection, RBFMap, RobustPCA

ROWS = np.random.default_rng(0).standard_normal((12, 4))


def test_projections_of_large_rows_are_finite_or_refused():
    X = np.full((2, 1), np.finfo(np.float32).max)
    try:
        found = [GaussianProjection(1, random_state=seed).fit(X).transform(X) for seed in range(10)]
    except ValueError as error:
        assert "scale X" in str(error)  # noqa: PT017
    else:
        assert np.isfinite(found).all()


def test_distances_of_large_rows_are_finite_or_refused():
    X = np.array([[3e38, -3e38], [-3e38, 3e38], [1e38, 2e38], [0, 1e38]], np.float32)
    try:
        found = RULLS(3, n_neighborhood=3, n_nearest=1, random_state=0).fit_transform(X)
    except ValueError as error:
        assert "scale X" in str(error)  # noqa: PT017
    else:
        assert np.isfinite(found.data).all()


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_rows_without_a_variance_that_a_double_holds_are_refused(scale):
    with pytest.raises(ValueError, match="scale X first"):
        RobustPCA(2, random_state=0).fit(scale * ROWS)


def test_codes_of_large_rows_are_finite_or_refused():
    try:
        found = DenoisingAutoencoder(n_epochs=1, random_state=0).fit_transform(1e200 * ROWS)
    except ValueError as error:
        assert "scale X" in str(error)  # noqa: PT017
    else:
        assert np.isfinite(found).all()


def test_single_precision_goes_through_without_a_warning():
    X = np.abs(ROWS).astype(np.float32)
    SNFS(2).fit(X)
    SNFS(2).fit(sp.csr_array(X))


@pytest.mark.parametrize("make", [RSFS, RUFS])
def test_long_indices_are_as_good_as_short_ones(make):
    short, long = sp.csr_array(np.abs(ROWS)), sp.csr_array(np.abs(ROWS))
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    expected, found = (make(2, n_clusters=2, tol=0.01, random_state=0).fit(X).scores_ for X in (short, long))
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("spread", [1.0, 1e-3])
def test_the_map_of_sparse_rows_far_from_zero_is_that_of_dense_ones(spread):
    X = 1e10 + np.round(1e4 * spread * ROWS) / 1e4
    X[:, 2] = np.arange(12) % 3  # a column with zeros stays where it is
    dense, sparse = (RBFMap(gamma=0.5).fit(rows) for rows in (X, sp.csr_array(X)))
    kernel = rbf_kernel(X - [1e10, 1e10, 0, 1e10], gamma=0.5)
    for model in (dense, sparse):
        for rows in (X, sp.csr_array(X), sp.csr_matrix(X)):
            features = model.transform(rows)
            np.testing.assert_allclose(features @ features.T, kernel, atol=1e-6)


def test_rows_without_entries_where_all_training_rows_have_one():
    X = np.abs(ROWS) + 0.1
    dense, sparse = (RBFMap(gamma=0.5).fit(rows) for rows in (X, sp.csr_matrix(X)))
    empty = sp.csr_array(X * [0, 1, 1, 0])
    found, expected = (model.transform(empty) for model in (sparse, dense))
    np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-9)
