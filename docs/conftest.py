"""Runs the code blocks of the pages, each page from top to bottom: `pytest docs`."""

from __future__ import annotations

import os
import warnings
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from sklearn.tree import DecisionTreeRegressor
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser

from steadycv import StabilitySearchCV

collect_ignore_glob = ["*.py", "gallery/*", "api/*"]
if find_spec("torch") is None:  # the page of networks runs where there is PyTorch
    collect_ignore_glob.append("networks.md")
if not all(
    map(find_spec, ("mlflow", "onnxruntime", "skl2onnx", "skore"))
):  # and that of tools where there are these
    collect_ignore_glob.append("tools.md")
else:
    os.environ |= {"MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true"}  # pages send nothing
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of MLflow's own types
        import mlflow.pyfunc  # noqa: F401

plt.switch_backend("agg")
_SEARCH = StabilitySearchCV(DecisionTreeRegressor(), {"max_depth": range(1, 6)})


def setup(namespace: dict[str, Any]) -> None:
    """What the pages take for granted; files are written into a folder that goes away."""
    X, y = load_diabetes(return_X_y=True)
    noise = np.random.default_rng(0).normal(size=(len(y), 10))  # columns to choose from
    X = np.hstack([X, noise])
    namespace |= {
        "np": np,
        "pd": pd,
        "X": X,
        "y": y,
        "model": DecisionTreeRegressor(),
        "grid": {"max_depth": range(1, 6)},
        "search": _SEARCH.fit(X, y),
        "patients": np.arange(len(y)) // 4,
        "w": np.ones(len(y)),
        "ax": plt.figure().add_subplot(),
    }
    namespace["_folder"] = TemporaryDirectory()
    namespace["_before"] = Path.cwd()
    os.chdir(namespace["_folder"].name)


def teardown(namespace: dict[str, Any]) -> None:
    """Leave the folder."""
    plt.close("all")
    os.chdir(namespace["_before"])
    namespace["_folder"].cleanup()


pytest_collect_file = Sybil(
    parsers=[
        PythonCodeBlockParser(doctest_optionflags=NORMALIZE_WHITESPACE | ELLIPSIS),
        SkipParser(),
    ],
    pattern="*.md",
    setup=setup,
    teardown=teardown,
).pytest()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What the packages of others warn of one another is no concern of the page that calls them."""
    for item in items:
        if item.path.name == "tools.md":
            item.add_marker(pytest.mark.filterwarnings("ignore"))
