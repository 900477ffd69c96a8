"""SideFS: gradients, descent, its objective as the equation has it, what it ranks high and what it refuses."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import check_grad

from vicinal import SideFS
from vicinal.network import HeteroNetwork
from vicinal.select._side_embedding import LinkedPairs, Regressions, SideObjective

KINDS = pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
LINK = pytest.mark.parametrize("link", ["logistic", "distance"])
INTERCEPT = pytest.mark.parametrize("intercept", [True, False])


def planted(rng, n=90, n_columns=12, n_informative=4, n_kinds=3):
    """Kinds of rows by which genes and the first columns go; the second relation is noise."""
    kind = np.arange(n) % n_kinds
    binds = rng.random((n, 30)) < np.where(kind[:, None] == np.arange(30) % n_kinds, 0.4, 0.02)
    noise = rng.random((n, 30)) < 0.05
    X = rng.normal(size=(n, n_columns))
    X[:, :n_informative] += 4 * (kind[:, None] == np.arange(n_informative) % n_kinds)
    relations = {("drug", "binds", "gene"): binds, ("drug", "in", "box"): noise}
    return X, HeteroNetwork(relations, target="drug"), kind


def objective(rng, kind, link, intercept, n=12, D=5, c=3):
    pairs = rng.permutation([(i, j) for i in range(n) for j in range(i)])
    X = kind(rng.normal(size=(n, D)) * (rng.random((n, D)) < 0.6) + (0 if kind is sp.csr_array else 2))
    linked, regressions = LinkedPairs(pairs[:10], pairs[10:25], n, link), Regressions(X, intercept=intercept)
    return SideObjective(linked, regressions, 0.7, 0.9, 0.3), rng.normal(size=(n, c)), X / regressions.length, pairs


def plain(U, V, X, pairs, link, intercept):
    """Equation 7.10, term by term."""
    X = X.toarray() if sp.issparse(X) else X
    value = 0.3 * (U**2).sum() + 0.9 * np.linalg.norm(V, axis=1).sum()
    rest = X - U @ V.T
    value += 0.7 * ((rest - rest.mean(axis=0) if intercept else rest) ** 2).sum()
    for place, (i, j) in enumerate(pairs[:25]):
        f = 1 / (1 + np.exp(-U[i] @ U[j])) if link == "logistic" else 1 / (1 + ((U[i] - U[j]) ** 2).sum())
        value -= np.log(f if place < 10 else 1 - f)
    return value


@KINDS
@LINK
@INTERCEPT
def test_the_objective_is_the_equation(rng, kind, link, intercept):
    made, U, X, pairs = objective(rng, kind, link, intercept)
    V = rng.normal(size=(5, 3))
    assert made.value(U, V) == pytest.approx(plain(U, V, X, pairs, link, intercept))
    shift = made.value(U, V) - made.of_vectors(V, U)[0]
    other = rng.normal(size=U.shape)
    assert made.value(other, V) - made.of_vectors(V, other)[0] == pytest.approx(shift)  # the rest is constant in U


@KINDS
@LINK
@INTERCEPT
def test_gradients_are_numeric_ones(rng, kind, link, intercept):
    made, U, _, _ = objective(rng, kind, link, intercept)
    V = rng.normal(size=(5, 3))

    def part(number):
        return lambda u: (
            made.of_vectors(V, u.reshape(U.shape))[number].ravel()
            if number
            else made.of_vectors(V, u.reshape(U.shape))[0]
        )

    slope = np.linalg.norm(made.of_vectors(V, U)[1])
    assert check_grad(part(0), part(1), U.ravel()) < 1e-5 * slope


def test_rows_at_one_place_are_pushed_no_further():
    pairs = LinkedPairs(np.empty((0, 2), int), np.array([[0, 1]]), 2, "distance")
    value, gradient = pairs(np.array([[2.0, 0.0], [2.0, 0.0]]))
    assert np.isfinite(value)
    assert not gradient.any()
    value, gradient = pairs(np.array([[2.0, 0.0], [2.0 + 1e-5, 0.0]]))
    assert value == pytest.approx(-np.log(1e-10), rel=1e-5)
    np.testing.assert_allclose(gradient[:, 0], [2e5, -2e5], rtol=1e-4)


@KINDS
@LINK
@INTERCEPT
def test_each_turn_ends_lower(rng, kind, link, intercept):
    made, U, _, _ = objective(rng, kind, link, intercept)
    V = np.zeros((5, 3))
    values = [made.value(U, V)]
    for _ in range(5):
        U = made.best_vectors(U, V, max_iter=50, tol=1e-8)
        values.append(made.value(U, V))
        V = made.best_coefficients(U)
        values.append(made.value(U, V))
    assert (np.diff(values) <= 1e-9 * abs(values[0])).all()


@LINK
@pytest.mark.parametrize("aggregation", ["micro", "macro"])
def test_planted_columns_are_found_and_the_objective_falls(rng, link, aggregation):
    X, side, _ = planted(rng)
    selector = SideFS(4, link=link, aggregation=aggregation, tol=1e-6, random_state=0).fit(X, side=side)
    assert selector.get_support(indices=True).tolist() == [0, 1, 2, 3]
    assert len(selector.objective_) == selector.n_iter_
    assert (np.diff(selector.objective_) <= 0).all()


def test_side_information_tells_what_columns_alone_do_not(rng):
    """Eight columns follow kinds of their own, of which the side information knows nothing."""
    X, side, _ = planted(rng, n=120, n_columns=16)
    X[:, 4:12] += 4 * (rng.integers(3, size=120)[:, None] == np.arange(8) % 3)
    by_links = {"reconstruction": 0.01, "sparsity": 0.01, "random_state": 0}
    guided = SideFS(4, weights={"drug-in-box-in-drug": 0.0}, **by_links).fit(X, side=side)
    alone = SideFS(4, **by_links).fit(X)
    assert guided.support_[:4].all()
    assert not alone.support_[:4].all()


def test_planted_paths_are_told(rng):
    X, side, _ = planted(rng)
    selector = SideFS(random_state=0).fit(X, side=side)
    assert selector.metapaths_ == ["drug-binds-gene-binds-drug", "drug-in-box-in-drug"]
    np.testing.assert_allclose(selector.metapath_weights_, 0.5)
    binds = side.relations["drug", "binds", "gene"].toarray()
    assert selector.metapath_pairs_[0] == np.count_nonzero(np.triu(binds @ binds.T, 1))
    only = SideFS(random_state=0, metapaths=["drug-binds-gene-binds-drug"]).fit(X, side=side)
    assert only.metapaths_ == ["drug-binds-gene-binds-drug"]


def test_rows_without_side_information_follow_their_columns(rng):
    X, side, kind = planted(rng)
    binds = side.relations["drug", "binds", "gene"].toarray()
    binds[:3] = 0  # one of each kind
    side = HeteroNetwork({("drug", "binds", "gene"): binds}, target="drug")
    selector = SideFS(4, reconstruction=3.0, sparsity=1.0, random_state=0).fit(X, side=side)
    assert selector.support_[:4].all()
    centres = np.array([selector.embedding_[3:][kind[3:] == k].mean(axis=0) for k in range(3)])
    for row in range(3):
        near = np.linalg.norm(centres - selector.embedding_[row], axis=1)
        assert near.argmin() == kind[row]


@pytest.mark.parametrize("factor", [1e-3, 1e4, 1e120, 1e-120])
def test_units_do_not_matter(rng, factor):
    X, side, _ = planted(rng)
    expected = SideFS(random_state=0).fit(X, side=side)
    found = SideFS(random_state=0).fit(factor * X, side=side)
    np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found.coefficients_ / factor, expected.coefficients_, rtol=1e-3, atol=1e-5)


def test_dense_and_sparse_are_the_same(rng):
    X, side, _ = planted(rng)
    X *= rng.random(X.shape) < 0.5
    for intercept in (True, False):
        dense, sparse = (
            SideFS(fit_intercept=intercept, random_state=0).fit(kind(X), side=side)
            for kind in (np.asarray, sp.csr_array)
        )
        np.testing.assert_allclose(dense.scores_, sparse.scores_, rtol=1e-5, atol=1e-8)


def test_an_intercept_looks_past_the_mean(rng):
    X, side, _ = planted(rng)
    shifted = X + np.where(np.arange(12) == 7, 1000.0, 0.0)
    np.testing.assert_array_equal(
        SideFS(4, random_state=0).fit(shifted, side=side).support_, SideFS(4, random_state=0).fit(X, side=side).support_
    )
    plain = SideFS(1, fit_intercept=False, random_state=0).fit(shifted, side=side)
    assert plain.get_support(indices=True).tolist() == [7]


def test_columns_that_do_not_vary_come_last(rng):
    X, side, _ = planted(rng)
    X[:, 2], X[:, 5] = 0.0, 7.0
    for intercept in (True, False):
        selector = SideFS(fit_intercept=intercept, random_state=0).fit(X, side=side)
        assert sorted(selector.ranking_[[2, 5]]) == [11, 12]


def test_columns_without_a_vector_are_ranked_by_what_they_lack(rng):
    X, side, _ = planted(rng)
    selector = SideFS(sparsity=2.5, random_state=0).fit(X, side=side)
    without = ~selector.coefficients_.any(axis=1)
    assert 0 < without.sum() < 12
    assert (selector.scores_[without] <= 0).all()
    assert (selector.scores_[~without] > 0).all()
    assert len(np.unique(selector.scores_)) == 12


def test_columns_can_be_told_in_their_own_units(rng):
    X, side, _ = planted(rng, n_informative=12)
    X = 50 * X + 7
    selector = SideFS(n_components=8, reconstruction=1.0, sparsity=0.01, random_state=0).fit(X, side=side)
    rest = X - X.mean(axis=0) - (selector.embedding_ - selector.embedding_.mean(axis=0)) @ selector.coefficients_.T
    assert np.square(rest).sum() < 0.3 * np.square(X - X.mean(axis=0)).sum()


def test_vectors_that_vanish_are_told(rng):
    X, side, _ = planted(rng)
    with pytest.warns(UserWarning, match="All vectors of SideFS vanish, as weight_decay=100 is too large"):
        selector = SideFS(weight_decay=100.0, random_state=0).fit(X, side=side)
    assert (selector.scores_ >= -2).all()


def test_side_information_that_joins_nobody_is_refused(rng):
    side = HeteroNetwork({("a", "to", "b"): np.eye(6)}, target="a")
    with pytest.raises(ValueError, match="joins no two rows"):
        SideFS().fit(rng.normal(size=(6, 3)), side=side)


def test_threads_do_not_matter(rng):
    X, side, _ = planted(rng)
    one, two = (SideFS(random_state=0, n_jobs=n_jobs).fit(X, side=side) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.scores_, two.scores_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"link": "cosine"}, "link"),
        ({"reconstruction": 0.0}, "reconstruction"),
        ({"sparsity": -1.0}, "sparsity"),
        ({"weight_decay": -1.0}, "weight_decay"),
        ({"n_components": 0}, "n_components"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"metapaths": ["drug-binds-genes-binds-drug"]}, "did you mean 'gene'?"),
        ({"aggregation": "sum"}, "aggregation"),
        ({"max_length": 0}, "max_length"),
    ],
)
def test_parameters_that_are_refused(rng, parameters, message):
    X, side, _ = planted(rng, n=12)
    with pytest.raises(ValueError, match=re.escape(message)):
        SideFS(**parameters).fit(X, side=side)
    if "metapaths" not in parameters:
        with pytest.raises(ValueError, match=re.escape(message)):
            SideFS(**parameters).fit(X)
