"""A fit that fails, at the door or in the middle, leaves every estimator as it was."""

import signal
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from estimators import looks_at_all_rows
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import vicinal
from vicinal import (
    CDMAFS,
    GFS,
    LINE,
    LUFS,
    MCFS,
    MMPOP,
    MVFS,
    MVUFS,
    NDFS,
    NRCL,
    PPOP,
    RSFS,
    RUFS,
    RULLS,
    SNFS,
    SPEC,
    SPOP,
    UDFS,
    AdamicAdar,
    AttributeCosine,
    DeepWalk,
    DenoisingAutoencoder,
    ForestCells,
    GaussianProjection,
    GraphSmoothing,
    HashedProjection,
    HermiteMap,
    Katz,
    KernelPerceptron,
    KMeansFeatures,
    LaplacianScore,
    LearnedKernelFeatures,
    LinkRanking,
    LocalClassifier,
    LocalLinearClassifier,
    LocalLinearRegressor,
    LocalOutlierDetector,
    LocalRegressor,
    LocalSpectralClustering,
    MaximumVariance,
    NeighborOutlierDetector,
    NeuralKernel,
    NeuralReduction,
    OnlinePerceptron,
    PivotMap,
    PolynomialMap,
    ProjectedLandmarks,
    RandLocal,
    RandomFourierFeatures,
    RankBoost,
    RankBoostMap,
    RBFMap,
    RobustPCA,
    SampledLandmarks,
    SideFS,
    SpectralFeatures,
    StackedDenoisingAutoencoder,
    SubsetProductMap,
)

ROWS = np.random.default_rng(0).uniform(size=(40, 5))
X = pd.DataFrame(ROWS, columns=list("abcde"))
NARROW = pd.DataFrame(ROWS[:, :3] + 1, columns=list("xyz"))
Y = np.arange(40) % 2
CASES = [  # each with a parameter that it refuses
    (RandLocal(5, random_state=0), {"metric": "none"}),
    (RULLS(3, n_neighborhood=5, n_nearest=2, random_state=0), {"variance": -1}),
    (ProjectedLandmarks(3, n_nearest=2, random_state=0), {"n_components": 0}),
    (SampledLandmarks(3, n_nearest=2, random_state=0), {"n_columns": 0}),
    (RobustPCA(random_state=0), {"support_fraction": 2}),
    (SpectralFeatures(2, random_state=0), {"n_components": 0}),
    (LocalSpectralClustering(2, n_groups=5, n_starts=2, random_state=0), {"n_starts": 0}),
    (LocalOutlierDetector(5, random_state=0), {"contamination": 1}),
    (NeighborOutlierDetector(random_state=0), {"n_neighbors": 0}),
    (ForestCells(5, random_state=0), {"n_trees": 0}),
    (LocalClassifier([{"part": "local", "n_groups": 5, "n_neighbors": 2}], random_state=0), {"budget": "soon"}),
    (LocalRegressor([{"part": "forest", "n_trees": 5}], random_state=0), {"parts": [{"part": "forest", "n_trees": 0}]}),
    (LocalLinearClassifier(random_state=0), {"C": 0}),
    (LocalLinearRegressor(random_state=0), {"C": 0}),
    (DenoisingAutoencoder(n_epochs=2, random_state=0), {"level": 1.5}),
    (StackedDenoisingAutoencoder(n_epochs=2, random_state=0), {"level": 1.5}),
    (NeuralKernel((4,), n_epochs=2, random_state=0), {"form": "none"}),
    (NeuralReduction(4, n_epochs=2, random_state=0), {"batch_size": 0}),
    (RankBoost(10, random_state=0), {"rankers": "none"}),
    (RankBoostMap(RankBoost(10, random_state=0)), {"ranker__n_rounds": 0}),
    (PivotMap(n_pivots=5, n_components=3, random_state=0), {"pivots": "none"}),
    (LearnedKernelFeatures(n_rounds=10, n_pivots=5, n_components=3, random_state=0), {"with_score": 2}),
    (KMeansFeatures(5, random_state=0), {"gamma": -1}),
    (GraphSmoothing(n_bits=32, random_state=0), {"tol": -1}),
    (RandomFourierFeatures(8, random_state=0), {"frequencies": "none"}),
    (RandomFourierFeatures(8, frequencies="hadamard", random_state=0), {"gamma": -1}),
    (GaussianProjection(3, random_state=0), {"n_components": 0}),
    (HashedProjection(8, random_state=0), {"n_blocks": 3}),
    (PolynomialMap(), {"degree": 0}),
    (SubsetProductMap(), {"max_features": 1}),
    (HermiteMap(), {"gamma": -1}),
    (RBFMap(), {"gamma": -1}),
    (OnlinePerceptron(), {"n_passes": 0}),
    (KernelPerceptron(), {"budget": 0}),
    (MaximumVariance(), {"n_features_to_select": 4}),
    (LaplacianScore(), {"n_neighbors": 0}),
    (SPEC(), {"power": 0}),
    (MCFS(n_clusters=2), {"n_neighbors": 0}),
    (UDFS(n_clusters=2), {"tol": -1}),
    (NDFS(n_clusters=2, tol=0.01, random_state=0), {"tol": -1}),
    (RUFS(n_clusters=2, tol=0.01, random_state=0), {"tol": -1}),
    (RSFS(n_clusters=2, tol=0.01, random_state=0), {"tol": -1}),
    (MVFS(n_clusters=2, tol=0.01, random_state=0), {"tol": -1}),
    (MVUFS(n_clusters=2, tol=0.01, random_state=0), {"tol": -1}),
    (SNFS(), {"tol": -1}),
    (GFS(random_state=0), {"tol": -1}),
    (SPOP(), {"n_neighbors": 0}),
    (PPOP(random_state=0), {"tol": -1}),
    (MMPOP(random_state=0), {"tol": -1}),
    (LUFS(n_clusters=2, random_state=0), {"tol": -1}),
    (CDMAFS(), {"penalty": -1}),
    (SideFS(random_state=0), {"sparsity": -1}),
    (NRCL(3, n_epochs=2, random_state=0), {"tol": -1}),
    (LinkRanking(3, n_epochs=2, random_state=0), {"tol": -1}),
    (DeepWalk(4, n_walks=2, walk_length=5, random_state=0), {"window": 0}),
    (LINE(4, n_samples=2, random_state=0), {"order": 3}),
    (AttributeCosine(), {"n_jobs": 0}),
    (AdamicAdar(), {"content_links": -1}),
    (Katz(), {"decay": 2}),
]
MODELS = [model for model, _ in CASES]


def name_of(case):
    return type(case).__name__


def state_of(model):
    return {name: value for name, value in vars(model).items() if name not in model.get_params()}


def answer(model, rows):
    if looks_at_all_rows(model):
        return model.recommend(top=3).scores
    names = ("transform", "decision_function", "kernel", "predict")
    answer_of = next(getattr(model, name) for name in names if hasattr(model, name))
    found = answer_of(rows)
    return found.toarray() if sp.issparse(found) else np.asarray(found)


def assert_as_before(model, state, answers):
    assert state_of(model) == state  # the very same objects
    np.testing.assert_array_equal(answer(model, X), answers)


@pytest.fixture
def fitted(request):
    """A model that was fitted on five columns; it must answer as before when the test is over."""
    model = clone(request.param).fit(X, Y)
    state, answers = state_of(model), answer(model, X)
    yield model
    assert_as_before(model, state, answers)


def test_every_estimator_is_tested():
    estimators = {name for name in vicinal.__all__ if hasattr(getattr(vicinal, name), "fit")}
    assert {name_of(model) for model in MODELS} == estimators


@pytest.mark.parametrize("fitted", MODELS, ids=name_of, indirect=True)
@pytest.mark.parametrize("bad", [np.inf, "red"])
def test_rows_that_are_refused(fitted, bad):
    rows = NARROW.astype(object)
    rows.iloc[1, 1] = bad
    with pytest.raises(ValueError, match=r"X|Column 'y'"):
        fitted.fit(rows, Y)
    with pytest.raises(ValueError, match=r"X|Column 'y'"):
        (getattr(fitted, "fit_transform", None) or fitted.fit)(rows, Y)


@pytest.mark.parametrize(("model", "bad"), CASES, ids=name_of)
def test_parameters_that_are_refused(model, bad):
    model = clone(model)
    good = {name: model.get_params()[name] for name in bad}
    with pytest.raises(ValueError, match=r"must|but|only"):
        model.set_params(**bad).fit(NARROW, Y)
    if not isinstance(model, HashedProjection):  # it needs no fit where it has a seed
        with pytest.raises(NotFittedError):
            check_is_fitted(model)
    assert not state_of(model)
    model.set_params(**good).fit(X, Y)
    state, answers = state_of(model), answer(model, X)
    with pytest.raises(ValueError, match=r"must|but|only"):
        model.set_params(**bad).fit(NARROW, Y)
    model.set_params(**good)
    assert_as_before(model, state, answers)


class Interruption:
    """Sends the interrupt of Ctrl-C when the package has returned from a number of its functions; counts them."""

    package = str(Path(vicinal.__file__).parent)

    def __init__(self, at=None):
        self.at, self.n_returns = at, 0

    def once_more(self, share):
        """The same with an interrupt after a share of the work; the last two returns come after all of it."""
        return Interruption(at=1 + int(share * (self.n_returns - 3)))

    def __enter__(self):
        sys.setprofile(self.watch)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)

    def watch(self, frame, event, _):
        if event == "return" and frame.f_code.co_filename.startswith(self.package):
            self.n_returns += 1
            if self.n_returns == self.at:
                signal.raise_signal(signal.SIGINT)


WHOLE_FITS = {}  # by models: counted once for all shares


def whole_fit(model):
    if repr(model) not in WHOLE_FITS:
        with Interruption() as WHOLE_FITS[repr(model)]:
            clone(model).fit(NARROW, Y)
    return WHOLE_FITS[repr(model)]


@pytest.mark.parametrize("fitted", MODELS, ids=name_of, indirect=True)
@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.9])
def test_an_interrupt_at_any_time(fitted, share):
    with pytest.raises(KeyboardInterrupt), whole_fit(fitted).once_more(share):
        fitted.fit(NARROW, Y)


@pytest.mark.parametrize("fitted", [RBFMap(), RBFMap(gamma=0.5)], ids=name_of, indirect=True)
def test_memory_that_is_not_allowed(fitted):
    fitted.max_memory = 1000
    with pytest.raises(MemoryError, match="max_memory"):
        fitted.fit(NARROW)


@pytest.mark.parametrize(
    "fitted", [ProjectedLandmarks(3, n_nearest=2), GaussianProjection(3)], ids=name_of, indirect=True
)
def test_memory_that_is_not_there(fitted):
    fitted.n_components = 1000
    with pytest.raises(MemoryError):
        fitted.fit(sp.csr_array((40, 10**12)))


@pytest.mark.parametrize("fitted", [OnlinePerceptron(), KernelPerceptron(budget=5)], ids=name_of, indirect=True)
def test_rows_that_are_refused_while_learning_goes_on(fitted):
    for rows, labels in ((NARROW, Y), (X.replace(X.iloc[3, 3], np.nan), Y), (X, Y + 5), (X.assign(b="red"), Y)):
        with pytest.raises(ValueError, match=r"X|y has labels|names"):
            fitted.partial_fit(rows, labels)


@pytest.mark.parametrize("fitted", [OnlinePerceptron(), KernelPerceptron(budget=5)], ids=name_of, indirect=True)
@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_an_interrupt_while_learning_goes_on(fitted, share):
    with Interruption() as whole:
        clone(fitted).partial_fit(X, 1 - Y, classes=[0, 1])
    with pytest.raises(KeyboardInterrupt), whole.once_more(share):
        fitted.partial_fit(X, 1 - Y)
