"""Plain records that experiments fill and that `vicinal.report` turns into one page and makes public."""

from ._charts import DotRow, Dots, Lines, Point, Scatter, Series  # noqa: F401
from ._pictures import FeatureImage, FeatureImages, Voronoi, VoronoiPanel  # noqa: F401
from ._report import Page, Section  # noqa: F401
from ._schema import Schema, SchemaRelation, SchemaType  # noqa: F401
from ._tables import Cell, Column, Table  # noqa: F401
