"""Checks before the first fit. `test_bad_input.py` has them as a search says them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, TimeSeriesSplit
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC

from steadycv import StabilitySearchCV
from steadycv.candidates import Grid
from steadycv.checks import (
    check_candidates,
    check_grid,
    check_methods,
    check_order,
    check_rule,
    check_target,
    check_weights,
)

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


@pytest.mark.parametrize("rule", ["paper", "steady", "plain", "one_standard_error", max])
def test_rules(rule):
    check_rule(rule, "auto", whole_grid=True)


@pytest.mark.parametrize(
    ("rule", "weights", "whole_grid", "message"),
    [
        ("best", "auto", True, "'one_standard_error' or a function of a ledger and a view, got 'best'"),
        ("plain", [0, 1], True, r"among no stability weights, got stability_weights=\[0, 1\]"),
        ("one_standard_error", 1.0, True, "Leave that out, or take rule='steady'"),
        (max, 0.0, True, "rule=<built-in function max> chooses among no stability weights"),
        ("one_standard_error", "auto", False, "search='grid', or one of the rules 'paper', 'steady'"),
        (max, "auto", False, "compares all candidates"),
    ],
)
def test_rules_that_cannot_be(rule, weights, whole_grid, message):
    with pytest.raises(ValueError, match=message):
        check_rule(rule, weights, whole_grid=whole_grid)


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


def test_a_class_is_no_estimator():
    with pytest.raises(TypeError, match=r"Ridge is a class: pass Ridge\(\)"):
        StabilitySearchCV(Ridge, {"alpha": [1.0]}).fit(np.zeros((9, 1)), np.arange(9.0))


def test_estimators_of_a_grid_are_left_alone():
    svr = SVR(C=7.0)
    check_candidates(PIPELINE, Grid({"model": [svr], "model__C": [1.0, 2.0]}))
    assert svr.C == 7.0


@pytest.mark.parametrize(
    ("estimator", "y"),
    [
        (Ridge(), [1.0, 2.0]),
        (Ridge(), np.array([1, 2.5], dtype=object)),
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
        (Ridge(), ["a", "b"], r"y is to be numbers for the regressor Ridge, and y\[0\] is 'a'"),
        (Ridge(), ["1", "2.5"], r"y\[0\] is '1'. Make numbers of it first: y.astype\(float\)"),
        (Ridge(), np.array([1, "2"], dtype=object), r"y\[1\] is '2'"),
        (Ridge(), np.array(["2020-01-01"], dtype="M8[ns]"), r"y\[0\] is .*2020-01-01"),
        (Ridge(), [1 + 2j], r"y\[0\] is .*1\+2j"),
    ],
)
def test_targets_that_are_none(estimator, y, message):
    with pytest.raises(ValueError, match=message):
        check_target(estimator, y)


def test_methods_that_there_are():
    check_methods(SVC(probability=True), Grid({}), [("decision_function", "predict_proba")])
    check_methods(SVC(), Grid({"probability": [False, True]}), [("predict_proba",)])
    check_methods(LinearSVC(), Grid({}), [])


@pytest.mark.parametrize("options", [{"scoring": "neg_log_loss"}, {"loss": "brier"}])
def test_methods_that_there_are_not(options):
    search = StabilitySearchCV(LinearSVC(), {"C": [1.0, 2.0]}, **options)
    with pytest.raises(ValueError, match=r"LinearSVC has no predict_proba.* Take another scoring="):
        search.fit(np.zeros((10, 2)), np.arange(10) % 2)


DAYS = pd.date_range("2020-01-01", periods=6, tz="UTC")


def test_rows_that_are_not_sorted_in_time():
    table = pd.DataFrame({"a": range(6)}, index=DAYS[::-1])
    assert "sort them first" in check_order(table, TimeSeriesSplit(2))
    with pytest.warns(UserWarning, match="TimeSeriesSplit takes the rows as sorted in time"):
        StabilitySearchCV(Ridge(), [{}], cv=TimeSeriesSplit(4)).fit(table, range(6))


@pytest.mark.parametrize(
    ("X", "splitter"),
    [
        (pd.DataFrame({"a": range(6)}, index=DAYS), TimeSeriesSplit(2)),
        (pd.DataFrame({"a": range(6)}, index=DAYS[::-1]), KFold(2)),
        (pd.DataFrame({"a": range(6)}, index=range(6, 0, -1)), TimeSeriesSplit(2)),
        (np.zeros((6, 1)), TimeSeriesSplit(2)),
    ],
)
def test_rows_that_are(X, splitter):
    assert check_order(X, splitter) is None
