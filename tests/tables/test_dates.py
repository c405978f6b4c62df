"""Dates: found, read, and taken apart."""

import numpy as np
import pandas as pd
import pytest

from steadycv.tables.readings import Kind, read_column

DAYS = pd.to_datetime(["2021-03-04", "2021-11-02", "2022-01-13", "2023-12-01", "2024-05-06"])


def read(values):
    return read_column(pd.Series(values, name="when"))


@pytest.mark.parametrize(
    ("values", "is_told"),
    [
        (["2020-01-01", None, "2020-01-03"], True),
        (["1/2/2020", "3/2/2020", "13/2/2020"], True),
        (DAYS[:3], True),
        (DAYS[:3].to_period("M"), True),
        (pd.Categorical(DAYS[:3].strftime("%d.%m.%y")), True),
        (["02/13/2020", "01/03/2020", "25/01/2020"], True),
        ([*DAYS.astype(str)] * 2 + ["unknown"], True),
        ([*DAYS.astype(str), "unknown"], False),
        (pd.Categorical([2020, 2021, 2022]), False),
        (["10-20", "20-30", "30-40"], False),
        (["may", "june", "may"], False),
        (["Ulm 2020", "Rom 2021", "Bonn"], False),
        ([2020, 2021, 2022], False),
        ([None, None, None], False),
    ],
)
def test_columns_of_dates_are_found(values, is_told):
    assert (read(values).kind is Kind.DATE) == is_told


@pytest.mark.parametrize(
    "values",
    [
        DAYS,
        DAYS.tz_localize("UTC").tz_convert("Asia/Tokyo"),
        DAYS.strftime("%d.%m.%Y"),
        DAYS.strftime("%d.%m.%y"),
        DAYS.strftime("%m/%d/%Y"),
        DAYS.strftime("%b %d, %Y"),
        DAYS.strftime("%Y%m%d"),
        DAYS.strftime("%Y%m%d").astype(int),
        pd.Series(DAYS).dt.date,
        [*DAYS.strftime("%Y-%m-%d")] * 3 + ["unknown", None],
    ],
    ids=["times", "zone", "german", "two digits", "us", "names", "digits", "number", "dates", "missing"],
)
def test_parts_of_dates(values):
    column = pd.Series(values, name="when")
    reading = read_column(column)
    assert (reading.date.origin, reading.kind) == ("2021-03-04", Kind.DATE)
    found = reading.values(column)
    expected = {
        "when: year": DAYS.year,
        "when: month": DAYS.month,
        "when: day of week": DAYS.day_of_week,
        "when: days since 2021-03-04": (DAYS - DAYS[0]).days,
    }
    assert list(found) == reading.columns == list(expected)
    for name, numbers in expected.items():
        np.testing.assert_array_equal(found[name][:5], numbers)
        assert np.isnan(found[name][15:]).all()
    assert reading.n_missing == len(found[name][15:])


def test_hours_are_told_apart_where_there_are_some():
    column = pd.Series(["2020-01-01 10:00", "2020-01-01 12:30", "2020-01-01T10:00"], name="when")
    reading = read_column(column)
    assert reading.date.parts == ("hour",)
    assert reading.values(column)["when: hour"].tolist() == [10, 12, 10]


def test_the_order_of_other_tables_is_that_of_the_first():
    reading = read(["31/12/2020", "01/02/2020", "05/06/2021"])
    days = reading.dates(pd.Series(["03/04/2021"]))
    assert str(days[0])[:10] == "2021-04-03"
    assert reading.notes == ()
    assert "the month before the day" in read(["01/02/2020", "03/04/2021"]).notes[0]


def test_other_texts_are_no_dates():
    reading = read([*DAYS.astype(str)] * 2 + ["unknown"])
    assert reading.missing == ("unknown",)
    assert np.isnat(reading.dates(pd.Series(["unknown", None]))).all()
    with pytest.raises(ValueError, match="must have dates; 1 of its values are none, such as 'soon'"):
        reading.dates(pd.Series(["unknown", "soon"]))
