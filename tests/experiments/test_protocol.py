"""The protocol's hash: changes with all that values depend on, and with nothing else."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline, make_union
from sklearn.semi_supervised import SelfTrainingClassifier

from vicinal import RandLocal
from vicinal.experiments import TASKS, Method, Role, _method, _methods, find_method, read_experiment
from vicinal.experiments._methods import METHODS
from vicinal.experiments._protocol import describe_method, protocol_of
from vicinal.experiments._results import ResultFile, failed_results, stamped

SMALL = """
title = "A small one"
task = "classification"
metrics = ["accuracy"]
folds = 3
data = ["iris", { name = "wine", folds = 2 }]
methods = ["raw", { name = "randlocal", parameters = { epsilon = 0.1 } }]
"""


class TestProtocol:
    """Figures of one protocol are never taken for figures of another, nor refused for a new label."""

    def by_cell(self, experiment):
        return {(cell.data, cell.method): protocol_of(experiment, cell) for cell in experiment.cells()}

    def hashes(self, text=SMALL, options=None, **changes):
        experiment = read_experiment("small", text)
        options = replace(experiment.options, **(options or {}))
        return self.by_cell(replace(experiment, options=options, **changes))

    @pytest.mark.parametrize(
        "changes",
        [
            {"options": {"folds": 4}},
            {"options": {"tuning_rows": 10}},
            {"options": {"tuning_folds": 4}},
            {"n_groups": 10},
            {"n_components": 10},
            {"metrics": (TASKS["classification"].metric("micro_f1"),)},
            {"quick": True},
        ],
        ids=["folds", "tuning rows", "tuning folds", "groups", "components", "metrics", "quick"],
    )
    def test_changes_with_the_experiment(self, changes):
        assert not set(self.hashes(**changes).values()) & set(self.hashes().values())

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ('"iris"', '{ name = "iris", rows = 50 }'),
            ('"iris"', '{ name = "iris", scale = "matrix" }'),
            ('"iris"', '{ name = "iris", image_shape = [2, 2] }'),
            ('["raw"', '[{ name = "raw", model = { C = 2.0 } }'),
            ('["raw"', '[{ name = "raw", rows = 10 }'),
            ('["raw"', '[{ name = "raw", data_rows = { iris = 10 } }'),
            ('["raw"', '[{ name = "raw", tuning_rows = { iris = 10 } }'),
            ('["raw"', '[{ name = "trees", id = "raw" }'),
        ],
    )
    def test_changes_with_a_data_set_or_a_method_for_these_only(self, old, new):
        before, changed = self.hashes(), self.hashes(SMALL.replace(old, new))
        touched = {place for place in before if before[place] != changed[place]}
        of_data = {("iris", "raw"), ("iris", "randlocal")}
        of_method = {("iris", "raw"), ("wine", "raw")}
        assert touched == (of_data if "iris" in old else of_data & of_method if "data_rows" in new else of_method)

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("A small one", "Another title"),
            ('"iris"', '{ name = "iris", label = "Iris" }'),
            ('"iris"', '{ name = "iris", folds = 3 }'),
            ('["raw"', '[{ name = "raw", label = "RAW", repeats = 1 }'),
            ('["raw"', '[{ name = "raw", data_rows = { wine = 1000 } }'),
            (
                "folds = 3",
                'folds = 3\nremarks = ["A word."]\nsource = "KDD"\npaper = { raw = { iris = { accuracy = [0.5] } } }',
            ),
        ],
    )
    def test_does_not_change_with_what_does_not_matter(self, old, new):
        changed = self.by_cell(read_experiment("other name", SMALL.replace(old, new)))
        if "data_rows" in new:
            changed = {place: value for place, value in changed.items() if place[0] == "iris"}
        assert changed.items() <= self.hashes().items()

    def test_more_repeats_and_another_method_keep_what_is_there(self):
        before = self.hashes()
        assert before == self.hashes(SMALL + "repeats = 2\n")
        more = self.hashes(SMALL.replace('["raw"', '["raw", "trees"'))
        assert before.items() < more.items()

    def test_does_not_change_with_seeds(self):
        experiment = replace(read_experiment("small", SMALL), first_seed=7)
        assert {cell.seed for cell in experiment.cells()} == {7}
        assert self.by_cell(experiment) == self.hashes()

    def test_does_not_change_with_threads_and_states_of_estimators(self, monkeypatch):
        before = self.hashes()
        for parameters in ({"n_jobs": 3}, {"random_state": 11}):
            made = replace(find_method("randlocal"), make=lambda to, own=parameters: RandLocal(to.n_groups, **own))
            monkeypatch.setattr(_methods, "METHODS", (METHODS[0], made))
            assert self.hashes() == before

    @pytest.mark.parametrize(
        "changes",
        [
            {"grid": lambda to: [{"n_neighbors": [1, 3]}]},
            {"make": lambda to: RandLocal(to.n_groups, n_neighbors=2)},
            {"most_rows": 1000},
        ],
        ids=["grid", "default", "most rows"],
    )
    def test_changes_with_what_a_method_is(self, monkeypatch, changes):
        before = self.hashes()
        changed = replace(find_method("randlocal"), **changes)
        monkeypatch.setattr(_methods, "METHODS", (find_method("raw"), changed))
        touched = {place for place, value in self.hashes().items() if before[place] != value}
        assert touched == {("iris", "randlocal"), ("wine", "randlocal")}

    def test_a_parameter_that_came_later_counts_where_it_changes_something(self):
        one, two = (describe_method(find_method("randlocal").fixing({"n_levels": n}, {})) for n in (1, 2))
        assert "n_levels" not in one[3][1]
        assert two[3][1]["n_levels"] == "2"

    def test_changes_with_the_grid_of_the_svm(self, monkeypatch):
        before = self.hashes()
        monkeypatch.setattr(_method, "C_GRID", (1.0, 10.0))
        assert not set(before.values()) & set(self.hashes().values())

    def test_changes_with_the_data(self, tmp_path, monkeypatch):
        """A file of that name in VICINAL_DATA is used, whatever the catalogue knows."""
        (tmp_path / "tabular").mkdir()
        monkeypatch.setenv("VICINAL_DATA", str(tmp_path))
        before = self.hashes()
        hashes = []
        for size in (20, 30):
            np.savez(tmp_path / "tabular" / "iris.npz", X=np.eye(size), y=np.arange(size) % 2)
            hashes.append(self.hashes())
        for now in hashes:
            assert {place for place in now if now[place] != before[place]} == {("iris", "raw"), ("iris", "randlocal")}
        assert hashes[0]["iris", "raw"] != hashes[1]["iris", "raw"]

    def test_estimators_within_estimators_count_by_what_they_are(self):
        def described(C, seed=0):
            logistic = LogisticRegression(C=C, random_state=seed)
            within = make_pipeline(make_union("passthrough", make_pipeline(RandLocal(3))), logistic)
            of = SelfTrainingClassifier(within, threshold=0.5)
            return describe_method(Method("made", "made", Role.MODEL, lambda to: of))

        assert described(1.0) == described(1.0, seed=1)
        assert described(1.0) != described(2.0)
        assert "'n_groups': '3'" in str(described(1.0))

    def test_a_result_of_another_one_is_named(self, tmp_path):
        experiment = read_experiment("small", SMALL)
        cells = experiment.cells()
        results = [
            replace(result, value=0.5, notes="")
            for cell in cells
            for result in stamped(experiment, failed_results(experiment, cell, "made up"), {})
        ]
        path = tmp_path / "small.csv"
        ResultFile(path, experiment, results).write()
        assert len(ResultFile.open(path, experiment).results) == len(cells)
        strange = replace(results[3], protocol="0123abcd")
        ResultFile(path, experiment, [*results[:3], strange, *results[4:]]).write()
        now = protocol_of(experiment, cells[3])
        message = (
            f"small.csv holds 1 result of another protocol than small has now, the first of them wine randlocal fold 0 "
            rf"\(has protocol 0123abcd, now {now}\)"
        )
        with pytest.raises(ValueError, match=message):
            ResultFile.open(path, experiment)

    def test_a_result_of_a_cell_that_is_no_more_is_named(self, tmp_path):
        more = read_experiment("small", SMALL + "repeats = 2\n")
        results = [
            replace(stamped(more, failed_results(more, cell, ""), {})[0], value=0.5, notes="") for cell in more.cells()
        ]
        path = tmp_path / "small.csv"
        ResultFile(path, more, results).write()
        with pytest.raises(
            ValueError, match=r"10 results of another protocol .* iris raw fold 0 \(is no part of it now\)"
        ):
            ResultFile.open(path, read_experiment("small", SMALL))
