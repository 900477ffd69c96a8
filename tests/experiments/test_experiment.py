"""Declared experiments: what the packaged ones hold, what is refused and how, and when figures are of another one."""

from dataclasses import replace

import pytest

from vicinal import datasets
from vicinal.experiments import experiment_names, load_experiment, read_experiment
from vicinal.experiments._experiment import write_setting
from vicinal.experiments._methods import Setting, find_method

SMALL = """
title = "A small one"
task = "classification"
metrics = ["accuracy"]
folds = 3
data = ["iris", { name = "wine", folds = 2 }]
methods = ["raw", { name = "randlocal", parameters = { epsilon = 0.1 } }]
"""


class TestPackaged:
    @pytest.fixture(params=experiment_names())
    def packaged(self, request):
        return load_experiment(request.param)

    def test_there_are_the_papers_tables_and_figures(self):
        assert experiment_names() == [
            "expand-accuracy",
            "expand-kernel-error",
            "randlocal-figure4",
            "randlocal-figure5",
            "randlocal-table3",
            "randlocal-table5-6",
            "randlocal-table7",
            "randlocal-times",
            "rulls-figure3",
            "rulls-figure4",
            "rulls-table2",
            "rulls-table3",
            "rulls-table4",
            "rulls-table5",
            "rulls-table6",
            "thesis-figure1",
            "thesis-figure2",
            "thesis-table3",
            "thesis-table3-one-start",
            "thesis-times",
        ]

    def test_all_of_their_data_can_be_had(self, packaged):
        assert {spec.name for spec in packaged.data} <= {entry.name for entry in datasets.catalog()}

    @pytest.mark.parametrize("quick", [False, True])
    def test_cells_are_unique_and_whole_folds_come_first(self, packaged, quick):
        packaged = packaged.quickened() if quick else packaged
        cells = packaged.cells()
        assert len({cell.key for cell in cells}) == len(cells) > 0
        order = [(cell.seed, cell.fold) for cell in cells]
        assert order == sorted(order)
        for cell in cells:
            assert write_setting(packaged.setting(cell)) == cell.setting

    def test_fixed_and_varied_parameters_are_the_methods_own(self, packaged):
        to = Setting(n_rows=50, n_features=10)
        for spec in packaged.methods:
            for setting in packaged.settings(spec):
                varied = {name: value for name, value in setting.items() if name not in ("noise", "n_groups")}
                method = find_method(spec.name).fixing({**spec.parameters, **varied}, spec.model)
                if method.make_map is not None:
                    built = method.build_map(to, {}).get_params()
                    assert {name: built[name] for name in method.parameters} == method.parameters
                    assert not any(set(part) & set(method.parameters) for part in method.map_grid(to))
                assert method.build_model(to, {})

    def test_quick_ones_are_smaller_and_of_another_protocol(self, packaged):
        quick = packaged.quickened()
        assert quick.quick
        assert all(spec.rows <= 1000 for spec in quick.data)
        assert len(quick.cells()) <= len(packaged.cells())
        assert max(cell.fold for cell in quick.cells()) <= 1
        assert {cell.data for cell in quick.cells()} == {cell.data for cell in packaged.cells()}
        assert not {cell.protocol for cell in quick.cells()} & {cell.protocol for cell in packaged.cells()}

    def test_quick_ones_vary_less(self):
        figure3 = load_experiment("rulls-figure3").quickened().method_spec("rulls")
        assert figure3.vary == {"n_groups": (1, 10)}
        errors = load_experiment("expand-kernel-error").quickened().method_spec("nystroem")
        assert errors.vary == {"n_components": (64, 128, 256)}

    def test_the_paper_protocol_of_its_methods(self):
        table3 = load_experiment("randlocal-table3")
        assert (table3.folds, table3.n_groups) == (5, 400)
        assert find_method("randlocal").build_map(Setting(50, 10), {}).epsilon == 1e-4
        figure5 = load_experiment("randlocal-figure5")
        values = [write_setting(setting) for setting in figure5.settings(figure5.methods[0])]
        assert values == [
            *(f"epsilon={epsilon}" for epsilon in (0.0, 1e-5, 1e-4, 1e-3, 1e-2, 0.1)),
            *(f"n_groups={groups}" for groups in (50, 100, 200, 300, 400, 500, 600, 800, 1000)),
        ]

    def test_what_noise_cost_agrees_with_the_papers_own_percentages(self):
        """Table 7 names the loss against Table 3 in per cent, too: mistyped figures would not agree with it."""
        losses = {
            "raw": {"ijcnn1": (0.75, 0.26), "covtype": (3.12, 3.10), "mnist": (None, 1.38)},
            "rbf-svm": {"ijcnn1": (3.81, 3.54), "covtype": (34.54, 34.54), "mnist": (5.08, 4.56)},
            "dae": {"ijcnn1": (3.15, 3.27), "covtype": (7.15, 6.52), "mnist": (6.04, 6.56)},
            "sdae": {"ijcnn1": (3.50, 3.85), "covtype": (4.62, 4.67), "mnist": (12.49, 14.47)},
            "randlocal": {"ijcnn1": (2.88, 3.26), "covtype": (9.94, 11.98), "mnist": (4.47, 4.30)},
        }
        without, noisy = (load_experiment(f"randlocal-{table}").paper for table in ("table3", "table7"))
        for method, by_data in losses.items():
            for data, loss in by_data.items():
                before = without[method][data]["micro_f1"][0]
                for kind, percent in zip(("add", "append"), loss, strict=True):
                    after = noisy[method][data][f"micro_f1, noise={kind}"][0]
                    # The paper's 0.49 for raw MNIST with noise added is not what its own two figures say: left out.
                    if percent is not None:
                        assert 100 * (1 - after / before) == pytest.approx(percent, abs=0.03), (method, data, kind)


class TestRULLS:
    """The paper's tables are whole, and agree with what else it says about them."""

    METHODS = ("raw", "randlocal", "projected-landmarks", "sampled-landmarks", "rulls")
    NOISY = ("japanese_vowels", "fashion_mnist", "breast_cancer", "baseball")

    def percent(self, name, method, data, metric="accuracy"):
        return 100 * load_experiment(name).paper[method][data][metric][0]

    @pytest.mark.parametrize(
        ("method", "losses"),
        [
            ("raw", (1.28, 0.27, 8.15, 0.85, 21.65, 1.00, 4.36, 0.64)),
            ("randlocal", (4.38, 1.78, 5.14, 0.40, 7.42, 0.03, 1.22, 0.75)),
            ("projected-landmarks", (1.76, 1.15, 3.83, 0.75, 7.88, 0.45, 1.40, 0.53)),
            ("sampled-landmarks", (1.48, 1.11, 3.06, 1.26, 7.96, 0.14, 0.25, 1.20)),
            ("rulls", (6.26, 1.48, 4.73, 0.94, 8.41, 0.01, 2.63, 0.87)),
        ],
    )
    def test_what_noise_cost_agrees_with_table_3(self, method, losses):
        places = [(kind, data) for kind in ("columns", "rows") for data in self.NOISY]
        for (kind, data), loss in zip(places, losses, strict=True):
            before = self.percent("rulls-table2", method, data)
            after = self.percent("rulls-table3", method, data, f"accuracy, noise={kind}")
            assert abs(before - after) == pytest.approx(loss, abs=0.011), (kind, data)

    @pytest.mark.parametrize(
        ("method", "gains"), [("randlocal", (8.73, 9.11, 0.88, None, 2.28)), ("raw", (None, None, 4.08, 3.28, 7.41))]
    )
    def test_what_rulls_gains_agrees_with_section_4_3(self, method, gains):
        """Left out: 8 % and 7.84 % over raw features and 0.12 % over RandLocal, which Table 2 does not have."""
        data = ("japanese_vowels", "fashion_mnist", "breast_cancer", "baseball", "pendigits")
        for name, gain in zip(data, gains, strict=True):
            if gain is not None:
                ours, theirs = (self.percent("rulls-table2", each, name) for each in ("rulls", method))
                assert ours - theirs == pytest.approx(gain, abs=0.011), name

    def test_table_4_stands_beside_tables_2_and_3(self):
        assert [self.percent("rulls-table4", "rulls-robust", "breast_cancer", f"accuracy, noise={kind}") for kind in (
            "none", "columns", "rows"
        )] == pytest.approx([92.28, 86.49, 93.33])  # fmt: skip
        for method in ("raw", "sampled-landmarks", "rulls"):
            beside = load_experiment("rulls-table4").paper[method]["breast_cancer"]
            noisy = load_experiment("rulls-table3").paper[method]["breast_cancer"]
            without = load_experiment("rulls-table2").paper[method]["breast_cancer"]["accuracy"]
            assert beside == {**noisy, "accuracy, noise=none": without}

    def test_clustering_agrees_with_the_text(self):
        """Section 4.5: RULLS is best on two of three; ROBPCA gives more than PCA on Iris."""
        told = load_experiment("rulls-table5").paper
        assert set(told) == set(self.METHODS)
        best = {data: max(told, key=lambda method: told[method][data]["nmi_geometric"]) for data in told["raw"]}
        assert best == {"anuran_mfcc": "rulls", "iris": "sampled-landmarks", "baseball": "rulls"}
        six = load_experiment("rulls-table6").paper
        assert six["rulls"]["iris"] == told["rulls"]["iris"]
        assert six["rulls-robust"]["iris"]["nmi_geometric"] == (0.7981,)

    def test_curves_end_at_table_2(self):
        curves, table = (load_experiment(name).paper for name in ("rulls-figure3", "rulls-table2"))
        for method in self.METHODS:
            ends = {data: tuple(figures.values()) for data, figures in curves[method].items()}
            assert ends == {
                data: (figures["accuracy"],) for data, figures in table[method].items() if data != "fashion_mnist"
            }
        for method in self.METHODS[1:]:
            spec = load_experiment("rulls-figure3").method_spec(method)
            assert spec.vary == {"n_groups": (1, 10, 50, 100)}

    def test_settings_are_the_papers(self):
        to = Setting(n_rows=9961, n_features=14, n_groups=100)
        for name in ("rulls-table2", "rulls-table3", "rulls-table4", "rulls-table5", "rulls-table6", "rulls-figure3"):
            experiment = load_experiment(name)
            assert experiment.n_groups == 100
            for spec in experiment.methods:
                method = find_method(spec.name).fixing(spec.parameters, spec.model)
                if not spec.name.startswith(("rulls", "projected-landmarks", "sampled-landmarks")):
                    continue
                made = method.build_map(to, {})
                assert (made.n_iterations, made.n_landmarks, made.regularization) == (100, (32, 1024), 1e-4)
                assert made.n_nearest == 10
                if spec.name == "rulls":
                    assert (made.n_neighborhood, made.variance, made.normalize) == (30, 0.95, False)
                    assert made.pca == ("robust" if "robust" in spec.id else "classic")

    def test_figure_4_has_one_draw_of_122_landmarks(self):
        figure = load_experiment("rulls-figure4")
        assert (figure.task, figure.n_groups) == ("images", 1)
        shares = {method: told["japanese_vowels"]["sparsity_ratio"][0] for method, told in figure.paper.items()}
        assert shares.pop("randlocal") == int(1e4 / 122) / 1e4
        assert set(shares.values()) == {int(1e5 / 122) / 1e4}
        assert len(shares) == 3


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
        told = {(cell.method, cell.seed) for cell in replace(small, first_seed=7).cells()}
        assert told == {("raw", 7), ("randlocal", 7), ("randlocal", 8)}

    def test_skipped(self):
        small = read_experiment("small", SMALL.replace('["raw"', '[{ name = "raw", skip = ["wine"] }'))
        assert {(cell.data, cell.method) for cell in small.cells()} == {
            ("iris", "raw"),
            ("iris", "randlocal"),
            ("wine", "randlocal"),
        }

    def test_noise_and_varied_parameters_make_settings(self):
        text = SMALL.replace("parameters = { epsilon = 0.1 }", "vary = { epsilon = [0.0, 1e-5], n_groups = [5] }")
        small = read_experiment("small", text + 'noise = ["none", "add"]\n')
        raw, varied = small.methods
        assert small.settings(raw) == [{"noise": "none"}, {"noise": "add"}]
        assert [write_setting(setting) for setting in small.settings(varied)] == [
            f"noise={noise}, {varied}"
            for noise in ("none", "add")
            for varied in ("epsilon=0.0", "epsilon=1e-05", "n_groups=5")
        ]

    def test_write_setting(self):
        assert write_setting({}) == ""
        assert (
            write_setting({"noise": "add", "epsilon": 1e-5, "n_groups": 50}) == "noise=add, epsilon=1e-05, n_groups=50"
        )

    @pytest.mark.parametrize(
        ("task", "each"), [("classification", 1), ("clustering", 4), ("outliers", 3), ("images", 1)]
    )
    def test_rows_per_cell(self, task, each):
        metric = {"outliers": "auc", "images": "sparsity_ratio"}.get(task, "accuracy")
        text = SMALL.replace("classification", task).replace('"accuracy"', f'"{metric}"')
        small = read_experiment("small", text + "runs = 4\nneighbors = [1, 5, 9]\n")
        assert {small.rows_per_cell(cell) for cell in small.cells()} == {each}


class TestProtocol:
    """Figures of one protocol are never taken for figures of another, nor refused for a new label."""

    def hashes(self, text=SMALL, **changes):
        return [cell.protocol for cell in replace(read_experiment("small", text), **changes).cells()]

    @pytest.mark.parametrize(
        "changes",
        [
            {"folds": 4},
            {"tuning_rows": 10},
            {"tuning_folds": 4},
            {"n_groups": 10},
            {"n_components": 10},
            {"metrics": ("micro_f1",)},
            {"quick": True},
        ],
        ids=str,
    )
    def test_changes_with_the_experiment(self, changes):
        assert not set(self.hashes(**changes)) & set(self.hashes())

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ('"iris"', '{ name = "iris", rows = 50 }'),
            ('"iris"', '{ name = "iris", scale = "matrix" }'),
            ('"iris"', '{ name = "iris", image_shape = [2, 2] }'),
            ('["raw"', '[{ name = "raw", model = { C = 2.0 } }'),
            ('["raw"', '[{ name = "raw", rows = 10 }'),
            ('["raw"', '[{ name = "raw", data_rows = { iris = 10 } }'),
            ('["raw"', '[{ name = "raw", unit_rows = true }'),
            ('["raw"', '[{ name = "raw", detector = "values" }'),
            ('["raw"', '[{ name = "trees", id = "raw" }'),
        ],
    )
    def test_changes_with_a_data_set_or_a_method_for_these_only(self, old, new):
        text = SMALL.replace(old, new)
        changed = dict(
            zip([cell.key for cell in read_experiment("small", text).cells()], self.hashes(text), strict=True)
        )
        before = dict(zip([cell.key for cell in read_experiment("small", SMALL).cells()], self.hashes(), strict=True))
        touched = {key[:2] for key in before if before[key] != changed[key]}
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
        text = SMALL.replace(old, new)
        changed = {cell.key: cell.protocol for cell in read_experiment("other name", text).cells()}
        before = {cell.key: cell.protocol for cell in read_experiment("small", SMALL).cells()}
        if "data_rows" in new:
            changed = {key: value for key, value in changed.items() if key[0] == "iris"}
        assert changed.items() <= before.items()

    def test_more_repeats_and_another_method_keep_what_is_there(self):
        before = set(read_experiment("small", SMALL).cells())
        assert before < set(read_experiment("small", SMALL + "repeats = 2\n").cells())
        assert before < set(read_experiment("small", SMALL.replace('["raw"', '["raw", "trees"')).cells())


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
                "regression",
                r"task must be one of classification, clustering, selection, outliers, images, kernel; got",
            ),
            ('title = "A small one"', "", r"The experiment small lacks 'title'"),
            ('["raw"', '["raw", "raw"', r"names a method twice; give each an id of its own"),
            ('["iris"', '["iris", "iris"', r"names a data set twice"),
            ("folds = 2", 'scale = "big"', r"scale must be one of none, standard, minmax, matrix, tfidf; got 'big'"),
            ("folds = 3", 'noise = ["loud"]', r"noise is one of none, add, append, columns, rows; got 'loud'"),
            ("folds = 3", 'shown = ["hours"]', r"shown is one of feature_seconds, model_seconds; got 'hours'"),
            ('["raw"', '[{ name = "raw", detector = "nose" }', r"detector must be one of distance, values; got 'nose'"),
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
        text = SMALL.replace("classification", "outliers").replace("accuracy", "auc")
        with pytest.raises(ValueError, match="needs 'neighbors', the k of its outlier scores"):
            read_experiment("small", text)

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
        assert (view.shown, of.shown) == (("model_seconds",), ())
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
