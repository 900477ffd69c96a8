"""Explanation: which anchors and columns a row's score comes from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._validation import Matrix
from .._words import listed
from ._columns import anchor_parts
from ._frames import as_frame
from ._groups import LocalGroups
from ._inputs import Inputs
from ._reasons import AnchorReason, ColumnReason, Reasons, Side
from ._told import ExplainedRows, taken_by_row

ANCHORS_IN_WORDS, COLUMNS_IN_WORDS, COLUMNS_OF_ANCHOR = 5, 8, 3
_BY_ROW = (
    *("rows", "predictions", "targets", "scores", "intercepts", "decision_values"),
    *("contributions", "anchor_scores", "anchor_groups", "column_scores", "column_shares"),
)


@dataclass(frozen=True)
class Context:
    """What an explanation looks up when it is asked for more."""

    groups: LocalGroups
    inputs: Inputs
    prepared: Matrix
    labels: NDArray[Any] | None
    frame: str | None
    kind: str  # "class", "number" (regression) or "nearness" (a map without a model)
    classes: NDArray[Any] | None = None


class AnchorSum(NamedTuple):
    """What an anchor (a row of the map's table) adds to a score, in how many groups, and by which columns most."""

    anchor: int
    score: float
    n_groups: int
    columns: NDArray[np.intp]
    n_columns: int


@dataclass(frozen=True, repr=False)
class Explanation(ExplainedRows):
    """The reasons for the scores of some rows, made by `explain`.

    ``len(explanation)`` is the number of rows, ``explanation[3]`` the explanation of one of them, and a loop gives one
    after the other. ``str(explanation)`` says the reasons in words; notebooks show them as a table.

    Attributes
    ----------
    rows : ndarray of shape (n_rows,)
        Places of the rows in the table that was explained.
    predictions : ndarray of shape (n_rows,) or None
        What the model predicts; None without a model.
    targets : ndarray of shape (n_rows,) or None
        The classes that are explained; of a model that predicts several numbers, which of them.
    scores : ndarray of shape (n_rows,)
        The decision values of these classes, or the predicted numbers. Of two classes, that of the first is the
        negative of the model's decision value. Without a model, the sum of a row's features: how near it
        is to its anchors.
    intercepts : ndarray of shape (n_rows,)
        With these, contributions add up to the scores.
    decision_values : ndarray of shape (n_rows, n_outputs)
        All scores of the model, in the order of its classes; one column for two classes.
    contributions : CSR array of shape (n_rows, n_features_out)
        What each feature of the map, which is an anchor in a group, adds to the score.
    anchor_scores : CSR array of shape (n_rows, n_anchors)
        The same summed over groups: what each training row adds to the score.
    anchor_groups : CSR array of shape (n_rows, n_anchors)
        In how many groups the row has that anchor.
    anchor_samples : ndarray of shape (n_anchors,)
        The anchors' places in the training data.
    column_scores : ndarray of shape (n_rows, n_columns)
        The score by columns: each contribution is divided equally among the columns of its group. They add up as
        contributions do.
    column_shares : ndarray of shape (n_rows, n_columns)
        Each column's share of the squared distances between the row and its anchors (of distances with
        ``metric="manhattan"``; of squared distances between rows of unit length with ``metric="cosine"``), where an
        anchor counts by the size of its contribution. They add up to 1, or to 0 for a row equal to all of its anchors.
    column_names : ndarray of shape (n_columns,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from vicinal import RandLocal
    >>> from vicinal.explain import explain
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(RandLocal(random_state=0), RidgeClassifier()).fit(X, y)
    >>> explanation = explain(model, X[:5])
    >>> len(explanation), explanation[2].rows.tolist()
    (5, [2])
    >>> explanation.anchors.columns.tolist()
    ['row', 'anchor', 'score', 'groups', 'columns']
    """

    rows: NDArray[np.integer]
    predictions: NDArray[Any] | None
    targets: NDArray[Any] | None
    scores: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    decision_values: NDArray[np.float64]
    contributions: sp.csr_array
    anchor_scores: sp.csr_array
    anchor_groups: sp.csr_array
    anchor_samples: NDArray[np.integer]
    column_scores: NDArray[np.float64]
    column_shares: NDArray[np.float64]
    column_names: NDArray[np.object_]
    _context: Context = field(repr=False)

    def _taken(self, part: slice) -> Explanation:
        given = self._context
        context = replace(given, inputs=given.inputs.taken(part), prepared=given.prepared[part])
        return replace(self, **taken_by_row(self, _BY_ROW, part), _context=context)

    @property
    def anchors(self) -> Any:
        """A frame with a line for each row and anchor, the strongest first.

        Its columns: `row`, `anchor` (place in the training data), `label` (if labels were given), `score`, `groups` (in
        how many the row has that anchor) and `columns` (those that these groups look at most).
        """
        lines = [line for place in range(len(self)) for line in self._anchors_of(place)]
        labels = self._context.labels
        samples = self.anchor_samples[np.array([line.anchor for line in lines], np.intp)]
        columns = {
            "row": np.repeat(self.rows, np.diff(self.anchor_scores.indptr)),
            "anchor": samples,
            "label": None if labels is None else labels[samples],
            "score": np.array([line.score for line in lines]),
            "groups": np.array([line.n_groups for line in lines], np.int64),
            "columns": [", ".join(self.column_names[line.columns]) for line in lines],
        }
        return as_frame(columns, self._context.frame)

    @property
    def columns(self) -> Any:
        """A frame with a line for each row and column, the highest scores first.

        Its columns: `row`, `column`, `value` (as text, "" where it is missing), `score` and `share` (of distances).
        """
        order = np.argsort(-self.column_scores, axis=1, kind="stable")
        n_columns = len(self.column_names)
        texts = [np.array(self.column_values(place), object)[order[place]] for place in range(len(self))]
        columns = {
            "row": np.repeat(self.rows, n_columns),
            "column": self.column_names[order.ravel()],
            "value": np.concatenate(texts),
            "score": np.take_along_axis(self.column_scores, order, 1).ravel(),
            "share": np.take_along_axis(self.column_shares, order, 1).ravel(),
        }
        return as_frame(columns, self._context.frame)

    @property
    def groups(self) -> Any:
        """A frame with a line for each row and feature that it switches on, in the order of the groups.

        Its columns: `row`, `group`, `anchor` (place in the training data), `score` and `columns` (all that the group
        looks at).
        """
        groups, cells = self._context.groups, self.contributions.indices
        group_of = groups.group_of(cells)
        names = {group: self._names_of_group(group) for group in np.unique(group_of)}
        columns = {
            "row": np.repeat(self.rows, np.diff(self.contributions.indptr)),
            "group": group_of,
            "anchor": self.anchor_samples[groups.rows[cells]],
            "score": self.contributions.data,
            "columns": [names[group] for group in group_of],
        }
        return as_frame(columns, self._context.frame)

    def distances(self) -> tuple[NDArray[np.integer], NDArray[np.float64]]:
        """How far each anchor of one row is, by columns.

        Returns
        -------
        anchors : ndarray of shape (n,)
            The row's anchors, as places in the training data.
        parts : ndarray of shape (n, n_columns)
            What each column adds to the squared distance (or distance, see `column_shares`) between the row and that
            anchor, summed over the groups in which the anchor is its nearest.
        """
        if len(self) != 1:
            raise ValueError(
                f"distances are those of one row, and there are {len(self)}; take explanation[0].distances()."
            )
        context = self._context
        anchors, parts = anchor_parts(context.groups, context.prepared, self.contributions.indices)
        return self.anchor_samples[anchors], context.inputs.summed(parts)

    def anchor_names(self, anchors: NDArray[np.integer]) -> list[str]:
        """What anchors, given by their places in `anchor_samples`, are called, with their labels if known."""
        samples, labels = self.anchor_samples[anchors], self._context.labels
        if labels is None:
            return [f"training row {sample}" for sample in samples]
        noun = "value" if self._context.kind == "number" else "class"
        return [f"training row {sample} ({noun} {labels[sample]})" for sample in samples]

    def column_values(self, place: int = 0) -> list[str]:
        """What a row has in each column, as text; "" where it is missing."""
        return self._context.inputs.texts(place)

    def reasons(self, place: int = 0) -> Reasons:
        """What is shown of a row: a record that text, HTML and plots are made of."""
        lines = self._anchors_of(place)
        unit, size = ("%", float(self.scores[place]) or 1.0) if self._context.kind == "nearness" else ("", 1.0)
        sides = []
        for title, sign in self._sides(place):
            pulling = [line for line in lines if sign * line.score > 0]
            shown = [self._anchor_reason(line, size) for line in pulling[:ANCHORS_IN_WORDS]]
            sides.append(Side(title, sum(line.score for line in pulling) / size, len(pulling), shown))
        order = np.argsort(-abs(self.column_scores[place]), kind="stable")[:COLUMNS_IN_WORDS]
        columns = [
            ColumnReason(
                self.column_names[j],
                self._context.inputs.text(place, j),
                self.column_scores[place, j] / size,
                self.column_shares[place, j],
            )
            for j in order
        ]
        n_columns = len(self.column_names)
        some = f" (the first {len(order)} of {n_columns:,})" if len(order) < n_columns else ""
        what = "row's features" if unit else "score"
        title = f"Columns{some}: their part of the {what}, and of the distances to the anchors"
        intercept = None if unit else float(self.intercepts[place])
        return Reasons(
            self._heading(place), columns, title, sides, intercept=intercept, note=self._note(place), unit=unit
        )

    def _sides(self, place: int) -> list[tuple[str, int]]:
        if self._context.kind == "nearness":
            return [("Nearest to", 1)]
        if self._context.kind == "number":
            return [("Raising it", 1), ("Lowering it", -1)]
        assert self.targets is not None
        return [(f"For {self.targets[place]}", 1), (f"Against {self.targets[place]}", -1)]

    def _heading(self, place: int) -> str:
        row, score = self.rows[place], self.scores[place]
        if self._context.kind == "nearness":
            return f"Row {row} and the training rows that it is nearest to, with their shares of the row's features."
        assert self.predictions is not None
        if self._context.kind == "number":
            which = f", output {self.targets[place]}" if self.targets is not None else ""
            return f"Row {row}{which}: predicted value {score:.4g}."
        assert self.targets is not None
        predicted = f"Row {row} is predicted to be {self.predictions[place]}"
        if self.predictions[place] == self.targets[place]:
            return f"{predicted}: decision value {score:.4g}."
        return f"{predicted}. The decision value of {self.targets[place]}: {score:.4g}."

    def _note(self, place: int) -> str:
        """Decision values of the other classes, the highest first."""
        if self._context.classes is None or self.targets is None or len(self._context.classes) < 3:
            return ""
        values = self.decision_values[place]
        order = [k for k in np.argsort(-values, kind="stable") if self._context.classes[k] != self.targets[place]]
        others = [f"{self._context.classes[k]} {values[k]:.4g}" for k in order]
        return f"Other classes: {listed(others, most=4)}."

    def _anchor_reason(self, line: AnchorSum, size: float) -> AnchorReason:
        (name,) = self.anchor_names(np.array([line.anchor]))
        columns = self.column_names[line.columns].tolist()
        return AnchorReason(name, line.score / size, line.n_groups, columns, line.n_columns)

    def _anchors_of(self, place: int) -> list[AnchorSum]:
        """A row's anchors, the strongest first."""
        groups = self._context.groups
        part = slice(*self.anchor_scores.indptr[place : place + 2])
        anchors, scores = self.anchor_scores.indices[part], self.anchor_scores.data[part]
        counts = self.anchor_groups.data[part]
        cells = self.contributions.indices[slice(*self.contributions.indptr[place : place + 2])]
        weights = abs(self.contributions.data[slice(*self.contributions.indptr[place : place + 2])])
        belongs = np.searchsorted(anchors, groups.rows[cells])
        by_group = sp.csr_array((weights, (belongs, groups.group_of(cells))), shape=(len(anchors), groups.n_groups))
        by_column = self._context.inputs.summed((by_group @ groups.membership).toarray())
        top = np.argsort(-by_column, axis=1, kind="stable")[:, :COLUMNS_OF_ANCHOR]
        used = (by_column > 0).sum(1)
        order = np.argsort(-abs(scores), kind="stable")
        return [
            AnchorSum(int(anchors[a]), float(scores[a]), int(counts[a]), top[a, : max(used[a], 1)], int(used[a]))
            for a in order
        ]

    def _names_of_group(self, group: int) -> str:
        return ", ".join(self._context.inputs.names_in(self._context.groups.columns(group)))
