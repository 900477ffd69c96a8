"""Steps that touch only the columns of their rows, held-out rows, and the weights of the best epoch."""

import numpy as np
import pytest
import scipy.sparse as sp

from vicinal.learned._epochs import AdaptiveSteps, Batches, History, Schedule, held_out_rows, prepared, train


class Line:
    """Least squares of classes by a line through the columns: the plainest network there is."""

    def __init__(self, n_columns, qualities=()):
        self.column_weights, self.others = np.zeros((n_columns, 1)), [np.zeros(1)]
        self.given, self.seen = list(qualities), []

    def slopes(self, sums, classes):
        errors = sums + self.others[0] - classes[:, np.newaxis]
        return float(np.vdot(errors, errors)), 2 * errors, [2 * errors.sum(axis=0)]

    def quality(self, sums, classes):
        self.seen.append(self.column_weights.copy())
        return self.given[len(self.seen) - 1]


def schedule(weight_decay=0.0):
    return Schedule(
        learning_rate=0.1, weight_decay=weight_decay, batch_size=4, n_epochs=6, n_epochs_no_change=2, tol=0.01
    )


@pytest.fixture
def rows(rng):
    return rng.uniform(size=(12, 7)) * (rng.uniform(size=(12, 7)) < 0.3)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_batches_have_the_columns_of_their_rows(rows, kind):
    batches = Batches(kind(rows))
    for places in ([0, 3], [5], list(range(12))):
        part, columns = batches.take(np.array(places))
        assert (np.arange(7)[columns] == np.flatnonzero(rows[places].any(axis=0))).all()
        assert ((part.toarray() if sp.issparse(part) else part) == rows[places][:, columns]).all()


def test_a_step_is_adagrad_with_one_sum_per_column(rows):
    network, squares, expected = Line(7), np.zeros(7), np.zeros(7)
    bias, bias_squares, decay = 0.0, 0.0, 0.5
    steps = AdaptiveSteps(network, schedule(weight_decay=decay))
    batches, classes = Batches(sp.csr_matrix(rows)), np.arange(12) % 2
    for places in (np.arange(4), np.arange(2, 9)):
        errors = rows[places] @ expected + bias - classes[places]
        gradient = 2 * rows[places].T @ errors
        touched = rows[places].any(axis=0)
        squares += gradient**2
        expected[touched] *= 1 - 0.1 * decay
        expected[touched] -= (0.1 * gradient / np.sqrt(np.maximum(squares, 1e-300)))[touched]
        bias_squares += (2 * errors.sum()) ** 2
        bias -= 0.1 * 2 * errors.sum() / np.sqrt(bias_squares)
        part, columns = batches.take(places)
        assert np.isclose(steps.take(part, columns, classes[places]), errors @ errors)
        assert np.allclose(network.column_weights[:, 0], expected)
        assert np.allclose(network.others[0], bias)


def test_sparse_and_dense_rows_learn_the_same(rows):
    dense, sparse = Line(7), Line(7)
    for network, given in ((dense, rows), (sparse, sp.csr_matrix(rows))):
        train(network, given, np.arange(12) % 2, np.empty(0, int), schedule(), np.random.default_rng(0))
    assert np.allclose(dense.column_weights, sparse.column_weights)


def test_few_rows_have_more_epochs(rows, monkeypatch):
    monkeypatch.setattr("vicinal.learned._epochs.LEAST_STEPS", 3 * -(-10 // schedule().batch_size))
    network = Line(7, [0.5, 0.1, 0.1, 0.1, 0.9, 0.9])
    history = train(network, rows, np.arange(12) % 2, np.array([0, 1]), schedule(), np.random.default_rng(0))
    assert history.qualities == [0.5, 0.1, 0.1, 0.1]


def test_ends_after_epochs_without_change_and_keeps_the_best(rows, monkeypatch):
    monkeypatch.setattr("vicinal.learned._epochs.LEAST_STEPS", 0)
    network = Line(7, [0.1, 0.5, 0.4, 0.505, 0.9, 0.9])
    history = train(network, rows, np.arange(12) % 2, np.array([0, 1]), schedule(), np.random.default_rng(0))
    assert history.qualities == [0.1, 0.5, 0.4, 0.505]
    assert len(history.losses) == 4
    assert (network.column_weights == network.seen[1]).all()


def test_without_held_out_rows_the_last_epoch_counts(rows):
    network = Line(7)
    history = train(network, rows, np.arange(12) % 2, np.empty(0, int), schedule(), np.random.default_rng(0))
    assert (len(history.losses), history.qualities) == (6, [])
    assert history.losses[-1] < history.losses[0]
    assert History().since_best == 0


@pytest.mark.parametrize(("counts", "expected"), [([40, 20], [4, 2]), ([40, 20, 1], [4, 2, 0]), ([40, 1], None)])
def test_held_out_rows_are_a_share_of_each_class(counts, expected):
    classes = np.repeat(np.arange(len(counts)), counts)
    found = held_out_rows(classes, 0.1, np.random.default_rng(0))
    if expected is None:
        assert len(found) == 0
    else:
        assert np.bincount(classes[found], minlength=len(counts)).tolist() == expected


def test_held_out_rows_have_a_limit():
    classes = np.arange(100) % 2
    assert len(held_out_rows(classes, 0.5, np.random.default_rng(0), most=10)) == 10
    assert len(held_out_rows(classes, None, np.random.default_rng(0))) == 0


def test_prepared_rows_have_weights_of_all_columns(rows, rng):
    rows[:, 2] = 0
    for given in (rows, sp.csr_matrix(rows)):
        taken = prepared(3 * given)
        dense = taken.rows.toarray() if sp.issparse(taken.rows) else taken.rows
        assert np.isclose((dense**2).sum(axis=1).mean(), 1)
        weights = rng.standard_normal((dense.shape[1], 2))
        assert np.allclose(3 * rows @ taken.spread(weights), dense @ weights)


def test_rows_without_entries_can_be_prepared():
    taken = prepared(sp.csr_matrix((3, 5)))
    assert taken.rows.shape == (3, 1)
    assert taken.spread(np.ones((1, 2))).shape == (5, 2)
