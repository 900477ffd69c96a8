"""PerView: what a selector says of each view by itself."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from vicinal.select import MVFS, NDFS, RUFS, SNFS, UDFS, LaplacianScore, MaximumVariance, PerView


@pytest.mark.parametrize("as_input", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    "selector", [LaplacianScore(), UDFS(n_clusters=3), RUFS(n_clusters=3, tol=0.01, random_state=0)], ids=repr
)
def test_scores_are_those_of_each_view_by_itself(rng, selector, as_input):
    X = as_input(rng.exponential(size=(40, 12)))
    views = [[0, 2, 4, 6, 8], [1, 3, 5, 7, 9, 10, 11]]
    found = PerView(selector, [2, 3], views=views).fit(X)
    for columns, count, name in zip(views, (2, 3), ("view1", "view2"), strict=True):
        alone = clone(selector).set_params(n_features_to_select=count).fit(X[:, columns])
        np.testing.assert_allclose(found.view_scores_[name], alone.scores_, rtol=1e-8)
        np.testing.assert_array_equal(found.support_[columns], alone.support_)
    assert found.n_iter_ == max(one.n_iter_ for one in found.selectors_.values())


def test_the_selector_is_left_as_it_is_and_its_parameters_count(rng):
    selector = NDFS(3, n_clusters=2, random_state=7, n_jobs=1)
    found = PerView(selector, 2, views=[5, 6]).fit(rng.normal(size=(30, 11)))
    assert not hasattr(selector, "scores_")
    assert selector.n_features_to_select == 3
    for one in found.selectors_.values():
        assert (one.random_state, one.n_jobs, one.n_features_to_select) == (7, 1, 2)
    with pytest.warns(ConvergenceWarning, match="NDFS did not converge in 1 reweightings"):
        PerView(NDFS(n_clusters=2, max_iter=1), views=[5, 6]).fit(rng.normal(size=(30, 11)))


def test_another_number_needs_no_other_fit(rng):
    X = rng.normal(size=(30, 1)) * np.arange(1, 12)
    found = PerView(MaximumVariance(), 2, views=[5, 6]).fit(X)
    assert set(found.get_support(indices=True)) == {3, 4, 9, 10}
    assert set(found.with_n_features([1, 3]).get_support(indices=True)) == {4, 8, 9, 10}


def test_a_rule_of_the_selector_holds_for_each_view(rng):
    X = rng.normal(size=(40, 12))
    found = PerView(SNFS(), "auto", views=[5, 7]).fit(X)
    expected = [SNFS("auto").fit(part).n_auto_ for part in (X[:, :5], X[:, 5:])]
    assert [found.support_[:5].sum(), found.support_[5:].sum()] == expected
    with pytest.raises(ValueError, match="n_features_to_select must be a whole number"):
        PerView(LaplacianScore(), "auto").fit(X)


def test_without_views_it_is_the_selector(rng):
    X = rng.normal(size=(40, 12))
    np.testing.assert_array_equal(PerView(LaplacianScore()).fit(X).ranking_, LaplacianScore().fit(X).ranking_)


def test_in_a_pipeline_with_names_and_a_search(rng):
    X = pd.DataFrame(rng.normal(size=(40, 6)), columns=["w_a", "w_b", "w_c", "t_a", "t_b", "t_c"])
    y = np.arange(40) % 2
    views = {"w": ["w_a", "w_b", "w_c"], "t": ["t_a", "t_b", "t_c"]}
    model = make_pipeline(PerView(LaplacianScore(), 1, views=views), KNeighborsClassifier())
    grid = {"perview__n_features_to_select": [1, 2], "perview__selector__n_neighbors": [3, 5]}
    best = GridSearchCV(model, grid, cv=2).fit(X, y).best_estimator_[0]
    assert set(best.views_) == {"w", "t"}


@pytest.mark.parametrize("selector", [SelectKBest(), "laplacian-score", None, LaplacianScore], ids=repr)
def test_other_selectors_are_refused(rng, selector):
    with pytest.raises(TypeError, match=r"selector must be one of vicinal\.select, such as LaplacianScore"):
        PerView(selector).fit(rng.normal(size=(20, 4)))


def test_more_than_a_view_has_is_refused_before_anything_is_fitted(rng):
    with pytest.raises(ValueError, match="n_features_to_select=4, but the view 'view2' has 3 features"):
        PerView(LaplacianScore(), 4, views=[5, 3]).fit(rng.normal(size=(20, 8)))


def test_a_selector_of_views_sees_one_at_a_time(rng):
    X = rng.normal(size=(30, 11))
    found = PerView(MVFS(n_clusters=2, random_state=0), views=[5, 6]).fit(X)
    np.testing.assert_allclose(found.scores_[:5], NDFS(n_clusters=2, random_state=0).fit(X[:, :5]).scores_)
