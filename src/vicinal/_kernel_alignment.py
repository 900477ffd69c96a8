"""How alike two kernels are (public in metrics)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array


def kernel_alignment(K1: ArrayLike, K2: ArrayLike, *, centered: bool = False) -> float:
    """The cosine between two kernel matrices of the same rows, each taken as one long vector.

    Parameters
    ----------
    K1, K2 : array-like of shape (n_samples, n_samples)
        Such as a kernel and that of the labels, ``np.outer(y, y)`` for y of -1 and 1.
    centered : bool, default=False
        Whether rows are moved first so that their mean is 0 in each kernel's space. Otherwise a constant that is added
        to all values of a kernel makes it more alike others.

    Returns
    -------
    float
        1 where one is a positive multiple of the other, and between 0 and 1 for positive semidefinite matrices.

    References
    ----------
    Cristianini, Shawe-Taylor, Elisseeff, Kandola: On Kernel-Target Alignment, NIPS 2001.
    Cortes, Mohri, Rostamizadeh: Algorithms for Learning Kernels Based on Centered Alignment, JMLR 13, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.metrics import kernel_alignment
    >>> y = np.array([-1, -1, 1, 1])
    >>> round(kernel_alignment(np.eye(4), np.outer(y, y)), 6)
    0.5
    """
    first, second = (_kernel(name, given, centered) for name, given in (("K1", K1), ("K2", K2)))
    if first.shape != second.shape:
        raise ValueError(
            f"K1 has the shape {first.shape} and K2 {second.shape}; both must be kernels of the same rows."
        )
    return float(np.clip(np.vdot(first, second), -1, 1))


def _kernel(name: str, K: ArrayLike, centered: bool) -> NDArray[np.float64]:
    """A square matrix of length 1, centred if wanted."""
    kernel = check_array(K, dtype=np.float64, input_name=name)
    if kernel.shape[0] != kernel.shape[1]:
        raise ValueError(f"{name} must have a row and a column per row of the data; its shape is {kernel.shape}.")
    kernel = kernel / max(float(np.abs(kernel).max()), np.finfo(float).tiny)
    if centered:
        kernel = kernel - kernel.mean(axis=0) - kernel.mean(axis=1)[:, np.newaxis] + kernel.mean()
    length = float(np.linalg.norm(kernel))
    if length <= len(kernel) * np.finfo(float).eps:
        raise ValueError(f"{name} is zero{' when centred' * centered}, so that it has no alignment with anything.")
    return kernel / length
