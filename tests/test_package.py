"""The package's public names, which are imported when they are asked for."""

import pickle
import subprocess
import sys

import pytest

import vicinal


def test_every_public_name_is_there():
    for name in vicinal.__all__:
        assert getattr(vicinal, name) is getattr(vicinal, name)
        assert name in dir(vicinal)
    classes = [getattr(vicinal, name) for name in vicinal.__all__ if name != "__version__"]
    for kind in classes:
        assert isinstance(kind, type)
        assert getattr(vicinal, kind.__name__) is kind
        assert type(pickle.loads(pickle.dumps(kind()))) is kind


def test_a_star_import_gives_them_all():
    names = {}
    exec("from vicinal import *", names)
    assert set(vicinal.__all__) <= set(names)


def test_modules_need_no_import_of_their_own():
    modules = "metrics", "cluster", "select", "datasets", "graphs", "experiments", "explain"
    shown = ", ".join(f"vicinal.{module}.__name__" for module in modules)
    code = f"import sys, vicinal; assert 'sklearn' not in sys.modules; print({shown})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == [f"vicinal.{module}" for module in modules]


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="module 'vicinal' has no attribute 'RandLokal'"):
        vicinal.RandLokal  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'RandLokal'"):
        from vicinal import RandLokal  # noqa: F401
