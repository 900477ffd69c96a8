"""From features to clusters."""

from ._links import cluster_links
from ._local_spectral import LocalSpectralClustering
from ._repeated import repeated_kmeans
from ._spectral_features import SpectralFeatures
from ._views import cluster_views

__all__ = ["LocalSpectralClustering", "SpectralFeatures", "cluster_links", "cluster_views", "repeated_kmeans"]
