import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

pytest.importorskip("typer")

from steadycv.cli.errors import UserError
from steadycv.cli.pipelines import behind, default_grid, find_model
from steadycv.model_catalogue import MODELS
from steadycv.tables import TableError
from steadycv.tables.preparation import preparation
from steadycv.tables.remarks import remarks
from steadycv.tables.table import as_models_take_them, find_used

FRAME = pd.DataFrame(
    {
        "number": [1.0, 2.0, np.nan, np.inf],
        "yes": [True, False, True, True],
        "text": ["b", "a", None, "b"],
        "kind": pd.Categorical(["u", "v", "u", "u"]),
        "when": pd.to_datetime(["2020-01-01", "2020-01-09", "2021-01-01", None]),
        "empty": [np.nan] * 4,
        "long": pd.to_timedelta([1, 2, 3, 4], unit="h"),
    }
)
WHEN = ["when: year", "when: day of week", "when: days since 2020-01-01"]


def test_columns_are_found():
    X, readings = find_used(FRAME)
    assert {each.name: str(each.kind) for each in readings if not each.left_out} == {
        "number": "number",
        "yes": "number",
        "text": "category",
        "kind": "category",
        "when": "date",
    }
    assert {each.name: each.left_out for each in readings if each.left_out} == {
        "empty": "as empty",
        "long": "as neither numbers nor text",
    }
    assert {each.name: each.n_missing for each in readings} == {
        "number": 2,
        "yes": 0,
        "text": 1,
        "kind": 0,
        "when": 1,
        "empty": 4,
        "long": 0,
    }
    assert list(X.columns) == ["number", "yes", "text", "kind", *WHEN]
    assert X["text"].tolist() == ["b", "a", "(missing)", "b"]
    words = " ".join(remarks(readings))
    assert "2 numeric, 1 date and 2 text columns are used." in words
    assert "3 missing values in number, when are replaced by the column's median" in words
    assert "number is infinite, or beyond 1e+38, in 1 row, taken as missing." in words
    assert "Not used, as empty: empty. Not used, as neither numbers nor text: long." in words


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["number", "yes"], "2 numeric columns are used."),
        (["text"], "1 text column is used."),
        (["number", "text"], "1 numeric and 1 text columns are used."),
    ],
)
def test_kinds_of_columns_that_are_there(names, words):
    assert remarks(find_used(FRAME[names])[1])[0] == words


def test_preparation_learns_from_the_training_rows_alone():
    X, readings = find_used(FRAME[["number", "yes", "text", "kind"]])
    model = make_pipeline(preparation(readings, scaled=False), LinearRegression())
    seen = model.fit(X[:3], [1.0, 2.0, 3.0])[:-1].transform(X)
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
    X, readings = find_used(pd.DataFrame({"a": [1.0, 3.0], "b": [0.0, 10.0]}))
    seen = preparation(readings, scaled=True).fit_transform(X)
    np.testing.assert_array_equal(seen, [[-1, -1], [1, 1]])


def test_words_are_those_of_the_training_rows():
    texts = [f"a good house with {i} rooms" for i in range(30)]
    X, readings = find_used(pd.DataFrame({"n": range(0, 60, 2), "text": texts}), keep=["text"])
    transformer = preparation(readings, scaled=False).fit(X[:20])
    names = transformer.named_transformers_["words of text"].get_feature_names_out()
    assert {"a", "good", "house", "19"} < set(names)
    assert "20" not in names
    seen = transformer.transform(X)
    assert seen.shape == (30, 1 + len(names))
    assert isinstance(seen, np.ndarray)
    np.testing.assert_allclose((seen[:, 1:] ** 2).sum(axis=1), 1)
    missing = pd.DataFrame({"n": [1.0], "text": [None]})
    assert transformer.transform(as_models_take_them(missing, readings))[0, 1:].sum() == 0


def test_no_column_to_use():
    with pytest.raises(TableError, match="No column besides the target can be used"):
        find_used(FRAME[["long", "empty"]])


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("name", [name for name in MODELS if name != "xgboost"])
def test_first_candidate_is_the_simplest(name, task):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("abcd"))
    y = X["a"].to_numpy() + rng.normal(size=60)
    if task == "classification":
        y = (y > 0.4).astype(int)
    X, readings = find_used(X)
    model = MODELS[name]
    if (model.regressor if task == "regression" else model.classifier) is None:
        with pytest.raises(UserError, match=f"The model {name} does not predict"):
            find_model(name, task)
        return
    grid = default_grid(model, task, X, y)
    error = {}
    for end in (0, -1):
        params = {key: values[end] for key, values in grid.items()}
        fitted = behind(readings, find_model(name, task), task).set_params(**params)
        if name == "random-forest":
            fitted.set_params(model__n_estimators=10, model__random_state=0)
        error[end] = np.mean((fitted.fit(X, y).predict(X) - y) ** 2)
    assert error[0] > error[-1]
