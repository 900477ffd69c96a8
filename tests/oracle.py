"""Plain NumPy versions of what the compiled kernel does, in double precision: slow, short and obviously right."""

import numpy as np


def distances(X, A, metric="euclidean"):
    """All distances between rows of X and rows of A; NaN marks missing values."""
    X, A = np.asarray(X, np.float64)[:, None], np.asarray(A, np.float64)[None]
    both = ~np.isnan(X) & ~np.isnan(A)
    count = both.sum(2)
    x, a = (X, A) if both.all() else (np.where(both, X, 0), np.where(both, A, 0))
    grow = X.shape[2] / np.maximum(count, 1)
    if metric == "euclidean":
        d = np.sqrt(((x - a) ** 2).sum(2) * grow)
    elif metric == "manhattan":
        d = np.abs(x - a).sum(2) * grow
    else:
        lengths = np.linalg.norm(x, axis=2) * np.linalg.norm(a, axis=2)
        d = 1 - np.divide((x * a).sum(2), lengths, out=np.zeros(count.shape), where=lengths > 0)
    return np.where(count > 0, d, np.inf)


def nearest(D, k=1):
    """The k smallest of each row, ties to the lower index; -1 where there are fewer."""
    order = np.argsort(D, axis=1, kind="stable")[:, :k]
    values = np.take_along_axis(D, order, 1)
    return np.where(np.isinf(values), -1, order), values


def within_cells(D, D_coarse, cells):
    """D without the distances to anchors outside the cell of the row's nearest coarse anchor."""
    cell, _ = nearest(D_coarse)
    return np.where(cell == cells[None], D, np.inf)


def coarse_rows(model, t):
    return model.coarse_rows_[model.coarse_ptr_[t] : model.coarse_ptr_[t + 1]]


def cells_of(model, t):
    """The cell of each anchor of a group, counted within the group."""
    sizes = np.diff(model.cell_ptr_[model.coarse_ptr_[t] : model.coarse_ptr_[t + 1] + 1])
    return np.repeat(np.arange(len(sizes)), sizes)


def randlocal(model, X, training):
    """Alg. 1 and 2 with the columns and anchors that `model` drew from `training`, as a dense matrix."""
    fitted = X is training
    X, training = (np.asarray(part, np.float64) for part in (X, training))
    rows, others = (np.where(np.isnan(part), np.inf, part) for part in (X, training))  # what is missing is equal, too
    blocks = []
    for t in range(model.n_groups):
        features = model.feature_indices_[model.feature_ptr_[t] : model.feature_ptr_[t + 1]]
        anchors = model.anchor_samples_[model.anchor_rows_[model.anchor_ptr_[t] : model.anchor_ptr_[t + 1]]]
        D_training = distances(training[:, features], training[np.ix_(anchors, features)], model.metric)
        D = D_training if fitted else distances(X[:, features], training[np.ix_(anchors, features)], model.metric)
        if model.coarse_ptr_ is not None:
            coarse = training[np.ix_(model.anchor_samples_[coarse_rows(model, t)], features)]
            D_training = distances(training[:, features], coarse, model.metric)
            D = within_cells(D, distances(X[:, features], coarse, model.metric), cells_of(model, t))
        mean = D_training[np.isfinite(D_training)].mean()
        if model.exclude_self:
            D[(rows[:, None] == others[anchors][None]).all(2)] = np.inf
        index, d = nearest(D, model.n_neighbors)
        block = np.zeros(D.shape)
        if model.values == "soft":
            value = soft(d, index >= 0, model.widths_[t], model.epsilon)
        else:
            value = np.maximum(mean - d, model.epsilon * (mean if mean > 0 else 1))
        for i, level in zip(*np.nonzero(index >= 0), strict=True):
            block[i, index[i, level]] = value[i, level]
        blocks.append(block)
    out = np.hstack(blocks)
    if model.norm == "l2":
        out /= np.linalg.norm(out, axis=1, keepdims=True)
    return out


def soft(d, there, width, epsilon):
    """Soft values of the nearest anchors' distances, of unit length; 0 where there is no anchor."""
    d = np.where(there, d, np.inf)
    nearest_one = d.min(1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        weight = np.exp(-(d**2 - nearest_one**2) / (2 * width**2))
    value = np.where(there, np.maximum(np.where(d == nearest_one, 1, weight), epsilon), 0)
    return value / np.maximum(np.linalg.norm(value, axis=1, keepdims=True), 1e-300)


def mean_minus_distance(D, n_nearest, regularization, mean=None):
    """Eq. 6 for all distances of one iteration: the nearest landmarks' values, all else 0."""
    mean = D.mean(1, keepdims=True) if mean is None else mean
    values = np.maximum(mean - D, regularization * np.where(mean > 0, mean, 1))
    index, _ = nearest(D, n_nearest)
    kept = np.zeros(D.shape, bool)
    np.put_along_axis(kept, index, True, 1)
    return np.where(kept, values, 0)


def rulls(model, X, training, basis=None):
    """Alg. 1 and 2 of RULLS with the landmarks that `model` drew from `training`, as a dense matrix."""
    X, training = (np.asarray(part, np.float64) for part in (X, training))
    D = np.column_stack([_in_own_subspace(model, X, training, sample, basis) for sample in model.landmark_samples_])
    blocks = []
    for t in range(model.n_iterations):
        drawn = model.landmark_rows_[model.landmark_ptr_[t] : model.landmark_ptr_[t + 1]]
        blocks.append(mean_minus_distance(D[:, drawn], model.n_nearest_, model.regularization))
    return np.hstack(blocks)


def _in_own_subspace(model, X, training, sample, basis):
    landmark = training[sample]
    from_landmark = distances(landmark[None], training, model.metric)[0]
    near = np.argsort(from_landmark, kind="stable")[: model.n_neighborhood]
    if model.radius is not None and (from_landmark[near] <= model.radius).sum() >= 3:
        near = near[from_landmark[near] <= model.radius]
    neighborhood = training[near]
    if model.normalize:
        center, scale = neighborhood.mean(0), neighborhood.std(0)
        scale[scale == 0] = 1
        neighborhood, X, landmark = ((part - center) / scale for part in (neighborhood, X, landmark))
    if basis is None:
        variances, axes = np.linalg.eigh(np.cov(neighborhood.T, bias=True))
        variances, axes = np.maximum(variances[::-1], 0), axes[:, ::-1]
        share = np.cumsum(variances) / variances.sum()
        axes = axes[:, : np.searchsorted(share, model.variance - 1e-12) + 1]
    else:
        axes = basis(neighborhood)
    return distances((landmark @ axes)[None], X @ axes, model.metric)[0]


def sampled_landmarks(model, X, training):
    """Alg. 5 and 6."""
    count = len(model.feature_indices_) // model.n_iterations
    drawn = model.landmark_samples_[model.landmark_rows_]
    return _by_landmarks(
        model, X, training, drawn, lambda t, rows: rows[:, model.feature_indices_[t * count :][:count]]
    )


def projected_landmarks(model, X, training):
    """Alg. 3 and 4."""
    count = len(model.directions_) // model.n_iterations
    directions = model.directions_.astype(np.float64)
    return _by_landmarks(
        model, X, training, model.landmark_samples_, lambda t, rows: rows @ directions[t * count :][:count].T
    )


def _by_landmarks(model, X, training, samples, inside):
    """Features from the training rows that are landmarks, by column; `inside` puts rows in an iteration's subspace."""
    X, training = (np.asarray(part, np.float64) for part in (X, training))
    blocks = []
    for t in range(model.n_iterations):
        rows, others = inside(t, X), inside(t, training)
        D = distances(rows, others[samples[model.landmark_ptr_[t] : model.landmark_ptr_[t + 1]]], model.metric)
        mean = None
        if model.coarse_ptr_ is not None:
            D_coarse = distances(rows, others[model.landmark_samples_[coarse_rows(model, t)]], model.metric)
            D, mean = within_cells(D, D_coarse, cells_of(model, t)), D_coarse.mean(1, keepdims=True)
        blocks.append(mean_minus_distance(D, model.n_nearest_, model.regularization, mean))
    return np.hstack(blocks)
