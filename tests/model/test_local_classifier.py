"""LocalClassifier: what it chooses, that it chooses by unseen rows alone, and what it refuses."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import train_test_split

from vicinal import LocalClassifier
from vicinal._calls import watching
from vicinal.model import _choosing, _local_model, _sizes
from vicinal.model._family import DEFAULTS, completed
from vicinal.model._trials import Problem, Trials, folds_of

SMALL = [
    {"part": "local", "n_groups": 20, "n_neighbors": 3},
    {"part": "leaves", "n_trees": 10},
    {"part": "forest", "n_trees": 10},
    {"part": "columns"},
]


@pytest.fixture
def table():
    return make_classification(400, 8, n_informative=5, n_classes=3, flip_y=0.1, random_state=0)


@pytest.fixture
def quickly(monkeypatch):
    """Choosing as ever, of small parts."""
    for name, size in {"n_groups": 20, "n_trees": 20, "max_iter": 20}.items():
        for part, settings in DEFAULTS.items():
            if name in settings:
                monkeypatch.setitem(DEFAULTS[part], name, size)


def of_parts(parts=SMALL, **options):
    return LocalClassifier(parts, random_state=0, **options)


def test_the_parameters_in_chosen_give_the_same_model(table, quickly):
    X, y = table
    model = LocalClassifier(random_state=0).fit(X, y)
    again = LocalClassifier(**model.chosen_, random_state=1).fit(X, y)
    np.testing.assert_allclose(again.decision_function(X), model.decision_function(X), atol=1e-10)
    assert again.chosen_ == model.chosen_
    assert len(model.models_) == len(model.weights_) == len(model.chosen_["parts"])
    assert again.validation_loss_ is None
    assert model.validation_loss_ < np.log(3)


def test_threads_change_no_bit_where_blas_does_not(table, quickly):
    X, y = table
    parts = [part for part in SMALL if part["part"] != "columns"]
    one, two = (of_parts(parts, n_jobs=n).fit(X, y) for n in (1, 2))
    assert one.chosen_ == two.chosen_
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_threads_change_nothing(table, quickly):
    X, y = table
    one, two = (LocalClassifier(random_state=0, n_jobs=n).fit(X, y) for n in (1, 2))
    for ours, theirs in zip(one.chosen_["parts"], two.chosen_["parts"], strict=True):
        assert {**ours, "weight": 0, "bias": 0} == {**theirs, "weight": 0, "bias": 0}
    # OpenBLAS' oldest kernels round by where in memory arrays lie; with newer ones the bits are the same.
    np.testing.assert_allclose(one.weights_, two.weights_, rtol=1e-6)
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("part", sorted(DEFAULTS))
@pytest.mark.parametrize("guide", [0.0, 1.0])
def test_labels_of_a_validation_fold_never_reach_what_is_fitted(part, guide, table):
    if guide and part != "local":
        pytest.skip("only groups of anchors are guided")
    X, y = (values[:150] for values in table)
    small = {name: 10 for name in ("n_groups", "n_trees", "max_iter") if name in DEFAULTS[part]}
    settings = completed({"part": part, **small, **({"guide": guide} if part == "local" else {})})
    rng = np.random.RandomState(0)
    problem = Problem(X.astype(np.float32), y, np.ones(150), 3)
    folds = folds_of(problem, 3, rng)
    other = y.copy()
    other[folds[0][1]] = rng.permutation(other[folds[0][1]])
    assert (other != y).any()
    first = slice(len(folds[0][1]))
    for (_, scores), (_, shuffled) in zip(
        Trials(problem, folds).scores(settings, (0.1, 1.0)),
        Trials(Problem(problem.X, other, problem.weights, 3), folds).scores(settings, (0.1, 1.0)),
        strict=True,
    ):
        np.testing.assert_array_equal(scores[first], shuffled[first])
        assert (scores[first.stop :] != shuffled[first.stop :]).any()


def test_probabilities_are_calibrated(quickly):
    """Of rows that are given a chance between 0.3 and 0.5, say, that share is of the second class."""
    said, right = [], []
    for seed in range(8):
        X, y = make_classification(1200, 6, n_informative=4, flip_y=0.2, class_sep=0.7, random_state=seed)
        model = LocalClassifier(random_state=seed).fit(X[:400], y[:400])
        said.append(model.predict_proba(X[400:])[:, 1])
        right.append(y[400:])
    said, right = np.concatenate(said), np.concatenate(right)
    bounds = np.quantile(said, np.linspace(0, 1, 6))
    places = np.clip(np.searchsorted(bounds, said, side="right") - 1, 0, 4)
    for place in range(5):
        within = places == place
        assert abs(said[within].mean() - right[within].mean()) < 0.06


def test_columns_of_noise_do_no_harm(quickly):
    rng = np.random.default_rng(0)
    X, y = make_classification(700, 5, n_informative=5, n_redundant=0, class_sep=1.5, random_state=1)
    X = np.hstack([X, rng.normal(size=(700, 100))])
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    ours = LocalClassifier(random_state=0).fit(X, y).score(X_test, y_test)
    plain = of_parts([{"part": "local"}]).fit(X, y).score(X_test, y_test)
    assert ours > plain + 0.03


def test_it_is_at_least_about_as_good_as_a_forest():
    X, X_test, y, y_test = train_test_split(*load_breast_cancer(return_X_y=True), random_state=0)
    forest = ExtraTreesClassifier(300, random_state=0).fit(X, y).score(X_test, y_test)
    assert LocalClassifier(random_state=0).fit(X, y).score(X_test, y_test) >= forest - 0.01


def test_parts_are_of_the_family(table, quickly):
    X, y = table
    model = LocalClassifier(family=["local", "columns"], random_state=0).fit(X, y)
    assert {part["part"] for part in model.chosen_["parts"]} <= {"local", "columns"}
    with pytest.raises(ValueError, match="No part of this family takes these rows"):
        LocalClassifier(family=["boosted"]).fit(sp.csr_matrix(X), y)


def test_a_part_that_says_something_counts(table):
    X, y = table
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(400, 3))
    parts = [{"part": "forest", "n_trees": 20}, {"part": "columns"}]
    weights = of_parts(parts).fit(np.hstack([X**2 * np.sign(noise[:, :1]), noise]), y).weights_
    assert weights.shape == (2,)
    assert weights[0] > 0


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csr_array])
def test_sparse_rows(make):
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    model = of_parts().fit(make(X), y)
    assert model.score(make(X_test), y_test) > 0.93
    np.testing.assert_array_equal(
        model.predict(make(X_test)), model.classes_[model.predict_proba(make(X_test)).argmax(1)]
    )


def test_two_classes_have_log_odds(table):
    X, y = table
    model = of_parts().fit(X, np.where(y > 0, "yes", "no"))
    odds, chances = model.decision_function(X), model.predict_proba(X)
    np.testing.assert_allclose(odds, np.log(chances[:, 1] / chances[:, 0]), rtol=1e-6)
    np.testing.assert_array_equal(model.predict(X) == "yes", odds > 0)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_frames_with_categories_and_missing_values(kind, table):
    X, y = table
    colour = np.array(["red", "green", "blue"])[y]
    X[::7, 0] = np.nan
    frame = kind({**{f"x{j}": X[:, j] for j in range(8)}, "colour": colour})
    model = of_parts().fit(frame, y)
    assert model.score(frame, y) > 0.95
    unseen = kind({**{f"x{j}": X[:3, j] for j in range(8)}, "colour": ["violet", "red", None]})
    assert model.predict_proba(unseen).shape == (3, 3)
    with pytest.raises(ValueError, match="fitted on a data frame with columns of text"):
        model.predict(X)


def test_missing_values_of_matrices(table):
    X, y = table
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    assert of_parts().fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.5


def test_class_weights_are_weights_of_rows(table):
    X, y = table
    y = (y > 0).astype(int)
    factors = np.where(y == 1, 1.0, 5.0)
    by_class = of_parts([{"part": "columns"}], class_weight={0: 5.0}).fit(X, y)
    by_row = of_parts([{"part": "columns"}]).fit(X, y, sample_weight=factors)
    np.testing.assert_array_equal(by_class.predict_proba(X), by_row.predict_proba(X))
    plain = of_parts([{"part": "columns"}]).fit(X, y)
    assert by_class.predict_proba(X)[:, 0].mean() > plain.predict_proba(X)[:, 0].mean() + 0.05


def test_rows_of_weight_zero_do_not_count(table):
    X, y = table
    weights = np.ones(400)
    weights[300:] = 0
    np.testing.assert_array_equal(
        of_parts().fit(X, y, sample_weight=weights).predict_proba(X),
        _with_same_scale(X, y).predict_proba(X),
    )


def _with_same_scale(X, y):
    """A model of the first 300 rows whose columns are scaled as those of all rows are."""
    model = of_parts(scale="none")
    center, spread = X.mean(axis=0), X.std(axis=0)
    fitted = model.fit((X[:300] - center) / spread, y[:300])

    class Scaled:
        def predict_proba(self, rows):
            return fitted.predict_proba((rows - center) / spread)

    return Scaled()


def test_many_rows_are_weighed_by_rows_held_back(table, quickly, monkeypatch):
    monkeypatch.setattr(_sizes, "MOST_ROWS", 150)
    monkeypatch.setattr(_choosing, "MOST_ROWS", 150)
    X, y = table
    model = LocalClassifier(random_state=0).fit(X, y)
    assert model.validation_loss_ < np.log(3)
    again = LocalClassifier(**model.chosen_, random_state=0).fit(X, y)
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), atol=1e-10)


def test_progress_goes_from_nothing_to_all(table, quickly):
    X, y = table
    shares = []
    with watching(shares.append):
        LocalClassifier(random_state=0).fit(X, y)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert len(shares) > 10


def test_a_budget_too_small_means_the_papers_defaults(table):
    X, y = table
    with pytest.warns(UserWarning, match=r"0\.5 s is too small .* defaults of RandLocal"):
        model = LocalClassifier(budget=0.5, random_state=0).fit(X, y)
    (part,) = model.chosen_["parts"]
    assert (part["part"], part["n_groups"], part["n_neighbors"]) == ("local", 400, 1)
    assert model.score(X, y) > 0.9


def test_few_rows_mean_the_papers_defaults():
    with pytest.warns(UserWarning, match="too few to choose by"):
        model = LocalClassifier(random_state=0).fit([[0.0], [1.0], [2.0], [5.0]], [0, 0, 1, 1])
    assert model.predict([[0.1]]) == [0]


def test_a_class_with_one_row(table):
    X, y = table
    y = y.copy()
    y[y == 2] = 1
    y[0] = 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = of_parts().fit(X, y)
    assert model.predict_proba(X).shape == (400, 3)
    rare = model.predict_proba(X)[:, 2]
    assert rare.max() < 0.9


@pytest.mark.parametrize("budget", ["90s", "5m", "1.5h", 30, np.float32(2.5), None])
def test_budgets_that_are_understood(budget):
    seconds = {"90s": 90, "5m": 300, "1.5h": 5400, None: np.inf}
    assert _local_model.seconds_of(budget) == seconds.get(budget, budget)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": "soon"}, "budget must be like"),
        ({"budget": 0}, "budget must be like"),
        ({"budget": True}, "budget must be like"),
        ({"parts": []}, "parts is empty"),
        ({"parts": [{}]}, "Each of parts needs a 'part'"),
        ({"parts": [{"part": "leafs"}]}, "Each of parts needs a 'part'"),
        ({"parts": [{"part": "local", "n_group": 3}]}, "did you mean 'n_groups'"),
        ({"parts": [{"part": "local", "n_groups": 0}]}, "n_groups"),
        ({"parts": ["local"]}, "Each of parts is a dictionary"),
        ({"scale": "big"}, "scale must be"),
        ({"family": "local"}, "family must be a list"),
        ({"family": []}, "family must be a list"),
        ({"family": ["leafs"]}, "Each kind in family must be one of"),
    ],
)
def test_bad_parameters_are_refused(options, message, table):
    with pytest.raises(ValueError, match=message):
        LocalClassifier(**options).fit(*table)


def test_bad_rows_are_refused(table):
    X, y = table
    with pytest.raises(ValueError, match="at least two classes"):
        of_parts().fit(X, np.zeros(400))
    with pytest.raises(ValueError, match="infinity"):
        of_parts().fit(np.where(X > 2, np.inf, X), y)
    with pytest.raises(ValueError, match="at least one non-zero"):
        of_parts().fit(X, y, sample_weight=np.zeros(400))
    with pytest.raises(ValueError, match="two classes with weights above 0"):
        of_parts().fit(X, y, sample_weight=(y == 1).astype(float))
    with pytest.raises(ValueError, match="Unknown label type"):
        of_parts().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="NaN"):
        of_parts().fit(X, np.where(y == 0, np.nan, y))
