"""Failures: counted by their error, told once, in an order that does not depend on that of the fits."""

import random
import warnings

import numpy as np
import pytest
from sklearn.exceptions import FitFailedWarning

from steadycv.failures import Failures, last_line


def traceback_of(error):
    return f'Traceback (most recent call last):\n  File "a.py", line 1, in fit\n    raise x\n{error}\n'


TOO_DEEP, NO_ROOM = traceback_of("ValueError: too deep"), traceback_of("MemoryError")


def counted(fits, scorings=()):
    failures = Failures()
    for candidate, error in fits:
        failures.count(1, [(candidate, {"c": candidate}, error)] if error else [], [])
    failures.count(0, [], scorings)
    return failures


def said(failures, *, error_score=np.nan, any_worked=True, in_full=False):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        failures.report(error_score, any_worked=any_worked, in_full=in_full)
    return [(warning.category, str(warning.message)) for warning in caught]


def test_silence():
    assert said(counted([(0, None), (1, None)])) == []


def test_one_warning_of_fits():
    [(category, text)] = said(counted([(0, None), (3, TOO_DEEP), (2, TOO_DEEP), (1, NO_ROOM)]))
    assert category is FitFailedWarning
    assert "3 fits failed out of a total of 4" in text
    assert "2 fits failed with the following error, first for {'c': 2}:\nValueError: too deep" in text
    assert text.index("too deep") < text.index("MemoryError")
    assert "Traceback" not in text


def test_the_whole_of_it():
    [(_, text)] = said(counted([(0, TOO_DEEP), (1, None)]), in_full=True)
    assert TOO_DEEP.strip() in text


def test_one_warning_of_scores():
    [(category, text)] = said(counted([], [NO_ROOM, TOO_DEEP, TOO_DEEP]), error_score=-1)
    assert category is UserWarning
    assert "Scoring failed 3 times" in text
    assert "will be set to -1" in text
    assert text.endswith("ValueError: too deep")


@pytest.mark.parametrize(
    ("errors", "kind"), [([TOO_DEEP], ValueError), ([traceback_of("TypeError: no")] * 2, TypeError)]
)
def test_nothing_worked(errors, kind):
    with pytest.raises(kind, match=f"All the {len(errors)} fits failed"):
        said(counted(enumerate(errors)), any_worked=False)


def test_many_errors():
    fits = [(i, traceback_of(f"ValueError: number {i}")) for i in range(9)]
    [(_, text)] = said(counted(fits))
    assert text.count("ValueError") == 3
    assert "and 6 other errors" in text


def test_order_of_fits_does_not_matter():
    fits = [(i, [TOO_DEEP, NO_ROOM, traceback_of("OSError")][i % 3]) for i in range(12)]
    shuffled = random.Random(0).sample(fits, len(fits))
    assert said(counted(shuffled)) == said(counted(fits))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (TOO_DEEP, "ValueError: too deep"),
        (traceback_of("ValueError: one\ntwo\n  three"), "ValueError: one"),
        (TOO_DEEP + "\nDuring handling:\n\n" + NO_ROOM, "MemoryError"),
        ("no traceback", "no traceback"),
    ],
)
def test_last_line(text, line):
    assert last_line(text) == line
