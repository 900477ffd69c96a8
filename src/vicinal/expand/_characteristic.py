"""The characteristic function of a symmetric density, by numerical integration, as piecewise polynomials."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PPoly
from scipy.special import roots_legendre
from scipy.stats import rv_continuous

TOLERANCE = 1e-9  # of a piece; the integrals are better by some digits
DEGREE = 8  # of a piece: a higher one would lose digits in powers of the distance from the piece's left end
MOST_COSINES = 2**28  # for one table: some seconds
LARGEST_PHASE = 15.0  # of the cosine within a panel of the quadrature, in radians
TAIL_PHASE = 30.0  # where the alternating series may begin: its half periods are then short for the density
N_TERMS = 25  # of the alternating series: its acceleration gains a factor of 5.8 with each

PLACES = (1 - np.cos(np.pi * np.arange(DEGREE + 1) / DEGREE)) / 2  # where a piece is interpolated, within [0, 1]
BETWEEN = (PLACES[:-1] + PLACES[1:]) / 2
COEFFICIENTS = np.linalg.inv(np.vander(PLACES))  # from values at these places, highest power first
NODES, WEIGHTS = roots_legendre(48)


class CharacteristicFunction:
    """phi(t), the integral of cos(t w) over a density of w that is symmetric about 0, for t of at least 0.

    The table has polynomials for [0, h], [h, 2h], [2h, 4h] and so on as far as `cover` was asked to go, so that values
    do not depend on how far that is. Where phi is negligible on a whole such range it counts as 0 from there on.

    Parameters
    ----------
    density : frozen distribution of scipy.stats
    """

    def __init__(self, density: Any) -> None:
        self.density = density
        scale = _check_symmetric(density)
        self._end = float(density.support()[1])
        self._edges = _panel_edges(density, self._end)
        _, masses = self._panels(0.0)
        outside = 0.0 if np.isfinite(self._end) else 2 * float(density.sf(self._edges[-1]))
        if not abs(masses.sum() + outside - 1) < TOLERANCE:
            raise ValueError(f"The density of {_name(density)} cannot be integrated: it does not sum to 1.")
        self._ends: list[float] = [0.0]
        self._pieces: list[NDArray[np.float64]] = []
        self._next_end = 0.25 / scale
        self._n_cosines = 0
        self._vanishes = False

    def cover(self, largest: float) -> None:
        """Make the table long enough for arguments up to `largest`."""
        if np.isfinite(self._end):  # phi will not die out, and swings at the highest frequency
            phase = largest * self._end
            self._refuse_what_takes_too_long(largest, phase * len(NODES) / LARGEST_PHASE * 2 * phase)
        while not self._vanishes and (not self._pieces or self._ends[-1] < largest):
            start, end = self._ends[-1], self._next_end
            n_panels = len(self._edges) + end * self._edges[-1] / LARGEST_PHASE
            self._refuse_what_takes_too_long(largest, n_panels * len(NODES) * len(PLACES))
            largest_value = self._add_pieces(start, end, self._panels(end), largest)
            self._next_end = 2 * end
            self._vanishes = start > 0 and largest_value < TOLERANCE
            self._table = PPoly(np.column_stack(self._pieces), np.array(self._ends))

    def __call__(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """phi at places that `cover` was asked for."""
        end = self._ends[-1]
        values = self._table(np.minimum(t, end))
        if self._vanishes:
            values[t > end] = 0.0
        return values

    def _add_pieces(self, start: float, end: float, panels: Any, largest: float) -> float:
        """Halve the range until polynomials pass a check between their own places; the largest value of phi."""
        todo, largest_value = [(start, end)], 0.0
        while todo:
            left, right = todo.pop()
            width = right - left
            values = self._integrals(left + width * PLACES, panels)
            checks = self._integrals(left + width * BETWEEN, panels)
            self._n_cosines += (len(values) + len(checks)) * len(panels[0])
            self._refuse_what_takes_too_long(largest, 0)
            polynomial = COEFFICIENTS @ values
            if np.abs(np.polyval(polynomial, BETWEEN) - checks).max() > TOLERANCE:
                middle = left + width / 2
                todo += [(middle, right), (left, middle)]
                continue
            self._ends.append(right)
            self._pieces.append(polynomial / width ** np.arange(DEGREE, -1, -1))
            largest_value = max(largest_value, float(np.abs(values).max()), float(np.abs(checks).max()))
        return largest_value

    def _integrals(self, t: NDArray[np.float64], panels: Any) -> NDArray[np.float64]:
        nodes, masses = panels
        return np.array([1.0 if one == 0 else np.cos(one * nodes) @ masses + self._tail(one) for one in t])

    def _panels(self, largest_t: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Nodes of a quadrature of the density's bulk, fine enough for cosines up to a frequency, and their masses."""
        widths = np.diff(self._edges)
        n_parts = np.maximum(1, np.ceil(widths * largest_t / LARGEST_PHASE)).astype(np.int64)
        parts = np.arange(n_parts.sum()) - np.repeat(np.cumsum(n_parts) - n_parts, n_parts)
        width = np.repeat(widths / n_parts, n_parts)
        return self._quadrature(np.repeat(self._edges[:-1], n_parts) + parts * width, width)

    def _quadrature(
        self, starts: NDArray[np.float64], widths: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        nodes = starts[:, None] + widths[:, None] * (NODES + 1) / 2
        masses = widths[:, None] * WEIGHTS * self.density.pdf(nodes)  # both halves of the density
        return nodes.ravel(), masses.ravel()

    def _tail(self, t: float) -> float:
        """The integral beyond the bulk: doubling panels while the cosine is slow, then half periods that alternate."""
        start = self._edges[-1]
        if np.isfinite(self._end) or 2 * self.density.sf(start) < TOLERANCE / 100:
            return 0.0
        first_zero = (np.ceil(max(t * start, TAIL_PHASE) / np.pi - 0.5) + 0.5) * np.pi / t
        edges = [start]
        while edges[-1] < first_zero:
            edges.append(min(2 * edges[-1], edges[-1] + LARGEST_PHASE / t, first_zero))
        nodes, masses = self._quadrature(np.array(edges[:-1]), np.diff(edges))
        half_periods = first_zero + np.arange(N_TERMS) * np.pi / t
        later_nodes, later_masses = self._quadrature(half_periods, np.full(N_TERMS, np.pi / t))
        terms = (np.cos(t * later_nodes) * later_masses).reshape(N_TERMS, -1).sum(axis=1)
        return float(np.cos(t * nodes) @ masses + _alternating_sum(terms))

    def _refuse_what_takes_too_long(self, largest: float, n_more: float) -> None:
        if self._n_cosines + n_more > MOST_COSINES:
            raise ValueError(
                f"Differences of up to {largest:.3g} are too large for the density of {_name(self.density)}: its "
                "characteristic function would take too long to find; scale the data or the density down."
            )


def _check_symmetric(density: Any) -> float:
    """The quartile of a density that is continuous, of one variable and symmetric about 0."""
    needed = ("pdf", "cdf", "sf", "ppf", "isf", "rvs", "support")
    if isinstance(density, type | rv_continuous) or not all(callable(getattr(density, name, None)) for name in needed):
        raise ValueError(
            "density must be a frozen continuous distribution of scipy.stats of one variable, such as "
            f"scipy.stats.t(df=3), or a function of frequencies; got {density!r}."
        )
    masses = np.concatenate([0.5 ** np.arange(2, 30), np.linspace(0.01, 0.49, 25)])
    quantiles = np.asarray(density.isf(masses), dtype=np.float64)
    if quantiles.shape != masses.shape or not np.isfinite(quantiles).all():
        raise ValueError(f"density must be of one variable, with finite parameters; got {_name(density)}.")
    lower, upper = density.support()
    same_mass = np.abs(density.cdf(-quantiles) - masses) <= 1e-6 * masses + TOLERANCE
    heights = density.pdf(quantiles)
    same_height = np.abs(density.pdf(-quantiles) - heights) <= 1e-6 * heights.max()
    if lower != -upper or not (same_mass & same_height).all():
        raise ValueError(
            f"density must be symmetric about 0, as the kernel would not be real otherwise; {_name(density)} is not."
        )
    return float(density.isf(0.25))


def _panel_edges(density: Any, end: float) -> NDArray[np.float64]:
    """Quantiles of the frequency's size: the mass within is halved towards 0, the mass beyond towards the tail.

    Towards a finite end there are more of them, as the density may be steep there.
    """
    n_beyond = 35 if np.isfinite(end) else 11
    quantiles = np.concatenate([density.isf(0.5 - 0.5 ** np.arange(3, 36)), density.isf(0.5 ** np.arange(2, n_beyond))])
    edges = np.concatenate([[0.0], quantiles[quantiles > 0], [end] if np.isfinite(end) else []])
    return np.unique(edges)


def _alternating_sum(terms: NDArray[np.float64]) -> float:
    """The limit of a series of alternating signs from its first terms (Cohen, Rodriguez Villegas and Zagier, 2000)."""
    n = len(terms)
    total = (3 + np.sqrt(8)) ** n
    total = (total + 1 / total) / 2
    b, c, result = -1.0, -total, 0.0
    for k, term in enumerate(terms):
        c = b - c
        result += c * (term if k % 2 == 0 else -term)
        b *= (k + n) * (k - n) / ((k + 0.5) * (k + 1))
    return result / total


def _name(density: Any) -> str:
    if hasattr(density, "function"):
        return repr(density.function)
    name = getattr(getattr(density, "dist", None), "name", None) or type(density).__name__
    return f"scipy.stats.{name}"
