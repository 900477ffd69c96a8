"""What selectors of several views share: columns compete within their own view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._validation import Matrix, check_selected_count
from .._views import resolve_views, take_columns
from ._base import FeatureSelector


class MultiViewSelector(FeatureSelector):
    """Base of the selectors that look at several views of the rows, which stand side by side in X.

    A method has `n_features_to_select` and `views` among its parameters and implements `_rank`, which returns scores of
    all columns, in the order of X; `_split` gives it the views. Columns compete within their own view:
    `n_features_to_select` is a number or share of every view, or one per view, in their order or by name. Where the
    method has a rule, the `n_auto` of what it returns is a list with a number per view.

    Fitted, it has `views_`, the columns of each view by its name.
    """

    views: Any
    views_: dict[str, NDArray[np.intp]]

    @property
    def view_scores_(self) -> dict[str, NDArray[np.float64]]:
        """The scores of each view's columns."""
        return {name: self.scores_[columns] for name, columns in self.views_.items()}

    def _read_columns(self) -> None:
        self.views_ = resolve_views(self.views, self.n_features_in_, getattr(self, "feature_names_in_", None))

    def _split(self, X: Matrix) -> dict[str, Matrix]:
        return {name: take_columns(X, columns) for name, columns in self.views_.items()}

    def _rivals(self) -> list[NDArray[np.intp]]:
        return list(self.views_.values())

    def _called(self, view: str) -> str:
        """A view in messages."""
        return "X" if len(self.views_) == 1 else f"the view {view!r}"

    def _counts(self, wanted: Any) -> list[int | None]:
        sizes = {name: len(columns) for name, columns in self.views_.items()}
        return [
            check_selected_count(one, sizes[name], has_rule=self._has_rule, owner=self._called(name))
            for name, one in _per_view(wanted, list(sizes)).items()
        ]


def _per_view(wanted: Any, names: list[str]) -> dict[str, Any]:
    """What is wanted of each view, in their order."""
    if isinstance(wanted, Mapping):
        if set(wanted) != set(names):
            raise ValueError(
                f"n_features_to_select names the views {_listed(wanted)}, but the views are {_listed(names)}; give a "
                "number for each of them."
            )
        return {name: wanted[name] for name in names}
    if isinstance(wanted, str) or not isinstance(wanted, Sequence | np.ndarray):
        return dict.fromkeys(names, wanted)
    if len(wanted) != len(names):
        raise ValueError(
            f"n_features_to_select has {len(wanted)} numbers, but there are {len(names)} views, {_listed(names)}; give "
            "one for each of them, or one number for all."
        )
    return dict(zip(names, wanted, strict=True))


def _listed(names: Any) -> str:
    return ", ".join(map(repr, names))
