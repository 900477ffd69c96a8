"""scikit-learn's own checks, on every estimator, with no expected failures."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from vicinal import RandLocal, SpectralFeatures
from vicinal.expand import RBFMap
from vicinal.learned import DenoisingAutoencoder, StackedDenoisingAutoencoder


@parametrize_with_checks(
    [
        RandLocal(n_groups=7),
        RandLocal(n_groups=5, n_neighbors=3, norm="l2", metric="manhattan"),
        RandLocal(n_groups=5, subspace="correlated", metric="cosine", exclude_self=False),
        RBFMap(),
        RBFMap(gamma=0.5, n_components=3),
        DenoisingAutoencoder(n_epochs=2),
        DenoisingAutoencoder(n_components=3, corruption="gaussian", activation="tanh", n_epochs=2),
        StackedDenoisingAutoencoder(n_epochs=2),
        SpectralFeatures(),
        SpectralFeatures(2),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
