"""A report as one HTML file: plain records in, a page that needs no network out."""

from .._page import (
    Cell,
    Column,
    DotRow,
    Dots,
    FeatureImage,
    FeatureImages,
    Lines,
    Page,
    Point,
    Scatter,
    Schema,
    SchemaRelation,
    SchemaType,
    Section,
    Series,
    Table,
    Voronoi,
    VoronoiPanel,
)
from .._words import human_seconds
from ._render import render, write_report
from ._score_curve import check_plot_file, write_score_curve

__all__ = [
    "Cell",
    "Column",
    "DotRow",
    "Dots",
    "FeatureImage",
    "FeatureImages",
    "Lines",
    "Page",
    "Point",
    "Scatter",
    "Schema",
    "SchemaRelation",
    "SchemaType",
    "Section",
    "Series",
    "Table",
    "Voronoi",
    "VoronoiPanel",
    "check_plot_file",
    "human_seconds",
    "render",
    "write_report",
    "write_score_curve",
]
