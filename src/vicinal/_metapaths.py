"""Meta-paths: which relations lead from a node to another one of the same type."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ._validation import suggest

Relation = tuple[str, str, str]  # source, relation, target

BACK = "^-1"


@dataclass(frozen=True, order=True)
class Step:
    """A relation as it is walked: from its source to its target, or `back`."""

    relation: Relation
    back: bool = False

    @property
    def start(self) -> str:
        return self.relation[2 if self.back else 0]

    @property
    def end(self) -> str:
        return self.relation[0 if self.back else 2]

    @property
    def word(self) -> str:
        """The relation's name; between two types their order tells the direction, within one it has to be said."""
        within = self.relation[0] == self.relation[2]
        return self.relation[1] + BACK * (self.back and within)


@dataclass(frozen=True)
class MetaPath:
    """Relations that lead, one after the other, from nodes of the target type to nodes of the target type.

    Parameters
    ----------
    steps : tuple of Step
        Made by `HeteroNetwork.metapaths` and `HeteroNetwork.metapath`.
    mutual : frozenset, default=frozenset()
        Relations within one type that lead both ways.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.network import HeteroNetwork
    >>> network = HeteroNetwork({("drug", "binds", "gene"): np.eye(3)}, target="drug")
    >>> path = network.metapath("drug-binds-gene-binds-drug")
    >>> len(path), path.symmetric, path.types
    (2, True, ('drug', 'gene', 'drug'))
    """

    steps: tuple[Step, ...]
    mutual: frozenset[Relation] = frozenset()

    @property
    def types(self) -> tuple[str, ...]:
        """The types of nodes on the way, the first and the last one included."""
        return (self.steps[0].start, *(step.end for step in self.steps))

    @property
    def symmetric(self) -> bool:
        """Whether it is the same when it is walked back."""
        return self.steps == self.reversed().steps

    def reversed(self) -> MetaPath:
        """The same, walked back.

        Returns
        -------
        MetaPath
        """
        return MetaPath(tuple(turned(step, self.mutual) for step in self.steps[::-1]), self.mutual)

    def __len__(self) -> int:
        return len(self.steps)

    def __str__(self) -> str:
        return "-".join([self.steps[0].start, *(word for step in self.steps for word in (step.word, step.end))])


def turned(step: Step, mutual: frozenset[Relation]) -> Step:
    """The step back; a relation that leads both ways is always walked forwards."""
    return step if step.relation in mutual else Step(step.relation, not step.back)


def all_metapaths(
    relations: Iterable[Relation], mutual: frozenset[Relation], target: str, max_length: int, *, through_target: bool
) -> list[MetaPath]:
    """From the target back to it by at most `max_length` relations, the short ones first; of two directions one."""
    order = {relation: place for place, relation in enumerate(relations)}
    steps = [Step(relation) for relation in order]
    steps += [Step(relation, back=True) for relation in order if relation not in mutual]

    def walks(so_far: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
        here = so_far[-1].end if so_far else target
        if so_far and here == target:
            yield so_far
            if not through_target:
                return
        if len(so_far) < max_length:
            for step in steps:
                if step.start == here:
                    yield from walks((*so_far, step))

    def key(path: tuple[Step, ...]) -> tuple:
        return len(path), [(order[step.relation], step.back) for step in path]

    found = [MetaPath(path, mutual) for path in walks(())]
    one_way = [path for path in found if key(path.steps) <= key(path.reversed().steps)]
    return sorted(one_way, key=lambda path: key(path.steps))


def read_metapath(
    text: str, relations: Mapping[Relation, object], mutual: frozenset[Relation], target: str
) -> MetaPath:
    """A meta-path from words like "compound-binds-gene-binds-compound"; ^-1 walks a relation within a type back."""
    words = re.split(r"(?<!\^)-", str(text).strip())
    form = "types and relations by turns, such as author-writes-paper-writes-author"
    if len(words) < 3 or len(words) % 2 == 0:
        raise ValueError(f"{text!r} is not a meta-path, which names {form}.")
    known_types = list(dict.fromkeys(end for relation in relations for end in (relation[0], relation[2])))
    for word in words[::2]:
        if word not in known_types:
            raise ValueError(
                f"The meta-path {text!r} names the type {word!r}, which is unknown; {_hint(word, known_types)}"
            )
    if words[0] != target or words[-1] != target:
        raise ValueError(
            f"The meta-path {text!r} leads from {words[0]} to {words[-1]}; it must start and end at {target}."
        )
    steps = []
    for start, word, end in zip(words[:-2:2], words[1::2], words[2::2], strict=True):
        name, back = word.removesuffix(BACK), word.endswith(BACK)
        forward, backward = (start, name, end), (end, name, start)
        if forward in relations and not (back and start == end):
            steps.append(Step(forward))
        elif backward in relations:
            steps.append(turned(Step(backward), mutual))
        else:
            between = [relation[1] for relation in relations if {relation[0], relation[2]} == {start, end}]
            hint = _hint(name, between) if between else "there is none between them."
            raise ValueError(
                f"The meta-path {text!r} names the relation {name!r} of {start} and {end}, which is unknown; {hint}"
            )
    return MetaPath(tuple(steps), mutual)


def _hint(word: str, known: list[str]) -> str:
    hint = suggest(word, dict.fromkeys(known))
    return hint if hint.endswith("?") else f"{hint}."
