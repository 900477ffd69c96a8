"""What explanations of rows have in common: one after the other, and in words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._words import counted
from ._html import as_html
from ._reasons import Reasons, as_text

ROWS_IN_WORDS = 3


class ExplainedRows(ABC):
    """Rows with `reasons(place)` for each, and `_taken(part)` for some of them."""

    rows: NDArray[np.integer]

    @abstractmethod
    def reasons(self, place: int = 0) -> Reasons:
        """What is said of one of the rows."""

    @abstractmethod
    def _taken(self, part: slice) -> Any:
        """The same explanation of some of the rows."""

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: int) -> Any:
        if not isinstance(place, int | np.integer):
            raise TypeError(f"An explanation is asked for one of its rows by a number; got {place!r}.")
        if not -len(self) <= place < len(self):
            raise IndexError(f"This explanation is of {counted(len(self), 'row')}; there is no row {place}.")
        return self._taken(slice(place % len(self), place % len(self) + 1))

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, width: int = 80) -> str:
        """The reasons in words, in lines of at most `width` letters; of many rows, those of the first."""
        shown = [as_text(self.reasons(place), width) for place in range(min(len(self), ROWS_IN_WORDS))]
        return "\n\n".join([*shown, *filter(None, [self._more()])])

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {counted(len(self), 'row')}>"

    def _repr_html_(self) -> str:
        return as_html([self.reasons(place) for place in range(min(len(self), ROWS_IN_WORDS))], self._more())

    def _more(self) -> str:
        left = len(self) - ROWS_IN_WORDS
        return f"... and {counted(left, 'more row')}; explanation[i] is that of one." if left > 0 else ""


def taken_by_row(explanation: Any, names: tuple[str, ...], part: slice) -> dict[str, Any]:
    """Attributes that have an entry for each row, of some rows; what is None stays None."""
    values = {name: getattr(explanation, name) for name in names}
    return {name: None if value is None else value[part] for name, value in values.items()}
