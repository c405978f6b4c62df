import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")

from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor
from typer.testing import CliRunner

from steadycv import datasets
from steadycv.cli.app import app
from steadycv.experiments import TABLES, Model, Table, figures

COMMAND = "from steadycv.cli import main; main()"


def run(*args):
    return CliRunner().invoke(app, [str(arg) for arg in args], env={"COLUMNS": "200"})


def refused(*args):
    result = run(*args)
    assert result.exit_code == 2
    assert result.stdout == ""
    [line] = result.stderr.splitlines()
    assert line.startswith("steadycv: ")
    return line


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    frame["city"] = rng.choice(["Ulm", "Rom"], size=60)
    frame["y"] = frame["a"] + (frame["city"] == "Ulm") + 0.3 * rng.normal(size=60)
    frame.loc[:3, "b"] = np.nan
    path = tmp_path / "some data.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def small(monkeypatch):
    """Tables and data sets that take no time."""

    def load(name, return_X_y):
        rng = np.random.default_rng(len(name))
        X = rng.normal(size=(40, 3))
        return X, X[:, 0] + 0.5 * rng.normal(size=40)

    def tree_grid(X, y):
        return {"max_depth": [1, 2, 3], "min_samples_split": [2, 10]}

    tree = Model("CART", DecisionTreeRegressor, tree_grid, nested=True)
    ridge = Model("XGBoost", Ridge, lambda X, y: {"alpha": [0.1, 10.0]}, nested=True)
    monkeypatch.setattr(datasets, "load", load)
    monkeypatch.setitem(TABLES, "table3", Table("table3", "Trees", (tree, ridge), 2))
    monkeypatch.setattr(figures, "SPARSITIES", (1, 2))
    monkeypatch.setattr(figures, "GAMMAS", (0.1, 1.0))
    monkeypatch.setattr(figures, "N_TEST", 100)


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "page.md"
    names = ("in short", "table3", "figure1")
    path.write_text("".join(f"<!-- {name} -->\n<!-- end of {name} -->\n" for name in names))
    return path


def test_reproduce_table(small, tmp_path, page):
    args = ("reproduce", "table3", "--out", tmp_path, "--datasets", "steam,vessel", "--models", "CART")
    result = run(*args)
    assert result.exit_code == 0, result.output
    assert "CART, nested kCV" in result.stdout
    assert "1.308" in result.stdout  # the paper's, on steam
    frame = pd.read_csv(tmp_path / "table3.csv")
    assert len(frame) == 2 * 2 * 3
    more = run("reproduce", "table3", "--out", tmp_path, "--splits", 1, "--datasets", "steam,vessel")
    assert "XGBoost, nested kCV" in more.stdout

    stored = (tmp_path / "table3.csv").read_bytes()
    shown = run("reproduce", "table3", "--out", tmp_path, "--summary-only", "--docs", page)
    assert shown.exit_code == 0, shown.output
    assert (tmp_path / "table3.csv").read_bytes() == stored
    text = page.read_text()
    assert "| steam | 40 | 3 | 2 |" in text
    assert text.index("**The method beside plain cross-validation**") < text.index("**CART, kCV**")
    again = run("reproduce", "table3", "--out", tmp_path, "--summary-only", "--docs", page)
    assert again.stdout == shown.stdout
    assert page.read_text() == text


def test_reproduce_figure(small, tmp_path, page, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    args = ("reproduce", "figure1", "--out", tmp_path, "--docs", page, "--splits", 1)
    result = run(*args)
    assert result.exit_code == 0, result.output
    assert "what leave-one-out cross-validation chooses" in result.stdout
    assert len(pd.read_csv(tmp_path / "figure1.csv")) == 2 * 2 * 4
    assert "![figure1, standardised before](figure1-before.png)" in page.read_text()
    assert (tmp_path / "figure1-inside.png").exists()


def test_reproduce_without_results_of_what_was_asked_for(small, tmp_path, page):
    out = ("--out", tmp_path, "--datasets", "steam")
    run("reproduce", "table3", *out, "--models", "CART", "--seed", 4)
    before = page.read_text()
    for asked in (("--models", "XGBoost"), ("--seed", 3)):
        shown = ("--summary-only", "--docs", page)
        assert "no results of what was asked for" in refused("reproduce", "table3", *out, *asked, *shown)
    assert page.read_text() == before
    assert run("reproduce", "table3", *out, "--summary-only", "--seed", 4).exit_code == 0
    assert run("reproduce", "table3", *out, "--summary-only").exit_code == 0
    result = run("reproduce", "table3", *out, "--models", "XGBoost", "--seed", 3)
    assert "another configuration: seed 4 instead of 3" in result.stderr
    (tmp_path / "table3.csv").write_text("")
    assert "no results" in refused("reproduce", "table3", "--out", tmp_path, "--summary-only")


def test_reproduce_refuses(small, tmp_path, page):
    out = ("--out", tmp_path / "results")
    assert "There is no data set 'glass'" in refused("reproduce", "table3", "--datasets", "glass", *out)
    assert "There is no model 'lasso'" in refused("reproduce", "table3", "--models", "lasso", *out)
    assert "There are no results" in refused("reproduce", "table3", "--summary-only", *out)
    assert "are for tables" in refused("reproduce", "figure1", "--datasets", "steam", *out)
    assert not (tmp_path / "results").exists()
    assert run("reproduce", "table9").exit_code == 2


def subprocess_run(code, *args):
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, args)],
        capture_output=True,
        text=True,
        env=os.environ | {"COLUMNS": "200"},
        check=False,
    )


def test_as_a_process_of_its_own(table):
    more = ("--splits", 2, "--jobs", 2, "--out", table.parent / "out")
    result = subprocess_run(COMMAND, "compare", table, "--target", "y", *more)
    assert result.returncode == 0, result.stderr
    assert "Served best: the" in result.stdout
    bad = subprocess_run(COMMAND, "compare", table, "--target", "nothing")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr == "steadycv: There is no column 'nothing'. There are a, b, c, city, y.\n"


def test_without_typer_it_says_what_to_install():
    result = subprocess_run(f"import sys; sys.modules['typer'] = None; {COMMAND}", "compare")
    assert result.returncode == 2
    [line] = result.stderr.splitlines()
    assert "pip install 'steadycv[cli]'" in line
