"""Data sets by name: from the folder VICINAL_DATA, from the cache, or from their public source."""

from .._sample import Sample
from ._cache import path_of
from ._catalog import Dataset, catalog
from ._load import checksum, fetch, load

__all__ = ["Dataset", "Sample", "catalog", "checksum", "fetch", "load", "path_of"]
