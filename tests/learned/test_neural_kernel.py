import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import approx_fprime
from sklearn.datasets import make_blobs
from sklearn.metrics import roc_auc_score

from vicinal import NeuralKernel
from vicinal.learned._pair_network import FORMS, first_network
from vicinal.metrics import kernel_alignment

LAYERS = [(3,), (4, 3), (3, 4, 2)]
each_form = pytest.mark.parametrize("form", list(FORMS))


@pytest.fixture(scope="module")
def table():
    X, y = make_blobs(120, 6, centers=2, cluster_std=2.5, random_state=0)
    return X - X.mean(axis=0), y


def fitted(table, layers=(4, 3), **options):
    X, y = table
    return NeuralKernel(layers, **({"random_state": 0, "n_epochs": 4} | options)).fit(X, y)


def network_of(form, sizes, n_columns, rng):
    network = first_network(form, n_columns, sizes, np.dtype(np.float64), rng)
    network.column_weights = rng.standard_normal(network.column_weights.shape)
    network.others = [rng.standard_normal(other.shape) for other in network.others]
    return network


def plain_pair(network, x, z):
    """K(x, z) of one network of both rows, as the paper draws it."""
    n_units = network.column_weights.shape[1] // 2
    units = np.tanh(
        x @ network.column_weights[:, :n_units] + z @ network.column_weights[:, n_units:] + network.others[0]
    )
    for weights, biases in zip(network.others[1::2], network.others[2::2], strict=True):
        units = np.tanh(units @ weights + biases)
    return units[0]


def plain_features(network, x):
    units = np.tanh(x @ network.column_weights + network.others[0])
    for weights, biases in zip(network.others[1::2], network.others[2::2], strict=True):
        units = np.tanh(units @ weights + biases)
    return units / np.sqrt(len(units))


def plain_loss(network, form, X, classes):
    """Eq. 10 over pairs of different rows; pairs of one class and of two weigh as much."""
    shares = np.bincount(classes) / len(classes)
    total = 0.0
    for i, j in np.ndindex(len(X), len(X)):
        if i == j:
            continue
        is_pair = form == "pairs"
        value = (
            plain_pair(network, X[i], X[j])
            if is_pair
            else plain_features(network, X[i]) @ plain_features(network, X[j])
        )
        same = classes[i] == classes[j]
        weight = 0.5 / (shares @ shares if same else 1 - shares @ shares)
        total += weight * (value - (1 if same else -1)) ** 2
    return total / (len(X) * (len(X) - 1))


@each_form
@pytest.mark.parametrize("sizes", LAYERS, ids=str)
def test_loss_and_gradients(form, sizes, rng):
    X, classes = rng.standard_normal((6, 4)), np.array([0, 1, 2, 0, 1, 1])
    network = network_of(form, list(sizes), 4, rng)
    network.balance(classes)
    loss, by_sums, by_others = network.slopes(X @ network.column_weights, classes)
    assert np.isclose(loss, plain_loss(network, form, X, classes))
    arrays = [network.column_weights, *network.others]
    start = np.concatenate([array.ravel() for array in arrays])

    def at(flat):
        parts = np.split(flat, np.cumsum([array.size for array in arrays])[:-1])
        weights, *others = (part.reshape(array.shape) for part, array in zip(parts, arrays, strict=True))
        moved = FORMS[form](weights, others)
        moved.balance(classes)
        return moved.slopes(X @ weights, classes)[0]

    analytic = np.concatenate([(X.T @ by_sums).ravel(), *(part.ravel() for part in by_others)])
    assert np.abs(analytic - approx_fprime(start, at, 1e-6)).max() < 1e-4


@pytest.mark.parametrize("layers", LAYERS, ids=str)
def test_pairs_are_symmetrised(table, layers):
    model, X = fitted(table, layers), table[0][:9]
    network = model._network()
    raw = np.array([[plain_pair(network, x, z) for z in X] for x in X])
    assert np.abs(raw - raw.T).max() > 1e-3  # each side has weights of its own
    assert np.abs(model.kernel(X) - (raw + raw.T) / 2).max() < 1e-5


@pytest.mark.parametrize("layers", LAYERS, ids=str)
def test_products_are_a_kernel_of_features(table, layers):
    model, X = fitted(table, layers, form="products"), table[0]
    features = model.transform(X)
    assert np.allclose(features[:9], [plain_features(model._network(), x) for x in X[:9]])
    assert np.allclose(model.kernel(X, X[:7]), features @ features[:7].T)
    assert np.linalg.eigvalsh(model.kernel(X)).min() > -1e-10
    assert model.get_feature_names_out().tolist() == [f"neuralkernel{s}" for s in range(layers[-1])]


def test_only_products_have_features(table):
    model = fitted(table)
    for name in ("transform", "fit_transform", "get_feature_names_out", "set_output"):
        assert not hasattr(model, name)
        assert hasattr(NeuralKernel(form="products"), name)
    with pytest.raises(AttributeError) as error:
        model.transform  # noqa: B018
    assert "form='products'" in str(error.value.__cause__)


@each_form
def test_learns_which_rows_are_of_one_class(table, form):
    X, y = table
    model = NeuralKernel((8,), form=form, random_state=0).fit(X[::2], y[::2])
    K, target = model.kernel(X[1::2]), np.where(y[1::2, None] == y[1::2], 1, -1)
    assert kernel_alignment(K, target, centered=True) > 0.7
    assert roc_auc_score(y[1::2], model.kernel(X[1::2], X[::2]) @ (2 * y[::2] - 1)) > 0.97


@each_form
def test_several_classes(form):
    X, y = make_blobs(300, 5, centers=4, random_state=0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = NeuralKernel((16, 8), form=form, random_state=0).fit(X[::2], y[::2])
    K, same = model.kernel(X[1::2]), y[1::2, None] == y[1::2]
    assert roc_auc_score(same.ravel(), K.ravel()) > 0.95


@each_form
def test_rows_without_a_label_are_left_out(table, form):
    X, y = table
    some = np.where(np.arange(len(y)) % 3 == 0, -1, y)
    partly, known = fitted((X, some), form=form), fitted((X[some >= 0], y[some >= 0]), form=form)
    assert (partly.column_weights_ == known.column_weights_).all()
    assert partly.classes_.tolist() == [0, 1]


@each_form
def test_sparse_rows_give_the_same(table, form):
    X, y = np.where(table[0] > 0, table[0], 0), table[1]
    dense, sparse = fitted((X, y), form=form), fitted((sp.csr_matrix(X), y), form=form)
    assert np.abs(dense.kernel(X) - sparse.kernel(sp.csr_matrix(X))).max() < 1e-4


def test_columns_of_no_labelled_row_are_not_heard(table):
    X, y = np.hstack([table[0], np.zeros((len(table[0]), 1))]), np.array(table[1])
    X[:5, -1], y[:5] = 7, -1
    model = fitted((sp.csr_matrix(X), y))
    assert (model.column_weights_[-1] == 0).all()
    assert (model.column_weights_[:-1] != 0).all()


@each_form
def test_the_scale_of_rows_does_not_matter(table, form):
    X, y = table
    plain, large = fitted((X, y), form=form), fitted((1024 * X, y), form=form)
    assert np.abs(plain.kernel(X) - large.kernel(1024 * X)).max() < 1e-4


def test_same_seed_same_answer_on_any_number_of_threads(table):
    first, second = fitted(table, n_jobs=1), fitted(table, n_jobs=3)
    assert (first.kernel(table[0]) == second.kernel(table[0])).all()
    assert (fitted(table, random_state=1).column_weights_ != first.column_weights_).any()


@each_form
def test_single_precision_stays(table, form):
    X, y = table[0].astype(np.float32), table[1]
    model = fitted((X, y), form=form)
    assert model.column_weights_.dtype == np.float32
    assert all(part.dtype == np.float32 for part in (*model.layer_weights_, *model.layer_biases_))
    assert model.kernel(X).dtype == np.float32
    assert model.kernel(table[0]).dtype == np.float64


@each_form
def test_every_step_has_a_pair(table, form, monkeypatch):
    met = []

    def spied(self, kernel, classes):
        met.append(len(kernel))
        return slopes(self, kernel, classes)

    slopes = FORMS[form]._pair_slopes
    monkeypatch.setattr(FORMS[form], "_pair_slopes", spied)
    X, y = table
    fitted((X[:9], y[:9]), form=form, batch_size=2, n_epochs=1, validation_fraction=None)
    assert met[:4] == [3, 2, 2, 2]


@each_form
def test_both_number_types_begin_alike(form):
    single, double = (
        first_network(form, 5, [4, 3], np.dtype(dtype), np.random.default_rng(0)) for dtype in (np.float32, np.float64)
    )
    for ours, theirs in zip(
        [single.column_weights, *single.others], [double.column_weights, *double.others], strict=True
    ):
        assert (ours.dtype, theirs.dtype) == (np.float32, np.float64)
        np.testing.assert_array_equal(ours, theirs.astype(np.float32))


def test_the_history_of_training(table):
    model = fitted(table, n_epochs=30, n_epochs_no_change=2)
    assert model.n_iter_ == len(model.loss_curve_) == len(model.validation_score_)
    assert model.n_iter_ == 30 or model.validation_score_[-2:].max() <= model.validation_score_[-3] + model.tol
    assert model.loss_curve_[-1] < model.loss_curve_[0]
    assert fitted(table, validation_fraction=None).validation_score_.shape == (0,)


def test_few_rows():
    model = NeuralKernel((2,), random_state=0).fit([[0.0], [1.0]], ["a", "b"])
    assert model.kernel([[0.0], [1.0], [2.0]]).shape == (3, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"form": "sums"}, "form must be one of 'pairs', 'products'; got 'sums'"),
        ({"hidden_layers": 20}, "hidden_layers must be a tuple of whole numbers"),
        ({"hidden_layers": (20, 0)}, "each of hidden_layers must be a whole number of at least 1; got 0"),
        ({"learning_rate": 0}, "learning_rate must be a number above 0"),
        ({"weight_decay": 2.0}, "learning_rate times weight_decay must be below 1"),
        ({"batch_size": 1}, "batch_size must be a whole number of at least 2; got 1"),
        ({"validation_fraction": 1}, "validation_fraction must be a share above 0 and below 1, or None; got 1"),
    ],
)
def test_bad_parameters(table, options, message):
    with pytest.raises(ValueError, match=message):
        NeuralKernel(**options).fit(*table)


def test_bad_labels(table):
    X, y = table
    with pytest.raises(ValueError, match="one class only"):
        NeuralKernel().fit(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="all rows are unlabelled"):
        NeuralKernel().fit(X, np.full(len(y), -1))


def test_training_that_learns_nothing_begins_anew(table, monkeypatch):
    """First weights of zeros are those of a kernel of zeros, whose slopes are zero: only another start can help."""
    X, y = table
    starts = []

    def first(*args):
        network = first_network(*args)
        if not starts:
            for part in (network.column_weights, *network.others):
                part[:] = 0
        starts.append(network)
        return network

    monkeypatch.setattr("vicinal.learned._neural_kernel.first_network", first)
    model = NeuralKernel((8,), random_state=0).fit(X, y)
    assert 1 < len(starts) <= 4
    assert min(model.loss_curve_) < 0.95
    starts.clear()
    nothing = NeuralKernel((8,), n_epochs=3, random_state=0).fit(np.zeros_like(X), y)
    assert len(starts) == 4
    assert len(nothing.loss_curve_) == 3
