"""RobustPCA: principal components that outlying rows cannot tilt (ROBPCA)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from .._calls import obeys_n_jobs
from .._validation import all_or_nothing, check_count, checked_rows, refuse_extreme_values
from ._robust_basis import QUANTILE, Flags, chi2_quantile, robust_basis, wilson_hilferty_cutoff


@obeys_n_jobs
class RobustPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Principal components that outlying rows cannot tilt (ROBPCA), and two distances that show outliers.

    Every row is looked at from many directions, those through two rows each, and gets the largest distance from the
    middle that any of them shows. The least outlying rows give a first subspace; all rows near it give a better one;
    within that, the minimum covariance determinant gives centre, axes and variances. Up to a quarter of the rows may
    be anything, without effect.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of components (k in the paper), or the share of the robust variance, above 0 and up to 1.0, that they
        explain. None takes 80 % of the variance, leaves out what has less than a thousandth of the first component's
        variance, and stops at `max_components`.
    support_fraction : float, default=0.75
        Share of the rows, from 0.5 to 1, that are assumed to be regular (h / n in the paper). It is at least
        (n + k + 1) / 2 rows, with k components at most.
    n_directions : int, default=250
        Directions through pairs of rows: all pairs if there are no more, else random ones.
    max_components : int, default=None
        At most this many components where `n_components` is None or a share. None is 10 where `n_components` is None,
        and no bound for a share.
    random_state : int, RandomState instance or None, default=None
        Draws the directions and the starts of the minimum covariance determinant.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features_in_)
        Orthonormal axes, the largest variance first. The entry of largest size in each is positive.
    mean_ : ndarray of shape (n_features_in_,)
        The robust centre.
    explained_variance_ : ndarray of shape (n_components_,)
        Robust variances along the components.
    n_components_ : int
    support_ : ndarray of shape (n_samples,), bool
        The training rows that centre and variances rest on. A row far from the subspace can be among them, and is
        harmless, if its projection is regular.
    score_distances_ : ndarray of shape (n_samples,)
    orthogonal_distances_ : ndarray of shape (n_samples,)
        The training rows' distances from the centre within the subspace, in standard deviations, and from the
        subspace.
    score_cutoff_ : float
    orthogonal_cutoff_ : float
        What 97.5 % of normal rows stay below: a chi quantile, and a quantile by the Wilson-Hilferty approximation.
    outliers_ : ndarray of shape (n_samples,), bool
        Training rows with either distance above its cut-off.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    A share is one of the variance of the rows near the first subspace (the paper's reweighting step), over all
    dimensions; the number of components is chosen again from them. The minimum covariance determinant needs rows:
    where h is not above twice the number of components, or h rows are all at one place within the subspace, centre,
    axes and variances are those of the h least outlying rows.

    If at least h rows lie on a hyperplane, rows off it are outliers at any distance, and the components lie within it.
    If at least h rows are equal there is no robust variance, and `fit` raises a ValueError.

    No matrix larger than the data or than ``n_directions * n_samples`` is formed: with more columns than rows all work
    but the first step is done in the space of the rows. All of it is in double precision; float32 rows give float32
    results.

    References
    ----------
    Hubert, Rousseeuw, Vanden Branden: ROBPCA: A New Approach to Robust Principal Component Analysis, Technometrics
    47(1), 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.local import RobustPCA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 1)) * [3, 4, 0] + rng.normal(scale=0.1, size=(200, 3))
    >>> X[:20] = [0, 0, 50]
    >>> pca = RobustPCA(n_components=1, random_state=0).fit(X)
    >>> np.abs(pca.components_).round(1)
    array([[0.6, 0.8, 0. ]])
    >>> bool(pca.outliers_[:20].all())
    True
    """

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        support_fraction: float = 0.75,
        n_directions: int = 250,
        max_components: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.n_components = n_components
        self.support_fraction = support_fraction
        self.n_directions = n_directions
        self.max_components = max_components
        self.random_state = random_state
        self.n_jobs = n_jobs

    @all_or_nothing
    def fit(self, X: ArrayLike, y: Any = None) -> RobustPCA:
        """Find the robust centre and components.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        rows: NDArray = checked_rows(self, X, accept_sparse=False, ensure_min_samples=2)
        refuse_extreme_values("RobustPCA", rows)
        self._check_parameters(*rows.shape)
        basis = robust_basis(
            rows,
            self.n_components,
            check_random_state(self.random_state),
            support_fraction=self.support_fraction,
            n_directions=self.n_directions,
            max_components=self.max_components,
        )
        self._refuse_too_few_dimensions(len(basis.eigenvalues), basis.n_support, len(rows))
        self.mean_ = basis.center.astype(rows.dtype)
        self.components_ = np.ascontiguousarray(basis.loadings.T, dtype=rows.dtype)
        self.explained_variance_ = basis.eigenvalues.astype(rows.dtype)
        self.n_components_ = self._n_features_out = len(self.components_)
        self.support_ = basis.support
        self.score_distances_, self.orthogonal_distances_ = self._distances(rows)
        self.score_cutoff_ = float(np.sqrt(chi2_quantile(QUANTILE, self.n_components_)))
        cutoff = wilson_hilferty_cutoff(self.orthogonal_distances_.astype(np.float64), basis.n_support)
        # Rounding alone must not make a row of an exact subspace an outlier.
        rounding = 1000 * np.finfo(rows.dtype).eps * np.linalg.norm(rows - self.mean_, axis=1).max()
        self.orthogonal_cutoff_ = max(cutoff, float(rounding))
        self.outliers_ = self._beyond(self.score_distances_, self.orthogonal_distances_)
        return self

    def transform(self, X: ArrayLike) -> NDArray:
        """The rows' coordinates along the components, from the robust centre.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
        """
        return (self._checked(X) - self.mean_) @ self.components_.T

    def inverse_transform(self, X: ArrayLike) -> NDArray:
        """The points of the subspace that have these coordinates.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components_)

        Returns
        -------
        ndarray of shape (n_samples, n_features_in_)
        """
        check_is_fitted(self)
        scores: NDArray = check_array(X, dtype=(np.float64, np.float32), input_name="X")
        if scores.shape[1] != self.n_components_:
            raise ValueError(
                f"X has {scores.shape[1]} columns but there are {self.n_components_} components; give what transform "
                "returns."
            )
        return scores @ self.components_ + self.mean_

    def score_distances(self, X: ArrayLike) -> NDArray:
        """Distances from the centre within the subspace, in standard deviations.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._distances(self._checked(X))[0]

    def orthogonal_distances(self, X: ArrayLike) -> NDArray:
        """Distances from the subspace.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._distances(self._checked(X))[1]

    def flag_outliers(self, X: ArrayLike) -> Flags:
        """Which rows are farther from the centre or from the subspace than their cut-offs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,), bool
        """
        return self._beyond(*self._distances(self._checked(X)))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _checked(self, X: ArrayLike) -> NDArray:
        check_is_fitted(self)
        return checked_rows(self, X, accept_sparse=False, reset=False)

    def _distances(self, X: NDArray) -> tuple[NDArray, NDArray]:
        components = self.components_.astype(np.float64)
        centred = X.astype(np.float64) - self.mean_
        scores = centred @ components.T
        within = np.sqrt((scores**2 / self.explained_variance_).sum(axis=1))
        across = np.linalg.norm(centred - scores @ components, axis=1)
        if self.n_components_ == X.shape[1]:
            across[:] = 0
        return within.astype(X.dtype), across.astype(X.dtype)

    def _beyond(self, within: NDArray, across: NDArray) -> Flags:
        return (within > self.score_cutoff_) | (across > self.orthogonal_cutoff_)

    def _check_parameters(self, n_samples: int, n_features: int) -> None:
        asked = self.n_components
        if isinstance(asked, float | np.floating):
            if not 0 < asked <= 1:
                raise ValueError(f"n_components as a share must be above 0 and up to 1.0; got {asked!r}.")
        elif asked is not None:
            most = min(n_samples - 1, n_features)
            if check_count("n_components", asked) > most:
                raise ValueError(
                    f"n_components={asked} is more than the {most} that {n_samples} rows and {n_features} columns can "
                    "have; ask for fewer, or for a share such as 0.95."
                )
        fraction = self.support_fraction
        if not isinstance(fraction, int | float | np.number) or not 0.5 <= fraction <= 1:
            raise ValueError(f"support_fraction must be a number from 0.5 to 1; got {fraction!r}.")
        check_count("n_directions", self.n_directions)
        if self.max_components is not None:
            check_count("max_components", self.max_components)

    def _refuse_too_few_dimensions(self, found: int, n_support: int, n_samples: int) -> None:
        if not found:
            raise ValueError(
                f"At least {n_support} of the {n_samples} rows of X are equal, so there is no robust variance to find "
                "components in; give rows that differ, or raise support_fraction if only some are equal."
            )
        if isinstance(self.n_components, int | np.integer) and found < self.n_components:
            raise ValueError(
                f"n_components={self.n_components}, but the {n_support} most regular of the {n_samples} rows of X span "
                f"only {found}; ask for at most {found}, or raise support_fraction."
            )
