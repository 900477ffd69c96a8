"""The distance to the k-th nearest training row, by the cosine of local features."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import cosine_distances
from sklearn.preprocessing import PolynomialFeatures

from vicinal import NeighborOutlierDetector, RandLocal


def ring(n_rows=400, seed=0):
    """A ring, and rows in its middle."""
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, 2 * np.pi, n_rows)
    X = np.column_stack([np.cos(angles), np.sin(angles)]) + 0.05 * rng.normal(size=(n_rows, 2))
    y = np.arange(n_rows) < 8
    X[y] = 0.2 * rng.normal(size=(8, 2))
    return X, y


def test_rows_in_the_middle_of_a_ring_are_found():
    X, y = ring()
    detector = NeighborOutlierDetector(n_neighbors=10, contamination=0.02, random_state=0).fit(X)
    assert roc_auc_score(y, -detector.score_samples(X)) > 0.95
    assert (detector.predict(X[y]) == -1).mean() > 0.4


def test_new_rows_are_ordered_by_the_kth_cosine_distance():
    X, _ = ring()
    detector = NeighborOutlierDetector(RandLocal(50, random_state=0), n_neighbors=3, calibration=0, random_state=0)
    detector.fit(X)
    new = ring(50, seed=1)[0]
    expected = np.sort(cosine_distances(detector.map_.transform(new), detector.features_), axis=1)[:, 2]
    order = np.argsort(-detector.score_samples(new), kind="stable")
    np.testing.assert_allclose(expected[order], np.sort(expected), atol=1e-5)


def test_a_training_row_is_not_its_own_neighbour_but_its_copy_is():
    X, _ = ring(60)
    detector = NeighborOutlierDetector(n_neighbors=1, calibration=0, random_state=0).fit(X)
    distances = cosine_distances(detector.features_)
    np.fill_diagonal(distances, np.inf)
    order = np.argsort(-detector.score_samples(X), kind="stable")
    nearest = distances.min(axis=1)
    np.testing.assert_allclose(nearest[order], np.sort(nearest), atol=1e-5)
    twice = NeighborOutlierDetector(n_neighbors=1, calibration=0, random_state=0).fit(np.concatenate([X, X]))
    assert (twice.score_samples(X) > -0.01).all()


def test_any_map_will_do():
    X, _ = ring()
    detector = NeighborOutlierDetector(PolynomialFeatures(2, include_bias=True), n_neighbors=20, random_state=0).fit(X)
    assert np.isfinite(detector.score_samples(X)).all()


def test_only_some_rows_are_kept():
    X, _ = ring()
    assert NeighborOutlierDetector(max_samples=100, random_state=0).fit(X).features_.shape[0] == 70


@pytest.mark.portable
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be a whole number"),
        ({"max_samples": 1}, "max_samples must be a whole number of at least 2"),
        ({"contamination": 1.0}, "contamination must be 'auto'"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        NeighborOutlierDetector(**parameters).fit(ring(50)[0])
