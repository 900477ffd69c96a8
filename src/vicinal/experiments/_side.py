"""Side information in experiments: relations left out, links as a relation, graphs of single meta-paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from .._hetero import check_relation
from .._sample import Sample
from ..graphs import SideSim
from ..network import HeteroNetwork
from ._experiment import DataSpec


@dataclass(frozen=True)
class SideUse:
    """What a method that looks at links is given where rows have side information.

    Attributes
    ----------
    metapath : mapping of data set to str
        The meta-path by which rows are linked, each to its most similar ones (`vicinal.graphs.SideSim`). On data sets
        that are not named, links are those of the data.
    n_neighbors : int
        How many most similar rows each one is linked to.
    """

    metapath: Mapping[str, str] = field(default_factory=dict, metadata={"by_data": True})
    n_neighbors: int = field(default=10, metadata={"came_later": True})

    def linked(self, sample: Sample, data: str, seed: int) -> Sample:
        """The sample with the links that the method is to see."""
        if data not in self.metapath:
            return sample
        if sample.side is None:
            raise ValueError(f"{data} has no side information, and so no meta-path {self.metapath[data]}.")
        similar = SideSim(sample.side, metapaths=[self.metapath[data]])
        return replace(sample, adjacency=similar.neighbor_graph(self.n_neighbors, random_state=seed))


def with_side(sample: Sample, data: DataSpec) -> Sample:
    """The sample with the side information that an experiment wants of the data set."""
    if data.links_as:
        sample = replace(sample, side=_with_links(sample, data))
    return replace(sample, side=without_relations(sample.side, data.without, data.name)) if data.without else sample


def without_relations(side: HeteroNetwork | None, relations: Sequence[str], data: str) -> HeteroNetwork | None:
    """Side information without some relations; none where none are left."""
    if side is None:
        raise ValueError(f"{data} has no side information, and so no relation {relations[0]} that could be left out.")
    named = {check_relation(tuple(relation.split("-"))) for relation in relations}
    return None if named == set(side.relations) else side.without(*named)


def _with_links(sample: Sample, data: DataSpec) -> HeteroNetwork:
    relation = check_relation(tuple(data.links_as.split("-")))
    target = sample.side.target if sample.side is not None else relation[0]
    if (relation[0], relation[2]) != (target, target):
        raise ValueError(
            f"Links between rows of {data.name} lead from {target} to {target}; the relation {data.links_as} does not."
        )
    if sample.adjacency is None:
        raise ValueError(f"{data.name} has no links between rows that could be the relation {data.links_as}.")
    known = sample.side.relations if sample.side is not None else {}
    names = sample.side.names if sample.side is not None else None
    return HeteroNetwork({**known, relation: sample.adjacency}, target=target, names=names)
