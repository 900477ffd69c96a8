"""p-values by rows held out, and a bound on false alarms."""

import numpy as np
import pytest
from scipy.stats import false_discovery_control

from vicinal import LocalOutlierDetector, NeighborOutlierDetector, RandLocal
from vicinal.outlier._calibrated import rejected, split_rows

pytestmark = pytest.mark.portable


def detectors(seed):
    return [
        LocalOutlierDetector(20, random_state=seed, n_jobs=1),
        NeighborOutlierDetector(RandLocal(20, random_state=seed), n_neighbors=5, random_state=seed, n_jobs=1),
    ]


@pytest.mark.parametrize("which", [0, 1])
def test_p_values_of_exchangeable_rows_are_uniform(which):
    """Over many data sets; each gives one independent row, so that the counts are binomial."""
    found = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        X = rng.standard_t(3, size=(121, 3))
        found.append(detectors(seed)[which].fit(X[:120]).p_values(X[120:])[0])
    for level in (0.1, 0.3, 0.5, 0.8):
        share = np.mean(np.array(found) <= level)
        assert abs(share - level) < 3.5 * np.sqrt(level * (1 - level) / 150), (level, share)


def test_false_alarms_stay_within_the_bound():
    """The share of false alarms among alarms, averaged over data sets, with and without outliers among the new rows."""
    alarms, shares, found = [], [], []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        detector = LocalOutlierDetector(30, calibration=0.5, random_state=seed).fit(rng.normal(size=(2000, 4)))
        normal, strange = rng.normal(size=(180, 4)), rng.normal(6, 1, size=(20, 4))
        alarms.append((detector.predict(normal, fdr=0.1) == -1).any())
        outliers = detector.predict(np.concatenate([normal, strange]), fdr=0.1) == -1
        shares.append(outliers[:180].sum() / max(outliers.sum(), 1))
        found.append(outliers[180:].mean())
    assert np.mean(alarms) <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / 25)
    assert np.mean(shares) <= 0.1 + 3 * np.std(shares) / 5
    assert np.mean(found) > 0.9


def test_p_values_count_rows_that_are_at_least_as_strange():
    X = np.random.default_rng(0).normal(size=(400, 3))
    detector = LocalOutlierDetector(20, random_state=0).fit(X)
    held_out = detector.calibration_scores_
    scores = detector.score_samples(X[:5])
    expected = [(1 + (held_out <= score).sum()) / (1 + len(held_out)) for score in scores]
    np.testing.assert_array_equal(detector.p_values(X[:5]), expected)
    assert len(held_out) == 120


@pytest.mark.parametrize("seed", range(5))
def test_benjamini_and_hochberg(seed):
    rng = np.random.default_rng(seed)
    p = np.concatenate([rng.uniform(size=80), rng.uniform(0, 0.01, size=20)])
    for fdr in (0.01, 0.05, 0.2, 1.0):
        np.testing.assert_array_equal(rejected(p, fdr), false_discovery_control(p) <= fdr)
    assert not rejected(np.ones(5), 0.5).any()


def test_rows_are_held_out_or_learned_from_never_both():
    learned, held_out = split_rows(100, 60, 0.3, np.random.RandomState(0))
    assert len(learned) == 42
    assert len(held_out) == 18
    assert not np.isin(learned, held_out).any()
    assert len(split_rows(3, 60, 0.9, np.random.RandomState(0))[0]) == 2
