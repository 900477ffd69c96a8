"""scikit-learn's own checks, on every estimator, with no expected failures."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from vicinal import RULLS, ProjectedLandmarks, RandLocal, RobustPCA, SampledLandmarks, SpectralFeatures
from vicinal.expand import (
    GaussianProjection,
    HashedProjection,
    HermiteMap,
    KernelPerceptron,
    OnlinePerceptron,
    PolynomialMap,
    RandomFourierFeatures,
    RBFMap,
    SubsetProductMap,
)
from vicinal.expand.kernels import Gaussian
from vicinal.learned import DenoisingAutoencoder, StackedDenoisingAutoencoder
from vicinal.select import MCFS, NDFS, RSFS, RUFS, SNFS, SPEC, UDFS, LaplacianScore, MaximumVariance


@parametrize_with_checks(
    [
        RandLocal(n_groups=7),
        RandLocal(n_groups=5, n_neighbors=3, norm="l2", metric="manhattan"),
        RandLocal(n_groups=5, subspace="correlated", metric="cosine", exclude_self=False),
        RULLS(4, n_neighborhood=5, n_nearest=2),
        RULLS(3, n_neighborhood=5, n_nearest=2, pca="robust", metric="manhattan"),
        RULLS(3, n_neighborhood=5, n_nearest=2, normalize=True, metric="cosine"),
        ProjectedLandmarks(4, n_nearest=2),
        ProjectedLandmarks(3, n_components="auto", n_nearest=2),
        ProjectedLandmarks(3, n_components=1.0, n_nearest=1, metric="manhattan"),
        SampledLandmarks(4, n_nearest=2),
        SampledLandmarks(3, n_columns=1, n_nearest=1, metric="cosine"),
        RobustPCA(),
        RBFMap(),
        RBFMap(gamma=0.5, n_components=3),
        PolynomialMap(),
        PolynomialMap(3),
        PolynomialMap(3, interaction_only=True),
        SubsetProductMap(),
        HermiteMap(),
        HermiteMap(2, 0.5),
        HermiteMap(3, expansion="taylor"),
        OnlinePerceptron(),
        OnlinePerceptron(n_passes=3, shuffle=True, average=True),
        KernelPerceptron(),
        KernelPerceptron(Gaussian(0.5), n_passes=3, shuffle=True, average=True),
        KernelPerceptron(budget=20),
        KernelPerceptron("precomputed"),
        RandomFourierFeatures(10),
        RandomFourierFeatures(10, kernel="laplacian", gamma="median"),
        RandomFourierFeatures(10, frequencies="hadamard"),
        RandomFourierFeatures(10, frequencies="orthogonal"),
        GaussianProjection(n_components=1),
        GaussianProjection(epsilon=100.0, delta=0.5),
        HashedProjection(),
        HashedProjection(6, random_state=0),
        HashedProjection(5, n_blocks=1),
        HashedProjection(12, n_blocks=1, signed=False, random_state=0),
        DenoisingAutoencoder(n_epochs=2),
        DenoisingAutoencoder(n_components=3, corruption="gaussian", activation="tanh", n_epochs=2),
        StackedDenoisingAutoencoder(n_epochs=2),
        SpectralFeatures(),
        SpectralFeatures(2),
        MaximumVariance(),
        LaplacianScore(),
        LaplacianScore(weights="cosine"),
        SPEC(),
        SPEC(criterion="total", power=3),
        SPEC(criterion="leading"),
        MCFS(),
        MCFS(n_clusters=2, weights="binary", n_nonzero=2),
        UDFS(n_clusters=2),
        NDFS(n_clusters=2, tol=0.01),
        RUFS(n_clusters=2, tol=0.01),
        RSFS(n_clusters=2, tol=0.01),
        SNFS(),
        SNFS(affinity="euclidean"),
        SNFS(0.5, n_neighbors=4, penalty="auto", random_state=0),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
