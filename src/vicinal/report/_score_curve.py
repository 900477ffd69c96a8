"""The scores of columns from the best to the worst, with the cut: an SVG file, or the same in a page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from .._score_cuts import cuts, is_early, score_range
from .._words import short_number
from .._writing import replacing
from ._charts import TOP, WIDE, Y_TICKS, grid
from ._scales import Scale, cut, scale_of, text_width, wrapped
from ._svg import FONT, joined, line, spot, tag, text

HEIGHT, HEAD, AIR = 440.0, 44.0, 24.0  # of the plot with its axes, of the lines above it, and on all sides
LINE = 20.0
ROOM = 26.0  # above the curve, for the names of the cuts
MOST_NAMES, MOST_DOTS, SPOT_SIZE = 12, 60, 5.0
STYLE = """
.chart { max-width: 100%; height: auto; }
.chart text { font: 13px system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; fill: #1d2126; }
.chart .title { font-size: 16px; font-weight: 600; }
.chart .tick, .chart .label, .chart .quiet { fill: #5b636e; }
.chart .label { font-weight: 600; }
.chart .strong { font-weight: 700; fill: #00639c; }
.ground { fill: #ffffff; }
.grid, .axis { fill: none; stroke: #e4e2dd; }
.axis { stroke: #a9adb3; }
.course { fill: none; stroke: #7b838d; stroke-width: 2; stroke-linejoin: round; }
.course.kept { stroke: #0072b2; stroke-width: 3; }
.dot { fill: #7b838d; }
.dot.kept { fill: #0072b2; }
.band { fill: #0072b2; fill-opacity: 0.13; }
.chart .name { paint-order: stroke; stroke: #ffffff; stroke-width: 4px; stroke-linejoin: round; }
.cut { fill: none; stroke: #00639c; stroke-width: 1.5; stroke-dasharray: 5 4; }
.cut.quiet { stroke: #5b636e; }
.target { fill: transparent; }
.spot:hover .target, .spot:focus .target { fill: #0072b2; }
.spot { outline: none; }
@media (prefers-color-scheme: dark) {
  .ground { fill: #1a1e23; }
  .chart text { fill: #e6e8ea; }
  .chart .tick, .chart .label, .chart .quiet { fill: #a0a8b2; }
  .chart .strong { fill: #6cbcf2; }
  .grid { stroke: #2b3037; }
  .axis { stroke: #5d6671; }
  .course { stroke: #8d96a1; }
  .course.kept { stroke: #56b4f0; }
  .dot { fill: #8d96a1; }
  .dot.kept, .band { fill: #56b4f0; }
  .chart .name { stroke: #1a1e23; }
  .cut { stroke: #6cbcf2; }
  .cut.quiet { stroke: #a0a8b2; }
  .spot:hover .target, .spot:focus .target { fill: #56b4f0; }
}
"""


def check_plot_file(path: Path) -> None:
    """Refuses, before any work is done, a file that no plot can be written to.

    Parameters
    ----------
    path : Path
        The file; it must end in .svg or .html.

    Examples
    --------
    >>> from pathlib import Path
    >>> from vicinal.report import check_plot_file
    >>> check_plot_file(Path("scores.svg"))
    >>> check_plot_file(Path("scores.pdf"))
    Traceback (most recent call last):
        ...
    ValueError: A plot is written as .svg or .html; scores.pdf ends in '.pdf'.
    """
    if path.suffix.lower() not in (".svg", ".html"):
        raise ValueError(f"A plot is written as .svg or .html; {path.name} ends in {path.suffix!r}.")


def write_score_curve(
    path: Path,
    scores: NDArray[np.float64],
    names: Sequence[str],
    n_kept: int,
    n_auto: int | None,
    *,
    title: str,
    remark: str = "",
    force: bool,
) -> None:
    """Writes the curve of the columns' scores to an SVG or HTML file.

    Parameters
    ----------
    path : Path
        The file, which appears whole or not at all.
    scores : ndarray
        From the best to the worst.
    names : sequence of str
        The columns, in the same order.
    n_kept : int
        How many columns are kept.
    n_auto : int or None
        How many the method itself would keep, where it has a rule.
    title : str
        A line above the curve.
    remark : str, default=""
        A line below it.
    force : bool
        Whether a file that is there already is replaced.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from vicinal.report import write_score_curve
    >>> scores, names = np.array([0.9, 0.8, 0.1]), ["petals", "sepals", "noise"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "scores.svg")
    ...     write_score_curve(path, scores, names, n_kept=2, n_auto=None, title="Iris", force=False)
    ...     "1. petals: 0.9" in path.read_text(encoding="utf-8")
    True
    """
    check_plot_file(path)
    picture = score_curve(scores, names, n_kept, n_auto, title, remark)
    if path.suffix.lower() == ".html":
        head = Markup('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">')
        head += tag("title", title) + Markup('<meta name="color-scheme" content="light dark">')
        document = Markup("<!doctype html>") + tag("html", tag("head", head) + tag("body", picture), lang="en")
    else:
        document = picture
    written = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", "\N{REPLACEMENT CHARACTER}", f"{document}\n")
    with replacing(path, force=force) as beside:
        beside.write_bytes(written.encode("utf-8", "replace"))


def score_curve(
    scores: NDArray[np.float64], names: Sequence[str], n_kept: int, n_auto: int | None, title: str, remark: str = ""
) -> Markup:
    """The curve as an SVG element with its own style; ranks have a log scale where the cut comes early."""
    top, bottom, right = TOP, HEIGHT - 54, WIDE
    y = scale_of(score_range(scores), bottom, top + ROOM, pad=0.04)
    left = 14 + max(text_width(words, FONT) for _, words in y.ticks(Y_TICKS))
    log = is_early(len(scores), n_kept, n_auto)
    x = Scale(1, max(len(scores), 2), left, right, log=log)
    places = np.linspace(0, 1, int(2 * (right - left)))
    spread = x.high**places if log else 1 + places * (x.high - 1)
    ranks = np.unique([n_kept or 1, *np.rint(spread).astype(int).clip(1, len(scores))])
    dots = [(x(rank), y(scores[rank - 1])) for rank in ranks]
    n_dots = int(np.searchsorted(ranks, n_kept, side="right"))

    ticks = [(rank, short_number(rank)) for rank, _ in x.ticks(8) if rank == round(rank) <= len(scores)]
    parts = [grid(x, y, f"rank{', log scale' * log}", "score", ticks)]
    if n_kept:
        parts.append(tag("path", _class="band", d=f"{_course(dots[:n_dots])}V{bottom}H{dots[0][0]:.1f}z"))
    parts.append(tag("path", _class="course", d=_course(dots[max(n_dots - 1, 0) :])))
    parts.append(tag("path", _class="course kept", d=_course(dots[:n_dots])))
    if len(scores) <= MOST_DOTS:
        kinds = ["dot kept"] * n_dots + ["dot"] * (len(dots) - n_dots)
        parts += [tag("circle", _class=kind, cx=a, cy=b, r=3.5) for kind, (a, b) in zip(kinds, dots, strict=True)]
    parts += _marks(x, top, bottom, n_kept, n_auto)
    parts += _spots(ranks[: max(n_dots, MOST_NAMES)], dots, scores, names)
    best = cut(f"The best: {', '.join(names[:MOST_NAMES])}{', …' * (len(names) > MOST_NAMES)}", WIDE, FONT)
    remarks = wrapped(remark, WIDE, FONT)
    width, height = WIDE + 2 * AIR, HEIGHT + HEAD + 2 * AIR + LINE * len(remarks)
    content = joined(
        (
            tag("title", title),
            tag("style", Markup(STYLE)),
            tag("rect", _class="ground", width=width, height=height),
            text(cut(title, WIDE, FONT * 1.25), AIR, AIR + 14, "title"),
            text(best, AIR, AIR + 38, "quiet"),
            tag("g", joined(parts), transform=f"translate({AIR:g} {AIR + HEAD:g})"),
            *(text(words, AIR, HEIGHT + HEAD + AIR + LINE * place, "quiet") for place, words in enumerate(remarks, 1)),
        )
    )
    size = {"width": f"{width:g}", "height": f"{height:g}", "viewBox": f"0 0 {width:g} {height:g}"}
    return tag("svg", content, xmlns="http://www.w3.org/2000/svg", _class="chart", role="group", **size)


def _marks(x: Scale, top: float, bottom: float, n_kept: int, n_auto: int | None) -> list[Markup]:
    """Lines with their names on the right; the first line is the longest, so that its name passes above the other."""
    parts = []
    for level, (number, words) in enumerate(sorted(cuts(n_kept, n_auto))):
        kind = "strong" if number == n_kept else "quiet"
        at, height = x(min(max(number + 0.5, 1), x.high)), top - 20 + 20 * level
        beyond = at + 8 + text_width(words, FONT) * 1.1 > x.end
        place, anchor = (at - 8, "end") if beyond else (at + 8, "start")
        parts += [line(f"cut {kind}", at, height, at, bottom), text(words, place, height + 11, f"name {kind}", anchor)]
    return parts


def _spots(
    ranks: NDArray[np.int_],
    dots: Sequence[tuple[float, float]],
    scores: NDArray[np.float64],
    names: Sequence[str],
) -> list[Markup]:
    """Spots of the curve that name their column, where there is room for them."""
    parts, last = [], -np.inf
    for rank, (across, down) in zip(ranks, dots, strict=False):
        if across - last >= SPOT_SIZE:
            words = f"{rank:,}. {names[rank - 1]}: {short_number(scores[rank - 1])}"
            parts.append(spot(words, (tag("circle", _class="target", cx=across, cy=down, r=SPOT_SIZE),)))
            last = across
    return parts


def _course(dots: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{across:.1f} {down:.1f}" for across, down in dots) if dots else ""
