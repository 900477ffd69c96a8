"""PivotMap against its definition: kernels at pivots, Cholesky factors and projections, one after the other."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression

from vicinal.expand.kernels import Gaussian
from vicinal.learned import PivotMap, RankBoost, RankBoostMap
from vicinal.learned._directions import ClassSums, label_directions, random_signs
from vicinal.learned._pivots import cholesky_basis, choose_pivots

X, Y = load_breast_cancer(return_X_y=True)
X = (X - X.mean(0)) / X.std(0)
SOME = np.where(np.arange(len(Y)) % 3 == 0, Y, -1)  # labels of every third row
WIDTH = Gaussian(0.02)
RULES = RankBoostMap(RankBoost(40, random_state=0))


def test_values_at_pivots():
    model = PivotMap(WIDTH, n_pivots=30, n_components=None, random_state=0).fit(X)
    np.testing.assert_array_equal(model.pivots_, X[model.pivot_indices_])
    assert len(set(model.pivot_indices_)) == 30
    np.testing.assert_allclose(model.transform(X), WIDTH(X, model.pivots_))
    assert model.components_ is None
    assert model.rank_ is None


def test_projection_by_random_signs():
    model = PivotMap(WIDTH, n_pivots=30, n_components=7, random_state=0).fit(X)
    np.testing.assert_allclose(np.abs(model.components_), 7**-0.5)
    assert 60 < (model.components_ > 0).sum() < 150
    np.testing.assert_allclose(model.transform(X), WIDTH(X, model.pivots_) @ model.components_)
    assert list(model.get_feature_names_out()) == [f"pivotmap{place}" for place in range(7)]


@pytest.mark.parametrize("kernel", [WIDTH, RULES])
def test_whitened_pivots_have_the_gram_matrix(kernel):
    model = PivotMap(kernel, n_pivots=80, whiten=True, n_components=None, random_state=0).fit(X, SOME)
    drawn = PivotMap(kernel, n_pivots=80, n_components=None, random_state=0).fit(X, SOME)
    pivots = X[drawn.pivot_indices_]
    if kernel is WIDTH:
        gram = WIDTH(pivots, pivots)
        assert model.rank_ == 80
    else:
        features = model.kernel_.transform(pivots).toarray()
        gram = features @ features.T
        assert model.rank_ == np.linalg.matrix_rank(features) < 80
    assert len(model.pivot_indices_) == model.rank_
    assert set(model.pivot_indices_) <= set(drawn.pivot_indices_)
    Z = model.transform(pivots)
    np.testing.assert_allclose(Z @ Z.T, gram, atol=1e-7 * gram.max())
    # Of other rows, it is their projection: inner products with pivots are the kernel, lengths are no larger.
    values = drawn.transform(X)
    np.testing.assert_allclose(model.transform(X) @ Z.T, values, atol=1e-6 * gram.max())
    lengths = np.ones(len(X)) if kernel is WIDTH else np.square(model.kernel_.transform(X).toarray()).sum(axis=1)
    assert (np.square(model.transform(X)).sum(axis=1) <= lengths + 1e-6 * gram.max()).all()


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("projection", ["binary", "labels"])
def test_a_map_is_one_matrix(whiten, projection):
    """The whole chain is linear in a map's features: the kernel, pivot by pivot, gives the same."""

    class Products:
        def __call__(self, A, B):
            return (fitted.transform(A) @ fitted.transform(B).T).toarray()

    fitted = RankBoostMap(RankBoost(40, random_state=0)).fit(X[SOME >= 0], SOME[SOME >= 0])
    given = {"n_pivots": 20, "whiten": whiten, "projection": projection, "n_components": 5, "random_state": 1}
    # Neither learns anything more, so that labels are looked at for the projection alone.
    by_map, by_kernel = (PivotMap(kernel, **given).fit(X, SOME) for kernel in (FrozenEstimator(fitted), Products()))
    assert by_map.components_.shape == (40, 5)
    assert by_kernel.components_.shape[1] == 5
    np.testing.assert_allclose(by_map.transform(X), by_kernel.transform(X), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(by_map.rank_ or 0, by_kernel.rank_ or 0)


@pytest.mark.parametrize("kernel", [WIDTH, RULES])
def test_whitening_in_single_precision(kernel):
    """The rank is that of the rows, not of rounding, and products of features are the kernel, near enough."""
    model = PivotMap(kernel, n_pivots=150, whiten=True, n_components=None, random_state=0)
    double, single = model.fit(X, SOME).rank_, model.fit(X.astype(np.float32), SOME).rank_
    assert single <= double if kernel is WIDTH else single == double
    Z = model.transform(model.pivots_)
    assert Z.dtype == np.float32
    features = model.kernel_.transform(model.pivots_).toarray() if kernel is RULES else None
    gram = WIDTH(model.pivots_, model.pivots_) if kernel is WIDTH else features @ features.T
    np.testing.assert_allclose(Z @ Z.T, gram, atol=1e-3 * gram.max())


def test_directions_are_those_of_partial_least_squares():
    places = (X[:, 0] + X[:, 7] > 0).astype(int)
    sums = ClassSums(X.shape[1], 2)
    for block in (slice(0, 100), slice(100, None)):
        sums.add(X[block], places[block])
    centred = X - X.mean(0)
    for count in (1, 3, 6):
        found = label_directions(sums.towards(), sums.covariance, count)
        np.testing.assert_allclose(found.T @ found, np.eye(count), atol=1e-12)
        least_squares = PLSRegression(count, scale=False).fit(X, places)
        fitted = LinearRegression().fit(centred @ found, places)
        np.testing.assert_allclose(fitted.predict(centred @ found), least_squares.predict(X).ravel(), atol=1e-8)


def test_directions_end_where_their_space_does():
    rng = np.random.default_rng(0)
    rows, places = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 8)), np.arange(40) % 4
    for given in (rows, sp.csr_array(rows)):
        sums = ClassSums(8, 4)
        sums.add(given, places)
        assert label_directions(sums.towards(), sums.covariance, 8).shape == (8, 3)


def test_signs_keep_squared_lengths():
    signs = random_signs(50, 4000, np.random.RandomState(0))
    vectors = np.random.default_rng(0).standard_normal((20, 50))
    ratios = np.linalg.norm(vectors @ signs, axis=1) / np.linalg.norm(vectors, axis=1)
    np.testing.assert_allclose(ratios, 1, atol=0.06)


def test_pivots_are_unlabelled_rows():
    model = PivotMap(RULES, n_pivots=50, random_state=0).fit(X, SOME)
    assert (SOME[model.pivot_indices_] == -1).all()
    alone = RankBoostMap(RankBoost(40, random_state=0)).fit(X[SOME >= 0], SOME[SOME >= 0])
    np.testing.assert_array_equal(model.kernel_.ranker_.weights_, alone.ranker_.weights_)
    everyone = PivotMap(RULES, n_pivots=50, random_state=0).fit(X, Y)
    assert len(everyone.pivot_indices_) == 50


@pytest.mark.parametrize("how", ["random", "k-means", "k-means++"])
@pytest.mark.parametrize("n_columns", [3, 400])
def test_pivots_differ_and_spread(how, n_columns):
    rng = np.random.default_rng(0)
    centres = 50 * rng.standard_normal((12, n_columns))
    rows = centres[np.arange(600) % 12] + rng.standard_normal((600, n_columns))
    places = choose_pivots(sp.csr_array(rows), 12, how, np.random.RandomState(0))
    assert len(set(places)) == 12
    n_groups = len(set(places % 12))
    assert n_groups == 12 if how == "k-means++" else n_groups >= (6 if how == "random" else 10)
    copies = choose_pivots(np.ones((9, 2)), 5, how, np.random.RandomState(0))
    assert len(set(copies)) == 5
    assert choose_pivots(rows[:4], 4, how, np.random.RandomState(0)).tolist() == [0, 1, 2, 3]


def test_cholesky_of_a_matrix_of_low_rank():
    rng = np.random.default_rng(0)
    features = rng.standard_normal((30, 6))
    gram = features @ features.T
    basis = cholesky_basis(gram, 1e-10)
    assert basis.rank == 6
    Z = basis.inverse().rmatmat(gram[basis.places]).T
    np.testing.assert_allclose(Z @ Z.T, gram, atol=1e-9)
    np.testing.assert_allclose(basis.inverse().matmat(basis.factor), np.eye(6), atol=1e-9)


def test_what_a_tolerance_leaves_is_not_taken_for_negative():
    rng = np.random.default_rng(0)
    features = rng.standard_normal((400, 100)) * np.geomspace(1, 1e-3, 100)
    for tol, most in ((1e-10, 100), (1e-4, 90)):
        assert cholesky_basis(features @ features.T, tol).rank <= most


def test_any_map_will_do():
    model = PivotMap(PCA(4), n_pivots=10, n_components=None, random_state=0).fit(X)
    Z = PCA(4).fit_transform(X)
    np.testing.assert_allclose(model.transform(X), Z @ Z[model.pivot_indices_].T, atol=1e-8)
    itself = PivotMap(PCA(4), n_pivots=None, n_components=None).fit(X)
    np.testing.assert_allclose(np.abs(itself.transform(X)), np.abs(Z), atol=1e-8)
    assert itself.pivots_ is None
    assert itself.get_feature_names_out().shape == (4,)


def test_rows_may_be_sparse_and_single():
    rows = sp.csr_array(np.where(np.abs(X) > 1, X, 0))
    model = PivotMap(RULES, n_pivots=20, n_components=6, random_state=0).fit(rows, SOME)
    dense = PivotMap(RULES, n_pivots=20, n_components=6, random_state=0).fit(rows.toarray(), SOME)
    np.testing.assert_allclose(model.transform(rows), dense.transform(rows.toarray()), atol=1e-12)
    assert model.transform(rows.astype(np.float32)).dtype == np.float32


def test_fewer_rows_than_pivots():
    labels = Y.copy()
    labels[:10] = -1
    with pytest.warns(UserWarning, match="there are 10 unlabelled rows: labelled ones are pivots, too"):
        model = PivotMap(RULES, n_pivots=50, random_state=0).fit(X, labels)
    assert len(set(model.pivot_indices_)) == 50
    assert set(range(10)) < set(model.pivot_indices_)
    with pytest.warns(UserWarning, match="n_pivots=70, but there are 60 rows: all of them are pivots"):
        assert sorted(PivotMap(n_pivots=70).fit(X[:60]).pivot_indices_) == list(range(60))
    assert len(PivotMap(RULES).fit(X, labels).pivot_indices_) == len(X)  # 1,000, or as many as there are


def test_a_fitted_map_needs_no_labels():
    fitted = RankBoostMap(RankBoost(20, random_state=0)).fit(pd.DataFrame(X).add_prefix("x"), Y)
    model = PivotMap(FrozenEstimator(fitted), n_pivots=10, n_components=4, random_state=0).fit(X[:50])
    assert model.transform(X).shape == (len(X), 4)
    assert PivotMap(FrozenEstimator(fitted), n_pivots=None, n_components=None).fit(X).transform(X).shape[1] == 20


def test_the_seed_reaches_what_is_made_within():
    first, second = (PivotMap(RankBoostMap(), n_pivots=10, random_state=0).fit(X, SOME).transform(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_one_row_that_makes_a_matrix_indefinite():
    features = np.random.default_rng(0).standard_normal((1000, 5))
    gram = features @ features.T
    gram[700, 700] = -3
    with pytest.raises(ValueError, match="not positive semidefinite"):
        cholesky_basis(gram, 1e-10)


def indefinite(A, B):
    return A[:, :1] @ B[:, :1].T - 2 * A[:, 1:2] @ B[:, 1:2].T + 5 * (A[:, 2:3] @ B[:, 2:3].T)


@pytest.mark.parametrize(
    ("options", "y", "words"),
    [
        ({"kernel": RULES}, np.full(len(Y), -1), "all rows are unlabelled"),
        ({"kernel": RULES}, np.where(Y == 1, 1, -1), "name the classes 0 and 1"),
        ({"kernel": RULES}, np.arange(len(Y)) % 3, "3 classes"),
        ({"kernel": RULES}, None, "requires y to be passed"),
        ({"projection": "labels"}, None, "requires y to be passed"),
        ({"kernel": indefinite, "whiten": True}, Y, "not positive semidefinite"),
        ({"kernel": lambda A, B: np.zeros((len(A), len(B))), "whiten": True}, Y, "span nothing"),
        ({"kernel": "sigmoid"}, Y, "no kernel named 'sigmoid'"),
        ({"n_pivots": None}, Y, "this kernel has no map"),
        ({"n_pivots": None, "kernel": RULES, "whiten": True}, Y, "whiten=True needs pivots"),
        ({"kernel": RankBoostMap(RankBoost(target="grades"))}, X[:, 0], "has no use for grades"),
        ({"kernel": RULES}, np.array(["a", "b", -1] * 200, dtype=object)[: len(Y)], "goes with numbers"),
        ({"n_pivots": 0}, Y, "n_pivots must be a whole number"),
        ({"n_components": 0}, Y, "n_components must be a whole number"),
        ({"pivots": "first"}, Y, "pivots must be one of"),
        ({"projection": "pca"}, Y, "projection must be one of"),
    ],
)
def test_one_clear_sentence(options, y, words):
    with pytest.raises(ValueError, match=words):
        PivotMap(**{"n_pivots": 20, "random_state": 0, **options}).fit(X, y)


def test_missing_values_are_refused():
    rows = X.copy()
    rows[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        PivotMap(RULES, n_pivots=20).fit(rows, SOME)
