"""Selection in several views: columns of each view chosen without labels, then clusters on which the views agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import normalize

from ... import cluster
from ..._sample import Sample
from ...select import PerView
from ...views import split_views, stack_views
from .._column_numbers import Number
from .._column_task import Kept, Scorer
from .._column_trials import Fits, Scores
from .._experiment import Experiment
from .._method import Role
from .._metric import KMeansProtocol
from .._side import SideUse
from .._work import Outcome, Work
from .selection import Selection, SelectionOptions, cluster_scores

# Several fits for each view, and some take long where either rows or columns are many.
QUICK_ROWS, QUICK_COLUMNS = 80, 500


@dataclass(frozen=True)
class ViewSelectionOptions(SelectionOptions):
    """How columns of each view are kept and clustered.

    `unit_rows` says whether each view's rows are scaled to unit length, before columns are chosen and again before what
    is chosen is clustered.
    """

    kept: ClassVar[str] = "columns kept of each view"


@dataclass(frozen=True)
class ViewUse(SideUse):
    """How a selector that knows no views is used: on each by itself or, `stacked`, on the columns of all together."""

    stacked: bool = False


class ViewSelection(Selection):
    name = "view-selection"
    Options = ViewSelectionOptions
    MethodOptions = ViewUse
    roles = (Role.COLUMNS, Role.SELECTOR)
    quick_rows = QUICK_ROWS

    def preparations(self, work: Work, sample: Sample) -> Iterator[tuple[Sample, list[KMeansProtocol]]]:
        """Columns are chosen anew from rows as they are and from rows of unit length."""
        if sample.views is None:
            raise ValueError(f"Columns of each view are to be chosen, and {work.cell.data} is not divided into views.")
        if work.experiment.quick:
            sample = with_few_columns(sample, QUICK_COLUMNS)
        protocols, views = work.options.protocols(), sample.views
        assert views is not None
        for unit_rows in dict.fromkeys(way.unit_rows for way in protocols):
            rows = replace(sample, X=unit_rows_per_view(sample.X, views)) if unit_rows else sample
            yield rows, [way for way in protocols if way.unit_rows == unit_rows]

    def columns(
        self, work: Work, parameters: Mapping[str, Any], sample: Sample, wanted: Sequence[Number | str], fits: Fits
    ) -> Kept:
        """One that looks for a penalty by which so many columns are kept is fitted anew for each number of them."""
        selector = work.method.build(work.context, parameters)
        assert sample.views is not None
        n_views = 1
        if "views" in selector.get_params():
            selector.set_params(views=dict(sample.views))
        elif work.method_options.stacked:
            n_views = len(sample.views)
        else:
            selector = PerView(selector, views=dict(sample.views))
        numbers = {count: n_views * count if isinstance(count, int) else count for count in wanted}
        if getattr(selector, "penalty", None) != "auto":
            fits.fitted(selector, sample)
            return {count: kept_by(selector.with_n_features(number)) for count, number in numbers.items()}
        return {
            count: kept_by(fits.fitted(selector.set_params(n_features_to_select=number), sample))
            for count, number in numbers.items()
        }

    def scorer(self, work: Work, sample: Sample, outcome: Outcome) -> Scorer:
        """Scores of clusters on which the views agree; a view of which no column is kept has no part in them."""

        def by_views(kept: NDArray[np.intp], way: KMeansProtocol) -> Scores:
            assert sample.views is not None
            sizes = {
                name: int(((kept >= place.start) & (kept < place.stop)).sum()) for name, place in sample.views.items()
            }
            views = {name: size for name, size in sizes.items() if size}
            chosen = sample.X[:, kept]
            find = partial(
                cluster.cluster_views,
                unit_rows_per_view(chosen, views) if way.unit_rows else chosen,
                sample.n_classes,
                views=views,
                n_runs=work.options.runs,
                n_starts=way.starts,
            )
            return cluster_scores(find, sample, work.experiment.metrics, outcome)

        return by_views

    def quick_size(self, experiment: Experiment) -> str:
        return f"{super().quick_size(experiment)}, {QUICK_COLUMNS} columns of each view"

    def protocol(self, experiment: Experiment) -> tuple[tuple[str, str], ...]:
        options = experiment.options
        ways = "; ".join(way.label for way in options.protocols())
        (_, _), *others = super().protocol(experiment)
        words = (
            "columns of each view chosen on all rows, without labels; on these columns co-regularised spectral "
            "clustering, pairwise, with lambda 0.1 and the median distance of each view as sigma; its k-means "
            f"{options.runs} times, as many clusters as classes. Each view's rows are prepared in each of these ways "
            f"before columns are chosen, and again before they are clustered: {ways}. Selectors that know no views "
            "choose in each by itself, unless they are said to be stacked"
        )
        return ("Protocol", words), *others


def kept_by(selector: Any) -> NDArray[np.intp]:
    return selector.get_support(indices=True)


def unit_rows_per_view(X: Any, views: Mapping[str, Any]) -> Any:
    """Each view's rows at unit length; rows of zeros stay as they are."""
    return stack_views({name: normalize(part) for name, part in split_views(X, views).items()})[0]


def with_few_columns(sample: Sample, most: int) -> Sample:
    """At most so many columns of each view, those with the fewest zeros."""
    parts = split_views(sample.X, sample.views)
    for name, part in parts.items():
        filled = np.asarray((part != 0).sum(axis=0)).ravel()
        parts[name] = part[:, np.sort(np.argsort(-filled, kind="stable")[:most])]
    X, views = stack_views(parts)
    return replace(sample, X=X, views=views, names=None)
