"""Rows in the order of a column of times."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")

from steadycv.cli.errors import UserError
from steadycv.cli.time_order import dates_note, sorted_by_time

ORDER = [3, 0, 4, 1, 2]
DAYS = pd.to_datetime(["2021-03-04", "2021-11-02", "2022-01-13", "2023-12-01", "2024-05-06"])


def a_frame(times):
    return pd.DataFrame({"when": times, "row": range(5)})


@pytest.mark.parametrize(
    "times",
    [
        [10, 30, 40, 0, 20],
        [0.1, 0.3, 0.4, -5.0, 0.2],
        DAYS[[1, 3, 4, 0, 2]],
        DAYS[[1, 3, 4, 0, 2]].tz_localize("Europe/Berlin"),
        DAYS[[1, 3, 4, 0, 2]].date,
        DAYS[[1, 3, 4, 0, 2]].strftime("%Y-%m-%d"),
        DAYS[[1, 3, 4, 0, 2]].strftime("%d.%m.%Y"),
        DAYS[[1, 3, 4, 0, 2]].strftime("%b %d, %Y"),
        ["2021-11-02", "2023-12-01 10:00", "2024-05-06T11:00Z", "2021-03-04", "2022-01-13"],
    ],
    ids=["whole", "numbers", "times", "zone", "dates", "iso", "german", "names", "mixed"],
)
def test_numbers_and_dates_are_sorted(times):
    frame, notes = sorted_by_time(a_frame(times), "when")
    assert frame["row"].tolist() == ORDER
    assert frame.columns.tolist() == ["row"]
    assert frame.index.tolist() == [0, 1, 2, 3, 4]
    assert len(notes) == 1


def test_ties_keep_their_order():
    frame, notes = sorted_by_time(a_frame([2, 1, 2, 1, 2]), "when")
    assert frame["row"].tolist() == [1, 3, 0, 2, 4]
    assert notes[1].startswith("3 rows have the time of another one")


def test_month_or_day_first_is_told():
    _, notes = sorted_by_time(
        a_frame(["01/02/2021", "03/04/2021", "05/06/2021", "1/3/2021", "2/4/2021"]), "when"
    )
    assert "the month before the day" in notes[-1]


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (
            [1, np.nan, 2, np.inf, 3],
            "The time 'when' is missing in 1 of 5 rows and is neither a date nor a",
        ),
        (["2020-01-01", None, None, "2020-01-02", "2021-01-01"], "is missing in 2 of 5 rows: remove"),
        (["2020-01-01", "soon", "2020-01-03", "2020-01-02", "later"], "in 2 of 5 rows, such as 'soon'"),
    ],
)
def test_what_is_no_time_is_refused(times, message):
    with pytest.raises(UserError) as caught:
        sorted_by_time(a_frame(times), "when")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("values", "is_told"),
    [
        (["2020-01-01", None, "2020-01-03"], True),
        (["1/2/2020", "3/2/2020", "13/2/2020"], True),
        (DAYS[:3], True),
        (["10-20", "20-30", "30-40"], False),
        (["may", "june", "may"], False),
        (["Ulm 2020", "Rom 2021", "Bonn"], False),
        ([2020, 2021, 2022], False),
        ([None, None, None], False),
    ],
)
def test_columns_of_dates_are_found(values, is_told):
    note = dates_note(pd.DataFrame({"x": [1, 2, 3], "when": values}))
    assert [text.startswith("when has dates") for text in note] == [True] * is_told
