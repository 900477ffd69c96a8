"""RandomFourierFeatures: a few random waves whose inner products stand for a shift-invariant kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils.validation import check_is_fitted

from .. import _native
from .._calls import as_native, current_callback, n_threads, obeys_n_jobs
from .._tags import TakesSparseFloats
from .._validation import Matrix, all_or_nothing, canonical, check_choice, check_count, check_positive, checked_rows
from . import kernels
from ._bandwidth import resolve_gamma

NAMED = {"gaussian": kernels.Gaussian, "laplacian": kernels.Laplacian, "cauchy": kernels.Cauchy}
SMALLEST_HADAMARD = 64  # products of fewer signs are too far from Gaussian
LARGEST_HADAMARD = 2**24
MOST_FREQUENCIES = 10**8
BLOCK_ENTRIES = 2**22  # of a block of products with CSR rows


def n_frequencies_for(epsilon: float, delta: float) -> int:
    """Frequencies for which an inner product is within `epsilon` of the kernel with probability 1 - `delta`.

    An inner product is the mean of cosines, which lie between -1 and 1: by Hoeffding's inequality it strays further
    with a probability of at most 2 exp(-m epsilon^2 / 2).
    """
    epsilon, delta = check_positive("epsilon", epsilon), check_positive("delta", delta)
    if delta >= 1:
        raise ValueError(f"delta is a probability between 0 and 1; got {delta!r}.")
    count = 2 * np.log(2 / delta) / max(epsilon, 1e-8) ** 2
    if count > MOST_FREQUENCIES:
        raise ValueError(
            f"epsilon={epsilon:g} needs more than {MOST_FREQUENCIES:,} frequencies; allow a larger error, or set "
            "n_components."
        )
    return int(np.ceil(count))


@obeys_n_jobs
class RandomFourierFeatures(TakesSparseFloats, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Random features whose inner products approximate a shift-invariant kernel.

    Frequencies w are drawn from the kernel's spectral density. A row x becomes ``cos(w.x)`` and ``sin(w.x)`` for each
    of them, divided by the square root of their number: the mean of ``cos(w.(x - x'))`` stands for K(x - x').

    Parameters
    ----------
    n_components : int or "auto", default=100
        Number of features: a cosine and a sine for each frequency. If it is odd, the last frequency has a cosine with a
        random phase in place of both. "auto" takes as many as `epsilon` and `delta` need.
    kernel : {"gaussian", "laplacian", "cauchy"} or a kernel with draw_frequencies, default="gaussian"
        A kernel of `vicinal.expand.kernels`, or its name. For a kernel of your own there are `FromFunction`, which
        finds the density, `ShiftInvariant`, which takes the density, and `FromSampler`, which takes a function that
        draws from it; any object with a method ``draw_frequencies(n_frequencies, n_features, rng)`` will do, too.
    gamma : float, "scale" or "median", default="scale"
        Width of a kernel given by name. For the Gaussian and the Cauchy kernel "scale" is
        ``1 / (n_features * X.var())`` and "median" ``1 / (2 * median squared distance)``; for the Laplacian kernel they
        are ``1 / (n_features * X.std())`` and ``1 / median l1 distance``. A kernel object has its own.
    frequencies : {"iid", "orthogonal", "hadamard"}, default="iid"
        Independent draws; draws that are orthogonal to each other, n_features at a time, which strays less from the
        kernel; or nearly the same by Hadamard transforms, which takes n_components * log(n_features) operations per row
        in place of n_components * n_features. The last two for the Gaussian kernel only.
    epsilon, delta : float, default=0.1 and 0.05
        For ``n_components="auto"``: the inner product of two rows is within `epsilon` of the kernel with a probability
        of at least 1 - `delta`. It takes ``4 * log(2 / delta) / epsilon**2`` features.
    random_state : int, RandomState instance or None, default=None
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    kernel_ : object
        The kernel that is approximated.
    frequencies_ : ndarray of shape (n_frequencies, n_features_in_) or None
        None for Hadamard transforms, of which only signs and lengths are kept.
    factors_ : ndarray of shape (n_blocks, 4, size) or None
        Three vectors of signs and the lengths of the frequencies, for each block of Hadamard transforms of that size.
    phase_ : float or None
        Of the last frequency, if `n_components` is odd.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    `sklearn.kernel_approximation.RBFSampler` has as many frequencies as features, each with a random phase. A pair of
    cosine and sine needs half as many products and no phases, and strays less where the kernel is large.

    The Hadamard form multiplies, for each block of frequencies, by H D3 H D2 H D1 with random signs D. Rows of this
    product are orthogonal and nearly Gaussian once they have random lengths; columns are filled up with zeros to a
    power of two of at least 64.

    References
    ----------
    Rahimi, Recht: Random Features for Large-Scale Kernel Machines, 2007. Yu, Suresh, Choromanski, Holtmann-Rice, Kumar:
    Orthogonal Random Features, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.metrics.pairwise import rbf_kernel
    >>> from vicinal.expand import RandomFourierFeatures
    >>> X = load_digits().data / 16
    >>> waves = RandomFourierFeatures(4096, gamma=0.1, frequencies="orthogonal", random_state=0).fit_transform(X)
    >>> bool(np.abs(waves @ waves.T - rbf_kernel(X, gamma=0.1)).mean() < 0.01)
    True
    """

    def __init__(
        self,
        n_components: int | str = 100,
        *,
        kernel: str | Any = "gaussian",
        gamma: float | str = "scale",
        frequencies: str = "iid",
        epsilon: float = 0.1,
        delta: float = 0.05,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.frequencies = frequencies
        self.epsilon = epsilon
        self.delta = delta
        self.random_state = random_state
        self.n_jobs = n_jobs

    @all_or_nothing
    def fit(self, X: ArrayLike, y: Any = None) -> RandomFourierFeatures:
        """Draw frequencies.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Only its number of columns counts and, where `gamma` is not a number, its spread.
        y : ignored

        Returns
        -------
        self
        """
        rows = self._checked(X, reset=True)
        check_choice("frequencies", self.frequencies, ("iid", "orthogonal", "hadamard"))
        n_components = self._n_components()
        count = (n_components + 1) // 2
        rng = check_random_state(self.random_state)
        kernel = self._resolved_kernel(rows, rng)
        if self.frequencies != "iid" and not hasattr(kernel, "draw_lengths"):
            raise ValueError(
                f"frequencies={self.frequencies!r} needs a kernel whose spectral density is the same in all "
                f"directions, such as the Gaussian; for {self.kernel!r} use frequencies='iid'."
            )
        frequencies: Any = None
        factors: Any = None
        with np.errstate(over="ignore"):  # looked for below
            if self.frequencies == "iid":
                frequencies = kernel.draw_frequencies(count, rows.shape[1], rng).astype(rows.dtype)
            elif self.frequencies == "orthogonal":
                frequencies = _orthogonal(kernel, count, rows.shape[1], rng).astype(rows.dtype)
            else:
                factors = _hadamard_factors(kernel, count, rows.shape[1], rng).astype(rows.dtype)
        if not np.isfinite(frequencies if factors is None else factors).all():
            raise ValueError(f"The frequencies of {kernel!r} are too large for {rows.dtype}; scale X, or set gamma.")
        self.kernel_, self.frequencies_, self.factors_ = kernel, frequencies, factors
        self.phase_ = float(rng.uniform(0, 2 * np.pi)) if n_components % 2 else None
        self._n_features_out = n_components
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Cosines and sines of every row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        rows = canonical(self._checked(X, reset=False))
        self._refuse_large_angles(rows)
        out = np.empty((rows.shape[0], self._n_features_out + self._n_features_out % 2), rows.dtype)
        if self.factors_ is not None:
            self._waves(rows, out, factors=self.factors_.astype(rows.dtype, copy=False))
        elif sp.issparse(rows):
            frequencies = np.ascontiguousarray(self.frequencies_.T, rows.dtype)
            for block in gen_batches(rows.shape[0], max(1, BLOCK_ENTRIES // frequencies.shape[1])):
                self._waves(np.asarray(rows[block] @ frequencies), out[block])
        else:
            self._waves(rows, out, frequencies=self.frequencies_)
        if self.phase_ is None:
            return out
        cosine, sine = out[:, -2], out[:, -1]
        out[:, -2] = np.sqrt(2) * (np.cos(self.phase_) * cosine - np.sin(self.phase_) * sine)
        return np.ascontiguousarray(out[:, :-1])

    def _refuse_large_angles(self, rows: Matrix) -> None:
        if self.factors_ is None:
            reach = np.abs(self.frequencies_).sum(axis=1, dtype=np.float64).max()
        else:
            reach = float(self.factors_.shape[2]) ** 3 * max(1.0, float(self.factors_[:, 3].max()))
        entries = rows.data if sp.issparse(rows) else rows
        largest = max(float(entries.max()), -float(entries.min())) if entries.size else 0.0
        if largest > float(np.finfo(rows.dtype).max) / max(float(reach), 1.0):
            raise ValueError(
                f"X has values up to {largest:.3g}, whose products with the frequencies are too large for "
                f"{rows.dtype}; scale X first, for example with sklearn.preprocessing.StandardScaler."
            )

    def _waves(self, X: Matrix, out: NDArray[Any], **angles: Any) -> None:
        scale = np.sqrt(2 / out.shape[1])
        _native.fourier_features(
            as_native(X), out, scale=scale, n_threads=n_threads(self.n_jobs), callback=current_callback(), **angles
        )

    def _checked(self, X: ArrayLike, *, reset: bool) -> Matrix:
        return checked_rows(self, X, reset=reset)

    def _n_components(self) -> int:
        if isinstance(self.n_components, str):
            check_choice("n_components", self.n_components, ("auto",))
            return 2 * n_frequencies_for(self.epsilon, self.delta)
        return check_count("n_components", self.n_components)

    def _resolved_kernel(self, X: Matrix, rng: np.random.RandomState) -> Any:
        if isinstance(self.kernel, str):
            check_choice("kernel", self.kernel, tuple(NAMED))
            return NAMED[self.kernel](resolve_gamma(self.gamma, X, self.kernel, rng))
        if isinstance(self.kernel, type) or not hasattr(self.kernel, "draw_frequencies"):
            raise ValueError(
                f"kernel must be one of {', '.join(map(repr, NAMED))} or a shift-invariant kernel of "
                f"vicinal.expand.kernels, which can draw frequencies; got {self.kernel!r}."
            )
        return self.kernel


def _orthogonal(kernel: Any, count: int, n_features: int, rng: np.random.RandomState) -> NDArray[np.float64]:
    """Frequencies whose directions are orthogonal, n_features at a time; each by itself is a draw as any other."""
    directions = []
    for start in range(0, count, n_features):
        q, r = np.linalg.qr(rng.standard_normal((n_features, min(n_features, count - start))))
        directions.append((q * np.sign(np.diag(r))).T)
    return np.vstack(directions) * kernel.draw_lengths(count, n_features, rng)[:, None]


def _hadamard_factors(kernel: Any, count: int, n_features: int, rng: np.random.RandomState) -> NDArray[np.float64]:
    size = max(SMALLEST_HADAMARD, 1 << (n_features - 1).bit_length())
    if size > LARGEST_HADAMARD:
        raise ValueError(
            f"frequencies='hadamard' takes at most {LARGEST_HADAMARD} columns; X has {n_features}. Project them first, "
            "for example with vicinal.expand.HashedProjection."
        )
    n_blocks = -(-count // size)
    factors = np.empty((n_blocks, 4, size))
    factors[:, :3] = rng.choice([-1.0, 1.0], size=(n_blocks, 3, size))
    # A Hadamard matrix is orthogonal but for a factor of sqrt(size).
    factors[:, 3] = kernel.draw_lengths(n_blocks * size, size, rng).reshape(n_blocks, size) / size**1.5
    return factors
