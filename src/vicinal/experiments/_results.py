"""One tidy CSV per experiment: appended cell by cell, read back by a run that continues, never half a cell."""

from __future__ import annotations

import csv
import io
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .._writing import replacing
from ._experiment import Cell, Experiment, Variant
from ._metric import Measure
from ._protocol import protocol_of
from ._work import Outcome

FIELDS = (
    "experiment",
    "data",
    "method",
    "variant",
    "seed",
    "fold",
    "metric",
    "value",
    "feature_seconds",
    "model_seconds",
    "tuning_seconds",
    "peak_memory_mb",
    "threads",
    "training_rows",
    "test_rows",
    "nonzeros_per_row",
    "chosen",
    "notes",
    "protocol",
    "vicinal",
    "commit",
    "scikit_learn",
    "numpy",
    "python",
)
# How the numbers of a row are written.
FORMATS = {
    "feature_seconds": ".3f",
    "model_seconds": ".3f",
    "tuning_seconds": ".3f",
    "peak_memory_mb": ".0f",
    "threads": "d",
    "training_rows": "d",
    "test_rows": "d",
    "nonzeros_per_row": ".1f",
}
VERSIONS = ("vicinal", "commit", "scikit_learn", "numpy", "python")


@dataclass(frozen=True)
class Result:
    """One value: what was measured in which cell, what it took, and what it was made with.

    Parameters
    ----------
    experiment, data, method : str
        Names of the run and of the data set, and the method's id.
    variant : Variant
        What is changed in the cell.
    seed, fold : int
        The seed, and the fold or the run of k-means.
    measure : Measure
        What was measured.
    value : float or None
        None where the cell could not be run; the reason is among the notes.
    protocol : str, default=""
        A short hash of all that the value depends on.
    feature_seconds, model_seconds, tuning_seconds : float, default=None
        Time for features, for the model, and for the choice of parameters.
    peak_memory_mb : float, default=None
        The most memory of the process, where the cell had one of its own.
    threads, training_rows, test_rows : int, default=None
        Threads of the method, and rows of both parts.
    nonzeros_per_row : float, default=None
        How full the features are.
    chosen : mapping, default={}
        Parameters that were chosen from a grid.
    notes : str, default=""
        What a reader of the value must know.
    versions : mapping, default={}
        Versions of vicinal and of what it is built on.

    Examples
    --------
    >>> from vicinal.experiments import Measure, Metric, Result, Variant
    >>> accuracy = Measure(Metric("accuracy", "accuracy"))
    >>> result = Result("mine", "iris", "raw", Variant(), seed=0, fold=3, measure=accuracy, value=0.96)
    >>> result.data, str(result.measure), result.value
    ('iris', 'accuracy', 0.96)
    """

    experiment: str
    data: str
    method: str
    variant: Variant
    seed: int
    fold: int
    measure: Measure
    value: float | None
    protocol: str = ""
    feature_seconds: float | None = None
    model_seconds: float | None = None
    tuning_seconds: float | None = None
    peak_memory_mb: float | None = None
    threads: int | None = None
    training_rows: int | None = None
    test_rows: int | None = None
    nonzeros_per_row: float | None = None
    chosen: Mapping[str, Any] = field(default_factory=dict)
    notes: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)

    def cell(self, experiment: Experiment) -> Cell:
        """The cell that it belongs to: runs of k-means share one."""
        fold = self.fold if experiment.task.folds(experiment) > 1 else 0
        return Cell(self.data, self.method, self.variant, self.seed, fold)


def results_of(experiment: Experiment, cell: Cell, outcome: Outcome, *, threads: int) -> list[Result]:
    """A result for each value of a cell."""
    blank = _blank(experiment, cell)
    return [
        replace(
            blank,
            fold=fold,
            measure=measure,
            value=value,
            feature_seconds=outcome.feature_seconds,
            model_seconds=outcome.model_seconds,
            tuning_seconds=outcome.tuning_seconds,
            threads=threads,
            training_rows=outcome.training_rows,
            test_rows=outcome.test_rows,
            nonzeros_per_row=outcome.nonzeros_by_measure.get(measure, outcome.nonzeros_per_row),
            chosen=outcome.chosen_by_measure.get(measure, outcome.chosen),
            notes="; ".join(outcome.notes),
        )
        for fold, measure, value in outcome.values
    ]


def failed_results(experiment: Experiment, cell: Cell, reason: str) -> list[Result]:
    """A cell that could not be run has results, too: without values, with the reason."""
    blank = replace(_blank(experiment, cell), notes=f"not run: {reason}")
    runs = range(cell.fold, cell.fold + experiment.task.runs_of(experiment, cell.method))
    return [replace(blank, fold=run, measure=measure) for run in runs for measure in experiment.measures(cell)]


def stamped(experiment: Experiment, results: list[Result], versions: Mapping[str, str]) -> list[Result]:
    """Results with their protocol and what they were made with, which take time to find out."""
    return [
        replace(result, protocol=protocol_of(experiment, result.cell(experiment)), versions=versions)
        for result in results
    ]


def _blank(experiment: Experiment, cell: Cell) -> Result:
    """What the results of a cell have in common."""
    return Result(
        experiment.run_name,
        cell.data,
        cell.method,
        cell.variant,
        cell.seed,
        cell.fold,
        experiment.measures(cell)[0],
        None,
    )


@dataclass
class ResultFile:
    """The results that an experiment has already, and the file to which more are added."""

    path: Path
    experiment: Experiment
    results: list[Result] = field(default_factory=list)

    @classmethod
    def open(cls, path: Path, experiment: Experiment, *, fresh: bool = False) -> ResultFile:
        """Takes up the results of an earlier run.

        Half a line or half a cell at the end is dropped, and so is a cell that could not be run: it is tried again.
        """
        if not path.parent.is_dir():
            raise FileNotFoundError(f"There is no folder {path.parent} to write {path.name} to.")
        file = cls(path, experiment)
        if path.exists() and not fresh:
            results = read_results(path, experiment)
            file.refuse_other_protocols(results)
            counts = Counter(result.cell(experiment) for result in results if result.value is not None)
            runs = {spec.id: experiment.task.runs_of(experiment, spec.id) for spec in experiment.methods}
            whole = {
                cell for cell, count in counts.items() if count == runs[cell.method] * len(experiment.measures(cell))
            }
            file.results = [result for result in results if result.cell(experiment) in whole]
        file.write()
        return file

    def done(self) -> set[Cell]:
        return {result.cell(self.experiment) for result in self.results}

    def add(self, results: list[Result]) -> None:
        """Adds a cell's results, in one write that is on the disk when this returns."""
        with open(self.path, "ab") as file:
            file.write(_lines(results).encode())
            file.flush()
            os.fsync(file.fileno())
        self.results += results

    def write(self) -> None:
        """Writes the whole file anew, in the experiment's order, whatever the order in which cells ended."""
        place = {cell: number for number, cell in enumerate(self.experiment.cells())}
        self.results.sort(key=lambda result: (place[result.cell(self.experiment)], result.fold))
        with replacing(self.path, force=True) as beside:
            beside.write_text(",".join(FIELDS) + "\n" + _lines(self.results), encoding="utf-8", newline="")

    def refuse_other_protocols(self, results: list[Result]) -> None:
        """Refuses results of another protocol, and names the first of them."""
        known = {cell: protocol_of(self.experiment, cell) for cell in self.experiment.cells()}
        strange = [result for result in results if known.get(result.cell(self.experiment)) != result.protocol]
        if strange:
            first = strange[0].cell(self.experiment)
            now = known.get(first)
            why = f"has protocol {strange[0].protocol}, now {now}" if now else "is no part of it now"
            raise ValueError(
                f"{self.path} holds {len(strange)} result{'s' * (len(strange) != 1)} of another protocol than "
                f"{self.experiment.name} has now, the first of them {first} ({why}): perhaps of an older version or of "
                "other data; move it away, or begin anew (--fresh)."
            )


def read_results(path: Path, experiment: Experiment) -> list[Result]:
    """The whole rows of a result file.

    A last line without its end is what an interrupted write left, and is dropped; any other broken line is an error.

    Parameters
    ----------
    path : Path
        The CSV that `run` wrote.
    experiment : Experiment
        The experiment that it belongs to.

    Returns
    -------
    list of Result

    Examples
    --------
    >>> from pathlib import Path
    >>> from vicinal.experiments import load_experiment, read_results
    >>> experiment = load_experiment("randlocal-table3")
    >>> results = read_results(Path("experiments/results/randlocal-table3.csv"), experiment)  # doctest: +SKIP
    >>> read_results(Path("elsewhere.csv"), experiment)
    Traceback (most recent call last):
        ...
    FileNotFoundError: There is no result file elsewhere.csv.
    """
    if not path.exists():
        raise FileNotFoundError(f"There is no result file {path}.")
    text = path.read_text(encoding="utf-8", errors="replace")
    text = text[: text.rfind("\n") + 1]
    reader = csv.reader(io.StringIO(text, newline=""))
    header = tuple(next(reader, ()))
    if header != FIELDS:
        raise ValueError(
            f"{path} is not a result file of this version of vicinal ({_difference(header)}); "
            "move it away, or add --fresh to begin anew."
        )
    results = []
    for values in reader:
        try:
            results.append(_read(dict(zip(FIELDS, values, strict=True)), experiment))
        except ValueError as error:
            raise ValueError(
                f"{path}, line {reader.line_num}: not a row of {len(FIELDS)} values ({error}); repair or remove it."
            ) from error
    return results


def _read(row: dict[str, str], experiment: Experiment) -> Result:
    numbers: dict[str, Any] = {
        name: (int if form == "d" else float)(row[name]) if row[name] else None for name, form in FORMATS.items()
    }
    return Result(
        row["experiment"],
        row["data"],
        row["method"],
        Variant.read(row["variant"]),
        int(row["seed"]),
        int(row["fold"]),
        experiment.task.read_measure(row["metric"]),
        float(row["value"]) if row["value"] else None,
        protocol=row["protocol"],
        **numbers,
        chosen=json.loads(row["chosen"]) if row["chosen"] else {},
        notes=row["notes"],
        versions={name: row[name] for name in VERSIONS},
    )


def _write(result: Result) -> dict[str, str]:
    numbers = {name: getattr(result, name) for name in FORMATS}
    return {
        "experiment": result.experiment,
        "data": result.data,
        "method": result.method,
        "variant": str(result.variant),
        "seed": str(result.seed),
        "fold": str(result.fold),
        "metric": str(result.measure),
        "value": "" if result.value is None else f"{result.value:{result.measure.metric.precision}}",
        **{name: "" if number is None else f"{number:{FORMATS[name]}}" for name, number in numbers.items()},
        "chosen": json.dumps(dict(result.chosen)) if result.chosen else "",
        "notes": result.notes,
        "protocol": result.protocol,
        **result.versions,
    }


def _lines(results: Iterable[Result]) -> str:
    text = io.StringIO(newline="")
    csv.DictWriter(text, FIELDS, restval="", lineterminator="\n").writerows(map(_write, results))
    return text.getvalue()


def _difference(header: tuple[str, ...]) -> str:
    lacking = [name for name in FIELDS if name not in header]
    if lacking:
        return "it lacks the column" + "s" * (len(lacking) > 1) + " " + ", ".join(lacking[:5])
    return "its columns are others"


def with_memory(results: list[Result], peak_mb: float) -> list[Result]:
    return [replace(result, peak_memory_mb=peak_mb) for result in results]
