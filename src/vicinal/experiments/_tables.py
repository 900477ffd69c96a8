"""Tables of an experiment, as the terminal and the report show them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace

from .._page import Cell, Column, Table
from .._words import capital
from ._experiment import Experiment
from ._metric import KMeansProtocol, Metric
from ._summary import Summary

NOTHING = "\N{EN DASH}"


def result_tables(
    experiment: Experiment, summaries: list[Summary], cell_of: Callable[[Summary], Cell] | None = None
) -> tuple[Table, ...]:
    """A table per metric: methods and variants down, data sets across.

    Where methods share a varied parameter, or measures have a place, there is a table per metric and data set, with
    the values or the places across.
    """
    tables = []
    shared = shared_parameter(experiment)
    for metric in metrics_of(summaries):
        own = [summary for summary in summaries if summary.measure.metric == metric]
        name = capital(metric.label)
        if shared is not None:
            column_of = _variant_or_none
        elif any(summary.measure.at is not None for summary in own):
            column_of = lambda summary: experiment.task.place(summary.measure)  # noqa: E731
        else:
            by_data = lambda summary: experiment.data_label(summary.data)  # noqa: E731
            tables.append(
                table(name, metric, own, by_data, variant_of=lambda summary: str(summary.variant), cell_of=cell_of)
            )
            continue
        for data, members in by_data_set(experiment, own):
            tables.append(table(f"{name}, {data}", metric, members, column_of, cell_of=cell_of))
    return tuple(tables)


def _variant_or_none(summary: Summary) -> str:
    return str(summary.variant) or "not varied"


def metrics_of(summaries: Iterable[Summary]) -> list[Metric]:
    return list(dict.fromkeys(summary.measure.metric for summary in summaries))


def protocols_of(summaries: Iterable[Summary]) -> list[KMeansProtocol | None]:
    return list(dict.fromkeys(summary.measure.protocol for summary in summaries))


def with_protocol(text: str, protocol: KMeansProtocol | None) -> str:
    return text if protocol is None else f"{text}; {protocol.label}"


def by_data_set(experiment: Experiment, summaries: list[Summary]) -> list[tuple[str, list[Summary]]]:
    """The data sets' labels, each with its summaries; those without any are left out."""
    groups = [
        (experiment.data_label(spec.key), [summary for summary in summaries if summary.data == spec.key])
        for spec in experiment.data
    ]
    return [(label, members) for label, members in groups if members]


def shared_parameter(experiment: Experiment) -> str | None:
    """What more than one method varies, if there is such a parameter."""
    varied = [name for spec in experiment.methods for name in spec.vary]
    return next((name for name in varied if varied.count(name) > 1), None)


def column_label(experiment: Experiment, summary: Summary) -> str:
    """The data set, the variant and the place of a summary, in words."""
    parts = (experiment.data_label(summary.data), str(summary.variant), experiment.task.place(summary.measure))
    return ", ".join(filter(None, parts if summary.measure.at is not None else parts[:2]))


def table(
    caption: str,
    metric: Metric,
    summaries: list[Summary],
    column_of: Callable[[Summary], str],
    *,
    variant_of: Callable[[Summary], str] = lambda summary: "",
    cell_of: Callable[[Summary], Cell] | None = None,
    last: str = "",
) -> Table:
    """Methods and variants down, whatever `column_of` says across; the column `last` comes last."""
    labels = list(dict.fromkeys(summary.label for summary in summaries))
    ordered = sorted(summaries, key=lambda summary: labels.index(summary.label))
    place = {(summary.label, variant_of(summary), column_of(summary)): summary for summary in ordered}
    lines = list(dict.fromkeys((label, variant) for label, variant, _ in place))
    columns = sorted(dict.fromkeys(map(column_of, summaries)), key=lambda column: column == last)
    has_variants = any(variant for _, variant in lines)
    show = cell_of or result_cell
    rows = tuple(
        (
            Cell(label),
            *((Cell(variant),) if has_variants else ()),
            *(
                show(place[label, variant, column]) if (label, variant, column) in place else Cell(NOTHING)
                for column in columns
            ),
        )
        for label, variant in lines
    )
    heads = (Column("method"), *((Column("variant"),) if has_variants else ()))
    return Table(caption, (*heads, *(Column(column, "number", metric.better) for column in columns)), rows)


def result_cell(summary: Summary) -> Cell:
    """A mean with its interval, whether it is the best, and the paper's value."""
    if not summary.n:
        return Cell(NOTHING, detail="; ".join(summary.notes))
    details, brief = [], ""
    if summary.paper is not None:
        metric, change = summary.measure.metric, summary.from_paper
        difference = "" if metric.kind == "seconds" or change is None else f" ({metric.show_change(change)})"
        details.append(f"paper {metric.show(summary.paper)}{difference}")
        brief = f"({metric.show(summary.paper)})"
    details += [note for note in summary.notes if "rows" in note or "by the labels" in note]
    if summary.n < summary.planned:
        details.append(f"{summary.n} of {summary.planned} runs")
    return Cell(
        summary.shown,
        summary.mean,
        low=or_none(summary.low),
        high=or_none(summary.high),
        mark="best" if summary.best else "tie" if summary.tied else "",
        detail="; ".join(details),
        brief=brief,
    )


def selection_cell(summary: Summary) -> Cell:
    """Median and best of a grid, and how many columns are kept; tables are too wide for intervals that are drawn."""
    cell = result_cell(replace(summary, paper=None))
    if not summary.n:
        return cell
    best = summary.by_labels
    details = [f"±{summary.high - summary.mean:.4f}"] if math.isfinite(summary.high) else []
    brief = []
    if summary.n_columns is not None:
        details.append(f"{summary.n_columns:,} columns")
        brief.append(f"n={summary.n_columns:,}")
    if summary.paper is not None:
        metric = summary.measure.metric
        beside = f"/{metric.show(best.paper)}" if best is not None and best.paper is not None else ""
        shown = metric.show(summary.paper)
        details.append(f"paper {shown}{beside} ({metric.show_change(summary.mean - summary.paper)})")
        brief.append(f"({shown}{beside and chr(10)}{beside})")
    return replace(
        cell,
        low=None,
        high=None,
        beside=f"/{best.shown}" if best is not None else "",
        detail="; ".join(filter(None, (*details, cell.detail))),
        brief="\n".join(brief),
    )


def or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None
