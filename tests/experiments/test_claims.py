"""What papers say in words: read, tested one by one, told in the verdict and shown in the report."""

from dataclasses import replace

import pytest
from experiments.made import scored
from report.results import results_of

from vicinal.experiments import Claim, KMeansProtocol, experiment_page, load_experiment, read_experiment, summarise
from vicinal.experiments import verdict as verdict_of
from vicinal.experiments._claims import claim_sentences, comparisons, percent
from vicinal.experiments._metric import FEATURE_SECONDS
from vicinal.report import render

DECLARED = """
title = "Selection"
task = "selection"
metrics = ["accuracy", "nmi"]
runs = 3
subject = "mcfs"
features = [3, 6]
data = ["first", "second"]
methods = [{ name = "raw", label = "all columns" }, "maximum-variance", "mcfs"]

[[claims]]
text = "MCFS with 3 columns has 10 % more accuracy than all columns on the first"
methods = ["mcfs"]
over = ["raw"]
data = ["first"]
at = [3]
by = 0.1

[[claims]]
text = "MCFS is better than maximum variance"
methods = ["mcfs"]
over = ["maximum-variance"]
"""


@pytest.fixture
def declared():
    return read_experiment("small", DECLARED)


def values(mcfs_at_3=0.6):
    made = {
        ("first", "raw", "accuracy@all"): 0.5,
        ("first", "maximum-variance", "accuracy@3"): 0.4,
        ("first", "maximum-variance", "accuracy@6"): 0.4,
        ("first", "mcfs", "accuracy@3"): mcfs_at_3,
        ("first", "mcfs", "accuracy@6"): 0.5,
        ("second", "maximum-variance", "accuracy@3"): 0.5,
        ("second", "mcfs", "accuracy@3"): 0.4,
    }
    return [(*place, value) for place, value in made.items()]


class TestClaim:
    def test_is_read_with_its_metric(self, declared):
        first, second = declared.claims
        assert first == Claim(first.text, ("mcfs",), ("raw",), declared.metrics[0], ("first",), (3,), 0.1)
        assert (second.data, second.at, second.by) == ((), (), 0.0)

    @pytest.mark.parametrize(
        ("better", "ours", "theirs", "gain"),
        [
            ("high", 0.6, 0.5, 0.2),
            ("high", 0.4, 0.5, -0.2),
            ("low", 2.0, 1420.0, 709.0),
            ("low", 2.0, 1.0, -0.5),
            (None, 0.6, 0.5, 0.2),
            ("high", 0.1, 0.0, float("inf")),
            ("high", 0.0, 0.0, 0.0),
        ],
    )
    def test_gains_are_relative_to_the_rival(self, declared, better, ours, theirs, gain):
        claim = replace(declared.claims[0], metric=replace(declared.metrics[0], better=better))
        assert claim.gain(ours, theirs) == pytest.approx(gain)

    def test_what_is_claimed_must_be_reached_and_nothing_is_not_enough(self, declared):
        sized, plain = declared.claims
        assert [sized.is_met_by(gain) for gain in (0.1, 0.0999, -0.1)] == [True, False, False]
        assert [plain.is_met_by(gain) for gain in (0.001, 0.0, -0.1)] == [True, False, False]

    @pytest.mark.parametrize(
        ("old", "new", "sentence"),
        [
            ('methods = ["mcfs"]', 'methods = ["mcsf"]', "has 'mcsf' among its methods, which the experiment has not"),
            ('over = ["raw"]', 'over = ["row"]', "has 'row' among its over"),
            ('data = ["first"]\nat', 'data = ["third"]\nat', "has 'third' among its data"),
            ("at = [3]", "at = [4]", "has 4 among its at"),
            ("by = 0.1", 'metric = "f1"', "has 'f1' among its metric"),
            ("by = 0.1", "more = 0.1", "a claim has no 'more'"),
            ("by = 0.1", 'by = "much"', "by must be a number; got 'much'"),
            ('over = ["raw"]\n', "", "a claim lacks its over"),
        ],
    )
    def test_refused_with_one_sentence(self, old, new, sentence):
        with pytest.raises(ValueError, match="The experiment small") as error:
            read_experiment("small", DECLARED.replace(old, new, 1))
        assert sentence in str(error.value)


class TestVerdict:
    def sentences(self, declared, **changes):
        return claim_sentences(declared, scored(declared, values(**changes)))

    @pytest.mark.parametrize(
        ("mean", "ending"),
        [
            (0.6, "on the first: holds, +20.0 %, 0.6000 against 0.5000."),
            (0.525, ": holds in direction only, +5.0 %, 0.5250 against 0.5000, where +10.0 % is claimed."),
            (0.45, ": does not hold, -10.0 %, 0.4500 against 0.5000, where +10.0 % is claimed."),
        ],
    )
    def test_one_comparison(self, declared, mean, ending):
        assert self.sentences(declared, mcfs_at_3=mean)[0].endswith(ending)

    def test_several(self, declared):
        assert self.sentences(declared)[1] == (
            "MCFS is better than maximum variance: holds in 2 of 3 comparisons, -20.0 % to +50.0 %; not for MCFS over "
            "maximum variance on second, 3 columns, -20.0 %."
        )

    def test_where_a_size_is_claimed_those_ahead_are_counted_too(self, declared):
        sized = replace(declared, claims=(replace(declared.claims[1], by=0.3),))
        (sentence,) = self.sentences(sized)
        assert "holds in 1 of 3 comparisons (ahead in 2), -20.0 % to +50.0 %" in sentence
        assert sentence.endswith(
            "not for MCFS over maximum variance on second, 3 columns, -20.0 % and MCFS over maximum variance on first, "
            "6 columns, +25.0 %."
        )

    def test_of_many_failures_the_worst_is_named(self, declared):
        sized = replace(declared, claims=(replace(declared.claims[1], by=0.9),))
        (sentence,) = self.sentences(sized)
        assert sentence.endswith("; the worst is MCFS over maximum variance on second, 3 columns, -20.0 %.")

    def test_missing_values_are_said_and_quick_runs_test_nothing(self, declared):
        some = scored(declared, [value for value in values() if value[1] != "raw"])
        assert claim_sentences(declared, some)[0].endswith("on the first: not tested, as values are missing.")
        assert claim_sentences(replace(declared, quick=True), some) == []
        assert "What the paper says" not in render(
            experiment_page(replace(declared, quick=True), some, command="", facts=())
        )

    def test_it_ends_the_verdict_of_any_task(self, declared):
        summaries = scored(declared, values())
        assert list(verdict_of(declared, summaries)[-2:]) == claim_sentences(declared, summaries)

    def test_times(self, declared):
        claim = Claim("It is quicker", ("mcfs",), ("maximum-variance",), FEATURE_SECONDS, by=99.0)
        times = replace(declared, shown=(FEATURE_SECONDS,), claims=(claim,))
        results = [
            replace(result, feature_seconds={"mcfs": 0.5, "maximum-variance": 100.0}.get(result.method, 0.0))
            for result in results_of(declared)
        ]
        (sentence,) = claim_sentences(times, summarise(times, results))
        assert sentence == "It is quicker: holds in 2 of 2 comparisons, 200 times as much to 200 times as much."

    @pytest.mark.parametrize(
        ("share", "text"), [(0.106, "+10.6 %"), (-0.5, "-50.0 %"), (8.5, "+850.0 %"), (709.0, "710 times as much")]
    )
    def test_percent(self, share, text):
        assert percent(share) == text


class TestWays:
    """Claims about k-means in several ways: the first is told in full, and no value is compared with another way's."""

    WAYS = (KMeansProtocol(False, 1), KMeansProtocol(True, 1))

    @pytest.fixture
    def declared(self):
        return read_experiment("small", DECLARED.replace("runs = 3", "runs = 3\nunit_rows = [false, true]"))

    @pytest.fixture
    def summaries(self, declared):
        made = []
        for way, lift in zip(self.WAYS, (0.0, -0.3), strict=True):
            for data, method, measure, value in values():
                made.append((data, method, f"{measure}/{way}", value + lift * (method == "mcfs")))
        return scored(declared, made)

    def test_sentences(self, declared, summaries):
        first, second = claim_sentences(declared, summaries)
        assert first.endswith(
            "holds, +20.0 %, 0.6000 against 0.5000 (rows as they are, one start); rows of unit length, one start: "
            "does not hold, -40.0 %."
        )
        assert second.endswith("one start: holds in 0 of 3, -80.0 % to -25.0 %.")
        made = comparisons(declared.claims[1], summaries)
        assert len(made) == 6
        assert all(one.ours.measure.protocol == one.theirs.measure.protocol for one in made)

    def test_a_table_per_claim(self, declared, summaries):
        page = experiment_page(declared, summaries, command="", facts=())
        section = page.sections[0]
        assert section.title == "What the paper says, and whether it holds"
        first, second = section.blocks
        assert first.caption.endswith("on the first; by accuracy (claimed: +10.0 %)")
        assert [column.label for column in second.columns] == ["data", "k-means", "holds", "least", "most"]
        assert [[cell.text for cell in row] for row in second.rows] == [
            ["first", "rows as they are, one start", "2 of 2", "+25.0 %", "+50.0 %"],
            ["first", "rows of unit length, one start", "0 of 2", "-50.0 %", "-25.0 %"],
            ["second", "rows as they are, one start", "0 of 1", "-20.0 %", "-20.0 %"],
            ["second", "rows of unit length, one start", "0 of 1", "-80.0 %", "-80.0 %"],
        ]
        assert [row[2].mark for row in second.rows] == ["best", "", "", ""]
        assert second.rows[0][3].detail == "MCFS over maximum variance on first, 6 columns"
        assert "whether it holds" in render(page)


def test_papers_claims_are_in_their_files():
    figures = [load_experiment(f"thesis-{name}") for name in ("figure4", "figure5", "figure7")]
    sizes = {claim.by for figure in figures for claim in figure.claims}
    assert sizes == {0.0, 0.106, 0.21, 0.06, 0.104, 0.445, 0.092, 0.352, 0.5, 0.25}
