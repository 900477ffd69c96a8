"""Scores of several models added up."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.linear_model import LogisticRegression

from vicinal.model import _blend as blends

N_ROWS = 80


def problem(n_outputs, is_number, rng):
    scores = [rng.normal(size=(N_ROWS, n_outputs)) for _ in range(3)]
    if is_number:
        return scores, scores[0][:, 0] + 0.3 * rng.normal(size=N_ROWS)
    noise = rng.normal(size=(N_ROWS, n_outputs))
    if n_outputs == 1:
        return scores, (scores[0][:, 0] + noise[:, 0] > 0).astype(int)
    return scores, (scores[0] + noise).argmax(axis=1)


KINDS = pytest.mark.parametrize(("n_outputs", "is_number"), [(1, True), (1, False), (4, False)])


@KINDS
def test_slopes_are_those_of_the_loss(n_outputs, is_number):
    rng = np.random.default_rng(0)
    (combined, *_), targets = problem(n_outputs, is_number, rng)
    _, slopes = blends.loss_and_slopes(combined, targets, is_number)

    def total(flat):
        return blends.loss_and_slopes(flat.reshape(combined.shape), targets, is_number)[0].sum()

    np.testing.assert_allclose(slopes.ravel(), approx_fprime(combined.ravel(), total, 1e-7), atol=1e-5)


@KINDS
def test_no_other_weights_lose_less(n_outputs, is_number, monkeypatch):
    monkeypatch.setattr(blends, "PENALTY", 0.0)
    rng = np.random.default_rng(1)
    scores, targets = problem(n_outputs, is_number, rng)
    weights = rng.uniform(0.5, 2, N_ROWS)
    found = blends.fit_blend(scores, targets, weights, is_number=is_number)
    least = blends.mean_loss(found, scores, targets, weights, is_number=is_number)
    assert (found.weights >= 0).all()
    for _ in range(50):
        near = blends.Blend(
            np.maximum(0, found.weights + 0.05 * rng.normal(size=3)), found.biases + 0.05 * rng.normal(size=n_outputs)
        )
        assert blends.mean_loss(near, scores, targets, weights, is_number=is_number) >= least - 1e-7


def test_one_score_of_two_classes_is_calibrated_as_by_logistic_regression(monkeypatch):
    monkeypatch.setattr(blends, "PENALTY", 0.0)
    rng = np.random.default_rng(2)
    (score, *_), targets = problem(1, False, rng)
    ours = blends.fit_blend([score], targets, np.ones(N_ROWS), is_number=False)
    theirs = LogisticRegression(C=np.inf, tol=1e-10).fit(score, targets)
    np.testing.assert_allclose(
        blends.probabilities(ours.combined([score])), theirs.predict_proba(score), rtol=1e-3, atol=1e-4
    )


def test_probabilities_add_up_to_one():
    rng = np.random.default_rng(3)
    for n_outputs in (1, 5):
        found = blends.probabilities(100 * rng.normal(size=(7, n_outputs)))
        assert found.shape == (7, max(2, n_outputs))
        np.testing.assert_allclose(found.sum(axis=1), 1)
        assert (found >= 0).all()


def test_what_says_nothing_gets_next_to_no_weight():
    rng = np.random.default_rng(4)
    scores, targets = problem(1, False, rng)
    found = blends.fit_blend([scores[0], np.zeros((N_ROWS, 1))], targets, np.ones(N_ROWS), is_number=False)
    assert found.weights[0] > 0.5
    np.testing.assert_allclose(
        found.combined([scores[0], np.zeros((N_ROWS, 1))])[:, 0], found.weights[0] * scores[0][:, 0] + found.biases[0]
    )
