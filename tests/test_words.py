"""Words: numbers, settings and losses as people read them."""

import math

import pytest

from steadycv.losses import get_loss, pinball_loss
from steadycv.words import LONGEST_VALUE, loss_name, number, setting, short_names, value_text


@pytest.mark.parametrize(
    "value", [3.14159e-7, 0.00031, 0.5, 1.0, 99.99, 4108.76, 1234567.8, 2.5e9, -0.25]
)
def test_numbers_have_four_digits_that_count(value):
    text = number(value).replace(",", "").replace(" × 10", "e")
    plain = text.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    assert float(plain) == pytest.approx(value, rel=5e-4)


def test_numbers_that_are_none():
    assert number(math.nan) == "not known"
    assert number(-math.inf) == "infinite"
    assert number(0.0) == "0"


def test_thousands_are_told_apart():
    assert number(1234567.0, digits=7) == "1,234,567"


def test_large_numbers_are_written_as_smaller_ones_are():
    assert [number(x) for x in (2218340.0, 2.444e7, -3.21e12)] == [
        "2,218,000",
        "24,440,000",
        "-3,210,000,000,000",
    ]


def test_long_values_are_cut():
    text = value_text("word " * 50)
    assert len(text) == LONGEST_VALUE
    assert text.endswith("…")


def test_values_on_several_lines():
    assert value_text("one\n  two") == "one two"


def test_settings_without_the_steps_of_a_pipeline():
    assert setting({"scale__with_mean": True, "tree__max_depth": 3}) == "with_mean = True, max_depth = 3"
    assert setting({}) == "the model as it is"


def test_names_that_would_become_the_same_stay_long():
    assert short_names(["a__k", "b__k", "b__c__n"]) == {"a__k": "a__k", "b__k": "b__k", "b__c__n": "n"}


@pytest.mark.parametrize(
    ("loss", "name"),
    [
        (get_loss("brier"), "Brier score"),
        (pinball_loss(0.25), "pinball loss of the quantile 0.25"),
        (abs, "mean of abs"),
        (lambda y, p: y - p, "mean loss"),
    ],
)
def test_losses(loss, name):
    assert loss_name(loss) == name
