"""What the server of the experiments' processes does once, before it forks them: only the server imports this."""

import gc

from sklearn.dummy import DummyClassifier
from sklearn.model_selection import cross_val_score

from .._calls import limited_threads
from . import _runner as _runner

with limited_threads(1):  # the libraries that have threads are looked for, and scikit-learn's plugins
    cross_val_score(DummyClassifier(), [[0.0], [0.0], [1.0], [1.0]], [0, 1, 0, 1], cv=2)
gc.collect()
gc.freeze()  # a child that looked through what it shares with the server would have to copy it
