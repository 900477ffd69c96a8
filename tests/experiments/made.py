"""Small data, and single cells of the tasks on them."""

from dataclasses import replace
from functools import partial

import numpy as np
from sklearn.datasets import make_classification
from threadpoolctl import threadpool_limits

from vicinal._preparation import scaler
from vicinal.datasets import Sample
from vicinal.experiments import TASKS, Cell, Context, Experiment, Variant, Work, find_method, summarise
from vicinal.experiments._experiment import DataSpec, MethodSpec
from vicinal.experiments._results import failed_results


def two_classes(n=120, seed=0, features=6):
    X, y = make_classification(n, features, n_informative=4, n_redundant=0, class_sep=1.5, random_state=seed)
    return X.astype(np.float32), y


def work_for(
    task,
    method,
    X,
    y=None,
    *,
    metrics=(),
    scale="minmax",
    preparation=None,
    most_rows=None,
    use=None,
    seed=0,
    fold=0,
    quick=False,
    n_components=15,
    **options,
):
    """A cell of a task: a method, by its name or itself, on some rows; `use` has the task's options of the method."""
    task = TASKS[task] if isinstance(task, str) else task
    method = find_method(method) if isinstance(method, str) else method
    sample = X if isinstance(X, Sample) else Sample(X, y)
    experiment = Experiment(
        name="made",
        title="Made up",
        source="",
        task=task,
        options=task.Options(**options),
        data=(DataSpec("rows", scale=scale),),
        methods=(MethodSpec(method.name, id="method", options=task.MethodOptions(**(use or {}))),),
        metrics=tuple(map(task.metric, metrics)) or task.metrics[:1],
        quick=quick,
    )
    n_rows, n_features = sample.X.shape
    context = Context(
        n_rows, n_features, n_groups=20, n_components=n_components, seed=seed, n_classes=max(sample.n_classes, 1)
    )
    cell = Cell("rows", "method", Variant(), seed, fold)
    return Work(experiment, cell, method, context, sample, preparation or partial(scaler, scale), most_rows)


def evaluate(task, method, X, y=None, **more):
    """The outcome of such a cell."""
    work = work_for(task, method, X, y, **more)
    with threadpool_limits(1):
        return work.experiment.task.evaluate(work)


def values(outcome, measure):
    """The values of a measure, by the name that files give it."""
    return [value for _, of, value in outcome.values if str(of) == measure]


def measured(outcome):
    """Folds or runs, and what was measured, by the names that files give them."""
    return [(fold, str(measure)) for fold, measure, _ in outcome.values]


def scored(experiment, scores):
    """Summaries from means by data set, method and measure."""
    made = []
    for data, method, measure, mean in scores:
        cell = next(cell for cell in experiment.cells() if (cell.data, cell.method) == (data, method))
        made += [
            replace(result, value=mean, notes="")
            for result in failed_results(experiment, cell, "")
            if str(result.measure) == measure
        ]
    return summarise(experiment, made)
