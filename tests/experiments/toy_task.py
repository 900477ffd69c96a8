"""A task from outside of the package: how well a ridge regression tells a column from the others."""

from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import Ridge

from vicinal.experiments import Measure, Metric, Task


@dataclass(frozen=True)
class ToyOptions:
    """The share of rows that the regression learns from, and how much it is held back."""

    share: float = 0.5
    ridge: float = 1.0


class Toy(Task):
    name = "toy"
    metrics = (Metric("r2", "R²", low=-float("inf")), Metric("rms", "root mean square error", "low", "error"))
    Options = ToyOptions

    def evaluate(self, work):
        sample, outcome = work.all_rows()
        F, outcome.feature_seconds = work.features({}, sample, outcome)
        rows = np.random.default_rng(work.context.seed).permutation(len(sample))
        training, test = np.split(rows, [round(work.options.share * len(rows))])
        model = Ridge(alpha=work.options.ridge).fit(F[training], sample.y[training])
        squares = (sample.y[test] - model.predict(F[test])) ** 2
        found = {"r2": 1 - squares.mean() / sample.y[test].var(), "rms": np.sqrt(squares.mean())}
        outcome.values = [(0, Measure(metric), float(found[metric.name])) for metric in work.experiment.metrics]
        outcome.training_rows, outcome.test_rows = len(training), len(test)
        return outcome

    def protocol(self, experiment):
        return (("Protocol", f"ridge regression on {experiment.options.share:.0%} of the rows"),)
