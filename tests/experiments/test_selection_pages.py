"""Pages, tables and verdicts of experiments that choose columns."""

from dataclasses import replace

import pytest
from report.results import results_of

from vicinal.experiments import (
    entry_label,
    experiment_page,
    load_experiment,
    mean_ranks,
    quick_warning,
    summarise,
    verdict,
)
from vicinal.report import render


@pytest.fixture(scope="module")
def table3():
    return load_experiment("thesis-table3")


@pytest.fixture(scope="module")
def results(table3):
    return results_of(table3)


@pytest.fixture(scope="module")
def summaries(table3, results):
    return summarise(table3, results)


@pytest.fixture(scope="module")
def page(table3, summaries):
    return experiment_page(table3, summaries, command="again", facts=())


def better(results, *, methods, by=0.5, data=None, measure=None):
    """Results in which some methods are better by so much, on one data set or by one measure where it is named."""
    return [
        replace(result, value=result.value + by)
        if result.method in methods and data in (None, result.data) and measure in (None, str(result.measure))
        else result
        for result in results
    ]


def test_sections_are_ranks_curves_and_a_table_per_data_set_and_metric(table3, page):
    ranks, curves, tables = page.sections
    assert [table.caption for table in ranks.blocks] == [
        "Mean rank by accuracy, over 6 data sets",
        "Mean rank by NMI, over 6 data sets",
    ]
    assert len(curves.blocks) == len(table3.data)
    assert len(tables.blocks) == 2 * len(table3.data)
    assert table3.task.pictures(table3, lambda name: pytest.fail("data were loaded")) is None
    assert "<svg" in render(page)


def test_ranks_on_the_page(table3, summaries, page):
    contests = mean_ranks(table3, summaries, table3.task.metric("accuracy"))
    table = page.sections[0].blocks[0]
    assert [column.label for column in table.columns] == [
        "method",
        *(f"{count} columns" for count in (100, 200, 400, 600)),
        "own number or average",
    ]
    labels = [row[0].text for row in table.rows]
    assert labels == [*(table3.label(spec.id) for spec in table3.methods), "SNFS, own number"]
    for number, contest in enumerate(contests, start=1):
        assert len(contest.ranks) == (11 if contest.count else 10)
        assert max(contest.ranks.values()) <= 10
        for entry, rank in contest.ranks.items():
            cell = table.rows[labels.index(entry_label(table3, entry))][number]
            assert cell.text == f"{rank:.2f}"
            assert (cell.mark == "best") == (rank == min(contest.ranks.values()))
    assert table.rows[labels.index("SNFS")][-1].text == "–"


def test_figures_have_median_and_best_the_number_of_columns_and_the_papers(summaries, page):
    table = next(block for block in page.sections[-1].blocks if block.caption == "Accuracy by columns kept, BBC")
    assert [column.label for column in table.columns][-2:] == ["600 columns", "own number"]
    cells = {row[0].text: row for row in table.rows}
    found = {(f.method, str(f.measure)): f for f in summaries if f.data == "text_bbc"}
    rufs, snfs = found["rufs", "accuracy@100"], found["snfs", "accuracy@auto"]
    assert (cells["RUFS"][1].text, cells["RUFS"][1].beside) == (f"{rufs.mean:.4f}", f"/{rufs.by_labels.mean:.4f}")
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


def test_the_page_says_how_rows_are_scaled(table3, summaries):
    for unit_rows, words in ((True, "rows of unit length"), (False, "rows as they are")):
        made = experiment_page(
            replace(table3, options=replace(table3.options, unit_rows=unit_rows)), summaries, command="", facts=()
        )
        assert words in dict(made.facts)["Protocol"]


class TestVerdict:
    def test_where_the_subject_is_the_best(self, table3, results):
        sentences = verdict(table3, summarise(table3, better(results, methods=("snfs",))))
        assert sentences[0].startswith(
            "By accuracy, SNFS has a mean rank of 1.00 over 6 data sets, the best of 10; next is "
        )
        assert sentences[1].endswith("averaged over 100, 200, 400 and 600 columns; it is the best on every data set.")
        assert sentences[1].startswith(
            "SNFS takes part with its own number of columns, the others with the median of their grids"
        )
        assert sentences[2] == "With the same number of columns for all, SNFS leads with 100, 200, 400 and 600."
        assert "the paper's 15 SNFS values, 15 are reached" in sentences[3]

    def test_where_it_is_not(self, table3, results):
        results = better(results, methods=("snfs",))
        results = better(results, methods=("rufs",), by=0.9, data="text_bbc")
        results = better(results, methods=("mcfs",), by=0.9, measure="accuracy@200")
        summaries = summarise(table3, results)
        sentences = verdict(table3, summaries)
        found = {(f.method, str(f.measure)): f.mean for f in summaries if f.data == "text_bbc"}
        rufs = sum(found["rufs", f"accuracy@{count}"] for count in (100, 200, 400, 600)) / 4
        assert (
            f"it is not the best on BBC (RUFS {rufs:.4f}, SNFS {found['snfs', 'accuracy@auto']:.4f})." in sentences[1]
        )
        assert sentences[2].startswith(
            "With the same number of columns for all, SNFS leads with 100, 400 and 600; it does"
        )
        assert "it does not lead with 200 (mean rank 2.17; ahead: MCFS (1." in sentences[2]
        assert sentences[3].startswith(
            "Had labels chosen parameters and numbers of columns, SNFS would be beaten on BBC (RUFS"
        )

    def test_a_method_that_could_not_be_run_is_not_ranked(self, table3):
        summaries = summarise(table3, results_of(table3, fail=("rsfs",)))
        assert "of 9" in " ".join(verdict(table3, summaries)) or "behind" in verdict(table3, summaries)[0]
        entries = {
            entry.method
            for contest in mean_ranks(table3, summaries, table3.task.metric("nmi"))
            for entry in contest.ranks
        }
        assert "rsfs" not in entries
        assert len(entries) == len(table3.methods) - 1

    def test_quick_runs_say_what_is_quick(self, table3):
        warning = quick_warning(table3.quickened())
        assert "at most 200 rows of each data set, 5 runs of k-means, 2 combinations of each grid" in warning


@pytest.mark.parametrize(("name", "parameter", "count"), [("figure1", "perplexity", 7), ("figure2", "penalty", 8)])
def test_varied_parameters_have_a_chart_per_data_set_beside_all_columns(name, parameter, count):
    experiment = load_experiment(f"thesis-{name}")
    summaries = summarise(experiment, results_of(experiment))
    curves, tables = experiment_page(experiment, summaries, command="", facts=()).sections
    assert len(curves.blocks) == 4
    for chart in curves.blocks:
        assert [len(series.x) for series in chart.series] == [count]
        assert [name for name, _ in chart.reference] == ["all columns"]
    assert len(tables.blocks) == 8
    sentences = verdict(experiment, summaries)
    assert len(sentences) == 4
    own = [f for f in summaries if (f.data, str(f.measure)) == ("text_bbc", "accuracy@auto")]
    whole = next(f for f in summaries if (f.data, str(f.measure)) == ("text_bbc", "accuracy@all"))
    above = sum(f.mean > whole.mean for f in own) or "none"
    assert sentences[0].startswith(f"BBC: accuracy between {min(f.mean for f in own):.4f} ({parameter}=")
    assert sentences[0].endswith(f"above all columns ({whole.mean:.4f}) in {above} of {count} cases.")
    kept = [cell.brief for table in tables.blocks for row in table.rows for cell in row if "n=250" in cell.brief]
    assert len(kept) == 2 * 4 * count


def test_times_are_those_of_one_fit(table3, results):
    times = load_experiment("thesis-times")
    assert times.cells() == table3.cells()
    summaries = summarise(times, results)
    assert {str(summary.measure) for summary in summaries} == {"feature_seconds"}
    assert {summary.n for summary in summaries} == {1}
    (sentence,) = verdict(times, summaries)
    slowest = max(summaries, key=lambda summary: summary.mean)
    assert sentence.startswith(
        f"One fit on {times.data_label(slowest.data)}, where fits take longest: maximum variance "
    )
    (section,) = experiment_page(times, summaries, command="", facts=()).sections
    (table,) = section.blocks
    assert len(table.rows) == len(times.methods) - 1
    assert [row[0].text for row in table.rows][-1] == "SNFS"
