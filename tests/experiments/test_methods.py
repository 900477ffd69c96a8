"""Methods: all run on all kinds of data, as their tags say; what is fixed is not chosen."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from experiments.made import evaluate, two_classes
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import StandardScaler

from vicinal.expand import HashedProjection
from vicinal.experiments import Context, Method, Role, find_method, method_names
from vicinal.experiments._methods import METHODS

CONTEXT = Context(n_rows=100, n_features=12)
OTHER_TASKS = (Role.DETECTOR, Role.LINKS, Role.CLUSTERER)


@pytest.mark.parametrize("kind", ["dense", "csr", "missing", "csr, missing"])
@pytest.mark.parametrize("name", [method.name for method in METHODS if method.role not in OTHER_TASKS])
def test_all_run_on_all_kinds_of_data(name, kind):
    method = find_method(name)
    if not method.installed:
        pytest.skip(f"{method.needs} is not installed")
    X, y = two_classes(90)
    X[:, 0] = 2 * y + 0.1 * X[:, 0]
    if "csr" in kind:
        X = np.where(np.abs(X) < 0.5, 0, X)
        # Some refuse negative values, or ask which columns rows have in common; CSR is not shifted.
        X = np.abs(X) if name in ("rufs", "mvufs", "gfs", "spop", "ppop", "mmpop") else X
    if "missing" in kind:
        X[::7, 1] = np.nan
    X = sp.csr_matrix(X) if "csr" in kind else X
    with warnings.catch_warnings():
        # Others' code, others' warnings; and weights of selectors that keep no column.
        if name in ("lightgbm", "isolation-kernel", "self-training") or method.role is Role.SELECTOR:
            warnings.simplefilter("ignore")
        outcome = evaluate("classification", short(method), X, y, folds=3, tuning_rows=40)
    assert 0.6 < outcome.values[0][2] <= 1
    filled = "missing values filled with medians" in outcome.notes
    sparse = "csr" in kind and method.tags(CONTEXT).input_tags.sparse
    assert filled == ("missing" in kind and not method.takes_missing(CONTEXT, sparse=sparse))
    assert outcome.training_rows == 60


def short(method):
    """The method with two values of each parameter of its grid at most, and quick ones."""
    quick = {
        "dae": {"n_epochs": 2},
        "sdae": {"n_epochs": 2},
        "isolation-kernel": {"n_estimators": 10},
        "rulls": {"n_neighborhood": 10},
    }
    model = {"boosting": {"max_iter": 5}, "lightgbm": {"n_estimators": 5}, "rankboost": {"n_rounds": 20}}
    weights = dict.fromkeys(method.grid(CONTEXT)[0], 1.0) if method.role is Role.SELECTOR else {}

    def first_and_last(to):
        return [
            {name: [values[0], values[-1]][: len(values)] for name, values in part.items()} for part in method.grid(to)
        ]

    fixed = method.fixing(quick.get(method.name, weights), {"C": 10.0, **model.get(method.name, {})})
    if method.role is Role.MODEL and method.name != "rbf-svm":
        fixed = method.fixing({}, model.get(method.name, {}))
    return replace(fixed, grid=first_and_last)


class TestTags:
    @pytest.mark.parametrize(
        ("name", "missing", "sparse"),
        [
            ("raw", False, True),
            ("randlocal", True, True),
            ("boosting", True, False),
            ("rbf-svm", False, True),
            ("isolation-forest", True, True),
            ("randlocal-spectral", True, True),  # a pipeline takes what its first step takes
        ],
    )
    def test_say_what_a_method_takes(self, name, missing, sparse):
        takes = find_method(name).tags(CONTEXT).input_tags
        assert (takes.allow_nan, takes.sparse) == (missing, sparse)

    def test_are_those_of_the_first_estimator_of_a_pipeline_or_a_union(self):
        """What comes later may take less: scaling with means takes no sparse rows."""
        scaled = make_pipeline(HashedProjection(4), StandardScaler())
        for estimator in (scaled, make_pipeline(make_union("passthrough", scaled), LogisticRegression())):
            method = Method("made", "made", Role.MODEL, lambda to, made=estimator: made)
            assert method.tags(Context(50, 10)).input_tags.sparse

    def test_trees_of_scikit_learn_read_missing_values_of_dense_rows_only(self):
        for name, sparse in (("trees", False), ("isolation-forest", False), ("randlocal", True)):
            assert find_method(name).takes_missing(CONTEXT, sparse=False)
            assert find_method(name).takes_missing(CONTEXT, sparse=True) == sparse

    def test_some_maps_need_labels(self):
        assert [name for name in method_names() if find_method(name).learns_from_labels] == [
            "rankboost-map",
            "neural-reduction",
            "learned-kernel",
            "learned-kernel-published",
            "learned-kernel-neural",
        ]


class TestFixing:
    def keys(self, candidates):
        return {name for candidate in candidates for name in candidate}

    def test_takes_the_fixed_out_of_the_grids(self):
        fixed = find_method("polynomial").fixing({"degree": 2}, {"C": 5.0})
        assert self.keys(fixed.candidates(CONTEXT)) == {"gamma"}
        assert fixed.model_candidates(CONTEXT) == [{}]
        assert fixed.build(CONTEXT, {"gamma": 0.1}).degree == 2
        assert fixed.build_model(CONTEXT, {}).C == 5.0
        again = fixed.fixing({"gamma": 0.7}, {})
        assert again.candidates(CONTEXT) == [{}]
        assert (again.build(CONTEXT, {}).degree, again.build(CONTEXT, {}).gamma) == (2, 0.7)
        assert self.keys(find_method("polynomial").candidates(CONTEXT)) == {"degree", "gamma"}

    @pytest.mark.parametrize(
        ("fixed", "subspaces"),
        [
            ({"subspace": "random"}, {None}),
            ({"subspace": "image"}, {None}),
            ({"n_neighbors": 7}, {"random", "correlated", "image"}),
            ({"n_neighbors": 7, "subspace": "correlated"}, {None}),
        ],
        ids=["random", "image", "neighbours", "neighbours, correlated"],
    )
    def test_leaves_the_parts_of_a_grid_that_it_belongs_to(self, fixed, subspaces):
        """Rectangles are of no use to groups that are not rectangles: RandLocal refuses them."""
        to = replace(CONTEXT, image_shape=(3, 4))
        candidates = find_method("randlocal-tuned").fixing(fixed, {}).candidates(to)
        assert {candidate.get("subspace") for candidate in candidates} == subspaces
        for candidate in candidates:
            of_images = candidate.get("subspace", fixed.get("subspace")) == "image"
            assert ("image_shape" in candidate) == of_images


@pytest.mark.parametrize("name", ["rulls", "projected-landmarks", "sampled-landmarks"])
@pytest.mark.parametrize(("n_groups", "iterations"), [(7, 7), (100, 100), (400, 100)])
def test_landmarks_have_at_most_the_papers_iterations(name, n_groups, iterations):
    assert find_method(name).build(replace(CONTEXT, n_groups=n_groups), {}).n_iterations == iterations


def test_names_are_unique_and_unknown_ones_get_a_hint():
    assert len(set(method_names())) == len(METHODS)
    with pytest.raises(ValueError, match=r"There is no method 'randlocl'; did you mean 'randlocal'"):
        find_method("randlocl")


class TestUnlabelledRows:
    NAMES = tuple(method.name for method in METHODS if method.takes_unlabelled)

    def test_who_takes_them(self):
        assert {"kmeans-features", "logistic-kmeans", "graph-smoothing", "self-training"} <= set(self.NAMES)
        assert not find_method("l1-logistic").takes_unlabelled

    @pytest.mark.parametrize("name", NAMES)
    def test_they_may_be_among_the_fitted_rows(self, name):
        X, y = two_classes(90)
        X[:, 0] = 2 * y + 0.1 * X[:, 0]
        some, method = np.where(np.arange(90) % 3, -1, y), find_method(name)
        make = method.build if method.role is Role.MAP else method.build_model
        model = make(Context(*X.shape), {}).fit(X, some)
        if method.role is Role.MAP:
            assert model.transform(X).shape[0] == 90
            return
        assert list(model.classes_) == [0, 1]
        assert np.mean(model.predict(X) == y) > 0.8

    def test_constants_of_the_paper(self):
        built = {name: find_method(name).build_model(CONTEXT, {}) for name in ("l1-logistic", "graph-smoothing")}
        assert (built["l1-logistic"].C, built["l1-logistic"].solver) == (0.22, "liblinear")
        assert (built["graph-smoothing"].estimator.C, built["graph-smoothing"].smoothness) == (0.38, 0.1)
        X = np.random.default_rng(0).normal(size=(300, 5))
        for name, width in (("kmeans-features", 100), ("kmeans-projection", 100)):
            assert find_method(name).build(CONTEXT, {}).fit(X).transform(X).shape[1] == width

    def test_sparse_logistic_regression_is_sparse(self):
        X, y = two_classes(90)
        weights = find_method("l1-logistic").build_model(CONTEXT, {}).fit(X, y).coef_
        assert 0 < np.count_nonzero(weights) < weights.size
