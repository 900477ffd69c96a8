"""From a `Page` to one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from .._page import Cell, Dots, FeatureImage, Lines, Page, Scatter, Schema, Table, Voronoi
from .._writing import replacing
from ._cells import voronoi
from ._charts import dots, lines, scatter
from ._png import data_uri
from ._scales import Scale, is_drawable, scale_of
from ._schema import schema
from ._svg import interval_bar

CHARTS: dict[type, Any] = {Scatter: scatter, Lines: lines, Dots: dots, Schema: schema, Voronoi: voronoi}
MISSING = ("", "-", "\N{EN DASH}", "\N{EM DASH}")
LABEL_SHARE = 0.042  # of a picture's height that the label of a class needs


def render(page: Page) -> str:
    """The page as HTML, with styles, script and pictures inside.

    Parameters
    ----------
    page : Page
        What to show.

    Returns
    -------
    str

    Examples
    --------
    >>> from vicinal.report import Page, render
    >>> "<title>Digits &amp; more</title>" in render(Page("Digits & more"))
    True
    """
    script = _resource("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    text = _template().render(
        page=page,
        sections=[section for section in page.sections if section.text or section.blocks],
        style=Markup(_resource("page.css")),
        script=Markup(script),
        script_hash=digest,
    )
    text = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", "\N{REPLACEMENT CHARACTER}", text)
    return text.encode("utf-8", "replace").decode()  # half of a surrogate pair cannot be written


def write_report(path: Path | str, page: Page, *, force: bool = False) -> None:
    """Writes the page to a file, which appears whole or not at all.

    Parameters
    ----------
    path : Path or str
        The file.
    page : Page
        What to show.
    force : bool, default=False
        Whether a file that is there already is replaced.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from vicinal.report import Page, write_report
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(Path(folder, "report.html"), Page("digits"))
    ...     Path(folder, "report.html").read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    text = render(page)
    with replacing(Path(path), force=force) as beside:
        beside.write_text(text, encoding="utf-8", newline="\n")


@cache
def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


@cache
def _template() -> Any:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.globals.update(
        kind=lambda block: type(block).__name__,
        chart=lambda block: CHARTS[type(block)](block),
        table=table_view,
        image=image_view,
    )
    return environment.from_string(_resource("page.html"))


def table_view(table: Table) -> dict[str, Any]:
    """What the template needs to know of a table: sort keys, bars, and which explanations it wants below."""
    scales = [_bar_scale([row[place] for row in table.rows]) for place in range(len(table.columns))]
    rows = [
        [_cell_view(cell, column.kind, scale) for cell, column, scale in zip(row, table.columns, scales, strict=True)]
        for row in table.rows
    ]
    marks = {cell.mark for row in table.rows for cell in row}
    return {
        "rows": rows,
        "best": "best" in marks,
        "tie": "tie" in marks,
        "bars": any(scales),
        "hints": [column for column in table.columns if column.hint],
    }


def _bar_scale(cells: Sequence[Cell]) -> Scale | None:
    limits = [v for cell in cells if is_drawable(cell.low) and is_drawable(cell.high) for v in (cell.low, cell.high)]
    if not limits:
        return None
    return scale_of([*limits, *(cell.value for cell in cells if is_drawable(cell.value))], 4, 86, pad=0)


def _cell_view(cell: Cell, kind: str, scale: Scale | None) -> dict[str, Any]:
    missing = cell.text.strip() in MISSING
    has_key = not missing and (kind == "text" or is_drawable(cell.value))
    bar = limits = ""
    if scale and not missing:
        bar = interval_bar(cell.value, cell.low, cell.high, scale)
        if is_drawable(cell.low) and is_drawable(cell.high):
            digits = max(len(cell.text.partition(".")[2].rstrip("% s")), 0)
            limits = f"{cell.low:.{min(digits, 6)}f} to {cell.high:.{min(digits, 6)}f}"
    return {
        "cell": cell,
        "missing": missing,
        "key": (cell.text if kind == "text" else repr(float(cell.value or 0))) if has_key else None,
        "bar": bar,
        "has_scale": scale is not None,
        "limits": limits,
    }


def image_view(block: FeatureImage) -> dict[str, Any]:
    """The picture, and the bands of its classes as percentages of its height; crowded ones go without a label."""
    n_rows, n_columns = block.pixels.shape
    bands, last = [], -1.0
    for label, first, end in block.boundaries:
        middle = (first + end) / 2 / max(n_rows, 1)
        labelled = middle - last >= LABEL_SHARE
        last = middle if labelled else last
        bands.append(
            {
                "label": label,
                "top": 100 * first / max(n_rows, 1),
                "height": 100 * (end - first) / max(n_rows, 1),
                "labelled": labelled,
            }
        )
    return {
        "uri": data_uri(block.pixels) if block.pixels.size else "",
        "width": n_columns,
        "height": n_rows,
        "bands": bands,
        "sparsity": f"{block.sparsity:.3g}" if is_drawable(block.sparsity) else "",
    }
