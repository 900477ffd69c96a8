"""Images: what the features of all rows look like, and how full they are."""

from __future__ import annotations

from collections.abc import Callable

from ..._page import FeatureImages, Section
from ..._sample import Sample
from ...metrics import sparsity_ratio
from .._experiment import Experiment
from .._metric import Measure, Metric
from .._pictures import method_image
from .._summary import Summary
from .._task import Task
from .._work import Outcome, Work, nonzeros


class Images(Task):
    name = "images"
    metrics = (Metric("sparsity_ratio", "sparsity ratio", better=None),)
    pictures_first = True

    def evaluate(self, work: Work) -> Outcome:
        sample, outcome = work.all_rows()
        F, outcome.feature_seconds = work.features({}, sample, outcome)
        outcome.values = [(0, Measure(self.metrics[0]), sparsity_ratio(F))]
        outcome.nonzeros_per_row = nonzeros(F) / F.shape[0]
        return outcome

    def protocol(self, experiment: Experiment) -> tuple[tuple[str, str], ...]:
        return (("Protocol", "features of all rows, learned from all rows"),)

    def verdict(self, experiment: Experiment, summaries: list[Summary]) -> tuple[str, ...]:
        known = [summary for summary in summaries if summary.n]
        shares = "; ".join(f"{summary.label} {summary.shown}" for summary in known)
        differences = [abs(summary.from_paper) for summary in known if summary.from_paper is not None]
        sentences = (f"Sparsity ratios, the share of entries that are not zero: {shares}.",)
        if not differences:
            return sentences
        number = len(differences)
        return (*sentences, f"The paper's {number} values differ from these by at most {max(differences):.4f}.")

    def sections(self, experiment: Experiment, summaries: list[Summary], tables: Section) -> tuple[Section, ...]:
        return (tables,)

    def pictures(self, experiment: Experiment, load: Callable[[str], Sample]) -> Section | None:
        """The methods' features of the first data set, side by side."""
        place = experiment.data_label(experiment.data[0].key)
        images = tuple(
            method_image(experiment, spec.id, experiment.label(spec.id), load) for spec in experiment.methods
        )
        caption = (
            "The same rows in every picture, as many of each class, sorted by class. Where a class has columns of its "
            "own, its rows chose the same landmarks."
        )
        return Section("The features", "", (FeatureImages(f"Features of {place}", images, caption),))
