"""HashedProjection: a sparse random projection that is a function of a seed, of any number of columns or of keys."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any, TypeGuard

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from .. import _native
from .._calls import as_native, kernel_dtype, n_threads, obeys_n_jobs
from .._validation import Matrix, all_or_nothing, check_choice, check_count, checked_rows
from ._projection import RandomProjection

ASSUMED_COLUMNS = 2**20  # where rows come by keys: how many there are is not known
CACHED_KEYS = 2**16
WIDEST = 2**31 - 1


@obeys_n_jobs
class HashedProjection(RandomProjection):
    """Sparse random projection whose matrix is never written down: places and signs are hashed.

    The output is cut into s blocks. An entry of column j goes to one place in every block, with a random sign, times
    1 / sqrt(s). Squared lengths, distances and inner products are kept on average, with a variance of at most 2/m of
    the squared length (m: number of output columns), and the more blocks there are, the rarer are large errors.

    Places and signs depend on nothing but the seed, the column (or key) and the block. So there is nothing to learn
    and nothing to store: memory does not grow with the number of columns, a row takes time in proportion to its
    non-zero entries, and the same seed is the same map on every machine, in every process, dense or CSR.

    Parameters
    ----------
    n_components : int, default=1024
        m, the number of output columns.
    n_blocks : int or "auto", default="auto"
        s, a divisor of `n_components`. "auto" is the divisor nearest to sqrt(m ln d), by ratio, for d columns; where
        rows come by keys, d is taken as 2^20. 1 is feature hashing, `n_components` a dense matrix of random signs.
    signed : bool, default=True
        Random signs. Without them, non-negative rows stay non-negative, but entries that meet add up, so that lengths
        and inner products are overestimated.
    input_type : {"array", "dict", "pair"}, default="array"
        What the rows are: an array or CSR matrix; mappings of keys to numbers; or lists of (key, number) pairs, in
        which repeated keys add up. Keys are strings.
    random_state : int, RandomState instance or None, default=None
        The seed: a whole number from 0 to 2^64 - 1 is the same map for ever. Otherwise one is drawn at `fit`.
    n_jobs : int or None, default=None
        Threads, of the compiled part and of BLAS alike. None uses all cores, or as many as OMP_NUM_THREADS allows.

    Attributes
    ----------
    seed_ : int
    n_components_ : int
    n_blocks_ : int
    n_features_in_ : int
        Only for arrays.
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    GaussianProjection : A dense Gaussian matrix.
    sklearn.feature_extraction.FeatureHasher : s = 1 for keys, with a CSR result.
    sklearn.random_projection.SparseRandomProjection : A stored sparse matrix, whose columns differ in their number of
        non-zero entries: its errors are larger where few entries make up a row's length.

    Notes
    -----
    With an integer for `random_state` and for `n_blocks` (or rows by keys), `transform` needs no `fit`: chunks of a
    stream, or machines that know nothing of each other, use the same map. After a `fit` on an array, the number of
    columns is checked.

    Columns j and l meet in as many blocks as their code vectors c_j and c_l have ones in common: s^2/m on average. The
    lecture notes ask for codes in which no two columns meet in more than 2 s^2/m blocks. Places that are hashed make
    such a code, with a probability of at least one half (Chernoff's bound, summed over all pairs), where s is at least
    sqrt(2 m ln d / (2 ln 2 - 1)), about 2.3 sqrt(m ln d). "auto" is below that and breaks the condition: of 1,000
    columns and m = 1,024 it makes s = 64, and some pairs meet in 16 blocks where the condition allows 8.

    The bound of `EmbeddingError` does not need it. The condition is for fixed places, where only the signs are random:
    it keeps the sum of v_j^2 v_l^2 over the meetings of all pairs at 2 s^2/m or below for every unit vector v at once.
    Here the places are random, too, and independent of v, so that the mean of this sum, at most s^2/m, is enough: see
    the notes of `EmbeddingError.bound`, which hold for any s. Such a bound is about a vector that was chosen without
    regard to the seed. For one that was chosen by looking at the places it need not hold: if two columns meet in k
    blocks, the error of a vector with equal entries there and nowhere else has the standard deviation sqrt(k) / s,
    which is 0.063 for k = 16 and 0.031 for the mean of 4.

    Numbers of 8 and 16 bits and float32 give float32, all others float64. Keys are hashed to 64 bits by BLAKE2b. For
    blocks of up to 128 places the hash has 16 bits, which makes no place likelier than another by more than one in
    256 (and none at all where the number of places is a power of two); else it has 32.

    References
    ----------
    Hsu: Features, lecture notes of COMS 4771, Columbia University 2015, section 3, Theorem 2. The construction is that
    of Kane, Nelson: Sparser Johnson-Lindenstrauss Transforms, Journal of the ACM 61(1), 2014.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from vicinal.expand import HashedProjection
    >>> X = sp.random_array((100, 10**9), density=1e-8, format="csr", rng=0)
    >>> model = HashedProjection(512, random_state=0)
    >>> model.fit_transform(X).shape, model.n_blocks_
    ((100, 512), 128)

    Rows by keys, without a fit:

    >>> hashed = HashedProjection(512, n_blocks=4, input_type="dict", random_state=0)
    >>> one, other = hashed.transform([{"wine": 3.0, "olives": 4.0}, {"olives": 2.0, "bread": 1.0}])
    >>> float(one @ one), float(one @ other)
    (25.0, 8.0)
    """

    def __init__(
        self,
        n_components: int = 1024,
        *,
        n_blocks: int | str = "auto",
        signed: bool = True,
        input_type: str = "array",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.n_components = n_components
        self.n_blocks = n_blocks
        self.signed = signed
        self.input_type = input_type
        self.random_state = random_state
        self.n_jobs = n_jobs

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> HashedProjection:
        """Settle the seed and the number of blocks; rows by keys are not looked at.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or rows by keys
        y : ignored

        Returns
        -------
        self
        """
        check_choice("input_type", self.input_type, ("array", "dict", "pair"))
        n_columns = self._checked(X, reset=True).shape[1] if self.input_type == "array" else ASSUMED_COLUMNS
        self.n_components_, self.n_blocks_, self.seed_ = self._settle(n_columns)
        return self

    def transform(self, X: Any) -> NDArray[np.floating]:
        """Ax for every row x.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or an iterable of rows by keys

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self)
        check_choice("input_type", self.input_type, ("array", "dict", "pair"))
        if self.input_type == "array":
            return self._project(self._checked(X, reset=False))
        values, keys, indptr = rows_by_keys(X, self.input_type)
        return self._hash((values, keys, indptr, ASSUMED_COLUMNS), len(indptr) - 1, values.dtype)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        by_keys = self.input_type in ("dict", "pair")
        tags.input_tags.sparse = tags.input_tags.two_d_array = not by_keys
        tags.input_tags.dict = self.input_type == "dict"
        tags.transformer_tags.preserves_dtype = ["float64"] if by_keys else ["float64", "float32"]
        tags.requires_fit = not (_is_seed(self.random_state) and (by_keys or not isinstance(self.n_blocks, str)))
        return tags

    @property
    def _n_features_out(self) -> int:
        return self._settled()[0]

    def _checked(self, X: Any, *, reset: bool) -> Matrix:
        return checked_rows(self, X, reset=reset, dtype="numeric")

    def _settled(self) -> tuple[int, int, int]:
        """Numbers of components and blocks, and the seed: those of `fit` or, where it may be left out, as given."""
        check_is_fitted(self)
        if hasattr(self, "seed_"):
            return self.n_components_, self.n_blocks_, self.seed_
        return self._settle(ASSUMED_COLUMNS)

    def _settle(self, n_columns: int) -> tuple[int, int, int]:
        n_components = check_count("n_components", self.n_components)
        if n_components > WIDEST:
            raise ValueError(f"n_components must be at most {WIDEST}; got {n_components}.")
        return n_components, self._settle_blocks(n_components, n_columns), self._settle_seed()

    def _settle_blocks(self, n_components: int, n_columns: int) -> int:
        if isinstance(self.n_blocks, str):
            check_choice("n_blocks", self.n_blocks, ("auto",))
            return nearest_divisor(n_components, np.sqrt(n_components * np.log(n_columns)))
        n_blocks = check_count("n_blocks", self.n_blocks)
        if n_blocks > n_components:
            raise ValueError(
                f"n_blocks={n_blocks} must not exceed n_components={n_components}: a block has at least one place."
            )
        if n_components % n_blocks:
            raise ValueError(
                f"n_blocks={n_blocks} must divide n_components={n_components}, as all blocks are equally large; "
                f"{nearest_divisor(n_components, n_blocks)} would."
            )
        return n_blocks

    def _settle_seed(self) -> int:
        if not _is_seed(self.random_state):
            return int(check_random_state(self.random_state).randint(0, 2**64, dtype=np.uint64))
        if not 0 <= self.random_state < 2**64:
            raise ValueError(
                "random_state must be a whole number from 0 to 2**64 - 1, a RandomState or None; got "
                f"{self.random_state!r}."
            )
        return int(self.random_state)

    def _project(self, rows: Matrix) -> NDArray[np.floating]:
        return self._hash(as_native(rows), rows.shape[0], rows.dtype)

    def _hash(self, rows: Any, n_rows: int, dtype: np.dtype) -> NDArray[np.floating]:
        n_components, n_blocks, seed = self._settled()
        out = np.empty((n_rows, n_components), kernel_dtype(dtype))
        _native.hash_rows(rows, out, seed, n_blocks, bool(self.signed), n_threads(self.n_jobs))
        return out

    def _measurable(self, X: Any) -> tuple[Matrix, Callable[[Matrix], NDArray[Any]]]:
        if self.input_type == "array":
            return self._checked(X, reset=False), self._project
        values, keys, indptr = rows_by_keys(X, self.input_type)
        different, columns = np.unique(keys, return_inverse=True)
        rows = sp.csr_array((values, columns, indptr), shape=(len(indptr) - 1, max(len(different), 1)))
        rows.sum_duplicates()

        def project(rows: Matrix) -> NDArray[Any]:
            native = rows.data, different[rows.indices], rows.indptr.astype(np.int64), ASSUMED_COLUMNS
            return self._hash(native, rows.shape[0], rows.dtype)

        return rows, project

    def _law(self) -> dict[str, Any]:
        return {"n_blocks": self._settled()[1], "signed": bool(self.signed)}


def nearest_divisor(number: int, wanted: float) -> int:
    """The divisor of `number` with the smallest ratio to `wanted`, the larger one of two.

    >>> nearest_divisor(1024, 114.0), nearest_divisor(36, 5.0), nearest_divisor(7, 0.0)
    (128, 6, 1)
    """
    small = [divisor for divisor in range(1, int(np.sqrt(number)) + 1) if number % divisor == 0]
    divisors = np.array([*(number // divisor for divisor in small), *small[::-1]])
    return int(divisors[np.argmin(np.abs(np.log(divisors / max(wanted, 1.0))))])


def rows_by_keys(X: Any, input_type: str) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Values, hashes of their keys, and where rows begin and end among them: CSR with 64 bits for columns."""
    hashed = lru_cache(CACHED_KEYS)(_hash_of_key)
    values, keys, indptr = array("d"), array("Q"), array("q", [0])
    if isinstance(X, str | bytes | Mapping) or not isinstance(X, Iterable):
        raise TypeError(
            f"With input_type={input_type!r}, X must be a list or another iterable of rows; got {type(X).__name__}."
        )
    for number, row in enumerate(X):
        for key, value in _entries(row, number, input_type):
            if not isinstance(key, str):
                raise TypeError(
                    f"Row {number} has the key {key!r} of type {type(key).__name__}; keys must be strings. Columns by "
                    "number come as an array or a CSR matrix, with input_type='array'."
                )
            try:
                values.append(value)
            except TypeError:
                raise TypeError(f"Row {number} has {value!r} for the key {key!r}; values must be numbers.") from None
            keys.append(hashed(key))
        indptr.append(len(values))
    if len(indptr) == 1:
        raise ValueError("X has no rows; at least one is needed.")
    finite = np.isfinite(values)
    if not finite.all():
        worst = int(np.argmin(finite))
        number = int(np.searchsorted(indptr, worst, side="right")) - 1
        raise ValueError(f"Row {number} has a value that is {values[worst]}; values must be finite numbers.")
    return np.array(values), np.array(keys).view(np.int64), np.array(indptr)


def _entries(row: Any, number: int, input_type: str) -> Iterable[tuple[Any, Any]]:
    if input_type == "dict":
        if not isinstance(row, Mapping):
            raise TypeError(
                f"Row {number} is of type {type(row).__name__}; with input_type='dict' a row must map keys to numbers."
            )
        return row.items()
    if isinstance(row, str | bytes | Mapping) or not isinstance(row, Iterable):
        raise TypeError(
            f"Row {number} is of type {type(row).__name__}; with input_type='pair' a row must be a list of "
            "(key, number) pairs."
        )
    return (_pair(entry, number) for entry in row)


def _pair(entry: Any, number: int) -> tuple[Any, Any]:
    if not isinstance(entry, tuple | list) or len(entry) != 2:
        raise TypeError(
            f"Row {number} has the entry {entry!r}; with input_type='pair' it must be a pair (key, number)."
        )
    return entry[0], entry[1]


def _hash_of_key(key: str) -> int:
    digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def _is_seed(value: Any) -> TypeGuard[int]:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
