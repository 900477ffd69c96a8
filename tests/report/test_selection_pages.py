"""Pages, tables and verdicts of experiments that choose columns."""

import io
from dataclasses import replace

import pytest
from report.results import rows_of
from rich.console import Console

from vicinal.cli._result_tables import figure_tables
from vicinal.experiments import entry_label, load_experiment, mean_ranks, summarise
from vicinal.report import data_pictures, experiment_page, quick_warning, render, verdict


@pytest.fixture(scope="module")
def table3():
    return load_experiment("thesis-table3")


@pytest.fixture(scope="module")
def rows(table3):
    return rows_of(table3)


@pytest.fixture(scope="module")
def figures(table3, rows):
    return summarise(table3, rows)


@pytest.fixture(scope="module")
def page(table3, figures):
    return experiment_page(table3, figures, command="again", facts=())


def printed(experiment, figures):
    console = Console(file=io.StringIO(), width=80)
    for table in figure_tables(experiment, figures):
        console.print(table)
    return console.file.getvalue()


def better(rows, *, methods, by=0.5, **fields):
    """Rows in which some methods are better by so much, where their fields are these."""
    return [
        row | {"value": f"{float(row['value']) + by:.6f}"}
        if row["method"] in methods and all(row[key] == value for key, value in fields.items())
        else row
        for row in rows
    ]


def test_sections_are_ranks_curves_and_a_table_per_data_set_and_metric(table3, page):
    ranks, curves, tables = page.sections
    assert [table.caption for table in ranks.blocks] == [
        "Mean rank by accuracy, over 6 data sets",
        "Mean rank by NMI, over 6 data sets",
    ]
    assert len(curves.blocks) == len(table3.data)
    assert len(tables.blocks) == 2 * len(table3.data)
    assert data_pictures(table3).blocks == ()
    assert "<svg" in render(page)


def test_ranks_on_the_page_and_on_the_terminal(table3, figures, page):
    contests = mean_ranks(table3, figures, "accuracy")
    table = page.sections[0].blocks[0]
    assert [column.label for column in table.columns] == [
        "method",
        *(f"{count} columns" for count in (100, 200, 400, 600)),
        "own number or average",
    ]
    text = printed(table3, figures)
    labels = [row[0].text for row in table.rows]
    assert labels == [*(table3.label(spec.id) for spec in table3.methods), "SNFS, own number"]
    for number, contest in enumerate(contests, start=1):
        assert len(contest.ranks) == (11 if contest.count else 10)
        assert max(contest.ranks.values()) <= 10
        for entry, rank in contest.ranks.items():
            cell = table.rows[labels.index(entry_label(table3, entry))][number]
            assert cell.text == f"{rank:.2f}"
            assert f"{rank:.2f}" in text
            assert (cell.mark == "best") == (rank == min(contest.ranks.values()))
    assert table.rows[labels.index("SNFS")][-1].text == "–"


def test_figures_have_median_and_best_the_number_of_columns_and_the_papers(figures, page):
    table = next(block for block in page.sections[-1].blocks if block.caption == "Accuracy, BBC")
    assert [column.label for column in table.columns][-2:] == ["600 columns", "own number"]
    cells = {row[0].text: row for row in table.rows}
    found = {(f.method, f.metric): f for f in figures if f.data == "text_bbc"}
    rufs, snfs = found["rufs", "accuracy@100"], found["snfs", "accuracy@auto"]
    assert cells["RUFS"][1].text == f"{rufs.mean:.4f}/{rufs.by_labels.mean:.4f}"
    assert f"paper 0.4744/0.7548 ({rufs.mean - 0.4744:+.4f})" in cells["RUFS"][1].detail
    assert cells["SNFS"][-1].text == f"{snfs.mean:.4f}"
    assert "250 columns; paper 0.8414" in cells["SNFS"][-1].detail
    assert cells["all columns"][1].text == "–"


def test_stand_ins_have_no_figures_of_the_paper(table3):
    own = {"text_bbc", "text_bbcsport", "text_guardian"}
    assert {data for by_data in table3.paper.values() for data in by_data} == own
    for spec in table3.data:
        assert ("stand-in" in spec.label) == (spec.name not in own)


def test_charts_have_a_line_per_selector_and_a_point_at_its_own_number(page):
    chart = page.sections[1].blocks[0]
    lines = {series.label: series for series in chart.series}
    assert lines["MCFS"].x == (100, 200, 400, 600)
    assert lines["SNFS, own number"].x == (250,)
    assert [label for label, series in lines.items() if series.highlight] == ["SNFS", "SNFS, own number"]
    assert [label for label, series in lines.items() if series.low] == ["SNFS", "SNFS, own number"]
    assert [name for name, _ in chart.reference] == ["all columns"]


def test_the_page_says_how_rows_are_scaled(table3, figures):
    for unit_rows, words in ((True, "rows scaled to unit length"), (False, "rows as they are")):
        made = experiment_page(replace(table3, unit_rows=unit_rows), figures, command="", facts=())
        assert words in dict(made.facts)["Protocol"]


class TestVerdict:
    def test_where_the_subject_is_the_best(self, table3, rows):
        told = verdict(table3, summarise(table3, better(rows, methods=("snfs",))))
        assert told[0].startswith(
            "By accuracy, SNFS has a mean rank of 1.00 over 6 data sets, the best of 10; next is "
        )
        assert told[1].endswith("averaged over 100, 200, 400 and 600 columns; it is the best on every data set.")
        assert told[1].startswith("SNFS is there at its own number of columns, the others at the median of their grids")
        assert told[2] == "With the same number of columns for all, SNFS leads with 100, 200, 400 and 600."
        assert "the paper's 15 SNFS figures, 15 are reached" in told[3]

    def test_where_it_is_not(self, table3, rows):
        rows = better(rows, methods=("snfs",))
        rows = better(rows, methods=("rufs",), by=0.9, data="text_bbc")
        rows = better(rows, methods=("mcfs",), by=0.9, metric="accuracy@200")
        figures = summarise(table3, rows)
        told = verdict(table3, figures)
        found = {(f.method, f.metric): f.mean for f in figures if f.data == "text_bbc"}
        rufs = sum(found["rufs", f"accuracy@{count}"] for count in (100, 200, 400, 600)) / 4
        assert f"it is not the best on BBC (RUFS {rufs:.4f}, SNFS {found['snfs', 'accuracy@auto']:.4f})." in told[1]
        assert told[2].startswith("With the same number of columns for all, SNFS leads with 100, 400 and 600; it does")
        assert "it does not lead with 200 (mean rank 2.17; ahead: MCFS (1.17))." in told[2]
        assert told[3].startswith(
            "Had labels chosen settings and numbers of columns, SNFS would be beaten on BBC (RUFS"
        )

    def test_a_method_that_could_not_be_run_is_not_ranked(self, table3):
        figures = summarise(table3, rows_of(table3, fail=("rsfs",)))
        assert "of 9" in " ".join(verdict(table3, figures)) or "behind" in verdict(table3, figures)[0]
        entries = {entry.method for contest in mean_ranks(table3, figures, "nmi") for entry in contest.ranks}
        assert "rsfs" not in entries
        assert len(entries) == len(table3.methods) - 1

    def test_quick_runs_say_what_is_quick(self, table3):
        warning = quick_warning(table3.quickened())
        assert "at most 200 rows of each data set, 5 runs of k-means, 2 settings of each grid" in warning


@pytest.mark.parametrize(("name", "parameter", "count"), [("figure1", "perplexity", 7), ("figure2", "penalty", 8)])
def test_varied_parameters_have_a_chart_per_data_set_beside_all_columns(name, parameter, count):
    experiment = load_experiment(f"thesis-{name}")
    figures = summarise(experiment, rows_of(experiment))
    curves, tables = experiment_page(experiment, figures, command="", facts=()).sections
    assert len(curves.blocks) == 4
    for chart in curves.blocks:
        assert [len(series.x) for series in chart.series] == [count]
        assert [name for name, _ in chart.reference] == ["all columns"]
    assert len(tables.blocks) == 8
    told = verdict(experiment, figures)
    assert len(told) == 4
    own = [f for f in figures if (f.data, f.metric) == ("text_bbc", "accuracy@auto")]
    whole = next(f for f in figures if (f.data, f.metric) == ("text_bbc", "accuracy@all"))
    above = sum(f.mean > whole.mean for f in own) or "none"
    assert told[0].startswith(f"BBC: accuracy between {min(f.mean for f in own):.4f} ({parameter}=")
    assert told[0].endswith(f"above all columns ({whole.mean:.4f}) in {above} of {count} settings.")
    assert printed(experiment, figures).count("n=250") == 2 * 4 * count


def test_times_are_those_of_one_fit(table3, rows):
    times = load_experiment("thesis-times")
    assert times.cells() == table3.cells()
    figures = summarise(times, rows)
    assert {figure.metric for figure in figures} == {"feature_seconds"}
    assert {figure.n for figure in figures} == {1}
    (told,) = verdict(times, figures)
    slowest = max(figures, key=lambda figure: figure.mean)
    assert told.startswith(f"One fit on {times.data_label(slowest.data)}, where fits take longest: maximum variance ")
    (section,) = experiment_page(times, figures, command="", facts=()).sections
    (table,) = section.blocks
    assert len(table.rows) == len(times.methods) - 1
    assert "SNFS" in printed(times, figures)
