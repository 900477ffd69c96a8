"""Small linear problems, and their objectives in plain NumPy."""

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize


def rows_of_kind(kind, n_rows=60, n_columns=12, seed=0, dtype=np.float64):
    """Random rows; CSR ones have empty rows, explicit zeros and entries that are stored twice."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)).astype(dtype)
    if kind == "dense":
        return X
    X[rng.random(X.shape) < 0.6] = 0
    X[[0, 7]] = 0
    matrix = sp.csr_array(X)
    data, columns = np.repeat(matrix.data, 2) / 2, np.repeat(matrix.indices, 2)
    data[:2], columns[:2] = [0.0, matrix.data[0]], matrix.indices[0]
    return sp.csr_array((data.astype(dtype), columns, 2 * matrix.indptr), shape=matrix.shape)


def labels_of(X, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(X.shape[1], n_classes))
    return np.argmax(X @ weights + rng.normal(size=(X.shape[0], n_classes)), axis=1)


def loss_of(name, margins):
    short_of = np.maximum(0, 1 - margins)
    return {"squared_hinge": short_of**2, "hinge": short_of, "logistic": np.logaddexp(0, -margins)}[name]


def conjugate_of(name, shares, caps):
    """Of the dual variables' shares of their caps: what the dual objective loses by them."""
    if name == "squared_hinge":
        return caps * (shares**2 / 4 - shares)
    if name == "hinge":
        return -caps * shares
    parts = [np.where(part > 0, part * np.log(np.where(part > 0, part, 1)), 0) for part in (shares, 1 - shares)]
    return caps * (parts[0] + parts[1])


def signs_and_caps(y, C, class_weight=None, sample_weight=None):
    """Targets of -1 and 1 and the weights of losses, per row and output, as liblinear has them."""
    classes = np.unique(y)
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    factors = np.array([(class_weight or {}).get(label, 1.0) for label in classes])
    if len(classes) == 2:
        signs = np.where(y == classes[1], 1.0, -1.0)[:, None]
        return signs, C * weights[:, None] * np.where(signs > 0, factors[1], factors[0])
    signs = np.where(y[:, None] == classes, 1.0, -1.0)
    return signs, C * weights[:, None] * np.where(signs > 0, factors, 1.0)


def primal(name, X, signs, caps, coef, intercept, intercept_scaling=1.0):
    scores = X @ coef.T + intercept
    squares = (coef**2).sum() + ((intercept / intercept_scaling) ** 2).sum()
    return squares / 2 + (caps * loss_of(name, signs * scores)).sum()


def smallest_primal(name, X, signs, caps, constant):
    """By L-BFGS, one output after the other; for losses with a derivative."""
    dense = X.toarray() if sp.issparse(X) else X
    extended = np.hstack([dense, np.full((len(dense), 1), constant)])

    def value(w, sign, cap):
        margins = sign * (extended @ w)
        short_of = np.maximum(0, 1 - margins)
        slope = -2 * short_of if name == "squared_hinge" else -1 / (1 + np.exp(margins))
        return w @ w / 2 + cap @ loss_of(name, margins), w + extended.T @ (cap * slope * sign)

    options = {"maxiter": 10_000, "maxfun": 10_000, "ftol": 1e-15, "gtol": 1e-10}
    start = np.zeros(extended.shape[1])
    return sum(
        minimize(value, start, (signs[:, c], caps[:, c]), "L-BFGS-B", jac=True, options=options).fun
        for c in range(signs.shape[1])
    )
