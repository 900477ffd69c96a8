"""Sparse weights, paths of C, rows that come in parts, and ends by rows that are held back."""

import numpy as np
import pytest
import scipy.sparse as sp
from linear_problems import conjugate_of, labels_of, loss_of, rows_of_kind, signs_and_caps
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet

from vicinal import LocalLinearClassifier, LocalLinearRegressor, RandLocal

LOSSES = ["squared_hinge", "hinge", "logistic"]


@pytest.fixture
def by_dual_variables(monkeypatch):
    monkeypatch.setattr("vicinal.model._solver.NARROW", 0)


def exact(**options):
    return LocalLinearClassifier(**{"tol": 1e-8, "max_iter": 50_000, "random_state": 0} | options)


def with_ones(X):
    return np.hstack([X.toarray() if sp.issparse(X) else X, np.ones((X.shape[0], 1))])


def smallest_with_l1(X, signs, caps, l1):
    """By L-BFGS-B over positive and negative parts of the weights; squared hinge."""
    rows, n = with_ones(X), X.shape[1] + 1
    costs = np.append(np.full(n - 1, l1), 0.0)

    def value(parts):
        w = parts[:n] - parts[n:]
        short_of = np.maximum(0, 1 - signs * (rows @ w))
        slope = w - rows.T @ (2 * caps * signs * short_of)
        total = w @ w / 2 + np.r_[costs, costs] @ parts + caps @ short_of**2
        return total, np.r_[slope + costs, costs - slope]

    options = {"maxiter": 20_000, "maxfun": 20_000, "ftol": 1e-15, "gtol": 1e-10}
    found = minimize(value, np.zeros(2 * n), method="L-BFGS-B", jac=True, bounds=[(0, None)] * (2 * n), options=options)
    return found.fun, found.x[:n] - found.x[n:]


@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_with_l1_the_optimum_is_that_of_a_plain_optimiser(kind, n_classes):
    X = rows_of_kind(kind)
    y = labels_of(X, n_classes)
    y[:n_classes] = np.arange(n_classes)
    model = exact(C=0.4, l1=2.0).fit(X, y)
    signs, caps = signs_and_caps(y, 0.4)
    found = [smallest_with_l1(X, signs[:, c], caps[:, c], 2.0) for c in range(signs.shape[1])]
    assert model.objective_ == pytest.approx(sum(value for value, _ in found), rel=1e-6)
    assert model.duality_gap_ <= 1e-8
    weights = np.array([w for _, w in found])
    np.testing.assert_allclose(model.coef_, weights[:, :-1], atol=1e-3)
    np.testing.assert_allclose(model.intercept_, weights[:, -1], atol=1e-3)
    assert 0 < np.count_nonzero(model.coef_) < model.coef_.size
    assert np.count_nonzero(exact(C=0.4, l1=8.0).fit(X, y).coef_) < np.count_nonzero(model.coef_)


@pytest.mark.parametrize("loss", LOSSES)
def test_with_l1_the_gap_is_what_numpy_says(loss):
    X = rows_of_kind("dense", 80, 9)
    y = labels_of(X, 2)
    model = exact(loss=loss, C=0.5, l1=1.5, tol=0.05, warm_start=True).fit(X, y)
    signs, caps = signs_and_caps(y, 0.5)
    rows, shares = with_ones(X), model._duals * signs / caps
    sums = (model._duals.T @ rows).ravel()
    weights = np.append(np.sign(sums[:-1]) * np.maximum(np.abs(sums[:-1]) - 1.5, 0), sums[-1])
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), weights, atol=1e-12)
    squares = weights @ weights
    losses = (caps * loss_of(loss, signs * (rows @ weights)[:, None])).sum()
    primal = squares / 2 + 1.5 * np.abs(weights[:-1]).sum() + losses
    dual = -squares / 2 - conjugate_of(loss, shares, caps).sum()
    assert model.objective_ == pytest.approx(primal, rel=1e-10)
    assert model.duality_gap_ == pytest.approx((primal - dual) / primal, rel=1e-6)


def test_with_l1_regression_is_an_elastic_net():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 10))
    X -= X.mean(axis=0)
    y = X[:, 0] * 3 - X[:, 1] + rng.normal(size=80)
    y = (y - y.mean()) / y.std()
    ours = LocalLinearRegressor(C=0.5, l1=6.0, tol=1e-10, max_iter=50_000, random_state=0).fit(X, y)
    peer = ElasticNet(alpha=7 / 80, l1_ratio=6 / 7, tol=1e-12, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=1e-5)
    assert 0 < np.count_nonzero(ours.coef_) < 10


@pytest.mark.parametrize("features", [None, RandLocal(12, random_state=0)])
@pytest.mark.parametrize("kind", [LocalLinearClassifier, LocalLinearRegressor])
def test_a_path_has_the_models_of_its_values(kind, features):
    X = rows_of_kind("dense", 150, 6, dtype=np.float32)
    y = labels_of(X, 3) if kind is LocalLinearClassifier else X[:, 0] * X[:, 1]
    model = kind(features, tol=1e-5, random_state=0, max_iter=20_000)
    models = model.path(X, y, [10.0, 0.1, 1.0])
    assert [each.C for each in models] == [0.1, 1.0, 10.0]
    for each in models:
        alone = kind(features, C=each.C, tol=1e-5, random_state=0, max_iter=20_000).fit(X, y)
        assert each.objective_ == pytest.approx(alone.objective_, rel=3e-5)
        np.testing.assert_allclose(each.predict(X), alone.predict(X), atol=0.02)
        assert each.warm_start is False
        assert not hasattr(each, "_duals")
    assert not hasattr(model, "coef_")
    if features is not None:
        assert len({id(each.features_) for each in models}) == 1


def test_a_path_needs_values_above_zero():
    X, y = rows_of_kind("dense"), np.arange(60) % 2
    with pytest.raises(ValueError, match="C_values is empty"):
        LocalLinearClassifier().path(X, y, [])
    with pytest.raises(ValueError, match="C must be"):
        LocalLinearClassifier().path(X, y, [1.0, 0.0])


@pytest.mark.parametrize("l1", [0.0, 1.0])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.usefixtures("by_dual_variables")
def test_parts_are_steps_of_the_dual_objective_of_all_rows(loss, l1):
    """Duals of former rows stay, new ones are the best beside them: no other new duals make the objective higher."""
    X = rows_of_kind("dense", 90, 8)
    y = labels_of(X, 2)
    signs, caps = signs_and_caps(y, 0.5)
    model = exact(loss=loss, C=0.5, l1=l1, warm_start=True, tol=1e-9)
    duals, rows = np.zeros((90, 1)), with_ones(X)

    def weights_of(duals):
        sums = (duals.T @ rows).ravel()
        return np.append(np.sign(sums[:-1]) * np.maximum(np.abs(sums[:-1]) - l1, 0), sums[-1])

    def dual(duals):
        return -(weights_of(duals) ** 2).sum() / 2 - conjugate_of(loss, duals * signs / caps, caps).sum()

    previous, rng = dual(duals), np.random.default_rng(0)
    for part in np.split(np.arange(90), 3):
        model.partial_fit(X[part], y[part], classes=[0, 1])
        duals[part] = model._duals
        np.testing.assert_allclose(np.append(model.coef_, model.intercept_), weights_of(duals), atol=1e-9)
        assert dual(duals) > previous
        previous = dual(duals)
        other = duals.copy()
        shares = np.clip(other[part] * signs[part] / caps[part] + rng.normal(0, 0.01, (30, 1)), 1e-9, 1 - 1e-9)
        other[part] = shares * caps[part] * signs[part]
        assert dual(other) <= previous + 1e-6


@pytest.mark.parametrize("features", [None, RandLocal(20, random_state=0)])
def test_one_part_is_a_fit(features):
    X = rows_of_kind("dense", 100, 120, dtype=np.float32)
    y = labels_of(X, 3)
    whole, part = (LocalLinearClassifier(features, random_state=0) for _ in range(2))
    whole.fit(X, y)
    part.partial_fit(X, y, classes=[0, 1, 2])
    np.testing.assert_array_equal(whole.coef_, part.coef_)


@pytest.mark.parametrize("features", [None, RandLocal(100, random_state=0)])
def test_what_is_learned_in_parts_predicts_as_what_is_learned_at_once(features):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] > 0).astype(int) if features is not None else (X[:, 0] + X[:, 1] > 0).astype(int)
    model = LocalLinearClassifier(features, random_state=0)
    for start in range(0, 2000, 500):
        model.partial_fit(X[start : start + 500], y[start : start + 500], classes=[0, 1])
    assert model.score(X[2000:], y[2000:]) > (0.9 if features is not None else 0.98)
    target = (X[:, 0] * X[:, 1] if features is not None else X[:, 0] + 5) + rng.normal(0, 0.1, 3000)
    regressor = LocalLinearRegressor(features, random_state=0)
    for start in range(0, 2000, 500):
        regressor.partial_fit(X[start : start + 500], target[start : start + 500])
    assert regressor.score(X[2000:], target[2000:]) > (0.5 if features is not None else 0.98)


def test_parts_go_on_from_a_fit():
    X = rows_of_kind("dense", 100, 8)
    y = labels_of(X, 3)
    fitted = exact().fit(X[:50], y[:50]).partial_fit(X[50:], y[50:])
    parts = exact().partial_fit(X[:50], y[:50], classes=[0, 1, 2]).partial_fit(X[50:], y[50:])
    np.testing.assert_allclose(fitted.coef_, parts.coef_, atol=1e-3)


@pytest.mark.parametrize(
    ("model", "labels", "options", "sentence"),
    [
        (LocalLinearClassifier(), [0, 1], {}, "classes must be passed"),
        (LocalLinearClassifier(), [0, 3], {"classes": [0, 1]}, "label 3"),
        (LocalLinearClassifier(), [0, 0], {"classes": [0]}, "at least two classes"),
        (LocalLinearClassifier(class_weight="balanced"), [0, 1], {"classes": [0, 1]}, "needs all rows at once"),
    ],
)
def test_parts_that_cannot_be_learned(model, labels, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        model.partial_fit(np.eye(2), np.array(labels), **options)
    assert not hasattr(model, "coef_")


def test_a_part_with_other_targets_is_refused():
    model = LocalLinearRegressor().partial_fit(np.eye(3), [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="not so many targets"):
        model.partial_fit(np.eye(3), np.ones((3, 2)))


def noisy_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 200)).astype(np.float32)
    return X, (X[:, 0] + rng.normal(size=600) > 0).astype(int)


@pytest.mark.parametrize("loss", LOSSES)
def test_rows_that_are_held_back_end_a_fit_early(loss):
    X, y = noisy_rows()
    options = {"loss": loss, "C": 1.0, "tol": 0.01, "random_state": 0, "max_iter": 5000}
    until_the_gap = LocalLinearClassifier(**options).fit(X[:400], y[:400])
    early = LocalLinearClassifier(early_stopping=True, validation_fraction=0.25, **options).fit(X[:400], y[:400])
    assert early.n_iter_ < until_the_gap.n_iter_ / 4
    assert early.duality_gap_ > 0.01
    unseen = [np.mean(loss_of(loss, (2 * y[400:] - 1) * m.decision_function(X[400:]))) for m in (early, until_the_gap)]
    assert unseen[0] < unseen[1]


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_regression_ends_early_too_on_codes(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = np.sin(2 * X[:, 0]) + rng.normal(0, 0.5, 400)
    model = LocalLinearRegressor(RandLocal(30, random_state=0), loss=loss, C=100, tol=1e-6, early_stopping=True)
    model.set_params(random_state=0).fit(X, y)
    assert model.n_iter_ < 100
    assert model.score(X, y) > 0.3


def test_a_fit_that_neither_rows_nor_gap_end_warns():
    X, y = noisy_rows()
    with pytest.warns(ConvergenceWarning, match="did not converge in 1 passes"):
        LocalLinearClassifier(early_stopping=True, tol=1e-9, max_iter=1).fit(X, y)


@pytest.mark.parametrize("share", [0, 1, 1.5])
def test_a_share_that_is_none_is_refused(share):
    with pytest.raises(ValueError, match="validation_fraction must be"):
        LocalLinearClassifier(early_stopping=True, validation_fraction=share).fit(np.eye(4), [0, 1, 0, 1])
