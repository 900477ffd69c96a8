"""Numbers and lists as people say them, for the terminal and the page alike."""

from __future__ import annotations

import math
from collections.abc import Sequence


def human_seconds(value: float) -> str:
    """Seconds as people say them.

    Parameters
    ----------
    value : float
        Seconds.

    Returns
    -------
    str
        A dash where the value is not finite.

    Examples
    --------
    >>> from vicinal.report import human_seconds
    >>> human_seconds(0.0123), human_seconds(7.25), human_seconds(75), human_seconds(9000), human_seconds(200_000)
    ('12.3 ms', '7.25 s', '1 min 15 s', '2 h 30 min', '2 d 8 h')
    """
    if not math.isfinite(value):
        return "\N{EN DASH}"
    if value <= 0:
        return f"-{human_seconds(-value)}" if value else "0 s"
    for bound, size, unit in ((1e-3, 1e-6, "µs"), (1.0, 1e-3, "ms"), (60.0, 1.0, "s")):
        if float(f"{value:.3g}") < bound:
            return f"{value / size:.3g} {unit}"
    if round(value) < 3600:
        return _in_two_units(round(value), 60, "min", "s")
    if round(value / 60) < 1440:
        return _in_two_units(round(value / 60), 60, "h", "min")
    return _in_two_units(round(value / 3600), 24, "d", "h")


def _in_two_units(parts: int, size: int, unit: str, part_unit: str) -> str:
    wholes, rest = divmod(parts, size)
    return f"{wholes:,} {unit} {rest} {part_unit}" if rest else f"{wholes:,} {unit}"


def exact_seconds(value: float, decimals: int = 0) -> str:
    """Seconds to a number of decimals, in as many units as they need.

    >>> from vicinal._words import exact_seconds
    >>> exact_seconds(274_800), exact_seconds(60.25, 2), exact_seconds(0.0125, 4), exact_seconds(0)
    ('3 d 4 h 20 min', '1 min 0.25 s', '12.5 ms', '0 s')
    """
    size = round(abs(value), decimals)
    whole = int(size)
    parts: list[tuple[float, str]] = [(whole // 86400, "d"), (whole // 3600 % 24, "h"), (whole // 60 % 60, "min")]
    if 0 < size < 1:
        power, unit = (3, "ms") if size >= 1e-3 else (6, "µs")
        parts.append((round(size * 10**power, max(decimals - power, 0)), unit))
    else:
        parts.append((round(whole % 60 + (size - whole), decimals), "s"))
    words = " ".join(f"{count:,.15g} {unit}" for count, unit in parts if count) or "0 s"
    return f"-{words}" if value < 0 and size else words


def short_number(value: float) -> str:
    """A value with about four digits that matter.

    >>> from vicinal._words import short_number
    >>> short_number(0.98765), short_number(1234567), short_number(20000.0), short_number(12.5), short_number(0.0)
    ('0.9877', '1.23M', '20,000', '12.5', '0')
    """
    size = abs(value)
    if size >= 1e15:
        return f"{value:.3g}"
    for bound, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if size >= bound:
            return f"{value / bound:.3g}{unit}"
    if size >= 1000:
        return f"{value:,.0f}"
    if size and size < 1e-4:
        return f"{value:.2g}"
    return f"{value:.4f}".rstrip("0").rstrip(".") if size < 1 else f"{value:.4g}"


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def listed(names: Sequence[str], most: int = 3) -> str:
    """Names in a sentence, the last ones as a number where there are many.

    >>> from vicinal._words import listed
    >>> listed(["a", "b", "c"]), listed(["a", "b", "c", "d", "e"])
    ('a, b and c', 'a, b, c and 2 more')
    """
    if len(names) > most + 1:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def counted(number: int, noun: str) -> str:
    """A number with its noun, in the plural where there are more or fewer than one."""
    return f"{number:,} {noun}{'s' * (number != 1)}"
