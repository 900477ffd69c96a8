"""LocalClassifier: classes of rows from cells around anchors and of trees, with settings that it chooses itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from .._calls import obeys_n_jobs
from .._validation import all_or_nothing
from ._blend import probabilities
from ._local_model import LocalModel


@obeys_n_jobs
class LocalClassifier(ClassifierMixin, LocalModel):
    """Classes of rows from cells: one estimator, from a table as it is to calibrated probabilities.

    A linear model over cells can be as curved as a kernel machine or as sharp as a forest, depending on the cells. This
    estimator tries a family of them on rows that they have not learned from, and adds up the best ones:

    - "local": cells around anchors (`RandLocal`) in random columns, with soft values, by rank or as they are, guided by
      how useful columns are, under several metrics;
    - "leaves": leaves of extremely randomised trees (`ForestCells`), weighed anew by a linear model;
    - "forest": the same, each leaf with the mean of its rows;
    - "boosted": leaves of boosted trees;
    - "kernel": a Gaussian kernel's values at up to 2,000 rows, of at most 50,000;
    - "columns": the columns themselves, and by rank.

    What reads labels is learned anew in every fold, so that the rows that judge it are always unseen.

    Parameters
    ----------
    parts : list of dict, default=None
        The parts to use, such as ``[{"part": "local", "n_neighbors": 5}, {"part": "forest"}]``; what a part leaves open
        has a default, and what parts count is found on held-out rows, unless each has a "weight". None chooses them.
    family : list of str, default=None
        The kinds of parts to choose from, such as ``["local", "columns"]``; None for all of them.
    budget : str, float or None, default="5m"
        Time for the fit, as text ("90s", "5m", "2h") or in seconds. Fewer settings are tried where it is short, and on
        large tables parts are made smaller. It is a wish, not a promise; None takes the time that it takes.
    scale : {"auto", "standard", "minmax", "matrix", "none", "tfidf"}, default="auto"
        What is done to numbers first: "auto" standardises the columns of dense rows, divides images by their range,
        takes TF-IDF of sparse counts and leaves other sparse rows as they are.
    image_shape : (int, int) or (int, int, int), default=None
        Height, width and, if there are any, channels (last) of images in the rows; then cells may be of rectangles.
    class_weight : dict, "balanced" or None, default=None
        A factor per class for the weights of its rows.
    random_state : int, RandomState instance or None, default=None
    n_jobs : int or None, default=None
        Threads. None uses all cores, or as many as OMP_NUM_THREADS allows. The result does not depend on it, unless
        time ran out.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    chosen_ : dict
        Parameters that give the same model again, at the price of one fit of each part:
        ``LocalClassifier(**chosen_, random_state=...)``, with the same seed where rows are held back.
    models_ : list of fitted estimators
        The parts, such as `LocalLinearClassifier` with its map in ``features_``; their classes are numbers.
    weights_ : ndarray of shape (n_parts,)
        What the parts' scores are multiplied by.
    biases_ : ndarray of shape (1,) or (n_classes,)
        What is added to their sum, which is the log odds of the second class or the log of probabilities.
    validation_loss_ : float or None
        Mean log loss on rows that the parts had not learned from; None if all was given.
    validation_score_ : float or None
        The share of these rows whose class is predicted.
    shares_ : ndarray of shape (n_parts,) or None
        What part of the sum's spread on these rows comes from each part.
    preparation_ : transformer
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Data frames of pandas or polars may have columns of text or categories, which become a column for each of the 50
    most frequent values; other values, at `predict` too, count together. Missing values are filled with medians,
    and a column more for each that has them says where they were; in sparse rows they are 0.

    Up to 20,000 rows every part predicts every row once, from folds without it, and is then fitted to all of them. Of
    more rows a sample is used for choosing, some 4,000, or a tenth, are held back to weigh the parts by, and the parts
    are fitted to the others.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import train_test_split
    >>> from vicinal import LocalClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> parts = [{"part": "local", "n_groups": 50}, {"part": "forest", "n_trees": 50}]
    >>> model = LocalClassifier(parts, random_state=0).fit(X_train, y_train)
    >>> bool(model.score(X_test, y_test) > 0.9), model.predict_proba(X_test).shape
    (True, (38, 3))
    """

    def __init__(
        self,
        parts: Sequence[Mapping[str, Any]] | None = None,
        *,
        family: Sequence[str] | None = None,
        budget: str | float | None = "5m",
        scale: str = "auto",
        image_shape: tuple[int, ...] | None = None,
        class_weight: Any = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ):
        self.parts = parts
        self.family = family
        self.budget = budget
        self.scale = scale
        self.image_shape = image_shape
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> LocalClassifier:
        """Choose parts, fit them, and find what each counts.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Factors of the rows' losses; rows of weight zero do not count.

        Returns
        -------
        self
        """
        given = self._checked_y(y, numeric=False)
        check_classification_targets(given)
        self.classes_, labels = np.unique(given, return_inverse=True)
        if len(self.classes_) < 2:
            found = f"one class, {self.classes_.tolist()[0]!r}" if len(self.classes_) else "no class: y is empty"
            raise ValueError(f"{type(self).__name__} needs at least two classes; there is {found}.")
        factors = compute_class_weight(self.class_weight, classes=self.classes_, y=given)
        self._learn(X, labels, factors[labels], len(self.classes_), sample_weight)
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Log odds of the second of two classes, or the log of each class's probability, up to a number per row.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        combined = self._combined(X)
        return combined[:, 0] if combined.shape[1] == 1 else combined

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Probabilities of the classes.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return probabilities(self._combined(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The most probable class.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        combined = self._combined(X)
        places = (combined[:, 0] > 0).astype(np.intp) if combined.shape[1] == 1 else combined.argmax(axis=1)
        found: NDArray[Any] = self.classes_[places]
        return found
