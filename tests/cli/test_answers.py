"""What `steadycv tune` says beyond its choice: prices, ends of grids, thresholds, a model card."""

import json

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")
pytest.importorskip("skops")

from sklearn.datasets import load_diabetes, make_classification
from typer.testing import CliRunner

from steadycv.cli.app import app


def run(*args):
    return CliRunner().invoke(app, [str(arg) for arg in args], env={"COLUMNS": "200"})


def done(*args):
    result = run(*args)
    assert result.exit_code == 0, result.output
    return " ".join(result.stdout.split())


@pytest.fixture(scope="module")
def rare(tmp_path_factory):
    X, y = make_classification(500, 5, weights=[0.85], flip_y=0.1, random_state=0)
    path = tmp_path_factory.mktemp("rare") / "rare.csv"
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["left"] = np.array(["no", "yes"])[y]
    frame.to_csv(path, index=False)
    return path


def test_a_dry_run_says_the_price_and_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = done("tune", "--dry-run", "--model", "cart,ridge", "--folds", "10")
    assert "cart: 90 candidates on 56 training sets of 10 splits: 56 fits, where GridSearchCV" in told
    assert "ridge: 33 candidates on 56 training sets" in told
    assert "; about " in told
    assert list(tmp_path.iterdir()) == []


def test_an_end_of_the_grid_is_told_and_widened(tmp_path):
    grid = tmp_path / "grid.json"
    grid.write_text('{"alpha": [1000, 10000, 100000]}')
    options = ("--model", "ridge", "--grid", grid, "--out", tmp_path / "out", "--rule", "plain")
    told = done("tune", *options)
    assert "alpha = 1000 is the smallest that was tried: try 100, 10 as well. --widen does." in told
    told = done("tune", *options, "--widen")
    assert "ridge: alpha = 1000 is the smallest that was tried, so 100, 10 were tried as well." in told
    assert "--widen does" not in told
    model = json.loads((tmp_path / "out" / "results.json").read_text())["models"][0]
    assert model["n_candidates"] > 3
    assert model["plain"]["params"]["alpha"] < 1000


def test_a_threshold_is_saved_and_used(tmp_path, rare):
    options = ("--target", "left", "--model", "logistic", "--scoring", "balanced_accuracy")
    told = done("tune", rare, *options, "--out", tmp_path / "half")
    assert "Saying yes from a probability of" in told
    assert "(--tune-threshold saves it so)" in told
    told = done("tune", rare, *options, "--out", tmp_path / "own", "--tune-threshold")
    assert "(it is saved so)" in told
    [model] = json.loads((tmp_path / "own" / "results.json").read_text())["models"]
    threshold = model["threshold"]
    assert threshold["helps"]
    assert f"that are yes it finds {threshold['confusion'][1][1]} instead of" in told
    predictions = {}
    for name in ("half", "own"):
        done("predict", tmp_path / name / "model.skops", rare, "--out", tmp_path / "p.csv")
        predictions[name] = pd.read_csv(tmp_path / "p.csv")
    shares = predictions["own"]["probability of yes"]
    assert shares.equals(predictions["half"]["probability of yes"])
    said = predictions["own"]["prediction"] == "yes"
    assert (said == (shares >= threshold["value"])).all()
    assert said.sum() > (predictions["half"]["prediction"] == "yes").sum()
    card = (tmp_path / "own" / "model-card.md").read_text()
    assert "The saved model says yes from a probability of" in card


@pytest.mark.parametrize("deliver", ["committee", "student"])
def test_what_is_delivered_has_the_threshold(tmp_path, rare, deliver):
    options = ("--target", "left", "--model", "cart", "--scoring", "balanced_accuracy", "--folds", "4")
    options += ("--deliver", deliver, "--out", tmp_path, "--tune-threshold")
    done("tune", rare, *options)
    [model] = json.loads((tmp_path / "results.json").read_text())["models"]
    done("predict", tmp_path / "model.skops", rare, "--out", tmp_path / "p.csv")
    found = pd.read_csv(tmp_path / "p.csv")
    value = model["threshold"]["value"] if model["threshold"]["helps"] else 0.5
    assert ((found["prediction"] == "yes") == (found["probability of yes"] >= value)).mean() > 0.99


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--scoring", "roc_auc", "--model", "logistic"), "roc_auc looks at probabilities or ranks"),
        (("--model", "svm"), "the model svm has none"),
        (("--task", "regression"), "is not numeric"),
    ],
)
def test_thresholds_that_nobody_can_have_are_refused(rare, options, why):
    result = run("tune", rare, "--target", "left", "--tune-threshold", *options)
    assert result.exit_code == 2
    assert why in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_thresholds_are_for_classes():
    result = run("tune", "--tune-threshold")
    assert (
        result.stderr
        == "steadycv: --tune-threshold is for two classes, and 'progression' has numbers.\n"
    )


def test_a_model_card(tmp_path):
    load_diabetes(as_frame=True, scaled=False).frame.to_csv(tmp_path / "data.csv", index=False)
    done("tune", tmp_path / "data.csv", "--target", "target", "--model", "ridge", "--out", tmp_path)
    card = (tmp_path / "model-card.md").read_text()
    titles = [line for line in card.splitlines() if line.startswith("#")]
    assert titles[0] == "# Model card: ridge, predicting target"
    assert titles[1:] == ["## Data", "## Choice", "## What to expect", "## Caveats", "## Made with"]
    [model] = json.loads((tmp_path / "results.json").read_text())["models"]
    assert f"a typical miss of about {model['promise'] ** 0.5:.3g} in the units" in card
    assert "Data: data.csv." in card
    assert "442 rows" in card
