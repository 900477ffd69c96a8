"""From features to clusters."""

from ._links import cluster_links
from ._repeated import repeated_kmeans
from ._spectral_features import SpectralFeatures
from ._views import cluster_views

__all__ = ["SpectralFeatures", "cluster_links", "cluster_views", "repeated_kmeans"]
