import numpy as np
import pytest
import scipy.sparse as sp

from vicinal import MCFS
from vicinal._optim._lars import Columns, least_angle_lasso
from vicinal.graphs import neighbor_graph, smooth_eigenvectors
from vicinal.select._mcfs import ranked_by_paths


def planted(rng, n=120, n_informative=5, n_noise=20):
    """Each of the first columns sets one cluster apart; noise of the same variance in the others."""
    cluster = np.arange(n) % (n_informative + 1)
    informative = 6 * np.eye(n_informative + 1)[cluster, :-1] + rng.normal(size=(n, n_informative))
    X = np.hstack([informative, rng.normal(size=(n, n_noise))])
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix, sp.csr_array])
def test_scores_by_the_formula(rng, convert):
    X = rng.random((50, 30)) * (rng.random((50, 30)) < 0.5)
    selector = MCFS(n_clusters=3, n_neighbors=6, weights="cosine", n_nonzero=6).fit(convert(X))
    _, labels = smooth_eigenvectors(neighbor_graph(X, 6, weights="cosine"), 3)
    columns, everyone = Columns(X), np.ones(30, dtype=bool)
    expected = np.column_stack([least_angle_lasso(columns, y - y.mean(), everyone, 6).solution for y in labels.T])
    np.testing.assert_allclose(selector.coef_, expected, atol=1e-9)
    np.testing.assert_allclose(selector.pseudo_labels_, labels, atol=1e-10)
    assert (np.count_nonzero(selector.coef_, axis=0) == 6).all()
    taken = expected.any(axis=1)
    np.testing.assert_allclose(selector.scores_[taken], np.abs(expected).max(axis=1)[taken], atol=1e-9)
    residuals = labels - labels.mean(axis=0) - (X - X.mean(axis=0)) @ expected
    assert selector.objective_ == pytest.approx([0.5 * np.sum(residuals**2)])
    # The others come after, in the order in which they correlate with residuals, compared with those that take part.
    correlations = np.abs((X - X.mean(axis=0)).T @ residuals)
    nearness = (correlations / correlations.max(axis=0)).max(axis=1)
    np.testing.assert_allclose(selector.scores_[~taken], nearness[~taken] - 1, atol=1e-8)
    assert (selector.scores_[~taken] <= 0).all()


def test_more_terms_fit_better(rng):
    X = planted(rng)
    objectives = [MCFS(n_nonzero=d).fit(X).objective_[-1] for d in (1, 2, 5, 10, 25)]
    assert (np.diff(objectives) < 0).all()


def test_default_number_of_terms(rng):
    X = rng.normal(size=(120, 200))
    selector = MCFS(n_clusters=2).fit(X)
    assert np.array_equal(np.count_nonzero(selector.coef_, axis=0), [50, 50])
    assert (np.count_nonzero(MCFS(n_clusters=2).fit(X[:20]).coef_, axis=0) <= 19).all()


def test_planted_columns_win(rng):
    selector = MCFS(5, n_neighbors=8).fit(planted(rng))
    assert selector.support_[:5].all()


def test_planted_columns_that_say_the_same_are_not_all_needed(rng):
    """20 noisy views of the same four clusters among 1,000 columns: the best are planted ones, but a regression that
    has some of them has little use for the others, by construction."""
    cluster = np.arange(200) % 4
    X = np.hstack([4 * rng.normal(size=(4, 20))[cluster] + rng.normal(size=(200, 20)), rng.normal(size=(200, 980))])
    selector = MCFS(5, n_clusters=3).fit(X)
    assert selector.support_[:20].sum() == 5


def test_of_copies_the_first_takes_part(rng):
    """Planted columns win with copies of them about, too: the l1 penalty has no use for a second copy."""
    X = planted(rng)
    selector = MCFS(5, n_neighbors=8).fit(np.hstack([X, X[:, :5]]))
    assert np.array_equal(np.flatnonzero(selector.support_), np.arange(5))
    np.testing.assert_allclose(selector.scores_[25:], 0, atol=1e-6)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("n", [30, 4])
def test_constant_columns_are_the_worst(rng, convert, n):
    X = np.column_stack([rng.random(n), np.full(n, 0.1), np.zeros(n), rng.random(n), np.full(n, -1e9 / 3)])
    scores = MCFS(n_clusters=2, n_nonzero=1).fit(convert(X)).scores_
    assert np.array_equal(scores[[1, 2, 4]], [-1, -1, -1])
    assert (scores[[0, 3]] > -1).all()


def test_only_constant_columns():
    selector = MCFS().fit(np.ones((9, 3)))
    assert np.array_equal(selector.scores_, [-1, -1, -1])
    assert not selector.coef_.any()


def test_origin_does_not_matter(rng):
    X = planted(rng, n=50)
    np.testing.assert_allclose(MCFS().fit(X + 1000).scores_, MCFS().fit(X).scores_, atol=1e-8)
    sparse = MCFS().fit(sp.csr_array(X + 1000))
    np.testing.assert_allclose(sparse.scores_, MCFS().fit(X).scores_, atol=1e-6)


def test_separate_parts_and_duplicated_rows(rng):
    """Six heaps of copies: five regressions, each with all that is needed to tell heaps apart."""
    X = np.hstack([np.repeat(10 * np.eye(6), 8, axis=0), rng.normal(size=(48, 10)) * 1e-3])
    selector = MCFS(6).fit(X)
    assert (selector.scores_[:5] > 0).all()
    # The sixth indicator is one less the sum of the others: it is told by them.
    assert selector.objective_[-1] < 1e-3
    copies = MCFS(2).fit(np.repeat(rng.normal(size=(8, 3)), 6, axis=0))
    assert np.isfinite(copies.scores_).all()


def test_permutations(rng):
    X = planted(rng, n=60)
    rows, columns = rng.permutation(60), rng.permutation(25)
    scores = MCFS(n_nonzero=8).fit(X).scores_
    np.testing.assert_allclose(MCFS(n_nonzero=8).fit(X[rows]).scores_, scores, atol=1e-6)
    np.testing.assert_allclose(MCFS(n_nonzero=8).fit(X[:, columns]).scores_, scores[columns], atol=1e-6)


def test_labels_are_not_read(rng):
    X = planted(rng, n=40)
    assert np.array_equal(MCFS().fit(X).scores_, MCFS().fit(X, rng.integers(0, 2, 40)).scores_)


def test_more_neighbors_than_rows(rng):
    X = rng.normal(size=(6, 3))
    many, enough = MCFS(n_clusters=2, n_neighbors=50).fit(X), MCFS(n_clusters=2, n_neighbors=5).fit(X)
    assert np.array_equal(many.scores_, enough.scores_)


def test_one_path_that_is_cut_short_is_enough_for_a_warning(rng):
    """Correlated columns come and go: there are more steps than terms."""
    columns, everyone = Columns(rng.normal(size=(60, 30)) @ rng.normal(size=(30, 30))), np.ones(30, dtype=bool)
    targets = rng.normal(size=(3, 60))
    whole = [least_angle_lasso(columns, y - y.mean(), everyone, 20) for y in targets]
    assert all(path.converged and path.n_iter > 20 for path in whole)
    short = least_angle_lasso(columns, targets[0] - targets[0].mean(), everyone, 20, steps_per_term=1)
    assert not short.converged
    assert short.n_iter == 20
    for paths in [whole, [short, *whole[1:]], [*whole[1:], short]]:
        ranked = ranked_by_paths(paths, np.column_stack([path.solution for path in paths]))
        assert ranked.converged == (paths is whole)
        assert "lower n_nonzero" in ranked.cure


def test_tiny_values(rng):
    """Columns whose squares are 0 to the computer take no part."""
    X = np.column_stack([planted(rng, n=30), 1e-170 * rng.normal(size=30)])
    scores = MCFS().fit(X).scores_
    assert np.isfinite(scores).all()
    assert scores[-1] < 0
    assert np.isfinite(MCFS().fit(1e-170 * X).scores_).all()


def test_bad_parameters(rng):
    X = rng.normal(size=(10, 3))
    with pytest.raises(ValueError, match="n_clusters=10, but X has 10 samples; ask for fewer clusters than samples"):
        MCFS(n_clusters=10).fit(X)
    with pytest.raises(ValueError, match="n_clusters must be a whole number of at least 1; got 0"):
        MCFS(n_clusters=0).fit(X)
    with pytest.raises(ValueError, match="n_nonzero must be a whole number of at least 1; got 0"):
        MCFS(n_nonzero=0).fit(X)
    with pytest.raises(ValueError, match="n_neighbors must be a whole number of at least 1; got -1"):
        MCFS(n_neighbors=-1).fit(X)
    with pytest.raises(ValueError, match="5 eigenvectors are wanted, but 0 rows of the graph have an edge"):
        MCFS(weights="cosine").fit(np.eye(8))
