"""The methods that experiments know, one line each."""

from __future__ import annotations

from inspect import signature
from typing import Any

from sklearn.ensemble import RandomTreesEmbedding
from sklearn.kernel_approximation import Nystroem, PolynomialCountSketch, RBFSampler
from sklearn.pipeline import make_pipeline

from .._validation import suggest
from ..cluster import SpectralFeatures
from ..expand import GaussianProjection, HashedProjection, RandomFourierFeatures, RBFMap
from ..learned import DenoisingAutoencoder, RankBoost, RankBoostMap, StackedDenoisingAutoencoder
from ..link import LINE, NRCL, AdamicAdar, AttributeCosine, DeepWalk, Katz, LinkPredictor, LinkRanking
from ..local import RULLS, ProjectedLandmarks, RandLocal, SampledLandmarks
from ..select import SELECTORS, SelectorEntry
from ._clustering_methods import CLUSTERERS
from ._method import Context, Grid, Method, Role
from ._model_methods import MODELS, bandwidths
from ._outlier_methods import DETECTORS
from ._semi_supervised_methods import SEMI_SUPERVISED

# The RandLocal paper's own grid (section 4.3).
LATENT_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
# The thesis' grid of every regularisation weight (section 2.6.3).
WEIGHTS = (0.1, 1.0, 10.0)
# Around the thesis' (section 5.7.2.3), and below, where long vectors cost less than triplets gain.
LENGTHS: Grid = {"weight_decay": (1.0, 4.0)}
CONSENSUS: Grid = {"content_links": (0, 3), "length_damping": (0.5, 1.0), **LENGTHS}
RANKING: Grid = {"content_links": (3, "auto"), "similarity": ("inner", "cosine"), **LENGTHS}


def _few_bandwidths(to: Context) -> list[Grid]:
    return [{"gamma": [float(f"{factor / to.n_features:.3g}") for factor in (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)]}]


def _our_subspaces(to: Context) -> list[Grid]:
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


def _iterations(to: Context) -> int:
    return min(to.n_groups, MOST_ITERATIONS)


def _samples(to: Context) -> list[Grid]:
    """Another distance, and fewer or more columns, always with as many landmarks as the rows allow."""
    return [{"n_columns": [0.05, 0.2, 0.5], "metric": ["euclidean", "manhattan"], "n_landmarks": [1024]}]


def _components(to: Context) -> int:
    return min(to.n_components, to.n_rows)


def _isolation_kernel(to: Context) -> Any:
    from ikpykit.kernel import IsoKernel

    return IsoKernel(method="anne", n_estimators=200, random_state=to.seed)


def _selector(entry: SelectorEntry) -> Method:
    """A selector with as many pseudo classes as there are classes, where it has any; each weight has a grid."""
    known = signature(entry.kind).parameters

    def make(to: Context) -> Any:
        given = {"n_clusters": to.n_classes, "random_state": to.seed, "n_jobs": to.threads}
        return entry.kind(**{key: value for key, value in given.items() if key in known})

    grid: list[Grid] = [dict.fromkeys(entry.tuned, WEIGHTS)]
    return Method(entry.name, entry.label, Role.SELECTOR, make, grid=lambda to: grid, has_rule=entry.has_rule)


def _link_predictor(name: str, label: str, kind: type[LinkPredictor], grid: Grid | None = None, **fixed: Any) -> Method:
    """A method that recommends links, with parameters that are its own."""

    def make(to: Context) -> Any:
        given = {"random_state": to.seed, "n_jobs": to.threads}
        return kind(**{key: value for key, value in given.items() if key in signature(kind).parameters}, **fixed)

    return Method(name, label, Role.LINK_PREDICTOR, make, grid=lambda to: [grid or {}])


METHODS: tuple[Method, ...] = (
    Method("raw", "raw features", Role.COLUMNS),
    Method("link-only", "links alone", Role.LINKS),
    Method(
        "rbf-map",
        "RBF map QΣ",
        Role.MAP,
        lambda to: RBFMap(n_components=_components(to)),
        grid=bandwidths,
        size="n_components",
        most_rows=5000,
    ),
    Method(
        "dae",
        "DAE",
        Role.MAP,
        lambda to: DenoisingAutoencoder(batch_size=128, random_state=to.seed),
        grid=lambda to: [{"n_components": LATENT_SHARES}],
    ),
    Method(
        "sdae",
        "SDAE",
        Role.MAP,
        lambda to: StackedDenoisingAutoencoder(batch_size=128, random_state=to.seed),
        grid=lambda to: [{"n_components": LATENT_SHARES}],
    ),
    Method(
        "rankboost",
        "RankBoost",
        Role.MODEL,
        lambda to: RankBoost(random_state=to.seed, n_jobs=to.threads),
    ),
    Method(
        "rankboost-map",
        "RankBoost's rules",
        Role.MAP,
        lambda to: RankBoostMap(RankBoost(to.n_components, random_state=to.seed), n_jobs=to.threads),
        size="n_components",
    ),
    Method(
        "fourier",
        "RBFSampler",
        Role.MAP,
        lambda to: RBFSampler(n_components=to.n_components, random_state=to.seed),
        grid=_few_bandwidths,
        size="n_components",
    ),
    Method(
        "random-fourier",
        "random Fourier",
        Role.MAP,
        lambda to: RandomFourierFeatures(to.n_components, random_state=to.seed, n_jobs=to.threads),
        grid=_few_bandwidths,
        size="n_components",
    ),
    Method(
        "nystroem",
        "Nystroem",
        Role.MAP,
        lambda to: Nystroem(n_components=_components(to), random_state=to.seed),
        grid=_few_bandwidths,
        size="n_components",
    ),
    Method(
        "polynomial",
        "polynomial sketch",
        Role.MAP,
        lambda to: PolynomialCountSketch(n_components=to.n_components, coef0=1, random_state=to.seed),
        grid=lambda to: [
            {"degree": [2, 3], "gamma": [float(f"{factor / to.n_features:.3g}") for factor in (0.3, 1, 3)]}
        ],
        size="n_components",
    ),
    Method(
        "gaussian-projection",
        "Gaussian projection",
        Role.MAP,
        lambda to: GaussianProjection(min(to.n_components, to.n_features), random_state=to.seed),
        size="n_components",
    ),
    Method(
        "hashed-projection",
        "hashed projection",
        Role.MAP,
        lambda to: HashedProjection(to.n_components, random_state=to.seed, n_jobs=to.threads),
        size="n_components",
    ),
    Method(
        "trees",
        "random trees",
        Role.MAP,
        lambda to: RandomTreesEmbedding(n_estimators=to.n_groups, random_state=to.seed, n_jobs=to.threads),
        grid=lambda to: [{"max_depth": [5, 8]}],
    ),
    *MODELS,
    Method(
        "isolation-kernel",
        "isolation kernel (aNNE)",
        Role.MAP,
        _isolation_kernel,
        grid=lambda to: [{"max_samples": [8, 32, 128]}],
        needs="ikpykit",
    ),
    *DETECTORS,
    Method(
        "randlocal",
        "RandLocal",
        Role.MAP,
        lambda to: RandLocal(to.n_groups, random_state=to.seed, n_jobs=to.threads),
    ),
    Method(
        "randlocal-tuned",
        "RandLocal, tuned",
        Role.MAP,
        lambda to: RandLocal(to.n_groups, random_state=to.seed, n_jobs=to.threads),
        grid=_our_subspaces,
    ),
    Method(
        "randlocal-spectral",
        "RandLocal, spectral",
        Role.MAP,
        lambda to: make_pipeline(
            RandLocal(
                to.n_groups, task="unsupervised", metric="cosine", norm="l2", random_state=to.seed, n_jobs=to.threads
            ),
            SpectralFeatures(20, random_state=to.seed),
        ),
    ),
    Method(
        "rulls",
        "RULLS",
        Role.MAP,
        lambda to: RULLS(_iterations(to), random_state=to.seed, n_jobs=to.threads),
    ),
    Method(
        "projected-landmarks",
        "projected landmarks",
        Role.MAP,
        lambda to: ProjectedLandmarks(_iterations(to), random_state=to.seed, n_jobs=to.threads),
    ),
    Method(
        "sampled-landmarks",
        "sampled landmarks",
        Role.MAP,
        lambda to: SampledLandmarks(_iterations(to), random_state=to.seed, n_jobs=to.threads),
    ),
    Method(
        "sampled-landmarks-tuned",
        "sampled landmarks, tuned",
        Role.MAP,
        lambda to: SampledLandmarks(_iterations(to), random_state=to.seed, n_jobs=to.threads),
        grid=_samples,
    ),
    *SEMI_SUPERVISED,
    *CLUSTERERS,
    *(_selector(entry) for entry in SELECTORS.values()),
    _link_predictor("p-nrcl", "P-NRCL", NRCL, CONSENSUS, loss="logistic"),
    _link_predictor("mm-nrcl", "MM-NRCL", NRCL, CONSENSUS, loss="huber"),
    _link_predictor("p-rl", "P-RL", LinkRanking, RANKING, loss="logistic"),
    _link_predictor("mm-rl", "MM-RL", LinkRanking, RANKING, loss="huber"),
    _link_predictor("line", "LINE", LINE),
    _link_predictor("deepwalk", "DeepWalk", DeepWalk),
    _link_predictor("attribute-cosine", "cosine of attributes", AttributeCosine),
    _link_predictor("adamic-adar", "Adamic-Adar", AdamicAdar),
    _link_predictor("katz", "Katz", Katz),
)


def method_names() -> list[str]:
    """The names of all methods that experiments know.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from vicinal.experiments import method_names
    >>> [name for name in method_names() if name.startswith("randlocal")]
    ['randlocal-growing', 'randlocal', 'randlocal-tuned', 'randlocal-spectral']
    """
    return [method.name for method in METHODS]


def find_method(name: str) -> Method:
    """The method of that name.

    Parameters
    ----------
    name : str
        One of `method_names`.

    Returns
    -------
    Method

    Examples
    --------
    >>> from vicinal.experiments import find_method
    >>> find_method("nystroem").label
    'Nystroem'
    >>> find_method("nystrom")
    Traceback (most recent call last):
        ...
    ValueError: There is no method 'nystrom'; did you mean 'nystroem'?
    """
    for method in METHODS:
        if method.name == name:
            return method
    raise ValueError(f"There is no method {name!r}; {suggest(name, method_names())}")
