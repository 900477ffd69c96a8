"""Plain NumPy versions of what the compiled kernel does, in double precision: slow, short and obviously right."""

import numpy as np


def distances(X, A, metric="euclidean"):
    """All distances between rows of X and rows of A; NaN marks missing values."""
    X, A = np.asarray(X, np.float64), np.asarray(A, np.float64)
    out = np.full((len(X), len(A)), np.inf)
    for i, x in enumerate(X):
        both = ~np.isnan(x) & ~np.isnan(A)
        count = both.sum(1)
        a, x = np.where(both, A, 0), np.where(both, x, 0)
        grow = X.shape[1] / np.maximum(count, 1)
        if metric == "euclidean":
            d = np.sqrt(((x - a) ** 2).sum(1) * grow)
        elif metric == "manhattan":
            d = np.abs(x - a).sum(1) * grow
        else:
            lengths = np.linalg.norm(x, axis=1) * np.linalg.norm(a, axis=1)
            d = 1 - np.divide((x * a).sum(1), lengths, out=np.zeros(len(A)), where=lengths > 0)
        out[i] = np.where(count > 0, d, np.inf)
    return out


def nearest(D, k=1):
    """The k smallest of each row, ties to the lower index; -1 where there are fewer."""
    order = np.argsort(D, axis=1, kind="stable")[:, :k]
    values = np.take_along_axis(D, order, 1)
    return np.where(np.isinf(values), -1, order), values


def randlocal(model, X, training):
    """Alg. 1 and 2 with the columns and anchors that `model` drew from `training`, as a dense matrix."""
    X, training = (np.asarray(part, np.float64) for part in (X, training))
    blocks = []
    for t in range(model.n_groups):
        features = model.feature_indices_[model.feature_ptr_[t] : model.feature_ptr_[t + 1]]
        anchors = model.anchor_samples_[model.anchor_rows_[model.anchor_ptr_[t] : model.anchor_ptr_[t + 1]]]
        mean = distances(training[:, features], training[np.ix_(anchors, features)], model.metric)
        mean = mean[np.isfinite(mean)].mean()
        D = distances(X[:, features], training[np.ix_(anchors, features)], model.metric)
        if model.exclude_self:
            rows, others = X[:, None], training[anchors][None]
            D[((rows == others) | (np.isnan(rows) & np.isnan(others))).all(2)] = np.inf
        index, d = nearest(D, model.n_neighbors)
        block = np.zeros(D.shape)
        value = np.maximum(mean - d, model.epsilon * (mean if mean > 0 else 1))
        for i, level in zip(*np.nonzero(index >= 0), strict=True):
            block[i, index[i, level]] = value[i, level]
        blocks.append(block)
    out = np.hstack(blocks)
    if model.norm == "l2":
        out /= np.linalg.norm(out, axis=1, keepdims=True)
    return out
