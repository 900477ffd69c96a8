"""Pictures made from data: features as an image, and the cells that anchors cut the plane into."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import StandardScaler

from .._page import FeatureImage, Section, Voronoi, VoronoiPanel
from .._preparation import scaler
from .._sample import Sample
from .._validation import Matrix, check_count
from ..local import RandLocal
from ..metrics import sparsity_ratio
from ._experiment import Experiment
from ._methods import find_method
from ._work import work_of

MOST_ROWS = 5000
PICTURE_ROWS = 2000
PICTURE_GROUPS = 50
PICTURE_ITERATIONS = 8
TITLE = "What the features look like"


def subject_pictures(experiment: Experiment, load: Callable[[str], Sample]) -> Section | None:
    """What the experiment's subject makes of the first data set."""
    spec = experiment.data[0]
    place = experiment.data_label(spec.key)
    if find_method(experiment.subject).size == "n_components":
        return None  # dense features look alike
    if experiment.subject != "randlocal":
        few = replace(
            experiment,
            data=(replace(spec, rows=min(spec.rows or PICTURE_ROWS, PICTURE_ROWS)),),
            n_groups=min(experiment.n_groups, PICTURE_ITERATIONS),
        )
        method = next((method for method in few.methods if method.id.startswith(few.subject)), None)
        if method is None:
            return None
        image = method_image(few, method.id, f"{few.label(method.id)}, rows sorted by class", load)
        return Section(TITLE, f"{place}: a class that has columns of its own is easy for a linear model.", (image,))
    sample = load(spec.name)
    if sample.y is None:
        return None
    names, codes = np.unique(sample.y, return_inverse=True)
    rows = scaler(spec.scale, sample.X).fit_transform(sample.X)
    return randlocal_pictures(rows, codes, tuple(map(str, names)), place=place)


def method_image(experiment: Experiment, method: str, title: str, load: Callable[[str], Sample]) -> FeatureImage:
    """The features of a method on the experiment's first data set, without noise."""
    spec = replace(experiment.method_spec(method), vary={}, skip=())
    alone = replace(experiment, data=experiment.data[:1], methods=(spec,), noise=("none",))
    work = work_of(alone, alone.cells()[0], threads=1, load=load)
    sample, outcome = work.all_rows()
    features, _ = work.features({}, sample, outcome)
    assert sample.y is not None
    return feature_image(features, sample.y, title=title)


def randlocal_pictures(
    X: Matrix, y: NDArray, class_names: tuple[str, ...], *, seed: int = 0, place: str = ""
) -> Section:
    """What RandLocal makes of some rows: its coarsest groups as an image, and the cells of anchors in the plane."""
    keep = np.sort(np.random.default_rng(seed).permutation(X.shape[0])[:PICTURE_ROWS])
    X, names = X[keep], [class_names[code] for code in y[keep]]
    model = RandLocal(PICTURE_GROUPS, random_state=seed)
    features = model.fit_transform(X)
    groups = np.argsort(np.diff(model.anchor_ptr_), kind="stable")
    coarse_first = np.concatenate([np.arange(*model.anchor_ptr_[group : group + 2]) for group in groups])
    image = feature_image(features[:, coarse_first], names, title="RandLocal's coarsest groups, rows sorted by class")
    text = f"{place}{': a' if place else 'A'} class that has columns of its own is easy for a linear model."
    return Section(TITLE, text, (image, voronoi_cells(X, names)))


def feature_image(
    features: Matrix,
    y: ArrayLike,
    *,
    title: str,
    max_rows: int = 240,
    max_columns: int = 480,
    sparsity: float | None = None,
) -> FeatureImage:
    """Some rows of a matrix of features, sorted by class, as a picture.

    Each class gets as many rows as the others as far as it has them, evenly drawn from its own; the columns are the
    first ones, so that groups stay whole. Values are taken without their sign and scaled by their 99th percentile.

    Parameters
    ----------
    features : CSR matrix or ndarray of shape (n_rows, n_columns)
        What a transformer gives.
    y : array-like of shape (n_rows,)
        Classes, as numbers or names.
    title : str
        The picture's heading.
    max_rows, max_columns : int
        The most rows and columns that are shown.
    sparsity : float, default=None
        The share of non-zeros in the whole matrix; None counts them.

    Returns
    -------
    FeatureImage

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from vicinal import RandLocal
    >>> from vicinal.experiments import feature_image
    >>> X, y = load_digits(return_X_y=True)
    >>> image = feature_image(RandLocal(50, random_state=0).fit_transform(X), y, title="RandLocal")
    >>> image.pixels.shape, image.boundaries[1], round(image.sparsity, 3)
    ((240, 480), ('1', 24, 48), 0.004)
    """
    check_count("max_rows", max_rows)
    check_count("max_columns", max_columns)
    matrix: Any = features.tocsr() if sp.issparse(features) else np.asarray(features, dtype=float)
    if matrix.ndim != 2:
        raise ValueError(f"features must be a matrix (rows x columns); got {matrix.ndim} dimension(s).")
    codes, names = _classes(y, matrix.shape[0])
    if sparsity is None:
        sparsity = sparsity_ratio(matrix) if all(matrix.shape) else 0.0
    shown: list[NDArray[np.int64]] = []
    boundaries: list[tuple[str, int, int]] = []
    start = 0
    for code, quota in enumerate(_quotas(np.bincount(codes, minlength=len(names)), max_rows)):
        members = np.flatnonzero(codes == code)
        if quota:
            shown.append(members[np.linspace(0, len(members) - 1, quota).round().astype(np.int64)])
            boundaries.append((names[code], start, start + quota))
            start += quota
    rows = np.concatenate(shown) if shown else np.zeros(0, np.int64)
    part = matrix[rows][:, :max_columns]
    values = np.abs(part.toarray() if sp.issparse(part) else part)
    return FeatureImage(title, _grey(values), tuple(boundaries), float(sparsity))


def voronoi_cells(
    X: Matrix,
    y: ArrayLike,
    *,
    n_anchors: tuple[int, ...] = (8, 32, 128),
    seed: int = 0,
    class_names: tuple[str, ...] | None = None,
) -> Voronoi:
    """The cells of few, more and many anchors in the plane of the first two principal components.

    Anchors are rows, as in RandLocal (Fig. 2 of its paper): few of them cut the plane into large neighbourhoods, many
    into small ones. Columns are standardised, missing values are set to the median, and both components are
    scaled to the same spread. Sparse input is neither centred nor filled in.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_columns)
        At most 5,000 of its rows, drawn at random, are used.
    y : array-like of shape (n_rows,)
        Classes, as numbers or names.
    n_anchors : tuple of int
        Anchors of each panel; at most as many as there are rows.
    seed : int
        Draws rows and anchors.
    class_names : tuple of str, default=None
        Names of the classes in sorted order, in place of the values of y.

    Returns
    -------
    Voronoi

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal.experiments import voronoi_cells
    >>> iris = load_iris()
    >>> cells = voronoi_cells(iris.data, iris.target, class_names=tuple(iris.target_names))
    >>> [panel.title for panel in cells.panels]
    ['8 anchors', '32 anchors', '128 anchors']
    """
    if not sp.issparse(X):
        X = np.asarray(X, dtype=float)
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"X must be a matrix with rows and columns; got the shape {X.shape}.")
    codes, names = _classes(y, X.shape[0])
    if class_names is not None:
        if len(class_names) != len(names):
            raise ValueError(f"There are {len(names)} classes in y but {len(class_names)} class names; give as many.")
        names = [str(name) for name in class_names]
    sizes = [check_count("n_anchors", size) for size in n_anchors]
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.permutation(X.shape[0])[:MOST_ROWS])
    plane, codes = _plane(X.tocsr()[rows] if sp.issparse(X) else X[rows], seed), codes[rows]
    panels = []
    for number in dict.fromkeys(min(size, len(plane)) for size in sizes):
        anchors = plane[rng.choice(len(plane), number, replace=False)]
        title = f"{number:,} anchor{'s' if number > 1 else ''}"
        panels.append(VoronoiPanel(title, anchors, plane, codes, tuple(names)))
    return Voronoi(
        "Neighbourhoods, from coarse to fine",
        tuple(panels),
        "Every cell is the neighbourhood of one anchor, and one feature. Its tint is that of the class that most "
        "of its rows have, the purer the stronger. The plane is that of the first two principal components.",
    )


def _classes(y: ArrayLike, n_rows: int) -> tuple[NDArray[np.int64], list[str]]:
    """Classes as numbers from 0, and their names in sorted order; mixed types are sorted as text."""
    values = np.asarray(y)
    if values.shape != (n_rows,):
        raise ValueError(f"y must have one class for each of the {n_rows} rows; got the shape {values.shape}.")
    if values.dtype == object:
        values = values.astype(str)
    classes, codes = np.unique(values, return_inverse=True)
    return codes, [f"{value:g}" if isinstance(value, float) else str(value) for value in classes.tolist()]


def _quotas(counts: NDArray[np.int64], most: int) -> list[int]:
    """How many rows each class gets, as equal as can be; without room for all classes, the largest come first."""
    quotas = np.zeros(len(counts), np.int64)
    order = np.argsort(counts, kind="stable")[-most:]
    left = most
    for place, code in enumerate(order):
        quotas[code] = min(counts[code], left // (len(order) - place))
        left -= quotas[code]
    return quotas.tolist()


def _grey(values: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Values of at least 0 on the steps 1 to 255; 0 and NaN stay 0, and any other value stays visible."""
    present = values[(values > 0) & np.isfinite(values)]
    top = np.percentile(present, 99) if present.size else 1.0
    shares = np.clip(np.nan_to_num(values, nan=0.0, posinf=np.inf) / top, 0, 1)
    return np.where(shares > 0, 1 + np.round(254 * shares), 0).astype(np.uint8)


def _plane(X: Matrix, seed: int) -> NDArray[np.float64]:
    """Two components of the same spread; what one column or one row cannot give is 0."""
    if sp.issparse(X) and X.shape[1] > 2:
        scaled = StandardScaler(with_mean=False).fit_transform(X.astype(float))
        model: Any = TruncatedSVD(2, random_state=seed)
    else:
        dense = X.toarray() if sp.issparse(X) else X
        finite = np.where(np.isfinite(dense), dense, np.nan)
        filled = SimpleImputer(strategy="median", keep_empty_features=True).fit_transform(finite)
        scaled = StandardScaler().fit_transform(filled)
        model = PCA(min(2, *scaled.shape), random_state=seed)
    with np.errstate(invalid="ignore", divide="ignore"):  # constant data have no variance to explain
        components = model.fit_transform(scaled) if scaled.shape[0] > 1 else np.zeros((1, 2))
    plane = np.zeros((scaled.shape[0], 2))
    plane[:, : components.shape[1]] = components
    spread = plane.std(axis=0)
    return plane / np.where(spread > 1e-12, spread, 1.0)
