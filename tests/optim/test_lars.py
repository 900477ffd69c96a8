"""The Lasso by least angle regression, against scikit-learn's and its own optimality conditions."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import lars_path

from vicinal._optim._lars import Columns, FewColumns, _InverseFactor, least_angle_lasso

KINDS = [Columns, FewColumns, lambda X: Columns(sp.csr_array(X))]


def slow_coefficients(X, y, most):
    """The last point of the whole Lasso path before more than `most` coefficients are non-zero."""
    _, _, path = lars_path(X - X.mean(axis=0), y - y.mean(), method="lasso")
    between = ((path[:, 1:] != 0) | (path[:, :-1] != 0)).sum(axis=0)
    return path[:, np.argmax(between > most) if (between > most).any() else -1]


def check_optimal(X, y, coef, atol=1e-8):
    """The Lasso's conditions: where a coefficient is not 0 its correlation is the penalty, elsewhere no larger."""
    correlations = (X - X.mean(axis=0)).T @ (y - y.mean() - (X - X.mean(axis=0)) @ coef)
    active = coef != 0
    penalty = np.abs(correlations[active]).max(initial=0)
    np.testing.assert_allclose(np.abs(correlations[active]), penalty, atol=atol)
    assert np.abs(correlations).max() <= penalty + atol
    if penalty > atol:
        assert np.array_equal(np.sign(correlations[active]), np.sign(coef[active]))


@pytest.mark.parametrize("kind", KINDS)
def test_regressions_equal_those_of_scikit_learn(rng, kind):
    for _ in range(30):
        n, n_columns = rng.integers(5, 40), rng.integers(1, 60)
        mixing = np.eye(n_columns) + rng.choice([0, 0.3, 1]) * rng.normal(size=(n_columns, n_columns))
        X, y = rng.normal(size=(n, n_columns)) @ mixing + 3, rng.normal(size=n)
        most = int(min(rng.integers(1, 40), n - 1, n_columns))
        coef = least_angle_lasso(kind(X), y - y.mean(), np.ones(n_columns, dtype=bool), most).solution
        expected = slow_coefficients(X, y, most)
        np.testing.assert_allclose(coef, expected, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("kind", KINDS)
def test_regressions_with_ties_and_dependent_columns(rng, kind):
    """Paths are not unique here; the conditions hold. If more columns tie than may take part, none does."""
    for trial in range(120):
        n, n_columns = rng.integers(4, 30), rng.integers(1, 40)
        X = [
            rng.integers(0, 2, (n, n_columns)),
            np.repeat(rng.normal(size=(n, n_columns)), 3, axis=1),
            np.eye(n_columns)[rng.integers(0, n_columns, n)],
            rng.integers(0, 4, (n, n_columns))[rng.integers(0, n, n)],
        ][trial % 4].astype(float)
        y = rng.integers(-1, 2, n).astype(float) if trial % 8 < 4 else rng.normal(size=n)
        most = int(min(rng.integers(1, 40), n - 1, X.shape[1]))
        path = least_angle_lasso(kind(X), y - y.mean(), np.ptp(X, axis=0) > 0, most)
        coef, nearness = path.solution, path.nearness
        assert path.converged
        assert np.count_nonzero(coef) <= most
        centred = X - X.mean(axis=0)
        assert path.objective[-1] == pytest.approx(0.5 * np.sum((y - y.mean() - centred @ coef) ** 2), abs=1e-12)
        correlations = np.abs(centred.T @ (y - y.mean() - centred @ coef))
        if coef.any():
            check_optimal(X, y, coef)
        else:
            assert np.sum(correlations > correlations.max() - 1e-8) > most
        if correlations.max() > 1e-8:
            np.testing.assert_allclose(nearness, correlations / correlations.max(), atol=1e-6)


def test_inverse_factor_follows_columns_in_and_out(rng):
    X = rng.normal(size=(60, 40))
    gram, factor, columns = X.T @ X, _InverseFactor(), []
    for column in range(40):
        assert factor.append(gram[columns, column], gram[column, column])
        columns.append(column)
        if column % 3 == 2:
            place = int(rng.integers(len(columns)))
            factor.remove(place)
            columns.pop(place)
        right = rng.normal(size=len(columns))
        expected = np.linalg.solve(gram[np.ix_(columns, columns)], right)
        np.testing.assert_allclose(factor.solve(right), expected, rtol=1e-9, atol=1e-12)
    mixture = gram[:, columns] @ rng.normal(size=len(columns))
    own = X[:, columns] @ np.linalg.solve(gram[np.ix_(columns, columns)], mixture[columns])
    assert not factor.append(mixture[columns], own @ own)
