"""Checks before the first fit. `test_bad_input.py` has them as a search says them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from steadycv.candidates import Grid
from steadycv.checks import check_candidates, check_grid, check_target, check_weights

PIPELINE = Pipeline([("scale", StandardScaler()), ("model", Ridge())])


@pytest.mark.parametrize("weights", [0, 2.5, [0, 1], "auto", np.array([3.0])])
def test_weights(weights):
    found = check_weights(weights)
    assert (np.diff(found) > 0).all()
    assert len(found) == (11 if isinstance(weights, str) else np.size(weights))


def test_single_weight_without_nesting():
    assert check_weights([2.0], nested=False).tolist() == [2.0]
    with pytest.raises(ValueError, match="needs a single stability weight"):
        check_weights("auto", nested=False)


@pytest.mark.parametrize("grid", [{"a": [1]}, [{"a": [1]}, {}], {}])
def test_names_of_parameters(grid):
    check_grid(grid)


@pytest.mark.parametrize(
    "grid",
    [
        {"model__alpha": [1.0]},
        {"model": [Ridge(), SVR()], "scale": ["passthrough"]},
        [{"model": [SVR()], "model__C": [1.0]}, {"model__alpha": [2.0]}],
    ],
)
def test_parameters_that_there_are(grid):
    check_candidates(PIPELINE, Grid(grid))


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({"alpha": [1.0]}, "Invalid parameter 'alpha' for estimator Pipeline"),
        ({"model__gamma": [1.0]}, r"Invalid parameter 'gamma' for estimator Ridge\(\)"),
        ([{"model__alpha": [1.0]}, {"model__C": [1.0]}], "Invalid parameter 'C'"),
        ({"model": [SVR()], "model__alpha": [1.0]}, "Invalid parameter 'alpha' for estimator SVR"),
        (
            {"model": [Ridge(), SVR()], "model__alpha": [1.0]},
            "Invalid parameter 'alpha' for estimator SVR",
        ),
    ],
)
def test_parameters_that_there_are_not(grid, message):
    with pytest.raises(ValueError, match=message):
        check_candidates(PIPELINE, Grid(grid))


def test_estimators_of_a_grid_are_left_alone():
    svr = SVR(C=7.0)
    check_candidates(PIPELINE, Grid({"model": [svr], "model__C": [1.0, 2.0]}))
    assert svr.C == 7.0


@pytest.mark.parametrize(
    ("estimator", "y"),
    [
        (Ridge(), [1.0, 2.0]),
        (Ridge(), np.array([1, 2.5], dtype=object)),
        (Ridge(), ["1", "2.5"]),
        (Ridge(), np.ones((3, 2))),
        (Ridge(), None),
        (LogisticRegression(), ["a", "b"]),
        (LogisticRegression(), np.array(["a", "b"], dtype=object)),
        (LogisticRegression(), pd.Series(["a", "b"], dtype="category")),
        (StandardScaler(), ["a", "b"]),
    ],
)
def test_targets(estimator, y):
    check_target(estimator, y)


@pytest.mark.parametrize(
    ("estimator", "y", "message"),
    [
        (Ridge(), [1.0, np.nan], r"y contains NaN: y\[1\] is nan"),
        (LogisticRegression(), [0.0, 1.0, np.nan], r"y contains NaN: y\[2\] is nan"),
        (Ridge(), [[1.0, 2.0], [np.inf, 0.0]], r"y contains infinity: y\[1\] is inf"),
        (LogisticRegression(), np.array(["a", None], dtype=object), r"y\[1\] is None"),
        (LogisticRegression(), pd.Series(["a", pd.NA, "b"], dtype=object), r"y\[1\] is <NA>"),
        (Ridge(), ["a", "b"], "y is to be numbers for the regressor Ridge"),
    ],
)
def test_targets_that_are_none(estimator, y, message):
    with pytest.raises(ValueError, match=message):
        check_target(estimator, y)
