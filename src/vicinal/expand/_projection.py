"""Random projections: what they promise, what they keep of it on your rows, and the Gaussian one."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.random_projection import GaussianRandomProjection
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils.extmath import row_norms, safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from .._calls import obeys_n_jobs
from .._tags import TakesSparseFloats
from .._validation import Matrix, all_or_nothing, check_count, check_positive, checked_rows

BLOCK_ENTRIES = 2**21  # of rows and of their images, while errors are measured: 16 MB
TAIL = 1 + np.sqrt(1.5)  # of ln(2 / delta) / n_blocks in the bound of a hashed projection


@dataclass(frozen=True)
class EmbeddingError:
    """How much a random projection A changed squared lengths: ``||Av||^2 / ||v||^2 - 1`` for many vectors v.

    Attributes
    ----------
    rows : ndarray
        For the rows, without those that are zero.
    pairs : ndarray
        For differences of random pairs of rows, without those that are zero.
    n_components : int
        m, the number of output columns.
    n_blocks : int or None
        s, the number of blocks of a hashed projection; None if A is Gaussian.
    signed : bool
        Whether A has random signs. Without them squared lengths are not kept on average, and there is no bound.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from vicinal.expand import HashedProjection
    >>> X, _ = load_digits(return_X_y=True)
    >>> error = HashedProjection(4096, random_state=0).fit(X).embedding_error(X)
    >>> [round(float(quantile), 3) for quantile in error.quantiles([0.5, 0.9])]
    [0.015, 0.034]
    >>> lowest, highest = error.bound(delta=0.05)
    >>> bool(lowest < error.rows.min() and error.rows.max() < highest)
    True
    """

    rows: NDArray[np.float64] = field(repr=False)
    pairs: NDArray[np.float64] = field(repr=False)
    n_components: int
    n_blocks: int | None = None
    signed: bool = True

    def quantiles(self, shares: Sequence[float] = (0.5, 0.9, 0.99, 1.0)) -> NDArray[np.float64]:
        """The size of the error that the given shares of all rows and pairs stay within.

        Parameters
        ----------
        shares : sequence of float, default=(0.5, 0.9, 0.99, 1.0)

        Returns
        -------
        ndarray
            A number per share; NaN where every row was zero.
        """
        sizes = np.abs(np.concatenate([self.rows, self.pairs]))
        return np.quantile(sizes, shares) if len(sizes) else np.full(len(shares), np.nan)

    def bound(self, delta: float = 0.05) -> tuple[float, float]:
        """The lowest and the highest error of any one vector, but for a share `delta` of all seeds.

        Parameters
        ----------
        delta : float, default=0.05
            The probability of failure, between 0 and 1. For k vectors at once take ``delta / k``.

        Returns
        -------
        (lowest, highest) : tuple of float

        Notes
        -----
        With t = ln(2 / delta), Theorem 1 bounds the error of a Gaussian matrix by -2 sqrt(t/m) and
        2 sqrt(t/m) + 2 t/m. Theorem 2, for a hashed projection, leaves constants open; they are 2 and 1 + sqrt(3/2):

            2 sqrt(t/m) + (1 + sqrt(3/2)) t/s.

        For take a unit vector v, without loss of generality with no negative entries. The blocks' errors Z are
        independent. Given the places in a block, Z is a sum over pairs of entries that meet there, with coefficients of
        no negative sign; its moments are at most those of the same sum with Gaussian variables for signs, so that
        ln E exp(u Z) and ln E exp(-u Z) are at most k S for 0 < u < 1/2, with k = u^2 / (1 - 2u) and S the sum of
        v_j^2 v_l^2 over the pairs that meet. S lies between 0 and 1 and has a mean of at most s/m, thus
        E exp(k S) <= 1 + (e^k - 1) s/m; and e^k - 1 <= k / (1 - k/2) <= u^2 / (1 - c u) for c = 1 + sqrt(3/2).
        The mean of s blocks then obeys ln E exp(u Z) <= (u^2 / m) / (1 - c u / s), which is Bernstein's condition.

        The error's variance is at most 2/m whatever s is, so that sqrt(2 / (m delta)) is a bound, too (Chebyshev). The
        smaller one counts: for few blocks it is this one.
        """
        _check_delta(delta)
        if not self.signed:
            raise ValueError(
                "There is no bound without random signs: squared lengths change by the products of all entries that "
                "meet; use signed=True."
            )
        t, m = np.log(2 / delta), self.n_components
        lowest = highest = 2 * np.sqrt(t / m)
        if self.n_blocks is None:
            highest += 2 * t / m
        else:
            lowest = highest = min(highest + TAIL * t / self.n_blocks, np.sqrt(2 / (m * delta)))
        return -min(float(lowest), 1.0), float(highest)


@obeys_n_jobs
class RandomProjection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What the projections share: measuring their errors."""

    def embedding_error(
        self, X: Any, *, n_pairs: int = 1000, random_state: int | np.random.RandomState | None = 0
    ) -> EmbeddingError:
        """Measure how well squared lengths of rows, and squared distances between them, are kept.

        Parameters
        ----------
        X : as for `transform`
        n_pairs : int, default=1000
            Random pairs of different rows whose differences are measured.
        random_state : int, RandomState instance or None, default=0
            Draws the pairs.

        Returns
        -------
        EmbeddingError
        """
        check_is_fitted(self)
        check_count("n_pairs", n_pairs, least=0)
        rng = check_random_state(random_state)
        rows, project = self._measurable(X)
        n_samples = rows.shape[0]
        first = rng.randint(n_samples, size=n_pairs if n_samples > 1 else 0)
        second = (first + rng.randint(1, max(n_samples, 2), size=len(first))) % n_samples
        entries_per_row = (rows.nnz if sp.issparse(rows) else rows.size) // n_samples + self._n_features_out
        size = max(1, BLOCK_ENTRIES // entries_per_row)
        blocks = (rows[block].astype(np.float64) for block in _blocks(n_samples, size))
        # Halves: errors are relative, and a difference of halves does not overflow.
        differences = (
            rows[first[block]].astype(np.float64) * 0.5 - rows[second[block]].astype(np.float64) * 0.5
            for block in _blocks(len(first), size)
        )
        of_rows, of_pairs = (
            np.concatenate([np.empty(0), *(_relative_errors(block, project) for block in some)])
            for some in (blocks, differences)
        )
        return EmbeddingError(of_rows, of_pairs, self._n_features_out, **self._law())

    @property
    @abstractmethod
    def _n_features_out(self) -> int: ...

    @abstractmethod
    def _measurable(self, X: Any) -> tuple[Matrix, Callable[[Matrix], NDArray[Any]]]:
        """The rows as a matrix, and what projects such matrices."""

    @abstractmethod
    def _law(self) -> dict[str, Any]:
        """What an EmbeddingError must know to choose its bound."""


@obeys_n_jobs
class GaussianProjection(TakesSparseFloats, RandomProjection):
    """Random projection by a Gaussian matrix, with as many columns as a wanted error needs.

    `sklearn.random_projection.GaussianRandomProjection` draws the matrix. Here the number of components follows from
    the error that any one squared length, or squared distance between two rows, may have, and with which probability;
    and `embedding_error` measures what came of it.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        m, the number of output columns. "auto" is the least number for which Theorem 1 promises `epsilon` and `delta`:
        ``4 ln(2 / delta) / (sqrt(1 + 2 epsilon) - 1)^2``.
    epsilon : float, default=0.1
        With "auto": the relative error that a squared length may have.
    delta : float, default=0.05
        With "auto": the probability that a given vector has a larger error. To have all distances between n rows
        within `epsilon` at once, divide it by the number of pairs, n (n - 1) / 2.
    random_state : int, RandomState instance or None, default=None
        Draws the matrix.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features_in_)
        The matrix A.
    n_components_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    HashedProjection : The same with a sparse matrix that takes no memory.

    References
    ----------
    Hsu: Features, lecture notes COMS 4771, spring 2015, section 3, Theorem 1. "auto" solves its upper bound,
    2 sqrt(t/m) + 2 t/m = epsilon with t = ln(2 / delta), for m.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from vicinal.expand import GaussianProjection
    >>> X, _ = load_digits(return_X_y=True)
    >>> model = GaussianProjection(epsilon=0.9, delta=0.1, random_state=0).fit(X)
    >>> model.transform(X).shape
    (1797, 27)
    >>> error = model.embedding_error(X)
    >>> bool((abs(error.pairs) > 0.9).mean() < 0.1)
    True
    """

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        epsilon: float = 0.1,
        delta: float = 0.05,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_components = n_components
        self.epsilon = epsilon
        self.delta = delta
        self.random_state = random_state
        self.n_jobs = n_jobs

    @all_or_nothing
    def fit(self, X: ArrayLike, y: Any = None) -> GaussianProjection:
        """Draw the matrix; of X only its number of columns and its dtype count.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        given = self._checked(X, reset=True)
        projection = GaussianRandomProjection(self._width(given.shape[1]), random_state=self.random_state)
        self.components_ = projection.fit(given[:1]).components_
        self.n_components_ = len(self.components_)
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.floating]:
        """Ax for every row x.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components_)
        """
        check_is_fitted(self)
        checked = self._checked(X, reset=False)
        with np.errstate(over="ignore"):
            projected = self._project(checked).astype(checked.dtype, copy=False)
        if not np.isfinite(projected).all():
            raise ValueError(f"Projections of these rows are too large for {checked.dtype}; scale X down first.")
        return projected

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def _checked(self, X: ArrayLike, *, reset: bool) -> Matrix:
        return checked_rows(self, X, reset=reset)

    def _width(self, n_features: int) -> int:
        if not isinstance(self.n_components, str):
            return check_count("n_components", self.n_components)
        if self.n_components != "auto":
            raise ValueError(f"n_components must be a whole number of at least 1 or 'auto'; got {self.n_components!r}.")
        epsilon = check_positive("epsilon", self.epsilon)
        _check_delta(self.delta)
        # sqrt(1 + 2 epsilon) - 1 would lose all digits of a small epsilon
        ratio = 2 * epsilon / (np.sqrt(1 + 2 * epsilon) + 1)
        width = max(1, int(np.ceil(4 * np.log(2 / self.delta) / ratio**2)))
        if width > n_features:
            raise ValueError(
                f"epsilon={self.epsilon} and delta={self.delta} need {width} components but X has only {n_features} "
                "columns; use X as it is, allow a larger epsilon, or set n_components."
            )
        return width

    def _project(self, rows: Matrix) -> NDArray[np.floating]:
        return safe_sparse_dot(rows, self.components_.T)

    def _measurable(self, X: Any) -> tuple[Matrix, Callable[[Matrix], NDArray[Any]]]:
        return self._checked(X, reset=False), self._project

    def _law(self) -> dict[str, Any]:
        return {}


def _check_delta(delta: Any) -> None:
    if not isinstance(delta, float | np.floating) or not 0 < delta < 1:
        raise ValueError(f"delta must be a probability above 0 and below 1; got {delta!r}.")


def _relative_errors(rows: Matrix, project: Callable[[Matrix], NDArray[Any]]) -> NDArray[np.float64]:
    """||Av||^2 / ||v||^2 - 1 for rows that are not zero, each scaled so that squares neither overflow nor vanish."""
    if sp.issparse(rows):
        largest = abs(rows).max(axis=1).toarray().ravel()
        rows.data /= np.repeat(np.where(largest > 0, largest, 1), np.diff(rows.indptr))
    else:
        largest = np.abs(rows).max(axis=1)
        rows /= np.where(largest > 0, largest, 1)[:, None]
    kept = largest > 0
    return row_norms(project(rows), squared=True)[kept] / row_norms(rows, squared=True)[kept] - 1


def _blocks(n_rows: int, size: int) -> Iterable[slice]:
    return gen_batches(n_rows, size) if n_rows else ()
