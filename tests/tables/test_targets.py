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


def merged(*values, rare_below=5):
    frame = pd.DataFrame({"a": range(len(values)), "y": values})
    return features_and_target(frame, "y", rare_below=rare_below)[1]


def test_rare_classes_become_one():
    target = merged(*["x"] * 20, *["u"] * 3, *["v"] * 4, *["z"] * 9)
    assert target.classes == ["(rest)", "x", "z"]
    assert np.bincount(target.y).tolist() == [7, 20, 9]
    assert target.notes == ["u, v are one class, (rest), so that none has fewer than 5 rows."]
    assert merged(*["x"] * 20, *["u"] * 3, *["v"], *["z"] * 9).classes == ["(rest)", "x"]
    assert merged(*["x"] * 20, *["z"] * 9).classes == ["x", "z"]
    with pytest.raises(TableError, match="has 2 classes, and together the rare ones leave no other"):
        merged(*["x"] * 20, "z")


def test_whole_numbers_that_are_merged_become_texts():
    target = merged(*[1] * 20, *[2] * 20, *[3] * 4, *[4] * 4)
    assert target.classes == ["(rest)", "1", "2"]


@pytest.mark.parametrize(
    ("texts", "value"),
    [(["$1,200", "$900"] * 15, 900), (["13.5 %", "9 %"] * 15, 9), (["1.200,5", "900"] * 15, 900)],
)
def test_numbers_in_disguise_as_target(texts, value):
    texts = [f"{text}" if i > 1 else text.replace("9", "8") for i, text in enumerate(texts)]
    _, target = features_and_target(FRAME.assign(y=texts), "y", "regression")
    assert target.y[3] == value
    assert target.notes[0].startswith("The target 'y' is read as numbers: ")


def test_names_that_are_numbers_are_told():
    frame = pd.DataFrame([[1.5, 2.5]] * 30, columns=["5.1", "3.5"])
    with pytest.raises(TableError, match="The first line should have the names of columns"):
        features_and_target(frame, "y")
