"""Axes: where a value lies, which ticks to show, and whether a value can be drawn."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from .._words import exact_seconds, human_seconds, short_number

SECONDS = (
    *(base * 10.0**power for power in range(-6, 1) for base in (1, 2, 5)),
    *(10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0, 7200.0, 18000.0, 36000.0),
    *(86400.0 * days for days in (1, 2, 5, 10, 20, 50, 100, 365)),
)
# The ticks of a wide range: a step of about ten each.
ROUND_SECONDS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 60.0, 600.0, 3600.0, 36000.0, 432000.0, 4320000.0)
# Steps of linear axes of time, from a second to half a day.
TIME_STEPS = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10800, 21600, 43200)
DAY = 86400


def is_drawable(value: Any, *, log: bool = False) -> TypeGuard[float]:
    """Whether a value can be drawn: neither missing nor too large for a chart, and positive on a log axis."""
    return value is not None and abs(value) < 1e100 and (not log or value > 1e-100)


@dataclass(frozen=True)
class Scale:
    """Values from `low` to `high` on pixels from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        share = (self._bent(value) - self._bent(self.low)) / (self._bent(self.high) - self._bent(self.low))
        return self.start + share * (self.end - self.start)

    def _bent(self, value: float) -> float:
        return math.log10(value) if self.log else value

    def ticks(self, most: int, *, seconds: bool = False) -> list[tuple[float, str]]:
        """At most about `most` round values within the range, with their labels."""
        values = self._log_ticks(most, seconds) if self.log else []
        if len(values) >= 2:
            labels = [human_seconds(value) for value in values] if seconds else numbers(values)
            return list(zip(values, labels, strict=True))
        step = (self.high - self.low) / max(most, 1)
        step = time_step(step) if seconds else nice_step(step)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        values = [step * number for number in range(first, last + 1)]
        decimals = max(0, -math.floor(math.log10(step) + 1e-9))
        if seconds:
            labels = [exact_seconds(value, decimals) for value in values]
        elif step < 1 and decimals <= 8:
            labels = [f"{value + 0.0:.{decimals}f}" for value in values]
        else:
            labels = numbers(values)
        return list(zip(values, labels, strict=True))

    def _log_ticks(self, most: int, seconds: bool) -> list[float]:
        choices: Iterable[Sequence[float]]
        if seconds and self.low >= 1e-6 and self.high <= SECONDS[-1]:
            choices = (SECONDS, ROUND_SECONDS)
        else:
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            stride = max(1, math.ceil(len(powers) / max(most, 1)))
            fine = [base * 10.0**power for power in powers for base in (1, 2, 5)]
            choices = (fine, [10.0**power for power in powers if power % stride == 0])
        within: list[float] = []
        for choice in choices:
            within = [value for value in choice if self.low * (1 - 1e-9) <= value <= self.high * (1 + 1e-9)]
            if len(within) <= most:
                break
        return within[:: max(1, math.ceil(len(within) / max(most, 1)))]


def nice_step(step: float) -> float:
    """The round number (1, 2 or 5 times a power of ten) just above."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(base * power for base in (1, 2, 5, 10) if base * power >= step * (1 - 1e-9))


def time_step(step: float) -> float:
    """The round time just above: 20 minutes, 3 hours, 50 days."""
    if step <= 1:
        return nice_step(step)
    return next((s for s in TIME_STEPS if s >= step * (1 - 1e-9)), 0) or DAY * max(1.0, nice_step(step / DAY))


def numbers(values: Sequence[float]) -> list[str]:
    """Short labels of different values, with more digits where two of them would be the same.

    >>> numbers([1_000_000, 2_000_000]), numbers([1_230_000, 1_234_000])
    (['1M', '2M'], ['1,230,000', '1,234,000'])
    """
    labels = [short_number(value) for value in values]
    return labels if len(set(labels)) == len(labels) else [f"{value:,.15g}" for value in values]


def scale_of(values: Iterable[float], start: float, end: float, *, log: bool = False, pad: float = 0.06) -> Scale:
    """A scale that holds all values with some air at both ends, even where they are all the same."""
    values = list(values)
    low, high = min(values), max(values)
    if log:
        air = max(pad * math.log10(high / low), 0.04) if high > low else 0.5
        return Scale(low / 10**air, high * 10**air, start, end, log=True)
    air = pad * (high - low) if high - low > 1e-12 * max(abs(low), abs(high)) else max(abs(low) * 0.02, 1e-3)
    return Scale(low - air, high + air, start, end)


def text_width(text: str, size: float) -> float:
    """About how wide a text is in a sans-serif font; rather too wide than too narrow."""
    return size * sum(_letter_width(letter) for letter in text)


def _letter_width(letter: str) -> float:
    if ord(letter) > 0x2E80:
        return 1.15
    if letter in "iljtfrI.,:;'|!()[] -":
        return 0.38
    if letter in "mwMW@%":
        return 0.93
    return 0.7 if letter.isupper() else 0.6


def cut(text: str, width: float, size: float) -> str:
    """The text, or its beginning and an ellipsis where it is too wide.

    >>> cut("RandLocal", 200, 13), cut("a very long name of a method", 100, 13)
    ('RandLocal', 'a very long n…')
    """
    text = " ".join(text.split())
    if text_width(text, size) <= width:
        return text
    while text and text_width(text + "…", size) > width:
        text = text[:-1]
    return text.rstrip() + "…"


def wrapped(text: str, width: float, size: float) -> list[str]:
    """The text in lines that are not too wide; none for an empty text.

    >>> wrapped("several words in two lines", 100, 13)
    ['several words', 'in two lines']
    """
    lines: list[str] = []
    for word in text.split():
        if lines and text_width(f"{lines[-1]} {word}", size) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines
