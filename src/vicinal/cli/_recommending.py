"""For whom `vicinal links` recommends, whom, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._calls import watching
from .._validation import suggest
from .._words import counted, listed
from ..link import NRCL, LinkPredictor
from ._link_nodes import Shown
from ._terminal import Steps

MOST_NAMED = 10
GROUPS = ("all", "link-only", "attribute-only")
_BLOCK = 500  # pairs whose reasons are looked for at a time


@dataclass(frozen=True)
class Recommendations:
    """Recommended links, those of a node together and the best first; `reasons` of the first ones, if there are any."""

    nodes: NDArray
    others: NDArray
    ranks: NDArray[np.int64]
    scores: NDArray[np.float64]
    n_queries: int
    reasons: list[list[str]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def n_nodes(self) -> int:
        return len(np.unique(self.nodes))

    def sentence(self) -> str:
        words = f"{counted(len(self), 'link')} recommended for {counted(self.n_nodes, 'node')}"
        without = self.n_queries - self.n_nodes
        return f"{words}; for {without:,} there is nobody" if without else words

    def columns(self) -> dict[str, Any]:
        reasons = [", ".join(names) or None for names in self.reasons] or [None] * len(self)
        ends = {"node": self.nodes, "recommended": self.others}
        return {**ends, "rank": self.ranks, "score": self.scores, "reasons": reasons}


def asked_for(nodes: tuple[str, ...], shown: Shown) -> NDArray[np.int64]:
    """The nodes to recommend links for: by default those that show attributes alone, or else all."""
    if nodes:
        return _numbers(nodes, shown.names, "--for")
    alone = np.flatnonzero(shown.attribute_only)
    return alone if len(alone) else np.arange(len(shown.names))


def candidates(among: str, shown: Shown) -> NDArray[np.int64]:
    """The nodes that may be recommended."""
    if among == "all":
        return np.arange(len(shown.names))
    if among in GROUPS:
        found = np.flatnonzero(shown.link_only if among == "link-only" else shown.attribute_only)
        if not len(found):
            what = "links" if among == "link-only" else "attributes"
            raise ValueError(f"No node shows only {what}, so that --among {among} leaves nobody; take --among all.")
        return found
    try:
        text = Path(among).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{among} is no text file in UTF-8; it needs one node per line.") from error
    lines = (line.strip() for line in text.splitlines())
    names = [line for line in lines if line]
    if not names:
        raise ValueError(f"{among} names nobody; it needs one node per line.")
    return _numbers(names, shown.names, among)


def check_among(among: str) -> None:
    if among not in GROUPS and not Path(among).is_file():
        raise ValueError(f"--among is {', '.join(GROUPS)} or a file with one node per line; there is no file {among}.")


def _numbers(nodes: Iterable[str], names: NDArray, where: str) -> NDArray[np.int64]:
    """The numbers of nodes, each once; those that are not known are named, with those that are nearly called so."""
    known = {str(name): place for place, name in enumerate(names.tolist())}
    wanted = list(dict.fromkeys(nodes))
    unknown = [name for name in wanted if name not in known]
    if not unknown:
        return np.array([known[name] for name in wanted], dtype=np.int64)
    hints = [""] * len(unknown)
    if names.dtype.kind == "U":
        hints = [hint if hint.startswith("did") else "" for hint in (suggest(n, known) for n in unknown[:MOST_NAMED])]
    named = [f"{name!r} ({hint})" if hint else repr(name) for name, hint in zip(unknown, hints, strict=False)]
    more = f" and {len(unknown) - MOST_NAMED} more" if len(unknown) > MOST_NAMED else ""
    some = "" if any(hints) else f"; {len(known):,} are known, such as {listed([str(name) for name in names[:3]])}"
    count = f"{counted(len(unknown), 'node')} that {'are' if len(unknown) > 1 else 'is'} not known"
    raise ValueError(f"{where} names {count}: {', '.join(named[:MOST_NAMED])}{more}{some}.")


def recommend(
    model: LinkPredictor, queries: NDArray[np.int64], among: NDArray[np.int64], top: int, n_reasons: int | None
) -> Recommendations:
    """The best links of each node, without those that nothing speaks for; and why, for the first `n_reasons` or all."""
    names: Any = model.names_  # type: ignore[attr-defined]
    top = min(top, len(among))
    with Steps(total=None, doing="recommending links") as progress, watching(progress.share):
        indices, scores = model.recommend(names[queries], top=top, among=names[among])
    found = (indices >= 0) & (scores != 0)
    rows, ranks = np.nonzero(found)
    first, second = queries[rows], indices[rows, ranks]
    reasons = _reasons(model, np.column_stack([names[first], names[second]])[:n_reasons])
    return Recommendations(names[first], names[second], ranks + 1, scores[rows, ranks], len(queries), reasons)


def _reasons(model: LinkPredictor, pairs: NDArray) -> list[list[str]]:
    if not isinstance(model, NRCL):
        return []
    found: list[list[str]] = []
    with Steps(total=1, doing="looking for reasons") as progress:
        for start in range(0, len(pairs), _BLOCK):
            amounts = model.attributes_for(pairs[start : start + _BLOCK])
            found += [[name for name, _ in attributes] for attributes in amounts]
            progress.share(min(1.0, (start + _BLOCK) / len(pairs)))
    return found


def worth_most(model: LinkPredictor, count: int) -> list[tuple[str, float]]:
    """The attributes that count most, where the method tells; those that are worth nothing are left out."""
    if not isinstance(model, NRCL):
        return []
    scores = model.feature_scores_
    names = getattr(model, "feature_names_in_", [f"x{place}" for place in range(len(scores))])
    order = np.argsort(-scores, kind="stable")[:count]
    return [(str(names[place]), float(scores[place])) for place in order if scores[place] > 0]
