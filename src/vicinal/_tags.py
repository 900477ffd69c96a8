"""What several estimators tell scikit-learn of themselves."""

from __future__ import annotations

from sklearn.utils import Tags


class TakesSparseFloats:
    """Rows may be sparse, and single precision stays single."""

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
