"""A report as one HTML file: plain records in, a page that needs no network out."""

from ._comparison import comparison_page, comparison_verdict
from ._experiment import data_pictures, experiment_page
from ._page import (
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
    Section,
    Series,
    Table,
    Voronoi,
    VoronoiPanel,
)
from ._pictures import feature_image, voronoi_cells
from ._render import render, write_report
from ._scales import human_seconds
from ._verdict import quick_warning, verdict

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
    "Section",
    "Series",
    "Table",
    "Voronoi",
    "VoronoiPanel",
    "comparison_page",
    "comparison_verdict",
    "data_pictures",
    "experiment_page",
    "feature_image",
    "human_seconds",
    "quick_warning",
    "render",
    "verdict",
    "voronoi_cells",
    "write_report",
]
