"""A folder of messy tables, and the expected reading of each column."""

import json
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

from steadycv import tables
from steadycv.tables import TableError
from steadycv.tables.hints import leaks, order
from steadycv.tables.readings import Kind, Reading

N = 40
RNG = np.random.default_rng(0)
ROWS = range(N)
NUMBERS = RNG.permutation(np.round(RNG.uniform(1500, 90000, N), 2))
WHOLE = RNG.integers(1000, 9000, N) * 7
SMALL = np.round(RNG.uniform(0, 99, N), 1)
CITIES = [["Köln", "Zürich", "Århus"][i % 3] for i in ROWS]
DAYS = pd.date_range("2023-11-20", periods=N)[RNG.permutation(N)]


def german(number, decimals=2):
    return f"{number:,.{decimals}f}".translate(str.maketrans(",.", ".,"))


def lines(separator, **columns):
    """Text of a table, a cell in quotes where it has the separator."""
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    return "\n".join(
        separator.join(f'"{cell}"' if separator in str(cell) else str(cell) for cell in row)
        for row in rows
    )


def numbers(example=None, n_missing=0):
    return {"kind": "number", "example": example, "n_missing": n_missing}


CATEGORY = {"kind": "category", "left_out": ""}
COUNTS = {"kind": "number", "left_out": "as it just counts the rows"}
DATE = {"kind": "date", "left_out": ""}
DIFFERS = "differs in most rows"
EMPTY = {"kind": "other", "left_out": "as empty"}

TEXT = lines("\t", Städte=CITIES, b=SMALL)

# What the table is, its bytes or text, what is expected of some columns, and their numbers.
TABLES = {
    "plain": (lines(",", a=NUMBERS, b=CITIES), {"a": numbers(), "b": CATEGORY}, {"a": NUMBERS}),
    "thousands": (
        lines(",", a=[f"{v:,}" for v in WHOLE]),
        {"a": numbers((f"{WHOLE[0]:,}", str(WHOLE[0])))},
        {"a": WHOLE},
    ),
    "dollars": (
        lines(",", a=[f"${v:,.2f}" for v in NUMBERS]),
        {"a": {"kind": "number", "number": {"decimal": ".", "prefix": "$", "unit": ""}}},
        {"a": NUMBERS},
    ),
    "pounds with a minus": (
        lines(",", a=[f"-£{v:,.2f}" for v in NUMBERS]),
        {"a": {"kind": "number"}},
        {"a": -NUMBERS},
    ),
    "per cent": (
        lines(",", a=[f"{v}%" for v in SMALL]),
        {"a": {"kind": "number", "number": {"decimal": ".", "prefix": "", "unit": "%"}}},
        {"a": SMALL},
    ),
    "german": (
        lines(";", a=[german(v) for v in NUMBERS], b=[german(v, 1) for v in SMALL]),
        {"a": {"kind": "number", "number": {"decimal": ",", "prefix": "", "unit": ""}}},
        {"a": NUMBERS, "b": SMALL},
    ),
    "german with commas between": (
        lines(",", a=[german(v) for v in NUMBERS], b=CITIES),
        {"a": {"kind": "number"}, "b": CATEGORY},
        {"a": NUMBERS},
    ),
    "german thousands that look like decimals": (
        lines(";", a=[german(v, 0) for v in WHOLE], b=[german(v, 1) for v in SMALL]),
        {"a": numbers((german(WHOLE[0], 0), str(WHOLE[0])))},
        {"a": WHOLE, "b": SMALL},
    ),
    "decimals that look like thousands": (
        lines(",", a=[f"{v % 9 + 1}.{v % 900 + 100}" for v in WHOLE], b=SMALL),
        {"a": numbers()},
        {"a": [float(f"{v % 9 + 1}.{v % 900 + 100}") for v in WHOLE], "b": SMALL},
    ),
    "french": (
        lines(";", a=[f"{v:,.2f}".replace(",", "\u202f").replace(".", ",") + " €" for v in NUMBERS]),
        {"a": {"kind": "number", "number": {"decimal": ",", "prefix": "", "unit": "€"}}},
        {"a": NUMBERS},
    ),
    "swiss": (
        lines(";", a=[f"CHF {v:,.2f}".replace(",", "’") for v in NUMBERS]),  # noqa: RUF001
        {"a": {"kind": "number"}},
        {"a": NUMBERS},
    ),
    "accountants": (
        lines(",", a=[f"({v:,.2f})" if i % 3 else f"{v:,.2f}" for i, v in enumerate(NUMBERS)]),
        {"a": {"kind": "number"}},
        {"a": [-v if i % 3 else v for i, v in enumerate(NUMBERS)]},
    ),
    "minus behind": (
        lines(",", a=[f"{v}-" if i % 2 else v for i, v in enumerate(NUMBERS)]),
        {"a": {"kind": "number"}},
        {"a": [-v if i % 2 else v for i, v in enumerate(NUMBERS)]},
    ),
    "units": (
        lines(
            ",", a=[f"{v} kg" for v in SMALL], b=[f"{i % 7} bedroom{'s' * (i % 7 > 1)}" for i in ROWS]
        ),
        {"a": {"kind": "number"}, "b": {"kind": "number"}},
        {"a": SMALL, "b": [i % 7 for i in ROWS]},
    ),
    "several units": (
        lines(",", a=[f"{i} {'kg' if i % 2 else 'g'}" for i in ROWS], b=SMALL),
        {"a": {"left_out": "as numbers of different units, such as '0 g' and '1 kg'"}},
        {},
    ),
    "unknown among numbers": (
        lines(",", a=["unknown" if i % 4 == 0 else v for i, v in enumerate(NUMBERS)]),
        {"a": {"kind": "number", "missing": ["unknown"], "n_missing": 10}},
        {"a": [np.nan if i % 4 == 0 else v for i, v in enumerate(NUMBERS)]},
    ),
    "errors of a spreadsheet": (
        lines(",", a=["#DIV/0!" if i == 3 else "-" if i == 4 else v for i, v in enumerate(NUMBERS)]),
        {"a": numbers(n_missing=2)},
        {"a": [np.nan if i in (3, 4) else v for i, v in enumerate(NUMBERS)]},
    ),
    "codes beside a letter": (
        lines(",", a=[["1", "2", "x"][i % 3] for i in ROWS], b=SMALL),
        {"a": CATEGORY},
        {},
    ),
    "too large": (
        lines(",", a=["1e300" if i == 3 else "-inf" if i == 4 else v for i, v in enumerate(NUMBERS)]),
        {"a": {"kind": "number", "n_too_large": 2, "n_missing": 2}},
        {"a": [np.nan if i in (3, 4) else v for i, v in enumerate(NUMBERS)]},
    ),
    "endless digits": (
        lines(",", a=["9" * 400 if i == 3 else i * 3 for i in ROWS]),
        {"a": {"kind": "number", "n_too_large": 1}},
        {"a": [np.nan if i == 3 else i * 3 for i in ROWS]},
    ),
    "truth": (
        lines(",", a=[["True", "false"][i % 2] for i in ROWS]),
        {"a": {"kind": "number", "truth": True}},
        {"a": [1 - i % 2 for i in ROWS]},
    ),
    "iso dates": (lines(",", a=DAYS.strftime("%Y-%m-%d"), b=SMALL), {"a": DATE}, {}),
    "german dates": (lines(";", a=DAYS.strftime("%d.%m.%y"), b=SMALL), {"a": DATE}, {}),
    "american dates": (lines(",", a=DAYS.strftime("%m/%d/%Y"), b=SMALL), {"a": DATE}, {}),
    "dates with hours": (
        lines(
            ",",
            a=(DAYS + pd.to_timedelta(np.arange(N) % 5, "h")).strftime("%Y-%m-%dT%H:%M:%SZ"),
            b=SMALL,
        ),
        {"a": DATE},
        {"a: hour": np.arange(N) % 5},
    ),
    "compact dates": (lines(",", a=DAYS.strftime("%Y%m%d"), b=SMALL), {"a": DATE}, {}),
    "counting": (
        lines(",", row=ROWS, nr=RNG.permutation(N) + 1000, b=SMALL),
        {"row": COUNTS, "nr": COUNTS},
        {"b": SMALL},
    ),
    "identifiers": (
        lines(
            ",",
            **{
                "Customer ID": RNG.permutation(N) * 7 + 3,
                "zip": [f"{i % 9:05}" for i in ROWS],
                "b": SMALL,
            },
            **{"machine_id": np.arange(N) % 23 * 5, "zip code": WHOLE},
        ),
        {
            "Customer ID": {"left_out": "as an identifier that is another one in every row"},
            "zip": {
                "kind": "category",
                "notes": ["has leading zeros, and is taken as codes"],
            },
            "zip code": {"kind": "number", "notes": ["looks like a code rather than a quantity"]},
        },
        {},
    ),
    "names and comments": (
        lines(
            ",",
            name=[f"n{i**3}" for i in ROWS],
            comment=[f"this is comment {i**2}, and no other" for i in ROWS],
            b=SMALL,
        ),
        {
            "name": {"kind": "category", "left_out": f"as text that {DIFFERS}"},
            "comment": {
                "kind": "words",
                "left_out": "as text of several words that differs in most rows",
            },
        },
        {},
    ),
    "empty parts": (
        lines(",", a=[""] * N, b=SMALL, c=["NA"] * N, d=["x"] * N, e=["x", ""] * (N // 2)),
        {"a": EMPTY, "c": EMPTY, "d": {"left_out": "as it has one value only"}, "e": CATEGORY},
        {"b": SMALL},
    ),
    "utf-8 with a mark": (
        lines(",", Städte=CITIES, b=SMALL).encode("utf-8-sig"),
        {"Städte": CATEGORY},
        {},
    ),
    "latin-1": (lines(",", Städte=CITIES, b=SMALL).encode("latin-1"), {"Städte": CATEGORY}, {}),
    "windows": (
        lines(";", Städte=CITIES, b=[f"{v} €" for v in SMALL]).encode("cp1252"),
        {},
        {"b": SMALL},
    ),
    "utf-16": (lines("\t", Städte=CITIES, b=SMALL).encode("utf-16"), {"Städte": CATEGORY}, {"b": SMALL}),
    "utf-16 without a mark": (TEXT.encode("utf-16-le"), {"Städte": CATEGORY}, {"b": SMALL}),
    "utf-32": (TEXT.encode("utf-32"), {"Städte": CATEGORY}, {"b": SMALL}),
    "damaged utf-8": (TEXT.encode() + b"\nUl\xff\t1", {"Städte": CATEGORY}, {"b": [*SMALL, 1]}),
    "old macintosh": (lines(",", a=CITIES, b=SMALL).replace("\n", "\r"), {"a": CATEGORY}, {"b": SMALL}),
    "all line ends": (
        lines(",", a=CITIES, b=SMALL).replace("\n", "\r\n", 9).replace("\n", "\r", 5),
        {"a": CATEGORY},
        {"b": SMALL},
    ),
    "bars": (lines("|", a=CITIES, b=SMALL), {"a": CATEGORY}, {"b": SMALL}),
    "separator is said": ("sep=;\n" + lines(";", a=CITIES, b=SMALL), {"a": CATEGORY}, {"b": SMALL}),
    "names of rows without a name": (
        lines(",", a=[f"{i},{c}" for i, c in enumerate(CITIES)], b=SMALL).replace('"', ""),
        {"Unnamed: 0": COUNTS, "a": CATEGORY},
        {"b": SMALL},
    ),
    "separators at the end": (
        lines(",", a=CITIES, b=[f"{v}," for v in SMALL]).replace('"', ""),
        {"a": CATEGORY, "Unnamed: 2": EMPTY},
        {"b": SMALL},
    ),
    "a title": (
        "Report of 2023\n\nby me\n" + lines(",", a=CITIES, b=SMALL, c=SMALL),
        {"a": CATEGORY},
        {"b": SMALL, "c": SMALL},
    ),
    "lines in cells": (
        lines(",", **{'"a\nname"': [f'"{c}\nnext"' for c in CITIES]}, b=SMALL),
        {"a\nname": CATEGORY},
        {"b": SMALL},
    ),
    "blanks": (lines(", ", a=CITIES, b=SMALL), {"a": CATEGORY}, {"b": SMALL}),
}


def is_so(reading, name, expected):
    found = reading.to_dict().get(name, getattr(reading, name))
    if name == "notes":
        return all(any(note.startswith(each) for note in found) for each in expected)
    return found == expected


@pytest.mark.parametrize("name", TABLES)
def test_reading(tmp_path, name):
    content, columns, expected = TABLES[name]
    path = tmp_path / "table.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    table = tables.read(path)
    readings = {each.name: each for each in table.readings}
    for column, facts in columns.items():
        for fact, value in facts.items():
            assert is_so(readings[column], fact, value), (column, readings[column])
    for column, values in expected.items():
        np.testing.assert_allclose(table.X[column], values)
    pd.testing.assert_frame_equal(table.read_alike(path), table.X)


def test_there_are_at_least_thirty():
    assert len(TABLES) >= 30


@pytest.mark.parametrize("name", TABLES)
def test_what_was_decided_survives_saving(tmp_path, name):
    path = tmp_path / "table.csv"
    content = TABLES[name][0]
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    for reading in tables.read(path).readings:
        again = Reading.from_dict(json.loads(json.dumps(reading.to_dict())))
        assert again.to_dict() == reading.to_dict()
        assert again.columns == reading.columns


@pytest.mark.parametrize(
    ("name", "remark"),
    [
        ("latin-1", "is read as Latin-1"),
        ("utf-16", "The text is in UTF-16"),
        ("utf-16 without a mark", "The text is in UTF-16"),
        ("damaged utf-8", "1 bytes are no text in UTF-8"),
        ("dollars", f"Read as numbers: a ('${NUMBERS[0]:,.2f}' is {NUMBERS[0]:.12g})"),
        ("unknown among numbers", "a has texts where others have numbers, taken as missing: 'unknown'."),
        ("too large", "a is infinite, or beyond 1e+38, in 2 rows, taken as missing."),
        ("several units", "Not used, as numbers of different units"),
        ("a title", "Lines above the names of columns are left out: 'Report of 2023 by me'."),
        ("counting", "Not used, as it just counts the rows: row, nr."),
        ("identifiers", "zip code looks like a code rather than a quantity."),
        ("identifiers", "machine_id looks like an identifier that several rows share"),
        ("american dates", "a: dates, used as"),
        ("names and comments", "keep=['name'] uses such a column nevertheless."),
    ],
)
def test_what_is_said(tmp_path, name, remark):
    path = tmp_path / "table.csv"
    content = TABLES[name][0]
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    assert remark in " ".join(tables.read(path).remarks)


def test_what_is_left_out_can_be_kept():
    frame = pd.DataFrame({"row": ROWS, "comment": [f"comment number {i}" for i in ROWS]})
    table = tables.read(frame.assign(b=SMALL), keep=["row", "comment"])
    assert [str(each.kind) for each in table.readings] == ["number", "words", "number"]
    assert list(table.X.columns) == ["row", "comment", "b"]
    with pytest.raises(TableError, match=r"There is no column 'rows'. Did you mean 'row'"):
        tables.read(frame, keep=["rows"])


def test_other_tables_are_read_alike():
    frame = pd.DataFrame({"a": [f"{german(v)} €" for v in NUMBERS], "b": CITIES, "day": DAYS})
    table = tables.read(frame)
    new = pd.DataFrame({"b": ["Rom", None], "a": ["1.234 €", "n/a"], "day": ["2024-01-02", None]})
    found = table.read_alike(new)
    np.testing.assert_array_equal(found["a"], [1234, np.nan])
    assert found["b"].tolist() == ["Rom", "(missing)"]
    np.testing.assert_array_equal(found["day: month"], [1, np.nan])
    with pytest.raises(
        TableError, match="'a' must have numbers; 1 of its values are none, such as '5 km'"
    ):
        table.read_alike(new.assign(a=["5 km", "6 €"]))
    with pytest.raises(TableError, match=r"The table lacks columns that the model needs: a, day."):
        table.read_alike(new[["b"]])


def test_polars_in_polars_out():
    polars = pytest.importorskip("polars")
    frame = pd.DataFrame({"a": [f"{v}%" for v in SMALL], "b": CITIES, "y": NUMBERS})
    table = tables.read(polars.from_pandas(frame), target="y")
    assert isinstance(table.X, polars.DataFrame)
    assert table.X["a"].to_list() == SMALL.tolist()
    assert isinstance(table.read_alike(polars.from_pandas(frame)), polars.DataFrame)
    assert isinstance(table.read_alike(frame), pd.DataFrame)
    assert table.frame()["column"].to_list() == ["a", "b"]
    np.testing.assert_array_equal(table.y, NUMBERS)
    with pytest.raises(TypeError, match="source must be a path, or a data frame of pandas or polars"):
        tables.read([1, 2])


def test_classes_come_back_as_they_were():
    frame = pd.DataFrame({"a": SMALL, "y": CITIES})
    table = tables.read(frame, target="y")
    assert table.y.tolist() == CITIES
    assert table.target.task == "classification"
    assert tables.read(frame).y is None


@pytest.fixture
def folder(tmp_path):
    """One table in several kinds of files."""
    frame = pd.DataFrame({"city": CITIES, "price": [f"${v:,.2f}" for v in NUMBERS], "day": DAYS})
    frame.to_csv(tmp_path / "t.csv", index=False)
    return frame, tmp_path


def test_excel(folder):
    pytest.importorskip("openpyxl")
    frame, path = folder
    with pd.ExcelWriter(path / "t.xlsx") as book:
        frame.to_excel(book, sheet_name="Sales", index=False)
        frame[:5].to_excel(book, sheet_name="Other", index=False)
    table = tables.read(path / "t.xlsx")
    pd.testing.assert_frame_equal(table.X, tables.read(path / "t.csv").X)
    assert "The first of 2 sheets is read, 'Sales'" in table.remarks[0]
    assert len(tables.read(path / "t.xlsx", table="Other").X) == 5
    with pytest.raises(TableError, match=r"it has no sheet 'sales'. There are Sales, Other"):
        tables.read(path / "t.xlsx", table="sales")


def test_sqlite(folder):
    frame, path = folder
    with closing(sqlite3.connect(path / "t.db")) as database:
        frame.to_sql("sales", database, index=False)
        pd.testing.assert_frame_equal(tables.read(path / "t.db").X, tables.read(path / "t.csv").X)
        frame.to_sql("other", database, index=False)
    with pytest.raises(TableError, match=r"name a table with --table. It has other, sales."):
        tables.read(path / "t.db")
    assert len(tables.read(path / "t.db", table="sales").X) == N
    query = "SELECT city, price FROM sales LIMIT 30"
    assert tables.read(path / "t.db", table=query).X.shape == (30, 2)
    with pytest.raises(TableError, match=r"cannot be read: .*no such column: town"):
        tables.read(path / "t.db", table="SELECT town FROM sales")


def test_duckdb(folder):
    duckdb = pytest.importorskip("duckdb")
    frame, path = folder
    with closing(duckdb.connect(str(path / "t.duckdb"))) as database:
        database.register("frame", frame)
        database.execute("CREATE TABLE sales AS SELECT * FROM frame")
    expected = tables.read(path / "t.csv").X
    pd.testing.assert_frame_equal(tables.read(path / "t.duckdb").X, expected)
    query = "SELECT * FROM data WHERE city = 'Ulm' OR city LIKE 'K%'"
    found = tables.read(path / "t.csv", table=query).X
    assert len(found) == CITIES.count("Köln")
    with pytest.raises(TableError, match=r"cannot be read: .*such a file"):
        tables.read(path / "t.csv", table="such a file")
    with pytest.raises(TableError, match="disabled"):
        tables.read(path / "t.csv", table=f"SELECT * FROM '{path / 't.csv'}'")


def hints_of(frame, target="y", task=None):
    table = tables.read(frame, target=target, task=task)
    features = frame.drop(columns=target)
    return leaks(table.X, table.readings, table.target), order(features, table.readings, table.target)


@pytest.mark.parametrize("target", ["numbers", "classes"])
def test_leaks_are_named(target):
    y = RNG.normal(size=300)
    labels = np.where(y > 0.3, "high", "low")
    frame = pd.DataFrame(
        {
            "paid": np.exp(y) * 1000,
            "noise": RNG.normal(size=300),
            "near": y + RNG.normal(size=300) / 3,
            "verdict": np.where(y > 0.3, "a", "b"),
            "y": labels if target == "classes" else y,
        }
    )
    named = {"numbers": "paid explains", "classes": "Each of paid, verdict explains"}[target]
    [line] = hints_of(frame)[0]
    assert line.startswith(f"{named} 'y' almost alone")
    assert hints_of(frame[["noise", "near", "y"]])[0] == []


def test_rows_in_an_order_are_told():
    walk = np.cumsum(RNG.normal(size=200))
    frame = pd.DataFrame({"a": RNG.normal(size=200), "y": walk})
    assert "Neighbouring rows have a similar 'y'" in hints_of(frame)[1][0]
    shuffled = frame.sample(frac=1, random_state=0)
    assert hints_of(shuffled)[1] == []
    assert hints_of(frame.sort_values("y"))[1] == []
    by_class = pd.DataFrame({"a": RNG.normal(size=150), "y": np.repeat(["x", "y", "z"], 50)})
    assert hints_of(by_class)[1] == []
    days = pd.date_range("2020-01-01", periods=200).strftime("%Y-%m-%d")
    assert "Rows are in the order of day" in hints_of(frame.assign(day=days))[1][0]
    assert "day has dates, and rows are split" in hints_of(frame.assign(day=RNG.permutation(days)))[1][0]


def test_kinds():
    assert [each.value for each in Kind] == ["number", "category", "date", "words", "other"]
