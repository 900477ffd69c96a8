"""What an experiment is: data sets, methods, a task with its options, and the paper's values."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ._method import Method
from ._methods import find_method
from ._metric import Measure, Metric

if TYPE_CHECKING:
    from ._task import Task

QUICK_ROWS, QUICK_REPEATS = 1000, 2


@dataclass(frozen=True)
class DataSpec:
    """A data set and how it is used; of one with several views, `views` names those that are, if not all.

    A data set that is used in several ways has an `id` for each. `classes` are names of classes, or patterns such as
    "comp.*", whose rows are used: each class has the number of the first that fits it for its label.

    Of side information, the relations in `without`, such as "compound-causes-sideeffect", are left out; `metapaths` are
    those that selectors with side information look at, if not all. `links_as` names a relation, "blog-friend-blog" for
    example, as which links between rows are side information, too.
    """

    name: str
    label: str = ""
    scale: str = "minmax"
    rows: int | None = None
    folds: int | None = None
    image_shape: tuple[int, ...] | None = None
    views: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    metapaths: tuple[str, ...] = ()
    links_as: str = ""
    id: str = ""
    classes: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What cells and files call it."""
        return self.id or self.name

    @property
    def side(self) -> dict[str, Any]:
        """What is said about side information, where anything is."""
        said = {"without": self.without, "metapaths": self.metapaths, "links_as": self.links_as}
        return {key: value for key, value in said.items() if value}


@dataclass(frozen=True)
class MethodSpec:
    """A method with parameters fixed, those of `without` to None; `vary` makes a variant of each value.

    Parameters of the method's map are varied, or its size: `n_groups` of any method that grows by groups,
    `n_components` of the others. Methods are ranked among those with the same `among`, a kernel's name for example.
    `rows` is the most rows that it is fitted on, `data_rows` the same for single data sets, `repeats` is less than the
    experiment's where a method draws little or nothing, and `skip` names data sets that it is not run on. `options`
    are those of the task for this method.
    """

    name: str
    id: str = ""
    label: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    model: Mapping[str, Any] = field(default_factory=dict)
    vary: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    rows: int | None = None
    data_rows: Mapping[str, int] = field(default_factory=dict)
    among: str = ""
    repeats: int | None = None
    skip: tuple[str, ...] = ()
    options: Any = None


@dataclass(frozen=True)
class Claim:
    """What a paper says about methods, to be tested by the experiment's own values.

    Parameters
    ----------
    text : str
        The claim in words.
    methods, over : tuple of str
        Ids of methods: each of the first is better than each of the second.
    metric : Metric
        By what it is better.
    data : tuple of str, default=()
        The data sets that the claim is about; all by default.
    at : tuple of int or str, default=()
        The places (numbers of columns, for example) that it is about; all by default. A rival that has no value there
        takes part with the one that it has.
    by : float, default=0
        By how much it is better at least: 0.1 is 10 % more or, where low values are good, a rival's value that is 10 %
        more. 0 for anything above the rival; below 0 for how far it may fall behind.
    over_best : bool, default=False
        Whether rivals with a grid take part by the best of it, which only labels show, rather than by its median.

    Examples
    --------
    >>> from vicinal.experiments import Claim, Metric
    >>> claim = Claim("A is better than B by 10 %", ("a",), ("b",), Metric("nmi", "NMI"), by=0.1)
    >>> claim.gain(0.55, 0.5) >= claim.by, round(claim.gain(0.45, 0.5), 3)
    (True, -0.1)
    """

    text: str
    methods: tuple[str, ...]
    over: tuple[str, ...]
    metric: Metric
    data: tuple[str, ...] = ()
    at: tuple[int | str, ...] = ()
    by: float = 0.0
    over_best: bool = False

    def gain(self, ours: float, theirs: float) -> float:
        """By how much a value is better than a rival's: the share of `by`."""
        high, low = (theirs, ours) if self.metric.better == "low" else (ours, theirs)
        if low == 0:
            return math.inf if high > 0 else 0.0
        return high / low - 1

    def is_met_by(self, gain: float) -> bool:
        return gain >= self.by if self.by else gain > 0


@dataclass(frozen=True)
class Variant:
    """What is changed in a cell: the kind of noise, where several are tried, a condition of the task's own, such as
    how many labels are known, and the value of a varied parameter.

    Parameters
    ----------
    noise : str, default=""
        The kind of noise; empty where there is none to tell from another.
    parameter : str, default=""
        The name of the varied parameter; empty where none is varied.
    value : object, default=None
        The value of that parameter.
    condition : str, default=""
        The condition in words, without a comma or an equals sign; empty where the task has none.

    Examples
    --------
    >>> from vicinal.experiments import Variant
    >>> str(Variant("add", "n_groups", 50)), Variant.read("epsilon=1e-05")
    ('noise=add, n_groups=50', Variant(noise='', parameter='epsilon', value=1e-05, condition=''))
    """

    noise: str = ""
    parameter: str = ""
    value: Any = None
    condition: str = ""

    def __str__(self) -> str:
        noise = f"noise={self.noise}" if self.noise else ""
        varied = f"{self.parameter}={self.value}" if self.parameter else ""
        return ", ".join(filter(None, (noise, self.condition, varied)))

    def __bool__(self) -> bool:
        return bool(self.noise or self.parameter or self.condition)

    @classmethod
    def read(cls, text: str) -> Variant:
        """The variant that `str` writes so."""
        noise = condition = ""
        if text.startswith("noise="):
            noise, _, text = text.removeprefix("noise=").partition(", ")
        first, _, rest = text.partition(", ")
        if "=" not in first:
            condition, text = first, rest
        parameter, _, value = text.partition("=")
        return cls(noise, parameter, _literal(value) if parameter else None, condition)


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


@dataclass(frozen=True)
class Cell:
    """One fold of one method on one data set: the unit of work, and the most that a killed run loses of each process.

    Parameters
    ----------
    data : str
        The data set's name, or its id in the experiment.
    method : str
        The method's id in the experiment.
    variant : Variant
        What is changed in it.
    seed : int
        The seed of splits and draws.
    fold : int
        Number of the test part, from 0; 0 for tasks without folds.

    Examples
    --------
    >>> from vicinal.experiments import Cell, Variant
    >>> print(Cell("mnist", "randlocal", Variant(parameter="n_groups", value=50), seed=0, fold=2))
    mnist randlocal n_groups=50 fold 2
    """

    data: str
    method: str
    variant: Variant
    seed: int
    fold: int

    def __str__(self) -> str:
        return " ".join(filter(None, (self.data, self.method, str(self.variant), f"fold {self.fold}")))


@dataclass(frozen=True)
class Experiment:
    """A declared experiment.

    Parameters
    ----------
    name, title, source : str
        Its name, a heading, and the paper and table that it repeats.
    task : Task
        What is done with the data; it owns the metrics, the evaluation, the words and the sections of the report.
    options : object
        The task's own options, of the type `task.Options`.
    data : tuple of DataSpec
        The data sets and how each is used.
    methods : tuple of MethodSpec
        The methods with their fixed and varied parameters.
    metrics : tuple of Metric
        What is measured; verdicts and charts are about the first.
    shown : tuple of Metric, default=()
        What the table shows, where it is not the metrics: seconds for features or for the model.
    repeats : int, default=1
        Seeds: other splits, other draws.
    n_groups, n_components : int
        Size of the methods that grow by groups, and of the others.
    noise : tuple of {"none", "add", "append", "columns", "rows"}, default=("none",)
        Kinds of noise that every method is run with.
    paper : mapping of method to data to measure and variant to (mean, deviation)
        The paper's values.
    paper_data : str, default=""
        The data that the paper's values are of, where these are others than the experiment's: values then stand beside
        ours, and nothing is said about how far they are apart.
    claims : tuple of Claim, default=()
        What the paper says in words: the verdict tells which of it holds.
    subject : str, default="randlocal"
        The method that the paper is about: the report's verdict is on those whose id begins with it.
    remarks : tuple of str, default=()
        Sentences at the end of the report.
    first_seed : int, default=0
        The seed of the first repeat; the others count on from it.
    of : str, default=""
        The experiment whose run this is another view of: same cells, same CSV, something else shown.
    only : tuple of Measure, default=()
        The measures that such a view shows; all by default.
    quick : bool, default=False
        Whether it is what `quickened` makes of another one.

    See Also
    --------
    load_experiment : Reads one by name or from a TOML file.

    Examples
    --------
    >>> from vicinal.experiments import load_experiment
    >>> experiment = load_experiment("randlocal-table3")
    >>> experiment.label("raw"), experiment.data_label("mnist")
    ('RAW', 'MNIST')
    >>> quick = experiment.quickened()
    >>> quick.n_groups, len(quick.cells()) < len(experiment.cells())
    (200, True)
    """

    name: str
    title: str
    source: str
    task: Task
    options: Any
    data: tuple[DataSpec, ...]
    methods: tuple[MethodSpec, ...]
    metrics: tuple[Metric, ...]
    shown: tuple[Metric, ...] = ()
    repeats: int = 1
    n_groups: int = 400
    n_components: int = 1000
    noise: tuple[str, ...] = ("none",)
    paper: Mapping[str, Any] = field(default_factory=dict)
    paper_data: str = ""
    claims: tuple[Claim, ...] = ()
    subject: str = "randlocal"
    remarks: tuple[str, ...] = ()
    first_seed: int = 0
    of: str = ""
    only: tuple[Measure, ...] = ()
    quick: bool = False

    @property
    def run_name(self) -> str:
        """The name of the CSV of its run."""
        return self.of or self.name

    @property
    def subject_label(self) -> str:
        return find_method(self.subject).label

    def data_spec(self, key: str) -> DataSpec:
        return next(spec for spec in self.data if spec.key == key)

    def method_spec(self, id: str) -> MethodSpec:
        return next(spec for spec in self.methods if spec.id == id)

    def label(self, id: str) -> str:
        spec = self.method_spec(id)
        return spec.label or find_method(spec.name).label

    def data_label(self, key: str) -> str:
        return self.data_spec(key).label or key

    def method(self, cell: Cell) -> Method:
        """A cell's method with the parameters that are fixed or varied."""
        spec, variant = self.method_spec(cell.method), cell.variant
        method = find_method(spec.name)
        is_size = variant.parameter == "n_groups" or variant.parameter == method.size
        varied = {variant.parameter: variant.value} if variant.parameter and not is_size else {}
        return method.fixing({**spec.parameters, **dict.fromkeys(spec.without), **varied}, spec.model)

    def variants(self, spec: MethodSpec) -> list[Variant]:
        """Every combination of noise, conditions and varied parameters; an empty one where nothing varies."""
        several = len(self.noise) > 1 or self.noise != ("none",)
        varied = [(name, value) for name, values in spec.vary.items() for value in values] or [("", None)]
        return [
            Variant(noise if several else "", name, value, condition)
            for noise, condition, (name, value) in itertools.product(self.noise, self.task.conditions(self), varied)
        ]

    def cells(self) -> list[Cell]:
        """All cells, fold by fold, so that a run that is stopped has whole folds."""
        cells = []
        folds = self.task.folds(self)
        for repeat, fold in itertools.product(range(self.repeats), range(folds)):
            for data, method in itertools.product(self.data, self.methods):
                if fold >= min(data.folds or folds, folds) or repeat >= (method.repeats or self.repeats):
                    continue
                if data.key not in method.skip:
                    seed = self.first_seed + repeat
                    cells += [Cell(data.key, method.id, variant, seed, fold) for variant in self.variants(method)]
        return cells

    def measures(self, cell: Cell) -> tuple[Measure, ...]:
        return self.task.measures(self, cell)

    def quickened(self) -> Experiment:
        """The same experiment on few rows, folds, runs and parameters, with the first half of what is varied."""
        most = self.task.quick_rows
        data = tuple(replace(spec, rows=min(spec.rows or most, most), folds=None) for spec in self.data)
        methods = tuple(
            replace(
                spec,
                vary=_first_half(spec.vary),
                parameters=self.task.quick_parameters(spec.parameters),
                model=self.task.quick_parameters(spec.model),
                options=self.task.quick_method_options(spec.options),
            )
            for spec in self.methods
        )
        return replace(
            self,
            data=data,
            methods=methods,
            options=self.task.quick_options(self.options),
            repeats=min(self.repeats, QUICK_REPEATS),
            n_groups=min(max(1, self.n_groups // 2), 200),
            n_components=min(self.n_components, 200),
            quick=True,
        )


def _first_half(vary: Mapping[str, tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
    return {name: values[: max(1, len(values) // 2)] for name, values in vary.items()}
