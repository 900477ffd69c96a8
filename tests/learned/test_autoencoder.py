"""Denoising autoencoders: what they train on, what their codes are, and how good they get."""

import _thread
import pickle
import signal
import threading

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.neural_network import MLPRegressor

from vicinal.learned import DenoisingAutoencoder, StackedDenoisingAutoencoder

DIGITS = load_digits().data / 16
BY_HAND = {"relu": lambda z: np.maximum(z, 0), "logistic": expit, "tanh": np.tanh}


@pytest.fixture
def batches(monkeypatch):
    """All (input, target) batches that the networks are trained on, in order."""
    seen = []
    partial_fit = MLPRegressor.partial_fit

    def recorded(network, X, y):
        seen.append((X.copy(), y.copy()))
        return partial_fit(network, X, y)

    monkeypatch.setattr(MLPRegressor, "partial_fit", recorded)
    return seen


def epochs_of(batches, n_epochs):
    """Inputs and targets of each epoch, in the order of the targets."""
    size = len(batches) // n_epochs
    for start in range(0, len(batches), size):
        inputs, targets = (np.concatenate(part) for part in zip(*batches[start : start + size], strict=True))
        order = np.lexsort(targets.T)
        yield inputs[order], targets[order]


@pytest.mark.parametrize("activation", ["relu", "logistic", "tanh"])
def test_codes_and_rebuilt_rows_are_the_formulas(activation):
    model = DenoisingAutoencoder(20, activation=activation, n_epochs=2, random_state=0).fit(DIGITS)
    codes = model.transform(DIGITS)
    by_hand = BY_HAND[activation](DIGITS @ model.encoder_weights_ + model.encoder_biases_)
    np.testing.assert_allclose(codes, by_hand, atol=1e-12)
    rebuilt = model.inverse_transform(codes)
    np.testing.assert_allclose(rebuilt, by_hand @ model.decoder_weights_ + model.decoder_biases_, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_masking_is_drawn_afresh_in_every_epoch_against_clean_rows(batches, rng, dtype):
    X = rng.uniform(1, 2, (500, 20)).astype(dtype)
    DenoisingAutoencoder(level=0.3, n_epochs=3, batch_size=64, random_state=0).fit(X)
    assert [len(target) for _, target in batches[:8]] == [64] * 7 + [52]
    masks = []
    for inputs, targets in epochs_of(batches, 3):
        assert inputs.dtype == targets.dtype == dtype
        assert np.array_equal(targets, X[np.lexsort(X.T)])  # every clean row once
        assert np.all((inputs == 0) | (inputs == targets))
        assert np.mean(inputs == 0) == pytest.approx(0.3, abs=0.02)
        masks.append(inputs == 0)
    for one, other in ((0, 1), (0, 2), (1, 2)):  # masks of two epochs meet as independent ones do
        assert np.mean(masks[one] & masks[other]) == pytest.approx(0.09, abs=0.02)
    first_rows = [batches[epoch * 8][1] for epoch in range(3)]
    assert not np.array_equal(first_rows[0], first_rows[1])  # and rows come in another order


def test_gaussian_noise_is_a_share_of_the_columns_spread(batches, rng):
    X = rng.normal(size=(2000, 3)) * [1, 10, 0] + [0, 100, 5]
    DenoisingAutoencoder(corruption="gaussian", level=0.5, n_epochs=2, random_state=0).fit(X)
    noise = [inputs - targets for inputs, targets in epochs_of(batches, 2)]
    for epoch in noise:
        np.testing.assert_allclose(epoch.std(axis=0), [0.5, 5, 0], rtol=0.1, atol=1e-6)
        np.testing.assert_allclose(epoch.mean(axis=0), 0, atol=0.6)
    assert abs(np.corrcoef(noise[0][:, 0], noise[1][:, 0])[0, 1]) < 0.1


def test_losses_are_mean_squared_errors_of_the_epochs_batches(batches):
    """One batch per epoch: its loss is that of the weights before its step, which are the fit with an epoch less."""
    settings = {"n_components": 10, "batch_size": 300, "level": 0.2, "weight_decay": 0.5, "random_state": 0}
    losses = DenoisingAutoencoder(n_epochs=4, **settings).fit(DIGITS[:300]).loss_curve_
    inputs, targets = batches[3]
    before = DenoisingAutoencoder(n_epochs=3, **settings).fit(DIGITS[:300])
    error = np.mean((before.inverse_transform(before.transform(inputs)) - targets) ** 2)
    assert len(losses) == 4
    assert losses[3] == pytest.approx(error, rel=1e-9)
    assert losses[:3] == before.loss_curve_


def test_the_loss_falls_below_the_spread_of_the_columns():
    losses = DenoisingAutoencoder(random_state=0).fit(DIGITS).loss_curve_
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.5 * DIGITS.var(axis=0).mean()


def test_without_damage_it_comes_near_pca_and_never_below():
    """The decoder is linear, so no codes of this size can rebuild rows better than the principal components."""
    pca = PCA(8).fit(DIGITS)
    least = np.mean((pca.inverse_transform(pca.transform(DIGITS)) - DIGITS) ** 2)
    model = DenoisingAutoencoder(
        8, level=0.0, activation="tanh", n_epochs=40, learning_rate_init=5e-3, weight_decay=0.0, random_state=0
    ).fit(DIGITS)
    error = np.mean((model.inverse_transform(model.transform(DIGITS)) - DIGITS) ** 2)
    assert least <= error < 1.25 * least


def test_masked_training_mends_masked_rows_better_than_plain_training(rng):
    damaged = DIGITS * (rng.random(DIGITS.shape) >= 0.3)
    errors = []
    for level in (0.0, 0.3):
        model = DenoisingAutoencoder(32, level=level, random_state=0).fit(DIGITS)
        errors.append(np.mean((model.inverse_transform(model.transform(damaged)) - DIGITS) ** 2))
    assert errors[1] < 0.75 * errors[0]


def test_decay_draws_weights_towards_zero():
    norms = [
        np.linalg.norm(
            DenoisingAutoencoder(n_epochs=3, weight_decay=decay, random_state=0).fit(DIGITS).encoder_weights_
        )
        for decay in (0.0, 1.0, 10.0)
    ]
    assert norms[0] > norms[1] > norms[2]


@pytest.mark.parametrize("make", [DenoisingAutoencoder, StackedDenoisingAutoencoder])
@pytest.mark.parametrize("corruption", ["masking", "gaussian"])
def test_same_seed_same_answer_and_single_precision_near_double(make, corruption):
    X = DIGITS[:900]
    model = make(corruption=corruption, n_epochs=2, random_state=0)
    codes = model.fit_transform(X)
    assert np.array_equal(codes, clone(model).fit(X).transform(X))
    assert np.array_equal(codes, pickle.loads(pickle.dumps(model)).transform(X))
    assert not np.array_equal(codes, clone(model).set_params(random_state=1).fit_transform(X))
    single = clone(model).fit_transform(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, codes, atol=1e-3)


def test_single_precision_stays_single(batches):
    model = StackedDenoisingAutoencoder(n_epochs=1, random_state=0).fit(DIGITS.astype(np.float32))
    assert {part.dtype for batch in batches for part in batch} == {np.dtype(np.float32)}
    for layer in model.layers_:
        assert {weights.dtype for weights in (layer.encoder_weights_, layer.decoder_biases_)} == {np.dtype(np.float32)}
    assert model.inverse_transform(model.transform(DIGITS.astype(np.float32))).dtype == np.float32


@pytest.mark.parametrize(("n_components", "size"), [(5, 5), (0.5, 32), (0.1, 6), (1.0, 64), (1e-9, 1), (100, 100)])
def test_sizes(n_components, size):
    model = DenoisingAutoencoder(n_components, n_epochs=1).fit(DIGITS[:50])
    assert model.transform(DIGITS).shape == (1797, size)
    assert model.get_feature_names_out()[-1] == f"denoisingautoencoder{size - 1}"


def test_each_layer_learns_from_the_clean_codes_of_the_one_below(batches):
    stack = StackedDenoisingAutoencoder((40, 0.3, 12), n_epochs=2, batch_size=1797, random_state=0).fit(DIGITS)
    assert [layer.n_components_ for layer in stack.layers_] == [40, 19, 12]
    codes = DIGITS
    trained = list(batches)
    for number, layer in enumerate(stack.layers_):
        (inputs, targets), _ = epochs_of(trained[2 * number : 2 * number + 2], 2)
        assert np.array_equal(targets, codes[np.lexsort(codes.T)])
        assert np.mean(inputs[targets != 0] == 0) == pytest.approx(0.3, abs=0.02)
        alone = clone(layer).fit(codes)
        assert np.array_equal(alone.encoder_weights_, layer.encoder_weights_)
        codes = layer.transform(codes)
    assert np.array_equal(stack.transform(DIGITS), codes)
    rows = codes
    for layer in stack.layers_[::-1]:
        rows = layer.inverse_transform(rows)
    assert np.array_equal(stack.inverse_transform(codes), rows)


def test_one_number_makes_three_layers_and_seeds_differ():
    stack = StackedDenoisingAutoencoder(0.25, n_epochs=1, random_state=0).fit(DIGITS)
    assert [layer.n_components_ for layer in stack.layers_] == [16, 16, 16]
    assert len({layer.random_state for layer in stack.layers_}) == 3
    assert len(StackedDenoisingAutoencoder(np.array([9, 4]), n_epochs=1).fit(DIGITS).layers_) == 2


def test_one_column_and_one_row():
    assert DenoisingAutoencoder(n_epochs=2).fit_transform(DIGITS[:, 20:21]).shape == (1797, 1)
    assert DenoisingAutoencoder(n_epochs=2, corruption="gaussian").fit_transform(DIGITS[:1]).shape == (1, 32)


@pytest.fixture
def listening():
    """A shell that starts the tests in the background has them ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_ends_the_training(listening):
    model = DenoisingAutoencoder(n_epochs=100_000, random_state=0)
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(DIGITS)
    timer.join()
    assert not hasattr(model, "encoder_weights_")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, "n_components must be a whole number of at least 1, or a share of the columns .* got 0"),
        ({"n_components": 1.5}, "above 0 and up to 1.0; got 1.5"),
        ({"n_components": True}, "got True"),
        ({"corruption": "salt"}, "corruption must be one of 'masking', 'gaussian'; got 'salt'"),
        ({"level": 1.0}, "level must be below 1 where corruption='masking', or no entry is left; got 1.0"),
        ({"level": -0.1}, "level must be a number of at least 0; got -0.1"),
        ({"activation": "identity"}, "activation must be one of 'relu', 'logistic', 'tanh'; got 'identity'"),
        ({"n_epochs": 0}, "n_epochs must be a whole number of at least 1; got 0"),
        ({"batch_size": "all"}, "batch_size must be one of 'auto'; got 'all'"),
        ({"batch_size": 0}, "batch_size must be a whole number of at least 1; got 0"),
        ({"learning_rate_init": 0}, "learning_rate_init must be above 0"),
        ({"weight_decay": -1}, "weight_decay must be a number of at least 0; got -1"),
    ],
)
@pytest.mark.parametrize("make", [DenoisingAutoencoder, StackedDenoisingAutoencoder])
def test_bad_parameters_get_one_clear_sentence(make, settings, message):
    with pytest.raises(ValueError, match=message):
        make(**settings).fit(DIGITS)


def test_bad_layers_and_codes_get_one_clear_sentence():
    with pytest.raises(ValueError, match="n_components must be a number or a sequence with one number per layer"):
        StackedDenoisingAutoencoder([]).fit(DIGITS)
    with pytest.raises(ValueError, match="got 'many'"):
        StackedDenoisingAutoencoder("many").fit(DIGITS)
    model = DenoisingAutoencoder(10, n_epochs=1).fit(DIGITS)
    with pytest.raises(ValueError, match="codes has 64 columns, but DenoisingAutoencoder makes codes of 10"):
        model.inverse_transform(DIGITS)
