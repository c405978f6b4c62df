import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")

from steadycv.cli.data_files import read_table
from steadycv.cli.errors import UserError

FRAME = pd.DataFrame({"a": np.arange(30), "b": ["x", "y", None] * 10, "y": np.arange(30) / 3})


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "T.CSV", "t.csv.gz", "t.parquet"])
def test_kinds_of_files(tmp_path, name):
    path = tmp_path / name
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
        FRAME.to_parquet(path)
    else:
        FRAME.to_csv(path, sep="\t" if "tsv" in name else ",", index=False)
    found, expected = read_table(path).fillna("-"), FRAME.fillna("-")
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("missing.csv", None, "No such file or directory"),
        ("folder.csv", "folder", "Is a directory"),
        ("data.xlsx", b"x", "its name must end in .csv, .tsv or .parquet"),
        ("empty.csv", b"", "No columns to parse from file"),
        ("cut.csv.gz", b"\x1f\x8b\x08", "ended before"),
        ("bad.csv", b"a,b\n1,2\n1,2,3\n", "Error tokenizing data"),
        ("bytes.csv", b"a,b\n\xff\xfe,2\n", "not in UTF-8"),
        ("other.csv", "a,b\nx,2\n".encode("utf-16"), "not in UTF-8"),
        ("bad.parquet", b"not a table", "arquet"),
    ],
)
def test_unreadable_files(tmp_path, name, content, reason):
    path = tmp_path / name
    if content == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError, match=f"{name} cannot be read: .*{reason}") as caught:
        read_table(path)
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
    frame = read_table(path)
    assert list(frame.columns) == ["a", "b", "y"]
    assert frame["a"].tolist() == [1.5, 2.5]
    assert frame["y"].tolist() == [2, 3]


def test_columns_of_one_name_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,"a",y\n1,2,3\n')
    with pytest.raises(UserError, match="several columns are called 'a'"):
        read_table(path)


def test_some_columns_as_text(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n01,1\n02,2\n")
    frame = read_table(path, as_text=["a", "not there"])
    assert frame["a"].tolist() == ["01", "02"]
    assert frame["b"].tolist() == [1, 2]
