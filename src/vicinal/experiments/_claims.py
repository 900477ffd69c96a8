"""What a paper says in words: read from TOML, tested one by one, told in the verdict and shown in the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .._page import Cell, Column, Section, Table
from .._validation import suggest
from .._words import listed
from ._experiment import Claim, Experiment
from ._summary import Summary
from ._tables import by_data_set, column_label, protocols_of
from ._toml_keys import check_keys, frozen, types_of

MOST_NAMED = 2


def read_claims(experiment: Experiment, declared: Sequence[Mapping[str, Any]]) -> tuple[Claim, ...]:
    """The claims of a TOML file; one about what the experiment does not have is refused."""
    return tuple(_read(experiment, claim) for claim in declared)


def _read(experiment: Experiment, declared: Mapping[str, Any]) -> Claim:
    name = experiment.name
    for needed in ("text", "methods", "over"):
        check_keys(name, "a claim", declared, {**types_of(Claim), "metric": ("str",)}, needed=needed)
    measured = {metric.name: metric for metric in experiment.shown or experiment.metrics}
    known: dict[str, Any] = {
        "methods": [spec.id for spec in experiment.methods],
        "over": [spec.id for spec in experiment.methods],
        "data": [spec.key for spec in experiment.data],
        "metric": list(measured),
        "at": _places(experiment),
    }
    for key, choices in known.items():
        given = declared.get(key, [])
        for value in given if isinstance(given, list) else [given]:
            if value not in choices:
                raise ValueError(
                    f"The experiment {name}: the claim {declared['text']!r} has {value!r} among its {key}, which the "
                    f"experiment has not; {suggest(str(value), list(map(str, choices)))}"
                )
    metric = measured[declared.get("metric", next(iter(measured)))]
    return Claim(**{**frozen(dict(declared)), "metric": metric})


def _places(experiment: Experiment) -> list[Any]:
    if experiment.shown:
        return []
    return list(dict.fromkeys(measure.at for cell in experiment.cells() for measure in experiment.measures(cell)))


@dataclass(frozen=True)
class Comparison:
    """One of the comparisons that a claim is about."""

    claim: Claim
    ours: Summary
    theirs: Summary

    @property
    def gain(self) -> float:
        return self.claim.gain(self.ours.mean, self.theirs.mean)

    @property
    def holds(self) -> bool:
        return self.claim.is_met_by(self.gain)


def comparisons(claim: Claim, summaries: list[Summary]) -> list[Comparison]:
    """Every method of the claim against every rival, on each data set, at each place, by each way of k-means."""
    own = [
        s for s in summaries if s.measure.metric == claim.metric and s.n and (not claim.data or s.data in claim.data)
    ]
    made = []
    for ours in own:
        if ours.method not in claim.methods or (claim.at and ours.measure.at not in claim.at):
            continue
        beside = [
            s
            for s in own
            if (s.data, s.variant, s.measure.protocol) == (ours.data, ours.variant, ours.measure.protocol)
        ]
        for rival in claim.over:
            theirs = [s for s in beside if s.method == rival and s.measure.at in (ours.measure.at, "all")]
            made += [Comparison(claim, ours, (claim.over_best and one.by_labels) or one) for one in theirs]
    return made


def claim_sentences(experiment: Experiment, summaries: list[Summary]) -> list[str]:
    """A sentence per claim: whether it holds, and by how much. A small part of the data says nothing about it."""
    if experiment.quick:
        return []
    return [_sentence(experiment, claim, comparisons(claim, summaries)) for claim in experiment.claims]


def _sentence(experiment: Experiment, claim: Claim, made: list[Comparison]) -> str:
    if not made:
        return f"{claim.text}: not tested, as values are missing."
    main, *others = protocols_of(comparison.ours for comparison in made)
    first = [comparison for comparison in made if comparison.ours.measure.protocol == main]
    parts = [_judgement(experiment, first)]
    if main is not None:
        parts[0] += f" ({main.label})" if others else ""
    for protocol in others:
        assert protocol is not None
        own = [comparison for comparison in made if comparison.ours.measure.protocol == protocol]
        parts.append(f"{protocol.label}: {_share(own).replace(' comparisons', '')}")
    return f"{claim.text}: {'; '.join(parts)}."


def _judgement(experiment: Experiment, made: list[Comparison]) -> str:
    """In full: with both values of a single comparison, or with those of several that fail."""
    if len(made) == 1:
        (one,) = made
        claimed = f", where {percent(one.claim.by)} is claimed" if one.claim.by and not one.holds else ""
        return f"{_share(made)}, {one.ours.shown} against {one.theirs.shown}{claimed}"
    failed = sorted((one for one in made if not one.holds), key=lambda one: one.gain)
    if not failed:
        return _share(made)
    named = [f"{_where(experiment, one)}, {percent(one.gain)}" for one in failed]
    which = f"not for {listed(named)}" if len(failed) <= MOST_NAMED else f"the worst is {named[0]}"
    return f"{_share(made)}; {which}"


def _share(made: list[Comparison]) -> str:
    """In how many comparisons a claim holds, and between which ends."""
    gains = [one.gain for one in made]
    if len(made) == 1:
        direction = "holds in direction only" if gains[0] > 0 else "does not hold"
        return f"{'holds' if made[0].holds else direction}, {percent(gains[0])}"
    held, ahead = sum(one.holds for one in made), sum(gain > 0 for gain in gains)
    beside = f" (ahead in {ahead})" if ahead > held else ""
    return f"holds in {held} of {len(made)} comparisons{beside}, {percent(min(gains))} to {percent(max(gains))}"


def _where(experiment: Experiment, one: Comparison) -> str:
    place = column_label(experiment, one.ours).removesuffix(f", {_protocol_label(one)}")
    return f"{one.ours.label} over {one.theirs.label} on {place}"


def _protocol_label(one: Comparison) -> str:
    protocol = one.ours.measure.protocol
    return "" if protocol is None else protocol.label


def claim_section(experiment: Experiment, summaries: list[Summary]) -> Section:
    """A table per claim: data sets, and ways of k-means where there are several, down."""
    tables = []
    for claim in experiment.claims if not experiment.quick else ():
        made = comparisons(claim, summaries)
        if made:
            tables.append(_table(experiment, claim, made))
    text = (
        "Differences are relative: +10 % is a value 10 % above the rival's. Where a size is claimed, a claim holds if "
        "it is reached."
    )
    return Section("What the paper says, and whether it holds", text, tuple(tables))


def _table(experiment: Experiment, claim: Claim, made: list[Comparison]) -> Table:
    several = len(protocols_of(one.ours for one in made)) > 1
    columns = [Column("data"), *([Column("k-means")] if several else [])]
    columns += [Column("holds", "number"), Column("least", "number"), Column("most", "number")]
    rows = []
    for data, members in by_data_set(experiment, [one.ours for one in made]):
        for protocol in protocols_of(members):
            own = [one for one in made if one.ours in members and one.ours.measure.protocol == protocol]
            held = sum(one.holds for one in own)
            mark: Literal["best", ""] = "best" if held == len(own) else ""
            ends = [pick(own, key=lambda one: one.gain) for pick in (min, max)]
            rows.append(
                (
                    Cell(data),
                    *([Cell(_protocol_label(own[0]))] if several else []),
                    Cell(f"{held} of {len(own)}", held / len(own), mark=mark),
                    *(Cell(percent(one.gain), one.gain, detail=_where(experiment, one)) for one in ends),
                )
            )
    size = f" (claimed: {percent(claim.by)})" if claim.by else ""
    return Table(f"{claim.text}; by {claim.metric.label}{size}", tuple(columns), tuple(rows))


def percent(share: float) -> str:
    return f"{100 * share:+.1f} %" if share < 9.995 else f"{share + 1:,.0f} times as much"
