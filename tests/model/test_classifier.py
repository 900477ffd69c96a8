"""LocalLinearClassifier against liblinear and plain NumPy."""

import numpy as np
import pytest
import scipy.sparse as sp
from linear_problems import labels_of, primal, rows_of_kind, signs_and_caps, smallest_primal
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from vicinal import LocalLinearClassifier
from vicinal.model._solver import solve

WEIGHTS = {"none": None, "classes": {0: 3.0, 1: 0.5}, "rows": "rows"}


@pytest.fixture(params=["dual", "newton"])
def solver(request, monkeypatch):
    monkeypatch.setattr("vicinal.model._solver.NARROW", 100 if request.param == "newton" else 0)


@pytest.fixture
def by_dual_variables(monkeypatch):
    monkeypatch.setattr("vicinal.model._solver.NARROW", 0)


def exact(**options):
    return LocalLinearClassifier(**{"tol": 1e-7, "max_iter": 20_000, "random_state": 0} | options)


def liblinear(loss, C, intercept, class_weight=None):
    given = {"C": C, "fit_intercept": bool(intercept), "intercept_scaling": intercept or 1.0, "tol": 1e-10}
    given |= {"class_weight": class_weight, "max_iter": 1_000_000, "random_state": 0}
    if loss == "logistic":
        model = LogisticRegression(solver="liblinear", **given)
        return model
    return LinearSVC(loss=loss, dual=True, **given)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "logistic"])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("intercept", [0, 2.0])
@pytest.mark.parametrize("weighted", WEIGHTS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning:sklearn")
@pytest.mark.usefixtures("solver")
def test_the_optimum_is_liblinears(loss, n_classes, kind, intercept, weighted):
    X = rows_of_kind(kind)
    y = labels_of(X, n_classes)
    rows = np.random.default_rng(1).integers(0, 4, len(y)) / 2.0 if weighted == "rows" else None
    classes = WEIGHTS[weighted] if weighted == "classes" else None
    model = exact(loss=loss, C=0.7, fit_intercept=bool(intercept), intercept_scaling=intercept or 1.0)
    model.set_params(class_weight=classes).fit(X, y, sample_weight=rows)
    peer = liblinear(loss, 0.7, intercept, classes)
    if loss == "logistic" and n_classes > 2:  # scikit-learn's own takes two classes alone
        if weighted != "none":
            pytest.skip("OneVsRestClassifier hands on no weights")
        peer = OneVsRestClassifier(peer).fit(X, y)
        coef = np.vstack([each.coef_ for each in peer.estimators_])
        intercepts = np.concatenate([np.ravel(each.intercept_) for each in peer.estimators_])
    else:
        peer.fit(X, y, sample_weight=rows)
        coef, intercepts = peer.coef_, np.ravel(peer.intercept_)
    signs, caps = signs_and_caps(y, 0.7, classes, rows)
    ours = primal(loss, X, signs, caps, model.coef_, model.intercept_, intercept or 1.0)
    theirs = primal(loss, X, signs, caps, coef, intercepts, intercept or 1.0)
    assert ours == pytest.approx(model.objective_, rel=1e-9)
    assert ours <= theirs * (1 + 1e-6)
    assert model.duality_gap_ <= 1e-7
    if (loss, kind, intercept) != ("hinge", "csr", 0):  # liblinear divides by the length of empty rows there
        assert theirs <= ours * (1 + 1e-5)
        np.testing.assert_allclose(model.coef_, coef, atol=1e-2)


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("n_classes", [2, 5])
def test_the_optimum_is_that_of_a_plain_optimiser(loss, kind, n_classes):
    X = rows_of_kind(kind, seed=4)
    y = labels_of(X, n_classes, seed=4)
    model = exact(loss=loss, C=3.0).fit(X, y)
    signs, caps = signs_and_caps(y, 3.0)
    assert model.objective_ == pytest.approx(smallest_primal(loss, X, signs, caps, 1.0), rel=1e-6)


def test_balanced_classes_weigh_the_same():
    X = rows_of_kind("dense")
    y = (np.arange(60) < 12).astype(int)
    balanced = exact(class_weight="balanced").fit(X, y)
    by_hand = exact(class_weight={0: 60 / 96, 1: 60 / 24}).fit(X, y)
    np.testing.assert_array_equal(balanced.coef_, by_hand.coef_)


def test_rows_of_weight_zero_do_not_count():
    X = rows_of_kind("dense")
    y = labels_of(X, 3)
    weights = np.where(np.arange(60) % 3, 1.0, 0.0)
    kept = exact(tol=1e-12).fit(X, y, sample_weight=weights)
    alone = exact(tol=1e-12).fit(X[weights > 0], y[weights > 0])
    np.testing.assert_allclose(kept.coef_, alone.coef_, atol=1e-5)


@pytest.mark.usefixtures("by_dual_variables")
def test_dense_and_csr_rows_agree_to_the_bit_of_the_objective():
    X = rows_of_kind("csr", dtype=np.float32)
    y = labels_of(X, 3)
    assert exact(tol=1e-5).fit(X, y).objective_ == pytest.approx(
        exact(tol=1e-5).fit(X.toarray(), y).objective_, rel=2e-5
    )


@pytest.mark.usefixtures("by_dual_variables")
def test_seeds_and_threads():
    X = rows_of_kind("csr", dtype=np.float32)
    y = labels_of(X, 5)
    models = [LocalLinearClassifier(random_state=0, n_jobs=n).fit(X, y) for n in (1, 2, 3)]
    for model in models[1:]:
        np.testing.assert_array_equal(model.coef_, models[0].coef_)
        np.testing.assert_array_equal(model.intercept_, models[0].intercept_)
    other = LocalLinearClassifier(random_state=1).fit(X, y)
    assert (other.coef_ != models[0].coef_).any()


@pytest.mark.usefixtures("by_dual_variables")
def test_too_few_passes_are_told():
    X = rows_of_kind("dense")
    with pytest.warns(ConvergenceWarning, match="duality gap is .* raise max_iter or tol"):
        model = LocalLinearClassifier(C=100, tol=1e-8, max_iter=2, random_state=0).fit(X, labels_of(X, 2))
    assert model.n_iter_ == 2
    assert model.duality_gap_ > 1e-8


@pytest.mark.usefixtures("by_dual_variables")
def test_a_warm_start_saves_passes_along_a_path_of_c():
    X = rows_of_kind("dense", 200, 10)
    y = labels_of(X, 3)
    warm = LocalLinearClassifier(tol=1e-4, warm_start=True, random_state=0)
    passes = []
    for C in (1.0, 1.5, 2.0):
        warm.set_params(C=C).fit(X, y)
        cold = LocalLinearClassifier(C=C, tol=1e-4, random_state=0).fit(X, y)
        assert warm.objective_ == pytest.approx(cold.objective_, rel=2e-4)
        passes.append((warm.n_iter_, cold.n_iter_))
    assert passes[0][0] == passes[0][1]
    assert sum(of_warm for of_warm, _ in passes[1:]) < sum(of_cold for _, of_cold in passes[1:])
    assert warm.fit(X, y).n_iter_ == 0


@pytest.mark.usefixtures("by_dual_variables")
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_warm_start_begins_where_the_dual_objective_is_highest(n_classes, monkeypatch):
    X = rows_of_kind("dense", 200, 10)
    y = labels_of(X, n_classes)
    model = LocalLinearClassifier(tol=1e-4, warm_start=True, class_weight={1: 2.0}, random_state=0).fit(X, y)
    begun = {}

    def solve_from(rows, outputs, weights, *, duals, tol, **options):
        for factor in (0.9, 1.0, 1.1):
            begun[factor] = solve(rows, outputs, weights, duals=duals * factor, tol=np.inf, **options).dual
        return solve(rows, outputs, weights, duals=duals, tol=tol, **options)

    monkeypatch.setattr("vicinal.model._base.solve", solve_from)
    model.set_params(C=7.0).fit(X, y)
    assert begun[1.0] > max(begun[0.9], begun[1.1])
    assert model.objective_ >= begun[1.0]


@pytest.mark.usefixtures("by_dual_variables")
def test_a_warm_start_with_other_rows_begins_anew():
    X = rows_of_kind("dense")
    y = labels_of(X, 3)
    warm = LocalLinearClassifier(warm_start=True, random_state=0).fit(X, y)
    np.testing.assert_array_equal(
        warm.fit(X[:50], y[:50]).coef_, LocalLinearClassifier(random_state=0).fit(X[:50], y[:50]).coef_
    )


def test_probabilities_are_liblinears():
    X = rows_of_kind("dense")
    y = labels_of(X, 2)
    ours = exact(loss="logistic").fit(X, y).predict_proba(X)
    theirs = LogisticRegression(solver="liblinear", tol=1e-10, max_iter=10_000).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(ours, theirs, atol=1e-3)
    of_three = exact(loss="logistic").fit(X, labels_of(X, 3)).predict_proba(X)
    np.testing.assert_allclose(of_three.sum(axis=1), 1)
    assert not hasattr(LocalLinearClassifier(), "predict_proba")


def test_a_class_with_one_row():
    X = rows_of_kind("dense")
    y = np.where(np.arange(60) == 5, "rare", np.where(X[:, 0] > 0, "right", "left"))
    model = LocalLinearClassifier(C=1000, random_state=0).fit(X, y)
    assert model.coef_.shape == (3, 12)
    assert model.predict(X[5:6]) == ["rare"]


def test_rows_without_any_entry():
    X = sp.csr_array((6, 4))
    model = LocalLinearClassifier(random_state=0).fit(X, [0, 0, 0, 0, 1, 1])
    assert not model.coef_.any()
    assert (model.predict(X) == 0).all()
    for loss in ("hinge", "logistic"):
        alone = LocalLinearClassifier(loss=loss, fit_intercept=False).fit(X, [0, 0, 0, 0, 1, 1])
        assert not alone.coef_.any()


@pytest.mark.parametrize(
    ("options", "y", "weights", "sentence"),
    [
        ({}, np.zeros(60), None, "at least two classes"),
        ({}, None, np.zeros(60), "zero"),
        ({}, None, np.r_[np.ones(59), -1], "[Nn]egative"),
        ({}, np.arange(60) % 2, np.arange(60) % 2, "at least two classes whose weights"),
        ({"C": 0}, None, None, "C must be a number above 0"),
        ({"C": -1.0}, None, None, "C must be a number above 0"),
        ({"tol": 0.0}, None, None, "tol must be a number above 0"),
        ({"max_iter": 0}, None, None, "max_iter must be a whole number"),
        ({"intercept_scaling": 0.0}, None, None, "intercept_scaling must be"),
        ({"loss": "squared"}, None, None, "loss must be one of 'squared_hinge'"),
        ({"class_weight": {0: -1.0}}, None, None, "class_weight must give numbers above 0"),
        ({}, np.r_[np.zeros(59), np.nan], None, "NaN"),
        ({}, np.linspace(0, 1, 60), None, "continuous"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(options, y, weights, sentence):
    X = rows_of_kind("dense")
    with pytest.raises(ValueError, match=sentence):
        LocalLinearClassifier(**options).fit(X, labels_of(X, 2) if y is None else y, sample_weight=weights)


def test_rows_with_nan_are_refused():
    X = rows_of_kind("dense")
    X[3, 3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        LocalLinearClassifier().fit(X, np.arange(60) % 2)


def test_a_model_that_is_not_fitted_predicts_nothing():
    with pytest.raises(NotFittedError):
        LocalLinearClassifier().predict(np.eye(3))


def test_a_failed_fit_leaves_the_model_as_it_was():
    X = rows_of_kind("dense")
    model = LocalLinearClassifier(random_state=0).fit(X, labels_of(X, 2))
    before = model.coef_
    with pytest.raises(ValueError, match="two classes"):
        model.fit(X, np.ones(60))
    assert model.coef_ is before


def test_values_whose_squares_cannot_be_added_are_refused():
    X = rows_of_kind("dense")
    X[3, 2] = 1e60
    with pytest.raises(ValueError, match=r"go up to 1e\+60.*scale X first"):
        LocalLinearClassifier().fit(X, np.arange(60) % 2)


def test_columns_of_very_different_sizes_and_equal_ones():
    X = rows_of_kind("dense") * np.r_[1e4, 1e-4, np.ones(10)]
    X[:, 5] = X[:, 4]
    y = labels_of(X, 2)
    assert LocalLinearClassifier(tol=0.5).fit(X, y).score(X, y) > 0.9
    assert LocalLinearClassifier(loss="hinge", random_state=0).fit(X[:, 4:5], y).coef_.shape == (1, 1)
