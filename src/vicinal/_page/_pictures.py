"""Pictures of a page: features as an image, and the cells of anchors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False)
class FeatureImage:
    """A matrix of features as a picture, its rows sorted by class.

    Parameters
    ----------
    title : str
        What is shown.
    pixels : ndarray of uint8, rows x columns
        0 is absent, 255 the strongest.
    boundaries : tuple of (label, first row, last row + 1)
        The classes' bands.
    sparsity : float
        The sparsity ratio: the share of entries that are not zero, in the whole matrix.
    caption : str, default=""
        A sentence below.

    See Also
    --------
    vicinal.experiments.feature_image : Makes one from features and classes.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.report import FeatureImage
    >>> pixels = np.array([[255, 0, 0], [128, 0, 0], [0, 0, 255]], dtype=np.uint8)
    >>> FeatureImage("Three rows", pixels, (("a", 0, 2), ("b", 2, 3)), sparsity=1 / 3).pixels.shape
    (3, 3)
    """

    title: str
    pixels: NDArray[np.uint8]
    boundaries: tuple[tuple[str, int, int], ...]
    sparsity: float
    caption: str = ""

    def __post_init__(self) -> None:
        if self.pixels.ndim != 2 or self.pixels.dtype != np.uint8:
            raise ValueError(
                f"pixels must be a matrix of uint8; got {self.pixels.ndim} dimension(s) of {self.pixels.dtype}. "
                "feature_image makes one from any features."
            )


@dataclass(frozen=True, eq=False)
class FeatureImages:
    """What several methods make of the same rows, side by side.

    Parameters
    ----------
    title : str
        What is shown.
    images : tuple of FeatureImage
        One picture per method, with the method's name as its title.
    caption : str, default=""
        A sentence below.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.report import FeatureImage, FeatureImages
    >>> grey = np.full((2, 4), 128, dtype=np.uint8)
    >>> images = tuple(FeatureImage(name, grey, (("a", 0, 2),), sparsity=1.0) for name in ("RULLS", "RandLocal"))
    >>> [image.title for image in FeatureImages("The same two rows", images).images]
    ['RULLS', 'RandLocal']
    """

    title: str
    images: tuple[FeatureImage, ...]
    caption: str = ""


@dataclass(frozen=True, eq=False)
class VoronoiPanel:
    """Anchors and rows in the plane.

    Parameters
    ----------
    title : str
        What is shown.
    anchors : array-like of shape (n_anchors, 2)
        The points whose cells are drawn.
    points : array-like of shape (n_rows, 2)
        The rows.
    classes : array-like of shape (n_rows,)
        Their classes, as numbers from 0.
    class_names : tuple of str
        ``class_names[c]`` is the name of class c.

    Examples
    --------
    >>> from vicinal.report import VoronoiPanel
    >>> rows = [[0.0, 0.0], [0.1, 0.2], [1.0, 1.0]]
    >>> VoronoiPanel("2 anchors", rows[1:], rows, [0, 0, 1], ("inside", "outside")).class_names
    ('inside', 'outside')
    """

    title: str
    anchors: ArrayLike
    points: ArrayLike
    classes: ArrayLike
    class_names: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in ("anchors", "points"):
            shape = np.shape(getattr(self, name))
            if len(shape) != 2 or shape[1] != 2:
                raise ValueError(f"{name} must have two columns, for a picture of the plane; got the shape {shape}.")
        classes = np.asarray(self.classes)
        if len(classes) != len(np.asarray(self.points)):
            raise ValueError(
                f"There are {len(np.asarray(self.points))} points but {len(classes)} classes; give as many."
            )
        if len(classes) and not 0 <= classes.min() <= classes.max() < len(self.class_names):
            raise ValueError(
                f"classes must be whole numbers from 0 to {len(self.class_names) - 1}, one per name; "
                f"got {classes.min()} to {classes.max()}."
            )


@dataclass(frozen=True, eq=False)
class Voronoi:
    """The cells that anchors cut the plane into, one panel per number of anchors.

    Parameters
    ----------
    title : str
        What is shown.
    panels : tuple of VoronoiPanel
        From the fewest anchors to the most.
    caption : str, default=""
        A sentence below.

    See Also
    --------
    vicinal.experiments.voronoi_cells : Makes one from rows and classes.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.report import Voronoi, VoronoiPanel
    >>> rows, classes = np.random.default_rng(0).random((20, 2)), np.repeat([0, 1], 10)
    >>> panels = tuple(VoronoiPanel(f"{n} anchors", rows[:n], rows, classes, ("a", "b")) for n in (2, 8))
    >>> [panel.title for panel in Voronoi("From coarse to fine", panels).panels]
    ['2 anchors', '8 anchors']
    """

    title: str
    panels: tuple[VoronoiPanel, ...]
    caption: str = ""
