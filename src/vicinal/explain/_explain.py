"""explain: the reasons for a linear model's scores on local features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OutlierMixin

from ._columns import column_shares
from ._explanation import Context, Explanation
from ._frames import check_frame
from ._groups import LocalGroups
from ._inputs import inputs_of
from ._linear import ChosenScores, chosen_scores, linear_scores
from ._outlier_explanation import OutlierExplanation
from ._outliers import explain_outliers
from ._pipeline import as_rows, last_step, taken_apart


def explain(
    pipeline: Any,
    X: ArrayLike,
    *,
    class_: Any = None,
    y_train: ArrayLike | None = None,
    column_names: Sequence[Any] | None = None,
    frame: str | None = None,
) -> Explanation | OutlierExplanation:
    """Which training rows and which columns speak for a prediction, and how much.

    A linear model's score is a sum over features, and a feature of `RandLocal` is an anchor, a training row, in a group
    of columns. So a score is a sum over training rows: this is that sum, no approximation of it.

    Parameters
    ----------
    pipeline : Pipeline
        Fitted: preparation (if any), `RandLocal` or `SampledLandmarks`, and a linear model, anything with `coef_` and
        `intercept_`. Between map and model may stand steps that are linear in the features, such as MaxAbsScaler or
        TruncatedSVD, or that scale rows (Normalizer). A map without a model is explained, too: by the anchors that rows
        are nearest to. Of a search over parameters the best pipeline counts. A `LocalOutlierDetector`, alone or as the
        last step, is explained by `explain_outliers`.
    X : array-like, sparse matrix or frame of shape (n_rows, n_features), or one row
        As the pipeline takes it.
    class_ : label, default=None
        The class whose score is explained; the predicted one of each row by default. Of a model that predicts several
        numbers, which of them, counted from 0.
    y_train : array-like of shape (n_training_rows,), default=None
        Labels of the rows that the pipeline was fitted on, to be named beside the anchors; they change nothing else.
    column_names : sequence of str, default=None
        Names of the columns of X where it has none.
    frame : {None, "pandas", "polars"}, default=None
        Of which kind tables are. None is pandas, or polars where only that is installed.

    Returns
    -------
    Explanation, or OutlierExplanation of a detector

    Notes
    -----
    Columns that the preparation makes of one column, such as those of one-hot categories, are counted as that column.
    Where it mixes columns (PCA) the columns are those that the map sees. Missing values add nothing to a column's
    scores and shares.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import LinearSVC
    >>> from vicinal import RandLocal
    >>> from vicinal.explain import explain
    >>> iris = load_iris(as_frame=True)
    >>> X, y = iris.data, iris.target_names[iris.target]
    >>> model = make_pipeline(StandardScaler(), RandLocal(random_state=0), LinearSVC(C=0.01)).fit(X, y)
    >>> explanation = explain(model, X.iloc[70:71], y_train=y)
    >>> str(explanation.targets[0])
    'versicolor'
    >>> sums = explanation.anchor_scores.sum(axis=1) + explanation.intercepts
    >>> bool(abs(sums - explanation.scores)[0] < 1e-9)
    True
    >>> print(str(explanation).splitlines()[0].split(":")[0])
    Row 0 is predicted to be versicolor
    """
    if isinstance(last_step(pipeline), OutlierMixin):
        if class_ is not None or y_train is not None:
            raise ValueError("A detector of outliers knows no classes: leave out class_ and y_train.")
        return explain_outliers(pipeline, X, column_names=column_names, frame=frame)
    check_frame(frame)
    parts = taken_apart(pipeline)
    rows = as_rows(X, parts.first)
    groups = parts.groups
    labels = _checked_labels(y_train, groups)
    inputs = inputs_of(parts.before, parts.first, rows, groups.n_columns, column_names)
    prepared, features = parts.mapped(rows)
    if parts.model is None:
        if class_ is not None:
            raise ValueError("class_ names a class of a model, and this pipeline has no model after its map.")
        kind, predictions, chosen, classes = "nearness", None, _plain(features), None
        values = np.empty((rows.shape[0], 0))
    else:
        scores = linear_scores(parts.model, parts.between, features)
        classes = scores.classes
        kind = "number" if classes is None else "class"
        predictions, chosen, values = scores.predictions, chosen_scores(scores, class_), scores.decision_values()
    contributions = chosen.contributions
    columns = column_shares(groups, prepared, contributions)
    ones = sp.csr_array(
        (np.ones(contributions.nnz, np.int64), contributions.indices, contributions.indptr), shape=contributions.shape
    )
    return Explanation(
        rows=np.arange(rows.shape[0]),
        predictions=predictions,
        targets=chosen.targets,
        scores=np.asarray(contributions.sum(axis=1)).ravel() + chosen.intercepts,
        intercepts=chosen.intercepts,
        decision_values=values,
        contributions=contributions,
        anchor_scores=groups.summed_by_anchor(contributions),
        anchor_groups=groups.summed_by_anchor(ones),
        anchor_samples=groups.samples,
        column_scores=inputs.summed(columns.scores),
        column_shares=inputs.summed(columns.shares),
        column_names=inputs.names,
        _context=Context(groups, inputs, prepared, labels, frame, kind, classes),
    )


def _plain(features: Any) -> ChosenScores:
    return ChosenScores(None, sp.csr_array(features).astype(np.float64), np.zeros(features.shape[0]))


def _checked_labels(y_train: ArrayLike | None, groups: LocalGroups) -> NDArray[Any] | None:
    if y_train is None:
        return None
    labels = np.asarray(y_train)
    if labels.ndim != 1:
        raise ValueError(f"y_train must be one label for each training row; it has {labels.ndim} dimensions.")
    if len(labels) <= groups.samples.max():
        raise ValueError(
            f"y_train has {len(labels)} labels, but row {groups.samples.max()} of the training data is an anchor: "
            "labels of all rows that the pipeline was fitted on are needed."
        )
    return labels
