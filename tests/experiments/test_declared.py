"""Declared experiments: their cells, what is refused and how, and other views of a run."""

from dataclasses import replace

import pytest
from report.results import results_of

from vicinal.experiments import Variant, load_experiment, read_experiment, summarise
from vicinal.experiments._metric import MODEL_SECONDS

SMALL = """
title = "A small one"
task = "classification"
metrics = ["accuracy"]
folds = 3
data = ["iris", { name = "wine", folds = 2 }]
methods = ["raw", { name = "randlocal", parameters = { epsilon = 0.1 } }]
"""


class TestCells:
    def test_folds_data_methods(self):
        cells = read_experiment("small", SMALL).cells()
        assert [(cell.fold, cell.data, cell.method) for cell in cells] == [
            *((fold, data, method) for fold in (0, 1) for data in ("iris", "wine") for method in ("raw", "randlocal")),
            (2, "iris", "raw"),
            (2, "iris", "randlocal"),
        ]

    def test_repeats_are_seeds_and_a_method_may_have_fewer(self):
        small = read_experiment("small", SMALL.replace('["raw"', '[{ name = "raw", repeats = 1 }') + "repeats = 2\n")
        seeds = {(cell.method, cell.seed) for cell in replace(small, first_seed=7).cells()}
        assert seeds == {("raw", 7), ("randlocal", 7), ("randlocal", 8)}

    def test_skipped(self):
        small = read_experiment("small", SMALL.replace('["raw"', '[{ name = "raw", skip = ["wine"] }'))
        assert {(cell.data, cell.method) for cell in small.cells()} == {
            ("iris", "raw"),
            ("iris", "randlocal"),
            ("wine", "randlocal"),
        }

    def test_noise_and_varied_parameters_make_variants(self):
        text = SMALL.replace("parameters = { epsilon = 0.1 }", "vary = { epsilon = [0.0, 1e-5], n_groups = [5] }")
        small = read_experiment("small", text + 'noise = ["none", "add"]\n')
        raw, varied = small.methods
        assert small.variants(raw) == [Variant("none"), Variant("add")]
        assert list(map(str, small.variants(varied))) == [
            f"noise={noise}, {varied}"
            for noise in ("none", "add")
            for varied in ("epsilon=0.0", "epsilon=1e-05", "n_groups=5")
        ]

    @pytest.mark.parametrize(
        "variant",
        [
            Variant(),
            Variant("add"),
            Variant("", "epsilon", 1e-5),
            Variant("rows", "n_groups", 50),
            Variant("", "metric", "cosine"),
            Variant("", "feature_range", (16, 200)),
            Variant("none", "penalty", None),
        ],
        ids=str,
    )
    def test_variants_are_read_as_they_were_written(self, variant):
        assert Variant.read(str(variant)) == variant
        assert bool(variant) == (variant != Variant())

    @pytest.mark.parametrize(
        ("task", "options", "each"),
        [
            ("classification", "", 1),
            ("clustering", "runs = 4", 4),
            ("outliers", "neighbors = [1, 5, 9]", 3),
            ("images", "", 1),
        ],
    )
    def test_values_per_cell(self, task, options, each):
        metric = {"outliers": "auc", "images": "sparsity_ratio"}.get(task, "accuracy")
        text = SMALL.replace("classification", task).replace('"accuracy"', f'"{metric}"')
        if task != "classification":
            text = text.replace("folds = 3\n", "").replace(", folds = 2", "")
        small = read_experiment("small", f"{text}{options}\n")
        assert {small.task.runs(small) * len(small.measures(cell)) for cell in small.cells()} == {each}


class TestRefused:
    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            ("folds = 3", "flods = 3", r"small: an experiment has no 'flods'; did you mean 'folds'"),
            ("folds = 2", "fold = 2", r"a data set has no 'fold'; did you mean 'folds'"),
            ("parameters", "parameter", r"a method has no 'parameter'; did you mean 'parameters'"),
            ('["raw"', '["rwa"', r"There is no method 'rwa'; did you mean 'raw'"),
            ('"accuracy"', '"acuracy"', r"there is no metric 'acuracy' for classification; did you mean 'accuracy'"),
            ('"accuracy"', '"nmi"', r"there is no metric 'nmi' for classification; known are accuracy"),
            (
                "classification",
                "forecasts",
                r"task must be one of classification, regression, clustering, selection, view-selection, multi-label, "
                r"link-retrieval, cross-view-links, attribute-scores, outliers, images, kernel",
            ),
            ('title = "A small one"', "", r"The experiment small lacks 'title'"),
            ('["raw"', '["raw", "raw"', r"names a method twice; give each an id of its own"),
            ('["iris"', '["iris", "iris"', r"names a data set twice"),
            ("folds = 2", 'scale = "big"', r"scale must be one of none, standard, minmax, matrix, tfidf; got 'big'"),
            ("folds = 3", 'noise = ["loud"]', r"noise is one of none, add, append, columns, rows; got 'loud'"),
            ("folds = 3", 'shown = ["hours"]', r"shown is one of feature_seconds, model_seconds; got 'hours'"),
            (
                '["raw"',
                '[{ name = "raw", skip = ["wien"] }',
                r"'wien', which is none of its data sets; did you mean 'wine'",
            ),
            ('["raw"', '[{ name = "raw", data_rows = { iri = 5 } }', r"'iri', which is none of its data sets"),
            ("folds = 3", "paper = { rwa = {} }", r"'rwa', which is none of its methods; did you mean 'raw'"),
            (
                "folds = 3",
                "paper = { raw = { irs = {} } }",
                r"'irs', which is none of its data sets; did you mean 'iris'",
            ),
            ("folds = 3", 'folds = "3"', r"folds must be a whole number; got '3'"),
            ("folds = 3", "folds = true", r"folds must be a whole number; got True"),
            ("folds = 3", "folds = 1", r"folds must be at least 2; got 1"),
            ("folds = 3", "repeats = 0", r"repeats must be at least 1; got 0"),
            ('["accuracy"]', '"accuracy"', r"metrics must be a list; got 'accuracy'"),
            ('["raw"', "[7", r"a method is a name or a table; got 7"),
            ('["raw"', '[{ id = "a" }', r"a method lacks its name"),
            ("parameters = { epsilon = 0.1 }", "parameters = 0.1", r"parameters must be a table; got 0.1"),
            ("parameters = { epsilon = 0.1 }", "vary = { epsilon = 0.1 }", r"vary needs a list of values of 'epsilon'"),
            ("folds = 3", "quick = true", r"has no 'quick'"),
            ("folds = 3", 'subject = "ruls"', r"There is no method 'ruls'; did you mean 'rulls'"),
        ],
    )
    def test_with_one_sentence(self, old, new, message):
        with pytest.raises(ValueError, match=message) as error:
            read_experiment("small", SMALL.replace(old, new, 1))
        assert "\n" not in str(error.value)

    def test_broken_toml(self):
        with pytest.raises(ValueError, match=r"^The experiment small is not valid TOML: .*line 1.*\.$") as error:
            read_experiment("small", "title 'no equals sign'")
        assert "\n" not in str(error.value)

    def test_outliers_need_neighbours(self):
        text = SMALL.replace("classification", "outliers").replace("accuracy", "auc").replace("folds = 3\n", "")
        text = text.replace(", folds = 2", "")
        with pytest.raises(ValueError, match="needs 'neighbors', the k of its outlier scores"):
            read_experiment("small", text)
        nose = text.replace('["raw"', '[{ name = "raw", detector = "nose" }') + "neighbors = [1]\n"
        with pytest.raises(
            ValueError, match=r"experiment small: detector must be one of 'distance', 'values'; got 'nose"
        ):
            read_experiment("small", nose)

    def test_options_of_other_tasks_are_none_of_this_one(self):
        clustering = SMALL.replace("classification", "clustering")
        with pytest.raises(ValueError, match="an experiment has no 'folds'"):
            read_experiment("small", clustering)
        with pytest.raises(ValueError, match="clustering has no folds, but wine has folds = 2; leave that out"):
            read_experiment("small", clustering.replace("folds = 3\n", ""))

    def test_unknown_names(self):
        with pytest.raises(
            ValueError, match=r"There is no experiment 'randlocal-tabel3'; did you mean 'randlocal-table3'"
        ):
            load_experiment("randlocal-tabel3")
        with pytest.raises(FileNotFoundError, match=r"There is no file nowhere\.toml"):
            load_experiment("nowhere.toml")


def test_a_file_of_the_users(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(SMALL, encoding="utf-8")
    mine = load_experiment(str(path))
    assert (mine.name, mine.run_name, mine.title, mine.source) == ("mine", "mine", "A small one", "")
    assert mine.methods[1].parameters == {"epsilon": 0.1}
    assert mine.data_label("wine") == "wine"
    assert mine.label("randlocal") == "RandLocal"


class TestViews:
    VIEW = 'title = "Seconds"\nof = "randlocal-table3"\nshown = ["model_seconds"]\n'

    def test_same_cells_something_else_shown(self):
        view, of = read_experiment("view", self.VIEW), load_experiment("randlocal-table3")
        assert view.cells() == of.cells()
        assert (view.name, view.run_name, view.title) == ("view", "randlocal-table3", "Seconds")
        assert (view.shown, of.shown) == ((MODEL_SECONDS,), ())
        assert (view.paper, view.remarks) == ({}, ())
        assert view.quickened().cells() == of.quickened().cells()

    def test_what_the_run_settles_is_refused(self):
        with pytest.raises(ValueError, match=r"view shows the run of randlocal-table3, which settles 'folds' already"):
            read_experiment("view", self.VIEW + "folds = 3\n")

    def test_mistakes_are_found_here_too(self):
        with pytest.raises(ValueError, match="shown is one of"):
            read_experiment("view", self.VIEW.replace("model_seconds", "seconds"))
        with pytest.raises(ValueError, match=r"'rwa', which is none of its methods"):
            read_experiment("view", self.VIEW + "[paper.rwa]\n")
        with pytest.raises(ValueError, match=r"There is no experiment 'randlocal-table'"):
            read_experiment("view", self.VIEW.replace("table3", "table"))


class TestOnly:
    """A view of a run may show some of its measures, and be about another method."""

    RUN = """
title = "Selection"
task = "selection"
metrics = ["accuracy", "nmi"]
subject = "mcfs"
features = [3, 6]
data = ["iris"]
methods = ["raw", "mcfs", "udfs"]
"""

    @pytest.fixture
    def run(self, tmp_path):
        path = tmp_path / "run.toml"
        path.write_text(self.RUN)
        return path

    def view(self, run, more):
        return read_experiment("view", f'of = "{run}"\ntitle = "Some of it"\n{more}\n')

    def test_its_summaries_are_those(self, run):
        whole, view = load_experiment(str(run)), self.view(run, 'only = ["nmi@3", "nmi@all"]\nsubject = "udfs"')
        results = results_of(whole)
        shown = summarise(view, results)
        assert {(summary.method, str(summary.measure)) for summary in shown} == {
            ("raw", "nmi@all"),
            ("mcfs", "nmi@3"),
            ("udfs", "nmi@3"),
        }
        assert [summary.method for summary in shown if summary.ours] == ["udfs"]
        assert [s.by_labels is not None for s in shown] == [s.method == "udfs" for s in shown]
        means = {(s.method, s.measure): s.mean for s in summarise(whole, results)}
        assert all(means[summary.method, summary.measure] == summary.mean for summary in shown)

    def test_refused_with_one_sentence(self, run):
        with pytest.raises(ValueError, match=r"only names measures of run, and 'nmi@4' is none of them"):
            self.view(run, 'only = ["nmi@4"]')
        with pytest.raises(ValueError, match="an experiment has no 'only'"):
            read_experiment("small", self.RUN + 'only = ["nmi@3"]')
