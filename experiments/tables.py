"""The README's tables, from the CSVs in experiments/results.

python experiments/tables.py            # prints them
python experiments/tables.py --write    # puts them between the markers in README.md
python experiments/tables.py --check    # whether README.md has them as they are now
"""

import re
import sys
from pathlib import Path

from vicinal.experiments import entry_label, load_experiment, mean_ranks, read_results, summarise

HERE = Path(__file__).parent
README = HERE.parent / "README.md"


def table(name: str, metrics: tuple[str, ...]) -> str:
    """Methods down, data sets and settings across; the best figure of a column bold, the paper's own in brackets."""
    experiment = load_experiment(name)
    summaries = _summaries(experiment)
    place = {(s.label, s.data, s.variant, s.measure.metric.name): s for s in summaries}
    columns = list(dict.fromkeys((s.data, s.variant) for s in summaries))
    heads = [", ".join(filter(None, (experiment.data_label(data), str(variant)))) for data, variant in columns]
    lines = ["| | " + " | ".join(heads) + " |", "|---|" + "--:|" * len(columns)]
    for label in dict.fromkeys(summary.label for summary in summaries):
        cells = [" / ".join(_shown(place.get((label, *column, metric))) for metric in metrics) for column in columns]
        papers = [" / ".join(_paper(place.get((label, *column, metric))) for metric in metrics) for column in columns]
        shown = [
            cell if set(cell) - set("– /") == set() else f"{cell} ({paper})" if any(map(str.isdigit, paper)) else cell
            for cell, paper in zip(cells, papers, strict=True)
        ]
        lines.append(f"| {label} | " + " | ".join("–" if set(cell) <= set("– /") else cell for cell in shown) + " |")
    return "\n".join(lines)


def selection_table(name: str, metric: str) -> str:
    """Selectors down, data sets across: at their own number of columns, or the mean of all numbers; then mean ranks."""
    experiment = load_experiment(name)
    contest = mean_ranks(experiment, _summaries(experiment), experiment.task.metric(metric))[-1]
    best = {data: contest.best(data) for data in contest.scores}
    heads = [*map(experiment.data_label, contest.scores), "mean rank"]
    lines = ["| | " + " | ".join(heads) + " |", "|---|" + "--:|" * len(heads)]
    for entry, rank in contest.ranks.items():
        cells = [
            f"**{scores[entry]:.3f}**" if entry == best[data] else f"{scores[entry]:.3f}"
            for data, scores in contest.scores.items()
        ]
        lines.append(f"| {entry_label(experiment, entry)} | " + " | ".join([*cells, f"{rank:.1f}"]) + " |")
    return "\n".join(lines)


def race_table(name: str, metric: str) -> str:
    """Data sets down, methods across, with means and mean ranks; the best of each row bold."""
    experiment = load_experiment(name)
    summaries = [s for s in _summaries(experiment) if s.measure.metric.name == metric]
    found = experiment.task.tables(experiment, summaries)[0]
    lines = ["| " + " | ".join(["", *(column.label for column in found.columns[1:])]) + " |"]
    lines.append("|---|" + "--:|" * (len(found.columns) - 1))
    for name_cell, *cells in found.rows:
        shown = [f"**{cell.text}**" if cell.mark == "best" else cell.text for cell in cells]
        lines.append("| " + " | ".join([name_cell.text, *shown]) + " |")
    return "\n".join(lines)


def _summaries(experiment) -> list:
    return summarise(experiment, read_results(HERE / "results" / f"{experiment.run_name}.csv", experiment))


def _shown(summary) -> str:
    if summary is None or not summary.n:
        return "–"
    text = f"{summary.mean:.4f}"
    return f"**{text}**" if summary.best else text


def _paper(summary) -> str:
    return "–" if summary is None or summary.paper is None else f"{summary.paper:.4f}"


TABLES = {
    "local-race": lambda: race_table("local-race", "accuracy"),
    "local-race-numbers": lambda: race_table("local-race-numbers", "r2"),
    "table3": lambda: table("randlocal-table3", ("micro_f1", "macro_f1")),
    "table5-6": lambda: table("randlocal-table5-6", ("accuracy", "nmi")),
    "rulls-table2": lambda: table("rulls-table2", ("accuracy",)),
    "thesis-table3": lambda: selection_table("thesis-table3", "accuracy"),
}


def fill(text: str) -> str:
    """The README with its tables made anew."""
    for name, make in TABLES.items():
        between = re.compile(rf"(<!-- {name} -->\n).*?(\n<!-- /{name} -->)", re.DOTALL)
        if not between.search(text):
            raise ValueError(f"README.md has no place for the table {name}.")
        text = between.sub(lambda match: match[1] + make() + match[2], text)  # noqa: B023
    return text


if __name__ == "__main__":
    text = README.read_text(encoding="utf-8")
    if sys.argv[1:] == ["--write"]:
        README.write_text(fill(text), encoding="utf-8")
    elif sys.argv[1:] == ["--check"]:
        changed = [name for name, make in TABLES.items() if make() not in text]
        if changed:
            sys.exit(f"README.md has other tables than the CSVs give: {', '.join(changed)}.")
        print(f"README.md has the {len(TABLES)} tables that the CSVs give.")
    else:
        print("\n\n".join(make() for make in TABLES.values()))
