"""Cosines do not depend on the lengths of rows, however large or small their values are."""

import numpy as np
import pytest
import scipy.sparse as sp

from vicinal import RULLS, ProjectedLandmarks, RandLocal, SampledLandmarks

MAPS = [
    RandLocal(20, metric="cosine", random_state=0),
    RandLocal(20, metric="cosine", n_neighbors=3, random_state=0),
    SampledLandmarks(8, metric="cosine", n_columns=5, n_nearest=3, random_state=0),
    ProjectedLandmarks(8, metric="cosine", n_components=4, n_nearest=3, random_state=0),
    RULLS(8, metric="cosine", n_nearest=3, n_neighborhood=6, random_state=0),
]
each_map = pytest.mark.parametrize("features", MAPS, ids=["one", "three", "sampled", "projected", "rulls"])


@pytest.fixture
def X(rng):
    return rng.normal(size=(120, 8)) + 0.5


@each_map
@pytest.mark.parametrize("exponent", [-1000, -560, 510, 1000])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_one_scale_for_all_rows(X, features, exponent, form):
    expected = features.fit_transform(X).toarray()
    found = features.fit_transform(form(np.ldexp(X, exponent))).toarray()
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@each_map
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rows_of_any_length_after_fitting(rng, X, features, form):
    model, others = features.fit(X[:80]), X[80:]
    exponents = rng.choice([-1000, -560, 0, 510, 1000], size=(40, 1))
    found = model.transform(form(np.ldexp(others, exponents))).toarray()
    np.testing.assert_allclose(found, model.transform(others).toarray(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("features", MAPS[:3], ids=["one", "three", "sampled"])
def test_anchors_of_any_length(rng, X, features):
    rows, others = X[:80], X[80:]
    expected = features.fit(rows).transform(others).toarray()
    scaled = np.ldexp(rows, rng.choice([-1000, -560, 0, 510, 1000], size=(80, 1)))
    np.testing.assert_allclose(features.fit(scaled).transform(others).toarray(), expected, rtol=1e-9)
