"""``steadycv predict``, and what it loads."""

import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")
pytest.importorskip("skops")

import skops.io
from sklearn.linear_model import Ridge
from sklearn.preprocessing import FunctionTransformer
from typer.testing import CliRunner

from steadycv.cli import saved_model
from steadycv.cli.app import app
from steadycv.cli.saved_model import TRUSTED, TunedModel, load_model, save_model


def run(*args, **options):
    return CliRunner().invoke(app, [str(arg) for arg in args], **options)


def refused(*args):
    result = run(*args)
    assert (result.exit_code, result.stdout) == (2, "")
    [line] = result.stderr.splitlines()
    assert line.startswith("steadycv: ")
    return line


def a_frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "member": rng.choice([True, False], size=60)})
    frame["code"] = rng.choice(["1", "2", "x"], size=60)
    frame["y"] = frame["a"] + frame["member"] + (frame["code"] == "1") + rng.normal(size=60) / 9
    return frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table, and a model of it."""
    path = tmp_path_factory.mktemp("predict")
    a_frame().to_csv(path / "t.csv", index=False)
    (path / "grid.json").write_text('{"alpha": [0.01, 1]}')
    result = run(
        *("tune", path / "t.csv", "--target", "y", "--model", "ridge", "--quiet"),
        *("--grid", path / "grid.json", "--out", path),
    )
    assert result.exit_code == 0, result.output
    return path


def predictions(folder, frame, **options):
    frame.to_csv(folder / "new.csv", index=False)
    result = run("predict", folder / "model.skops", folder / "new.csv", **options)
    assert result.exit_code == 0, result.output
    return pd.read_csv(io.StringIO(result.stdout))["prediction"], result.stderr


def test_predictions(folder):
    frame = a_frame()
    found, notes = predictions(folder, frame)
    assert np.std(found - frame["y"]) < 0.2
    assert notes == "steadycv: The target 'y' is in the table; it is not used.\n"
    model = load_model(folder / "model.skops")
    np.testing.assert_allclose(found, model.predict(frame), rtol=1e-9)  # a text is not the number


def test_to_a_file_and_from_standard_input(folder):
    frame = a_frame().drop(columns="y")
    found, notes = predictions(folder, frame)
    assert notes == ""
    out = folder / "made" / "predictions.csv"
    table = frame.to_csv(index=False).encode()
    result = run("predict", folder / "model.skops", "-", "--out", out, input=table)
    assert (result.exit_code, result.output) == (0, "")
    np.testing.assert_array_equal(pd.read_csv(out)["prediction"], found)


def test_help_names_what_it_takes():
    # Some releases of Typer put what is required in braces.
    text = run("predict", "--help").stdout.replace("{", "").replace("}", "")
    assert " predict [OPTIONS] MODEL DATA" in text


def test_other_columns(folder):
    frame = a_frame().drop(columns="y")
    expected, _ = predictions(folder, frame)
    found, notes = predictions(
        folder, frame.assign(more=1, other="x")[["more", "code", "a", "other", "member"]]
    )
    assert notes == "steadycv: Not used, as the model does not know them: more, other.\n"
    np.testing.assert_array_equal(found, expected)
    (folder / "new.csv").write_text("a,x\n1,2\n")
    line = refused("predict", folder / "model.skops", folder / "new.csv")
    assert line.endswith("The table lacks 2 columns that the model needs: member, code.")
    (folder / "new.csv").write_text("a,code\n1,2\n")
    line = refused("predict", folder / "model.skops", folder / "new.csv")
    assert line.endswith("The table lacks 1 column that the model needs: member.")


def test_columns_of_another_kind(folder):
    frame = a_frame().drop(columns="y")
    expected, _ = predictions(folder, frame)
    some = frame["code"] != "x"
    found, _ = predictions(folder, frame[some])  # now the codes look like numbers
    np.testing.assert_array_equal(found, expected[some])
    holes = frame.astype(object)
    holes.loc[0, ["a", "member", "code"]] = None  # the truth values are no longer a column of such
    found, _ = predictions(folder, holes)
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found[1:], expected[1:])
    frame.assign(a="many").to_csv(folder / "new.csv", index=False)
    line = refused("predict", folder / "model.skops", folder / "new.csv")
    assert "The column 'a' must have numbers; 60 of its values are none, such as 'many'." in line
    (folder / "new.csv").write_text("a,member,code\n")
    assert "has no rows" in refused("predict", folder / "model.skops", folder / "new.csv")


def test_classes_and_probabilities(tmp_path):
    frame = a_frame()
    frame["y"] = np.where(frame["y"] > 1, "=1+1", "low, or so")
    frame.to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "grid.json").write_text('{"C": [1.0]}')
    options = ("--model", "logistic", "--grid", tmp_path / "grid.json", "--out", tmp_path)
    result = run("tune", tmp_path / "t.csv", "--target", "y", *options)
    assert result.exit_code == 0, result.output
    result = run("predict", tmp_path / "model.skops", tmp_path / "t.csv")
    found = pd.read_csv(io.StringIO(result.stdout))
    names = ["probability of =1+1", "probability of low, or so"]
    assert list(found.columns) == ["prediction", *names]
    assert (found["prediction"] == frame["y"]).mean() > 0.9
    np.testing.assert_allclose(found[names].sum(axis=1), 1)
    likely = found[names].to_numpy().argmax(axis=1)
    np.testing.assert_array_equal(np.array(["=1+1", "low, or so"])[likely], found["prediction"])


def test_intervals(folder):
    frame = a_frame().drop(columns="y")
    frame.to_csv(folder / "new.csv", index=False)
    asked = ("predict", folder / "model.skops", folder / "new.csv", "--interval")
    found = pd.read_csv(io.StringIO(run(*asked, 0.9).stdout))
    assert list(found.columns) == ["prediction", "lower", "upper"]
    [residuals] = load_model(folder / "model.skops").residuals
    assert (np.diff(residuals) >= 0).all()
    half = residuals[int(np.ceil(0.9 * 61)) - 1]  # of 60 rows
    np.testing.assert_allclose(found["upper"] - found["prediction"], half)
    np.testing.assert_allclose(found["prediction"] - found["lower"], half)
    truth = a_frame()["y"]
    assert 0.85 <= ((found["lower"] <= truth) & (truth <= found["upper"])).mean() <= 0.97
    assert "coverage must be between 0 and 1, as 0.9 is; got 1.0." in refused(*asked, 1)
    assert "A coverage of 0.99 takes 99 judged rows, and there are 60" in refused(*asked, 0.99)


def test_sets_of_classes(tmp_path):
    frame = a_frame()
    frame["y"] = np.array(["low", "middle", "high"])[np.digitize(frame["y"], [0, 1])]
    frame.to_csv(tmp_path / "t.csv", index=False)
    for model, names in (("cart", ["high", "low", "middle"]), ("svm", None)):
        result = run("tune", tmp_path / "t.csv", "--target", "y", "--model", model, "--out", tmp_path)
        assert result.exit_code == 0, result.output
        asked = ("predict", tmp_path / "model.skops", tmp_path / "t.csv", "--interval", 0.9)
        if names is None:
            assert "Sets of classes are made of probabilities, and svm has none." in refused(*asked)
            continue
        found = pd.read_csv(io.StringIO(run(*asked).stdout))
        likely = found[[f"probability of {name}" for name in names]].to_numpy()
        level = load_model(tmp_path / "model.skops").residuals[0, int(np.ceil(0.9 * 61)) - 1]
        expected = 1 - likely <= level + 1e-9
        expected[np.arange(60), likely.argmax(axis=1)] = True
        inside = [[name in text.split("; ") for name in names] for text in found["set"]]
        np.testing.assert_array_equal(inside, expected)


def test_models_saved_without_residuals(tmp_path, folder):
    model = load_model(folder / "model.skops")
    for without in ({"residuals": None}, {}):
        vars(model).pop("residuals", None)
        vars(model).update(without)
        save_model(tmp_path / "model.skops", model)
        asked = ("predict", tmp_path / "model.skops", folder / "t.csv")
        assert run(*asked).exit_code == 0
        assert "was saved without what intervals are made of" in refused(*asked, "--interval", 0.9)


def test_files_that_are_no_models(tmp_path, folder):
    table = folder / "t.csv"
    model = tmp_path / "model.skops"
    assert "cannot be read: No such file" in refused("predict", model, table)
    model.write_bytes(b"x")
    assert "is not a model saved by steadycv tune" in refused("predict", model, table)
    skops.io.dump(Ridge(), model)
    assert "is not a model saved by steadycv tune: it is a Ridge." in refused("predict", model, table)
    whole = (folder / "model.skops").read_bytes()
    model.write_bytes(whole[: len(whole) // 2])
    assert "is not a model saved by steadycv tune" in refused("predict", model, table)


class Unknown:
    """Of no model of steadycv."""

    def __init__(self):
        self.value = 1


def test_code_in_a_file_is_refused(tmp_path, folder):
    """A file that names a function, or a class that no model has, is not loaded."""
    model = tmp_path / "model.skops"
    saved = TunedModel("x", FunctionTransformer(np.exp), [], "y", [], {}, "5 folds")
    saved.versions = Unknown()
    with model.open("wb") as file:
        skops.io.dump(saved, file)
    assert "is refused: it has test_predict.Unknown in it" in refused("predict", model, folder / "t.csv")

    with zipfile.ZipFile(folder / "model.skops") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(parts["schema.json"])
    schema["content"]["content"]["pipeline"] = {
        "__class__": "system",
        "__module__": "os",
        "__loader__": "FunctionNode",
        "__id__": 1,
        "content": {"module_path": "os", "function": "system"},
    }
    with zipfile.ZipFile(model, "w") as archive:
        for name, content in (parts | {"schema.json": json.dumps(schema)}).items():
            archive.writestr(name, content)
    assert "is refused: it has os.system in it" in refused("predict", model, folder / "t.csv")


def test_what_is_trusted_is_needed_and_runs_nothing():
    for name in TRUSTED:
        assert name.startswith(("numpy.dtype", "sklearn.", "steadycv.", "xgboost."))
        assert not name.endswith(("FunctionTransformer", "make_scorer"))


def test_other_versions(folder, monkeypatch):
    there = folder / "old.skops"
    model = load_model(folder / "model.skops")
    model.versions = {"steadycv": "0.1.0", "scikit-learn": "0.1"}
    save_model(there, model)
    result = run("predict", there, folder / "t.csv")
    assert result.exit_code == 0
    assert "The model was made with steadycv 0.1.0, scikit-learn 0.1; this is" in result.stderr

    def lack(*_, **__):
        raise AttributeError("module 'sklearn' has no attribute 'X'")

    with monkeypatch.context() as patch:
        patch.setattr(skops.io, "loads", lack)
        line = refused("predict", there, folder / "t.csv")
    assert "cannot be loaded: module 'sklearn' has no attribute 'X'. It was made with other" in line

    def fail(*_):
        raise AttributeError("no attribute 'multi_class'")

    monkeypatch.setattr(saved_model.TunedModel, "predict", fail)
    line = refused("predict", there, folder / "t.csv")
    assert "The model does not work here: no attribute 'multi_class'. The model was made with" in line
