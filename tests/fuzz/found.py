"""What the drawn tables have shown and is not mended yet; each entry has a test in test_found.py that fails."""

WIDE_VALUES = ("columns apart", "tiny", "huge")


def is_open(estimator, table):
    return any(type(estimator).__name__ in names and applies(table) for names, applies in OPEN)


OPEN = [
    # Squares and products that float32 or float64 do not hold.
    (("RobustPCA",), lambda table: table.values in WIDE_VALUES),
    (("DenoisingAutoencoder", "StackedDenoisingAutoencoder"), lambda table: table.values in WIDE_VALUES),
    (("GaussianProjection",), lambda table: table.dtype == "float32" and table.values in WIDE_VALUES),
    # A bound beyond float32 in a comparison with one.
    (("SNFS",), lambda table: table.dtype == "float32"),
    # k-means of scikit-learn takes 32-bit indices only.
    (("RSFS", "RUFS"), lambda table: table.container == "64 bit indices"),
]
