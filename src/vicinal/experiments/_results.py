"""One tidy CSV per experiment: appended cell by cell, read back by a run that continues, never half a cell."""

from __future__ import annotations

import csv
import io
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from .._writing import replacing
from ._experiment import Cell, Experiment

FIELDS = (
    "experiment",
    "data",
    "method",
    "setting",
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
Row = dict[str, str]


@dataclass
class ResultFile:
    """The rows of an experiment that are there already, and the file to which more are added."""

    path: Path
    experiment: Experiment
    rows: list[Row] = field(default_factory=list)

    @classmethod
    def open(cls, path: Path, experiment: Experiment, *, fresh: bool = False) -> ResultFile:
        """Takes up what a former run left.

        Half a line or half a cell at the end is dropped, and so is a cell that could not be run: it is tried again.
        """
        if not path.parent.is_dir():
            raise FileNotFoundError(f"There is no folder {path.parent} to write {path.name} to.")
        file = cls(path, experiment)
        if path.exists() and not fresh:
            rows = read_results(path)
            file._check(rows)
            whole = Counter(file._key(row) for row in rows if row["value"])
            planned = {cell.key: experiment.rows_per_cell(cell) for cell in experiment.cells()}
            file.rows = [row for row in rows if whole[file._key(row)] == planned[file._key(row)]]
        file.write()
        return file

    def done(self) -> set[tuple[str, str, str, int, int]]:
        return {self._key(row) for row in self.rows}

    def add(self, rows: list[Row]) -> None:
        """A cell's rows, in one write that is on the disk when this returns."""
        with open(self.path, "ab") as file:
            file.write(_lines(rows).encode())
            file.flush()
            os.fsync(file.fileno())
        self.rows += rows

    def write(self) -> None:
        """The whole file anew, in the experiment's order, whatever the order in which cells ended."""
        place = {cell.key: number for number, cell in enumerate(self.experiment.cells())}
        self.rows.sort(key=lambda row: (place[self._key(row)], int(row["fold"])))
        with replacing(self.path, force=True) as beside:
            beside.write_text(",".join(FIELDS) + "\n" + _lines(self.rows), encoding="utf-8", newline="")

    def _key(self, row: Row) -> tuple[str, str, str, int, int]:
        # The runs of k-means share a cell.
        fold = int(row["fold"]) if self.experiment.task == "classification" else 0
        return row["data"], row["method"], row["setting"], int(row["seed"]), fold

    def _check(self, rows: list[Row]) -> None:
        known = {(cell.key, cell.protocol) for cell in self.experiment.cells()}
        strange = sum((self._key(row), row["protocol"]) not in known for row in rows)
        if strange:
            raise ValueError(
                f"{self.path} holds {strange} result{'s' * (strange != 1)} of another protocol than "
                f"{self.experiment.name} has now, perhaps of an older version; move it away, or begin anew (--fresh)."
            )


def read_results(path: Path) -> list[Row]:
    """The whole rows of a result file.

    A last line without its end is what an interrupted write left, and is dropped; any other broken line is an error.
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
    rows = []
    for values in reader:
        if len(values) != len(FIELDS) or not (values[4].isdigit() and values[5].isdigit()):
            raise ValueError(f"{path}, line {reader.line_num}: not a row of {len(FIELDS)} values; repair or remove it.")
        rows.append(dict(zip(FIELDS, values, strict=True)))
    return rows


def cell_rows(experiment: Experiment, cell: Cell, values: Iterable[tuple[int, str, str]], shared: Row) -> list[Row]:
    """One row per figure, with what the cell's figures share."""
    told = {
        "experiment": experiment.run_name,
        "data": cell.data,
        "method": cell.method,
        "setting": cell.setting,
        "seed": str(cell.seed),
        "protocol": cell.protocol,
        **shared,
    }
    return [
        dict.fromkeys(FIELDS, "") | told | {"fold": str(fold), "metric": metric, "value": value}
        for fold, metric, value in values
    ]


def _lines(rows: list[Row]) -> str:
    text = io.StringIO(newline="")
    csv.DictWriter(text, FIELDS, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _difference(header: tuple[str, ...]) -> str:
    lacking = [name for name in FIELDS if name not in header]
    if lacking:
        return "it lacks the column" + "s" * (len(lacking) > 1) + " " + ", ".join(lacking[:5])
    return "its columns are others"
