"""RankBoost against its definition: all pairs of rows, all columns, all thresholds."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from vicinal import _native
from vicinal.learned import RankBoost
from vicinal.learned._boosting_rounds import _search
from vicinal.learned._graded_pairs import GradedPairs

# Freund et al.: all columns in every round, and the whole weight of the third method.
ORIGINAL = {"step": "third-method", "learning_rate": 1.0, "column_share": 1.0}


def pair_weights(y, w):
    P = np.maximum(y[np.newaxis] - y[:, np.newaxis], 0) * np.outer(w, w)
    return P / P.sum()


def bound(P, H):
    return (P * np.exp(H[:, np.newaxis] - H)).sum()


def edge(P, H, h):
    D = P * np.exp(H[:, np.newaxis] - H)
    return (D * (h - h[:, np.newaxis])).sum() / D.sum()


def all_stumps(X):
    """(column, threshold, 1 for rows above it) of each."""
    for column in range(X.shape[1]):
        values = np.unique(X[:, column])
        for threshold in values[:-1] / 2 + values[1:] / 2:
            yield column, threshold, (X[:, column] > threshold).astype(float)


def best_stumps(X, P, H):
    """The best of each column, the largest first; of equals the lowest column and threshold."""
    best = {}
    for column, threshold, h in all_stumps(X):
        r = edge(P, H, h)
        if column not in best or abs(r) > abs(best[column][2]) + 1e-10:
            best[column] = column, threshold, r, h
    return sorted(best.values(), key=lambda found: (-np.round(abs(found[2]), 10), found[0]))


def grid_edge(X, P, H, n_first):
    """The largest |r| of the best stumps, each alone or with any other."""
    firsts = best_stumps(X, P, H)[:n_first]
    both = [edge(P, H, h * other) for column, _, _, h in firsts for c, _, other in all_stumps(X) if c != column]
    return np.abs([r for _, _, r, _ in firsts] + both).max()


def best_weight(P, H, h):
    """Where the bound is lowest, with a thousandth of all weight added to pairs in order and to reversed ones."""
    D = P * np.exp(H[:, np.newaxis] - H)
    D, change = D / D.sum(), h - h[:, np.newaxis]
    return np.log(((D * (change == 1)).sum() + 1e-3) / ((D * (change == -1)).sum() + 1e-3)) / 2


def by_definition(X, y, w, n_rounds, parts=None, learning_rate=1.0):
    P, H, found = pair_weights(y, w), np.zeros(len(y)), []
    for place in range(n_rounds):
        if parts is None:
            column, threshold, r, h = best_stumps(X, P, H)[0]
            weight = np.log((1 + r) / (1 - r)) / 2
        else:
            columns = np.flatnonzero(parts == place % (parts.max() + 1))
            column, threshold, r, h = best_stumps(X[:, columns], P, H)[0]
            column, weight = columns[column], learning_rate * best_weight(P, H, h)
        H = H + weight * h
        found.append((column, threshold, weight, bound(P, H)))
    return (*map(np.array, zip(*found, strict=True)), H)


def table(kind, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 5))
    if kind == "counts":
        X = rng.poisson(0.7, (30, 5)).astype(float)
    elif kind == "signed":
        X = np.round(2 * X) * (rng.random(X.shape) < 0.5)
    elif kind == "without zeros":
        X = np.sign(X) * np.ceil(np.abs(X))
    return X, rng.integers(0, 2, 30), rng.integers(0, 5, 30) / 3, rng.uniform(0.1, 2, 30)


def with_zeros(X):
    """CSR that holds every entry."""
    full = sp.csr_array(np.ones_like(X))
    full.data[:] = X.ravel()
    return full


KINDS = ("normal", "counts", "signed", "without zeros")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", ["classes", "grades"])
@pytest.mark.parametrize("weighted", [False, True])
def test_rounds_by_definition(kind, target, weighted):
    X, labels, grades, w = table(kind, 0)
    y, w = (labels if target == "classes" else grades), (w if weighted else np.ones(30))
    columns, thresholds, weights, bounds, H = by_definition(X, y.astype(float), w, 12)
    for rows in (X, sp.csr_array(X), with_zeros(X), sp.csc_matrix(X)):
        model = RankBoost(12, target=target, **ORIGINAL).fit(rows, y, w if weighted else None)
        np.testing.assert_array_equal(model.columns_, columns)
        np.testing.assert_allclose(model.thresholds_, thresholds)
        np.testing.assert_allclose(model.weights_, weights)
        np.testing.assert_allclose(model.train_score_, bounds)
        np.testing.assert_allclose(model.decision_function(rows) - model.intercept_, H, atol=1e-12)
        assert (model.second_columns_ == -1).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", ["classes", "grades"])
def test_some_columns_and_a_share_of_the_best_weight(kind, target):
    X, labels, grades, w = table(kind, 2)
    y = (labels if target == "classes" else grades).astype(float)
    model = RankBoost(12, target=target, learning_rate=0.4, column_share=0.4, random_state=5)
    parts = model._parts(5, np.random.RandomState(5))
    assert sorted(np.bincount(parts)) == [2, 3]
    columns, thresholds, weights, bounds, _ = by_definition(X, y, w, 12, parts, 0.4)
    for rows in (X, sp.csr_array(X)):
        model.fit(rows, y, w)
        np.testing.assert_array_equal(model.columns_, columns)
        np.testing.assert_allclose(model.thresholds_, thresholds)
        np.testing.assert_allclose(model.weights_, weights)
        np.testing.assert_allclose(model.train_score_, bounds)
        assert model.ended_for_ == "rounds"


def test_parts_of_columns():
    random_state = np.random.RandomState(0)
    assert np.bincount(RankBoost()._parts(100, random_state)).tolist() == [10] * 10
    assert RankBoost(column_share=1.0)._parts(100, random_state) is None
    assert RankBoost()._parts(1, random_state) is None
    assert np.bincount(RankBoost(20)._parts(100, random_state)).tolist() == [25] * 4
    assert RankBoost(5)._parts(100, random_state) is None
    assert np.bincount(RankBoost(column_share=0.001)._parts(7, random_state)).tolist() == [1] * 7


def test_rounds_end_where_no_rule_is_left():
    """One part has no rule at all, and the other's one has its best weight after some rounds."""
    X, y = np.array([[0.0, 1], [0, 1], [0, 1], [1, 1], [1, 1], [1, 1]]), [0, 0, 1, 0, 1, 1]
    model = RankBoost(5000, column_share=0.5, learning_rate=1.0, random_state=0)
    with pytest.warns(UserWarning, match=r"no rule is left .* after \d+ of 5000"):
        model.fit(X, y)
    assert model.ended_for_ == "no rule left"
    assert set(model.columns_) == {0}
    assert 0 < model.n_rounds_ < 5000


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("target", ["classes", "grades"])
def test_grids_by_definition(kind, target):
    X, labels, grades, w = table(kind, 1)
    y = (labels if target == "classes" else grades).astype(float)
    P, H = pair_weights(y, w), np.zeros(30)
    model = RankBoost(8, target=target, rankers="grids", n_first=2, **ORIGINAL).fit(X, y, w)
    assert (model.second_columns_ >= 0).any()
    np.testing.assert_array_equal(model.fit(sp.csr_array(X), y, w).weights_, model.weights_)
    for place, weight in enumerate(model.weights_):
        h = (X[:, model.columns_[place]] > model.thresholds_[place]).astype(float)
        if model.second_columns_[place] >= 0:
            h *= X[:, model.second_columns_[place]] > model.second_thresholds_[place]
        r = edge(P, H, h)
        assert abs(r) == pytest.approx(grid_edge(X, P, H, 2))
        assert weight == pytest.approx(np.arctanh(r))
        H = H + weight * h
    np.testing.assert_allclose(model.decision_function(X) - model.intercept_, H)


@given(st.integers(0, 2**32 - 1), st.integers(2, 25), st.integers(1, 6), st.sampled_from([1, 2, 5]))
def test_the_search_finds_the_largest_sum(seed, n_rows, n_columns, n_values):
    rng = np.random.default_rng(seed)
    X = rng.integers(-n_values, n_values + 1, (n_rows, n_columns)) * (rng.random((n_rows, n_columns)) < rng.random())
    pulls = rng.standard_normal(n_rows)
    pulls -= pulls.mean()
    marks = np.empty(n_rows, dtype=np.uint8)
    column, threshold, second, _, pull = _search(sp.csr_array(X), by_rows=False, n_threads=1).best(pulls, 0, marks)
    sums = [(np.round(abs(pulls @ h), 9), -c, -t) for c, t, h in all_stumps(X)]
    assert second == -1
    if not sums:
        assert (column, pull) == (-1, 0)
        return
    assert (-column, -threshold) == max(sums)[1:]
    np.testing.assert_array_equal(marks, X[:, column] > threshold)
    assert pull == pytest.approx(pulls @ marks, abs=1e-12)


@pytest.mark.parametrize("n_first", [0, 3])
def test_what_is_passed_over_is_not_missed(n_first):
    """A search that remembers, one that looks at everything, and one by several threads."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(3 / np.arange(1, 3001) ** 0.7, (300, 3000))
    X = sp.csr_array(counts * rng.choice([-1, 1], 3000, p=[0.05, 0.95]))
    remembering, parallel = (_search(X, by_rows=n_first > 0, n_threads=k) for k in (1, 3))
    pairs, H = GradedPairs(rng.integers(0, 2, 300).astype(float), np.ones(300)), np.zeros(300)
    marks, others = np.empty((2, 300), dtype=np.uint8)
    for _ in range(40):
        pulls = pairs.pulls(H).of_rows
        found = remembering.best(pulls, n_first, marks)
        afresh = _search(X, by_rows=n_first > 0, n_threads=1)
        assert afresh.best(pulls, n_first, others) == found
        np.testing.assert_array_equal(marks, others)
        assert parallel.best(pulls, n_first, others, 3) == found
        assert afresh.n_evaluated > 2000
        H += np.arctanh(found[-1]) * marks
    assert remembering.n_evaluated < 40 * 2000 / 2


def test_pulls_and_bound_by_definition():
    rng = np.random.default_rng(0)
    y, w, H = rng.integers(0, 7, 50) * 0.3 + 1e6, rng.uniform(0.1, 2, 50), 3 * rng.standard_normal(50)
    P, pairs = pair_weights(y, w), GradedPairs(y, w)
    D = P * np.exp(H[:, np.newaxis] - H)
    found = pairs.pulls(H)
    np.testing.assert_allclose(found.of_rows, (D.sum(0) - D.sum(1)) / D.sum(), atol=1e-9)
    assert np.exp(found.log_bound) == pytest.approx(D.sum())
    ties = np.round(H)
    ordered = (P * ((ties[:, np.newaxis] < ties) + (ties[:, np.newaxis] == ties) / 2)).sum()
    assert pairs.in_order(ties) == pytest.approx(ordered)


def test_scores_of_any_size_do_not_overflow():
    pairs = GradedPairs(np.array([0.0, 0.0, 1.0, 1.0]), np.array([1e-300, 1, 1, 1e300]))
    for H in (np.array([900.0, 0, 0, -900]), np.array([-900.0, 0, 0, 900]), np.array([-1e5, -1e5, 1e5, 1e5])):
        found = pairs.pulls(H)
        assert np.isfinite(found.of_rows).all()
        assert not np.isnan(found.log_bound)


@pytest.mark.parametrize("rankers", ["stumps", "grids"])
def test_the_bound_falls_and_bounds_the_loss(rankers):
    X, y = load_breast_cancer(return_X_y=True)
    model = RankBoost(60, rankers=rankers, n_first=2).fit(X, y)
    assert (np.diff(np.concatenate([[1], model.train_score_])) < 0).all()
    for score, H in zip(model.train_score_, model.staged_decision_function(X), strict=True):
        wrong = np.mean(H[y == 0][:, np.newaxis] >= H[y == 1])
        assert wrong <= score
        assert 1 - roc_auc_score(y, H) <= score
    np.testing.assert_allclose(H, model.decision_function(X))


def test_rows_that_can_be_separated():
    """Half the smallest difference of scores is the margin of section 3.1: half a separable pair's is positive."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    model = RankBoost(2000).fit(X, y)
    H = model.decision_function(X)
    margin = (H[y == 1].min() - H[y == 0].max()) / 2
    assert margin > 0
    assert roc_auc_score(y, H) == model.score(X, y) == 1
    # No pair's share of the bound is larger than the bound.
    pairs = (y == 0).sum() * (y == 1).sum()
    assert margin >= -np.log(model.train_score_[-1] * pairs) / 2 - 1e-9
    # The intercept puts zero in the middle.
    assert H[y == 1].min() == pytest.approx(-H[y == 0].max())


def test_a_rule_without_mistakes_ends_soon():
    X, y = np.array([[0.0], [1], [2], [3]]), np.array(["no", "no", "yes", "yes"])
    model = RankBoost(**ORIGINAL).fit(X, y)
    assert model.ended_for_ == "all pairs in order"
    assert model.n_rounds_ < 10
    assert set(model.thresholds_) == {1.5}
    assert list(model.predict([[1.4], [1.6]])) == ["no", "yes"]
    assert np.isfinite(model.decision_function(X)).all()


def test_the_intercept_makes_the_fewest_errors():
    X, y, _, w = table("counts", 3)
    model = RankBoost(5).fit(X, y, w)
    H = model.decision_function(X) - model.intercept_
    wrong = [w[(cut < H) != (y == 1)].sum() for cut in np.concatenate([[-np.inf], np.unique(H)])]
    assert w[model.predict(X) != y].sum() == pytest.approx(min(wrong))


def test_weights_are_repetitions():
    X, y, grades, _ = table("signed", 4)
    w = np.arange(30) % 4
    repeated = np.repeat(np.arange(30), w)
    for target, labels in (("classes", y), ("grades", grades)):
        weighted = RankBoost(10, target=target, random_state=0).fit(X, labels, w)
        plain = RankBoost(10, target=target, random_state=0).fit(X[repeated], labels[repeated])
        np.testing.assert_allclose(weighted.decision_function(X), plain.decision_function(X))


def test_grades_are_put_in_order():
    X, y = load_diabetes(return_X_y=True)
    model = RankBoost(200, target="grades").fit(X[::2], y[::2])
    assert not is_classifier(model)
    assert not hasattr(model, "classes_")
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X))
    assert model.score(X[1::2], y[1::2]) > 0.75
    P, H = pair_weights(y, np.ones(len(y))), model.predict(X)
    ordered = (P * ((H[:, np.newaxis] < H) + (H[:, np.newaxis] == H) / 2)).sum()
    assert model.score(X, y) == pytest.approx(ordered)


@pytest.mark.parametrize("rankers", ["stumps", "grids"])
def test_rounds_end_when_held_out_rows_do_not_gain(rankers):
    X, y = load_breast_cancer(return_X_y=True)
    X = X + 3 * X.std(0) * np.random.default_rng(0).standard_normal(X.shape)
    given = {"rankers": rankers, "n_first": 2, "validation_fraction": 0.3, "n_rounds_no_change": 10}
    model = RankBoost(500, random_state=0, **given).fit(sp.csr_array(X), y)
    assert 0 < model.n_rounds_ < 500
    assert len(model.validation_score_) == len(model.train_score_) == len(model.weights_) == model.n_rounds_
    assert model.validation_score_.argmax() == model.n_rounds_ - 1
    again = RankBoost(500, random_state=0, **given).fit(X, y)
    np.testing.assert_array_equal(again.validation_score_, model.validation_score_)
    whole = sp.csr_array(X)
    halves = np.repeat(whole.data, 2) / 2, np.repeat(whole.indices, 2), 2 * whole.indptr
    again = RankBoost(500, random_state=0, **given).fit(sp.csr_array(halves, shape=X.shape), y)
    np.testing.assert_array_equal(again.validation_score_, model.validation_score_)


def test_validation_scores_are_those_of_the_rules():
    X, y = load_breast_cancer(return_X_y=True)
    model = RankBoost(20, validation_fraction=0.25, random_state=3).fit(X, y)
    _, held_out = train_test_split(np.arange(len(y)), test_size=0.25, random_state=np.random.RandomState(3), stratify=y)
    scores = [roc_auc_score(y[held_out], H) for H in model.staged_decision_function(X[held_out])]
    np.testing.assert_allclose(model.validation_score_, scores)


def test_importances_and_words():
    X, y, _, _ = table("counts", 5)
    model = RankBoost(20, rankers="grids").fit(X, y)
    share = np.zeros(5)
    for column, second, weight in zip(model.columns_, model.second_columns_, np.abs(model.weights_), strict=True):
        share[[column, column if second < 0 else second]] += weight / 2 * np.array([1, 1]) if second >= 0 else weight
    np.testing.assert_allclose(model.feature_importances_, share / share.sum())
    assert model.rules()[0].startswith(f"x{model.columns_[0]} > {model.thresholds_[0]:g}")
    assert any(" and x" in rule for rule in model.rules())


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1e300, 1.7e308])
def test_values_of_any_size(scale):
    X = scale * np.array([[-1.0, 1], [-0.5, 1], [0.5, 1], [1, 1]])
    model = RankBoost(5).fit(X, [0, 0, 1, 1])
    assert np.isfinite(model.thresholds_).all()
    assert list(model.predict(X)) == [0, 0, 1, 1]


def test_neighbouring_numbers_are_told_apart():
    X = np.array([[1.0], [np.nextafter(1, 2)]])
    assert list(RankBoost(5).fit(X, [0, 1]).predict(X)) == [0, 1]


def test_threads_do_not_change_the_rules():
    X, y = load_breast_cancer(return_X_y=True)
    one, three = (RankBoost(30, rankers="grids", random_state=0, n_jobs=n).fit(X, y) for n in (1, 3))
    assert one.rules() == three.rules()
    np.testing.assert_array_equal(one.weights_, three.weights_)


def test_columns_that_say_nothing():
    X, y = np.ones((6, 2)), [0, 1] * 3
    with pytest.warns(UserWarning, match="no column of X varies with y"):
        model = RankBoost().fit(X, y)
    assert model.n_rounds_ == 0
    assert len(set(model.decision_function(X))) == 1
    assert model.rules() == []
    assert (model.feature_importances_ == 0).all()


@pytest.mark.parametrize(
    ("options", "X", "y", "words"),
    [
        ({}, [[1.0], [2]], [1, 1], "one class only"),
        ({}, [[1.0], [2], [3]], [0, 1, 2], "3 classes; for grades, set target='grades'"),
        ({}, [[1.0], [np.nan]], [0, 1], "NaN"),
        ({}, [[1.0], [2]], [0, 1, 1], "inconsistent numbers of samples"),
        ({"target": "grades"}, [[1.0], [2]], [2.5, 2.5], "one grade"),
        ({"target": "grades"}, [[1.0], [2]], ["a", "b"], "must be numbers"),
        ({"target": "order"}, [[1.0], [2]], [0, 1], "target must be one of"),
        ({"rankers": "trees"}, [[1.0], [2]], [0, 1], "rankers must be one of"),
        ({"step": "second-method"}, [[1.0], [2]], [0, 1], "step must be one of"),
        ({"learning_rate": 1.5}, [[1.0], [2]], [0, 1], "learning_rate must be a share"),
        ({"column_share": 0}, [[1.0], [2]], [0, 1], "column_share must be a share"),
        ({"column_share": "all"}, [[1.0], [2]], [0, 1], "column_share must be one of"),
        ({"n_rounds": 0}, [[1.0], [2]], [0, 1], "n_rounds must be a whole number"),
        ({"validation_fraction": 1.0}, [[1.0], [2]], [0, 1], "validation_fraction must be a share"),
    ],
)
def test_one_clear_sentence(options, X, y, words):
    with pytest.raises(ValueError, match=words):
        RankBoost(**options).fit(X, y)


@pytest.mark.parametrize(
    ("target", "share", "y", "words"),
    [
        ("classes", 0.05, [0, 1] * 10, "validation_fraction=0.05 of 20 rows leaves no row of some class"),
        ("classes", 0.5, [0] * 19 + [1], "validation_fraction=0.5 of 20 rows leaves no row of some class"),
        ("grades", 0.05, np.arange(20.0), "The validation part has one class only, or one grade"),
    ],
)
def test_a_validation_part_without_pairs(target, share, y, words):
    with pytest.raises(ValueError, match=words):
        RankBoost(5, target=target, validation_fraction=share, random_state=0).fit(np.arange(20.0)[:, None], y)


def test_weights_that_leave_one_class():
    with pytest.raises(ValueError, match="whose weights are above 0"):
        RankBoost().fit([[1.0], [2], [3]], [0, 1, 1], [1, 0, 0])
    with pytest.raises(ValueError, match="Negative values"):
        RankBoost().fit([[1.0], [2], [3]], [0, 1, 1], [1, 1, -1])


def test_the_compiled_search_checks_what_it_is_given():
    ones, rows = np.ones(2), np.array([0, 3], dtype=np.int32)
    with pytest.raises(ValueError, match="out of range"):
        _native.Stumps(ones, rows, np.array([0, 2], dtype=np.int32), 2)
    with pytest.raises(ValueError, match="do not fit"):
        _native.Stumps(ones, rows, np.array([0, 1], dtype=np.int32), 4)
    for parts, words in (([0], "be named"), ([0, 1, 0], "per column"), ([0, 2], "a part is out of range")):
        given = None if len(parts) == 1 else np.array(parts, dtype=np.int32)
        with pytest.raises(ValueError, match=words):
            _native.Stumps(ones, rows, np.array([0, 1, 2], dtype=np.int32), 4, False, 1, None, given, 2)
    search = _native.Stumps(ones, rows, np.array([0, 2], dtype=np.int32), 4)
    with pytest.raises(ValueError, match="no such part"):
        search.best(np.ones(4), 0, np.empty(4, np.uint8), part=1)
    with pytest.raises(ValueError, match="per row"):
        search.best(np.ones(3), 0, np.empty(4, np.uint8))
    with pytest.raises(ValueError, match="pairs need"):
        search.best(np.ones(4), 1, np.empty(4, np.uint8))


@pytest.mark.parametrize("rankers", ["stumps", "grids"])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_the_strongest_rules_are_sums_over_equal_ones(rankers, container):
    X, y = load_breast_cancer(return_X_y=True)
    X = X - X.mean(axis=0)  # rules that hold for zeros as well
    model = RankBoost(60, rankers=rankers, n_first=2).fit(container(X), y)
    first = X[:, model.columns_] > model.thresholds_
    both = first & ((X[:, model.second_columns_] > model.second_thresholds_) | (model.second_columns_ < 0))
    sums, rows = {}, {}
    for place, line in enumerate(model.rules()):
        words = line.rpartition(":")[0]
        sums[words] = sums.get(words, 0) + model.weights_[place]
        rows[words] = both[:, place].sum()
    found = model.strongest_rules(container(X), 7)
    wanted = sorted(sums, key=lambda words: -abs(sums[words]))[:7]
    assert [words for words, _, _ in found] == wanted
    np.testing.assert_allclose([weight for _, weight, _ in found], [sums[words] for words in wanted])
    assert [count for _, _, count in found] == [rows[words] for words in wanted]
    names = [f"word {place}" for place in range(30)]
    assert all(words.startswith("word ") for words, _, _ in model.strongest_rules(X, input_features=names))
