import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")

from steadycv.cli.errors import UserError
from steadycv.cli.folds import find_folds
from steadycv.tables import TableError
from steadycv.tables.targets import features_and_target

FRAME = pd.DataFrame({"a": np.arange(30), "b": ["x", "y", None] * 10, "y": np.arange(30) / 3})


def test_target_and_features():
    X, target = features_and_target(FRAME, "y")
    assert list(X.columns) == ["a", "b"]
    assert (target.task, target.classes, target.notes) == ("regression", [], [])
    np.testing.assert_array_equal(target.y, FRAME["y"])


@pytest.mark.parametrize(
    ("change", "target", "message"),
    [
        ({}, "Y2", "There is no column 'Y2'. There are a, b, y."),
        ({"weight": 1.0}, "wieght", "There is no column 'wieght'. Did you mean 'weight'?"),
        (
            {"b": list("xyz") * 10},
            "b",
            "The target 'b' is not numeric, as 'x' is not. Numeric columns: a, y.",
        ),
        ({"y": 2.0}, "y", "The target 'y' has one value only, 2: there is nothing to predict."),
        (
            {"y": [np.nan] * 3 + [1.0] * 27},
            "y",
            "The target 'y' is missing in 3 of 30 rows: remove those",
        ),
        (
            {"y": [np.inf] + [1.0] * 29},
            "y",
            "The target 'y' is infinite, or beyond 1e+38, in 1 of 30 rows",
        ),
        (
            {"a": "text", "y": list("xyz") * 10},
            "y",
            "The target 'y' is not numeric, as 'x' is not. No column is.",
        ),
        ({"y": [True, False] * 15}, "y", "The target 'y' is not numeric"),
        ({"y": "text"}, "y", "The target 'y' has one value only, text: there is nothing to predict."),
    ],
)
def test_refused_targets(change, target, message):
    with pytest.raises(TableError) as caught:
        features_and_target(FRAME.assign(**change), target, "regression")
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("name", ["Price", "PRICE ", "price"])
def test_columns_named_almost_so(name):
    with pytest.raises(TableError, match="Did you mean ' price'"):
        features_and_target(FRAME.rename(columns={"y": " price"}), name)


def test_rare_classes_may_want_fewer_folds():
    _, target = features_and_target(FRAME.assign(y=["x"] * 26 + ["z"] * 4), "y")
    with pytest.raises(
        UserError, match=r"the 5 folds: 'z' has 4\. Use fewer folds, or put rare classes"
    ):
        find_folds(target, None, 5, 1, 0)


def test_too_few_rows():
    with pytest.raises(TableError, match="There are 5 rows; 20 are needed"):
        features_and_target(FRAME[:5], "y")


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        (["b", "a", "b"] * 10, ["a", "b"]),
        ([True, False, True] * 10, [False, True]),
        ([3, 1, 3] * 10, [1, 3]),
        ([0.0, 1.0, 2.0] * 10, [0, 1, 2]),
        (pd.Categorical(["b", "a", "b"] * 10), ["a", "b"]),
    ],
)
def test_classes_are_found(values, classes):
    _, target = features_and_target(FRAME.assign(y=values), "y")
    assert target.task == "classification"
    assert target.classes == classes
    assert [type(label) for label in target.classes] == [type(label) for label in classes]
    assert [target.classes[i] for i in target.y] == list(values)
    assert bool(target.notes) == (type(classes[0]) is int)


@pytest.mark.parametrize(
    "values",
    [np.arange(30), np.arange(30) % 7, [0.5, 1.5, 2.5] * 10, np.arange(30) / 7],
    ids=["counts", "few rows a value", "fractions", "numbers"],
)
def test_quantities_are_found(values):
    _, target = features_and_target(FRAME.assign(y=values), "y")
    assert target.task == "regression"
    _, forced = features_and_target(FRAME.assign(y=values), "y", "classification")
    assert len(forced.classes) == len(set(values))


def test_times_are_no_target():
    with pytest.raises(TableError, match="is a time"):
        features_and_target(FRAME.assign(y=pd.date_range("2020-01-01", periods=30)), "y")
