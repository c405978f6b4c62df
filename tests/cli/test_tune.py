"""``steadycv tune``: what it says, what it writes, what it refuses."""

import csv
import io
import json
import os
import shlex
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")
pytest.importorskip("skops")

from sklearn.datasets import load_diabetes
from typer.testing import CliRunner

from steadycv import StabilitySearchCV, rules
from steadycv.cli.app import app
from steadycv.cli.options import complete_model
from steadycv.cli.request import Deliver, Rule
from steadycv.cli.saved_model import load_model, save_model
from steadycv.model_catalogue import MODELS
from steadycv.offers import DELIVER

COMMAND = [sys.executable, "-c", "from steadycv.cli import main; main()"]
EVIL = "<script>alert('x')</script>"


def run(*args, **options):
    options = {"env": {"COLUMNS": "100"}, **options}
    return CliRunner().invoke(app, [str(arg) for arg in args], **options)


def done(*args, **options):
    result = run(*args, **options)
    assert result.exit_code == 0, result.output
    return result


def refused(*args, **options):
    result = run(*args, **options)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    [line] = result.stderr.splitlines()
    assert line.startswith("steadycv: ")
    return line


def a_frame(n=60):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=n), EVIL: rng.normal(size=n)})
    frame["city"] = rng.choice(["Ulm", "Rom", None], size=n)
    frame["member"] = rng.choice([True, False], size=n)
    frame["empty"] = np.nan
    frame["day"] = pd.date_range("2020-01-01", periods=n).strftime("%Y-%m-%d")
    frame["y"] = frame["a"] + (frame["city"] == "Ulm") + 0.3 * rng.normal(size=n)
    frame["kind"] = np.where(frame["y"] > 0.3, "high", "low")
    frame.loc[:3, "a"] = np.nan
    return frame


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "some data.csv"
    a_frame().drop(columns="kind").to_csv(path, index=False)
    return path


@pytest.fixture
def classes(tmp_path):
    path = tmp_path / "classes.tsv"
    a_frame().drop(columns="y").to_csv(path, index=False, sep="\t")
    return path


@pytest.fixture
def grid(tmp_path):
    path = tmp_path / "grid.json"
    path.write_text('{"alpha": [0.1, 1, 10]}')
    return path


def test_without_arguments_it_runs_on_data_that_come_along(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = done("tune")
    for text in (
        "10 numeric columns are used.",
        "cart on diabetes, predicting progression",
        "plain choice",
        "steady choice",
        "CV error",
        "nested error",
        "expected disappointment",
        "instability",
        "Saved: the choice, fitted on all data. On new data expect a typical miss of about",
        "By the same fits, a committee of 5 fold models promises",
        "(--deliver committee)",
        "In steadycv-results: report.html, results.csv, results.json, model-card.md, model.skops.",
    ):
        assert text in result.stdout
    assert result.stderr == ""
    names = sorted(path.name for path in (tmp_path / "steadycv-results").iterdir())
    assert names == ["model-card.md", "model.skops", "report.html", "results.csv", "results.json"]


def test_documentation_shows_what_it_prints(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs" / "command_line.md").read_text()
    result = done("tune", "--seed", 30, env={"COLUMNS": "80"})
    shown = [line.rstrip() for line in result.stdout.splitlines()]
    assert "\n".join(shown[2:]) in page


def test_figures_are_those_of_the_search(out, grid):
    result = done("tune", "--model", "ridge", "--grid", grid, "--out", out, "--folds", 4, "--json")
    content = json.loads(result.stdout)
    assert (content["format"], content["format_version"]) == ("steadycv tune", 3)
    assert result.stdout == (out / "results.json").read_text()

    from sklearn.linear_model import Ridge
    from sklearn.model_selection import KFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = load_diabetes(return_X_y=True, scaled=False)
    search = StabilitySearchCV(
        make_pipeline(StandardScaler(), Ridge()),
        {"ridge__alpha": [0.1, 1, 10]},
        cv=KFold(4, shuffle=True, random_state=0),
    ).fit(X, y)
    [model] = content["models"]
    steady, plain = model["steady"], model["plain"]
    assert steady["params"] == {"alpha": search.best_params_["ridge__alpha"]}
    assert plain["params"] == {"alpha": search.kfold_params_["ridge__alpha"]}
    assert steady["cv_error"] == pytest.approx(search.cv_error_)
    assert steady["nested_error"] == pytest.approx(search.nested_error_)
    assert steady["instability"] == pytest.approx(search.instability_)
    expected = 1 - search.cv_error_ / search.nested_error_
    assert steady["expected_disappointment"] == pytest.approx(expected)
    assert plain["nested_error"] == pytest.approx(search.weights_["mean_error"][0])
    assert model["promise"] == pytest.approx(search.promise_)
    assert model["promise_interval"] == pytest.approx(list(search.promise_interval_))
    assert model["promise_reason"] == search.promise_reason_
    delivered = model["delivered"]
    assert (delivered["deliver"], delivered["params"]) == ("model", [steady["params"]])
    offers = {each["deliver"]: each["promise"] for each in model["offers"]}
    assert offers == pytest.approx({kind: each.promise for kind, each in search.offers_.items()})
    assert [each["weight"] for each in model["weights"]] == search.weights_["weight"].tolist()

    rows = list(csv.DictReader(io.StringIO((out / "results.csv").read_text())))
    assert [float(row["alpha"]) for row in rows] == [0.1, 1, 10]
    np.testing.assert_allclose([float(row["cv_error"]) for row in rows], search.cv_results_["cv_error"])
    chosen = [row["chosen_by"] for row in rows]
    assert chosen[search.best_index_] in ("steady", "both")
    assert chosen[search.kfold_index_] in ("plain", "both")

    saved = load_model(out / "model.skops")
    frame = pd.DataFrame(X, columns=load_diabetes().feature_names)
    np.testing.assert_allclose(saved.predict(frame), search.predict(X))


def test_messy_table(table, out):
    result = done("tune", table, "--target", "y", "--out", out, "--model", "cart")
    for text in (
        "3 numeric, 1 date and 1 text columns are used.",
        "day: dates, used as month, day of week, days.",
        "4 missing values in a are replaced by the column's median, inside each training set.",
        "city: one column for each of at most 20 categories",
        "Not used, as empty: empty.",
        "cart on some data.csv, predicting y",
    ):
        assert text in " ".join(result.stdout.split())
    page = (out / "report.html").read_text()
    assert "Not used, as empty: empty." in page
    assert "steadycv tune" in page
    assert EVIL not in page
    columns = json.loads((out / "results.json").read_text())["data"]["columns"]
    assert {each["name"]: each["kind"] for each in columns if not each["left_out"]} == {
        "a": "number",
        EVIL: "number",
        "member": "number",
        "day": "date",
        "city": "category",
    }
    assert {each["name"]: each["left_out"] for each in columns}["empty"] == "as empty"


def test_classes_of_text(classes, out):
    result = done("tune", classes, "--target", "kind", "--out", out, "--model", "logistic")
    assert "expect an accuracy of about" in result.stdout
    data = json.loads((out / "results.json").read_text())["data"]
    assert (data["task"], data["classes"]) == ("classification", ["high", "low"])


def test_several_models_are_compared(classes, out):
    result = done(
        "tune", classes, "--target", "kind", "--out", out, "--model", "knn,ridge", "--model", "cart,knn"
    )
    assert "3 models on classes.tsv, the best first" in result.stdout
    content = json.loads((out / "results.json").read_text())
    names = [model["model"] for model in content["models"]]
    errors = [model["promise"] for model in content["models"]]
    assert sorted(names) == ["cart", "knn", "ridge"]
    assert errors == sorted(errors)
    assert load_model(out / "model.skops").name == content["best_model"] == names[0]
    models = pd.read_csv(out / "results.csv")["model"]
    assert models.value_counts().to_dict() == {"cart": 90, "knn": 10, "ridge": 33}
    assert list(out.glob("ledger*")) == []


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("model", MODELS)
def test_every_model_is_tuned_and_saved(tmp_path, out, model, task):
    if model == "xgboost":
        pytest.importorskip("xgboost")
    target = "kind" if task == "classification" else "y"
    frame = a_frame(40).drop(columns="y" if target == "kind" else "kind")
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    short = {
        "random-forest": {"n_estimators": [3], "max_depth": [2, 4]},
        "xgboost": {"n_estimators": [2, 4]},
    }
    options = ["--target", target, "--model", model, "--out", out, "--folds", 3, "--quiet"]
    if model in short:
        grid = tmp_path / "grid.json"
        grid.write_text(json.dumps(short[model]))
        options += ["--grid", grid]
    if (model, task) in {
        ("logistic", "regression"),
        ("elastic-net", "classification"),
        ("sparse-ridge", "classification"),
    }:
        assert f"The model {model} does not predict" in refused("tune", path, *options)
        return
    result = done("tune", path, *options)
    assert (result.stdout, result.stderr) == ("", "")
    predicted = done("predict", out / "model.skops", path).stdout
    predictions = pd.read_csv(io.StringIO(predicted))
    assert len(predictions) == 40
    if task == "regression":
        assert predictions["prediction"].std() > 0
    else:
        assert set(predictions["prediction"]) == {"high", "low"}
        assert (len(predictions.columns) == 3) == (model not in ("svm", "ridge"))


@pytest.mark.parametrize("target", ["kind", "y"])
@pytest.mark.parametrize("deliver", ["committee", "ensemble", "student"])
def test_what_is_delivered_is_saved(tmp_path, out, monkeypatch, deliver, target):
    frame = a_frame().drop(columns="y" if target == "kind" else "kind")
    path, grid = tmp_path / "t.csv", tmp_path / "grid.json"
    frame.to_csv(path, index=False)
    grid.write_text('{"max_depth": [1, 2, 3]}')
    seen = {}
    fit = StabilitySearchCV.fit

    def remember(search, X, y, **params):
        seen.update(search=search, X=X)
        return fit(search, X, y, **params)

    monkeypatch.setattr(StabilitySearchCV, "fit", remember)
    options = ("--target", target, "--deliver", deliver, "--grid", grid, "--folds", 4, "--out", out)
    result = done("tune", path, *options)
    search, model = seen["search"], load_model(out / "model.skops")
    assert "(--deliver model)" in " ".join(result.stdout.split())
    expected = search.predict(seen["X"])
    expected = np.array(["high", "low"])[expected] if target == "kind" else expected
    np.testing.assert_array_equal(model.predict(pd.read_csv(path)), expected)
    [found] = json.loads((out / "results.json").read_text())["models"]
    assert found["promise"] == pytest.approx(search.promise_)
    assert found["delivered"]["n_members"] == search.delivered_.n_members
    assert found["delivered"]["weights"] == pytest.approx(search.delivered_.weights)
    predicted = pd.read_csv(
        io.StringIO(done("predict", out / "model.skops", path, "--interval", 0.8).stdout)
    )
    if target == "y":
        intervals = search.predict_interval(seen["X"], 0.8)
        np.testing.assert_allclose(predicted[["lower", "upper"]], intervals)
    else:
        sets = [[each in text.split("; ") for each in ("high", "low")] for text in predicted["set"]]
        np.testing.assert_array_equal(sets, search.predict_set(seen["X"], 0.8))


def test_names_of_what_is_delivered_and_of_rules():
    assert {each.value for each in Deliver} == set(DELIVER)
    assert {each.value for each in Rule} == {*rules.HAVE_WEIGHT, *rules.OF_CANDIDATES}


def worst_of_all_data(ledger, view):
    errors = rules.error(ledger, view)
    return int(errors.argmax() if view.split is None else errors.argmin())


def test_a_choice_that_does_clearly_worse_than_what_was_tried(table, out, grid, monkeypatch):
    grid.write_text('{"alpha": [1, 10000]}')
    fit = StabilitySearchCV.fit

    def fit_worse(search, X, y):
        return fit(search.set_params(rule=worst_of_all_data), X, y)

    monkeypatch.setattr(StabilitySearchCV, "fit", fit_worse)
    monkeypatch.setattr("steadycv.cli.run_tune.results_json", lambda *_: "{}")  # of a rule with a name
    options = ("--target", "y", "--model", "ridge", "--grid", grid, "--out", out)
    words = " ".join(done("tune", table, *options).stdout.split())
    assert "The choice does clearly worse than what was chosen without each part of the data" in words
    assert "The promise is" not in words


def test_task_is_found_and_can_be_forced(tmp_path, out, grid):
    path = tmp_path / "t.csv"
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60)})
    frame["y"] = (frame["a"] + rng.normal(size=60) > 0).astype(int)
    frame.to_csv(path, index=False)
    options = ("tune", path, "--target", "y", "--model", "ridge", "--grid", grid, "--out", out)
    result = done(*options)
    assert "has 2 whole numbers, which are taken as classes" in result.stdout
    data = json.loads((out / "results.json").read_text())["data"]
    assert (data["task"], data["classes"]) == ("classification", [0, 1])
    done(*options, "--task", "regression")
    assert json.loads((out / "results.json").read_text())["data"]["task"] == "regression"


@pytest.mark.parametrize("repeats", [1, 2])
@pytest.mark.parametrize("target", ["y", "kind"])
def test_groups_and_repeats(tmp_path, out, grid, monkeypatch, target, repeats):
    frame = a_frame().drop(columns="y" if target == "kind" else "kind")
    frame["patient"] = np.arange(60) // 4
    path = tmp_path / "t.parquet"
    pytest.importorskip("pyarrow")
    frame.to_parquet(path)
    seen = {}
    fit = StabilitySearchCV.fit

    def remember(search, X, y, **params):
        seen.update(params, search=search, columns=list(X.columns))
        return fit(search, X, y, **params)

    monkeypatch.setattr(StabilitySearchCV, "fit", remember)
    options = ("--groups", "patient", "--repeats", repeats, "--folds", 3, "--model", "ridge")
    result = done("tune", path, "--target", target, *options, "--grid", grid, "--out", out)
    assert "Rows with the same patient stay together in a fold." in result.stdout
    assert "patient" not in seen["columns"]
    splits = list(seen["search"].cv.split(np.zeros(60), frame[target], seen["groups"]))
    assert len(splits) == seen["search"].n_splits_ == 3 * repeats
    for train, test in splits:
        assert not set(frame["patient"][train]) & set(frame["patient"][test])
    if repeats == 2:
        assert splits[0][1].tolist() not in [split[1].tolist() for split in splits[3:]]


def test_rows_are_split_forward_in_time(tmp_path, out, grid, monkeypatch):
    frame = a_frame().drop(columns="kind")
    path = tmp_path / "t.csv"
    frame.sample(frac=1, random_state=3).to_csv(path, index=False)
    seen = {}
    fit = StabilitySearchCV.fit

    def remember(search, X, y, **params):
        seen.update(search=search, X=X, y=y)
        return fit(search, X, y, **params)

    monkeypatch.setattr(StabilitySearchCV, "fit", remember)
    options = ("--target", "y", "--time", "day", "--model", "ridge", "--grid", grid, "--out", out)
    result = done("tune", path, *options, "--folds", 4)
    words = " ".join(result.stdout.split())
    assert "Rows are sorted by day, which is not used itself, and split forward in time" in words
    assert "day has dates" not in words
    np.testing.assert_allclose(seen["y"], frame["y"])
    assert "day" not in seen["X"]
    lattice = seen["search"].lattice_
    assert len(lattice.splits) == 4
    assert all(split.train[-1] < split.test[0] for split in lattice.splits)
    content = json.loads((out / "results.json").read_text())
    assert (content["time"], content["splits"]) == ("day", "4 splits forward in time, by day")
    assert content["models"][0]["n_views"] == 3
    assert "--time day" in content["command"]
    assert load_model(out / "model.skops").splits == content["splits"]
    page = (out / "report.html").read_text()
    assert "Splits: 4 splits forward in time, by day." in page
    assert "4 splits forward in time</span>" in page
    assert len(pd.read_csv(io.StringIO(done("predict", out / "model.skops", path).stdout))) == 60


def test_few_splits_forward_in_time(table, out, grid):
    options = ("--target", "y", "--time", "day", "--model", "ridge", "--grid", grid, "--out", out)
    result = done("tune", table, *options, "--folds", 3)
    words = " ".join(result.stdout.split())
    assert "ridge: The stability weight is 0, as 2 views cannot choose one" in words
    [model] = json.loads((out / "results.json").read_text())["models"]
    assert model["stability_weight"] == 0
    assert model["n_views"] == 2


def test_first_rows_in_time_of_one_class(classes, tmp_path, out):
    frame = pd.read_csv(classes, sep="\t").sort_values("kind")
    frame["day"] = np.arange(60)
    path = tmp_path / "sorted.csv"
    frame.to_csv(path, index=False)
    line = refused("tune", path, "--target", "kind", "--time", "day", "--out", out)
    assert (
        "The first 10 rows in time, which the first split trains on, are all of the class 'high'" in line
    )


def test_dates_split_at_random_are_told_of_time(table, out, grid):
    options = ("--target", "y", "--model", "ridge", "--grid", grid, "--out", out)
    words = " ".join(done("tune", table, *options).stdout.split())
    assert (
        "Rows are in the order of day, and are split at random: if new data are later than these, use "
        "--time day" in (words)
    )


def test_a_score_drives_and_is_told(classes, out):
    options = ("--target", "kind", "--model", "svm", "--scoring", "roc_auc", "--out", out)
    result = done("tune", classes, *options)
    [model] = json.loads((out / "results.json").read_text())["models"]
    words = " ".join(result.stdout.split())
    steady = model["steady"]
    assert "CV score" in words
    assert f"On new data expect a roc_auc of about {-model['promise']:.4g}".rstrip("0") in words
    low, high = (f"{-end:.4g}".rstrip("0") for end in reversed(model["promise_interval"]))
    assert f"; {low} to {high}, nine times in ten)" in words
    assert steady["cv_score"] == pytest.approx(-steady["cv_error"])
    assert steady["nested_score"] == pytest.approx(-steady["nested_error"])
    gap = steady["cv_score"] - steady["nested_score"]
    assert steady["expected_disappointment"] == pytest.approx(gap)
    content = json.loads((out / "results.json").read_text())
    assert (content["scoring"], content["errors_are"]) == ("roc_auc", "minus roc_auc")
    table = pd.read_csv(out / "results.csv")
    np.testing.assert_allclose(table["score"], -table["cv_error"])
    assert "nested roc_auc" in (out / "report.html").read_text()


def test_a_score_of_two_classes_for_three(tmp_path, out):
    frame = a_frame().drop(columns="y")
    frame["kind"] = np.arange(60) % 3
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    line = refused("tune", path, "--target", "kind", "--scoring", "f1", "--out", out)
    assert "Target is multiclass but average='binary'" in line
    assert line.endswith("Use f1_macro or f1_micro or f1_weighted.")


def test_options_reach_the_search(table, out, monkeypatch, tmp_path):
    seen = []
    fit = StabilitySearchCV.fit

    def remember(search, *args, **params):
        seen.append(search)
        assert search.n_jobs == 2
        return fit(search.set_params(n_jobs=1), *args, **params)  # processes take time to start

    monkeypatch.setattr(StabilitySearchCV, "fit", remember)
    ledger = tmp_path / "kept.sqlite"
    options = {
        "--target": "y",
        "--model": "cart",
        "--weights": "0, 0.5,2",
        "--scoring": "neg_mean_absolute_error",
        "--search": "coordinate",
        "--rule": "paper",
        "--deliver": "ensemble",
        "--folds": 4,
        "--repeats": 2,
        "--jobs": 2,
        "--seed": 7,
        "--out": out,
        "--resume": ledger,
    }
    result = done("tune", table, *(word for pair in options.items() for word in pair))
    assert "mean absolute error" in result.stdout
    [search] = seen
    assert search.stability_weights == [0, 0.5, 2]
    assert search.scoring == "neg_mean_absolute_error"
    assert search.loss_.name == "absolute_error"
    assert search.search == "coordinate"
    assert (search.rule, search.deliver) == ("paper", "ensemble")
    assert (search.cv.get_n_splits(), search.cv.random_state) == (8, 7)
    assert search.estimator.named_steps["model"].random_state == 7
    assert ledger.exists()
    command = json.loads((out / "results.json").read_text())["command"]
    words = shlex.split(command)
    assert words[:3] == ["steadycv", "tune", str(table)]
    again = done(*words[1:], "--json")
    assert json.loads(again.stdout)["command"] == command
    assert seen[1].n_fits_ < seen[0].n_fits_


def test_data_on_standard_input(table, out, grid):
    options = ("--target", "y", "--model", "ridge", "--grid", grid, "--out", out)
    result = done("tune", "-", *options, input=table.read_bytes())
    assert "ridge on standard input, predicting y" in result.stdout
    tabs = pd.read_csv(table).to_csv(sep="\t", index=False)
    again = done("tune", "-", *options, input=tabs.encode())
    assert again.stdout == result.stdout


def process(*args, **options):
    environment = os.environ | {"COLUMNS": "100"}
    options = {"stdin": subprocess.DEVNULL, **options}
    return subprocess.run(
        [*COMMAND, *map(str, args)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        **options,
    )


def test_data_through_a_pipe(table, out, grid):
    options = ("--model", "ridge", "--grid", grid, "--out", out)
    piped = {"stdin": None, "input": table.read_text()}
    result = process("tune", "--target", "y", *options, **piped)
    assert result.returncode == 0, result.stderr
    assert "ridge on standard input" in result.stdout
    with table.open() as file:
        without_target = process("tune", *options, stdin=file)
    assert (without_target.returncode, without_target.stdout) == (2, "")
    assert without_target.stderr.startswith("steadycv: Name the column to predict with --target: a, <")


# A signal comes after the fifth of seven fits, as if someone pressed Ctrl-C then. What runs in the
# background of a shell is deaf to it unless told otherwise.
STOPPED = """
import os, signal, sys
from steadycv.cli import main
from steadycv.ledger_file import LedgerFile

signal.signal(signal.SIGINT, signal.default_int_handler)
number = int(sys.argv.pop(1))
fits = []
keep = LedgerFile.fitted

def stop(file, job, fit):
    keep(file, job, fit)
    fits.append(job)
    if len(fits) == 5:
        os.kill(os.getpid(), number)

LedgerFile.fitted = stop
main()
"""


@pytest.mark.parametrize(
    ("models", "number", "exit_code"),
    [
        ("ridge", signal.SIGINT, 130),
        ("knn,ridge", signal.SIGINT, 130),
        ("ridge", signal.SIGTERM, 143),
    ],
)
def test_interruption_leaves_a_ledger_to_go_on_from(table, out, models, number, exit_code):
    options = ["--target", "y", "--model", models, "--folds", "3", "--out", str(out)]
    work = subprocess.run(
        [sys.executable, "-c", STOPPED, str(int(number)), "tune", str(table), *options],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (work.returncode, work.stdout) == (exit_code, "")
    [line] = work.stderr.splitlines()
    before, command = line.split("To go on: ")
    assert before == "steadycv: Interrupted. What is done is kept. "
    words = shlex.split(command)
    assert words == ["steadycv", "tune", str(table), *options, "--resume", str(out / "ledger.sqlite")]
    [ledger] = out.iterdir()
    assert ledger.name == ("ledger.sqlite" if models == "ridge" else "ledger-knn.sqlite")
    resumed = done(*words[1:], "--json")
    assert not ledger.exists()
    whole = done(*words[1:-2], "--json")
    found, expected = (json.loads(each.stdout)["models"] for each in (resumed, whole))
    n_fits = {model["model"]: model.pop("n_fits") for model in found}
    assert {model["model"]: model.pop("n_fits") for model in expected} == dict.fromkeys(n_fits, 7)
    assert n_fits.pop(models.partition(",")[0]) < 7
    assert found == expected


def test_ledger_of_another_search_is_refused_and_left(table, out, grid, tmp_path):
    ledger = tmp_path / "kept.sqlite"
    options = ("--target", "y", "--model", "ridge", "--grid", grid, "--out", out, "--resume", ledger)
    done("tune", table, *options)
    stored = ledger.read_bytes()
    line = refused("tune", table, *options, "--seed", 1)
    assert "belongs to another search: its folds, estimator are different" in line
    assert "--resume" in line
    assert ledger.read_bytes() == stored
    ledger.write_bytes(b"not a ledger")
    assert "damaged or not a ledger" in refused("tune", table, *options)
    missing = tmp_path / "no folder" / "x.sqlite"
    assert "cannot be opened" in refused("tune", table, *options[:-1], missing)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--target", "z"], "There is no column 'z'"),
        ([], "Name the column to predict with --target: a, <script>"),
        (["--target", "y", "--model", "lasso"], "There is no model 'lasso'. There are sparse-ridge,"),
        (["--target", "y", "--model", ","], "--model needs a name"),
        (
            ["--target", "y", "--scoring", "accuracy"],
            "--scoring accuracy cannot drive a regression. These can: d2_absolute_error_score,",
        ),
        (["--target", "y", "--scoring", "rand_score"], "cannot drive a regression"),
        (
            ["--target", "member", "--scoring", "r2"],
            "cannot drive a classification. These can: accuracy,",
        ),
        (["--target", "member", "--scoring", "rocauc"], "no score 'rocauc'. Did you mean roc_auc"),
        (["--target", "y", "--scoring", "?"], "There is no score '?'. These can: d2_"),
        (
            ["--target", "y", "--scoring", "neg_mean_gamma_deviance"],
            "can only be used on strictly positive",
        ),
        (["--target", "y", "--time", "z"], "There is no column 'z'"),
        (["--target", "y", "--time", "y"], "The time and the target are the same column"),
        (["--target", "y", "--time", "day", "--groups", "member"], "--time and --groups do not go"),
        (["--target", "y", "--time", "day", "--repeats", "2"], "--time and --repeats do not go"),
        (
            ["--target", "y", "--time", "city"],
            "rows and is neither a date nor a number in",
        ),
        (["--target", "y", "--time", "a"], "The time 'a' is missing in 4 of 60 rows"),
        (["--target", "y", "--deliver", "council"], "Invalid value for '--deliver'"),
        (["--target", "y", "--rule", "best"], "Invalid value for '--rule'"),
        (
            ["--target", "y", "--rule", "plain", "--weights", "0,1"],
            "--rule plain chooses among no weights: leave out --weights.",
        ),
        (
            ["--target", "y", "--rule", "one_standard_error", "--search", "coordinate"],
            "--rule one_standard_error compares all candidates: leave out --search.",
        ),
        (
            ["--target", "y", "--time", "day", "--folds", "3", "--deliver", "student"],
            "--deliver student is judged by 3 splits that have others before them: use --folds 4",
        ),
        (["--target", "y", "--weights", "0,x"], "--weights must be 'auto' or numbers from 0 on"),
        (["--target", "y", "--weights", "-1"], "--weights must be 'auto'"),
        (["--target", "y", "--folds", "2"], "Invalid value for '--folds'"),
        (["--target", "y", "--folds", "five"], "Invalid value for '--folds'"),
        (["--target", "y", "--folds", "31"], "31 folds are too many for 60 rows; use at most 30."),
        (["--target", "y", "--search", "random"], "Invalid value for '--search'"),
        (["--target", "y", "--task", "both"], "Invalid value for '--task'"),
        (["--target", "y", "--seed", "-1"], "Invalid value for '--seed'"),
        (["--target", "y", "--seed", str(2**32)], "--seed must be below 2**32"),
        (["--target", "y", "--colour"], "No such option: --colour"),
        (["--target", "y", "--groups", "z"], "There is no column 'z'"),
        (["--target", "y", "--groups", "y"], "The groups and the target are the same column"),
        (["--target", "y", "--groups", "city"], "The groups 'city' are missing in"),
        (["--target", "y", "--groups", "member"], "There are 2 groups, fewer than the 5 folds."),
        (
            ["--target", "y", "--task", "classification"],
            "has 1. Put rare classes together with --merge-rare; if these are quantities, use --task re",
        ),
        (["--target", "city"], "The target 'city' is missing in"),
        (["--target", "member", "--model", "elastic-net"], "elastic-net does not predict classes"),
        (["--target", "member", "--model", "svm", "--scoring", "neg_log_loss"], "needs probabilities"),
        (["--target", "y", "--grid", "no.yaml"], "The grid no.yaml cannot be read: No such file"),
    ],
)
def test_refused(table, out, options, message):
    assert message in refused("tune", table, *options, "--out", out)
    assert not out.exists()


def test_folders_that_cannot_be_written(table, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    line = refused("tune", table, "--target", "y", "--out", file)
    assert f"The folder {file} cannot be made: File exists." in line


def test_candidates_that_fail(table, out, tmp_path):
    grid = tmp_path / "grid.json"
    grid.write_text('{"n_neighbors": [5, 5000]}')
    options = ("--target", "y", "--model", "knn", "--out", out, "--grid", grid)
    result = done("tune", table, *options)
    words = " ".join(result.stdout.split())
    assert "knn: 16 fits failed out of a total of" in words
    assert "ValueError: Expected n_neighbors <= n_samples_fit" in words
    grid.write_text('{"n_neighbors": [5000]}')
    line = refused("tune", table, *options)
    assert "knn: No candidate could be fitted." in line
    assert "n_neighbors = 5000" in line


def test_quiet_and_json(table, out, grid):
    options = ("tune", table, "--target", "y", "--model", "ridge", "--grid", grid, "--out", out)
    quiet = done(*options, "--quiet")
    assert (quiet.stdout, quiet.stderr) == ("", "")
    both = done(*options, "--quiet", "--json")
    assert json.loads(both.stdout)["best_model"] == "ridge"
    assert both.stderr == ""


def test_control_characters_do_not_reach_the_terminal(tmp_path, out, grid):
    path = tmp_path / "t.csv"
    a_frame().rename(columns={"a": "a\x1b[31m"}).to_csv(path, index=False)
    result = done("tune", path, "--target", "y", "--model", "ridge", "--grid", grid, "--out", out)
    assert "a?[31m" in result.stdout
    assert "\x1b" not in result.stdout
    assert "\x1b" not in refused("tune", path, "--target", "\x1b[31m", "--out", out)


@pytest.mark.parametrize("command", ["tune", "predict", "compare", "reproduce"])
def test_help_fits_a_screen(command):
    lines = done(command, "--help", env={"COLUMNS": "100"}).stdout.splitlines()
    assert len(lines) <= 47
    assert not [line for line in lines if "<bool>" in line and "--help" not in line]
    assert max(map(len, lines)) <= 100


def test_completion():
    assert complete_model("sv") == ["svm"]
    assert complete_model("cart,r") == ["cart,random-forest", "cart,ridge"]
    complete = {
        "_STEADYCV_COMPLETE": "complete_bash",
        "COMP_WORDS": "steadycv tune --mo",
        "COMP_CWORD": "2",
    }
    result = subprocess.run(
        [sys.executable, "-c", "from steadycv.cli.app import app; app(prog_name='steadycv')"],
        capture_output=True,
        text=True,
        env=os.environ | complete,
        check=False,
    )
    assert result.stdout.split() == ["--model"]


@pytest.fixture
def messy(tmp_path):
    """A table with a price in dollars, days, comments, and rare kinds."""
    rng = np.random.default_rng(0)
    rooms = rng.integers(1, 9, size=60)
    days = pd.date_range("2020-01-01", periods=60)[rng.permutation(60)]
    frame = pd.DataFrame(
        {
            "nr": range(1, 61),
            "rooms": [f"{n} rooms" for n in rooms],
            "sold": days.strftime("%d.%m.%Y"),
            "comment": [
                f"{'lovely' if n > 4 else 'plain'} house, number {i}" for i, n in enumerate(rooms)
            ],
            "price": [f"${n * 50000 + 7 * i:,}" for i, n in enumerate(rooms)],
            "kind": [["flat", "villa", "hut"][(i > 29) + (i > 57)] for i in range(60)],
        }
    )
    path = tmp_path / "messy.csv"
    frame.to_csv(path, index=False)
    return path


def test_prices_days_and_words(messy, out):
    options = ("--target", "price", "--keep", "comment", "--out", out, "--folds", 3)
    words = " ".join(done("tune", messy, *options).stdout.split())
    for text in (
        "1 numeric, 1 date and 2 text columns are used.",
        "Read as numbers: rooms (",
        "sold: dates, used as month, day of week, days.",
        "comment: one column for each of the 100 commonest words",
        "Not used, as it just counts the rows: nr. --keep nr uses such a column nevertheless.",
        "The target 'price' is read as numbers: '$",
        "rooms explains 'price' almost alone: unless it is known before 'price' is, remove it",
        "sold has dates, and rows are split at random",
    ):
        assert text in words
    predicted = done("predict", out / "model.skops", messy)
    assert predicted.stderr == "steadycv: The target 'price' is in the table; it is not used.\n"
    found = pd.read_csv(io.StringIO(predicted.stdout))["prediction"]
    price = pd.read_csv(messy)["price"].str.replace(r"[$,]", "", regex=True).astype(float)
    assert np.abs(found - price).max() < 20000
    columns = json.loads((out / "results.json").read_text())["data"]["columns"]
    assert columns[1]["number"] == {"decimal": ".", "prefix": "", "unit": "room"}
    assert load_model(out / "model.skops").readings[2].date.origin == "2020-01-01"
    command = json.loads((out / "results.json").read_text())["command"]
    assert "--keep comment" in command

    new = pd.read_csv(messy)[:3].assign(rooms=["3 rooms", "4", "5 metres"])
    new.to_csv(messy, index=False)
    line = refused("predict", out / "model.skops", messy)
    assert "The column 'rooms' must have numbers; 1 of its values are none, such as '5 metres'." in line


def test_rare_classes_are_merged(messy, out):
    options = ("--target", "kind", "--out", out)
    line = refused("tune", messy, *options)
    assert line.endswith("'hut' has 2. Put rare classes together with --merge-rare.")
    result = done("tune", messy, *options, "--merge-rare")
    assert "hut, villa are one class, (rest), so that none has fewer than 5 rows." in result.stdout
    frame = pd.read_csv(messy)
    frame.loc[[3, 17, 44], "kind"] = "cave"
    frame.to_csv(messy, index=False)
    words = " ".join(
        done("tune", messy, "--target", "kind", "--out", out, "--merge-rare").stdout.split()
    )
    assert "hut, cave are one class, (rest), so that none has fewer than 5 rows." in words
    data = json.loads((out / "results.json").read_text())["data"]
    assert data["classes"] == ["(rest)", "flat", "villa"]
    assert "--merge-rare is for classes" in refused(
        "tune", messy, "--target", "price", "--merge-rare", "--out", out
    )


def test_sheets_tables_and_queries(messy, out, grid):
    pytest.importorskip("openpyxl")
    book = messy.with_suffix(".xlsx")
    frame = pd.read_csv(messy)
    with pd.ExcelWriter(book) as file:
        frame[:5].to_excel(file, sheet_name="Notes", index=False)
        frame.to_excel(file, sheet_name="Houses", index=False)
    options = ("--target", "price", "--model", "ridge", "--grid", grid, "--out", out)
    assert "There are 5 rows" in refused("tune", book, *options)
    words = done("tune", book, *options, "--table", "Houses").stdout
    assert words.split("ridge on")[0] == done("tune", messy, *options).stdout.split("ridge on")[0]
    by_sheet = done("predict", out / "model.skops", book, "--table", "Houses").stdout
    assert by_sheet == done("predict", out / "model.skops", messy).stdout


def test_price_of_text_goes_in_no_circle(messy, out):
    line = refused("tune", messy, "--target", "comment", "--out", out)
    assert "is text that differs in most rows" in line
    assert "--task" not in line
    line = refused("tune", messy, "--target", "comment", "--task", "regression", "--out", out)
    assert "The target 'comment' is not numeric" in line


def test_old_model_files_are_refused(messy, out):
    done("tune", messy, "--target", "price", "--out", out, "--folds", 3, "--quiet")
    model = load_model(out / "model.skops")
    model.format_version = 1
    save_model(out / "model.skops", model)
    line = refused("predict", out / "model.skops", messy)
    assert "has the format 1, and this release of steadycv reads 2: tune it again." in line


def test_version():
    assert done("--version").stdout == f"steadycv {version('steadycv')}\n"
