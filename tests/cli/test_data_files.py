import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")

from steadycv.cli.data_files import features_and_target, read_table
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
        ("bad.csv", b"a,b\n1,2\n1,2,3\n", "Error tokenizing data"),
        ("bytes.csv", b"a,b\n\xff\xfe,2\n", "can't decode"),
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


def test_target_and_features():
    X, y = features_and_target(FRAME, "y")
    assert list(X.columns) == ["a", "b"]
    np.testing.assert_array_equal(y, FRAME["y"])


@pytest.mark.parametrize(
    ("change", "target", "message"),
    [
        ({}, "Y2", "There is no column 'Y2'. There are a, b, y."),
        ({"weight": 1.0}, "wieght", "There is no column 'wieght'. Did you mean 'weight'?"),
        ({}, "b", "The target 'b' is not numeric. Numeric columns: a, y."),
        ({"y": 2.0}, "y", "The target 'y' has one value only, 2: there is nothing to predict."),
        (
            {"y": [np.nan] * 3 + [1.0] * 27},
            "y",
            "The target 'y' is missing in 3 of 30 rows: remove those",
        ),
        ({"y": [np.inf] + [1.0] * 29}, "y", "The target 'y' is infinite in 1 rows"),
        ({"a": "text", "y": "text"}, "y", "There is no numeric column"),
        ({"y": True}, "y", "The target 'y' is not numeric"),
    ],
)
def test_refused_targets(change, target, message):
    with pytest.raises(UserError) as caught:
        features_and_target(FRAME.assign(**change), target)
    assert str(caught.value).startswith(message)


def test_too_few_rows():
    with pytest.raises(UserError, match="There are 5 rows; 20 are needed"):
        features_and_target(FRAME[:5], "y")
