"""OnlinePerceptron and KernelPerceptron: the algorithm row by row, mistake for mistake, with and without a budget."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import rbf_kernel

from vicinal.expand._kernel_perceptron import KernelPerceptron
from vicinal.expand._perceptron import OnlinePerceptron, mean_of_steps
from vicinal.expand._products import PolynomialMap
from vicinal.expand._support import BLOCK_ROWS, SupportLearner
from vicinal.expand.kernels import Gaussian, Polynomial

DIGITS, LABELS = load_digits(return_X_y=True)
RULES = ["oldest", "smallest", "least_harmful"]
numbers_of_classes = pytest.mark.parametrize("n_classes", [2, 3, 10])


def digits(n_classes, n_rows=400):
    """Many mistakes: 2 classes are even and odd digits."""
    return DIGITS[:n_rows] / 16, LABELS[:n_rows] % n_classes


def few_digits(n_classes):
    """Few mistakes: the first digits only."""
    chosen = n_classes > LABELS
    return DIGITS[chosen] / 16, LABELS[chosen]


@st.composite
def problems(draw):
    """Small whole numbers: arithmetic is exact, and ties and duplicates are common."""
    n_classes = draw(st.integers(2, 4))
    X = draw(arrays(np.float64, st.tuples(st.integers(n_classes, 30), st.integers(1, 3)), elements=st.integers(-3, 3)))
    y = draw(arrays(np.int64, len(X), elements=st.integers(0, n_classes - 1)))
    y[:n_classes] = np.arange(n_classes)
    return X, y


def quadratic_features(X):
    return PolynomialMap(degree=2).fit_transform(X)


def plain_perceptron(features, y, order):
    """The weights after every row of `order`, and the rows that were mistakes; labels are 0, 1, ..."""
    n_classes = y.max() + 1
    weights, history, mistakes = np.zeros((n_classes, features.shape[1])), [], []
    for i in order:
        if n_classes == 2:  # w is in weights[1]
            sign = 2 * y[i] - 1
            if sign * (weights[1] @ features[i]) <= 0:
                weights[1] += sign * features[i]
                mistakes.append(i)
        else:
            scores = weights @ features[i]
            rival = max((c for c in range(n_classes) if c != y[i]), key=lambda c: scores[c])
            if scores[y[i]] <= scores[rival]:
                weights[y[i]] += features[i]
                weights[rival] -= features[i]
                mistakes.append(i)
        history.append(weights.copy())
    return (np.array(history)[:, 1:] if n_classes == 2 else np.array(history)), mistakes


def plain_budget_perceptron(gram, y, order, budget, forget):
    """Coefficients of all rows after every step, the rows in M, oldest first, and the step of the last removal."""
    n_classes = y.max() + 1
    signs = 2 * y - 1
    alpha = np.zeros((len(y), 1 if n_classes == 2 else n_classes))
    members, history, last_removal = [], [], 0

    def margin(row, coefficients):
        scores = gram[row] @ coefficients
        if n_classes == 2:
            return signs[row] * scores[0]
        return scores[y[row]] - np.delete(scores, y[row]).max()

    def loss(row):
        if forget == "oldest":
            return 0
        if forget == "smallest":
            return np.linalg.norm(alpha[row]) ** 2 * gram[row, row]
        without = alpha.copy()
        without[row] = 0
        return -margin(row, without)

    for step, i in enumerate(order):
        if margin(i, alpha) <= 0:
            scores = gram[i] @ alpha
            if n_classes == 2:
                alpha[i] += signs[i]
            else:
                scores[y[i]] = -np.inf
                alpha[i, y[i]] += 1
                alpha[i, scores.argmax()] -= 1
            if i not in members:
                members.append(i)
                if budget is not None and len(members) > budget:
                    gone = min(members[:-1], key=loss)  # the oldest of equals
                    alpha[gone] = 0
                    members.remove(gone)
                    last_removal = step
        history.append(alpha.copy())
    return np.array(history), members, last_removal


def mistakes_one_by_one(model, X, y):
    """The rows at which a model that is taught row by row makes its mistakes."""
    before, mistakes = 0, []
    for i in range(X.shape[0]):
        model.partial_fit(X[i : i + 1], y[i : i + 1], np.unique(y))
        if model.n_mistakes_ > before:
            mistakes.append(i)
        before = model.n_mistakes_
    return mistakes


@pytest.mark.portable
@given(problems(), st.integers(1, 3))
@settings(deadline=None)
def test_it_is_the_algorithm_of_the_textbook(problem, n_passes):
    X, y = problem
    history, mistakes = plain_perceptron(X, y, list(range(len(X))) * n_passes)
    model = OnlinePerceptron(n_passes, fit_intercept=False).fit(X, y)
    np.testing.assert_array_equal(model.coef_, history[-1])
    assert (model.n_mistakes_, model.n_steps_) == (len(mistakes), n_passes * len(X))
    if n_passes == 1:
        assert mistakes_one_by_one(clone(model), X, y) == mistakes


@pytest.mark.portable
@given(problems(), st.integers(1, 3))
@settings(deadline=None)
def test_the_averaged_weights_are_the_mean_over_all_steps(problem, n_passes):
    X, y = problem
    history, _ = plain_perceptron(X, y, list(range(len(X))) * n_passes)
    model = OnlinePerceptron(n_passes, average=True, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, history.mean(axis=0), rtol=0, atol=1e-12)


@numbers_of_classes
@pytest.mark.parametrize("average", [False, True])
def test_the_intercept_is_a_feature_that_is_always_one(n_classes, average):
    X, y = digits(n_classes)
    extended = np.hstack([X, np.ones((len(X), 1))])
    model = OnlinePerceptron(average=average).fit(X, y)
    without = OnlinePerceptron(average=average, fit_intercept=False).fit(extended, y)
    assert model.n_mistakes_ == without.n_mistakes_ > 0
    assert np.any(model.intercept_)
    assert not np.any(without.intercept_)
    np.testing.assert_allclose(model.decision_function(X), without.decision_function(extended), atol=1e-10)


def test_two_classes_are_the_rule_for_many_classes_with_two():
    X, y = digits(2)
    targets, weights, n_mistakes = np.unique(y, return_inverse=True)[1], np.zeros((2, X.shape[1])), 0
    for x, target in zip(X, targets, strict=True):
        if weights[target] @ x <= weights[1 - target] @ x:
            weights[target] += x
            weights[1 - target] -= x
            n_mistakes += 1
    model = OnlinePerceptron(fit_intercept=False).fit(X, y)
    assert model.n_mistakes_ == n_mistakes
    np.testing.assert_allclose(model.coef_, weights[1:], atol=1e-12)


@numbers_of_classes
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("n_passes", [1, 3])
def test_the_kernel_form_is_the_perceptron_on_the_explicit_map(n_classes, average, n_passes):
    X, y = digits(n_classes)
    features = quadratic_features(X)
    implicit = KernelPerceptron(Polynomial(degree=2), n_passes=n_passes, average=average).fit(X, y)
    explicit = OnlinePerceptron(n_passes, average=average, fit_intercept=False).fit(features, y)
    assert implicit.n_mistakes_ == explicit.n_mistakes_ > len(implicit.support_vectors_) - 1
    np.testing.assert_allclose(
        implicit.decision_function(X), explicit.decision_function(features), rtol=1e-8, atol=1e-8
    )
    np.testing.assert_allclose(
        implicit.dual_coef_.T @ quadratic_features(implicit.support_vectors_), explicit.coef_, rtol=0, atol=1e-8
    )


@numbers_of_classes
def test_the_same_rows_are_mistakes_in_both_forms(n_classes):
    X, y = digits(n_classes, 200)
    _, expected = plain_perceptron(quadratic_features(X), y, range(len(X)))
    explicit = mistakes_one_by_one(OnlinePerceptron(fit_intercept=False), quadratic_features(X), y)
    implicit = mistakes_one_by_one(KernelPerceptron(), X, y)
    assert explicit == implicit == expected
    np.testing.assert_array_equal(KernelPerceptron().fit(X, y).support_vectors_, X[expected])


@pytest.mark.portable
@given(problems(), st.integers(1, 3))
@settings(deadline=None)
def test_a_row_is_stored_once_however_often_it_is_a_mistake(problem, n_passes):
    X, y = problem
    order = list(range(len(X))) * n_passes
    history, members, _ = plain_budget_perceptron(Polynomial()(X), y, order, None, "oldest")
    last = KernelPerceptron(n_passes=n_passes).fit(X, y)
    np.testing.assert_array_equal(last.support_vectors_, X[members])
    np.testing.assert_array_equal(last.dual_coef_, history[-1][members])
    mean = KernelPerceptron(n_passes=n_passes, average=True).fit(X, y)
    np.testing.assert_allclose(mean.dual_coef_, history.mean(axis=0)[members], rtol=0, atol=1e-12)


@pytest.mark.portable
@pytest.mark.parametrize("forget", RULES)
@given(problem=problems(), n_passes=st.integers(1, 3), budget=st.integers(1, 6), block_rows=st.integers(1, 40))
@settings(deadline=None)
def test_a_budget_forgets_as_the_rule_says(forget, problem, n_passes, budget, block_rows):
    X, y = problem
    order = list(range(len(X))) * n_passes
    history, members, last_removal = plain_budget_perceptron(Polynomial()(X), y, order, budget, forget)
    expected_mean = history[last_removal:].mean(axis=0)[members]
    last = KernelPerceptron(n_passes=n_passes, budget=budget, forget=forget).fit(X, y)
    mean = clone(last).set_params(average=True).fit(X, y)
    np.testing.assert_array_equal(last.support_vectors_, X[members])
    np.testing.assert_array_equal(last.dual_coef_, history[-1][members])
    np.testing.assert_allclose(mean.dual_coef_, expected_mean, rtol=0, atol=1e-12)

    in_blocks = SupportLearner(Polynomial(), X[:0], np.zeros((0, history.shape[2])), budget, forget)
    in_blocks.learn(X, y, np.array(order), block_rows)
    slots = in_blocks.slots_by_age()
    current, delays = in_blocks.coefficients[slots], in_blocks.delays[slots]
    np.testing.assert_array_equal(in_blocks.rows_in(slots), X[members])
    np.testing.assert_array_equal(current, history[-1][members])
    found_mean = mean_of_steps(current, delays, in_blocks.n_mean_steps)
    np.testing.assert_allclose(found_mean, expected_mean, rtol=0, atol=1e-12)


@pytest.mark.parametrize("forget", RULES)
@numbers_of_classes
def test_a_budget_with_kernel_values_that_are_no_whole_numbers(forget, n_classes):
    X, y = digits(n_classes, 300)
    history, members, last_removal = plain_budget_perceptron(Gaussian(0.3)(X), y, range(len(X)), 8, forget)
    model = KernelPerceptron(Gaussian(0.3), budget=8, forget=forget, average=True).fit(X, y)
    assert model.n_mistakes_ > 8
    np.testing.assert_array_equal(model.support_vectors_, X[members])
    np.testing.assert_allclose(model.dual_coef_, history[last_removal:].mean(axis=0)[members], atol=1e-12)


@pytest.mark.parametrize("forget", RULES)
def test_the_budget_is_never_exceeded_and_may_be_lowered(forget):
    X, y = digits(10)
    model = KernelPerceptron(budget=30, forget=forget)
    sizes = []
    for start in range(0, 300, 20):
        if start == 200:
            model.set_params(budget=12)
        rows = slice(start, start + 20)
        sizes.append(len(model.partial_fit(X[rows], y[rows], np.arange(10)).support_vectors_))
    assert max(sizes[:10]) == 30
    assert max(sizes[10:]) == 12
    assert model.n_mistakes_ > 30


@numbers_of_classes
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize(
    "model",
    [OnlinePerceptron(), KernelPerceptron(), *(KernelPerceptron(budget=15, forget=forget) for forget in RULES)],
    ids=lambda model: f"{type(model).__name__}-{getattr(model, 'budget', None)}-{getattr(model, 'forget', '')}",
)
def test_pieces_are_one_pass_of_fit(model, average, n_classes):
    X, y = digits(n_classes)
    whole = clone(model).set_params(average=average).fit(X, y)
    pieces = clone(model).set_params(average=average)
    for rows in np.array_split(np.arange(len(X)), [1, 2, 30, 31, 180]):
        pieces.partial_fit(X[rows], y[rows], np.arange(n_classes))
    assert (pieces.n_mistakes_, pieces.n_steps_) == (whole.n_mistakes_, whole.n_steps_)
    np.testing.assert_allclose(pieces.decision_function(X), whole.decision_function(X), rtol=1e-10, atol=1e-10)
    if isinstance(model, KernelPerceptron):
        np.testing.assert_array_equal(pieces.support_vectors_, whole.support_vectors_)


def test_partial_fit_goes_on_after_fit():
    X, y = digits(10)
    for model in (OnlinePerceptron(average=True), KernelPerceptron(average=True)):
        whole = clone(model).fit(X, y)
        continued = model.fit(X[:200], y[:200]).partial_fit(X[200:], y[200:])
        np.testing.assert_allclose(continued.decision_function(X), whole.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_mistakes_are_bounded_by_the_margin(seed):
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=5)
    direction /= np.linalg.norm(direction)
    X = rng.normal(size=(2000, 5))
    X = X[np.abs(X @ direction) > 0.2]
    y = X @ direction > 0
    gamma, radius = np.abs(X @ direction).min(), np.linalg.norm(X, axis=1).max()
    model = OnlinePerceptron(n_passes=1000, fit_intercept=False).fit(X, y)
    assert model.n_mistakes_ <= (radius / gamma) ** 2
    assert model.score(X, y) == 1.0
    kernel = KernelPerceptron(lambda A, B: A @ B.T, n_passes=1000).fit(X, y)
    assert kernel.n_mistakes_ == model.n_mistakes_
    assert kernel.score(X, y) == 1.0


def test_passes_after_the_last_mistake_count_for_the_mean():
    X, y = (rows[:100] for rows in few_digits(2))
    n_passes = 40
    history, mistakes = plain_perceptron(X, y, list(range(len(X))) * n_passes)
    assert len(mistakes) < 50  # so that most passes have none
    model = OnlinePerceptron(n_passes, average=True, fit_intercept=False).fit(X, y)
    assert model.n_steps_ == n_passes * len(X)
    np.testing.assert_allclose(model.coef_, history.mean(axis=0), rtol=1e-12, atol=1e-12)


def test_the_order_of_rows_matters_and_a_shuffle_draws_it():
    X, y = digits(10)
    by_class = np.argsort(y, kind="stable")
    for model in (OnlinePerceptron(random_state=3), KernelPerceptron(random_state=3)):
        in_order = clone(model).fit(X, y)
        assert in_order.n_mistakes_ != clone(model).fit(X[by_class], y[by_class]).n_mistakes_
        drawn = np.random.RandomState(3).permutation(len(X))
        shuffled = clone(model).set_params(shuffle=True).fit(X, y)
        expected = clone(model).fit(X[drawn], y[drawn])
        np.testing.assert_allclose(shuffled.decision_function(X), expected.decision_function(X), atol=1e-9)
        assert shuffled.n_mistakes_ == expected.n_mistakes_ != in_order.n_mistakes_


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("average", [False, True])
@numbers_of_classes
def test_csr_rows_are_dense_rows(container, average, n_classes):
    X, y = digits(n_classes)
    for model in (
        OnlinePerceptron(2, average=average),
        KernelPerceptron(n_passes=2, average=average),
        KernelPerceptron(budget=10, forget="least_harmful", average=average),
    ):
        dense, sparse = clone(model).fit(X, y), clone(model).fit(container(X), y)
        assert sparse.n_mistakes_ == dense.n_mistakes_
        np.testing.assert_allclose(sparse.decision_function(container(X)), dense.decision_function(X), atol=1e-9)
        np.testing.assert_allclose(sparse.decision_function(X), dense.decision_function(container(X)), atol=1e-9)
        if isinstance(model, KernelPerceptron):
            assert sp.issparse(sparse.support_vectors_)
            np.testing.assert_array_equal(sparse.support_vectors_.toarray(), dense.support_vectors_)


@pytest.mark.parametrize("first", [sp.csr_matrix, np.asarray])
def test_dense_and_csr_rows_may_follow_each_other(first):
    X, y = digits(3)
    second = np.asarray if first is sp.csr_matrix else sp.csr_matrix
    for model in (OnlinePerceptron(), KernelPerceptron(), KernelPerceptron(budget=5)):
        mixed = clone(model).partial_fit(first(X[:30]), y[:30], np.arange(3)).partial_fit(second(X[30:]), y[30:])
        np.testing.assert_allclose(mixed.decision_function(X), clone(model).fit(X, y).decision_function(X), atol=1e-9)
        if isinstance(model, KernelPerceptron):
            assert sp.issparse(mixed.support_vectors_) == (first is sp.csr_matrix)


def test_entries_that_csr_stores_twice_are_added_up():
    twice = sp.csr_matrix((np.array([1.0, 2.0, -1.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    expected = OnlinePerceptron(average=True).fit(np.array([[3.0, 0.0], [0.0, -1.0]]), [1, 0])
    model = OnlinePerceptron(average=True).fit(twice, [1, 0])
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    assert twice.nnz == 3  # the given matrix is as it was


def test_float32_rows_are_kept_and_computed_in_double_precision():
    X, y = digits(10)  # sixteenths: exact in float32
    for model in (OnlinePerceptron(average=True), KernelPerceptron(average=True, budget=40, forget="smallest")):
        single = clone(model).fit(X.astype(np.float32), y)
        np.testing.assert_array_equal(
            single.decision_function(X.astype(np.float32)), clone(model).fit(X, y).decision_function(X)
        )
    assert single.support_vectors_.dtype == np.float32


def test_labels_may_be_strings():
    X, y = few_digits(3)
    names = np.array(["zero", "one", "two"], dtype=object)[y]
    for model in (OnlinePerceptron(), KernelPerceptron()):
        model.fit(X, names)
        assert model.classes_.tolist() == ["one", "two", "zero"]
        assert model.score(X, names) > 0.9
        model.partial_fit(X[:5], names[:5])
        pair = clone(model).fit(X[y < 2], names[y < 2])
        assert set(pair.predict(X[y < 2])) == {"one", "zero"}
        assert pair.score(X[y < 2], names[y < 2]) > 0.95


def test_any_function_of_two_tables_is_a_kernel():
    X, y = digits(10)
    named = KernelPerceptron("gaussian").fit(X, y)
    function = KernelPerceptron(rbf_kernel_of_width_one).fit(X, y)
    np.testing.assert_allclose(function.decision_function(X), named.decision_function(X), atol=1e-9)
    assert named.kernel_ == Gaussian(1.0)


def rbf_kernel_of_width_one(X, Y):
    return rbf_kernel(X, Y, gamma=1.0)


def test_no_kernel_call_for_single_rows():
    X, y = digits(10)
    sizes = []

    def kernel(A, B):
        sizes.append((len(A), len(B)))
        return (1 + A @ B.T) ** 2

    model = KernelPerceptron(kernel, n_passes=2).fit(X, y)
    assert len(sizes) <= 2 * 2 * -(-len(X) // BLOCK_ROWS)
    assert model.n_mistakes_ > 10 * len(sizes)


def test_pickled_models_go_on_alike():
    X, y = digits(10)
    for model in (OnlinePerceptron(average=True), KernelPerceptron(average=True, budget=25, forget="least_harmful")):
        model.fit(X[:200], y[:200])
        copy = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(copy.decision_function(X), model.decision_function(X))
        model.partial_fit(X[200:], y[200:])
        copy.partial_fit(X[200:], y[200:])
        np.testing.assert_array_equal(copy.decision_function(X), model.decision_function(X))


def test_a_kernel_that_fails_leaves_the_model_as_it_was():
    X, y = digits(3)

    def kernel(A, B):
        values = (1 + A @ B.T) ** 2
        return np.where(values > 1e6, np.nan, values)

    model = KernelPerceptron(kernel, budget=8, forget="smallest", average=True).fit(X, y)
    before = pickle.loads(pickle.dumps({name: value for name, value in vars(model).items() if "kernel" not in name}))
    model.set_params(budget=3)  # slots become free, and are taken before the kernel fails
    large = np.vstack([X[:300], 1000 * X[:50]])
    with pytest.raises(ValueError, match=r"not finite; scale X, or mend the kernel\."):
        model.partial_fit(large, np.concatenate([y[:300], y[:50]]))
    model.set_params(budget=8)
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(model, name), value)


@pytest.mark.parametrize("model", [OnlinePerceptron(), KernelPerceptron()])
def test_bad_input_gets_one_clear_sentence(model):
    X, y = digits(3)
    with pytest.raises(ValueError, match=r"y has one class only, \[0\], but .* two classes\."):
        model.fit(X[y == 0], y[y == 0])
    with pytest.raises(ValueError, match=r"classes has one class only, \['a'\]"):
        model.partial_fit(X[:1], ["a"], classes=["a"])
    with pytest.raises(ValueError, match="first call of partial_fit needs classes"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 0.9, np.nan, X), y)
    with pytest.raises(ValueError, match="values beyond 1e\\+140"):
        model.fit(1e200 * X, y)
    with pytest.raises(ValueError, match=r"n_passes must be a whole number of at least 1; got 0\."):
        clone(model).set_params(n_passes=0).fit(X, y)
    model.fit(X, y)
    with pytest.raises(ValueError, match=r"not among the classes of the first call, \[7, 8\]; known are \[0, 1, 2\]"):
        model.partial_fit(X[:3], [8, 1, 7])
    with pytest.raises(ValueError, match=r"\['0', '1'\]; known are \[0, 1, 2\]"):
        model.partial_fit(X[:3], ["0", "1", "0"])
    with pytest.raises(ValueError, match=r"classes are \[0, 1, 2\] since the first call, but \[0, 1\] were given now"):
        model.partial_fit(X[:2], [0, 1], classes=[0, 1])


def test_bad_parameters_of_the_kernel_form_get_one_clear_sentence():
    X, y = digits(2)
    with pytest.raises(ValueError, match=r"budget must be a whole number of at least 1; got 0\."):
        KernelPerceptron(budget=0).fit(X, y)
    with pytest.raises(ValueError, match="forget must be one of 'oldest', 'smallest', 'least_harmful'; got 'newest'"):
        KernelPerceptron(forget="newest").fit(X, y)
    with pytest.raises(ValueError, match="gausian"):
        KernelPerceptron("gausian").fit(X, y)
    with pytest.raises(ValueError, match=r"must be a matrix of shape \(256, 256\); .* returned the shape \(256,\)\."):
        KernelPerceptron(lambda A, B: np.ones(len(A))).fit(*digits(10))


def test_weights_that_were_handed_out_stay():
    X, y = few_digits(2)
    model = OnlinePerceptron().fit(X, y)
    weights, copied = model.coef_, model.coef_.copy()
    model.partial_fit(-X, y)
    np.testing.assert_array_equal(weights, copied)
