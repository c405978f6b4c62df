"""What is printed, against figures computed by hand."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from small import RIDGE, TREE

from steadycv import datasets
from steadycv.experiments import Results, Table, summarize_shortly, summarize_table, summary
from steadycv.experiments.models import NESTED, NESTED_OR_PLAIN, PLAIN
from steadycv.experiments.sheets import Sheet, interval, number, percent, with_error

# Test errors and reported errors of two splits; the nested choice is the plain one in the first.
ERRORS = {
    PLAIN: ([2.0, 4.0], [1.0, 2.0]),
    NESTED: ([2.0, 1.0], [1.5, 1.5]),
    NESTED_OR_PLAIN: ([2.0, 4.0], [3.0, 3.0]),
}
SPARSE_RIDGE = replace(TREE, name="sparse ridge")
TABLE1 = Table("table1", "", (SPARSE_RIDGE, replace(RIDGE, name="MCP", in_paper="")), 2)


def frame(names, model="sparse ridge", factor=1.0):
    rows = [
        {
            "dataset": name,
            "model": model,
            "selection": selection,
            "split": split,
            "n": 25,
            "p": 8,
            "sparsity": 3.0 + split,
            "test_error": factor * test[split],
            "reported_error": factor * reported[split],
            "nested_error": 3.0 * factor,
            "same_choice": test[split] == ERRORS[PLAIN][0][split],
        }
        for name in names
        for selection, (test, reported) in ERRORS.items()
        for split in (1, 0)
    ]
    return pd.DataFrame(rows)


def sheets(*frames):
    return {s.title: s for s in summarize_table(TABLE1, Results(pd.concat(frames)))}


def column(sheet, name):
    return [row[sheet.header.index(name)] for row in sheet.rows]


def test_errors_beside_the_papers():
    sheet = sheets(frame(["steam", "other"]))["sparse ridge, kCV"]
    # The two means of the bootstrap are 2, 3 or 4 with shares 1/4, 1/2, 1/4.
    assert sheet.rows[0][:-1] == (
        *("steam", "25", "8", "2", "2.8", "3.5", "0.404", "1.50 ± 0.35", "0.467"),
    )
    assert sheet.rows[0][-1].startswith("3.0")
    assert sheet.rows[1][:6] == ("other", "25", "8", "2", "-", "3.5")
    assert "sparse ridge, nested kCV, weight 0 too" not in sheets(frame(["steam"]))


def test_choices_compared():
    sheet = sheets(frame(["steam"]))["sparse ridge: test MSE of nested kCV over that of kCV"]
    [row] = sheet.rows
    assert row[:2] == ("steam", f"{0.426 / 0.467:.4f}")
    assert row[2].startswith("0.50 ± ")  # 1.5 over 3
    assert row[3] == "50%"
    assert row[4:] == ("1 ± 0", "100%")


def test_overall():
    names = ["steam", "alcohol2", "vessel"]
    title = "sparse ridge: geometric mean over data sets of test MSE over that of kCV"
    parts = [frame(names[:2]), frame(names[2:])]
    parts[1].loc[parts[1]["selection"] == NESTED, "test_error"] *= 4
    sheet = sheets(*parts)[title]
    rows = {row[:2]: row for row in sheet.rows}
    groups = ("all (3)", "without alcohol2 (2)", "overdetermined (2)", "underdetermined (1)")
    assert list(rows) == [(group, s) for group in groups for s in (NESTED, NESTED_OR_PLAIN)]
    ours = [float(rows[group, NESTED][3].partition(" ")[0]) for group in groups]
    # Ratios of 1/2, 1/2 and 2.
    assert ours == pytest.approx([2 ** (-1 / 3), 1, 1 / 2, 2], abs=0.05)
    paper = [0.426 / 0.467, 0.229 / 0.472, 1.0]
    assert float(rows["all (3)", NESTED][2]) == pytest.approx(np.prod(paper) ** (1 / 3), abs=1e-4)
    assert rows["all (3)", NESTED][6:] == ("-", "50%")  # the paper's share is that of all 13
    assert rows["all (3)", NESTED_OR_PLAIN][2:] == (
        *("-", "1 ± 0", "1.000 to 1.000", "1.000 to 1.000", "-", "100%"),
    )
    assert len(sheet.notes) == 2


def test_the_papers_own_means_over_all_data_sets():
    title = "sparse ridge: geometric mean over data sets of test MSE over that of kCV"
    sheet = sheets(frame(datasets.NAMES))[title]
    assert sheet.rows[0][6:] == ("67%", "50%")
    rows = {row[:2]: row[2] for row in sheet.rows}
    assert float(rows["all (13)", NESTED]) == pytest.approx(0.9504, abs=1e-4)
    assert float(rows["without alcohol2 (12)", NESTED]) == pytest.approx(1.0052, abs=1e-3)


def test_disappointment():
    title = "Disappointment: geometric mean over data sets of reported error over test MSE"
    sheet = sheets(frame(["steam"]), frame(["steam"], model="MCP", factor=4))[title]
    values = {row[0]: float(row[2].partition(" ")[0]) for row in sheet.rows}
    assert values == pytest.approx(
        {
            "sparse ridge, kCV": 0.5,
            "sparse ridge, kCV, its nested error": 1,
            "sparse ridge, nested kCV": 1,
            "sparse ridge, nested kCV, weight 0 too": 1,
            "MCP": 0.5,
        },
        abs=0.05,
    )
    assert sheet.rows[0][1] == f"{0.404 / 0.467:.4f}"


@pytest.mark.parametrize(
    ("factors", "words"),
    [
        ([1.2, 0.8, 1.1, 0.9], "no difference was shown"),
        ([0.8, 0.81, 0.79, 0.8], "20.0% lower than that of kCV"),
        ([1.1, 1.1, 1.1, 1.1], "10.0% higher than that of kCV"),
    ],
)
def test_verdict(factors, words):
    names = ["steam", "housing"]
    some = pd.concat([frame(names).assign(split=lambda f, i=i: f["split"] + 2 * i) for i in range(2)])
    some["test_error"] = 1.0
    nested = some["selection"] == NESTED
    some.loc[nested, "test_error"] = some.loc[nested, "split"].map(dict(enumerate(factors)))
    title = "sparse ridge: geometric mean over data sets of test MSE over that of kCV"
    assert words in sheets(some)[title].notes[0]


def test_one_split_has_no_error():
    some = frame(["steam"])
    found = sheets(some[some["split"] == 0])
    assert found["sparse ridge, kCV"].rows[0][-1] == "2"
    overall = found["sparse ridge: geometric mean over data sets of test MSE over that of kCV"]
    assert overall.rows[0][3:6] == ("1", "-", "-")
    assert "on one split" in overall.notes[0]
    # Where others have more, it is in its row alone.
    more = sheets(some[some["split"] == 0], frame(["vessel"]))
    assert [row[0] for row in more["sparse ridge, kCV"].rows] == ["steam", "vessel"]
    assert more[overall.title].rows[0][0] == "all (1)"


def test_warnings_are_told():
    some = frame(["steam", "vessel"]).assign(warnings=0)
    some.loc[some["dataset"] == "vessel", "warnings"] = 3
    assert sheets(some)["sparse ridge, kCV"].notes == [
        "Fits that gave a warning, over all splits: vessel (6)."
    ]
    assert sheets(frame(["steam"]).assign(warnings=0))["sparse ridge, kCV"].notes == []


def test_in_short(monkeypatch):
    stored = {"table1": Results(frame(["steam", "vessel"]))}
    assert summarize_shortly({"table1": TABLE1}, stored).rows == []
    monkeypatch.setattr(summary, "FEWEST_SPLITS", 2)
    [row] = summarize_shortly({"table1": TABLE1}, stored).rows
    assert row[0] == "sparse ridge"
    assert row[1] == "2 x 2"
    assert row[3].startswith("0.500 (")
    assert row[5].startswith("0.500 (")
    assert row[7].startswith("1.000 (")


def test_some_of_the_results():
    results = Results(pd.concat([frame(["steam", "vessel"]), frame(["steam"], model="MCP")]))
    some = results.only(datasets=["vessel"], n_splits=1)
    assert some.names("sparse ridge") == ["vessel"]
    assert some.names("MCP") == []
    assert some.values("vessel", "sparse ridge", PLAIN, "test_error").tolist() == [2.0]
    assert results.values("vessel", "sparse ridge", PLAIN, "test_error").tolist() == [2.0, 4.0]


def test_texts():
    assert number(float("nan")) == "-"
    assert number(23.684) == "23.68"
    assert percent(0.666) == "67%"
    assert percent(float("nan")) == "-"
    assert interval(0.9, 1.1) == "0.900 to 1.100"
    assert with_error(1234.5, 56.7) == "1234 ± 57"
    assert with_error(0.5, 0.0999) == "0.50 ± 0.10"


@pytest.mark.parametrize("width", [30, 200])
def test_sheet_on_a_terminal(width, capsys):
    from rich.console import Console

    sheet = Sheet("A title", ("one name", "two"), [("a cell", "12.5 ± 0.1"), ("b", "-")], ["A note."])
    console = Console(width=width)
    console.print(sheet.to_rich(console.width))
    printed = capsys.readouterr().out
    assert all(text in printed for text in ("A title", "a cell", "12.5 ± 0.1", "A note."))
