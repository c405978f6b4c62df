import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

pytest.importorskip("typer")

from steadycv.cli.errors import UserError
from steadycv.cli.pipelines import behind, default_grid, find_model
from steadycv.cli.preparation import find_columns, prepared
from steadycv.cli.request import Task
from steadycv.model_catalogue import MODELS

FRAME = pd.DataFrame(
    {
        "number": [1.0, 2.0, np.nan, np.inf],
        "yes": [True, False, True, True],
        "text": ["b", "a", None, "b"],
        "kind": pd.Categorical(["u", "v", "u", "u"]),
        "when": pd.to_datetime(["2020-01-01"] * 4),
        "empty": [np.nan] * 4,
    }
)


def test_columns_are_found():
    X, columns = find_columns(FRAME)
    assert columns.numeric == ["number", "yes"]
    assert columns.text == ["text", "kind"]
    assert columns.left_out == {"when": "as neither numbers nor text", "empty": "as empty"}
    assert columns.n_missing == {"number": 2, "text": 1}
    assert columns.fewest == 4
    assert list(X.columns) == ["number", "yes", "text", "kind"]
    assert X["text"].tolist() == ["b", "a", "(missing)", "b"]
    words = " ".join(columns.in_words())
    assert "2 numeric and 2 text columns are used." in words
    assert "2 missing values in number are replaced by the column's median" in words
    assert "Not used, as neither numbers nor text: when. Not used, as empty: empty." in words


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["number", "yes"], "2 numeric columns are used."),
        (["text"], "1 text column is used."),
        (["number", "text"], "1 numeric and 1 text columns are used."),
    ],
)
def test_kinds_of_columns_that_are_there(names, words):
    assert find_columns(FRAME[names])[1].in_words()[0] == words


def test_columns_that_say_nothing_are_left_out():
    frame = pd.DataFrame({"Unnamed: 0": range(1, 61), "Unnamed: 1": [3, 1] * 30, "id": range(60)})
    frame["name"] = frame["id"].map("n{}".format)
    frame["letter"] = list("abcdef") * 10
    _, columns = find_columns(frame)
    assert columns.left_out == {
        "Unnamed: 0": "as it just counts the rows",
        "name": "as text that differs in most rows",
    }
    assert (columns.numeric, columns.text) == (["Unnamed: 1", "id"], ["letter"])


def test_preparation_learns_from_the_training_rows_alone():
    X, columns = find_columns(FRAME)
    model = prepared(columns, LinearRegression, scaled=False).fit(X[:3], [1.0, 2.0, 3.0])
    seen = model[:-1].transform(X)
    # Median of 1 and 2; yes; text is a, b or missing; kind is u or v.
    np.testing.assert_array_equal(
        seen,
        [
            [1, 1, 0, 0, 1, 1, 0],
            [2, 0, 0, 1, 0, 0, 1],
            [1.5, 1, 1, 0, 0, 1, 0],
            [1.5, 1, 0, 0, 1, 1, 0],
        ],
    )


def test_scaling():
    X, columns = find_columns(pd.DataFrame({"a": [1.0, 3.0], "b": [0.0, 10.0]}))
    model = prepared(columns, LinearRegression, scaled=True).fit(X, [1.0, 2.0])
    np.testing.assert_array_equal(model[:-1].transform(X), [[-1, -1], [1, 1]])


def test_no_column_to_use():
    with pytest.raises(UserError, match="No column besides the target can be used"):
        find_columns(FRAME[["when", "empty"]])


@pytest.mark.parametrize("task", Task)
@pytest.mark.parametrize("name", [name for name in MODELS if name != "xgboost"])
def test_first_candidate_is_the_simplest(name, task):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
    y = X["a"].to_numpy() + rng.normal(size=60)
    if task is Task.classification:
        y = (y > 0.4).astype(int)
    _, columns = find_columns(X)
    model = MODELS[name]
    if (model.regressor if task is Task.regression else model.classifier) is None:
        with pytest.raises(UserError, match=f"The model {name} does not predict"):
            find_model(name, task)
        return
    grid = default_grid(columns, model, task, X, y)
    error = {}
    for end in (0, -1):
        params = {key: values[end] for key, values in grid.items()}
        fitted = behind(columns, find_model(name, task), task).set_params(**params)
        if name == "random-forest":
            fitted.set_params(model__n_estimators=10, model__random_state=0)
        error[end] = np.mean((fitted.fit(X, y).predict(X) - y) ** 2)
    assert error[0] > error[-1]
