"""`compare`: feature methods on a table of the user's, by the protocol of the experiments."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._files import read_table
from .._preparation import check_table, make_preparation
from ._experiment import Cell, DataSpec, Experiment, MethodSpec
from ._methods import find_method
from ._results import Row
from ._runner import failed_rows, run_cell, run_cells
from ._summary import Figure, summarise

DEFAULT_METHODS = ("raw", "rbf-svm", "fourier", "nystroem", "polynomial", "trees", "boosting", "lightgbm", "randlocal")
MOST_KERNEL_ROWS = 20_000
GROUP_SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2)
TUNING_FOLDS = 3


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
    methods : tuple of str
        Names of methods; by default those that are quick and installed.
    n_groups, n_components : int
        Size of RandLocal and of random trees, and of the dense maps.
    splits : int
        Parts of the cross-validation, each of which is the test part once.
    seed : int
    image_shape : tuple of int, default=None
        Shape of the image in each row, if it is one; "randlocal-tuned" makes use of it.
    curve : bool, default=False
        Also run RandLocal with fewer groups.
    """
    chosen = [find_method(method) for method in methods or DEFAULT_METHODS]
    for method in chosen:
        if methods and not method.installed:
            raise ValueError(f"The method {method.name!r} needs the package {method.needs}; install it with pip.")
    specs = [
        MethodSpec(method.name, id=method.name, rows=MOST_KERNEL_ROWS if method.name == "rbf-svm" else None)
        for method in chosen
        if method.installed
    ]
    fewer = tuple(sorted({max(1, round(share * n_groups)) for share in GROUP_SHARES} - {n_groups}))
    if curve and fewer and any(spec.name == "randlocal" for spec in specs):
        specs.append(MethodSpec("randlocal", id="randlocal-curve", label="RandLocal", vary={"n_groups": fewer}))
    return Experiment(
        name="compare",
        title=f"Which features pay on {name}?",
        source="",
        task="classification",
        data=(DataSpec(name, scale="standard", image_shape=image_shape),),
        methods=tuple(specs),
        metrics=("accuracy",),
        folds=splits,
        tuning_folds=TUNING_FOLDS,
        n_groups=n_groups,
        n_components=n_components,
        first_seed=seed,
    )


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
) -> list[Figure]:
    """Accuracy and cost of feature methods in front of the same linear SVM, and of models of their own.

    The rows are cut into `splits` parts by class; each is the test part once. Columns are prepared and every method's
    parameters, the SVM's C included, are chosen by 3-fold cross-validation on at most 3,000 rows of the training part;
    the method is then fitted on all of it and scored on the test part.

    Parameters
    ----------
    X : polars or pandas DataFrame, ndarray or CSR matrix
    y : ndarray of class labels
    methods : tuple of str
        Names of methods (`method_names`); by default those that are quick and installed.
    n_groups : int, default=400
        Groups of RandLocal, and random trees.
    n_components : int, default=1000
        Columns of the dense maps.
    splits : int, default=5
    random_state : int, default=0
    n_jobs : int, default=1
        Threads.
    callback : callable, default does nothing
        Called as ``callback(cell, "started")`` before and ``callback(cell, "done")`` after each method and split.

    Returns
    -------
    list of Figure
        One per method, in the order in which they were named.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal.experiments import compare
    >>> figures = compare(*load_iris(return_X_y=True), methods=("raw", "randlocal"), n_groups=100)
    >>> [figure.label for figure in figures]
    ['raw features', 'RandLocal']
    """
    experiment = comparison(
        "data", methods=methods, n_groups=n_groups, n_components=n_components, splits=splits, seed=random_state
    )
    X, y = check_table(X), check_classes(y, splits)
    rows: list[Row] = []
    for cell in experiment.cells():
        callback(cell, "started")
        rows += run_cell(experiment, cell, threads=n_jobs, load=lambda name: (X, y), prepare=make_preparation)
        callback(cell, "done")
    return summarise(experiment, rows)


def compare_file(
    experiment: Experiment,
    path: Path,
    *,
    target: str | None,
    drop: tuple[str, ...],
    jobs: int,
    threads: int,
    callback: Callable[[Cell, str], None],
) -> list[Row]:
    """The comparison on a file, each cell in a process of its own that reads it."""
    load = partial(load_file, path, target, drop, experiment.folds)
    work = partial(run_cell, experiment, threads=threads, load=load, prepare=make_preparation)
    rows: dict[Cell, list[Row]] = {}
    cells = experiment.cells()
    for cell, event, more in run_cells(work, deque(cells), jobs, partial(failed_rows, experiment)):
        rows[cell] = more
        callback(cell, event)
    return [row for cell in cells for row in rows[cell]]


def load_file(
    path: Path, target: str | None, drop: tuple[str, ...], splits: int, name: str = ""
) -> tuple[Any, NDArray]:
    """The table of a file as the experiments take it."""
    table = read_table(path, target=target, drop=drop, need_target=True)
    assert table.y is not None
    return check_table(table.X), check_classes(table.y, splits)


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
