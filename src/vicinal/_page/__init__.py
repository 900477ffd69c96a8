"""Plain records that experiments fill and that `vicinal.report` turns into one page."""

from ._charts import DotRow, Dots, Lines, Point, Scatter, Series
from ._pictures import FeatureImage, FeatureImages, Voronoi, VoronoiPanel
from ._report import Page, Section
from ._tables import Cell, Column, Table

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
]
