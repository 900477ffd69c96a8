"""`compare`: feature methods on the user's own table, by the protocol of the experiments."""

from __future__ import annotations

import contextlib
from collections import Counter, deque
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._page import Section
from .._preparation import check_table, make_preparation
from .._sample import Sample
from .._validation import UNLABELLED
from ._experiment import Cell, DataSpec, Experiment, MethodSpec
from ._methods import find_method
from ._pictures import randlocal_pictures
from ._results import Result, failed_results
from ._runner import evaluate_cell, run_cells, share_cores
from ._shelf import Shelf
from ._summary import Summary, summarise
from .tasks import TASKS

DEFAULT_METHODS = (
    "raw",
    "rbf-svm",
    "fourier",
    "nystroem",
    "polynomial",
    "trees",
    "boosting",
    "lightgbm",
    "randlocal",
    "local-model",
)
MOST_KERNEL_ROWS = 20_000
GROUP_SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2)
TUNING_FOLDS = 3
MOST_PICTURE_COLUMNS = 5000


def comparison(
    name: str,
    *,
    methods: tuple[str, ...] = (),
    n_groups: int = 400,
    n_components: int = 1000,
    splits: int = 5,
    seed: int = 0,
    image_shape: tuple[int, ...] | None = None,
    curve: bool = False,
) -> Experiment:
    """The experiment that compares methods on one table.

    Parameters
    ----------
    name : str
        What the table is called.
    methods : tuple of str, default=()
        Names of methods; by default those that are quick and installed.
    n_groups : int, default=400
        Size of RandLocal and of random trees.
    n_components : int, default=1000
        Size of the dense maps.
    splits : int, default=5
        Parts of the cross-validation, each of which is the test part once.
    seed : int, default=0
        The seed of splits and draws.
    image_shape : tuple of int, default=None
        Shape of the image in each row, if it is one; "randlocal-tuned" makes use of it.
    curve : bool, default=False
        Whether RandLocal is also run with fewer groups.

    Returns
    -------
    Experiment

    Examples
    --------
    >>> from vicinal.experiments import comparison
    >>> experiment = comparison("iris.csv", methods=("raw", "randlocal"), splits=3, curve=True)
    >>> experiment.title, len(experiment.cells())
    ('Which features pay on iris.csv?', 18)
    >>> experiment.method_spec("randlocal-curve").vary
    {'n_groups': (25, 50, 100, 200)}
    """
    task = TASKS["classification"]
    use = task.MethodOptions()
    chosen = [find_method(method) for method in methods or DEFAULT_METHODS]
    for method in chosen:
        if methods:
            method.check_installed()
    specs = [
        MethodSpec(
            method.name, id=method.name, rows=MOST_KERNEL_ROWS if method.name == "rbf-svm" else None, options=use
        )
        for method in chosen
        if method.installed
    ]
    fewer = tuple(sorted({max(1, round(share * n_groups)) for share in GROUP_SHARES} - {n_groups}))
    if curve and fewer and any(spec.name == "randlocal" for spec in specs):
        specs.append(
            MethodSpec("randlocal", id="randlocal-curve", label="RandLocal", vary={"n_groups": fewer}, options=use)
        )
    experiment = Experiment(
        name="compare",
        title=f"Which features pay on {name}?",
        source="",
        task=task,
        options=task.Options(folds=splits, tuning_folds=TUNING_FOLDS),
        data=(DataSpec(name, scale="standard", image_shape=image_shape),),
        methods=tuple(specs),
        metrics=(task.metric("accuracy"),),
        n_groups=n_groups,
        n_components=n_components,
        first_seed=seed,
    )
    task.check(experiment)
    return experiment


def compare(
    X: Any,
    y: NDArray,
    *,
    methods: tuple[str, ...] = (),
    n_groups: int = 400,
    n_components: int = 1000,
    splits: int = 5,
    random_state: int = 0,
    n_jobs: int = 1,
    callback: Callable[[Cell, str], None] = lambda cell, event: None,
) -> list[Summary]:
    """Accuracy and cost of feature methods in front of the same linear SVM, and of models of their own.

    The rows are cut into `splits` parts by class; each is the test part once. Columns are prepared and every method's
    parameters, the SVM's C included, are chosen by 3-fold cross-validation on at most 3,000 rows of the training part;
    the method is then fitted on all of it and scored on the test part.

    Parameters
    ----------
    X : data frame, ndarray or CSR matrix
        The columns.
    y : ndarray
        The class of each row.
    methods : tuple of str, default=()
        Names of methods (`method_names`); by default those that are quick and installed.
    n_groups : int, default=400
        Groups of RandLocal, and random trees.
    n_components : int, default=1000
        Columns of the dense maps.
    splits : int, default=5
        Parts of the cross-validation, each of which is the test part once.
    random_state : int, default=0
        The seed of splits and draws.
    n_jobs : int, default=1
        Threads.
    callback : callable, default does nothing
        Called as ``callback(cell, "started")`` before and ``callback(cell, "done")`` after each method and split.

    Returns
    -------
    list of Summary
        One per method, in the order in which they were named.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal.experiments import compare
    >>> summaries = compare(*load_iris(return_X_y=True), methods=("raw", "randlocal"), n_groups=100)
    >>> [summary.label for summary in summaries]
    ['raw features', 'RandLocal']
    """
    experiment = comparison(
        "data", methods=methods, n_groups=n_groups, n_components=n_components, splits=splits, seed=random_state
    )
    sample = comparison_sample(X, y, splits)
    results: list[Result] = []
    for cell in experiment.cells():
        callback(cell, "started")
        results += evaluate_cell(experiment, cell, threads=n_jobs, load=lambda name: sample, prepare=make_preparation)
        callback(cell, "done")
    return summarise(experiment, results)


def run_comparison(
    experiment: Experiment,
    sample: Sample,
    *,
    jobs: int | None = None,
    callback: Callable[[Cell, str], None] = lambda cell, event: None,
) -> list[Result]:
    """Runs the comparison with each cell in a process of its own; processes share the sample and read no file of it.

    Parameters
    ----------
    experiment : Experiment
        What `comparison` gives.
    sample : Sample
        What `comparison_sample` gives.
    jobs : int, default=None
        Methods at a time; as many as there are cores by default.
    callback : callable, default does nothing
        As that of `run`.

    Returns
    -------
    list of Result

    See Also
    --------
    compare : The same in this process, in one call.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal.experiments import comparison, comparison_sample, run_comparison
    >>> sample = comparison_sample(*load_iris(return_X_y=True), splits=2)
    >>> results = run_comparison(comparison("iris", methods=("raw",), splits=2), sample, jobs=1)  # doctest: +SKIP
    >>> [(result.method, result.fold, result.test_rows) for result in results]  # doctest: +SKIP
    [('raw', 0, 75), ('raw', 1, 75)]
    """
    cells = experiment.cells()
    workers, threads = share_cores(jobs, len(cells))
    results: dict[Cell, list[Result]] = {}
    with Shelf() as shelf:
        shelf.put("table", sample)
        load = partial(_take_table, shelf)
        work = partial(evaluate_cell, experiment, threads=threads, load=load, prepare=make_preparation)
        for cell, event, more in run_cells(work, deque(cells), workers, partial(failed_results, experiment)):
            results[cell] = more
            callback(cell, event)
    return [result for cell in cells for result in results[cell]]


def _take_table(shelf: Shelf, name: str) -> Sample:
    return shelf.take("table")


def comparison_sample(X: Any, y: NDArray, splits: int, *, unlabelled: str | None = None) -> Sample:
    """A table as the comparison takes it: checked columns, classes as numbers from 0 with their names.

    Parameters
    ----------
    X : data frame, ndarray or CSR matrix
        The columns.
    y : ndarray
        The class of each row, as a number or a name.
    splits : int
        Parts of the cross-validation; classes with too few rows for them are refused.
    unlabelled : str, default=None
        What stands for y where a row has no label: its label becomes -1. Such rows are never tested on; methods that
        take them are fitted to them as well, others do not see them.

    Returns
    -------
    Sample

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal.experiments import comparison_sample
    >>> iris = load_iris()
    >>> sample = comparison_sample(iris.data, iris.target_names[iris.target], splits=5)
    >>> sample.classes, sample.y[:3].tolist()
    (('setosa', 'versicolor', 'virginica'), [0, 0, 0])
    """
    table, codes = check_table(X), np.full(len(y), UNLABELLED)
    has_none = np.zeros(len(y), dtype=bool) if unlabelled is None else _stands_for(y, unlabelled)
    given = y[~has_none]
    codes[~has_none] = check_classes(given, splits)
    labels = given.astype(str) if given.dtype == object else given
    return Sample(table, codes, classes=tuple(map(str, np.unique(labels))))


def _stands_for(y: NDArray, word: str) -> NDArray[np.bool_]:
    """Which labels are that word, or that number."""
    found = np.array([str(value) == word for value in y.tolist()])
    with contextlib.suppress(ValueError):
        found = found if y.dtype.kind not in "iuf" else y == float(word)
    if not found.any():
        raise ValueError(f"No row has the target {word!r}, which is said to stand for no label.")
    if found.all():
        raise ValueError(f"All rows have the target {word!r}, which is said to stand for no label.")
    return found


def comparison_pictures(experiment: Experiment, sample: Sample) -> Section | None:
    """What RandLocal makes of some rows of a table: an image of features, and the cells of anchors in the plane.

    Parameters
    ----------
    experiment : Experiment
        What `comparison` gives.
    sample : Sample
        What `comparison_sample` gives.

    Returns
    -------
    Section or None
        None for tables of more than 5,000 columns, of which local features take long and a plane shows little.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal.experiments import comparison, comparison_pictures, comparison_sample
    >>> sample = comparison_sample(*load_iris(return_X_y=True), splits=5)
    >>> section = comparison_pictures(comparison("iris"), sample)
    >>> [type(block).__name__ for block in section.blocks]
    ['FeatureImage', 'Voronoi']
    """
    if sample.X.shape[1] > MOST_PICTURE_COLUMNS:
        return None
    if len(sample.labelled) < len(sample):
        sample = sample[sample.labelled]
    X = make_preparation(sample.X).fit_transform(sample.X)
    assert sample.y is not None
    assert sample.classes is not None
    return randlocal_pictures(X, sample.y, sample.classes, seed=experiment.first_seed)


def check_classes(y: NDArray, splits: int) -> NDArray:
    """Classes as numbers from 0; too few rows of one are refused with its name."""
    if y.dtype.kind == "f" and not np.equal(y, np.round(y)).all():
        raise ValueError("The target has fractions; compare needs classes.")
    counts = Counter(y.tolist())
    if len(counts) < 2:
        raise ValueError(f"The target has one class only ({next(iter(counts))!r}); there is nothing to tell apart.")
    label, rarest = min(counts.items(), key=lambda item: item[1])
    # Every class needs a row in each test part, and one for every fold within the rest.
    needed = max(splits, int(np.ceil(TUNING_FOLDS * splits / (splits - 1))))
    if rarest < needed:
        raise ValueError(
            f"Class {label!r} has {rarest} row{'s' * (rarest != 1)}; at least {needed} are needed for {splits} splits "
            "with cross-validation inside. Merge or remove it, or take fewer splits."
        )
    return np.unique(y.astype(str) if y.dtype == object else y, return_inverse=True)[1]
