"""Writes scikit-learn's handwritten digits as a CSV file, the kind of table that `vicinal compare` reads."""

import sys
from pathlib import Path

from sklearn.datasets import load_digits

path = Path(sys.argv[1])
path.parent.mkdir(parents=True, exist_ok=True)
frame = load_digits()
header = ",".join([*frame.feature_names, "digit"])
rows = (
    ",".join(f"{value:g}" for value in (*pixels, digit)) for pixels, digit in zip(frame.data, frame.target, strict=True)
)
path.write_text("\n".join([header, *rows]) + "\n")
