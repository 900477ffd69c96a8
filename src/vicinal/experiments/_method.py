"""What a method is: an estimator, its role, and the grid from which its parameters are chosen."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.svm import LinearSVC
from sklearn.utils import Tags, get_tags

from ..model import LocalLinearRegressor

Grid = Mapping[str, Sequence[Any]]

C_GRID = (0.1, 1.0, 10.0, 100.0)


class Role(Enum):
    """What a method does with the columns; a task says which roles it can measure.

    Examples
    --------
    >>> from vicinal.experiments import TASKS, Role, find_method
    >>> find_method("randlocal").role
    <Role.MAP: 'makes other columns'>
    >>> Role.MODEL in TASKS["classification"].roles, Role.MODEL in TASKS["clustering"].roles
    (True, False)
    """

    COLUMNS = "leaves the columns as they are"
    MAP = "makes other columns"
    SELECTOR = "keeps some columns"
    LINKS = "clusters by links alone"
    DETECTOR = "scores rows by how normal they are"
    CLUSTERER = "puts rows into clusters"
    MODEL = "predicts labels"
    LINK_PREDICTOR = "recommends links"


@dataclass(frozen=True)
class Context:
    """What a method may depend on besides its own parameters.

    Parameters
    ----------
    n_rows, n_features : int
        Rows and columns that it is fitted on.
    n_groups : int, default=400
        Size of the methods that grow by groups, trees or iterations.
    n_components : int, default=1000
        Size of the others.
    seed : int, default=0
        The seed of its draws.
    threads : int, default=1
        Threads that it may use.
    n_classes : int, default=2
        Number of classes, which selectors take for their number of clusters; 0 where numbers are to be predicted.
    image_shape : tuple of int, default=None
        Shape of the image in each row, if it is one.

    Examples
    --------
    The grid of tuned RandLocal has rectangles of pixels where rows are images:

    >>> from vicinal.experiments import Context, find_method
    >>> method = find_method("randlocal-tuned")
    >>> [len(method.candidates(Context(1000, 784, image_shape=shape))) for shape in (None, (28, 28))]
    [4, 8]
    """

    n_rows: int
    n_features: int
    n_groups: int = 400
    n_components: int = 1000
    seed: int = 0
    threads: int = 1
    n_classes: int = 2
    image_shape: tuple[int, ...] | None = None


def linear_svm(to: Context) -> Any:
    """A linear SVM or, of numbers, ridge regression with the same C."""
    # On unseen covtype rows a tolerance of 0.01 was as good as liblinear's 0.0001, in less than half the time.
    return (LinearSVC if to.n_classes else LocalLinearRegressor)(tol=0.01, random_state=to.seed)


def no_grid(to: Context) -> list[Grid]:
    return [{}]


@dataclass(frozen=True)
class Method:
    """An estimator with its role and the grid of its parameters; a linear SVM follows it, unless it is a model itself.

    Parameters
    ----------
    name : str
        As TOML and CSV files have it.
    label : str
        As tables and sentences have it.
    role : Role
        What it does with the columns.
    make : callable, default=None
        Makes the estimator from a `Context`; None for columns as they are.
    grid : callable, default gives an empty grid
        Makes the grid from a `Context`: a list of mappings of parameters to values.
    size : {"n_groups", "n_components"}, default="n_groups"
        What its number of features grows with: groups (or trees, or iterations), or components.
    most_rows : int, default=None
        The most rows that it is ever fitted on.
    needs : str, default=""
        A package that it needs beyond those that vicinal requires.
    has_rule : bool, default=False
        Whether it is a selector that knows how many columns to keep.
    takes_unlabelled : bool, default=False
        Whether rows without a label, which is -1, may be among those that it is fitted on.
    predicts_numbers : bool, default=False
        Whether it is a model that predicts numbers as well as classes: it makes another estimator of a context without
        classes.
    parameters, model_parameters : mapping, default={}
        Parameters of the estimator and of the model after it that are fixed, and so left out of the grids.

    Examples
    --------
    >>> from vicinal.experiments import Context, find_method
    >>> method = find_method("fourier").fixing({"gamma": 0.1}, {"C": 10.0})
    >>> to = Context(n_rows=1000, n_features=20, n_components=256)
    >>> method.build(to, {})
    RBFSampler(gamma=0.1, n_components=256, random_state=0)
    >>> method.candidates(to), method.model_candidates(to)
    ([{}], [{}])
    """

    name: str
    label: str
    role: Role
    make: Callable[[Context], Any] | None = None
    grid: Callable[[Context], list[Grid]] = no_grid
    size: str = "n_groups"
    most_rows: int | None = None
    needs: str = ""
    has_rule: bool = False
    takes_unlabelled: bool = False
    predicts_numbers: bool = False
    parameters: Mapping[str, Any] = field(default_factory=dict)
    model_parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def installed(self) -> bool:
        return not self.needs or importlib.util.find_spec(self.needs) is not None

    def check_installed(self) -> None:
        if not self.installed:
            raise ValueError(f"{self.label} needs the package {self.needs}; install it with pip.")

    @property
    def has_map(self) -> bool:
        return self.role in (Role.MAP, Role.SELECTOR)

    @property
    def stands_alone(self) -> bool:
        """Whether it is an estimator that no model follows."""
        return self.role in (Role.DETECTOR, Role.CLUSTERER, Role.LINK_PREDICTOR)

    def build(self, to: Context, chosen: Mapping[str, Any]) -> Any:
        """The map, selector, detector, clusterer or predictor of links with its fixed and its chosen parameters."""
        assert self.make is not None
        return self.make(to).set_params(**{**self.parameters, **chosen})

    def build_model(self, to: Context, chosen: Mapping[str, Any]) -> Any:
        make = self.make if self.role is Role.MODEL and self.make is not None else linear_svm
        return make(to).set_params(**{**self.model_parameters, **chosen})

    def candidates(self, to: Context) -> list[dict[str, Any]]:
        """Every combination of its own grid; one without parameters where there is nothing to choose."""
        return list(ParameterGrid(self._grid(to))) if self.role is not Role.MODEL else [{}]

    def model_candidates(self, to: Context) -> list[dict[str, Any]]:
        """Every combination of the grid of its model, or of the linear SVM behind it."""
        return list(ParameterGrid(self._model_grid(to)))

    def tags(self, to: Context) -> Tags:
        """What its estimator takes, the first one of a pipeline or a union: missing values, sparse rows, labels."""
        return get_tags(self._first_estimator(to))

    def takes_missing(self, to: Context, *, sparse: bool) -> bool:
        """Whether it reads missing values, of sparse or of dense rows."""
        first = self._first_estimator(to)
        # Trees of scikit-learn read those of dense rows only, which their tags do not say.
        of_dense_rows = sparse and type(first).__module__.startswith("sklearn.")
        return get_tags(first).input_tags.allow_nan and not of_dense_rows

    def _first_estimator(self, to: Context) -> Any:
        own = self.has_map or self.stands_alone
        estimator = self.build(to, {}) if own else self.build_model(to, {})
        while isinstance(estimator, Pipeline | FeatureUnion):
            # Whatever follows the first of a pipeline is given what that makes of the rows.
            steps = estimator.steps if isinstance(estimator, Pipeline) else estimator.transformer_list
            estimator = next(step for _, step in steps if not isinstance(step, str))
        return estimator

    @property
    def learns_from_labels(self) -> bool:
        """Whether it is a map that cannot be fitted without them."""
        return self.has_map and self.installed and self.tags(Context(1000, 10)).target_tags.required

    @property
    def gives_probabilities(self) -> bool:
        """Whether it is a model that says how probable each class is."""
        return (
            self.role is Role.MODEL
            and self.installed
            and hasattr(self.build_model(Context(1000, 10), {}), "predict_proba")
        )

    @property
    def only_two_classes(self) -> bool:
        """Whether it cannot tell more classes apart."""
        if not self.installed or self.role not in (Role.MAP, Role.MODEL):
            return False
        of_classes = self.tags(Context(1000, 10)).classifier_tags
        return of_classes is not None and not of_classes.multi_class

    def fixing(self, parameters: Mapping[str, Any], model_parameters: Mapping[str, Any]) -> Method:
        """This method with parameters of its own and of its model fixed; they leave the grids."""
        return replace(
            self,
            parameters={**self.parameters, **parameters},
            model_parameters={**self.model_parameters, **model_parameters},
        )

    def _grid(self, to: Context) -> list[Grid]:
        return _without(self.grid(to), self.parameters)

    def _model_grid(self, to: Context) -> list[Grid]:
        whole: list[Grid] = self.grid(to) if self.role is Role.MODEL else [{"C": C_GRID}]
        return _without(whole, self.model_parameters)


def _without(parts: list[Grid], fixed: Mapping[str, Any]) -> list[Grid]:
    """The grid's parts that the fixed values belong to, if they belong to any, without these parameters."""
    for name, value in fixed.items():
        parts = [part for part in parts if value in part.get(name, (value,))] or parts
    return [{name: values for name, values in part.items() if name not in fixed} for part in parts]
