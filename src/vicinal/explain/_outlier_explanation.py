"""OutlierExplanation: which groups and columns find a row strange, and the normal row nearest to it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._by_group import reasons_by_group
from ._frames import as_frame
from ._groups import LocalGroups
from ._inputs import Inputs, in_few_letters, texts_of
from ._reasons import Reasons
from ._told import ExplainedRows, taken_by_row

GROUPS_IN_WORDS, COLUMNS_IN_WORDS = 3, 8
_BY_ROW = ("rows", "strangeness", "p_values", "outliers", "group_scores", "column_scores", "normal_rows")


@dataclass(frozen=True)
class OutlierContext:
    """What an explanation looks up when it is asked for more."""

    groups: LocalGroups
    inputs: Inputs
    normal_values: Any | None  # of the nearest normal rows, by named columns; None where they are not known
    has_values: NDArray[np.bool_]  # whether a row has any
    frame: str | None


@dataclass(frozen=True, repr=False)
class OutlierExplanation(ExplainedRows):
    """Why a detector finds rows strange, or does not; made by `explain_outliers`.

    ``len(explanation)`` is the number of rows, ``explanation[3]`` the explanation of one of them, and a loop gives one
    after the other. ``str(explanation)`` says the reasons in words; notebooks show them as a table.

    Attributes
    ----------
    rows : ndarray of shape (n_rows,)
        Places of the rows in the table that was explained.
    strangeness : ndarray of shape (n_rows,)
        Minus the detector's `score_samples`: 1 for a row stranger than nine training rows in ten, 2 for one stranger
        than 99 in a hundred, and so on.
    threshold : float
        Rows that are stranger are outliers.
    outliers : ndarray of bool of shape (n_rows,)
        Whether they are.
    p_values : ndarray of shape (n_rows,) or None
        By the rows that the detector has held out of `fit`; None if there are none. They are for rows that `fit` has
        not seen.
    group_scores : ndarray of shape (n_rows, n_groups)
        What each group of columns adds to the strangeness: those of the detector's `map_`, then those of `local_map_`.
        They add up to the strangeness.
    column_scores : ndarray of shape (n_rows, n_columns)
        The same by columns: what a group adds is divided by the columns' shares of the squared distance between the
        row and its anchor (of the distance with ``metric="manhattan"``). They add up to the strangeness, too.
    normal_rows : ndarray of shape (n_rows,)
        The nearest normal row, as its place in the training data: the nearest in all columns that the row has, among
        the anchors that are no outliers themselves. -1 for a row without any value, and after `partial_fit`, which
        keeps no places.
    column_names : ndarray of shape (n_columns,)

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal import LocalOutlierDetector
    >>> from vicinal.explain import explain_outliers
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> detector = LocalOutlierDetector(random_state=0).fit(X)
    >>> explanation = explain_outliers(detector, [[0, 0, 0], [0, 9, 0]])
    >>> explanation.outliers.tolist()
    [False, True]
    >>> bool(np.allclose(explanation.column_scores.sum(axis=1), explanation.strangeness))
    True
    >>> explanation[1].columns["column"].tolist()[0]
    'column 1'
    """

    rows: NDArray[np.integer]
    strangeness: NDArray[np.float64]
    threshold: float
    outliers: NDArray[np.bool_]
    p_values: NDArray[np.float64] | None
    group_scores: NDArray[np.float64]
    column_scores: NDArray[np.float64]
    normal_rows: NDArray[np.int64]
    column_names: NDArray[np.object_]
    _context: OutlierContext = field(repr=False)

    def _taken(self, part: slice) -> OutlierExplanation:
        given, values = self._context, self._context.normal_values
        context = replace(
            given,
            inputs=given.inputs.taken(part),
            normal_values=None if values is None else values[part],
            has_values=given.has_values[part],
        )
        return replace(self, **taken_by_row(self, _BY_ROW, part), _context=context)

    @property
    def columns(self) -> Any:
        """A frame with a line for each row and column, the highest scores first.

        Its columns: `row`, `column`, `value`, `normal_value` (that of the nearest normal row; both as text, "" where
        they are missing) and `score`.
        """
        order = np.argsort(-self.column_scores, axis=1, kind="stable")
        inputs, normal = self._context.inputs, self._context.normal_values
        texts, normal_texts = [], []
        for place in range(len(self)):
            own = inputs.texts(place)
            beside = [""] * len(own) if normal is None else texts_of(normal, place)
            texts += [own[j] for j in order[place]]
            normal_texts += [beside[j] for j in order[place]]
        columns = {
            "row": np.repeat(self.rows, len(self.column_names)),
            "column": self.column_names[order.ravel()],
            "value": texts,
            "normal_value": normal_texts,
            "score": np.take_along_axis(self.column_scores, order, 1).ravel(),
        }
        return as_frame(columns, self._context.frame)

    @property
    def groups(self) -> Any:
        """A frame with a line for each row and group that finds it strange, the highest scores first.

        Its columns: `row`, `group`, `score` and `columns` (all that the group looks at).
        """
        order = np.argsort(-self.group_scores, axis=1, kind="stable")
        scores = np.take_along_axis(self.group_scores, order, 1)
        shown, inputs = scores > 0, self._context.inputs
        groups = order[shown]
        names = {group: ", ".join(inputs.names_in(self._context.groups.columns(group))) for group in np.unique(groups)}
        columns = {
            "row": np.repeat(self.rows, shown.sum(axis=1)),
            "group": groups,
            "score": scores[shown],
            "columns": [names[group] for group in groups],
        }
        return as_frame(columns, self._context.frame)

    @property
    def summary(self) -> Any:
        """A frame with a line for each row: `row`, `score` (its strangeness), `p_value` (if known), `outlier` and
        `normal_row`."""
        columns = {
            "row": self.rows,
            "score": self.strangeness,
            "p_value": self.p_values,
            "outlier": self.outliers,
            "normal_row": self.normal_rows,
        }
        return as_frame(columns, self._context.frame)

    def value(self, column: int, place: int = 0) -> str:
        """What a row has in a column, as text; "" where it is missing."""
        return self._context.inputs.text(place, column)

    def normal_value(self, column: int, place: int = 0) -> str:
        """What the nearest normal row has in a column, as text; "" where it is missing, or not known."""
        values = self._context.normal_values
        return "" if values is None else in_few_letters(values[place, int(column)])

    def reasons(self, place: int = 0) -> Reasons:
        """What is shown of a row: a record that text and HTML are made of."""
        return reasons_by_group(
            self._heading(place),
            self.group_scores[place],
            self._context.groups,
            self._context.inputs,
            column_scores=self.column_scores[place],
            normal=lambda column: self.normal_value(column, place),
            place=place,
            n_groups=GROUPS_IN_WORDS,
            n_columns=COLUMNS_IN_WORDS,
            note=self._note(place),
        )

    def _heading(self, place: int) -> str:
        what = "an outlier" if self.outliers[place] else "no outlier"
        chance = "" if self.p_values is None else f", p-value {self.p_values[place]:.2g}"
        score = f"score {self.strangeness[place]:.2f} (threshold {self.threshold:.2f})"
        return f"Row {self.rows[place]} is {what}: {score}{chance}."

    def _note(self, place: int) -> str:
        if not self._context.has_values[place]:
            return "It has no values, and counts as an ordinary row; its score is divided equally."
        normal = self.normal_rows[place]
        return f"The nearest normal row: training row {normal}." if normal >= 0 else ""
