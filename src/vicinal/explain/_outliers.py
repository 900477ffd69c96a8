"""explain_outliers: the reasons for the scores of a LocalOutlierDetector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from .._anchors import nearest_codes, sample_groups
from .._calls import limited_threads
from .._validation import Matrix
from ..outlier import ColumnScale, LocalOutlierDetector
from ._columns import column_shares
from ._frames import check_frame
from ._groups import LocalGroups
from ._inputs import inputs_of
from ._outlier_explanation import OutlierContext, OutlierExplanation
from ._pipeline import as_rows, detector_apart
from ._undone import undone


def explain_outliers(
    detector: Any,
    X: ArrayLike,
    *,
    column_names: Sequence[Any] | None = None,
    frame: str | None = None,
) -> OutlierExplanation:
    """Which groups of columns and which columns make rows strange, how much, and what a normal row has there.

    A row's strangeness is a mean of scores, each of which grows with a mean over groups of columns. Each score is
    divided among the groups in proportion to how far the row's term exceeds the usual one of the group, and a group's
    part among its columns by what they add to the distance from the row's anchor. All parts add up to the whole.

    Parameters
    ----------
    detector : LocalOutlierDetector or Pipeline
        Fitted; of a pipeline, the last step.
    X : array-like, sparse matrix or frame of shape (n_rows, n_features), or one row
        As the detector, or the pipeline, takes it.
    column_names : sequence of str, default=None
        Names of the columns of X where it has none.
    frame : {None, "pandas", "polars"}, default=None
        Of which kind tables are. None is pandas, or polars where only that is installed.

    Returns
    -------
    OutlierExplanation

    Notes
    -----
    Columns that the preparation makes of one column, such as those of one-hot categories, are counted as that column.
    The strangeness of a row without any value, which counts as an ordinary one, is divided equally.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import LocalOutlierDetector
    >>> from vicinal.explain import explain_outliers
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(170, 10, size=(2000, 1)) * [1, 0.4] + rng.normal(0, [0.1, 2], size=(2000, 2))
    >>> detector = LocalOutlierDetector(random_state=0).fit(X)
    >>> explanation = explain_outliers(detector, [170, 110], column_names=["height", "weight"])
    >>> bool(explanation.outliers[0]), explanation.columns["column"].tolist()
    (True, ['weight', 'height'])
    >>> print(str(explanation).split(":")[0])
    Row 0 is an outlier
    """
    check_frame(frame)
    before, last = detector_apart(detector)
    first = next((step for step in before if hasattr(step, "n_features_in_")), last)
    given = as_rows(X, first)
    inputs = inputs_of(before, first, given, last.n_features_in_, column_names)
    rows: Any = given
    for step in before:
        rows = step.transform(rows)
    with limited_threads(last.n_jobs):
        strangeness = -last.score_samples(rows)
        cells = sp.hstack(last.strangeness_by_cell(rows), format="csr")
        scaled = ColumnScale(last.scale_, last.largest_).apply(_as_matrix(rows))
        anchors = _nearest_normal(last, scaled)
        p_values = last.p_values(rows) if len(last.calibration_scores_) else None
    groups = LocalGroups.joined([LocalGroups.of(one) for one in (last.map_, last.local_map_) if one is not None])
    numbered = anchors >= 0 if last.recent_rows_.shape[0] == 0 else np.zeros(len(anchors), bool)
    values = None if inputs.rows is None else _values(before, last, anchors)
    return OutlierExplanation(
        rows=np.arange(len(strangeness)),
        strangeness=strangeness,
        threshold=-float(last.offset_),
        outliers=strangeness > -last.offset_,
        p_values=p_values,
        group_scores=_by_group(groups, cells, strangeness),
        column_scores=inputs.summed(_by_column(groups, scaled, cells, strangeness)),
        normal_rows=np.where(numbered, groups.samples[anchors], -1),
        column_names=inputs.names,
        _context=OutlierContext(groups, inputs, values, anchors >= 0, frame),
    )


def _as_matrix(rows: Any) -> Matrix:
    return sp.csr_array(rows) if sp.issparse(rows) else np.asarray(rows)


def _by_group(groups: LocalGroups, cells: sp.csr_array, strangeness: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows by groups; what no cell accounts for is divided equally."""
    ends = np.searchsorted(groups.anchor_ptr, cells.indices, side="right") - 1
    places = np.repeat(np.arange(cells.shape[0]), np.diff(cells.indptr))
    sums = np.bincount(places * groups.n_groups + ends, cells.data, minlength=cells.shape[0] * groups.n_groups)
    sums = sums.reshape(cells.shape[0], groups.n_groups)
    return sums + ((strangeness - sums.sum(axis=1)) / groups.n_groups)[:, None]


def _by_column(
    groups: LocalGroups, scaled: Matrix, cells: sp.csr_array, strangeness: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Rows by columns of the detector: by shares of distances, and where there are none, by those of the groups."""
    found = column_shares(groups, scaled, cells)
    sums = found.scores.sum(axis=1, keepdims=True)
    scores = np.where(found.shares.any(axis=1, keepdims=True), sums * found.shares, found.scores)
    return scores + ((strangeness - scores.sum(axis=1)) / groups.n_columns)[:, None]


def _nearest_normal(detector: LocalOutlierDetector, scaled: Matrix) -> NDArray[np.int64]:
    """Of each row the nearest anchor that is no outlier, among those of the detector's first map; -1: none."""
    first = detector.local_map_ if detector.map_ is None else detector.map_
    assert first is not None
    normal = np.flatnonzero(detector.anchor_scores_ >= min(detector.offset_, detector.anchor_scores_.max()))
    everything = np.arange(scaled.shape[1])
    groups, _ = sample_groups(first.anchors_, [normal], [everything], first.metric)
    nearest = nearest_codes(groups, scaled, exclude_self=True, n_jobs=None)[:, 0]
    return np.where(nearest >= 0, normal[nearest], -1)


def _values(before: list[Any], detector: LocalOutlierDetector, anchors: NDArray[np.int64]) -> Any | None:
    """Values of anchors as the user has them; None where the preparation cannot be undone."""
    first = detector.local_map_ if detector.map_ is None else detector.map_
    assert first is not None
    rows = ColumnScale(detector.scale_, detector.largest_).undo(first.anchors_[np.maximum(anchors, 0)])
    values = undone(before, rows)
    if values is None or (anchors >= 0).all():
        return values
    values = values.toarray() if sp.issparse(values) else values
    values[anchors < 0] = np.nan
    return values
