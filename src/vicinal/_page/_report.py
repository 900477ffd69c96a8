"""The page itself, and its sections."""

from __future__ import annotations

from dataclasses import dataclass

from ._charts import Dots, Lines, Scatter
from ._pictures import FeatureImage, FeatureImages, Voronoi
from ._schema import Schema
from ._tables import Table

Block = Table | Scatter | Lines | Dots | Schema | FeatureImage | FeatureImages | Voronoi


@dataclass(frozen=True)
class Section:
    """A heading, a sentence or two, and what there is to see.

    Parameters
    ----------
    title : str
        The heading.
    text : str, default=""
        What a reader should know before looking.
    blocks : tuple of Table, Scatter, Lines, Dots, Schema, FeatureImage, FeatureImages and Voronoi, default=()
        Tables, charts and pictures, one below the other.

    Examples
    --------
    >>> from vicinal.report import Page, Section, render
    >>> section = Section("How many groups?", "Time and memory grow with them in proportion.")
    >>> "How many groups?" in render(Page("digits", sections=(section,)))
    True
    """

    title: str
    text: str = ""
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True)
class Page:
    """A whole report.

    Parameters
    ----------
    title, subtitle : str
        What was looked at.
    verdict : tuple of str
        What came out: the first sentence is the headline, the others follow it.
    warning : str or None
        What a reader must know before believing any of it, as a banner.
    sections : tuple of Section
        The evidence; sections without text and blocks are left out.
    command : str
        How to run it again.
    facts : tuple of (name, value)
        Versions, machine, date, protocol.
    notes : tuple of str
        Small print.

    Examples
    --------
    >>> from vicinal.report import Page, Section, render
    >>> page = Page("digits", verdict=("RandLocal wins.",), sections=(Section("Why", "It is local."),))
    >>> "RandLocal wins." in render(page)
    True
    """

    title: str
    subtitle: str = ""
    verdict: tuple[str, ...] = ()
    warning: str | None = None
    sections: tuple[Section, ...] = ()
    command: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
