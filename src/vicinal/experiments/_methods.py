"""The methods that experiments know: a feature map in front of a linear SVM, or a model of its own; one line each."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import signature
from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier, RandomTreesEmbedding
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch, RBFSampler
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from .._validation import suggest
from ..cluster import SpectralFeatures
from ..expand import GaussianProjection, HashedProjection, RandomFourierFeatures, RBFMap
from ..learned import DenoisingAutoencoder, StackedDenoisingAutoencoder
from ..local import RULLS, ProjectedLandmarks, RandLocal, SampledLandmarks
from ..select import SELECTORS, SelectorEntry

Grid = Mapping[str, Sequence[Any]]

C_GRID = (0.1, 1.0, 10.0, 100.0)
# The RandLocal paper's own grids (section 4.3).
BANDWIDTHS = (1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0)
LATENT_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
# The thesis' grid of every regularisation weight (section 2.6.3).
WEIGHTS = (0.1, 1.0, 10.0)


@dataclass(frozen=True)
class Setting:
    """What a method may depend on besides its own parameters."""

    n_rows: int
    n_features: int
    n_groups: int = 400
    n_components: int = 1000
    seed: int = 0
    threads: int = 1
    n_classes: int = 2
    image_shape: tuple[int, ...] | None = None


def linear_svm(to: Setting) -> Any:
    # On unseen covtype rows a tolerance of 0.01 was as good as liblinear's 0.0001, in less than half the time.
    return LinearSVC(tol=0.01, random_state=to.seed)


def no_grid(to: Setting) -> list[Grid]:
    return [{}]


@dataclass(frozen=True)
class Method:
    """A feature map in front of the linear SVM or, without a map, a model of its own.

    `size` is what its number of features grows with: groups (or trees, or iterations), or components. `selects` is
    said of maps that are selectors, `has_rule` of those that know how many columns to keep.
    """

    name: str
    label: str
    make_map: Callable[[Setting], Any] | None = None
    make_model: Callable[[Setting], Any] = linear_svm
    map_grid: Callable[[Setting], list[Grid]] = no_grid
    model_grid: Callable[[Setting], list[Grid]] = lambda to: [{"C": C_GRID}]
    size: str = "n_groups"
    takes_missing: bool = False
    takes_sparse: bool = True
    most_rows: int | None = None
    needs: str = ""
    selects: bool = False
    has_rule: bool = False
    parameters: Mapping[str, Any] = field(default_factory=dict)
    model_parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def installed(self) -> bool:
        return not self.needs or importlib.util.find_spec(self.needs) is not None

    def build_map(self, to: Setting, chosen: Mapping[str, Any]) -> Any:
        assert self.make_map is not None
        return self.make_map(to).set_params(**{**self.parameters, **chosen})

    def build_model(self, to: Setting, chosen: Mapping[str, Any]) -> Any:
        return self.make_model(to).set_params(**{**self.model_parameters, **chosen})

    def map_settings(self, to: Setting) -> list[dict[str, Any]]:
        """Every setting of the map's grid."""
        return list(ParameterGrid(self.map_grid(to))) if self.make_map else [{}]

    def counts(self, features: Sequence[int | str]) -> list[int | str]:
        """For which numbers of columns a method is measured: a selector without a rule has none of its own."""
        if not self.selects:
            return ["all"]
        return [count for count in features if count != "auto" or self.has_rule]

    def fixing(self, parameters: Mapping[str, Any], model_parameters: Mapping[str, Any]) -> Method:
        """This method with parameters of its map and of its model fixed; they leave the grids."""
        parameters = {**self.parameters, **parameters}
        model_parameters = {**self.model_parameters, **model_parameters}
        return replace(
            self,
            parameters=parameters,
            model_parameters=model_parameters,
            map_grid=partial(_without, self.map_grid, parameters),
            model_grid=partial(_without, self.model_grid, model_parameters),
        )


def _without(grid: Callable[[Setting], list[Grid]], fixed: Mapping[str, Any], to: Setting) -> list[Grid]:
    """The grid's parts that the fixed values belong to, if they belong to any, without these parameters."""
    parts = grid(to)
    for name, value in fixed.items():
        parts = [part for part in parts if value in part.get(name, (value,))] or parts
    return [{name: values for name, values in part.items() if name not in fixed} for part in parts]


def _bandwidths(to: Setting) -> list[Grid]:
    """The paper's grid, and values around 1 / n_features, where the kernel is neither flat nor a spike."""
    around = (float(f"{factor / to.n_features:.3g}") for factor in (1.0, 3.0, 10.0, 30.0))
    return [{"gamma": sorted({*BANDWIDTHS, *around})}]


def _few_bandwidths(to: Setting) -> list[Grid]:
    return [{"gamma": [float(f"{factor / to.n_features:.3g}") for factor in (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)]}]


def _our_subspaces(to: Setting) -> list[Grid]:
    """More neighbours, another distance, and columns that belong together, where there are any."""
    # Three neighbours are three times the memory, which large tables do not need and may not have.
    neighbors = [1, 3] if to.n_rows <= 100_000 else [1]
    own: Grid = {"subspace": ["random", "correlated"], "n_neighbors": neighbors}
    if to.image_shape is None:
        return [own]
    rectangles: Grid = {
        "subspace": ["image"],
        "image_shape": [to.image_shape],
        "feature_range": [(0.02, 0.25)],
        "metric": ["euclidean", "cosine"],
        "n_neighbors": neighbors,
    }
    return [own, rectangles]


# Ten non-zeros per row and iteration: the RULLS paper's 100 iterations are as many as 1,000 groups of RandLocal.
MOST_ITERATIONS = 100


def _iterations(to: Setting) -> int:
    return min(to.n_groups, MOST_ITERATIONS)


def _samples(to: Setting) -> list[Grid]:
    """Another distance, and fewer or more columns, always with as many landmarks as the rows allow."""
    return [{"n_columns": [0.05, 0.2, 0.5], "metric": ["euclidean", "manhattan"], "n_landmarks": [1024]}]


def _components(to: Setting) -> int:
    return min(to.n_components, to.n_rows)


def _lightgbm(to: Setting) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=to.threads, random_state=to.seed, verbose=-1)


def _isolation_kernel(to: Setting) -> Any:
    from ikpykit.kernel import IsoKernel

    return IsoKernel(method="anne", n_estimators=200, random_state=to.seed)


def _boosting(to: Setting) -> Any:
    return HistGradientBoostingClassifier(random_state=to.seed)


def _selector(entry: SelectorEntry) -> Method:
    """A selector with as many pseudo classes as there are classes, where it has any; each weight has a grid."""
    known = signature(entry.kind).parameters

    def make(to: Setting) -> Any:
        given = {"n_clusters": to.n_classes, "random_state": to.seed, "n_jobs": to.threads}
        return entry.kind(**{key: value for key, value in given.items() if key in known})

    grid: list[Grid] = [dict.fromkeys(entry.tuned, WEIGHTS)]
    return Method(entry.name, entry.label, make, map_grid=lambda to: grid, selects=True, has_rule=entry.has_rule)


_LEARNING_RATES: list[Grid] = [{"learning_rate": [0.05, 0.1, 0.2]}]
_KERNEL_GRID: Grid = {"C": (1.0, 10.0, 100.0)}

METHODS: tuple[Method, ...] = (
    Method("raw", "raw features"),
    Method(
        "rbf-svm",
        "RBF kernel SVM",
        make_model=lambda to: SVC(cache_size=1000),
        model_grid=lambda to: [{**_KERNEL_GRID, **part} for part in _bandwidths(to)],
    ),
    Method(
        "rbf-map",
        "RBF map QΣ",
        lambda to: RBFMap(n_components=_components(to)),
        map_grid=_bandwidths,
        size="n_components",
        most_rows=5000,
    ),
    Method(
        "dae",
        "DAE",
        lambda to: DenoisingAutoencoder(batch_size=128, random_state=to.seed),
        map_grid=lambda to: [{"n_components": LATENT_SHARES}],
        takes_sparse=False,
    ),
    Method(
        "sdae",
        "SDAE",
        lambda to: StackedDenoisingAutoencoder(batch_size=128, random_state=to.seed),
        map_grid=lambda to: [{"n_components": LATENT_SHARES}],
        takes_sparse=False,
    ),
    Method(
        "fourier",
        "RBFSampler",
        lambda to: RBFSampler(n_components=to.n_components, random_state=to.seed),
        map_grid=_few_bandwidths,
        size="n_components",
    ),
    Method(
        "random-fourier",
        "random Fourier",
        lambda to: RandomFourierFeatures(to.n_components, random_state=to.seed, n_jobs=to.threads),
        map_grid=_few_bandwidths,
        size="n_components",
    ),
    Method(
        "nystroem",
        "Nystroem",
        lambda to: Nystroem(n_components=_components(to), random_state=to.seed),
        map_grid=_few_bandwidths,
        size="n_components",
    ),
    Method(
        "polynomial",
        "polynomial sketch",
        lambda to: PolynomialCountSketch(n_components=to.n_components, coef0=1, random_state=to.seed),
        map_grid=lambda to: [
            {"degree": [2, 3], "gamma": [float(f"{factor / to.n_features:.3g}") for factor in (0.3, 1, 3)]}
        ],
        size="n_components",
    ),
    Method(
        "gaussian-projection",
        "Gaussian projection",
        lambda to: GaussianProjection(min(to.n_components, to.n_features), random_state=to.seed),
        size="n_components",
    ),
    Method(
        "hashed-projection",
        "hashed projection",
        lambda to: HashedProjection(to.n_components, random_state=to.seed, n_jobs=to.threads),
        size="n_components",
    ),
    Method(
        "trees",
        "random trees",
        lambda to: RandomTreesEmbedding(n_estimators=to.n_groups, random_state=to.seed, n_jobs=to.threads),
        map_grid=lambda to: [{"max_depth": [5, 8]}],
    ),
    Method(
        "boosting",
        "gradient boosting",
        make_model=_boosting,
        model_grid=lambda to: _LEARNING_RATES,
        takes_missing=True,
        takes_sparse=False,
    ),
    Method(
        "lightgbm",
        "LightGBM",
        make_model=_lightgbm,
        model_grid=lambda to: _LEARNING_RATES,
        takes_missing=True,
        needs="lightgbm",
    ),
    Method(
        "isolation-kernel",
        "isolation kernel (aNNE)",
        _isolation_kernel,
        map_grid=lambda to: [{"max_samples": [8, 32, 128]}],
        takes_sparse=False,
        needs="ikpykit",
    ),
    Method(
        "randlocal",
        "RandLocal",
        lambda to: RandLocal(to.n_groups, random_state=to.seed, n_jobs=to.threads),
        takes_missing=True,
    ),
    Method(
        "randlocal-tuned",
        "RandLocal, tuned",
        lambda to: RandLocal(to.n_groups, random_state=to.seed, n_jobs=to.threads),
        map_grid=_our_subspaces,
        takes_missing=True,
    ),
    Method(
        "randlocal-spectral",
        "RandLocal, spectral",
        lambda to: make_pipeline(
            RandLocal(
                to.n_groups, task="unsupervised", metric="cosine", norm="l2", random_state=to.seed, n_jobs=to.threads
            ),
            SpectralFeatures(20, random_state=to.seed),
        ),
        takes_missing=True,
    ),
    Method(
        "rulls",
        "RULLS",
        lambda to: RULLS(_iterations(to), random_state=to.seed, n_jobs=to.threads),
    ),
    Method(
        "projected-landmarks",
        "projected landmarks",
        lambda to: ProjectedLandmarks(_iterations(to), random_state=to.seed, n_jobs=to.threads),
    ),
    Method(
        "sampled-landmarks",
        "sampled landmarks",
        lambda to: SampledLandmarks(_iterations(to), random_state=to.seed, n_jobs=to.threads),
        takes_missing=True,
    ),
    Method(
        "sampled-landmarks-tuned",
        "sampled landmarks, tuned",
        lambda to: SampledLandmarks(_iterations(to), random_state=to.seed, n_jobs=to.threads),
        map_grid=_samples,
        takes_missing=True,
    ),
    *(_selector(entry) for entry in SELECTORS.values()),
)


def method_names() -> list[str]:
    return [method.name for method in METHODS]


def find_method(name: str) -> Method:
    for method in METHODS:
        if method.name == name:
            return method
    raise ValueError(f"There is no method {name!r}; {suggest(name, method_names())}")
