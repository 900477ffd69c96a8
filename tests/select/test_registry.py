"""The one list of selectors."""

import inspect

import pytest

import vicinal
from vicinal import select
from vicinal.experiments import Role, find_method
from vicinal.select import SELECTORS, FeatureSelector, PerView


def test_every_selector_is_in_the_list_and_public():
    public = [getattr(select, name) for name in select.__all__]
    kinds = {kind for kind in public if inspect.isclass(kind) and issubclass(kind, FeatureSelector)}
    kinds -= {FeatureSelector, PerView}  # the base, and what takes another one
    assert {entry.kind for entry in SELECTORS.values()} == kinds
    assert len({entry.label for entry in SELECTORS.values()}) == len(SELECTORS)
    assert all(getattr(vicinal, entry.kind.__name__) is entry.kind for entry in SELECTORS.values())


@pytest.mark.parametrize("name", SELECTORS)
def test_entries_agree_with_their_classes(name, rng):
    entry = SELECTORS[name]
    assert entry.name == name
    parameters = inspect.signature(entry.kind).parameters
    assert set(entry.tuned) <= set(parameters)
    assert next(iter(parameters)) == "n_features_to_select"
    selector, X = entry.kind(**{"random_state": 0} if "random_state" in parameters else {}), rng.random((20, 6))
    assert hasattr(selector.fit(X), "n_auto_") is entry.has_rule


def test_experiments_read_it():
    for name, entry in SELECTORS.items():
        method = find_method(name)
        assert (method.label, method.has_rule, method.role) == (entry.label, entry.has_rule, Role.SELECTOR)


def test_public_parameters_are_words():
    greek = {"alpha", "beta", "gamma", "delta", "lambda", "lambda_", "mu", "nu", "sigma", "theta", "rho", "eta"}
    for entry in SELECTORS.values():
        assert not greek & set(inspect.signature(entry.kind).parameters)
