"""Learned kernels and their rivals: features of all rows, labelled or not, and models of the labelled ones.

Constants are those of Sokolov, Urvoy, Le (2011, section 4) where these give them. Their features of k-means were not
standardised; here they are, since a linear SVM with C = 1 can make nothing of columns that hardly vary.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

from ..expand import HashedProjection
from ..learned import (
    GraphSmoothing,
    KMeansFeatures,
    LabelledOnly,
    LearnedKernelFeatures,
    NeuralKernel,
    NeuralReduction,
    RankBoost,
    RankBoostMap,
)
from ._method import Context, Method, Role

MOST_FEATURES = 100  # that the challenge allowed


def _few(to: Context) -> int:
    return min(MOST_FEATURES, to.n_components)


def _logistic(to: Context, C: float = 1.0, *, sparse: bool = False) -> LogisticRegression:
    """By liblinear; with weights of which few are not 0, if `sparse`."""
    renamed = signature(LogisticRegression).parameters["l1_ratio"].default is not None  # since scikit-learn 1.8
    penalty: dict[str, Any] = ({"l1_ratio": 1} if renamed else {"penalty": "l1"}) if sparse else {}
    return LogisticRegression(C=C, solver="liblinear", random_state=to.seed, **penalty)


def _centroids(to: Context, n_clusters: int) -> KMeansFeatures:
    return KMeansFeatures(n_clusters, random_state=to.seed, n_jobs=to.threads)


def _with_centroids(to: Context, n_clusters: int) -> Any:
    beside = make_union("passthrough", make_pipeline(_centroids(to, n_clusters), StandardScaler()))
    return make_pipeline(beside, LabelledOnly(_logistic(to, 0.2, sparse=True)))


def _smoothed(to: Context) -> Any:
    return GraphSmoothing(_logistic(to, 0.38, sparse=True), smoothness=0.1, random_state=to.seed, n_jobs=to.threads)


def _self_training(to: Context) -> Any:
    net = NeuralReduction(MOST_FEATURES, random_state=to.seed, n_jobs=to.threads)
    return SelfTrainingClassifier(net, threshold=0.5, max_iter=1)


def _learned_kernel(to: Context, kernel: Any = "rankboost-stumps", **options: Any) -> LearnedKernelFeatures:
    return LearnedKernelFeatures(kernel, n_components=_few(to), random_state=to.seed, n_jobs=to.threads, **options)


def _as_published(to: Context) -> LearnedKernelFeatures:
    """RankBoost as Freund et al. have it, and no feature that is its score."""
    ranker = RankBoost(1000, step="third-method", learning_rate=1.0, column_share=1.0)
    return _learned_kernel(to, RankBoostMap(ranker), with_score=False)


def _singular_vectors(to: Context) -> Any:
    count = max(1, min(_few(to), to.n_features - 1))
    return make_pipeline(TfidfTransformer(), TruncatedSVD(count, random_state=to.seed))


SEMI_SUPERVISED: tuple[Method, ...] = (
    Method(
        "kmeans-features",
        "k-means features",
        Role.MAP,
        lambda to: make_pipeline(_centroids(to, _few(to)), StandardScaler()),
        size="n_components",
        takes_unlabelled=True,
    ),
    Method(
        "kmeans-projection",
        "1,000 k-means features, projected",
        Role.MAP,
        lambda to: make_pipeline(
            _centroids(to, 1000),
            StandardScaler(),
            HashedProjection(_few(to), n_blocks=_few(to), random_state=to.seed, n_jobs=to.threads),
        ),
        size="n_components",
        takes_unlabelled=True,
    ),
    Method(
        "kmeans-neural",
        "1,000 k-means features, neural reduction",
        Role.MAP,
        lambda to: make_pipeline(
            _centroids(to, 1000),
            StandardScaler(),
            # Features of centroids are much alike: the small differences between them are what counts.
            NeuralReduction(
                _few(to),
                activation="tanh",
                weight_decay=1e-4,
                n_epochs_no_change=30,
                tol=0.0,
                random_state=to.seed,
                n_jobs=to.threads,
            ),
        ),
        size="n_components",
        takes_unlabelled=True,
    ),
    Method(
        "neural-reduction",
        "neural reduction",
        Role.MAP,
        lambda to: NeuralReduction(_few(to), random_state=to.seed, n_jobs=to.threads),
        size="n_components",
        takes_unlabelled=True,
    ),
    Method(
        "singular-vectors",
        "singular vectors",
        Role.MAP,
        _singular_vectors,
        size="n_components",
        takes_unlabelled=True,
    ),
    Method("l1-logistic", "sparse logistic regression", Role.MODEL, lambda to: _logistic(to, 0.22, sparse=True)),
    Method("l2-logistic", "logistic regression", Role.MODEL, _logistic),
    Method(
        "logistic-kmeans",
        "sparse logistic regression, 200 k-means features beside",
        Role.MODEL,
        lambda to: _with_centroids(to, 200),
        takes_unlabelled=True,
    ),
    Method(
        "logistic-kmeans-800",
        "sparse logistic regression, 800 k-means features beside",
        Role.MODEL,
        lambda to: _with_centroids(to, 800),
        takes_unlabelled=True,
    ),
    Method("graph-smoothing", "graph smoothing", Role.MODEL, _smoothed, takes_unlabelled=True),
    Method(
        "self-training",
        "self-training",
        Role.MODEL,
        _self_training,
        takes_unlabelled=True,
    ),
    Method(
        "learned-kernel",
        "learned kernel",
        Role.MAP,
        _learned_kernel,
        size="n_components",
        takes_unlabelled=True,
    ),
    Method(
        "learned-kernel-published",
        "learned kernel, as published",
        Role.MAP,
        _as_published,
        size="n_components",
        takes_unlabelled=True,
    ),
    Method(
        "learned-kernel-neural",
        "neural kernel",
        Role.MAP,
        lambda to: _learned_kernel(to, NeuralKernel()),
        size="n_components",
        takes_unlabelled=True,
    ),
)
