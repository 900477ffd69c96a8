"""What the drawn tables have shown, as small as it gets. What is mended loses its mark and stays."""

import numpy as np
import pytest
import scipy.sparse as sp

from vicinal import RSFS, RUFS, SNFS, DenoisingAutoencoder, GaussianProjection, RobustPCA

ROWS = np.random.default_rng(0).standard_normal((12, 4))


@pytest.mark.xfail(strict=True, reason="products beyond float32 become infinity")
def test_projections_of_large_rows_are_finite_or_refused():
    X = np.full((2, 1), np.finfo(np.float32).max)
    try:
        found = [GaussianProjection(1, random_state=seed).fit(X).transform(X) for seed in range(10)]
    except ValueError as error:
        assert "scale X" in str(error)  # noqa: PT017
    else:
        assert np.isfinite(found).all()


@pytest.mark.xfail(strict=True, raises=RuntimeWarning, reason="variances are squares of what float64 does not hold")
@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_robust_components_do_not_depend_on_the_unit(scale):
    expected, found = (RobustPCA(2, random_state=0).fit(X) for X in (ROWS, scale * ROWS))
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-6)


@pytest.mark.xfail(strict=True, raises=RuntimeWarning, reason="the loss squares what float64 does not hold")
def test_codes_of_large_rows_are_finite_or_refused():
    try:
        found = DenoisingAutoencoder(n_epochs=1, random_state=0).fit_transform(1e200 * ROWS)
    except ValueError as error:
        assert "scale X" in str(error)  # noqa: PT017
    else:
        assert np.isfinite(found).all()


@pytest.mark.xfail(strict=True, raises=RuntimeWarning, reason="a float32 is compared with 1e70")
def test_single_precision_goes_through_without_a_warning():
    X = np.abs(ROWS).astype(np.float32)
    SNFS(2).fit(X)
    SNFS(2).fit(sp.csr_array(X))


@pytest.mark.xfail(strict=True, raises=ValueError, reason="k-means of scikit-learn takes 32-bit indices only")
@pytest.mark.parametrize("make", [RSFS, RUFS])
def test_long_indices_are_as_good_as_short_ones(make):
    short, long = sp.csr_array(np.abs(ROWS)), sp.csr_array(np.abs(ROWS))
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    expected, found = (make(2, n_clusters=2, tol=0.01, random_state=0).fit(X).scores_ for X in (short, long))
    np.testing.assert_allclose(found, expected)
