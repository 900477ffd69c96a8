"""What all selectors have in common."""

import inspect

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from vicinal import NDFS, SNFS, UDFS, LaplacianScore, MaximumVariance
from vicinal.select._base import NetworkSelector, Ranked


@pytest.fixture
def X(rng):
    return rng.normal(size=(30, 8)) * np.arange(1, 9)


def test_scores_ranking_and_support_belong_together(X):
    selector = MaximumVariance(3).fit(X)
    np.testing.assert_allclose(selector.scores_, X.std(axis=0))
    assert sorted(selector.ranking_) == list(range(1, 9))
    assert (np.diff(selector.scores_[np.argsort(selector.ranking_)]) <= 0).all()
    np.testing.assert_array_equal(selector.support_, selector.ranking_ <= 3)
    np.testing.assert_array_equal(selector.transform(X), X[:, selector.support_])
    np.testing.assert_allclose(selector.objective_, selector.scores_[selector.support_].sum())
    assert selector.n_iter_ == 1


def test_another_number_of_features_needs_no_fit(X, monkeypatch):
    selector = MaximumVariance(3).fit(X)
    monkeypatch.setattr(MaximumVariance, "_rank", None)
    other = selector.with_n_features(5)
    assert other.support_.sum() == other.n_features_to_select == 5
    assert other.objective_ > selector.objective_
    assert selector.support_.sum() == selector.n_features_to_select == 3
    assert selector.with_n_features("all").transform(X).shape == X.shape
    assert selector.with_n_features(0.25).support_.sum() == 2


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        (9, "n_features_to_select=9, but X has 8 features; ask for fewer, or for 'all'."),
        (0, "whole number of at least 1"),
        (-1, "got -1"),
        (1.5, "got 1.5"),
        (0.0, "got 0.0"),
        (True, "got True"),
        ("auto", "got 'auto'"),
        ("some", "got 'some'"),
        (None, "got None"),
    ],
)
def test_numbers_that_make_no_sense(X, wanted, sentence):
    with pytest.raises(ValueError, match="n_features_to_select") as caught:
        MaximumVariance(wanted).fit(X)
    assert sentence in str(caught.value)
    with pytest.raises(ValueError, match="n_features_to_select"):
        MaximumVariance().fit(X).with_n_features(wanted)


def test_one_row_is_refused(X):
    with pytest.raises(ValueError, match="1 sample"):
        MaximumVariance().fit(X[:1])


def test_names_of_columns(X):
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    selector = MaximumVariance(2).fit(frame)
    assert list(selector.get_feature_names_out()) == ["g", "h"]
    assert list(selector.set_output(transform="pandas").transform(frame).columns) == ["g", "h"]


def test_sparse_rows_stay_sparse_and_single_precision_stays(X):
    sparse = sp.csr_array(X.astype(np.float32))
    selector = MaximumVariance(2).fit(sparse)
    np.testing.assert_allclose(selector.scores_, X.std(axis=0), rtol=1e-5)
    assert sp.issparse(selector.transform(sparse))
    assert selector.transform(sparse).dtype == np.float32


def test_in_a_pipeline_and_a_grid(X, rng):
    y = (X[:, 7] > 0).astype(int)
    grid = {"maximumvariance__n_features_to_select": [1, 4, "all"]}
    search = GridSearchCV(make_pipeline(MaximumVariance(), LinearSVC()), grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.7


@pytest.mark.parametrize("selector", [SNFS(), LaplacianScore(), MaximumVariance()])
def test_a_failed_fit_leaves_no_trace(selector, X):
    selector.fit(X)
    before = dict(vars(selector))
    with pytest.raises(ValueError, match="NaN"):
        selector.fit(np.where(X > 5, np.nan, X))
    assert vars(selector) == before


def test_shares_are_not_rounded_up_by_a_crumb(rng):
    X = rng.normal(size=(5, 100))
    assert [MaximumVariance(share).fit(X).support_.sum() for share in (0.07, 0.55, 0.551)] == [7, 55, 56]


def test_duplicate_entries_count_together_and_constants_have_no_variance(rng):
    rows = sp.csr_matrix((np.array([1.0, 1, 2, 1]), np.array([0, 0, 1, 1]), np.array([0, 2, 3, 4, 4])), shape=(4, 2))
    np.testing.assert_allclose(MaximumVariance("all").fit(rows).scores_, [np.sqrt(0.75), np.sqrt(0.6875)])
    X = np.column_stack([np.full(1001, 1e8 + 0.1), 1e-9 * rng.normal(size=1001), np.full(1001, 0.1)])
    assert MaximumVariance("all").fit(X).ranking_[1] == 1


@pytest.mark.parametrize("wrong", [2_000_000_000, -7, 25])
def test_indices_that_point_nowhere_are_refused(wrong):
    X = sp.random(50, 20, 0.3, format="csr", random_state=0)
    X.indices[5] = wrong
    with pytest.raises(ValueError, match="ind"):
        MaximumVariance().fit(X)


@pytest.mark.parametrize(
    ("selector", "change"),
    [
        (UDFS(2, n_clusters=2), lambda X: 1e20 * X),
        (NDFS(2, n_clusters=2), lambda X: X + 1e9),
    ],
)
def test_numbers_too_large_to_compute_with(selector, change, X):
    with pytest.raises(ValueError, match="to a common scale around 0 first"):
        selector.fit(change(X))


class NeighborAgreement(NetworkSelector):
    """Columns that differ little along the edges of a network, or that vary where there is none."""

    def __init__(self, n_features_to_select=0.5):
        self.n_features_to_select = n_features_to_select

    def _rank(self, X, adjacency):
        self.given_ = adjacency
        if adjacency is None:
            return Ranked(X.var(axis=0))
        edges = adjacency.tocoo()
        return Ranked(-np.sum(edges.data[:, None] * (X[edges.row] - X[edges.col]) ** 2, axis=0) / X.var(axis=0))


class Subgraphs:
    """A network that can be sliced by rows: what is left of it lies between these rows."""

    def __init__(self, adjacency):
        self.adjacency, self.shape = adjacency, adjacency.shape

    def __getitem__(self, rows):
        rows = rows[0] if isinstance(rows, tuple) else rows  # scikit-learn asks for [rows, ...]
        return Subgraphs(self.adjacency[rows][:, rows])

    def tocsr(self):
        return sp.csr_array(self.adjacency)


@pytest.fixture
def network(rng):
    """Two groups of 30 rows: edges lie within groups, and columns 2 and 5 tell the groups."""
    y = np.repeat([0, 1], 30)
    A = sp.csr_array(np.triu((rng.random((60, 60)) < 0.3) & (y[:, None] == y), 1).astype(float))
    X = rng.normal(size=(60, 8))
    X[:, [2, 5]] += 4 * y[:, None]
    return X, y, A + A.T


@pytest.mark.parametrize(
    "convert", [np.asarray, sp.csr_array, sp.coo_array, lambda A: A.tolist(), pd.DataFrame, lambda A: Subgraphs(A)]
)
def test_a_network_arrives_checked_whatever_holds_it(network, convert):
    X, y, A = network
    selector = NeighborAgreement(2).fit(X, y, adjacency=convert(A.toarray()))
    assert selector.get_support(indices=True).tolist() == [2, 5]
    assert isinstance(selector.given_, sp.csr_array)
    np.testing.assert_array_equal(selector.given_.toarray(), A.toarray())
    assert NeighborAgreement(2).fit(X).given_ is None


@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        (
            np.s_[:40],
            "has 40 rows but 60 columns, as if rows alone had been taken, and X has 40 rows; .*, 40 x 40: take",
        ),
        (np.s_[:, :40], r"has the shape \(60, 40\), but X has 40 rows; it needs a row and a column for each of them"),
        (np.s_[:39, :39], r"has the shape \(39, 39\), but X has 40 rows"),
        (np.s_[0, :40], r"has the shape \(40,\), but X has 40 rows"),
    ],
)
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_networks_that_do_not_belong_to_the_rows(network, part, sentence, convert):
    X, _, A = network
    with pytest.raises(ValueError, match=f"adjacency {sentence}"):
        NeighborAgreement().fit(X[:40], adjacency=convert(A.toarray()[part]))


def test_networks_with_missing_weights_and_failed_fits(network):
    X, _, A = network
    selector = NeighborAgreement(2).fit(X, adjacency=A)
    before = selector.scores_
    with pytest.raises(ValueError, match="adjacency contains NaN"):
        selector.fit(X[:, :4], adjacency=np.full((60, 60), np.nan))
    assert selector.scores_ is before
    assert selector.transform(X).shape == (60, 2)


def test_a_network_goes_through_pipelines_and_cross_validation(network):
    X, y, A = network
    seen = []

    class Watched(NeighborAgreement):
        def _rank(self, X, adjacency):
            seen.append(adjacency.shape)
            return super()._rank(X, adjacency)

    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(Watched().set_fit_request(adjacency=True), LinearSVC(random_state=0))
        search = GridSearchCV(pipeline, {"watched__n_features_to_select": [1, 2, "all"]}, cv=3)
        search.fit(X, y, adjacency=Subgraphs(A))
        assert set(seen[:-1]) == {(40, 40)}
        assert seen[-1] == (60, 60)
        assert (
            search.best_estimator_[0].scores_[[2, 5]].min() > np.delete(search.best_estimator_[0].scores_, [2, 5]).max()
        )
        with pytest.raises(ValueError, match="40 rows but 60 columns, as if rows alone had been taken"):
            search.set_params(error_score="raise").fit(X, y, adjacency=A)


def test_selectors_without_a_network_take_none(network):
    X, _, A = network
    for entry in (LaplacianScore, MaximumVariance, SNFS):
        assert list(inspect.signature(entry.fit).parameters) == ["self", "X", "y"]
        with pytest.raises(TypeError, match="unexpected keyword argument 'adjacency'"):
            entry().fit(X, adjacency=A)
        assert not hasattr(entry(), "set_fit_request")
