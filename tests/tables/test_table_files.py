import numpy as np
import pandas as pd
import pytest

from steadycv.tables import TableError
from steadycv.tables.files import read_file
from steadycv.tables.table import find_used

FRAME = pd.DataFrame({"a": np.arange(30), "b": ["x", "y", None] * 10, "y": np.arange(30) / 3})


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "T.CSV", "t.csv.gz", "t.parquet"])
def test_kinds_of_files(tmp_path, name):
    path = tmp_path / name
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
        FRAME.to_parquet(path)
    else:
        FRAME.to_csv(path, sep="\t" if "tsv" in name else ",", index=False)
    frame, remarks = read_file(path)
    assert remarks == []
    assert frame.columns.tolist() == ["a", "b", "y"]
    assert frame["a"].tolist() == FRAME["a"].tolist()
    assert [b if pd.notna(b) else None for b in frame["b"]] == ["x", "y", None] * 10
    np.testing.assert_allclose(
        frame["y"], FRAME["y"], rtol=1e-15
    )  # old releases of pandas err by an ulp


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("missing.csv", None, "No such file or directory"),
        ("folder.csv", "folder", "Is a directory"),
        ("data.xlsx", b"x", "File is not a zip file"),
        ("data.doc", b"x", "its name must end in .csv, .tsv, .parquet, .xlsx, .sqlite or .duckdb"),
        ("empty.csv", b"", "No columns to parse from file"),
        ("cut.csv.gz", b"\x1f\x8b\x08", "ended before"),
        ("bad.csv", b"a,b\n1,2\n1,2,3\n", "line 3 has 3 cells, and the first line 2"),
        ("zeros.csv", b"a,b\n1,\0\n", "it has zero bytes in it"),
        ("page.csv", b"<!DOCTYPE html><html></html>", "it is a web page or XML"),
        ("quote.csv", b'a,b\n1,"2\n3,4\n', "a quotation mark has no second one"),
        ("old.xls", b"\xd0\xcf\x11\xe0", "it is of an Excel before 2007. Save it as .xlsx"),
        ("some.sqlite", b"x", "file is not a database"),
        ("bad.parquet", b"not a table", "arquet"),
    ],
)
def test_unreadable_files(tmp_path, name, content, reason):
    path = tmp_path / name
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    with pytest.raises(TableError, match=f"{name} cannot be read: .*{reason}") as caught:
        read_file(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "a,b,y\n1.5,x,2\n2.5,y,3\n",
        "\ufeffa,b,y\n1.5,x,2\n2.5,y,3\n",
        "a\tb\ty\n1.5\tx\t2\n2.5\ty\t3\n",
        "a;b;y\n1.5;x;2\n2.5;y;3\n",
        "a;b;y\n1,5;x;2\n2,5;y;3\n",
        "a,b,y\r\n1.5,x,2\r\n2.5,y,3\r\n",
    ],
)
def test_separators_are_found(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text, newline="")
    frame, _ = read_file(path)
    assert list(frame.columns) == ["a", "b", "y"]
    X, _ = find_used(frame, keep=["a", "y"])
    assert X["a"].tolist() == [1.5, 2.5]
    assert X["y"].tolist() == [2, 3]


def test_columns_of_one_name_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,"a",y\n1,2,3\n')
    with pytest.raises(TableError, match="several columns are called 'a'"):
        read_file(path)
