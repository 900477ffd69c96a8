"""scikit-learn's own checks, on every estimator, with no expected failures."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from vicinal import RandLocal


@parametrize_with_checks(
    [
        RandLocal(n_groups=7),
        RandLocal(n_groups=5, n_neighbors=3, norm="l2", metric="manhattan"),
        RandLocal(n_groups=5, subspace="correlated", metric="cosine", exclude_self=False),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
