"""A picture of what is related to what: types of nodes, and relations between them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SchemaType:
    """A type of nodes.

    Parameters
    ----------
    name : str
        Its name, which relations refer to.
    count : int
        How many nodes it has.
    highlight : bool, default=False
        Whether it stands out from the others: the rows of a table.

    Examples
    --------
    >>> from vicinal.report import SchemaType
    >>> SchemaType("compound", 1552, highlight=True).count
    1552
    """

    name: str
    count: int
    highlight: bool = False


@dataclass(frozen=True)
class SchemaRelation:
    """A relation between two types of nodes, or within one.

    Parameters
    ----------
    source, name, target : str
        The names of the first type, of the relation and of the second type.
    count : int
        How many links it has.

    Examples
    --------
    >>> from vicinal.report import SchemaRelation
    >>> SchemaRelation("compound", "binds", "gene", 11571).name
    'binds'
    """

    source: str
    name: str
    target: str
    count: int


@dataclass(frozen=True)
class Schema:
    """Types of nodes as boxes with their numbers, and relations as lines with numbers of links.

    Parameters
    ----------
    title : str
        What is shown.
    types : tuple of SchemaType
        The first one stands at the left or on top, and the others by how many relations they are away from it.
    relations : tuple of SchemaRelation
        Between these types.
    caption : str, default=""
        A sentence below.

    Examples
    --------
    >>> from vicinal.report import Page, Schema, SchemaRelation, SchemaType, Section, render
    >>> types = (SchemaType("compound", 1552, highlight=True), SchemaType("gene", 20945))
    >>> schema = Schema("What is known", types, (SchemaRelation("compound", "binds", "gene", 11571),))
    >>> "compound-binds-gene: 11,571 links" in render(Page("compounds", sections=(Section("Web", blocks=(schema,)),)))
    True
    """

    title: str
    types: tuple[SchemaType, ...]
    relations: tuple[SchemaRelation, ...]
    caption: str = ""

    def __post_init__(self) -> None:
        known = {kind.name for kind in self.types}
        for relation in self.relations:
            for end in (relation.source, relation.target):
                if end not in known:
                    raise ValueError(
                        f"The relation {relation.name!r} has an end {end!r}, which is none of the types of the schema."
                    )
