"""Paths are found by class, load when they are needed, and may come from other packages."""

import subprocess
import sys
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, Ridge

import steadycv
from steadycv.paths import find_path, register_path, registry

PACKAGE = Path(steadycv.__file__).parent

# The package's folder without what its own __init__ imports.
BARE = f"""
import sys
from types import ModuleType
sys.modules["steadycv"] = package = ModuleType("steadycv")
package.__path__ = [{str(PACKAGE)!r}]
"""


def said_by(code):
    """What code prints in a fresh interpreter, in words."""
    found = subprocess.run(
        [sys.executable, "-c", BARE + code], capture_output=True, text=True, check=True
    )
    return set(found.stdout.split())


def loaded_by(code):
    """The modules that are loaded once the code has run."""
    return said_by(code + "\nprint(*sys.modules)")


def test_nothing_is_loaded_before_it_is_needed():
    loaded = loaded_by("import steadycv.paths, steadycv.paths.plan")
    assert not loaded & {"numba", "sklearn.ensemble", "xgboost", "lightgbm"}
    assert not loaded & {f"steadycv.{name}" for name in ("fitting", "ledger", "search", "candidates")}


@pytest.mark.parametrize(
    ("modules", "others"),
    [
        ("linear neighbors pipelines svm transformers", {"numba", "sklearn.ensemble"}),
        ("boosting lightgbm xgboost", {"numba", "lightgbm", "xgboost"}),
        ("trees", {"sklearn.ensemble"}),
    ],
)
def test_a_path_does_not_load_what_others_need(modules, others):
    assert not others & loaded_by("".join(f"import steadycv.paths.{each}\n" for each in modules.split()))


@pytest.mark.parametrize(("package", "name"), registry._MODULE_OF)
def test_the_module_of_the_table_registers_the_path(package, name):
    import_module(registry._MODULE_OF[package, name])
    known = {(full.partition(".")[0], full.rpartition(".")[2]) for full in registry._PATHS}
    assert (package, name) in known


def test_transformers_have_paths_too():
    assert hasattr(find_path(PCA()), "shares")
    assert find_path(LinearRegression()) is None


class Mine(BaseEstimator):
    """An estimator of another package."""


class Subclass(Ridge):
    """May differ from what it is derived from."""


def test_subclasses_have_no_path():
    assert find_path(Subclass()) is None


a_path = object()


def test_a_path_is_found_by_entry_point(monkeypatch):
    name = f"{__name__}.Mine"
    entry = EntryPoint(name, f"{__name__}:a_path", "steadycv.paths")
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry])
    monkeypatch.setattr(registry, "_PATHS", {})
    registry._plug_ins.cache_clear()
    try:
        assert find_path(Mine()) is sys.modules[__name__].a_path
    finally:
        registry._plug_ins.cache_clear()


@pytest.mark.parametrize("of", [Mine, f"{__name__}.Mine"])
def test_a_path_is_registered_by_class_or_name(of, monkeypatch):
    monkeypatch.setattr(registry, "_PATHS", {})
    register_path(of, a_path)
    assert find_path(Mine()) is a_path


def test_a_path_of_ones_own_stays_when_the_module_of_ours_is_loaded():
    code = """
from sklearn.linear_model import Lasso, Ridge
from steadycv.paths import find_path, register_path
register_path(Ridge, "mine")
print(type(find_path(Lasso())).__name__, find_path(Ridge()))
"""
    assert said_by(code) == {"NetPath", "mine"}
