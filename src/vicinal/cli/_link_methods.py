"""The methods of `vicinal links`, by name; what they are made of is imported when one is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._arguments import made

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..link import LinkPredictor


@dataclass(frozen=True)
class Method:
    """The class of `vicinal.link`, and whether it has nothing to say without attributes."""

    kind: str
    needs_attributes: bool = False


METHODS = {
    "nrcl": Method("NRCL", needs_attributes=True),
    "link-ranking": Method("LinkRanking"),
    "attribute-cosine": Method("AttributeCosine", needs_attributes=True),
    "adamic-adar": Method("AdamicAdar"),
    "katz": Method("Katz"),
    "deepwalk": Method("DeepWalk"),
    "line": Method("LINE"),
}
# The parameters that options stand for. Of --seed and --jobs the check has a use, too, so that no method refuses them.
PARAMETERS = {
    "--components": "n_components",
    "--loss": "loss",
    "--consensus": "consensus",
    "--sparsity": "sparsity",
    "--ridge": "ridge",
    "--weight-decay": "weight_decay",
    "--negatives": "n_negatives",
}


def chosen(method: str | None, *, attributes: bool) -> str:
    """The method that was named, or the usual one; one that needs attributes is refused where there are none."""
    name = method or ("nrcl" if attributes else "link-ranking")
    if METHODS[name].needs_attributes and not attributes:
        others = ", ".join(other for other, entry in METHODS.items() if not entry.needs_attributes)
        raise ValueError(
            f"The method {name} learns from attributes of nodes: give them with --attributes, or take one of {others}."
        )
    return name


def make_model(method: str, given: Mapping[str, Any], *, seed: int, jobs: int | None) -> LinkPredictor:
    from .. import link

    model = made(getattr(link, METHODS[method].kind), method, given, PARAMETERS)
    common = {"random_state": seed, "n_jobs": jobs}
    return model.set_params(**{name: value for name, value in common.items() if name in model.get_params()})
