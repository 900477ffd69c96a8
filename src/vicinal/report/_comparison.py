"""The page of a comparison on a table of the user's."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from ..experiments import Experiment, Figure
from ._curves import lines
from ._experiment import figure_cell, protocol_facts, time_chart
from ._page import Cell, Column, Page, Section, Table
from ._pictures import picture_section
from ._scales import human_seconds
from ._verdict import show


def comparison_page(
    experiment: Experiment,
    figures: list[Figure],
    *,
    X: Any,
    y: NDArray,
    class_names: tuple[str, ...],
    command: str,
    facts: tuple[tuple[str, str], ...],
) -> Page:
    """The report of `vicinal compare`.

    Parameters
    ----------
    experiment : Experiment
        What `vicinal.experiments.comparison` gives.
    figures : list of Figure
        What `vicinal.experiments.summarise` gives.
    X : ndarray or CSR matrix
        Prepared rows, for the pictures.
    y : ndarray of int
        Their classes, as numbers from 0.
    class_names : tuple of str
    command : str
        How to run it again.
    facts : tuple of (name, value)
        Data, machine, versions, date.
    """
    methods = [figure for figure in figures if not figure.setting]
    sections = [
        Section(
            "The comparison",
            "Feature maps stand before the same linear SVM; kernel SVM and boosting are models of their own. "
            "Parameters were chosen on the training parts alone.",
            (comparison_table(methods), time_chart("Accuracy against time", "accuracy", methods)),
        )
    ]
    fewer = [figure for figure in figures if figure.setting.startswith("n_groups=")]
    whole = next((figure for figure in methods if figure.method == "randlocal"), None)
    if fewer and whole is not None:
        curve = lines(
            "Accuracy over the number of groups",
            "groups",
            "accuracy",
            [*fewer, whole],
            name=lambda figure: "RandLocal",
            x=lambda figure: float(figure.setting.split("=")[1]) if figure.setting else float(experiment.n_groups),
            x_log=True,
        )
        text = "Groups are non-zeros per row: time and memory grow with them in proportion."
        sections.append(Section("How many groups?", text, (curve,)))
    sections.append(picture_section(X, y, class_names, seed=experiment.first_seed))
    return Page(
        title=experiment.title,
        subtitle=dict(facts).get("Data", ""),
        verdict=comparison_verdict(methods),
        sections=tuple(sections),
        command=command,
        facts=(*protocol_facts(experiment), *facts),
        notes=tuple(f"{figure.label}: {'; '.join(figure.notes)}" for figure in methods if figure.notes),
    )


def comparison_verdict(figures: list[Figure]) -> tuple[str, ...]:
    """Who leads, who is as good, and whether RandLocal pays."""
    told = [figure for figure in figures if figure.n]
    if not told:
        return ("No method could be run.",)
    best = max(told, key=lambda figure: figure.mean)
    sentences = [f"{_capital(best.label)} is ahead at {best.mean:.1%}, in {human_seconds(best.seconds)}."]
    tied = [figure for figure in told if figure.tied]
    if tied:
        tied.sort(key=lambda figure: -figure.mean)
        names = ", ".join(f"{figure.label} ({figure.mean:.1%})" for figure in tied[:4])
        more = f" and {len(tied) - 4} more" if len(tied) > 4 else ""
        sentences.append(f"Not significantly worse: {names}{more}.")
    fastest = min((best, *tied), key=lambda figure: figure.seconds)
    if fastest is not best:
        sentences.append(f"The quickest of these is {fastest.label}, in {human_seconds(fastest.seconds)}.")
    ours = next((figure for figure in told if figure.ours), None)
    raw = next((figure for figure in told if figure.method == "raw"), None)
    if ours is not None and raw is not None and ours is not best:
        gain = ours.mean - raw.mean
        pays = f"{gain:+.1%} beside raw features" if abs(gain) >= 0.0005 else "no more than raw features"
        sentences.append(f"{ours.label}: {ours.mean:.1%}, {pays}, in {human_seconds(ours.seconds)}.")
    return tuple(sentences)


def comparison_table(figures: list[Figure]) -> Table:
    columns = (
        Column("features"),
        Column("accuracy", "number", "high", "mean over the splits; 95 % interval"),
        Column("time for features", "number", "low", "to learn and compute them, training and test rows"),
        Column("time for model", "number", "low", "to fit and to predict"),
        Column("non-zeros per row", "number"),
        Column("peak memory", "number", "low", "of the whole process"),
    )
    rows = []
    cells: tuple[Cell, ...]
    for figure in figures:
        if figure.n:
            features = human_seconds(figure.feature_seconds) if figure.feature_seconds else "–"
            cells = (
                figure_cell(figure),
                Cell(features, figure.feature_seconds or None),
                Cell(human_seconds(figure.model_seconds), figure.model_seconds),
                Cell(f"{figure.nonzeros_per_row:,.0f}", figure.nonzeros_per_row),
                Cell(f"{figure.peak_memory_mb:,.0f} MB", figure.peak_memory_mb)
                if figure.peak_memory_mb == figure.peak_memory_mb
                else Cell("–"),
            )
        else:
            cells = (Cell(show(figure), detail="; ".join(figure.notes)), *[Cell("–")] * 4)
        rows.append((Cell(figure.label), *cells))
    return Table("Accuracy and cost", columns, tuple(rows))


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
