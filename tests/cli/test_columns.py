"""The report of ``steadycv tune`` says what columns are worth to the best model."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")
pytest.importorskip("skops")

from sklearn.linear_model import Ridge
from typer.testing import CliRunner

from steadycv import StabilitySearchCV
from steadycv.cli.app import app
from steadycv.cli.columns import worth_of_columns
from steadycv.explain import column_importance

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame({"noise": RNG.normal(size=80), "size": RNG.normal(size=80)})
TABLE["town"] = RNG.choice(["Ulm", "Rom"], size=80)
TABLE["price"] = 5 * TABLE["size"] + (TABLE["town"] == "Rom") + RNG.normal(scale=0.1, size=80)


def test_report_of_the_command_has_them(tmp_path):
    TABLE.to_csv(tmp_path / "t.csv", index=False)
    asked = ["--target", "price", "--model", "ridge", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(app, ["tune", str(tmp_path / "t.csv"), *asked])
    assert result.exit_code == 0, result.output
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    [label] = re.findall(r'aria-label="(Chart of what columns are worth[^"]*)"', page)
    assert label.startswith("Chart of what columns are worth; size most, ")
    assert page.index(">size<") < page.index(">town<") < page.index(">noise<")


def problem_of(X):
    return SimpleNamespace(X=X, target=SimpleNamespace(y=TABLE["price"].to_numpy()[: len(X)]))


def test_they_are_those_of_the_library():
    X = TABLE[["noise", "size"]]
    search = StabilitySearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=3).fit(X, TABLE["price"])
    found = worth_of_columns(problem_of(X), search)
    expected = column_importance(search, X, TABLE["price"], n_repeats=3)
    np.testing.assert_allclose(found.by_view, expected.by_view)


def test_none_of_large_tables_and_without_a_nested_error():
    X = TABLE[["noise", "size"]]
    search = StabilitySearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=3).fit(X, TABLE["price"])
    large = SimpleNamespace(shape=(100_001, 2))
    assert worth_of_columns(SimpleNamespace(X=large), search) is None
    plain = StabilitySearchCV(Ridge(), {"alpha": [1.0]}, cv=3, nested=False, stability_weights=0)
    assert worth_of_columns(problem_of(X), plain.fit(X, TABLE["price"])) is None
