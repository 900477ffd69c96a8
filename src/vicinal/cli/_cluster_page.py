"""The report of `vicinal cluster`, as plain records."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._cluster_profiles import most_telling_columns
from .._page import Cell, Column, Lines, Page, Section, Series, Table
from .._words import short_number
from ._cluster_table import LEAST_DIFFERENCE, told
from ._clustering import Clustering

MOST_TRAITS, PROTOTYPES, SHOWN_COLUMNS = 6, 3, 6


def cluster_page(title: str, found: Clustering, *, command: str, facts: tuple[tuple[str, str], ...]) -> Page:
    sizes = [len(profile.rows) for profile in found.profiles]
    headline = (
        f"{len(found.numbers):,} rows in {len(sizes)} clusters of {min(sizes):,} to {max(sizes):,} rows."
        if min(sizes) < max(sizes)
        else f"{len(found.numbers):,} rows in {len(sizes)} clusters of {max(sizes):,} rows each."
    )
    return Page(
        title=f"{title}: which rows belong together",
        subtitle=f"{len(found.numbers):,} rows, {len(found.names):,} columns, by local spectral clustering",
        verdict=(headline, *((found.suggestion(),) if found.suggested else ())),
        sections=(_sizes(found), _traits(found), _prototypes(found), _spectrum(found)),
        command=command,
        facts=facts,
        notes=("Clusters are numbered by their size, from 1. No labels were looked at.",),
    )


def _sizes(found: Clustering) -> Section:
    rows = []
    for number, profile in enumerate(found.profiles, start=1):
        size = len(profile.rows)
        share = f"{100 * size / len(found.numbers):.1f} %"
        rows.append((Cell(str(number)), Cell(f"{size:,}", size, detail=share), Cell(told(profile).replace("\n", "; "))))
    columns = (
        Column("cluster"),
        Column("rows", "number"),
        Column("what tells it apart", hint="mean or share in the cluster, and in parentheses that of all other rows"),
    )
    return Section("The clusters", blocks=(Table("Sizes", columns, tuple(rows)),))


def _traits(found: Clustering) -> Section:
    title = "What tells them apart"
    rows = []
    for number, profile in enumerate(found.profiles, start=1):
        for trait in profile.telling(LEAST_DIFFERENCE, MOST_TRAITS):
            others = f"others {trait.show(trait.outside)}"
            mean = Cell(trait.show(trait.inside), trait.inside, detail=others)
            difference = Cell(f"{trait.difference:+.1f}", trait.difference)
            rows.append((Cell(str(number)), Cell(trait.name), mean, difference))
    if not rows:
        return Section(title, "No column alone does, by half a standard deviation or more.")
    columns = (
        Column("cluster"),
        Column("column"),
        Column("mean", "number", hint="of a category: the share of rows that have it"),
        Column("apart", "number", hint="the difference of the two means, in standard deviations of all rows"),
    )
    text = "The columns whose means, and the categories whose shares, differ most from those of all other rows."
    return Section(title, text, (Table("Means and shares", columns, tuple(rows)),))


def _prototypes(found: Clustering) -> Section:
    shown = most_telling_columns(found.profiles, SHOWN_COLUMNS)
    rows = []
    for number, profile in enumerate(found.profiles, start=1):
        for row in profile.rows[:PROTOTYPES].tolist():
            values = tuple(_cell(found.value(row, column)) for column in shown)
            rows.append((Cell(str(number)), Cell(f"{row:,}", row), *values))
    columns = (
        Column("cluster"),
        Column("row", "number", hint="its place in the file, from 0"),
        *(Column(column, "number" if _is_number(found, column) else "text") for column in shown),
    )
    text = "The rows nearest to the center of each cluster"
    if len(shown) < len(found.names):
        text += f", in the {len(shown)} columns that tell clusters apart the most"
    return Section("Prototypes", f"{text}.", (Table("The most typical rows", columns, tuple(rows)),))


def _is_number(found: Clustering, column: str) -> bool:
    return not isinstance(found.value(0, column), str) and not any(
        isinstance(found.value(int(profile.rows[0]), column), str) for profile in found.profiles
    )


def _cell(value: Any) -> Cell:
    if value is None or (not isinstance(value, str) and np.isnan(value)):
        return Cell("\N{EN DASH}")
    return Cell(value) if isinstance(value, str) else Cell(short_number(float(value)), float(value))


def _spectrum(found: Clustering) -> Section:
    """The angles whose growth suggests the number of clusters."""
    count = len(found.profiles)
    angles = np.degrees(np.arccos(np.clip(found.singular_values, 0.0, 1.0)))[: max(found.max_clusters, count) + 1]
    curve = Series(
        "angles",
        x=tuple(float(place) for place in range(1, len(angles) + 1)),
        y=tuple(float(angle) for angle in angles),
        highlight=True,
    )
    chart = Lines(
        "How much so many parts share",
        "clusters",
        "angle in degrees",
        (curve,),
        reference=((f"{count} clusters", float(angles[min(count, len(angles)) - 1])),),
        caption="Angles whose cosines are the singular values: 0 where as many parts share nothing. A steep rise after "
        "some number speaks for as many clusters.",
    )
    return Section("How many clusters?", blocks=(chart,))
