"""The spectral density of a kernel that is given as a function of differences, by a fast cosine transform."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.fft
from numpy.typing import NDArray

N_POINTS = 2**21  # of the transform
PADDING = 32  # how far beyond the kernel's reach it goes: the density's grid is the finer for it
NEGLIGIBLE = 1e-5  # values of the kernel that count as none
LONGEST_REACH = 2**10  # in units of the difference at which the kernel has fallen to one half
MOST_NEGATIVE = 1e-4  # mass of a density that counts as rounding

Function = Callable[..., Any]


def check_function(function: Function) -> None:
    """A function of an array of differences that can be the factor of a shift-invariant kernel."""
    if isinstance(function, type) or not callable(function):
        raise ValueError(
            f"function must be a function of differences, such as lambda t: np.exp(-np.abs(t)); got {function!r}."
        )
    differences = np.concatenate([[0.0], 2.0 ** np.arange(-20, 21)])
    values, mirrored = (_values(function, some) for some in (differences, -differences))
    if abs(values[0] - 1) > 1e-9:
        raise ValueError(f"function must be 1 at 0, where it is {values[0]:.6g}; divide it by this value.")
    if not np.allclose(values, mirrored, rtol=1e-9, atol=1e-12) or np.abs(values).max() > 1 + 1e-9:
        raise ValueError("function must be the same for t and -t, and nowhere larger than at 0, or it is no kernel.")


def spectral_density(function: Function) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Frequencies from 0 on, equally spaced, and the density there: the kernel's Fourier transform over 2 pi.

    Between these frequencies the density is linear. Its cosine transform is the function up to about 1e-4.
    """
    length = PADDING * _reach(function)
    values = _values(function, np.linspace(0, length, N_POINTS + 1))
    masses = scipy.fft.dct(values, type=1) / (2 * N_POINTS)  # of both signs; they sum to the function at 0, which is 1
    masses[1:-1] *= 2
    negative = -masses[masses < 0].sum()
    if negative > MOST_NEGATIVE:
        raise ValueError(
            f"function is no kernel: its Fourier transform is negative in places, with a mass of {negative:.3g}."
        )
    masses = np.maximum(masses, 0)
    spacing = float(np.pi / length)
    density = masses / (masses.sum() * spacing)
    density[1:] /= 2  # for each sign
    return np.arange(N_POINTS + 1, dtype=np.float64) * spacing, density


def draw_from(
    frequencies: NDArray[np.float64], density: NDArray[np.float64], size: tuple[int, int], rng: np.random.RandomState
) -> NDArray[np.float64]:
    """Draws from a symmetric density that is linear between equally spaced frequencies from 0 on."""
    masses = np.cumsum(np.concatenate([density[:1], 2 * density[1:]]))
    places = np.searchsorted(masses, rng.uniform(0, masses[-1], size), side="right")
    triangular = rng.uniform(size=size) - rng.uniform(size=size)  # a line is a sum of triangles
    drawn = frequencies[np.minimum(places, len(masses) - 1)] + frequencies[1] * triangular
    return drawn * rng.choice([-1.0, 1.0], size=size)


def _reach(function: Function) -> float:
    """The difference from which on the function is negligible."""
    scales = 2.0 ** np.arange(-100, 101)
    fallen = np.flatnonzero(_values(function, scales) <= 0.5)
    if len(fallen):
        half = reach = scales[fallen[0]]
        while reach <= LONGEST_REACH * half:
            beyond = np.concatenate([np.linspace(reach, 4 * reach, 1000), reach * np.geomspace(4, 1e6, 100)])
            if np.abs(_values(function, beyond)).max() <= NEGLIGIBLE:
                return float(reach)
            reach *= 2
    raise ValueError(
        "function falls too slowly for its density to be found; give a density to ShiftInvariant, or a function that "
        "draws from it to FromSampler."
    )


def _values(function: Function, differences: NDArray[Any]) -> NDArray[np.float64]:
    values = np.asarray(function(differences), dtype=np.float64)
    if values.shape != differences.shape or not np.isfinite(values).all():
        raise ValueError(
            "function must take an array of differences and return a finite number for each; it returned "
            f"{'values that are not finite' if values.shape == differences.shape else f'the shape {values.shape}'}."
        )
    return values
