"""Errors in human units."""

import numpy as np
import pytest

from steadycv.error_words import ErrorWords
from steadycv.human_units import HumanUnits


def human(name, **options):
    return HumanUnits.of(ErrorWords(name, **options))


@pytest.mark.parametrize(
    ("name", "error", "noun", "text"),
    [
        ("mean squared error", 144.0, "typical miss", "12"),
        ("root mean squared error", 12.0, "typical miss", "12"),
        ("mean absolute error", 12.44, "average miss", "12.44"),
        ("median absolute error", 1234.0, "middle miss", "1234"),
        ("mean absolute percentage error", 0.123, "average miss", "12.3%"),
        ("share of wrong predictions", 0.025, "accuracy", "97.5%"),
        ("Brier score", 0.2, "Brier score", "0.2"),
    ],
)
def test_errors(name, error, noun, text):
    units = human(name)
    assert (units.noun, units.text(error)) == (noun, text)


def test_scores_are_told_as_they_are():
    units = human("roc_auc", noun="roc_auc", is_score=True)
    assert (units.noun, units.text(-0.9)) == ("roc_auc", "0.9")
    assert units.range([-0.9, -0.95, -0.85]) == "0.85 to 0.95"


def test_ranges_begin_with_the_lower_number():
    assert human("mean squared error").range([9.0, 4.0, 16.0]) == "2 to 4"
    assert human("share of wrong predictions").range([0.1, 0.3]) == "70.0% to 90.0%"


@pytest.mark.parametrize(
    ("name", "error", "told"),
    [
        ("mean squared error", 1.0, ""),
        ("share of wrong predictions", 0.1, ""),
        ("Brier score", 0.2, "0 would be perfect"),
        ("log loss", np.log(2), "a probability of 50% "),
    ],
)
def test_what_is_to_be_known_of_an_error(name, error, told):
    assert told in human(name).meaning(error)
    assert bool(told) == bool(human(name).meaning(error))


@pytest.mark.parametrize(
    ("name", "told"), [("roc_auc", "0.5 is guessing"), ("r2", "predicting the mean"), ("f1", "higher")]
)
def test_what_is_to_be_known_of_a_score(name, told):
    assert told in human(name, noun=name, is_score=True).meaning(-0.9)
