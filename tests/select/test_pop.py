"""SPOP, PPOP, MMPOP: the sums over triplets, the losses and their minima, and what the steps find."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import approx_fprime, minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from vicinal import MMPOP, PPOP, SPOP
from vicinal._optim import TripletDescent
from vicinal._triplets import Rows, TripletSampler
from vicinal.graphs import neighbor_graph
from vicinal.metrics import link_auc
from vicinal.network import Network, from_edges
from vicinal.select._link_penalty import CANDIDATES
from vicinal.select._partial_order import PartialOrders, margin_loss, mean_differences

pytestmark = pytest.mark.kernels

BOTH = [PPOP, MMPOP]
LOSS = {PPOP: "logistic", MMPOP: "hinge"}


def all_triplets(A):
    n = len(A)
    return np.array(
        [(i, j, k) for i in range(n) for j in range(n) for k in range(n) if A[i, j] and not A[i, k] and i != k]
    )


def differences(X, triplets):
    i, j, k = triplets.T
    return X[i] * (X[j] - X[k])


def random_links(rng, n, share, directed=False):
    A = rng.random((n, n)) < share
    np.fill_diagonal(A, False)
    return (A if directed else A | A.T).astype(float)


@pytest.fixture
def small():
    rng = np.random.default_rng(0)
    X = (rng.random((25, 8)) < 0.4) * rng.integers(1, 4, (25, 8)).astype(float)
    return X, random_links(rng, 25, 0.1)


def caused_by_ten(n, n_columns):
    """Rows, and links caused by the first 10 columns."""
    rng = np.random.default_rng(1)
    X = (rng.random((n, n_columns)) < 0.05).astype(float)
    chance = 0.15 * (X[:, :10] @ X[:, :10].T) + 2e-4
    A = np.triu(rng.random((n, n)) < chance, 1)
    return sp.csr_array(X), sp.csr_array((A | A.T).astype(float))


@pytest.fixture(scope="module")
def planted():
    return caused_by_ten(1000, 500)


def test_the_thesis_example_has_sixteen_triplets_of_node_three():
    """Figure 3: node 3 of nine is linked to 1, 2, 4 and 9."""
    edges = [(3, 1), (3, 2), (3, 4), (3, 9)]
    network = from_edges(edges, nodes=range(1, 10))
    sampler = TripletSampler(network.tocsr(), np.random.RandomState(0))
    drawn = sampler.draw(5000)
    of_three = {tuple(triplet) for triplet in drawn[drawn[:, 0] == 2] + 1}
    assert of_three == {(3, j, k) for j in (1, 2, 4, 9) for k in (5, 6, 7, 8)}
    assert sampler.n_triplets == 16 + 4 * 7


@pytest.mark.parametrize("directed", [False, True])
def test_triplets_are_uniform(directed):
    A = random_links(np.random.default_rng(3), 12, 0.3, directed)
    sampler = TripletSampler(sp.csr_array(A), np.random.RandomState(0))
    expected = {tuple(triplet) for triplet in all_triplets(A)}
    drawn, counts = np.unique(sampler.draw(200_000), axis=0, return_counts=True)
    assert {tuple(triplet) for triplet in drawn} == expected
    mean = 200_000 / len(expected)
    assert np.abs(counts - mean).max() < 6 * np.sqrt(mean)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("directed", [False, True])
def test_spop_is_the_mean_over_all_triplets(small, convert, directed):
    X, _ = small
    A = random_links(np.random.default_rng(5), 25, 0.15, directed)
    selector = SPOP("all").fit(convert(X), adjacency=A)
    np.testing.assert_allclose(selector.scores_, differences(X, all_triplets(A)).mean(axis=0), rtol=1e-12, atol=1e-15)
    one = SPOP("all", n_jobs=1).fit(convert(X), adjacency=A)
    np.testing.assert_array_equal(one.scores_, selector.scores_)


def test_spop_by_steps_comes_near_the_closed_form(planted):
    X, A = planted
    rows, sampler = Rows.of(X), TripletSampler(A, np.random.RandomState(0))
    exact = mean_differences(rows, A, 1)
    descent = TripletDescent(500, "identity", [1.0])  # the minimum of -w . m + ||w||^2 / 2 is m
    descent.step(rows.native(), sampler.draw(200_000))
    np.testing.assert_allclose(descent.last()[0], exact, atol=6 * np.sqrt(0.15 / 200_000))
    assert set(np.argsort(-descent.last()[0])[:10]) == set(np.argsort(-exact)[:10])


@pytest.mark.parametrize("loss", ["identity", "logistic", "hinge"])
@pytest.mark.parametrize("binary", [False, True])
def test_steps_are_those_of_the_formula(small, loss, binary):
    """Lazy scaling and lazy averages against plain vectors."""
    X, A = small
    X = (X > 0).astype(float) if binary else X
    triplets = TripletSampler(sp.csr_array(A), np.random.RandomState(0)).draw(300)
    penalties, first_step = [0.0, 0.05, 2.0], 0.7
    descent = TripletDescent(8, loss, penalties, first_step)
    for part in np.array_split(triplets, 4):
        descent.step(Rows.of(X).native(), np.ascontiguousarray(part))
    for place, penalty in enumerate(penalties):
        w, total, counted = np.zeros(8), np.zeros(8), 0.0
        for t, g in enumerate(differences(X, triplets), 1):
            slope = {"identity": 1.0, "logistic": 1 / (1 + np.exp(w @ g)), "hinge": float(w @ g < 1)}[loss]
            w = (1 - 1 / t) * w + slope / (penalty * t) * g if penalty else w + first_step / np.sqrt(t) * slope * g
            weight = t if penalty else 1
            total, counted = total + weight * w, counted + weight
        np.testing.assert_allclose(descent.last()[place], w, atol=1e-12)
        np.testing.assert_allclose(descent.average()[place], total / counted, atol=1e-11)


def test_margins_and_lengths(small):
    X, A = small
    triplets = TripletSampler(sp.csr_array(A), np.random.RandomState(0)).draw(600)
    weights = np.random.default_rng(0).normal(size=(3, 8))
    g = differences(X, triplets)
    for rows in (Rows.of(X), Rows.of(sp.csr_array(X))):
        margins, squares = rows.margins(triplets, weights)
        np.testing.assert_allclose(margins, g @ weights.T, atol=1e-12)
        np.testing.assert_allclose(squares, (g**2).sum(axis=1), atol=1e-12)


def test_single_precision_is_taken_where_it_changes_nothing():
    rng = np.random.default_rng(0)
    X = rng.random((30, 12)).astype(np.float32).astype(np.float64) * (rng.random((30, 12)) < 0.5)
    rows, triplets = Rows.of(X), rng.integers(30, size=(50, 3)).astype(np.int32)
    assert rows.values.dtype == np.float32
    assert Rows.of(X * 0.1).values.dtype == np.float64
    long = replace(rows, values=rows.values.astype(np.float64))
    weights = rng.normal(size=(2, 12))
    for one, other in zip(rows.margins(triplets, weights), long.margins(triplets, weights), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(rows.all().toarray(), X)


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_the_exact_objective_is_the_sum_over_triplets(small, loss, smoothing):
    X, A = small
    g = differences(X, all_triplets(A))
    orders = PartialOrders(X, sp.csr_array(A), loss, 0.2)
    w = np.random.default_rng(2).normal(size=8)
    value, gradient = orders.value_and_gradient(w, smoothing)
    losses, slopes = margin_loss(loss, g @ w, smoothing)
    np.testing.assert_allclose(value, losses.mean() + 0.1 * w @ w)
    np.testing.assert_allclose(gradient, -(slopes[:, None] * g).mean(axis=0) + 0.2 * w, atol=1e-12)
    numeric = approx_fprime(w, lambda w: orders.value_and_gradient(w, smoothing)[0], 1e-7)
    np.testing.assert_allclose(gradient, numeric, atol=1e-5)


def test_a_rounded_hinge_is_below_by_at_most_half():
    margins = np.linspace(-3, 3, 1001)
    sharp, rounded = margin_loss("hinge", margins)[0], margin_loss("hinge", margins, 0.2)[0]
    assert (rounded <= sharp + 1e-15).all()
    assert (sharp <= rounded + 0.1 + 1e-15).all()


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_the_exact_solver_finds_the_minimum(small, loss):
    X, A = small
    orders = PartialOrders(X, sp.csr_array(A), loss, 0.05)
    found = orders.solve(max_iter=500, tol=1e-3)
    value = orders.value_and_gradient(found.solution)[0]
    best = minimize(lambda w: orders.value_and_gradient(w)[0], found.solution, method="Powell", tol=1e-6).fun
    at_zero = orders.value_and_gradient(np.zeros(8))[0]
    assert found.converged
    assert value <= best + 1e-3 * at_zero
    assert (np.diff(found.objective) <= 1e-12).all()


@pytest.mark.parametrize("kind", BOTH)
def test_steps_come_near_the_exact_minimum(kind):
    """With 32 triplets per link the objective of the averaged iterate is within 3 % of the minimum."""
    X, A = caused_by_ten(500, 250)
    common = {"penalty": 0.01, "random_state": 0}
    exact = kind(10, solver="exact", tol=0.01, **common).fit(X, adjacency=A)
    steps = kind(10, n_triplets=32, **common).fit(X, adjacency=A)
    orders = PartialOrders(X, A, LOSS[kind], steps._descent.penalties[0])
    least = orders.value_and_gradient(exact.scores_)[0]
    reached = orders.value_and_gradient(steps.scores_)[0]
    assert least <= 1.01 * reached <= 1.03 * 1.01 * least
    assert set(steps.get_support(indices=True)) == set(exact.get_support(indices=True)) == set(range(10))
    assert np.corrcoef(steps.scores_, exact.scores_)[0, 1] > 0.95


@pytest.mark.parametrize("selector", [SPOP(10), PPOP(10, random_state=0), MMPOP(10, random_state=0)])
@pytest.mark.parametrize("network", [Network, sp.csr_array])
def test_planted_columns_come_back(planted, selector, network):
    X, A = planted
    fitted = clone(selector).fit(X, adjacency=network(A))
    assert set(fitted.get_support(indices=True)) == set(range(10))
    assert link_auc(fitted.transform(X), A) > link_auc(X, A) + 0.1


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize("penalty", [0, 1e-3, "auto"])
def test_the_same_on_any_number_of_threads_dense_or_sparse(planted, kind, penalty):
    X, A = planted
    fits = [
        kind(10, penalty=penalty, random_state=3, n_jobs=n_jobs).fit(rows, adjacency=A).scores_
        for n_jobs, rows in ((1, X), (2, X), (1, X.toarray()))
    ]
    np.testing.assert_array_equal(fits[0], fits[1])
    np.testing.assert_array_equal(fits[0], fits[2])


@pytest.mark.parametrize("kind", BOTH)
def test_the_penalty_means_the_same_in_any_unit(planted, kind):
    X, A = planted
    here, there = (kind(10, random_state=0).fit(factor * X, adjacency=A) for factor in (1, 4))
    np.testing.assert_allclose(there.scores_ * 16, here.scores_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", BOTH)
def test_auto_takes_a_candidate_and_never_reads_labels(planted, kind):
    X, A = planted
    selector = kind(10, penalty="auto", random_state=0).fit(X, adjacency=A)
    assert selector.penalty_ in CANDIDATES
    again = kind(10, penalty="auto", random_state=0).fit(X, np.arange(1000) % 2, adjacency=A)
    np.testing.assert_array_equal(selector.scores_, again.scores_)


def test_auto_leaves_a_penalty_that_ruins_the_selection(planted):
    """Rare columns that single links share: a penalty near 0 would put them first."""
    X, A = planted
    rng = np.random.default_rng(0)
    links = Network(A).links()
    rare = sp.lil_array((1000, 300))
    for column, (i, j) in enumerate(links[rng.permutation(len(links))[:300]]):
        rare[[i, j], column] = 1
    mixed = sp.csr_array(sp.hstack([X, rare]))
    chosen = MMPOP(10, penalty="auto", random_state=0).fit(mixed, adjacency=A)
    assert chosen.penalty_ > 1e-6
    assert set(chosen.get_support(indices=True)) == set(range(10))


def test_few_links_have_the_usual_penalty(small):
    X, A = small
    few = np.where(np.add.outer(np.arange(25), np.arange(25)) < 30, A, 0)
    assert 0 < few.sum() / 2 < 50
    assert PPOP(2, penalty="auto", random_state=0).fit(X, adjacency=few).penalty_ == 1e-4


@pytest.mark.parametrize("kind", BOTH)
def test_the_objective_falls(planted, kind):
    X, A = planted
    selector = kind(10, random_state=0).fit(X, adjacency=A)
    assert len(selector.objective_) == 10
    assert selector.objective_[-1] < selector.objective_[0]
    assert selector.n_iter_ == 12 * A.nnz / 2


@pytest.mark.parametrize("kind", BOTH)
def test_the_last_iterate_of_algorithm_2(planted, kind):
    X, A = planted
    last = kind(10, average=False, random_state=0).fit(X, adjacency=A)
    mean = kind(10, random_state=0).fit(X, adjacency=A)
    np.testing.assert_array_equal(last._descent.last()[0], last.scores_)
    np.testing.assert_array_equal(last._descent.average()[0], mean.scores_)


@pytest.mark.parametrize("kind", BOTH)
def test_a_growing_network(planted, kind):
    X, A = planted
    early = kind(10, random_state=0).fit(X[:150], adjacency=A[:150][:, :150])
    before = early.scores_.copy()
    grown = kind(10, random_state=0).partial_fit(X[:150], adjacency=A[:150][:, :150])
    np.testing.assert_array_equal(grown.scores_, before)
    steps = grown.n_iter_
    for _ in range(2):
        grown.partial_fit(X, adjacency=A)
    assert grown.n_iter_ == steps + 2 * 12 * A.nnz / 2
    assert len(grown.objective_) == 30
    assert set(grown.get_support(indices=True)) == set(range(10))
    kept = grown.scores_.copy()
    with pytest.raises(ValueError, match="500 features"):
        grown.partial_fit(X[:, :20], adjacency=A)
    with pytest.raises(ValueError, match="no links"):
        grown.partial_fit(X, adjacency=sp.csr_array(A.shape))
    np.testing.assert_array_equal(grown.scores_, kept)
    with pytest.raises(AttributeError, match="has no attribute 'partial_fit'") as refused:
        kind(solver="exact").partial_fit(X, adjacency=A)
    assert "goes on with stochastic steps" in str(refused.value.__cause__)


@pytest.mark.parametrize("selector", [SPOP(), PPOP(random_state=0), MMPOP(random_state=0)])
def test_networks_that_say_nothing(small, selector):
    X, A = small
    complete = 1 - np.eye(25)
    with pytest.raises(ValueError, match="linked to all other rows"):
        clone(selector).fit(X, adjacency=complete)
    with pytest.raises(ValueError, match="has no links"):
        clone(selector).fit(X, adjacency=np.zeros((25, 25)))
    hub = A.copy()
    hub[0, 1:] = hub[1:, 0] = 1  # a node linked to all others has no triplets, which does no harm
    hub[:, 20:] = hub[20:] = 0  # nodes without links
    assert np.isfinite(clone(selector).fit(X, adjacency=hub).scores_).all()
    assert (clone(selector).fit(np.zeros((25, 4)), adjacency=A).scores_ == 0).all()


def test_without_a_network_near_rows_are_linked(small):
    X, _ = small
    linked = SPOP("all").fit(X, adjacency=neighbor_graph(X, 5))
    np.testing.assert_array_equal(SPOP("all").fit(X).scores_, linked.scores_)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"penalty": -1}, "penalty must be a number of at least 0"),
        ({"penalty": "best"}, "penalty must be one of 'auto'"),
        ({"penalty": 0, "solver": "exact"}, "needs a penalty above 0"),
        ({"n_triplets": 0}, "n_triplets must be a number above 0"),
        ({"first_step": 0}, "first_step must be a number above 0"),
        ({"solver": "newton"}, "solver must be one of 'sgd', 'exact'"),
        ({"n_neighbors": 0}, "n_neighbors must be a whole number"),
    ],
)
def test_bad_parameters(small, parameters, sentence):
    X, A = small
    with pytest.raises(ValueError, match=sentence):
        PPOP(**parameters).fit(X, adjacency=A)


def test_an_unfinished_exact_solution_warns(small):
    X, A = small
    with pytest.warns(ConvergenceWarning, match="MMPOP did not converge"):
        MMPOP(2, solver="exact", penalty=1e-3, max_iter=1, random_state=0).fit(X, adjacency=A)


def test_not_fitted(small):
    with pytest.raises(NotFittedError):
        SPOP().transform(small[0])


@pytest.mark.parametrize("n", [60, 300])
def test_triplets_of_a_network_with_hardly_any_are_all_drawn(n):
    """All rows but two are linked to all others."""
    A = 1 - np.eye(n)
    A[3, 5] = A[5, 3] = 0
    sampler = TripletSampler(sp.csr_array(A), np.random.RandomState(0))
    assert sampler.n_triplets == 2 * (n - 2)
    for drawn in (sampler.draw(5000), sampler.draw_by_node(5000)):
        assert drawn.shape == (5000, 3)
        assert {(int(i), int(k)) for i, _, k in drawn} == {(3, 5), (5, 3)}
        counts = np.bincount(drawn[:, 1], minlength=n)
        assert np.all(counts[[3, 5]] == 0)
        assert counts[np.delete(np.arange(n), [3, 5])].min() > 0


def test_dense_networks_draw_uniformly():
    A = 1 - random_links(np.random.default_rng(3), 12, 0.1, False) - np.eye(12)
    sampler = TripletSampler(sp.csr_array(A), np.random.RandomState(0))
    assert sampler.n_triplets < 0.25 * A.sum() * 12  # else links are drawn, not rows
    drawn, counts = np.unique(sampler.draw(100_000), axis=0, return_counts=True)
    assert {tuple(triplet) for triplet in drawn} == {tuple(triplet) for triplet in all_triplets(A)}
    assert np.abs(counts - counts.mean()).max() < 6 * np.sqrt(counts.mean())


@pytest.mark.parametrize("kind", BOTH)
def test_links_that_go_one_way_have_as_many_triplets_each(small, kind):
    X, A = small
    both_ways = kind(n_triplets=8, random_state=0).fit(X, adjacency=A)
    one_way = kind(n_triplets=8, random_state=0).fit(X, adjacency=np.triu(A))
    assert one_way.n_iter_ == both_ways.n_iter_ == 8 * np.triu(A).sum()


@pytest.mark.parametrize("kind", BOTH)
def test_going_on_from_what_had_no_steps_begins_anew(planted, kind):
    X, A = planted
    fresh = kind(10, random_state=0).fit(X, adjacency=A)
    no_columns_shared = kind(10, random_state=0)
    no_columns_shared.partial_fit(np.eye(500)[:4], adjacency=np.eye(4, k=1) + np.eye(4, k=-1))
    no_columns_shared.partial_fit(X, adjacency=A)
    exact = kind(10, random_state=0, solver="exact", tol=0.1).fit(X[:60], adjacency=A[:60][:, :60])
    exact.set_params(solver="sgd").partial_fit(X, adjacency=A)
    for selector in (no_columns_shared, exact):
        assert selector.penalty_ == fresh.penalty_ > 0
        np.testing.assert_array_equal(selector.scores_, fresh.scores_)


def test_without_a_penalty_the_unit_of_columns_does_not_matter(planted):
    X, A = planted
    ranks = [MMPOP(10, penalty=0, random_state=0).fit(X * unit, adjacency=A).ranking_ for unit in (1, 16, 2**-6)]
    np.testing.assert_array_equal(ranks[0], ranks[1])
    np.testing.assert_array_equal(ranks[0], ranks[2])


def test_wide_rows_are_the_same_on_any_number_of_threads():
    rng = np.random.default_rng(0)
    X = sp.random_array((80, 40_000), density=2e-3, rng=rng, format="csr")
    A = random_links(rng, 80, 0.1, False)
    for selector in (PPOP(random_state=0), PPOP(solver="exact", random_state=0, tol=1e-2)):
        one, two = (clone(selector).set_params(n_jobs=n_jobs).fit(X, adjacency=A) for n_jobs in (1, 2))
        np.testing.assert_array_equal(one.scores_, two.scores_)
        np.testing.assert_array_equal(one.objective_, two.objective_)


def test_the_exact_hinge_is_as_precise_as_it_is_asked_to_be(small):
    X, A = small
    orders = PartialOrders(X, sp.csr_array(A), "hinge", 0.1)
    coarse, fine = (orders.solve(max_iter=5000, tol=tol) for tol in (1e-2, 1e-5))
    assert coarse.converged
    assert fine.converged
    assert fine.objective[-1] <= coarse.objective[-1] <= fine.objective[-1] + 1e-2
    assert not orders.solve(max_iter=2, tol=1e-5).converged


def test_rows_of_a_frame_are_those_of_the_network(planted):
    X, A = planted
    names = [f"node {i}" for i in range(X.shape[0])]
    frame = pd.DataFrame(X.toarray() if sp.issparse(X) else X, index=names)
    network = Network(A, names=names)
    frame.columns = frame.columns.astype(str)
    SPOP(10).fit(frame, adjacency=network)
    with pytest.raises(ValueError, match=r"row 0 is 'node 1' in X and 'node 0' in adjacency, 2 of 1000 rows differ"):
        SPOP(10).fit(frame.iloc[[1, 0, *range(2, 1000)]], adjacency=network)


def test_a_network_in_the_place_of_labels_is_refused(planted):
    X, A = planted
    for network in (Network(A), sp.csr_array(A)):
        with pytest.raises(ValueError, match="A network was given as y, which is never read; give it by name"):
            SPOP(10).fit(X, network)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("links.csv", r"read the file by vicinal.network.from_edges\('links.csv', nodes=...\)"),
        (nx.path_graph(3), "is a graph of networkx; give vicinal.network.from_networkx"),
        (np.array([[0, 1], [1, 2], [2, 3]]), "A list of edges becomes a network by vicinal.network.from_edges"),
    ],
    ids=["path", "graph", "edges"],
)
def test_what_is_no_matrix_is_told_how_to_become_one(planted, given, sentence):
    with pytest.raises(ValueError, match=sentence):
        SPOP(10).fit(planted[0], adjacency=given)
