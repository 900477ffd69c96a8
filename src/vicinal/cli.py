"""The command line: arguments in, library calls, tables out."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Annotated, Any, Literal

try:
    import polars as pl
    from cyclopts import App, Parameter
    from rich.markup import escape
except ImportError as error:  # pragma: no cover
    sys.exit(f"vicinal's command line needs more packages ({error.name} is missing): pip install 'vicinal[cli]'")

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline

from . import __version__, _files, datasets
from ._arguments import Drop, Force, Jobs, Report, Target, check_jobs
from ._calls import watching
from ._select_command import select_columns
from ._terminal import (
    Steps,
    chosen,
    command,
    comparison_table,
    data_table,
    experiment_table,
    facts,
    figure_tables,
    stderr,
    stdout,
)
from ._validation import check_count
from ._writing import check_free
from .experiments import (
    check_classes,
    check_table,
    compare_file,
    comparison,
    describe_columns,
    load_experiment,
    make_preparation,
    run,
    summarise,
)
from .local import RandLocal
from .report import (
    comparison_page,
    comparison_verdict,
    data_pictures,
    experiment_page,
    quick_warning,
    verdict,
    write_report,
)

app = App(
    name="vicinal",
    version=f"vicinal {__version__}",
    help="Sparse, local features from neighbourhoods. Files: CSV, TSV, Parquet, NPY, NPZ, LIBSVM, by their ending.",
)
data_app = App(name="data", help="Data sets by name: which there are, and fetching them.")
app.command(data_app)
app.command(select_columns, name="select")


@app.command(name="compare")
def comparecommand(
    file: Path,
    /,
    *,
    target: Target = None,
    drop: Drop = (),
    methods: Annotated[tuple[str, ...], Parameter(name=["--method", "-m"])] = (),
    groups: int = 400,
    components: int = 1000,
    splits: int = 5,
    image_shape: str | None = None,
    seed: int = 0,
    jobs: Jobs = None,
    report: Report = None,
    force: Force = False,
) -> None:
    """Which features pay on your data?

    Raw columns, kernel approximations, random trees and RandLocal, each followed by the same linear SVM, beside a tuned
    RBF kernel SVM and gradient boosting. Parameters are chosen on the training parts alone.

    Parameters
    ----------
    file
        The table, one row per example.
    methods
        A method to run; may be repeated. Default: all that are quick and installed.
    groups
        RandLocal's groups, which is its number of non-zeros per row.
    components
        Columns of the dense maps: random Fourier features, Nystroem, polynomial sketch.
    splits
        Parts of the cross-validation; each is the test part once.
    image_shape
        HEIGHTxWIDTH or HEIGHTxWIDTHxCHANNELS, if rows are images; the method randlocal-tuned makes use of it.
    seed
        Fixes splits and all draws.
    """
    check_count("--groups", groups)
    check_count("--components", components)
    check_count("--splits", splits, least=2)
    check_jobs(jobs)
    if report is not None:
        check_free(report, force=force)
    experiment = comparison(
        file.name,
        methods=methods,
        n_groups=groups,
        n_components=components,
        splits=splits,
        seed=seed,
        image_shape=_shape(image_shape),
        curve=report is not None,
    )
    table = _files.read_table(file, target=target, drop=drop, need_target=True)
    assert table.y is not None
    X, y = check_table(table.X), check_classes(table.y, splits)
    columns = describe_columns(table.X)
    data = f"{file.name}: {table.X.shape[0]:,} rows; {columns}; target {table.target!r}."
    stderr.print(data, markup=False)
    cells = experiment.cells()
    workers, threads = _workers(jobs, len(cells))
    with Steps(total=len(cells)) as progress:
        rows = compare_file(
            experiment, file, target=target, drop=drop, jobs=workers, threads=threads, callback=progress.cell
        )
    figures = summarise(experiment, rows)
    methods_run = [figure for figure in figures if not figure.setting]
    stdout.print(comparison_table(methods_run, escape(f"{file.name}, {splits} splits of {table.X.shape[0]:,} rows")))
    stdout.print(" ".join(comparison_verdict(methods_run)), markup=False)
    stdout.print(f"Columns: {columns}, on the training part. {threads} thread{'s' * (threads > 1)} per method.")
    stdout.print("Chosen by cross-validation inside the training part, split by split:")
    for figure in methods_run:
        parameters = " | ".join(chosen(text) for text in figure.chosen)
        stdout.print("; ".join([f"  {figure.label}: {parameters or 'nothing'}", *figure.notes]), markup=False)
    if report is not None:
        page = comparison_page(
            experiment,
            figures,
            X=make_preparation(X).fit_transform(X),
            y=y,
            class_names=tuple(str(name) for name in np.unique(_as_text(table.y))),
            command=command(),
            facts=(("Data", data), *facts(threads)),
        )
        write_report(report, page, force=force)
        stdout.print(f"The report: {report.resolve()}", markup=False, soft_wrap=True)


@app.command
def reproduce(
    names: tuple[str, ...] = (),
    /,
    *,
    quick: Annotated[bool, Parameter(negative=())] = False,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("vicinal-results"),
    report: Report = None,
    jobs: Jobs = None,
    fresh: Annotated[bool, Parameter(negative=())] = False,
    force: Force = False,
) -> None:
    """Do the published figures hold? Run a paper's table or figure anew.

    A run that was stopped goes on where it was: finished parts are in its CSV. Without a name, or with the name list,
    it lists what there is.

    Parameters
    ----------
    names
        Experiments, or TOML files that declare one.
    quick
        Few rows, folds and groups: ends within minutes and shows that everything works; not the paper's figures.
    output
        The folder of the CSVs, one per experiment.
    fresh
        Begin anew, even where a CSV of a former run is there.
    """
    if not names or [name.lower() for name in names] == ["list"]:
        stdout.print(experiment_table())
        return
    check_jobs(jobs)
    experiments = [load_experiment(name) for name in names]
    if report is not None:
        if len(experiments) > 1:
            raise ValueError("A report shows one experiment; name one at a time beside --report.")
        check_free(report, force=force)
    output.mkdir(parents=True, exist_ok=True)
    for experiment in experiments:
        experiment = experiment.quickened() if quick else experiment
        path = output / f"{experiment.run_name}{'-quick' if quick else ''}.csv"
        if quick:
            stderr.print(quick_warning(experiment) or "", markup=False, style="yellow")
        cells = experiment.cells()
        workers, threads = _workers(jobs, len(cells))
        try:
            with Steps(total=len(cells)) as progress:
                rows = run(experiment, path, fresh=fresh, jobs=workers, callback=progress.cell)
        except KeyboardInterrupt:
            stderr.print(f"Finished parts are in {path}; the same command goes on from there.", markup=False)
            raise
        figures = summarise(experiment, rows)
        for table in figure_tables(experiment, figures):
            stdout.print(table)
        for sentence in (quick_warning(experiment), *verdict(experiment, figures), *experiment.remarks):
            if sentence:
                stdout.print(sentence, markup=False)
        stdout.print(f"Every repeat: {path.resolve()}", markup=False, soft_wrap=True)
        if report is not None:
            page = experiment_page(
                experiment, figures, command=command(), facts=facts(threads), pictures=data_pictures(experiment)
            )
            write_report(report, page, force=force)
            stdout.print(f"The report: {report.resolve()}", markup=False, soft_wrap=True)


@data_app.command(name="list")
def data_list() -> None:
    """What data sets are known, and which are on this machine."""
    stdout.print(data_table())
    stdout.print(
        "Looked for in the folder VICINAL_DATA, then in the cache (VICINAL_CACHE), which `vicinal data fetch` fills."
    )


@data_app.command(name="fetch")
def data_fetch(names: tuple[str, ...], /, *, force: Force = False) -> None:
    """Fetch data sets from their public sources into the cache.

    Parameters
    ----------
    names
        Names that `vicinal data list` shows.
    """
    for name in names:
        path = datasets.fetch(name, force=force, callback=lambda text: stderr.print(text, markup=False))
        stdout.print(f"{name}: {path}", markup=False, soft_wrap=True)


@app.command
def transform(
    file: Path,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    target: Target = None,
    drop: Drop = (),
    model: Path | None = None,
    save_model: Path | None = None,
    groups: int | None = None,
    neighbors: int | None = None,
    task: Literal["supervised", "unsupervised"] | None = None,
    metric: Literal["euclidean", "manhattan", "cosine"] | None = None,
    subspace: Literal["random", "correlated", "image"] | None = None,
    image_shape: str | None = None,
    norm: Literal["l2", "none"] | None = None,
    seed: int | None = None,
    jobs: Jobs = None,
    force: Force = False,
) -> None:
    """Write RandLocal features of a table: fitted on it, or by a saved model.

    Parameters
    ----------
    file
        The table, one row per example.
    output
        Where the features go: .npz (SciPy's sparse format) or .svm, .libsvm, .svmlight.
    model
        A saved model to apply; nothing is fitted then.
    save_model
        Where to save the fitted model (.skops).
    groups
        Groups, which is the number of non-zeros per row (default 400).
    neighbors
        Nearest anchors per group (default 1).
    task
        What the features are for (default supervised).
    metric
        Distance (default euclidean).
    subspace
        How a group's columns are drawn (default random).
    image_shape
        HEIGHTxWIDTH or HEIGHTxWIDTHxCHANNELS, where subspace is image.
    norm
        l2 scales rows to unit length (default none).
    seed
        Fixes all draws (default 0).
    """
    settings: dict[str, Any] = {
        "n_groups": groups,
        "n_neighbors": neighbors,
        "task": task,
        "metric": metric,
        "subspace": subspace,
        "image_shape": _shape(image_shape),
        "norm": norm,
        "random_state": seed,
    }
    settings = {name: value for name, value in settings.items() if value is not None}
    if model is not None and (settings or save_model):
        raise ValueError("A saved model brings its own settings: leave out the others beside --model.")
    _files.check_feature_file(output)
    for path in (output, save_model):
        if path is not None:
            check_free(path, force=force)
    check_jobs(jobs)
    pipeline = _files.load_model(model) if model is not None else None
    n_columns = pipeline[0].n_features_in_ if pipeline is not None else None
    table = _files.read_table(file, target=target, drop=drop, n_columns=n_columns)
    start = time.perf_counter()
    X = check_table(table.X)
    with Steps(total=1, doing="nearest anchors") as progress, watching(progress.share):
        if model is not None and pipeline is not None:
            _check_columns(pipeline, X, file, model)
            pipeline[-1].n_jobs = jobs
            features = pipeline.transform(X)
        else:
            if settings.get("norm") == "none":
                settings["norm"] = None
            pipeline = make_pipeline(make_preparation(X), RandLocal(**{"random_state": 0, **settings}, n_jobs=jobs))
            features = pipeline.fit_transform(X)
    seconds = time.perf_counter() - start
    _files.write_features(output, features, table.y, force=force)
    if save_model is not None:
        pipeline[-1].n_jobs = None
        _files.save_model(save_model, pipeline, force=force)
    stderr.print(
        f"{file.name}: {features.shape[0]:,} rows; {describe_columns(table.X)}. {features.shape[1]:,} features, "
        f"{features.nnz / features.shape[0]:.0f} non-zeros per row, in {seconds:.1f} s: {output}",
        markup=False,
    )


def _check_columns(pipeline: Pipeline, X: Any, file: Path, model: Path) -> None:
    """Frames are matched by column name, in any order; matrices by their number of columns."""
    first = pipeline[0]
    names = getattr(first, "feature_names_in_", None)
    if (names is not None) != isinstance(X, pl.DataFrame):
        kind = "named columns" if names is not None else "a matrix without column names"
        raise ValueError(f"{model} was fitted on {kind}; {file.name} is of the other kind.")
    if isinstance(X, pl.DataFrame) and names is not None:
        lacking = [name for name in names if name not in X.columns]
        if lacking:
            raise ValueError(f"{file.name} lacks columns that {model} was fitted on: {', '.join(lacking)}.")
    elif X.shape[1] != first.n_features_in_:
        raise ValueError(f"{file.name} has {X.shape[1]} columns; {model} was fitted on {first.n_features_in_}.")


def _shape(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    try:
        return tuple(int(part) for part in text.lower().split("x"))
    except ValueError:
        raise ValueError(f"--image-shape must be like 28x28 or 32x32x3; got {text!r}.") from None


def _workers(jobs: int | None, cells: int) -> tuple[int, int]:
    """Methods at a time, and threads of each."""
    cores = os.cpu_count() or 1
    workers = min(cores if jobs is None or jobs < 0 else jobs, max(1, cells))
    return workers, max(1, cores // workers)


def _as_text(y: Any) -> Any:
    return y.astype(str) if y.dtype == object else y


def main() -> None:
    """Runs the command; what is wrong with an input is said in one sentence."""
    try:
        app(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit("vicinal: interrupted.")
    except (ValueError, OSError, MemoryError) as error:
        stderr.print(f"vicinal: {str(error) or type(error).__name__}", style="bold red", markup=False, soft_wrap=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
