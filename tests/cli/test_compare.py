"""``steadycv compare``, as it is used."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

pytest.importorskip("typer")

from test_commands import refused, run
from typer.testing import CliRunner

from steadycv import StabilitySearchCV
from steadycv.cli.app import app

GRID = {"max_depth": [1, 2, 4], "min_samples_split": [2, 12]}
ALL = ["plain choice", "steady choice", "one standard error", "committee", "ensemble", "student"]


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(72, 3)), columns=list("abc"))
    frame["city"] = rng.choice(["Ulm", "Rom"], size=72)
    frame["shop"] = rng.integers(0, 14, 72)
    frame["day"] = pd.date_range("2024-01-01", periods=72).astype(str)
    frame["y"] = frame["a"] + (frame["city"] == "Ulm") + 0.3 * rng.normal(size=72)
    frame["kind"] = np.where(frame["a"] + rng.normal(size=72) > 0.3, "high", "low")
    frame["price"] = [f"${1000 + 100 * value:,.2f}" for value in frame["y"]]
    frame.loc[:3, "b"] = np.nan
    path = tmp_path / "some data.csv"
    frame.to_csv(path, index=False)
    (tmp_path / "grid.json").write_text(json.dumps(GRID))
    return path


@pytest.fixture
def compare(table, tmp_path):
    def command(target, *more):
        given = ("compare", table, "--target", target, "--out", tmp_path / "out", "--grid")
        return (*given, tmp_path / "grid.json", *more)

    return command


def done(*args):
    result = run(*args)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_numbers(compare, tmp_path):
    args = compare("y", "--splits", 3)
    shown = done(*args)
    for text in (
        "4 missing values in b are replaced",
        "cart on some data.csv, predicting y",
        "3 splits: tuned on about nine tenths of the rows, tested on the others.",
        *ALL,
        "Served best: the",
        "3 splits are too few to say how sure that is: it takes 20 or more.",
        "Promises beside what came on test rows: of the plain choice",
        "comparison.html, comparison.json, splits.csv.",
    ):
        assert text in shown
    frame = pd.read_csv(tmp_path / "out/splits.csv")
    assert len(frame) == 3 * len(ALL)
    assert done(*args) == shown
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "out/splits.csv"), frame)  # nothing again


def test_means_are_those_of_the_splits(compare, tmp_path):
    found = json.loads(done(*compare("y", "--splits", 4, "--json")))
    assert found == json.loads((tmp_path / "out/comparison.json").read_text())
    frame = pd.read_csv(tmp_path / "out/splits.csv")
    means = frame.groupby("served")["test_error"].mean()
    assert [each["served"] for each in found["compared"]] == ALL
    for each in found["compared"]:
        assert each["test_error"] == pytest.approx(means[each["served"]])
        assert each["beside_plain"]["value"] == pytest.approx(means[each["served"]] / means[ALL[0]])
    assert found["served_best"][0] == means.idxmin() or means.duplicated().any()
    assert found["probability"] is None  # of four splits
    assert found["errors_are"] == "mean squared error"


@pytest.mark.parametrize(
    ("target", "more", "kind"),
    [
        ("kind", (), "share of wrong predictions"),
        ("kind", ("--groups", "shop"), "share of wrong predictions"),
        ("y", ("--groups", "shop", "--model", "knn"), "mean squared error"),
        ("kind", ("--scoring", "roc_auc"), "minus roc_auc"),
        ("y", ("--time", "day"), "mean squared error"),
        ("y", ("--scoring", "neg_mean_absolute_error"), "mean absolute error"),
        ("price", (), "mean squared error"),
    ],
    ids=["classes", "groups of classes", "groups", "score", "time", "minus an error", "currency"],
)
def test_as_tune_reads_and_splits(compare, tmp_path, target, more, kind):
    if "knn" in more:
        (tmp_path / "grid.json").write_text(json.dumps({"n_neighbors": [1, 5, 9]}))
    found = json.loads(done(*compare(target, "--splits", 2, "--folds", 4, "--json", *more)))
    assert found["errors_are"] == kind
    assert [each["served"] for each in found["compared"]] == ALL
    assert (found["n_splits"], found["folds"]) == (2, 4)


@pytest.mark.parametrize(
    ("deliver", "names"),
    [("model", ALL[:3]), ("committee", ALL[:4]), ("student,committee", [*ALL[:4], ALL[5]])],
)
def test_what_is_delivered(compare, deliver, names):
    shown = done(*compare("y", "--splits", 2, "--deliver", deliver, "--json"))
    assert [each["served"] for each in json.loads(shown)["compared"]] == names


def test_several_models(compare, tmp_path):
    grids = {"cart": GRID, "ridge": {"alpha": [0.1, 10]}}
    (tmp_path / "grid.json").write_text(json.dumps(grids))
    shown = done(*compare("y", "--splits", 2, "--model", "cart,ridge", "--deliver", "committee"))
    assert "cart, ridge on some data.csv" in shown
    assert shown.count("steady choice") >= 2
    found = json.loads((tmp_path / "out/comparison.json").read_text())
    assert {each["model"] for each in found["compared"]} == {"cart", "ridge"}
    assert found["served_best"][0].rpartition(" of ")[2] in ("cart", "ridge")


def test_without_arguments_it_compares_on_data_that_come_along(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "cart on diabetes, predicting progression" in done(
        "compare", "--splits", 2, "--deliver", "model"
    )
    assert (tmp_path / "steadycv-comparison/comparison.html").exists()


def test_documentation_shows_what_it_prints(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs" / "command_line.md").read_text("utf-8")
    _, section = page.split("## Compare\n")
    result = CliRunner().invoke(app, ["compare", "--splits", "20"], env={"COLUMNS": "80"})
    _, _, *shown, _, _ = [line.rstrip() for line in result.stdout.splitlines()]
    told = section.split("```")[1].strip().splitlines()
    assert [NUMBER.sub("", line) for line in shown] == [NUMBER.sub("", line) for line in told]
    # Other releases of scikit-learn break ties of trees in another order.
    assert_allclose(numbers_in(shown), numbers_in(told), rtol=0.01, atol=0.03)


NUMBER = re.compile(r" *\d+(?:\.\d+)?%?")


def numbers_in(lines):
    found = NUMBER.findall("\n".join(lines))
    return [float(each.rstrip("%")) / (100 if each.endswith("%") else 1) for each in found]


def test_rows_that_nobody_can_be_judged_on_are_told_of(compare, table):
    frame = pd.read_csv(table)
    frame["kind"] = np.where(np.arange(72) % 7 == 0, "high", "low")
    frame.to_csv(table, index=False)
    more = ("--scoring", "roc_auc", "--time", "day", "--deliver", "model", "--folds", 3)
    shown = done(*compare("kind", "--splits", 9, *more))
    assert "of 9 splits are left out, as nobody can be judged on their test rows: roc_auc" in shown
    line = refused(*compare("kind", "--splits", 36, *more))
    assert "The test rows of 36 of 36 splits cannot be judged: roc_auc is not defined there" in line


def test_quiet(compare):
    result = run(*compare("y", "--splits", 2, "--quiet", "--deliver", "model"))
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


def test_refusals(compare, table, tmp_path):
    assert "cannot be read: No such file" in refused("compare", "no.csv", "--target", "y")
    assert "There is no column 'z'" in refused(*compare("z"))
    assert "There is no model 'cat'" in refused(*compare("y", "--model", "cat"))
    assert "--deliver takes model, committee, ensemble, student, got 'all'" in refused(
        *compare("y", "--deliver", "all")
    )
    assert "use --folds 4 or more" in refused(*compare("y", "--time", "day", "--folds", 3))
    assert "are the same column" in refused(*compare("y", "--groups", "y"))
    assert "Name the column to predict" in refused("compare", table)
    assert "There is no score 'rocauc'" in refused(*compare("y", "--scoring", "rocauc"))
    few = compare("y", "--splits", 2, "--deliver", "model")
    done(*few)
    assert "another configuration" in refused(*few, "--seed", 1)
    assert "another configuration" in refused(*few, "--folds", 4)


def test_a_fit_that_fails_is_told_in_a_line(compare, tmp_path):
    (tmp_path / "grid.json").write_text(json.dumps({"max_depth": [-1]}))
    line = refused(*compare("y", "--splits", 2, "--deliver", "model"))
    assert "max_depth" in line


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit(143)])
def test_what_was_done_is_kept(compare, tmp_path, monkeypatch, stop):
    args = compare("y", "--splits", 3, "--deliver", "model")
    fit, calls = StabilitySearchCV.fit, []

    def interrupted(self, *given, **how):
        calls.append(1)
        if len(calls) == 3:
            raise stop
        return fit(self, *given, **how)

    monkeypatch.setattr(StabilitySearchCV, "fit", interrupted)
    result = run(*args)
    assert result.exit_code == (130 if stop is KeyboardInterrupt else 143)
    assert "What is done is kept. To go on: steadycv compare" in result.stderr
    assert len(pd.read_csv(tmp_path / "out/splits.csv")) == 2 * 3
    done(*args)
    assert len(calls) == 4
    assert len(pd.read_csv(tmp_path / "out/splits.csv")) == 3 * 3
