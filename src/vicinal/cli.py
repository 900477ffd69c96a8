"""The command line: arguments in, library calls, tables out."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated, Any, Literal

try:
    import polars as pl
    from cyclopts import App, Parameter
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.table import Table as RichTable
except ImportError as error:  # pragma: no cover
    sys.exit(f"vicinal's command line needs more packages ({error.name} is missing): pip install 'vicinal[cli]'")

from sklearn.pipeline import Pipeline, make_pipeline

from . import __version__, _files
from ._validation import check_count
from .experiments import Result, check_table, compare, describe_columns, make_preparation, methods
from .local import RandLocal
from .local._anchors import watching

app = App(
    name="vicinal",
    version=f"vicinal {__version__}",
    help="Sparse, local features from neighbourhoods. Files: CSV, TSV, Parquet, NPY, NPZ, LIBSVM, by their ending.",
)
stderr = Console(stderr=True, highlight=False)
stdout = Console(highlight=False)

Target = Annotated[
    str | None,
    Parameter(help="Column to predict; in NPZ files the array (default y), in NPY files the column's number."),
]
Drop = Annotated[tuple[str, ...], Parameter(help="Column to leave out; may be repeated.")]
Jobs = Annotated[int | None, Parameter(help="Threads; all cores by default.")]
Force = Annotated[bool, Parameter(negative=(), help="Overwrite files that exist.")]


@app.command(name="compare")
def compare_command(
    file: Path,
    /,
    *,
    target: Target = None,
    drop: Drop = (),
    groups: int = 400,
    components: int = 1000,
    test_size: float = 0.25,
    seed: int = 0,
    jobs: Jobs = None,
) -> None:
    """Which features pay on your data?

    Raw columns, random Fourier features, Nystroem and RandLocal, each followed by the same linear SVM, beside a tuned
    RBF kernel SVM. Parameters are chosen on the training part alone.

    Parameters
    ----------
    file
        The table, one row per example.
    groups
        RandLocal's groups, which is its number of non-zeros per row.
    components
        Columns of random Fourier features and of Nystroem.
    test_size
        Share of the rows to test on.
    seed
        Fixes the split and all draws.
    """
    check_count("--groups", groups)
    check_count("--components", components)
    _check_jobs(jobs)
    if not 0 < test_size < 1:
        raise ValueError(f"--test-size must lie between 0 and 1; got {test_size}.")
    table = _files.read_table(file, target=target, drop=drop, need_target=True)
    assert table.y is not None
    stderr.print(
        f"{file.name}: {table.X.shape[0]:,} rows; {describe_columns(table.X)}; target {table.target!r}.", markup=False
    )
    with _Progress(total=len(methods(n_features=1))) as progress:
        results = compare(
            table.X,
            table.y,
            n_groups=groups,
            n_components=components,
            test_size=test_size,
            random_state=seed,
            n_jobs=jobs,
            callback=progress.step,
        )
    stdout.print(_table(results, escape(f"{file.name}, tested on {test_size:.0%} of {table.X.shape[0]:,} rows")))
    stdout.print(f"Columns: {describe_columns(table.X)}, on the training part.")
    stdout.print("Chosen by cross-validation on the training part:")
    for result in results:
        chosen = ", ".join(f"{name}={value:.3g}" for name, value in result.chosen.items())
        stdout.print("; ".join([f"  {result.method}: {chosen}", *result.notes]))


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
            _files.check_free(path, force=force)
    _check_jobs(jobs)
    pipeline = _files.load_model(model) if model is not None else None
    n_columns = pipeline[0].n_features_in_ if pipeline is not None else None
    table = _files.read_table(file, target=target, drop=drop, n_columns=n_columns)
    start = time.perf_counter()
    X = check_table(table.X)
    with _Progress(total=1) as progress, watching(progress.share):
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


def _check_jobs(jobs: int | None) -> None:
    if jobs == 0:
        raise ValueError("--jobs must be a number of threads, or -1 for all cores; got 0.")


def _shape(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    try:
        return tuple(int(part) for part in text.lower().split("x"))
    except ValueError:
        raise ValueError(f"--image-shape must be like 28x28 or 32x32x3; got {text!r}.") from None


def _table(results: list[Result], title: str) -> RichTable:
    table = RichTable(title=title, title_justify="left")
    table.add_column("features")
    for name in ("accuracy", "features s", "classifier s", "non-zeros/row"):
        table.add_column(name, justify="right")
    best = max(result.accuracy for result in results)
    for result in results:
        accuracy = f"{result.accuracy:.4f}"
        table.add_row(
            result.method,
            f"[bold green]{accuracy}[/]" if result.accuracy == best else accuracy,
            f"{result.feature_seconds:.2f}",
            f"{result.model_seconds:.2f}",
            f"{result.nonzeros_per_row:,.0f}",
        )
    return table


class _Progress:
    """A bar on a terminal, plain lines elsewhere."""

    def __init__(self, total: int):
        self._total = total
        self._bar: Progress | None = None

    def __enter__(self) -> _Progress:
        if stderr.is_terminal:
            columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
            self._bar = Progress(*columns, console=stderr, transient=True)
            self._bar.start()
            self._task = self._bar.add_task("", total=self._total)
        return self

    def step(self, name: str, result: Result | None) -> None:
        if self._bar is not None:
            self._bar.update(self._task, description=name, advance=0 if result is None else 1)
        elif result is not None:
            seconds = result.feature_seconds + result.model_seconds
            stderr.print(f"{name}: accuracy {result.accuracy:.4f}, {seconds:.2f} s after tuning")

    def share(self, done: float) -> None:
        if self._bar is not None:
            self._bar.update(self._task, description="nearest anchors", completed=done)

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()


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
