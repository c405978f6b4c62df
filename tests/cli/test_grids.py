import pytest

pytest.importorskip("typer")
pytest.importorskip("yaml")

import pandas as pd

from steadycv.cli.errors import UserError
from steadycv.cli.grids import check_grid, read_grids
from steadycv.cli.pipelines import behind
from steadycv.model_catalogue import MODELS
from steadycv.tables.table import find_used

TEXTS = {
    "g.yaml": "max_depth: [1, 2, null]\nmin_impurity_decrease: [1e-3, 0.5]\n",
    "g.yml": "cart:\n  max_depth: [1, 2, null]\n  min_impurity_decrease:\n  - 1e-3\n  - 0.5\n",
    "g.json": '{"max_depth": [1, 2, null], "min_impurity_decrease": [1e-3, 0.5]}',
}


def cart():
    _, readings = find_used(pd.DataFrame({"a": [1.0, 2.0]}), keep=["a"])
    return behind(readings, MODELS["cart"], "regression")


@pytest.mark.parametrize("name", TEXTS)
def test_kinds_of_files(tmp_path, name):
    path = tmp_path / name
    path.write_text(TEXTS[name])
    expected = {"max_depth": [1, 2, None], "min_impurity_decrease": [0.001, 0.5]}
    assert read_grids(path, ("cart",)) == {"cart": expected}
    checked = check_grid("cart", cart(), expected)
    assert checked == {f"model__{key}": values for key, values in expected.items()}


def test_toml_for_several_models(tmp_path):
    path = tmp_path / "g.toml"
    path.write_text("[cart]\nmax_depth = [1, 2]\n[ridge]\nalpha = [1e-1]\n[knn]\nn_neighbors = [3]\n")
    found = read_grids(path, ("cart", "ridge", "svm"))
    assert found == {"cart": {"max_depth": [1, 2]}, "ridge": {"alpha": [0.1]}}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("g.txt", "", "its name must end in .yaml, .json or .toml"),
        ("g.json", "{", "cannot be read: Expecting property name"),
        ("g.yaml", "a: [1", "cannot be read: while parsing a flow sequence"),
        ("g.toml", "a = [", "cannot be read: "),
        ("g.json", "[]", "must have names of parameters with lists of values"),
        ("g.json", "{}", "must have names of parameters with lists of values"),
        ("g.json", '{"max_depth": 3}', "max_depth must be a list of values, got 3"),
        ("g.json", '{"max_depth": []}', "max_depth must be a list of values, got []"),
        ("g.json", '{"max_depth": [[1]]}', "must have numbers, texts, true, false or null, got [1]"),
        ("g.json", '{"tree": {"max_depth": [1]}}', "has no model's name at the top: 'tree'"),
        ("g.json", '{"ridge": {"alpha": [1]}}', "is for ridge and not for cart"),
        ("g.yaml", "max_depth: [2020-01-01]", "must have numbers, texts"),
    ],
)
def test_bad_files(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(UserError) as caught:
        read_grids(path, ("cart",))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_several_models_need_their_names(tmp_path):
    path = tmp_path / "g.json"
    path.write_text('{"max_depth": [1]}')
    with pytest.raises(UserError, match="must have the names of models at the top"):
        read_grids(path, ("cart", "knn"))


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({"max_dept": [1]}, "The model cart has no parameter 'max_dept'. Did you mean 'max_depth'?"),
        ({"zzz": [1]}, "The model cart has no parameter 'zzz'. There are ccp_alpha,"),
        ({"max_depth": [3, "three"]}, "The grid has a bad value. The 'max_depth' parameter of"),
        ({"max_depth": [-3]}, "Got -3 instead"),
    ],
)
def test_bad_grids(grid, message):
    with pytest.raises(UserError) as caught:
        check_grid("cart", cart(), grid)
    assert message in str(caught.value)
