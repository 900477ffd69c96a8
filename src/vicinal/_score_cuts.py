"""Where the curve of columns' scores is cut, and what its axes span: for the terminal and the page alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def cuts(n_kept: int, n_auto: int | None) -> list[tuple[int, str]]:
    """Where the curve is cut, and the method's own cut where that is another one; in words."""
    if n_auto is None or n_auto == n_kept:
        return [(n_kept, f"{n_kept:,} kept{', the automatic cut' * (n_auto is not None)}")]
    return [(n_kept, f"{n_kept:,} kept"), (n_auto, f"{n_auto:,}: the automatic cut")]


def score_range(scores: NDArray[np.float64]) -> tuple[float, float]:
    """What the axis of the scores spans: zero belongs to it where the scores come near."""
    low, high = float(scores[-1]), float(scores[0])
    return 0.0 if 0 <= low < high / 2 else low, high


def is_early(n_columns: int, n_kept: int, n_auto: int | None) -> bool:
    """Whether a cut would be squeezed into the first tenth of a curve."""
    return min(number for number, _ in cuts(n_kept, n_auto)) * 10 < n_columns
