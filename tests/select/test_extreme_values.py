"""Values whose squares a computer cannot hold."""

import numpy as np
import pytest
import scipy.sparse as sp

from vicinal import MCFS, SPEC, LaplacianScore, MaximumVariance

SELECTORS = [
    MaximumVariance(),
    LaplacianScore(),
    LaplacianScore(weights="binary"),
    LaplacianScore(weights="cosine"),
    SPEC(),
    SPEC(criterion="total", power=2),
    SPEC(criterion="leading", n_vectors=3),
    MCFS(n_clusters=3),
]
each_selector = pytest.mark.parametrize("selector", SELECTORS, ids=lambda one: repr(one))
each_kind = pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])


@pytest.fixture
def X(rng):
    """The columns that matter are the last ones: none is found by its place."""
    X = np.abs(rng.normal(size=(40, 8))) * (rng.random((40, 8)) < 0.7)
    X[:, 5:] += np.repeat(np.eye(4, 3) * 6, 10, axis=0)
    return X


@each_kind
@each_selector
@pytest.mark.parametrize("factor", [1e-170, 2.0**-900, 1e160, 2.0**1000])
def test_a_common_factor_changes_no_ranking(X, kind, selector, factor):
    usual, extreme = selector.fit(kind(X)).scores_, selector.fit(kind(factor * X)).scores_
    told_apart = np.flatnonzero(usual != 0) if isinstance(selector, MCFS) else np.arange(8)
    assert len(set(usual[told_apart])) == len(told_apart) >= 6
    np.testing.assert_array_equal(np.argsort(usual[told_apart]), np.argsort(extreme[told_apart]))
    if isinstance(selector, LaplacianScore | SPEC):
        np.testing.assert_allclose(extreme, usual, rtol=1e-8)
    else:
        unit = factor if isinstance(selector, MaximumVariance) else 1 / factor
        np.testing.assert_allclose(extreme[usual > 0], unit * usual[usual > 0], rtol=1e-8)


@each_kind
@pytest.mark.parametrize("selector", SELECTORS[1:-1], ids=lambda one: repr(one))
def test_scores_without_a_unit_are_those_of_columns_alone(X, kind, selector):
    """Columns of 1e-170 do not change the graph, and are scored like others."""
    beside = np.hstack([X, 1e-170 * X[:, ::-1]])
    scores = selector.fit(kind(beside)).scores_
    np.testing.assert_allclose(scores[8:], scores[7::-1], rtol=1e-8)


@each_kind
def test_deviations_of_columns_in_very_different_units(X, kind):
    units = np.logspace(-300, 300, 8)
    scores = MaximumVariance().fit(kind(X * units)).scores_
    np.testing.assert_allclose(scores, X.std(axis=0) * units, rtol=1e-12)
