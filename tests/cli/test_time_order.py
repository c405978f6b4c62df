"""Rows in the order of a column of times."""

from datetime import UTC, date, datetime

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")

from steadycv.cli.errors import UserError
from steadycv.cli.time_order import sorted_by_time

ORDER = [3, 0, 4, 1, 2]
DAYS = pd.to_datetime(["2021-03-04", "2021-11-02", "2022-01-13", "2023-12-01", "2024-05-06"])


def a_frame(times):
    return pd.DataFrame({"when": times, "row": range(len(times))})


def order_of(times):
    return sorted_by_time(a_frame(times), "when")[0]["row"].tolist()


def notes_of(times):
    return sorted_by_time(a_frame(times), "when")[1][1:]


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
        [
            "2021-11-02T10:00+02:00",
            "2021-11-02 10:00Z",
            "2021-11-02 10:30",
            "2021-11-02",
            "2021-11-02 09:00",
        ],
        ["2021Q2", "2022Q1", "2022Q2", "2020Q4", "2021Q4"],
        pd.PeriodIndex(["2021Q2", "2022Q1", "2022Q2", "2020Q4", "2021Q4"], freq="Q"),
        pd.to_timedelta(["2h", "1D", "2D", "1min", "3h"]),
    ],
    ids=[
        *("whole", "numbers", "times", "zone", "dates", "iso", "german", "names", "mixed"),
        *("offsets", "quarters", "periods", "durations"),
    ],
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
    assert notes[1].startswith("5 rows share their time with others")


def test_all_rows_that_share_their_time_are_counted():
    assert notes_of(np.repeat(DAYS, 12))[0].startswith("60 rows share")
    assert notes_of([1, 2, 3, 2])[0].startswith("2 rows share")


def test_month_or_day_first_is_told():
    _, notes = sorted_by_time(
        a_frame(["01/02/2021", "03/04/2021", "05/06/2021", "1/3/2021", "2/4/2021"]), "when"
    )
    assert "the month before the day" in notes[-1]


@pytest.mark.parametrize(
    ("times", "order"),
    [
        (["31/12/19", "01/02/20", "15/01/20"], [0, 2, 1]),
        (["31.12.19", "01.02.20", "15.01.20"], [0, 2, 1]),
        (["Tue 31/12/19 10:00", "Sat 01/02/20 09:00", "Wed 15/01/20 08:00"], [0, 2, 1]),
        (["5. 1. 2020", "31. 12. 2019", "2. 1. 2020"], [1, 2, 0]),
        (["12/31/19", "02/01/20", "01/15/20"], [0, 2, 1]),
        (["99/05/20", "01/02/20", "98/03/04"], [2, 0, 1]),
        (["01/01/70", "31/12/99", "01/01/00"], [0, 1, 2]),
    ],
)
def test_two_digits_of_a_year_are_read_in_one_order(times, order):
    assert order_of(times) == order


def test_days_of_two_digit_years_come_one_by_one():
    days = pd.date_range("2019-12-15", periods=60).strftime("%d/%m/%y")
    assert order_of(days[::-1]) == list(range(60))[::-1]
    assert "the day before the month, and the year last" in notes_of(days)[0]


@pytest.mark.parametrize(
    ("times", "one", "other"),
    [
        (["02/13/2020", "01/03/2020", "25/01/2020"], "02/13/2020", "25/01/2020"),
        (["31/12/19", "01/02/20", "01/15/20"], "01/15/20", "31/12/19"),
        (["01/02/2020", "99/05/20", None], "99/05/20", "01/02/2020"),
    ],
)
def test_dates_in_different_orders_are_refused(times, one, other):
    with pytest.raises(UserError, match="day, month and year in different orders") as caught:
        order_of(times)
    assert f"as in {one!r} and {other!r}" in str(caught.value)


@pytest.mark.parametrize(
    "times",
    [
        ["2020-02-01", "2020-01-02"],
        ["2020/2/1", "2020/1/2"],
        [date(2020, 2, 1), date(2020, 1, 2)],
        ["20200205", "20200105"],
        ["05.13.2020", "01.02.2020"],
        ["02/02/2020", "01/01/2020"],
    ],
)
def test_nothing_is_told_without_doubt(times):
    assert order_of(times) == [1, 0]
    assert notes_of(times) == []


@pytest.mark.parametrize(
    "times",
    [
        ["9999-12-31", "2020-01-01", "0001-01-01", "1500-03-04"],
        ["31/12/9999", "13/01/2020", "01/01/0001", "04/03/1500"],
        ["9999-12-31", "2020-01-01 10:00:00.123456789", "0001-01-01", "1500-03-04"],
        [date(9999, 12, 31), date(2020, 1, 1), date(1, 1, 1), date(1500, 3, 4)],
        [datetime(year, 6, 1, tzinfo=UTC) for year in (9999, 2020, 1, 1500)],
        np.array(["9999-12-31", "2020-01-01", "0001-01-01", "1500-03-04"], dtype="datetime64[s]"),
    ],
)
def test_far_dates_are_sorted(times):
    assert order_of(times) == [2, 3, 1, 0]


@pytest.mark.parametrize("dtype", ["int64", "uint64", "Int64"])
def test_close_whole_numbers_are_told_apart(dtype):
    stamps = pd.Series([3, 1, 2, 0], dtype=dtype) + 1577836800123456000
    assert order_of(stamps) == [3, 1, 2, 0]
    assert notes_of(stamps) == []


@pytest.mark.parametrize(
    ("times", "message"),
    [
        (
            [1, np.nan, 2, np.inf, 3],
            "The time 'when' is missing in 1 of 5 rows and is neither a date nor a",
        ),
        (["2020-01-01", None, None, "2020-01-02", "2021-01-01"], "is missing in 2 of 5 rows: remove"),
        (["2020-01-01", "soon", "2020-01-03", "2020-01-02", "later"], "in 2 of 5 rows, such as 'soon'"),
        ([1, np.inf], "is neither a date nor a number in 1 of 2 rows, such as inf: remove"),
        (pd.to_timedelta(["1h", None]), "is missing in 1 of 2 rows: remove"),
        (pd.PeriodIndex(["2020Q1", None], freq="Q"), "is missing in 1 of 2 rows: remove"),
        (pd.array([1, None], dtype="Int64"), "is missing in 1 of 2 rows: remove"),
        ([None, None], "is missing in 2 of 2 rows: remove"),
        (["Jan-20", "Dec-19"], "in 2 of 2 rows, such as 'Jan-20'; 2020-12-31 would be a date: remove"),
        (["2020-13-01", "2020-02-01"], "in 1 of 2 rows, such as '2020-13-01'"),
        (["30/02/20", "15/01/20"], "in 1 of 2 rows, such as '30/02/20'"),
    ],
)
def test_what_is_no_time_is_refused(times, message):
    with pytest.raises(UserError) as caught:
        sorted_by_time(a_frame(times), "when")
    assert message in str(caught.value)
