"""Rows far from anchors, in empty cells, or far for their neighbourhood."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from vicinal import LocalOutlierDetector


def with_outliers(n_rows=2000, n_columns=6, share=0.02, seed=0):
    """A cloud, and rows far from it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    y = rng.uniform(size=n_rows) < share
    X[y] = rng.uniform(-6, 6, size=(y.sum(), n_columns))
    return X, y


def with_local_outliers(n_rows=6000, n_clusters=40, seed=0):
    """Clusters of very different widths, and rows beside their own cluster that are far from nothing else."""
    rng = np.random.default_rng(seed)
    centers, widths = rng.uniform(size=(n_clusters, 8)), np.exp(rng.uniform(-5, -1.5, n_clusters))
    cluster = rng.integers(n_clusters, size=n_rows)
    y = rng.uniform(size=n_rows) < 0.02
    widened = widths[cluster] * np.where(y, 4, 1)
    return centers[cluster] + widened[:, None] * rng.normal(size=(n_rows, 8)), y


def auc(detector, X, y):
    return roc_auc_score(y, -detector.score_samples(X))


@pytest.mark.parametrize("criterion", ["combined", "values", "mass"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_far_rows_are_found(criterion, metric):
    X, y = with_outliers()
    detector = LocalOutlierDetector(100, criterion=criterion, metric=metric, random_state=0).fit(X)
    assert auc(detector, X, y) > (0.9 if criterion == "mass" else 0.98)


def test_one_column_far_out_is_enough():
    X, _ = with_outliers(900, 8, share=0)
    X[[3, 50, 700], [0, 4, 7]] = 12
    detector = LocalOutlierDetector(random_state=0).fit(X)
    assert detector.predict(X[[3, 50, 700]]).tolist() == [-1, -1, -1]


def test_rows_in_another_direction_are_found_by_cosine():
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 1.5, size=(1000, 1)) * np.array([1, 2, 3, 4.0]) + 0.05 * rng.normal(size=(1000, 4))
    X[:10] = X[:10, ::-1]
    detector = LocalOutlierDetector(50, metric="cosine", feature_range=(2, 4), scale=None, random_state=0).fit(X)
    assert auc(detector, X, np.arange(1000) < 10) > 0.99


def test_outliers_of_their_neighbourhood_are_found_where_widths_differ():
    X, y = with_local_outliers()
    detector = LocalOutlierDetector(random_state=0).fit(X)
    globally = LocalOutlierDetector(local_weight=0, random_state=0).fit(X)
    assert detector.local_weight_ > 0.5
    assert globally.local_map_ is None
    assert auc(detector, X, y) > 0.97
    assert auc(globally, X, y) < 0.9
    relative = LocalOutlierDetector(criterion="relative", random_state=0).fit(X)
    assert relative.map_ is None
    assert auc(relative, X, y) > 0.97


@pytest.mark.parametrize("seed", range(3))
def test_the_relative_score_has_no_weight_where_widths_are_alike(seed):
    X, _ = with_outliers(seed=seed)
    assert LocalOutlierDetector(20, random_state=seed).fit(X).local_weight_ == 0


def test_scores_are_in_powers_of_ten_of_training_rows():
    X, _ = with_outliers(20_000, share=0)
    detector = LocalOutlierDetector(criterion="values", random_state=0).fit(X)
    scores = -detector.score_samples(np.random.default_rng(9).normal(size=(20_000, 6)))
    np.testing.assert_allclose([(scores > 1).mean(), (scores > 2).mean()], [0.1, 0.01], atol=0.012)


@pytest.mark.parametrize("contamination", [0.01, 0.2, 0.5])
def test_contamination_is_the_share_that_is_called_outliers(contamination):
    X, _ = with_outliers()
    detector = LocalOutlierDetector(20, contamination=contamination, random_state=0).fit(X)
    assert abs((detector.predict(X) == -1).mean() - contamination) < 0.002
    np.testing.assert_array_equal(detector.predict(X) == -1, detector.decision_function(X) < 0)


def test_units_of_columns_do_not_matter():
    X, _ = with_outliers(800)
    units = np.array([1e-30, 1.0, 1e6, 3.0, 1e100, 0.2])
    plain = LocalOutlierDetector(20, random_state=0).fit(X)
    other = LocalOutlierDetector(20, random_state=0).fit(X * units + units * 10)
    np.testing.assert_allclose(other.score_samples(X * units + units * 10), plain.score_samples(X), atol=0.01)
    unscaled = LocalOutlierDetector(20, scale=None, random_state=0).fit(X)
    assert unscaled.scale_.tolist() == [1.0] * 6


def test_same_answer_on_any_number_of_threads_and_in_any_blocks():
    X, _ = with_local_outliers(3000)
    one, two = (LocalOutlierDetector(20, random_state=0, n_jobs=n).fit(X) for n in (1, 2))
    assert one.local_weight_ > 0
    np.testing.assert_array_equal(one.score_samples(X), two.score_samples(X))
    np.testing.assert_array_equal(one.calibration_scores_, two.calibration_scores_)
    parts = [two.score_samples(part) for part in np.array_split(X, 7)]
    np.testing.assert_array_equal(np.concatenate(parts), one.score_samples(X))


def test_sparse_rows_are_scored_as_dense_ones():
    X = sp.random_array((600, 10), density=0.3, rng=1, format="csr")
    X.data += 1
    dense = LocalOutlierDetector(20, random_state=0).fit(X.toarray()).score_samples(X.toarray())
    np.testing.assert_allclose(LocalOutlierDetector(20, random_state=0).fit(X).score_samples(X), dense, atol=1e-3)


def test_rows_are_scored_by_the_columns_that_are_there():
    X, y = with_outliers()
    X[np.random.default_rng(1).uniform(size=X.shape) < 0.2] = np.nan
    detector = LocalOutlierDetector(100, random_state=0).fit(X)
    assert auc(detector, X, y) > 0.93
    scores = detector.score_samples(np.full((1, 6), np.nan))
    assert -1 < scores[0] < 0


def test_only_some_rows_are_looked_at():
    X, y = with_outliers(6000)
    detector = LocalOutlierDetector(50, max_samples=500, random_state=0).fit(X)
    assert len(detector.calibration_scores_) == 150
    assert auc(detector, X, y) > 0.97
    assert np.isin(detector.map_.anchor_samples_, np.arange(6000)).all()
    anchors = detector.map_.anchors_ * detector.scale_
    np.testing.assert_allclose(anchors, X[detector.map_.anchor_samples_], atol=1e-5)


def test_anchors_of_surroundings_are_known_by_their_places():
    X, _ = with_local_outliers(3000)
    detector = LocalOutlierDetector(5, random_state=0).fit(X)
    anchors = detector.local_map_.anchors_ * detector.scale_
    np.testing.assert_allclose(anchors, X[detector.local_map_.anchor_samples_], atol=1e-5)


def test_where_all_rows_are_equal_any_other_is_an_outlier():
    detector = LocalOutlierDetector(10, random_state=0).fit(np.ones((40, 3)))
    assert detector.predict(np.ones((2, 3))).tolist() == [1, 1]
    assert detector.predict([[1, 1, 2]]).tolist() == [-1]


def test_two_rows_are_enough():
    detector = LocalOutlierDetector(5, random_state=0).fit([[0.0, 1.0], [1.0, 0.0]])
    assert np.isfinite(detector.score_samples([[5.0, 5.0]])).all()
    with pytest.raises(ValueError, match="p-values need rows held out of fit"):
        detector.p_values([[5.0, 5.0]])


@pytest.mark.portable
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"contamination": 0.0}, r"contamination must be 'auto' or a share in \(0, 0.5\]; got 0.0"),
        ({"contamination": 0.6}, r"contamination must be 'auto' or a share in \(0, 0.5\]; got 0.6"),
        ({"contamination": "some"}, "contamination must be 'auto'"),
        ({"calibration": 1.0}, "calibration must be the share of rows to hold out, at least 0 and below 1; got 1.0"),
        ({"local_weight": 2}, "local_weight must be 'auto' or a number from 0 to 1; got 2"),
        ({"criterion": "density"}, "criterion must be one of 'combined', 'values', 'mass', 'relative'"),
        ({"scale": "minmax"}, "scale must be one of 'standard', None"),
        ({"half_life": 0}, "half_life must be a number above 0"),
        ({"max_samples": 1}, "max_samples must be a whole number of at least 2"),
        ({"n_groups": 0}, "n_groups must be a whole number"),
        ({"metric": "hamming"}, "metric must be one of"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        LocalOutlierDetector(**parameters).fit(with_outliers(50)[0])


@pytest.mark.portable
def test_bad_rows():
    X, _ = with_outliers(50)
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        LocalOutlierDetector().fit(X[:1])
    with pytest.raises(ValueError, match="infinity"):
        LocalOutlierDetector().fit(np.where(X > 2, np.inf, X))
    detector = LocalOutlierDetector(5).fit(X)
    with pytest.raises(ValueError, match="7 features"):
        detector.score_samples(np.ones((1, 7)))
    with pytest.raises(ValueError, match="fdr must be a share"):
        detector.predict(X, fdr=0)


class TestStream:
    """Rows that come in parts."""

    def test_the_first_part_is_as_a_fit(self):
        X, y = with_outliers()
        detector = LocalOutlierDetector(100, random_state=0).partial_fit(X)
        assert auc(detector, X, y) > 0.98
        assert detector.n_samples_seen_ == 2000

    @pytest.mark.parametrize("first", ["fit", "partial_fit"])
    def test_what_becomes_usual_is_an_outlier_no_longer(self, first):
        rng = np.random.default_rng(0)
        detector = LocalOutlierDetector(50, half_life=500, max_samples=2000, random_state=0)
        getattr(detector, first)(rng.normal(size=(2000, 4)))
        assert (detector.predict(rng.normal(8, 1, size=(200, 4))) == -1).mean() > 0.95
        for _ in range(8):
            detector.partial_fit(rng.normal(8, 1, size=(500, 4)))
        assert (detector.predict(rng.normal(8, 1, size=(500, 4))) == -1).mean() < 0.1
        assert (detector.predict(rng.normal(0, 1, size=(500, 4))) == -1).mean() > 0.9
        assert detector.n_samples_seen_ == 6000
        assert detector.recent_rows_.shape[0] <= 2000

    def test_without_half_life_all_parts_count_alike(self):
        rng = np.random.default_rng(0)
        detector = LocalOutlierDetector(50, max_samples=1000, random_state=0)
        for place in (0, 8, 0, 8, 0, 8):
            detector.partial_fit(rng.normal(place, 1, size=(500, 4)))
        assert abs((detector.recent_rows_.mean(axis=1) > 4).mean() - 0.5) < 0.06
        assert (detector.predict(rng.normal(0, 1, size=(300, 4))) == -1).mean() < 0.1

    def test_same_seed_same_answer(self):
        parts = [with_outliers(300, seed=seed)[0] for seed in range(3)]
        found = []
        for _ in range(2):
            detector = LocalOutlierDetector(10, half_life=100, max_samples=400, random_state=0)
            for part in parts:
                detector.partial_fit(part)
            found.append(detector.score_samples(parts[0]))
        np.testing.assert_array_equal(*found)

    def test_sparse_parts(self):
        X = sp.random_array((400, 5), density=0.4, rng=0, format="csr")
        detector = LocalOutlierDetector(10, random_state=0).fit(X).partial_fit(X[:100])
        assert sp.issparse(detector.recent_rows_)
        assert np.isfinite(detector.score_samples(X)).all()

    @pytest.mark.portable
    def test_a_failed_part_changes_nothing(self):
        X, _ = with_outliers(300)
        detector = LocalOutlierDetector(5, random_state=0).partial_fit(X)
        before = detector.score_samples(X)
        with pytest.raises(ValueError, match="infinity"):
            detector.partial_fit(np.full((3, 6), np.inf))
        np.testing.assert_array_equal(detector.score_samples(X), before)
        assert detector.n_samples_seen_ == 300


def test_copies_of_a_model_score_alike():
    X, _ = with_outliers(400)
    detector = LocalOutlierDetector(10, random_state=3)
    np.testing.assert_array_equal(detector.fit(X).score_samples(X), clone(detector).fit(X).score_samples(X))
